"""Kernels as PyTorch operators beside a batched recursion by hand, in turns, one thread.

    python benchmarks/torch_operator.py [--quick]

Prints CPU microseconds of a call; ratios are medians of rounds in turns.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import torch
from batched_recursion import Recursion
from clock import Effort, Job, measured, pin_to_one_core, ratio
from rich.console import Console
from tables import Table, number

import closedform as cf

QUICK = "--quick" in sys.argv
ROUNDS, COUNTS, LOADED = (3, (1, 1024), 64) if QUICK else (11, (1, 1024, 16384), 1024)
CALL_GOAL, GRADIENT_GOAL = 5.0, 25.0                    # µs of one state; times the one by hand
HEAD = "", "operator, µs", "by hand, µs", "ratio", "to reach", ""

Call = Callable[[], object]
Dynamics = Callable[..., torch.Tensor]


def job(label: str, call: Call) -> Job:
    def run(repeats: int) -> None:
        for _ in range(repeats):
            call()

    return Job(label, run, 1)


def row(title: str, ours: Call, theirs: Call) -> tuple[str, ...]:
    times = measured([job("ours", ours), job("theirs", theirs)], Effort(0.02, ROUNDS))
    medians = [sorted(times[x])[ROUNDS // 2] / 1e3 for x in ("ours", "theirs")]
    faster = ratio(times, "theirs", "ours")
    goals = {"1 state": (f"{CALL_GOAL} µs", medians[0] <= CALL_GOAL),
             "1024 states, gradient": (f"{GRADIENT_GOAL}x", (faster or 0) >= GRADIENT_GOAL)}
    goal, met = goals.get(title, ("", None))
    return (title, *(number(x) for x in medians), number(faster, "x"), goal,
            "" if met is None else "met" if met else "missed")


def backward(dynamics: Dynamics, x: list[torch.Tensor]) -> Call:
    given = [y.clone().requires_grad_() for y in x]
    return lambda: torch.autograd.grad(dynamics(*given).sum(), given)


def main() -> None:
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, {pin_to_one_core()}")
    robot = cf.load("panda")
    hand, arm = Recursion(robot), cf.compile(robot)
    operator, rows = arm.inverse_dynamics.torch(), []
    for count in COUNTS:
        lead = () if count == 1 else (count,)
        x = [torch.randn(*lead, 7, dtype=torch.float64) for _ in range(3)]
        torch.testing.assert_close(operator(*x), hand.inverse_dynamics(*x))
        title = "1 state" if count == 1 else f"{count} states"
        rows += [row(title, lambda x=x: operator(*x), lambda x=x: hand.inverse_dynamics(*x)),
                 row(f"{title}, gradient", backward(operator, x),
                     backward(hand.inverse_dynamics, x))]
    Table("Inverse dynamics of panda in PyTorch", HEAD, rows).print(Console())
    demonstration(robot, hand, LOADED)


def demonstration(robot: cf.Robot, hand: Recursion, count: int) -> None:
    """A load found through forward dynamics: the example, by both."""
    example = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "13_torch.py"))
    found, gradient = example["found"], example["gradient"]
    arm = cf.compile(robot, inputs=cf.PayloadAt(robot.bodies[-1].name))
    operator = arm.forward_dynamics.torch()  # type: ignore[attr-defined]
    data = example["measured"](operator, count)
    x = torch.tensor([0.5, 0.0, 0.0, 0.0], dtype=torch.float64)
    rows = [row("a gradient", lambda: gradient(operator, data, x),
                lambda: gradient(hand.forward_dynamics, data, x)),
            row("a step of Gauss-Newton", lambda: found(operator, data, 1),
                lambda: found(hand.forward_dynamics, data, 1))]
    Table(f"A load found from {count} states", HEAD, rows).print(Console())
    for name, dynamics in (("operator", operator), ("by hand", hand.forward_dynamics)):
        error = (found(dynamics, data) - example["TRUTH"]).abs().max()
        print(f"{name}: the load is found to {error:.1e}")
        assert error < 1e-3


if __name__ == "__main__":
    main()
