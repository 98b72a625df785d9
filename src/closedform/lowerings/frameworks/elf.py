"""A shared library for Linux from one object file of LLVM, without a linker: ELF64.

    headers, tables and constants (r) | code (rx) | data and the dynamic section (rw)

What the code reaches in itself is resolved here; pointers in data become relative relocations, and
undefined symbols behind such pointers (`sin`) are left to the loader. Code that calls what is not
in the object, or reaches it through a table of the linker's, is refused. A segment's addresses are
its places in the file, moved by as many pages as there are segments before it, so that no byte is
padding.

Cites: System V ABI, chapters 4 and 5, and its supplements for AMD64 and for AArch64.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from closedform.errors import FormatError

SYMBOLS, RELOCATIONS, EMPTY = 2, 4, 8
"""Types of sections; an empty one has a size and no bytes."""
WRITE, ALLOCATE, EXECUTE = 1, 2, 4
"""Flags of sections."""
ABSOLUTE = 0xFFF1
GLOBALS = (1, 2)
SYMBOL, RELA, SECTION, SEGMENT, HEADER = (
    struct.Struct(f"<{x}") for x in ("IBBHQQ", "QQq", "IIQQQQIIQQ", "IIQQQQQQ", "16sHHIQQQIHHHHHH"))

Patch = Callable[[bytearray, int, int, int], None]
"""Writes what a relocation asks for: into these bytes at this place, which will have that address,
for a symbol with its addend at another."""


class Linking(NamedTuple):
    """How a processor's code is put in place."""

    page: int                           # the largest that its kernels use
    word: int                           # the relocation that is an address
    relative: int                       # the same of the library itself
    patches: Mapping[int, Patch]


class Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class Symbol(NamedTuple):
    name: int
    info: int
    other: int
    section: int
    value: int
    size: int


def _distance(form: str) -> Patch:
    def patch(out: bytearray, at: int, address: int, target: int) -> None:
        struct.pack_into(form, out, at, target - address)
    return patch


def _bits(value: Callable[[int, int], int], count: int, shift: int, signed: bool = True) -> Patch:
    """A part of an instruction of AArch64, from the address and its target."""
    def patch(out: bytearray, at: int, address: int, target: int) -> None:
        found = value(address, target)
        if signed and not -(1 << count - 1) <= found < 1 << count - 1:
            raise FormatError(f"a relocation is {found} away, more than {count} bits reach")
        word, = struct.unpack_from("<I", out, at)
        struct.pack_into("<I", out, at, word | (found & (1 << count) - 1) << shift)
    return patch


def _pages(out: bytearray, at: int, address: int, target: int) -> None:
    """ADRP: the distance in pages of 4 kB, its two lowest bits apart from the others."""
    found = (target >> 12) - (address >> 12)
    word, = struct.unpack_from("<I", out, at)
    struct.pack_into("<I", out, at, word | (found & 3) << 29 | (found >> 2 & 0x7FFFF) << 5)


def _in_page(scale: int) -> Patch:
    return _bits(lambda address, target: (target & 0xFFF) >> scale, 12, 10, signed=False)


_JUMP = _bits(lambda address, target: target - address >> 2, 26, 0)
X86_64, AARCH64 = 62, 183
MACHINES: Mapping[int, Linking] = MappingProxyType({
    X86_64: Linking(0x1000, 1, 8, {2: _distance("<i"), 4: _distance("<i"), 24: _distance("<q")}),
    AARCH64: Linking(0x10000, 257, 1027, {
        260: _distance("<q"), 261: _distance("<i"), 275: _pages, 276: _pages, 277: _in_page(0),
        278: _in_page(0), 282: _JUMP, 283: _JUMP, 284: _in_page(1), 285: _in_page(2),
        286: _in_page(3), 299: _in_page(4)}),
})
"""By the number of the machine; patches by the number of the relocation."""


def shared_library(code: bytes, soname: str, needed: Sequence[str] = ()) -> bytes:
    """The library that exports the global symbols of an object file.

    `needed` are the libraries that define what the object leaves undefined, where the process
    itself may not have it.
    """
    return _Library(_Object(code), soname, needed).written()


