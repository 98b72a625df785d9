"""Which values wait outside the registers, and when they come back.

Where there is no room the value that is needed last of all leaves [Belady1966]. Inputs are never
put aside: they are read again.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from closedform.lowerings.native.steps import Step
from closedform.program.program import Program

NEVER = 1 << 30


def with_moves(program: Program, steps: Sequence[Step], registers: int) -> tuple[list[Step], int]:
    """The steps with "read" (an input), "put" (into a slot) and "get" (back) among them; the slots.

    At most `registers` values are in registers. A slot is `array` of a step.
    """
    return _Moves(program, steps, registers).run()


def asked_early(steps: Sequence[Step], ring: int, inputs: Container[int]) -> list[Step]:
    """The steps with "read" of these inputs in two parts: "ask", and "take" where it is needed.

    Memory takes as long as some fifty instructions. The reads are in windows of half a ring of
    places in shared memory; while one is worked through, the numbers of the next are on their way.
    Without that the assembler asks for one number at a time, since all that is behind a store could
    depend on it.
    """
    windows: list[dict[int, int]] = [{}]
    turns: dict[int, int] = {}
    for k, step in enumerate(steps):
        if step.op == "read" and step.results[0] in inputs:
            if step.results[0] not in windows[-1] and len(windows[-1]) == ring // 2:
                windows.append({})
            turns[k] = len(windows) - 1
            windows[-1].setdefault(step.results[0], len(windows[-1]))

    def asked(turn: int) -> Iterator[Step]:
        for i, place in windows[turn].items() if turn < len(windows) else ():
            yield Step("ask", (i,), (), turn % 2 * (ring // 2) + place)
        yield Step("asked", (), ())

    found, now = [*asked(0), *asked(1), Step("await", (), ())], 0
    for k, step in enumerate(steps):
        if k not in turns:
            found.append(step)
            continue
        if turns[k] > now:
            now = turns[k]
            found += [*asked(now + 1), Step("await", (), ())]
        place = now % 2 * (ring // 2) + windows[now][step.results[0]]
        found.append(Step("take", step.results, (), place))
    return found


class _Moves:
    def __init__(self, program: Program, steps: Sequence[Step], registers: int) -> None:
        self.code, self.steps, self.registers = program.code, steps, registers
        self.uses: dict[int, list[int]] = {}
        for k, step in enumerate(steps):
            for i in set(step.args):
                if self.code[i].op != "const":
                    self.uses.setdefault(i, []).append(k)
        for places in self.uses.values():
            places.reverse()                                  # the next one is the last of the list
        self.here: set[int] = set()
        self.slots: dict[int, int] = {}
        self.free: list[int] = []
        self.count = 0
        self.made: list[Step] = []

    def run(self) -> tuple[list[Step], int]:
        for k, step in enumerate(self.steps):
            args = [i for i in dict.fromkeys(step.args) if self.code[i].op != "const"]
            for i in args:
                if i not in self.here:
                    self._make_room(1, args)
                    self._bring(i)
            for i in args:
                self._used(i, k)
            results = [i for i in step.results if i >= 0]
            self._make_room(len(results), args)
            self.made.append(step)
            self.here.update(i for i in results if self.uses.get(i))
        return self.made, self.count

    def _next(self, i: int) -> int:
        return self.uses[i][-1] if self.uses[i] else NEVER

    def _bring(self, i: int) -> None:
        if i in self.slots:
            self.made.append(Step("get", (i,), (), array=self.slots[i]))
        else:
            self.made.append(Step("read", (i,), ()))
        self.here.add(i)

    def _used(self, i: int, k: int) -> None:
        """One use is over; after the last the value is gone, and its slot is free."""
        if self.uses[i][-1] == k:
            self.uses[i].pop()
        if not self.uses[i]:
            self.here.discard(i)
            if i in self.slots:
                self.free.append(self.slots.pop(i))

    def _make_room(self, count: int, kept: Sequence[int]) -> None:
        while len(self.here) + count > self.registers:
            others = [i for i in self.here if i not in kept]
            if not others:
                return
            last = max(others, key=self._next)
            self.here.discard(last)
            if self.code[last].op != "input" and last not in self.slots:
                slot = self.free.pop() if self.free else self.count
                self.count = max(self.count, slot + 1)
                self.slots[last] = slot
                self.made.append(Step("put", (), (last,), array=slot))
