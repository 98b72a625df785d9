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

from collections.abc import Sequence
from dataclasses import dataclass, field

from closedform.lowerings.body import Body
from closedform.lowerings.llvm_ir import (
    APART,
    BYTES,
    LANES,
    LANES_APART,
    Emitter,
    Function,
    Lanes,
    Module,
    number,
)
from closedform.lowerings.schedule import Step, pieces, steps, waiting_places
from closedform.lowerings.sincos import add_repair
from closedform.program.program import Program

BATCH_STACK = 1 << 18
"""Bytes of scratch above which `batch` calls `kernel` state by state: threads have small stacks."""
FILLED = 8
"""Entries that are filled with a constant at once."""


@dataclass(frozen=True)
class Rows:
    """Scalar memory: entry k of an array lies k numbers behind its pointer."""

    e: Emitter

    def read(self, array: int, entry: int, count: int) -> Sequence[str]:
        size = BYTES[self.e.lanes.kind]
        return [self.e.load(f"%in{array}", (entry + k) * size) for k in range(count)]

    def write(self, array: int, entry: int, values: Sequence[str], constant: bool) -> None:
        kind, size = self.e.lanes.kind, BYTES[self.e.lanes.kind]
        if len(values) == 1:
            self.e.store(values[0], f"%out{array}", entry * size)
            return
        place = self.e.function.offset(f"%out{array}", entry * size)
        elements = ", ".join(f"{kind} {x}" for x in values)
        self.e.function.line(
            f"store <{len(values)} x {kind}> <{elements}>, ptr {place}, align {size}")

    def fill(self, array: int, count: int, constant: float) -> None:
        kind = self.e.lanes.kind
        self.e.function.line(f"call void @fill(ptr %out{array}, i64 0, i64 {count}, "
                             f"{kind} {number(constant, kind)})")


@dataclass(frozen=True)
class Columns:
    """Row-major memory of several states: a block of entries is read or written and transposed."""

    e: Emitter
    odd: dict[tuple[str, int], str] = field(default_factory=dict)

    def read(self, array: int, entry: int, count: int) -> Sequence[str]:
        rows = [self._load(row, count) for row in self._rows(f"in{array}", entry)]
        return self._transposed(rows)[:count]

    def write(self, array: int, entry: int, values: Sequence[str], constant: bool) -> None:
        width, kind = self.e.lanes.width, self.e.lanes.kind
        if constant:
            lanes = [x.removeprefix(f"splat ({kind} ").removesuffix(")") for x in values]
            lanes += lanes[:1] * (width - len(lanes))
            rows = ["<" + ", ".join(f"{kind} {x}" for x in lanes) + ">"] * width
        else:
            rows = self._transposed([*values, *["zeroinitializer"] * (width - len(values))])
        for place, row in zip(self._rows(f"out{array}", entry), rows, strict=True):
            self._store(row, place, len(values))

    def fill(self, array: int, count: int, constant: float) -> None:
        kind = self.e.lanes.kind
        self.e.function.line(f"call void @fill(ptr %out{array}, i64 %out{array}.stride, "
                             f"i64 {count}, {kind} {number(constant, kind)})")

    def _rows(self, array: str, entry: int) -> list[str]:
        """Where the entry of each state lies."""
        f = self.e.function
        first = f.offset(f"%{array}", entry * BYTES[self.e.lanes.kind])
        return [first, *(f.offset(first, shift) for shift in self._shifts(array))]

    def _shifts(self, array: str) -> list[str]:
        """1, 2, ... strides: odd ones once per function, doubled ones are part of an address."""
        f, shifts = self.e.function, [f"%{array}.stride"]
        for k in range(2, self.e.lanes.width):
            if k % 2:
                if (array, k) not in self.odd:
                    self.odd[array, k] = f.let(f"mul i64 %{array}.stride, {k}")
                shifts.append(self.odd[array, k])
            else:
                power = (k & -k).bit_length() - 1
                shifts.append(f.let(f"shl i64 {shifts[k // (k & -k) - 1]}, {power}"))
        return shifts

    def _mask(self, count: int) -> str:
        return "<" + ", ".join(f"i1 {int(k < count)}" for k in range(self.e.lanes.width)) + ">"

    def _load(self, place: str, count: int) -> str:
        lanes, f, align = self.e.lanes, self.e.function, BYTES[self.e.lanes.kind]
        if count == lanes.width:
            return self.e.load(place, align=align)
        name, t, m = f"@llvm.masked.load.{lanes.suffix}.p0", lanes.type, lanes.of("i1")
        f.module.declarations[f"declare {t} {name}(ptr, i32, {m}, {t})"] = None
        return f.let(f"call {t} {name}(ptr {place}, i32 {align}, {m} {self._mask(count)}, "
                     f"{t} zeroinitializer)")

    def _store(self, value: str, place: str, count: int) -> None:
        lanes, f, align = self.e.lanes, self.e.function, BYTES[self.e.lanes.kind]
        if count == lanes.width:
            self.e.store(value, place, align=align)
            return
        name, t, m = f"@llvm.masked.store.{lanes.suffix}.p0", lanes.type, lanes.of("i1")
        f.module.declarations[f"declare void {name}({t}, ptr, i32, {m})"] = None
        f.line(f"call void {name}({t} {value}, ptr {place}, i32 {align}, {m} {self._mask(count)})")

    def _transposed(self, rows: Sequence[str]) -> list[str]:
        """A square of registers with rows and columns exchanged: log₂(width) rounds of shuffles."""
        f, lanes, current = self.e.function, self.e.lanes, list(rows)
        step = 1
        while step < lanes.width:
            following = list(current)
            for i in (i for i in range(lanes.width) if not i & step):
                for target, shift in ((i, 0), (i + step, step)):
                    mask = ", ".join(
                        f"i32 {lanes.width + k - step + shift if k & step else k + shift}"
                        for k in range(lanes.width))
                    pair = ", ".join(f"{lanes.type} {x}" for x in (current[i], current[i + step]))
                    following[target] = f.let(
                        f"shufflevector {pair}, <{lanes.width} x i32> <{mask}>")
            current, step = following, 2 * step
        return current


