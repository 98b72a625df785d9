"""CUDA arrays of any library: where their memory is, on which stream, and new ones of their kind.

Taken is what has `__cuda_array_interface__` or DLPack with a CUDA device: PyTorch, CuPy, JAX, Numba
and others.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from closedform.errors import ArgumentError
from closedform.lowerings.cuda.calls.device_array import DeviceArray, c_strides
from closedform.lowerings.cuda.calls.dlpack import from_dlpack
from closedform.lowerings.cuda.driver import device, device_of
from closedform.lowerings.cuda.plan import ArrayLayout

CUDA = (2, 13)
"""DLPack's numbers for memory of a CUDA device, its own or managed."""


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
            return int(where()[0]) in CUDA
        except Exception:                 # a library that refuses to say it: a traced array, say
            return False
    return _has_interface(x)


def _has_interface(x: object) -> bool:
    """Of its own or of its type; a type's property is not asked, which may refuse to answer."""
    name = "__cuda_array_interface__"
    return hasattr(type(x), name) or name in getattr(x, "__dict__", ())


class Placed(NamedTuple):
    """An array as a kernel sees it: its layout, and the stride that goes with it."""

    layout: ArrayLayout
    stride: int


def located(view: View, slot: tuple[int, ...], batch: tuple[int, ...]) -> Placed | None:
    """How a kernel reaches an array of states; None if it cannot without a copy."""
    cut, size = len(view.shape) - len(slot), view.dtype.itemsize
    if 0 in view.shape:
        return Placed("rows", math.prod(slot) * size)
    if any(x % size for x in (view.pointer, *view.strides)):
        return None                             # a GPU reads whole numbers where they begin
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
    reached = state == size and entry is not None and abs(entry) < size << 31
    return Placed("states", entry or 0) if reached else None


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
    """The first byte of an array, and the one behind its last, counted from its address."""
    if 0 in view.shape:
        return 0, 0
    ways = [(n - 1) * stride for n, stride in zip(view.shape, view.strides, strict=True)]
    return (sum(way for way in ways if way < 0),
            sum(way for way in ways if way > 0) + view.dtype.itemsize)


SeenArrays = tuple[list[int], tuple[Hashable, ...]]
"""Addresses of arrays, and all else that a call depends on: the same for the same `View`s."""


@dataclass(frozen=True)
class ArrayLibrary:
    """What one library's arrays are like.

    `view` tells an array in full; `look` tells arrays apart, in half a microsecond each, from those
    of an earlier call. `maker(like, shape, last)` makes arrays of the kind and on the device of
    another one, with the first `last` axes last in memory, where `lasts` says that it can. `stream`
    tells the current stream of a device, and `ordered` that the library's own work goes there too.
    `pointer` tells an address alone, where that is quicker than to look.
    """

    view: Callable[[Any], View]
    look: Callable[[Sequence[Any]], SeenArrays]
    maker: Callable[[Any, tuple[int, ...], int], Callable[[], Any]]
    stream: Callable[[int], Callable[[], int]]
    contiguous: Callable[[Any, tuple[int, ...]], Any]
    ordered: bool = True
    lasts: bool = True
    pointer: Callable[[Any], int] | None = None

    def pointers(self, made: Sequence[Any]) -> list[int]:
        """Of arrays that we have made."""
        return self.look(made)[0] if self.pointer is None else [*map(self.pointer, made)]


LOOKS: dict[type, Callable[[Sequence[Any]], SeenArrays]] = {}
"""How to look at arrays, by their types: those that were met on a GPU."""


def library_of(x: object) -> ArrayLibrary:
    """The library of an array, by the module of its type."""
    root = type(x).__module__.partition(".")[0]
    plain = _plain if _has_interface(x) else _dlpack
    library = LIBRARIES.get(root, plain)()
    LOOKS[type(x)] = library.look
    return library


def is_out_of_memory(error: Exception) -> bool:
    """Whether a library says so, in its own way."""
    return (isinstance(error, MemoryError) or "OutOfMemory" in type(error).__name__
            or "RESOURCE_EXHAUSTED" in str(error))


