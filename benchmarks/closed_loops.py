"""Robots with closed loops: operations of their programs, and forward dynamics beside Pinocchio's.

    python benchmarks/closed_loops.py

Both are compiled code in a loop over states: ours with a Newton step of the loops counted in where
they are implicit, Pinocchio's `constraintDynamics` in C++ with μ = 1e-12 and two proximal
iterations, which takes closed states and gives all accelerations.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
from building import MissingError
from clock import FULL, Job, measured
from contenders_ours import native_loop
from contenders_pinocchio import compiled
from subjects import STATES

import closedform as cf
from closedform.applications.compile.requests import Request
from closedform.maths.catalogue import quantity
from closedform.model.joints import Prismatic, Revolute, Spherical, Universal
from closedform.model.robot import Robot
from closedform.program.program import Program

GOALS = {"four_bar": 93, "palletiser": 472, "delta": 2584, "stewart": 3034}
"""Operations of inverse dynamics at most."""
FASTER = {"biped": 12, "delta": 25, "stewart": 15}
"""How many times faster forward dynamics are to be."""


def main() -> None:
    """A line for each robot, or for those that are named."""
    print(f"{'robot':12}{'ID':>7}{'goal':>7}{'∂τ/ID':>7}{'M':>7}{'FD':>7}{'Newton':>8}"
          f"{'our FD':>10}{'Pinocchio':>11}{'ratio':>8}{'goal':>6}")
    for name in sys.argv[1:] or ("four_bar", "five_bar", "palletiser", "ankle", "delta", "stewart",
                                 "biped"):
        robot = biped() if name == "biped" else cf.load(name)
        arm = cf.compile(robot)
        counts = [_operations(arm.program([Request(quantity(row))])) for row in (
            "inverse_dynamics", "mass_matrix", "forward_dynamics", "loop_step",
            "inverse_dynamics_derivatives")]
        ours, theirs = _times(robot, arm)
        ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True)) \
            if theirs else np.nan
        print(f"{name:12}{counts[0]:7}{GOALS.get(name, ''):>7}{counts[4] / counts[0]:7.1f}"
              f"{counts[1]:7}{counts[2]:7}{counts[3]:8}{1e6 * statistics.median(ours):8.2f}µs"
              f"{1e6 * statistics.median(theirs) if theirs else np.nan:9.2f}µs{ratio:8.1f}"
              f"{FASTER.get(name, ''):>6}", flush=True)


def _operations(program: Program) -> int:
    return program.operations.mul + program.operations.add


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
    except (ImportError, MissingError) as error:
        print(f"without Pinocchio: {error}")
        return _together(measured(jobs, FULL)), []
    jobs.append(peer.job(q, v, tau))
    jobs[-1].run(1)
    closure = robot.closure
    assert closure is not None
    ours = arm.forward_dynamics(q, v, tau)
    difference = np.abs(peer.out[0][list(closure.independent)] - ours).max()
    if not difference < 1e-6 * np.abs(ours).max():
        raise SystemExit(f"{robot.name}: accelerations differ by {difference:.1e}")
    times = measured(jobs, FULL)
    return _together({k: x for k, x in times.items() if k != "theirs"}), [
        x * 1e-9 for x in times["theirs"]]


def _together(times: dict[str, list[float]]) -> list[float]:
    return [1e-9 * sum(x) for x in zip(*times.values(), strict=True)]


class _Pinocchio:
    """The spanning tree of a robot with its loops as constraints of points."""

    def __init__(self, robot: Robot) -> None:
        import pinocchio as pin
        self.robot = robot
        self.code = compiled("pinocchio_constraints.cpp", Path(pin.__file__), pin.__version__,
                             build=True)
        self.code.loops_new.restype = ctypes.c_void_p
        self.handle = ctypes.c_void_p(self.code.loops_new(_pointer(robot.gravity)))
        number: dict[str | None, int] = {None: 0}
        for body in robot.bodies:
            kind, axes = _kind(body.joint)
            own = body.inertia
            tensor = np.concatenate([[float(own.mass)], np.asarray(own.com, dtype=float),
                                     np.ravel(own.tensor)])
            if self.code.loops_add(self.handle, number[body.parent], kind.encode(), _pointer(axes),
                                   _pointer(body.placement[:3, :3]),
                                   _pointer(body.placement[:3, 3]), _pointer(tensor)):
                raise SystemExit(f"{robot.name}: the benchmark knows no {kind}")
            number[body.name] = len(number)
        for cut in robot.loops:
            sides = [(number[body], _pointer(T[:3, :3]), _pointer(T[:3, 3]))
                     for body, T in (cut.a, cut.b)]
            self.code.loops_cut(self.handle, *sides[0], *sides[1])

    def job(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Job:
        """All accelerations of the tree, with torques at the independent joints alone."""
        closure = self.robot.closure
        assert closure is not None
        G = np.asarray(cf.loop_embedding(self.robot, q))
        whole = np.zeros(len(G))
        whole[list(closure.independent)] = tau
        states = [np.tile(x, (STATES, 1)) for x in (q, G @ v, whole)]
        self.code.loops_states(self.handle, ctypes.c_long(STATES), *map(_pointer, states))
        self.out = np.zeros((STATES, len(G)))
        return Job("theirs", lambda repeats: self.code.loops_run(
            self.handle, ctypes.c_long(repeats), _pointer(self.out)), STATES)


def _pointer(x: Any) -> Any:
    array = np.ascontiguousarray(x, dtype=float)
    return array.ctypes.data_as(ctypes.c_void_p)        # keeps the array alive


def _kind(joint: Any) -> tuple[str, np.ndarray]:
    """Pinocchio's fastest joint of the same motion, and its axes."""
    axes = np.zeros(6)
    if isinstance(joint, Universal):
        axes[:3], axes[3:] = joint.axis1, joint.axis2
        return "JointModelUniversal", axes
    if isinstance(joint, Revolute | Prismatic):
        axes[:3], turns = joint.axis, isinstance(joint, Revolute)
        for name, e in zip("XYZ", np.eye(3), strict=True):
            if np.array_equal(axes[:3], e):
                return f"JointModel{'R' if turns else 'P'}{name}", axes
        return f"JointModel{'Revolute' if turns else 'Prismatic'}Unaligned", axes
    return ("JointModelSpherical" if isinstance(joint, Spherical) else "JointModelFreeFlyer"), axes


