"""Memory of a GPU and times by its own events: for benchmarks, with nothing but the driver."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from ctypes import byref, c_float, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

import numpy as np

from closedform.arrays import Floats
from closedform.lowerings.cuda.calls.device_array import DeviceArray, c_strides
from closedform.lowerings.cuda.driver import Device, check, library

ROUNDS, CALLS = 7, 3


class GpuClock:
    """Calls on the default stream of a device, timed; arrays that are filled from the host's."""

    def __init__(self, on: Device) -> None:
        self.on = on
        self._events = [c_void_p() for _ in range(2)]
        with on.current():
            for event in self._events:
                check(library().cuEventCreate(byref(event), c_uint(0)), on.name)

    @property
    def free(self) -> int:
        """Bytes that are left."""
        found, whole = c_size_t(), c_size_t()
        with self.on.current():
            check(library().cuMemGetInfo_v2(byref(found), byref(whole)), self.on.name)
        return found.value

    def repeated(self, x: Floats, count: int) -> DeviceArray:
        """An array of so many states that are those of x again and again, without gaps."""
        each = x[0].nbytes
        made = self.empty((count, *x.shape[1:]), x.dtype)
        there, done = made.pointer, min(len(x), count) * each
        self.on.write(there, np.ascontiguousarray(x[:count]))
        with self.on.current():
            while done < count * each:          # twice as much each time
                more = min(done, count * each - done)
                self._copy(there + done, there, more)
                done += more
        return made

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> DeviceArray:
        return DeviceArray(shape, c_strides(shape, 1), dtype, self.on.ordinal)

    def first(self, x: DeviceArray, count: int) -> Floats:
        """The first states of an array, on the host."""
        found = np.empty((count, *x.shape[1:]), x.dtype)
        self.on.read(x.pointer, found)
        return found

    def bandwidth(self, size: int) -> float:
        """Bytes a second, read and written, of copying so many."""
        source, target = (self.empty((size // 8,), np.dtype(np.float64)) for _ in range(2))
        return 2 * (size // 8 * 8) / self.seconds(
            lambda: self._copy(target.pointer, source.pointer, size // 8 * 8))

    def _copy(self, target: int, source: int, size: int) -> None:
        check(library().cuMemcpyDtoDAsync_v2(c_uint64(target), c_uint64(source), c_size_t(size),
                                             c_void_p(0)), self.on.name)

    def seconds(self, run: Callable[[], None]) -> float:
        """The median time of a call among others of its kind."""
        cuda, (start, stop) = library(), self._events
        times = []
        with self.on.current():
            run()
            for _ in range(ROUNDS):
                check(cuda.cuEventRecord(start, c_void_p(0)), self.on.name)
                for _ in range(CALLS):
                    run()
                check(cuda.cuEventRecord(stop, c_void_p(0)), self.on.name)
                check(cuda.cuEventSynchronize(stop), self.on.name)
                spent = c_float()
                check(cuda.cuEventElapsedTime(byref(spent), start, stop), self.on.name)
                times.append(1e-3 * spent.value / CALLS)
        return statistics.median(times)
