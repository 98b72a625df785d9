"""Compiled code on disk: private to the user, keyed by content, verified before use.

An entry is one file, `closedform-` and its key: a header with the key and, for each section, length
and SHA-256; then the sections `interface` and `imports` (JSON), `code` (an object file) and
`program` (`encoding.py`). A file is written beside its place and renamed, so that a reader sees all
of it or nothing, whatever happens to the writer. A file that is damaged, belongs to someone else or
to another key is never used, and one that the cache did not make is never deleted.

Shared libraries lie beside the entries as `closedform-SHA256.so`: others load them by their path.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.resources
import json
import os
import re
import secrets
import struct
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from closedform.lowerings.store.private_folder import (
    PrivateFolder,
    is_out_of_reach,
    is_own_file,
    private_folder,
)
from closedform.version import __version__

MAGIC = b"closedform code 1\n\0\0\0\0\0\0"
SECTIONS = ("interface", "imports", "code", "program")
_HEAD = struct.Struct(f"<{len(MAGIC)}s32s" + "Q32s" * len(SECTIONS))
_OWN = re.compile(r"closedform-([0-9a-f]{64}(\.so)?|[0-9a-f]{16}\.part)")
_warned = set[str]()
OFF = ("off", "0", "no", "none", "false")
ON = ("", "on", "1", "yes", "default", "true")
LIMIT = 1 << 30
"""Bytes that a cache may hold; the entries unused for longest go first."""
ABANDONED = 3600.0
"""Seconds after which a file that was never renamed is deleted."""

T = TypeVar("T")


@dataclass(frozen=True)
class Cache:
    """A folder of compiled code, or none: then nothing is found and nothing kept."""

    folder: Path | None
    limit: int = LIMIT

    @classmethod
    def default(cls) -> Cache:
        """The user's cache folder, or what CLOSEDFORM_CACHE says: another folder, or `off`."""
        chosen = os.environ.get("CLOSEDFORM_CACHE", "").strip()
        chosen = "" if chosen.lower() in ON else chosen
        if chosen.lower() in OFF:
            return cls(None)
        try:
            return cls(Path(chosen).expanduser() if chosen else _user_cache() / "closedform")
        except RuntimeError as error:           # nobody's home, as of a user without an entry
            _warn_once(chosen or "for compiled code", error)
            return cls(None)

    @property
    def usable(self) -> bool:
        """Whether there is a folder, and it is or can be made the user's own."""
        return self._within(True, lambda folder: True) is not None

    def read(self, key: str, sections: tuple[str, ...] = SECTIONS[:3]) -> dict[str, bytes] | None:
        """Some sections of an entry, verified; None if there is no sound entry of this key."""
        return self._within(False, lambda folder: _read(folder, key, sections))

    def write(self, key: str, sections: Mapping[str, bytes]) -> None:
        """Keep an entry. A cache that cannot be written is no error: the code is compiled again."""
        parts = [sections.get(name, b"") for name in SECTIONS]
        table = [x for part in parts for x in (len(part), hashlib.sha256(part).digest())]
        head = _HEAD.pack(MAGIC, bytes.fromhex(key), *table)

        def keep(folder: PrivateFolder) -> None:
            _write_and_rename(folder, _file(key), b"".join((head, *parts)))
            _make_room(folder, self.limit)

        self._within(True, keep)

    def library(self, digest: str) -> Path | None:
        """Where the shared library of this SHA-256 lies, if it is sound and will stay so."""
        def found(folder: PrivateFolder) -> Path | None:
            name = f"{_file(digest)}.so"
            try:
                with os.fdopen(folder.open(name, os.O_RDONLY), "rb") as file:
                    own = is_own_file(os.fstat(file.fileno()))
                    sound = hashlib.sha256(file.read()).hexdigest() == digest
            except OSError:
                return None
            if not (own and sound and is_out_of_reach(folder.path)):
                return None
            with suppress(OSError):
                folder.touch(name)
            return folder.path.absolute() / name

        return self._within(False, found)

    def keep_library(self, content: bytes) -> Path | None:
        """Where a shared library is kept from now on; None where it would not be safe."""
        digest = hashlib.sha256(content).hexdigest()

        def keep(folder: PrivateFolder) -> None:
            _write_and_rename(folder, f"{_file(digest)}.so", content)
            _make_room(folder, self.limit)

        self._within(True, keep)
        return self.library(digest)

    def _within(self, create: bool, use: Callable[[PrivateFolder], T]) -> T | None:
        """What comes of the use of the folder; None if there is none that is the user's own."""
        if self.folder is None:
            return None
        try:
            with private_folder(self.folder, create) as folder:
                return use(folder)
        except OSError as error:
            if create or not isinstance(error, FileNotFoundError):
                _warn_once(str(self.folder), error)
            return None


