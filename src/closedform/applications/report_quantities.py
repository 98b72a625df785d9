"""Every quantity of one robot: its kernel or the reason there is none, its size and its time.

Worker processes compile into the cache that kernels are kept in; the caller then loads them.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.applications.kernels import At, CompiledRobot, asked_request, compile
from closedform.arrays import Array
from closedform.errors import ClosedformError
from closedform.lowerings.kernel import Kernel
from closedform.maths.arguments import SIZES, expected_shape
from closedform.maths.catalogue import CATALOGUE, Quantity
from closedform.model.robot import Robot

LARGEST = 100_000
"""Operations of a program that is still compiled."""
ENTRIES = 20_000
"""Numbers in a result that is still recorded: beyond are tensors of third order of humanoids."""
BATCH = 256
"""States of a timed batch."""
ESSENTIAL = ("mass_matrix", "coriolis_matrix", "gravity_torque", "inverse_dynamics",
             "forward_dynamics", "regressor", "inverse_dynamics_derivatives", "coriolis_torque",
             "inverse_dynamics_jet", "kinetic_energy", "potential_energy")
"""What certificates and pictures need: compiled first."""


@dataclass(frozen=True)
class Sized:
    """A quantity of a robot: its shapes, and its operations or the reason it is left out."""

    name: str
    about: str
    shapes: dict[str, tuple[int, ...]]
    operations: int | None = None
    multiplications: int | None = None
    additions: int | None = None
    trigonometric: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class Timed:
    """Nanoseconds of a call with one state, and of each state of a batch, on one thread."""

    name: str
    call: float
    batch: float


def tip(robot: Robot) -> str:
    """The frame that quantities of a frame are shown for: the last one, or the last body."""
    return (robot.frame_names or robot.body_names)[-1]


def asked(robot: Robot, row: Quantity) -> str | At:
    """The quantity, at the tip where it needs a frame."""
    return At(row.name, tip(robot)) if row.framed else row.name


def too_large(robot: Robot, row: Quantity) -> str:
    """Why a quantity is not even recorded: the size of its result; empty where it is."""
    entries = _entries(robot, row)
    if entries <= ENTRIES:
        return ""
    return f"left out by size: its result has {entries} numbers, more than {ENTRIES}"


def _entries(robot: Robot, row: Quantity) -> int:
    return sum(math.prod(shape) for shape in row.output_shapes(robot).values())


def kernel_of(arm: CompiledRobot, row: Quantity) -> Kernel:
    """The kernel of a quantity; an error where its program has too many operations."""
    return arm.kernel([asked_request(arm.robot, asked(arm.robot, row))], largest=LARGEST)


# ---------------------------------------------------------------------- in other processes
def warm(robot: Robot, name: str) -> str:
    """Compile a quantity, for one state and for batches, into the cache; why not, or nothing."""
    row = next(row for row in CATALOGUE if row.name == name)
    try:
        _ = kernel_of(compile(robot), row).batch_native
    except ClosedformError as error:
        return str(error)
    except ArithmeticError as error:    # such as the inertia that a planar arm's tip has upwards
        return f"does not exist for this robot: {error}"
    return ""


@contextmanager
def warming(robot: Robot) -> Iterator[dict[str, Future[str]]]:
    """Futures of what other processes compile meanwhile: essential ones, then small ones first."""
    rows = [row for row in CATALOGUE if not too_large(robot, row)]
    rows.sort(key=lambda row: (row.name not in ESSENTIAL, _entries(robot, row)))
    names = [row.name for row in rows]
    workers = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
    pool = ProcessPoolExecutor(min(workers, 4), multiprocessing.get_context("spawn"))
    try:
        yield {name: pool.submit(warm, robot, name) for name in names}
    finally:
        running = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in running:
            process.terminate()


def await_all(futures: dict[str, Future[str]], until: float,
              told: Callable[[int, int], None] = lambda done, total: None) -> dict[str, str]:
    """Reasons of what is not compiled when all are done or time.monotonic() is `until`."""
    while True:
        done, left = wait(futures.values(), timeout=min(0.2, max(0.0, until - time.monotonic())))
        told(len(done), len(futures))
        if not left or time.monotonic() >= until:
            break
    reasons = {name: _reason(future) for name, future in futures.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def _reason(future: Future[str]) -> str:
    if not future.done():
        return "not compiled within the time of this report; the next one goes on from here"
    try:
        return future.result()
    except BrokenProcessPool:
        return ("no process of its own could be started; a script that asks for a report needs "
                "`if __name__ == '__main__':`")


# ---------------------------------------------------------------------- sizes and times
def sized(robot: Robot, row: Quantity, kernel: Kernel | None, reason: str) -> Sized:
    """The size of a quantity, by its kernel or without one."""
    shapes = row.output_shapes(robot)
    if kernel is None:
        return Sized(row.name, row.summary, shapes, reason=reason)
    count = kernel.operations
    return Sized(row.name, row.summary, shapes, count.total, count.mul, count.add, count.trig)


def states(robot: Robot, names: tuple[str, ...], count: int, seed: int = 0) -> dict[str, Array]:
    """Random inputs of these names, (count, ...) each: q within limits, the others normal."""
    rng = np.random.default_rng(seed)
    drawn: dict[str, Array] = {}
    for name in names:
        if name == "q":
            drawn[name] = np.stack([robot.random(rng) for _ in range(count)])
        else:
            drawn[name] = rng.normal(size=(count, *expected_shape(robot, SIZES[name])))
    return drawn


def timed(robot: Robot, row: Quantity, kernel: Kernel, seconds: float = 0.01) -> Timed:
    """Times of a kernel with its results written to arrays that are there already."""
    many = list(states(robot, row.inputs, BATCH).values())
    one = [np.ascontiguousarray(x[0]) for x in many]
    call = nanoseconds(lambda: kernel(*one), seconds)
    batch = nanoseconds(lambda: kernel(*many, threads=1), seconds) / BATCH
    return Timed(row.name, call, batch)


def nanoseconds(run: Callable[[], Any], seconds: float) -> float:
    """The least time of a call among five rounds that take about so many seconds together."""
    run()
    repeats = 1
    while True:
        spent = _spent(run, repeats)
        if spent > seconds / 10:
            break
        repeats *= 4
    repeats = max(1, round(repeats * seconds / 5 / spent))
    return min(_spent(run, repeats) for _ in range(5)) / repeats * 1e9


def _spent(run: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return time.perf_counter() - start
