"""The problem of a motion: a criterion and limits as one smooth function of its coefficients.

    min f(H(X)) + ρ/N Σ_t Σ_i max(0, |u_i(t)|/limit_i − 1)²        u: q, v, a, τ

H is a sum over samples of the motion, so that its gradient is one pass of the adjoint of W.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from scipy.linalg import null_space

from closedform.applications.identification.excitation.criteria import Objective, Scene
from closedform.applications.identification.excitation.motions import Basis
from closedform.applications.identification.excitation.rows import MotionRows
from closedform.arrays import Floats

TARGET = 0.99
"""What hinges aim at, of the limits less their margin, so that little is left to scale."""
RANK = 1e-8
"""Singular values of scaled columns below so much of the largest are zero."""
STATES = 400


@final
@dataclass(frozen=True, eq=False)
class Excitation:
    """A criterion of motions, its weights, and what was known before."""

    rows: MotionRows
    basis: Basis
    criterion: Objective
    scene: Scene
    weights: Floats                    # (nv,): of squares, 1/σ² or 1, times the log's samples
    known: Floats                      # (columns, columns): information before

    @cached_property
    def _waves(self) -> tuple[Floats, Floats, Floats]:
        t = self.basis.grid
        return self.basis.at(t, 0), self.basis.at(t, 1), self.basis.at(t, 2)

    @property
    def shape(self) -> tuple[int, int]:
        """Of X: coefficients, joints."""
        return self.basis.size, len(self.rows.room.at)

    @cached_property
    def units(self) -> Floats:
        """For each joint: coefficients of one bring its velocity near its limit."""
        norm = np.abs(self._waves[1]).sum(axis=1).max() or 1.0
        room = self.rows.room
        return np.minimum(room.velocity / norm * 2, (room.upper - room.lower)
                          / (np.abs(self._waves[0]).sum(axis=1).max() or 1.0))

    def coefficients(self, x: Floats) -> Floats:
        """X of the numbers that are optimised."""
        return x.reshape(self.shape) * self.units

    def motion(self, X: Floats) -> tuple[Floats, Floats, Floats]:
        """q, v, a of the joints that move, at the samples."""
        q, v, a = (wave @ X for wave in self._waves)
        return q + self.rows.room.home, v, a

    def by_position(self, gradient: Floats, every: int) -> Floats:
        """The gradient of a function of every so many samples' positions."""
        return ((self._waves[0][::every].T @ gradient) * self.units).ravel()

    def matrix(self, rows: Sequence[Floats]) -> Floats:
        """H, (columns, columns), with what was known before."""
        return gram(self.rows, rows, self.weights) + self.known

    def __call__(self, x: Floats, rho: float) -> tuple[float, Floats]:
        """The function and its gradient."""
        X = self.coefficients(x)
        q, v, a = self.motion(X)
        W = self.rows.rows(q, v, a)
        B = self.scene.basis
        f, G = self.criterion(self.scene, B.T @ self.matrix(W) @ B)
        G = B @ G @ B.T
        room, n = self.rows.room, len(q)
        tau = self.rows.torques(W, q)
        extra, slope = _hinge(tau / room.torque)
        slope *= rho / n / room.torque
        Z = [2 * w * (W_j @ G[block]) + slope[:, j:j + 1] * x
             for j, (W_j, block, x, w) in enumerate(zip(W, self.rows.blocks, self.rows.own_expected,
                                                        self.weights, strict=True))]
        by_q, by_v, by_a = self.rows.gradients(q, v, a, Z)
        by_q = by_q + slope[:, list(room.at)] * self.rows.stiffness
        middle, half = (room.upper + room.lower) / 2, (room.upper - room.lower) / 2
        total = np.zeros(self.shape)
        for wave, g, u, size in zip(self._waves, (by_q, by_v, by_a), (q - middle, v, a),
                                    (half, room.velocity, room.acceleration), strict=True):
            value, slope = _hinge(u / size)
            extra += value
            total += wave.T @ (g + slope * (rho / n / size))
        return f + rho / n * extra, (total * self.units).ravel()


def _hinge(u: Floats) -> tuple[float, Floats]:
    """Σ max(0, |u| − 1)² and its gradient."""
    over = np.maximum(np.abs(u) - TARGET, 0.0)
    return float(np.sum(over**2)), 2 * over * np.sign(u)


def gram(made: MotionRows, rows: Sequence[Floats], weights: Floats) -> Floats:
    """Σ_j w_j W_jᵀ W_j, (columns, columns)."""
    p = len(made.model.names)
    H = np.zeros((p, p))
    for W, block, w in zip(rows, made.blocks, weights, strict=True):
        if w > 0:
            H[block] += w * (W.T @ W)
    return H


@final
@dataclass(frozen=True, eq=False)
class Reach:
    """What motions of a robot can tell at all."""

    basis: Floats                  # (columns, directions): what some motion tells
    open: tuple[bool, ...]         # for each column, whether no motion alone tells it
    torque: Floats                 # (nv,): usual size


def reach_of(rows: MotionRows, measured: Floats, known: Floats, equal: Floats) -> Reach:
    """Directions that random motions within the limits, earlier logs and known values tell.

    `measured` are the torques that count, `known` the information before, `equal` (rows, columns)
    what is known exactly.
    """
    rng, room = np.random.default_rng(0), rows.room
    shape = STATES, len(room.at)
    q = rng.uniform(room.lower, room.upper, shape)
    v, a = (rng.uniform(-0.7, 0.7, shape) * x for x in (room.velocity, room.acceleration))
    W = rows.rows(q, v, a)
    free = null_space(equal) if len(equal) else np.eye(len(rows.model.names))
    stacked = []
    for W_j, s, use in zip(W, rows.model.support, measured, strict=True):
        if use:
            whole = np.zeros((len(W_j), len(rows.model.names)))
            whole[:, list(s)] = W_j
            stacked.append(whole)
    values, vectors = np.linalg.eigh(known)
    stacked.append(np.sqrt(np.maximum(values, 0))[:, None] * vectors.T)
    M = np.linalg.qr(np.concatenate(stacked) @ free, mode="r")
    size = np.linalg.norm(M, axis=0)
    size = np.where(size > 0, size, 1.0)
    _, singular, directions = np.linalg.svd(M / size)
    rank = int(np.sum(singular > RANK * singular[0])) if len(singular) else 0
    dark = (directions[rank:] / size).T                        # M dark = 0
    basis = free @ null_space(dark.T) if dark.size else free
    hidden = np.abs(free @ dark).max(axis=1, initial=0.0) if dark.size else np.zeros(len(free))
    tau = rows.torques(W, q)
    return Reach(basis, tuple((hidden > 1e-7 * max(hidden.max(initial=0.0), 1e-300)).tolist()),
                 np.sqrt(np.mean(tau**2, axis=0)))