def _warn_once(name: str, error: Exception) -> None:
    """What is wrong with a cache hardly changes, and hundreds of kernels may ask for it."""
    if name not in _warned:
        warnings.warn(f"the cache {name} is not used: {error}", stacklevel=4)
        _warned.add(name)


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _file(key: str) -> str:
    return f"closedform-{key}"


def _read(folder: PrivateFolder, key: str, sections: tuple[str, ...]) -> dict[str, bytes] | None:
    try:
        with os.fdopen(folder.open(_file(key), os.O_RDONLY), "rb") as file:
            found = _verified(file, key, sections)
    except OSError:
        return None
    if found is not None:
        with suppress(OSError):             # a folder that can only be read
            folder.touch(_file(key))
    return found


def _verified(file: BinaryIO, key: str, wanted: tuple[str, ...]) -> dict[str, bytes] | None:
    """The wanted sections, if owner, header, key, length and their digests are right."""
    status = os.fstat(file.fileno())
    if not is_own_file(status):
        return None
    head = file.read(_HEAD.size)
    if len(head) != _HEAD.size:
        return None
    magic, owner, *table = _HEAD.unpack(head)
    if magic != MAGIC or owner.hex() != key or status.st_size != _HEAD.size + sum(table[::2]):
        return None
    found = {}
    start = _HEAD.size
    for name, length, digest in zip(SECTIONS, table[::2], table[1::2], strict=True):
        if name in wanted:
            file.seek(start)
            content = file.read(length)
            if hashlib.sha256(content).digest() != digest:
                return None
            found[name] = content
        start += length
    return found


def _write_and_rename(folder: PrivateFolder, name: str, content: bytes) -> None:
    temporary = f"closedform-{secrets.token_hex(8)}.part"
    handle = folder.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        folder.rename(temporary, name)
    except BaseException:
        folder.remove(temporary)
        raise


def _make_room(folder: PrivateFolder, limit: int) -> None:
    """Delete what was abandoned, and the oldest entries above the limit: files of our own only."""
    entries = []
    for name in filter(_OWN.fullmatch, folder.names()):
        try:
            status = folder.status(name)
        except FileNotFoundError:           # another process was faster
            continue
        if not is_own_file(status):
            continue
        if not name.endswith(".part"):
            entries.append((status.st_mtime, status.st_size, name))
        elif time.time() - status.st_mtime > ABANDONED:
            folder.remove(name)
    total = sum(size for _, size, _ in entries)
    for _, size, name in sorted(entries):
        if total <= limit:
            break
        folder.remove(name)
        total -= size


def entry_key(*parts: str) -> str:
    """The name of an entry: a digest of what its code depends on, this package's files included."""
    text = json.dumps([*parts, package_stamp(), sys.implementation.cache_tag, sys.platform])
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def package_stamp() -> str:
    """A digest that changes whenever a source file of this package does."""
    root = importlib.resources.files("closedform")
    stamps: list[tuple[str | int, ...]] = [(__version__,)]
    if isinstance(root, Path):
        for path in sorted(root.rglob("*.py")):
            status = path.stat()
            stamps.append((str(path.relative_to(root)), status.st_size, status.st_mtime_ns))
    return hashlib.sha256(repr(stamps).encode()).hexdigest()
