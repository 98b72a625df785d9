"""The paper's truncated kinematics, for any number of links and modes, in constant tensors.

With σ_k = θ_1 + … + θ_k and planar vectors as complex numbers, a point of link i is

    p_i = Σ_{k<i} e^{jσ_k} P_k (ℓ_k + j y_ke) + e^{jσ_i} P_i (x + j y_i),                  (i)
    P_k = Π_{l<k} (1 + j y'_le) = 1 + j Y_k − e_k + …,                                     (ii)
    Y_k = Σ_{l<k} y'_le,  e_k = Σ_{l<m<k} y'_le y'_me.

Frame k's part of the velocity, with s = x or ℓ_k, is e^{jσ_k} (j a0 − a1 + …), of degree 0 and 1 in
the deflections:

    a0 = x (σ̇_k + Ẏ_k) + ẏ,                                                              (iii)
    a1 = x (σ̇_k Y_k + ė_k) + y (σ̇_k + Ẏ_k) + Y_k ẏ.                                       (iv)

Kinetic energy to degree 1 in the deflections is therefore ½ vᵀ B v with

    B = B̄ + Σ_{k<l} [cos σ_kl C_kl + sin σ_kl (S_kl δ)],  σ_kl = θ_{k+1} + … + θ_l,        (v)

which for two links with two modes is (32) of the paper. Terms of degree 2 and more are dropped from
B and nothing else; h is (26) of this B, so that energy is conserved exactly. For three links and
more this is our continuation of the paper's rule: products such as y'_1 y'_2 in P_3 stay, because
their rates put terms of degree 1 into B.

Cites: [DeLucaSiciliano1991, eqs. (1)–(11), (26), (32)]. The sentence after (1) there, that products
of deformations are neglected, does not give (32) if it is applied to positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from closedform.arrays import Array, namespace
from closedform.maths.flexible.arm import FlexibleArm, moments, tip_basis


class ArmTensors(NamedTuple):
    """B̄, C, S of (v), and for each pair k < l the gradient of σ_kl."""

    constant: np.ndarray      # (N, N)
    cosine: np.ndarray        # (pairs, N, N)
    sine: np.ndarray          # (pairs, N, N, N), the last index is that of the deflection
    turn: np.ndarray          # (pairs, N)


class Rows(NamedTuple):
    """Constant rows over v and q."""

    sigma: list[np.ndarray]   # σ̇_k = sigma[k] v
    bend: list[np.ndarray]    # Y_k = bend[k] q
    alpha: list[np.ndarray]   # σ̇_k + Ẏ_k
    slope: list[np.ndarray]   # y'_ke = slope[k] q
    twice: list[np.ndarray]   # ė_k = v twice[k] q


@lru_cache(maxsize=64)
def arm_tensors(arm: FlexibleArm) -> ArmTensors:
    """The tensors of an arm."""
    return tensors_of(arm, moments(arm), [link.hub_inertia for link in arm.links],
                      arm.payload.inertia)


def tensors_of(arm: FlexibleArm, gram: Sequence[np.ndarray], hub_inertia: Sequence[float],
               payload_inertia: float) -> ArmTensors:
    """The tensors for these moments of mass in the arm's kinematics; linear in them."""
    N, rows = arm.nq, constant_rows(arm)
    pairs = [(k, l) for k in range(arm.n) for l in range(k + 1, arm.n)]
    constant = np.zeros((N, N))
    cosine, sine = {p: np.zeros((N, N)) for p in pairs}, {p: np.zeros((N, N, N)) for p in pairs}
    for i in range(arm.n):
        parts = [frame_velocity(arm, rows, i, k) for k in range(i + 1)]
        for k, (a_k, b_k) in enumerate(parts):
            constant += _paired(gram[i], a_k, a_k)
            for l, (a_l, b_l) in list(enumerate(parts))[k + 1:]:
                half = _paired(gram[i], a_k, a_l)
                cosine[k, l] += half + half.T
                odd = _paired(gram[i], a_l, b_k) - _paired(gram[i], a_k, b_l)
                sine[k, l] += odd + odd.transpose(1, 0, 2)
        constant += hub_inertia[i] * np.outer(rows.alpha[i], rows.alpha[i])
    angle = rows.alpha[-1] + rows.slope[-1]
    constant += payload_inertia * np.outer(angle, angle)
    turn = [rows.sigma[l] - rows.sigma[k] for k, l in pairs]
    return ArmTensors(constant, np.array(list(cosine.values())).reshape(-1, N, N),
                      np.array(list(sine.values())).reshape(-1, N, N, N),
                      np.array(turn).reshape(-1, N))


