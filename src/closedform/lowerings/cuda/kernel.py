"""A program called with CUDA arrays: in the layouts that they have, results of the same kind."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from closedform.errors import ArgumentError
from closedform.lowerings.cuda.arrays import (
    ArrayLibrary,
    Placed,
    View,
    extent,
    library_of,
    located,
)
from closedform.lowerings.cuda.code import CudaCode
from closedform.lowerings.cuda.driver import Device, Function, device
from closedform.lowerings.cuda.pieces import stages
from closedform.lowerings.cuda.plan import ArrayLayout, GpuPlan, chosen
from closedform.lowerings.native.ir import BYTES, Kind
from closedform.lowerings.store.cache import Cache, entry_key
from closedform.program.program import Program, Slot

KINDS: dict[Any, Kind] = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}
ASYNC = (8, 0)
"""The compute capability that has copies which are not waited for."""
SCRATCH = 1 << 30
"""Bytes for what waits between the kernels of one plan."""
MOST = 1 << 27
"""States of one launch: offsets between entries are numbers of 32 bits."""


@dataclass(frozen=True)
class Kernels:
    """The functions of a plan in a device's memory, one after the other."""

    functions: tuple[Function, ...]
    launches: tuple[Launch, ...]

    @classmethod
    def loaded(cls, on: Device, found: Mapping[str, bytes]) -> Kernels:
        launches = tuple(Launch(*row) for row in json.loads(found["interface"]))
        functions, start = [], 0
        for launch in launches:
            code = found["code"][start:start + launch.size]
            functions.append(on.function(code, "kernel", launch.shared))
            start += launch.size
        return cls(tuple(functions), launches)

    @property
    def slots(self) -> int:
        return max(launch.slots for launch in self.launches)

    def launch(self, count: int, stream: int, arrays: Sequence[int], inputs: int,
               waiting: Sequence[int]) -> None:
        """Run for so many states; `arrays` are addresses and strides, `inputs` of them first."""
        call = self.functions[0].device.new_call()
        for function, told in zip(self.functions, self.launches, strict=True):
            between = waiting if told.slots else ()
            blocks = -(-count // told.states)
            if told.looping:
                blocks = min(blocks, function.blocks_at_once(told.block))
            function.launch(blocks, told.block, stream,
                            [count, *arrays[:inputs], *between, *arrays[inputs:], *between, *call])


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


def _compiled(program: Program, plan: GpuPlan, on: Device) -> dict[str, bytes]:
    """A plan's kernels for the cache; they are compiled side by side."""
    made = [(stage, CudaCode(stage.program, stage.plan)) for stage in stages(program, plan)]
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

    @property
    def handles(self) -> tuple[int, ...]:
        """The driver's handles of the functions, in the order in which they run."""
        return tuple(function.handle for function in self.kernels.functions)

    def __call__(self, count: int, *pointers: int, stream: int = 0, waiting: int = 0) -> None:
        if len(pointers) != len(self.sizes):
            raise ArgumentError(f"{len(self.sizes)} addresses are needed, not {len(pointers)}")
        if self.layout == "rows" and any(pointer % 16 for pointer in pointers):
            raise ArgumentError("addresses of rows must be multiples of 16")
        if self.kernels.slots and not waiting:
            raise ArgumentError(f"waiting must be the address of {self.kernels.slots} numbers for "
                                "every state, for what waits between the kernels")
        stride = [count * self.size if self.layout == "states" else m * self.size
                  for m in self.sizes]
        arrays = [x for pair in zip(pointers, stride, strict=True) for x in pair]
        self.kernels.launch(count, stream, arrays, 2 * self.inputs,
                            (waiting, count * self.size) if waiting else ())


class _Call(NamedTuple):
    """What a call with arrays of some shapes does."""

    batch: tuple[int, ...]
    dtype: Any
    device: int
    kernels: Kernels
    inputs: tuple[Placed, ...]
    outputs: tuple[Placed, ...]
    copied: frozenset[int]

    @property
    def states(self) -> int:
        return math.prod(self.batch)


class CudaKernel:
    """Launches a program's kernels; they are made when first needed."""

    def __init__(self, program: Callable[[], Program], cache: Cache, title: str) -> None:
        self._program, self.cache, self.title = program, cache, title
        self._sequences: dict[tuple[int, GpuPlan], Kernels] = {}
        self._plans: dict[tuple[Any, ...], GpuPlan] = {}
        self._calls: dict[tuple[Any, ...], _Call] = {}

    @property
    def program(self) -> Program:
        return self._program()

    def plan(self, kind: Kind, inputs: tuple[ArrayLayout, ...],
             outputs: tuple[ArrayLayout, ...]) -> GpuPlan:
        """How arrays of these layouts are served."""
        key = kind, inputs, outputs
        if key not in self._plans:
            self._plans[key] = chosen(self.program, kind, inputs, outputs)
        return self._plans[key]

    def _plan_on(self, on: Device, kind: Kind, parts: Sequence[ArrayLayout]) -> GpuPlan:
        """The plan for a device, of the layouts of inputs and outputs."""
        count = len(self.program.inputs)
        plan = self.plan(kind, tuple(parts[:count]), tuple(parts[count:]))
        return plan if on.capability >= ASYNC else replace(plan, staying=False)

    def ptx(self, plan: GpuPlan) -> list[str]:
        """The texts of a plan's kernels, in the order in which they run."""
        return [CudaCode(stage.program, stage.plan).ptx() for stage in stages(self.program, plan)]

    def sequence(self, on: Device, plan: GpuPlan) -> Kernels:
        """The kernels of a plan on a device: loaded, found in the cache, or compiled."""
        if (on.ordinal, plan) not in self._sequences:
            key = entry_key("cuda", self.program.digest, repr(plan), on.generation)
            found = self.cache.read(key)
            if found is None:
                found = _compiled(self.program, plan, on)
                self.cache.write(key, found)
            self._sequences[on.ordinal, plan] = Kernels.loaded(on, found)
        return self._sequences[on.ordinal, plan]

    def kernels(self, ordinal: int, kind: Kind, layouts: Sequence[ArrayLayout]) -> Kernels:
        """Those for inputs and outputs of these layouts on a device, whatever the states."""
        on = device(ordinal)
        return self.sequence(on, replace(self._plan_on(on, kind, layouts), width=1))

    def launchable(self, kind: Kind, layout: ArrayLayout, ordinal: int) -> Launchable:
        """The kernels for dense arrays of one layout on a device."""
        program = self.program
        arrays = (*program.inputs, *program.outputs)
        sizes = (*(math.prod(slot.shape) for slot in program.inputs),
                 *(len(output.entries) for output in program.outputs))
        return Launchable(self.kernels(ordinal, kind, [layout for _ in arrays]), layout, sizes,
                          len(program.inputs), BYTES[kind])

    # ------------------------------------------------------------------ calling
    def __call__(self, given: Sequence[Any], out: Any = None) -> list[Any]:
        """The outputs for arrays of states, in the caller's kind of array."""
        library = library_of(given[0])
        views = [library.view(x) for x in given]
        outs = None if out is None else list(out) if isinstance(out, tuple | list) else [out]
        written = [library_of(x).view(x) for x in outs or ()]
        key = tuple([(v.shape, v.strides, v.dtype, v.device, v.pointer & 15)
                     for v in (*views, *written)])
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = self._prepared(views, written if outs is not None else None)
        if outs is None:
            outs, places = self._results(library, call)
        else:
            self._check_overlap(views, written)
            places = [view.pointer for view in written]
        copies = {k: library.contiguous(given[k], call.batch + self.program.inputs[k].shape)
                  for k in call.copied}                     # held until the kernels are launched
        pointers = [library.view(copies[k]).pointer if k in copies else view.pointer
                    for k, view in enumerate(views)]
        if call.states:
            self._launch(library, call, [*pointers, *places])
        return outs

    def _prepared(self, views: Sequence[View], written: Sequence[View] | None) -> _Call:
        """What a call with arrays of these shapes does, whatever their memory."""
        program = self.program
        dtype, at = self._agreed(views, program.inputs)
        batch = self._batch(views, program.inputs)
        parts, copied = [], set()
        for k, (view, slot) in enumerate(zip(views, program.inputs, strict=True)):
            part = located(view, slot.shape, batch)
            if part is None:
                copied.add(k)
                part = Placed("rows", math.prod(slot.shape) * dtype.itemsize)
            parts.append(part)
        last = any(part.layout == "states" for part in parts)
        states = math.prod(batch)
        if written is None:
            places = [Placed("states", states * dtype.itemsize) if last and batch
                      else Placed("rows", len(x.entries) * dtype.itemsize) for x in program.outputs]
        else:
            places = self._given(written, batch, dtype, at)
        plan = self._plan_on(device(at), KINDS[dtype], [x.layout for x in (*parts, *places)])
        together = plan.width * plan.size
        given = zip((*parts, *places), (*views, *(written or ())), strict=False)
        if any(part.layout == "states" and (part.stride % together or view.pointer % together)
               for part, view in given) or (last and states % plan.width):
            plan = replace(plan, width=1)
        kernels = self.sequence(device(at), plan)
        return _Call(batch, dtype, at, kernels, tuple(parts), tuple(places), frozenset(copied))

    def _launch(self, library: ArrayLibrary, call: _Call, pointers: Sequence[int]) -> None:
        stream = library.stream(call.device)
        kernels, states, size = call.kernels, call.states, call.dtype.itemsize
        most = min(MOST, max(SCRATCH // (kernels.slots * size), 1 << 16)) if kernels.slots else MOST
        most = min(most, states)
        waiting = library.empty((kernels.slots, most), call.dtype, call.device) if (
            kernels.slots) else None
        between = () if waiting is None else (library.view(waiting).pointer, most * size)
        parts = (*call.inputs, *call.outputs)
        for start in range(0, states, most):
            arguments = [x for part, pointer in zip(parts, pointers, strict=True) for x in (
                pointer + start * (size if part.layout == "states" else part.stride), part.stride)]
            kernels.launch(min(most, states - start), stream, arguments, 2 * len(call.inputs),
                           between)
        if not library.ordered:
            device(call.device).wait(stream)

    def _results(self, library: ArrayLibrary, call: _Call) -> tuple[list[Any], list[int]]:
        """New arrays, and where they are."""
        results, pointers = [], []
        for slot, place in zip(self.program.outputs, call.outputs, strict=True):
            if place.layout == "states":
                made = library.empty((math.prod(slot.shape), *call.batch), call.dtype, call.device)
                results.append(_moved(made, call.batch, slot.shape))
            else:
                made = library.empty(call.batch + slot.shape, call.dtype, call.device)
                results.append(made)
            pointers.append(library.view(made).pointer)
        return results, pointers

    def _given(self, written: Sequence[View], batch: tuple[int, ...], dtype: Any,
               at: int) -> list[Placed]:
        """The caller's arrays for results."""
        slots = self.program.outputs
        if len(written) != len(slots):
            raise ArgumentError(f"{self.title}: out must be an array for each of "
                                f"{', '.join(slot.name for slot in slots)}")
        found = []
        for slot, view in zip(slots, written, strict=True):
            self._check_out(view, batch + slot.shape, dtype, at, slot.name)
            part = located(view, slot.shape, batch)
            if part is None or (math.prod(batch) > 1 and part.stride == 0):
                raise ArgumentError(f"{self.title}: out for {slot.name} must have states first or "
                                    f"last and no gaps, not the strides {view.strides}")
            found.append(part)
        return found

    def _check_overlap(self, views: Sequence[View], written: Sequence[View]) -> None:
        """An output must not lie upon an input: threads of other states may still read it."""
        for slot, out in zip(self.program.outputs, written, strict=True):
            start, stop = extent(out)
            for view, given in zip(views, self.program.inputs, strict=True):
                first, end = extent(view)
                if start < end and first < stop:
                    raise ArgumentError(f"{self.title}: out for {slot.name} lies upon "
                                        f"{given.name}; on a GPU they need memory of their own")

    # ------------------------------------------------------------------ arguments
    def _check_out(self, view: View, shape: tuple[int, ...], dtype: Any, at: int,
                   name: str) -> None:
        what = f"{self.title}: out for {name}"
        if view.shape != shape or view.dtype != dtype:
            raise ArgumentError(f"{what} must have the shape {shape} of {dtype}, "
                                f"not {view.shape} of {view.dtype}")
        if not view.writeable:
            raise ArgumentError(f"{what} must be writeable")
        if view.device != at:
            raise ArgumentError(f"{what} is on device {view.device}, the inputs on {at}")

    def _agreed(self, views: Sequence[View], slots: Sequence[Slot]) -> tuple[Any, int]:
        """The one dtype and the one device of all inputs."""
        dtype, at = views[0].dtype, views[0].device
        for view, slot in zip(views, slots, strict=True):
            if view.dtype not in KINDS:
                raise ArgumentError(f"{self.title}: {slot.name} must be float64 or float32 on a "
                                    f"GPU, not {view.dtype}")
            if view.dtype != dtype:
                raise ArgumentError(f"{self.title}: {slots[0].name} is {dtype} and {slot.name} "
                                    f"{view.dtype}; on a GPU they have to agree")
            if view.device != at:
                raise ArgumentError(f"{self.title}: {slots[0].name} is on device {at} and "
                                    f"{slot.name} on device {view.device}")
        return dtype, at

    def _batch(self, views: Sequence[View], slots: Sequence[Slot]) -> tuple[int, ...]:
        leading = []
        for view, slot in zip(views, slots, strict=True):
            cut = len(view.shape) - len(slot.shape)
            if cut < 0 or view.shape[cut:] != slot.shape:
                raise ArgumentError(f"{self.title}: {slot.name} must have the shape (..., "
                                    f"{', '.join(map(str, slot.shape))}), not {view.shape}")
            leading.append(view.shape[:cut])
        try:
            return np.broadcast_shapes(*leading)
        except ValueError:
            shapes = ", ".join(f"{s.name} {v.shape}" for s, v in zip(slots, views, strict=True))
            raise ArgumentError(f"{self.title}: the batch axes do not fit together: {shapes}"
                                ) from None


def _moved(made: Any, batch: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """(entries, *batch) seen as (*batch, *shape)."""
    whole = made.reshape(*shape, *batch)
    axes = [*range(len(shape), len(shape) + len(batch)), *range(len(shape))]
    return whole.permute(*axes) if hasattr(whole, "permute") else whole.transpose(*axes)
