"""The scalar operations, one row each: meaning on floats, partial derivatives, symbol and cost.

Inputs and constants are leaves of a program, not operations. A new operation is a new row;
lowerings have a table of their own over the same names.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

Cost = Literal["mul", "add", "trig", "free"]


@dataclass(frozen=True)
class Op:
    """A scalar operation.

    `value` takes and returns Python floats with IEEE meaning: it gives NaN or infinity and never
    raises. `partials` takes the arguments as recorded scalars and gives one partial derivative for
    each, a recorded scalar or a plain number. `parity` tells what a sign in front of the argument
    of a one-place function does: 1 it drops (even), −1 it moves to the front (odd), 0 it has to be
    computed.
    """

    name: str
    arity: int
    symbol: str
    cost: Cost
    value: Callable[..., float]
    partials: Callable[..., tuple[Any, ...]]
    commutes: bool = False
    parity: int = 0


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
    Op("add", 2, "+", "add", operator.add, lambda x, y: (1.0, 1.0), commutes=True),
    Op("sub", 2, "-", "add", operator.sub, lambda x, y: (1.0, -1.0)),
    Op("mul", 2, "*", "mul", operator.mul, lambda x, y: (y, x), commutes=True),
    Op("div", 2, "/", "mul", _divide, lambda x, y: (1.0 / y, -((x / y) / y))),
    Op("sqrt", 1, "sqrt", "mul", _sqrt, lambda x: (0.5 / x.sqrt(),)),
    Op("sin", 1, "sin", "trig", _sin, lambda x: (x.cos(),), parity=-1),
    Op("cos", 1, "cos", "trig", _cos, lambda x: (-x.sin(),), parity=1),
    Op("sign", 1, "sign", "free", _sign, lambda x: (0.0,), parity=-1),
)})
"""Every operation by its name."""
