"""A folder of the user's own, opened so that nobody can put another one in its place.

The way there is walked step by step, each from the folder before it. A link on the way is followed
if it belongs to the user or to root, as `~/.cache -> /scratch/me` does; in a place that many may
write, one that somebody else made would lead into any folder of ours. Names are looked up within
the open folder and are never followed.

Windows cannot open folders, and its files have no owner of this kind: there it is the path alone.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

MOST_LINKS = 40
_FOLDER = getattr(os, "O_DIRECTORY", 0)
_ITSELF = getattr(os, "O_NOFOLLOW", 0)
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | _FOLDER | _ITSELF     # others' may not be readable


@final
@dataclass(frozen=True)
class PrivateFolder:
    """An open folder; it is closed with the block of `private_folder`."""

    path: Path
    descriptor: int | None

    def names(self) -> list[str]:
        place = self.path if self.descriptor is None else self.descriptor
        return os.listdir(place)  # noqa: PTH208 (a path knows no descriptors)

    def status(self, name: str) -> os.stat_result:
        """Of a file itself, not of what a link leads to."""
        return os.stat(self._place(name), dir_fd=self.descriptor, follow_symlinks=False)

    def open(self, name: str, flags: int) -> int:
        """A descriptor of a file that is no link; one that is made is the user's alone."""
        binary = getattr(os, "O_BINARY", 0)
        return os.open(self._place(name), flags | _ITSELF | binary, 0o600, dir_fd=self.descriptor)

    def touch(self, name: str) -> None:
        os.utime(self._place(name), dir_fd=self.descriptor)

    def rename(self, name: str, other: str) -> None:
        os.replace(self._place(name), self._place(other), src_dir_fd=self.descriptor,
                   dst_dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):           # another process was faster
            os.unlink(self._place(name), dir_fd=self.descriptor)

    def _place(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)


@contextmanager
def private_folder(path: Path, create: bool) -> Iterator[PrivateFolder]:
    """The folder, made where asked for; an OSError if it is missing or not the user's own."""
    if os.open not in os.supports_dir_fd:
        if create:
            path.mkdir(parents=True, exist_ok=True)
        yield PrivateFolder(path, None)
        return
    descriptor = _walked(path.absolute(), create)
    try:
        status = os.fstat(descriptor)
        mode = stat.S_IMODE(status.st_mode)
        if status.st_uid != os.getuid() or mode & 0o022:
            raise PermissionError(f"it has mode {mode:o} and owner {status.st_uid}; expected a "
                                  "folder that belongs to this user and that no other may write")
        yield PrivateFolder(path, descriptor)
    finally:
        os.close(descriptor)


def is_own_file(status: os.stat_result) -> bool:
    """A plain file of this user that no other may write."""
    if not stat.S_ISREG(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (
        status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o022)


def is_out_of_reach(path: Path) -> bool:
    """Whether nobody but root and the user can put another folder in its place.

    For what is given away as a path: all on the way belongs to them, and others may not write
    there, or not rename what is not theirs.
    """
    if not hasattr(os, "getuid"):
        return True
    for place in (real := path.resolve(), *real.parents):
        status = place.stat()
        others = stat.S_IMODE(status.st_mode) & 0o022
        if status.st_uid not in (0, os.getuid()) or (others and not status.st_mode & stat.S_ISVTX):
            return False
    return True


def _walked(path: Path, create: bool) -> int:
    """A descriptor of the folder at the end of a path."""
    names, links = list(reversed(path.parts)), 0
    at = os.open("/", _STEP)
    try:
        while names:
            name = names.pop()
            try:
                status = os.stat(name, dir_fd=at, follow_symlinks=False)
            except FileNotFoundError:
                if not create:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(name, 0o700, dir_fd=at)
                names.append(name)
                continue
            if stat.S_ISLNK(status.st_mode):
                links += 1
                if links > MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
                names += reversed(Path(_target(name, at, status)).parts)
                continue
            step = os.open(name, _STEP, dir_fd=at)      # if it became a link, an error
            os.close(at)
            at = step
        return os.open(".", os.O_RDONLY | _FOLDER, dir_fd=at)
    finally:
        os.close(at)


def _target(name: str, at: int, status: os.stat_result) -> str:
    """Where a link leads to that the user or root made."""
    if status.st_uid not in (0, os.getuid()):
        raise PermissionError(f"the link {name} in its path belongs to user {status.st_uid}")
    target = os.readlink(name, dir_fd=at)
    again = os.stat(name, dir_fd=at, follow_symlinks=False)
    if (again.st_ino, again.st_ctime_ns) != (status.st_ino, status.st_ctime_ns):
        raise PermissionError(f"the link {name} in its path changes")
    return target
