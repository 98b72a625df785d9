"""What every handler does before its work: answer XLA's questions, and check what it is given."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from closedform.lowerings.frameworks.differentiable import Described
from closedform.lowerings.frameworks.xla.frame import (
    DATA,
    DIMENSIONS,
    DTYPE,
    EXECUTE,
    EXTENSION,
    INPUTS,
    METADATA,
    OUTPUTS,
    RANK,
    STAGE,
    VERSION,
    get,
    put,
    refuse,
    text,
)
from closedform.lowerings.native.ir import BYTES, Function, Kind
from closedform.program.program import Slot, size

DTYPES: Mapping[Kind, tuple[int, str]] = MappingProxyType(
    {"double": (12, "float64"), "float": (11, "float32")})
"""How XLA counts dtypes, and their names."""


class StateArray(NamedTuple):
    """An array of states: memory, the lengths of its leading axes, and the bytes of a state."""

    data: str
    rows: str
    columns: str
    state: int


def answer_questions(f: Function, traits: int = 0) -> None:
    """XLA asks for the version of the interface, and calls at stages where there is no work.

    There the block `nothing` returns; `traits` are what the handler says of itself.
    """
    extension = get(f, "ptr", "%frame", EXTENSION)
    f.line(f"br i1 {f.let(f'icmp eq ptr {extension}, null')}, label %stage, label %ask")
    f.label("ask")
    known = f.let(f"icmp eq i32 {get(f, 'i32', extension, 8)}, {METADATA}")
    f.line(f"br i1 {known}, label %metadata, label %stage")
    f.label("metadata")
    metadata = get(f, "ptr", extension, 24)
    for place, value in zip((24, 28, 32), (*VERSION, traits), strict=True):
        put(f, "i32", value, metadata, place)
    f.line("ret ptr null")
    f.label("stage")
    execute = f.let(f"icmp eq i32 {get(f, 'i32', '%frame', STAGE)}, {EXECUTE}")
    f.line(f"br i1 {execute}, label %check, label %nothing")
    f.label("check")


def checked_arrays(checks: Checks, interface: Described, extra: int = 0) -> list[StateArray]:
    """The arrays, which have the shapes and dtype of the kernel, or an error by name is returned.

    The leading axes are those of the last result; behind them may be `extra` results for scratch.
    """
    f, inputs, outputs = checks.f, interface.inputs, interface.outputs
    for (place, _), slots, what in ((INPUTS, inputs, "arrays"), (OUTPUTS, outputs, "results")):
        count = len(slots) + extra * (what == "results")
        right = f.let(f"icmp eq i64 {get(f, 'i64', '%frame', place)}, {count}")
        names = ", ".join(slot.name for slot in slots)
        checks.require(right, f"it has {len(slots)} {what}: {names}")
    read, written = (
        [checks.array(slot, get(f, "ptr", get(f, "ptr", "%frame", start), 8 * k))
         for k, slot in enumerate(slots)]
        for (_, start), slots in ((INPUTS, inputs), (OUTPUTS, outputs)))
    for slot, array in zip((*inputs, *outputs), (*read, *written), strict=True):
        checks.leading_axes(slot, array, written[-1], shared=array in read)
    return [*read, *written]


class Checks:
    """Writes checks into a function, and the errors that it returns where they fail.

    Arrays have up to two leading axes, or `axes` of them.
    """

    def __init__(self, f: Function, name: str, kind: Kind, axes: int = 2) -> None:
        self.f, self.name, self.kind, self.axes = f, name, kind, axes
        self.blocks: dict[str, str] = {}            # of each message
        self.one = f.allocate(8)                    # stands for an axis that is missing
        put(f, "i64", 1, self.one)

    def require(self, condition: str, otherwise: str) -> None:
        """Go on only if it holds."""
        block = self.blocks.setdefault(otherwise, f"refuse.{len(self.blocks)}")
        following = f"ok.{self.f.name()[1:]}"
        self.f.line(f"br i1 {condition}, label %{following}, label %{block}")
        self.f.label(following)

    def array(self, slot: Slot, buffer: str) -> StateArray:
        """An array with the shape of a slot behind at most two axes."""
        f, (number, dtype) = self.f, DTYPES[self.kind]
        most = {1: "one leading axis", 2: "two leading axes"}[self.axes]
        told = (f"{slot.name} must have the shape ({', '.join(('...', *map(str, slot.shape)))}) "
                f"of {dtype}, with at most {most}")
        leading = f.let(f"sub i64 {get(f, 'i64', buffer, RANK)}, {len(slot.shape)}")
        self.require(f.let(f"icmp eq i32 {get(f, 'i32', buffer, DTYPE)}, {number}"), told)
        self.require(f.let(f"icmp ule i64 {leading}, {self.axes}"), told)
        dimensions = get(f, "ptr", buffer, DIMENSIONS)
        own = f.offset(dimensions, f.let(f"mul i64 {leading}, 8"))
        for k, n in enumerate(slot.shape):
            self.require(f.let(f"icmp eq i64 {get(f, 'i64', own, 8 * k)}, {n}"), told)
        rows, columns = (self._length(leading, least, place)
                         for least, place in ((2, dimensions), (1, f.offset(own, -8))))
        return StateArray(get(f, "ptr", buffer, DATA), rows, columns,
                          BYTES[self.kind] * size(slot.shape))

    def _length(self, leading: str, least: int, place: str) -> str:
        """What stands at a place if there are so many leading axes, else 1."""
        there = self.f.let(f"icmp uge i64 {leading}, {least}")
        return get(self.f, "i64", self.f.let(f"select i1 {there}, ptr {place}, ptr {self.one}"))

    def leading_axes(self, slot: Slot, array: StateArray, result: StateArray,
                     shared: bool) -> None:
        """Those of the result, or ones if the array may be shared."""
        f, told = self.f, f"{slot.name} must have the leading axes of the result"
        for n, m in ((array.rows, result.rows), (array.columns, result.columns)):
            right = f.let(f"icmp eq i64 {n}, {m}")
            if shared:
                right = f.let(f"or i1 {right}, {f.let(f'icmp eq i64 {n}, 1')}")
            self.require(right, told + ", or ones" * shared)

    def finish(self) -> None:
        """What comes next is run if nothing was refused."""
        f = self.f
        f.line("br label %checked")
        for k, (told, block) in enumerate(self.blocks.items()):
            text(f, f"@message{k}", f"{self.name}: {told}")
            f.label(block)
            f.line("br label %refuse")
        f.label("refuse")
        refuse(f, f.let("phi ptr " + ", ".join(
            f"[ @message{k}, %{block} ]" for k, block in enumerate(self.blocks.values()))))
        f.label("checked")
