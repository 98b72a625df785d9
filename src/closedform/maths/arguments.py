"""Arguments at the public edge of the mathematics: a parameter's name says its size."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from types import MappingProxyType
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from closedform.arrays import checked_array
from closedform.errors import ArgumentError
from closedform.model.loops.closure import y_index
from closedform.model.robot import Robot

P = ParamSpec("P")
R = TypeVar("R")

Size = tuple["str | int | Callable[[Any], int]", ...]
"""A shape: numbers, words of `Kind.counts`, or functions that count something of a model."""


class Argument(NamedTuple):
    """An argument of equations: its size, its letter in LaTeX (none: its name), and what it is.

    One of several sizes is checked by the equations themselves.
    """

    size: Size
    letter: str = ""
    meaning: str = "an input"
    several: bool = False


def coordinates_of_y(robot: Robot) -> int:
    """How many coordinates the independent joints have: nq of a robot without loops."""
    return len(y_index(robot.tree, robot.closure)) if robot.closure else robot.nq


ARGUMENTS: Mapping[str, Argument] = MappingProxyType({
    "q": Argument(("nq",), "q", "joint coordinates"),
    "y": Argument((coordinates_of_y,), "y", "coordinates of the independent joints"),
    "v": Argument(("nv",), r"\dot{q}", "joint velocities"),
    "a": Argument(("nv",), r"\ddot{q}", "joint accelerations"),
    "j": Argument(("nv",), r"\dddot{q}", "joint jerks"),
    "tau": Argument(("nv",), r"\tau", "joint torques and forces"),
    "v_r": Argument(("nv",), "", "reference velocities"),
    "a_r": Argument(("nv",), "", "reference accelerations"),
    "rates": Argument(("rates", "nv"), "q", "rows v, a, j, …: derivatives of the motion"),
    "q_dot": Argument(("nv",), "", "a direction of q, as tangent vector"),
    "v_dot": Argument(("nv",), "", "a direction of v"),
    "a_dot": Argument(("nv",), "", "a direction of a"),
    "tau_dot": Argument(("nv",), "", "a direction of tau"),
    "tau_bar": Argument(("nv",), r"\bar{\tau}", "weights of the torques"),
    "a_bar": Argument(("nv",), "", "weights of the accelerations"),
    "dv": Argument(("nv",), "", "a tangent vector"),
    "q0": Argument(("nq",), "", "joint coordinates"),
    "q1": Argument(("nq",), "", "other joint coordinates"),
    "wrenches": Argument(("bodies", 6), "", "loads on the bodies, each at its frame's origin, in "
                                            "its frame, force first"),
})
"""Arguments of a robot's equations by name: an array of that name is this, everywhere."""

SIZES: Mapping[str, Size] = MappingProxyType({name: x.size for name, x in ARGUMENTS.items()})
"""Sizes by name: an array of that name has this shape, everywhere; but see `size_of`."""

DOTS: Mapping[str, int] = MappingProxyType({"rates": 1, "orders": 0, "configurations": 0})
"""Axes that count time derivatives, and how many the first entry has."""


def robot_counts(robot: Robot, order: int = 2) -> dict[str, int]:
    """The numbers behind the words of sizes; `order` is that of a jet.

    A jet of order K has K + 1 "orders" (τ, τ̇, …), takes K + 2 "rates" (v, a, j, …) and K + 3
    "configurations" (J, J̇, …).
    """
    return {"nq": robot.nq, "nv": robot.nv, "bodies": len(robot.bodies),
            "parameters": len(robot.parameters),
            "orders": order + 1, "rates": order + 2, "configurations": order + 3}


@dataclass(frozen=True)
class Kind:
    """Models of one class, with the arguments that their equations take.

    `noun`: what they are called, in the plural. `counts`: of a model, the numbers behind the words
    of sizes, for jets of some order. `name`: that of a model, for messages. `made`: what makes one,
    and `batches`: what takes batches, as one writes it. `finite`: whether NaN is refused.
    """

    noun: str
    model: type
    arguments: Mapping[str, Argument]
    counts: Callable[[Any, int], Mapping[str, int]]
    name: Callable[[Any], str] = lambda model: str(model.name)
    made: str = ""
    batches: str = ""
    finite: bool = False

    def checked(self, function: Callable[P, R]) -> Callable[P, R]:
        """The function with its arrays converted from lists and held to the sizes of their names.

        Its first parameter is the model.
        """
        signature = inspect.signature(function)
        first, *rest = signature.parameters
        held = [name for name in rest if name in self.arguments
                and not self.arguments[name].several]

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise ArgumentError(f"{function.__name__} takes {', '.join((first, *rest))}: "
                                    f"{error}") from None
            given = bound.arguments
            model = self._model(given.get(first), function.__name__, first)
            what, order = f"{function.__name__} of {self.name(model)}", _order(given)
            for name in held:
                optional = signature.parameters[name].default is None
                if given.get(name) is not None or not optional:
                    shape = self.shape(model, self.size_of(name, given), order)
                    given[name] = self._array(given[name], shape, f"{what}: {name}")
            return function(*bound.args, **bound.kwargs)

        return call

    def shape(self, model: Any, size: Size, order: int = 2) -> tuple[int, ...]:
        """A size such as ("bodies", 6) in a model's numbers; `order` is that of a jet."""
        known = self.counts(model, order)
        return tuple(known[s] if isinstance(s, str) else s if isinstance(s, int) else s(model)
                     for s in size)

    def size_of(self, name: str, names: Collection[str]) -> Size:
        """The size of an argument among others: beside `rates`, `wrenches` have a row per order."""
        size = self.arguments[name].size
        return ("orders", *size) if name == "wrenches" and "rates" in names else size

    def _model(self, given: Any, function: str, parameter: str) -> Any:
        if isinstance(given, self.model):
            return given
        hint = f"; {self.made} makes one" if self.made else ""
        raise ArgumentError(f"{function}: {parameter} must be a cf.{self.model.__name__}, "
                            f"not {type(given).__name__}{hint}")

    def _array(self, x: Any, shape: tuple[int, ...], what: str) -> Any:
        array = checked_array(x, shape, what, batches=self.batches)
        told = isinstance(array, np.ndarray) and array.dtype.kind in "fc"
        if self.finite and told and not np.all(np.isfinite(array)):
            raise ArgumentError(f"{what} must be finite, not {x!r}")
        return array


def _order(arguments: dict[str, Any]) -> int:
    """The order of a jet with the given rates, which are to be a matrix with a row at least."""
    try:
        rows, _ = np.shape(arguments["rates"])
    except (KeyError, ValueError):
        return 0
    return max(rows, 1) - 2


ROBOTS = Kind("robots", Robot, ARGUMENTS, robot_counts, made="cf.load(path or name)",
              batches="cf.compile(robot)")
checked = ROBOTS.checked
size_of = ROBOTS.size_of
expected_shape = ROBOTS.shape
