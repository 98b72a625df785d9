"""A quantity over a distribution of inertial parameters, which a kernel takes at run time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
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
from closedform.applications.compile.kernels import fuse
from closedform.applications.compile.requests import Asked, Parameters, asked_request
from closedform.applications.counts import counted
from closedform.applications.studies.distributions import Distribution
from closedform.applications.studies.states import (
    block_size,
    checked_states,
    entry_names,
    one_result,
    over_states,
    require_robot,
)
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.lowerings.call.kernel import Kernel
from closedform.model.robot import Robot


@final
@dataclass(frozen=True, eq=False)
class Draws:
    """What is done to a block of samples; it travels to workers."""

    kernel: Kernel
    states: tuple[Floats, ...]
    distribution: Distribution
    seed: int

    def __call__(self, block: Range) -> dict[str, Floats]:
        drawn = self.distribution.draws(block.start, block.stop, self.seed)
        found = over_states(self.kernel, self.states, drawn)
        bad = ~np.isfinite(found).reshape(len(found), -1).all(axis=1)
        if bad.any():
            raise ArgumentError(f"sample {block.start + int(np.argmax(bad))} gives no number: its "
                                "parameters are those of no robot")
        return {"value": found.reshape(len(found), -1)}


@final
class MonteCarlo:
    """Samples of a quantity at some states, and what they say."""

    def __init__(self, shape: tuple[int, ...], table: BlockTable, aside: tuple[Aside, ...]) -> None:
        self.shape, self.table, self.aside = shape, table, aside

    def __len__(self) -> int:
        return self.table.layout.rows

    @cached_property
    def samples(self) -> Floats:
        """(samples, states, *shape); NaN in blocks that were set aside."""
        return self.table.column("value").reshape(len(self), *self.shape)

    @property
    def mean(self) -> Floats:
        return np.nanmean(self.samples, axis=0)

    @property
    def sd(self) -> Floats:
        return np.nanstd(self.samples, axis=0, ddof=1)

    def quantile(self, part: float) -> Floats:
        """What so large a part of the samples is below of."""
        if not (isinstance(part, int | float | np.floating) and 0 <= part <= 1):
            raise ArgumentError(f"quantile: a part between 0 and 1 expected, not {part!r}")
        return np.nanquantile(self.samples, part, axis=0)

    def __repr__(self) -> str:
        return f"<Monte Carlo: {len(self)} samples of {self.shape}>"


def monte_carlo(robot: Robot, quantity: Asked, distribution: Distribution, states: Sequence[Any],
                samples: int = 1000, *, only: str | None = None, seed: int = 0, client: Any = None,
                out: str | Path | None = None, aside: bool = False) -> MonteCarlo:
    """A quantity at some states for `samples` draws of the robot's parameters.

    `distribution` is of `robot.parameters`: `Normal`, `Uniform`, or `fit.distribution` of an
    identification. `states` are arrays for the quantity's inputs, of one state or of many. `only`
    names the result of a quantity that has several, as "dtau_dq".
    `client`, `out` and `aside` are as of `redundancy.map`: results are equal for any workers.
    """
    require_robot(robot)
    request = asked_request(robot, quantity)
    result = one_result(robot, request, only)
    if not isinstance(distribution, Distribution):
        raise ArgumentError(f"distribution must be one of cf.studies, not {distribution!r}")
    if distribution.size != len(robot.parameters):
        raise ArgumentError(f"the distribution has {distribution.size} numbers; {robot.name} has "
                            f"{len(robot.parameters)} parameters")
    samples, seed = counted(samples, "samples"), counted(seed, "seed", 0)
    arrays = checked_states(robot, request, states)
    shape = len(arrays[0]), *result.shape
    several = len(request.row.outputs) > 1
    kernel = fuse(robot, quantity, only=result.part if several else (), inputs=Parameters())
    draws = Draws(kernel, tuple(arrays), distribution, seed)
    about = {"quantity": result.text, "kernel": kernel.identity, "seed": str(seed),
             "numbers": _digest(*arrays, distribution.draws(0, 1, seed))}
    layout = TableLayout((TableColumn("value", "f8", entry_names(shape[0], shape[1:])),), samples,
                    block_size(arrays), about)
    return MonteCarlo(shape, *filled_at(
        out, layout, draws, Work(client, aside, f"sampling {robot.name}")))


def _digest(*arrays: Floats) -> str:
    text = hashlib.sha256()
    for x in arrays:
        text.update(np.ascontiguousarray(x).tobytes())
    return text.hexdigest()
