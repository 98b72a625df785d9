"""Linear systems for small deviations from a motion, of any model of second order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from closedform.arrays import Array


@final
@dataclass(frozen=True, eq=False)
class StateSpace:
    """ẋ = A x + B δu, y = C x: x small deviations from `state` under the input `torque`.

    x = (δq, δv), δq a tangent vector; of elastic joints (δq, δv, δθ, δω), θ and ω of their motors.
    y is the deviation of a flexible arm's tip, else that of q.
    """

    A: Array
    B: Array
    C: Array
    state: Any
    torque: Array

    @property
    def frequencies(self) -> Array:
        """Frequencies of the vibrations in Hz, rising."""
        imaginary = np.linalg.eigvals(self.A).imag
        scale = np.max(np.abs(imaginary), initial=0.0)
        return np.sort(imaginary[imaginary > 1e-6 * scale]) / (2 * np.pi)


def first_order(M: Array, D: Array, K: Array, Q: Array) -> tuple[Array, Array]:
    """A and B of ẋ = A x + B δu, x = (δq, δv), for M δa + D δv + K δq = Q δu."""
    N, n = Q.shape
    solved = np.linalg.solve(M, np.hstack([-K, -D, Q]))
    A = np.vstack([np.eye(2 * N)[N:], solved[:, :2 * N]])
    return A, np.vstack([np.zeros((N, n)), solved[:, 2 * N:]])
