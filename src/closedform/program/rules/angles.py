"""Sums of angles: cos x cos y − sin x sin y = cos(x + y), and its three relatives.

They trade multiplications for a sine or cosine; joints with parallel axes bring them about.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from closedform.program.program import Instruction
from closedform.program.rules.flat import Flat, Term

Angles = tuple[int, int]
"""The arguments x < y of the sines and cosines."""


class _Part(NamedTuple):
    """A term r · f(x) · g(y) of a sum, with f and g sine or cosine."""

    term: Term
    functions: str               # "cc", "ss", "sc" or "cs", for x and y
    angles: Angles
    rest: tuple[int, ...]        # r, the other factors, sorted


def angle_pairs(flat: Flat) -> list[Angles]:
    """The pairs of angles whose sum or difference some sum of the program can use."""
    return list(dict.fromkeys(
        first.angles for terms in flat.sums.values() for first, _ in _matches(flat, terms)
    ))


def add_angles(flat: Flat, angles: Angles) -> None:
    """Use the sum and the difference of these two angles wherever they fit."""
    for value in list(flat.sums):
        while True:
            terms = flat.sums[value]
            match = next((m for m in _matches(flat, terms) if m[0].angles == angles), None)
            if match is None:
                break
            first, second = match
            rest = list(terms)                 # a term may stand twice: one of it is used up
            rest.remove(first.term)
            rest.remove(second.term)
            flat.sums[value] = [*rest, _combined(flat, first, second)]


def _combined(flat: Flat, first: _Part, second: _Part) -> Term:
    """The one term that two terms make; the first is cos·cos or sin·cos.

        cc ∓ ss = cos(x ± y),  sc ± cs = sin(x ± y)
    """
    same = first.term[1] == second.term[1]
    name = "cos" if first.functions == "cc" else "sin"
    relative = 1 if same == (name == "sin") else -1
    x, y = first.angles
    angle = flat.add_sum([(x, 1), (y, relative)])
    turned = flat.new()
    flat.others[turned] = Instruction(name, (angle,))
    return flat.add_product([*first.rest, turned]), first.term[1]


def _matches(flat: Flat, terms: list[Term]) -> Iterator[tuple[_Part, _Part]]:
    partners = {"ss": "cc", "cs": "sc"}
    found: dict[tuple[str, Angles, tuple[int, ...]], _Part] = {}
    for term in terms:
        for part in _parts(flat, term):
            found.setdefault((part.functions, part.angles, part.rest), part)
    for (functions, angles, rest), part in found.items():
        first = found.get((partners.get(functions, ""), angles, rest))
        if first is not None and first.term != part.term:
            yield first, part


def _parts(flat: Flat, term: Term) -> Iterator[_Part]:
    factors = _all_factors(flat, term[0])
    turning = [(flat.others[x].args[0], flat.others[x].op[0], x) for x in factors
               if x in flat.others and flat.others[x].op in ("sin", "cos")]
    for (x, f, a), (y, g, b) in combinations(sorted(set(turning)), 2):
        if x != y:
            rest = list(factors)
            rest.remove(a)
            rest.remove(b)
            yield _Part(term, f + g, (x, y), tuple(sorted(rest)))


def _all_factors(flat: Flat, value: int) -> list[int]:
    """The factors of a value, looking into products that are shared too."""
    factors, pending = [], [value]
    while pending:
        x = pending.pop()
        if x in flat.products:
            pending += flat.products[x]
        else:
            factors.append(x)
    return factors
