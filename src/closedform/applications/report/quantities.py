"""Every quantity of one robot: its kernel or the reason there is none, its size and its time."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.applications.compile.kernels import CompiledRobot
from closedform.applications.report.workers import Job, Progress, kernel_of, request_of, why_not
from closedform.arrays import Array
from closedform.errors import ClosedformError
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.arguments import SIZES, expected_shape
from closedform.maths.catalogue import CATALOGUE
from closedform.maths.quantity import Quantity
from closedform.model.robot import Robot
from closedform.program.program import Operations

BATCH = 256
"""States of a timed batch."""
ARM = 15
"""Velocities of what still counts as an arm, all of whose quantities are compiled in seconds."""


@dataclass(frozen=True)
class Sized:
    """A quantity of a robot: its shapes, its operations, and why there is no kernel or no count."""

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
    batch: float | None                 # None: not compiled within the time


def entries(robot: Robot, row: Quantity) -> int:
    """Numbers in a result."""
    return sum(math.prod(shape) for shape in row.output_shapes(robot).values())


def jobs(robot: Robot) -> list[Job]:
    """Essential quantities first, with batches where all is done in time.

    Of an arm the others follow, largest first, then their batches; of more than an arm time runs
    out, and what is smallest comes first.
    """
    size = {row.name: entries(robot, row) for row in CATALOGUE}
    essential = [row.name for row in CATALOGUE if row.essential]
    others = sorted((name for name in size if name not in essential), key=size.__getitem__)
    if robot.nv > ARM:
        return [(name, batch) for batch in (False, True) for name in (*essential, *others)]
    return ([(name, True) for name in essential] + [(name, False) for name in reversed(others)]
            + [(name, True) for name in others])


@dataclass(frozen=True)
class Found:
    """What there is of every quantity when the time is over."""

    kernels: dict[str, Kernel]
    batched: set[str]                   # of which there is code for batches
    counts: dict[str, Operations]
    reasons: dict[str, str]             # why there is no kernel


def found_by(arm: CompiledRobot, progress: Progress, until: float) -> Found:
    """Kernels from the cache; programs of an arm that no worker came to are recorded, in time.

    Workers take large ones first, so that few and small ones are left.
    """
    counts, reasons = dict(progress.counts), dict(progress.reasons)
    done, kernels = set(progress.done), dict[str, Kernel]()
    for row in sorted(CATALOGUE, key=lambda row: entries(arm.robot, row)):
        name = row.name
        if name in reasons:
            continue
        if (name, False) in done or (name, True) in done:
            kernels[name] = kernel_of(arm, row)
            counts[name] = kernels[name].operations
            continue
        reasons[name] = progress.missing(name)
        if name not in counts and arm.robot.nv <= ARM and time.monotonic() < until:
            try:
                with np.errstate(all="ignore"):         # of robots without mass
                    counts[name] = arm.program([request_of(arm.robot, row)]).operations
            except (ClosedformError, ArithmeticError) as error:
                reasons[name] = why_not(error)
    batched = {name for name, batch in done if batch and name in kernels}
    return Found(kernels, batched, counts, reasons)


# ---------------------------------------------------------------------- sizes and times
def sized(robot: Robot, row: Quantity, found: Found) -> Sized:
    """The size of a quantity."""
    shapes, count = row.output_shapes(robot), found.counts.get(row.name)
    reason = found.reasons.get(row.name, "")
    if count is None:
        return Sized(row.name, row.summary, shapes, reason=reason)
    return Sized(row.name, row.summary, shapes, count.total, count.mul, count.add, count.trig,
                 reason)


CLOSED = 16
"""Different configurations of a robot with loops, each of which takes milliseconds to close."""


def states(robot: Robot, count: int, names: Sequence[str] = tuple(SIZES),
           seed: int = 0) -> dict[str, Array]:
    """Random inputs of these names, (count, ...) each: q within limits, the others normal."""
    rng = np.random.default_rng(seed)
    drawn: dict[str, Array] = {}
    for name in names:
        if SIZES[name] == ("nq",):
            few = min(count, CLOSED) if robot.loops else count
            some = np.stack([robot.random(rng) for _ in range(few)])
            drawn[name] = np.resize(some, (count, robot.nq))
        else:
            drawn[name] = rng.normal(size=(count, *expected_shape(robot, SIZES[name])))
    return drawn


def timed(row: Quantity, kernel: Kernel, drawn: Mapping[str, Array], batch: bool = True,
          seconds: float = 0.006) -> Timed:
    """Times of a kernel at given `states`; of batches too where there is code for them.

    One state returns a new array, a batch is written into arrays that are there already.
    """
    many = [drawn[name] for name in row.inputs]
    one = [np.ascontiguousarray(x[0]) for x in many]
    call = nanoseconds([lambda: kernel(*one)], seconds)[0]
    if not batch:
        return Timed(row.name, min(call), None)
    out: Any = kernel(*many)
    each = nanoseconds([lambda: kernel(*many, out=out)], seconds)[0]
    return Timed(row.name, min(call), min(each) / len(many[0]))


ROUNDS = 5
"""In which timed calls take turns."""


def ratio(theirs: Callable[[], Any], ours: Callable[[], Any], seconds: float = 0.006) -> float:
    """How many times longer theirs takes: the median over rounds in which they take turns."""
    first, second = nanoseconds([theirs, ours], seconds)
    return statistics.median(x / y for x, y in zip(first, second, strict=True))


def nanoseconds(runs: Sequence[Callable[[], Any]], seconds: float) -> list[list[float]]:
    """Times of calls in rounds that take turns, about so many seconds for each of the runs."""
    repeats = []
    for run in runs:
        run()
        count = 1
        while (spent := _spent(run, count)) <= seconds / 10:
            count *= 4
        repeats.append(max(1, round(count * seconds / ROUNDS / spent)))
    rounds = [[_spent(run, n) / n * 1e9 for run, n in zip(runs, repeats, strict=True)]
              for _ in range(ROUNDS)]
    return [list(column) for column in zip(*rounds, strict=True)]


def _spent(run: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    return time.perf_counter() - start
