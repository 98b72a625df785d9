"""The way of every program from its recording to the lowerings.

    recorded ── the cheapest of several ── simplified ── by critical path ── by live ranges

`rules` lower the count of operations, `ordering` the time that they take.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from closedform.errors import ArgumentError, suggestion
from closedform.program.ordering.critical_path import by_critical_path
from closedform.program.ordering.live_ranges import by_live_ranges, needed
from closedform.program.program import Program
from closedform.program.record import uncollected
from closedform.program.rules.simplify import REGROUP, ROUNDS, simplify

THOROUGH = 10_000
"""Up to so many operations all rules are applied; above it only the one that is linear in time."""
BUSY = 30_000
"""Operations from which on no path is critical; with limbs in lanes, which branch, a third."""
CLOSE = 1.1
"""Of several programs those are simplified that have up to so many times the fewest operations."""
CLOSEST = 3
"""So many of them at most."""


@uncollected()
def optimised(*programs: Program) -> Program:
    """The cheapest of some programs that compute the same, ready for every lowering.

    Large ones have enough to do at all times: no path through them is critical.
    """
    found = _cheapest(programs)
    busy = _operations(found) > (THOROUGH if found.has_lanes else BUSY)
    return by_live_ranges(found if busy else by_critical_path(found))


def _cheapest(programs: Sequence[Program]) -> Program:
    """The one with the fewest operations once the rules have been applied."""
    ranked = sorted(programs, key=_operations)
    least = _operations(ranked[0])
    if least > THOROUGH:
        once = 1 if ranked[0].has_lanes else ROUNDS      # the second time saves a hundredth of it
        return simplify(ranked[0], (REGROUP,), rounds=once).program
    close = [p for p in ranked[:CLOSEST] if _operations(p) <= CLOSE * least]
    return min((simplify(p).program for p in close), key=_operations)


def _operations(program: Program) -> int:
    return program.operations.total


def kept_outputs(program: Program, only: Sequence[str]) -> Program:
    """The program with these outputs alone, in their order; with all if none is named."""
    if not only:
        return program
    known = {output.name: output for output in program.outputs}
    for name in only:
        if name not in known:
            raise ArgumentError(f"only: no output {name!r} of {program.name}; "
                                f"{suggestion(name, known)}")
    return needed(replace(program, outputs=tuple(known[name] for name in only)))
