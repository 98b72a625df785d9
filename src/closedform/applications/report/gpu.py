"""Quantities of a robot on a GPU: states a second, and the part of its copy bandwidth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from closedform.applications.report.quantities import states
from closedform.arrays import Floats
from closedform.errors import ClosedformError
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.cuda.calls.clock import GpuClock
from closedform.lowerings.cuda.driver import device
from closedform.model.robot import Robot

BYTES = 1 << 30
"""Of the arrays of a timed launch, at most; a third of what is free where that is less."""
DRAWN = 1024
"""States that are repeated, and compared with the CPU's results."""


@dataclass(frozen=True)
class GpuTimed:
    """States a second in rows, the part of the copy bandwidth, and numbers unlike the CPU's."""

    name: str
    dtype: str
    rate: float
    part: float
    differ: int


@dataclass(frozen=True)
class GpuTimes:
    """The times of kernels on a device, and why some have none."""

    device: str
    copying: float                          # bytes a second, read and written
    rows: tuple[GpuTimed, ...]
    reasons: dict[str, str]

    def data(self) -> dict[str, Any]:
        return {"device": self.device, "copy_bytes_per_second": self.copying,
                "times": [asdict(row) for row in self.rows], "left_out": self.reasons}

    def of(self, name: str, dtype: str) -> GpuTimed | None:
        return next((x for x in self.rows if (x.name, x.dtype) == (name, dtype)), None)


def gpu_times(robot: Robot, kernels: Mapping[str, Kernel],
              dtypes: Sequence[str] = ("float64", "float32"), ordinal: int = 0) -> GpuTimes:
    """Every kernel on a GPU, each launch alone on it; a `MissingDependency` where there is none."""
    on = device(ordinal)
    clock = GpuClock(on)
    most = min(BYTES, clock.free // 3)
    copying = clock.bandwidth(most // 2)
    drawn, rows, reasons = states(robot, DRAWN), list[GpuTimed](), dict[str, str]()
    for name, kernel in kernels.items():
        for dtype in dtypes:
            given = [np.asarray(drawn[slot.name], dtype) for slot in kernel.interface.inputs]
            try:
                rows.append(_timed(clock, kernel, given, most, copying))
            except (ClosedformError, MemoryError) as error:
                reasons[name] = str(error)
    return GpuTimes(on.name, copying, tuple(rows), reasons)


def _timed(clock: GpuClock, kernel: Kernel, given: Sequence[Floats], most: int,
           copying: float) -> GpuTimed:
    dtype, program = given[0].dtype, kernel.program
    launch = kernel.cuda(dtype, "rows", clock.on.ordinal)
    slots = launch.kernels.slots
    used = len({x.args for x in program.code if x.op == "input"})
    written = sum(len(x.entries) for x in program.outputs)
    held = sum(math.prod(slot.shape) for slot in program.inputs) + written + slots
    count = max(most // (held * dtype.itemsize), 1)
    inputs = [clock.repeated(x, count) for x in given]
    outputs = [clock.empty((count, *x.shape), dtype) for x in program.outputs]
    between = clock.empty((max(slots, 1), count if slots else 1), dtype)
    pointers = [x.pointer for x in (*inputs, *outputs)]
    spent = clock.seconds(lambda: launch(count, *pointers, waiting=between.pointer))
    some = min(count, len(given[0]))
    expected = kernel(*(x[:some] for x in given))
    differ = sum(_differing(clock.first(x, some), y) for x, y in zip(
        outputs, expected if isinstance(expected, tuple) else (expected,), strict=True))
    return GpuTimed(kernel.name, dtype.name, count / spent,
                    count * dtype.itemsize * (used + written) / spent / copying, differ)


def _differing(x: Floats, y: Floats) -> int:
    return int(np.sum((x != y) & ~(np.isnan(x) & np.isnan(y))))
