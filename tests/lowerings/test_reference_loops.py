"""What loops mean, against what their machine code computes and what the definitions say."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.loops import sweeping
from closedform.applications.compile.requests import Request
from closedform.lowerings import reference_loops
from closedform.lowerings.store.cache import Cache
from closedform.maths.catalogue import quantity
from deep_robots import robot_of

ROWS = ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives",
        "mass_matrix_inverse", "regressor", "body_jacobians")


@pytest.mark.parametrize("row", ROWS)
def test_machine_code_computes_what_loops_mean(row, monkeypatch):
    monkeypatch.setattr(sweeping, "DEPTH", dict.fromkeys(sweeping.PLANS, 1))
    robot = robot_of([0, 1, 2, 3, 2, 5, 1, 7, 8], ["free", "revolute", "spherical", "planar",
                                                   "geared", "fixed", "cylindrical", "sprung",
                                                   "revolute"])
    arm = cf.compile(robot, cache=Cache(None))
    of = sweeping.sweeps_of(arm._preparation.forms, [Request(quantity(row))], False, ())()
    rng = np.random.default_rng(0)
    given = [robot.random(rng) if s.name == "q" else rng.normal(size=s.shape) for s in of.inputs]
    meant, found = reference_loops.run(of, *given), getattr(arm, row)(*given)
    for x, y in zip(meant, found if isinstance(found, tuple) else (found,), strict=True):
        np.testing.assert_allclose(y, x, atol=1e-12 * np.abs(x).max(), rtol=0)
