"""Chang's own formulas: the matrix Z with pivoting, and the operation counts of his section II-III.

Cites: [Chang1987, eqs. (9)–(11), (14)–(25)].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from closedform.arrays import Floats


class Split(NamedTuple):
    """Z and the columns of J that were taken for J_m."""

    Z: Floats              # (n − m, n)
    columns: tuple[int, ...]


def chang_Z(J: Floats, columns: tuple[int, ...] | None = None) -> Split:
    """Z = [J_{n−m} J_m⁻¹ : −1], (n − m, n), in the order of J's columns: Z Jᵀ = 0.        (9)

    J_m are m independent columns of J, transposed; without `columns` they are those that a
    rank-revealing QR of J picks, so that J_m is as regular as J allows. A stationary point has

        Z h = 0                                                                           (10)

    with h the gradient of the criterion; beside f(q) = x, (1), these are the n equations (11). They
    have the same roots for every choice of columns, and as Nᵀh = 0 with an orthonormal basis N of
    the null space, which is what `maths.redundancy.newton` and the solvers use.
    """
    m, n = J.shape
    if columns is None:
        _, _, order = qr(J, pivoting=True, mode="economic")
        columns = tuple(sorted(int(i) for i in order[:m]))
    rest = [i for i in range(n) if i not in columns]
    Z = np.zeros((n - m, n))
    Z[:, list(columns)] = np.linalg.solve(J[:, list(columns)], J[:, rest]).T
    Z[range(n - m), rest] = -1.0
    return Split(Z, columns)


def null_row(J: Floats) -> Floats:
    """n_J of (28), (n,), for n = m + 1: Δ_i = (−1)^{i+1} det of J without its column i."""
    n = J.shape[1]
    return np.array([(-1) ** i * np.linalg.det(np.delete(J, i, axis=1)) for i in range(n)])


class Counts(NamedTuple):
    """Arithmetic operations of one iteration, by part."""

    forward_kinematics: float   # (15)
    jacobian: float             # (16), (22)
    projection: float           # (17): Z h by elimination
    solver: float               # MINPACK: 11.5 n²
    total: float                # (14), (18)


def proposed_method_counts(n: int, m: int, forward_kinematics: float | None = None,
                           jacobian: float | None = None) -> Counts:
    """N_1 = N_FK + N_J + N_Zh + N_nl of (14) for a general arm; (18) is their sum.

    The constant of (18) is −139; the repeat in section III prints −133, which is wrong. The first
    two parts can be given where an arm has cheaper ones, as in section V.
    """
    rotation, translation = 36 * (n - 1) + 4, 16 * (n - 1) + 2                     # (15)
    N_FK = rotation + translation if forward_kinematics is None else forward_kinematics
    N_J = 45 * n - 93 if jacobian is None else jacobian                            # (16)
    N_Zh = 2 * m**3 / 3 + 3 * m**2 / 2 - 7 * m / 6 + (n - m) * (2 * m - 1)         # (17)
    N_nl = 11.5 * n**2
    return Counts(N_FK, N_J, N_Zh, N_nl, N_FK + N_J + N_Zh + N_nl)


def resolved_motion_counts(n: int, m: int, evaluations: int, integration: float,
                           jacobian: float | None = None) -> float:
    """N_2 = N_ev (N_J + N_a) + N_b of (21), with N_a of (23).

    Runge–Kutta: 4 evaluations and N_b = 13 n, (25); predictor–corrector: 2 and 23 n, (24), whose
    first term has to read 4/3 m³.
    """
    N_J = 45 * n - 93 if jacobian is None else jacobian                            # (22)
    N_a = 2 * m**3 / 3 + n * m**2 + 5 * n * m + m**2 - 2 * m / 3 - n               # (23)
    return evaluations * (N_J + N_a) + integration