def interface_view(x: Any) -> View:
    """By `__cuda_array_interface__`."""
    told = x.__cuda_array_interface__
    pointer, readonly = told["data"]
    shape, dtype = tuple(told["shape"]), np.dtype(told["typestr"])
    strides = told.get("strides") or c_strides(shape, dtype.itemsize)
    ordinal = device_of(pointer) if pointer else 0
    return View(pointer, shape, tuple(strides), dtype, ordinal, not readonly)


def interface_look(arrays: Sequence[Any]) -> SeenArrays:
    pointers, key = [], []
    for x in arrays:
        told = x.__cuda_array_interface__
        if told.get("mask") is not None:
            raise ArgumentError("an array with a mask is given; kernels compute all states")
        pointer, readonly = told["data"]
        where = device_of(pointer) if pointer else 0
        if told.get("stream"):                  # on which the array may still be written
            device(where).wait(told["stream"])
        pointers.append(pointer)
        key += [tuple(told["shape"]), told.get("strides"), told["typestr"], where, readonly]
    return pointers, (*key, _alignment(pointers))


def _alignment(pointers: Sequence[int]) -> int:
    """What is left of addresses divided by 16, in one number."""
    either = left = 0
    for pointer in pointers:
        either |= pointer
    if either & 15:
        for pointer in pointers:
            left = left << 4 | pointer & 15
    return left


def _strides(shape: tuple[int, ...], last: int) -> tuple[int, ...]:
    """In entries, of an array without gaps whose first axes are last in memory."""
    moved = c_strides((*shape[last:], *shape[:last]), 1)
    cut = len(shape) - last
    return (*moved[cut:], *moved[:cut])


@functools.cache
def _torch() -> ArrayLibrary:
    torch = sys.modules["torch"]
    numbers: dict[Any, np.dtype[Any]] = {
        torch.float64: np.dtype(np.float64), torch.float32: np.dtype(np.float32)}
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def look(arrays: Sequence[Any]) -> SeenArrays:
        pointers: list[int] = []
        key: list[Hashable] = []
        for x in arrays:
            if x.requires_grad and torch.is_grad_enabled():
                raise ArgumentError("a tensor that needs a gradient is given; kernel.torch() is "
                                    "the operator with derivatives, x.detach() leaves them out")
            pointers.append(x.data_ptr())
            key += (x.size(), x.is_contiguous() or x.stride(), x.dtype, x.get_device())
        return pointers, (*key, _alignment(pointers))

    def view(x: Any) -> View:
        dtype = numbers.get(x.dtype, np.dtype(np.int8))
        return View(x.data_ptr(), tuple(x.shape), tuple(s * dtype.itemsize for s in x.stride()),
                    dtype, x.get_device(), True)

    def maker(like: Any, shape: tuple[int, ...], last: int) -> Callable[[], Any]:
        return functools.partial(torch.empty_strided, shape, _strides(shape, last),
                                 dtype=like.dtype, device=like.device)

    def stream(at: int) -> Callable[[], int]:
        if raw is not None:
            return functools.partial(raw, at)
        return lambda: int(torch.cuda.current_stream(at).cuda_stream)

    return ArrayLibrary(view, look, maker, stream, lambda x, shape: x.expand(shape).contiguous(),
                        pointer=methodcaller("data_ptr"))


@functools.cache
def _cupy() -> ArrayLibrary:
    cupy = sys.modules["cupy"]
    current = cupy.cuda.get_current_stream
    here = cupy.cuda.runtime.getDevice

    def look(arrays: Sequence[Any]) -> SeenArrays:
        pointers: list[int] = []
        key: list[Hashable] = []
        for x in arrays:
            memory = x.data
            pointers.append(memory.ptr)
            key += (x.shape, x.strides, x.dtype, memory.device_id)
        return pointers, (*key, _alignment(pointers))

    def view(x: Any) -> View:
        return View(x.data.ptr, x.shape, x.strides, x.dtype, x.data.device_id, True)

    def maker(like: Any, shape: tuple[int, ...], last: int) -> Callable[[], Any]:
        at, dtype, whole = like.data.device_id, like.dtype, (*shape[last:], *shape[:last])
        axes = (*range(len(shape) - last, len(shape)), *range(len(shape) - last))

        def make() -> Any:
            if here() == at:
                made = cupy.ndarray(whole, dtype)
            else:
                with cupy.cuda.Device(at):
                    made = cupy.ndarray(whole, dtype)
            return made.transpose(axes) if last else made

        return make

    def stream(at: int) -> Callable[[], int]:
        try:
            current(at)
        except TypeError:                       # before CuPy 10
            return lambda: int(current().ptr)
        return lambda: int(current(at).ptr)

    return ArrayLibrary(view, look, maker, stream,
                        lambda x, shape: cupy.ascontiguousarray(cupy.broadcast_to(x, shape)))


