"""The scalar operations, one row each: meaning, derivatives, names in other languages, and cost.

Inputs and constants are leaves of a program, not operations. Every lowering reads these rows; a new
function of one scalar is a new row.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal

from closedform.arrays import elementwise

Cost = Literal["mul", "add", "trig", "free"]
ATOM = 3
"""The precedence of names, numbers and calls."""


@dataclass(frozen=True)
class Op:
    """A scalar operation: an operator between two scalars, or a function of one.

    `value` takes and returns Python floats with IEEE meaning: it gives NaN or infinity and never
    raises. `partials` takes the arguments as recorded scalars and gives one partial derivative for
    each, a recorded scalar or a plain number. `parity` tells what a sign in front of the argument
    of a function does: 1 it drops (even), −1 it moves to the front (odd), 0 it has to be computed.
    `infix` is the operator on any scalars, `precedence` how tightly its `symbol` binds. A function
    has its own name in Python's `math`, C, SymPy, CasADi and MATLAB; `numpy` is the name in NumPy
    and JAX where that is another.
    """

    name: str
    symbol: str
    cost: Cost
    value: Callable[..., float]
    partials: Callable[..., tuple[Any, ...]]
    infix: Callable[[Any, Any], Any] | None = None
    precedence: int = ATOM
    parity: int = 0
    numpy: str = ""

    @property
    def arity(self) -> int:
        return 1 if self.infix is None else 2

    @property
    def ufunc(self) -> str:
        """Its name in NumPy and JAX."""
        return self.numpy or self.name

    @cached_property
    def on(self) -> Callable[..., Any]:
        """The operation on scalars of any kind: recorded, numbers, or another library's."""
        return self.infix or partial(elementwise, self.name)


def _divide(x: float, y: float) -> float:
    """x / y, with the infinities and NaN that Python refuses to return."""
    if y != 0.0:
        return x / y
    if x == 0.0 or x != x:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _sin(x: float) -> float:
    return math.sin(x) if math.isfinite(x) else math.nan


def _cos(x: float) -> float:
    return math.cos(x) if math.isfinite(x) else math.nan


def _sqrt(x: float) -> float:
    return math.nan if x < 0.0 else math.sqrt(x)


def _sign(x: float) -> float:
    return x if x == 0.0 or x != x else math.copysign(1.0, x)


OPS: Mapping[str, Op] = MappingProxyType({op.name: op for op in (
    Op("add", "+", "add", operator.add, lambda x, y: (1.0, 1.0), operator.add, 1),
    Op("sub", "-", "add", operator.sub, lambda x, y: (1.0, -1.0), operator.sub, 1,
       numpy="subtract"),
    Op("mul", "*", "mul", operator.mul, lambda x, y: (y, x), operator.mul, 2, numpy="multiply"),
    Op("div", "/", "mul", _divide, lambda x, y: (1.0 / y, -((x / y) / y)), operator.truediv, 2,
       numpy="divide"),
    Op("sqrt", "sqrt", "mul", _sqrt, lambda x: (0.5 / x.sqrt(),)),
    Op("sin", "sin", "trig", _sin, lambda x: (x.cos(),), parity=-1),
    Op("cos", "cos", "trig", _cos, lambda x: (-x.sin(),), parity=1),
    Op("sign", "sign", "free", _sign, lambda x: (0.0,), parity=-1),
)})
"""Every operation by its name."""

FUNCTIONS: tuple[Op, ...] = tuple(op for op in OPS.values() if op.infix is None)
"""Those that are functions of one scalar."""
