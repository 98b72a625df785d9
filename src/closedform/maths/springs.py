"""Springs in the joints: ½ Σ k x², x = `stretch` of the joint's own coordinates, a mimic's too.

Where v = q̇, x is q − q₀ and all is linear. On planar, spherical and free joints the torques turn
with the body: there, what a torque does along a motion is found on series in time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from closedform.arrays import Array, Number, namespace
from closedform.errors import ModelError
from closedform.maths.pull_backs import COVECTOR, pulled_back
from closedform.maths.scalars.moving import joint_series
from closedform.maths.scalars.series import coefficient, derivatives, from_derivatives
from closedform.model.robot import Robot
from closedform.model.segments import Segment


def spring_energy(robot: Robot, q: Array) -> Number:
    """½ Σ k x², scalar; x at ratio q + offset, the ratio being 1 where nothing is followed."""
    return sum(spring_energies(robot, q).values())


def spring_energies(robot: Robot, q: Array) -> dict[int, Number]:
    """½ Σ k x² of the segments that have springs, by their numbers."""
    xp, number = namespace(q), {id(s): k for k, s in enumerate(robot.segments, start=1)}
    return {number[id(s)]: sum(
        k_c * x * x / 2 for k_c, x in zip(k, s.joint.stretch(s.coordinates(q), xp), strict=True)
        if k_c) for s, k in _sprung(robot)}


@pulled_back(COVECTOR)
def spring_torque(robot: Robot, q: Array) -> Array:
    """Σ ratio k x, (nv,), seen in the velocities: the gradient of `spring_energy`."""
    xp = namespace(q)
    torque = [xp.zeros(()) for _ in range(robot.nv)]
    for s, k in _sprung(robot):
        for i, k_i, f in zip(s.v_index, k, _torque(s, k, s.coordinates(q)), strict=True):
            if k_i or not s.joint.is_vector:
                torque[i] = torque[i] + f
    return xp.stack(torque) if torque else xp.zeros(0)


def spring_stiffness(robot: Robot, q: Array) -> Array:
    """∂_j of the torque's entry i, (nv, nv), left-trivialised: diag(Σ ratio² k) where v = q̇."""
    xp = namespace(q)
    K = xp.eye(robot.nv) * _linear_stiffness(robot)
    for s, _ in _sprung(robot):
        if not s.joint.is_vector:
            E = xp.eye(robot.nv)[np.array(s.v_index)]
            K = K + E.T @ s.joint.spring_slope(s.coordinates(q), xp) @ E
    return K


def spring_second_derivatives(robot: Robot, q: Array) -> Array:
    """∂_l ∂_j of the torque's entry i, (nv, nv, nv): j first, then l. Zero where v = q̇."""
    xp, n = namespace(q), robot.nv
    by = [xp.zeros((n, n)) for _ in range(n)]
    for s, _ in _sprung(robot):
        if not s.joint.is_vector:
            E = xp.eye(n)[np.array(s.v_index)]
            for l, e in zip(s.v_index, np.eye(s.joint.nv), strict=True):
                by[l] = E.T @ _slope_along(s, s.coordinates(q), e) @ E
    return xp.stack(by, axis=2)


def spring_jet(robot: Robot, q: Array, rates: Sequence[Array]) -> Array:
    """The torque and its time derivatives along a motion with the rates v, a, …, (orders, nv)."""
    xp, K = namespace(q, *rates), _linear_stiffness(robot)
    jet = xp.stack([spring_torque(robot, q), *(K * rate for rate in rates)])
    for s, k in _sprung(robot):
        if not s.joint.is_vector and len(rates):
            index = np.array(s.v_index)
            v = from_derivatives([rate[index] for rate in rates])
            f = _torque(s, k, joint_series(s.joint, s.coordinates(q), v))
            later = derivatives(f, len(rates) + 1, xp)[1:] @ xp.eye(robot.nv)[index]
            jet = xp.concatenate([jet[:1], jet[1:] + later])
    return jet


def has_springs(robot: Robot) -> bool:
    return any(True for _ in _sprung(robot))


def has_turning_springs(robot: Robot) -> bool:
    """Whether some spring is on a joint where v is not q̇."""
    return any(not s.joint.is_vector for s, _ in _sprung(robot))


def _sprung(robot: Robot) -> Iterator[tuple[Segment, np.ndarray]]:
    """Segments with springs, and the stiffness of each of their velocities."""
    for s in robot.segments:
        if s.joint.stiffness is not None and np.any(s.joint.stiffness):
            yield s, s.joint.per_coordinate("stiffness", len(s.v_index), 0.0)


def _torque(s: Segment, k: np.ndarray, q: Array) -> Array:
    """The torques of a segment's spring at its own coordinates, on what they are driven by."""
    xp = namespace(q)
    return s.joint.pull(q, s.ratio * k * s.joint.stretch(q, xp), xp)


def _slope_along(s: Segment, q: Array, direction: np.ndarray) -> Array:
    """The derivative of `spring_slope` along a velocity, (nv_k, nv_k)."""
    moved = joint_series(s.joint, q, from_derivatives([direction]))
    slope = s.joint.spring_slope(moved, namespace(moved))
    return namespace(q).array(coefficient(slope, 1).tolist())


def _linear_stiffness(robot: Robot) -> np.ndarray:
    """Σ ratio² k of the joints with v = q̇, (nv,)."""
    K = np.zeros(robot.nv)
    if robot.is_curved:
        raise ModelError(f"{robot.name}: how stiff its springs are changes with q where joints "
                         "follow others by polynomials; cf.state_derivatives has dg_dq")
    for s, k in _sprung(robot):
        if s.joint.is_vector:
            for i, k_i in zip(s.v_index, k, strict=True):
                K[i] += s.ratio * s.ratio * k_i
    return K
