"""Kernels of redundant arms take the pipeline of all programs."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.redundancy import Manipulability, Pose, Position
from closedform.applications.redundancy.problem import problem_of
from closedform.lowerings import lanes
from closedform.program.record import record
from curved_robots import curved_robot

SEVEN = ("iiwa14", Position), ("panda", Pose)


def problem(name, task):
    robot = cf.load(name)
    frame = [*robot.body_names, *robot.frame_names][-1]
    return problem_of(robot, task(frame), Manipulability())


@pytest.mark.parametrize(("name", "task", "most"), [(*SEVEN[0], 4037), (*SEVEN[1], 10888)])
def test_they_take_at_most_so_many_operations(name, task, most):
    assert problem(name, task).kernel.operations.total <= most


@pytest.mark.parametrize(("name", "task"), SEVEN)
def test_what_is_compiled_is_what_was_recorded(name, task):
    here = problem(name, task)
    recorded = record(here._terms, {"q": (here.robot.nq,)}, "redundancy")
    assert here.kernel.operations.total <= recorded.operations.total
    assert here.kernel.operations.instructions < recorded.operations.instructions
    rng = np.random.default_rng(0)
    q = np.array([here.robot.random(rng) for _ in range(5)])
    for ours, theirs in zip(here.kernel(q), lanes.run(recorded, q), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())


def test_the_gradient_of_manipulability_knows_couplings_by_polynomials():
    """h = ∂(½ log det J Jᵀ)/∂q, and B its derivative: by complex steps of the closed forms."""
    robot = curved_robot()
    here = problem_of(robot, Position("tool"), Manipulability())
    q, step = robot.random(0), 1e-30j * np.eye(robot.nv)
    log = lambda q: np.log(np.linalg.det((J := cf.frame_jacobian(robot, q, "tool")[:3]) @ J.T)) / 2
    _, _, _, h, _, raw = here.kernel(q)
    assert 0.5 * np.log(raw) == pytest.approx(log(q), rel=1e-12)
    np.testing.assert_allclose(h, [np.imag(log(q + e)) / 1e-30 for e in step], rtol=1e-10,
                               atol=1e-13)
    B = here.curvature(q, np.zeros(3))
    small = 1e-6 * np.eye(robot.nv)
    slopes = [(here.kernel(q + e)[3] - here.kernel(q - e)[3]) / 2e-6 for e in small]
    np.testing.assert_allclose(B, slopes, rtol=1e-6, atol=1e-6)


def test_manipulability_of_a_floating_robot_with_such_couplings_is_refused_by_name():
    with pytest.raises(cf.ArgumentError, match=r"follow by polynomials needs .* has free joints"):
        _ = problem_of(curved_robot(floating=True), Position("tool"), Manipulability()).kernel
