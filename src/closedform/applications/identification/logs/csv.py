"""CSV files: a line of names or none; commas, semicolons, tabs or spaces; comments with # or %."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TextIO, final

import numpy as np

from closedform.arrays import Floats
from closedform.errors import FormatError

COMMENTS = ("#", "%")


@final
@dataclass(frozen=True, eq=False)
class Csv:
    """A file of text with a row of numbers a line; columns without names are `0`, `1`, …"""

    path: Path
    names: tuple[str, ...]
    separator: str | None       # None: any white space
    skipped: int                # lines before the first row
    groups: Mapping[str, range] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def blocks(self, columns: Sequence[int], rows: int) -> Iterator[Floats]:
        with _text(self.path) as file:
            for _ in islice(file, self.skipped):
                pass
            number = self.skipped
            while lines := list(islice(file, rows)):
                block = self._parsed(lines, columns, number)
                if len(block):
                    yield block
                number += len(lines)

    def _parsed(self, lines: list[str], columns: Sequence[int], number: int) -> Floats:
        full = [line for line in lines if line.strip() and not line.startswith(COMMENTS)]
        if not full:
            return np.zeros((0, len(columns)))
        try:
            return np.loadtxt(full, delimiter=self.separator, usecols=tuple(columns), ndmin=2,
                              comments=None, quotechar='"')
        except ValueError:
            return np.array([self._row(line, columns, k) for k, line in
                             enumerate(lines, start=number + 1)
                             if line.strip() and not line.startswith(COMMENTS)])

    def _row(self, line: str, columns: Sequence[int], number: int) -> list[float]:
        """One row with an error that tells the line; an empty cell is not a number."""
        cells = _cells(line, self.separator)
        if len(cells) < len(self.names):
            raise FormatError(f"{self.path}:{number}: {len(cells)} cells where the lines before "
                              f"have {len(self.names)}: the file is cut off or damaged")
        row = []
        for i in columns:
            try:
                row.append(float(cells[i]) if cells[i] else np.nan)
            except ValueError:
                raise FormatError(f"{self.path}:{number}: column {self.names[i]!r} must be a "
                                  f"number, not {cells[i]!r}") from None
        return row


def open_csv(path: Path) -> Csv:
    """The file's names and separator, from its first lines."""
    skipped = 0
    with _text(path) as file:
        head = ""
        for line in file:
            if line.strip() and not line.startswith(COMMENTS):
                head = line
                break
            skipped += 1
        second = next((line for line in file if line.strip()), "")
    if not head:
        raise FormatError(f"{path}: no rows")
    separator = next((s for s in (",", ";", "\t") if s in head), None)
    cells = _cells(head, separator)
    if all(_is_number(cell) for cell in cells):
        return Csv(path, tuple(str(i) for i in range(len(cells))), separator, skipped)
    if separator == ";" and re.search(r"\d,\d", second):
        raise FormatError(f"{path}: numbers must have a decimal point, not a comma")
    return Csv(path, tuple(cells), separator, skipped + 1)


def _text(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig", errors="replace")


def _cells(line: str, separator: str | None) -> list[str]:
    return [cell.strip().strip('"').strip() for cell in line.strip("\r\n").split(separator)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return not cell
    return True
