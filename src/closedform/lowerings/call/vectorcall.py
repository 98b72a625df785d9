"""Objects that Python calls through an address of their own, and what such functions import."""

from __future__ import annotations

import ctypes
import functools
import sys
import sysconfig
from typing import Any

import numpy as np
import numpy.typing as npt

from closedform.lowerings.call.python_objects import (
    DATA,
    DTYPE,
    FLAGS,
    NDIM,
    SHAPE,
    TYPE,
    WRITEABLE,
)

NUMPY_FUNCTIONS = {"PyArray_Return": 76, "PyArray_NewFromDescr": 94}
"""Places in NumPy's table of functions."""
PYTHON_FUNCTIONS = (
    "PyEval_RestoreThread", "PyEval_SaveThread", "PyObject_Vectorcall", "PyTuple_GetItem",
    "PyTuple_SetItem", "PyTuple_Size", "PyType_GenericAlloc", "Py_DecRef", "Py_IncRef",
)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@functools.cache
def addresses() -> dict[str, int]:
    """Functions and objects of Python and NumPy by the names under which code imports them."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))
    table = ctypes.cast(get(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return {
        **{name: _address(getattr(ctypes.pythonapi, name)) for name in PYTHON_FUNCTIONS},
        **{name: table[place] or 0 for name, place in NUMPY_FUNCTIONS.items()},
        "ndarray": id(np.ndarray), "tuple": id(tuple), "out": id(sys.intern("out")),
        "threads": id(sys.intern("threads")), "one": id(1),     # small numbers are kept by Python
        "float64": id(np.dtype(np.float64)), "float32": id(np.dtype(np.float32)),
    }


@functools.cache
def works() -> bool:
    """Whether Python and NumPy are laid out as `python_objects` says, under a global lock."""
    if (sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED")
            or hasattr(sys, "getobjects") or ctypes.sizeof(ctypes.c_void_p) != 8):
        return False
    return all(_is_laid_out(np.zeros(shape)) for shape in ((), (3,), (2, 5), (2, 3, 4)))


def _is_laid_out(x: npt.NDArray[np.float64]) -> bool:
    """Whether the fields of an array are where they should be."""
    def word(address: int) -> int:
        return ctypes.c_size_t.from_address(address).value

    here = id(x)
    return (
        word(here + TYPE) == id(np.ndarray)
        and word(here + DATA) == x.ctypes.data
        and ctypes.c_int.from_address(here + NDIM).value == x.ndim
        and all(word(word(here + SHAPE) + 8 * k) == n for k, n in enumerate(x.shape))
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

_KEPT: list[Any] = []
"""What Python's types point at as long as the process lives."""


@functools.cache
def vectorcall_type(base: type) -> type:
    """A kind of `base` whose objects hold, behind all else, the address of the function to call.

    Python reaches that function without a frame and without packing arguments, as it does its own.
    """
    place = base.__basicsize__
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _T_PYSSIZET, place, _READONLY, None))
    slots = (_Slot * 3)(
        _Slot(_TP_MEMBERS, ctypes.addressof(members)),
        _Slot(_TP_CALL, _address(ctypes.pythonapi.PyVectorcall_Call)),
    )
    name = f"{base.__module__}.{base.__qualname__}".encode()
    spec = _Spec(name, place + 8, 0, _DEFAULT | _HAVE_VECTORCALL, slots)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Spec), ctypes.py_object)(
        ("PyType_FromSpecWithBases", ctypes.pythonapi))
    _KEPT.append((name, members, slots, spec))
    made: type = make(ctypes.byref(spec), (base,))
    return made


def set_vectorcall(x: object, address: int) -> None:
    """Let calls of an object of a `vectorcall_type` go to a function."""
    ctypes.c_size_t.from_address(id(x) + type(x).__basicsize__ - 8).value = address
