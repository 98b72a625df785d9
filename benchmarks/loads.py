"""Kernels loaded again and again: how many are slow, where they lie and in chosen pages.

`python benchmarks/loads.py [LOADS]`; all stay loaded, so that each lies elsewhere.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from clock import Job, pin_to_one_core
from contenders_ours import native_loop
from limbs import FEW, robots
from rich.console import Console
from rich.table import Table
from subjects import DERIVATIVES, FD, HUMANOID, ID, MATRICES, TASKS, Subject

from closedform.applications.compile.kernels import compile
from closedform.lowerings.call.code import _ready
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.native import cpu

KERNELS = (("talos", ID), ("talos", FD), ("talos", MATRICES), ("solo12", DERIVATIVES),
           ("g1 with hands", ID))
LOADS, SLOW = 300, 1.2
ROUNDS, CALLS = 20, 128


class Loaded(NamedTuple):
    """Code in memory, as a native function."""

    address: int
    code: Any


def loaded(kernel: Kernel, times: int) -> tuple[list[Loaded], float]:
    """The stored code so many times, and the median seconds of a load."""
    stored = kernel._code._stored("kernel", "double")
    found, seconds = [], []
    for _ in range(times):
        start = time.perf_counter()
        code = _ready(stored)
        seconds.append(time.perf_counter() - start)
        found.append(Loaded(code.address("kernel"), code))
    return found, statistics.median(seconds)


def shortest(jobs: list[Job]) -> list[float]:
    """Nanoseconds of a call, the least of rounds in turn, as other people's work takes longer."""
    least = [np.inf] * len(jobs)
    for _ in range(ROUNDS):
        for k, job in enumerate(jobs):
            start = time.perf_counter()
            job.run(CALLS // job.states)
            least[k] = min(least[k], (time.perf_counter() - start) / CALLS * 1e9)
    return least


def row(name: str, task: str, times: int) -> list[str]:
    quantities = next(t for t in TASKS if t.name == task).quantities
    subject = Subject(name, HUMANOID, robots([name])[name])
    kernel, states = compile(subject.robot, list(quantities)), subject.states(FEW)
    arrays = [states[slot.name] for slot in kernel.interface.inputs]
    arrays += [np.zeros((FEW, *slot.shape)) for slot in kernel.interface.outputs]

    def told(settle: Callable[..., None]) -> tuple[str, str]:
        with patch.object(cpu, "settle", settle):
            found, seconds = loaded(kernel, times)
        least = shortest([native_loop(str(k), x, arrays) for k, x in enumerate(found)])
        usual = statistics.median(least)
        slow = sum(x > SLOW * usual for x in least)
        return f"{slow} of {times}, up to {max(least) / usual:.2f}", f"{seconds * 1e3:.2f}"

    (left, quick), (moved, longer) = told(lambda *_: None), told(cpu.settle)
    return [name, task, left, moved, f"{quick} → {longer}"]


def main(times: int) -> None:
    pin_to_one_core()
    table = Table("robot", "kernel", f"more than {SLOW} medians", "in chosen pages", "a load, ms")
    for name, task in KERNELS:
        table.add_row(*row(name, task, times))
    Console(width=120).print(table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else LOADS)
