"""Positions on a flexible arm as complex numbers that move: values, Jacobians and accelerations.

Points of link i in the plane are

    p_i(x) = r_i + w_i (x − s_i(x) + j y_i(x)),                                            (i)
    r_{i+1} = p_i(ℓ_i),   w_{i+1} = w_i E_i e^{jθ_{i+1}}.

`LinearRotation`: E = 1 + j y'_e and s = 0, the paper's (1)–(3) with every product kept.
`ExactRotation`: E = e^{j y'_e}; with foreshortening x is the arc length and the link's points come
nearer by

    s(x) = ½ ∫₀ˣ y'² dx = Σ_jk F_jk(x) δ_j δ_k,   F_jk = ½ ∫₀ˣ φ'_j φ'_k dx,              (ii)

without which a turning arm gets softer instead of stiffer. Bending energy stays ½ ∫EI y''² dx: a
large vibration is followed to third order in its amplitude (`tests/agreement/test_exudyn.py`).

Cites: [DeLucaSiciliano1991, eqs. (1)–(3)]; they have no foreshortening.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np

from closedform.arrays import Array, Namespace, namespace
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.modes import LinkModes, gauss


@final
@dataclass(frozen=True)
class LinearRotation:
    """The end of a link turns by the matrix 1 + S y'_e."""

    foreshortening: bool = False


@final
@dataclass(frozen=True)
class ExactRotation:
    """The end of a link turns by the angle y'_e; with foreshortening along the bent link."""

    foreshortening: bool = True


Rotation = LinearRotation | ExactRotation


class Moving(NamedTuple):
    """A complex number that depends on q: what the equations of motion need to know of it."""

    value: Array       # (2,) real and imaginary part
    jacobian: Array    # (2, N)
    rate: Array        # (2,) jacobian v
    bias: Array        # (2,) the second time derivative at q̈ = 0

    def __add__(self, other: Moving) -> Moving:  # type: ignore[override]
        return Moving(*(a + b for a, b in zip(self, other, strict=True)))

    def __mul__(self, other: Moving) -> Moving:  # type: ignore[override]
        """The complex product, by the rule of Leibniz."""
        (a, J_a, da, c_a), (b, J_b, db, c_b) = self, other
        return Moving(_times(a, b), _times(J_a, b) + _times(a, J_b), _times(da, b) + _times(a, db),
                      _times(c_a, b) + 2 * _times(da, db) + _times(a, c_b))


class LinkMotion(NamedTuple):
    """A link: the coefficients of its basis functions, its end and where that points."""

    basis: list[Moving]     # of 1, x, φ_1 … φ_m, and with foreshortening F_11, F_12, …, F_mm
    end: Moving             # r_{i+1}
    direction: Moving       # w_i


def link_motions(arm: FlexibleArm, q: Array, v: Array, rotation: Rotation) -> list[LinkMotion]:
    """The motion of every link by (i)."""
    xp, exact = namespace(q, v), isinstance(rotation, ExactRotation)
    N, zero = arm.nq, xp.zeros(2)
    motions: list[LinkMotion] = []
    r = Moving(zero, xp.zeros((2, N)), zero, zero)
    w, angle = None, np.zeros(N)
    for i, modes in enumerate(arm.modes):
        angle = angle + np.eye(N)[i]
        turned = _unit(angle, q, v)
        w = turned if exact or w is None else w * _unit(np.eye(N)[i], q, v)
        slope, d = np.zeros(N), range(arm.deflections[i].start, arm.deflections[i].stop)
        slope[arm.deflections[i]] = modes.tip_slope
        parts = [_constant(1.0, xp, N), *[_deflection(j, q, v) for j in d]]
        values = [arm.links[i].length, *modes.tip]
        if rotation.foreshortening:
            pairs = _pairs(len(d))
            parts += [_product(d[j], d[k], q, v) for j, k in pairs]
            values += [shortening_moments(arm, i).tip[j, k] for j, k in pairs]
        basis = [w * part for part in parts]
        end = r
        for value, part in zip(values, basis, strict=True):
            end = end + Moving(*(value * x for x in part))
        motions.append(LinkMotion([r, *basis], end, w))
        if exact:
            angle = angle + slope
        else:
            w = w * _sheared(slope, q, v)
        r = end
    return motions


