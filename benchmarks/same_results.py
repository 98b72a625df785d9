"""Every contender computes the same: its results against ours, before anything is timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from closedform.applications.conventions import Convention
from closedform.arrays import Array
from closedform.errors import ClosedformError

TOLERANCE = 1e-9
"""Of the largest entry."""

SYMMETRIC = ("mass_matrix", "dtau_da")
"""Outputs of which peers may fill the upper triangle only."""


class DisagreementError(ClosedformError):
    """A contender computes something else."""


def check(label: str, ours: Mapping[str, Array], theirs: Sequence[Array],
          states: Mapping[str, Array], convention: Convention) -> None:
    """Compare outputs, one row for each state, in the other library's habits."""
    for (name, mine), other in zip(ours.items(), theirs, strict=True):
        n = len(other)
        expected = _translated(name, mine[:n], {k: x[:n] for k, x in states.items()}, convention)
        other = np.asarray(other, dtype=float).reshape(expected.shape)
        if name in SYMMETRIC:
            expected, other = np.triu(expected), np.triu(other)
        error = np.abs(expected - other).max() / max(1.0, np.abs(expected).max())
        if not error < TOLERANCE:
            raise DisagreementError(f"{label}: {name} is off by {error:.1e} of its largest entry")


def _translated(name: str, x: Array, states: Mapping[str, Array],
                convention: Convention) -> Array:
    """τ' = B τ, a' = B a + Ḃ v, X' = B X Bᵀ."""
    q = states["q"]
    if x.ndim == 3:
        B = convention.B(q)
        return B @ x @ np.swapaxes(B, -1, -2)
    if name == "forward_dynamics":
        return convention.a_to(q, states["v"], x)
    return convention.tau_to(q, x)
