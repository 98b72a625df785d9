"""How K and the accelerations of the gaps change, by complex steps of K and of K̇ v."""

import numpy as np
import pytest

from closedform.maths.embedding import embedding
from closedform.maths.loops.curvature import curvature
from closedform.model.coordinates import rates as coordinate_rates
from closedform.model.loops.gap import drift, jacobian
from loop_mechanisms import floating_leg, four_bar, palletiser, slider_crank, stewart

H = 1e-30


@pytest.mark.parametrize("make", [four_bar, slider_crank, floating_leg, stewart,
                                  lambda: palletiser("loop")])
def test_K_and_accelerations_of_the_gaps_change_along_every_velocity_as_said(make):
    robot = make()
    e, tree, gaps = embedding(robot), robot.tree, robot.closure.gaps
    q, (v, a) = robot.random(0), np.random.default_rng(0).normal(size=(2, robot.tree.nv))
    D, B = curvature(e, q, v, a)
    kept = list(robot.closure.rows)
    for i, way in enumerate(np.eye(tree.nv)):
        moved = q + 1j * H * coordinate_rates(tree, q, way)
        K = jacobian(tree, gaps, moved)
        total = (K @ a + np.array(drift(tree, gaps, moved, v))).imag / H
        found = np.array([[rows.get(i, {}).get(j, 0) for j in range(tree.nv)] for rows in D])
        assert np.allclose(found, (K.imag / H)[kept], atol=1e-12)
        assert np.allclose([row.get(i, 0) for row in B], total[kept], atol=1e-11)
