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
from closedform.lowerings.cuda.arrays import Library, View, library_of
from closedform.lowerings.cuda.code import CudaCode
from closedform.lowerings.cuda.driver import Device, Function, device
from closedform.lowerings.cuda.pieces import stages
from closedform.lowerings.cuda.plan import Layout, Plan, chosen
from closedform.lowerings.native.ir import Kind
from closedform.lowerings.store.cache import Cache, entry_key
from closedform.program.program import Program, Slot

KINDS: dict[Any, Kind] = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}
KINDS_BACK: dict[Kind, Any] = {kind: dtype for dtype, kind in KINDS.items()}
SCRATCH = 1 << 30
"""Bytes for what waits between the kernels of one plan."""
MOST = 1 << 27
"""States of one launch: offsets between entries are numbers of 32 bits."""


class Part(NamedTuple):
    """An array as a kernel sees it: where, in which layout, and the stride that goes with it."""

    pointer: int
    layout: Layout
    stride: int
    shared: bool = False


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


def _compiled(program: Program, plan: Plan, on: Device) -> dict[str, bytes]:
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


def _even(plan: Plan, parts: Sequence[Part]) -> bool:
    """Whether neighbouring states can be moved together."""
    whole = plan.width * plan.size
    return all(part.pointer % whole == 0 and part.stride % whole == 0
               for part in parts if part.layout == "states")


