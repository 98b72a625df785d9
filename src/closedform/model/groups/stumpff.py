"""Functions of θ² that are smooth at 0: what exponentials, logarithms and their Jacobians need.

    c_k(x) = Σ_j (−x)^j / (2j + k)!,    x = θ²                                             (i)

Stumpff's functions: c_0 = cos θ, c_1 = sin θ / θ, c_2 = (1 − cos θ)/θ², c_3 = (θ − sin θ)/θ³.
With 1/k! − x c_{k+2} = c_k all follow from c_4 and c_5. Near 0 they are their series, elsewhere
sines and cosines. Scalars that cannot branch compute both, each at a place where it is good, and
choose by a factor of 0 or 1, whose derivatives vanish: all derivatives are right too.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from closedform.arrays import NUMBERS, OBJECTS, Namespace, Number, elementwise, symbolic

NEAR, TERMS = 1.0, 9
"""Below this x they are so many terms of (i), above it sines and cosines."""
FOURTH, FIFTH = ([(-1)**j / factorial(2 * j + k) for j in range(TERMS)] for k in (4, 5))
ARCTANGENT = [(-1)**j / (2 * j + 1) for j in range(8)]
HALVINGS = 4

Six = tuple[Number, Number, Number, Number, Number, Number]


def stumpff(x: Number, xp: Namespace) -> Six:
    """c_0 … c_5 of x; symbols get sines and cosines, which are not defined at 0."""
    if symbolic(x):
        return _closed(x, xp)
    if xp is NUMBERS:
        return _of_numbers(np.asarray(x))
    near = (1 + xp.sign(xp.sign(NEAR - x) + 0.5)) / 2          # 1 or 0
    close, far = _series(near * x), _closed(near * NEAR + (1 - near) * x, xp)
    c0, c1, c2, c3, c4, c5 = (near * a + (1 - near) * b for a, b in zip(close, far, strict=True))
    return c0, c1, c2, c3, c4, c5


def cosine_and_sinc(x: Number, xp: Namespace) -> tuple[Number, Number]:
    """c_0 and c_1 of x alone, which numbers have without a series."""
    if xp is not NUMBERS:
        return stumpff(x, xp)[:2]
    t = np.sqrt(np.asarray(x))
    return np.cos(t), np.where(t == 0, 1.0, np.sin(t) / np.where(t == 0, 1.0, t))


def _of_numbers(x: np.ndarray) -> Six:
    if x.size == 1:
        one = x.item()  # Python's arithmetic of one number is the quicker
        c = _series(one) if abs(one) < NEAR else _closed(one, OBJECTS)
        c0, c1, c2, c3, c4, c5 = (np.full(x.shape, y) for y in c)
        return c0, c1, c2, c3, c4, c5
    near = np.abs(x) < NEAR
    c = _closed(np.where(near, NEAR, x), NUMBERS)
    if np.any(near):
        for far, close in zip(map(np.asarray, c), _series(x[near]), strict=True):
            far[near] = close
    return c


def _series(x: Number) -> Six:
    c4, c5 = _polynomial(FOURTH, x), _polynomial(FIFTH, x)
    c2, c3 = 0.5 - x * c4, 1 / 6 - x * c5
    return 1 - x * c2, 1 - x * c3, c2, c3, c4, c5


def _closed(x: Number, xp: Namespace) -> Six:
    t = xp.sqrt(x)
    half = xp.sin(t / 2)
    c1, c2 = xp.sin(t) / t, 2 * half * half / x
    c3, c4 = (1 - c1) / x, (1 - 2 * c2) / (2 * x)
    return xp.cos(t), c1, c2, c3, c4, (1 - 6 * c3) / (6 * x)


def _polynomial(coefficients: list[float], x: Number) -> Number:
    *rest, value = coefficients
    total: Number = value
    for a in reversed(rest):
        total = total * x + a
    return total


def inverse_coefficient(c: Six) -> Number:
    """(1 − θ/2 cot θ/2)/θ² = (c_3 − 2 c_4) / (2 c_2)."""
    return (c[3] - 2 * c[4]) / (2 * c[2])


def arctangent_ratio(x: Number, xp: Namespace) -> Number:
    """atan(√x)/√x for 0 ≤ x ≤ 1, smooth at 0.

        tan(h/2) = tan h / (1 + √(1 + tan² h))
    """
    if symbolic(x):
        return elementwise("atan", xp.sqrt(x)) / xp.sqrt(x)
    factor: Number = 1
    for _ in range(HALVINGS):
        d = 1 + xp.sqrt(1 + x)
        x, factor = x / (d * d), 2 * factor / d
    return factor * _polynomial(ARCTANGENT, x)
