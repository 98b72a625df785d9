"""What a handler must know to launch a kernel's code on a device: a record for each.

    context, words, how many kernels; then for each kernel
    handle, threads of a block, shared memory, states of a block, most blocks, whether it waits

Each is a number of eight bytes. Handles belong to a device; a record lives as long as the handler.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from closedform.lowerings.cuda.driver import device

CONTEXT, WORDS, COUNT, FIRST = range(0, 32, 8)
HANDLE, THREADS, SHARED, STATES, LIMIT, WAITS, ROW = range(0, 56, 8)
DEVICES = 64
"""Devices that a table of records has places for."""
SPREAD = 1 << 12
"""Calls that have a word each before the first one's is taken again."""
NO_LIMIT = (1 << 31) - 1
CALLS = ctypes.c_int64(1)
"""The number of the next call by XLA, on any device."""


class LoadedKernels(Protocol):
    """The functions of a plan on a device, and what a launch must know of each."""

    @property
    def functions(self) -> Sequence[Any]: ...
    @property
    def launches(self) -> Sequence[Any]: ...


@functools.cache
def words(ordinal: int) -> int:
    """Memory of a device for what kernels of one call tell each other: of calls by XLA alone."""
    return device(ordinal).zeroed(8 * SPREAD)


def record(kernels: LoadedKernels, context: int, words: int) -> Any:
    """The memory of a record."""
    told = [context, words, len(kernels.launches)]
    for function, launch in zip(kernels.functions, kernels.launches, strict=True):
        limit = function.blocks_at_once(launch.block) if launch.looping else NO_LIMIT
        told += [function.handle, launch.block, function.shared, launch.states, limit,
                 int(launch.slots > 0)]
    return (ctypes.c_uint64 * len(told))(*told)


def table(of_devices: Mapping[int, Any]) -> Any:
    """The addresses of records, by the numbers of their devices; 0 where there is none."""
    found = (ctypes.c_uint64 * DEVICES)()
    for ordinal, memory in of_devices.items():
        found[ordinal] = ctypes.addressof(memory)
    return found
