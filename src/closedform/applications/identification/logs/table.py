"""What every format gives: named columns of numbers, read in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, final

import numpy as np

from closedform.arrays import Floats
from closedform.errors import ArgumentError

BLOCK = 65536
"""Rows in a block, unless told otherwise."""


class LogTable(Protocol):
    """Columns with names; `groups` are names of arrays that are several columns wide."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def groups(self) -> Mapping[str, range]: ...

    @property
    def units(self) -> Mapping[str, str]:
        """Units that the file itself states, by column."""

    @property
    def notes(self) -> tuple[str, ...]: ...

    def blocks(self, columns: Sequence[int], rows: int) -> Iterator[Floats]:
        """The columns of these numbers, in pieces (≤ rows, columns) in the order of the file."""


def names_and_groups(
    widths: Mapping[str, int | None],
) -> tuple[tuple[str, ...], dict[str, range]]:
    """Names of single columns: `q[0]`, `q[1]` for an array q that is two wide; None is one."""
    names: list[str] = []
    groups: dict[str, range] = {}
    for name, width in widths.items():
        if width is None:
            names.append(name)
        else:
            groups[name] = range(len(names), len(names) + width)
            names += [f"{name}[{i}]" for i in range(width)]
    return tuple(names), groups


@final
@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays in memory, each (N,) or (N, width)."""

    arrays: Mapping[str, Floats]
    what: str = "the log"
    notes: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plain = {name: _numbers(x, f"{self.what}: {name}") for name, x in self.arrays.items()}
        lengths = {name: len(x) for name, x in plain.items()}
        if len(set(lengths.values())) > 1:
            turned = any(x.ndim == 2 and x.shape[1] in lengths.values() for x in plain.values())
            raise ArgumentError(f"{self.what}: the arrays differ in length: "
                                f"{', '.join(f'{k} {n}' for k, n in lengths.items())}"
                                + ("; transpose those that have a row for each joint: a row must "
                                   "be one instant" if turned else ""))
        object.__setattr__(self, "arrays", plain)

    @property
    def names(self) -> tuple[str, ...]:
        return self._named()[0]

    @property
    def groups(self) -> Mapping[str, range]:
        return self._named()[1]

    def _named(self) -> tuple[tuple[str, ...], dict[str, range]]:
        return names_and_groups({name: x.shape[1] if x.ndim == 2 else None
                                 for name, x in self.arrays.items()})

    def blocks(self, columns: Sequence[int], rows: int) -> Iterator[Floats]:
        wide = [x if x.ndim == 2 else x[:, None] for x in self.arrays.values()]
        every = [(x, k) for x in wide for k in range(x.shape[1])]
        runs: list[tuple[Floats, int, int]] = []        # columns side by side are copied together
        for x, k in (every[i] for i in columns):
            if runs and runs[-1][0] is x and runs[-1][2] == k:
                runs[-1] = x, runs[-1][1], k + 1
            else:
                runs.append((x, k, k + 1))
        for start in range(0, len(runs[0][0]) if runs else 0, rows):
            yield np.concatenate([x[start:start + rows, a:b] for x, a, b in runs], axis=1,
                                 dtype=float, casting="unsafe")


def _numbers(x: object, what: str) -> Floats:
    try:
        hidden = np.ma.isMaskedArray(x) and np.ma.is_masked(x)      # what is masked is no number
        numbers = np.ma.filled(np.ma.asarray(x, float), np.nan) if hidden else np.asarray(x)
        if numbers.dtype.kind not in "fiubc":
            numbers = numbers.astype(float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} must be numbers, not {type(x).__name__}") from None
    if numbers.dtype.kind == "c":
        raise ArgumentError(f"{what} must be real numbers, not complex ones")
    if numbers.ndim not in (1, 2):
        raise ArgumentError(f"{what} must be (N,) or (N, width), not {numbers.shape}")
    return numbers
