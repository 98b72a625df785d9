"""Mass moved over affine loops: opposite sides of parallelograms share inertia.

Bodies that keep their orientation to each other have one angular velocity, so what their moments of
inertia do may be counted to one of them; and more that special lengths allow. In those entries π of
the pseudo-inertias that are not zero,

    T = E(q, v) π,   U = e(q) π        E_d = E_p F,   e_d − e_d(q₀) = (e_p − e_p(q₀)) F

at sampled motions: π_p ← π_p + F π_d, π_d ← 0. A factor F that the sampled energies do not tell to
rounding is not used. M and all torques of the independent joints stay; forces in the loops do not.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from closedform.arrays import numeric
from closedform.maths.algorithms.regressors import (
    kinetic_energy_regressor,
    potential_energy_regressor,
)
from closedform.model.inertia import Inertia
from closedform.model.loops.affine import affine
from closedform.model.robot import Robot

DEPENDENT = 1e-8
EXACT = 1e-11
MORE = 12


def regrouped_over_loops(robot: Robot) -> Robot:
    """The robot with as few inertial parameters as its affine loops leave; else as it is."""
    same = affine(robot)
    if same is None or not numeric(robot.parameters) or any(
            body.gravity_compensation for body in robot.bodies):
        return robot
    bodies = len(same.bodies)
    L = np.kron(np.eye(bodies), _from_pseudo())
    sigma = np.linalg.solve(L, robot.parameters[:10 * bodies])
    sigma[np.abs(sigma) < 1e-14 * np.abs(sigma).max()] = 0
    used = np.flatnonzero(sigma)
    E = (_energies(same, len(used)) @ L)[:, used]
    size = np.linalg.norm(E, axis=0)
    idle = size < EXACT * size.max()
    kept, basis = list[int](), np.zeros((len(E), 0))
    for c in np.flatnonzero(~idle):
        left = E[:, c] / size[c]
        for _ in range(2):
            left = left - basis @ (basis.T @ left)
        if np.linalg.norm(left) > DEPENDENT:
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
            kept.append(int(c))
    new = sigma[used].copy()
    new[idle] = 0
    scaled = E[:, kept] / size[kept]
    for c in (c for c in np.flatnonzero(~idle) if c not in kept):
        F = np.linalg.lstsq(scaled, E[:, c], rcond=None)[0]
        if np.linalg.norm(scaled @ F - E[:, c]) > EXACT * size[c]:
            return robot
        F = np.where(np.abs(F) > 1e-9 * size[c], F, 0) / size[kept]
        new[kept] += _short(F) * new[c]
        new[c] = 0
    sigma[used] = np.where(np.abs(new) > 1e-13 * np.abs(new).max(), new, 0)
    pi = (L @ sigma).reshape(bodies, 10)
    return replace(robot, bodies=tuple(
        replace(body, inertia=Inertia.from_parameters(pi_k))
        for body, pi_k in zip(robot.bodies, pi, strict=True)))


def _energies(robot: Robot, count: int) -> np.ndarray:
    """Rows of T, and of U less that of the first state, of all bodies at sampled motions."""
    rng, n = np.random.default_rng(0), 10 * len(robot.bodies)
    states = [(robot.random(rng), rng.normal(size=robot.nv)) for _ in range(count + MORE)]
    T = np.stack([kinetic_energy_regressor(robot, q, v)[:n] for q, v in states])
    U = np.stack([potential_energy_regressor(robot, q)[:n] for q, _ in states])
    return np.concatenate([T, U[1:] - U[0]])


def _from_pseudo() -> np.ndarray:
    """The ten parameters as a matrix times (m, h, Σ_xx, Σ_xy, Σ_yy, Σ_xz, Σ_yz, Σ_zz)."""
    L = np.eye(10)
    L[4:, 4:] = 0
    for row, columns in ((4, (6, 9)), (6, (4, 9)), (9, (4, 6))):
        L[row, list(columns)] = 1
    for k in (5, 7, 8):
        L[k, k] = -1
    return L


def _short(F: np.ndarray) -> np.ndarray:
    """Factors that are ±1 but for rounding, as such."""
    whole = np.round(F)
    return np.where(np.abs(F - whole) < 1e-10, whole, F)
