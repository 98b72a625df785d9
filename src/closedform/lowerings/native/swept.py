"""Sweeps as machine code: a function for each loop, called one after the other by `kernel`.

What steps leave for others is in one block of memory, by component: entry e of body k of an array
lies `e · pitch + k` numbers behind its start, so that neighbouring bodies fill a register. The last
register of a map overlaps the one before it. The block is on the stack if it is small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from closedform.lowerings.native.emit import StepWriter
from closedform.lowerings.native.far_angles import add_repair
from closedform.lowerings.native.ir import (
    BYTES,
    LANES_APART,
    Emitter,
    Function,
    Lanes,
    Module,
    number,
)
from closedform.lowerings.native.steps import steps
from closedform.program.program import Program, size
from closedform.program.sweeps import ArrayAt, ColumnLoop, Order, PairLoop, Sweep, Sweeps

ON_STACK = 1 << 18
"""Bytes up to which the block is on the stack: threads have small ones."""
LEAD = 8
"""Numbers in front of each array's first body: the world's is the last of them."""
WIDEST = 16
"""Lanes of any register."""


@dataclass(frozen=True)
class Arrangement:
    """Where everything of some sweeps lies, in numbers."""

    of: Sweeps
    pitch: int
    start: Mapping[str, int]        # of buffers in the block, of tables in the constants
    total: int                      # of the block

    @classmethod
    def make(cls, of: Sweeps) -> Arrangement:
        pitch = LEAD + -(-of.n // LEAD) * LEAD
        pitch += LEAD if (pitch // LEAD) % 2 == 0 else 0       # not all in one set of a cache
        start: dict[str, int] = {}
        total = 0
        for name, entries in of.buffers.items():
            start[name] = total + LEAD
            total += entries * pitch
        wide = [loop.wide for loop in of.loops if isinstance(loop, ColumnLoop)]
        for name, entries in (wide[0] if wide else {}).items():     # of all columns in lanes
            start[name] = total
            total += (of.n + 1) * entries * WIDEST
        constants = 0
        for name, table in of.tables.items():
            start[name] = constants + LEAD
            constants += table.shape[1] * pitch
        return cls(of, pitch, start, total)


def swept_module(of: Sweeps, lanes: Lanes) -> Module:
    """`kernel`, for lanes of the target's width."""
    module, layout = Module(), Arrangement.make(of)
    _add_constants(module, layout, lanes)
    arrays = [f"in{k}" for k in range(len(of.inputs))] + [f"out{k}" for k in range(len(of.outputs))]
    arguments = ", ".join(f"ptr noalias %{a}" for a in arrays)
    given = ", ".join(f"ptr %{a}" for a in arrays)
    main = Function(module)
    amount = layout.total * BYTES[lanes.kind]
    block = main.allocate(amount, 64) if amount <= ON_STACK else main.let(
        f"call ptr {main.imported('malloc')}(i64 {amount})")
    for k, loop in enumerate(of.loops):
        f = Function(module)
        if isinstance(loop, PairLoop):
            _pairs(f, layout, loop, lanes)
        elif isinstance(loop, ColumnLoop):
            _columns(f, layout, loop, lanes)
        else:
            _sweep(f, layout, loop, lanes)
        f.finish(f"internal void @loop{k}({arguments}, ptr noalias %block)", LANES_APART)
        main.line(f"call void @loop{k}({given}, ptr {block})")
    if amount > ON_STACK:
        main.line(f"call void {main.imported('free')}(ptr {block})")
    main.finish(f"dso_local void @kernel({arguments})")
    add_repair(module, lanes)
    return module


def _add_constants(module: Module, layout: Arrangement, lanes: Lanes) -> None:
    of, kind = layout.of, lanes.kind
    parts = []
    for table in of.tables.values():
        padded = np.zeros((table.shape[1], layout.pitch))
        padded[:, LEAD:LEAD + of.n] = table.T
        parts.append(padded.ravel())
    values = np.concatenate([*parts, np.zeros(1)])
    text = ", ".join(f"{kind} {number(float(x), kind)}" for x in values)
    module.declarations[f"@tables = internal constant [{len(values)} x {kind}] [{text}], "
                        "align 64"] = None
    for name, whole in (("parents", of.parents), ("ends", of.ends)):
        text = ", ".join(f"i64 {x}" for x in whole)
        module.declarations[f"@{name} = internal constant [{of.n} x i64] [{text}], "
                            "align 64"] = None


