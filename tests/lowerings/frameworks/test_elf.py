"""Shared libraries that we write: what a loader reads in them, and what they compute."""

import ctypes
import math
import platform
import struct
import sys

import llvmlite.binding as llvm
import pytest

from closedform.errors import FormatError
from closedform.lowerings.frameworks.elf import AARCH64, X86_64, shared_library
from closedform.lowerings.native.cpu import Cpu, host, object_code

IR = """
@table = internal constant [2 x ptr] [ptr @sin, ptr @cos]
@numbers = internal constant [300 x double] [{numbers}]
@names = internal constant [2 x ptr] [ptr @one, ptr @two]
@one = internal constant [4 x i8] c"one\\00"
@two = internal constant [4 x i8] c"two\\00"
@count = internal global i64 41
@empty = internal global [100 x i64] zeroinitializer
declare double @sin(double)
declare double @cos(double)
define internal double @inner(double %x, i64 %k) noinline nounwind {{
  %place = getelementptr double, ptr @numbers, i64 %k
  %y = load double, ptr %place
  %z = fadd double %x, %y
  ret double %z
}}
define double @sum(double %x, i64 %k) nounwind {{
  %f = load ptr, ptr getelementptr (i8, ptr @table, i64 8)
  %c = call double %f(double %x)
  %g = load ptr, ptr @table
  %s = call double %g(double %c)
  %y = call double @inner(double %s, i64 %k)
  %z = fadd double %y, 0.1
  ret double %z
}}
define ptr @name(i64 %k) nounwind {{
  %place = getelementptr ptr, ptr @names, i64 %k
  %name = load ptr, ptr %place
  ret ptr %name
}}
define i64 @next() nounwind {{
  %n = load i64, ptr @count
  %m = add i64 %n, 1
  store i64 %m, ptr @count
  %e = load i64, ptr getelementptr (i64, ptr @empty, i64 99)
  %r = add i64 %m, %e
  ret i64 %r
}}
""".format(numbers=", ".join(f"double {float(k)}" for k in range(300)))

ARM = Cpu("aarch64-unknown-linux-gnu", "generic", "+neon", 16, True)
HERE = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")


class Text:
    def __init__(self, text):
        self.text = lambda: text


def made_for(cpu, text=IR):
    if cpu is ARM:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        try:
            llvm.Target.from_triple(cpu.triple)
        except RuntimeError:
            pytest.skip("NOT TESTED: this llvmlite has no AArch64")
    return object_code(Text(text), cpu)


@pytest.fixture(params=["x86-64", "aarch64"])
def built(request):
    """An object and the library of it."""
    if request.param == "x86-64" and platform.machine() != "x86_64":
        pytest.skip("NOT TESTED: another machine")
    code = made_for(host() if request.param == "x86-64" else ARM)
    return code, shared_library(code, "libtest.so", ("libm.so.6",))


