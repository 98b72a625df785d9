"""Compiled code on disk: private to the user, keyed by content, verified before use.

An entry is one file, named by its key: a header with the key and, for each section, length and
SHA-256; then the sections `interface` and `imports` (JSON), `code` (an object file) and `program`
(`encoding.py`). A file is written beside its place and renamed, so that a reader sees all of it or
nothing, whatever happens to the writer. A file that is damaged, belongs to someone else or to
another key is never used.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.resources
import json
import os
import stat
import struct
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MAGIC = b"closedform code 1\n\0\0\0\0\0\0"
SECTIONS = ("interface", "imports", "code", "program")
_HEAD = struct.Struct(f"<{len(MAGIC)}s32s" + "Q32s" * len(SECTIONS))
LIMIT = 1 << 30
"""Bytes that a cache may hold; the entries unused for longest go first."""
ABANDONED = 3600.0
"""Seconds after which a file that was never renamed is deleted."""


@dataclass(frozen=True)
class Cache:
    """A folder of compiled code, or none: then nothing is found and nothing kept."""

    folder: Path | None
    limit: int = LIMIT

    @classmethod
    def default(cls) -> Cache:
        """The user's cache folder, or what CLOSEDFORM_CACHE says: another folder, or `off`."""
        chosen = os.environ.get("CLOSEDFORM_CACHE")
        if chosen == "off":
            return cls(None)
        return cls(Path(chosen) if chosen else _user_cache() / "closedform")

    @property
    def usable(self) -> bool:
        """Whether there is a folder, and it is or can be made the user's own."""
        return self._private_folder(create=True) is not None

    def read(self, key: str, sections: tuple[str, ...] = SECTIONS[:3]) -> dict[str, bytes] | None:
        """Some sections of an entry, verified; None if there is no sound entry of this key."""
        folder = self._private_folder(create=False)
        if folder is None:
            return None
        try:
            with (folder / key).open("rb") as file:
                if not _is_ours(os.fstat(file.fileno())):
                    return None
                found = _verified(file, key, sections)
            if found is not None:
                os.utime(folder / key)
            return found
        except OSError:
            return None

    def write(self, key: str, sections: Mapping[str, bytes]) -> None:
        """Keep an entry. A cache that cannot be written is no error: the code is compiled again."""
        folder = self._private_folder(create=True)
        if folder is None:
            return
        parts = [sections.get(name, b"") for name in SECTIONS]
        table = [x for part in parts for x in (len(part), hashlib.sha256(part).digest())]
        head = _HEAD.pack(MAGIC, bytes.fromhex(key), *table)
        try:
            _write_and_rename(folder / key, b"".join((head, *parts)))
            self._make_room(folder)
        except OSError as error:
            warnings.warn(f"compiled code is not kept in {folder}: {error}", stacklevel=2)

    def _private_folder(self, create: bool) -> Path | None:
        """The folder, if it is the user's own and closed to others."""
        if self.folder is None:
            return None
        try:
            if create:
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                self.folder.mkdir(mode=0o700, exist_ok=True)
            status = self.folder.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            warnings.warn(f"the cache {self.folder} is not used: {error}", stacklevel=3)
            return None
        if not _is_private(status):
            warnings.warn(
                f"the cache {self.folder} is not used: it has mode "
                f"{stat.S_IMODE(status.st_mode):o} and owner {status.st_uid}; "
                "expected a folder of mode 700 that belongs to this user", stacklevel=3)
            return None
        return self.folder

    def _make_room(self, folder: Path) -> None:
        """Delete what was abandoned, and the oldest entries above the limit."""
        entries = []
        for path in folder.iterdir():
            try:
                status = path.stat()
            except FileNotFoundError:           # another process was faster
                continue
            if path.suffix == ".part" and time.time() - status.st_mtime > ABANDONED:
                path.unlink(missing_ok=True)
            elif len(path.name) == 64:
                entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.limit:
                break
            path.unlink(missing_ok=True)
            total -= size


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _is_private(status: os.stat_result) -> bool:
    """A folder of this user that no other may enter; where there are no owners, any folder."""
    if not stat.S_ISDIR(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (
        status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o077)


def _is_ours(status: os.stat_result) -> bool:
    """A plain file of this user that no other may write."""
    if not stat.S_ISREG(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (
        status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o022)


def _verified(file: BinaryIO, key: str, wanted: tuple[str, ...]) -> dict[str, bytes] | None:
    """The wanted sections, if header, key and their digests are right."""
    head = file.read(_HEAD.size)
    if len(head) != _HEAD.size:
        return None
    magic, owner, *table = _HEAD.unpack(head)
    if magic != MAGIC or owner.hex() != key:
        return None
    found = {}
    start = _HEAD.size
    for name, length, digest in zip(SECTIONS, table[::2], table[1::2], strict=True):
        if name in wanted:
            file.seek(start)
            content = file.read(min(length, LIMIT))
            if hashlib.sha256(content).digest() != digest:
                return None
            found[name] = content
        start += length
    return found


def _write_and_rename(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(suffix=".part", dir=path.parent)      # mode 600
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def entry_key(*parts: str) -> str:
    """The name of an entry: a digest of what its code depends on, this package's files included."""
    text = json.dumps([*parts, package_stamp(), sys.implementation.cache_tag, sys.platform])
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def package_stamp() -> str:
    """A digest that changes whenever a source file of this package does."""
    root = importlib.resources.files("closedform")
    stamps: list[tuple[str | int, ...]] = [(importlib.metadata.version("closedform"),)]
    if isinstance(root, Path):
        for path in sorted(root.rglob("*.py")):
            status = path.stat()
            stamps.append((str(path.relative_to(root)), status.st_size, status.st_mtime_ns))
    return hashlib.sha256(repr(stamps).encode()).hexdigest()
