"""The quick way from Python into a kernel: a `vectorcall` written as IR beside the kernel it calls.

    PyObject *call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)

If every argument is a contiguous float64 array of exactly the right shape, and `out` is missing or likewise
and apart from the inputs, the kernel runs on the arrays' own memory. In every other case the arguments go
unchanged to the slow path, a Python callable: there are no errors to be raised here.

The code reads NumPy's array structure, which is part of its binary interface. `NumPy` says where its fields
are, `works()` compares that with real arrays; where it does not hold, or where there is no global lock, the
slow path serves alone.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import sysconfig
from collections.abc import Sequence
from typing import Any

import numpy as np

from closedform.lowerings.interface import Interface
from closedform.lowerings.llvm_ir import Function, Module
from closedform.program.program import size

TYPE = 8                        # PyObject.ob_type
DATA, NDIM, SHAPE, DTYPE, FLAGS = 16, 24, 32, 56, 64     # of PyArrayObject
READABLE = 0x0101               # C-contiguous, aligned
WRITEABLE = 0x0501              # and writeable
NPY_DOUBLE = 12
NPY_ARRAY_NEW, NPY_ARRAY_RETURN = 93, 76                 # places in NumPy's table of functions
ARGUMENTS_OFFSET = 1 << 63      # a flag in the number of arguments

PYTHON_FUNCTIONS = ("PyObject_Vectorcall", "PyTuple_Size", "PyTuple_GetItem", "PyTuple_SetItem",
                    "PyType_GenericAlloc", "Py_IncRef", "Py_DecRef")


def add_call(module: Module, interface: Interface) -> None:
    """The function `call` for a module that has `kernel`."""
    _Call(module, interface).write()


class _Call:
    """Writes `call`: check the inputs, find or make the outputs, run, return."""

    def __init__(self, module: Module, interface: Interface) -> None:
        self.f, self.interface = Function(module), interface

    def write(self) -> None:
        f, inputs, outputs = self.f, self.interface.inputs, self.interface.outputs
        count = f.let(f"and i64 %nargsf, {ARGUMENTS_OFFSET - 1}")
        self._require(f.let(f"icmp eq i64 {count}, {len(inputs)}"))
        read = [self._array(self._argument(k), slot.shape, READABLE) for k, slot in enumerate(inputs)]
        no_keywords = f.let("icmp eq ptr %kwnames, null")
        f.line(f"br i1 {no_keywords}, label %make, label %given")
        f.label("given")
        self._into_given(read)
        f.label("make")
        self._into_new(read, alone=len(outputs) == 1)
        f.label("slow")
        result = self._call("PyObject_Vectorcall", f"ptr {f.imported('slow')}", "ptr %args",
                            "i64 %nargsf", "ptr %kwnames")
        f.finish("dso_local ptr @call(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames)",
                 result=f"ptr {result}")

    def _into_given(self, read: Sequence[str]) -> None:
        """kernel(inputs, out), with `out` the only keyword."""
        f, outputs = self.f, self.interface.outputs
        self._require(f.let(f"icmp eq i64 {self._call('PyTuple_Size', 'ptr %kwnames', kind='i64')}, 1"))
        keyword = self._call("PyTuple_GetItem", "ptr %kwnames", "i64 0")
        self._require(f.let(f"icmp eq ptr {keyword}, {f.imported('out')}"))
        out = self._argument(len(self.interface.inputs))
        objects = [out] if len(outputs) == 1 else self._items(out, len(outputs))
        written = [self._array(x, slot.shape, WRITEABLE) for x, slot in zip(objects, outputs, strict=True)]
        self._require_apart(read, written)
        self._run(read, written)
        for x in objects:
            self._call("Py_IncRef", f"ptr {x}", kind="void")
        f.line(f"ret ptr {out if len(outputs) == 1 else self._tuple(objects)}")

    def _into_new(self, read: Sequence[str], alone: bool) -> None:
        """kernel(inputs, new arrays); the arrays belong to the result before anything can fail."""
        f, outputs = self.f, self.interface.outputs
        result = "null" if alone else self._tuple([])
        arrays = []
        for k, slot in enumerate(outputs):
            arrays.append(self._new_array(slot.shape, k))
            self._return_null_without(arrays[-1], release=None if alone else result)
            if not alone:
                self._call("PyTuple_SetItem", f"ptr {result}", f"i64 {k}", f"ptr {arrays[-1]}", kind="i32")
        self._run(read, [self._field(x, DATA, "ptr") for x in arrays])
        for k, (slot, array) in enumerate(zip(outputs, arrays, strict=True)):
            if slot.shape == ():
                self._to_scalar(array, result if not alone else None, k)
            elif alone:
                f.line(f"ret ptr {array}")
        if not alone:
            f.line(f"ret ptr {result}")

    def _to_scalar(self, array: str, result: str | None, k: int) -> None:
        """An array without dimensions becomes NumPy's scalar, as its functions do."""
        if result is None:
            self.f.line(f"ret ptr {self._call('PyArray_Return', f'ptr {array}')}")
            return
        self._call("Py_IncRef", f"ptr {array}", kind="void")
        scalar = self._call("PyArray_Return", f"ptr {array}")
        self._return_null_without(scalar, release=result)
        self._call("PyTuple_SetItem", f"ptr {result}", f"i64 {k}", f"ptr {scalar}", kind="i32")

    def _argument(self, k: int) -> str:
        return self.f.let(f"load ptr, ptr {self.f.offset('%args', 8 * k)}, align 8")

    def _items(self, given: str, count: int) -> list[str]:
        """The items of a tuple of the right length."""
        f = self.f
        kind = self._field(given, TYPE, "ptr")
        plain = f.let(f"icmp eq ptr {kind}, {f.imported('tuple')}")
        named = f.let(f"icmp eq ptr {kind}, {f.imported('result')}")
        self._require(f.let(f"or i1 {plain}, {named}"))
        length = self._call("PyTuple_Size", f"ptr {given}", kind="i64")
        self._require(f.let(f"icmp eq i64 {length}, {count}"))
        return [self._call("PyTuple_GetItem", f"ptr {given}", f"i64 {k}") for k in range(count)]

    def _array(self, x: str, shape: Sequence[int], flags: int) -> str:
        """The data of an object that is a float64 array with this shape and these flags."""
        f = self.f
        self._require(f.let(f"icmp eq ptr {self._field(x, TYPE, 'ptr')}, {f.imported('ndarray')}"))
        found = f.let(f"and i32 {self._field(x, FLAGS, 'i32')}, {flags}")
        tests = [
            f.let(f"icmp eq i32 {found}, {flags}"),
            f.let(f"icmp eq ptr {self._field(x, DTYPE, 'ptr')}, {f.imported('float64')}"),
            f.let(f"icmp eq i32 {self._field(x, NDIM, 'i32')}, {len(shape)}"),
        ]
        self._require(f.let(f"and i1 {f.let(f'and i1 {tests[0]}, {tests[1]}')}, {tests[2]}"))
        dimensions = self._field(x, SHAPE, "ptr")
        for k, n in enumerate(shape):
            self._require(f.let(f"icmp eq i64 {self._field(dimensions, 8 * k, 'i64')}, {n}"))
        return self._field(x, DATA, "ptr")

    def _require_apart(self, read: Sequence[str], written: Sequence[str]) -> None:
        """No output shares memory with an input or with another output."""
        f, slots = self.f, (*self.interface.inputs, *self.interface.outputs)
        pointers = [*read, *written]
        starts = [f.let(f"ptrtoint ptr {x} to i64") for x in pointers]
        stops = [f.let(f"add i64 {start}, {8 * size(slot.shape)}")
                 for start, slot in zip(starts, slots, strict=True)]
        for j in range(len(read), len(pointers)):
            for i in range(j):
                before = f.let(f"icmp ule i64 {stops[i]}, {starts[j]}")
                after = f.let(f"icmp ule i64 {stops[j]}, {starts[i]}")
                self._require(f.let(f"or i1 {before}, {after}"))

    def _new_array(self, shape: Sequence[int], k: int) -> str:
        dimensions = "null"
        if shape:
            values = ", ".join(f"i64 {n}" for n in shape)
            dimensions = f"@shape{k}"
            self.f.module.declarations[
                f"{dimensions} = internal constant [{len(shape)} x i64] [{values}]"] = None
        return self._call("PyArray_New", f"ptr {self.f.imported('ndarray')}", f"i32 {len(shape)}",
                          f"ptr {dimensions}", f"i32 {NPY_DOUBLE}", "ptr null", "ptr null", "i32 0",
                          "i32 0", "ptr null")

    def _tuple(self, items: Sequence[str]) -> str:
        """A new named tuple that takes over these items; the rest are empty places."""
        result = self._call("PyType_GenericAlloc", f"ptr {self.f.imported('result')}",
                            f"i64 {len(self.interface.outputs)}")
        self._return_null_without(result, release=None)
        for k, x in enumerate(items):
            self._call("PyTuple_SetItem", f"ptr {result}", f"i64 {k}", f"ptr {x}", kind="i32")
        return result

    def _run(self, read: Sequence[str], written: Sequence[str]) -> None:
        self.f.line(f"call void @kernel({', '.join(f'ptr {x}' for x in (*read, *written))})")

    def _field(self, x: str, place: int, kind: str) -> str:
        return self.f.let(f"load {kind}, ptr {self.f.offset(x, place)}, align {4 if kind == 'i32' else 8}")

    def _call(self, name: str, *arguments: str, kind: str = "ptr") -> str:
        text = f"call {kind} {self.f.imported(name)}({', '.join(arguments)})"
        if kind == "void":
            self.f.line(text)
            return ""
        return self.f.let(text)

    def _require(self, condition: str) -> None:
        """Go on only if it holds, else take the slow path."""
        following = f"ok.{self.f.name()[1:]}"
        self.f.line(f"br i1 {condition}, label %{following}, label %slow")
        self.f.label(following)

    def _return_null_without(self, pointer: str, release: str | None) -> None:
        """If a new object could not be made, let go of the result and pass Python's error on."""
        f, mark = self.f, self.f.name()[1:]
        f.line(f"br i1 {f.let(f'icmp eq ptr {pointer}, null')}, label %fail.{mark}, label %ok.{mark}")
        f.label(f"fail.{mark}")
        if release is not None:
            self._call("Py_DecRef", f"ptr {release}", kind="void")
        f.line("ret ptr null")
        f.label(f"ok.{mark}")


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def addresses() -> dict[str, int]:
    """What `call` imports and is the same for all kernels."""
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    table = ctypes.cast(get_pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    found = {name: _address(getattr(ctypes.pythonapi, name)) for name in PYTHON_FUNCTIONS}
    return found | {
        "ndarray": id(np.ndarray), "float64": id(np.dtype(np.float64)), "tuple": id(tuple),
        "out": id(sys.intern("out")),
        "PyArray_New": table[NPY_ARRAY_NEW] or 0, "PyArray_Return": table[NPY_ARRAY_RETURN] or 0,
    }


@functools.cache
def works() -> bool:
    """Whether Python and NumPy are laid out as `call` expects."""
    if (sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED")
            or hasattr(sys, "getobjects") or ctypes.sizeof(ctypes.c_void_p) != 8):
        return False
    return all(_is_laid_out(np.zeros(shape)) for shape in ((), (3,), (2, 5), (2, 3, 4)))


def _is_laid_out(x: np.ndarray) -> bool:
    """Whether the fields of an array are where they should be."""
    def word(address: int) -> int:
        return ctypes.c_size_t.from_address(address).value

    here = id(x)
    shape = word(here + SHAPE)
    return (
        word(here + TYPE) == id(np.ndarray)
        and word(here + DATA) == x.ctypes.data
        and ctypes.c_int.from_address(here + NDIM).value == x.ndim
        and all(word(shape + 8 * k) == n for k, n in enumerate(x.shape))
        and word(here + DTYPE) == id(np.dtype(np.float64))
        and ctypes.c_int.from_address(here + FLAGS).value & WRITEABLE == WRITEABLE
    )


class _Member(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t),
                ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int),
                ("flags", ctypes.c_uint), ("slots", ctypes.POINTER(_Slot)))