@functools.cache
def _jax() -> ArrayLibrary:
    import jax.numpy as jnp

    def look(arrays: Sequence[Any]) -> SeenArrays:
        for x in arrays:
            x.block_until_ready()
        return interface_look(arrays)

    def maker(like: Any, shape: tuple[int, ...], last: int) -> Callable[[], Any]:
        dtype, where = like.dtype, like.device
        return lambda: jnp.empty(shape, dtype, device=where).block_until_ready()

    return ArrayLibrary(interface_view, look, maker, _default_stream,
                        lambda x, shape: jnp.broadcast_to(x, shape), ordered=False, lasts=False)


@functools.cache
def _numba() -> ArrayLibrary:
    from numba import cuda

    def contiguous(x: Any, shape: tuple[int, ...]) -> Any:
        whole = np.ascontiguousarray(np.broadcast_to(x.copy_to_host(), shape))
        return cuda.to_device(whole)

    def maker(like: Any, shape: tuple[int, ...], last: int) -> Callable[[], Any]:
        strides = tuple(s * like.dtype.itemsize for s in _strides(shape, last))
        return functools.partial(cuda.device_array, shape, like.dtype, strides)

    return ArrayLibrary(interface_view, interface_look, maker, _default_stream, contiguous,
                        ordered=False)


def _default_stream(at: int) -> Callable[[], int]:
    return lambda: 0


@functools.cache
def _plain() -> ArrayLibrary:
    return ArrayLibrary(interface_view, interface_look, _device_arrays(interface_view),
                        _default_stream, _gathering(interface_view), ordered=False)


def _gathering(view: Callable[[Any], View]) -> Callable[[Any, tuple[int, ...]], DeviceArray]:
    def contiguous(x: Any, shape: tuple[int, ...]) -> DeviceArray:
        found = view(x)
        first, behind = extent(found)
        numbers = np.empty(behind - first, np.uint8)
        device(found.device).read(found.pointer + first, numbers)
        seen = np.ndarray(found.shape, found.dtype, numbers, -first, found.strides)
        return DeviceArray.of(np.broadcast_to(seen, shape), found.device)

    return contiguous


def _device_arrays(view: Callable[[Any], View]) -> Callable[..., Callable[[], Any]]:
    def maker(like: Any, shape: tuple[int, ...], last: int) -> Callable[[], Any]:
        found = view(like)
        return functools.partial(DeviceArray, shape, _strides(shape, last), found.dtype,
                                 found.device)

    return maker


@functools.cache
def _dlpack() -> ArrayLibrary:
    """Arrays that tell no more than DLPack; new ones by the array API's `empty`, if there is."""
    def view(x: Any) -> View:
        if isinstance(x, DeviceArray):
            return interface_view(x)
        told = from_dlpack(x)
        strides = told.strides or c_strides(told.shape, told.dtype.itemsize)
        return View(told.pointer, told.shape, strides, told.dtype, told.device, not told.readonly)

    def look(arrays: Sequence[Any]) -> SeenArrays:
        views = [view(x) for x in arrays]
        pointers = [x.pointer for x in views]
        return pointers, (*[x[1:] for x in views], _alignment(pointers))

    def maker(like: Any, shape: tuple[int, ...], last: int) -> Callable[[], Any]:
        namespace = getattr(like, "__array_namespace__", None)
        if namespace is None:
            return _device_arrays(view)(like, shape, last)
        return functools.partial(namespace().empty, shape, dtype=like.dtype, device=like.device)

    return ArrayLibrary(view, look, maker, _default_stream, _gathering(view), ordered=False,
                        lasts=False)


LIBRARIES: Mapping[str, Callable[[], ArrayLibrary]] = MappingProxyType({
    "torch": _torch, "cupy": _cupy, "jaxlib": _jax, "jax": _jax, "numba": _numba})
"""By the first part of the module that an array's type is of."""
