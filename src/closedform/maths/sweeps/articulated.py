"""Forward dynamics of one body after the other, in the world's frame, where no inertia is moved.

See `algorithms.articulated`, whose (i)-(iii) these are; I are the 21 numbers of a symmetric matrix.

Cites: [Featherstone2008, section 7.3].
"""

from __future__ import annotations

import numpy as np

from closedform.arrays import Array, Number, namespace
from closedform.maths.algorithms.moments import Moments
from closedform.maths.spatial import power
from closedform.maths.sweeps.bodies import StepArrays, body_moments

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


def eliminated(
    I: Array, f: Array, S: Array, tau: Number, rotor: Number, I_p: Array, f_p: Array,
) -> StepArrays:
    """(ii) and (iii): K = D⁻¹ I S, rest = D⁻¹ (τ − S · f), and what the parent feels."""
    place = np.zeros((6, 6), dtype=int)
    place[UPPER] = np.arange(21)
    U = I[np.maximum(place, place.T)] @ S
    inverse = 1 / (power(S, U) + rotor)
    K, rest = U * inverse, (tau - power(S, f)) * inverse
    rows, columns = UPPER
    return {"I_p": I_p + (I - U[rows] * K[columns]), "f_p": f_p + (f + U * rest),
            "UA": U, "K": K, "inverse": inverse, "rest": rest}


def solved(K: Array, rest: Number, S: Array, delta_p: Array) -> StepArrays:
    """q̈ = rest − K · δ_p and δ = δ_p + S q̈."""
    a = rest - power(K, delta_p)
    return {"a": a, "delta": delta_p + S * a}


def pushed(
    S: Array, UA: Array, inverse: Number, b: Number, F: Array, F_p: Array,
) -> StepArrays:
    """A torque b on an articulated body whose inertia is known, at rest."""
    rest = (b - power(S, F)) * inverse
    return {"F_p": F_p + (F + UA * rest), "rests": rest}


def pulled(
    S: Array, UA: Array, inverse: Number, b: Number, F: Array, F_p: Array,
) -> StepArrays:
    """The same for the torque −b."""
    return pushed(S, UA, inverse, -b, F, F_p)


def moved(K: Array, S: Array, rests: Number, deltas_p: Array) -> StepArrays:
    """The acceleration x that comes of it."""
    x = rests - power(K, deltas_p)
    return {"x": x, "deltas": deltas_p + S * x}


def at_rest(gravity: Array) -> StepArrays:
    """δ of the world."""
    return {"delta": namespace(gravity).zeros(6)}