def _arrays(program: Program) -> list[str]:
    return ([f"in{k}" for k in range(len(program.inputs))]
            + [f"out{k}" for k in range(len(program.outputs))])


def scalar_module(program: Program, lanes: Lanes) -> Module:
    """`kernel`, for lanes of width 1."""
    module = Module()
    parts = pieces(steps(program, lanes.fma, columns=1), columns=1)
    slots, count = waiting_places(parts)
    arguments = ", ".join(f"ptr noalias %{a}" for a in _arrays(program))
    main = Function(module)
    scratch = main.allocate(count * lanes.bytes, lanes.bytes) if count else "null"
    if len(parts) == 1:
        e = Emitter(main, lanes)
        Body(program, e, Rows(e), scratch, slots).run(parts[0])
    else:
        given = ", ".join(f"ptr %{a}" for a in _arrays(program))
        for k, part in enumerate(parts):
            piece = Function(module)
            e = Emitter(piece, lanes)
            Body(program, e, Rows(e), "%scratch", slots).run(part)
            piece.finish(f"internal void @piece{k}({arguments}, ptr noalias %scratch)", APART)
            main.line(f"call void @piece{k}({given}, ptr {scratch})")
    main.finish(f"dso_local void @kernel({arguments})")
    _add_functions_called(module, parts, lanes)
    return module


def _add_functions_called(module: Module, parts: Sequence[Sequence[Step]], lanes: Lanes) -> None:
    called = {step.op for part in parts for step in part}
    if "sincos" in called:
        add_repair(module, lanes.kind)
    if "fill" in called:
        _add_fill(module, lanes)


