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


def articulated(R: Array, o: Array, body: Array, V: Array, A: Array) -> StepArrays:
    """The inertia I of a rigid body in 21 numbers, and f = I A + B V."""
    own, f = body_moments(body, R, o, V, A)
    return {"I": full(own)[UPPER], "f": f}


def full(body: Moments) -> Array:
    """[[m 1, −h~], [h~, tr(Σ) 1 − Σ]], (6, 6)."""
    m, (x, y, z), (xx, xy, yy, xz, yz, zz) = body
    return namespace(body.h).array([
        [m, 0, 0, 0, z, -y], [0, m, 0, -z, 0, x], [0, 0, m, y, -x, 0],
        [0, -z, y, yy + zz, -xy, -xz], [z, 0, -x, -xy, xx + zz, -yz],
        [-y, x, 0, -xz, -yz, xx + yy]])


def at_rest_articulated(R: Array, o: Array, body: Array) -> StepArrays:
    """The inertia alone."""
    return {"I": full(moments_of(body, R, o))[UPPER]}


def eliminated(
    I: Array, f: Array, S: Array, tau: Number, rotor: Number, x: Number, spring: Array, I_p: Array,
    f_p: Array,
) -> StepArrays:
    """(ii) and (iii): K = −D⁻¹ I S, rest = D⁻¹ (τ − k (q − q₀) − S · f), and what the parent feels.

    −D⁻¹ in place of D⁻¹ makes sums of all differences: no sign is turned at the end of one.
    """
    found, inverse = _eliminated(I, S, rotor, I_p)
    U = found["UA"]
    rest = (power(S, f) - (tau - spring[0] * (x - spring[1]))) * inverse
    return found | {"f_p": f_p + f + U * rest, "rest": rest}


def inertia_eliminated(I: Array, S: Array, rotor: Number, I_p: Array) -> StepArrays:
    """The same of the inertia alone."""
    return _eliminated(I, S, rotor, I_p)[0]


def _eliminated(I: Array, S: Array, rotor: Number, I_p: Array) -> tuple[StepArrays, Number]:
    place = np.zeros((6, 6), dtype=int)
    place[UPPER] = np.arange(21)
    U = I[np.maximum(place, place.T)] @ S
    inverse = -1 / (power(S, U) + rotor)
    K, (rows, columns) = U * inverse, UPPER
    return {"I_p": I_p + I + U[rows] * K[columns], "UA": U, "K": K, "inverse": inverse}, inverse


def solved(K: Array, rest: Number, S: Array, delta_p: Array) -> StepArrays:
    """q̈ = rest + K · δ_p and δ = δ_p + S q̈."""
    a = rest + power(K, delta_p)
    return {"a": a, "delta": delta_p + S * a}


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
    """δ of the world."""
    return {"delta": namespace(gravity).zeros(6)}


def unloaded(S: Array) -> StepArrays:
    """No force yet."""
    return {"F": 0 * S}


def still(gravity: Array) -> StepArrays:
    """The world does not move."""
    return {"deltas": namespace(gravity).zeros(6)}
