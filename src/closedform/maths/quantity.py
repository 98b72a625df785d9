"""A row of a catalogue: a quantity, the kind of model it is of, and all that others ask about it.

The definition is the closed form that says what the quantity is; algorithms compute the same with
fewer operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from inspect import signature
from typing import Any, NamedTuple

from closedform.maths.arguments import DOTS, Kind, Size

Function = Callable[..., Any]
Field = tuple[str, Size]
"""The name and the shape of a part of a named tuple."""


class Form(Enum):
    """The robot in which a quantity may be computed without changing it."""

    USER = "the user's bodies and frames"
    CANONICAL = "canonical frames: nothing names a body frame"
    BASE = "canonical frames with mass regrouped along the joint axes: joint-space quantities"


class Partial(NamedTuple):
    """∂(a quantity)/∂by: a field of another row, or that row itself; the new index is last.

    `by` is an argument (along tangents where a joint's q is no vector), `pi` for the inertial
    parameters or `t` for time, along the motion.
    """

    by: str
    row: str
    field: str


@dataclass(frozen=True)
class Quantity:
    """A row: what is computed, of what, from what, of which shape, and how.

    `form`: the robot it may be computed in, for the compiler.
    `framed`: it takes the name of a frame and a reference as further arguments.
    `letter`: its symbol in formulas, as LaTeX; none: its name.
    `derivatives`: where its derivatives are; `jvp` and `vjp`: the rows of their products with a
    direction of all inputs, and with weights of the result.
    `solves`: it exists only where M can be inverted, and where a frame moves in six directions.
    `essential`: pictures and certificates need it, so it is compiled before others.
    Algorithms with a parameter `base` may be written in the frame of any segment.
    """

    of: Kind
    name: str
    definition: Function
    inputs: tuple[str, ...]
    shape: Size
    algorithms: tuple[Function, ...] = ()
    symmetric: bool = False
    wrenches: bool = False
    framed: bool = False
    form: Form = Form.USER
    fields: tuple[Field, ...] = ()
    letter: str = ""
    derivatives: tuple[Partial, ...] = ()
    essential: bool = False
    solves: bool = False
    jvp: str = ""
    vjp: str = ""

    @property
    def summary(self) -> str:
        """The first line of the definition's docstring."""
        return (self.definition.__doc__ or "").strip().splitlines()[0]

    @property
    def outputs(self) -> tuple[Field, ...]:
        """Names and sizes of the results: the quantity itself, or its named tuple's fields."""
        return self.fields or ((self.name, self.shape),)

    @property
    def words(self) -> dict[str, tuple[str | int, ...]]:
        """Names and sizes of the results, to be read."""
        return {name: tuple(s if isinstance(s, str | int) else s.__name__ for s in size)
                for name, size in self.outputs}

    def takes(self, parameter: str) -> bool:
        """Whether the definition has a parameter of this name, such as `reference`."""
        return parameter in signature(self.definition).parameters

    def input_shapes(self, model: Any, order: int = 2) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the inputs for one model."""
        return {name: self.of.shape(model, self.of.arguments[name].size, order)
                for name in self.inputs}

    def output_shapes(self, model: Any, order: int = 2) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the results for one model."""
        return {name: self.of.shape(model, size, order) for name, size in self.outputs}


def row(of: Kind, name: str, definition: Function, inputs: str, shape: str,
        *algorithms: Function, **flags: Any) -> Quantity:
    """A quantity with its inputs and its shape as words."""
    size = tuple(int(s) if s.isdigit() else s for s in shape.split())
    return Quantity(of, name, definition, tuple(inputs.split()), size, algorithms, **flags)


def partials(**where: str) -> tuple[Partial, ...]:
    """Derivatives by argument: `partials(q="state_derivatives.dg_dq")`, a row's field, or a row."""
    found = {by: place.partition(".") for by, place in where.items()}
    return tuple(Partial(by, of, field or of) for by, (of, _, field) in found.items())


def takes_base(algorithm: Function) -> bool:
    """Whether an algorithm may be written in the frame of any segment."""
    return "base" in signature(algorithm).parameters


def folds(algorithm: Function) -> Function:
    """An algorithm that may run on a folded robot, whose equal limbs are in lanes.

    Its sums over bodies go through `subtree_sums`, `total` or `Segment.together`, and its result is
    a vector, or zero between joints and bodies of which none carries the other.
    """
    vars(algorithm)["folds"] = True
    return algorithm


def joins(algorithm: Function) -> Function:
    """An algorithm that folds, and whose places may hang on several: unlike limbs side by side.

    It sees what a place hangs on through `Segment.above`, adds up by `subtree_sums` or
    `Segment.shares`, and never walks from a place to its ancestors.
    """
    vars(algorithm)["joins"] = True
    return folds(algorithm)


def may_join(algorithm: Function) -> bool:
    """Whether an algorithm may run on a folded robot with unlike limbs side by side."""
    return bool(getattr(algorithm, "joins", False))


def may_fold(algorithm: Function) -> bool:
    """Whether an algorithm may run on a folded robot."""
    return bool(getattr(algorithm, "folds", False))


def letters(rows: Iterable[Quantity]) -> dict[str, tuple[str, int | None]]:
    """The letters of all that goes into rows and comes out of them, as LaTeX.

    A number is the dots of the first row of an array whose rows are time derivatives.
    """
    found: dict[str, tuple[str, int | None]] = {}
    for x in rows:
        known = [(name, x.of.arguments[name].letter, x.of.arguments[name].size)
                 for name in x.inputs]
        known += [] if x.fields else [(x.name, x.letter, x.shape)]
        found |= {name: (letter, _dots(size)) for name, letter, size in known if letter}
    return found


def _dots(size: Size) -> int | None:
    return DOTS.get(size[0]) if size and isinstance(size[0], str) else None
