"""One state with limbs in lanes, beside the same without and Pinocchio C++: flat → lanes.

`python benchmarks/limbs.py [ROBOT ...] [--only τ ...]` prints the table; `make bench` has it on its
page.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from building import MissingError
from clock import FULL, Effort, Times, measured, pin_to_one_core
from contenders_ours import Ours, native_loop
from contenders_pinocchio import CPP, Pinocchio
from rich.console import Console
from same_results import check
from subjects import (
    DERIVATIVES,
    FD,
    HUMANOID,
    ID,
    MASS,
    MATRICES,
    STATES,
    TASKS,
    Subject,
    Task,
    urdf_files,
)
from tables import Table

import closedform as cf
from closedform.lowerings.call.kernel import compile_program
from closedform.model.robot import Robot

FEW = 8
"""States of which the matrices stay in the second-level cache."""
FLAT, LANES = "flat", "lanes"
COLUMNS = (ID, FD, MASS, MATRICES, DERIVATIVES)
HEADS = ("τ", "q̈", "M", "M, C, g", "∂τ, M, τ")
LEAST = {
    "talos": (18, 14, 8, 12, 7.5), "solo12": (32, 25, 11, 30, 20), "anymal": (32, 25, 11, 30, 20),
    "g1 with hands": (22, 15, 6, 10, 6), "alex with hands": (22, 15, 6, 10, 6),
    "talos with two hands": (22, 15, 6, 10, 6),
}
"""Ratios to Pinocchio C++ to reach, in the order of the columns."""


def robots(names: list[str]) -> dict[str, Robot]:
    """Robots with equal limbs, those of the package that are there."""
    files, sources = urdf_files(), {
        "talos": "talos_reduced", "solo12": "solo12", "anymal": "anymal",
        "g1 with hands": "g1_29dof_with_hand_rev_1_0", "alex with hands": "alex_psyonic_hands",
        "allegro hand": "allegro_right_hand", "allegro left hand": "allegro_left_hand"}
    found: dict[str, Robot] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.ModelWarning)
        for name, source in sources.items():
            if source in files:
                found[name] = cf.load(files[source], floating="allegro" not in source)
    if {"talos", "allegro hand", "allegro left hand"} <= set(found):
        found["talos with two hands"] = with_hands(
            found["talos"], found["allegro left hand"], found["allegro hand"])
    return {name: robot for name, robot in found.items() if name in (names or LEAST)}


def with_hands(robot: Robot, left: Robot, right: Robot) -> Robot:
    """Talos with a hand at the end of each arm in place of its gripper."""
    bodies = list(robot.reduced(["gripper_left_joint", "gripper_right_joint"]).bodies)
    for side, hand in (("left", left), ("right", right)):
        for body in hand.bodies:
            parent = f"arm_{side}_7_link" if body.parent is None else f"{side}_{body.parent}"
            joint = replace(body.joint, name=f"{side}_{body.joint_name}")
            bodies.append(replace(body, name=f"{side}_{body.name}", parent=parent, joint=joint))
    return Robot("talos with two hands", bodies, robot.gravity)


def times_of(subject: Subject, task: Task, effort: Effort) -> Times:
    """Nanoseconds of Pinocchio and of ours, with limbs in lanes and without."""
    ours = Ours(subject, task, singles=False)
    flat = compile_program(ours.kernel.program)
    arrays = [*ours._inputs(ours.states), *ours.outputs.values()]
    peer = Pinocchio(subject, build=True)
    if peer.reason:
        raise MissingError(peer.reason)
    theirs = peer.jobs(task)[0]
    theirs.run(1)
    assert theirs.results is not None
    check(theirs.label, ours.results(), theirs.results(), ours.states, peer.convention)
    return measured([replace(ours.native(), label=LANES), native_loop(FLAT, flat.native, arrays),
                     theirs], effort)


def ratios(times: Times, label: str) -> tuple[float, float]:
    """Lower quartile and median of the rounds' ratios."""
    found = np.array(times[CPP]) / np.array(times[label])
    return float(np.quantile(found, 0.25)), float(np.median(found))


def limbs_table(names: list[str], effort: Effort = FULL, only: Sequence[str] = HEADS) -> Table:
    """A row for each robot and quantity."""
    by_name = {task.name: task for task in TASKS}
    rows: list[tuple[str, ...]] = []
    for name, robot in robots(names).items():
        for head, column, least in zip(HEADS, COLUMNS, LEAST.get(name, ()), strict=False):
            if head not in only:
                continue
            count = STATES if column in (ID, FD) else FEW
            subject, task = Subject(name, HUMANOID, robot, count), by_name[column]
            times = times_of(subject, task, effort)
            (low, middle), (flat_low, flat) = ratios(times, LANES), ratios(times, FLAT)
            rows.append((f"{name}, {robot.nv}", head, f"{np.median(times[CPP]):.0f}",
                         f"{np.median(times[FLAT]):.0f} → {np.median(times[LANES]):.0f}",
                         f"{flat:.1f} → {middle:.1f}", f"{flat_low:.1f} → {low:.1f}",
                         f"≥ {least:g}", "reached" if middle >= least else "missed"))
            print(*rows[-1], flush=True)
    return Table("Limbs in lanes", (
        "robot, velocities", "quantity", "Pinocchio C++, ns", "ours, ns", "ratio",
        "lower quartile", "target", "verdict"), rows,
        "One state, flat → limbs in lanes: nanoseconds (medians), and how many times Pinocchio "
        f"C++'s time (median and lower quartile of the rounds' ratios). {FEW} states in turn for "
        f"matrices, {STATES} for vectors.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", help=f"of {', '.join(LEAST)}; none: all")
    parser.add_argument("--only", nargs="+", choices=HEADS, default=HEADS, metavar="QUANTITY",
                        help=f"of {'; '.join(HEADS)}")
    options = parser.parse_args()
    pin_to_one_core()
    limbs_table(options.robots, only=options.only).print(Console(width=140))
