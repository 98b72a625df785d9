"""Steps for all units: in lanes where their order is free, else one after the other.

A sweep hands what the next unit needs on in registers: outwards what a parent has to its first
child, inwards what a first child has added up to its parent. On chains nothing else is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from closedform.lowerings.native.ir import Emitter, Function, Lanes
from closedform.lowerings.native.loops.arrangement import Arrangement
from closedform.lowerings.native.loops.memory import (
    UnitMemory,
    carried_groups,
    groups,
    listed,
    run,
)
from closedform.lowerings.native.loops.runs import RunSweep
from closedform.program.sweeps import ArrayAt, Order, UnitSweep, entries_read


def add_sweep(f: Function, layout: Arrangement, number: int, lanes: Lanes) -> None:
    """The loop of that number, a sweep."""
    loop = layout.of.loops[number]
    assert isinstance(loop, UnitSweep)
    one = Emitter(f, Lanes(lanes.kind, 1, lanes.fma))
    at = {ending: numbers for ending, numbers in loop.at.items() if ending}
    if loop.order is Order.ONCE:
        world = {"": "-1", "w": "-1"}
        fixed = {ending: str(layout.place(numbers[0])) for ending, numbers in at.items()}
        units = {ending: str(numbers[0]) for ending, numbers in at.items()}
        run(UnitMemory(layout, loop.step, one, world | fixed, units=world | units))
    elif layout.runs and loop.order is Order.MAP:
        e = Emitter(f, lanes)
        groups(f, layout.runs.lanes * layout.runs.length, e.lanes.width, lambda k, *_: run(
            UnitMemory(layout, loop.step, e, {**dict.fromkeys(at, k), "": k, "w": "-1"},
                       own=("", *at))))
    elif layout.runs and loop.joined:
        RunSweep(f, layout, loop, handed_on(loop), lanes).run()
    elif loop.order is Order.MAP:
        e = Emitter(f, lanes) if _in_lanes(layout, loop) else one

        def group(k: str, *_: str) -> None:
            there = {ending: listed(f, layout, x, k) for ending, x in at.items()}
            run(UnitMemory(layout, loop.step, e, {"": k, "w": "-1", **there}))
        groups(f, layout.of.n, e.lanes.width, group)
    elif loop.order is Order.LISTED:
        def item(m: str) -> None:
            there = {ending: listed(f, layout, x, m) for ending, x in loop.at.items()}
            run(UnitMemory(layout, loop.step, one, {"w": "-1", **there}))
        groups(f, len(loop.at[""]), 1, item)
    else:
        _Handing(f, layout, number, loop, one).run()


def _in_lanes(layout: Arrangement, loop: UnitSweep) -> bool:
    """Whether neighbouring units may be in one register; the last overlaps the one before it."""
    of, step = layout.of, loop.step
    read = {step.inputs[a].name for a, _ in entries_read(step)}
    written = {y.name for y in step.outputs}
    for array, ending in map(ArrayAt.of, read | written):
        spread = ending not in ("", "w") and loop.at[ending] != tuple(range(of.n))
        outside = array not in of.buffers and array not in of.tables
        if spread or (outside and of.places[array].record > 1):
            return False
    return not read & written


@dataclass
class _Handing:
    """A sweep in the order of the tree."""

    f: Function
    layout: Arrangement
    number: int
    loop: UnitSweep
    e: Emitter

    def run(self) -> None:
        f, of, outwards = self.f, self.layout.of, self.loop.order is Order.OUTWARDS
        step, handed = self.loop.step, handed_on(self.loop)
        start = self._loaded(handed, "-1" if outwards else str(self.layout.place(of.n - 1)))
        later = self.layout.read_later(self.number)
        unstored = frozenset(y for y in handed.values() if of.is_chain and ArrayAt.of(
            step.outputs[y].name).array not in later
            and ArrayAt.of(step.outputs[y].name).array in of.buffers)
        at = {ending: x for ending, x in self.loop.at.items() if ending}

        def unit(i: str, given: list[str]) -> list[str]:
            k = i if outwards else f.let(f"sub i64 {of.n - 1}, {i}")
            p = listed(f, self.layout, of.parents, k)
            units = {"": k, "p": p, "w": "-1"}
            if self.layout.runs:
                k, p = (listed(f, self.layout, tuple(map(self.layout.place, x)), k)
                        for x in (range(of.n), of.parents))
            if not of.is_chain:
                given = self._checked(handed, given, k, p)
            known = dict(zip(self._entries(handed), given, strict=True))
            there = {ending: listed(f, self.layout, x, k) for ending, x in at.items()}
            places = {"": k, "p": p, "w": "-1", **there}
            found = run(UnitMemory(self.layout, step, self.e, places, known, unstored=unstored,
                                   units={**places, **units}))
            return [found[handed[a], entry] for a, entry in self._entries(handed)]

        carried_groups(f, of.n, self.e.lanes.type, start, unit)

    def _entries(self, handed: dict[int, int]) -> list[tuple[int, int]]:
        """Those that the step reads."""
        return [x for x in sorted(entries_read(self.loop.step)) if x[0] in handed]

    def _loaded(self, handed: dict[int, int], k: str) -> list[str]:
        """What is handed on, from memory."""
        memory = UnitMemory(self.layout, self.loop.step, self.e, {"": k, "p": k})
        return [memory.read(a, entry, 1)[0] for a, entry in self._entries(handed)]

    def _checked(self, handed: dict[int, int], given: list[str], k: str, p: str) -> list[str]:
        """What was handed on if it is from the right unit, else what memory has."""
        f, of, t = self.f, self.layout.of, self.e.lanes.type
        if self.loop.order is Order.OUTWARDS:
            right, place = f.let(f"icmp eq i64 {p}, {f.let(f'sub i64 {k}, 1')}"), p
        else:                                       # that unit k has a child: it is the next one
            end = listed(f, self.layout, of.ends, k)
            right, place = f.let(f"icmp sgt i64 {end}, {f.let(f'add i64 {k}, 1')}"), k
        mark, before = f.name()[1:], f.block
        f.line(f"br i1 {right}, label %join.{mark}, label %load.{mark}")
        f.label(f"load.{mark}")
        read = self._loaded(handed, place)
        f.line(f"br label %join.{mark}")
        f.label(f"join.{mark}")
        return [f.let(f"phi {t} [ {x}, %{before} ], [ {y}, %load.{mark} ]")
                for x, y in zip(given, read, strict=True)]


def handed_on(loop: UnitSweep) -> dict[int, int]:
    """Inputs of a sweep that the unit before hands on, and its outputs that these are."""
    step, ending = loop.step, ("p", "") if loop.order is Order.OUTWARDS else ("", "p")
    outputs = {ArrayAt.of(y.name): k for k, y in enumerate(step.outputs)}
    return {k: outputs[ArrayAt(array, ending[1])] for k, x in enumerate(step.inputs)
            for array, at in [ArrayAt.of(x.name)]
            if at == ending[0] and ArrayAt(array, ending[1]) in outputs}
