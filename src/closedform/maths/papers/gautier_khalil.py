"""Gautier and Khalil's own route to the base parameters of a serial robot, with its errata.

The paper works on a table of modified DH rows with the ten parameters of link j in the order

    X_j = (XX, XY, XZ, YY, YZ, ZZ, mX, mY, mZ, m)                                       (1)

and with the derivatives of the energies by them, DE_j and DU_j. Errata, each with a test in
`tests/papers/test_gautier_khalil.py`:

    (15) first line   the link is j: XXR_j = XX_j − YY_j, not j − 1
    (16) YYR          −2 Sθ CSα XZ_j; a factor Sα is missing in print
    III-B-2           "or if r1 = 1" must read "and (r1 = 1 or all earlier axes are parallel to it)"

The rules never drop a needed parameter but keep too many in three situations (same tests);
`base_parameters` decides those.

Cites: [GautierKhalil1990].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array, numeric
from closedform.errors import ArgumentError
from closedform.model.formats.dh import cos_sin, rotation_about

XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, MASS = range(10)
NEAR = 1e-9
"""Sines and cosines below this count as zero: parallel or perpendicular axes."""


class Link(NamedTuple):
    """One row of Table I: σ = 0 rotational, 1 translational (the print heads σ with an α)."""

    sigma: int
    alpha: Any
    d: Any
    theta: Any
    r: Any


# ---------------------------------------------------------------------- appendix
def lambda_matrix(link: Link) -> Array:
    """λ_j, (10, 10): DE_j = λ_j DE_{j−1} + q̇_j f_j                       (A1), (A2)-(A7)."""
    (Ca, Sa), (Ct, St), d, r = cos_sin(link.alpha), cos_sin(link.theta), link.d, link.r
    CCa, SSa, CSa, CCt, SSt, CSt = Ca * Ca, Sa * Sa, Ca * Sa, Ct * Ct, St * St, Ct * St
    DJ = [[CCt, CSt * Ca, CSt * Sa, SSt * CCa, SSt * CSa, SSt * SSa],
          [-2 * CSt, (CCt - SSt) * Ca, (CCt - SSt) * Sa, 2 * CSt * CCa, 2 * CSt * CSa,
           2 * CSt * SSa],
          [0, -Ct * Sa, Ct * Ca, -2 * St * CSa, St * (CCa - SSa), 2 * St * CSa],
          [SSt, -CSt * Ca, -CSt * Sa, CCt * CCa, CCt * CSa, CCt * SSa],
          [0, St * Sa, -St * Ca, -2 * Ct * CSa, Ct * (CCa - SSa), 2 * Ct * CSa],
          [0, 0, 0, SSa, -CSa, CCa]]                                                      # (A3)
    DS = [[0, -d * St * Ca + r * Ct * Sa, -d * St * Sa - r * Ct * Ca,
           2 * (d * Ct + r * St * CSa), r * St * (SSa - CCa), 2 * (d * Ct - r * St * CSa)],
          [0, -d * Ct * Ca - r * St * Sa, -d * Ct * Sa + r * St * Ca,
           2 * (-d * St + r * Ct * CSa), r * Ct * (SSa - CCa), 2 * (-d * St - r * Ct * CSa)],
          [2 * r, d * Sa, -d * Ca, 2 * r * CCa, 2 * r * CSa, 2 * r * SSa]]                # (A4)
    Dm = [r * r, d * r * Sa, -d * r * Ca, d * d + r * r * CCa, r * r * CSa,
          d * d + r * r * SSa]                                                            # (A5)
    A = rotation(link).T                                                                  # (A7)
    rows = [[*row, 0, 0, 0, 0] for row in DJ]
    rows += [[*row, *A[i], 0] for i, row in enumerate(DS)]
    rows.append([*Dm, *position(link), 1])
    return np.array(rows)


def rotation(link: Link) -> Array:
    """ʲ⁻¹A_j, (3, 3)."""
    return rotation_about("x", link.alpha) @ rotation_about("z", link.theta)


def position(link: Link) -> list[Any]:
    """ʲ⁻¹P_j = (d, −r Sα, r Cα)                                                            (A6)."""
    Ca, Sa = cos_sin(link.alpha)
    return [link.d, -link.r * Sa, link.r * Ca]


def f_vector(link: Link, omega: Array, V: Array, rate: Any) -> Array:
    """f_j, (10,), of the velocities of frame j in its own axes                   (A8), (A9).

    (A8) has ten entries: the print lost the comma between V_2 and −V_1.
    """
    if link.sigma == 0:
        return np.array([0, 0, omega[0], 0, omega[1], omega[2] - rate / 2, V[1], -V[0], 0, 0])
    return np.array([0, 0, 0, 0, 0, 0, -omega[1], omega[0], 0, V[2] - rate / 2])


def energy_derivatives(links: Sequence[Link], rates: Sequence[Any],
                       gravity: Sequence[Any]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """DE_j and DU_j of every link, the rows' θ and r being those of the moment.

        DE_j = λ_j DE_{j−1} + q̇_j f_j,  DE_0 = 0                              (A1), (A10)
        DU_j = λ_j DU_{j−1},            DU_0 = (0₆, −g, 0)                    (A11), (A12)

    In (A11) the first six columns of λ are zero; they meet zeros of DU, see (13).
    """
    DE, DU = [np.array([0] * 10)], [np.array([0] * 6 + [-g for g in gravity] + [0])]
    omega, V = np.array([0, 0, 0]), np.array([0, 0, 0])
    for link, rate in zip(links, rates, strict=True):
        A, P, z = rotation(link).T, np.array(position(link)), np.array([0, 0, 1])
        turn, slide = (rate, 0) if link.sigma == 0 else (0, rate)
        V = A @ (V + np.cross(omega, P)) + slide * z
        omega = A @ omega + turn * z
        lambda_j = lambda_matrix(link)
        DE.append(lambda_j @ DE[-1] + rate * f_vector(link, omega, V, rate))
        DU.append(lambda_j @ DU[-1])
    return DE[1:], DU[1:]


# ---------------------------------------------------------------------- regrouping relations
def regroup_rotational(link: Link, before: Array, X: Array) -> tuple[Array, Array]:
    """(15): YY_j, mZ_j, m_j of a rotational link counted to link j − 1; both links afterwards."""
    (Ca, Sa), d, r = cos_sin(link.alpha), link.d, link.r
    YY_j, mZ, m = X[YY], X[MZ], X[MASS]
    gain = {
        XX: YY_j + 2 * r * mZ + r * r * m,
        XY: d * Sa * mZ + d * r * Sa * m,
        XZ: -d * Ca * mZ - d * r * Ca * m,
        YY: Ca * Ca * YY_j + 2 * r * Ca * Ca * mZ + (d * d + r * r * Ca * Ca) * m,
        YZ: Ca * Sa * YY_j + 2 * r * Ca * Sa * mZ + r * r * Ca * Sa * m,
        ZZ: Sa * Sa * YY_j + 2 * r * Sa * Sa * mZ + (d * d + r * r * Sa * Sa) * m,
        MX: d * m,
        MY: -Sa * mZ - r * Sa * m,
        MZ: Ca * mZ + r * Ca * m,
        MASS: m,
    }
    rest = [*X]
    rest[XX], rest[YY], rest[MZ], rest[MASS] = X[XX] - X[YY], 0, 0, 0
    return np.array([before[i] + gain[i] for i in range(10)]), np.array(rest)


def regroup_translational(link: Link, before: Array, X: Array) -> tuple[Array, Array]:
    """(16): the inertia tensor of a translational link counted to link j − 1.

    The YYR line with −2 Sθ CSα XZ_j, as (17) J_{j−1} + A J_j Aᵀ demands.
    """
    (Ca, Sa), (Ct, St) = cos_sin(link.alpha), cos_sin(link.theta)
    CSt, CSa, CC_SSt, CC_SSa = Ct * St, Ca * Sa, Ct * Ct - St * St, Ca * Ca - Sa * Sa
    xx, xy, xz, yy, yz, zz = X[:6]
    gain = [
        Ct * Ct * xx - 2 * CSt * xy + St * St * yy,
        CSt * Ca * xx + CC_SSt * Ca * xy - Ct * Sa * xz - CSt * Ca * yy + St * Sa * yz,
        CSt * Sa * xx + CC_SSt * Sa * xy + Ct * Ca * xz - CSt * Sa * yy - St * Ca * yz,
        St * St * Ca * Ca * xx + 2 * CSt * Ca * Ca * xy - 2 * St * CSa * xz
        + Ct * Ct * Ca * Ca * yy - 2 * Ct * CSa * yz + Sa * Sa * zz,
        St * St * CSa * xx + 2 * CSt * CSa * xy + St * CC_SSa * xz + Ct * Ct * CSa * yy
        + Ct * CC_SSa * yz - CSa * zz,
        St * St * Sa * Sa * xx + 2 * CSt * Sa * Sa * xy + 2 * St * CSa * xz
        + Ct * Ct * Sa * Sa * yy + 2 * Ct * CSa * yz + Ca * Ca * zz]
    after = [before[i] + gain[i] if i < 6 else before[i] for i in range(10)]
    return np.array(after), np.array([0] * 6 + [*X[6:]])


def regroup_parallel_slide(link: Link, before: Array, X: Array) -> tuple[Array, Array]:
    """(19) for Sα = 0, (20) for Cα = 0: mX_j, mY_j of a slide along r1, between r1 and r2."""
    (Ca, Sa), (Ct, St), d = cos_sin(link.alpha), cos_sin(link.theta), link.d
    if not (_vanishes(Sa) or _vanishes(Ca)):
        raise ArgumentError(f"(19) and (20) are for Sα = 0 or Cα = 0, not α = {link.alpha!r}")
    across, along = Ct * X[MX] - St * X[MY], St * X[MX] + Ct * X[MY]
    after = [*before]
    after[ZZ if _vanishes(Sa) else YY] += 2 * d * across
    after[MX] += across
    if _vanishes(Sa):
        after[MY] += Ca * along
    else:
        after[MZ] += Sa * along
    return np.array(after), np.array([*X[:6], 0, 0, 0, X[MASS]])


# ---------------------------------------------------------------------- rules III-B and the count
def first_axes(links: Sequence[Link]) -> tuple[int, int]:
    """r1, the first rotational joint, and r2, the first one after it not parallel to it.

    Joints count from 0; a joint that does not exist is len(links).
    """
    n = len(links)
    r1 = next((j for j, link in enumerate(links) if link.sigma == 0), n)
    r2 = next((j for j in range(r1 + 1, n) if links[j].sigma == 0
               and not _parallel(axis_of(links, j, r1))), n)
    return r1, r2


def axis_of(links: Sequence[Link], j: int, of: int) -> Array:
    """The axis of joint `of` in frame j ≥ of at the table's θ.

    It is constant while all joints between are parallel to it or translational.
    """
    u: Array = np.array([0, 0, 1])
    for link in links[of + 1:j + 1]:
        u = rotation(link).T @ u
    return u


def no_effect(links: Sequence[Link], gravity: Sequence[Any]) -> list[set[int]]:
    """For each link, the parameters that rules III-B-1 to III-B-3 find without effect."""
    r1, r2 = first_axes(links)
    result: list[set[int]] = [set() for _ in links]
    for j in range(len(links)):
        if j < r1:
            result[j] = set(range(9))                                                     # 1)
        elif j < r2 and _parallel(axis_of(links, j, r1)):
            result[j] = {XX, XY, XZ, YY, YZ, MZ}                                          # 3)
    if r1 < len(links):
        g = np.array(gravity)
        for link in links[:r1 + 1]:
            g = rotation(link).T @ g
        before = all(_parallel(axis_of(links, r1, j)) for j in range(r1))
        if before and _parallel(g):
            result[r1] |= {MX, MY}                                                        # 2)
        if r1 == 0:
            result[r1].add(MASS)
    return result


def kept_by_the_rules(links: Sequence[Link], gravity: Sequence[Any]) -> list[set[int]]:
    """For each link, the parameters left after steps a) to c) of section V."""
    r1, r2 = first_axes(links)
    idle = no_effect(links, gravity)
    kept = []
    for j, link in enumerate(links):
        regrouped = {YY, MZ, MASS} if link.sigma == 0 else set(range(6))            # (15), (16)
        if link.sigma == 1 and r1 < j < r2 and _parallel(axis_of(links, j, r1)):
            regrouped |= {MX, MY, MZ}                                               # (19), (20)
        kept.append(set(range(10)) - regrouped - idle[j])
    return kept


def bound(links: Sequence[Link]) -> int:
    """(18): 7 n_r + 4 n_t − 3 − σ̄_1, never less than the number of base parameters."""
    turns = sum(link.sigma == 0 for link in links)
    return 7 * turns + 4 * (len(links) - turns) - 3 - int(links[0].sigma == 0)


def _parallel(u: Array) -> bool:
    """Whether a vector lies along z."""
    return _vanishes(u[0]) and _vanishes(u[1])


def _vanishes(x: Any) -> bool:
    return abs(float(x)) < NEAR if numeric(np.asarray(x)) else bool(x == 0)
