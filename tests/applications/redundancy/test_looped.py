"""Inverse kinematics and redundancy of robots with loops: in y, with q closed."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.redundancy.problem import problem_of

R = cf.redundancy
SHIFT = np.array([0.05, 0.1, -0.05])
TASK = R.PlanarPosition("tip")


def sliding_five_bar():
    """A five-bar on a slide along x: three independent joints, two to be told by a position."""
    slide = cf.Body("slide", None, cf.Prismatic((1, 0, 0), lower=-0.4, upper=0.4),
                    inertia=cf.Inertia(2.0, (0, 0, 0), 0.01 * np.eye(3)))
    five = cf.load("five_bar")
    bodies = [slide, *(cf.Body(b.name, b.parent or "slide", b.joint, b.placement, b.inertia)
                       for b in five.bodies)]
    guess = dict(zip(five.body_names, five.neutral(), strict=True))
    return cf.Robot("sliding_five_bar", bodies, five.gravity, five.frames, loops=five.loops,
                    independent=["slide", *five.independent], guess=guess)


ROBOT = sliding_five_bar()
Y = np.array([0, 1, 3])


def open_by(robot, q):
    return np.abs([cf.loop_residual(robot, x) for x in np.atleast_2d(q)]).max()


@pytest.mark.parametrize("criterion", [
    R.Manipulability(),
    R.DetJJt() + 0.3 * R.LimitBarrier() + 0.5 * R.Posture(ROBOT.neutral()) + R.JointCentering()
    + R.Obstacles([((0.1, 0.9, 0), (0.1, 0.1, 0.1), 2)], ["right_forearm"])],
    ids=["manipulability", "sum"])
def test_gradient_and_hessian_are_those_along_the_closed_loops(criterion):
    """Differences of H(closed(y)) and of its gradient."""
    problem, q = problem_of(ROBOT, TASK, criterion), ROBOT.neutral()
    target, h = np.zeros(2), 1e-6
    here = problem.at(q, target)
    there = [(problem.at(ROBOT.closed(q[Y] + d, near=q), target),
              problem.at(ROBOT.closed(q[Y] - d, near=q), target)) for d in h * np.eye(3)]
    slope = np.array([(a.H - b.H) / (2 * h) for a, b in there])
    np.testing.assert_allclose(here.h, slope, rtol=1e-6, atol=1e-6)
    J = np.array([(a.place - b.place) / (2 * h) for a, b in there]).T
    np.testing.assert_allclose(here.J, J, atol=1e-8)
    W = problem.curvature(q, np.zeros(2))
    bend = np.array([(a.h - b.h) / (2 * h) for a, b in there])
    np.testing.assert_allclose(W, bend, rtol=1e-5, atol=1e-5)


def test_the_best_posture_of_a_target_has_its_loops_closed_and_a_certificate():
    target = cf.frame_pose(ROBOT, ROBOT.neutral(), "tip")[:2, 3] + np.array([0.05, 0.03])
    best = R.solve(ROBOT, TASK, target, R.Manipulability())
    assert best.certified and best.task_residual < 1e-12 and open_by(ROBOT, best.q) < 1e-12
    others = R.solve(ROBOT, TASK, target + np.array([[0, 0], [0.01, 0], [0.02, -0.01]]),
                     R.Manipulability(), best.q)
    assert np.all(others.certified) and open_by(ROBOT, others.q) < 1e-12
    np.testing.assert_allclose(others.q[0], best.q, atol=1e-8)


def test_self_motions_branches_and_paths_keep_loops_closed():
    target = cf.frame_pose(ROBOT, ROBOT.neutral(), "tip")[:2, 3]
    curve = R.self_motion(ROBOT, TASK, target, R.Manipulability(), ROBOT.neutral())
    found = np.array([cf.frame_pose(ROBOT, q, "tip")[:2, 3] for q in curve.q])
    assert len(curve.q) > 5 and open_by(ROBOT, curve.q) < 1e-10
    np.testing.assert_allclose(found, np.broadcast_to(target, found.shape), atol=1e-9)
    best = R.branches(ROBOT, TASK, target, R.Manipulability(), starts=4)
    assert best and open_by(ROBOT, [x.q for x in best]) < 1e-10
    path = target + np.linspace(0, 0.04, 5)[:, None] * [1.0, 0.5]
    track = R.track(ROBOT, TASK, path, R.Manipulability(), best[0].q)
    assert track.q.shape == (5, ROBOT.nq) and open_by(ROBOT, track.q) < 1e-10
    moved = R.resolved_motion(ROBOT, TASK, path, R.Manipulability(), ROBOT.neutral(), gain=0.1)
    assert moved.task_error.max() < 1e-6 and open_by(ROBOT, moved.history) < 1e-10


def test_loops_end_a_step_where_they_cannot_close():
    """A step far out of reach stops on the branch, closed, instead of failing."""
    problem, q = problem_of(ROBOT, TASK, R.Manipulability()), ROBOT.neutral()
    far = problem.moved(q, np.array([0.0, 3.0, -3.0]))
    assert open_by(ROBOT, far) < 1e-10 and np.abs(far - q).max() > 0.1


def test_a_start_that_is_open_is_closed_first():
    target = cf.frame_pose(ROBOT, ROBOT.neutral(), "tip")[:2, 3]
    loose = ROBOT.neutral() + np.array([0, 0, 0.05, 0, -0.04])
    found = R.solve(ROBOT, TASK, target, R.Manipulability(), loose)
    assert found.certified and open_by(ROBOT, found.q) < 1e-12


def test_a_palletiser_is_solved_through_its_affine_loops():
    robot = cf.load("palletiser")
    task, q = R.Position("gripper"), robot.neutral()
    p = cf.frame_pose(robot, q, "gripper")[:3, 3]
    found = R.solve(robot, task, p + SHIFT, R.Posture(q), q)
    assert found.task_residual < 1e-10 and open_by(robot, found.q) < 1e-10
    np.testing.assert_allclose(cf.frame_pose(robot, found.q, "gripper")[:3, 3],
                               p + SHIFT, atol=1e-10)
