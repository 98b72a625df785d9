"""Fair times on a machine that others use too.

Contenders take turns in every round, so that a slow second is slow for all; a time is the CPU time
of this thread; a ratio is the median of the rounds' ratios.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from closedform.arrays import Array


@dataclass(frozen=True, eq=False)
class Job:
    """Work to be timed: `run(repeats)` computes `states` states so many times.

    `results` are its outputs after a run, (states, ...) each, in the order of our kernel's outputs,
    for the check; None for jobs that are ours.
    """

    label: str
    run: Callable[[int], object]
    states: int
    results: Callable[[], Sequence[Array]] | None = None
    clock: Callable[[], float] = time.thread_time


@dataclass(frozen=True)
class Effort:
    """How long to measure: seconds for a job in one round, and how many rounds."""

    slice: float
    rounds: int


QUICK, FULL = Effort(0.002, 7), Effort(0.005, 21)

Times = dict[str, list[float]]
"""Nanoseconds per state by label, one for each round."""


def pin_to_one_core() -> str:
    """Keep this process on one core where the system can; which one, in words."""
    if not hasattr(os, "sched_setaffinity"):
        return "not pinned"
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return f"core {core}"


def repeats_for(job: Job, seconds: float) -> int:
    """How often a job runs in about so many seconds; the first run warms up."""
    job.run(1)
    repeats = 1
    while True:
        start = job.clock()
        job.run(repeats)
        spent = job.clock() - start
        if spent > seconds / 4:
            return max(1, round(repeats * seconds / spent))
        repeats *= 4


def measured(jobs: Sequence[Job], effort: Effort) -> Times:
    """Times of jobs that take turns."""
    repeats = [repeats_for(job, effort.slice) for job in jobs]
    times: Times = {job.label: [] for job in jobs}
    for _ in range(effort.rounds):
        for job, n in zip(jobs, repeats, strict=True):
            start = job.clock()
            job.run(n)
            times[job.label].append((job.clock() - start) / (n * job.states) * 1e9)
    return times


def cheapest(jobs: Sequence[Job]) -> Job:
    """The fastest of several ways to the same result."""
    if len(jobs) == 1:
        return jobs[0]
    times = measured([replace(job, label=str(i)) for i, job in enumerate(jobs)], Effort(0.002, 5))
    return min(zip(jobs, times.values(), strict=True), key=lambda x: statistics.median(x[1]))[0]


def ratio(times: Times, theirs: str, ours: str) -> float | None:
    """How many times faster ours is: the median over rounds; None if one of them is missing."""
    if theirs not in times or ours not in times:
        return None
    return statistics.median(t / o for t, o in zip(times[theirs], times[ours], strict=True))
