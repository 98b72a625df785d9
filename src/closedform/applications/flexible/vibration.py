"""Small motions of an assembled arm about any configuration: state space, frequencies, shapes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from closedform.applications.motion.linear import StateSpace, first_order
from closedform.applications.motion.system import MotionState
from closedform.arrays import Array, ArrayLike
from closedform.errors import ArgumentError
from closedform.maths.algebra.ldl import refuse_indefinite
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import (
    PAPER,
    Damping,
    Model,
    forward_dynamics,
    gravity_torque,
    inertia_matrix,
    inverse_dynamics,
    stiffness_matrix,
    tip_jacobian,
)

STEP = 1e-30
"""Of the complex step, which is exact to rounding."""


class Vibration(NamedTuple):
    """Free vibrations of an arm; a joint that turns freely adds a frequency of zero."""

    q: np.ndarray               # (N,) the configuration
    frequencies: np.ndarray     # (k,) Hz, rising
    shapes: np.ndarray          # (k, N), with modal mass 1; zero at locked joints


def linearisation(arm: FlexibleArm, q: ArrayLike, v: ArrayLike | None = None,
                  tau: ArrayLike | None = None, damping: Damping = 0.0,
                  model: Model = PAPER) -> StateSpace:
    """The linear system for small deviations from (q, v, tau).

    The deviations are from the motion that starts there; from rest if its acceleration is zero.
    """
    N, n = arm.nq, arm.n
    q, v, tau = (np.array(given if given is not None else np.zeros(size), dtype=float)
                 for given, size in ((q, N), (v, N), (tau, n)))
    a = forward_dynamics(arm, q, v, tau, damping, model)          # refuses an indefinite B

    def slope(dq: Array, dv: Array) -> Array:
        return np.imag(inverse_dynamics(arm, q + 1j * STEP * dq, v + 1j * STEP * dv, a, damping,
                                        model)) / STEP

    zero, unit = np.zeros(N), np.eye(N)
    K, D = (np.stack([slope(*given) for given in pairs], axis=1)
            for pairs in ([(e, zero) for e in unit], [(zero, e) for e in unit]))
    A, B = first_order(inertia_matrix(arm, q, model), D, K, unit[:, :n])
    C = np.concatenate([tip_jacobian(arm, q, model)[:2], np.zeros((2, N))], axis=1)
    return StateSpace(A, B, C, MotionState(q, v), tau)


def vibration(arm: FlexibleArm, q: ArrayLike | None = None, locked: bool = False,
              model: Model = PAPER) -> Vibration:
    """Frequencies and shapes of undamped vibration about a configuration at rest.

    (K + ∂g/∂q) s = ω² B s. `locked` holds the joints; else they turn freely, as under no torque.
    """
    q = np.zeros(arm.nq) if q is None else np.array(q, dtype=float)
    if q.shape == (arm.n,):
        q = np.concatenate([q, np.zeros(arm.nq - arm.n)])
    if q.shape != (arm.nq,):
        raise ArgumentError(f"vibration of {arm.name}: q must have the shape ({arm.n},) or "
                            f"({arm.nq},), not {q.shape}")
    B = inertia_matrix(arm, q, model)
    refuse_indefinite(B, np.linalg.eigvalsh(B), f"the inertia matrix of {arm.name}")
    gravity = np.stack([np.imag(gravity_torque(arm, q + 1j * STEP * e, model)) / STEP
                        for e in np.eye(arm.nq)], axis=1)
    K = stiffness_matrix(arm) + (gravity + gravity.T) / 2
    first = arm.n if locked else 0
    from scipy.linalg import eigh  # slow to import
    squares, vectors = eigh(K[first:, first:], B[first:, first:])
    shapes = np.concatenate([np.zeros((first, len(squares))), vectors])
    floor = 1e-9 * max(np.max(np.abs(squares), initial=0.0), 1e-300)
    squares = np.where(np.abs(squares) < floor, 0.0, squares)
    if np.any(squares < 0):
        raise ArgumentError(f"{arm.name} is not stable at q = {q}: gravity makes it fall")
    return Vibration(q, np.sqrt(squares) / (2 * math.pi), shapes.T)


def frequencies(arm: FlexibleArm, q: ArrayLike | None = None, locked: bool = False,
                model: Model = PAPER) -> np.ndarray:
    """Frequencies of the assembled arm in Hz, rising; a free joint adds a zero."""
    return vibration(arm, q, locked, model).frequencies
