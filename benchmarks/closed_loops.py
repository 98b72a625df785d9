"""Robots with closed loops: operations of their programs, and forward dynamics beside Pinocchio's.

    python benchmarks/closed_loops.py

Ours is the native function in a C loop, one state at a time, with a Newton step of the loops
counted in; Pinocchio's `constraintDynamics` is called from Python, which costs about a microsecond
a call, with μ = 1e-12 and two proximal iterations.
"""

from __future__ import annotations

import statistics
import timeit
from typing import Any

import numpy as np
from clock import FULL, Job, measured
from contenders_ours import native_loop
from subjects import STATES

import closedform as cf
from closedform.model.joints import Free, Prismatic, Revolute, Spherical
from closedform.model.robot import Robot

GOALS = {"four_bar": 93, "palletiser": 472, "delta": 2584, "stewart": 3034}
"""Operations of inverse dynamics at most."""


def main() -> None:
    print(f"{'robot':12}{'ID':>7}{'goal':>7}{'M':>7}{'FD':>7}{'Newton':>8}"
          f"{'our FD':>10}{'Pinocchio':>11}{'ratio':>8}")
    for name in ("four_bar", "five_bar", "palletiser", "ankle", "delta", "stewart"):
        robot = cf.load(name)
        arm = cf.compile(robot)
        counts = [_operations(getattr(arm, row)) for row in (
            "inverse_dynamics", "mass_matrix", "forward_dynamics", "loop_step")]
        ours, theirs = _times(robot, arm)
        ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True)) \
            if theirs else np.nan
        print(f"{name:12}{counts[0]:7}{GOALS.get(name, ''):>7}{counts[1]:7}{counts[2]:7}"
              f"{counts[3]:8}{1e6 * statistics.median(ours):8.2f}µs"
              f"{1e6 * statistics.median(theirs) if theirs else np.nan:9.2f}µs{ratio:8.1f}",
              flush=True)


def _operations(kernel: Any) -> int:
    return kernel.operations.mul + kernel.operations.add


def _times(robot: Robot, arm: Any) -> tuple[list[float], list[float]]:
    """Seconds a state, ours and Pinocchio's, in turns."""
    rng = np.random.default_rng(0)
    q = robot.integrate(robot.neutral(), 0.02 * rng.normal(size=robot.nv))
    v, tau = rng.normal(size=(2, robot.nv))
    many = {"q": np.tile(q, (STATES, 1)), "v": np.tile(v, (STATES, 1)),
            "tau": np.tile(tau, (STATES, 1))}
    jobs = []
    for kernel in (arm.loop_step, arm.forward_dynamics):
        slots = kernel.interface
        arrays = [*(many[x.name] for x in slots.inputs),
                  *(np.zeros((STATES, *x.shape)) for x in slots.outputs)]
        jobs.append(native_loop(kernel.name, kernel.native, arrays))
    try:
        peer = _Pinocchio(robot)
    except ImportError:
        return _together(measured(jobs, FULL)), []
    given = peer.given(q, v, tau)
    ours = arm.forward_dynamics(q, v, tau)
    difference = np.abs(peer.call(*given)[list(robot.closure.independent)] - ours).max()
    if difference > 1e-6 * np.abs(ours).max():
        raise SystemExit(f"{robot.name}: accelerations differ by {difference:.1e}")
    call = timeit.Timer(lambda: peer.call(*given))
    jobs.append(Job("theirs", lambda repeats: call.timeit(20 * repeats), 20))
    times = measured(jobs, FULL)
    return _together({k: x for k, x in times.items() if k != "theirs"}), [
        x * 1e-9 for x in times["theirs"]]


def _together(times: dict[str, list[float]]) -> list[float]:
    return [1e-9 * sum(x) for x in zip(*times.values(), strict=True)]


class _Pinocchio:
    """The spanning tree of a robot with its loops as constraints."""

    def __init__(self, robot: Robot) -> None:
        import pinocchio as pin
        self.pin, self.robot = pin, robot
        self.model = pin.Model()
        self.model.gravity.linear = np.array(robot.gravity)
        numbers = [0]
        for s in robot.tree.segments:
            place = pin.SE3(np.array(s.placement, dtype=float))
            number = self.model.addJoint(numbers[s.parent], _joint(pin, s.joint), place, s.name)
            numbers.append(number)
            if s.inertia is not None:
                com = np.array(s.inertia.com if s.inertia.mass else np.zeros(3), dtype=float)
                self.model.appendBodyToJoint(number, pin.Inertia(
                    float(s.inertia.mass), com, np.array(s.inertia.tensor, dtype=float)),
                    pin.SE3.Identity())
        at = {s.name: n for s, n in zip(robot.tree.segments, numbers[1:], strict=True)}
        at_world: dict[str | None, int] = {None: 0, **at}
        self.loops = pin.StdVec_RigidConstraintModel()
        self.states = pin.StdVec_RigidConstraintData()
        for cut in robot.loops:
            loop = pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D, self.model, at_world[cut.a[0]], pin.SE3(cut.a[1]),
                at_world[cut.b[0]], pin.SE3(cut.b[1]), pin.ReferenceFrame.LOCAL)
            self.loops.append(loop)
            self.states.append(loop.createData())
        self.data = self.model.createData()
        pin.initConstraintDynamics(self.model, self.data, self.loops, self.states)
        self.settings = pin.ProximalSettings(1e-14, 1e-14, 1e-12, 2)

    def given(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, ...]:
        """The state of the tree, with the torques at the independent joints."""
        G = np.asarray(cf.loop_embedding(self.robot, q))
        whole = np.zeros(self.model.nv)
        whole[list(self.robot.closure.independent)] = tau
        return q, G @ v, whole

    def call(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return self.pin.constraintDynamics(self.model, self.data, q, v, tau, self.loops,
                                           self.states, self.settings)


def _joint(pin: Any, joint: Any) -> Any:
    if isinstance(joint, Revolute):
        return pin.JointModelRevoluteUnaligned(np.array(joint.axis, dtype=float))
    if isinstance(joint, Prismatic):
        return pin.JointModelPrismaticUnaligned(np.array(joint.axis, dtype=float))
    if isinstance(joint, Spherical):
        return pin.JointModelSpherical()
    assert isinstance(joint, Free)
    return pin.JointModelFreeFlyer()


if __name__ == "__main__":
    main()
