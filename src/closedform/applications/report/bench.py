"""Times of every quantity of one robot on this machine, beside peers that are installed."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any, Literal, final

from closedform.applications.compile.kernels import compile
from closedform.applications.report.gpu import GpuTimes, gpu_times
from closedform.applications.report.peers import peers
from closedform.applications.report.quantities import BATCH, Timed, found_by, jobs, states, timed
from closedform.applications.report.record import machine
from closedform.applications.report.report import Told, ratios
from closedform.applications.report.workers import await_all, common_cache, working
from closedform.errors import ArgumentError, ClosedformError
from closedform.lowerings.cuda import driver
from closedform.maths.catalogue import CATALOGUE
from closedform.model.robot import Robot

PATIENCE = 300.0
"""Seconds in which kernels are to be there."""


@final
@dataclass(frozen=True)
class Bench:
    """Times, the peers' ratios to them, and what was left out with the reason."""

    robot: Robot
    machine: str
    times: list[Timed]
    ratios: dict[str, dict[str, float]]
    reasons: dict[str, str]
    gpu: GpuTimes | None = None

    def data(self) -> dict[str, Any]:
        beside = {} if self.gpu is None else {"gpu": self.gpu.data()}
        return {"robot": self.robot.name, "machine": self.machine,
                "times_ns": [{**asdict(t), "ratios": self.ratios.get(t.name, {})}
                             for t in self.times],
                "left_out": self.reasons, **beside}


def bench(robot: Robot, told: Told = lambda what, part: None,
          device: Literal["cpu", "cuda"] = "cpu") -> Bench:
    """Compile every quantity that is not too large, then time one after the other.

    With the device "cuda" on a GPU too. A `ClosedformError` where nothing is compiled, or where
    there is no GPU.
    """
    if device not in ("cpu", "cuda"):
        raise ArgumentError(f"device is {device!r}; expected 'cpu' or 'cuda'")
    if device == "cuda":
        driver.device(0)                    # an error before anything is computed
    work = jobs(robot)
    until = time.monotonic() + PATIENCE
    with common_cache() as cache:
        with working(robot, work, cache) as progress:
            await_all(work, progress, until, lambda done, total: told(
                f"compiling {done} of {total}", 0.7 * done / total))
        quantities = found_by(compile(robot, cache=cache), progress, until=0.0)   # counts nothing
        if not quantities.kernels:
            raise ClosedformError(f"no times of {robot.name}: {progress.missing()}")
        times, drawn = [], states(robot, BATCH)
        for k, row in enumerate(CATALOGUE):
            if row.name in quantities.kernels:
                told(f"timing {row.name}", 0.7 + 0.3 * k / len(CATALOGUE))
                times.append(timed(row, quantities.kernels[row.name], drawn,
                                   row.name in quantities.batched, 0.03))
        found, missing = peers(robot)
        there = None
        if device == "cuda":
            told("timing on the GPU", 1.0)
            there = gpu_times(robot, quantities.kernels)
        return Bench(robot, machine(), times, ratios(robot, found, quantities.kernels),
                     quantities.reasons | missing, there)