class _Object:
    """A relocatable object file, read."""

    def __init__(self, code: bytes) -> None:
        _, kind, machine, _, _, _, at, _, _, _, _, size, count, _ = HEADER.unpack_from(code)
        if code[:6] != b"\x7fELF\x02\x01" or kind != 1 or machine not in MACHINES:
            raise FormatError("expected a relocatable ELF64 object for x86-64 or aarch64, not "
                              f"{bytes(code[:6])!r} of type {kind} for machine {machine}")
        self.code, self.number, self.machine = code, machine, MACHINES[machine]
        self.sections = [Section(*SECTION.unpack_from(code, at + k * size)) for k in range(count)]
        table = next(x for x in self.sections if x.type == SYMBOLS)
        self.symbols = [Symbol(*SYMBOL.unpack_from(code, table.offset + k))
                        for k in range(0, table.size, SYMBOL.size)]
        start = self.sections[table.link].offset
        self.names = [code[start + x.name:code.index(b"\0", start + x.name)].decode()
                      for x in self.symbols]
        self.loaded = [k for k, x in enumerate(self.sections) if x.flags & ALLOCATE and x.size]
        self.relocations = [
            (x.info, *RELA.unpack_from(code, x.offset + k)) for x in self.sections
            if x.type == RELOCATIONS and x.info in self.loaded for k in range(0, x.size, RELA.size)]

    def public(self, defined: bool) -> list[int]:
        """Global symbols that have a place here, or have none."""
        return [k for k, x in enumerate(self.symbols) if x.info >> 4 in GLOBALS
                and bool(x.section) == defined and x.section != ABSOLUTE]

    def content(self, k: int) -> bytes:
        section = self.sections[k]
        if section.type == EMPTY:
            return bytes(section.size)
        return self.code[section.offset:section.offset + section.size]


@dataclass(frozen=True)
class _Segment:
    flags: int
    start: int          # in the file
    stop: int
    moved: int          # from there to its address


