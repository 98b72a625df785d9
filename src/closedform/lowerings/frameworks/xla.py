"""XLA's way into a kernel: a handler of its foreign function interface, written as IR.

    XLA_FFI_Error *xla(XLA_FFI_CallFrame *frame)

Arrays are the kernel's with up to two leading axes (rows and columns of states), of which an input
may have 1 in place of n: then all states along that axis share it. No compiler is needed, no lock
of Python's is taken, and nothing is copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from closedform.lowerings.frameworks.differentiable import Described
from closedform.lowerings.frameworks.xla_frame import (
    CREATE,
    DATA,
    DIMENSIONS,
    DTYPE,
    EXECUTE,
    EXTENSION,
    INPUTS,
    INVALID_ARGUMENT,
    METADATA,
    OUTPUTS,
    RANK,
    STAGE,
    VERSION,
    api,
    get,
    put,
    structure,
)
from closedform.lowerings.frameworks.xla_jobs import StateArray, add_jobs, many_states
from closedform.lowerings.native.ir import BYTES, Function, Kind, Module
from closedform.program.program import Slot, size

DTYPES: Mapping[Kind, tuple[int, str]] = MappingProxyType(
    {"double": (12, "float64"), "float": (11, "float32")})
"""How XLA counts dtypes, and their names."""


def handler_module(interface: Described, kind: Kind) -> Module:
    """`xla`, which imports `kernel`, `batch` and the `process_functions`."""
    module = Module()
    add_jobs(module, len(interface.inputs) + len(interface.outputs))
    f = Function(module)
    _answer_questions(f)
    arrays = _checked_arrays(f, interface, kind)
    *_, last = arrays
    states = f.let(f"mul i64 {last.rows}, {last.columns}")
    f.line(f"switch i64 {states}, label %many [ i64 0, label %nothing i64 1, label %one ]")
    f.label("nothing")
    f.line("ret ptr null")
    f.label("one")
    f.line(f"call void {f.imported('kernel')}({', '.join(f'ptr {x.data}' for x in arrays)})")
    f.line("ret ptr null")
    f.label("many")
    many_states(f, arrays, max(interface.operations.instructions, 1))
    f.finish("dso_local ptr @xla(ptr %frame)", result="ptr null")
    return module


def _answer_questions(f: Function) -> None:
    """XLA asks for the version of the interface, and calls at stages where there is no work."""
    extension = get(f, "ptr", "%frame", EXTENSION)
    f.line(f"br i1 {f.let(f'icmp eq ptr {extension}, null')}, label %stage, label %ask")
    f.label("ask")
    known = f.let(f"icmp eq i32 {get(f, 'i32', extension, 8)}, {METADATA}")
    f.line(f"br i1 {known}, label %metadata, label %stage")
    f.label("metadata")
    metadata = get(f, "ptr", extension, 24)
    for place, value in zip((24, 28), VERSION, strict=True):
        put(f, "i32", value, metadata, place)
    f.line("ret ptr null")
    f.label("stage")
    execute = f.let(f"icmp eq i32 {get(f, 'i32', '%frame', STAGE)}, {EXECUTE}")
    f.line(f"br i1 {execute}, label %check, label %nothing")
    f.label("check")


def _checked_arrays(f: Function, interface: Described, kind: Kind) -> list[StateArray]:
    """The arrays, which have the shapes and dtype of the kernel, or an error by name is returned.

    The leading axes are those of the last result.
    """
    inputs, outputs, checks = interface.inputs, interface.outputs, _Checks(f, interface.name, kind)
    for (place, _), slots, what in ((INPUTS, inputs, "arrays"), (OUTPUTS, outputs, "results")):
        right = f.let(f"icmp eq i64 {get(f, 'i64', '%frame', place)}, {len(slots)}")
        names = ", ".join(slot.name for slot in slots)
        checks.require(right, f"it has {len(slots)} {what}: {names}")
    read, written = (
        [checks.array(slot, get(f, "ptr", get(f, "ptr", "%frame", start), 8 * k))
         for k, slot in enumerate(slots)]
        for (_, start), slots in ((INPUTS, inputs), (OUTPUTS, outputs)))
    for slot, array in zip((*inputs, *outputs), (*read, *written), strict=True):
        checks.leading_axes(slot, array, written[-1], shared=array in read)
    checks.finish()
    return [*read, *written]


class _Checks:
    """Writes checks into a function, and the errors that it returns where they fail."""

    def __init__(self, f: Function, name: str, kind: Kind) -> None:
        self.f, self.name, self.kind = f, name, kind
        self.blocks: dict[str, str] = {}            # of each message
        self.one = f.allocate(8)                    # stands for an axis that is missing
        put(f, "i64", 1, self.one)

    def require(self, condition: str, text: str) -> None:
        """Go on only if it holds."""
        block = self.blocks.setdefault(text, f"refuse.{len(self.blocks)}")
        following = f"ok.{self.f.name()[1:]}"
        self.f.line(f"br i1 {condition}, label %{following}, label %{block}")
        self.f.label(following)

    def array(self, slot: Slot, buffer: str) -> StateArray:
        """An array with the shape of a slot behind at most two axes."""
        f, (number, dtype) = self.f, DTYPES[self.kind]
        text = (f"{slot.name} must have the shape ({', '.join(('...', *map(str, slot.shape)))}) "
                f"of {dtype}, with at most two leading axes")
        leading = f.let(f"sub i64 {get(f, 'i64', buffer, RANK)}, {len(slot.shape)}")
        self.require(f.let(f"icmp eq i32 {get(f, 'i32', buffer, DTYPE)}, {number}"), text)
        self.require(f.let(f"icmp ult i64 {leading}, 3"), text)
        dimensions = get(f, "ptr", buffer, DIMENSIONS)
        own = f.offset(dimensions, f.let(f"mul i64 {leading}, 8"))
        for k, n in enumerate(slot.shape):
            self.require(f.let(f"icmp eq i64 {get(f, 'i64', own, 8 * k)}, {n}"), text)
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
        f, text = self.f, f"{slot.name} must have the leading axes of the result"
        for n, m in ((array.rows, result.rows), (array.columns, result.columns)):
            right = f.let(f"icmp eq i64 {n}, {m}")
            if shared:
                right = f.let(f"or i1 {right}, {f.let(f'icmp eq i64 {n}, 1')}")
            self.require(right, text + ", or ones" * shared)

    def finish(self) -> None:
        """What comes next is run if nothing was refused."""
        f = self.f
        f.line("br label %checked")
        for k, (text, block) in enumerate(self.blocks.items()):
            message = f"{self.name}: {text}\0".encode()
            f.module.declarations[
                f"@message{k} = private constant [{len(message)} x i8] "
                f"c\"{''.join(f'{chr(92)}{c:02X}' for c in message)}\""] = None
            f.label(block)
            f.line("br label %refuse")
        f.label("refuse")
        text = f.let("phi ptr " + ", ".join(
            f"[ @message{k}, %{block} ]" for k, block in enumerate(self.blocks.values())))
        given = structure(f, 28, ("ptr", text), ("i32", INVALID_ARGUMENT))
        f.line(f"ret ptr {f.let(f'call ptr {api(f, CREATE)}(ptr {given})')}")
        f.label("checked")
