"""Products of the derivatives of τ with weights τ̄, without a matrix.

Of the pairs (i, j), those with j on the way from i to the world sum to what lies behind j, the
others to what lies before it:

    Û = Σ_{i ⪰ j} τ̄_i U_i    Ŵ = Σ_{i ⪰ j} τ̄_i W_i    Ŝ = Σ_{i ≺ j} τ̄_i S_i
    q̄_j = Û · Ψ̈_j + Ŵ · Ψ̇_j + Ŝ · D^q_j
    v̄_j = 2 Û · Ψ̇_j + Ŵ · ω_j + Ŝ · D^v_j
    ā_j = Û · S_j + Ŝ · U_j + rotor τ̄_j

D^q and D^v are what `bodies.columns` calls Q and D.
"""

from __future__ import annotations

from closedform.arrays import Array, Number
from closedform.maths.spatial import power
from closedform.maths.sweeps.joints import StepArrays


def weighted(U: Array, W: Array, weight: Number) -> StepArrays:
    return {"UT": weight * U, "WT": weight * W}


def weights_before(ST_p: Array, S: Array, weight: Number) -> StepArrays:
    """Ŝ of the own weight and all before it, and beside it that of the parent."""
    return {"ST": ST_p + S * weight, "SP": ST_p}


def no_weight(gravity: Array) -> StepArrays:
    """Ŝ of the world, and what is handed on to it."""
    zero = 0 * gravity[0]
    return {"ST": [zero] * 6}


def pulled_back(
    UT: Array, WT: Array, SP: Array, S: Array, dPsi: Array, ddPsi: Array, Q: Array, D: Array,
    U: Array, weight: Number, rotor: Number, stiffness: Number,
) -> StepArrays:
    return {"q_bar": power(UT, ddPsi) + WT @ dPsi[3:] + power(SP, Q) + stiffness * weight,
            "v_bar": 2 * power(UT, dPsi) + WT @ S[3:] + power(SP, D),
            "a_bar": power(UT, S) + power(SP, U) + rotor * weight}


def solved_pulled_back(
    UT: Array, WT: Array, SP: Array, S: Array, dPsi: Array, ddPsi: Array, Q: Array, D: Array,
    U: Array, weight: Number, rotor: Number, stiffness: Number,
) -> StepArrays:
    """q̄, v̄ and τ̄ of forward dynamics, the weight being M⁻¹ ā."""
    found = pulled_back(UT, WT, SP, S, dPsi, ddPsi, Q, D, U, weight, rotor, stiffness)
    return {"q_bar": -found["q_bar"], "v_bar": -found["v_bar"], "tau_bar": 1 * weight}
