"""Raw messages of rosbag2 files: SQLite (.db3) by Python's own library, MCAP by walking records.

An index or metadata.yaml is not needed. MCAP: magic, then records of a byte that tells the kind,
the length (u64) and the content; a chunk holds records, compressed or not.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import BinaryIO, NamedTuple

from closedform.errors import FormatError, MissingDependency

MAGIC = b"\x89MCAP0\r\n"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
SCHEMA, CHANNEL, MESSAGE, CHUNK, DATA_END = 3, 4, 5, 6, 15
_RECORD = struct.Struct("<BQ")
_MESSAGE = struct.Struct("<HIQQ")
_LENGTH = struct.Struct("<I")
FOOTER = 37
"""Bytes of the footer's record and the magic behind it."""
LARGEST = 1 << 32
"""Bytes of a record beyond which its length is taken for damage."""


class Topic(NamedTuple):
    """What a bag says of a topic: messages' type, and its definition where the bag has it."""

    name: str
    type: str
    encoding: str        # of the messages: "cdr"
    definition: str      # text of the .msg files; empty where unknown


class Messages(NamedTuple):
    """Messages of one topic in the order of the file, with the times (ns) they were received."""

    times: list[int]
    data: list[bytes]


def topics(path: Path) -> dict[str, Topic]:
    """Topics of a bag file, by name."""
    return _sqlite_topics(path) if path.suffix == ".db3" else dict(_mcap_topics(path))


def batches(path: Path, topic: str, rows: int) -> Iterator[Messages]:
    """Messages of a topic, so many at a time."""
    return (_sqlite_batches if path.suffix == ".db3" else _mcap_batches)(path, topic, rows)


# ---------------------------------------------------------------------- SQLite
def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)


def _sqlite_topics(path: Path) -> dict[str, Topic]:
    try:
        with _connect(path) as db:
            rows = db.execute("SELECT name, type, serialization_format FROM topics").fetchall()
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
            texts = dict(db.execute("SELECT topic_type, encoded_message_definition FROM "
                                    "message_definitions WHERE encoding = 'ros2msg'")
                         if "message_definitions" in tables else ())
    except sqlite3.DatabaseError as error:
        raise FormatError(f"{path}: no whole rosbag2 file: {error}") from None
    return {name: Topic(name, kind, encoding, texts.get(kind, ""))
            for name, kind, encoding in rows}


def _sqlite_batches(path: Path, topic: str, rows: int) -> Iterator[Messages]:
    try:
        with _connect(path) as db:
            found = db.execute("SELECT timestamp, data FROM messages WHERE topic_id IN (SELECT id "
                               "FROM topics WHERE name = ?) ORDER BY timestamp, id", (topic,))
            while some := found.fetchmany(rows):
                yield Messages([time for time, _ in some],
                               _messages([data for _, data in some], path))
    except sqlite3.DatabaseError as error:
        raise FormatError(f"{path}: the bag is cut off or damaged: {error}") from None


def _messages(data: list[bytes], path: Path) -> list[bytes]:
    """Messages as they are, or out of their own compression."""
    if not data[0].startswith(ZSTD_MAGIC):
        return data
    return [_decompressed(one, "zstd", path) for one in data]


# ---------------------------------------------------------------------- MCAP
def _mcap_records(path: Path) -> Iterator[tuple[int, bytes]]:
    """Records outside of chunks, and chunks; up to the end of the data."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise FormatError(f"{path}: no MCAP file: it does not begin with MCAP's magic")
        while True:
            head = _exactly(file, _RECORD.size, path)
            kind, size = _RECORD.unpack(head)
            if kind == DATA_END:
                return
            if size > LARGEST:
                raise FormatError(f"{path}: damaged: a record of {size} bytes at byte "
                                  f"{file.tell()}")
            yield kind, _exactly(file, size, path)


def _exactly(file: BinaryIO, size: int, path: Path) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise FormatError(f"{path}: the bag is cut off: it ends inside a record, at byte "
                          f"{file.tell()}; `mcap recover` mends such files")
    return data


def _mcap_topics(path: Path) -> Iterator[tuple[str, Topic]]:
    """Of the summary at the end where there is one, else of the whole file."""
    schemas: dict[int, tuple[str, str]] = {0: ("", "")}
    for kind, content in _summary(path) or _flat(path):
        if kind == SCHEMA:
            name, at = _string(content, 2)
            encoding, at = _string(content, at)
            text, _ = _string(content, at)
            schemas[int.from_bytes(content[:2], "little")] = (
                name, text if encoding == "ros2msg" else "")
        elif kind == CHANNEL:
            type_, definition = schemas[int.from_bytes(content[2:4], "little")]
            topic, at = _string(content, 4)
            yield topic, Topic(topic, type_, _string(content, at)[0], definition)


def _summary(path: Path) -> list[tuple[int, bytes]]:
    """Schemas and channels that the summary repeats; the footer tells where it begins."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise FormatError(f"{path}: no MCAP file: it does not begin with MCAP's magic")
        size = file.seek(0, 2)
        file.seek(max(size - FOOTER, 0))
        footer = file.read()
        if footer[-8:] != MAGIC or len(footer) < FOOTER:
            raise FormatError(f"{path}: the bag is cut off: it does not end with MCAP's magic; "
                              "`mcap recover` mends such files")
        start = int.from_bytes(footer[9:17], "little")
        file.seek(start or size)
        content = file.read()[:-FOOTER]
    return [x for x in _records(content) if x[0] in (SCHEMA, CHANNEL)]


