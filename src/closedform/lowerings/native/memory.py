"""Where code on a CPU finds its inputs and puts its outputs: one state, or several in lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from closedform.lowerings.native.ir import APART, BYTES, Emitter, Function, Lanes, Module, number

FILLED = 8
"""Entries that are filled with a constant at once."""


@dataclass(frozen=True)
class OneState:
    """Scalar memory: entry k of an array lies k numbers behind its pointer."""

    e: Emitter

    def read(self, array: int, entry: int, count: int) -> Sequence[str]:
        size, f = BYTES[self.e.lanes.kind], self.e.function
        return [self.e.load(f.near(f"%in{array}", (entry + k) * size)) for k in range(count)]

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
class StatesInLanes:
    """Row-major memory of several states: a block of entries is read or written and transposed."""

    e: Emitter
    odd: dict[tuple[str, int], str] = field(default_factory=dict)

    def read(self, array: int, entry: int, count: int) -> Sequence[str]:
        rows = [self._load(row, count) for row in self._rows(f"in{array}", entry)]
        return transposed(self.e, rows)[:count]

    def write(self, array: int, entry: int, values: Sequence[str], constant: bool) -> None:
        width, kind = self.e.lanes.width, self.e.lanes.kind
        if constant:
            lanes = [x.removeprefix(f"splat ({kind} ").removesuffix(")") for x in values]
            lanes += lanes[:1] * (width - len(lanes))
            rows = ["<" + ", ".join(f"{kind} {x}" for x in lanes) + ">"] * width
        else:
            rows = transposed(self.e, [*values, *["zeroinitializer"] * (width - len(values))])
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


def transposed(e: Emitter, rows: Sequence[str]) -> list[str]:
    """A square of registers with rows and columns exchanged: log₂(width) rounds of shuffles."""
    f, lanes, current = e.function, e.lanes, list(rows)
    step = 1
    while step < lanes.width:
        following = list(current)
        for i in (i for i in range(lanes.width) if not i & step):
            for target, shift in ((i, 0), (i + step, step)):
                mask = ", ".join(
                    f"i32 {lanes.width + k - step + shift if k & step else k + shift}"
                    for k in range(lanes.width))
                pair = ", ".join(f"{lanes.type} {x}" for x in (current[i], current[i + step]))
                following[target] = f.let(f"shufflevector {pair}, <{lanes.width} x i32> <{mask}>")
        current, step = following, 2 * step
    return current


def add_fill(module: Module, lanes: Lanes) -> None:
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
