"""The terms of sums and the factors of products in the order in which they are known.

A chain a + b + c takes as long as its last term needs if that one comes last. The count of
operations stays; where a value that arrives late follows products that could have been fused with
it, an instruction more is paid, and only if the sum is then known `WORTH` cycles earlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from closedform.program.expr import Graph, Scalar
from closedform.program.ordering.machine import CORE
from closedform.program.program import Program
from closedform.program.rules.flat import Flat

PRODUCT, SUM, FUSED = CORE.latency("mul"), CORE.latency("add"), CORE.latency("fma")
WORTH = 2 * SUM
"""Cycles that an instruction more has to save."""

LATE = 10**6
"""Cycles after which nothing else is known."""

HALVED = 4
"""Terms from which on a sum is computed in two halves, where that is asked for."""


def by_critical_path(program: Program, halves: bool = False,
                     last: frozenset[int] = frozenset()) -> Program:
    """The same sums and products with what is known last at the end of each.

    With `halves` long sums are computed in two halves: an operation more and half the time, for
    steps that wait for each other. Inputs of these numbers come `last` in sums: they lie in memory,
    and while nothing is added to them no register is needed.
    """
    return _Timed(program, halves, last).to_program()


class _Term(NamedTuple):
    """A term of a sum: when its value, or both factors of a product to be fused, are known."""

    time: int
    fused: bool
    value: Scalar
    sign: int


class _Timed(Flat):
    """A flattened program that knows when its values are known."""

    def __init__(self, program: Program, halves: bool, last: frozenset[int]) -> None:
        super().__init__(program)
        self.halves, self.last = halves, last
        self.time: dict[int, int] = {}      # of a value
        self.factors: dict[int, int] = {}   # of the two last factors of a product

    def _scalar(self, graph: Graph, value: int, values: dict[int, Scalar]) -> Scalar:
        if value in self.sums:
            return self._timed_sum(value, values)
        if value in self.products:
            return self._timed_product(value, values)
        known = max((self.time[x] for x in self.arguments(value)), default=0)
        op, args, _ = self.others[value]
        late = op == "input" and args[0] in self.last
        self.time[value] = LATE if late else known + CORE.latency(op)
        return super()._scalar(graph, value, values)

    def _timed_product(self, value: int, values: dict[int, Scalar]) -> Scalar:
        """A constant goes with the factor that is known first, or at the end if none is."""
        scale = 1.0
        known: list[tuple[int, Scalar]] = []
        for x in self.products[value]:
            y = values[x]
            if isinstance(y, float):
                scale *= y
            else:
                known.append((self.time[x], y))
        known.sort(key=lambda item: item[0])
        if scale != 1.0:
            waiting = len(known) > 1 and known[0][0] < known[-1][0]
            known.insert(1 if waiting else len(known), (0, scale))
        time, product = known[0] if known else (0, 1.0)
        before = time
        for other, y in known[1:]:
            before = max(time, other)
            time, product = before + PRODUCT, product * y
        self.time[value], self.factors[value] = time, before
        return product

    def _timed_sum(self, value: int, values: dict[int, Scalar]) -> Scalar:
        total, terms = 0.0, []
        for x, sign in self.sums[value]:
            y = values[x]
            if isinstance(y, float):
                total += y * sign
            else:
                fused = self._fusible(x)
                terms.append(_Term(self.factors[x] if fused else self.time[x], fused, y, sign))
        terms = _ordered(terms, total)
        parts = [terms[0::2], terms[1::2]] if self.halves and len(terms) >= HALVED else [terms]
        times = [_known_at(part, total if k == 0 else 0.0) for k, part in enumerate(parts)]
        self.time[value] = max(times) + SUM * (len(parts) - 1)
        result, *others = (_chained(part, total if k == 0 else 0.0) for k, part in enumerate(parts))
        for other in others:
            result = result + other
        return result


def _chained(terms: Sequence[_Term], start: float) -> Scalar:
    result: Scalar = start
    for term in terms:
        result = result + term.value if term.sign > 0 else result - term.value
    return result


def _known_at(terms: Sequence[_Term], start: float) -> int:
    """When the chain of these terms, after a constant, is known."""
    time, first = 0, start == 0.0
    for term in terms:
        if first:
            time, first = term.time + PRODUCT * term.fused, False
        else:
            time = max(time, term.time) + (FUSED if term.fused else SUM)
    return time


def _ordered(terms: list[_Term], start: float) -> list[_Term]:
    """The quickest of a few orders: products last, all but one value among them, all mixed."""
    plain = sorted((t for t in terms if not t.fused), key=lambda t: t.time)
    products = sorted((t for t in terms if t.fused), key=lambda t: t.time)
    if not plain or not products:
        return plain + products
    mixed = plain[:1] + sorted(plain[1:] + products, key=lambda t: t.time)
    free = sorted(plain + products, key=lambda t: t.time)
    return min(((plain + products, 0), (mixed, 1), (free, WORTH)),
               key=lambda order: _known_at(order[0], start) + order[1])[0]


def with_signs_turned(program: Program) -> Program:
    """The same program with b − a in place of −(a − b) where only an output has that."""
    code, uses, outputs = list(program.code), program.uses, []
    for output in program.outputs:
        entries = []
        for e in output.entries:
            if e.index >= 0 and e.sign < 0 and uses[e.index] == 1 and code[e.index].op == "sub":
                code[e.index] = code[e.index]._replace(args=code[e.index].args[::-1])
                e = replace(e, sign=-e.sign)
            entries.append(e)
        outputs.append(output._replace(entries=tuple(entries)))
    return replace(program, code=tuple(code), outputs=tuple(outputs))
