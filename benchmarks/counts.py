"""Operations and time of inverse dynamics: original, canonical frames, base parameters."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import numpy as np
from clock import Effort, measured
from contenders_ours import native_loop
from subjects import ARM, TASKS, TREE, Subject
from tables import NOTHING, Table, number

import closedform as cf
from closedform.applications.compile.forms import Forms
from closedform.arrays import Array
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.store.cache import Cache
from closedform.maths.algorithms import newton_euler
from closedform.maths.catalogue import quantity
from closedform.maths.quantity import Form
from closedform.model.robot import Robot
from closedform.program.pipeline import optimised
from closedform.program.program import Program
from closedform.program.record import record

ROBOTS = ("puma560", "ur5", "iiwa14", "panda", "stanford", "rx90", "humanoid25")

PEERS = {
    "puma560, general": ("345 + 296 → 301 + 240", "345 + 296 → 301 + 240"),
    "rx90, general": ("331 + 282 → 287 + 226", "330 + 282 → 286 + 226"),
    "stanford, general": ("324 + 279 → 262 + 211", "326 + 285 → 264 + 215"),
}
"""OpenSYMORO's and SymPyBotics' multiplications + additions, classical → base parameters.

Counted in what they generate, dead code removed, no friction, rotors or external forces.
"""

JET = next(task for task in TASKS if "inverse_dynamics_jet" in task.quantities)

LIMITS = {"ur5": 276, "panda": 593, "iiwa14": 560, "puma560, general": 489}
"""What multiplications and additions together may be at most."""


def counts_table(effort: Effort) -> Table:
    """One row for each robot; `general` ones have no inertial parameter that is zero."""
    rows = [_row(name, cf.load(name), effort) for name in ROBOTS]
    rows += [_row(f"{name}, general", _general(cf.load(name)), effort)
             for name in ("puma560", "rx90", "stanford")]
    return Table(
        "Operations of inverse dynamics", (
            "robot", "original", "canonical frames", "base parameters", "sines, cosines",
            "total", "limit", "verdict", "native, ns", "OpenSYMORO", "SymPyBotics"), rows,
        "Multiplications + additions, signs free; original → base in the last three columns. "
        "`general`: every inertial parameter is non-zero, as the symbolic generators assume.")


def jets_table() -> Table:
    """Operations of τ, τ̇, … to order K, in those of order 0."""
    rows = []
    for name in ("iiwa14",) if JET.exists else ():
        ready = Forms(cf.load(name))
        totals = [_jet(ready, order).operations.total for order in range(7)]
        rows.append((name, *(f"{t} ({t / totals[0]:.1f})" for t in totals)))
    return Table("Jets of inverse dynamics", ("robot", *(f"K = {k}" for k in range(7))), rows,
                 "Multiplications and additions together of τ and its first K time derivatives "
                 "(in brackets: as a multiple of τ alone): it grows like K².")


def _jet(ready: Forms, order: int) -> Program:
    row = quantity("inverse_dynamics_jet")
    algorithm = (row.algorithms or (row.definition,))[0]
    robot = ready.base if row.form is Form.BASE else ready.canonical.robot

    def jet(q: Array, rates: Array) -> Array:
        return algorithm(robot, q + ready.canonical.offset, rates)

    shapes = {"q": (robot.nq,), "rates": (order + 2, robot.nv)}
    return optimised(record(jet, shapes, "inverse_dynamics_jet"))


def _row(name: str, robot: Robot, effort: Effort) -> tuple[str, ...]:
    programs = _stages(robot)
    counts = [program.operations for program in programs]
    times = _times(robot, programs, effort)
    total, limit = counts[-1].total, LIMITS.get(name)
    return (name, *(f"{c.mul} + {c.add}" for c in counts), str(counts[-1].trig), str(total),
            NOTHING if limit is None else f"≤ {limit}",
            "" if limit is None else "reached" if total <= limit else "missed",
            f"{number(times[0])} → {number(times[-1])}", *PEERS.get(name, (NOTHING, NOTHING)))


def _stages(robot: Robot) -> list[Program]:
    """Programs of the robot as it is, in canonical frames, and with base parameters."""
    ready = Forms(robot)
    none, offset = np.zeros(robot.nq), ready.canonical.offset
    return [_program(ready.robot, none), _program(ready.canonical.robot, offset),
            _program(ready.base, offset)]


def _program(robot: Robot, offset: Array) -> Program:
    def inverse_dynamics(q: Array, v: Array, a: Array) -> Array:
        return newton_euler.inverse_dynamics(robot, q + offset, v, a)

    shapes = {"q": (robot.nq,), "v": (robot.nv,), "a": (robot.nv,)}
    return optimised(record(inverse_dynamics, shapes, "inverse_dynamics"))


def _times(robot: Robot, programs: Sequence[Program], effort: Effort) -> list[float]:
    given = Subject(robot.name, TREE if robot.is_floating else ARM, robot).states()
    arrays = [given["q"], given["v"], given["a"], np.zeros((len(given["q"]), robot.nv))]
    jobs = [native_loop(str(i), compile_program(program, Cache.default()).native, arrays)
            for i, program in enumerate(programs)]
    return [statistics.median(x) for x in measured(jobs, effort).values()]


def _general(robot: Robot) -> Robot:
    values = np.random.default_rng(0).uniform(0.5, 1.5, size=robot.parameters.shape)
    return robot.with_parameters(values)
