"""Linear systems for small deviations from a motion, of any model of second order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

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


class Tangent(NamedTuple):
    """M δa + D δv + K δq = Q δu."""

    M: Array     # (N, N)
    D: Array     # (N, N)
    K: Array     # (N, N)
    Q: Array     # (N, n)


def first_order(tangent: Tangent) -> tuple[Array, Array]:
    """A (2N, 2N) and B (2N, n) of ẋ = A x + B δu, x = (δq, δv)."""
    M, D, K, Q = tangent
    N, n = Q.shape
    solved = np.linalg.solve(M, np.hstack([-K, -D, Q]))
    A = np.vstack([np.hstack([np.zeros((N, N)), np.eye(N)]), solved[:, :2 * N]])
    return A, np.vstack([np.zeros((N, n)), solved[:, 2 * N:]])
