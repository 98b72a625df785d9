"""Exported C against conventional spatial algebra in CasADi, how long an export takes, and what a
final stack costs in JAX.

    python benchmarks/export.py

Both are C compiled by gcc -O3 -march=native and called from the same C loop over 64 states, one
after the other in every round; both take sines and cosines from libm. CasADi's code comes from its
own generator, with derivatives by its own differentiation. Results are compared first.
"""

from __future__ import annotations

import ctypes
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from building import HERE, MissingError, library
from clock import FULL, QUICK, Job, measured, pin_to_one_core, ratio
from contenders_casadi import LABEL, Casadi
from rich.console import Console
from same_results import check
from subjects import DERIVATIVES, FD, ID, MASS, STATES, TASKS, Subject, Task
from tables import Table, number

import closedform as cf
from closedform.arrays import Array
from closedform.lowerings.source.jax import ARRAY, jax_source

ARMS = ("puma560", "rx90", "ur5", "iiwa14", "panda")
FIGURES = {ID: 1.15, MASS: 1.3, FD: 1.3, DERIVATIVES: 1.3}
OURS = "exported C"
WHOLE_SET = ("mass_matrix", "coriolis_matrix", "gravity_torque", "inverse_dynamics", "regressor")


class Exported:
    """One task of one robot as exported C."""

    def __init__(self, subject: Subject, task: Task, folder: Path) -> None:
        files = cf.export(subject.robot, task.quantities, "c", folder, fused=True, batch=False,
                          name="exported")
        self.source = next(f for f in files if f.suffix == ".c")
        kernel = cf.fuse(subject.robot, list(task.quantities))
        self.states = subject.states()
        inputs = [self.states[slot.name] for slot in kernel.interface.inputs]
        self.outputs = {slot.name: np.zeros((STATES, *slot.shape))
                        for slot in kernel.interface.outputs}
        self.arrays = [*inputs, *self.outputs.values()]

    def job(self) -> Job:
        code = library(self.source, "-lm", f"-I{self.source.parent}")
        name = self.source.stem
        return native_loop(OURS, ctypes.cast(getattr(code, name), ctypes.c_void_p), self.arrays)


def native_loop(label: str, function: ctypes.c_void_p, arrays: Sequence[Array]) -> Job:
    """A function of one state over the rows of arrays, in C."""
    loop, count = library(HERE / "loops.c").loop_native, len(arrays)
    rows = (ctypes.c_void_p * count)(*(x.ctypes.data for x in arrays))
    steps = (ctypes.c_long * count)(*(x[0].size for x in arrays))

    def run(repeats: int) -> None:
        loop(function, count, rows, steps, ctypes.c_long(STATES), ctypes.c_long(repeats))

    return Job(label, run, STATES)


def rows_of(name: str, quick: bool) -> list[tuple[str, ...]]:
    """One arm: times, the ratio and whether it is reached, sizes of the sources."""
    subject, rows = Subject(name, "arm", cf.load(name)), []
    for task in (t for t in TASKS if t.name in FIGURES):
        with tempfile.TemporaryDirectory() as folder:
            ours = Exported(subject, task, Path(folder))
            mine, casadi = ours.job(), Casadi(subject)
            try:
                theirs = casadi.jobs(task)[0]
            except MissingError as error:
                rows.append((name, task.name, str(error), *[""] * 5))
                continue
            size = ours.source.stat().st_size
        mine.run(1); theirs.run(1)
        check(LABEL, ours.outputs, theirs.results() if theirs.results else (), ours.states,
              casadi.convention)
        times = measured([mine, theirs], QUICK if quick else FULL)
        found, goal = ratio(times, LABEL, OURS) or 0.0, FIGURES[task.name]
        text = casadi._source(casadi._function(task))[0].stat().st_size
        rows.append((name, task.name, number(float(np.median(times[OURS]))),
                     number(float(np.median(times[LABEL]))), f"{found:.2f}", f"{goal:.2f}",
                     "met" if found >= goal else "missed", f"{size / 1e3:.0f} / {text / 1e3:.0f}"))
    return rows


def generation_rows() -> list[tuple[str, ...]]:
    """How long M, C, g, τ and the regressor of an arm take, with test vectors, to each target."""
    rows = []
    for name in ("iiwa14", "panda"):
        for target in ("c", "matlab", "python", "casadi", "jax"):
            with tempfile.TemporaryDirectory() as folder:
                start = time.perf_counter()
                files = cf.export(cf.load(name), WHOLE_SET, target, folder)
                spent = time.perf_counter() - start
                size = sum(f.stat().st_size for f in files) / 1e3
            rows.append((name, target, f"{spent:.2f}", "5.00",
                         "met" if spent < 5 else "missed", f"{size:.0f}"))
    return rows


STACKED = "def _array(entries, shape, dtype):\n    return jnp.stack(entries).reshape(shape)"
JAX_TASKS = ("inverse_dynamics", "forward_dynamics")
JAX_ROBOTS = ("ur5", "iiwa14", "panda", "humanoid25")


def jax_rows(quick: bool) -> list[tuple[str, ...]]:
    """Exported functions of JAX over 1024 states, as they are and with their results stacked."""
    import jax

    jax.config.update("jax_enable_x64", True)
    rows, rng = [], np.random.default_rng(0)
    for name in JAX_ROBOTS[1:3] if quick else JAX_ROBOTS:
        for quantity in JAX_TASKS if name != "humanoid25" else ("gravity_torque",):
            program = getattr(cf.compile(cf.load(name)), quantity).program
            text = jax_source(program, "function", [name])
            arrays = [jax.numpy.asarray(rng.normal(size=(1024, *slot.shape)))
                      for slot in program.inputs]
            jobs = []
            for label, source in (("chosen", text), ("stacked", text.replace(ARRAY, STACKED))):
                module: dict[str, Any] = {}
                exec(source, module)
                jobs.append(jax_job(jax, label, module["function"], arrays))
            times = measured(jobs, QUICK if quick else FULL)
            rows.append((name, quantity, *(number(float(np.median(times[job.label])))
                                           for job in jobs),
                         f"{ratio(times, 'stacked', 'chosen') or 0:.1f}"))
    return rows


def jax_job(jax: Any, label: str, function: Any, arrays: Sequence[Any]) -> Job:
    compiled = jax.jit(jax.vmap(function)).lower(*arrays).compile()

    def run(repeats: int) -> None:
        for _ in range(repeats):
            compiled(*arrays).block_until_ready()

    return Job(label, run, 1024, clock=time.process_time)


def main() -> None:
    quick = "--quick" in sys.argv
    made = generation_rows()
    where = pin_to_one_core()
    rows = [row for name in (ARMS[-2:] if quick else ARMS) for row in rows_of(name, quick)]
    console = Console(width=None if sys.stdout.isatty() else 140)
    Table("Exported C and conventional spatial algebra in CasADi, gcc -O3 -march=native, ns",
          ("arm", "quantity", "ours", "CasADi", "ratio", "to reach", "", "source kB"),
          rows, where).print(console)
    Table("M, C, g, τ and the regressor of a 7-joint arm, with test vectors",
          ("arm", "target", "seconds", "below", "", "kB"), made).print(console)
    Table("Exported functions of JAX in batches of 1024, ns of CPU a state",
          ("robot", "quantity", "entries chosen", "entries stacked", "ratio"),
          jax_rows(quick)).print(console)


if __name__ == "__main__":
    main()
