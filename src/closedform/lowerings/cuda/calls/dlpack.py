"""What a DLPack capsule tells of an array: its memory, without taking it over."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

LEGACY = 1
"""The stream that DLPack calls the legacy default: work on it comes after the producer's."""
KINDS = {0: "i", 1: "u", 2: "f", 5: "c"}
"""DLPack's numbers for what entries are."""
READ_ONLY = 1


class _Tensor(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device", ctypes.c_int32), ("ndim", ctypes.c_int32), ("kind", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64))


class _Versioned(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint64), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor))


class DlpackArray(NamedTuple):
    """An array as its producer tells it; strides are in bytes, None for C order."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: np.dtype[Any]
    device: int
    readonly: bool


def from_dlpack(x: Any) -> DlpackArray:
    """The memory of an array, which is to be held; its producer's work comes before ours."""
    try:
        capsule = x.__dlpack__(stream=LEGACY, max_version=(1, 0))
    except TypeError:                           # a producer before DLPack 1.0
        capsule = x.__dlpack__(stream=LEGACY)
    read, flags = _tensor(capsule)              # in memory of the capsule, which we hold
    size = read.bits // 8
    strides = tuple(read.strides[k] * size for k in range(read.ndim)) if read.strides else None
    usual = read.lanes == 1 and read.bits % 8 == 0 and read.kind in KINDS
    return DlpackArray((read.data or 0) + read.offset,
                       tuple(read.shape[k] for k in range(read.ndim)), strides,
                       np.dtype(f"{KINDS[read.kind]}{size}" if usual else np.void), read.device,
                       bool(flags & READ_ONLY))


def _tensor(capsule: Any) -> tuple[_Tensor, int]:
    get: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))
    is_valid: Any = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_IsValid", ctypes.pythonapi))
    if is_valid(capsule, b"dltensor_versioned"):
        found = _Versioned.from_address(get(capsule, b"dltensor_versioned"))
        return found.tensor, found.flags
    return _Tensor.from_address(get(capsule, b"dltensor")), 0
