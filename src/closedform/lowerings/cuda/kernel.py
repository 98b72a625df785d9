"""A program called with CUDA arrays: in the layouts that they have, results of the same kind."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from closedform.errors import ArgumentError
from closedform.lowerings.cuda.arrays import (
    LOOKS,
    ArrayLibrary,
    Placed,
    View,
    extent,
    is_cuda,
    is_out_of_memory,
    library_of,
    located,
)
from closedform.lowerings.cuda.calls import launches
from closedform.lowerings.cuda.calls.launches import Kernels, Launchable, compiled, kept
from closedform.lowerings.cuda.driver import Device, check, device, launcher
from closedform.lowerings.cuda.fitting import H200, GpuLimits, fitting
from closedform.lowerings.cuda.pieces import stages
from closedform.lowerings.cuda.plan import MANY_STATES, WARP, ArrayLayout, GpuPlan
from closedform.lowerings.native.ir import BYTES, KIND_OF, Kind
from closedform.lowerings.store.cache import Cache, entry_key
from closedform.program.program import Program, Slot

SCRATCH, LEAST_SCRATCH = 1 << 30, 1 << 20
"""Bytes for what waits between the kernels of one plan, and the fewest that are tried."""


class _Part(NamedTuple):
    """Some states of a call: their record, and what to add to each address."""

    record: Any
    shifts: tuple[int, ...]


class _Call(NamedTuple):
    """What a call with arrays of some shapes does.

    Arrays i and j lie upon each other where `apart[..] = (i, j, low, high)` has low < address of i
    − address of j < high; those `copied` have to be made contiguous.
    """

    views: tuple[View, ...]
    batch: tuple[int, ...]
    kernels: Kernels
    placed: tuple[Placed, ...]
    parts: tuple[_Part, ...]
    makers: tuple[Callable[[], Any], ...]
    waiting: Callable[[], Any] | None
    apart: tuple[tuple[int, int, int, int], ...]
    copied: tuple[int, ...]
    library: ArrayLibrary
    stream: Callable[[], int]
    pack: Callable[..., bytes]
    launch: Callable[[Any, bytes, int], int]


class CudaKernel:
    """Launches a program's kernels; they are made when first needed."""

    def __init__(self, program: Callable[[], Program], cache: Cache, title: str,
                 result: Callable[..., Any] | None = None) -> None:
        self._program, self.cache, self.title, self.result = program, cache, title, result
        self.scratch = SCRATCH
        self._sequences: dict[tuple[int, GpuPlan], Kernels] = {}
        self._plans: dict[tuple[Any, ...], GpuPlan] = {}
        self._calls: dict[tuple[Any, ...], _Call] = {}

    @property
    def program(self) -> Program:
        return self._program()

    @functools.cached_property
    def slots(self) -> Sequence[Slot]:
        """Of the inputs."""
        return self.program.inputs

    def plan(self, kind: Kind, inputs: tuple[ArrayLayout, ...], outputs: tuple[ArrayLayout, ...],
             limits: GpuLimits = H200) -> GpuPlan:
        """How arrays of these layouts are served on a device of such limits."""
        key = kind, inputs, outputs, limits
        if key not in self._plans:
            self._plans[key] = self._kept_plan(*key)
        return self._plans[key]

    def _kept_plan(self, kind: Kind, inputs: tuple[ArrayLayout, ...],
                   outputs: tuple[ArrayLayout, ...], limits: GpuLimits) -> GpuPlan:
        """The plan, from the cache if it is there: to order rows of humanoids takes a second."""
        key = entry_key("cuda plan", self.program.digest, kind, *inputs, *outputs, repr(limits))
        found = self.cache.read(key)
        if found is not None:
            return GpuPlan.from_json(found["interface"].decode())
        plan = fitting(self.program, kind, inputs, outputs, limits)
        self.cache.write(key, {"interface": plan.to_json().encode()})
        return plan

    def _plan_on(self, on: Device, kind: Kind, parts: Sequence[ArrayLayout]) -> GpuPlan:
        """The plan for a device, of the layouts of inputs and outputs."""
        count = len(self.program.inputs)
        return self.plan(kind, tuple(parts[:count]), tuple(parts[count:]), on.limits)

    def ptx(self, plan: GpuPlan) -> list[str]:
        """The texts of a plan's kernels, in the order in which they run."""
        return [stage.code().ptx() for stage in stages(self.program, plan)]

    def sequence(self, on: Device, plan: GpuPlan) -> Kernels:
        """The kernels of a plan on a device: loaded, found in the cache, or compiled."""
        if (on.ordinal, plan) not in self._sequences:
            key = entry_key("cuda", self.program.digest, repr(plan), on.generation)
            found = self.cache.read(key)
            if found is None:
                found = compiled(self.program, plan, on)
                self.cache.write(key, found)
            self._sequences[on.ordinal, plan] = Kernels.loaded(on, found, plan.size)
        return self._sequences[on.ordinal, plan]

    def kernels(self, ordinal: int, kind: Kind, layouts: Sequence[ArrayLayout]) -> Kernels:
        """Those for inputs and outputs of these layouts on a device, whatever the states."""
        on = device(ordinal)
        plan = self._plan_on(on, kind, layouts)
        return self.sequence(on, replace(plan, width=1, behind=False))

    def launchable(self, kind: Kind, layout: ArrayLayout, ordinal: int) -> Launchable:
        """The kernels for dense arrays of one layout on a device."""
        program = self.program
        arrays = (*program.inputs, *program.outputs)
        sizes = (*(math.prod(slot.shape) for slot in program.inputs),
                 *(len(output.entries) for output in program.outputs))
        return Launchable(self.kernels(ordinal, kind, [layout for _ in arrays]), layout, sizes,
                          len(program.inputs), BYTES[kind])

    # ------------------------------------------------------------------ calling
    def known(self, given: Sequence[Any], out: Any) -> Any:
        """The outputs for arrays like those of a call before, else None: nothing is checked anew.

        All that a call depends on, but for the addresses, is the key of what was decided then.
        """
        try:
            look = LOOKS[type(given[0])]
            pointers, key = look(given if out is None else (*given, *_several(out)))
        except (KeyError, AttributeError):      # another kind of array, or one that is elsewhere
            return None
        call = self._calls.get(key)
        return None if call is None else self._run(call, given, out, pointers)

    def __call__(self, given: Sequence[Any], out: Any = None) -> Any:
        """The outputs for arrays of states, in the caller's kind of array."""
        library, outs = library_of(given[0]), () if out is None else _several(out)
        for x, slot in zip(outs, self.program.outputs, strict=False):
            if not is_cuda(x):
                raise ArgumentError(f"{self.title}: out for {slot.name} must be on the GPU like "
                                    f"the inputs, not a {type(x).__name__}")
        arrays = (*given, *outs)
        key: tuple[Hashable, ...]
        if all(library_of(x) is library for x in arrays):
            pointers, key = library.look(arrays)
        else:
            seen = [library_of(x).look((x,)) for x in arrays]
            pointers, key = [p for (p,), _ in seen], tuple([found for _, found in seen])
        call = self._calls.get(key)
        if call is None:
            views, count = [library_of(x).view(x) for x in arrays], len(given)
            call = kept(self._calls, key, self._prepared(
                given, library, views[:count], None if out is None else views[count:]))
        return self._run(call, given, out, pointers)

    def _run(self, call: _Call, given: Sequence[Any], out: Any, pointers: list[int]) -> Any:
        """Launch the kernels; copies and what waits are held until that is done."""
        library = call.library
        if out is None:
            made: Sequence[Any] = self._new(call)
            pointers += library.pointers(made)
        else:
            made = _several(out)
            for i, j, low, high in call.apart:
                if low < pointers[i] - pointers[j] < high:
                    self._check_overlap(call.views, pointers, i, j)
        held = []
        for k in call.copied:
            held.append(library.contiguous(given[k], call.batch + self.slots[k].shape))
            pointers[k] = library.pointers(held[-1:])[0]
        if call.waiting is not None:
            call, scratch = self._scratch(call, given[0])
            held.append(scratch)
            pointers += library.pointers(held[-1:])
        stream = call.stream()
        for record, shifts in call.parts:
            told = pointers if not shifts else [
                pointer + shift for pointer, shift in zip(pointers, shifts, strict=True)]
            code = call.launch(record, call.pack(*told), stream)
            if code:
                check(code, f"{self.title} on {device(call.views[0].device).name}")
        return made[0] if self.result is None else self.result(*made)

    def _new(self, call: _Call) -> list[Any]:
        try:
            return [make() for make in call.makers]
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            size = math.prod(call.batch) * call.kernels.size * sum(
                len(x.entries) for x in self.program.outputs)
            raise self._no_room(call, f"{size} bytes of results") from error

    def _scratch(self, call: _Call, like: Any) -> tuple[_Call, Any]:
        """Memory for what waits between kernels; if there is too little, for fewer states."""
        while call.waiting is not None:
            try:
                return call, call.waiting()
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                if self.scratch < LEAST_SCRATCH:
                    raise self._no_room(call, f"{self.scratch} bytes between kernels") from error
                self.scratch //= 4
                self._calls.clear()
                parts, most = self._parts(call.kernels, call.placed, math.prod(call.batch),
                                          call.library.ordered)
                call = call._replace(parts=parts, waiting=call.library.maker(
                    like, (call.kernels.slots, most), 0))
        return call, None

    def _no_room(self, call: _Call, what: str) -> MemoryError:
        return MemoryError(f"{self.title}: {what} for {math.prod(call.batch)} states do not fit "
                           f"into the memory of {call.kernels.device.name}")

    def _prepared(self, given: Sequence[Any], library: ArrayLibrary, views: Sequence[View],
                  written: Sequence[View] | None) -> _Call:
        """What a call with arrays of these shapes does, whatever their memory."""
        program = self.program
        dtype, at = self._agreed(views, program.inputs)
        batch = self._batch(views, program.inputs)
        inputs, copied = [], []
        for k, (view, slot) in enumerate(zip(views, program.inputs, strict=True)):
            part = located(view, slot.shape, batch)
            if part is None:
                copied.append(k)
                part = Placed("rows", math.prod(slot.shape) * dtype.itemsize)
            inputs.append(part)
        last = library.lasts and any(part.layout == "states" for part in inputs)
        states = math.prod(batch)
        if written is None:
            outputs = [Placed("states", states * dtype.itemsize) if last and batch
                       else Placed("rows", len(x.entries) * dtype.itemsize)
                       for x in program.outputs]
        else:
            outputs = self._given(written, batch, dtype, at)
        parts = (*inputs, *outputs)
        arrays = (*views, *(written or ()))
        kernels = self.sequence(device(at), self._fitting(parts, arrays, states, KIND_OF[dtype]))
        makers = () if written is not None else tuple(
            library.maker(given[0], batch + slot.shape, len(batch) * (part.layout == "states"))
            for slot, part in zip(program.outputs, outputs, strict=True))
        launched, most = self._parts(kernels, parts, states, library.ordered)
        between = bool(kernels.slots and states)
        waiting = library.maker(given[0], (kernels.slots, most), 0) if between else None
        pack = struct.Struct(f"{len(parts) + between}Q").pack
        return _Call(arrays, batch, kernels, parts, launched, makers, waiting,
                     _apart(arrays, len(views)), tuple(copied), library, library.stream(at), pack,
                     launcher().function)

    def _fitting(self, parts: Sequence[Placed], views: Sequence[View], states: int,
                 kind: Kind) -> GpuPlan:
        """The plan for arrays; two states go together only where every address allows it."""
        plan = self._plan_on(device(views[0].device), kind, [x.layout for x in parts])
        plan = replace(plan, behind=plan.behind and states >= MANY_STATES)
        together, last = plan.width * plan.size, False
        for part, view in zip(parts, views, strict=False):
            last = last or part.layout == "states"
            if part.layout == "states" and (part.stride % together or view.pointer % together):
                return replace(plan, width=1)
        return replace(plan, width=1) if last and states % plan.width else plan

    def _parts(self, kernels: Kernels, parts: Sequence[Placed], states: int,
               ordered: bool) -> tuple[tuple[_Part, ...], int]:
        """The launches of a call, and the states of the largest."""
        size = kernels.size
        most = launches.MOST
        if kernels.slots:
            most = min(most, self.scratch // (kernels.slots * size))
        most = max(min(most // WARP * WARP, states), min(WARP, states), 1)   # aligned as the first
        found = []
        for start in range(0, states, most):
            record = kernels.record(min(most, states - start), [part.stride for part in parts],
                                    len(self.slots), most * size, waited=not ordered)
            shifts = [start * (size if part.layout == "states" else part.stride) for part in parts]
            found.append(_Part(record, (*shifts, *[0] * bool(kernels.slots)) if start else ()))
        return tuple(found), most

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

    def _check_overlap(self, views: Sequence[View], pointers: Sequence[int], i: int,
                       j: int) -> None:
        """An output must not lie upon an input: threads of other states may still read it."""
        if not _share_memory(views[i]._replace(pointer=pointers[i]),
                             views[j]._replace(pointer=pointers[j])):
            return
        names = [*(x.name for x in self.slots), *(x.name for x in self.program.outputs)]
        raise ArgumentError(f"{self.title}: out for {names[j]} lies upon {names[i]}; on a GPU they "
                            "need memory of their own")

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
            if view.dtype not in KIND_OF:
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


def _several(out: Any) -> Sequence[Any]:
    return out if isinstance(out, tuple | list) else (out,)


def _apart(views: Sequence[View], inputs: int) -> tuple[tuple[int, int, int, int], ...]:
    """Which arrays must not lie upon each other, and what that means for their addresses."""
    ends = [extent(view) for view in views]
    return tuple((i, j, ends[j][0] - ends[i][1], ends[j][1] - ends[i][0])
                 for j in range(inputs, len(views)) for i in range(j))


def _share_memory(x: View, y: View) -> bool:
    """Whether arrays have an address in common; slices of one array may lie between each other."""
    def seen(view: View) -> Any:
        told = {"shape": view.shape, "strides": view.strides, "typestr": view.dtype.str,
                "data": (view.pointer, True), "version": 3}
        return np.asarray(SimpleNamespace(__array_interface__=told))

    most: Any = 1 << 20
    try:
        return np.shares_memory(seen(x), seen(y), max_work=most)
    except np.exceptions.TooHardError:
        return True
