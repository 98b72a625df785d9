"""Kernels inside CasADi beside SX: an optimal control problem, functions by size, and choices.

    python benchmarks/casadi_operator.py [--quick]

The problem is that of examples/14_casadi.py. Times are CPU time of one thread, contenders take
turns, and a time is the median of the rounds.
"""

from __future__ import annotations

import argparse
import runpy
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi
import numpy as np
from clock import pin_to_one_core
from rich.console import Console
from tables import Table

import closedform as cf
from closedform.lowerings.frameworks import casadi_operator, casadi_plan

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "14_casadi.py"), run_name="")
ROBOTS = ("planar2r", "planar3r", "stanford", "ur5", "panda")


def contenders(nodes: int) -> dict[str, tuple[Any, Any]]:
    """The accelerations of all nodes, and the kind of expressions they are written for."""
    kernel = EXAMPLE["arm"].forward_dynamics
    return {
        "kernel, nodes": (kernel.casadi(nodes), casadi.MX),
        "kernel, map": (kernel.casadi().map(nodes), casadi.MX),
        "callback, nodes": (kernel.casadi(nodes, callback=True), casadi.MX),
        "SX written out": (EXAMPLE["written_out"](nodes), casadi.SX),
        "SX, map": (kernel.casadi(nodes, symbolic=True), casadi.MX),
    }


def solver_of(name: str, nlp: dict[str, Any]) -> Any:
    options: dict[str, Any] = {"print_time": False, "record_time": True}
    if name == "ipopt":
        return casadi.nlpsol("s", name, nlp, options | {"ipopt.print_level": 0, "ipopt.sb": "yes"})
    equal = [True] * nlp["g"].numel()
    return casadi.nlpsol("s", name, nlp, options | {
        "structure_detection": "auto", "equality": equal, "fatrop.print_level": 0})


def problem_rows(nodes: int, rounds: int) -> list[tuple[str, ...]]:
    """Milliseconds per iteration, microseconds per Jacobian and Hessian."""
    rows = []
    known = contenders(nodes)
    for name in ("ipopt", "fatrop"):
        if not casadi.has_nlpsol(name):
            continue
        solvers, guess = {}, None
        for label, (f, kind) in known.items():
            nlp, guess = EXAMPLE["problem"](f, kind, nodes, explicit=name == "fatrop")
            solvers[label] = solver_of(name, nlp)
        times: dict[str, list[float]] = {label: [] for label in solvers}
        for _ in range(rounds):
            for label, solver in solvers.items():
                begin = time.process_time()
                solver(x0=guess, lbg=0, ubg=0)
                spent = time.process_time() - begin
                times[label].append(1e3 * spent / _iterations(solver.stats()))
        for label, solver in solvers.items():
            per = [f"{1e6 * solver.stats()[f't_proc_{x}'] / solver.stats()[f'n_call_{x}']:.0f}"
                   for x in ("nlp_jac_g", "nlp_hess_l")]
            rows.append((name, label, f"{statistics.median(times[label]):.2f}", *per))
    return rows


def _iterations(stats: dict[str, Any]) -> int:
    return stats.get("iter_count") or stats["fatrop"]["iterations_count"]


def size_rows(rounds: int, robots: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Microseconds of a call: value, Jacobian and the Jacobian of the adjoint, kernel and SX."""
    rows = []
    for robot in robots:
        for what in ("inverse_dynamics", "forward_dynamics"):
            if robot == "humanoid25" and what == "forward_dynamics":
                continue
            kernel = getattr(cf.compile(cf.load(robot)), what)
            pairs = [_calls(kernel.casadi(symbolic=symbolic)) for symbolic in (False, True)]
            found = [[statistics.median(x) for x in zip(*(
                [run() for run in runs] for _ in range(rounds)), strict=True)] for runs in pairs]
            rows.append((robot, what, str(kernel.operations.total),
                         *(f"{x:.2f} / {y:.2f}" for x, y in zip(*found, strict=True))))
    return rows


def choice_rows(rounds: int, nodes: int) -> list[tuple[str, ...]]:
    """Second derivatives written out, and along directions: microseconds a node."""
    rows = []
    for robot in ROBOTS:
        kernel = cf.compile(cf.load(robot)).forward_dynamics
        cells = []
        for count in (1, nodes):
            for limit in (10 ** 9, -1):
                casadi_plan.WRITTEN_OUT, kept = limit, casadi_plan.WRITTEN_OUT
                content = casadi_operator.library_of(kernel, count)
                casadi_plan.WRITTEN_OUT = kept
                f = casadi_operator._from_passing_file(casadi, kernel.name, content)
                run = _timed(f.reverse(1).jacobian())
                cells.append(f"{statistics.median(run() for _ in range(rounds)) / count:.2f}")
        rows.append((robot, str(kernel.operations.total), *cells))
    return rows


def _calls(f: Any) -> list[Callable[[], float]]:
    return [_timed(g) for g in (f, f.jacobian(), f.reverse(1).jacobian())]


def _timed(f: Any) -> Callable[[], float]:
    """Microseconds of a call through CasADi's buffers."""
    rng, kept = np.random.default_rng(0), []
    buffer, evaluate = f.buffer()
    for k in range(f.n_in()):
        kept.append(rng.normal(size=f.nnz_in(k)))
        if kept[-1].size:
            buffer.set_arg(k, memoryview(kept[-1]))
    for k in range(f.n_out()):
        kept.append(np.zeros(f.nnz_out(k)))
        if kept[-1].size:
            buffer.set_res(k, memoryview(kept[-1]))

    def run(seconds: float = 0.02, hold: Any = (kept, buffer)) -> float:
        begin, count = time.process_time(), 0
        while time.process_time() - begin < seconds:
            for _ in range(20):
                evaluate()
            count += 20
        return 1e6 * (time.process_time() - begin) / count

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer nodes and rounds")
    quick = parser.parse_args().quick
    console = Console()
    console.print(pin_to_one_core())
    nodes, rounds = (10, 3) if quick else (50, 7)
    for table in (
        Table(f"Optimal control of the panda in CasADi, forward dynamics, {nodes} nodes",
              ("solver", "function", "ms per iteration", "µs Jacobian", "µs Hessian"),
              problem_rows(nodes, rounds), "IPOPT by the midpoint rule, FATROP by Euler's."),
        Table("Functions of CasADi by size, µs a call, kernel / SX",
              ("robot", "quantity", "operations", "value", "Jacobian", "second"),
              size_rows(rounds, ROBOTS if quick else (*ROBOTS, "humanoid25"))),
        Table(f"Second derivatives of forward dynamics, µs a node: of one node, and of {nodes}",
              ("robot", "operations", "written out", "directions", "written out", "directions"),
              choice_rows(rounds, nodes)),
    ):
        table.print(console)


if __name__ == "__main__":
    main()
