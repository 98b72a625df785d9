"""Forward dynamics of one body after the other, in the world's frame, where no inertia is moved.

See `algorithms.articulated`, whose (i)-(iii) these are; I are the 21 numbers of a symmetric matrix.

Cites: [Featherstone2008, section 7.3].
"""

from __future__ import annotations

import numpy as np

from closedform.arrays import Array, Number, namespace
from closedform.maths.algorithms.moments import Moments
from closedform.maths.spatial import power
from closedform.maths.sweeps.bodies import body_moments, moments_of
from closedform.maths.sweeps.joints import StepArrays

UPPER = np.triu_indices(6)


def articulated(
    R: Array, o: Array, body: Array, V: Array, A: Array, S: Array, rotor: Number,
) -> StepArrays:
    """The inertia I of a rigid body in 21 numbers, f = I A + B V, and what is seen from its joint.

    U = I S and D = S · U are those of the body alone, to which those behind it will add.
    """
    own, f = body_moments(body, R, o, V, A)
    return _with_screw(own, S, rotor) | {"f": f}


def full(body: Moments) -> Array:
    """[[m 1, −h~], [h~, tr(Σ) 1 − Σ]], (6, 6)."""
    m, (x, y, z), (xx, xy, yy, xz, yz, zz) = body
    return namespace(body.h).array([
        [m, 0, 0, 0, z, -y], [0, m, 0, -z, 0, x], [0, 0, m, y, -x, 0],
        [0, -z, y, yy + zz, -xy, -xz], [z, 0, -x, -xy, xx + zz, -yz],
        [-y, x, 0, -xz, -yz, xx + yy]])


def at_rest_articulated(R: Array, o: Array, body: Array, S: Array, rotor: Number) -> StepArrays:
    """The same of the inertia alone."""
    return _with_screw(moments_of(body, R, o), S, rotor)


def _with_screw(own: Moments, S: Array, rotor: Number) -> StepArrays:
    U = own @ S
    return {"I": full(own)[UPPER], "UA": U, "SU": power(S, U) + rotor}


def eliminated(
    I: Array, f: Array, S: Array, UA: Array, SU: Number, tau: Number, x: Number, spring: Array,
    S_p: Array, I_p: Array, f_p: Array, UA_p: Array, SU_p: Number,
) -> StepArrays:
    """(ii) and (iii): K = −D⁻¹ U, rest = D⁻¹ (τ − k (q − q₀) − S · f), and what the parent feels.

    −D⁻¹ in place of D⁻¹ makes sums of all differences: no sign is turned at the end of one.
    """
    found = inertia_eliminated(I, UA, SU, S_p, I_p, UA_p, SU_p)
    rest = (power(S, f) - (tau - spring[0] * (x - spring[1]))) * found["inverse"]
    return found | {"f_p": f + UA * rest + f_p, "rest": rest}


def inertia_eliminated(
    I: Array, UA: Array, SU: Number, S_p: Array, I_p: Array, UA_p: Array, SU_p: Number,
) -> StepArrays:
    """The same of the inertia alone.

    The parent's U and D are summed up with its I, so that from one division to the next there is
    but one product and one sum to wait for:

        I_p += I + U Kᵀ      U_p += W + U K · S_p      D_p += S_p · W + c K · S_p

    with W = I S_p and c = U · S_p, which do not wait for D⁻¹.
    """
    inverse = -1 / SU
    K, (rows, columns) = UA * inverse, UPPER
    W, c = _matrix(I) @ S_p, power(UA, S_p)
    KS = c * inverse
    return {"I_p": I + UA[rows] * K[columns] + I_p, "UA_p": W + UA * KS + UA_p,
            "SU_p": power(S_p, W) + c * KS + SU_p, "K": K, "KS": KS, "inverse": inverse}


def _matrix(I: Array) -> Array:
    """The symmetric matrix of 21 numbers, (6, 6)."""
    place = np.zeros((6, 6), dtype=int)
    place[UPPER] = np.arange(21)
    return I[np.maximum(place, place.T)]


def solved(
    K: Array, KS: Number, rest: Number, S: Array, delta_p: Array, before_p: Array, last_p: Number,
) -> StepArrays:
    """q̈ = rest + K · δ_p and δ = δ_p + S q̈.

    δ_p is taken as δ_pp + S_p q̈_p, so that of two joints the second waits for one product and one
    sum: q̈ = (rest + K · δ_pp) + (K · S_p) q̈_p. `before` is the parent's δ, `last` is q̈.
    """
    a = rest + power(K, before_p) + KS * last_p
    return {"a": a, "last": a, "before": delta_p, "delta": delta_p + S * a}


def pushed(
    S: Array, UA: Array, inverse: Number, b: Number, F: Array, F_p: Array,
) -> StepArrays:
    """A torque b on an articulated body whose inertia is known, at rest."""
    rest = (power(S, F) - b) * inverse
    return {"F_p": F_p + (F + UA * rest), "rests": rest}


def pulled(
    S: Array, UA: Array, inverse: Number, b: Number, F: Array, F_p: Array,
) -> StepArrays:
    """The same for the torque −b."""
    return pushed(S, UA, inverse, -b, F, F_p)


def moved(K: Array, S: Array, rests: Number, deltas_p: Array) -> StepArrays:
    """The acceleration y that comes of it."""
    y = rests + power(K, deltas_p)
    return {"y": y, "deltas": deltas_p + S * y}


def at_rest(gravity: Array) -> StepArrays:
    """δ of the world, which has no joint."""
    zero = namespace(gravity).zeros(6)
    return {"delta": zero, "before": zero, "last": 0.0 * zero[0], "S": zero}


def fixed(gravity: Array) -> StepArrays:
    """The world has no joint."""
    return {"S": namespace(gravity).zeros(6)}


def unloaded(S: Array) -> StepArrays:
    """No force yet."""
    return {"F": 0 * S}


def still(gravity: Array) -> StepArrays:
    """The world does not move."""
    return {"deltas": namespace(gravity).zeros(6)}
