"""Redundant inverse kinematics beside SciPy, Pink and mink: the same targets, the same seeds.

Prints one table for each robot. Targets are poses of certified maxima, seeds lie within about 0.05
rad of them. A target counts as solved if its residual is below 1e-6, in metres and radians. Times
are those of one core, in CPU seconds of this process. Pink and mink solve a weighted quadratic
program for the velocity with a posture task; they do not maximise the criterion, so that their
column shows what is given away. Both are skipped where they are not installed
(`pip install pin-pink mink daqp`).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import closedform as cf
from closedform.applications import redundancy
from closedform.applications.redundancy.problem import Problem, problem_of

ARMS = {"iiwa14": "flange", "panda": "panda_hand_tcp"}
MANY, FEW = 20_000, 100
SOLVED = 1e-6
LAPS, POINTS = 10, 60
Follow = Callable[[Any, Any], Any]
"""One target from one configuration: the new configuration."""


@dataclass(frozen=True)
class Row:
    name: str
    solved: float           # share with a residual below SOLVED
    certified: float        # share with a certificate of a maximum
    residual: float         # median
    time: float             # s for a solution
    criterion: float        # mean of ½ log det J Jᵀ over the targets that all have
    drift: float            # rad after ten laps of a closed path


def scene(robot: cf.Robot, frame: str, count: int) -> tuple[Any, Any]:
    """Targets and seeds."""
    rng = np.random.default_rng(0)
    task, criterion = redundancy.Pose(frame), redundancy.Manipulability()
    q = np.array([robot.random(rng) for _ in range(400)])
    poses = np.array([cf.frame_pose(robot, x, frame) for x in q])
    found = redundancy.solve(robot, task, poses, criterion, q)
    room = np.minimum(found.q - robot.lower, robot.upper - found.q).min(axis=1)
    good = np.flatnonzero((found.verdict == "maximum") & (found.sigma_min > 0.02) & (room > 0.2))
    chosen = np.resize(good, count)
    return poses[chosen], found.q[chosen] + 0.02 * rng.normal(size=(count, robot.nq))


def lap(robot: cf.Robot, frame: str, q: Any) -> Any:
    """A closed path of poses around the frame's place at q."""
    T = cf.frame_pose(robot, q, frame)
    path = []
    for s in np.linspace(0, 2 * np.pi, POINTS + 1):
        P = T.copy()
        P[:3, 3] += 0.02 * np.array([np.cos(s) - 1, np.sin(s), 0.5 * np.sin(s)])
        P[:3, :3] = Rotation.from_rotvec([0.05 * np.sin(s), 0, 0]).as_matrix() @ T[:3, :3]
        path.append(P)
    path[-1] = path[0]
    return np.array(path)


# ---------------------------------------------------------------------- ours
def ours(robot: cf.Robot, frame: str, targets: Any, seeds: Any, path: Any, start: Any) -> Row:
    task, criterion = redundancy.Pose(frame), redundancy.Manipulability()
    redundancy.solve(robot, task, targets[:64], criterion, seeds[:64])
    begin = time.process_time()
    found = redundancy.solve(robot, task, targets, criterion, seeds)
    seconds = time.process_time() - begin
    q = first = redundancy.track(robot, task, path, criterion, start).q[-1]
    for _ in range(LAPS - 1):
        q = redundancy.track(robot, task, path, criterion, q).q[-1]
    return Row("closedform, batch", np.mean(found.task_residual < SOLVED), np.mean(found.certified),
               float(np.median(found.task_residual)), seconds / len(seeds),
               float(np.mean(found.value[:FEW])), float(np.abs(q - first).max()))


# ---------------------------------------------------------------------- peers
def measured(name: str, problem: Problem, follow: Follow, targets: Any, seeds: Any, path: Any,
             start: Any) -> Row:
    follow(targets[0], seeds[0])
    begin = time.process_time()
    q = np.array([follow(x, s) for x, s in zip(targets, seeds, strict=True)])
    seconds = (time.process_time() - begin) / len(seeds)
    here = problem.at(q, targets)
    residual = np.linalg.norm(here.e, axis=-1)
    ends = []
    at = start
    for _ in range(LAPS):
        for x in path[1:]:
            at = follow(x, at)
        ends.append(at)
    return Row(name, np.mean(residual < SOLVED), np.nan, float(np.median(residual)), seconds,
               float(np.mean(here.H)), float(np.abs(ends[-1] - ends[0]).max()))