def _unit(row: Array, q: Array, v: Array) -> Moving:
    """e^{jψ} with ψ = row q."""
    xp, rate = namespace(q, v), row @ v
    c, s = xp.cos(row @ q), xp.sin(row @ q)
    e, je = xp.stack([c, s]), xp.stack([-s, c])
    return Moving(e, xp.stack([-s * row, c * row]), je * rate, -e * (rate * rate))


def _sheared(row: Array, q: Array, v: Array) -> Moving:
    """1 + j row q."""
    xp = namespace(q, v)
    zero = 0 * (row @ q)
    return Moving(xp.stack([1 + zero, row @ q]), xp.stack([np.zeros(len(row)), row]) + 0 * q,
                  xp.stack([zero, row @ v]), xp.zeros(2))


def _constant(x: float, xp: Namespace, N: int) -> Moving:
    return Moving(xp.array([x, 0.0]), xp.zeros((2, N)), xp.zeros(2), xp.zeros(2))


def _deflection(j: int, q: Array, v: Array) -> Moving:
    """j δ_j, across the link."""
    xp, row = namespace(q, v), np.eye(len(q))[j]
    return Moving(xp.stack([0 * q[j], q[j]]), xp.stack([np.zeros(len(q)), row]) + 0 * q,
                  xp.stack([0 * v[j], v[j]]), xp.zeros(2))


def _product(j: int, k: int, q: Array, v: Array) -> Moving:
    """−δ_j δ_k, twice for j ≠ k: what foreshortening adds along the link."""
    xp, row, times = namespace(q, v), np.eye(len(q)), -1.0 if j == k else -2.0
    zero = 0 * q[j]
    return Moving(xp.stack([times * (q[j] * q[k]), zero]),
                  xp.stack([times * (q[j] * row[k] + q[k] * row[j]), 0 * q]),
                  xp.stack([times * (q[j] * v[k] + q[k] * v[j]), zero]),
                  xp.stack([2 * times * (v[j] * v[k]), zero]))


def _times(a: Array, b: Array) -> Array:
    """The complex product of (2,) or (2, N) arrays."""
    if np.ndim(a) < np.ndim(b):
        return _times(b, a)
    xp = namespace(a, b)
    return xp.stack([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]])


def _pairs(m: int) -> list[tuple[int, int]]:
    return [(j, k) for j in range(m) for k in range(j, m)]


class ShorteningMoments(NamedTuple):
    """F_jk of (ii) at the tip, and the moments Γ over b = (1, x, φ_1, …, F_11, F_12, …, F_mm)."""

    tip: np.ndarray         # (m, m)
    gram: np.ndarray        # (2 + m + m(m+1)/2,) twice


@lru_cache(maxsize=256)
def shortening_moments(arm: FlexibleArm, i: int) -> ShorteningMoments:
    """The integrals of link i with foreshortening, hub and, for the last link, payload included."""
    modes, link = arm.modes[i], arm.links[i]
    x, weights = modes.points()
    F, tip = _shortenings(modes, x), _shortenings(modes, np.array([link.length]))[0]
    pairs = _pairs(link.modes)
    columns = [np.ones(len(x)), x, *modes.deflections(x).T, *(F[:, j, k] for j, k in pairs)]
    b = np.stack(columns, axis=1)
    gram = b.T @ ((weights * link.density_at(x))[:, None] * b)
    gram[0, 0] += link.hub_mass
    if i == arm.n - 1:
        end = np.array([1.0, link.length, *modes.tip, *(tip[j, k] for j, k in pairs)])
        gram = gram + arm.payload.mass * np.outer(end, end)
    return ShorteningMoments(tip, gram)


def _shortenings(modes: LinkModes, x: np.ndarray) -> np.ndarray:
    """F_jk(x), (points, m, m)."""
    nodes, weights = gauss(1.0, len(modes.shapes))
    slopes = modes.slopes((x[:, None] * nodes).ravel()).reshape(len(x), len(nodes), -1)
    return 0.5 * x[:, None, None] * np.einsum("n,pnj,pnk->pjk", weights, slopes, slopes)
