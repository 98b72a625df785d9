"""A sign of life while something takes long."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 1.0
"""Seconds before anything is shown."""


@contextlib.contextmanager
def compiling(name: str) -> Iterator[None]:
    """Shows on a terminal that `name` is being recorded or compiled, after a second."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.status import Status

    status = Status(f"compiling {name}", console=Console(stderr=True))
    timer = threading.Timer(PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def counted(items: Sequence[T], what: str) -> Iterator[T]:
    """The items, with a bar on a terminal."""
    if not sys.stderr.isatty() or len(items) < 2:
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, what, console=Console(stderr=True), transient=True)
