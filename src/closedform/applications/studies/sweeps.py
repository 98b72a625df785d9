"""A quantity over designs: a grid of values, or a sample between them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np

from closedform.applications.cluster.blocks import Aside, Range, Work
from closedform.applications.cluster.tables import (
    BlockTable,
    TableColumn,
    TableLayout,
    filled_at,
)
from closedform.applications.compile.digest import robot_digest
from closedform.applications.compile.requests import Asked, asked_request
from closedform.applications.counts import counted
from closedform.applications.studies.designs import (
    Variable,
    changes,
    design_kernel,
)
from closedform.applications.studies.distributions import Uniform
from closedform.applications.studies.states import (
    Result,
    block_size,
    checked_states,
    one_result,
    over_states,
    require_robot,
)
from closedform.arrays import Floats
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.model.robot import Robot

MOST = 10**10
OVER_STATES: Mapping[str, Callable[[Floats], Floats]] = {
    "max": lambda x: np.max(np.abs(x), axis=1),
    "mean": lambda x: np.mean(x, axis=1),
    "rms": lambda x: np.sqrt(np.mean(x * x, axis=1)),
}
"""What is kept of the states, of (designs, states, ...)."""


@final
@dataclass(frozen=True, eq=False)
class Designs:
    """BlockRows of values: every combination, or a sample between the smallest and the largest."""

    variables: tuple[Variable, ...]
    samples: int | None
    seed: int

    def __len__(self) -> int:
        if self.samples is not None:
            return self.samples
        return int(np.prod([len(v.values) for v in self.variables], dtype=object))

    def rows(self, block: Range) -> Floats:
        """(rows, variables); in a grid the last variable changes first."""
        if self.samples is not None:
            between = Uniform([min(v.values) for v in self.variables],
                              [max(v.values) for v in self.variables])
            return between.draws(block.start, block.stop, self.seed)
        at = np.unravel_index(np.arange(block.start, block.stop),
                              [len(v.values) for v in self.variables])
        return np.stack([np.array(v.values)[k] for v, k in zip(self.variables, at, strict=True)],
                        axis=-1)


@final
@dataclass(frozen=True, eq=False)
class SweepWork:
    """What is done to a block of designs; it travels to workers."""

    robot: Robot
    quantity: Asked
    result: Result
    states: tuple[Floats, ...]
    designs: Designs
    kept: str

    def __call__(self, block: Range) -> dict[str, Floats]:
        rows, variables = self.designs.rows(block), self.designs.variables
        kernel = design_kernel(self.robot, variables, self.quantity, self.result.part)
        found = OVER_STATES[self.kept](over_states(kernel, self.states, changes(variables, rows)))
        return {"design": rows, "value": found.reshape(len(rows), -1)}


@final
class Sweep:
    """A row for each design."""

    def __init__(self, work: SweepWork, table: BlockTable, aside: tuple[Aside, ...]) -> None:
        self.shape, self.table, self.aside = work.result.shape, table, aside
        self.robot, self.kept, self.quantity = work.robot, work.kept, work.result.text
        self.labels = tuple(v.label for v in work.designs.variables)

    def __len__(self) -> int:
        return self.table.layout.rows

    @cached_property
    def design(self) -> Floats:
        """(designs, variables)."""
        return self.table.column("design")

    @cached_property
    def value(self) -> Floats:
        """(designs, *shape): the quantity over the states."""
        return self.table.column("value").reshape(len(self), *self.shape)

    def __repr__(self) -> str:
        return (f"<sweep of {self.robot.name}: {self.kept} of {self.quantity} for {len(self)} "
                f"designs over {', '.join(self.labels)}>")


def sweep(robot: Robot, quantity: Asked, over: Sequence[Variable], states: Sequence[Any],
          kept: str = "max", *, only: str | None = None, samples: int | None = None,
          seed: int = 0, client: Any = None, out: str | Path | None = None,
          aside: bool = False) -> Sweep:
    """A quantity for designs of a robot: every combination of values, or `samples` between them.

    `over` are `Length(body, factors)`, `Mass(body, factors)`, `Load(frame, kg)`. Of the `states`
    the largest magnitude is kept, the "mean" or the "rms". One kernel serves all designs. `only`
    names the result of a quantity that has several. `client`, `out` and `aside` are as of
    `redundancy.map`.
    """
    require_robot(robot)
    request, variables = asked_request(robot, quantity), _variables(over)
    result = one_result(robot, request, only)
    if not isinstance(kept, str) or kept not in OVER_STATES:
        raise UnknownName(f"sweep: nothing is kept by {kept!r}; "
                          f"{suggestion(str(kept), OVER_STATES)}")
    for variable in variables:
        variable.require(robot)
    labels = [v.label for v in variables]
    if len(set(labels)) < len(labels):
        raise ArgumentError(f"over has the same twice: {', '.join(labels)}")
    designs = Designs(variables, None if samples is None else counted(samples, "samples"),
                      counted(seed, "seed", 0))
    if len(designs) > MOST:
        raise ArgumentError(f"a sweep has {MOST:.0e} designs at most, not {len(designs):.3g}")
    arrays = checked_states(robot, request, states)
    work = SweepWork(robot, quantity, result, tuple(arrays), designs, kept)
    design_kernel(robot, variables, quantity, result.part)      # refusals before all else
    return Sweep(work, *filled_at(
        out, _layout(work), work, Work(client, aside, f"sweeping {robot.name}")))


def _layout(work: SweepWork) -> TableLayout:
    designs, result = work.designs, work.result
    numbers = hashlib.sha256(b"".join(x.tobytes() for x in work.states)).hexdigest()
    about = {"robot": robot_digest(work.robot), "quantity": result.text, "kept": work.kept,
             "over": str([(v.label, v.values) for v in designs.variables]),
             "samples": str(designs.samples), "seed": str(designs.seed), "states": numbers}
    columns = (TableColumn("design", "f8", tuple(v.label for v in designs.variables)),
               TableColumn("value", "f8", tuple(".".join(map(str, at)) or work.result.part
                                           for at in np.ndindex(*work.result.shape))))
    return TableLayout(columns, len(designs), block_size(work.states), about)


def _variables(over: Any) -> tuple[Variable, ...]:
    given = [over] if isinstance(over, Variable) else over
    variables = tuple(given) if isinstance(given, Iterable) else ()
    if not variables or not all(isinstance(v, Variable) for v in variables):
        raise ArgumentError("over must be Length(body, …), Mass(body, …) or Load(frame, …) of "
                            f"cf.studies, or several, not {over!r}")
    return variables
