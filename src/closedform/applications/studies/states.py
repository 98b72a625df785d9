"""The states at which a study evaluates a quantity, and kernels over draws times states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from closedform.applications.compile.requests import Asked, Request, asked_request
from closedform.arrays import Floats, real_array
from closedform.errors import ArgumentError
from closedform.model.robot import Robot

TOGETHER = 1 << 16
"""Evaluations of a block: some tens of milliseconds, and some megabytes of results."""


def checked_states(robot: Robot, request: Request, states: Sequence[Any]) -> list[Floats]:
    """Arrays (states, n) for the inputs of a quantity, from single states or batches."""
    names = request.row.inputs
    given = [states] if len(names) == 1 and not isinstance(states, tuple) else list(states)
    if len(given) != len(names):
        raise ArgumentError(f"states of {request.text} must be {len(names)} arrays, "
                            f"({', '.join(names)}), not {len(given)}")
    shapes = request.row.input_shapes(robot)
    arrays = [real_array(x, shapes[n], f"{request.text} of {robot.name}: {n}")
              for n, x in zip(names, given, strict=True)]
    batch = np.broadcast_shapes(*(x.shape[:x.ndim - len(shapes[n])]
                                  for n, x in zip(names, arrays, strict=True)))
    if len(batch) > 1 or 0 in batch:
        raise ArgumentError(f"states of {request.text} have one batch axis, not {batch}")
    count = batch or (1,)
    found = [np.ascontiguousarray(np.broadcast_to(x, (*count, *shapes[n])))
             for n, x in zip(names, arrays, strict=True)]
    bad = [n for n, x in zip(names, found, strict=True) if not np.all(np.isfinite(x))]
    if bad:
        raise ArgumentError(f"states of {request.text}: {', '.join(bad)} must be finite")
    return found


def random_states(robot: Robot, quantity: Asked, count: int, seed: int) -> tuple[Floats, ...]:
    """States of a quantity: configurations within limits, velocities within theirs or near 1."""
    rng = np.random.default_rng(seed)
    q = np.array([robot.random(rng) for _ in range(count)])
    fastest = np.where(np.isfinite(robot.velocity_limits), robot.velocity_limits, 1.0)
    known = {"q": q, "v": rng.uniform(-1, 1, (count, robot.nv)) * fastest}
    shapes = asked_request(robot, quantity).row.input_shapes(robot)
    return tuple(known[name] if name in known else rng.normal(size=(count, *shape))
                 for name, shape in shapes.items())


def over_states(kernel: Callable[..., Any], states: Sequence[Floats], numbers: Floats) -> Floats:
    """The kernel for all rows of numbers at all states, (rows, states, *shape)."""
    rows, count = len(numbers), len(states[0])
    each = [np.broadcast_to(x[None], (rows, *x.shape)) for x in states]
    return np.asarray(kernel(*each, np.broadcast_to(numbers[:, None], (rows, count,
                                                                       numbers.shape[-1]))))


def block_size(states: Sequence[Floats]) -> int:
    """Rows of a block."""
    return max(1, TOGETHER // len(states[0]))


def single_output(robot: Robot, request: Request) -> tuple[int, ...]:
    """The shape of a quantity's result; those of several parts are refused."""
    if len(request.row.outputs) != 1:
        parts = ", ".join(name for name, _ in request.row.outputs)
        raise ArgumentError(f"{request.text} has several results ({parts}); a study takes one")
    shape, = request.row.output_shapes(robot).values()
    return shape


def entry_names(count: int, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the entries of (states, *shape), `state.i.j`."""
    return tuple(".".join(map(str, at)) for at in np.ndindex(count, *shape))
