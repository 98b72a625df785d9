"""Pages of memory from which a processor fetches code at full speed.

A cache keeps lines by their physical address, and of the pages of code that compete for the same
places AMD's Zen 5 keeps three, whatever else is free. Where four pages of a kernel compete, they
push each other out in every call, which takes up to five times as long, for as long as the process
lives: so it is for two of a hundred kernels of six pages, for one of ten of sixteen. Nobody tells
a process which pages compete. So instructions that do nothing are timed in new pages before the
code moves there, and pages that are slow are given back.

Only time depends on this, no result. Where nothing can be mapped, code stays where it was loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import mmap
import os
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

PAGE = mmap.PAGESIZE
FEWEST, MOST = 4, 64
"""Pages of code that is moved: fewer never compete, more always do."""

SAME = 1.06
"""Times that differ less are the same."""

TRIES_OF_A_PAGE, FEWEST_TRIES, MOST_TRIES = 160, 3, 10
"""How often pages are tried for one kernel, within a millisecond: divided by their number."""

PASSES, REPEATS = 64, 4
"""Pages that one measurement runs through, and measurements, the shortest of which counts."""

NOTHING = b"\x0f\x1f\x00"
"""An instruction of x86 that does nothing, so short that the cache of decoded instructions has no
place for five pages: each line is fetched in every pass."""

AGAIN = b"\xff\xcf\x74\x02\xff\xe6\xc3"
"""dec edi; jz +2; jmp rsi; ret: the end of `void run(int passes, void *run)`."""

SYMBOLS, GLOBAL_FUNCTION = 2, 0x12
"""Of an ELF file: a section's kind, and a symbol's."""

MAY_MOVE_TO = 3
"""Of `mremap`: MREMAP_MAYMOVE and MREMAP_FIXED."""


class TextSection(NamedTuple):
    """The code of an object file: one of its functions, where that is in it, and its length."""

    function: str
    offset: int
    size: int


def text_section(code: bytes) -> TextSection | None:
    """The section that has the first global function of a 64-bit ELF file."""
    start, = struct.unpack_from("<Q", code, 40)
    each, count = struct.unpack_from("<HH", code, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, start + k * each) for k in range(count)]
    for _, kind, _, _, at, size, names, *_ in sections:
        if kind != SYMBOLS:
            continue
        for name, how, _, section, offset, _ in struct.iter_unpack("<IBBHQQ", code[at:at + size]):
            if how == GLOBAL_FUNCTION:
                first = sections[names][4] + name
                function = code[first:code.index(b"\0", first)].decode()
                return TextSection(function, offset, sections[section][5])
    return None


@dataclass(frozen=True)
class CodePages:
    """Pages of this process, which can be written or run, never both."""

    address: int
    count: int

    @staticmethod
    def new(count: int) -> CodePages:
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE
        at = _c().mmap(None, count * PAGE, mmap.PROT_READ | mmap.PROT_WRITE, kind, -1, 0)
        return CodePages(_succeeded(at), count)

    def write(self, code: bytes) -> None:
        """Put code into them, to be run."""
        self._allow(mmap.PROT_READ | mmap.PROT_WRITE)
        ctypes.memmove(self.address, code, len(code))
        self._allow(mmap.PROT_READ | mmap.PROT_EXEC)

    def _allow(self, protection: int) -> None:
        _succeeded(_c().mprotect(self.address, self.count * PAGE, protection))

    def move(self, address: int) -> None:
        """Make them the pages at an address; those that were there are gone."""
        size = self.count * PAGE
        at = _c().mremap(self.address, size, size, MAY_MOVE_TO, ctypes.c_void_p(address))
        if at != address and ctypes.get_errno() in (errno.ENOMEM, errno.EAGAIN):
            raise MemoryError("no memory to load a kernel")              # the old ones may be gone
        _succeeded(at)

    def free(self) -> None:
        _c().munmap(self.address, self.count * PAGE)


def _succeeded(result: int) -> int:
    """What a system call gave, unless that is -1."""
    if result in (-1, 2**64 - 1):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


@functools.cache
def _c() -> Any:
    """The C library; no thread waits for another at these short calls."""
    c, place, size, number = (ctypes.PyDLL(None, use_errno=True), ctypes.c_void_p, ctypes.c_size_t,
                              ctypes.c_int)
    c.mmap.argtypes, c.mmap.restype = [place, size, number, number, number, ctypes.c_long], place
    c.mremap.argtypes, c.mremap.restype = [place, size, size, number], place
    c.mprotect.argtypes, c.munmap.argtypes = [place, size, number], [place, size]
    return c


def fetching_time(pages: CodePages) -> float:
    """Nanoseconds of a pass through instructions that do nothing and fill these pages."""
    pages.write(NOTHING * ((pages.count * PAGE - len(AGAIN)) // len(NOTHING)) + AGAIN)
    passes = max(4, PASSES // pages.count)
    run = ctypes.PYFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(pages.address)
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter_ns()
        run(passes, pages.address)
        times.append(time.perf_counter_ns() - start)
    return max(1, min(times)) / passes


@dataclass
class QuickPages:
    """Finds pages in which code is fetched as quickly as it ever was in so many.

    `least` is the shortest time of so many pages that was met twice. Where it is not met, as with
    a slower clock, it grows a little. `tries` are those so far.
    """

    new: Callable[[int], CodePages] = CodePages.new
    measure: Callable[[CodePages], float] = fetching_time
    least: dict[int, float] = field(default_factory=dict)
    tries: int = 0

    def found(self, count: int) -> CodePages:
        """The quickest of a few; the others are given back.

        A system hands out first what it was given back last. So that slow pages do not come
        together again, others are taken before them, each time another number.
        """
        most = min(max(FEWEST_TRIES, TRIES_OF_A_PAGE // count), MOST_TRIES)
        drawn, between, times = list[CodePages](), list[CodePages](), list[float]()
        try:
            while True:
                self.tries += 1
                between.append(self.new(1 + self.tries % count))
                drawn.append(self.new(count))
                times.append(self.measure(drawn[-1]))
                seen = [*times, self.least[count]] if count in self.least else times
                shortest = min(seen)
                met = sum(x <= SAME * shortest for x in seen) > 1
                if met or len(times) == most:
                    self.least[count] = shortest if met else 1.02 * shortest
                    return drawn.pop(times.index(min(times)))
        finally:
            for pages in (*drawn, *between):
                pages.free()

    def settle(self, address: int, size: int) -> None:
        """Move loaded code, which nobody runs yet, to quick pages at the same address."""
        first = address // PAGE * PAGE
        count = -(-(address + size - first) // PAGE)
        if not FEWEST <= count <= MOST:
            return
        with contextlib.suppress(OSError):
            pages = self.found(count)
            try:
                pages.write(ctypes.string_at(first, count * PAGE))
                pages.move(first)
            except OSError:
                pages.free()


QUICK_PAGES = QuickPages()
"""Those of this process; who makes kernels holds the lock of those who do."""


def settle(code: bytes, address_of: Callable[[str], int], triple: str) -> None:
    """Move an object file's code to quick pages, on systems where that can be done."""
    if sys.platform == "linux" and triple.startswith("x86_64"):
        text = text_section(code)
        if text is not None:
            QUICK_PAGES.settle(address_of(text.function) - text.offset, text.size)
