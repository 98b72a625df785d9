"""All figures in one run: `python benchmarks/run.py`, or with `--quick` in under a minute.

Prints the tables and writes them to docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import deep
import limbs
from building import MissingError
from clock import FULL, QUICK, Effort, Job, Times, measured, pin_to_one_core
from compile_time import compile_table, slopes_table
from contenders_casadi import Casadi
from contenders_jax import Jax
from contenders_mujoco import Mujoco
from contenders_ours import Ours
from contenders_pinocchio import Pinocchio
from counts import counts_table, jets_table
from figures import contenders_table, figures_table
from rich.console import Console
from same_results import DisagreementError, check
from subjects import Subject, Task, subjects, tasks
from tables import Table

from closedform.errors import ClosedformError

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
PACKAGES = ("closedform", "numpy", "llvmlite", "pin", "cmeel-eigen", "mujoco", "casadi", "jax")


class Remarks(list[str]):
    """Reasons why something is missing, each told once."""

    def tell(self, text: str) -> None:
        if text not in self:
            self.append(text)
            print(f"  {text}", flush=True)


def peers(subject: Subject, quick: bool, remarks: Remarks) -> list[Any]:
    """The contenders that can take part."""
    kinds: list[tuple[str, Callable[[], Any]]] = [
        ("Pinocchio", lambda: Pinocchio(subject, build=not quick)),
        ("MuJoCo", lambda: Mujoco(subject)), ("CasADi", lambda: Casadi(subject))]
    if not quick:
        kinds.append(("JAX", lambda: Jax(subject)))
    found = []
    for name, make in kinds:
        try:
            found.append(make())
        except ClosedformError as error:
            remarks.tell(f"{subject.name}: no {name}: {error}")
        else:
            reason = getattr(found[-1], "reason", "")
            if reason:
                remarks.tell(reason)
    return found


def timed(subject: Subject, task: Task, others: list[Any], effort: Effort,
          remarks: Remarks) -> Times:
    """Times of a task, of every contender whose result is right."""
    ours = Ours(subject, task, singles=effort is FULL)
    expected, jobs = ours.results(), ours.jobs()
    for other in others:
        try:
            for job in other.jobs(task):
                check_job(job, expected, ours, other)
                jobs.append(job)
        except (MissingError, DisagreementError) as error:
            remarks.tell(f"{subject.name}, {task.name}: {error}")
    return measured(jobs, effort)


def check_job(job: Job, expected: Any, ours: Ours, other: Any) -> None:
    job.run(1)
    if job.results is not None:
        check(job.label, expected, job.results(), ours.states, other.convention)


def machine(core: str) -> str:
    """Where and when this ran."""
    def of(package: str) -> str:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return f"no {package}"

    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        cpu = platform.processor() or platform.machine()
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return (f"{datetime.date.today()}, {cpu}, {os.cpu_count()} cores ({core}; load {load}), "
            f"{platform.system()}, Python {platform.python_version()}, "
            f"{', '.join(of(package) for package in PACKAGES)}.")


def page(tables: list[Table], where: str, remarks: list[str], command: str) -> str:
    """The run as a page of the documentation."""
    missing = [f"- {text}" for text in remarks]
    return "\n".join([
        "# Benchmarks", "", f"Written by `{command}`; how it is measured: `benchmarks/README.md`.",
        "", where, "", *(table.markdown() for table in tables),
        *(["## Not measured", "", *missing, ""] if missing else [])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, no JAX, no page")
    parser.add_argument("--output", type=Path, help=f"the page to write (default {PAGE.name})")
    options = parser.parse_args()
    start, remarks, quick = time.perf_counter(), Remarks(), options.quick
    effort = QUICK if quick else FULL
    robots = subjects(quick)
    # before this process is pinned: the compiler may use every core it likes
    compiled = [compile_table(robots[-2:] if quick else robots, 1 if quick else 5)]
    if not quick:
        compiled.append(slopes_table(limbs.robots([])))
    where = machine(pin_to_one_core())
    measurements: dict[tuple[str, str], Times] = {}
    for subject in robots:
        print(f"{subject.name}: {subject.robot!r}", flush=True)
        others = peers(subject, quick, remarks)
        for task in tasks(subject, quick):
            if task.exists:
                measurements[subject.name, task.name] = timed(subject, task, others, effort,
                                                              remarks)
            else:
                remarks.tell(f"{task.name}: not in the catalogue yet")
    large = []
    for what, make in (() if quick else (
            ("limbs in lanes", lambda: limbs.limbs_table([])),
            ("long chains", lambda: deep.deep_table([deep.AIM])))):
        try:
            large.append(make())
        except (MissingError, DisagreementError) as error:
            remarks.tell(f"{what}: {error}")
    tables = [figures_table(measurements, robots), *large, *compiled, counts_table(effort),
              jets_table(), contenders_table(measurements, robots)]
    console = Console(width=None if sys.stdout.isatty() else 160)
    for table in tables:
        table.print(console)
    console.print(where, f"{time.perf_counter() - start:.0f} s in all.")
    if not quick or options.output:
        target = options.output or PAGE
        target.write_text(page(tables, where, remarks, "make bench"), encoding="utf8")


if __name__ == "__main__":
    main()