@dataclass
class Bodies:
    """The memory of a step: entries of the arrays at some bodies, and results kept or stored."""

    layout: Arrangement
    program: Program
    e: Emitter
    at: Mapping[str, str]                # own "", "p", "i": numbers of bodies, as names
    known: Mapping[tuple[int, int], str] = field(default_factory=dict)   # read before
    kept: dict[int, str] | None = None   # outputs that are not stored

    def read(self, array: int, entry: int, count: int) -> Sequence[str]:
        return [self.known.get((array, entry + k)) or self._read(array, entry + k)
                for k in range(count)]

    def _read(self, array: int, entry: int) -> str:
        place = ArrayAt.of(self.program.inputs[array].name)
        one = Emitter(self.e.function, Lanes(self.e.lanes.kind, 1, self.e.lanes.fma))
        where = self._place(place, entry)
        if place.array in self._whole or (place.at == "i" and self.e.lanes.width > 1):
            return splat(self.e, one.load(where))
        return self.e.load(where, align=BYTES[self.e.lanes.kind])

    def write(self, array: int, entry: int, values: Sequence[str], constant: bool) -> None:
        for k, x in enumerate(values):
            if self.kept is not None:
                self.kept[array] = x
            else:
                place = ArrayAt.of(self.program.outputs[array].name)
                self.e.store(x, self._place(place, entry + k), align=BYTES[self.e.lanes.kind])

    def fill(self, array: int, count: int, constant: float) -> None:
        for k in range(count):
            self.write(array, k, [self.e.number(constant)], True)

    @property
    def _whole(self) -> set[str]:
        """Inputs that are no arrays over bodies."""
        of = self.layout.of
        return {s.name for s in of.inputs if not s.shape or s.shape[0] != of.n}

    def _place(self, place: ArrayAt, entry: int) -> str:
        of, f, bytes_ = self.layout.of, self.e.function, BYTES[self.e.lanes.kind]
        for prefix, slots in (("in", of.inputs), ("out", of.outputs)):
            for k, slot in enumerate(slots):
                if slot.name == place.array and (prefix == "out" or place.array not in of.buffers):
                    if slot.name in self._whole:
                        return f.offset(f"%{prefix}{k}", entry * bytes_)
                    record = of.record_size(slot) if len(slot.shape) > 1 else 1
                    start = f.let(f"mul i64 {self.at[place.at]}, {record * bytes_}")
                    return f.offset(f.offset(f"%{prefix}{k}", start), entry * bytes_)
        base = "@tables" if place.array in of.tables else "%block"
        first = f.let(f"getelementptr {self.e.lanes.kind}, ptr {base}, i64 {self.at[place.at]}")
        behind = self.layout.start[place.array] + entry * self.layout.pitch
        return f.offset(first, behind * bytes_)


def splat(e: Emitter, x: str) -> str:
    """One number in all lanes."""
    if e.lanes.width == 1:
        return x
    t = e.lanes.type
    first = e.function.let(f"insertelement {t} poison, {e.lanes.kind} {x}, i32 0")
    return e.function.let(f"shufflevector {t} {first}, {t} poison, "
                          f"<{e.lanes.width} x i32> zeroinitializer")


def _run(program: Program, memory: Bodies) -> None:
    StepWriter(program, memory.e, memory, "null", {}).run(
        steps(program, memory.e.lanes.fma, columns=1))


def _sweep(f: Function, layout: Arrangement, loop: Sweep, lanes: Lanes) -> None:
    n, one = layout.of.n, Lanes(lanes.kind, 1, lanes.fma)
    if loop.order is Order.ONCE:
        _run(loop.step, Bodies(layout, loop.step, Emitter(f, one), {"": "-1"}))
    elif loop.order is Order.MAP:
        def group(k: str, _: str) -> None:
            _run(loop.step, Bodies(layout, loop.step, Emitter(f, lanes), {"": k}))
        groups(f, n, lanes.width, group)
    else:
        def body(i: str) -> None:
            k = i if loop.order is Order.OUTWARDS else f.let(f"sub i64 {n - 1}, {i}")
            _run(loop.step, Bodies(layout, loop.step, Emitter(f, one),
                                   {"": k, "p": parent(f, layout.of, k)}))
        groups(f, n, 1, body)


def parent(f: Function, of: Sweeps, k: str) -> str:
    if of.parents == tuple(range(-1, of.n - 1)):
        return f.let(f"sub i64 {k}, 1")
    return f.let(f"load i64, ptr {f.let(f'getelementptr i64, ptr @parents, i64 {k}')}, align 8")


def groups(f: Function, n: int, width: int, body: Callable[..., None]) -> None:
    """body(k) for k = 0, width, …; the last one so that it ends at n ≥ width.

    With a width above 1 the body is also told where it would have begun.
    """
    mark, before = f.name()[1:], f.block
    f.line(f"br label %loop.{mark}")
    f.label(f"loop.{mark}")
    f.line(f"%k.{mark} = phi i64 [ 0, %{before} ], [ %next.{mark}, %latch.{mark} ]")
    over = f.let(f"icmp sgt i64 %k.{mark}, {n - width}")
    if width > 1:
        body(f.let(f"select i1 {over}, i64 {n - width}, i64 %k.{mark}"), f"%k.{mark}")
    else:
        body(f"%k.{mark}")
    f.line(f"br label %latch.{mark}")
    f.label(f"latch.{mark}")
    f.line(f"%next.{mark} = add i64 %k.{mark}, {width}")
    more = f.let(f"icmp slt i64 %next.{mark}, {n}")
    f.line(f"br i1 {more}, label %loop.{mark}, label %done.{mark}")
    f.label(f"done.{mark}")


