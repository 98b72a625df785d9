"""Checks of arguments at the public edge of the mathematics: a parameter's name says its size."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from closedform.arrays import Array, exact_or_float
from closedform.errors import ArgumentError
from closedform.model.robot import Robot

P = ParamSpec("P")
R = TypeVar("R")

Size = tuple[str | int, ...]


class Argument(NamedTuple):
    """An argument of equations: its size, its letter in LaTeX (none: its name), and what it is."""

    size: Size
    letter: str = ""
    meaning: str = "an input"


ARGUMENTS: Mapping[str, Argument] = MappingProxyType({
    "q": Argument(("nq",), "q", "joint coordinates"),
    "v": Argument(("nv",), r"\dot{q}", "joint velocities"),
    "a": Argument(("nv",), r"\ddot{q}", "joint accelerations"),
    "j": Argument(("nv",), r"\dddot{q}", "joint jerks"),
    "tau": Argument(("nv",), r"\tau", "joint torques and forces"),
    "v_r": Argument(("nv",), "", "reference velocities"),
    "a_r": Argument(("nv",), "", "reference accelerations"),
    "rates": Argument(("rates", "nv"), "q", "rows v, a, j, …: derivatives of the motion"),
    "wrenches": Argument(("bodies", 6), "", "loads on the bodies, each at its frame's origin, in "
                                            "its frame, force first"),
})
"""Arguments of a robot's equations by name: an array of that name is this, everywhere."""

SIZES: Mapping[str, Size] = MappingProxyType({name: x.size for name, x in ARGUMENTS.items()})
"""Sizes by name: an array of that name has this shape, everywhere; but see `size_of`."""

DOTS: Mapping[str, int] = MappingProxyType({"rates": 1, "orders": 0, "configurations": 0})
"""Axes that count time derivatives, and how many the first entry has."""


def size_of(name: str, names: Collection[str]) -> Size:
    """The size of an argument among others: beside `rates`, `wrenches` have a row per order."""
    return ("orders", *SIZES[name]) if name == "wrenches" and "rates" in names else SIZES[name]


def robot_counts(robot: Robot, order: int = 2) -> dict[str, int]:
    """The numbers behind the words of sizes; `order` is that of a jet.

    A jet of order K has K + 1 "orders" (τ, τ̇, …), takes K + 2 "rates" (v, a, j, …) and K + 3
    "configurations" (J, J̇, …).
    """
    return {"nq": robot.nq, "nv": robot.nv, "bodies": len(robot.bodies),
            "parameters": len(robot.parameters),
            "orders": order + 1, "rates": order + 2, "configurations": order + 3}


def expected_shape(robot: Robot, size: Size, order: int = 2) -> tuple[int, ...]:
    """A shape such as ("bodies", 6) in the robot's numbers; `order` is that of a jet."""
    known = robot_counts(robot, order)
    return tuple(known[s] if isinstance(s, str) else s for s in size)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function with its arrays converted from lists and held to the sizes their names say."""
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{function.__name__}{signature}: {error}") from None
        robot = bound.arguments.get("robot")
        if not isinstance(robot, Robot):
            raise ArgumentError(f"{function.__name__}: robot must be a cf.Robot, "
                                f"not {type(robot).__name__}; cf.load(path or name) makes one")
        order = _order(bound.arguments)
        for name, value in bound.arguments.items():
            optional = signature.parameters[name].default is None
            if name in SIZES and not (value is None and optional):
                shape = expected_shape(robot, size_of(name, bound.arguments), order)
                what = f"{function.__name__}: {name}"
                bound.arguments[name] = _array(value, shape, what, robot)
        return function(*bound.args, **bound.kwargs)

    return call


def _order(arguments: dict[str, Any]) -> int:
    """The order of a jet with the given rates, which are to be a matrix with a row at least."""
    try:
        rows, _ = np.shape(arguments["rates"])
    except (KeyError, ValueError):
        return 0
    return max(rows, 1) - 2


def _array(value: Any, shape: tuple[int, ...], what: str, robot: Robot) -> Array:
    foreign = not isinstance(value, np.ndarray) and hasattr(value, "__array_namespace__")
    try:
        array = value if foreign else exact_or_float(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what} must be numbers of shape {shape}, not {value!r}") from error
    if not foreign and (array.dtype.kind in "USb" or not _computable(array)):
        raise ArgumentError(f"{what} must be numbers of shape {shape}, not {value!r}")
    if array.shape != shape:
        batch = array.shape[-len(shape):] == shape
        hint = "; batches go through cf.compile(robot)" if batch else ""
        raise ArgumentError(f"{what} must have the shape {shape} for {robot.name}, "
                            f"not {array.shape}{hint}")
    return array


def _computable(array: Array) -> bool:
    """Whether the entries are numbers, symbols or recorded scalars: anything with a difference."""
    return array.dtype != object or all(hasattr(x, "__sub__") for x in array.flat)