_TP_CALL, _TP_MEMBERS = 50, 72
_T_PYSSIZET, _READONLY = 19, 1
_HAVE_VECTORCALL, _DEFAULT = 1 << 11, 1 << 18


@functools.cache
def vectorcall_type(base: type) -> type:
    """A kind of `base` whose objects carry the address of the function that calls them.

    Python reaches such an object without a frame and without packing arguments.
    """
    offset = base.__basicsize__
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _T_PYSSIZET, offset, _READONLY, None))
    slots = (_Slot * 3)(
        _Slot(_TP_MEMBERS, ctypes.addressof(members)),
        _Slot(_TP_CALL, _address(ctypes.pythonapi.PyVectorcall_Call)),
    )
    name = f"{base.__module__}.{base.__qualname__}".encode()
    spec = _Spec(name, offset + 8, 0, _DEFAULT | _HAVE_VECTORCALL, slots)
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_Spec), ctypes.py_object]
    made: type = make(ctypes.byref(spec), (base,))
    _KEPT.append((name, members, slots, spec))
    return made


_KEPT: list[Any] = []
"""What Python's types point at as long as the process lives."""


def set_vectorcall(x: object, address: int) -> None:
    """Let calls of an object of a `vectorcall_type` go to a function."""
    ctypes.c_size_t.from_address(id(x) + type(x).__basicsize__ - 8).value = address
