"""The steps that a thread runs, in the order with the fewest values alive.

A step is an arithmetic instruction, a fused product and sum, or the sine and cosine of an angle.
What is computed is what the CPU computes, so that float64 results agree bit for bit; the order is
the GPU's own, because a thread has 255 registers and whatever does not fit waits in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from closedform.lowerings.native.steps import Step, fused_products, step_of
from closedform.program.ordering.live_ranges import eager_orders
from closedform.program.program import LEAVES, Entry, Instruction, Output, Program

ABSENT = -2
"""The place of an output's entry that another kernel writes."""
WAITING = "waiting"
"""The input and output of pieces of a program for what waits between them."""
STAGED = "stage", "carry", "end"
"""Steps that put an entry into the segment that is filled, or into what is written with it: the
first ones of the following segment, and the last ones of a row in front of the next row."""
COST = {"sincos": 45, "div": 12, "flush": 80}
"""Instructions of a step, where it is not one."""
WRITE = 3
"""Instructions that write an entry: its address, a sign, the store."""
FEW = 5000
"""Steps up to which many orders are tried."""


class Ordered(NamedTuple):
    """Steps, and the largest number of computed values that are alive between two of them."""

    steps: tuple[Step, ...]
    live: int


def arithmetic(program: Program) -> list[Step]:
    """All steps in the order of the program; sine and cosine of an angle at the first of both."""
    fused = fused_products(program)
    swallowed = set(fused.values())
    pairs: dict[int, list[int]] = {}
    for place, (op, args, _) in enumerate(program.code):
        if op in ("sin", "cos"):
            pairs.setdefault(args[0], [-1, -1])[op == "cos"] = place
    found, done = [], set(swallowed)
    for place, (op, args, _) in enumerate(program.code):
        if op in LEAVES or place in done:
            continue
        if op in ("sin", "cos"):
            done.update(pairs[args[0]])
            found.append(Step("sincos", tuple(pairs[args[0]]), args))
        else:
            found.append(step_of(program, place, fused))
    return found


@lru_cache(maxsize=8)
def ordered(program: Program, segment: int = 0, carried: int = 0,
            apart: bool = False) -> Ordered:
    """The order with the smallest largest live set of those tried; `apart`: see `plan.py`.

    With segments of so many entries every output is written by steps of their own: "stage" for each
    entry when its segment is due, "carry" for the first ones of the following segment once more,
    "end" for the last ones of a row where the segment is the first of one, and "flush" when all are
    there.
    """
    steps = arithmetic(program)
    if segment:
        return _by_segments(program, steps, segment, carried, apart)
    if not steps:
        return Ordered((), 0)
    graph, made_by = _graph(program, steps)
    visits = list(_visits(graph))
    best: Ordered | None = None
    for order in eager_orders(graph, visits[:1] if len(steps) > FEW else visits):
        chosen = tuple(steps[made_by[i]] for i in order if i in made_by)
        live = largest_live_set(program, chosen)
        if best is None or live < best.live:
            best = Ordered(chosen, live)
    assert best is not None
    return best


def _by_segments(program: Program, steps: Sequence[Step], segment: int, carried: int,
                 apart: bool) -> Ordered:
    """Rows from the last to the first, those of all outputs side by side, or one after the other.

    An entry is staged as soon as it is known and the segment before is written. Later rows of a
    robot's matrices belong to limbs, whose values are then done with.
    """
    starts = sorted((-k, array) for array, output in enumerate(program.outputs)
                    if output.name != WAITING for k in range(0, len(output.entries), segment)
                    if output.entries[k].index != ABSENT)
    if apart:
        starts.sort(key=lambda at: (at[1], at[0]))
    graph, made_by = _graph(program, steps)
    made_at = {i: place for place, k in made_by.items() for i in steps[k].results}
    due = [(array, -k, list(_segment(program.outputs[array].entries, -k, segment, carried)))
           for k, array in starts]
    roots = [made_at[e.index] for entries in (*([e for *_, e in found] for *_, found in due), *(
        output.entries for output in program.outputs)) for e in entries if e.index in made_at]
    walk = list(eager_orders(graph, [roots]))[-1]
    left = [steps[made_by[i]] for i in walk if i in made_by]
    born = {i: k for k, step in enumerate(left) for i in step.results}
    found: list[Step] = []
    at = 0
    for array, start, staged in due:
        until = at
        later: dict[int, list[Step]] = {}
        for how, k, e in staged:
            step = Step(how, (), (e.index,) * (e.index >= 0), array, k)
            known = born.get(e.index, -1)
            if known < at:
                found.append(step)
            else:
                later.setdefault(known, []).append(step)
                until = max(until, known + 1)
        for k in range(at, until):
            found += [left[k], *later.get(k, ())]
        at = until
        found.append(Step("flush", (), (), array, start))
    return Ordered((*found, *left[at:]), largest_live_set(program, found))


