"""Numbers with lanes: constants that differ between limbs, and recorded scalars of several limbs.

A recorded one is a node of the graph and a sign for each lane, so that mirrored limbs, whose
constants differ by signs alone, cost nothing. Of two numbers that meet, the one nearer to the trunk
is spread to the other's lanes. In a sum, signs have to agree up to a common one; where they do not,
the cheaper of the two is multiplied by ±1, which is free for a multiple by a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partialmethod
from typing import Any

import numpy as np

from closedform.program.expr import Expr, Graph, Scalar
from closedform.program.lanes.limbs import (
    TRUNK,
    LanesMeetError,
    Limb,
    lanes_of,
    outer,
    width,
)
from closedform.program.ops import FUNCTIONS, OPS

LaneValues = tuple[float, ...]
Signs = tuple[int, ...]
REAL = (float, int, np.floating, np.integer)


class LaneConstant:
    """A constant with a value for each lane, of which at least two differ."""

    __slots__ = ("limb", "values")

    def __init__(self, values: LaneValues, limb: Limb) -> None:
        self.values, self.limb = values, limb

    def _with(self, other: Any, op: str, swapped: bool = False) -> Any:
        if isinstance(other, Expr):
            x, y = lifted(other, self.limb), lifted(self, self.limb, other.graph)
            return OPS[op].on(*((x, y) if swapped else (y, x)))
        if not isinstance(other, (LaneConstant, *REAL)):
            return NotImplemented
        limb = outer(self.limb, other.limb if isinstance(other, LaneConstant) else TRUNK)
        pair = values_in(self, limb), values_in(other, limb)
        x, y = reversed(pair) if swapped else pair
        value = OPS[op].value
        return constant([value(a, b) for a, b in zip(x, y, strict=True)], limb)

    def __neg__(self) -> LaneConstant:
        return LaneConstant(tuple(-x for x in self.values), self.limb)

    def __add__(self, other: Any) -> Any:
        return self._with(other, "add")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, "sub")

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, "sub", swapped=True)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Expr):
            return lifted(other, self.limb).times(self.values)
        return self._with(other, "mul")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(other, "div")

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, Expr):
            return other * (1.0 / self)
        return self._with(other, "div", swapped=True)

    def __repr__(self) -> str:
        return f"lanes{self.values}"


class LaneExpr:
    """A recorded scalar of a limb: sign_l · node in lane l."""

    __slots__ = ("graph", "limb", "node", "signs")

    def __init__(self, graph: Graph, node: int, signs: Signs, limb: Limb) -> None:
        self.graph, self.node, self.signs, self.limb = graph, node, signs, limb

    # ------------------------------------------------------------------ sums
    def __add__(self, other: Any) -> Any:
        met = _met(self, other)
        if met is None:
            return NotImplemented
        if isinstance(met, LaneExpr):
            return met
        a, b = met
        (ca, x), (cb, y) = a.factors(), b.factors()
        if x == y:
            total = [s * c + t * d for s, c, t, d in zip(a.signs, ca, b.signs, cb, strict=True)]
            return LaneExpr(a.graph, x, (1,) * len(total), a.limb).times(tuple(total))
        if b.signs == _opposite(a.signs):
            return signed(a.positive - b.positive, a.signs, a.limb)
        if b.signs != a.signs:
            if a.turning_cost < b.turning_cost:
                a, b = b, a
            return a + b.with_signs(a.signs)
        return signed(a.positive + b.positive, a.signs, a.limb)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> LaneExpr:
        return LaneExpr(self.graph, self.node, _opposite(self.signs), self.limb)

    def __pos__(self) -> LaneExpr:
        return self

    # ------------------------------------------------------------------ products
    def __mul__(self, other: Any) -> Any:
        if isinstance(other, REAL):
            return self.times((float(other),) * len(self.signs))
        if isinstance(other, LaneConstant):
            limb = outer(self.limb, other.limb)
            return lifted(self, limb).times(values_in(other, limb))
        met = _met(self, other)
        if not isinstance(met, tuple):
            return NotImplemented
        a, b = met
        return signed(a.positive * b.positive, _product(a.signs, b.signs), a.limb)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, (LaneConstant, *REAL)):
            return self * (1.0 / other)
        met = _met(self, other)
        if not isinstance(met, tuple):
            return NotImplemented
        a, b = met
        return signed(a.positive / b.positive, _product(a.signs, b.signs), a.limb)

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, REAL):
            return signed(float(other) / self.positive, self.signs, self.limb)
        if isinstance(other, LaneConstant | Expr):
            limb = outer(self.limb, TRUNK if isinstance(other, Expr) else other.limb)
            return lifted(other, limb, self.graph) / self
        return NotImplemented

    def __pow__(self, exponent: Any) -> Any:
        if exponent == 0.5:
            return self.apply("sqrt")
        made = self.positive ** exponent
        if made is NotImplemented:
            return made
        return signed(made, self.signs if exponent % 2 else (1,) * len(self.signs), self.limb)

    def apply(self, name: str) -> Any:
        """A one-place operation, with the signs moved as its parity allows."""
        parity, plus = OPS[name].parity, (1,) * len(self.signs)
        x = self.with_signs(plus) if parity == 0 and self.signs != plus else self
        return signed(x.positive.apply(name), x.signs if parity < 0 else plus, x.limb)

    # ------------------------------------------------------------------ signs and constants
    @property
    def positive(self) -> Expr:
        return Expr(self.graph, self.node, 1)

    def factors(self) -> tuple[LaneValues, int]:
        """(c, x) where the node is c·x, else ones and the node."""
        nodes = self.graph.nodes
        node = nodes[self.node]
        if node[0] == "mul":
            for at, other in ((1, 2), (2, 1)):
                op, *rest = nodes[node[at]]
                if op == "const":
                    return (rest[0],) * len(self.signs), node[other]
                if op == "lanes":
                    return rest[0], node[other]
        return (1.0,) * len(self.signs), self.node

    def times(self, values: LaneValues) -> Any:
        """This times a constant for each lane."""
        own, x = self.factors()
        total = [s * c * d for s, c, d in zip(self.signs, own, values, strict=True)]
        signs = tuple([-1 if c < 0.0 else 1 for c in total])
        sizes = tuple([abs(c) for c in total])
        if sizes.count(sizes[0]) == len(sizes):
            return signed(Expr(self.graph, x, 1) * sizes[0], signs, self.limb)
        return self._multiple(sizes, x, signs)

    def with_signs(self, signs: Signs) -> LaneExpr:
        """The same value with these signs, or all of them turned: the node times ±1."""
        ratio = _product(self.signs, signs)
        turned = ratio if ratio[0] > 0 else _opposite(ratio)
        own, x = self.factors()
        values = tuple([s * c for s, c in zip(turned, own, strict=True)])
        left = signs if ratio[0] > 0 else _opposite(signs)
        if self.graph.nodes[self.node][0] == "lanes":
            own = self.graph.nodes[self.node][1]
            values = tuple(s * c for s, c in zip(turned, own, strict=True))
            return LaneExpr(self.graph, self.graph.node(("lanes", values)), left, self.limb)
        return self._multiple(values, x, left)

    @property
    def turning_cost(self) -> int:
        """What a change of signs costs: nothing, what others share, or an operation."""
        _, x = self.factors()
        op = self.graph.nodes[self.node][0]
        return 0 if x != self.node or op == "lanes" else 1 if op in ("spread", "input") else 2

    def _multiple(self, values: LaneValues, x: int, signs: Signs) -> LaneExpr:
        graph = self.graph
        place = graph.node(("lanes", values))
        return LaneExpr(graph, graph.node(("mul", place, x)), signs, self.limb)

    def __repr__(self) -> str:
        return f"{self.signs}·{self.graph.nodes[self.node]}"


for _op in FUNCTIONS:       # x.sin(), x.sqrt(), …
    setattr(LaneExpr, _op.name, partialmethod(LaneExpr.apply, _op.name))

def constant(values: Sequence[float], limb: Limb) -> Any:
    """A constant for each lane; a plain number where all are equal."""
    numbers = tuple([float(x) for x in values])
    return numbers[0] if numbers.count(numbers[0]) == len(numbers) else LaneConstant(numbers, limb)


def entries(graph: Graph, slot: int, indices: Sequence[int], limb: Limb) -> Any:
    """Entries of an input, one for each lane."""
    if limb == TRUNK:
        return graph.input(slot, indices[0])
    return LaneExpr(graph, graph.node(("input", slot, *indices)), (1,) * len(indices), limb)


def values_in(x: Any, limb: Limb) -> LaneValues:
    """A constant in the lanes of a limb."""
    if isinstance(x, LaneConstant):
        return tuple([x.values[lane] for lane in lanes_of(limb, x.limb)])
    return (float(x),) * width(limb)


def lifted(x: Any, limb: Limb, graph: Graph | None = None) -> Any:
    """A number in the lanes of a limb that is farther from the trunk; plain ones stay."""
    if isinstance(x, LaneConstant):
        values = values_in(x, limb)
        signs, sizes = tuple([-1 if c < 0 else 1 for c in values]), tuple([abs(c) for c in values])
        assert graph is not None
        if sizes.count(sizes[0]) == len(sizes):
            return LaneExpr(graph, graph.constant(sizes[0]), signs, limb)
        return LaneExpr(graph, graph.node(("lanes", sizes)), signs, limb)
    if not isinstance(x, Expr | LaneExpr):
        return x
    near = x.limb if isinstance(x, LaneExpr) else TRUNK
    if near == limb:
        return x
    lanes = lanes_of(limb, near)
    signs = (x.signum,) * len(lanes) if isinstance(x, Expr) else tuple([x.signs[k] for k in lanes])
    return LaneExpr(x.graph, x.graph.node(("spread", x.node, lanes)), signs, limb)


def gathered(x: Any, limb: Limb, near: Limb) -> Any:
    """Σ over the lanes of `limb` of a number, for each lane of `near`, which is on its way."""
    lanes = lanes_of(limb, near)
    if not isinstance(x, LaneConstant | LaneExpr):
        if not isinstance(x, (Expr, *REAL)):
            raise LanesMeetError(f"{x!r} is no number with lanes, and cannot be added up over them")
        return (len(lanes) // width(near)) * x
    if isinstance(x, LaneConstant):
        values = values_in(x, limb)
        return constant([sum(v for v, k in zip(values, lanes, strict=True) if k == lane)
                         for lane in range(width(near))], near)
    if len(x.limb) <= len(near):
        return (len(lanes) // width(near)) * x
    count, lanes = width(limb) // width(x.limb), lanes_of(x.limb, near)
    first = tuple(x.signs[lanes.index(k)] for k in lanes)
    x = x if x.signs == first else x.with_signs(first)
    signs = tuple(x.signs[lanes.index(k)] for k in range(width(near)))
    place = x.graph.node(("gather", x.node, lanes))
    return count * signed(Expr(x.graph, place, 1), signs, near)


def _met(a: LaneExpr, b: Any) -> tuple[LaneExpr, LaneExpr] | LaneExpr | None:
    """Both in the lanes of the outer one; the first alone where the other is zero."""
    if isinstance(b, REAL):
        if b == 0:
            return a
        sign = 1 if b > 0 else -1
        place = a.graph.constant(abs(float(b)))
        return a, LaneExpr(a.graph, place, (sign,) * len(a.signs), a.limb)
    if not isinstance(b, Expr | LaneExpr | LaneConstant):
        return None
    limb = outer(a.limb, TRUNK if isinstance(b, Expr) else b.limb)
    return lifted(a, limb), lifted(b, limb, a.graph)


def signed(x: Scalar, signs: Signs, limb: Limb) -> Any:
    """signs · x as a number with lanes."""
    if not isinstance(x, Expr):
        return constant([s * x for s in signs], limb)
    signs = signs if x.signum > 0 else _opposite(signs)
    if limb == TRUNK:
        return Expr(x.graph, x.node, signs[0])
    return LaneExpr(x.graph, x.node, signs, limb)


def _opposite(signs: Signs) -> Signs:
    return tuple([-s for s in signs])


def _product(a: Signs, b: Signs) -> Signs:
    return tuple([s * t for s, t in zip(a, b, strict=True)])