def _pairs(f: Function, layout: Arrangement, loop: PairLoop, lanes: Lanes) -> None:
    """Row by row; a group of columns has entries before the row, behind it, both or none."""
    of, bytes_ = layout.of, BYTES[lanes.kind]
    e, outputs = Emitter(f, lanes), {s.name: k for k, s in enumerate(of.outputs)}
    where = {y.name: f"%out{outputs[y.name]}" for y in loop.before.outputs}

    def row(i: str) -> None:
        end = f.let(f"load i64, ptr {f.let(f'getelementptr i64, ptr @ends, i64 {i}')}, align 8")
        known = [_row_values(layout, x, e, i) for x in (loop.before, loop.behind)]
        first = f.let(f"mul i64 {i}, {of.n}")

        def group(j: str, _: str) -> None:
            low = _part(layout, loop.before, e, j, known[0], f.let(f"icmp slt i64 {j}, {i}"))
            stop = f.let(f"add i64 {j}, {lanes.width}")
            reached, begun = f.let(f"icmp sgt i64 {stop}, {i}"), f.let(f"icmp slt i64 {j}, {end}")
            high = _part(layout, loop.behind, e, j, known[1], f.let(f"and i1 {reached}, {begun}"))
            before, behind = _masks(f, lanes, i, j, end)
            for k, y in enumerate(loop.before.outputs):
                x = e.select(before, low[k], "zeroinitializer")
                x = e.select(behind, high[k], x)
                at = f.let(f"add i64 {first}, {j}")
                place = f.let(f"getelementptr {lanes.kind}, ptr {where[y.name]}, i64 {at}")
                e.store(x, place, align=bytes_)

        groups(f, of.n, lanes.width, group)
        one = Emitter(f, Lanes(lanes.kind, 1, lanes.fma))
        for name, table in loop.diagonal.items():
            at = f.let(f"mul i64 {i}, {of.n + 1}")
            place = f.let(f"getelementptr {lanes.kind}, ptr {where[name]}, i64 {at}")
            extra = f.let(f"getelementptr {lanes.kind}, ptr @tables, i64 {i}")
            more = one.load(extra, layout.start[table] * bytes_)
            one.store(one.binary("fadd", one.load(place), more), place)

    groups(f, of.n, 1, row)


@dataclass
class WideBodies(Bodies):
    """The memory of a step for several columns: wide arrays and a matrix, all else in all lanes."""

    wide: Mapping[str, int] = field(default_factory=dict)
    given: str = ""                      # b
    result: Callable[[str], None] = lambda x: None      # takes x

    def _read(self, array: int, entry: int) -> str:
        name = self.program.inputs[array].name
        place = ArrayAt.of(name)
        if name == "b":
            return self.given
        if place.array in self.wide:
            return self.e.load(self._wide(place, entry), align=BYTES[self.e.lanes.kind])
        one = Emitter(self.e.function, Lanes(self.e.lanes.kind, 1, self.e.lanes.fma))
        return splat(self.e, one.load(self._place(place, entry)))

    def write(self, array: int, entry: int, values: Sequence[str], constant: bool) -> None:
        name = self.program.outputs[array].name
        for k, x in enumerate(values):
            if name == "x":
                self.result(x)
            else:
                self.e.store(x, self._wide(ArrayAt.of(name), entry + k),
                             align=BYTES[self.e.lanes.kind])

    def _wide(self, place: ArrayAt, entry: int) -> str:
        f, entries, bytes_ = self.e.function, self.wide[place.array], self.e.lanes.bytes
        k = f.let(f"add i64 {self.at[place.at]}, 1")
        shift = f.let(f"mul i64 {k}, {entries * bytes_}")
        start = self.layout.start[place.array] * BYTES[self.e.lanes.kind] + entry * bytes_
        return f.offset(f.offset("%block", shift), start)


