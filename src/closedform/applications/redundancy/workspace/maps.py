"""`map`: every target of a grid, solved to a certified optimum or classified.

    maximum, limit active   a strict maximum; with joints at their limits
    unreachable             no start met the target, also without limits
    limit                   met only by joints beyond their limits
    singular                met, where J loses rank
    fold                    met, J regular, and no strict maximum: two branches meet there
    forbidden               met within an obstacle or beyond a barrier
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from closedform.applications.cluster.blocks import Aside, Range, Work
from closedform.applications.cluster.tables import (
    BlockTable,
    TableColumn,
    TableLayout,
    filled_at,
)
from closedform.applications.counts import counted
from closedform.applications.redundancy.certificate import Verdict
from closedform.applications.redundancy.criteria import CriterionLike
from closedform.applications.redundancy.problem import Problem, problem_of
from closedform.applications.redundancy.tasks import TaskLike, task_of
from closedform.applications.redundancy.workspace.ascents import (
    CODE,
    GOOD,
    VERDICTS,
    Answers,
    ascended,
    reached,
)
from closedform.applications.redundancy.workspace.grids import (
    Grid,
    Targets,
    checked_targets,
    count_of,
)
from closedform.applications.redundancy.workspace.seeds import seeds_of
from closedform.arrays import ArrayLike, Floats
from closedform.errors import ArgumentError
from closedform.model.coordinates import coordinate_names
from closedform.model.robot import Robot

BLOCK = 4096
"""Targets of a block: some 5 MB of arrays, and about a second."""
STARTS = 8
BEYOND = 3
"""Starts from which a target is looked for beyond the limits."""
COLUMNS = (TableColumn("value"), TableColumn("verdict", "u1"), TableColumn("task_residual"),
           TableColumn("optimality_residual"), TableColumn("sigma_min"))
COUNTED = 1 << 20
"""Verdicts that are counted at once: numpy makes eight bytes of each."""
_building = threading.Lock()


@final
@dataclass(frozen=True)
class MapWork:
    """What is done to a block of targets; it travels to workers."""

    robot: Robot
    task: TaskLike
    criterion: CriterionLike
    limits: bool
    starts: int
    grid: Grid | None               # None: targets come with the block

    def __call__(self, block: Range, targets: Any = None) -> dict[str, NDArray[Any]]:
        """BlockRows of a table."""
        with _building:                         # the first thread makes what the others use
            problem = problem_of(self.robot, self.task, self.criterion, self.limits)
            free = problem_of(self.robot, self.task, self.criterion, False)
            seeds_of(problem)
        x = self.grid[block.start:block.stop] if self.grid is not None else _rows(
            targets, problem, block)
        x = _checked(x, problem, block)
        found = best_of(problem, x, self.starts)
        if self.limits:
            beyond(free, found, x, seeds_of(problem).nearest(x, BEYOND))
        return found._asdict()


def _rows(targets: Any, problem: Problem, block: Range) -> Floats:
    """Targets of a block as they came, or an error with the row that is bad."""
    x = np.asarray(targets, dtype=float)
    expected = (block.stop - block.start, *problem.shape)
    if x.shape != expected:
        raise ArgumentError(f"its targets have the shape {x.shape}; expected {expected}")
    bad = ~np.isfinite(x).reshape(len(x), -1).all(axis=1)
    if bad.any():
        raise ArgumentError(f"target {block.start + int(np.argmax(bad))} is not finite")
    return x


def _checked(x: Floats, problem: Problem, block: Range) -> Floats:
    """Targets as the task takes them, or an error with the row that it does not take."""
    try:
        return problem.task.checked(x, problem.robot)
    except ArgumentError:
        for k, one in enumerate(x, block.start):
            try:
                problem.task.checked(one, problem.robot)
            except ArgumentError as error:
                raise ArgumentError(f"target {k}: {error}") from None
        raise


def best_of(problem: Problem, x: Floats, starts: int) -> Answers:
    """The first certified optimum from the seeds nearest to each target; else the best of them.

    The first two seeds are tried one after the other, all others at once: few targets are left, and
    a round of few states costs as much as one of many.
    """
    B = len(x)
    seeds = seeds_of(problem).nearest(x, starts)
    best = Answers(seeds[:, 0].copy(), np.full(B, np.nan), np.full(B, CODE[Verdict.UNREACHABLE]),
                   np.full(B, np.inf), np.full(B, np.inf), np.zeros(B))
    for together in (slice(0, 1), slice(1, 2), slice(2, None)):
        rest = np.flatnonzero(~np.isin(best.verdict, GOOD))
        tried = seeds[rest, together]
        if not tried.size:
            continue
        count = tried.shape[1]
        found = ascended(problem, tried.reshape(-1, tried.shape[-1]), np.repeat(x[rest], count, 0))
        for k in range(count):
            one = Answers._make(column[k::count] for column in found)
            open_ = ~np.isin(best.verdict[rest], GOOD)
            missed = best.verdict[rest] == CODE[Verdict.UNREACHABLE]
            nearer = one.task_residual < best.task_residual[rest]
            best.put(rest, one, open_ & (np.isin(one.verdict, GOOD) | (missed & nearer)))
    return best


def beyond(free: Problem, found: Answers, x: Floats, seeds: Floats) -> None:
    """Tell those that only limits keep away from their targets."""
    rest = np.flatnonzero(found.verdict == CODE[Verdict.UNREACHABLE])
    if len(rest):
        count = seeds.shape[1]
        with np.errstate(all="ignore"):
            _, met = reached(free, seeds[rest].reshape(-1, seeds.shape[-1]),
                             np.repeat(x[rest], count, 0))
        found.verdict[rest[met.reshape(-1, count).any(axis=1)]] = CODE[Verdict.LIMIT]


@final
class Map:
    """Solutions of a grid, one row a target; columns are read when they are asked for."""

    def __init__(self, robot: Robot, targets: Targets, table: BlockTable,
                 aside: tuple[Aside, ...]) -> None:
        self.robot, self.targets, self.table, self.aside = robot, targets, table, aside

    def __len__(self) -> int:
        return self.table.layout.rows

    def __repr__(self) -> str:
        told = ", ".join(f"{n} {v}" for v, n in self.counts().items())
        return f"<map of {self.robot.name}: {len(self)} targets ({told})>"

    @cached_property
    def value(self) -> Floats:
        """H(q), (targets,); NaN where the target is not met."""
        return self.table.column("value")

    @cached_property
    def q(self) -> Floats:
        """(targets, nq): the optimum, or the nearest that was found."""
        return self.table.column("q")

    @cached_property
    def codes(self) -> NDArray[np.uint8]:
        """Verdicts as places in `VERDICTS`; 255 in blocks that were set aside."""
        return self.table.column("verdict")

    @property
    def verdict(self) -> NDArray[np.object_]:
        """(targets,) of `Verdict`, each equal to its text; None in blocks that were set aside."""
        names = np.full(256, None, dtype=object)
        names[:len(VERDICTS)] = VERDICTS
        found: NDArray[np.object_] = names[self.codes]
        return found

    @cached_property
    def task_residual(self) -> Floats:
        return self.table.column("task_residual")

    @cached_property
    def optimality_residual(self) -> Floats:
        return self.table.column("optimality_residual")

    @cached_property
    def sigma_min(self) -> Floats:
        return self.table.column("sigma_min")

    @property
    def certified(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = np.isin(np.arange(256), GOOD)[self.codes]
        return found

    def counts(self) -> dict[Verdict, int]:
        """How many there are of each verdict."""
        parts = (self.codes[k:k + COUNTED] for k in range(0, len(self), COUNTED))
        numbers = sum((np.bincount(x, minlength=256) for x in parts), np.zeros(256, dtype=int))
        return {v: int(numbers[k]) for k, v in enumerate(VERDICTS) if numbers[k]}

    @property
    def reachability(self) -> Floats:
        """The certified part of each place's targets, of the grid's shape."""
        return self._by_place(self.certified).mean(axis=-1)

    @property
    def dexterity(self) -> Floats:
        """The best value at each place, of the grid's shape; −∞ where nothing is certified."""
        return self._by_place(np.where(self.certified, self.value, -np.inf)).max(axis=-1)

    def _by_place(self, x: NDArray[Any]) -> NDArray[Any]:
        if not isinstance(self.targets, Grid):
            raise ArgumentError("this map is of targets on no grid")
        return x.reshape(*self.targets.shape, -1)


