"""Which entries of derivatives can differ from zero, and the fewest directions that give them all.

A direction is a sum of axes: of a tangent along it, an entry is known where no other of its axes
reaches the same row [CurtisPowellReid1974]; of a symmetric matrix, where that holds of the entry
or of the one across the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from closedform.program.program import LEAVES, Program, size

STILL = LEAVES | {"sign"}
"""Operations whose derivatives are zero."""

Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.int64]


class Pattern(NamedTuple):
    """The places of the nonzeros of a matrix, by columns, then rows."""

    rows: int
    columns: int
    row: Indices
    column: Indices

    @classmethod
    def of(cls, mask: Mask) -> Pattern:
        column, row = np.nonzero(mask.T)
        return cls(mask.shape[0], mask.shape[1], row, column)

    @property
    def nonzeros(self) -> int:
        return len(self.row)

    def compressed(self, nodes: int = 1, diagonal: bool = True) -> Indices:
        """CasADi's form: rows, columns, where columns start, rows; of the matrices of all nodes.

        They stand along the diagonal, or side by side.
        """
        node = np.arange(nodes)[:, None]
        rows = (self.row + diagonal * self.rows * node).ravel()
        starts = np.searchsorted(self.column, np.arange(self.columns))
        columns = (starts + self.nonzeros * node).ravel()
        height = self.rows * nodes if diagonal else self.rows
        return np.concatenate([[height, self.columns * nodes], columns, [len(rows)], rows])


def reached(program: Program, wrt: Sequence[str]) -> Mask:
    """Which entries of all outputs (rows) move with which of some inputs (columns), in C order."""
    first, start = {}, 0
    for k, slot in enumerate(program.inputs):
        if slot.name in wrt:
            first[k] = start
            start += size(slot.shape)
    found: list[int] = []                       # a bit for each column
    for op, args, _ in program.code:
        if op == "input":
            found.append(1 << first[args[0]] + args[1] if args[0] in first else 0)
        else:
            bits = 0
            for i in () if op in STILL else args:
                bits |= found[i]
            found.append(bits)
    entries = [found[e.index] if e.index >= 0 else 0 for y in program.outputs for e in y.entries]
    length = (start + 7) // 8
    packed = np.frombuffer(b"".join(x.to_bytes(length, "little") for x in entries), np.uint8)
    if not start:
        return np.zeros((len(entries), 0), bool)
    return np.unpackbits(packed.reshape(len(entries), length), axis=1,
                         bitorder="little")[:, :start].astype(bool)


def directions(mask: Mask, symmetric: bool = False) -> tuple[Mask, Indices]:
    """Directions (d, columns), and for each place of the matrix its number d · rows + row.

    Of a symmetric matrix a place may be read across the diagonal. Where the mask is False, −1.
    """
    group = np.where(mask.any(axis=0), np.arange(mask.shape[1]), -1)
    if symmetric:
        _leave_out(mask, group)
    _merge(mask, group, _known_across if symmetric else _known)
    used = np.unique(group[group >= 0])
    read, height = _read(mask, group), len(mask)
    places = np.where(read, np.searchsorted(used, group) * height + np.arange(height)[:, None], -1)
    return group == used[:, None], np.where(read | ~mask, places, places.T) if symmetric else places


def _leave_out(mask: Mask, group: Indices) -> None:
    """Take the columns out whose entries are all in rows of others: what enters linearly."""
    for k in np.argsort(mask.sum(axis=0), kind="stable"):
        if group[k] >= 0 and not mask[k, k] and (group[mask[:, k]] >= 0).all():
            group[k] = -1


def _merge(mask: Mask, group: Indices, known: Callable[[Mask, Indices], bool]) -> None:
    """Put columns together while every entry stays known, those with most entries first."""
    columns = [k for k in np.argsort(-mask.sum(axis=0), kind="stable") if group[k] >= 0]
    heads: list[int] = []
    for k in columns:
        for other in heads:
            group[k] = other
            if known(mask, group):
                break
        else:
            group[k] = k
            heads.append(k)


def _read(mask: Mask, group: Indices) -> Mask:
    """The entries that are alone in their row among the columns of their group."""
    heads, number = np.unique(group, return_inverse=True)
    member = (np.arange(len(heads)) == number[:, None]).astype(np.float32)
    alone = (mask.astype(np.float32) @ member)[:, number] == 1
    return mask & alone & (group >= 0)


def _known(mask: Mask, group: Indices) -> bool:
    return bool((_read(mask, group) == mask).all())


def _known_across(mask: Mask, group: Indices) -> bool:
    read = _read(mask, group)
    return bool(((read | read.T) == mask).all())
