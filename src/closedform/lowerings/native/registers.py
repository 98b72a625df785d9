"""Which values wait in memory while others need the registers.

LLVM decides that too, but one function at a time: it puts values aside that wait in memory already,
and more of them than have to. Here a value is stored when it is computed, if it will ever have to
wait, and read again where it is needed; of those in registers the one goes that is needed last
(Belady). Entries of inputs are read again and not stored, constants are part of the code.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from closedform.lowerings.native.steps import Step
from closedform.program.program import Program

REGISTERS = 27
"""Values in registers at a time; the others are for what a step needs in between."""
KEPT = 1.5
"""How many times further away the next use of a value may be than that of one that waits already,
and yet it stays."""

Leaving = dict[int, list[int]]
"""The values that leave the registers after a step of a piece."""


class Waiting(NamedTuple):
    """Where values wait, in numbers from the start of the memory; its size; and who leaves when."""

    places: dict[int, int]
    size: int
    leaving: list[Leaving]


def waiting(program: Program, parts: Sequence[Sequence[Step]], registers: float) -> Waiting:
    """Few values that have to wait in the order of these steps; all do from piece to piece."""
    walk = _Registers(program, parts, registers)
    return Waiting(*_places(program, parts, walk.stored), walk.leaving)


def read_again(program: Program, place: int) -> bool:
    """Whether a value is an entry of an input, or neighbours in its lanes."""
    op, args, _ = program.code[place]
    return op == "input" and args[1:] == tuple(range(args[1], args[1] + len(args) - 1))


class _Registers:
    """A walk through the steps with a limited number of registers."""

    def __init__(self, program: Program, parts: Sequence[Sequence[Step]], registers: float) -> None:
        self.registers = registers
        self.constant = [x.op in ("const", "lanes") for x in program.code]
        steps = [step for part in parts for step in part]
        self.uses: list[list[int]] = [[] for _ in program.code]      # to come, the next one last
        for k in reversed(range(len(steps))):
            for i in {*steps[k].args}:
                if i >= 0:
                    self.uses[i].append(k)
        self.held: set[int] = set()
        self.waited: set[int] = set()
        self.leaving: list[Leaving] = []
        k = 0
        for part in parts:
            self.leaving.append({})
            for at, step in enumerate(part):
                self._step(k, step)
                self._leave(at, self._others(k, step))
                k += 1
            self._leave(len(part) - 1, [*self.held])
        self.stored = {i for i in self.waited if not read_again(program, i)}

    def _step(self, k: int, step: Step) -> None:
        for i in {*step.args}:
            if i >= 0 and not self.constant[i]:
                self.uses[i].pop()
                (self.held.add if self.uses[i] else self.held.discard)(i)
        self.held.update([i for i in step.results if i >= 0 and self.uses[i]])

    def _others(self, k: int, step: Step) -> list[int]:
        """Those too many, the last needed first."""
        if len(self.held) <= self.registers:
            return []
        over = len(self.held) - int(self.registers)
        uses, waited, made = self.uses, self.waited, step.results
        away = [((uses[i][-1] - k) * (KEPT if i in waited else 1.0), i)
                for i in self.held if i not in made]
        if over == 1 and away:
            return [max(away)[1]]
        return [i for _, i in heapq.nlargest(over, away)]

    def _leave(self, at: int, values: list[int]) -> None:
        if values:
            self.held.difference_update(values)
            self.waited.update(values)
            self.leaving[-1].setdefault(at, []).extend(values)


def _places(program: Program, parts: Sequence[Iterable[Step]], stored: set[int],
            ) -> tuple[dict[int, int], int]:
    """Memory for the stored values, the widest first, each to be used again after its last use."""
    steps = [step for part in parts for step in part]
    last = {i: k for k, step in enumerate(steps) for i in step.args if i in stored}
    numbers: dict[int, tuple[int, int]] = {}                     # width and number of a slot
    free: dict[int, list[int]] = defaultdict(list)
    count: dict[int, int] = defaultdict(int)
    ending: dict[int, list[int]] = defaultdict(list)
    for k, step in enumerate(steps):
        for i in step.results:
            if i in stored:
                width = program.widths[i]
                if not free[width]:
                    free[width].append(count[width])
                    count[width] += 1
                numbers[i] = width, free[width].pop()
                ending[last[i]].append(i)
        for i in ending.pop(k, ()):
            free[numbers[i][0]].append(numbers[i][1])
    starts, size = {}, 0
    for width in sorted(count, reverse=True):
        starts[width], size = size, size + width * count[width]
    return {i: starts[width] + width * at for i, (width, at) in numbers.items()}, size
