"""Our kernels: the native function in a C loop, calls from Python, batches."""

from __future__ import annotations

import ctypes
import timeit
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from building import HERE, library
from clock import Job
from subjects import Subject, Task

from closedform.applications.compile.kernels import compile
from closedform.arrays import Array
from closedform.lowerings.call.code import Native
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.native.ir import Kind

LARGE = 10_000
"""States of a batch that is also called from Python."""

KINDS: dict[Kind, str] = {"double": "f64", "float": "f32"}

NATIVE, PYTHON, PYTHON_OUT = "ours, native", "ours, Python", "ours, Python, out="


def batch_label(states: int, kind: str = "f64") -> str:
    return f"ours, batch of {states}, {kind}"


class Ours:
    """One task of one robot: the kernel, its arguments, its results; f32 too with `singles`."""

    def __init__(self, subject: Subject, task: Task, singles: bool = True) -> None:
        self.subject, self.task, self.singles = subject, task, singles
        names = task.quantities
        self.kernel: Kernel = compile(subject.robot, list(names))
        self.batched: Kernel = self.kernel
        if task.in_batches:
            self.batched = compile(subject.robot, list(names), only=task.in_batches)
        self.states = subject.states()
        self.outputs = self._empty(subject.count)

    def _empty(self, states: int, dtype: Any = np.float64, batched: bool = False
               ) -> dict[str, Array]:
        slots = (self.batched if batched else self.kernel).interface.outputs
        return {slot.name: np.zeros((states, *slot.shape), dtype) for slot in slots}

    def _inputs(self, states: Mapping[str, Array]) -> list[Array]:
        return [states[slot.name] for slot in self.kernel.interface.inputs]

    def results(self) -> dict[str, Array]:
        """The outputs at the states, by the native function."""
        self.native().run(1)
        return self.outputs

    def jobs(self) -> list[Job]:
        return [self.native(), *self.calls(), *self.batches()]

    def native(self) -> Job:
        arrays = [*self._inputs(self.states), *self.outputs.values()]
        return native_loop(NATIVE, self.kernel.native, arrays)

    def calls(self) -> list[Job]:
        """One state from Python, allocating the result and not."""
        inputs = [slot.name for slot in self.kernel.interface.inputs]
        outputs = [f"out_{name}" for name in self.outputs]
        out = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
        names = {"kernel": self.kernel,
                 **{name: self.states[name][0].copy() for name in inputs},
                 **{f"out_{name}": x[0].copy() for name, x in self.outputs.items()}}
        arguments = ", ".join(inputs)

        def job(label: str, statement: str) -> Job:
            call = timeit.Timer(statement, globals=names)
            return Job(label, lambda repeats: call.timeit(100 * repeats), 100)

        return [job(PYTHON, f"kernel({arguments})"),
                job(PYTHON_OUT, f"kernel({arguments}, out={out})")]

    def batches(self) -> list[Job]:
        """Batches on one thread, from C as the peers' loops are; large ones from Python too."""
        jobs = []
        for n in self.task.batches_of(self.subject.kind):
            inputs = self._inputs(self.subject.states(n))
            jobs += [self._batch_loop(n, inputs, dtype)
                     for dtype in ((np.float64, np.float32) if self.singles else (np.float64,))]
            if n >= LARGE:
                jobs.append(self._batch_call(n, inputs))
        return jobs

    def _batch_loop(self, states: int, inputs: Sequence[Array], dtype: Any) -> Job:
        kind: Kind = "double" if dtype is np.float64 else "float"
        native = self.batched._code.native("batch", kind)    # of f32 there is no public pointer
        arrays = [*(x.astype(dtype) for x in inputs), *self._empty(states, dtype, True).values()]
        return native_loop(batch_label(states, KINDS[kind]), native, arrays, batch=True)

    def _batch_call(self, states: int, inputs: Sequence[Array]) -> Job:
        kernel: Any = self.batched
        results = tuple(self._empty(states, np.float64, True).values())
        out = results[0] if len(results) == 1 else results

        def run(repeats: int) -> None:
            for _ in range(repeats):
                kernel(*inputs, out=out, threads=1)

        return Job(f"{batch_label(states)}, Python", run, states)


def native_loop(label: str, native: Native, arrays: Sequence[Array], batch: bool = False) -> Job:
    """A native function over the rows of arrays, in C; of a batch it does them all at once."""
    code, count, states = library(HERE / "loops.c"), len(arrays), len(arrays[0])
    loop = code.loop_batch if batch else code.loop_native
    rows = (ctypes.c_void_p * count)(*(x.ctypes.data for x in arrays))
    steps = (ctypes.c_long * count)(*(x[0].nbytes if batch else x[0].size for x in arrays))
    kept = list(arrays)

    def run(repeats: int) -> None:
        loop(ctypes.c_void_p(native.address), len(kept), rows, steps, ctypes.c_long(states),
             ctypes.c_long(repeats))

    return Job(label, run, states)
