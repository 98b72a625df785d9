"""What the choices of the native lowering are worth: `python benchmarks/choices.py`.

Each row compiles one program twice, as the library does and with one constant changed, and lets the
two take turns. The comments beside those constants point here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from clock import QUICK, Effort, Job, measured, pin_to_one_core, ratio
from contenders_ours import native_loop
from rich.console import Console
from rich.table import Table

import closedform as cf
from closedform.lowerings.call.kernel import Kernel, compile_program
from closedform.lowerings.native import cpu, emit, functions, outputs, sincos, steps
from closedform.lowerings.native.ir import Emitter
from closedform.lowerings.store.cache import Cache
from closedform.program.program import Program

STATES = 64
NEVER = 10**9


def by_horner(e: Emitter, coefficients: Any, z: str, zz: str) -> str:
    return sincos._horner(e, coefficients, z)


def no_requests(*_: Any) -> list[Any]:
    return []


@dataclass(frozen=True)
class Choice:
    """A constant of the lowering and the value it might have had, and a program that shows it."""

    name: str
    module: Any
    constant: str
    other: Any
    robot: str
    quantity: str
    batch: int = 0          # states in one call; 0: one state after the other


CHOICES = (
    Choice("angles of one state in one register", emit, "PACK", 1, "panda", "inverse_dynamics"),
    Choice("stretches that LLVM may order", emit, "SHORT_STRETCH", NEVER,
           "panda", "inverse_dynamics_derivatives"),
    Choice("whole programs up to", steps, "WHOLE", 1000, "panda", "inverse_dynamics_derivatives",
           512),
    Choice("outputs filled by a loop", outputs, "LARGE", NEVER, "humanoid25", "body_jacobians",
           512),
    Choice("even and odd parts of sine and cosine", sincos, "_even_and_odd", by_horner,
           "panda", "inverse_dynamics"),
    Choice("later states of a batch asked for early", functions, "_look_ahead", no_requests,
           "ur5", "inverse_dynamics", 400_000),
    Choice("long code jumps now and then", functions, "STRAIGHT", NEVER,
           "humanoid25", "christoffel_dynamics_matrices"),
    Choice("LLVM's level 1, not 2", cpu, "LEVEL", 2, "panda", "inverse_dynamics"),
)


def compiled(program: Program, batch: int) -> tuple[Kernel, float]:
    """A kernel made now, and the seconds that took."""
    start = time.process_time()
    kernel = compile_program(program, Cache(None))
    if batch:
        _ = kernel.batch_native
    return kernel, time.process_time() - start


def job(label: str, kernel: Kernel, robot: cf.Robot, batch: int) -> Job:
    rng = np.random.default_rng(0)
    states = batch or STATES
    inputs = [np.stack([robot.random(rng) for _ in range(states)]) if slot.name == "q"
              else rng.normal(size=(states, *slot.shape)) for slot in kernel.interface.inputs]
    results = [np.empty((states, *slot.shape)) for slot in kernel.interface.outputs]
    if not batch:
        return native_loop(label, kernel.native, [*inputs, *results])
    out = results[0] if len(results) == 1 else tuple(results)

    def run(repeats: int) -> None:
        for _ in range(repeats):
            kernel(*inputs, out=out, threads=1)

    return Job(label, run, states)


def row(choice: Choice, effort: Effort) -> list[str]:
    robot = cf.load(choice.robot)
    program = getattr(cf.compile(robot, cache=Cache(None)), choice.quantity).program
    ours, seconds = compiled(program, choice.batch)
    with patch.object(choice.module, choice.constant, choice.other):
        other, other_seconds = compiled(program, choice.batch)
    jobs = [job("ours", ours, robot, choice.batch), job("other", other, robot, choice.batch)]
    times = measured(jobs, effort)
    here, there = (float(np.median(times[name])) for name in ("ours", "other"))
    where = f"{choice.quantity} of {choice.robot}"
    where += f", {choice.batch} states" if choice.batch else ""
    return [choice.name, where, f"{there:.0f} → {here:.0f} ns",
            f"{ratio(times, 'other', 'ours'):.2f}x", f"{other_seconds:.2f} → {seconds:.2f} s"]


def main() -> None:
    print(f"pinned to {pin_to_one_core()}")
    table = Table("choice", "shown by", "otherwise → as it is", "faster", "compiled in")
    show: Callable[..., None] = table.add_row
    for choice in CHOICES:
        show(*row(choice, Effort(QUICK.slice, 21)))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
