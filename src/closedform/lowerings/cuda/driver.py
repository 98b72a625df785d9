"""The CUDA driver through ctypes: devices, modules, functions, launches; nothing else is needed.

The driver's library is opened when the first CUDA array is met. Kernels run in the primary context
of a device, which is the one that PyTorch, CuPy and JAX use too; a thread may have none, or that of
another device, which it has again afterwards.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.errors import ArgumentError, ClosedformError, MissingDependency
from closedform.lowerings.cuda.fitting import GpuLimits
from closedform.lowerings.native.launching import DRIVER, WORDS, Launcher

OLDEST = (7, 0)
"""The compute capability that the text needs."""
ASYNC = (8, 0)
"""The one that has copies which are not waited for."""
OLDEST_DRIVER = 11000
"""The driver that knows the version of PTX that is written: 11.0, R450."""
LOG = 1 << 14
ERROR_LOG, ERROR_LOG_BYTES = 5, 6
"""Options of the driver's compiler."""
CAPABILITY, MULTIPROCESSORS, LARGEST_SHARED = (75, 76), 16, 97
"""Attributes of devices."""
LARGE_SHARED, PREFER_SHARED = 8, 9
"""Attributes of functions."""
USUAL_SHARED = 48 << 10
OUT_OF_MEMORY = 2
STICKY = {700: "an illegal address", 715: "an illegal instruction", 716: "an address not aligned",
          719: "an unspecified failure", 714: "an illegal address space", 717: "an address space",
          718: "an invalid program counter", 710: "an assertion", 709: "a destroyed context"}
"""Errors that a kernel leaves behind, and every later call repeats."""


class CudaError(ClosedformError, RuntimeError):
    """What the CUDA driver refuses, with its own name for it."""


def _opened() -> Any:
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


@functools.cache
def library() -> Any:
    """The driver's library, ready."""
    try:
        found = _opened()
    except OSError:
        raise MissingDependency("GPU kernels need NVIDIA's driver: there is no NVIDIA driver "
                                "(libcuda) on this machine") from None
    if found.cuInit(0):
        raise MissingDependency("GPU kernels need a device: the NVIDIA driver finds no device")
    version = c_int()
    found.cuDriverGetVersion(byref(version))
    if version.value < OLDEST_DRIVER:
        raise CudaError(f"the NVIDIA driver knows CUDA {_version(version.value)}; kernels need "
                        f"{_version(OLDEST_DRIVER)} (R450) or a later one")
    return found


def _version(code: int) -> str:
    return f"{code // 1000}.{code % 1000 // 10}"


def check(code: int, doing: str) -> None:
    """An error by name, unless all is well."""
    if code == 0:
        return
    if code == OUT_OF_MEMORY:
        raise MemoryError(f"{doing}: the GPU has not enough memory")
    if code in STICKY:
        raise CudaError(f"{doing}: an earlier kernel on this GPU ended with {STICKY[code]}; with "
                        "CUDA_LAUNCH_BLOCKING=1 the one that did it raises the error")
    name = c_char_p()
    library().cuGetErrorName(c_int(code), byref(name))
    raise CudaError(f"{doing}: {name.value.decode() if name.value else code}")


@functools.cache
def device(ordinal: int) -> Device:
    """A device in its primary context."""
    cuda = library()
    if not (isinstance(ordinal, int | np.integer) and 0 <= ordinal < device_count()):
        raise ArgumentError(f"device must be a number below {device_count()}, of the devices that "
                            f"there are, not {ordinal!r}")
    handle, context = c_int(), c_void_p()
    check(cuda.cuDeviceGet(byref(handle), c_int(ordinal)), f"device {ordinal}")
    check(cuda.cuDevicePrimaryCtxRetain(byref(context), handle), f"device {ordinal}")
    name = ctypes.create_string_buffer(256)
    cuda.cuDeviceGetName(name, c_int(256), handle)
    found = Device(ordinal, handle.value, context.value or 0, name.value.decode())
    if found.capability < OLDEST:
        raise CudaError(f"{found.name} has the compute capability "
                        f"{'.'.join(map(str, found.capability))}; kernels need "
                        f"{'.'.join(map(str, OLDEST))} or a later one")
    return found


@functools.cache
def launcher() -> Any:
    """`launch` of `native/launching.py`, for ctypes."""
    cuda = library()
    return Launcher({name: ctypes.cast(getattr(cuda, name), c_void_p).value or 0
                     for name in DRIVER})


@functools.cache
def device_count() -> int:
    found = c_int()
    check(library().cuDeviceGetCount(byref(found)), "the devices")
    return found.value


def device_of(pointer: int) -> int:
    """The number of the device that memory is on."""
    if device_count() == 1:
        return 0
    found = c_int()
    check(library().cuPointerGetAttribute(byref(found), c_int(9), c_uint64(pointer)),
          "an array's memory")
    return found.value