class CudaKernel:
    """Launches a program's kernels; they are made when first needed."""

    def __init__(self, program: Callable[[], Program], cache: Cache, title: str) -> None:
        self._program, self.cache, self.title = program, cache, title
        self._sequences: dict[tuple[int, Plan], Kernels] = {}
        self._plans: dict[tuple[Any, ...], Plan] = {}

    @property
    def program(self) -> Program:
        return self._program()

    def plan(self, kind: Kind, inputs: tuple[Layout, ...], outputs: tuple[Layout, ...]) -> Plan:
        """How arrays of these layouts are served."""
        key = kind, inputs, outputs
        if key not in self._plans:
            self._plans[key] = chosen(self.program, kind, inputs, outputs)
        return self._plans[key]

    def ptx(self, plan: Plan) -> list[str]:
        """The texts of a plan's kernels, in the order in which they run."""
        return [CudaCode(stage.program, stage.plan).ptx() for stage in stages(self.program, plan)]

    def sequence(self, on: Device, plan: Plan) -> Kernels:
        """The kernels of a plan on a device: loaded, found in the cache, or compiled."""
        if (on.ordinal, plan) not in self._sequences:
            key = entry_key("cuda", self.program.digest, repr(plan), on.generation)
            found = self.cache.read(key)
            if found is None:
                found = _compiled(self.program, plan, on)
                self.cache.write(key, found)
            self._sequences[on.ordinal, plan] = Kernels.loaded(on, found)
        return self._sequences[on.ordinal, plan]

    # ------------------------------------------------------------------ calling
    def __call__(self, given: Sequence[Any], out: Any = None) -> list[Any]:
        """The outputs for arrays of states, in the caller's kind of array."""
        program = self.program
        library = library_of(given[0])
        views = [library.view(x) for x in given]
        dtype, at = self._agreed(views, program.inputs)
        batch = self._batch(views, program.inputs)
        arrays = list(given)
        parts = []
        for k, (view, slot) in enumerate(zip(views, program.inputs, strict=True)):
            part = located(view, slot.shape, batch)
            if part is None:
                arrays[k] = library.contiguous(given[k], batch + slot.shape)
                part = located(library.view(arrays[k]), slot.shape, batch)
                assert part is not None
            parts.append(part)
        if out is not None:
            self._check_overlap(views, out if isinstance(out, tuple | list) else [out])
        last = any(part.layout == "states" for part in parts)
        results, places = self._results(library, out, batch, dtype, at, last)
        self._launch(library, at, KINDS[dtype], parts, places, math.prod(batch))
        return results

    def _launch(self, library: Library, at: int, kind: Kind, inputs: Sequence[Part],
                outputs: Sequence[Part], states: int) -> None:
        if states == 0:
            return
        on, stream = device(at), library.stream(at)
        size = 8 if kind == "double" else 4
        plan = self.plan(kind, tuple(x.layout for x in inputs), tuple(x.layout for x in outputs))
        if plan.width > 1 and not _even(plan, (*inputs, *outputs)):
            plan = replace(plan, width=1)
        kernels = self.sequence(on, plan)
        most = min(MOST, max(SCRATCH // (kernels.slots * size), 1 << 16)) if kernels.slots else MOST
        waiting = library.empty((kernels.slots, min(states, most)), KINDS_BACK[kind], at) if (
            kernels.slots) else None
        for start in range(0, states, most):
            count = min(most, states - start)
            arguments = []
            for part in (*inputs, *outputs):
                step = size if part.layout == "states" else part.stride
                arguments += [part.pointer + start * step, part.stride]
            kernels.launch(count, stream, arguments, 2 * len(inputs),
                           [library.view(waiting).pointer, min(states, most) * size]
                           if waiting is not None else [])
        if not library.ordered:
            on.wait(stream)

    def _results(self, library: Library, out: Any, batch: tuple[int, ...], dtype: Any, at: int,
                 last: bool) -> tuple[list[Any], list[Part]]:
        slots = self.program.outputs
        results, places = [], []
        if out is None:
            for slot in slots:
                if last and batch:
                    made = library.empty((math.prod(slot.shape), *batch), dtype, at)
                    results.append(_moved(made, batch, slot.shape))
                    view = library.view(made)
                    states = math.prod(batch)
                    places.append(Part(view.pointer, "states", states * dtype.itemsize))
                else:
                    made = library.empty(batch + slot.shape, dtype, at)
                    results.append(made)
                    places.append(_rows(library.view(made), slot.shape))
            return results, places
        given = [out] if len(slots) == 1 and not isinstance(out, tuple) else list(out)
        if len(given) != len(slots):
            raise ArgumentError(f"{self.title}: out must be an array for each of "
                                f"{', '.join(slot.name for slot in slots)}")
        for slot, x in zip(slots, given, strict=True):
            view = library_of(x).view(x)
            self._check_out(view, batch + slot.shape, dtype, at, slot.name)
            part = located(view, slot.shape, batch)
            if part is None or part.shared:
                raise ArgumentError(f"{self.title}: out for {slot.name} must have states first or "
                                    f"last and no gaps, not the strides {view.strides}")
            results.append(x)
            places.append(part)
        return results, places

    def _check_overlap(self, views: Sequence[View], outs: Sequence[Any]) -> None:
        """An output must not lie upon an input: threads of other states may still read it."""
        for slot, x in zip(self.program.outputs, outs, strict=True):
            start, stop = _extent(library_of(x).view(x))
            for view, given in zip(views, self.program.inputs, strict=True):
                first, end = _extent(view)
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


def located(view: View, slot: tuple[int, ...], batch: tuple[int, ...]) -> Part | None:
    """How a kernel reaches an array of states; None if it cannot without a copy."""
    cut, size = len(view.shape) - len(slot), view.dtype.itemsize
    entry = _single_stride(slot, view.strides[cut:], size)
    if cut == 0 or (math.prod(view.shape[:cut]) == 1 and math.prod(batch) == 1):
        return Part(view.pointer, "rows", 0, shared=cut == 0) if entry == size else None
    if view.shape[:cut] != batch:
        return None
    state = _single_stride(batch, view.strides[:cut], size)
    if entry == size and state is not None and math.prod(slot) > 1:
        return Part(view.pointer, "rows", state)
    if state == size and entry is not None:
        return Part(view.pointer, "states", entry)
    if math.prod(slot) == 1 and state is not None:
        return Part(view.pointer, "rows", state)
    return None


def _single_stride(shape: Sequence[int], strides: Sequence[int], size: int) -> int | None:
    """The stride of the axes joined to one, in C order; None if they are not evenly spaced."""
    found: int | None = None
    length = 1
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n == 1:
            continue
        if found is None:
            found = stride
        elif stride != found * length:
            return None
        length *= n
    return size if found is None else found


def _extent(view: View) -> tuple[int, int]:
    """The first byte of an array, and the one behind its last."""
    last = sum((n - 1) * max(stride, 0) for n, stride in zip(view.shape, view.strides, strict=True))
    return view.pointer, view.pointer + (last + view.dtype.itemsize) * (0 not in view.shape)


def _rows(view: View, slot: tuple[int, ...]) -> Part:
    return Part(view.pointer, "rows", math.prod(slot) * view.dtype.itemsize)


def _moved(made: Any, batch: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """(entries, *batch) seen as (*batch, *shape)."""
    whole = made.reshape(*shape, *batch)
    axes = [*range(len(shape), len(shape) + len(batch)), *range(len(shape))]
    return whole.permute(*axes) if hasattr(whole, "permute") else whole.transpose(*axes)