def _columns(f: Function, layout: Arrangement, loop: ColumnLoop, lanes: Lanes) -> None:
    """Groups of columns, in each the sweep inwards and the one outwards."""
    of, e, bytes_ = layout.of, Emitter(f, lanes), BYTES[lanes.kind]
    out = f"%out{[s.name for s in of.outputs].index(loop.output)}"

    def entry(k: str, j: str) -> str:
        at = f.let(f"add i64 {f.let(f'mul i64 {k}, {of.n}')}, {j}")
        return f.let(f"getelementptr {lanes.kind}, ptr {out}, i64 {at}")

    def memory(program: Program, k: str, given: str, result: Callable[[str], None]) -> WideBodies:
        at = {"": k, "p": parent(f, of, k)}
        return WideBodies(layout, program, e, at, wide=loop.wide, given=given, result=result)

    def group(j: str, first: str) -> None:
        column = f.let(f"add <{lanes.width} x i64> {_all_lanes(f, lanes, j)}, {_count(lanes)}")
        new = f.let(f"icmp sge <{lanes.width} x i64> {column}, {_all_lanes(f, lanes, first)}")

        def clear(k: str) -> None:
            whole = WideBodies(layout, loop.inwards, e, {"": f.let(f"sub i64 {k}, 1")},
                               wide=loop.wide)
            for name in ("F", "deltas"):
                for c in range(loop.wide[name]):
                    e.store("zeroinitializer", whole._wide(ArrayAt(name), c), align=bytes_)

        groups(f, of.n + 1, 1, clear)

        def inwards(i: str) -> None:
            k = f.let(f"sub i64 {of.n - 1}, {i}")
            if loop.unit:
                own = f.let(f"icmp eq <{lanes.width} x i64> {column}, {_all_lanes(f, lanes, k)}")
                b = e.select(own, e.number(1.0), e.number(0.0))
            else:
                b = e.load(entry(k, j), align=bytes_)
            _run(loop.inwards, memory(loop.inwards, k, b, lambda x: None))

        groups(f, of.n, 1, inwards)

        def outwards(k: str) -> None:
            place = entry(k, j)

            def keep(x: str) -> None:
                old = x if loop.unit else e.select(new, x, e.load(place, align=bytes_))
                e.store(old, place, align=bytes_)

            _run(loop.outwards, memory(loop.outwards, k, "", keep))

        groups(f, of.n, 1, outwards)

    groups(f, of.n, lanes.width, group)


def _count(lanes: Lanes) -> str:
    return "<" + ", ".join(f"i64 {k}" for k in range(lanes.width)) + ">"


def _all_lanes(f: Function, lanes: Lanes, x: str) -> str:
    whole = f"<{lanes.width} x i64>"
    first = f.let(f"insertelement {whole} poison, i64 {x}, i32 0")
    return f.let(f"shufflevector {whole} {first}, {whole} poison, "
                 f"<{lanes.width} x i32> zeroinitializer")


def _row_values(
    layout: Arrangement, program: Program, e: Emitter, i: str,
) -> dict[tuple[int, int], str]:
    """What a step needs of row i, in all lanes."""
    memory = Bodies(layout, program, e, {"i": i})
    used = {x.args for x in program.code if x.op == "input"}
    return {(a, k): memory.read(a, k, 1)[0] for a, slot in enumerate(program.inputs)
            if ArrayAt.of(slot.name).at == "i" for k in range(size(slot.shape)) if (a, k) in used}


def _part(layout: Arrangement, program: Program, e: Emitter, j: str,
          known: Mapping[tuple[int, int], str], needed: str) -> list[str]:
    """The outputs of a step where it is needed, else anything."""
    f, t = e.function, e.lanes.type
    mark, before = f.name()[1:], f.block
    f.line(f"br i1 {needed}, label %part.{mark}, label %join.{mark}")
    f.label(f"part.{mark}")
    kept: dict[int, str] = {}
    _run(program, Bodies(layout, program, e, {"": j}, known, kept))
    f.line(f"br label %join.{mark}")
    f.label(f"join.{mark}")
    return [f.let(f"phi {t} [ zeroinitializer, %{before} ], [ {kept[k]}, %part.{mark} ]")
            for k in range(len(program.outputs))]


def _masks(f: Function, lanes: Lanes, i: str, j: str, end: str) -> tuple[str, str]:
    """Which of the columns from j on lie before row i, and which are it or lie behind it."""
    width, whole = lanes.width, f"<{lanes.width} x i64>"
    column = f.let(f"add {whole} {_all_lanes(f, lanes, j)}, {_count(lanes)}")
    row, last = _all_lanes(f, lanes, i), _all_lanes(f, lanes, end)
    ends = f.let(f"load {whole}, ptr {f.let(f'getelementptr i64, ptr @ends, i64 {j}')}, align 8")
    mask = f"<{width} x i1>"
    before = f.let(f"and {mask} {f.let(f'icmp slt {whole} {column}, {row}')}, "
                   f"{f.let(f'icmp sgt {whole} {ends}, {row}')}")
    behind = f.let(f"and {mask} {f.let(f'icmp sge {whole} {column}, {row}')}, "
                   f"{f.let(f'icmp slt {whole} {column}, {last}')}")
    return before, behind
