"""The ten parameters of a body as a positive definite matrix, and distances between bodies.

    P = [[Σ, h], [hᵀ, m]],   Σ = ½ tr(I) E − I,   h = m c

A body of positive density has P ≻ 0, and any P ≻ 0 is that of some body. π is linear in P.

Cites: [WensingKimSlotine2018]; [LeeWensingPark2020] for the divergence; [RuckerWensing2022] for
the ten free numbers.
"""

from __future__ import annotations

import numpy as np

from closedform.arrays import Array, namespace


def _basis() -> np.ndarray:
    basis = np.zeros((10, 4, 4))
    basis[0, 3, 3] = 1
    for i in range(3):
        basis[1 + i, i, 3] = basis[1 + i, 3, i] = 1
    for n, (i, j) in enumerate([(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)], start=4):
        I = np.zeros((3, 3))
        I[i, j] = I[j, i] = 1
        basis[n, :3, :3] = np.trace(I) / 2 * np.eye(3) - I
    basis.setflags(write=False)
    return basis


BASIS = _basis()
"""P = Σ π_i BASIS[i], π in the order of `PARAMETER_NAMES`."""


def pseudo_inertia(pi: Array) -> Array:
    """P, (4, 4), of the ten parameters (tensor about the frame's origin)."""
    xp = namespace(pi)
    flat = xp.array(pi) @ BASIS.reshape(10, 16)
    return flat.reshape(4, 4)


def parameters_of(P: Array) -> Array:
    """The ten parameters of a pseudo-inertia matrix: I = tr(Σ) E − Σ."""
    xp = namespace(P)
    S = P[:3, :3]
    I = (S[0, 0] + S[1, 1] + S[2, 2]) * np.eye(3) - S
    return xp.stack([P[3, 3], P[0, 3], P[1, 3], P[2, 3],
                     I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


def log_cholesky(theta: Array) -> Array:
    """The ten parameters of any ten numbers (α, d, s, t): P = U Uᵀ, U = e^α [[Ũ, t], [0, 1]]."""
    U = _factor(theta)
    return parameters_of(U @ U.T)


def _factor(theta: Array) -> Array:
    alpha, d, s, t = theta[0], theta[1:4], theta[4:7], theta[7:10]
    e = np.exp(d)
    return np.exp(alpha) * np.array([[e[0], s[0], s[2], t[0]], [0, e[1], s[1], t[1]],
                                     [0, 0, e[2], t[2]], [0, 0, 0, 1]])


def free_numbers(pi: Array) -> Array:
    """The ten numbers of `log_cholesky` of a body that can be."""
    P = pseudo_inertia(pi)
    U = np.linalg.cholesky(P[::-1, ::-1])[::-1, ::-1]
    alpha, U = np.log(U[3, 3]), U / U[3, 3]
    return np.array([alpha, *np.log(np.diag(U)[:3]), U[0, 1], U[1, 2], U[0, 2], *U[:3, 3]])


def divergence(P: Array, P0: Array) -> float:
    """D(P‖P₀) = tr(P₀⁻¹ P) − log det(P₀⁻¹ P) − 4: 0 if they are one, and the same in any frame."""
    root = np.linalg.inv(np.linalg.cholesky(P0))
    sizes = np.linalg.eigvalsh(root @ P @ root.T)
    return float(np.sum(sizes - np.log(sizes) - 1)) if sizes[0] > 0 else float("inf")


def repaired(pi: Array, density: float = 1000.0) -> Array:
    """The parameters, if a body can have them; else those of the nearest body that can.

    Eigenvalues of P about the centre of mass below a thousandth of those of a solid ball of that
    mass are raised to it; a mass without any extent is that ball, no mass at all a gram's.
    """
    m = max(float(pi[0]), 1e-3)
    c = np.asarray(pi[1:4], dtype=float) / m if pi[0] > 0 else np.zeros(3)
    I = np.array([[pi[4], pi[5], pi[7]], [pi[5], pi[6], pi[8]], [pi[7], pi[8], pi[9]]], dtype=float)
    about = I - m * (c @ c * np.eye(3) - np.outer(c, c))
    S = np.trace(about) / 2 * np.eye(3) - about
    radius = (3 * m / (4 * np.pi * density)) ** (1 / 3)
    ball = m * radius**2 / 5
    sizes, turned = np.linalg.eigh(S)
    least = 1e-3 * ball if sizes[-1] > 1e-3 * ball else ball
    S = turned @ np.diag(np.maximum(sizes, least)) @ turned.T
    P = np.zeros((4, 4))
    P[:3, :3] = S + m * np.outer(c, c)
    P[:3, 3] = P[3, :3] = m * c
    P[3, 3] = m
    return parameters_of(P)