class _Library:
    """A library being laid out."""

    def __init__(self, source: _Object, soname: str, needed: Sequence[str]) -> None:
        self.source, self.needed, self.soname = source, needed, soname
        self.dynamic = [*source.public(False), *source.public(True)]
        self.place = {k: i for i, k in enumerate(self.dynamic, start=1)}
        self.strings, self.at_string = _strings(
            [*needed, soname, *(source.names[k] for k in self.dynamic)])
        words = sum(r[2] & 0xFFFFFFFF == source.machine.word for r in source.relocations)
        self.tables: dict[str, int] = {}
        self.address: dict[int, int] = {}       # of sections
        self.segments: list[_Segment] = []
        self.out = bytearray(HEADER.size + 5 * SEGMENT.size)
        count = 1 + len(self.dynamic)
        for name, size in (("hash", 4 * (3 + count)), ("symbols", SYMBOL.size * count),
                           ("strings", len(self.strings)), ("relocations", RELA.size * words)):
            self._reserve(name, size)
        self._add_sections(0, 4, first=True)
        self._add_sections(EXECUTE, 5)
        self._add_sections(WRITE, 6)
        self._fill_tables()

    def _reserve(self, name: str, size: int) -> None:
        self._align(8)
        self.tables[name] = len(self.out)
        self.out += bytes(size)

    def _align(self, size: int) -> None:
        self.out += bytes(-len(self.out) % max(size, 1))

    def _add_sections(self, kind: int, flags: int, first: bool = False) -> None:
        """A segment: the sections that are written to, executed, or neither."""
        source, moved = self.source, len(self.segments) * self.source.machine.page
        self._align(64)
        start = 0 if first else len(self.out)
        for k in source.loaded:
            if source.sections[k].flags & (WRITE | EXECUTE) == kind:
                self._align(source.sections[k].align)
                self.address[k] = len(self.out) + moved
                self.out += source.content(k)
        if kind == WRITE:
            self._reserve("dynamic", 16 * (len(self.needed) + 10))
        self.segments.append(_Segment(flags, start, len(self.out), moved))

    def _value(self, k: int) -> int:
        symbol = self.source.symbols[k]
        return self.address[symbol.section] + symbol.value

    def _fill_tables(self) -> None:
        machine, relocations = self.source.machine, []
        for section, offset, info, addend in self.source.relocations:
            number, how, address = info >> 32, info & 0xFFFFFFFF, self.address[section] + offset
            known = bool(self.source.symbols[number].section)
            if how == machine.word:
                relocations.append((address, machine.relative, self._value(number) + addend)
                                   if known else
                                   (address, self.place[number] << 32 | how, addend))
            elif how in machine.patches and known:
                at = address - self._moved(address)
                machine.patches[how](self.out, at, address, self._value(number) + addend)
            else:
                raise FormatError(f"relocation {how} of {self.source.names[number] or 'a section'}"
                                  f" for machine {self.source.number} cannot be resolved")
        self._put("relocations", b"".join(RELA.pack(*r) for r in relocations))
        self._put("strings", self.strings)
        self._put("symbols", bytes(SYMBOL.size) + b"".join(map(self._symbol, self.dynamic)))
        n = len(self.dynamic)               # one bucket, whose chain holds all symbols
        chain = [0, *range(2, n + 1), 0][:n + 1]
        self._put("hash", struct.pack(f"<{4 + n}I", 1, n + 1, min(n, 1), *chain))
        self._put("dynamic", b"".join(struct.pack("<qQ", *x) for x in self._dynamic_entries()))

    def _moved(self, address: int) -> int:
        return next(s.moved for s in self.segments
                    if s.start <= address - s.moved < s.stop)

    def _put(self, table: str, content: bytes) -> None:
        at = self.tables[table]
        self.out[at:at + len(content)] = content

    def _symbol(self, k: int) -> bytes:
        x, name = self.source.symbols[k], self.at_string[self.source.names[k]]
        if not x.section:
            return SYMBOL.pack(name, x.info & 0xF0 | 2, 0, 0, 0, 0)
        return SYMBOL.pack(name, x.info, x.other, 1, self._value(k), x.size)

    def _dynamic_entries(self) -> list[tuple[int, int]]:
        """DT_NEEDED, SONAME, HASH, STRTAB, SYMTAB, STRSZ, SYMENT, RELA, RELASZ, RELAENT, NULL."""
        tables, size = self.tables, RELA.size * sum(
            r[2] & 0xFFFFFFFF == self.source.machine.word for r in self.source.relocations)
        entries = [*((1, self.at_string[x]) for x in self.needed),
                   (14, self.at_string[self.soname]), (4, tables["hash"]), (5, tables["strings"]),
                   (6, tables["symbols"]), (10, len(self.strings)), (11, SYMBOL.size)]
        if size:
            entries += [(7, tables["relocations"]), (8, size), (9, RELA.size)]
        return [*entries, (0, 0)]

    def written(self) -> bytes:
        machine = self.source.machine
        head = HEADER.pack(b"\x7fELF\x02\x01\x01", 3, self.source.number, 1, 0, HEADER.size, 0, 0,
                           HEADER.size, SEGMENT.size, 5, 64, 0, 0)
        last, at = self.segments[-1], self.tables["dynamic"]
        rows = [(1, s.flags, s.start, s.stop, s.moved, machine.page) for s in self.segments]
        rows += [(2, 6, at, last.stop, last.moved, 8), (0x6474E551, 6, 0, 0, 0, 16)]
        heads = b"".join(SEGMENT.pack(kind, flags, start, start + moved, start + moved,
                                      stop - start, stop - start, align)
                         for kind, flags, start, stop, moved, align in rows)
        self.out[:len(head + heads)] = head + heads
        return bytes(self.out)


def _strings(words: Sequence[str]) -> tuple[bytes, dict[str, int]]:
    """A table of strings, and where each of them begins."""
    table, places = b"\0", {}
    for word in dict.fromkeys(words):
        places[word] = len(table)
        table += word.encode() + b"\0"
    return table, places
