"""Memory of a GPU that is our own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from closedform.lowerings.cuda.driver import Device, device


def c_strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    strides = []
    for length in reversed(shape):
        strides.append(size)
        size *= length
    return tuple(reversed(strides))


class DeviceArray:
    """Memory of our own for results, where the caller's library is not known."""

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any,
                 at: int) -> None:
        self.shape, self.dtype, self._device = shape, np.dtype(dtype), device(at)
        self.strides = tuple(s * self.dtype.itemsize for s in strides)
        self.pointer = self._device.allocate(max(math.prod(shape) * self.dtype.itemsize, 1))

    @classmethod
    def of(cls, x: np.ndarray[Any, Any], at: int) -> DeviceArray:
        """With the numbers of an array of the host, in C order."""
        dense = np.ascontiguousarray(x)
        made = cls(dense.shape, c_strides(dense.shape, 1), dense.dtype, at)
        made._device.write(made.pointer, dense)
        return made

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.pointer, False),
                "version": 3, "strides": self.strides}

    def __del__(self) -> None:
        owner: Device | None = getattr(self, "_device", None)
        if owner is not None and hasattr(self, "pointer"):
            owner.free(self.pointer)
