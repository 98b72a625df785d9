"""A CUDA driver without a GPU: its functions for ctypes, kernels run by the emulator of PTX.

Memory is the emulator's, with untouchable gaps between arrays. "Machine code" is the text itself.
"""

import ctypes
import gc
import threading
from contextlib import contextmanager
from ctypes import (
    POINTER,
    c_char_p,
    c_float,
    c_int,
    c_size_t,
    c_uint,
    c_uint8,
    c_uint64,
    c_void_p,
)

import numpy as np

from closedform.lowerings.cuda import arrays, driver
from ptx_emulator import Emulator
from ptx_memory import Memory

ATTRIBUTES = {75: 9, 76: 0, 16: 4, 97: 232448}
OUT_OF_MEMORY, INVALID = 2, 1
VERSION = 99_000
"""Of no driver that there is: what is compiled for this one is found by no other in a cache."""


class FakeCuda:
    """What `driver.library()` is; `launches` are the kernels that ran: context, blocks, stream."""

    def __init__(self, devices=1, attributes=ATTRIBUTES, version=VERSION):
        self.memory, self.where = Memory(), {}
        self.devices, self.attributes, self.version = devices, dict(attributes), version
        self._threads, self.free = threading.local(), 1 << 20
        self.launches, self.waited, self.fails = [], [], {}
        self.texts, self.emulators, self._made = {}, {}, {}

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)
        kinds, run = FUNCTIONS[name]

        def called(*args):
            code = self.fails.get(name)
            return (run(self, *args) or 0) if code is None else code

        self._made[name] = made = ctypes.CFUNCTYPE(c_int, *kinds)(called)
        setattr(self, name, made)
        return made

    @property
    def current(self):
        """The context of the calling thread."""
        return getattr(self._threads, "context", None)

    @current.setter
    def current(self, context):
        self._threads.context = context

    def array(self, x, at=0):
        """A GPU array with the contents of x, and its strides."""
        return FakeArray(self, np.asarray(x), at)

    def at(self, start, size):
        """Bytes of the device."""
        assert self.memory.owned[start:start + size].all()
        return self.memory.bytes[start:start + size]

    def _launch(self, handle, blocks, block, shared, stream, arguments):
        text = self.texts[handle]
        if handle not in self.emulators:
            self.emulators[handle] = Emulator(text)
        kernel = self.emulators[handle]
        assert block == kernel.threads
        values = [c_uint64.from_address(arguments[k]).value for k in range(len(kernel.arguments))]
        if shared > self.attributes[97]:
            return INVALID
        self.launches.append((self.current, blocks, stream or 0))
        kernel.launch(self.memory, blocks, shared, *values)

    def _allocate(self, found, size):
        if size > 1 << 24:
            return OUT_OF_MEMORY
        start = self.memory.put(np.zeros(size, np.uint8))
        self.where[start] = (self.current or 1) - 1
        found[0] = start
        return 0

    def _pointer(self, found, number, pointer):
        start = max((s for s in self.where if s <= pointer), default=None)
        if start is None:
            return INVALID
        ctypes.cast(found, POINTER(c_int))[0] = self.where[start]
        return 0

    def _load(self, found, code):
        handle = len(self.texts) + 1
        self.texts[handle] = code.decode()
        found[0] = handle


def _put(place, x):
    place[0] = x


def _copy(target, source):
    target[:] = np.frombuffer(source, np.uint8)


def _text(cuda, linker, kind, text, size, *_):
    cuda._threads.linked = ctypes.create_string_buffer(text)


def _complete(cuda, linker, start, size):
    linked = cuda._threads.linked
    start[0], size[0] = ctypes.addressof(linked), len(linked)


