"""NumPy's .npz files, row by row out of the archive, and .npy files."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple, final

import numpy as np
from numpy.lib import format as npy

from closedform.applications.identification.logs.names import meaning
from closedform.applications.identification.logs.table import Arrays, LogTable, names_and_groups
from closedform.arrays import Floats
from closedform.errors import FormatError

Header = tuple[tuple[int, ...], bool, np.dtype[np.generic]]
"""Shape, whether columns lie first, and type of an array."""


class Member(NamedTuple):
    """An array of the archive."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]

    @property
    def width(self) -> int | None:
        return self.shape[1] if len(self.shape) == 2 else None


@final
@dataclass(frozen=True, eq=False)
class Npz:
    """Arrays (N,) and (N, width) of one length, streamed out of the archive."""

    path: Path
    members: Mapping[str, Member]
    units: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return names_and_groups({name: m.width for name, m in self.members.items()})[0]

    @property
    def groups(self) -> Mapping[str, range]:
        return names_and_groups({name: m.width for name, m in self.members.items()})[1]

    def blocks(self, columns: Sequence[int], rows: int) -> Iterator[Floats]:
        wide = {i: (name, k) for name, at in self.groups.items() for k, i in enumerate(at)}
        wanted = [wide.get(i, (self.names[i], 0)) for i in columns]
        needed = list(dict.fromkeys(name for name, _ in wanted))
        total = max((self.members[name].shape[0] for name in needed), default=0)
        with ExitStack() as stack:
            archive = stack.enter_context(zipfile.ZipFile(self.path))
            streams = {name: stack.enter_context(archive.open(f"{name}.npy")) for name in needed}
            for stream in streams.values():
                _header(stream)
            for start in range(0, total, rows):
                count = min(rows, total - start)
                arrays = {name: self._rows(stream, name, count)
                          for name, stream in streams.items()}
                yield np.stack([arrays[name][:, k] for name, k in wanted], axis=1)

    def _rows(self, stream: IO[bytes], name: str, count: int) -> Floats:
        member = self.members[name]
        size = count * (member.width or 1) * member.dtype.itemsize
        data = stream.read(size)
        if len(data) != size:
            raise FormatError(f"{self.path}: array {name!r} is cut off")
        return np.frombuffer(data, member.dtype).reshape(count, member.width or 1).astype(float)


def open_npz(path: Path) -> LogTable:
    """The arrays of the file that have as many rows as most of them; others are left aside."""
    try:
        if path.suffix == ".npy":
            with path.open("rb") as stream:
                found = {"data": _header(stream)}
            _refuse_objects(path, found)
            return Arrays({"data": np.load(path, mmap_mode="r")}, str(path))
        with zipfile.ZipFile(path) as archive:
            found = {}
            for name in archive.namelist():
                with archive.open(name) as stream:
                    found[name.removesuffix(".npy")] = _header(stream)
    except FormatError:
        raise
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        raise FormatError(f"{path}: no whole NumPy file: {error}") from None
    _refuse_objects(path, found)
    members = {name: Member(shape, dtype) for name, (shape, fortran, dtype) in found.items()
               if dtype.kind in "fiu" and len(shape) in (1, 2)}
    _refuse_transposed(path, members)
    lengths = [member.shape[0] for member in members.values()]
    most = max(lengths, key=lambda n: (lengths.count(n), n), default=0)
    aside = [f"{name} {m.shape}" for name, m in members.items() if m.shape[0] != most]
    notes = [f"arrays of another length are left aside: {', '.join(aside)}"] if aside else []
    others = [f"{name} ({dtype.name}, {shape})" for name, (shape, _, dtype) in found.items()
              if name not in members]
    if others:
        notes.append(f"arrays that are no columns of numbers are left aside: {', '.join(others)}")
    members = {name: m for name, m in members.items() if m.shape[0] == most}
    if any(found[name][1] and (m.width or 1) > 1 for name, m in members.items()):
        with np.load(path) as arrays:       # rows of such an array lie all over the file: no stream
            return Arrays({name: arrays[name] for name in members}, str(path), tuple(notes))
    return Npz(path, members, {}, tuple(notes))


def _refuse_objects(path: Path, found: Mapping[str, Header]) -> None:
    """Columns that are pickled; what is none of a robot's columns is never opened."""
    for name, (_, _, dtype) in found.items():
        if dtype.hasobject and (path.suffix == ".npy" or meaning(name, ()) is not None):
            raise FormatError(f"{path}: array {name!r} holds pickled Python objects, which are "
                              "never loaded; save arrays of numbers")


def _refuse_transposed(path: Path, members: Mapping[str, Member]) -> None:
    """Arrays with a column for each row of a time."""
    lengths = {m.shape[0] for m in members.values() if m.width is None}
    for name, m in members.items():
        if m.width in lengths and m.shape[0] not in lengths:
            raise FormatError(f"{path}: array {name!r} is {m.shape[0]} by {m.width}: transpose it, "
                              "a row must be one instant")


def _header(stream: IO[bytes]) -> Header:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    return tuple(shape), bool(fortran), np.dtype(dtype)