def constant_rows(arm: FlexibleArm) -> Rows:
    """The rows of the sums of angles and slopes, frame by frame."""
    N = arm.nq
    slope = [np.zeros(N) for _ in arm.links]
    for row, at, modes in zip(slope, arm.deflections, arm.modes, strict=True):
        row[at] = modes.tip_slope
    sigma = [np.concatenate([np.ones(k + 1), np.zeros(N - k - 1)]) for k in range(arm.n)]
    bend = [np.sum(slope[:k], axis=0) + np.zeros(N) for k in range(arm.n)]
    squares = [sum((np.outer(s, s) for s in slope[:k]), np.zeros((N, N))) for k in range(arm.n)]
    return Rows(sigma, bend, [s + y for s, y in zip(sigma, bend, strict=True)], slope,
                [np.outer(y, y) - own for y, own in zip(bend, squares, strict=True)])


def frame_velocity(arm: FlexibleArm, rows: Rows, i: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """a0 (2 + m_i, N) and a1 (2 + m_i, N, N) of frame k in a point of link i, over b(x).

    Frame k < i moves all of link i by its own end; only frame i's part depends on x.
    """
    m, unit = arm.links[k].modes, np.eye(arm.nq)[arm.deflections[k]]
    zero = np.zeros((1, arm.nq))
    a0 = np.concatenate([zero, [rows.alpha[k]], unit])                                 # (iii)
    stretch = np.outer(rows.sigma[k], rows.bend[k]) + rows.twice[k]
    a1 = np.stack([zero.T @ zero, stretch, *(                                           # (iv)
        np.outer(rows.alpha[k], unit[j]) + np.outer(unit[j], rows.bend[k]) for j in range(m))])
    if k == i:
        return a0, a1
    end, size = tip_basis(arm, k), 2 + arm.links[i].modes
    first = np.eye(size)[0]
    return (np.multiply.outer(first, end @ a0),
            np.multiply.outer(first, np.tensordot(end, a1, 1)))


def _paired(gram: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Σ_ab Γ_ab a_a ⊗ b_b."""
    return np.tensordot(np.tensordot(gram, a, (0, 0)), b, (0, 0))


def truncated_inertia(tensors: ArmTensors, q: Array) -> Array:
    """B(q) of (v), (N, N)."""
    xp = namespace(q)
    B = tensors.constant
    for C, S, turn in zip(tensors.cosine, tensors.sine, tensors.turn, strict=True):
        sigma = turn @ q
        B = B + C * xp.cos(sigma) + (S @ q) * xp.sin(sigma)
    return B if len(tensors.turn) else B + 0 * xp.sin(q[0])  # one link: constant, of q's kind


def truncated_coriolis(tensors: ArmTensors, q: Array, v: Array) -> Array:
    """h(q, v) of (26), (N,): h_i = Σ_jk (∂B_ij/∂q_k − ½ ∂B_jk/∂q_i) v_j v_k.

        h = Σ_{k<l} σ̇ (c S_δ − s C) v + s S_v v − ½ [turn vᵀ(c S_δ − s C) v + s vᵀ S v]    (vi)

    with S_δ = S δ, S_v = S v, and c, s the cosine and sine of σ_kl.
    """
    xp = namespace(q, v)
    h = 0 * v
    for C, S, turn in zip(tensors.cosine, tensors.sine, tensors.turn, strict=True):
        sigma = turn @ q
        c, s = xp.cos(sigma), xp.sin(sigma)
        Gv = ((S @ q) @ v) * c - (C @ v) * s
        h = h + Gv * (turn @ v) - turn * ((v @ Gv) / 2)
        h = h + ((S @ v) @ v) * s - (v @ (v @ S)) * (s / 2)
    return h
