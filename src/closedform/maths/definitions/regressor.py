"""Regressors and derivatives by the inertial parameters, in closed form.

M, C, g, momentum and energy are linear in π = `robot.parameters`: ten numbers of every body, then
the rotor inertias that are given. Columns follow `robot.parameter_names`. These are the
definitions; `closedform.maths.algorithms.regressors` has the algorithms that are held to them.

Cites: [Garofalo2013, eqs. (8)-(16)]; his order of the ten is that of `GAROFALO_ORDER`.
"""

from __future__ import annotations

from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths import pull_backs
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import gravity_accelerations
from closedform.maths.kinematics import body_segments, jacobian_rates, jacobians, world_poses
from closedform.maths.pull_backs import COVECTOR, SAME, pulled_back
from closedform.maths.rotors import rotor_coriolis_columns
from closedform.maths.spatial import crm, skew
from closedform.model.robot import Robot


def momentum_matrix(V: Array) -> Array:
    """A(V), (6, 10), of a twist V = (v; ω): the momentum Λ V = A(V) π.

        A(V) = [[v, ω~, 0], [0, −v~, Ω]],   Ω π_I = I ω            (8), (10)-(12)

    The tensor in π is the one about the body frame's origin, as in `Inertia.parameters`. (The paper
    says about the centre of mass; `tests/papers/test_garofalo_derivatives.py` shows it.)
    """
    xp = namespace(V)
    x, y, z = V[3:]
    Omega = xp.array([[x, y, 0, z, 0, 0], [0, x, y, 0, z, 0], [0, 0, 0, x, y, z]])
    top = xp.concatenate([V[:3, None], skew(V[3:]), xp.zeros((3, 6))], axis=1)
    low = xp.concatenate([xp.zeros((3, 1)), -skew(V[:3]), Omega], axis=1)
    return xp.concatenate([top, low])


@checked
def regressor(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """Y, (nv, parameters): the torque M a + C v + g is Y π, plus that of springs.

    `slotine_li_regressor` with v and a for the reference.

    Cites: [Garofalo2013, eq. (16)].
    """
    return slotine_li_regressor(robot, q, v, v, a)


@checked
@pulled_back(COVECTOR)
def slotine_li_regressor(robot: Robot, q: Array, v: Array, v_r: Array, a_r: Array) -> Array:
    """Y, (nv, parameters): M a_r + C v_r + g = Y π, with the passive C of (6b).

        Y_k = J_kᵀ (A(α_k) − (V_k×)ᵀ A(J_k v_r))                                     (16)
        α_k = J_k a_r + V_k× J_k v_r + dJ_k v_r + γ_k

    and the columns of the rotors, rotor_map a_r with their part of C v_r. The torques of springs
    are no part of Y π.

    Cites: [Garofalo2013, eqs. (15), (16)].
    """
    xp = namespace(q, v, v_r, a_r)
    (J, dJ), gamma = jacobian_rates(robot, q, v), gravity_accelerations(robot, q)
    blocks = []
    for k in body_segments(robot):
        ad, V_r = crm(J[k] @ v), J[k] @ v_r
        alpha = J[k] @ a_r + ad @ V_r + dJ[k] @ v_r + gamma[k]
        blocks.append(J[k].T @ (momentum_matrix(alpha) - ad.T @ momentum_matrix(V_r)))
    rotors = robot.rotor_map * a_r[:, None] + rotor_coriolis_columns(robot, v, v_r)
    return xp.concatenate([*blocks, rotors], axis=1)


@checked
@pulled_back(COVECTOR)
def momentum_regressor(robot: Robot, q: Array, v: Array) -> Array:
    """Y, (nv, parameters): the generalised momentum M v is Y π;  Y_k = J_kᵀ A(V_k)."""
    xp = namespace(q, v)
    J = jacobians(robot, q)
    blocks = [J[k].T @ momentum_matrix(J[k] @ v) for k in body_segments(robot)]
    return xp.concatenate([*blocks, robot.rotor_map * v[:, None]], axis=1)


@checked
def kinetic_energy_regressor(robot: Robot, q: Array, v: Array) -> Array:
    """Y, (parameters,): the kinetic energy is Y · π;  Y_k = ½ V_kᵀ A(V_k)."""
    return v @ momentum_regressor(robot, q, v) / 2


@checked
@pulled_back(SAME)
def potential_energy_regressor(robot: Robot, q: Array) -> Array:
    """Y, (parameters,): the potential energy is Y · π;  Y_k = −gravityᵀ [p_k, R_k, 0].

    Less the fraction that is carried; without the energy of springs.
    """
    xp = namespace(q)
    T = world_poses(robot, q)
    blocks = []
    for k in body_segments(robot):
        (R, p), gravity = T[k], robot.gravity * robot.segments[k - 1].weight
        blocks.append(xp.concatenate([xp.stack([-(gravity @ p)]), -(gravity @ R), xp.zeros(6)]))
    return xp.concatenate([*blocks, xp.zeros(robot.rotor_map.shape[1])])


class ParameterDerivatives(NamedTuple):
    """Derivatives of M, of the passive C and of g by the inertial parameters, which come last."""

    dM_dpi: Array   # (nv, nv, parameters)
    dC_dpi: Array   # (nv, nv, parameters)
    dg_dpi: Array   # (nv, parameters)


@checked
@pulled_back(pull_backs.parameter_derivatives)
def parameter_derivatives(robot: Robot, q: Array, v: Array) -> ParameterDerivatives:
    """∂M/∂π, ∂C/∂π (nv, nv, parameters) and ∂g/∂π (nv, parameters), with the passive C of (6b).

        ∂M^j/∂π_k = J_kᵀ A(J_k^j)                                              (13a)
        ∂C^j/∂π_k = J_kᵀ (A(V_k× J_k^j + dJ_k^j) − (V_k×)ᵀ A(J_k^j))           (13b)
        ∂g/∂π_k   = J_kᵀ A(γ_k)                                                (13c)

    M^j is column j. (13b) is printed with J_k^j for dJ_k^j;
    `tests/papers/test_garofalo_derivatives.py` shows it. Rotors add to the diagonal of M,
    those on joints that turn to C.

    Cites: [Garofalo2013, eq. (13)].
    """
    xp = namespace(q, v)
    (J, dJ), gamma, n = jacobian_rates(robot, q, v), gravity_accelerations(robot, q), robot.nv
    M: list[list[Array]] = [[] for _ in range(n)]
    C: list[list[Array]] = [[] for _ in range(n)]
    g = []
    for k in body_segments(robot):
        ad = crm(J[k] @ v)
        turned = ad @ J[k] + dJ[k]
        for j in range(n):
            A_j = momentum_matrix(J[k][:, j])
            M[j].append(J[k].T @ A_j)
            C[j].append(J[k].T @ (momentum_matrix(turned[:, j]) - ad.T @ A_j))
        g.append(J[k].T @ momentum_matrix(gamma[k]))
    rotors = robot.rotor_map
    for j in range(n):
        M[j].append(rotors * xp.eye(n)[:, j, None])
        C[j].append(rotor_coriolis_columns(robot, v, xp.eye(n)[j]))
    g.append(xp.zeros(rotors.shape))
    if not n:
        empty = xp.zeros((0, 0, len(robot.parameters)))
        return ParameterDerivatives(empty, empty, xp.concatenate(g, axis=1))
    dM_dpi, dC_dpi = (xp.stack([xp.concatenate(blocks, axis=1) for blocks in x], axis=1)
                      for x in (M, C))
    return ParameterDerivatives(dM_dpi, dC_dpi, xp.concatenate(g, axis=1))
