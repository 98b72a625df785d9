"""One function over many blocks, by threads or by a Dask client, with the same results.

Blocks are cut before anybody knows who computes them, and come back in their order; so results do
not depend on workers, their number or their speed. At most `AHEAD` blocks for each thread are under
way or wait for an earlier one: what is not taken holds back what is not begun.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol, final

from closedform.applications.progress import Bar
from closedform.errors import ArgumentError, ClosedformError, MissingDependency

AHEAD = 2
"""Blocks for each thread that are begun and not yet taken."""
ASKED = 1.0
"""Seconds between questions to the scheduler about its workers."""
ANSWERS = 10.0
"""Seconds that the scheduler of an address has to answer."""
RETRIES = 2
"""How often a block is begun again whose worker fails it with no error of ours."""


class BlockError(ClosedformError):
    """A block could not be computed; the message names it."""


class Range(NamedTuple):
    """A block of rows."""

    number: int
    start: int
    stop: int

    def __str__(self) -> str:
        return f"block {self.number} (rows {self.start} to {self.stop - 1})"


class Aside(NamedTuple):
    """A block that was set aside, and why."""

    block: Range
    reason: str

    def __str__(self) -> str:
        return f"{self.block}: {self.reason}"


def ranges(rows: int, size: int) -> list[Range]:
    """Blocks of `size` rows, the last perhaps shorter."""
    return [Range(k, start, min(start + size, rows))
            for k, start in enumerate(range(0, rows, size))]


class Submits(Protocol):
    """A Dask client, as far as it is used here."""

    def submit(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any: ...
    def nthreads(self) -> dict[str, int]: ...


@final
@dataclass(frozen=True)
class Work:
    """How blocks are computed: by whom, and what is done with bad ones."""

    client: Submits | str | None = None     # a Dask client, the address of a scheduler, or threads
    aside: bool = False             # set bad blocks aside, or stop at the first
    what: str = "computing"         # in front of the bar
    named: bool = True              # put the block in front of a refusal, which else tells all

    def __post_init__(self) -> None:
        if not (self.client is None or isinstance(self.client, str) or (
                hasattr(self.client, "submit") and hasattr(self.client, "nthreads"))):
            raise ArgumentError("client must be a distributed.Client, the address of a scheduler "
                                f"or None, not {self.client!r}")


def computed(function: Callable[..., Any], blocks: Sequence[Any], work: Work,
             given: Callable[[Any], tuple[Any, ...]] = lambda block: ()) -> Iterator[
                 tuple[Any, Any]]:
    """(block, function(block, *given(block))) in the order of the blocks.

    `given` is asked here for what travels with a block, shortly before it is begun. Any error stops
    the rest, as a `BlockError` that names the block; or an `Aside` is in the place of its result.
    """
    with joined(work.client) as client, Bar(len(blocks), work.what) as bar:
        for block, future in _in_order(function, blocks, client, given):
            try:
                result = future.result()
                if isinstance(result, ClosedformError):
                    raise result
            except Exception as error:
                reason = _reason(error)
                if isinstance(error, ClosedformError) and not (work.aside or work.named):
                    raise
                if not work.aside:
                    raise BlockError(f"{block}: {reason}") from error
                result = Aside(block, reason)
            bar.advance()
            yield block, result


def _reason(error: Exception) -> str:
    """What went wrong, in words for one who does not know Dask."""
    name = type(error).__name__
    if name == "KilledWorker":
        return ("every worker that took it died, as of too little memory; give smaller blocks or "
                "workers more memory")
    if name in ("FutureCancelledError", "CancelledError"):
        return ("the scheduler is gone or has dropped it; run again, with the same out= what is "
                "done is not done again")
    return str(error) if isinstance(error, ClosedformError) else f"{name}: {error}"


def _in_order(function: Callable[..., Any], blocks: Sequence[Any], client: Submits | None,
              given: Callable[[Any], tuple[Any, ...]]) -> Iterator[tuple[Any, Any]]:
    """Futures of the blocks, in order, never more than a few of them begun."""
    def begun(begin: Callable[..., Any]) -> Callable[[Any], Any]:
        def begin_block(block: Any) -> Any:
            try:
                return begin(block, *given(block))
            except Exception as error:          # of this block, and told when its turn comes
                return _Now(_raise, (error,))
        return begin_block

    count = cores()
    if client is not None:
        yield from _taken(blocks, begun(_by_client(function, client)), _room(client))
    elif count == 1 or len(blocks) == 1:
        yield from _taken(blocks, begun(lambda *args: _Now(function, args)), lambda: 1)
    else:
        pool = ThreadPoolExecutor(count)
        try:
            yield from _taken(blocks, begun(partial(pool.submit, function)),
                              lambda: AHEAD * count)
        finally:
            pool.shutdown(cancel_futures=True)


def _room(client: Submits) -> Callable[[], int]:
    """How many blocks may be under way, by the workers there are: asked now and then, for each
    answer takes as long as a task costs. Few where the scheduler does not answer.
    """
    asked, room = -ASKED, AHEAD

    def now() -> int:
        nonlocal asked, room
        if time.monotonic() - asked >= ASKED:
            room = AHEAD
            with suppress(Exception):
                room = AHEAD * max(sum(client.nthreads().values()), 1)
            asked = time.monotonic()
        return room
    return now


def _raise(error: Exception) -> None:
    raise error


def _taken(blocks: Iterable[Any], begin: Callable[[Any], Any],
           most: Callable[[], int]) -> Iterator[tuple[Any, Any]]:
    waiting: deque[tuple[Any, Any]] = deque()
    rest = iter(blocks)
    try:
        while True:
            room = most() - len(waiting)
            for _ in range(room):
                block = next(rest, waiting)
                if block is waiting:
                    break
                waiting.append((block, begin(block)))
            if not waiting:
                return
            yield waiting.popleft()
    finally:
        for _, future in waiting:
            with suppress(Exception):       # of a client whose scheduler is gone: it is all over
                future.cancel()


@final
class _Now:
    """A block that is computed when its result is asked for."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.function, self.args = function, args

    def result(self) -> Any:
        return self.function(*self.args)

    def cancel(self) -> None:
        """Nothing has begun."""


