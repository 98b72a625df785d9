"""Equations of motion of planar arms with flexible links, any number of links and modes.

    B(q) a + h(q, v) + K q + D v + g(q) + f(v) = Q u,    Q = [1; 0]                            (25)

`model=` says which kinematics B and h come from: `Truncated()`, the paper's, or `ExactRotation()`
for large motions. Every function takes generic arrays, so that it records, compiles and exports.

Cites: [DeLucaSiciliano1991, eqs. (25), (26)]; gravity g and friction f are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import final

import numpy as np

from closedform.arrays import NO_ARRAY, Array, ArrayLike, Number, namespace
from closedform.errors import ArgumentError
from closedform.maths.algebra.ldl import refuse_indefinite, solve_definite
from closedform.maths.coulomb import smoothed_sign
from closedform.maths.flexible.arguments import checked
from closedform.maths.flexible.arm import FlexibleArm, moments
from closedform.maths.flexible.kinematics import (
    ExactRotation,
    LinearRotation,
    LinkMotion,
    Rotation,
    link_motions,
    shortening_moments,
)
from closedform.maths.flexible.tensors import (
    arm_tensors,
    constant_rows,
    truncated_coriolis,
    truncated_inertia,
)


@final
@dataclass(frozen=True)
class Truncated:
    """The paper's model: kinetic energy to first degree in the deflections.

    B loses positive definiteness at large deflections; that is reported, see `definite`. Gravity
    and the tip take positions by the paper's (1)–(3), with every product of deflections kept.
    """


Model = Truncated | ExactRotation
PAPER = Truncated()
Damping = float | ArrayLike
"""A number, N of them or N x N; see `damping_matrix`."""


@checked
def inertia_matrix(arm: FlexibleArm, q: Array, model: Model = PAPER) -> Array:
    """B(q), (N, N), symmetric."""
    if isinstance(model, Truncated):
        return truncated_inertia(arm_tensors(arm), q)
    if not isinstance(model, ExactRotation):
        raise ArgumentError("model must be Truncated() or ExactRotation() of cf.flexible, "
                            f"not {model!r}")
    motions = link_motions(arm, q, 0 * q, model)
    B = _rotational(arm) + 0 * (q[:, None] * q)
    for motion, G in zip(motions, _grams(arm, model), strict=True):
        J = [part.jacobian for part in motion.basis]
        for a, J_a in enumerate(J):
            GJ = sum(G[a, b] * J_b for b, J_b in enumerate(J))
            B = B + J_a.T @ GJ
    return B


@checked
def coriolis_torque(arm: FlexibleArm, q: Array, v: Array, model: Model = PAPER) -> Array:
    """h(q, v), (N,): centrifugal and Coriolis torques, (26) of the model's B.

    By exact rotations Σ_i Σ_ab Γ_ab J_aᵀ J̇_b v, which is the same for a B that is J's own.
    """
    if isinstance(model, Truncated):
        return truncated_coriolis(arm_tensors(arm), q, v)
    motions = link_motions(arm, q, v, model)
    h = 0 * v
    for motion, G in zip(motions, _grams(arm, model), strict=True):
        for a, part in enumerate(motion.basis):
            pull = sum(G[a, b] * other.bias for b, other in enumerate(motion.basis))
            h = h + part.jacobian.T @ pull
    return h


@checked
def gravity_torque(arm: FlexibleArm, q: Array, model: Model = PAPER) -> Array:
    """∂U/∂q, (N,), of the potential U = −Σ ∫ p · gravity dm."""
    g = 0 * q
    if any(arm.gravity):
        for motion, G in zip(link_motions(arm, q, 0 * q, _places(model)), _grams(arm, model),
                             strict=True):
            for weight, part in zip(G[0], motion.basis, strict=True):
                g = g - weight * (np.array(arm.gravity) @ part.jacobian)
    return g


@checked
def gravity_energy(arm: FlexibleArm, q: Array, model: Model = PAPER) -> Number:
    """U = −Σ ∫ p · gravity dm, a scalar, zero at the first joint."""
    U = 0 * q[0]
    for motion, G in zip(link_motions(arm, q, 0 * q, _places(model)), _grams(arm, model),
                         strict=True):
        for weight, part in zip(G[0], motion.basis, strict=True):
            U = U - weight * (np.array(arm.gravity) @ part.value)
    return U


@lru_cache(maxsize=64)
def _stiffness(arm: FlexibleArm) -> np.ndarray:
    K = np.zeros((arm.nq, arm.nq))
    for at, modes in zip(arm.deflections, arm.modes, strict=True):
        K[at, at] = modes.elasticity
    K.flags.writeable = False
    return K


@checked
def stiffness_matrix(arm: FlexibleArm) -> np.ndarray:
    """K, (N, N): zero at the joints, ∫EI φ''_j φ''_k dx in each link's block."""
    return _stiffness(arm).copy()


