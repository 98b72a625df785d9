"""What stands between a motor and its joint: gears, couplings, the gain from current to torque."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from closedform.arrays import ArrayLike, Floats, real_array
from closedform.errors import ArgumentError


@final
@dataclass(frozen=True, eq=False)
class Drives:
    """Motors on joints: θ = P q for positions, τ = Pᵀ τ_m for torques, τ_m = gain · current.

    `ratio` is the gear ratio of each joint, of either sign. `coupling` is P itself, its diagonal
    the ratios; or, with a diagonal of ones, what comes before the gears: P = diag(ratio) coupling.
    Without a `gain` that of every motor is found from the currents, which needs a known load.
    """

    ratio: ArrayLike
    gain: ArrayLike | None = None
    coupling: ArrayLike | None = None

    def __post_init__(self) -> None:
        ratio = np.atleast_1d(real_array(self.ratio, (), "ratio"))
        if ratio.ndim != 1 or not np.all(np.isfinite(ratio)) or np.any(ratio == 0):
            raise ArgumentError(f"ratio must be gear ratios, none of them zero, not {self.ratio!r}")
        object.__setattr__(self, "ratio", ratio)
        if self.gain is not None:
            gain = np.atleast_1d(real_array(self.gain, (), "gain"))
            if gain.ndim != 1 or not np.all(np.isfinite(gain)) or np.any(gain == 0):
                raise ArgumentError(f"gain must be Nm/A of each motor, none of them zero, not "
                                    f"{self.gain!r}")
            object.__setattr__(self, "gain", gain)
        if self.coupling is not None:
            P = real_array(self.coupling, (), "coupling")
            if P.ndim != 2 or P.shape[0] != P.shape[1]:
                raise ArgumentError(f"coupling must be a square matrix, not of shape {P.shape}")
            if not np.all(np.isfinite(P)) or np.linalg.matrix_rank(P) < len(P):
                raise ArgumentError("coupling must have an inverse: motors that turn independently")
            object.__setattr__(self, "coupling", P)

    def matrix(self, n: int) -> Floats:
        """P, (n, n)."""
        ratio = self._spread(self.ratio, n, "ratio")
        if self.coupling is None:
            return np.diag(ratio)
        P = np.asarray(self.coupling, dtype=float)
        if len(P) != n:
            raise ArgumentError(f"coupling must be {n} x {n}, one row for each motor, not "
                                f"{len(P)} x {len(P)}")
        diagonal = np.diag(P)
        if np.allclose(diagonal, ratio, rtol=1e-9):
            return P
        if np.allclose(diagonal, 1):
            return ratio[:, None] * P
        raise ArgumentError(f"coupling must have the ratios {ratio} or ones on its diagonal, "
                            f"not {diagonal}")

    def gains(self, n: int) -> Floats | None:
        """The gains of n motors, if they are given."""
        return None if self.gain is None else self._spread(self.gain, n, "gain")

    def coupled(self, n: int) -> list[int]:
        """The motors that turn with more than one joint."""
        return [i for i, row in enumerate(self.matrix(n)) if np.count_nonzero(row) > 1]

    @staticmethod
    def _spread(given: ArrayLike, n: int, name: str) -> Floats:
        x = np.asarray(given, dtype=float)
        if x.shape not in ((1,), (n,)):
            raise ArgumentError(f"{name} must be one number or {n}, one for each joint that has a "
                                f"motor, not {x.shape[0]}")
        return np.array(np.broadcast_to(x, (n,)))
