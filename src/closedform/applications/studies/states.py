"""The states at which a study evaluates a quantity, and kernels over draws times states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from closedform.applications.compile.requests import Asked, Request, asked_request
from closedform.arrays import Floats, real_array
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.model.robot import Robot

TOGETHER = 1 << 16
"""Evaluations of a block: some tens of milliseconds, and some megabytes of results."""


def require_robot(robot: Any) -> None:
    """Refuse what is no robot."""
    if not isinstance(robot, Robot):
        raise ArgumentError(f"robot must be a cf.Robot, not {type(robot).__name__}; "
                            "cf.load(path or name) makes one")


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


class Result(NamedTuple):
    """The result of a quantity that a study is of."""

    text: str               # quantity and part
    part: str               # its name among the results; the quantity's where there is one
    shape: tuple[int, ...]


def one_result(robot: Robot, request: Request, only: str | None) -> Result:
    """The quantity's result, or the one that `only` names of several."""
    shapes = request.row.output_shapes(robot)
    if only is None and len(shapes) == 1:
        part, = shapes
        return Result(request.text, part, shapes[part])
    if only is None:
        raise ArgumentError(f"{request.text} has several results; a study takes one: only= "
                            f"{' or '.join(map(repr, shapes))}")
    if not isinstance(only, str) or only not in shapes:
        raise UnknownName(f"{request.text} has no result {only!r}; "
                          f"{suggestion(str(only), list(shapes))}")
    return Result(f"{request.text}.{only}" if len(shapes) > 1 else request.text, only, shapes[only])


def entry_names(count: int, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the entries of (states, *shape), `state.i.j`."""
    return tuple(".".join(map(str, at)) for at in np.ndindex(count, *shape))
