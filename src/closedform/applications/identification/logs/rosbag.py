"""rosbag2: messages of one topic as a table, whose columns are joints' numbers or fields.

A list of names in a message (`name`, `joint_names`) names the numbers of lists of its length:
a JointState has the columns `joint.position`, `joint.velocity`, `joint.effort`. Other numbers are
called by their path: `wrench.force.x`, `data[3]`. Stamps are columns in seconds, counted from
the first message; `received` is when the bag got a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import final

import numpy as np

from closedform.applications.identification.logs import bag_files, cdr
from closedform.applications.identification.logs.bag_files import Topic
from closedform.applications.identification.logs.cdr import Definitions, MessageLayout
from closedform.arrays import Floats
from closedform.errors import (
    ArgumentError,
    ClosedformError,
    FormatError,
    MissingDependency,
    suggestion,
)

JOINT_STATES = "sensor_msgs/msg/JointState"
NAMES = ("name", "names", "joint_names")
RECEIVED, STAMP = "received", "t"
PEEK = 1000
"""Messages at the beginning from which the columns are known: several nodes may write a topic."""


@final
@dataclass(frozen=True, eq=False)
class Bag:
    """A topic of bag files, in the order of the files."""

    files: tuple[Path, ...]
    topic: Topic
    definitions: Definitions
    names: tuple[str, ...]
    groups: Mapping[str, range]
    start: int                          # ns, where times are counted from
    writers: tuple[frozenset[str], ...]     # columns of the different messages of the topic
    notes: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    def blocks(self, columns: Sequence[int], rows: int) -> Iterator[Floats]:
        wanted = [self.names[i] for i in columns]
        layouts: list[tuple[MessageLayout, Mapping[str, Cell]]] = []
        for file in self.files:
            for times, data in bag_files.batches(file, self.topic.name, rows):
                block = np.full((len(data), len(wanted)), np.nan)
                present = np.zeros(len(data), dtype=bool)
                lengths = np.fromiter(map(len, data), np.int64, len(data))
                for length in np.unique(lengths):
                    rows_at = np.flatnonzero(lengths == length)
                    self._fill(block, present, rows_at, _Raw(times, data), wanted, layouts)
                if present.any():
                    yield block[present]

    def _fill(self, block: Floats, present: np.ndarray, at: np.ndarray, raw: _Raw,
              wanted: Sequence[str],
              layouts: list[tuple[MessageLayout, Mapping[str, Cell]]]) -> None:
        """Rows of messages of one length; each layout is found once and serves all that fit."""
        left, bytes_ = at, cdr.matrix([raw.data[i] for i in at])
        while len(left):
            known = (x for x in layouts if len(x[0].sample) == bytes_.shape[1])
            found, cells = next((x for x in known if x[0].fits(bytes_[:1])[0]), (None, {}))
            if found is None:
                found = self._layout(raw.data[left[0]])
                cells = cells_of(found)
                layouts.append((found, cells))
            fits = found.fits(bytes_)
            if all(name in cells or name == RECEIVED for name in wanted):
                rows, some = left[fits], bytes_[fits]
                present[rows] = True
                block[rows] = self._numbers(found, cells, some, raw.received(rows, self.start),
                                            wanted)
            left, bytes_ = left[~fits], bytes_[~fits]

    def _numbers(self, found: MessageLayout, cells: Mapping[str, Cell], some: np.ndarray,
                 received: Floats, wanted: Sequence[str]) -> Floats:
        fields: dict[str, np.ndarray] = {}
        columns = []
        for name in wanted:
            if name == RECEIVED:
                columns.append(received)
                continue
            path, i = cells[name]
            if path not in fields:
                fields[path] = (found.numbers(some, path) if path in found.places
                                else cdr.seconds(found, some, path, self.start))
            columns.append(fields[path] if i is None else fields[path][:, i])
        return np.stack(columns, axis=1).astype(float)

    def _layout(self, data: bytes) -> MessageLayout:
        try:
            return cdr.layout(data, self.definitions)
        except FormatError as error:
            raise FormatError(f"{self.files[0]}, topic {self.topic.name}: {error}") from None


Cell = tuple[str, int | None]
"""A field, and the number of the entry where it is a list."""


@final
@dataclass(frozen=True)
class _Raw:
    times: Sequence[int]
    data: Sequence[bytes]

    @cached_property
    def nanoseconds(self) -> np.ndarray:
        return np.array(self.times, np.int64)

    def received(self, rows: np.ndarray, start: int) -> Floats:
        return np.asarray((self.nanoseconds[rows] - start) * 1e-9)


def cells_of(found: MessageLayout) -> dict[str, Cell]:
    """Names of a message's columns, with where they stand."""
    cells: dict[str, Cell] = {}
    lists = {path: names for path, names in found.texts.items()
             if path.rpartition(".")[2] in NAMES and len(names)}
    for path, (_, _, count) in found.places.items():
        parent, _, last = path.rpartition(".")
        if last == "nanosec":
            continue
        if last == "sec":
            cells[STAMP if parent == "header.stamp" else parent] = (parent, None)
        elif count is None:
            cells[path] = (path, None)
        else:
            names = next((names for at, names in lists.items() if len(names) == count
                          and path.startswith(at.rpartition(".")[0])), None)
            of = f"{parent}." if parent else ""
            cells |= {f"{path}[{i}]" if names is None else f"{of}{names[i]}.{last}": (path, i)
                      for i in range(count)}
    return cells


