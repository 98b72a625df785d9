"""The truncated model is linear in its parameters: B a + h + K q + D v + g = Y(q, v, a) π.

π holds, for each link, the moments of its mass (hub, beam and for the last link not the payload)

    m, md, J = J_o + J_h, v_j, w_j, z_jk (j ≤ k),

then the payload's m_p and J_p, the elasticities k_jk (j ≤ k) of each link, and the diagonal of D.
Lengths, tip values φ_e and slopes φ'_e are kinematics and taken as known.

Cites: [DeLucaSiciliano1991, section V]: "linear with respect to a suitable set of constant
parameters".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, final

import numpy as np

from closedform.arrays import Array, namespace
from closedform.maths.flexible.arguments import checked
from closedform.maths.flexible.arm import FlexibleArm, tip_basis
from closedform.maths.flexible.dynamics import Damping, damping_matrix
from closedform.maths.flexible.kinematics import LinearRotation, link_motions
from closedform.maths.flexible.tensors import (
    ArmTensors,
    tensors_of,
    truncated_coriolis,
    truncated_inertia,
)


class ParameterNames(NamedTuple):
    """Names of the parameters by kind, in the order of the regressor's columns."""

    inertial: tuple[str, ...]
    elastic: tuple[str, ...]
    damping: tuple[str, ...]


def parameter_names(arm: FlexibleArm) -> ParameterNames:
    """What the columns of the regressor belong to."""
    inertial = [f"{name}{i + 1}" for i, link in enumerate(arm.links)
                for name, _ in _places(link.modes)]
    elastic = [f"k{i + 1}_{j + 1}{k + 1}" for i, link in enumerate(arm.links)
               for j, k in _pairs(link.modes)]
    return ParameterNames((*inertial, "m_p", "J_p"), tuple(elastic),
                          tuple(f"d_{name}" for name in arm.coordinate_names))


def parameters(arm: FlexibleArm, damping: Damping = 0.0) -> np.ndarray:
    """π, (columns,)."""
    inertial: list[float] = []
    for link, modes in zip(arm.links, arm.modes, strict=True):
        inertial += [modes.mass + link.hub_mass, modes.first_moment,
                     modes.inertia + link.hub_inertia, *modes.v, *modes.w,
                     *(modes.z[j, k] for j, k in _pairs(link.modes))]
    elastic = [modes.elasticity[j, k] for link, modes in zip(arm.links, arm.modes, strict=True)
               for j, k in _pairs(link.modes)]
    return np.array([*inertial, arm.payload.mass, arm.payload.inertia, *elastic,
                     *np.diag(damping_matrix(arm, damping))])


@checked
def regressor(arm: FlexibleArm, q: Array, v: Array, a: Array) -> Array:
    """Y(q, v, a), (N, columns)."""
    xp = namespace(q, v, a)
    gravity = _gravity_columns(arm, q)
    columns = [truncated_inertia(unit, q) @ a + truncated_coriolis(unit, q, v) + g
               for unit, g in zip(_unit_tensors(arm), gravity, strict=True)]
    for link, at in zip(arm.links, arm.deflections, strict=True):
        for j, k in _pairs(link.modes):
            E = np.zeros((arm.nq, arm.nq))
            E[at.start + j, at.start + k] = E[at.start + k, at.start + j] = 1.0
            columns.append(E @ q)
    columns += [np.eye(arm.nq)[i] * v[i] for i in range(arm.nq)]
    return xp.stack(columns).T


@final
@dataclass(frozen=True, eq=False)
class FlexibleBaseParameters:
    """Combinations that motion can tell: π_b = K π, and the columns of Y that go with them."""

    names: tuple[str, ...]          # of the chosen parameters
    columns: tuple[int, ...]
    K: np.ndarray                        # (count, columns of Y)
    values: np.ndarray                   # (count,)

    @property
    def count(self) -> int:
        return len(self.columns)


def base_parameters(arm: FlexibleArm, damping: Damping = 0.0) -> FlexibleBaseParameters:
    """The first parameters that are independent in Y, with those that depend on them regrouped.

    By elimination in Y stacked over random motions; Y_b = Y[:, columns] with Y_b π_b = Y π.
    """
    rng = np.random.default_rng(1991)
    size = len(parameters(arm))
    motions = rng.normal(size=(4 * size // arm.nq + 8, 3, arm.nq))
    motions[:, 0, arm.n:] *= 0.1
    Y = np.concatenate([regressor(arm, *motion) for motion in motions])
    scale = np.linalg.norm(Y, axis=0)
    Y = Y / np.where(scale > 0, scale, 1.0)
    chosen: list[int] = []
    basis = np.zeros((len(Y), 0))
    for p in range(size):
        left = Y[:, p] - basis @ (basis.T @ Y[:, p])
        left = left - basis @ (basis.T @ left)
        length = np.linalg.norm(left)
        if length > 1e-9:
            chosen.append(p)
            basis = np.column_stack([basis, left / length])
    K = np.linalg.lstsq(Y[:, chosen], Y, rcond=None)[0]
    K = np.where(np.abs(K) < 1e-9, 0.0, K) * scale / scale[chosen][:, None]
    names = [name for group in parameter_names(arm) for name in group]
    return FlexibleBaseParameters(tuple(names[p] for p in chosen), tuple(chosen), K,
                                  K @ parameters(arm, damping))


def _places(m: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Names of a link's moments, and their places in Γ."""
    yield "m", (0, 0)
    yield "md", (0, 1)
    yield "J", (1, 1)
    yield from ((f"v{j + 1}_", (0, 2 + j)) for j in range(m))
    yield from ((f"w{j + 1}_", (1, 2 + j)) for j in range(m))
    yield from ((f"z{j + 1}{k + 1}_", (2 + j, 2 + k)) for j, k in _pairs(m))


def _pairs(m: int) -> list[tuple[int, int]]:
    return [(j, k) for j in range(m) for k in range(j, m)]


def _unit_moments(arm: FlexibleArm) -> Iterator[tuple[int, np.ndarray, float]]:
    """For each inertial parameter: the link, its Γ and the payload's inertia when it is 1."""
    for i, link in enumerate(arm.links):
        for _, (a, b) in _places(link.modes):
            G = np.zeros((2 + link.modes,) * 2)
            G[a, b] = G[b, a] = 1.0
            yield i, G, 0.0
    tip = tip_basis(arm, arm.n - 1)
    yield arm.n - 1, np.outer(tip, tip), 0.0
    yield arm.n - 1, np.zeros((len(tip),) * 2), 1.0


@lru_cache(maxsize=16)
def _unit_tensors(arm: FlexibleArm) -> tuple[ArmTensors, ...]:
    zeros = [np.zeros((2 + link.modes,) * 2) for link in arm.links]
    return tuple(tensors_of(arm, [*zeros[:i], G, *zeros[i + 1:]], [0.0] * arm.n, J)
                 for i, G, J in _unit_moments(arm))


def _gravity_columns(arm: FlexibleArm, q: Array) -> list[Array]:
    motions = link_motions(arm, q, 0 * q, LinearRotation()) if any(arm.gravity) else None
    columns = []
    for i, G, _ in _unit_moments(arm):
        g = 0 * q
        if motions is not None:
            for weight, part in zip(G[0], motions[i].basis, strict=True):
                g = g - weight * (np.array(arm.gravity) @ part.jacobian)
        columns.append(g)
    return columns