P = POINTER
FUNCTIONS = {
    "cuInit": ([c_uint], lambda cuda, flags: None if cuda.devices else 100),
    "cuDriverGetVersion": ([P(c_int)], lambda cuda, x: _put(x, cuda.version)),
    "cuDeviceGetCount": ([P(c_int)], lambda cuda, x: _put(x, cuda.devices)),
    "cuDeviceGet": ([P(c_int), c_int], lambda cuda, x, k: _put(x, k)),
    "cuDevicePrimaryCtxRetain": ([P(c_void_p), c_int], lambda cuda, x, k: _put(x, k + 1)),
    "cuDeviceGetName": ([c_void_p, c_int, c_int], lambda cuda, x, size, k: ctypes.memmove(
        x, b"imagined\0", 9) and None),
    "cuDeviceGetAttribute": ([P(c_int), c_int, c_int],
                             lambda cuda, x, number, k: _put(x, cuda.attributes[number])),
    "cuGetErrorName": ([c_int, P(c_char_p)], lambda cuda, code, x: _put(x, b"CUDA_ERROR_IMAGINED")),
    "cuCtxGetCurrent": ([P(c_void_p)], lambda cuda, x: _put(x, cuda.current)),
    "cuCtxSetCurrent": ([c_void_p], lambda cuda, x: setattr(cuda, "current", x)),
    "cuPointerGetAttribute": ([c_void_p, c_int, c_uint64], FakeCuda._pointer),
    "cuLinkCreate_v2": ([c_uint, c_void_p, c_void_p, P(c_void_p)],
                        lambda cuda, n, keys, values, x: _put(x, 7)),
    "cuLinkAddData_v2": ([c_void_p, c_int, c_char_p, c_size_t, c_char_p, c_uint, c_void_p,
                          c_void_p], _text),
    "cuLinkComplete": ([c_void_p, P(c_void_p), P(c_size_t)], _complete),
    "cuLinkDestroy": ([c_void_p], lambda cuda, x: None),
    "cuModuleLoadData": ([P(c_void_p), c_char_p], FakeCuda._load),
    "cuModuleGetFunction": ([P(c_void_p), c_void_p, c_char_p],
                            lambda cuda, x, module, name: _put(x, module)),
    "cuFuncSetAttribute": ([c_void_p, c_int, c_int], lambda cuda, function, number, x: (
        INVALID if number == 8 and x > cuda.attributes[97] else None)),
    "cuMemAlloc_v2": ([P(c_uint64), c_size_t], FakeCuda._allocate),
    "cuMemFree_v2": ([c_uint64], lambda cuda, x: None),
    "cuMemsetD8_v2": ([c_uint64, c_uint, c_size_t], lambda cuda, *_: None),
    "cuMemGetInfo_v2": ([P(c_size_t), P(c_size_t)],
                        lambda cuda, x, y: _put(x, cuda.free) or _put(y, cuda.free)),
    "cuMemcpyHtoD_v2": ([c_uint64, c_void_p, c_size_t], lambda cuda, x, y, size: _copy(
        cuda.at(x, size), (c_uint8 * size).from_address(y))),
    "cuMemcpyDtoH_v2": ([c_void_p, c_uint64, c_size_t], lambda cuda, x, y, size: _copy(
        np.frombuffer((c_uint8 * size).from_address(x), np.uint8), cuda.at(y, size))),
    "cuMemcpyDtoDAsync_v2": ([c_uint64, c_uint64, c_size_t, c_void_p],
                             lambda cuda, x, y, size, stream: _copy(
                                 cuda.at(x, size), cuda.at(y, size))),
    "cuEventCreate": ([P(c_void_p), c_uint], lambda cuda, x, flags: _put(x, 3)),
    "cuEventRecord": ([c_void_p, c_void_p], lambda cuda, *_: None),
    "cuEventSynchronize": ([c_void_p], lambda cuda, x: None),
    "cuEventElapsedTime": ([P(c_float), c_void_p, c_void_p], lambda cuda, x, *_: _put(x, 1.5)),
    "cuStreamSynchronize": ([c_void_p], lambda cuda, x: cuda.waited.append(x or 0)),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": (
        [P(c_int), c_void_p, c_int, c_size_t], lambda cuda, x, *_: _put(x, 1)),
    "cuLaunchKernel": ([c_void_p, *[c_uint] * 7, c_void_p, P(c_void_p), c_void_p],
                       lambda cuda, handle, x, y, z, block, y1, z1, shared, stream, arguments, _:
                       cuda._launch(handle, x, block, shared, stream, arguments)),
}


class FakeArray:
    """Memory of a fake device, as `__cuda_array_interface__` tells it."""

    def __init__(self, cuda, x, at):
        base = x if x.base is None or x.size == 0 else x.base
        self.cuda, self.dtype, self.shape, self.strides = cuda, x.dtype, x.shape, x.strides
        cuda.current, before = at + 1, cuda.current
        start = cuda.memory.put(base.ravel(order="K"))
        cuda.where[start], cuda.current = at, before
        self.pointer = start + x.ctypes.data - base.ctypes.data
        self.at, self.readonly, self.stream = at, False, None

    def __dlpack_device__(self):
        return 2, self.at

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "strides": self.strides, "typestr": self.dtype.str,
                "data": (self.pointer, self.readonly), "version": 3, "stream": self.stream}

    def numpy(self):
        return seen(self.cuda, self)


def seen(cuda, x):
    """The contents of an array on the fake device."""
    told = x.__cuda_array_interface__
    raw = cuda.memory.bytes[told["data"][0]:]
    return np.ndarray(told["shape"], told["typestr"], raw, 0, told["strides"]).copy()


@contextmanager
def pretended(cuda):
    """The driver is this one, as long as that lasts."""
    caches = [driver.library, driver.launcher, driver.device, driver.device_count]
    real = driver._opened
    for cache in caches:
        cache.cache_clear()
    driver._opened, looks = lambda: cuda, dict(arrays.LOOKS)
    try:
        yield cuda
    finally:
        gc.collect()                            # arrays of this driver free their memory by it
        driver._opened = real
        arrays.LOOKS.clear()
        arrays.LOOKS.update(looks)
        for cache in caches:
            cache.cache_clear()
