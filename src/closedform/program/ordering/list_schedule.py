"""The order of arithmetic for one state at a time: what the longest chain waits for goes first.

Scalar code does not keep a processor's multipliers busy by itself: it waits for results, and the
processor looks only a few hundred instructions ahead. Steps are put into the order in which a
machine with two multipliers, two adders and a limited number of places for values would start them,
those with the longest way to the end first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Protocol, TypeVar

from closedform.program.ordering.machine import ADDED, CORE, MULTIPLIED

LOOKED_AT = 16
"""Steps without a unit or a place that are passed over in one cycle."""


class Operation(Protocol):
    """What is put in order; places of values are numbers, −1 for none."""

    @property
    def op(self) -> str: ...
    @property
    def results(self) -> tuple[int, ...]: ...
    @property
    def args(self) -> tuple[int, ...]: ...


Some = TypeVar("Some", bound=Operation)


def by_list_schedule(given: Sequence[Some], held: int = 0) -> list[Some]:
    """The same steps, each after those it needs; `held` values are there from the start.

    They are put in order a window at a time: values of far apart parts would crowd each other out.
    """
    registers = CORE.registers - min(held, CORE.registers // 2)
    result: list[Some] = []
    for start in range(0, len(given), CORE.window):
        window = given[start:start + CORE.window]
        result += [window[k] for k in _Schedule(window, registers).order()]
    return result


class _Schedule:
    """Starts steps cycle by cycle."""

    def __init__(self, steps: Sequence[Operation], registers: int) -> None:
        made = {i: k for k, step in enumerate(steps) for i in step.results if i >= 0}
        self.needs = [{made[i] for i in step.args if i in made} for step in steps]
        self.users: list[list[int]] = [[] for _ in steps]
        for k, needed in enumerate(self.needs):
            for j in needed:
                self.users[j].append(k)
        self.cycles = [CORE.latency(step.op) for step in steps]
        self.unit = [True if step.op in MULTIPLIED else False if step.op in ADDED else None
                     for step in steps]
        self.height = [0] * len(steps)               # cycles from the start of a step to the end
        for k in reversed(range(len(steps))):
            self.height[k] = self.cycles[k] + max(
                [self.height[user] for user in self.users[k]], default=0)
        self.waits = [len(needed) for needed in self.needs]
        self.left = [len(users) for users in self.users]  # users still to come
        self.live, self.registers = 0, registers
        self.time = [0] * len(steps)                 # when all that a step needs is known
        self.later = [(0, k) for k, waits in enumerate(self.waits) if not waits]
        self.ready: list[tuple[int, int]] = []       # (−height, step)

    def order(self) -> list[int]:
        order: list[int] = []
        cycle = 0
        while self.ready or self.later:
            while self.later and self.later[0][0] <= cycle:
                k = heapq.heappop(self.later)[1]
                heapq.heappush(self.ready, (-self.height[k], k))
            started = self._started(cycle)
            if not started and not self.later:       # every step needs one more place
                started = [min(self.ready, key=lambda item: item[1])[1]]
                self.ready = [item for item in self.ready if item[1] != started[0]]
                heapq.heapify(self.ready)
                self._start(started[0], cycle)
            order += started
            cycle = cycle + 1 if self.ready or not self.later else max(cycle + 1, self.later[0][0])
        return order

    def _started(self, cycle: int) -> list[int]:
        """The steps that start in a cycle."""
        free = {True: CORE.units, False: CORE.units}   # multipliers, adders
        started: list[int] = []
        aside: list[tuple[int, int]] = []
        while self.ready and (free[True] or free[False]) and len(aside) < LOOKED_AT:
            item = heapq.heappop(self.ready)
            k = item[1]
            unit = self.unit[k]
            if (unit is not None and not free[unit]) or (
                    self.live >= self.registers and self._growth(k) > 0):
                aside.append(item)
                continue
            if unit is not None:
                free[unit] -= 1
            self._start(k, cycle)
            started.append(k)
        for item in aside:
            heapq.heappush(self.ready, item)
        return started

    def _growth(self, k: int) -> int:
        """How many more values are live after a step."""
        left, growth = self.left, 1 if self.left[k] else 0
        for j in self.needs[k]:
            if left[j] == 1:
                growth -= 1
        return growth

    def _start(self, k: int, cycle: int) -> None:
        self.live += self._growth(k)
        done = cycle + self.cycles[k]
        for j in self.needs[k]:
            self.left[j] -= 1
        for user in self.users[k]:
            self.time[user] = max(self.time[user], done)
            self.waits[user] -= 1
            if not self.waits[user]:
                heapq.heappush(self.later, (self.time[user], user))