class Loaded:
    """A library as a loader sees it, by the program headers alone."""

    def __init__(self, data):
        self.data = data
        (self.kind, self.machine), (self.at,) = (struct.unpack_from("<HH", data, 16),
                                                 struct.unpack_from("<Q", data, 32))
        size, count = struct.unpack_from("<HH", data, 54)
        rows = [struct.unpack_from("<IIQQQQQQ", data, self.at + k * size) for k in range(count)]
        self.loads = [r for r in rows if r[0] == 1]
        self.dynamic_row = next(r for r in rows if r[0] == 2)
        self.stack = next(r for r in rows if r[0] == 0x6474E551)
        self.dynamic = {}
        for at in range(self.dynamic_row[3], self.dynamic_row[3] + self.dynamic_row[5], 16):
            tag, value = struct.unpack("<qQ", self.read(at, 16))
            if tag == 0:
                break
            self.dynamic.setdefault(tag, []).append(value)

    def read(self, address, size):
        for _, _, offset, start, _, length, _, _ in self.loads:
            if start <= address and address + size <= start + length:
                return self.data[offset + address - start:][:size]
        raise AssertionError(f"{address:x} is in no segment")

    def flags(self, address):
        return next(r[1] for r in self.loads if r[3] <= address < r[3] + r[5])

    def string(self, at):
        start, = self.dynamic[5]
        end = at
        while self.read(start + end, 1) != b"\0":
            end += 1
        return self.read(start + at, end - at).decode()

    def symbols(self):
        buckets, chains = struct.unpack("<II", self.read(self.dynamic[4][0], 8))
        words = struct.unpack(f"<{buckets + chains}I",
                              self.read(self.dynamic[4][0] + 8, 4 * (buckets + chains)))
        found, k = {}, words[0]
        while k:
            name, info, _, section, value, _ = struct.unpack(
                "<IBBHQQ", self.read(self.dynamic[6][0] + 24 * k, 24))
            found[self.string(name)] = info, section, value
            k = words[buckets + k]
        return found

    def relocations(self):
        at, size = self.dynamic[7][0], self.dynamic[8][0]
        return [struct.unpack("<QQq", self.read(at + k, 24)) for k in range(0, size, 24)]


def test_headers_are_those_of_a_shared_library(built):
    code, data = built
    library = Loaded(data)
    assert data[:7] == b"\x7fELF\x02\x01\x01" and library.kind == 3
    assert library.machine == struct.unpack_from("<H", code, 18)[0]
    assert library.machine in (X86_64, AARCH64)
    assert [library.string(k) for k in library.dynamic[1]] == ["libm.so.6"]
    assert library.string(library.dynamic[14][0]) == "libtest.so"


