"""Forward dynamics by articulated bodies: O(n), for robots without mimic couplings.

The inertia of an articulated body is [[A, H], [Hᵀ, J]], A and J symmetric, on the linear and
angular acceleration of the frame's origin. Accelerations are the classical ones, as in
`closedform.maths.algorithms.newton_euler`.

Cites: [Featherstone2008, section 7.3].
"""

from __future__ import annotations

from typing import Any, NamedTuple

from closedform.arrays import Array, namespace
from closedform.errors import ModelError
from closedform.maths.algorithms.joint_steps import (
    JointStep,
    Symmetric,
    joint_steps,
    wrench_in_parent,
)
from closedform.maths.algorithms.moments import moments
from closedform.maths.algorithms.newton_euler import body_force, rotation_rates
from closedform.maths.kinematics import body_segments
from closedform.maths.spatial import cross, skew
from closedform.model.joints import Mimic
from closedform.model.robot import Robot
from closedform.model.segments import Segment


class Articulated(NamedTuple):
    """Inertia and bias force of an articulated body, in its frame."""

    A: Symmetric
    H: Array     # (3, 3)
    J: Symmetric
    F: Array     # (6,)


class Eliminated(NamedTuple):
    """What is left of a joint once its acceleration is eliminated: q̈ = D⁻¹ (u − Uᵀ a)."""

    U: Array       # (6, n_k)
    D: Array       # (n_k, n_k)
    u: Array       # (n_k,)
    K: Array       # (n_k, 6), D⁻¹ Uᵀ
    rest: Array    # (n_k,), D⁻¹ u


def forward_dynamics(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None,
) -> Array:
    """a = M⁻¹ (τ + Σ J_kᵀ F_k − C v − g), (nv,), by articulated bodies."""
    if any(isinstance(body.joint, Mimic) for body in robot.bodies):
        raise ModelError("articulated bodies cannot have mimic couplings; "
                         "closedform.maths.algorithms.newton_euler has another algorithm")
    xp = namespace(q, v, tau, *(x for x in (wrenches,) if x is not None))
    way = joint_steps(robot, q)
    body, c = _velocity_pass(robot, way, v, xp)
    if wrenches is not None:
        for number, k in enumerate(body_segments(robot)):
            body[k] = body[k]._replace(F=body[k].F - wrenches[number])
    joints = _inertia_pass(robot, way, body, c, tau, xp)
    return _acceleration_pass(robot, way, c, joints, xp)


def _velocity_pass(
    robot: Robot, way: list[JointStep], v: Array, xp: Any,
) -> tuple[list[Articulated], list[Array]]:
    """Rigid bodies with bias forces, and the joints' bias accelerations c; the world first."""
    zero, none = xp.zeros(3), (0, 0, 0, 0, 0, 0)
    w, U, c = [zero], [xp.zeros((3, 3))], [xp.zeros(6)]
    body = [Articulated(none, xp.zeros((3, 3)), none, xp.zeros(6))]
    for segment, step in zip(robot.segments, way, strict=True):
        w_k, s = step.down(w[segment.parent]), segment.S @ segment.velocities(v)
        c_v = step.down(U[segment.parent] @ step.p) + cross(2 * w_k + s[3:], s[:3])
        c.append(xp.concatenate([c_v, cross(w_k, s[3:])]))
        w.append(w_k + s[3:])
        U.append(rotation_rates(w[-1], zero))
        body.append(_rigid(segment, w[-1], U[-1], xp))
    return body, c


def _rigid(segment: Segment, w: Array, U: Array, xp: Any) -> Articulated:
    m, h, (xx, xy, yy, xz, yz, zz) = body = moments(segment.inertia)
    return Articulated((m, 0, m, 0, 0, m), -skew(h), (yy + zz, -xy, xx + zz, -xz, -yz, xx + yy),
                       body_force(body, w, U, xp.zeros(3)))


def _inertia_pass(
    robot: Robot, way: list[JointStep], body: list[Articulated], c: list[Array], tau: Array,
    xp: Any,
) -> list[Eliminated]:
    joints: list[Any] = [None] * len(way)
    rotor = robot.rotor_inertia
    for k in range(len(way), 0, -1):
        segment, here = robot.segments[k - 1], body[k]
        joints[k - 1] = joint = _eliminate(segment, here, tau, rotor, xp)
        if segment.parent:
            passed = _without_joint(here, joint, c[k], xp)
            body[segment.parent] = _plus(body[segment.parent],
                                         _in_parent(passed, way[k - 1], xp))
    return joints


