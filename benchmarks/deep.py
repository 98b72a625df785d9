"""Chains of many joints: `python benchmarks/deep.py [joints ...]`.

For each quantity the time of one state by loops and as straight-line code, how many times
Pinocchio C++ takes, and what compiling took. The depths from which on
`closedform.applications.compile.loops.plans` takes loops are read off here.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from clock import FULL, Effort, Job, measured, pin_to_one_core
from contenders_ours import native_loop
from contenders_pinocchio import CPP, Pinocchio
from figures import at_least
from rich.console import Console
from subjects import DERIVATIVES, FD, ID, MASS, MATRICES, Subject, Task
from tables import NOTHING, Table

import closedform as cf
from closedform.applications.compile import kernels
from closedform.applications.compile.loops import sweeping
from closedform.applications.compile.loops.plans import CUT, CUT_FROM, DEPTH
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from closedform.maths.catalogue import quantity
from closedform.model.pose import pose

STATES = 64
AFFORDABLE = {"inverse_dynamics": 200, "forward_dynamics": 100}
"""Joints up to which straight-line code is compiled for comparison; 40 where nothing is said."""

LEAST = {ID: 11, FD: 8, DERIVATIVES: 5.5}
"""Ratios to Pinocchio C++ to reach at `AIM` joints, by the path that is taken there."""
AIM = 100

TASKS = (
    Task(ID, ("inverse_dynamics",)), Task(FD, ("forward_dynamics",), third="tau"),
    Task(MASS, ("mass_matrix",)), Task(MATRICES, ("christoffel_dynamics_matrices",)),
    Task(DERIVATIVES, ("inverse_dynamics_and_derivatives",)),
)


def chain(n: int) -> cf.Robot:
    """n revolute joints about x, y and z in turn, bodies with random masses."""
    rng, bodies = np.random.default_rng(0), []
    for k in range(n):
        A = rng.normal(size=(3, 3))
        joint = cf.Revolute(np.roll((0, 0, 1), k), lower=-3.0, upper=3.0, velocity=1.0, effort=1.0)
        bodies.append(cf.Body(
            name=f"b{k}", parent=f"b{k - 1}" if k else None, joint=joint,
            placement=pose(np.eye(3), 0.1 * rng.normal(size=3)),
            inertia=cf.Inertia(rng.uniform(0.5, 2), 0.1 * rng.normal(size=3),
                               0.01 * (A @ A.T + np.eye(3)))))
    return cf.Robot(f"chain of {n}", bodies)


def compiled(robot: cf.Robot, row: str, depth: int) -> tuple[Any, float]:
    """A kernel by loops from some depth on, and how long it took; nothing is cached."""
    depths = dict.fromkeys(sweeping.PLANS, depth)
    with (patch.object(sweeping, "DEPTH", depths), patch.object(sweeping, "CUT_FROM", {}),
          patch.object(kernels, "AFFORDABLE", 10**9)):
        start = time.perf_counter()
        kernel = getattr(cf.compile(robot, cache=Cache(None)), row)
        return kernel, time.perf_counter() - start


def job(label: str, kernel: Any, given: dict[str, Any], states: int) -> Job:
    inputs = [np.ascontiguousarray(given[slot.name][:states]) for slot in kernel.interface.inputs]
    outputs = [np.zeros((states, *slot.shape)) for slot in kernel.interface.outputs]
    return native_loop(label, kernel.native, [*inputs, *outputs])


def row(subject: Subject, task: Task, effort: Effort) -> tuple[str, ...]:
    """What is told of a task of a robot."""
    name, n = task.quantities[0], subject.robot.nv
    states = 8 if any(len(shape) > 1 for shape in _shapes(name, subject.robot)) else STATES
    given, jobs, spent = subject.states(), [], {}
    for label, depth in (("loops", 1), ("straight", 10**6)):
        if label == "loops" or n <= AFFORDABLE.get(name, 40):
            kernel, spent[label] = compiled(subject.robot, name, depth)
            jobs.append(job(label, kernel, given, states))
    peer = Pinocchio(replace(subject, count=states), build=True)
    jobs += [x for x in peer.jobs(task) if x.label == CPP]
    times = measured(jobs, effort)

    def ratios(theirs: str, ours: str) -> list[float]:
        pairs = zip(times.get(theirs, ()), times.get(ours, ()), strict=False)
        return [t / o for t, o in pairs]

    def ratio(theirs: str, ours: str) -> str:
        found = ratios(theirs, ours)
        return (f"{statistics.quantiles(found, n=4)[0]:.1f}, {statistics.median(found):.1f}"
                if found else NOTHING)

    def us(label: str) -> str:
        return f"{statistics.median(times[label]) / 1000:.1f}" if label in times else NOTHING

    least = LEAST.get(task.name) if n == AIM else None
    cut_from = CUT_FROM.get(host().register, n + 1) if name in CUT else n + 1
    taken = ratios(CPP, "loops" if n >= min(DEPTH[name], cut_from) else "straight")
    verdict = at_least(statistics.median(taken) if taken else None, least) if least else ""
    return (str(n), task.name, us("loops"), us("straight"), ratio(CPP, "loops"),
            ratio(CPP, "straight"), ratio("straight", "loops"),
            *(f"{spent[x]:.2f}" if x in spent else NOTHING for x in ("loops", "straight")),
            f"≥ {least:g}" if least else "", verdict)


def _shapes(name: str, robot: cf.Robot) -> list[tuple[int, ...]]:
    return list(quantity(name).output_shapes(robot).values())


def deep_table(joints: Sequence[int], effort: Effort = FULL) -> Table:
    """Chains of so many joints, a row for each quantity."""
    rows = [row(Subject(f"chain of {n}", "arm", chain(n)), task, effort)
            for n in joints for task in TASKS]
    return Table("Long chains", (
        "joints", "quantity", "loops, µs", "straight, µs", "Pinocchio C++ / loops",
        "Pinocchio C++ / straight", "straight / loops", "compiling loops, s", "straight, s",
        "target", "verdict"), rows,
        "One state by loops and as straight-line code; ratios: lower quartile, median of rounds in "
        "which all take turns. 8 states in turn for matrices. The verdict is on the path that is "
        "taken at that depth.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("joints", nargs="*", type=int, default=[30, 60, 100, 200])
    options = parser.parse_args()
    pin_to_one_core()
    warnings.simplefilter("ignore")
    deep_table(options.joints).print(Console(width=170))


if __name__ == "__main__":
    main()
