"""Distributions of numbers, drawn so that the k-th draw is the same whoever draws it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np

from closedform.arrays import NO_ARRAY, ArrayLike, Floats
from closedform.errors import ArgumentError

DRAWS = 256
"""Draws that share a generator: number k is of the generator seeded with k // DRAWS."""


class Distribution(ABC):
    """Rows of numbers, the same for the same seed."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Numbers of a draw."""

    @abstractmethod
    def drawn(self, rng: np.random.Generator) -> Floats:
        """(DRAWS, size)."""

    def draws(self, start: int, stop: int, seed: int) -> Floats:
        """Draws start … stop − 1, (stop − start, size)."""
        first, last = start // DRAWS, (stop - 1) // DRAWS
        found = np.concatenate([self.drawn(np.random.default_rng([seed, k]))
                                for k in range(first, last + 1)])
        return found[start - first * DRAWS:stop - first * DRAWS]


def _numbers(x: ArrayLike) -> Floats:
    """An array; NaN for what is none."""
    try:
        return np.asarray(x, dtype=float)
    except NO_ARRAY:
        return np.full(1, np.nan)


def _vector(x: ArrayLike, what: str) -> Floats:
    a = np.atleast_1d(_numbers(x))
    if a.ndim != 1 or not np.all(np.isfinite(a)):
        raise ArgumentError(f"{what} of a distribution must be finite numbers, not {x!r}")
    return a


@final
@dataclass(frozen=True, eq=False)
class Normal(Distribution):
    """mean + D (sd ⊙ z), z independent standard normal; D is 1 unless directions are given."""

    mean: ArrayLike                         # (P,)
    sd: ArrayLike                           # (P,), or (k,) with directions
    directions: ArrayLike | None = None     # (P, k)

    def __post_init__(self) -> None:
        mean, sd = _vector(self.mean, "mean"), _vector(self.sd, "sd")
        D = None if self.directions is None else _numbers(self.directions)
        if D is not None and not np.all(np.isfinite(D)):
            raise ArgumentError("directions of a distribution must be finite numbers, not "
                                f"{self.directions!r}")
        if np.any(sd < 0) or (len(sd) != len(mean) if D is None
                              else D.shape != (len(mean), len(sd))):
            raise ArgumentError(f"sd must be {len(mean)} numbers that are not negative, or as many "
                                f"as directions has columns, not {self.sd!r}")

    @property
    def size(self) -> int:
        return len(_vector(self.mean, "mean"))

    def drawn(self, rng: np.random.Generator) -> Floats:
        mean, sd = _vector(self.mean, "mean"), _vector(self.sd, "sd")
        step = sd * rng.normal(size=(DRAWS, len(sd)))
        if self.directions is None:
            return mean + step
        D = np.asarray(self.directions, dtype=float)
        # sums in one order: a matrix product may take another on another machine
        return mean + np.sum(step[:, None, :] * D, axis=-1)


@final
@dataclass(frozen=True, eq=False)
class Uniform(Distribution):
    """Each number between lower and upper."""

    lower: ArrayLike
    upper: ArrayLike

    def __post_init__(self) -> None:
        lower, upper = _vector(self.lower, "lower"), _vector(self.upper, "upper")
        if lower.shape != upper.shape or np.any(upper < lower):
            raise ArgumentError("lower and upper of a distribution must be as many numbers, none "
                                f"above the other, not {self.lower!r} and {self.upper!r}")

    @property
    def size(self) -> int:
        return len(_vector(self.lower, "lower"))

    def drawn(self, rng: np.random.Generator) -> Floats:
        lower, upper = _vector(self.lower, "lower"), _vector(self.upper, "upper")
        return rng.uniform(lower, upper, size=(DRAWS, len(lower)))