def _eliminate(
    segment: Segment, here: Articulated, tau: Array, rotor: Array, xp: Any,
) -> Eliminated:
    S, index = segment.S, list(segment.v_index)
    A, J = _full(here.A, xp), _full(here.J, xp)
    U = xp.concatenate([A @ S[:3] + here.H @ S[3:], here.H.T @ S[:3] + J @ S[3:]])
    n = len(index)
    D = S.T @ U + xp.eye(n) * (rotor[index] if n else xp.zeros(0))
    u = (tau[index] if n else tau[:0]) - S.T @ here.F
    if n == 0:
        return Eliminated(U, D, u, xp.zeros((0, 6)), xp.zeros(0))
    if n == 1:
        inverse = 1 / D[0, 0]
        return Eliminated(U, D, u, inverse * U.T, inverse * u)
    K = xp.stack([xp.solve(D, U[i]) for i in range(6)], axis=1)
    return Eliminated(U, D, u, K, xp.solve(D, u))


def _without_joint(here: Articulated, joint: Eliminated, c: Array, xp: Any) -> Articulated:
    """I − U D⁻¹ Uᵀ, and the bias force p + (I − U D⁻¹ Uᵀ) c + U D⁻¹ u."""
    U, K = joint.U, joint.K
    n = K.shape[0]

    def less(i: int, j: int) -> Any:
        return sum(U[i, r] * K[r, j] for r in range(n))

    A, J = here.A, here.J
    order = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    A = _six([A[e] - less(i, j) for e, (i, j) in enumerate(order)])
    J = _six([J[e] - less(i + 3, j + 3) for e, (i, j) in enumerate(order)])
    H = xp.array([[here.H[i, j] - less(i, j + 3) for j in range(3)] for i in range(3)])
    F = here.F + xp.concatenate(
        [_full(A, xp) @ c[:3] + H @ c[3:], H.T @ c[:3] + _full(J, xp) @ c[3:]])
    return Articulated(A, H, J, F + U @ joint.rest if n else F)


def _in_parent(x: Articulated, step: JointStep, xp: Any) -> Articulated:
    """The articulated body seen from the parent: rotated, then moved by p.

        H ← H − A p~,   J ← J − Hᵀ p~ + p~ H   (the H on the left already moved)
    """
    A, J, p = step.up_symmetric(x.A), step.up_symmetric(x.J), step.p
    H = step.up(step.up(x.H).T).T
    rows = _full(A, xp)
    moved = H + xp.stack([cross(p, rows[i]) for i in range(3)])          # −A p~, by rows: p × A_i
    back = xp.stack([cross(p, H[:, i]) for i in range(3)])               # −Hᵀ p~, by rows
    front = xp.stack([cross(p, moved[:, j]) for j in range(3)], axis=1)  # p~ H, by columns
    J = _six([J[e] + (back[i, j] + front[i, j])
              for e, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))])
    return Articulated(A, moved, J, wrench_in_parent(step, x.F))


def _acceleration_pass(
    robot: Robot, way: list[JointStep], c: list[Array], joints: list[Eliminated], xp: Any,
) -> Array:
    a = [(-robot.gravity, xp.zeros(3))]
    found: list[Any] = [0] * robot.nv
    for segment, step, joint, c_k in zip(robot.segments, way, joints, c[1:], strict=True):
        linear, angular = a[segment.parent]
        linear = step.down(linear + cross(angular, step.p)) + c_k[:3]
        angular = step.down(angular) + c_k[3:]
        if segment.v_index:
            own = joint.rest - (joint.K[:, :3] @ linear + joint.K[:, 3:] @ angular)
            linear, angular = linear + segment.S[:3] @ own, angular + segment.S[3:] @ own
            for r, i in enumerate(segment.v_index):
                found[i] = own[r]
        a.append((linear, angular))
    return xp.stack(found) if found else xp.zeros(0)


def _plus(x: Articulated, y: Articulated) -> Articulated:
    return Articulated(_six([a + b for a, b in zip(x.A, y.A, strict=True)]), x.H + y.H,
                       _six([a + b for a, b in zip(x.J, y.J, strict=True)]), x.F + y.F)


def _six(x: list[Any]) -> Symmetric:
    return x[0], x[1], x[2], x[3], x[4], x[5]


def _full(x: Symmetric, xp: Any) -> Array:
    return xp.array([[x[0], x[1], x[3]], [x[1], x[2], x[4]], [x[3], x[4], x[5]]])
