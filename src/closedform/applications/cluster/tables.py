"""Where rows go, block by block, and which blocks are there: in memory, in Zarr, in Parquet.

A block that was put is there whole, whatever happens to the writer afterwards: a Parquet file takes
its name when it is complete, and in Zarr a mark is set behind the numbers. The mark is of what was
given for the block. A table that exists and is of the same work is gone on with; one of other work
is refused, and so is one whose blocks were made of other data.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from closedform.applications.cluster.blocks import (
    Aside,
    BlockError,
    Range,
    Work,
    computed,
    ranges,
)
from closedform.applications.cluster.client import joined
from closedform.applications.whole_files import whole_file
from closedform.errors import ArgumentError, MissingDependency

BlockRows = Mapping[str, NDArray[Any]]
ABOUT, MARK = "_about.json", b"given"
NOTHING_GIVEN = 1
"""The mark of a block that came with no data; 0 is that of one that is not there."""


class TableColumn(NamedTuple):
    """A column; with names of entries it has as many numbers a row."""

    name: str
    dtype: str = "f8"
    entries: tuple[str, ...] = ()

    @property
    def tail(self) -> tuple[int, ...]:
        return (len(self.entries),) if self.entries else ()

    @property
    def nothing(self) -> float:
        """What stands where nothing is known: NaN, or the largest of whole numbers."""
        return np.nan if self.dtype[0] == "f" else np.iinfo(self.dtype).max


@dataclass(frozen=True)
class TableLayout:
    """What a table holds: its columns, how many rows, in blocks of which size, and of what."""

    columns: tuple[TableColumn, ...]
    rows: int
    size: int
    about: Mapping[str, str]

    @property
    def blocks(self) -> list[Range]:
        return ranges(self.rows, self.size)

    @property
    def told(self) -> dict[str, Any]:
        """All of it, as text that can be compared."""
        return {**self.about, "rows": self.rows, "block": self.size,
                "columns": [[c.name, c.dtype, list(c.entries)] for c in self.columns]}

    def missing(self, block: Range) -> dict[str, NDArray[Any]]:
        """BlockRows of a block that is not there."""
        n = block.stop - block.start
        return {c.name: np.full((n, *c.tail), c.nothing, c.dtype) for c in self.columns}


class BlockTable(ABC):
    """BlockRows in blocks."""

    layout: TableLayout

    @abstractmethod
    def mark(self, block: Range) -> int:
        """What a block was marked with that is there, whole; else 0."""

    @abstractmethod
    def put(self, block: Range, rows: BlockRows, mark: int = NOTHING_GIVEN) -> None:
        """Write a block."""

    def has(self, block: Range) -> bool:
        """Whether a block is there, whole."""
        return self.mark(block) != 0

    @abstractmethod
    def column(self, name: str) -> NDArray[Any]:
        """A whole column, in memory."""


@final
class InMemory(BlockTable):
    """Arrays."""

    def __init__(self, layout: TableLayout) -> None:
        self.layout = layout
        self._arrays = layout.missing(Range(0, 0, layout.rows))

    def mark(self, block: Range) -> int:
        return 0

    def put(self, block: Range, rows: BlockRows, mark: int = NOTHING_GIVEN) -> None:
        for name, x in self._arrays.items():
            x[block.start:block.stop] = rows[name]

    def column(self, name: str) -> NDArray[Any]:
        return self._arrays[name]


@final
class InParquet(BlockTable):
    """A folder of Parquet files, one a block; vectors are columns `q.joint`.

    What else is there begins with _ or a dot: readers of whole folders leave that alone.
    """

    def __init__(self, path: Path, layout: TableLayout) -> None:
        self._arrow = _imported("pyarrow")
        self._parquet = _imported("pyarrow.parquet")
        self.path, self.layout = path, layout
        path.mkdir(parents=True, exist_ok=True)
        told = path / ABOUT
        if told.exists():
            try:
                about = dict(json.loads(told.read_text(encoding="utf8")))
            except (TypeError, ValueError) as error:
                raise ArgumentError(f"out: {told} is damaged: {error}") from error
            _require_same(about, layout, path)
        elif any(not x.name.startswith(".") for x in path.iterdir()):   # of a writer that died
            raise ArgumentError(f"out: {path} is a folder with other files in it")
        else:
            with whole_file(told) as place:
                place.write_text(json.dumps(layout.told, indent=1), encoding="utf8")

    def _file(self, block: Range) -> Path:
        return self.path / f"part-{block.number:08d}.parquet"

    def mark(self, block: Range) -> int:
        if not self._file(block).exists():
            return 0
        try:
            about = self._parquet.read_schema(self._file(block)).metadata or {}
            return int(about.get(MARK, NOTHING_GIVEN))
        except (OSError, ValueError):           # damaged: as if it were not there
            return 0

    def put(self, block: Range, rows: BlockRows, mark: int = NOTHING_GIVEN) -> None:
        flat = {name: x for c in self.layout.columns for name, x in _columns(c, rows[c.name])}
        with whole_file(self._file(block)) as place:
            self._parquet.write_table(self._arrow.table(flat, metadata={MARK: str(mark)}), place)

    def column(self, name: str) -> NDArray[Any]:
        column = next(c for c in self.layout.columns if c.name == name)
        names = [n for n, _ in _columns(column, np.empty((0, *column.tail)))]
        found = self.layout.missing(Range(0, 0, self.layout.rows))[name].reshape(-1, len(names))
        for block in filter(self.has, self.layout.blocks):
            part = self._parquet.read_table(self._file(block), columns=names)
            found[block.start:block.stop] = np.column_stack([part[n].to_numpy() for n in names])
        return found if column.entries else found[:, 0]


def _columns(column: TableColumn, x: NDArray[Any]) -> list[tuple[str, NDArray[Any]]]:
    if not column.entries:
        return [(column.name, x)]
    return [(f"{column.name}.{entry}", x[:, k]) for k, entry in enumerate(column.entries)]


@final
class InZarr(BlockTable):
    """A Zarr group with an array for each column, one chunk a block, and a mark for each block."""

    def __init__(self, path: Path, layout: TableLayout) -> None:
        zarr = _imported("zarr")
        self.path, self.layout = path, layout
        if path.exists():
            try:
                self._group = zarr.open_group(str(path), mode="r+")
                told = self._group.attrs["about"]
            except Exception as error:
                raise ArgumentError(f"out: {path} exists and is no table of blocks") from error
            _require_same(told, layout, path)
            return
        beside = path.with_name(f".{path.name}.new")
        shutil.rmtree(beside, ignore_errors=True)
        group = zarr.open_group(str(beside), mode="w")
        group.attrs["about"] = layout.told
        for c in layout.columns:
            made = group.create_array(c.name, shape=(layout.rows, *c.tail),
                                      chunks=(layout.size, *c.tail), dtype=c.dtype,
                                      fill_value=c.nothing,
                                      dimension_names=("row", f"{c.name}_entry")[:1 + len(c.tail)])
            made.attrs["entries"] = list(c.entries)
        group.create_array("done", shape=(len(layout.blocks),), chunks=(1,), dtype="u8",
                           fill_value=0, dimension_names=("block",))
        beside.rename(path)
        self._group = zarr.open_group(str(path), mode="r+")

    def mark(self, block: Range) -> int:
        try:
            return int(self._group["done"][block.number])
        except (OSError, ValueError, RuntimeError):     # the disk was full, or a writer was killed
            return 0

    def put(self, block: Range, rows: BlockRows, mark: int = NOTHING_GIVEN) -> None:
        for c in self.layout.columns:
            self._group[c.name][block.start:block.stop] = rows[c.name]
        self._group["done"][block.number] = mark

    def column(self, name: str) -> NDArray[Any]:
        return np.asarray(self._group[name][:])


KINDS: Mapping[str, Callable[[Path, TableLayout], BlockTable]] = {
    ".zarr": InZarr, ".parquet": InParquet}


def table_at(out: str | Path | None, layout: TableLayout) -> BlockTable:
    """The table of a place: memory for None, else by how the name ends."""
    if out is None:
        return InMemory(layout)
    path = Path(out) if isinstance(out, str | Path) else Path()
    if path.suffix not in KINDS:
        raise ArgumentError(f"out must end in {' or '.join(KINDS)}, not {str(out)!r}")
    return KINDS[path.suffix](path, layout)


def filled_at(out: str | Path | None, layout: TableLayout, function: Callable[..., BlockRows],
              work: Work, given: Callable[[Any], tuple[Any, ...]] = lambda block: ()) -> tuple[
                  BlockTable, tuple[Aside, ...]]:
    """The table of a place with all its blocks, and those that were set aside.

    Nothing is written before the scheduler of an address has answered.
    """
    with joined(work.client) as client:
        try:
            table = table_at(out, layout)
        except OSError as error:
            raise ArgumentError(f"out: {out} cannot be written: {error}") from error
        return table, filled(table, function, replace(work, client=client), given)


def filled(table: BlockTable, function: Callable[..., BlockRows], work: Work,
           given: Callable[[Any], tuple[Any, ...]] = lambda block: ()) -> tuple[Aside, ...]:
    """Compute what a table does not have yet; the blocks that were set aside.

    On disk these stay open: the next run tries them again.
    """
    aside, marks, todo = list[Aside](), dict[Range, int](), list[Range]()
    for block in table.layout.blocks:
        mark = table.mark(block)
        if not mark:
            todo.append(block)
        elif mark != marked(given(block)):
            raise ArgumentError(f"out: its {block} was made of other data; give another place, or "
                                "delete it")

    def given_and_marked(block: Range) -> tuple[Any, ...]:
        data = given(block)
        marks[block] = marked(data)
        return data

    for block, rows in computed(function, todo, work, given_and_marked):
        if isinstance(rows, Aside):
            aside.append(rows)
            continue
        try:
            table.put(block, rows, marks.pop(block))
        except OSError as error:
            raise BlockError(f"{block} could not be written: {error}; the blocks before it are "
                              "there, and a run with the same out= goes on behind them") from error
    return tuple(aside)


def marked(data: tuple[Any, ...]) -> int:
    """A number for what was given for a block, which other data hardly share; never 0."""
    if not data:
        return NOTHING_GIVEN
    told = hashlib.sha256()
    for x in data:
        told.update(np.ascontiguousarray(x, dtype=float).tobytes())
    return int.from_bytes(told.digest()[:8], "big") | 1


def _require_same(told: Mapping[str, Any], layout: TableLayout, path: Path) -> None:
    other = [name for name, x in layout.told.items() if told.get(name) != x]
    if other:
        raise ArgumentError(f"out: {path} holds other work: its {', '.join(other)} differ; "
                            "give another place, or delete it")


def _imported(name: str) -> Any:
    from importlib import import_module
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependency(f"{name.partition('.')[0]} is not installed; "
                                "pip install 'closedform[cluster]'") from error
