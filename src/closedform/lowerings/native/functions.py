"""The two functions of a program on a CPU, as IR: one state, and many states in SIMD lanes.

    void kernel(const T *in0, ..., T *out0, ...)
    void batch(int64_t n, const T *in0, int64_t in0_stride, ..., T *out0, int64_t out0_stride, ...)

T is double or float; arrays are contiguous and in C order within a state, a stride is the number of
bytes from one state to the next (0 for an input that all states share). Inputs and outputs do not
overlap, and neither function allocates: what waits between the pieces of a large program is on the
stack.

`batch` takes `width` states at once from row-major memory and transposes in registers. The last
block overlaps the one before it; fewer states than lanes go one by one through `kernel`, an import.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from closedform.lowerings.native.cpu import host
from closedform.lowerings.native.emit import PACK, StepWriter
from closedform.lowerings.native.far_angles import add_repair
from closedform.lowerings.native.ir import (
    APART,
    BYTES,
    LANES,
    LANES_APART,
    Emitter,
    Function,
    Lanes,
    Module,
)
from closedform.lowerings.native.memory import OneState, StatesInLanes, add_fill
from closedform.lowerings.native.registers import REGISTERS, waiting
from closedform.lowerings.native.steps import Step, pieces, steps, waiting_places
from closedform.program.lanes.unfolded import unfolded
from closedform.program.program import Program
from closedform.program.sweeps import Sweeps

BATCH_STACK = 1 << 18
"""Bytes of scratch above which `batch` calls `kernel` state by state: threads have small stacks."""

HUGE_BLOCK = 1 << 15
"""Bytes of a block's outputs from which later ones are not asked for early: they would push each
other out of the caches."""

AHEAD = {"in": 4, "out": 2}
"""How many blocks early."""

CACHE_LINE = 64
"""Bytes."""

STRAIGHT = 3000
"""Instructions of a program up to which its code goes straight on: see `Function.jumping`."""


def array_names(program: Program | Sweeps) -> list[str]:
    """Arguments of the functions: inputs, then outputs."""
    return ([f"in{k}" for k in range(len(program.inputs))]
            + [f"out{k}" for k in range(len(program.outputs))])


def scalar_module(program: Program, lanes: Lanes, pack: int = PACK,
                  limits: tuple[int, int] | None = None, made: Module | None = None) -> Module:
    """`kernel`, for lanes of width 1, with `pack` sines and cosines in one register.

    `limits`: steps of a piece, and those up to which there is but one; for other machines than this
    one, which will decide themselves in which order they compute within a piece, and what waits.
    """
    module, here = made or Module(), limits is None
    nearby = here and host().triple.startswith("x86_64")
    jumping = nearby and len(program.code) > STRAIGHT
    parts = pieces(steps(program, lanes.fma, 1, listed=here), 1, limits)
    found = waiting(program, parts, REGISTERS if here else math.inf)
    places = {i: at * lanes.bytes for i, at in found.places.items()}
    main = Function(module, nearby, jumping)
    widest = max(program.widths, default=1) * lanes.bytes
    scratch = module.scratch(main, found.size * lanes.bytes, widest) if found.size else "null"
    arrays = [f"%{a}" for a in array_names(program)]
    arguments = ", ".join(f"ptr noalias {a}" for a in arrays)
    if len(parts) == 1:
        e = Emitter(main, lanes)
        StepWriter(program, e, OneState(e), scratch, places, pack).run(
            parts[0], leaving=found.leaving[0])
    else:
        handed, inside = ([scratch], "%scratch") if scratch.startswith("%") else ([], scratch)
        taken = ", ".join([arguments, *(f"ptr noalias {inside}" for _ in handed)])
        given = ", ".join(f"ptr {a}" for a in [*arrays, *handed])
        for k, part in enumerate(parts):
            piece = Function(module, nearby, jumping)
            e = Emitter(piece, lanes)
            StepWriter(program, e, OneState(e), inside, places, pack).run(
                part, leaving=found.leaving[k])
            piece.finish(f"internal void @piece{k}({taken})", APART)
            main.line(f"call void @piece{k}({given})")
    main.finish(f"dso_local void @kernel({arguments})")
    _add_functions_called(module, parts, lanes)
    return module


def _add_functions_called(module: Module, parts: Sequence[Sequence[Step]], lanes: Lanes) -> None:
    called = {step.op for part in parts for step in part}
    if "sincos" in called:
        add_repair(module, lanes)
    if "fill" in called:
        add_fill(module, lanes)


def batch_module(program: Program, lanes: Lanes) -> Module:
    """`batch`, for lanes of the target's width."""
    module, program = Module(), unfolded(program)
    columns = lanes.width
    parts = pieces(steps(program, lanes.fma, columns), columns)
    slots, count = waiting_places(parts)
    places = {i: slot * lanes.bytes for i, slot in slots.items()}
    main = Function(module)
    if lanes.width == 1 or count * lanes.bytes > BATCH_STACK:
        _loop_of_single_states(program, main)
    else:
        _loop_of_blocks(program, main, lanes, parts, places, count)
        _add_functions_called(module, parts, lanes)
    _finish_batch(program, main)
    return module


def single_states_module(program: Program | Sweeps) -> Module:
    """`batch` that takes one state after the other through `kernel`."""
    module = Module()
    main = Function(module)
    _loop_of_single_states(program, main)
    _finish_batch(program, main)
    return module