def map(robot: Robot, task: TaskLike, grid: Grid | ArrayLike | Targets, criterion: CriterionLike,
        client: Any = None, *, limits: bool = True, starts: int = STARTS, block: int = BLOCK,
        out: str | Path | None = None, aside: bool = False) -> Map:
    """Reachability and dexterity: every target solved to a certified optimum, or why it is not.

    `grid` is a `Grid` or an array of targets, also of Dask or Zarr. Each target is tried from
    `starts` seeds, certified optima near it, until one is certified. `client` is a Dask client, or
    its scheduler's address; without, threads of this machine do the same, with equal results.
    `out`, a name that ends in .zarr or .parquet, is where blocks of `block` targets are kept as
    they are done: a run that was stopped goes on from there. With `aside` a block of bad targets
    is set aside and told in `.aside`; else it stops the run.
    """
    problem = problem_of(robot, task, criterion, limits)
    targets = checked_targets(grid, problem.task, robot)
    starts, block = counted(starts, "map: starts"), counted(block, "map: block")
    own = isinstance(targets, Grid)
    work = MapWork(robot, task_of(task), criterion, bool(limits), starts,
                   targets if isinstance(targets, Grid) else None)
    q = TableColumn("q", "f8", tuple(coordinate_names(robot.q_slices)))
    layout = TableLayout((*COLUMNS, q), count_of(targets), block,
                         _about(problem, targets, starts))
    return Map(robot, targets, *filled_at(
        out, layout, work, Work(client, aside, f"mapping {robot.name}"),
        (lambda b: ()) if own else (lambda b: (np.asarray(targets[b.start:b.stop]),))))


def _about(problem: Problem, targets: Targets, starts: int) -> Mapping[str, str]:
    """What makes two maps the same work."""
    robot = problem.robot
    return {"robot": robot.name, "task": str(problem.task), "criterion": str(problem.criterion),
            "program": problem.kernel.interface.digest, "starts": str(starts),
            "limits": str([robot.lower.tolist(), robot.upper.tolist()] if problem.limits else None),
            "grid": targets.key if isinstance(targets, Grid) else "given"}