def _segment(entries: Sequence[Entry], start: int, segment: int,
             carried: int) -> Iterator[tuple[str, int, Entry]]:
    """What has to be staged: how, which of a row's entries, and the entry."""
    stage, carry, end = STAGED
    last = len(entries)
    for k in range(start, min(start + segment + carried, last)):
        yield (stage if k < start + segment else carry), k, entries[k]
    if not start and last > carried:
        yield from ((end, k, entries[k]) for k in range(last - carried, last))


def largest_live_set(program: Program, steps: Sequence[Step]) -> int:
    """Computed values; inputs can be read again, and constants are part of the code."""
    last = {i: k for k, step in enumerate(steps) for i in step.args}
    ends = [0] * (len(steps) + 1)
    now = largest = 0
    for k, step in enumerate(steps):
        now += sum(i in last for i in step.results)
        for i in step.results:
            if i in last:
                ends[last[i]] += 1
        largest = max(largest, now)
        now -= ends[k]
    return largest


def live_profile(steps: Sequence[Step]) -> list[int]:
    """How many computed values wait before each step, and behind the last."""
    born = {i: k for k, step in enumerate(steps) for i in step.results if i >= 0}
    last = {i: k for k, step in enumerate(steps) for i in step.args if i in born}
    change = [0] * (len(steps) + 2)
    for i, k in last.items():
        change[born[i] + 1] += 1
        change[k + 1] -= 1
    found, now = [], 0
    for k in range(len(steps) + 1):
        now += change[k]
        found.append(now)
    found[len(steps)] = 0
    return found


def _graph(program: Program, steps: Sequence[Step]) -> tuple[Program, dict[int, int]]:
    """The steps as instructions of a program, for orders to be tried; and which step each is."""
    code: list[Instruction] = []
    place: dict[int, int] = {}
    made_by: dict[int, int] = {}
    for i, instruction in enumerate(program.code):
        if instruction.op in LEAVES:
            place[i] = len(code)
            code.append(instruction)
    for k, step in enumerate(steps):
        made_by[len(code)] = k
        for i in step.results:
            place[i] = len(code)
        code.append(Instruction(step.op, tuple(place[i] for i in step.args)))
    outputs = tuple(Output(o.name, o.shape, tuple(
        Entry(place[e.index], e.sign) if e.index >= 0 else e for e in o.entries))
        for o in program.outputs)
    return Program(program.name, program.inputs, outputs, tuple(code)), made_by


def _visits(program: Program) -> Iterator[list[int]]:
    """Orders in which to walk through the outputs' values."""
    found = [(index, e.index) for output in program.outputs
             for index, e in zip(np.ndindex(*output.shape), output.entries, strict=True)
             if e.index >= 0]
    yield [i for _, i in found]
    yield [i for _, i in reversed(found)]
    for key in (lambda at: -max(at, default=0), lambda at: max(at, default=0),
                lambda at: -min(at, default=0), lambda at: min(at, default=0),
                lambda at: (-at[-1], -at[0]), lambda at: (at[-1], at[0]),
                lambda at: (-at[0], -at[-1])):
        if all(at for at, _ in found):
            yield [i for _, i in sorted(found, key=lambda pair: key(pair[0]))]
