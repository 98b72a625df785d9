"""Every algorithm of the catalogue equals its closed form, on random trees of all joint kinds."""

import numpy as np
import pytest
from hypothesis import given, settings

from closedform.errors import SingularMatrix
from closedform.maths.algorithms.applicability import applies
from closedform.maths.catalogue import CATALOGUE
from closedform.maths.definitions.closed_form import mass_matrix
from closedform.maths.quantity import takes_base
from closedform.model.joints import Mimic
from random_robots import KINDS, random_robot, robots, seeds

ROWS = [row for row in CATALOGUE if row.algorithms]


def arguments(robot, row, seed):
    rng = np.random.default_rng(seed)
    values = {name: rng.normal(size=shape) for name, shape in row.input_shapes(robot).items()}
    if "q" in values:
        values["q"] = robot.random(rng)
    if row.wrenches:
        values["wrenches"] = rng.normal(size=(len(robot.bodies), 6))
    return {**values, **({"frame": "tool"} if row.framed else {})}


def parts(row, result):
    """The results of a row under their names: its fields, or itself."""
    return result._asdict() if row.fields else {row.name: result}


def assert_algorithms_agree(robot, row, seed):
    values = arguments(robot, row, seed)
    try:
        expected = parts(row, row.definition(robot, **values))
    except SingularMatrix:
        assert row.name == "operational_space_inertia"
        return
    tolerance = 1e-12
    if row.name.startswith(("forward_dynamics", "mass_matrix_inverse")) and robot.nv:
        tolerance *= max(1.0, 1e-2 * np.linalg.cond(mass_matrix(robot, values["q"])))
    if row.name == "operational_space_inertia":
        tolerance *= max(1.0, 1e-1 * np.linalg.cond(expected[row.name]))
    for algorithm in (x for x in row.algorithms if applies(x, robot)):
        bases = (None,)
        if takes_base(algorithm):
            bases = (0, len(robot.segments) // 2, len(robot.segments))
        for base in bases:
            extra = {} if base is None else {"base": base}
            found = parts(row, algorithm(robot, **values, **extra))
            assert found.keys() == expected.keys()
            for name, value in expected.items():
                np.testing.assert_allclose(found[name], value, rtol=0, err_msg=name,
                                           atol=tolerance * np.abs(value).max(initial=1.0))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@settings(max_examples=20)
@given(robot=robots(), seed=seeds)
def test_the_algorithms_equal_the_closed_form(row, robot, seed):
    assert_algorithms_agree(robot, row, seed)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("kind", KINDS[:-1])
def test_the_algorithms_equal_the_closed_form_on_chains_of_one_kind(row, kind):
    kinds = (kind, "revolute") if kind == "fixed" else (kind,)
    assert_algorithms_agree(random_robot(3, kinds, bodies=3), row, 1)


def test_articulated_bodies_refuse_mimic_couplings():
    from closedform.errors import ModelError
    from closedform.maths.algorithms.articulated import forward_dynamics
    robot = random_robot(1, ("revolute", "mimic"), bodies=4)
    assert any(isinstance(body.joint, Mimic) for body in robot.bodies)
    z = np.zeros(robot.nv)
    with pytest.raises(ModelError, match="mimic"):
        forward_dynamics(robot, robot.neutral(), z, z)
