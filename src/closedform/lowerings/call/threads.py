"""Large batches on several processor cores."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable

from closedform.errors import ArgumentError

ENOUGH_STATES = 4096
ENOUGH_WORK = 1 << 24
"""States times operations below which threads cost more than they bring: about a millisecond."""


def thread_count(states: int, operations: int, asked: int | None) -> int:
    """How many threads a batch gets: what is asked, else all cores if the batch is large.

    The environment variable CLOSEDFORM_THREADS limits what is chosen when nothing is asked.
    """
    if asked is not None:
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise ArgumentError(f"threads is {asked!r}; expected a positive whole number")
        return min(asked, max(states, 1))
    if states < ENOUGH_STATES or states * operations < ENOUGH_WORK:
        return 1
    return _limit(_cores())


def _limit(cores: int) -> int:
    text = os.environ.get("CLOSEDFORM_THREADS")
    if text is None:
        return cores
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentError(f"CLOSEDFORM_THREADS is {text!r}; expected a positive whole number")
    return min(cores, int(text))


def _cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(run: Callable[[int, int], None], states: int, count: int) -> None:
    """run(start, stop) over all states in `count` parts, the first in this thread.

    Threads are started anew: that takes some 50 µs, and nothing is left to survive a fork.
    """
    bounds = [states * k // count for k in range(count + 1)]
    others = [threading.Thread(target=run, args=part)
              for part in itertools.pairwise(bounds[1:])]
    for thread in others:
        thread.start()
    run(bounds[0], bounds[1])
    for thread in others:
        thread.join()
