"""A program with its sums and products flattened, for passes that reassociate, and the way back.

A sum is a list of signed terms, a product a list of factors; both refer to values by number. A
partial sum that only one sum uses is part of that sum, a partial product that only one product uses
is part of that product; what is used more often stays a value of its own, so that nothing shared is
lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from closedform.program.expr import Expr, Graph, Scalar
from closedform.program.ops import OPS
from closedform.program.program import LEAVES, NONE, SHUFFLES, Instruction, Output, Program
from closedform.program.record import Picked, collect, object_array

Term = tuple[int, int]
"""(value, sign)."""


class Flat:
    """The values of a program as flattened sums, flattened products and all others."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sums: dict[int, list[Term]] = {}
        self.products: dict[int, list[int]] = {}
        self.others: dict[int, Instruction] = {}
        self.constants: dict[float, int] = {}
        self.size = len(program.code)
        self._flatten()
        self.uses = self._count_uses()

    def new(self) -> int:
        """The number of a value to be defined."""
        self.size += 1
        self.uses.append(1)
        return self.size - 1

    def add_sum(self, terms: list[Term]) -> int:
        """A new value that is this sum."""
        value = self.new()
        self.sums[value] = terms
        return value

    def add_product(self, factors: list[int]) -> int:
        """The value of a product, which may have a single factor."""
        if len(factors) == 1:
            return factors[0]
        value = self.new()
        self.products[value] = factors
        return value

    def constant(self, number: float) -> int:
        """The value of a positive constant."""
        value = self.constants.get(number)
        if value is None:
            value = self.constants[number] = self.new()
            self.others[value] = Instruction("const", (), number)
        return value

    def number(self, value: int) -> float | None:
        """The number that a value is, if it is a constant."""
        other = self.others.get(value)
        return other.value if other is not None and other.op == "const" else None

    def _flatten(self) -> None:
        code, uses = self.program.code, self.program.uses
        for i, instruction in enumerate(code):
            op, args, number = instruction
            if op == "mul":
                factors: list[int] = []
                for x in args:
                    factors += self.products.pop(x) if x in self.products and uses[x] == 1 else [x]
                self.products[i] = factors
            elif op in ("add", "sub"):
                terms: list[Term] = []
                for x, sign in zip(args, (1, -1 if op == "sub" else 1), strict=True):
                    if x in self.sums and uses[x] == 1:
                        terms += [(y, s * sign) for y, s in self.sums.pop(x)]
                    else:
                        terms.append((x, sign))
                self.sums[i] = terms
            else:
                self.others[i] = instruction
                if op == "const":
                    self.constants[number] = i

    def _count_uses(self) -> list[int]:
        uses = [0] * self.size
        for terms in self.sums.values():
            for x, _ in terms:
                uses[x] += 1
        for factors in self.products.values():
            for x in factors:
                uses[x] += 1
        for op, args, _ in self.others.values():
            if op not in LEAVES:
                for x in args:
                    uses[x] += 1
        for output in self.program.outputs:
            for entry in output.entries:
                if entry.index >= 0:
                    uses[entry.index] += 1
        return uses

    def arguments(self, value: int) -> Iterable[int]:
        """The values that this one is made of."""
        if value in self.sums:
            return [x for x, _ in self.sums[value]]
        if value in self.products:
            return self.products[value]
        other = self.others[value]
        return () if other.op in LEAVES else other.args

    def to_program(self) -> Program:
        """The program of this form: each sum and each product as a chain, in the order as it was.

        Products that are used once come last in a sum, so that each can be fused with the addition.
        """
        graph = Graph()
        values: dict[int, Scalar] = {}
        tables = (self.others, self.products, self.sums)
        for root in sorted(value for table in tables for value in table):
            stack = [root]
            while stack:
                value = stack[-1]
                if value in values:
                    stack.pop()
                    continue
                missing = [x for x in self.arguments(value) if x not in values]
                if missing:
                    stack += reversed(missing)
                    continue
                stack.pop()
                values[value] = self._scalar(graph, value, values)
        return self._collected(graph, values)

    def _collected(self, graph: Graph, values: dict[int, Scalar]) -> Program:
        """The program of the outputs; entries that are constants already are kept as they are."""
        given = self.program
        found = collect(graph, given.name, given.inputs, {
            output.name: object_array(computed, (len(computed),))
            for output, computed in (
                (output, [Picked(values[e.index] * e.sign, e.lane)
                           for e in output.entries if e.index >= 0])
                for output in given.outputs)
        })
        computed = [iter(output.entries) for output in found.outputs]
        return replace(found, outputs=tuple(
            Output(name, shape, tuple([next(new) if e.index >= 0 else e for e in entries]))
            for (name, shape, entries), new in zip(given.outputs, computed, strict=True)
        ))

    def _scalar(self, graph: Graph, value: int, values: dict[int, Scalar]) -> Scalar:
        if value in self.sums:
            return self._sum([(values[x], sign, self._fusible(x)) for x, sign in self.sums[value]])
        if value in self.products:
            scale, product = 1.0, None
            for x in self.products[value]:
                y = values[x]
                if isinstance(y, float):
                    scale *= y
                else:
                    product = y if product is None else product * y
            return scale if product is None else product * scale
        op, args, number = self.others[value]
        if op == "input":
            return graph.input(*args)
        if op == "const":
            return float(number)
        if op == "lanes":
            return Expr(graph, graph.node((op, number)), 1)
        if op in SHUFFLES:
            found = [values[x] for x in args]
            return _shuffled(graph, op, found[0], number) if len(args) == 1 else \
                _side_by_side(graph, found, self.program.widths[args[0]], number)
        made: Scalar = OPS[op].on(*[values[i] for i in args])
        return made

    @staticmethod
    def _sum(terms: list[tuple[Scalar, int, bool]]) -> Scalar:
        """Numbers together first, then values, then products that can be fused."""
        total: Scalar = sum((x * sign for x, sign, _ in terms if isinstance(x, float)), 0.0)
        for fusible in (False, True):
            for x, sign, last in terms:
                if last == fusible and not isinstance(x, float):
                    total = total + x if sign > 0 else total - x
        return total

    def _fusible(self, value: int) -> bool:
        return value in self.products and self.uses[value] == 1


def _shuffled(graph: Graph, op: str, x: Scalar, lanes: tuple[int, ...]) -> Scalar:
    """A spread or a gather, both linear, of a value or of a constant, which has equal lanes."""
    if isinstance(x, Expr):
        return Expr(graph, graph.node((op, x.node, lanes)), x.signum)
    if op == "gather":
        return x * (len(lanes) // (max(lanes) + 1))
    if NONE not in lanes:
        return x
    values = tuple([0.0 if k == NONE else abs(x) for k in lanes])
    return Expr(graph, graph.node(("lanes", values)), 1 if x > 0 else -1)


def _side_by_side(
    graph: Graph, xs: list[Scalar], first: int, lanes: tuple[int, ...],
) -> Scalar:
    """Lanes of two values, the first of which has so many; signs that differ are multiplied in."""
    x, y = xs
    if isinstance(x, Expr) and isinstance(y, Expr):
        made = Expr(graph, graph.node(("spread", x.node, y.node, lanes)), x.signum)
        if x.signum == y.signum:
            return made
        signs = tuple([1.0 if k < first else -1.0 for k in lanes])
        return made * Expr(graph, graph.node(("lanes", signs)), 1)
    parts = [tuple([k if k < first else NONE for k in lanes]),
             tuple([k - first if k >= first else NONE for k in lanes])]
    return _shuffled(graph, "spread", x, parts[0]) + _shuffled(graph, "spread", y, parts[1])