# ---------------------------------------------------------------------- a biped
def biped() -> Robot:
    """A free trunk on two legs: knees by four-bars, ankles by cranks with rods; four loops.

    30 velocities, of which 20 are independent.
    """
    rng, X, Y, Z = np.random.default_rng(11), (1, 0, 0), (0, 1, 0), (0, 0, 1)
    bodies = [cf.Body("trunk", None, cf.Free(), inertia=_solid(rng, 20, 0.3))]
    loops: list[Any] = []
    for side, y in (("left", 0.1), ("right", -0.1)):
        def body(name: str, parent: str, joint: Any, at: tuple[float, float, float], mass: float,
                 side: str = side) -> None:
            place = np.eye(4)
            place[:3, 3] = at
            parent = parent if parent == "trunk" else f"{side}_{parent}"
            bodies.append(cf.Body(f"{side}_{name}", parent, joint, place, _solid(rng, mass, 0.1)))

        body("hip_yaw", "trunk", cf.Revolute(Z), (0, y, -0.1), 1.0)
        body("hip_roll", "hip_yaw", cf.Revolute(X), (0, 0, -0.05), 1.0)
        body("thigh", "hip_roll", cf.Revolute(Y), (0, 0, 0), 4.0)
        body("knee_crank", "thigh", cf.Revolute(Y), (0, 0, -0.05), 0.3)
        body("knee_rod", "knee_crank", cf.Revolute(Y), (-0.06, 0, 0), 0.2)
        body("shank", "thigh", cf.Revolute(Y), (0, 0, -0.4), 2.0)
        body("ankle_crank", "shank", cf.Revolute(Y), (0, 0.03, -0.08), 0.2)
        body("ankle_rod", "ankle_crank", cf.Universal(Y, X), (-0.05, 0, 0), 0.1)
        body("foot", "shank", cf.Universal(Y, X), (0, 0, -0.4), 1.0)
        body("toe", "foot", cf.Revolute(Y), (0.1, 0, -0.04), 0.2)
        loops += [cf.Loop(f"{side}_knee", (f"{side}_knee_rod", (0, 0, -0.35)),
                          (f"{side}_shank", (-0.07, 0, 0)), cf.Revolute(Y)),
                  cf.Loop(f"{side}_ankle", (f"{side}_ankle_rod", (0, 0, -0.32)),
                          (f"{side}_foot", (-0.05, 0.03, 0)))]
    moved = ("hip_yaw", "hip_roll", "thigh", "shank", "foot", "toe")
    return cf.Robot("biped", bodies, loops=loops, independent=[
        "trunk", *(f"{side}_{name}" for side in ("left", "right") for name in moved)])


def _solid(rng: np.random.Generator, mass: float, size: float) -> Any:
    """A body of some size with its mass at a random place."""
    return cf.Inertia(mass, 0.2 * size * rng.normal(size=3),
                      mass * size**2 * np.diag(rng.uniform(0.8, 1.2, size=3)) / 6)


if __name__ == "__main__":
    main()
