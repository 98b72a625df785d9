"""Kernels inside JAX against the exported jnp function, the same with its result stacked as one
writes it by hand and, where it is installed, frax.

    python benchmarks/jax_operator.py [--quick]

All in turns in one process on one core, in float64; a time is the CPU time of the process per
state. The first table is a batch of 1024 states, the second a step of a scan over single states,
the third what it takes until an operator is ready.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from clock import FULL, QUICK, Job, Times, measured, pin_to_one_core, ratio
from rich.console import Console
from tables import Table, number

import closedform as cf
from closedform.lowerings.source.jax import ARRAY

BATCH, SCAN = 1024, 2000
OURS, EXPORTED, STACKED, FRAX = "kernel.jax()", "exported", "stacked", "frax"
PLAIN_STACK = "def _array(entries, shape, dtype):\n    return jnp.stack(entries).reshape(shape)"
TASKS = {"inverse dynamics": "inverse_dynamics", "forward dynamics": "forward_dynamics"}
GOALS = {"inverse dynamics": 50.0, "gradient of inverse dynamics": 100.0}     # ns
STEP_GOAL, READY_GOAL = 350.0, 0.1

READY = """
import time, jax, numpy as np
import jax.numpy as jnp
import closedform as cf
jax.config.update("jax_enable_x64", True)
jax.block_until_ready(jax.jit(jnp.sin)(np.ones(3)))
kernel = cf.compile(cf.load("panda")).inverse_dynamics
from closedform.lowerings.frameworks import jax_operator
x = [np.ones((1024, 7))] * 3
start = time.process_time()
f = jax.jit(kernel.jax())
f.trace(*x)
kernel.compiled("xla", "double")
made = time.process_time()
jax.block_until_ready(f(*x))
print(made - start, time.process_time() - start)
"""


def exported(robot: cf.Robot, quantity: str, array: str = ARRAY) -> Callable[..., Any]:
    """The function of an exported file, with another way to make an array of entries if told."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(f) for f in cf.export(robot, quantity, "jax", folder)]
        path = next(p for p in paths if p.stem.endswith("_jax"))
        text = path.read_text(encoding="utf8")
    module: dict[str, Any] = {}
    exec(text.replace(ARRAY, array), module)
    function: Callable[..., Any] = module[path.stem.removesuffix("_jax")]
    return function


def frax_functions() -> dict[str, Callable[..., Any]]:
    """frax of its own panda, if it is there: q, v, and a or τ."""
    try:
        frax: Any = importlib.import_module("frax")
    except ImportError:
        return {}
    robot, gravity = frax.load_panda(), jnp.array([0.0, 0, 9.81, 0, 0, 0])
    return {"inverse_dynamics": lambda q, v, a: robot.rnea(q, v, a, gravity, None),
            "forward_dynamics": lambda q, v, tau: robot.forward_dynamics(q, v, tau, None)}


def job(label: str, function: Callable[..., Any], arrays: list[Any], states: int) -> Job:
    compiled = jax.jit(function).lower(*arrays).compile()

    def run(repeats: int) -> None:
        for _ in range(repeats):
            result = compiled(*arrays)
        jax.block_until_ready(result)

    return Job(label, run, states, clock=time.process_time)


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of the sum of all torques or accelerations, by all three inputs."""
    return jax.grad(lambda *x: jnp.sum(function(*x)), argnums=(0, 1, 2))


def stepped(function: Callable[..., Any]) -> Callable[..., Any]:
    def step(state: Any, u: Any) -> Any:
        q, v = state
        return (v, 1e-3 * function(q, v, u)), None

    return lambda q, v, u: jax.lax.scan(step, (q, v), u)[0]


def row(what: str, times: Times, goal: float | None) -> tuple[str, ...]:
    ours = float(np.median(times[OURS]))
    cells = [what, number(ours), number(goal), ""]
    if goal is not None:
        cells[-1] = "met" if ours <= goal else "missed"
    for label in (EXPORTED, STACKED, FRAX):
        found = ratio(times, label, OURS)
        cells += [number(float(np.median(times[label]))) if label in times else number(None),
                  number(found)]
    return tuple(cells)


def rows(robot: cf.Robot, quick: bool) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    arm, effort, others = cf.compile(robot), QUICK if quick else FULL, frax_functions()
    rng = np.random.default_rng(0)
    many = [jnp.asarray(rng.normal(size=(BATCH, robot.nv))) for _ in range(3)]
    single = [many[0][0], many[1][0], jnp.zeros((SCAN, robot.nv))]
    batches, scans = [], []
    for what, quantity in TASKS.items():
        kernel = getattr(arm, quantity)
        one = {OURS: kernel.jax(), EXPORTED: exported(robot, quantity),
               STACKED: exported(robot, quantity, PLAIN_STACK)}
        if quantity in others:
            one[FRAX] = others[quantity]
        batch = {label: f if label == OURS else jax.vmap(f) for label, f in one.items()}
        np.testing.assert_array_equal(batch[OURS](*many), kernel(*map(np.asarray, many)))
        for title, of in ((what, lambda f: f), (f"gradient of {what}", gradient)):
            jobs = [job(label, of(f), many, BATCH) for label, f in batch.items()]
            batches.append(row(title, measured(jobs, effort), GOALS.get(title)))
        jobs = [job(label, stepped(f), single, SCAN) for label, f in one.items()]
        scans.append(row(what, measured(jobs, effort), STEP_GOAL))
    return batches, scans


def ready_rows() -> list[tuple[str, ...]]:
    """Seconds in a new process, with all code in the cache."""
    found = []
    for _ in range(4):
        told = subprocess.run([sys.executable, "-c", READY], capture_output=True, text=True,
                              check=True)
        found.append([float(x) for x in told.stdout.split()])
    made, called = np.median(found[1:], axis=0)
    return [("operator ready", f"{made:.3f}", f"{READY_GOAL}",
             "met" if made <= READY_GOAL else "missed"),
            ("first batch computed", f"{called:.3f}", "", "")]


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    ready = ready_rows()
    where = pin_to_one_core()
    batches, scans = rows(cf.load("panda"), "--quick" in sys.argv)
    console = Console(width=None if sys.stdout.isatty() else 140)
    head = ("", OURS, "to reach", "", EXPORTED, "ratio", STACKED, "ratio", FRAX, "ratio")
    Table(f"panda in JAX {jax.__version__}, batch of {BATCH}, ns of CPU a state", head, batches,
          where).print(console)
    Table("panda in JAX, step of a scan over one state, ns of CPU", head, scans).print(console)
    Table("panda in JAX, second process, s of CPU after the imports", ("", "s", "to reach", ""),
          ready).print(console)


if __name__ == "__main__":
    main()
