"""Small motions of an assembled arm about any configuration: state space, frequencies, shapes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array
from closedform.errors import ArgumentError
from closedform.maths.algebra.ldl import refuse_indefinite
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import (
    PAPER,
    Model,
    forward_dynamics,
    gravity_torque,
    inertia_matrix,
    stiffness_matrix,
    tip_jacobian,
)

STEP = 1e-30
"""Of the complex step, which is exact to rounding."""


class StateSpace(NamedTuple):
    """ẋ = A x + B u, y = C x, for deviations x = (q, v), torques u and the tip's place y."""

    A: Array       # (2N, 2N)
    B: Array       # (2N, n)
    C: Array       # (2, 2N)


class Vibration(NamedTuple):
    """Free vibrations of an arm; a joint that turns freely adds a frequency of zero."""

    q: Array               # (N,) the configuration
    frequencies: Array     # (k,) Hz, rising
    shapes: Array          # (k, N), with modal mass 1; zero at locked joints


def linearisation(arm: FlexibleArm, q: Any, v: Any = None, tau: Any = None, damping: Any = 0.0,
                  model: Model = PAPER) -> StateSpace:
    """The linear system for small deviations from (q, v, tau).

    The deviations are from the motion that starts there; from rest if its acceleration is zero.
    """
    N, n = arm.nq, arm.n
    q, v, tau = (np.array(given if given is not None else np.zeros(size), dtype=float)
                 for given, size in ((q, N), (v, N), (tau, n)))

    def slope(dq: Array, dv: Array, du: Array) -> Array:
        a = forward_dynamics(arm, q + 1j * STEP * dq, v + 1j * STEP * dv, tau + 1j * STEP * du,
                             damping, model)
        return np.imag(a) / STEP

    forward_dynamics(arm, q, v, tau, damping, model)          # refuses an indefinite B
    zero, unit = np.zeros(N), np.eye(N)
    a_q = np.stack([slope(e, zero, np.zeros(n)) for e in unit], axis=1)
    a_v = np.stack([slope(zero, e, np.zeros(n)) for e in unit], axis=1)
    a_u = np.stack([slope(zero, zero, e) for e in np.eye(n)], axis=1)
    A = np.block([[np.zeros((N, N)), unit], [a_q, a_v]])
    C = np.concatenate([tip_jacobian(arm, q, model)[:2], np.zeros((2, N))], axis=1)
    return StateSpace(A, np.concatenate([np.zeros((N, n)), a_u]), C)


def vibration(arm: FlexibleArm, q: Any = None, locked: bool = False,
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


def frequencies(arm: FlexibleArm, q: Any = None, locked: bool = False,
                model: Model = PAPER) -> Array:
    """Frequencies of the assembled arm in Hz, rising; a free joint adds a zero."""
    return vibration(arm, q, locked, model).frequencies