# ---------------------------------------------------------------------- opening
def open_bag(path: Path, topic: str | None) -> Bag:
    """A bag's topic: the one that is named, or the only one of JointStates."""
    files, every = bag_files_of(path), bag_topics(path)
    chosen = _chosen(every, topic, path)
    if chosen.encoding != "cdr":
        raise FormatError(f"{path}: messages of {chosen.name} are encoded as "
                          f"{chosen.encoding!r}; cdr can be read")
    definitions = _definitions(chosen, path)
    head = next((batch for file in files
                 for batch in bag_files.batches(file, chosen.name, PEEK)), None)
    if head is None:
        raise FormatError(f"{path}: topic {chosen.name} has no messages")
    try:
        layouts = _layouts(head.data, definitions)
    except FormatError as error:
        raise FormatError(f"{path}, topic {chosen.name}: {error}") from None
    cells = {name: cell for found in layouts for name, cell in cells_of(found).items()}
    notes = [f"topic {chosen.name} of {chosen.type}"]
    start = _first_stamp(layouts[0], head.data[0])
    if not start:
        start = head.times[0]
        if cells.pop(STAMP, None):
            notes.append("stamps of messages are zero: times are those of receiving")
    if len(layouts) > 1:
        notes.append("messages of the topic differ in their fields' sizes or names: those "
                     "without columns that are needed are left out, and columns of different "
                     "messages are taken at the times of those that have the most of them")
    names = (*cells, RECEIVED)
    writers = dict.fromkeys(frozenset(cells_of(found)) & {*cells} | {RECEIVED} for found in layouts)
    return Bag(files, chosen, definitions, names, groups_of(names), start, tuple(writers),
               tuple(notes))


def _first_stamp(found: MessageLayout, data: bytes) -> int:
    """The stamp of a message's header in ns; 0 without one."""
    if "header.stamp.sec" not in found.places:
        return 0
    whole, rest = (int(found.numbers(cdr.matrix([data]), f"header.stamp.{part}")[0])
                   for part in ("sec", "nanosec"))
    return whole * 1_000_000_000 + rest


def _layouts(messages: Sequence[bytes], definitions: Definitions) -> list[MessageLayout]:
    """The different layouts among the messages, in their order."""
    found: list[MessageLayout] = []
    for data in messages:
        if not any(len(x.sample) == len(data) and x.fits(cdr.matrix([data]))[0] for x in found):
            found.append(cdr.layout(data, definitions))
    return found


def groups_of(names: Sequence[str]) -> dict[str, range]:
    """Columns `data[0]`, `data[1]`, … together are `data`."""
    groups: dict[str, range] = {}
    for i, name in enumerate(names):
        stem, bracket, _ = name.rpartition("[")
        if bracket and name.endswith("]"):
            groups[stem] = range(groups[stem].start if stem in groups else i, i + 1)
    return groups


def bag_topics(path: Path) -> dict[str, Topic]:
    """The topics of a bag, by name."""
    return {name: t for file in bag_files_of(path) for name, t in bag_files.topics(file).items()}


def bag_files_of(path: Path) -> tuple[Path, ...]:
    if not path.is_dir():
        return (path,)
    found = sorted((p for p in path.iterdir() if p.suffix in (".db3", ".mcap")),
                   key=lambda p: (len(p.name), p.name))
    if not found:
        raise FormatError(f"{path}: a folder without .db3 and .mcap files")
    return tuple(found)


def _chosen(topics: Mapping[str, Topic], topic: str | None, path: Path) -> Topic:
    listed = ", ".join(f"{t.name} ({t.type})" for t in topics.values()) or "none"
    if topic is not None:
        if topic not in topics:
            raise ArgumentError(f"{path}: no topic {topic!r}; {suggestion(topic, topics)}")
        return topics[topic]
    states = [t for t in topics.values() if t.type == JOINT_STATES]
    if len(states) > 1:
        states = [t for t in states if t.name == "/joint_states"]
    if len(states) != 1:
        raise ArgumentError(f"{path}: say which topic to read: topic=…; there are {listed}")
    return states[0]


def _definitions(topic: Topic, path: Path) -> Definitions:
    if topic.definition:
        return cdr.parsed(topic.definition)
    if topic.type == JOINT_STATES:
        return cdr.parsed(cdr.JOINT_STATE)
    try:
        types = import_module("rosbags.typesys")
    except ImportError:
        raise MissingDependency(f"{path} has no definition of {topic.type}: its fields are told "
                                "by rosbags: pip install 'closedform[identify]'") from None
    store = types.get_typestore(types.Stores.LATEST)
    try:
        return cdr.parsed(store.generate_msgdef(topic.type, ros_version=2)[0])
    except (KeyError, ValueError, ClosedformError):
        raise FormatError(f"{path}: the bag has no definition of {topic.type}, and it is none of "
                          "ROS 2's own messages") from None
