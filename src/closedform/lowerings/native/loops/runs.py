"""Sweeps along a chain in lanes: as many runs of it at a time as a register has numbers.

A chain of n units is cut into runs of r neighbours each. Unit j of every run is in one register,
number j, so that a sweep takes r steps and not n, and no number is read that was stored beside
others a moment ago. Where a run begins is known from those before it: a first sweep finds what each
run hands on in its own frame, a few joins between lanes tell where they begin, and a second sweep
is the one that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from closedform.lowerings.native.ir import BYTES, Emitter, Function, Lanes, Module
from closedform.lowerings.native.loops.arrangement import Arrangement
from closedform.lowerings.native.loops.memory import UnitMemory, carried_groups, groups, run
from closedform.lowerings.native.loops.pairs import all_lanes
from closedform.lowerings.native.memory import transposed
from closedform.program.sweeps import ArrayAt, Order, UnitSweep, entries_read

Handed = Mapping[int, int]
"""Inputs that the unit before hands on, and its outputs that these are."""


class RunSweep:
    """A sweep that may be cut, for all runs at once."""

    def __init__(self, f: Function, layout: Arrangement, loop: UnitSweep, handed: Handed,
                 lanes: Lanes) -> None:
        assert layout.runs is not None and loop.joined is not None
        self.f, self.layout, self.loop, self.handed = f, layout, loop, handed
        self.e, self.runs, self.joined = Emitter(f, lanes), layout.runs, loop.joined
        self.entries = [x for x in sorted(entries_read(loop.step)) if x[0] in handed]
        self.names = [(ArrayAt.of(loop.step.inputs[a].name).array, entry)
                      for a, entry in self.entries]
        self.neutral = [self.e.number(loop.neutral[array][entry]) for array, entry in self.names]
        self.all = frozenset(range(len(loop.step.outputs)))

    def run(self) -> None:
        (self._outwards if self.loop.order is Order.OUTWARDS else self._inwards)()

    def _outwards(self) -> None:
        length, world = self.runs.length, self._loaded({"p": "-1"}, Emitter(
            self.f, Lanes(self.e.lanes.kind, 1, self.e.lanes.fma)))

        def step(unstored: frozenset[int]) -> Callable[[str, list[str]], list[str]]:
            return lambda j, given: self._stepped({"": self._row(j), "w": "-1"}, given, unstored)

        start = [self._first_lane(x, y) for x, y in zip(self.neutral, world, strict=True)]
        own = carried_groups(self.f, length, self.e.lanes.type, start, step(self.all))
        begun = [self._moved(x, 1, y) for x, y in zip(self._scanned(own, 1), start, strict=True)]
        carried_groups(self.f, length, self.e.lanes.type, begun, step(frozenset()))

    def _inwards(self) -> None:
        last = self.runs.length - 1
        raw = self._masked(str(last), self._loaded({"": self._row(str(last))}, self.e))

        def step(unstored: frozenset[int]) -> Callable[[str, list[str]], list[str]]:
            def stepped(i: str, given: list[str]) -> list[str]:
                j = self.f.let(f"sub i64 {last}, {i}")
                before = self.f.let(f"sub i64 {j}, 1")
                at = {"": self._row(j), "p": self._row(before), "w": "-1"}
                return self._stepped(at, given, unstored, before)
            return stepped

        own = carried_groups(self.f, last, self.e.lanes.type, raw, step(self.all))
        behind = [self._moved(x, -1, y)
                  for x, y in zip(self._scanned(own, -1), self.neutral, strict=True)]
        start = self._join(behind, raw)
        for (array, entry), x in zip(self.names, start, strict=True):
            self.e.store(x, self._place(array, entry, self._row(str(last))),
                         align=BYTES[self.e.lanes.kind])
        carried_groups(self.f, last, self.e.lanes.type, start, step(frozenset()))
        one = Emitter(self.f, Lanes(self.e.lanes.kind, 1, self.e.lanes.fma))
        if self.layout.read_of_world(self.loop):
            run(UnitMemory(self.layout, self.loop.step, one, {"": "0", "p": "-1", "w": "-1"}))

    # ------------------------------------------------------------------ steps
    def _row(self, j: str) -> str:
        """The place of unit j of the first run."""
        return self.f.let(f"mul i64 {j}, {self.runs.lanes}")

    def _place(self, array: str, entry: int, k: str) -> str:
        memory = UnitMemory(self.layout, self.loop.step, self.e, {"": k})
        return memory.place(ArrayAt(array), entry)

    def _loaded(self, at: Mapping[str, str], e: Emitter) -> list[str]:
        memory = UnitMemory(self.layout, self.loop.step, e, at, own=("", "p"))
        return [memory.read(a, entry, 1)[0] for a, entry in self.entries]

    def _stepped(self, at: Mapping[str, str], given: Sequence[str], unstored: frozenset[int],
                 before: str = "") -> list[str]:
        """What a unit of every run hands on; it may read what those `before` have themselves."""
        known = dict(zip(self.entries, given, strict=True))
        memory = UnitMemory(self.layout, self.loop.step, self.e, at, known, unstored=unstored,
                            own=("", "p"))
        if before:
            others = [x for x in sorted(entries_read(self.loop.step)) if x not in known]
            known |= dict(zip(others, self._masked(before, [
                memory.read(a, entry, 1)[0] for a, entry in others]), strict=True))
        found = run(memory)
        return [found[self.handed[a], entry] for a, entry in self.entries]

    def _masked(self, j: str, values: Sequence[str]) -> list[str]:
        """Values of unit j of each run, none where the last runs have no such unit."""
        runs, n = self.runs, self.layout.of.n
        if runs.length * runs.lanes == n:
            return list(values)
        kind = f"<{runs.lanes} x i64>"
        first = ", ".join(f"i64 {k * runs.length}" for k in range(runs.lanes))
        end = all_lanes(self.f, self.e.lanes, self.f.let(f"sub i64 {n}, {j}"))
        there = self.f.let(f"icmp slt {kind} <{first}>, {end}")
        zero = self.e.number(0.0)
        return [self.e.select(there, x, zero) for x in values]

    # ------------------------------------------------------------------ between lanes
    def _scanned(self, own: Sequence[str], by: int) -> list[str]:
        """In each lane its own joined with those of all lanes before it, or behind it."""
        found, shift = list(own), by
        while abs(shift) < self.runs.lanes:
            moved = [self._moved(x, shift, y) for x, y in zip(found, self.neutral, strict=True)]
            found, shift = self._join(moved, found), 2 * shift
        return found

    def _join(self, before: Sequence[str], own: Sequence[str]) -> list[str]:
        program = self.joined
        given = {(f"{array}_p", entry): x for (array, entry), x in zip(
            self.names, before, strict=True)} | dict(zip(self.names, own, strict=True))
        known = {(a, entry): given[program.inputs[a].name, entry]
                 for a, entry in entries_read(program)}
        memory = UnitMemory(self.layout, program, self.e, {}, known,
                            unstored=frozenset(range(len(program.outputs))))
        found, at = run(memory), {y.name: k for k, y in enumerate(program.outputs)}
        return [found[at[array], entry] for array, entry in self.names]

    def _moved(self, x: str, by: int, others: str) -> str:
        """The numbers of a register in lanes further up, with `others` in those that are left."""
        count = self.runs.lanes
        lanes = [k - by if 0 <= k - by < count else count + k for k in range(count)]
        t, mask = self.e.lanes.type, ", ".join(f"i32 {k}" for k in lanes)
        return self.f.let(f"shufflevector {t} {x}, {t} {others}, <{count} x i32> <{mask}>")

    def _first_lane(self, x: str, y: str) -> str:
        lanes = self.e.lanes
        return self.f.let(f"insertelement {lanes.type} {x}, {lanes.kind} {y}, i32 0")


# ---------------------------------------------------------------------- vectors
def add_moves(module: Module, layout: Arrangement, lanes: Lanes) -> None:
    """void laid(from, to) and taken(from, to): a vector over the units into runs, and back."""
    for name, write in (("laid", _lay), ("taken", _take)):
        f = Function(module)
        _blocks(f, layout, lanes, write)
        f.finish(f"internal void @{name}(ptr noalias %from, ptr noalias %to)", "#3")


def _blocks(f: Function, layout: Arrangement, lanes: Lanes,
            write: Callable[[_Block], None]) -> None:
    assert layout.runs is not None
    e, length = Emitter(f, lanes), layout.runs.length
    if length < lanes.width:
        write(_Block(e, layout, "0", length))
    else:
        groups(f, length, lanes.width,
               lambda j, *_: write(_Block(e, layout, j, lanes.width)))


class _Block:
    """A square of numbers: units j, j + 1, … of all runs."""

    def __init__(self, e: Emitter, layout: Arrangement, j: str, rows: int) -> None:
        assert layout.runs is not None
        self.e, self.f, self.j, self.rows = e, e.function, j, rows
        self.n, self.length, self.bytes = layout.of.n, layout.runs.length, BYTES[e.lanes.kind]

    def run_at(self, pointer: str, k: int) -> str:
        """Where the units of run k lie in a vector."""
        first = self.f.let(f"getelementptr {self.e.lanes.kind}, ptr {pointer}, i64 {self.j}")
        return self.f.offset(first, k * self.length * self.bytes)

    def row_at(self, pointer: str, t: int) -> str:
        """Where unit j + t of all runs lies."""
        first = self.f.let(f"getelementptr {self.e.lanes.type}, ptr {pointer}, i64 {self.j}")
        return self.f.offset(first, t * self.e.lanes.bytes)

    def mask(self, k: int) -> str | None:
        """Which units there are of run k, None: all."""
        width = self.e.lanes.width
        if (k + 1) * self.length <= self.n and self.rows == width:
            return None
        kind = f"<{width} x i64>"
        numbers = ", ".join(f"i64 {t}" for t in range(width))
        there = min(self.length, max(self.n - k * self.length, 0))
        left = all_lanes(self.f, self.e.lanes, self.f.let(f"sub i64 {there}, {self.j}"))
        return self.f.let(f"icmp slt {kind} <{numbers}>, {left}")


def _lay(block: _Block) -> None:
    e, f, t = block.e, block.f, block.e.lanes.type
    rows = []
    for k in range(e.lanes.width):
        mask, place = block.mask(k), block.run_at("%from", k)
        if mask is None:
            rows.append(e.load(place, align=block.bytes))
            continue
        name, m = f"@llvm.masked.load.{e.lanes.suffix}.p0", e.lanes.of("i1")
        f.module.declarations[f"declare {t} {name}(ptr, i32, {m}, {t})"] = None
        rows.append(f.let(f"call {t} {name}(ptr {place}, i32 {block.bytes}, {m} {mask}, "
                          f"{t} zeroinitializer)"))
    for k, x in enumerate(transposed(e, rows)[:block.rows]):
        e.store(x, block.row_at("%to", k), align=block.bytes)


def _take(block: _Block) -> None:
    e, f, t = block.e, block.f, block.e.lanes.type
    rows = [e.load(block.row_at("%from", k), align=block.bytes) for k in range(block.rows)]
    rows += ["zeroinitializer"] * (e.lanes.width - block.rows)
    for k, x in enumerate(transposed(e, rows)):
        mask, place = block.mask(k), block.run_at("%to", k)
        if mask is None:
            e.store(x, place, align=block.bytes)
            continue
        name, m = f"@llvm.masked.store.{e.lanes.suffix}.p0", e.lanes.of("i1")
        f.module.declarations[f"declare void {name}({t}, ptr, i32, {m})"] = None
        f.line(f"call void {name}({t} {x}, ptr {place}, i32 {block.bytes}, {m} {mask})")
