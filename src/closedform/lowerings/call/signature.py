"""What one needs to know of a program to call it: names, shapes, counts; and its C signatures."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from closedform.lowerings.native.ir import Kind
from closedform.program.lanes.sharing import SharedLanes
from closedform.program.program import Operations, Program, Slot
from closedform.program.sweeps import Sweeps

if TYPE_CHECKING:
    from closedform.lowerings.source.latex import Letters


class Subject(NamedTuple):
    """What a program is of and does not know itself: a robot, and the letters of its arrays."""

    name: str = ""
    letters: Letters = MappingProxyType({})

    def title(self, function: str) -> str:
        """`inverse_dynamics of panda`."""
        return f"{function} of {self.name}" if self.name else function

    def __reduce__(self) -> tuple[Any, ...]:
        return Subject, (self.name, dict(self.letters))


@dataclass(frozen=True)
class Interface:
    """A program seen from outside; of one with limbs in lanes, `operations` are of all lanes.

    `folded` are those of a single call where batches compute otherwise.
    """

    name: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    operations: Operations
    digest: str                     # of the program
    lanes: SharedLanes = field(default_factory=SharedLanes)
    folded: Operations | None = None

    @classmethod
    def of(cls, program: Program | Sweeps) -> Interface:
        outputs = tuple(Slot(output.name, output.shape) for output in program.outputs)
        known = program.name, program.inputs, outputs
        if isinstance(program, Program) and program.has_lanes:
            return cls(*known, program.lane_operations, program.digest, folded=program.operations)
        one_state = isinstance(program, Sweeps) and program.one_state
        return cls(*known, program.operations, program.digest,
                   folded=program.operations if one_state else None)

    def to_json(self) -> str:
        return json.dumps({
            "name": self.name,
            "inputs": [(s.name, s.shape) for s in self.inputs],
            "outputs": [(s.name, s.shape) for s in self.outputs],
            "operations": tuple(self.operations),
            "digest": self.digest,
            "lanes": self.lanes,
            "folded": self.folded,
        })

    @classmethod
    def from_json(cls, text: str) -> Interface:
        fields: dict[str, Any] = json.loads(text)
        inputs, outputs = (tuple(Slot(name, tuple(shape)) for name, shape in fields[key])
                           for key in ("inputs", "outputs"))
        groups, reason = fields["lanes"]
        folded = Operations(*fields["folded"]) if fields["folded"] else None
        return cls(fields["name"], inputs, outputs, Operations(*fields["operations"]),
                   fields["digest"], SharedLanes(tuple(map(tuple, groups)), reason), folded)

    def signature(self, layout: str, kind: Kind) -> str:
        """The C prototype of a native function; strides are bytes from one state to the next."""
        if layout == "xla":
            return "XLA_FFI_Error *xla(XLA_FFI_CallFrame *frame)"
        stride = "" if layout == "kernel" else ", int64_t {0}_stride"
        arguments = [f"const {kind} *{s.name}{stride.format(s.name)}" for s in self.inputs]
        arguments += [f"{kind} *{s.name}{stride.format(s.name)}" for s in _distinct(self)]
        if layout == "batch":
            arguments.insert(0, "int64_t n")
        return f"void {layout}({', '.join(arguments)})"


def gufunc_signature(interface: Interface) -> str:
    """`(7),(7)->(7,7),(7)`."""
    inputs, outputs = (",".join(f"({','.join(map(str, slot.shape))})" for slot in slots)
                       for slots in (interface.inputs, interface.outputs))
    return f"{inputs}->{outputs}"


def _distinct(interface: Interface) -> list[Slot]:
    """The outputs under names that no input has."""
    taken = {s.name for s in interface.inputs}
    return [Slot(f"{s.name}_out", s.shape) if s.name in taken else s for s in interface.outputs]
