"""Recorded scalars: a graph of operations that grows while ordinary Python arithmetic runs.

A recorded scalar is a node of the graph and a sign, so that a change of sign costs nothing and a −
b and b − a are the same node. Equal nodes are stored once. Constants stay Python floats until they
meet a recorded scalar, and these identities are used at once:

    x·0 = 0, 0/x = 0, x·(±1) = ±x, x + 0 = x, x − x = 0, x + x = 2x, x/x = 1, c₁(c₂x) = (c₁c₂)x,
    c₁x ± c₂x = (c₁ ± c₂)x, x/c = (1/c)x, sin(−x) = −sin x, cos(−x) = cos x, sin²x + cos²x = 1.

They hold for real numbers. Where x is infinite or NaN, a folded x·0 or x − x does not show it, and
x/c may differ from IEEE's quotient in the last place; what a program says is exact for finite
states.
"""

from __future__ import annotations

import math
from functools import partialmethod
from typing import Any, Union

import numpy as np

from closedform.errors import ArgumentError
from closedform.program.ops import FUNCTIONS, OPS

Node = tuple[Any, ...]
"""("input", slot, index), ("const", value) or (operation, argument, ...).

With lanes: ("input", slot, index, ...), ("lanes", values), ("spread" or "gather", argument, lanes),
("spread", argument, argument, lanes).
"""

Scalar = Union["Expr", float]


class Graph:
    """The nodes of one recording; the arguments of a node come before it."""

    __slots__ = ("memo", "nodes")

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.memo: dict[Node, int] = {}

    def node(self, key: Node) -> int:
        """The place of a node, which is added if it is new."""
        place = self.memo.get(key)
        if place is None:
            place = self.memo[key] = len(self.nodes)
            self.nodes.append(key)
        return place

    def input(self, slot: int, *indices: int) -> Expr:
        return Expr(self, self.node(("input", slot, *indices)), 1)

    def constant(self, value: float) -> int:
        """The node of a constant, which is positive: signs are kept by who refers to it."""
        if not value < math.inf:
            raise ArgumentError(f"a recorded constant is {value}; it has to be finite")
        return self.node(("const", value))

    def positive(self, place: int) -> Scalar:
        """A node as a scalar with sign +1; a constant as the number it is."""
        node = self.nodes[place]
        return node[1] if node[0] == "const" else Expr(self, place, 1)

    def scale_of(self, place: int) -> tuple[float, int]:
        """(c, x) where the node is c·x, else (1, node)."""
        nodes = self.nodes
        node = nodes[place]
        if node[0] == "mul":
            factor = nodes[node[1]]
            if factor[0] == "const":
                return factor[1], node[2]
        return 1.0, place

    def scaled(self, value: float, place: int, sign: int) -> Scalar:
        """value · sign · node."""
        if value == 0.0:
            return 0.0
        if value < 0.0:
            value, sign = -value, -sign
        c, place = self.scale_of(place)
        value *= c
        if value == 1.0:
            return Expr(self, place, sign)
        if value == 0.0:
            return 0.0
        return Expr(self, self.node(("mul", self.constant(value), place)), sign)

    def sum(self, a: int, sa: int, b: int, sb: int) -> Scalar:
        """sa·a + sb·b."""
        nodes = self.nodes
        if a == b:
            return self.scaled(2.0, a, sa) if sa == sb else 0.0
        if nodes[a][0] == "mul" or nodes[b][0] == "mul":
            ca, x = self.scale_of(a)
            cb, y = self.scale_of(b)
            if x == y:
                return self.scaled(sa * ca + sb * cb, x, 1)
            if sa == sb and self.unit_circle(a, b):
                return float(sa)
        if sa == sb:
            return Expr(self, self.node(("add", a, b) if a < b else ("add", b, a)), sa)
        if a < b:
            return Expr(self, self.node(("sub", a, b)), sa)
        return Expr(self, self.node(("sub", b, a)), sb)

    def unit_circle(self, a: int, b: int) -> bool:
        """Whether the two nodes are sin²x and cos²x of one x."""
        nodes = self.nodes
        u, w = nodes[a], nodes[b]
        if u[0] != "mul" or w[0] != "mul" or u[1] != u[2] or w[1] != w[2]:
            return False
        f, g = nodes[u[1]], nodes[w[1]]
        return (f[0], g[0]) in (("sin", "cos"), ("cos", "sin")) and f[1] == g[1]

    def negated(self, place: int) -> int:
        """A node for −x where the sign cannot be moved on: b − a for a − b, else x − (x + x)."""
        node = self.nodes[place]
        if node[0] == "sub":
            return self.node(("sub", node[2], node[1]))
        return self.node(("sub", place, self.node(("add", place, place))))


