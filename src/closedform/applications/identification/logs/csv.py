"""CSV files: a line of names or none; commas, semicolons, tabs or spaces; comments with # or %.

As programs write them: names in a comment (`numpy.savetxt`), a line of units below the names, a
first line `sep=;`, decimal commas between semicolons, byte marks, lines of separators at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from io import BytesIO
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TextIO, final

import numpy as np

from closedform.applications.identification.logs.units import is_unit
from closedform.arrays import Floats
from closedform.errors import FormatError

COMMENTS = ("#", "%", "//")
MARKS = (b"\xff\xfe", b"\xfe\xff")
"""Byte marks of UTF-16."""
_DECIMAL_COMMA = re.compile(r"\d,\d")


@final
@dataclass(frozen=True, eq=False)
class Csv:
    """A file of text with a row of numbers a line; columns without names are `0`, `1`, …"""

    path: Path
    names: tuple[str, ...]
    separator: str | None       # None: any white space
    skipped: int                # lines before the first row
    decimal: str = "."          # or a comma
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
        if self.decimal != ".":
            lines = [line.replace(self.decimal, ".") for line in lines]
        blank = f"{self.separator or ''} \t\r\n"
        full = [line for line in lines if line.strip(blank) and not line.startswith(COMMENTS)]
        if not full:
            return np.zeros((0, len(columns)))
        try:
            return _numbers(full, self.separator, columns, len(self.names))
        except ValueError:
            rows = {id(line) for line in full}
            return np.array([self._row(line, columns, k) for k, line in
                             enumerate(lines, start=number + 1) if id(line) in rows])

    def _row(self, line: str, columns: Sequence[int], number: int) -> list[float]:
        """One row with an error that tells the line; an empty cell is not a number."""
        cells = _cells(line, self.separator)
        if len(cells) < len(self.names):
            raise FormatError(f"{self.path}:{number}: {len(cells)} cells where the lines before "
                              f"have {len(self.names)}: the file is cut off or damaged")
        if any(cells[len(self.names):]):
            raise FormatError(f"{self.path}:{number}: {len(cells)} cells under "
                              f"{len(self.names)} names: are there commas inside of numbers?")
        row = []
        for i in columns:
            try:
                row.append(float(cells[i]) if cells[i] else np.nan)
            except ValueError:
                raise FormatError(f"{self.path}:{number}: column {self.names[i]!r} must be a "
                                  f"number, not {cells[i]!r}") from None
        return row


def _numbers(lines: list[str], separator: str | None, columns: Sequence[int],
             width: int) -> Floats:
    """The columns of many lines; by pyarrow where there is one, which takes a tenth of the time."""
    arrow = _arrow()
    if arrow is None or separator is None:
        return np.loadtxt(lines, delimiter=separator, usecols=tuple(columns), ndmin=2,
                          comments=None, quotechar='"')
    names = [str(i) for i in range(width)]
    wanted = [names[i] for i in columns]
    if not lines[-1].endswith("\n"):
        lines = [*lines[:-1], lines[-1] + "\n"]
    table = arrow.read_csv(
        BytesIO("".join(lines).encode()),
        read_options=arrow.ReadOptions(column_names=names, use_threads=False),
        parse_options=arrow.ParseOptions(delimiter=separator),
        convert_options=arrow.ConvertOptions(
            include_columns=list(dict.fromkeys(wanted)),
            column_types=dict.fromkeys(wanted, "float64")))
    return np.stack([table.column(name).to_numpy() for name in wanted], axis=1)


def _arrow() -> ModuleType | None:
    try:
        return import_module("pyarrow.csv")
    except ImportError:
        return None


def open_csv(path: Path) -> Csv:
    """The file's names, units and separator, from its first lines."""
    head = _Head(path)
    if not head.lines:
        raise FormatError(f"{path}: no rows")
    number, line = head.lines[0]
    separator = head.separator or next((s for s in (";", "\t", ",") if s in line), None)
    rest = [text for _, text in head.lines[1:]]
    decimal = "." if separator == "," or not any(map(_DECIMAL_COMMA.search, rest or [line])) \
        else ","
    notes = (*(() if decimal == "." else ("numbers have decimal commas",)),
             *(() if _ended(path) else ("the last line has no end: if its writing was stopped, its "
                                        "last number may lack digits",)))
    cells = _cells(line, separator)
    if all(_is_number(cell.replace(decimal, ".")) for cell in cells):
        names = _cells(head.comment, separator)
        if len(names) != len(cells) or all(map(_is_number, names)):
            names = [str(i) for i in range(len(cells))]
        return Csv(path, tuple(names), separator, number, decimal, notes=notes)
    units = _cells(rest[0], separator) if rest else []
    if len(units) == len(cells) and all(not cell or is_unit(cell) for cell in units) and any(units):
        told = {name: unit for name, unit in zip(cells, units, strict=True) if unit}
        return Csv(path, tuple(cells), separator, head.lines[1][0] + 1, decimal, {}, told, notes)
    return Csv(path, tuple(cells), separator, number + 1, decimal, notes=notes)


class _Head:
    """The first lines that are no comments, with their numbers; the comment just before them."""

    def __init__(self, path: Path) -> None:
        self.lines: list[tuple[int, str]] = []
        self.comment, self.separator = "", None
        with _text(path) as file:
            for number, line in enumerate(file):
                told = re.fullmatch(r"sep=(.)\s*", line, re.IGNORECASE) if number == 0 else None
                if "\0" in line:
                    raise FormatError(f"{path}: a file of text expected, this one is binary")
                if told:
                    self.separator = told[1]
                elif line.startswith(COMMENTS):
                    self.comment = line.lstrip("#%/ ") if not self.lines else self.comment
                elif line.strip():
                    self.lines.append((number, line))
                if len(self.lines) == 3:
                    return


def _ended(path: Path) -> bool:
    """Whether the last line ends as lines do."""
    with path.open("rb") as file:
        file.seek(-min(4, path.stat().st_size), 2)
        return file.read().rstrip(b"\0")[-1:] in (b"\n", b"\r")


def _text(path: Path) -> TextIO:
    with path.open("rb") as file:
        wide = file.read(2) in MARKS
    return path.open(encoding="utf-16" if wide else "utf-8-sig", errors="replace")


def _cells(line: str, separator: str | None) -> list[str]:
    return [cell.strip().strip('"').strip() for cell in line.strip("\r\n").split(separator)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return not cell
    return True
