"""Our kernels: the native function in a C loop, calls from Python, batches."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from building import HERE, library
from clock import Job
from subjects import STATES, Subject, Task

from closedform.applications.kernels import compile
from closedform.arrays import Array
from closedform.lowerings.kernel import Kernel

NATIVE, PYTHON, PYTHON_OUT = "ours, native", "ours, Python", "ours, Python, out="


def batch_label(states: int, kind: str = "f64") -> str:
    return f"ours, batch of {states}, {kind}"


class Ours:
    """One task of one robot: the kernel, its arguments, its results."""

    def __init__(self, subject: Subject, task: Task) -> None:
        self.subject, self.task = subject, task
        names = task.quantities
        self.kernel: Kernel = compile(subject.robot, list(names))
        self.states = subject.states()
        self.outputs = self._empty(STATES)

    def _empty(self, states: int, dtype: Any = np.float64) -> dict[str, Array]:
        slots = self.kernel.interface.outputs
        return {slot.name: np.zeros((states, *slot.shape), dtype) for slot in slots}

    def _inputs(self, states: Mapping[str, Array]) -> list[Array]:
        return [states[slot.name] for slot in self.kernel.interface.inputs]

    def results(self) -> dict[str, Array]:
        """The outputs at the states, by the native function."""
        self.native().run(1)
        return self.outputs

    def jobs(self) -> list[Job]:
        batches = [self.batch(n, dtype) for n in self.task.batches_of(self.subject.kind)
                   for dtype in (np.float64, np.float32)]
        return [self.native(), *self.calls(), *batches]

    def native(self) -> Job:
        arrays = [*self._inputs(self.states), *self.outputs.values()]
        return native_loop(NATIVE, self.kernel, arrays)

    def calls(self) -> list[Job]:
        """One state from Python, allocating the result and not."""
        kernel: Any = self.kernel
        inputs = [x[0].copy() for x in self._inputs(self.states)]
        results = tuple(x[0].copy() for x in self.outputs.values())
        out = results[0] if len(results) == 1 else results

        def allocating(repeats: int) -> None:
            for _ in repeat(None, 100 * repeats):
                kernel(*inputs)

        def given(repeats: int) -> None:
            for _ in repeat(None, 100 * repeats):
                kernel(*inputs, out=out)

        return [Job(PYTHON, allocating, 100), Job(PYTHON_OUT, given, 100)]

    def batch(self, states: int, dtype: Any) -> Job:
        """A batch on one thread, with `out=`."""
        kernel: Any = self.kernel
        inputs = [x.astype(dtype) for x in self._inputs(self.subject.states(states))]
        results = tuple(self._empty(states, dtype).values())
        out = results[0] if len(results) == 1 else results

        def run(repeats: int) -> None:
            for _ in repeat(None, repeats):
                kernel(*inputs, out=out, threads=1)

        kind = "f32" if dtype is np.float32 else "f64"
        return Job(batch_label(states, kind), run, states)


def native_loop(label: str, kernel: Kernel, arrays: Sequence[Array]) -> Job:
    """A kernel's native function over the rows of arrays, in C."""
    loop = library(HERE / "loops.c").loop_native
    count, states = len(arrays), len(arrays[0])
    rows = (ctypes.c_void_p * count)(*(x.ctypes.data for x in arrays))
    widths = (ctypes.c_long * count)(*(x[0].size for x in arrays))
    native, kept = kernel.native, list(arrays)

    def run(repeats: int) -> None:
        loop(ctypes.c_void_p(native.address), len(kept), rows, widths, ctypes.c_long(states),
             ctypes.c_long(repeats))

    return Job(label, run, states)