def test_segments_can_be_mapped_and_none_is_written_and_executed(built):
    library = Loaded(built[1])
    page = 0x1000 if library.machine == X86_64 else 0x10000
    pages = []
    for _, flags, offset, address, _, size, memory, align in library.loads:
        assert align == page and offset % page == address % page and size == memory
        assert flags & 3 != 3
        pages += range(address // page, (address + size - 1) // page + 1)
    assert len(pages) == len(set(pages))
    assert not library.stack[1] & 1
    assert library.flags(library.dynamic_row[3]) == 6


def test_symbols_are_exported_and_imported_by_name(built):
    library = Loaded(built[1])
    found = library.symbols()
    assert set(found) == {"sum", "name", "next", "sin", "cos"}
    for name in ("sum", "name", "next"):
        info, section, address = found[name]
        assert info == 0x12 and section and library.flags(address) == 5
    assert found["sin"][1:] == found["cos"][1:] == (0, 0)


def test_pointers_in_data_are_left_to_the_loader(built):
    library = Loaded(built[1])
    word, relative = (1, 8) if library.machine == X86_64 else (257, 1027)
    found = library.relocations()
    assert sorted(info & 0xFFFFFFFF for _, info, _ in found) == sorted([word] * 2 + [relative] * 2)
    assert all(library.flags(place) == 6 for place, _, _ in found)
    texts = {library.read(addend, 4) for _, info, addend in found if info == relative}
    assert texts == {b"one\0", b"two\0"}


def test_the_library_loads_and_computes(tmp_path):
    if not HERE:
        pytest.skip("NOT TESTED: no Linux on x86-64 or aarch64")
    path = tmp_path / "libtest.so"
    path.write_bytes(shared_library(made_for(host()), path.name, ("libm.so.6",)))
    library = ctypes.CDLL(str(path))
    library.sum.restype, library.sum.argtypes = ctypes.c_double, (ctypes.c_double, ctypes.c_int64)
    library.name.restype = ctypes.c_char_p
    for k in (0, 7, 299):
        assert library.sum(0.3, k) == math.sin(math.cos(0.3)) + k + 0.1
    assert [library.name(k) for k in (0, 1)] == [b"one", b"two"]
    assert [library.next() for _ in range(3)] == [42, 43, 44]


def instruction(library, address):
    return struct.unpack("<I", library.read(address, 4))[0]


def bits(word, low, count):
    return word >> low & (1 << count) - 1


def signed(value, count):
    return value - (1 << count) if value >> count - 1 else value


def test_aarch64_instructions_reach_what_they_name():
    """Decoded by the manual: ADRP and the offset behind it, and branches with links."""
    code = made_for(ARM)
    library = Loaded(shared_library(code, "libtest.so"))
    start, size = next((r[3], r[5]) for r in library.loads if r[1] == 5)
    pages, data, calls = {}, set(), []
    for address in range(start, start + size - 3, 4):
        word = instruction(library, address)
        if word & 0x9F000000 == 0x90000000:                         # ADRP
            distance = signed(bits(word, 5, 19) << 2 | bits(word, 29, 2), 21)
            pages[bits(word, 0, 5)] = (address >> 12) + distance << 12
        elif word & 0xFFC00000 == 0x91000000 and bits(word, 5, 5) in pages:     # ADD
            data.add(pages[bits(word, 5, 5)] + bits(word, 10, 12))
        elif word & 0xFBC00000 == 0xF9400000 and bits(word, 5, 5) in pages:     # LDR x or d
            data.add(pages[bits(word, 5, 5)] + 8 * bits(word, 10, 12))
        elif word & 0xFC000000 == 0x94000000:                       # BL
            calls.append(address + 4 * signed(bits(word, 0, 26), 26))
    numbers = struct.pack("<3d", 0.0, 1.0, 2.0)
    assert any(read_if(library, x, 24) == numbers and library.flags(x) == 4 for x in data)
    assert any(read_if(library, x, 8) == struct.pack("<d", 0.1) for x in data)
    assert any(read_if(library, x, 8) == struct.pack("<q", 41) for x in data)
    assert calls and all(library.flags(x) == 5 for x in calls)
    assert all(x not in [v[2] for v in library.symbols().values()] for x in calls)


def test_aarch64_code_computes_in_an_emulator():
    unicorn = pytest.importorskip("unicorn", reason="NOT TESTED: pip install unicorn")
    arm = pytest.importorskip("unicorn.arm64_const")
    library = Loaded(shared_library(made_for(ARM), "libtest.so"))
    machine, base, stack = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM), 1 << 30, 1 << 31
    machine.mem_map(base, 1 << 20)
    machine.mem_map(stack, 1 << 20)
    for _, _, offset, address, _, size, _, _ in library.loads:
        machine.mem_write(base + address, library.data[offset:offset + size])
    for place, info, addend in library.relocations():
        if info == 1027:
            machine.mem_write(base + place, struct.pack("<Q", base + addend))

    def call(name, k=0):
        machine.reg_write(arm.UC_ARM64_REG_X0, k)
        machine.reg_write(arm.UC_ARM64_REG_SP, stack + (1 << 19))
        machine.reg_write(arm.UC_ARM64_REG_LR, stack)
        machine.emu_start(base + library.symbols()[name][2], stack)
        return machine.reg_read(arm.UC_ARM64_REG_X0)

    assert [bytes(machine.mem_read(call("name", k), 4)) for k in (0, 1)] == [b"one\0", b"two\0"]
    assert [call("next") for _ in range(3)] == [42, 43, 44]


def read_if(library, address, size):
    try:
        return library.read(address, size)
    except AssertionError:
        return b""


def test_what_cannot_be_resolved_is_refused(built):
    called = """declare double @missing(double)
    define double @f(double %x) nounwind {
      %y = call double @missing(double %x)
      ret double %y
    }"""
    machine = struct.unpack_from("<H", built[0], 18)[0]
    with pytest.raises(FormatError, match="of missing for machine"):
        shared_library(made_for(ARM if machine == AARCH64 else host(), called), "f.so")
    with pytest.raises(FormatError, match="expected a relocatable ELF64 object"):
        shared_library(b"MZ" + bytes(200), "f.so")
    with pytest.raises(FormatError, match="of type 3"):
        shared_library(built[1], "f.so")