def _add_fill(module: Module, lanes: Lanes) -> None:
    """void fill(out, stride, n, x): x at n ≥ `FILLED` entries of each state.

    The last store of a state overlaps the one before.
    """
    f = Function(module)
    e, size = Emitter(f, Lanes(lanes.kind, FILLED, lanes.fma)), BYTES[lanes.kind]
    t = e.lanes.type
    x = f.let(f"shufflevector {t} {f.let(f'insertelement {t} poison, {lanes.kind} %x, i32 0')}, "
              f"{t} poison, <{FILLED} x i32> zeroinitializer")
    f.line(f"%last = sub i64 %n, {FILLED}")
    f.line("br label %row")
    f.label("row")
    f.line("%r = phi i64 [ 0, %start ], [ %r.next, %end ]")
    row = f.offset("%out", f.let("mul i64 %r, %stride"))
    f.line("br label %part")
    f.label("part")
    f.line("%k = phi i64 [ 0, %row ], [ %k.next, %part ]")
    e.store(x, f.let(f"getelementptr {lanes.kind}, ptr {row}, i64 %k"), align=size)
    f.line(f"%k.next = add i64 %k, {FILLED}")
    f.line("%k.more = icmp slt i64 %k.next, %last")
    f.line("br i1 %k.more, label %part, label %end")
    f.label("end")
    e.store(x, f.let(f"getelementptr {lanes.kind}, ptr {row}, i64 %last"), align=size)
    f.line("%r.next = add i64 %r, 1")
    f.line(f"%r.more = icmp slt i64 %r.next, {lanes.width}")
    f.line("br i1 %r.more, label %row, label %done")
    f.label("done")
    f.finish(f"internal void @fill(ptr %out, i64 %stride, i64 %n, {lanes.kind} %x)", APART)


def batch_module(program: Program, lanes: Lanes) -> Module:
    """`batch`, for lanes of the target's width."""
    module = Module()
    columns = lanes.width
    parts = pieces(steps(program, lanes.fma, columns), columns)
    slots, count = waiting_places(parts)
    main = Function(module)
    if lanes.width == 1 or count * lanes.bytes > BATCH_STACK:
        _loop_of_single_states(program, main)
    else:
        _loop_of_blocks(program, main, lanes, parts, slots, count)
        _add_functions_called(module, parts, lanes)
    arguments = ", ".join(f"ptr noalias %{a}.base, i64 %{a}.stride" for a in _arrays(program))
    main.finish(f"dso_local void @batch(i64 %n, {arguments})", LANES)
    return module


def _loop_of_single_states(program: Program, f: Function) -> None:
    """kernel(state) for all n states."""
    f.line("%some = icmp sgt i64 %n, 0")
    f.line("br i1 %some, label %one, label %done")
    _single_states(program, f, entered_from="start")
    f.label("done")


def _single_states(program: Program, f: Function, entered_from: str) -> None:
    """The loop `one`, which goes on to `done`."""
    f.label("one")
    f.line(f"%k = phi i64 [ 0, %{entered_from} ], [ %k.next, %one ]")
    kernel = f.imported("kernel")
    places = []
    for a in _arrays(program):
        shift = f.let(f"mul i64 %k, %{a}.stride")
        places.append(f"ptr {f.offset(f'%{a}.base', shift)}")
    f.line(f"call void {kernel}({', '.join(places)})")
    f.line("%k.next = add i64 %k, 1")
    f.line("%k.more = icmp slt i64 %k.next, %n")
    f.line("br i1 %k.more, label %one, label %done")


def _loop_of_blocks(program: Program, f: Function, lanes: Lanes, parts: Sequence[Sequence[Step]],
                    slots: dict[int, int], count: int) -> None:
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
    for a in _arrays(program):
        shift = f.let(f"mul i64 %row, %{a}.stride")
        f.line(f"%{a} = getelementptr i8, ptr %{a}.base, i64 {shift}")
    e = Emitter(f, lanes)
    if len(parts) == 1:
        Body(program, e, Columns(e), scratch, slots).run(parts[0])
    else:
        _call_pieces(program, f, lanes, parts, slots, scratch)
    f.line("br label %latch")
    f.label("latch")
    f.line(f"%i.next = add i64 %i, {lanes.width}")
    f.line("%i.more = icmp slt i64 %i.next, %n")
    f.line("br i1 %i.more, label %loop, label %done")
    f.label("done")


def _call_pieces(program: Program, f: Function, lanes: Lanes, parts: Sequence[Sequence[Step]],
                 slots: dict[int, int], scratch: str) -> None:
    arguments = ", ".join(f"ptr noalias %{a}, i64 %{a}.stride" for a in _arrays(program))
    given = ", ".join(f"ptr %{a}, i64 %{a}.stride" for a in _arrays(program))
    for k, part in enumerate(parts):
        piece = Function(f.module)
        e = Emitter(piece, lanes)
        Body(program, e, Columns(e), "%scratch", slots).run(part)
        piece.finish(f"internal void @piece{k}({arguments}, ptr noalias %scratch)", LANES_APART)
        f.line(f"call void @piece{k}({given}, ptr {scratch})")