def _flat(path: Path) -> Iterator[tuple[int, bytes]]:
    """Records outside and inside of chunks."""
    for kind, content in _mcap_records(path):
        if kind == CHUNK:
            yield from _records(_uncompressed(content, path))
        else:
            yield kind, content


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _RECORD.size <= len(data):
        kind, size = _RECORD.unpack_from(data, at)
        at += _RECORD.size + size
        yield kind, data[at - size:at]


def _mcap_batches(path: Path, topic: str, rows: int) -> Iterator[Messages]:
    channels: set[int] = set()
    batch = Messages([], [])
    for kind, content in _mcap_records(path):
        if kind == CHUNK:
            _collect(_uncompressed(content, path), topic, channels, batch, path)
        elif kind in (CHANNEL, MESSAGE):
            _collect(_RECORD.pack(kind, len(content)) + content, topic, channels, batch, path)
        while len(batch.data) >= rows:
            yield Messages(batch.times[:rows], batch.data[:rows])
            batch = Messages(batch.times[rows:], batch.data[rows:])
    if batch.data:
        yield batch


def _collect(records: bytes, topic: str, channels: set[int], batch: Messages, path: Path) -> None:
    """Messages of the topic out of records that lie one behind the other."""
    at, end = 0, len(records)
    record, message = _RECORD.unpack_from, _MESSAGE.unpack_from
    times, data = batch
    try:
        while at < end:
            kind, size = record(records, at)
            start = at + 9
            at = start + size
            if kind == MESSAGE:
                channel, _, received, _ = message(records, start)
                if channel in channels:
                    times.append(received)
                    data.append(records[start + 22:at])
            elif kind == CHANNEL and _string(records, start + 4)[0] == topic:
                channels.add(int.from_bytes(records[start:start + 2], "little"))
    except struct.error:
        raise FormatError(f"{path}: damaged: a record ends outside of its chunk") from None


def _uncompressed(chunk: bytes, path: Path) -> bytes:
    """The records of a chunk: times (16), size (8), checksum (4), compression, length, data."""
    size = int.from_bytes(chunk[16:24], "little")
    compression, at = _string(chunk, 28)
    data = chunk[at + 8:]
    if not compression:
        return data
    raw = _decompressed(data, compression, path)
    if len(raw) != size:
        raise FormatError(f"{path}: a chunk has {len(raw)} bytes where {size} were announced")
    return raw


def _decompressed(data: bytes, compression: str, path: Path) -> bytes:
    try:
        if compression == "lz4":
            raw: bytes = import_module("lz4.frame").decompress(data)
        elif compression == "zstd":
            raw = _zstd().decompress(data)
        else:
            raise FormatError(f"{path}: chunks compressed by {compression!r} cannot be read; "
                              "lz4 and zstd can")
    except ImportError:
        raise MissingDependency(f"{path} is compressed by {compression}, which needs its library: "
                                "pip install 'closedform[identify]'") from None
    except FormatError:
        raise
    except Exception as error:      # each library has errors of its own
        raise FormatError(f"{path}: a compressed part is damaged: {error}") from None
    return raw


def _zstd() -> ModuleType:
    try:
        return import_module("compression.zstd")        # Python 3.14
    except ImportError:
        return import_module("backports.zstd")


def _string(data: bytes, at: int) -> tuple[str, int]:
    """A text behind its length, and where it ends."""
    start = at + 4
    stop = start + _LENGTH.unpack_from(data, at)[0]
    return data[start:stop].decode("utf8", "replace"), stop
