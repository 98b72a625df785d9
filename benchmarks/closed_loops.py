"""Robots with closed loops: operations of their programs, and forward dynamics beside Pinocchio's.

    python benchmarks/closed_loops.py

Both sides are called from Python, one state a call, in turns. Ours has a Newton step of the loops
counted in; Pinocchio's `constraintDynamics` runs with μ = 1e-12 and two proximal iterations. Calls
from Python cost both about a microsecond, which is more than our kernels take for small robots.
"""

from __future__ import annotations

import statistics
import timeit
from typing import Any

import numpy as np

import closedform as cf
from closedform.model.joints import Free, Prismatic, Revolute, Spherical
from closedform.model.robot import Robot

GOALS = {"four_bar": 93, "palletiser": 472, "delta": 2584, "stewart": 3034}
"""Operations of inverse dynamics at most."""
ROUNDS = 15


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
    """Seconds a call, ours and Pinocchio's, in turns."""
    rng = np.random.default_rng(0)
    q = robot.integrate(robot.neutral(), 0.02 * rng.normal(size=robot.nv))
    v, tau = rng.normal(size=(2, robot.nv))
    step, forward = arm.loop_step, arm.forward_dynamics
    calls = [timeit.Timer(lambda: (step(q), forward(q, v, tau)))]
    try:
        peer = _Pinocchio(robot)
    except ImportError:
        peer = None
    if peer is not None:
        given = peer.given(q, v, tau)
        own = np.array(robot.closure.independent)
        difference = np.abs(peer.call(*given)[own] - forward(q, v, tau)).max()
        size = np.abs(forward(q, v, tau)).max()
        if difference > 1e-6 * size:
            raise SystemExit(f"{robot.name}: accelerations differ by {difference / size:.1e}")
        calls.append(timeit.Timer(lambda: peer.call(*given)))
    found: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for k, call in enumerate(calls):
            found[k].append(call.timeit(300) / 300)
    return found[0], found[1]


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
        self.loops, self.states = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
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