def cores() -> int:
    """The cores this process may use; at most CLOSEDFORM_THREADS where that is set."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("CLOSEDFORM_THREADS", "")
    return min(here, int(limit)) if limit.isdecimal() and int(limit) > 0 else here


# ---------------------------------------------------------------------- Dask
@contextmanager
def joined(client: Submits | str | None) -> Iterator[Submits | None]:
    """The client of some work: one that is given, or of an address, and then only as long.

    Other work of the caller does not go to the scheduler of an address.
    """
    if not isinstance(client, str):
        yield client
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependency("Dask's distributed is not installed; "
                                "pip install 'closedform[cluster]'") from error
    try:
        own = Client(client, timeout=ANSWERS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ArgumentError(f"client: no scheduler answers at {client!r}: {error}") from error
    try:
        yield own
    finally:
        with suppress(Exception):               # the scheduler may be gone
            own.close()


def _by_client(function: Callable[..., Any], client: Submits) -> Callable[..., Any]:
    import cloudpickle
    packed = cloudpickle.dumps(function)
    return partial(client.submit, followed, packed, pure=False, retries=RETRIES)


def followed(packed: bytes, *args: Any) -> Any:
    """What a worker does: the function, unpacked by the first task that brings it.

    A refusal is a result: it is the same for every worker, and no reason to try again.
    """
    try:
        return _unpacked(packed)(*args)
    except ClosedformError as error:
        return error


@lru_cache(maxsize=16)
def _unpacked(packed: bytes) -> Any:
    import cloudpickle
    return cloudpickle.loads(packed)
