"""One function over many blocks, by threads or by a Dask client, with the same results.

Blocks are cut before anybody knows who computes them, and come back in their order; so results do
not depend on workers, their number or their speed. At most `AHEAD` blocks for each thread are under
way or wait for an earlier one: what is not taken holds back what is not begun.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, final

from closedform.applications.cluster.client import AHEAD, Submits, by_client, joined, room
from closedform.applications.progress import Bar
from closedform.errors import ArgumentError, ClosedformError
from closedform.lowerings.call.threads import cores


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
        if getattr(self.client, "asynchronous", False):
            raise ArgumentError("client is asynchronous, and blocks are waited for; give one made "
                                "without asynchronous=True, or the address of its scheduler")
        if getattr(self.client, "status", None) == "closed":
            raise ArgumentError("client is closed")


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
        yield from _taken(blocks, begun(by_client(function, client)), room(client))
    elif count == 1 or len(blocks) == 1:
        yield from _taken(blocks, begun(lambda *args: _Now(function, args)), lambda: 1)
    else:
        pool = ThreadPoolExecutor(count)
        try:
            yield from _taken(blocks, begun(partial(pool.submit, function)),
                              lambda: AHEAD * count)
        finally:
            pool.shutdown(cancel_futures=True)


def _raise(error: Exception) -> None:
    raise error


def _taken(blocks: Iterable[Any], begin: Callable[[Any], Any],
           most: Callable[[], int]) -> Iterator[tuple[Any, Any]]:
    waiting: deque[tuple[Any, Any]] = deque()
    rest = iter(blocks)
    try:
        while True:
            for _ in range(most() - len(waiting)):
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
