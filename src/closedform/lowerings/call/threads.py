"""Large batches on several processor cores, by threads that stay."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue

from closedform.errors import ArgumentError

ENOUGH_STATES = 4096
ENOUGH_WORK = 1 << 24
"""States times operations below which threads cost more than they bring: about a millisecond."""
PART_WORK = 1 << 20
"""The same for one thread of a batch: some 60 µs, three times what it takes to wake it."""

POOLS = ("ThreadPoolExecutor-", "Dask-")
"""In the names of threads of Python's pools, which Dask's local scheduler uses, and of its workers,
where the worker's own name may stand in front."""


def thread_count(states: int, operations: int, asked: int | None) -> int:
    """How many threads a batch gets: at most what is asked, else all cores if the batch is large.

    None gets less than `PART_WORK`, and there is one where threads of a pool call. The environment
    variable CLOSEDFORM_THREADS limits what is chosen when nothing is asked.
    """
    if asked is not None:
        if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
            raise ArgumentError(f"threads is {asked!r}; expected a positive whole number")
        return max(min(asked, states, states * operations // PART_WORK), 1)
    if states < ENOUGH_STATES or states * operations < ENOUGH_WORK or _in_a_pool():
        return 1
    return cores()


def _in_a_pool() -> bool:
    """Whether this thread is one of a pool (Python's, or of a Dask worker), which has the cores.

    Threads of both would multiply.
    """
    name = threading.current_thread().name
    return any(pool in name for pool in POOLS)


def cores() -> int:
    """The cores this process may use; at most CLOSEDFORM_THREADS where that is set."""
    text = os.environ.get("CLOSEDFORM_THREADS")
    if text is None:
        return _cores()
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentError(f"CLOSEDFORM_THREADS is {text!r}; expected a positive whole number")
    return min(_cores(), int(text))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


BatchPart = tuple[Callable[[int, int], None], tuple[int, int], "SimpleQueue[BaseException | None]"]
"""A function, the states it is for, and where to say that it is done."""


class _Pool:
    """Threads that wait for parts of batches, as many as were ever wanted at once."""

    def __init__(self) -> None:
        self.parts: SimpleQueue[BatchPart] = SimpleQueue()
        self.size, self._growing = 0, threading.Lock()

    def grow(self, size: int) -> None:
        with self._growing:
            for k in range(self.size, size):
                threading.Thread(target=self._work, name=f"closedform-{k}", daemon=True).start()
            self.size = max(self.size, size)

    def _work(self) -> None:
        while True:
            run, part, done = self.parts.get()
            try:
                run(*part)
            except BaseException as error:
                done.put(error)
            else:
                done.put(None)
            del run, part, done                 # memory is not held while waiting


_pool = _Pool()


def _new_pool() -> None:
    """A child of a fork has none of its parent's threads."""
    global _pool
    _pool = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_pool)


def in_threads(run: Callable[[int, int], None], states: int, count: int) -> None:
    """run(start, stop) over all states in `count` parts, the first in this thread.

    The threads stay: to start 16 anew took 1.4 ms on a server, to wake them a tenth of that.
    """
    bounds = [states * k // count for k in range(count + 1)]
    pool, done = _pool, SimpleQueue[BaseException | None]()
    pool.grow(count - 1)
    others = list(itertools.pairwise(bounds[1:]))
    for part in others:
        pool.parts.put((run, part, done))
    try:
        run(bounds[0], bounds[1])
    finally:
        errors = [done.get() for _ in others]
    for error in errors:
        if error is not None:
            raise error
