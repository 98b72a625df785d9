"""CUDA arrays of any library: where their memory is, on which stream, and new ones of their kind.

Taken is what has `__cuda_array_interface__` or DLPack with a CUDA device: PyTorch, CuPy, JAX, Numba
and others.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from closedform.errors import ArgumentError
from closedform.lowerings.cuda.driver import Device, device, device_of
from closedform.lowerings.cuda.plan import ArrayLayout

CUDA = 2
"""DLPack's number for memory of a CUDA device."""
LEGACY = 1
"""The stream that `__cuda_array_interface__` calls the legacy default."""


class View(NamedTuple):
    """Memory of a device; strides are in bytes."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int
    writeable: bool


def is_cuda(x: object) -> bool:
    """Whether an array lies on a CUDA device; no framework is imported to find out."""
    if isinstance(x, np.ndarray | float | int | list | tuple):
        return False
    where = getattr(x, "__dlpack_device__", None)
    if where is not None:
        try:
            return int(where()[0]) == CUDA
        except Exception:                 # a library that refuses to say it: a traced array, say
            return False
    return hasattr(type(x), "__cuda_array_interface__")


class Placed(NamedTuple):
    """An array as a kernel sees it: its layout, and the stride that goes with it."""

    layout: ArrayLayout
    stride: int


def located(view: View, slot: tuple[int, ...], batch: tuple[int, ...]) -> Placed | None:
    """How a kernel reaches an array of states; None if it cannot without a copy."""
    cut, size = len(view.shape) - len(slot), view.dtype.itemsize
    count, leading = math.prod(slot), view.shape[:len(view.shape) - len(slot)]
    entry = _single_stride(slot, view.strides[cut:], size)
    if math.prod(leading) == 1:
        return Placed("strided", 0) if entry == size else None
    state = _single_stride(leading, view.strides[:cut], size)
    if leading != batch or state is None:
        return None
    if entry == size or count == 1:
        dense = state == count * size and view.pointer % 16 == 0
        return Placed("rows" if dense else "strided", state)
    return Placed("states", entry) if state == size and entry is not None else None


def _single_stride(shape: Sequence[int], strides: Sequence[int], size: int) -> int | None:
    """The stride of the axes joined to one, in C order; None if they are not evenly spaced."""
    found: int | None = None
    length = 1
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n == 1:
            continue
        if found is None:
            found = stride
        elif stride != found * length:
            return None
        length *= n
    return size if found is None else found


def extent(view: View) -> tuple[int, int]:
    """The first byte of an array, and the one behind its last."""
    last = sum((n - 1) * max(stride, 0) for n, stride in zip(view.shape, view.strides, strict=True))
    return view.pointer, view.pointer + (last + view.dtype.itemsize) * (0 not in view.shape)


@dataclass(frozen=True)
class ArrayLibrary:
    """What one library's arrays are like; `ordered`: its own work goes to the stream told."""

    view: Callable[[Any], View]
    empty: Callable[[tuple[int, ...], Any, int], Any]
    stream: Callable[[int], int]
    contiguous: Callable[[Any, tuple[int, ...]], Any]
    ordered: bool = True


def library_of(x: object) -> ArrayLibrary:
    """The library of an array, by the module of its type."""
    root = type(x).__module__.partition(".")[0]
    return LIBRARIES.get(root, _plain)()


def interface_view(x: Any) -> View:
    """By `__cuda_array_interface__`."""
    told = x.__cuda_array_interface__
    pointer, readonly = told["data"]
    shape, dtype = tuple(told["shape"]), np.dtype(told["typestr"])
    strides = told.get("strides") or _c_strides(shape, dtype.itemsize)
    ordinal = device_of(pointer) if pointer else 0
    return View(pointer, shape, tuple(strides), dtype, ordinal, not readonly)


def _c_strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    strides = []
    for length in reversed(shape):
        strides.append(size)
        size *= length
    return tuple(reversed(strides))


@functools.cache
def _torch() -> ArrayLibrary:
    torch = sys.modules["torch"]
    numbers: dict[Any, np.dtype[Any]] = {
        torch.float64: np.dtype(np.float64), torch.float32: np.dtype(np.float32)}
    kinds = {x: t for t, x in numbers.items()}

    def view(x: Any) -> View:
        if x.requires_grad and torch.is_grad_enabled():
            raise ArgumentError("a tensor that needs a gradient is given; kernel.torch() is the "
                                "operator with derivatives, x.detach() leaves them out")
        dtype = numbers.get(x.dtype, np.dtype(np.int8))
        size = dtype.itemsize
        return View(x.data_ptr(), tuple(x.shape), tuple(s * size for s in x.stride()), dtype,
                    x.device.index, True)

    return ArrayLibrary(
        view,
        lambda shape, dtype, at: torch.empty(shape, dtype=kinds[dtype], device=f"cuda:{at}"),
        lambda at: int(torch.cuda.current_stream(at).cuda_stream),
        lambda x, shape: x.expand(shape).contiguous())


@functools.cache
def _cupy() -> ArrayLibrary:
    cupy = sys.modules["cupy"]

    def empty(shape: tuple[int, ...], dtype: Any, at: int) -> Any:
        with cupy.cuda.Device(at):
            return cupy.empty(shape, dtype)

    return ArrayLibrary(interface_view, empty, lambda at: int(cupy.cuda.get_current_stream().ptr),
                   lambda x, shape: cupy.ascontiguousarray(cupy.broadcast_to(x, shape)))


@functools.cache
def _jax() -> ArrayLibrary:
    import jax
    import jax.numpy as jnp

    def view(x: Any) -> View:
        x.block_until_ready()
        return interface_view(x)

    def empty(shape: tuple[int, ...], dtype: Any, at: int) -> Any:
        where = next(d for d in jax.devices("cuda") if d.local_hardware_id == at)
        return jax.device_put(jnp.empty(shape, dtype), where).block_until_ready()

    return ArrayLibrary(view, empty, lambda at: 0, lambda x, shape: jnp.broadcast_to(x, shape),
                   ordered=False)


@functools.cache
def _numba() -> ArrayLibrary:
    from numba import cuda

    def contiguous(x: Any, shape: tuple[int, ...]) -> Any:
        whole = np.ascontiguousarray(np.broadcast_to(x.copy_to_host(), shape))
        return cuda.to_device(whole)

    return ArrayLibrary(interface_view, lambda shape, dtype, at: cuda.device_array(shape, dtype),
                   lambda at: 0, contiguous, ordered=False)


@functools.cache
def _plain() -> ArrayLibrary:
    def refused(x: Any, shape: tuple[int, ...]) -> Any:
        raise ArgumentError(f"an array of {type(x).__name__} has to be contiguous, "
                            f"and of the shape {shape}")

    return ArrayLibrary(interface_view, DeviceArray, lambda at: 0, refused, ordered=False)


class DeviceArray:
    """Memory of our own for results, where the caller's library is not known."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, at: int) -> None:
        self.shape, self.dtype, self._device = shape, np.dtype(dtype), device(at)
        size = int(np.prod(shape)) * self.dtype.itemsize
        self._pointer = self._device.allocate(max(size, 1))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._pointer, False),
                "version": 3, "strides": None}

    def __del__(self) -> None:
        owner: Device | None = getattr(self, "_device", None)
        if owner is not None and hasattr(self, "_pointer"):
            owner.free(self._pointer)


LIBRARIES: Mapping[str, Callable[[], ArrayLibrary]] = MappingProxyType({
    "torch": _torch, "cupy": _cupy, "jaxlib": _jax, "jax": _jax, "numba": _numba})
"""By the first part of the module that an array's type is of."""
