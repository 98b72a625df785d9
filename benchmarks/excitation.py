"""Exciting motions of the panda: a random search beside the three criteria, in one run.

Prints one table. All motions are 10 s of 5 harmonics from the middle of the limits, and keep the
limits of positions, velocities, accelerations and torques at all times. Random searches are of the
family that the D-optimal motion is of (the same basis, with its period, and the same limits): they
draw coefficients, bring each motion to its limits and keep the smallest condition number, or the
most information, for as long as the slowest criterion took (CPU seconds of this process). Standard
deviations are those of the inertial columns with the same noise; their ratio to those of the first
random search is what counts: that of the medians, and the median of the ratios of every column to
itself. `--large`: the humanoid instead.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console
from tables import Table

import closedform as cf
from closedform.applications.identification.excitation.criteria import (
    CRITERIA,
    Scene,
    condition_number,
)
from closedform.applications.identification.excitation.plan import Plan
from closedform.applications.identification.excitation.problem import Excitation, gram
from closedform.applications.identification.excitation.search import linear_amplitudes, strict

idn = cf.identification
DURATION, HARMONICS = 10.0, 5


def random_search(plan: Plan, seconds: float, by_information: bool = False) -> tuple[Plan, int]:
    """The best motion of a plan's family that was drawn, and how many were."""
    rng, rows, basis = np.random.default_rng(0), plan.rows, plan.basis
    waves = [basis.at(basis.grid, order) for order in range(3)]
    best, least, tried = plan.coefficients, np.inf, 0
    scene, plain = Scene(plan.reach.basis, plan.scale), np.ones(rows.model.robot.nv)

    def number(X: Any) -> float:
        q, v, a = (wave @ X for wave in waves)
        W = rows.rows(q + rows.room.home, v, a)
        if not by_information:
            return condition_number(gram(rows, W, plain))
        H = gram(rows, W, 1 / plan.sigma**2) + plan.known
        return CRITERIA["information"](scene, scene.basis.T @ H @ scene.basis)[0]
    start = time.process_time()
    while time.process_time() - start < seconds:
        X = rng.normal(size=plan.coefficients.shape)
        X = X * linear_amplitudes(rows, basis, X)
        tried += 1
        if number(X) < least:
            try:
                X, _ = strict(rows, basis, X, None)
            except cf.ClosedformError:
                continue
            if number(X) < least:
                best, least = X, number(X)
    return replace(plan, coefficients=best, criterion="random"), tried


def evaluation(plan: Plan, count: int = 200) -> float:
    """Milliseconds for the criterion and its gradient."""
    problem = Excitation(plan.rows, plan.basis, CRITERIA["information"],
                      Scene(plan.reach.basis, plan.scale), 1 / plan.sigma**2, plan.known)
    x = np.random.default_rng(0).normal(size=plan.coefficients.size)
    problem(x, 1.0)
    start = time.process_time()
    for _ in range(count):
        problem(x, 1.0)
    return (time.process_time() - start) / count * 1e3


def inertial_sd(plan: Plan) -> Any:
    """Of the inertial columns."""
    return plan.predicted_sd[[k for k, n in enumerate(plan.rows.model.names)
                              if n.rpartition(".")[2] not in plan.rows.model.friction.names]]


def main() -> None:
    lines: list[tuple[str, ...]] = []
    for rotors in (False, True):
        model: Any = idn.Model(cf.load("panda"), rotors=rotors)
        idn.excite(model, DURATION, HARMONICS, starts=1)              # compiled
        plans, times = {}, {}
        for criterion in CRITERIA:
            start = time.process_time()
            plans[criterion] = idn.excite(model, DURATION, HARMONICS, criterion=criterion)
            times[criterion] = time.process_time() - start
        longest, tried = max(times.values()), {}
        for name, by_information in (("condition", False), ("information", True)):
            key = f"random, by {name}"
            plans[key], tried[key] = random_search(plans["information"], longest, by_information)
            times[key] = longest
        base = inertial_sd(plans["random, by condition"])
        for name, plan in plans.items():
            c, sd = plan.conditions, inertial_sd(plan)
            lines.append((
                f"{name}, {tried[name]} motions" if name in tried else name,
                str(len(model.names)), f"{c.condition:.1f}", f"{c.scaled:.1f}",
                f"{c.inertial:.1f}", f"{np.median(sd):.4f}", f"{sd.max():.4f}",
                f"{np.median(sd) / np.median(base):.2f}", f"{np.median(sd / base):.2f}",
                f"{times[name]:.1f}"))
        print(f"{len(model.names)} columns, {len(plans['a'].basis.grid)} samples, "
              f"{plans['a'].coefficients.size} variables: criterion and gradient "
              f"{evaluation(plans['a']):.2f} ms")
    head = ("motion", "columns", "cond W", "scaled", "inertial", "median sd", "largest sd",
            "sd / random", "by column", "CPU s")
    Table("excitation of the panda, 10 s, 5 harmonics", head, lines).print(Console(width=130))


def large() -> None:
    """A humanoid that floats: how long it takes."""
    model = idn.Model(cf.load("humanoid25"))
    start = time.process_time()
    plan = idn.excite(model, DURATION, HARMONICS)
    print(f"humanoid25, {len(model.names)} columns, {plan.coefficients.size} variables, 8 starts: "
          f"{time.process_time() - start:.0f} CPU s with compiling, condition number "
          f"{plan.conditions.condition:.0f}")


if __name__ == "__main__":
    large() if "--large" in sys.argv else main()
