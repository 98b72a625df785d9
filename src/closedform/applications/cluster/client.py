"""Blocks at the workers of a Dask client: joined by address, sent, tried again, and done there."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from typing import Any, Protocol, final

from closedform.errors import ArgumentError, ClosedformError, MissingDependency

AHEAD = 2
"""Blocks for each thread that are begun and not yet taken."""
ASKED = 1.0
"""Seconds between questions to the scheduler about its workers."""
ANSWERS = 10.0
"""Seconds that the scheduler of an address has to answer."""
PORTLESS = ("inproc://", "ucx://")
RETRIES = 2
"""How often a block is begun again whose worker fails it with no error of ours."""


class Submits(Protocol):
    """A Dask client, as far as it is used here."""

    def submit(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any: ...
    def nthreads(self) -> dict[str, int]: ...


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
        from distributed.comm import get_address_host_port
    except ImportError as error:
        raise MissingDependency("Dask's distributed is not installed; "
                                "pip install 'closedform[cluster]'") from error
    try:
        if not client.startswith(PORTLESS):     # a client that cannot begin cannot be closed either
            get_address_host_port(client)
        own = Client(client, timeout=ANSWERS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ArgumentError(f"client: no scheduler answers at {client!r}: {error}") from error
    try:
        yield own
    finally:
        with suppress(Exception):               # the scheduler may be gone
            own.close()


def room(client: Submits) -> Callable[[], int]:
    """How many blocks may be under way, by the workers there are: asked now and then, for each
    answer takes as long as a task costs. Few where the scheduler does not answer.
    """
    asked, most = -ASKED, AHEAD

    def now() -> int:
        nonlocal asked, most
        if time.monotonic() - asked >= ASKED:
            most = AHEAD
            with suppress(Exception):
                most = AHEAD * max(sum(client.nthreads().values()), 1)
            asked = time.monotonic()
        return most
    return now


def by_client(function: Callable[..., Any], client: Submits) -> Callable[..., SentBlock]:
    """What begins a block at a client's workers."""
    import cloudpickle
    packed, under_way = cloudpickle.dumps(function), list[SentBlock]()

    def begin(*args: Any) -> SentBlock:
        return SentBlock(lambda: client.submit(followed, packed, *args, pure=False,
                                               retries=RETRIES), under_way)
    return begin


@final
class SentBlock:
    """A block at a client's workers.

    Where workers die, Dask suspects all blocks that wait at them. One that it gives up is tried
    again with no other under way: then it is known which of them kills.
    """

    def __init__(self, begin: Callable[[], Any], under_way: list[SentBlock]) -> None:
        self._begin, self._future, self._under_way = begin, begin(), under_way
        under_way.append(self)

    def result(self) -> Any:
        self._under_way.remove(self)
        try:
            return self._future.result()
        except Exception as error:
            if type(error).__name__ != "KilledWorker":
                raise
        for other in self._under_way:
            other._settle()
        self._future = self._begin()
        return self._future.result()

    def _settle(self) -> None:
        """Take the result away from workers that may die; what failed is told in its turn."""
        with suppress(Exception):
            self._future = _Settled(self._future.result())

    def cancel(self) -> None:
        self._future.cancel()


@final
class _Settled:
    """A future that is done."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def result(self) -> Any:
        return self._value

    def cancel(self) -> None:
        """Nothing is under way."""


# ---------------------------------------------------------------------- what a worker does
def followed(packed: bytes, *args: Any) -> Any:
    """The function of a block, unpacked by the first task that brings it.

    A refusal is a result: it is the same for every worker, and no reason to try again.
    """
    keep_memory()
    try:
        return _unpacked(packed)(*args)
    except ClosedformError as error:
        return error


@lru_cache(maxsize=16)
def _unpacked(packed: bytes) -> Any:
    import cloudpickle
    return cloudpickle.loads(packed)


DASKS_OWN = "65536"
TRIM, MMAP = (-1, 1 << 26), (-3, 1 << 25)
"""Numbers of glibc's `mallopt`, and bytes."""


@cache
def keep_memory() -> None:
    """Let a worker keep 64 MiB of what it frees: arrays come and go within a block.

    Dask has its workers' C library give everything back at once. A block of a map then has as many
    page faults as arithmetic, and takes 1.6 times as long (4096 poses of panda). Whoever has chosen
    another MALLOC_TRIM_THRESHOLD_ keeps it.
    """
    if os.environ.get("MALLOC_TRIM_THRESHOLD_") != DASKS_OWN:
        return
    with suppress(AttributeError, OSError):     # of another C library
        option = ctypes.CDLL(None).mallopt
        for name, value in (TRIM, MMAP):
            option(name, value)
