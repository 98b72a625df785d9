"""Values that are computed again instead of waiting.

What forward dynamics has computed on its way to the root of a robot it needs again on its way back:
some 400 values of a humanoid wait, more than a thread has room for. Many of them are a product or
two away from others that wait as well. Where most values are alive, those kept and those computed
again are chosen together, so that

    weight · (values kept) + instructions computed again

is least: a smallest cut of a graph [PicardQueyranne1982]. The results are the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from closedform.lowerings.cuda.steps.order import COST, live_profile
from closedform.lowerings.native.steps import Step
from closedform.program.program import Instruction, Program

SCALE = 10
"""Weights are tenths of instructions."""
NEVER_CUT = 10**8
ROUNDS = 12


class Recomputed(NamedTuple):
    """Steps, and the program with an instruction for each value that they compute again."""

    program: Program
    steps: tuple[Step, ...]


def computed_again(program: Program, steps: Sequence[Step], room: int,
                   weight: float) -> Recomputed:
    """The steps with at most `room` values alive, as far as that comes at a weight's price."""
    found = Recomputed(program, tuple(steps))
    for _ in range(ROUNDS):
        alive = live_profile(found.steps)
        most = max(alive, default=0)
        if most <= room:
            break
        turn = alive.index(most)
        before, after = found.steps[:turn], found.steps[turn:]
        more, (late,) = again_behind(found.program, before, [after], weight)
        tried = Recomputed(more, (*before, *late))
        if max(live_profile(tried.steps)) >= most:
            break
        found = tried
    return found


def again_behind(program: Program, before: Sequence[Step], parts: Sequence[Sequence[Step]],
                 weight: float) -> tuple[Program, list[tuple[Step, ...]]]:
    """The later parts of a program, in which is computed again what the smallest cut says."""
    needed = {i for part in parts for step in part for i in step.args}
    copies = _Copies(program, before, _cheaper(before, needed, round(SCALE * weight)))
    late = [tuple(x for step in part for x in copies.before(step)) for part in parts]
    return Program(program.name, program.inputs, program.outputs, tuple(copies.code)), late


class _Copies:
    """Puts steps that are run again in front of the first one that needs them."""

    def __init__(self, program: Program, steps: Sequence[Step], again: set[int]) -> None:
        self.code = list(program.code)
        self.made_by = {i: steps[k] for k in again for i in steps[k].results if i >= 0}
        self.names: dict[int, int] = {}

    def before(self, step: Step) -> Iterator[Step]:
        """A step, with the new names of what it takes, behind the copies that it needs."""
        if self.made_by.keys().isdisjoint(step.args):
            yield step
            return
        for i in step.args:
            yield from self._copied(i)
        for x in step.results:
            if x >= 0:
                self.code[x] = self._renamed(x, step, copy=False)
        yield step._replace(args=self._named(step.args))

    def _copied(self, i: int) -> Iterator[Step]:
        if i not in self.made_by or i in self.names:
            return
        step = self.made_by[i]
        for x in step.args:
            yield from self._copied(x)
        args = self._named(step.args)
        for x in step.results:
            if x >= 0:
                self.names[x] = self._add(self._renamed(x, step, copy=True))
        yield Step(step.op, self._named(step.results), args)

    def _named(self, values: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.names.get(i, i) for i in values)

    def _renamed(self, i: int, step: Step, copy: bool) -> Instruction:
        """An instruction of a step with new names, as its product which the step swallows."""
        op, args, value = self.code[i]
        found = []
        for x in args:
            if x in step.args:
                found.append(self.names.get(x, x))
                continue
            product = self._renamed(x, step, copy)
            if copy:
                found.append(self._add(product))
            else:
                self.code[x] = product
                found.append(x)
        return Instruction(op, tuple(found), value)

    def _add(self, instruction: Instruction) -> int:
        self.code.append(instruction)
        return len(self.code) - 1


def _cheaper(steps: Sequence[Step], wanted: set[int], weight: int) -> set[int]:
    """Which of the steps are run again, for values that are wanted later.

    A node for each step, on the source's side if it is run again, and one for each value, there if
    it is needed; a value that is needed and not made again is kept, and pays the weight.
    """
    turn = len(steps)
    born = {i: k for k, step in enumerate(steps) for i in step.results if i >= 0}
    node = {i: turn + n for n, i in enumerate(born)}
    source, sink = turn + len(born), turn + len(born) + 1
    edges = [(k, sink, SCALE * COST.get(step.op, 1)) for k, step in enumerate(steps)]
    edges += [(k, node[i], NEVER_CUT) for k, step in enumerate(steps)
              for i in dict.fromkeys(step.args) if i in born]
    edges += [(node[i], k, weight) for i, k in born.items()]
    edges += [(source, node[i], NEVER_CUT) for i in sorted(wanted) if i in born]
    start, stop, capacity = np.array(edges, np.int32).T
    graph = csr_array((capacity, (start, stop)), shape=(sink + 1, sink + 1))
    left = graph - maximum_flow(graph, source, sink).flow
    left.data[left.data < 0] = 0
    left.eliminate_zeros()
    reached = breadth_first_order(left, source, return_predecessors=False)
    return {int(k) for k in reached if k < turn}
