"""Christoffel symbols of M, and Cᵀ v, which is the same for every C with dM = C + Cᵀ."""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import coriolis_matrix, mass_matrix, with_inertia
from closedform.maths.definitions.state_derivatives import jacobian_derivatives
from closedform.maths.pull_backs import pulled_back, symbols
from closedform.maths.rotors import rotor_symbols
from closedform.maths.spatial import christoffel_part
from closedform.model.robot import Robot


@checked
@pulled_back(symbols, mass_matrix)
def christoffel_symbols(robot: Robot, q: Array) -> Array:
    """Γ_ijk = ∂C_ij/∂v_k of `christoffel_coriolis_matrix`, (nv, nv, nv): C_ij = Σ_k Γ_ijk v_k.

        Γ_h  = Σ_k J_kᵀ (Λ_k ∂_hJ_k + B_k(J_k^h) J_k)
        B_k(V) = ½ (Λ_k V× − (V×)ᵀ Λ_k + (Λ_k V)×̄*)

    Where v = q̇ they are the Christoffel symbols of the first kind
    ½ (∂_k M_ij + ∂_j M_ik − ∂_i M_jk), symmetric in j and k. The screws of one joint may not
    commute; then Γ_ijk − Γ_ikj = S_i · I (S_k × S_j) for two of the same joint, and the symbols
    are those of the same connection in the frame of the quasi-velocities.

    Cites: [EcheandiaWensing2021].
    """
    xp = namespace(q)
    J, J_h = jacobian_derivatives(robot, q)
    n = robot.nv
    found = [xp.zeros((n, n)) for _ in range(n)]
    for k, _, L in with_inertia(robot):
        for h in range(n):
            B = christoffel_part(L, J[k][:, h])
            found[h] = found[h] + J[k].T @ (L @ J_h[k][h] + B @ J[k])
    return (xp.stack(found, axis=2) if n else xp.zeros((0, 0, 0))) + rotor_symbols(
        robot, q, christoffel_part)


@checked
def coriolis_transpose_torque(robot: Robot, q: Array, v: Array) -> Array:
    """C(q, v)ᵀ v = dM v − C v, (nv,): the same for every C with dM = C + Cᵀ.

    The torque that momentum observers integrate: d(M v)/dt = τ + Cᵀ v − g.
    """
    return coriolis_matrix(robot, q, v).T @ v