@checked
def damping_matrix(arm: FlexibleArm, damping: Damping = 0.0) -> np.ndarray:
    """D, (N, N): the joints' viscous friction and structural damping.

    A number d gives the paper's D_i = d √K_ii for the deflections; N numbers are a diagonal, and
    N x N numbers a matrix, which are added to the joints' friction as they are.
    """
    N = arm.nq
    try:
        d = np.asarray(damping, dtype=float)
    except NO_ARRAY:
        d = np.array(np.nan)
    D = np.zeros((N, N))
    D[range(arm.n), range(arm.n)] = [link.viscous for link in arm.links]
    if d.shape not in ((), (N,), (N, N)) or not np.all(np.isfinite(d)):
        raise ArgumentError(f"damping is a finite number, {N} of them or {N} x {N}, "
                            f"not {damping!r}")
    added = d
    if d.ndim < 2:
        added = np.diag(d * np.sqrt(np.diag(_stiffness(arm))) if d.ndim == 0 else d)
    if np.any(np.linalg.eigvalsh((added + added.T) / 2) < -1e-12 * np.max(np.abs(d))):
        raise ArgumentError(f"damping must not be negative; it is {damping!r}")
    return D + added


def friction_torque(arm: FlexibleArm, v: Array) -> Array:
    """f(v), (N,): Coulomb friction at the joints, smoothed."""
    c = np.concatenate([[link.coulomb for link in arm.links], np.zeros(arm.nq - arm.n)])
    return c * smoothed_sign(v) if np.any(c) else 0 * v


def resistance(arm: FlexibleArm, q: Array, v: Array, D: Array, model: Model = PAPER) -> Array:
    """h + K q + D v + g + f, (N,): all of (25) but B a and Q u."""
    return (coriolis_torque(arm, q, v, model) + _stiffness(arm) @ q + D @ v
            + gravity_torque(arm, q, model) + friction_torque(arm, v))


@checked
def inverse_dynamics(arm: FlexibleArm, q: Array, v: Array, a: Array, damping: Damping = 0.0,
                     model: Model = PAPER) -> Array:
    """The left side of (25), (N,): joint torques, and forces on the deflections."""
    D = damping_matrix(arm, damping)
    return inertia_matrix(arm, q, model) @ a + resistance(arm, q, v, D, model)


@checked
def forward_dynamics(arm: FlexibleArm, q: Array, v: Array, tau: Array, damping: Damping = 0.0,
                     model: Model = PAPER) -> Array:
    """a = B⁻¹ (Q u − h − K q − D v − g − f), (N,); `tau` are n joint torques or N forces.

    A B that is not positive definite is refused.
    """
    B = inertia_matrix(arm, q, model)
    D = damping_matrix(arm, damping)
    force = generalised_force(arm, tau) - resistance(arm, q, v, D, model)
    a, pivots = solve_definite(B, force)
    refuse_indefinite(B, pivots, f"the inertia matrix of {arm.name}")
    return a


def generalised_force(arm: FlexibleArm, tau: Array) -> Array:
    """Q u, (N,)."""
    tau, xp = np.asarray(tau) if isinstance(tau, list | tuple) else tau, namespace(tau)
    if np.shape(tau) == (arm.nq,):
        return tau
    if np.shape(tau) != (arm.n,):
        raise ArgumentError(f"forward_dynamics of {arm.name}: tau must have the shape ({arm.n},) "
                            f"or ({arm.nq},), not {np.shape(tau)}")
    return xp.concatenate([tau, xp.zeros(arm.nq - arm.n)])


@checked
def kinetic_energy(arm: FlexibleArm, q: Array, v: Array, model: Model = PAPER) -> Number:
    """½ vᵀ B v, a scalar."""
    return v @ (inertia_matrix(arm, q, model) @ v) / 2


@checked
def potential_energy(arm: FlexibleArm, q: Array, model: Model = PAPER) -> Number:
    """½ qᵀ K q and gravity's, a scalar."""
    return q @ (_stiffness(arm) @ q) / 2 + gravity_energy(arm, q, model)


@checked
def tip_position(arm: FlexibleArm, q: Array, model: Model = PAPER) -> Array:
    """r_{n+1}, (2,), where the payload is."""
    return _last(arm, q, model).end.value


@checked
def tip_jacobian(arm: FlexibleArm, q: Array, model: Model = PAPER) -> Array:
    """∂(tip position)/∂q and the payload's rate of turn, (3, N)."""
    rows = constant_rows(arm)
    turn = (rows.alpha[-1] + rows.slope[-1])[None]
    return namespace(q).concatenate([_last(arm, q, model).end.jacobian, turn])


def _last(arm: FlexibleArm, q: Array, model: Model) -> LinkMotion:
    return link_motions(arm, q, 0 * q, _places(model))[-1]


def _places(model: Model) -> Rotation:
    """The kinematics of positions: for the truncated model the paper's (1)–(3) as they stand."""
    return LinearRotation() if isinstance(model, Truncated) else model


def _grams(arm: FlexibleArm, model: Model) -> list[np.ndarray]:
    if isinstance(model, ExactRotation) and model.foreshortening:
        return [shortening_moments(arm, i).gram for i in range(arm.n)]
    return list(moments(arm))


def _rotational(arm: FlexibleArm) -> np.ndarray:
    """Hubs and payload as they turn: constant, because the angles are linear in q."""
    rows = constant_rows(arm)
    B = sum((link.hub_inertia * np.outer(a, a)
             for link, a in zip(arm.links, rows.alpha, strict=True)), np.zeros((arm.nq, arm.nq)))
    angle = rows.alpha[-1] + rows.slope[-1]
    return B + arm.payload.inertia * np.outer(angle, angle)
