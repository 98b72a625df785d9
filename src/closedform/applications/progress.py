"""A sign of life while something takes long."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

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


class Bar:
    """A bar on a terminal for work whose parts come in from elsewhere; nothing on a pipe."""

    def __init__(self, total: int, what: str) -> None:
        self._shown = None
        if sys.stderr.isatty() and total > 1:
            from rich.console import Console
            from rich.progress import Progress

            self._shown = Progress(console=Console(stderr=True), transient=True)
            self._task = self._shown.add_task(what, total=total)

    def __enter__(self) -> Bar:
        if self._shown is not None:
            self._shown.start()
        return self

    def advance(self) -> None:
        if self._shown is not None:
            self._shown.advance(self._task)

    def __exit__(self, *_: object) -> None:
        if self._shown is not None:
            self._shown.stop()
