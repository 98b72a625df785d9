"""Parquet files, in record batches by pyarrow; a column may hold lists, of one length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, final

import numpy as np

from closedform.applications.identification.logs.table import names_and_groups
from closedform.arrays import Floats
from closedform.errors import FormatError, MissingDependency

BUFFER = 1 << 17
"""Bytes of each column that are read ahead; by default pyarrow reads all of a file ahead."""


@final
@dataclass(frozen=True, eq=False)
class Parquet:
    """A file of columns; units are those that its fields' metadata state."""

    path: Path
    widths: Mapping[str, int | None]        # of the fields that hold numbers
    units: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return names_and_groups(self.widths)[0]

    @property
    def groups(self) -> Mapping[str, range]:
        return names_and_groups(self.widths)[1]

    def blocks(self, columns: Sequence[int], rows: int) -> Iterator[Floats]:
        wide = {i: (name, k) for name, at in self.groups.items() for k, i in enumerate(at)}
        wanted = [wide.get(i, (self.names[i], None)) for i in columns]
        fields = list(dict.fromkeys(name for name, _ in wanted))
        for batch in self._batches(fields, rows):
            arrays = {name: self._array(batch.column(name), name) for name in fields}
            yield np.stack([arrays[name] if k is None else arrays[name][:, k]
                            for name, k in wanted], axis=1)

    def _batches(self, fields: Sequence[str], rows: int) -> Iterator[Any]:
        try:
            yield from _file(self.path).iter_batches(batch_size=rows, columns=fields)
        except OSError as error:
            raise FormatError(f"{self.path}: the file is damaged: {error}") from None

    def _array(self, column: Any, name: str) -> Floats:
        width = self.widths[name]
        if width is None:
            return _floats(column)
        numbers = _floats(column.flatten())
        if len(numbers) != len(column) * width:
            raise FormatError(f"{self.path}: lists of column {name!r} differ in length")
        return numbers.reshape(len(column), width)


def open_parquet(path: Path) -> Parquet:
    """The file's columns of numbers, and of lists of numbers."""
    file = _file(path)
    types = import_module("pyarrow").types
    widths: dict[str, int | None] = {}
    units, others = {}, []
    for item in file.schema_arrow:
        kind = item.type
        if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
            first = next(file.iter_batches(batch_size=1, columns=[item.name]), None)
            widths[item.name] = len(first.column(0)[0]) if first is not None else 0
        elif types.is_integer(kind) or types.is_floating(kind) or types.is_timestamp(kind):
            widths[item.name] = None
        else:
            others.append(f"{item.name} ({kind})")
        if types.is_timestamp(kind):
            units[item.name] = kind.unit
        elif item.metadata and b"unit" in item.metadata:
            units[item.name] = item.metadata[b"unit"].decode()
    notes = (f"columns that are no numbers are left aside: {', '.join(others)}",) if others else ()
    return Parquet(path, widths, units, notes)


def _floats(column: Any) -> Floats:
    kind = import_module("pyarrow")
    plain = column.cast(kind.int64()) if kind.types.is_timestamp(column.type) else column
    return np.asarray(plain.cast(kind.float64(), safe=False).to_numpy(zero_copy_only=False))


def _file(path: Path) -> Any:
    try:
        parquet, pyarrow = import_module("pyarrow.parquet"), import_module("pyarrow")
    except ImportError:
        raise MissingDependency("Parquet files need pyarrow: pip install 'closedform[identify]'"
                                ) from None
    try:
        return parquet.ParquetFile(str(path), buffer_size=BUFFER, pre_buffer=False)
    except pyarrow.ArrowInvalid as error:
        raise FormatError(f"{path}: no whole Parquet file: {error}") from None
