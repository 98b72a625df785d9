"""The machine that orders are made for: one core of a processor of today, computing one state.

This is all that `program` assumes of a machine. An order made for it is right on every other; only
the time that it saves differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

MULTIPLIED = frozenset(("mul", "fma", "fms", "fnma"))
ADDED = frozenset(("add", "sub"))


@dataclass(frozen=True)
class Machine:
    """What decides how long a program takes."""

    cycles: Mapping[str, int]   # until the result of an operation can be used
    others: int                 # the same for operations that `cycles` does not name
    units: int                  # multipliers, and as many adders
    registers: int              # values that can wait without being stored
    window: int                 # instructions among which it finds one that can start

    def latency(self, op: str) -> int:
        """Cycles until the result of an operation can be used."""
        return self.cycles.get(op, self.others)


CORE = Machine(MappingProxyType({
    "const": 0, "lanes": 0, "spread": 3, "gather": 7, "input": 5,
    "add": 3, "sub": 3, "mul": 3, "fma": 4, "fms": 4, "fnma": 4,
    "div": 13, "sqrt": 20, "sin": 50, "cos": 50, "sincos": 50,
}), others=4, units=2, registers=24, window=200)
"""Round figures for x86 and Arm cores; some registers are left for addresses and constants."""
