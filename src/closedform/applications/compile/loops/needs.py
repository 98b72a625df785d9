"""What of some sweeps is needed: not what was computed already, not what nobody reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from closedform.program.pipeline import kept_outputs
from closedform.program.sweeps import ArrayAt, BodyLoop, Order, UnitSweep, arrays_read


class Known:
    """What sweeps have computed that nobody has changed since."""

    def __init__(self) -> None:
        self.changes: dict[tuple[str, str], int] = {}     # of an array: of units, world or a list
        self.done: dict[Any, tuple[int, ...]] = {}

    def repeats(self, name: Any, loop: UnitSweep) -> bool:
        """Whether a sweep was run with what it reads, and its results are there; else it is now."""
        arrays = [ArrayAt.of(y.name).array for y in loop.step.outputs]
        where = {Order.ONCE: ("world",), Order.INWARDS: ("", "world"),
                 Order.LISTED: (name[0].over,)}.get(loop.order, ("",))
        written = [(array, part) for array in arrays for part in where]
        own = name, tuple(written), tuple(slot.name for slot in loop.step.inputs)
        if self.done.get((own, self._versions(loop))) == self._written(written):
            return True
        before = self._versions(loop)
        for x in written:
            self.changes[x] = self.changes.get(x, 0) + 1
        self.done[own, before] = self.done[own, self._versions(loop)] = self._written(written)
        return False

    def _written(self, written: Sequence[tuple[str, str]]) -> tuple[int, ...]:
        return tuple(self.changes.get(x, 0) for x in written)

    def _versions(self, loop: UnitSweep) -> tuple[int, ...]:
        """How often each array that a sweep reads was changed, anywhere."""
        return tuple(sum(n for (array, _), n in self.changes.items() if array == x)
                     for x in sorted(arrays_read(loop)))


def needed(loops: Sequence[BodyLoop], wanted: set[str], tables: set[str]) -> list[BodyLoop]:
    """The loops without what nobody reads or a table has, from the last to the first."""
    found: list[BodyLoop] = []
    for loop in reversed(loops):
        if isinstance(loop, UnitSweep):
            pruned = _pruned(loop, wanted - tables)
            while pruned is not None and not arrays_read(pruned) <= wanted:   # of a parent's
                wanted = wanted | arrays_read(pruned)
                pruned = _pruned(loop, wanted - tables)
            if pruned is None:
                continue
            loop = pruned
        wanted = wanted | arrays_read(loop)
        found.insert(0, loop)
    return found


def _pruned(loop: UnitSweep, wanted: set[str]) -> UnitSweep | None:
    """A sweep with the outputs that are wanted."""
    kept = [y.name for y in loop.step.outputs if ArrayAt.of(y.name).array in wanted]
    if not kept:
        return None
    arrays = {ArrayAt.of(name).array for name in kept}
    joined = loop.joined and kept_outputs(
        loop.joined, [y.name for y in loop.joined.outputs if y.name in arrays])
    return replace(loop, step=kept_outputs(loop.step, kept), joined=joined)
