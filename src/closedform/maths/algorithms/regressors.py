"""Regressors and derivatives by the parameters by recursion, zeros kept.

For every body the screws of the joints on its way to the world are taken to its frame, one column
each, and meet there the body's own (6, 10) matrix, in which a third of the entries are zero. (To
take the ten columns of the matrix to the joints costs about twice the operations.)

Cites: [AtkesonAnHollerbach1986] for the body's matrix; [Garofalo2013, eqs. (8)-(16)].
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, Namespace, namespace
from closedform.maths import pull_backs
from closedform.maths.algebra.entries import Entries, enter, tensor
from closedform.maths.algorithms.joint_steps import (
    JointStep,
    body_twists,
    gravity_in_segments,
    joint_steps,
    twist_in_segment,
)
from closedform.maths.algorithms.newton_euler import OriginMotion, next_motion, world_motion
from closedform.maths.definitions.regressor import ParameterDerivatives, momentum_matrix
from closedform.maths.kinematics import body_segments
from closedform.maths.loads import with_loads
from closedform.maths.pull_backs import COVECTOR, SAME, pulled_back
from closedform.maths.quantity import folds
from closedform.maths.spatial import cross, force_cross, motion_cross, skew
from closedform.model.robot import Robot


class Column(NamedTuple):
    """A column of a body Jacobian, (6,): the screw of a joint, seen in the body's frame."""

    i: int        # the velocity
    J: Array
    dJ: Array     # (V_j × S_j) of the joint's own segment j, seen in the body's frame


def jacobian_columns(
    robot: Robot, way: list[JointStep], V: list[Array] | None, xp: Namespace,
) -> list[list[Column]]:
    """The columns of J_k that are not zero, of all segments and the world; V None: dJ is zero."""
    found: list[list[Column]] = [[]]
    for k, (segment, step) in enumerate(zip(robot.segments, way, strict=True), start=1):
        columns = [Column(i, twist_in_segment(step, J),
                          dJ if V is None else twist_in_segment(step, dJ))
                   for i, J, dJ in found[segment.parent]]
        for c, i in enumerate(segment.v_index):
            S = segment.S[:, c] + xp.zeros(6)
            columns.append(Column(i, S, xp.zeros(6) if V is None else motion_cross(V[k], S)))
        found.append(columns)
    return found


def body_regressor(motion: OriginMotion) -> Array:
    """Force and moment of a body by its ten parameters, (6, 10): (f; n) = W π.

        f = m a + U h,   n = h × a + I ω̇ + ω × I ω
    """
    w, U, dw, a = motion
    xp = namespace(w, U, dw, a)
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    turning = xp.array([[dw[0], -U[2, 0], -yz, U[1, 0], yy - zz, yz],
                        [xz, U[2, 1], dw[1], zz - xx, -U[0, 1], -xz],
                        [-xy, xx - yy, xy, -U[1, 2], U[0, 2], dw[2]]])
    top = xp.concatenate([a[:, None], U, xp.zeros((3, 6))], axis=1)
    low = xp.concatenate([xp.zeros((3, 1)), -skew(a), turning], axis=1)
    return xp.concatenate([top, low])


