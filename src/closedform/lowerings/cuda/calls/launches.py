"""The kernels of a plan in a device's memory, and how they are launched."""

from __future__ import annotations

import functools
import json
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from closedform.errors import ArgumentError
from closedform.lowerings.cuda.driver import Device, Function, check, launcher
from closedform.lowerings.cuda.pieces import stages
from closedform.lowerings.cuda.plan import ArrayLayout, GpuPlan
from closedform.lowerings.native.ir import KIND_OF, Kind
from closedform.lowerings.native.launching import CallPointer, LaunchStage, launch_record
from closedform.program.program import Program

MOST = 1 << 30
"""States of one launch: their number, and strides counted in entries, have 31 bits."""
MOST_BLOCKS = (1 << 31) - 1
KEPT = 1 << 12
"""Calls of one kernel, told apart by the shapes of their arrays, that are kept ready."""


@dataclass(frozen=True)
class Kernels:
    """The functions of a plan in a device's memory, one after the other.

    `most` blocks are launched of each; `size` are the bytes of a number; `words`: `rare/watch.py`.
    """

    functions: tuple[Function, ...]
    launches: tuple[Launch, ...]
    most: tuple[int, ...]
    size: int
    words: int

    @classmethod
    def loaded(cls, on: Device, found: Mapping[str, bytes], size: int) -> Kernels:
        launches = tuple(Launch(*row) for row in json.loads(found["interface"]))
        functions, start = [], 0
        for launch in launches:
            code = found["code"][start:start + launch.size]
            functions.append(on.function(code, "kernel", launch.shared))
            start += launch.size
        most = tuple(function.blocks_at_once(told.block) if told.looping else MOST_BLOCKS
                     for function, told in zip(functions, launches, strict=True))
        return cls(tuple(functions), launches, most, size, on.words)

    @property
    def device(self) -> Device:
        return self.functions[0].device

    @property
    def slots(self) -> int:
        return max(launch.slots for launch in self.launches)

    def record(self, count: int, strides: Sequence[int], inputs: int, waiting: int = 0, *,
               waited: bool = False) -> Any:
        """What launches them for so many states, with addresses of arrays of these strides.

        Behind them is the address of what waits, if something does, of the stride `waiting`. A call
        may be `waited` for.
        """
        arrays = [x for k, stride in enumerate(strides) for x in (CallPointer(k), stride)]
        read, written, between = arrays[:2 * inputs], arrays[2 * inputs:], (
            CallPointer(len(strides)), waiting)
        stages = []
        for function, told, most in zip(self.functions, self.launches, self.most, strict=True):
            shared = between if told.slots else ()
            stages.append(LaunchStage(
                function.handle, min(-(-count // told.states), most), told.block, function.shared,
                (count, *read, *shared, *written, *shared)))
        return launch_record(self.device.context, self.words, stages, waited)


class Launch(NamedTuple):
    """What a launch must know of a kernel; `size` is that of its code in bytes.

    `looping` kernels go through all states, however few blocks there are.
    """

    size: int
    shared: int
    block: int
    states: int
    slots: int
    looping: bool


def compiled(program: Program, plan: GpuPlan, on: Device) -> dict[str, bytes]:
    """A plan's kernels for the cache; they are compiled side by side."""
    made = [(stage, stage.code()) for stage in stages(program, plan)]
    texts = [code.ptx() for _, code in made]
    if len(texts) == 1:
        codes = [on.machine_code(texts[0])]
    else:
        with ThreadPoolExecutor(min(len(texts), os.cpu_count() or 1)) as pool:
            codes = list(pool.map(on.machine_code, texts))
    launches = [Launch(len(code), text.shared, stage.plan.block, stage.plan.states, stage.slots,
                       stage.plan.staying or stage.plan.careful)
                for code, (stage, text) in zip(codes, made, strict=True)]
    return {"code": b"".join(codes), "interface": json.dumps(launches).encode()}


@dataclass(frozen=True)
class Launchable:
    """Kernels for arrays in memory that the caller looks after: streams, graphs, other languages.

    Called with the number of states and the addresses of inputs and outputs, in rows without gaps,
    or with states last and `count` entries from one row to the next; on a stream's handle.
    """

    kernels: Kernels
    layout: ArrayLayout
    sizes: tuple[int, ...]
    inputs: int
    size: int
    records: dict[int, Any] = field(default_factory=dict, repr=False, compare=False)

    @functools.cached_property
    def launch(self) -> Callable[[Any, bytes, int], int]:
        return launcher().function

    @functools.cached_property
    def pack(self) -> Callable[..., bytes]:
        return struct.Struct(f"{len(self.sizes) + 1}Q").pack

    @property
    def handles(self) -> tuple[int, ...]:
        """The driver's handles of the functions, in the order in which they run."""
        return tuple(function.handle for function in self.kernels.functions)

    def __call__(self, count: int, *pointers: int, stream: int = 0, waiting: int = 0) -> None:
        record = self.records.get(count) or self._record(count)
        if len(pointers) != len(self.sizes):
            raise ArgumentError(f"{len(self.sizes)} addresses are needed, not {len(pointers)}")
        if self.kernels.slots and not waiting:
            raise ArgumentError(f"waiting must be the address of {self.kernels.slots} numbers for "
                                "every state, for what waits between the kernels")
        try:
            told = self.pack(*pointers, waiting)
        except (struct.error, TypeError):
            raise ArgumentError("addresses must be whole numbers, as x.data_ptr() of PyTorch and "
                                f"x.data.ptr of CuPy, not {pointers}, {waiting!r}") from None
        end = 15 if self.layout == "rows" else self.size - 1
        for pointer, size in zip(pointers, self.sizes, strict=True):
            if size and (not pointer or pointer & end):
                raise ArgumentError(f"addresses of {self.layout} must be multiples of {end + 1}, "
                                    f"and not 0; one is {pointer:#x}")
        if not isinstance(stream, int):
            raise ArgumentError("stream must be a stream's handle, as stream.cuda_stream of "
                                f"PyTorch and stream.ptr of CuPy, not {stream!r}")
        code = self.launch(record, told, stream)
        if code:
            check(code, f"a kernel on {self.kernels.device.name}")

    def _record(self, count: int) -> Any:
        if not (isinstance(count, int | np.integer) and 0 < count <= MOST):
            raise ArgumentError(f"count must be from 1 to {MOST} states, not {count!r}")
        strides = [count * self.size if self.layout == "states" else m * self.size
                   for m in self.sizes]
        return kept(self.records, count, self.kernels.record(
            count, strides, self.inputs, count * self.size))


def kind_of(dtype: Any) -> Kind | None:
    """What numbers a data type of NumPy or PyTorch is for, if it is for any."""
    for told in (dtype, str(dtype).removeprefix("torch.")):
        try:
            return KIND_OF.get(np.dtype(told))
        except TypeError:
            continue
    return None


def kept(known: dict[Any, Any], key: Any, x: Any) -> Any:
    """Add a thing to those that are kept, which do not grow without end."""
    if len(known) >= KEPT:
        known.clear()
    known[key] = x
    return x
