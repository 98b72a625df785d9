"""Tensors by their entries that are not zero by structure."""

from __future__ import annotations

from typing import Any

from closedform.arrays import Array, Namespace

Entries = dict[tuple[int, ...], Any]
"""Entries of a tensor by their indices; those that are missing are zero."""


def enter(entries: Entries, index: tuple[int, ...], value: Any) -> None:
    """Add to an entry: mimic joints give several contributions to one."""
    entries[index] = entries[index] + value if index in entries else value


def enter_twice(M: Entries, i: int, j: int, value: Any) -> None:
    """M_ij and M_ji; for a mimic i may be j, and both halves belong there."""
    enter(M, (i, j), value)
    enter(M, (j, i), value)


def diagonal(values: Array) -> Entries:
    """The entries of diag(values)."""
    return {(i, i): values[i] for i in range(len(values))}


def tensor(entries: Entries, shape: tuple[int, ...], xp: Namespace) -> Array:
    """The array of these entries, exact zeros elsewhere."""
    if 0 in shape:
        return xp.zeros(shape)
    zero = xp.zeros(())

    def part(index: tuple[int, ...]) -> Any:
        if len(index) == len(shape):
            return entries.get(index, 0) + zero
        return xp.stack([part((*index, n)) for n in range(shape[len(index)])])

    return part(())