@dataclass(frozen=True)
class Device:
    """A GPU."""

    ordinal: int
    handle: int
    context: int
    name: str

    def attribute(self, number: int) -> int:
        found = c_int()
        check(library().cuDeviceGetAttribute(byref(found), c_int(number), c_int(self.handle)),
              self.name)
        return found.value

    @functools.cached_property
    def capability(self) -> tuple[int, int]:
        major, minor = (self.attribute(k) for k in CAPABILITY)
        return major, minor

    @functools.cached_property
    def multiprocessors(self) -> int:
        return self.attribute(MULTIPROCESSORS)

    @functools.cached_property
    def limits(self) -> GpuLimits:
        """What a plan has to fit."""
        return GpuLimits(self.attribute(LARGEST_SHARED), self.capability >= ASYNC)

    @functools.cached_property
    def generation(self) -> str:
        """What machine code is made for: the chip and the driver."""
        version = c_int()
        library().cuDriverGetVersion(byref(version))
        return f"sm_{self.capability[0]}{self.capability[1]} driver {version.value}"

    @functools.cached_property
    def words(self) -> int:
        """Memory for what kernels of one call tell each other, a word each: 0 at first."""
        return self.zeroed(8 * WORDS)

    @contextmanager
    def current(self) -> Iterator[None]:
        """This device is the one of the calling thread, as long as that lasts."""
        cuda, before = library(), c_void_p()
        check(cuda.cuCtxGetCurrent(byref(before)), self.name)
        check(cuda.cuCtxSetCurrent(c_void_p(self.context)), self.name)
        try:
            yield
        finally:
            cuda.cuCtxSetCurrent(before)

    def machine_code(self, ptx: str) -> bytes:
        """PTX compiled by the driver, to be kept."""
        cuda = library()
        log = ctypes.create_string_buffer(LOG)
        keys = (c_int * 2)(ERROR_LOG, ERROR_LOG_BYTES)
        values = (c_void_p * 2)(ctypes.cast(log, c_void_p), c_void_p(LOG))
        linker, text = c_void_p(), ptx.encode() + b"\0"
        with self.current():
            check(cuda.cuLinkCreate_v2(c_uint(2), keys, values, byref(linker)), "the compiler")
            try:
                code = cuda.cuLinkAddData_v2(linker, c_int(1), c_char_p(text), c_size_t(len(text)),
                                             c_char_p(b"kernel"), c_uint(0), None, None)
                start, size = c_void_p(), c_size_t()
                code = code or cuda.cuLinkComplete(linker, byref(start), byref(size))
                if code:
                    told = log.value.decode(errors="replace").strip()
                    check(code, f"compiling for {self.name} ({self.generation}): {told}")
                return ctypes.string_at(start, size.value)
            finally:
                cuda.cuLinkDestroy(linker)

    def function(self, code: bytes, name: str, shared: int) -> Function:
        """A function of machine code, loaded for as long as the process runs."""
        cuda = library()
        module, found = c_void_p(), c_void_p()
        with self.current():
            check(cuda.cuModuleLoadData(byref(module), c_char_p(code)), f"loading {name}")
            check(cuda.cuModuleGetFunction(byref(found), module, c_char_p(name.encode())), name)
            if shared > USUAL_SHARED:
                check(cuda.cuFuncSetAttribute(found, c_int(LARGE_SHARED), c_int(shared)), name)
            if shared:
                check(cuda.cuFuncSetAttribute(found, c_int(PREFER_SHARED), c_int(100)), name)
        return Function(self, found.value or 0, shared)

    def allocate(self, size: int) -> int:
        found = c_uint64()
        with self.current():
            check(library().cuMemAlloc_v2(byref(found), c_size_t(size)), f"{size} bytes")
        return found.value

    def zeroed(self, size: int) -> int:
        """Memory that is 0, for whatever stream."""
        start = self.allocate(size)
        with self.current():
            check(library().cuMemsetD8_v2(c_uint64(start), c_uint(0), c_size_t(size)), self.name)
            check(library().cuStreamSynchronize(None), self.name)
        return start

    def read(self, start: int, into: np.ndarray[Any, Any]) -> None:
        """Fill an array of the host from memory of the device."""
        with self.current():
            check(library().cuMemcpyDtoH_v2(c_void_p(into.ctypes.data), c_uint64(start),
                                            c_size_t(into.nbytes)), self.name)

    def write(self, start: int, x: np.ndarray[Any, Any]) -> None:
        """Put an array of the host, without gaps, into memory of the device."""
        with self.current():
            check(library().cuMemcpyHtoD_v2(c_uint64(start), c_void_p(x.ctypes.data),
                                            c_size_t(x.nbytes)), self.name)

    def free(self, pointer: int) -> None:
        with self.current():
            library().cuMemFree_v2(c_uint64(pointer))

    def wait(self, stream: int) -> None:
        with self.current():
            check(library().cuStreamSynchronize(c_void_p(stream)), self.name)


@dataclass(frozen=True)
class Function:
    """A kernel in a device's memory."""

    device: Device
    handle: int
    shared: int

    def blocks_at_once(self, threads: int) -> int:
        """How many blocks run at the same time on the whole device."""
        found = c_int()
        with self.device.current():
            check(library().cuOccupancyMaxActiveBlocksPerMultiprocessor(
                byref(found), c_void_p(self.handle), c_int(threads), c_size_t(self.shared)),
                "a kernel")
        return found.value * self.device.multiprocessors
