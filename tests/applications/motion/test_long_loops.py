"""Loops stay closed over long runs, and energy as it does for trees."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.motion.rigid import RigidSystem

STEPS, STEP = 100_000, 2e-5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5", "four_bar", "five_bar", "palletiser", "ankle", "delta",
                                  "stewart"])
def test_loops_stay_closed_over_a_hundred_thousand_steps(name):
    """Without gravity, so that the motion stays away from singular configurations."""
    robot = cf.load(name).with_gravity((0, 0, 0))
    fast = 0.05 if name == "stewart" else 0.3                 # m/s of its legs, rad/s of others
    v = fast * np.random.default_rng(1).normal(size=robot.nv)
    run = cf.simulate(robot, (robot.neutral(), v), None, np.linspace(0, STEPS * STEP, 21),
                      method=cf.RK4(STEP), progress=False)
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.05
    assert run.energy_drift < 1e-11             # rounding of the steps: √N ε to N ε
    if robot.loops:
        assert max(np.abs(cf.loop_residual(robot, q)).max() for q in run.q) < 1e-10


def rocker_driven():
    """The rocker drives a crank that turns on; at its ends it cannot tell where the crank goes."""
    crank = cf.load("four_bar")
    guess = dict(zip(crank.body_names, crank.neutral(), strict=True))
    return crank, cf.Robot("four_bar", crank.bodies, (0, 0, 0), loops=crank.loops,
                           independent=["rocker"], guess=guess)


def test_a_run_that_ended_beyond_a_dead_point_names_the_joints_that_would_do():
    crank, robot = rocker_driven()
    start, near, beyond = (np.concatenate([crank.closed([y]), np.zeros(2)])
                           for y in (0.7, 1.2, 4.5))
    system = RigidSystem(robot)
    assert system.stopped(start, near) is None
    assert "singular configuration" in system.stopped(start, beyond)
    assert system.stopped(start, beyond).endswith("would do: crank")
    thrown = np.array([1e80, -2e80, 3e80, 1e160, 0.0])
    assert "came open beyond a singular configuration" in system.stopped(start, thrown)
    assert system.stopped(start, thrown).endswith("would do: crank")


@pytest.mark.slow
def test_a_run_into_a_dead_point_ends_there_and_says_so():
    _, robot = rocker_driven()
    with pytest.raises(cf.SingularMatrix, match=r"singular configuration.*rocker.*would do: crank"):
        cf.simulate(robot, (robot.neutral(), [1.0]), None, [0, 3.0], method=cf.RK4(1e-3))
