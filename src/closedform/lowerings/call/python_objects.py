"""Python's and NumPy's objects seen from IR: fields, checks, new arrays and tuples.

The fields of an array are part of NumPy's binary interface; `vectorcall.works()` compares these
places with real arrays before any code that reads them is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from closedform.lowerings.native.ir import Function, Kind

TYPE = 8                                                 # PyObject.ob_type
DATA, NDIM, SHAPE, DTYPE, FLAGS = 16, 24, 32, 56, 64     # of PyArrayObject
READABLE = 0x0101                                        # C-contiguous, aligned
WRITEABLE = 0x0501                                       # and writeable
DTYPES: Mapping[Kind, str] = MappingProxyType({"double": "float64", "float": "float32"})
"""The dtype of numbers of a kind, by the name of its import."""


Bytes = tuple[str, str]
"""A pointer, and the number of bytes there."""


class PythonObjects:
    """Writes work on Python objects into a function that returns one.

    Arrays hold numbers of one kind. A failed check jumps to the block `other`, which the function
    has to have.
    """

    def __init__(self, function: Function, kind: Kind) -> None:
        self.f, self.kind = function, kind

    def call(self, name: str, *arguments: str, kind: str = "ptr") -> str:
        """The result of a function of the process."""
        text = f"call {kind} {self.f.imported(name)}({', '.join(arguments)})"
        if kind == "void":
            self.f.line(text)
            return ""
        return self.f.let(text)

    def field(self, x: str, place: int, kind: str) -> str:
        align = 4 if kind == "i32" else 8
        return self.f.let(f"load {kind}, ptr {self.f.offset(x, place)}, align {align}")

    def require(self, condition: str) -> None:
        """Go on only if it holds."""
        following = f"ok.{self.f.name()[1:]}"
        self.f.line(f"br i1 {condition}, label %{following}, label %other")
        self.f.label(following)

    def require_equal(self, kind: str, x: str, y: object) -> None:
        self.require(self.f.let(f"icmp eq {kind} {x}, {y}"))

    def require_array(self, x: str, flags: int) -> None:
        """x is an array of the right dtype with these flags."""
        self.require_equal("ptr", self.field(x, TYPE, "ptr"), self.f.imported("ndarray"))
        found = self.f.let(f"and i32 {self.field(x, FLAGS, 'i32')}, {flags}")
        self.require_equal("i32", found, flags)
        dtype = self.f.imported(DTYPES[self.kind])
        self.require_equal("ptr", self.field(x, DTYPE, "ptr"), dtype)

    def require_dimensions(self, dimensions: str, shape: Sequence[object]) -> None:
        for k, n in enumerate(shape):
            self.require_equal("i64", self.field(dimensions, 8 * k, "i64"), n)

    def require_apart(self, read: Sequence[Bytes], written: Sequence[Bytes]) -> None:
        """Nothing that is written overlaps what is read, or what is also written."""
        f, both = self.f, [*read, *written]
        starts = [f.let(f"ptrtoint ptr {x} to i64") for x, _ in both]
        stops = [f.let(f"add i64 {start}, {length}")
                 for start, (_, length) in zip(starts, both, strict=True)]
        for j in range(len(read), len(both)):
            for i in range(j):
                before = f.let(f"icmp ule i64 {stops[i]}, {starts[j]}")
                after = f.let(f"icmp ule i64 {stops[j]}, {starts[i]}")
                self.require(f.let(f"or i1 {before}, {after}"))

    def keywords(self) -> str:
        """How many arguments are given by name, an i64."""
        f, mark = self.f, self.f.name()[1:]
        before = f.block
        none = f.let("icmp eq ptr %kwnames, null")
        f.line(f"br i1 {none}, label %counted.{mark}, label %named.{mark}")
        f.label(f"named.{mark}")
        size = self.call("PyTuple_Size", "ptr %kwnames", kind="i64")
        f.line(f"br label %counted.{mark}")
        f.label(f"counted.{mark}")
        return f.let(f"phi i64 [ 0, %{before} ], [ {size}, %named.{mark} ]")

    def without_one_thread(self, count: str, position: int) -> tuple[str, str]:
        """How many keywords are left without a last one `threads=1`, and whether it was there."""
        f, mark = self.f, self.f.name()[1:]
        before = f.block
        some = f.let(f"icmp sgt i64 {count}, 0")
        f.line(f"br i1 {some}, label %last.{mark}, label %left.{mark}")
        f.label(f"last.{mark}")
        place = f.let(f"sub i64 {count}, 1")
        name = self.call("PyTuple_GetItem", "ptr %kwnames", f"i64 {place}")
        shift = f.let(f"add i64 {f.let(f'mul i64 {place}, 8')}, {8 * position}")
        value = f.let(f"load ptr, ptr {f.offset('%args', shift)}, align 8")
        named = f.let(f"icmp eq ptr {name}, {f.imported('threads')}")
        is_one = f.let(f"icmp eq ptr {value}, {f.imported('one')}")
        both = f.let(f"and i1 {named}, {is_one}")
        fewer = f.let(f"select i1 {both}, i64 {place}, i64 {count}")
        f.line(f"br label %left.{mark}")
        f.label(f"left.{mark}")
        return (f.let(f"phi i64 [ 0, %{before} ], [ {fewer}, %last.{mark} ]"),
                f.let(f"phi i1 [ false, %{before} ], [ {both}, %last.{mark} ]"))

    def keyword_out(self, count: str, position: int) -> str:
        """The argument after all inputs, if its name is `out` and it is the only keyword left."""
        self.require_equal("i64", count, 1)
        name = self.call("PyTuple_GetItem", "ptr %kwnames", "i64 0")
        self.require_equal("ptr", name, self.f.imported("out"))
        return self.field("%args", 8 * position, "ptr")

    def items(self, x: str, count: int) -> list[str]:
        """The items of a tuple of this length, plain or of the kernel's own type."""
        f, kind = self.f, self.field(x, TYPE, "ptr")
        plain, named = (f.let(f"icmp eq ptr {kind}, {f.imported(name)}")
                        for name in ("tuple", "result"))
        self.require(f.let(f"or i1 {plain}, {named}"))
        self.require_equal("i64", self.call("PyTuple_Size", f"ptr {x}", kind="i64"), count)
        return [self.call("PyTuple_GetItem", f"ptr {x}", f"i64 {k}") for k in range(count)]

    def new_array(self, shape: Sequence[object]) -> str:
        """A new array, or null; dimensions are numbers or names of numbers."""
        f = self.f
        dimensions = f.allocate(8 * len(shape)) if shape else "null"
        for k, n in enumerate(shape):
            f.line(f"store i64 {n}, ptr {f.offset(dimensions, 8 * k)}, align 8")
        dtype = f.imported(DTYPES[self.kind])
        self.call("Py_IncRef", f"ptr {dtype}", kind="void")     # the array's own
        return self.call("PyArray_NewFromDescr", f"ptr {f.imported('ndarray')}", f"ptr {dtype}",
                         f"i32 {len(shape)}", f"ptr {dimensions}", "ptr null", "ptr null", "i32 0",
                         "ptr null")

    def new_tuple(self, count: int) -> str:
        """A new named tuple with empty places."""
        kind = self.f.imported("result")
        result = self.call("PyType_GenericAlloc", f"ptr {kind}", f"i64 {count}")
        self.return_null_without(result)
        return result

    def put(self, result: str, k: int, item: str) -> None:
        """Give an item to a tuple."""
        self.call("PyTuple_SetItem", f"ptr {result}", f"i64 {k}", f"ptr {item}", kind="i32")

    def return_null_without(self, pointer: str, release: str | None = None) -> None:
        """If a new object could not be made, let go of another and pass Python's error on."""
        f, mark = self.f, self.f.name()[1:]
        failed = f.let(f"icmp eq ptr {pointer}, null")
        f.line(f"br i1 {failed}, label %fail.{mark}, label %ok.{mark}")
        f.label(f"fail.{mark}")
        if release is not None:
            self.call("Py_DecRef", f"ptr {release}", kind="void")
        f.line("ret ptr null")
        f.label(f"ok.{mark}")