class Expr:
    """A recorded scalar: signum · node, with signum +1 or −1."""

    __slots__ = ("graph", "node", "signum")

    def __init__(self, graph: Graph, node: int, sign: int) -> None:
        self.graph = graph
        self.node = node
        self.signum = sign

    def __add__(self, other: Any) -> Any:
        graph = self.graph
        if other.__class__ is Expr:
            if other.graph is not graph:
                raise _strangers()
            return graph.sum(self.node, self.signum, other.node, other.signum)
        value = _number(other)
        if value is None:
            return NotImplemented
        if value == 0.0:
            return self
        sign = 1 if value > 0.0 else -1
        return graph.sum(self.node, self.signum, graph.constant(abs(value)), sign)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if other.__class__ is Expr:
            graph = self.graph
            if other.graph is not graph:
                raise _strangers()
            return graph.sum(self.node, self.signum, other.node, -other.signum)
        value = _number(other)
        return NotImplemented if value is None else self + -value

    def __rsub__(self, other: Any) -> Any:
        return Expr(self.graph, self.node, -self.signum) + other

    def __mul__(self, other: Any) -> Any:
        graph = self.graph
        if other.__class__ is Expr:
            if other.graph is not graph:
                raise _strangers()
            a, b = self.node, other.node
            key = ("mul", a, b) if a <= b else ("mul", b, a)
            return Expr(graph, graph.node(key), self.signum * other.signum)
        value = _number(other)
        if value is None:
            return NotImplemented
        return graph.scaled(value, self.node, self.signum)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        graph = self.graph
        if other.__class__ is Expr:
            if other.graph is not graph:
                raise _strangers()
            sign = self.signum * other.signum
            if self.node == other.node:
                return float(sign)
            return Expr(graph, graph.node(("div", self.node, other.node)), sign)
        value = _number(other)
        if value is None:
            return NotImplemented
        if value == 0.0:
            raise ArgumentError("a recorded scalar is divided by the constant 0")
        return graph.scaled(1.0 / value, self.node, self.signum)

    def __rtruediv__(self, other: Any) -> Any:
        value = _number(other)
        if value is None:
            return NotImplemented
        if value == 0.0:
            return 0.0
        graph = self.graph
        sign = self.signum if value > 0.0 else -self.signum
        return Expr(graph, graph.node(("div", graph.constant(abs(value)), self.node)), sign)

    def __pow__(self, exponent: Any) -> Any:
        """Whole powers by repeated squaring, and the square root as x ** 0.5."""
        if exponent == 0.5:
            return self.apply("sqrt")
        if not isinstance(exponent, int | float | np.number) or exponent != int(exponent):
            return NotImplemented
        power, square, result = abs(int(exponent)), self, 1.0
        while power:
            if power & 1:
                result = square * result
            power >>= 1
            if power:
                square = square * square
        return result if exponent >= 0 else 1.0 / result

    def __neg__(self) -> Expr:
        return Expr(self.graph, self.node, -self.signum)

    def __pos__(self) -> Expr:
        return self

    def __bool__(self) -> bool:
        raise ArgumentError(
            "a recorded scalar has no truth value: what is recorded may not depend on the state"
        )

    def __eq__(self, other: object) -> bool:
        """Whether both are the same recorded value, known without numbers."""
        return (
            isinstance(other, Expr)
            and self.graph is other.graph
            and self.node == other.node
            and self.signum == other.signum
        )

    def __hash__(self) -> int:
        return hash((id(self.graph), self.node, self.signum))

    def __repr__(self) -> str:
        node = self.graph.nodes[self.node]
        return f"{'-' if self.signum < 0 else ''}{node[0]}{node[1:]}"

    def apply(self, name: str) -> Expr:
        """A one-place operation of this scalar, with the sign moved as its parity allows."""
        graph, place, sign = self.graph, self.node, self.signum
        parity = OPS[name].parity
        if sign < 0 and parity == 0:
            place = graph.negated(place)
        return Expr(graph, graph.node((name, place)), sign if parity < 0 else 1)


for _op in FUNCTIONS:       # x.sin(), x.sqrt(), …
    setattr(Expr, _op.name, partialmethod(Expr.apply, _op.name))


_NUMBERS = (float, int, np.floating, np.integer)


def _number(x: object) -> float | None:
    """x as a float where it is a plain real number."""
    if isinstance(x, _NUMBERS):
        value = float(x)
        if value - value != 0.0:
            raise ArgumentError(f"a recorded scalar meets {value}; constants have to be finite")
        return value
    return None


def _strangers() -> ArgumentError:
    return ArgumentError("scalars of two recordings meet; record both functions in one")
