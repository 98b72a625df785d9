"""LLVM's object file for wasm32 made a module that stands alone.

Its functions, types and data have the numbers and places that they keep: nothing is relocated. What
it imports, a memory and the stack's pointer, becomes its own, and what is exported gets a name; so
no linker is needed. [WebAssembly Core 2.0, section 5.5; tool-conventions, Linking.md]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from closedform.errors import ClosedformError

HEADER = b"\0asm\1\0\0\0"
CUSTOM, TYPES, IMPORTS, FUNCTIONS, MEMORIES, GLOBALS, EXPORTS, CODE, DATA = (
    0, 1, 2, 3, 5, 6, 7, 10, 11)
FUNCTION, MEMORY, GLOBAL = 0, 2, 3
"""Kinds of imports and exports."""
I32, I32_CONST, END = 0x7F, 0x41, 0x0B
SYMBOLS = 8
"""The part of the section `linking` that names functions."""
UNDEFINED, NAMED = 0x10, 0x40
PAGE = 1 << 16
ALIGNED = 16


@dataclass(frozen=True)
class MemoryLayout:
    """What a module has in its memory beside its constants: a stack, then arrays in bytes."""

    stack: int
    arrays: Mapping[str, int]


def linked(code: bytes, exported: Sequence[str], layout: MemoryLayout, about: str = "") -> bytes:
    """The module of an object file, with its `exported` functions, `memory` and places of arrays.

    `free` is where the memory behind the arrays begins.
    """
    sections = {kind: content for kind, content in _sections(code) if kind != CUSTOM}
    _only_memory_and_stack(sections.pop(IMPORTS))
    functions = _function_names(code)
    top = _aligned(_end_of_data(sections.get(DATA, b"\0"))) + _aligned(layout.stack)
    places, end = {}, top
    for name, size in layout.arrays.items():
        places[name], end = end, end + _aligned(size)
    places["free"] = end
    sections[MEMORIES] = b"\1\0" + unsigned(-(-end // PAGE))
    sections[DATA] = _without_zeros(sections.get(DATA, b"\0"))
    constants = [_constant(top, mutable=True), *(_constant(x) for x in places.values())]
    sections[GLOBALS] = _vector(constants)
    sections[EXPORTS] = _vector([
        _text("memory") + bytes([MEMORY, 0]),
        *(_text(x) + bytes([FUNCTION]) + unsigned(functions[x]) for x in exported),
        *(_text(x) + bytes([GLOBAL]) + unsigned(k) for k, x in enumerate(places, start=1))])
    kept = [_section(kind, sections[kind]) for kind in (
        TYPES, FUNCTIONS, MEMORIES, GLOBALS, EXPORTS, CODE, DATA) if kind in sections]
    told = [_section(CUSTOM, _text("closedform") + about.encode())] if about else []
    return HEADER + b"".join([*kept, *told])


def unsigned(x: int) -> bytes:
    """LEB128."""
    return bytes([x & 127 | 128]) + unsigned(x >> 7) if x > 127 else bytes([x])


def signed(x: int) -> bytes:
    """LEB128 with a sign."""
    if -64 <= x < 64:
        return bytes([x & 127])
    return bytes([x & 127 | 128]) + signed(x >> 7)


class _Reader:
    """Bytes read one after the other."""

    def __init__(self, code: bytes) -> None:
        self.code, self.at = code, 0

    @property
    def more(self) -> bool:
        return self.at < len(self.code)

    def take(self, count: int) -> bytes:
        self.at += count
        return self.code[self.at - count:self.at]

    def number(self) -> int:
        """LEB128; addresses have no sign here, as they are far below 2³¹."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self) -> str:
        return self.take(self.number()).decode()


def _sections(code: bytes) -> Iterator[tuple[int, bytes]]:
    reader = _Reader(code)
    if reader.take(8) != HEADER:
        raise ClosedformError("LLVM has made no object file for WebAssembly")
    while reader.more:
        kind = reader.take(1)[0]
        yield kind, reader.take(reader.number())


def _only_memory_and_stack(imports: bytes) -> None:
    """No function and no table: their numbers would be others in a module without them."""
    reader = _Reader(imports)
    for _ in range(reader.number()):
        name = (reader.text(), reader.text())[1]
        kind = reader.take(1)[0]
        if kind not in (MEMORY, GLOBAL) or (kind == GLOBAL and name != "__stack_pointer"):
            raise ClosedformError(f"the code needs {name} of its host")
        if kind == MEMORY:
            with_most = reader.take(1)[0]
            _ = [reader.number() for _ in range(1 + with_most)]
        else:
            reader.take(2)


def _function_names(code: bytes) -> dict[str, int]:
    """The numbers of functions by name, in the symbols of the section `linking`."""
    found: dict[str, int] = {}
    for kind, content in _sections(code):
        reader = _Reader(content)
        if kind != CUSTOM or reader.text() != "linking":
            continue
        reader.number()                                         # version
        while reader.more:
            part, inside = reader.take(1)[0], _Reader(reader.take(reader.number()))
            if part == SYMBOLS:
                found.update(_symbols(inside))
    return found


def _symbols(reader: _Reader) -> Iterator[tuple[str, int]]:
    for _ in range(reader.number()):
        kind, flags = reader.take(1)[0], reader.number()
        if kind == 1:                                           # data: name, segment, place, size
            reader.text()
            _ = [reader.number() for _ in range(0 if flags & UNDEFINED else 3)]
            continue
        number = reader.number()
        if kind != 3 and (not flags & UNDEFINED or flags & NAMED):
            name = reader.text()
            if kind == FUNCTION:
                yield name, number


def _segments(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Places and bytes of data: each segment is a flag 0, `i32.const` place `end`, and bytes."""
    reader = _Reader(content)
    for _ in range(reader.number()):
        reader.take(2)
        place = reader.number()
        reader.take(1)
        yield place, reader.take(reader.number())


def _end_of_data(content: bytes) -> int:
    return max((place + len(data) for place, data in _segments(content)), default=0)


def _without_zeros(content: bytes) -> bytes:
    """The same data without zeros at the ends of segments: memory begins as zeros."""
    return _vector([bytes([0, I32_CONST]) + signed(place) + bytes([END]) + unsigned(len(kept))
                    + kept for place, data in _segments(content) if (kept := data.rstrip(b"\0"))])


def _aligned(size: int) -> int:
    return -(-size // ALIGNED) * ALIGNED


def _constant(value: int, mutable: bool = False) -> bytes:
    return bytes([I32, mutable, I32_CONST]) + signed(value) + bytes([END])


def _text(text: str) -> bytes:
    return unsigned(len(text.encode())) + text.encode()


def _vector(items: Sequence[bytes]) -> bytes:
    return unsigned(len(items)) + b"".join(items)


def _section(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + unsigned(len(content)) + content