def _finish_batch(program: Program | Sweeps, main: Function) -> None:
    arguments = ", ".join(f"ptr noalias %{a}.base, i64 %{a}.stride" for a in array_names(program))
    main.finish(f"dso_local void @batch(i64 %n, {arguments})", LANES)


def _loop_of_single_states(program: Program | Sweeps, f: Function) -> None:
    """kernel(state) for all n states."""
    f.line("%some = icmp sgt i64 %n, 0")
    f.line("br i1 %some, label %one, label %done")
    _single_states(program, f, entered_from="start")
    f.label("done")


def _single_states(program: Program | Sweeps, f: Function, entered_from: str) -> None:
    """The loop `one`, which goes on to `done`."""
    f.label("one")
    f.line(f"%k = phi i64 [ 0, %{entered_from} ], [ %k.next, %one ]")
    kernel = f.imported("kernel")
    places = []
    for a in array_names(program):
        shift = f.let(f"mul i64 %k, %{a}.stride")
        places.append(f"ptr {f.offset(f'%{a}.base', shift)}")
    f.line(f"call void {kernel}({', '.join(places)})")
    f.line("%k.next = add i64 %k, 1")
    f.line("%k.more = icmp slt i64 %k.next, %n")
    f.line("br i1 %k.more, label %one, label %done")


def _loop_of_blocks(program: Program, f: Function, lanes: Lanes, parts: Sequence[Sequence[Step]],
                    places: dict[int, int], count: int) -> None:
    """All n states, `width` at a time, the last block moved back so that it ends at n."""
    scratch = f.allocate(count * lanes.bytes, lanes.bytes) if count else "null"
    f.line(f"%last = sub i64 %n, {lanes.width}")
    f.line("%enough = icmp sge i64 %last, 0")
    f.line("br i1 %enough, label %loop, label %few")
    f.label("few")
    f.line("%some = icmp sgt i64 %n, 0")
    f.line("br i1 %some, label %one, label %done")
    _single_states(program, f, entered_from="few")
    f.label("loop")
    f.line("%i = phi i64 [ 0, %start ], [ %i.next, %latch ]")
    f.line("%over = icmp sgt i64 %i, %last")
    f.line("%row = select i1 %over, i64 %last, i64 %i")
    for a in array_names(program):
        shift = f.let(f"mul i64 %row, %{a}.stride")
        f.line(f"%{a} = getelementptr i8, ptr %{a}.base, i64 {shift}")
    e = Emitter(f, lanes)
    if len(parts) == 1:
        StepWriter(program, e, StatesInLanes(e), scratch, places).run(
            parts[0], _look_ahead(program, f, lanes))
    else:
        _call_pieces(program, f, lanes, parts, places, scratch)
    f.line("br label %latch")
    f.label("latch")
    f.line(f"%i.next = add i64 %i, {lanes.width}")
    f.line("%i.more = icmp slt i64 %i.next, %n")
    f.line("br i1 %i.more, label %loop, label %done")
    f.label("done")


def _look_ahead(program: Program, f: Function, lanes: Lanes,
                part: int = 0, parts: int = 1) -> list[Callable[[], None]]:
    """Requests for the cache lines of a block to come; past the end of the arrays for nothing.

    Some processors do not guess them by themselves, fewer the more lines a block has, and large
    batches then wait for memory: without requests 10⁵ states of a 6-joint arm took three times as
    long on one, and where they are in the caches they cost nothing (`benchmarks/choices.py`). All
    at once the requests would wait for each other; they are spread over the parts of a program.
    """
    lines = []
    for kind, slots in (("in", program.inputs), ("out", program.outputs)):
        sizes = [lanes.width * BYTES[lanes.kind] * math.prod(slot.shape) for slot in slots]
        if kind == "in" or sum(sizes) <= HUGE_BLOCK:
            lines += [(kind, k, at) for k, size in enumerate(sizes)
                      for at in range(0, size, CACHE_LINE)]
    f.module.declarations["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"] = None
    blocks: dict[str, str] = {}

    def ask(kind: str, k: int, at: int) -> None:
        array = f"{kind}{k}"
        if array not in blocks:
            ahead = f.let(f"mul i64 %{array}.stride, {AHEAD[kind] * lanes.width}")
            blocks[array] = f.offset(f"%{array}", ahead)
        how = "i32 0, i32 2" if kind == "in" else "i32 1, i32 3"    # to be read, to be written
        f.line(f"call void @llvm.prefetch.p0(ptr {f.offset(blocks[array], at)}, {how}, i32 1)")

    share = lines[len(lines) * part // parts:len(lines) * (part + 1) // parts]
    return [partial(ask, *line) for line in share]


def _call_pieces(program: Program, f: Function, lanes: Lanes, parts: Sequence[Sequence[Step]],
                 places: dict[int, int], scratch: str) -> None:
    arguments = ", ".join(f"ptr noalias %{a}, i64 %{a}.stride" for a in array_names(program))
    given = ", ".join(f"ptr %{a}, i64 %{a}.stride" for a in array_names(program))
    for k, part in enumerate(parts):
        piece = Function(f.module)
        e = Emitter(piece, lanes)
        StepWriter(program, e, StatesInLanes(e), "%scratch", places).run(
            part, _look_ahead(program, piece, lanes, k, len(parts)))
        piece.finish(f"internal void @piece{k}({arguments}, ptr noalias %scratch)", LANES_APART)
        f.line(f"call void @piece{k}({given}, ptr {scratch})")
