"""A program: straight-line code over scalars, each value computed once and named by its place.

Value i is the result of code[i], whose arguments are earlier places. Two kinds of instruction are
leaves:

    Instruction("input", (slot, flat index))      an entry of an input array, C order
    Instruction("const", (), value)               a positive constant

A value may have lanes (`program/lanes`): one number for each of several limbs. It comes of

    Instruction("input", (slot, i_0, i_1, …))     an entry of an input for each lane
    Instruction("lanes", (), (c_0, c_1, …))       a constant for each lane
    Instruction("spread", (x,), (m_0, m_1, …))    in lane l, x of lane m_l, or 0 where m_l is −1
    Instruction("spread", (x, y), (m_0, m_1, …))  the same of the lanes of x and, after them, of y
    Instruction("gather", (x,), (m_0, m_1, …))    in lane l, Σ_k x of the lanes k with m_k = l

and every operation is done lane by lane; constants have as many lanes as their users.

There is no change of sign: differences are subtractions, and the outputs carry signs.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from closedform.program.ops import OPS

LEAVES = frozenset({"input", "const", "lanes"})
SHUFFLES = frozenset({"spread", "gather"})
"""What moves numbers between lanes."""
NONE = -1
"""The lane of a spread that is zero."""


class Slot(NamedTuple):
    """An input array."""

    name: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an output: sign · code[index], or a constant, with index −1 and sign 0."""

    index: int
    sign: int
    constant: float = 0.0
    lane: int = 0


class Output(NamedTuple):
    """An output array: its entries in C order."""

    name: str
    shape: tuple[int, ...]
    entries: tuple[Entry, ...]


class Instruction(NamedTuple):
    """One operation on earlier values, or a leaf."""

    op: str
    args: tuple[int, ...]
    value: Any = None     # a constant, those of lanes, or the lanes of a shuffle


class Operations(NamedTuple):
    """How much a program computes; signs, inputs and constants are free."""

    mul: int            # multiplications, divisions and square roots
    add: int            # additions and subtractions
    trig: int           # sines and cosines
    div: int            # divisions, counted in mul
    sqrt: int           # square roots, counted in mul
    instructions: int   # mul + add, with a product that is used in one sum only fused into that sum

    @property
    def total(self) -> int:
        """mul + add."""
        return self.mul + self.add

    @property
    def folded(self) -> Operations | None:
        """Those of one state with limbs in lanes, where a kernel has some; see `FoldedCount`."""
        return None


class FoldedCount(Operations):
    """What a batch computes for each state, and in `folded` what a single call computes.

    There an operation on several limbs counts once.
    """

    folded: Operations | None = None

    def __repr__(self) -> str:
        own = ", ".join(f"{name}={x}" for name, x in zip(self._fields, self, strict=True))
        return f"Operations({own}, folded={self.folded!r})"

    @classmethod
    def of(cls, flat: Operations, folded: Operations | None) -> Operations:
        """The count of a kernel."""
        if folded is None:
            return flat
        made = cls(*flat)
        made.folded = folded
        return made


@dataclass(frozen=True, eq=False)
class Program:
    """A computation without branches."""

    name: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Output, ...]
    code: tuple[Instruction, ...]

    @cached_property
    def operations(self) -> Operations:
        """The count of operations."""
        return self._counted(Counter([x[0] for x in self.code]), len(self._fused()))

    @cached_property
    def lane_operations(self) -> Operations:
        """The same with each lane counted: about what the program without lanes computes."""
        counts: Counter[str] = Counter()
        for (op, _, lanes), width in zip(self.code, self.widths, strict=True):
            counts[op] += width
            if op == "gather":
                counts["add"] += len(lanes) - width
        return self._counted(counts, sum(self.widths[k] for k in self._fused()))

    def _counted(self, counts: Counter[str], fused: int) -> Operations:
        cost = {kind: sum(counts[op.name] for op in OPS.values() if op.cost == kind)
                for kind in ("mul", "add", "trig")}
        return Operations(cost["mul"], cost["add"], cost["trig"], counts["div"], counts["sqrt"],
                          cost["mul"] + cost["add"] - fused)

    def _fused(self) -> list[int]:
        """The sums that can swallow a product that nothing else uses."""
        uses, code = self.uses, self.code
        alone = [op == "mul" and n == 1 for (op, _, _), n in zip(code, uses, strict=True)]
        return [k for k, (op, args, _) in enumerate(code)
                if op in ("add", "sub") and (alone[args[0]] or alone[args[1]])]

    @cached_property
    def issued(self) -> int:
        """Instructions, with what moves numbers between lanes: a gather halves log₂ times."""
        moved = 0
        for op, _, lanes in self.code:
            if op == "spread":
                moved += 1
            elif op == "gather":
                moved += 2 * (len(lanes) // (max(lanes) + 1)).bit_length()
        return self.operations.instructions + moved

    @cached_property
    def uses(self) -> list[int]:
        """How often each value is used, by instructions and by outputs."""
        uses = [0] * len(self.code)
        for op, args, _ in self.code:
            if op not in LEAVES:
                for i in args:
                    uses[i] += 1
        for output in self.outputs:
            for entry in output.entries:
                if entry.index >= 0:
                    uses[entry.index] += 1
        return uses

    @cached_property
    def widths(self) -> list[int]:
        """The lanes of each value; 1 for constants, which have as many as their users."""
        if not self.has_lanes:
            return [1] * len(self.code)
        widths: list[int] = []
        for op, args, value in self.code:
            if op == "input":
                widths.append(len(args) - 1)
            elif op == "gather":
                widths.append(max(value) + 1)
            elif op in ("lanes", "spread"):
                widths.append(len(value))
            else:
                widths.append(max([widths[i] for i in args], default=1))
        return widths

    @cached_property
    def has_lanes(self) -> bool:
        """Whether a value has several lanes; they all begin with an input or constants that do."""
        return any((op == "input" and len(args) > 2) or op in ("lanes", "spread")
                   for op, args, _ in self.code)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the program's content, the same in every process and on every machine."""
        text = hashlib.sha256()
        for line in self._lines():
            text.update(line.encode())
            text.update(b"\n")
        return text.hexdigest()

    def _lines(self) -> Iterable[str]:
        """The content in canonical text; floats in hexadecimal, so that every bit counts."""
        yield f"closedform program 1 {self.name!r}"
        for slot in self.inputs:
            yield f"input {slot.name!r} {slot.shape}"
        for op, args, value in self.code:
            yield f"{op} {args} {value.hex() if isinstance(value, float) else value}"
        for name, shape, entries in self.outputs:
            yield f"output {name!r} {shape}"
            yield " ".join(f"{e.index}:{e.sign}:{e.constant.hex()}{f':{e.lane}' if e.lane else ''}"
                           for e in entries)

    def structure(self) -> dict[str, npt.NDArray[np.bool_]]:
        """For each output the entries that are not structurally zero."""
        return {
            name: np.array([e.index >= 0 or e.constant != 0.0 for e in entries]).reshape(shape)
            for name, shape, entries in self.outputs
        }


def size(shape: tuple[int, ...]) -> int:
    """The number of entries of an array."""
    return math.prod(shape)