def scipy_follow(problem: Problem) -> Follow:
    """SLSQP on the same functions and gradients, within the limits."""
    bounds = list(zip(problem.robot.lower, problem.robot.upper, strict=True))

    def follow(target: Any, q: Any) -> Any:
        found = minimize(
            lambda q: -problem.at(q, target).H, q, jac=lambda q: -problem.at(q, target).h,
            bounds=bounds, method="SLSQP", options={"maxiter": 100, "ftol": 1e-14},
            constraints={"type": "eq", "fun": lambda q: problem.at(q, target).e,
                         "jac": lambda q: problem.at(q, target).J})
        return found.x

    return follow


def urdf_of(robot: cf.Robot) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.ModelWarning)     # gravity, which kinematics has not
        return robot.to_urdf()


def pink_follow(robot: cf.Robot, frame: str) -> Follow:
    import pink
    import pinocchio as pin

    model = pin.buildModelFromXML(urdf_of(robot))
    data = model.createData()
    task = pink.tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0)
    posture = pink.tasks.PostureTask(cost=1e-4)

    def follow(target: Any, q: Any) -> Any:
        task.set_target(pin.SE3(target))
        configuration = pink.Configuration(model, data, np.array(q))
        posture.set_target(np.array(q))
        for _ in range(40):
            v = pink.solve_ik(configuration, [task, posture], 1.0, solver="daqp")
            configuration.integrate_inplace(v, 1.0)
            if np.linalg.norm(task.compute_error(configuration)) < 1e-9:
                break
        return configuration.q.copy()

    return follow


def mink_follow(robot: cf.Robot, frame: str) -> Follow:
    import mink
    import mujoco

    text = urdf_of(robot)
    head = text.index(">", text.index("<robot")) + 1
    compiler = '<mujoco><compiler fusestatic="false" balanceinertia="true"/></mujoco>'
    text = text[:head] + compiler + text[head:]
    model = mujoco.MjModel.from_xml_string(text)
    configuration = mink.Configuration(model)
    task = mink.FrameTask(frame, "body", position_cost=1.0, orientation_cost=1.0)
    posture = mink.PostureTask(model, cost=1e-4)
    limits = [mink.ConfigurationLimit(model)]

    def follow(target: Any, q: Any) -> Any:
        configuration.update(np.array(q))
        task.set_target(mink.SE3.from_matrix(target))
        posture.set_target(np.array(q))
        for _ in range(40):
            v = mink.solve_ik(configuration, [task, posture], 1.0, "daqp", limits=limits)
            configuration.integrate_inplace(v, 1.0)
            if np.linalg.norm(task.compute_error(configuration)) < 1e-9:
                break
        return configuration.q.copy()

    return follow


def rows(name: str, frame: str) -> list[Row]:
    robot = cf.load(name)
    problem = problem_of(robot, redundancy.Pose(frame), redundancy.Manipulability(), True)
    targets, seeds = scene(robot, frame, MANY)
    start = closed_start(robot, frame, targets, seeds)
    path = lap(robot, frame, start)
    result = [ours(robot, frame, targets, seeds, path, start)]
    few = (targets[:FEW], seeds[:FEW], path, start)
    makers = (("SciPy SLSQP", lambda: scipy_follow(problem)),
              ("Pink", lambda: pink_follow(robot, frame)),
              ("mink", lambda: mink_follow(robot, frame)))
    for label, make in makers:
        try:
            follow = make()
        except ImportError as error:
            print(f"{label} is left out: {error}", file=sys.stderr)
            continue
        result.append(measured(label, problem, follow, *few))
    return result


def closed_start(robot: cf.Robot, frame: str, targets: Any, seeds: Any) -> Any:
    """A maximum whose branch has no fold on the lap around it."""
    task, criterion = redundancy.Pose(frame), redundancy.Manipulability()
    for x, q in zip(targets, seeds, strict=True):
        found = redundancy.solve(robot, task, x, criterion, q)
        if redundancy.track(robot, task, lap(robot, frame, found.q), criterion, found.q).complete:
            return found.q
    raise SystemExit("no start with a closed lap")


def main() -> None:
    heading = f"{'':18s} {'solved':>7s} {'certified':>9s} {'residual':>9s} {'µs each':>9s} " \
              f"{'1/s':>8s} {'criterion':>9s} {'drift':>8s}"
    for name, frame in ARMS.items():
        print(f"{name}, pose of {frame}: {MANY} targets, peers {FEW}; drift after {LAPS} laps\n"
              f"{heading}")
        for r in rows(name, frame):
            certified = "-" if np.isnan(r.certified) else f"{100 * r.certified:.2f}%"
            print(f"{r.name:18s} {100 * r.solved:6.2f}% {certified:>9s} {r.residual:9.1e} "
                  f"{1e6 * r.time:9.1f} {1 / r.time:8.0f} {r.criterion:9.5f} {r.drift:8.1e}")
        print()


if __name__ == "__main__":
    main()