@folds
@pulled_back(COVECTOR)
@with_loads
def regressor(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """Y, (nv, parameters): the torque M a + C v + g is Y π;  Y_k = J_kᵀ W_k, in O(n d)."""
    xp = namespace(q, v, a)
    way, motion = joint_steps(robot, q), [world_motion(robot, xp)]
    for segment, step in zip(robot.segments, way, strict=True):
        motion.append(next_motion(segment, step, motion[segment.parent], v, a))
    W = [body_regressor(motion[k]) for k in body_segments(robot)]
    return _torque_regressor(robot, jacobian_columns(robot, way, None, xp), W, a, xp)


def _torque_regressor(
    robot: Robot, columns: list[list[Column]], W: list[Array], a: Array, xp: Namespace,
) -> Array:
    """[J_kᵀ W_k, rotor_map a], (nv, parameters), with W_k (6, 10) of each body."""
    Y: Entries = {}
    for number, k in enumerate(body_segments(robot)):
        for i, J, _ in columns[k]:
            row = J @ W[number]
            for c in range(10):
                enter(Y, (i, 10 * number + c), row[c])
    first = 10 * len(robot.bodies)
    for i, r in _rotors(robot):
        Y[i, first + r] = robot.rotor_map[i, r] * a[i]
    return tensor(Y, (robot.nv, len(robot.parameters)), xp)


def _rotors(robot: Robot) -> list[tuple[int, int]]:
    """(velocity, rotor) of the entries of `rotor_map` that a joint has."""
    n, count = robot.rotor_map.shape
    return [(i, r) for i in range(n) for r in range(count) if robot.rotor_map[i, r] != 0]


@folds
@pulled_back(COVECTOR)
@with_loads
def slotine_li_regressor(robot: Robot, q: Array, v: Array, v_r: Array, a_r: Array) -> Array:
    """Y, (nv, parameters): M a_r + C v_r + g = Y π with the passive C, in O(n d).

        W_k = A(α_k) + V_k×* A(V_rk),   α_k = J_k a_r + (dJ_k + V_k× J_k) v_r + γ_k

    α is one vector: dJ + V× J is the rate of the screws in a frame at rest.
    """
    xp = namespace(q, v, v_r, a_r)
    way = joint_steps(robot, q)
    V, V_r = body_twists(robot, way, v, xp), body_twists(robot, way, v_r, xp)
    alpha = [xp.concatenate([-robot.gravity, xp.zeros(3)])]
    for k, (segment, step) in enumerate(zip(robot.segments, way, strict=True), start=1):
        own, faster = segment.S @ segment.velocities(v_r), segment.S @ segment.velocities(a_r)
        alpha_p = twist_in_segment(step, alpha[segment.parent])
        alpha.append(alpha_p + motion_cross(V[k], own) + faster)
    W = []
    for k in body_segments(robot):
        A_r = momentum_matrix(V_r[k])
        turned = xp.stack([force_cross(V[k], A_r[:, c]) for c in range(10)], axis=1)
        W.append(momentum_matrix(alpha[k]) + turned)
    return _torque_regressor(robot, jacobian_columns(robot, way, None, xp), W, a_r, xp)


@folds
@pulled_back(COVECTOR)
def momentum_regressor(robot: Robot, q: Array, v: Array) -> Array:
    """Y, (nv, parameters): the generalised momentum M v is Y π, in O(n d)."""
    xp = namespace(q, v)
    way = joint_steps(robot, q)
    V = body_twists(robot, way, v, xp)
    W = [momentum_matrix(V[k]) for k in body_segments(robot)]
    return _torque_regressor(robot, jacobian_columns(robot, way, None, xp), W, v, xp)


@folds
@pulled_back(SAME)
def kinetic_energy_regressor(robot: Robot, q: Array, v: Array) -> Array:
    """Y, (parameters,): the kinetic energy is Y · π, in O(n).

        Y_k = (½ u·u, u × ω, ½ ω_x², ω_x ω_y, ½ ω_y², ω_x ω_z, ω_y ω_z, ½ ω_z²),   V_k = (u; ω)
    """
    xp = namespace(q, v)
    V = body_twists(robot, joint_steps(robot, q), v, xp)
    Y = []
    for k in body_segments(robot):
        u, w = V[k][:3], V[k][3:]
        x, y, z = w
        Y += [u @ u / 2, *cross(u, w), x * x / 2, x * y, y * y / 2, x * z, y * z, z * z / 2]
    Y += [sum(robot.rotor_map[i, r] * v[i] * v[i] / 2 for i in range(robot.nv))
          for r in range(robot.rotor_map.shape[1])]
    return xp.stack([y + xp.zeros(()) for y in Y])


@folds
@pulled_back(SAME)
@with_loads
def potential_energy_regressor(robot: Robot, q: Array) -> Array:
    """Y, (parameters,): the potential energy is Y · π, in O(n).

        Y_k = (s_k, γ_k, 0),   γ_k = Rᵀ γ_p,   s_k = s_p + γ_p · p_pk,   γ_0 = −gravity
    """
    xp = namespace(q)
    way, height = joint_steps(robot, q), [xp.zeros(())]
    gamma = gravity_in_segments(robot, way)
    for segment, step in zip(robot.segments, way, strict=True):
        height.append(height[segment.parent] + gamma[segment.parent] @ step.p)
    bodies = [xp.concatenate([xp.stack([height[k]]), gamma[k], xp.zeros(6)])
              for k in body_segments(robot)]
    return xp.concatenate([*bodies, xp.zeros(robot.rotor_map.shape[1])])


@folds
@pulled_back(pull_backs.parameter_derivatives)
@with_loads
def parameter_derivatives(robot: Robot, q: Array, v: Array) -> ParameterDerivatives:
    """∂M/∂π, ∂C/∂π (nv, nv, parameters) and ∂g/∂π (nv, parameters), in O(n d²).

        ∂M_ij = J_i · A(J_j)      ∂C_ij = J_i · (A(J̇_j) + V×* A(J_j))      ∂g_i = J_i · A(γ)

    in the frame of each body, J̇_j = V_j × S_j being the rate of a screw in a frame at rest.
    """
    xp = namespace(q, v)
    way = joint_steps(robot, q)
    V = body_twists(robot, way, v, xp)
    columns = jacobian_columns(robot, way, V, xp)
    gamma = gravity_in_segments(robot, way)
    M: Entries = {}
    C: Entries = {}
    g: Entries = {}
    for number, k in enumerate(body_segments(robot)):
        weight = momentum_matrix(xp.concatenate([gamma[k], xp.zeros(3)]))
        _enter_body(columns[k], 10 * number, V[k], weight, M, C, g)
    first = 10 * len(robot.bodies)
    for i, r in _rotors(robot):
        M[i, i, first + r] = robot.rotor_map[i, r]
    n, size = robot.nv, len(robot.parameters)
    return ParameterDerivatives(tensor(M, (n, n, size), xp), tensor(C, (n, n, size), xp),
                                tensor(g, (n, size), xp))


def _enter_body(
    columns: list[Column], first: int, V: Array, weight: Array, M: Entries, C: Entries, g: Entries,
) -> None:
    """The ten columns of one body in all three derivatives."""
    for at, (j, J_j, dJ_j) in enumerate(columns):
        A_j = momentum_matrix(J_j)
        xp = namespace(A_j, V)
        turned = xp.stack([force_cross(V, A_j[:, c]) for c in range(10)], axis=1)
        D_j = momentum_matrix(dJ_j) + turned
        falling = J_j @ weight
        for c in range(10):
            enter(g, (j, first + c), falling[c])
        for other, (i, J_i, _) in enumerate(columns):
            still, moving = J_i @ A_j, J_i @ D_j
            for c in range(10):
                enter(C, (i, j, first + c), moving[c])
                if other <= at:
                    enter(M, (i, j, first + c), still[c])
                if other < at:
                    enter(M, (j, i, first + c), still[c])
