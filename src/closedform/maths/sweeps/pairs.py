"""Entries (i, j) of matrices, of what a row i and a column j have; see `bodies.columns`."""

from __future__ import annotations

from closedform.arrays import Array
from closedform.maths.spatial import power
from closedform.maths.sweeps.joints import StepArrays


def mass_before(U_i: Array, S: Array) -> StepArrays:
    return {"M": power(U_i, S)}


def mass_behind(S_i: Array, U: Array) -> StepArrays:
    return {"M": power(S_i, U)}


def coriolis_before(U_i: Array, Z_i: Array, S: Array, dS: Array) -> StepArrays:
    """C_ij = U_i · Ṡ_j + Z_i · S_j."""
    return {"C": power(U_i, dS) + power(Z_i, S)}


def coriolis_behind(S_i: Array, D: Array) -> StepArrays:
    return {"C": power(S_i, D)}


def derivatives_before(U_i: Array, W_i: Array, S: Array, dPsi: Array, ddPsi: Array) -> StepArrays:
    """∂τ_i/∂q_j = U_i · Ψ̈_j + W_i · Ψ̇_j, ∂τ_i/∂v_j = 2 U_i · Ψ̇_j + W_i · ω_j, M_ij = U_i · S_j."""
    return {"dtau_dq": power(U_i, ddPsi) + W_i @ dPsi[3:],
            "dtau_dv": power(2 * U_i, dPsi) + W_i @ S[3:], "dtau_da": power(U_i, S)}


def derivatives_before_of_joints(
    U_i: Array, W_i: Array, S: Array, dPsi: Array, dS: Array, ddPsi: Array,
) -> StepArrays:
    """The same where joints have several velocities: ∂τ_i/∂v_j = U_i · (Ψ̇_j + Ṡ_j) + W_i · ω_j."""
    return {"dtau_dq": power(U_i, ddPsi) + W_i @ dPsi[3:],
            "dtau_dv": power(U_i, dPsi + dS) + W_i @ S[3:], "dtau_da": power(U_i, S)}


def derivatives_behind(S_i: Array, Q: Array, D: Array, U: Array) -> StepArrays:
    return {"dtau_dq": power(S_i, Q), "dtau_dv": power(S_i, D), "dtau_da": power(S_i, U)}


def matrices_before(U_i: Array, Z_i: Array, S: Array, dS: Array) -> StepArrays:
    return mass_before(U_i, S) | coriolis_before(U_i, Z_i, S, dS)


def matrices_behind(S_i: Array, U: Array, D: Array) -> StepArrays:
    return mass_behind(S_i, U) | coriolis_behind(S_i, D)
