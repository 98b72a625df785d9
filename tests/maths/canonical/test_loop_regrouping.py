"""Mass regrouped over affine loops leaves torques and takes parameters away."""

import numpy as np

from closedform.maths.canonical.frames import canonical
from closedform.maths.canonical.loop_regrouping import regrouped_over_loops
from closedform.maths.canonical.regrouping import regrouped
from closedform.maths.definitions.closed_form import inverse_dynamics
from closedform.model.zoo.zoo import builtin


def test_regrouping_over_loops_leaves_torques_and_takes_parameters_away():
    robot, rng = builtin("palletiser"), np.random.default_rng(0)
    moved = canonical(robot)
    base = regrouped(moved.robot)
    q, (v, a) = robot.closed([0.1, -1.2, 0.3, 0.2]), rng.normal(size=(2, 4))
    np.testing.assert_allclose(inverse_dynamics(base, q + moved.offset, v, a),
                               inverse_dynamics(robot, q, v, a), rtol=1e-11, atol=1e-10)
    tree = regrouped(moved.robot.tree)
    assert np.count_nonzero(base.parameters) < np.count_nonzero(tree.parameters) - 15


def test_loops_that_are_not_affine_keep_their_mass():
    robot = builtin("four_bar")
    assert regrouped_over_loops(robot) is robot
