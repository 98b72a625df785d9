"""Common pairs: x ± y in several sums, x·y in several products, computed once."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping

from closedform.program.rules.flat import Flat, Term

Pair = tuple[int, int, int]
"""(x, y, sign): x + sign·y, or x·y with sign 1; x ≤ y."""


def share_sums(flat: Flat) -> bool:
    """Give the pair of terms that most sums contain a value of its own, again and again."""
    lists, found = _share(flat, flat.sums)
    for value, terms in lists.items():
        flat.sums[value] = terms
    return found


def share_products(flat: Flat) -> bool:
    """The same for pairs of factors."""
    signed = {value: [(x, 1) for x in factors] for value, factors in flat.products.items()}
    lists, found = _share(flat, signed)
    for value, terms in lists.items():
        flat.products[value] = [x for x, _ in terms]
    return found


def _share(flat: Flat, lists: Mapping[int, list[Term]]) -> tuple[dict[int, list[Term]], bool]:
    """The lists with common pairs replaced, and those of the pairs; whether there were any."""
    lists = {value: sorted(terms) for value, terms in lists.items()}
    uses = Counter([x for terms in lists.values() for x, _ in terms])
    where: dict[Pair, dict[int, None]] = {}
    for value, terms in lists.items():
        for pair in _pairs([term for term in terms if uses[term[0]] > 1]):
            where.setdefault(pair, {})[value] = None
    heap = [(-len(users), pair) for pair, users in where.items() if len(users) > 1]
    heapq.heapify(heap)
    found = bool(heap)
    while heap:
        count, pair = heapq.heappop(heap)
        users = list(where[pair])
        if len(users) < 2:
            continue
        if len(users) != -count:
            heapq.heappush(heap, (-len(users), pair))
            continue
        for changed in _extract(flat, lists, where, pair, users):
            heapq.heappush(heap, (-len(where[changed]), changed))
    return lists, found


def _extract(
    flat: Flat, lists: dict[int, list[Term]], where: dict[Pair, dict[int, None]],
    pair: Pair, users: list[int],
) -> Iterable[Pair]:
    """Replace a pair in all its users; the pairs that became more frequent."""
    x, y, relative = pair
    whole = next((value for value in users if len(lists[value]) == 2), None)
    if whole is None:
        whole = flat.new()
        lists[whole] = [(x, 1), (y, relative)]
        where[pair][whole] = None
    orientation = _sign_of(pair, lists[whole])
    changed: dict[Pair, None] = {}
    for value in users:
        if value == whole:
            continue
        before = _pairs(lists[value])
        sign = _sign_of(pair, lists[value])
        terms = list(lists[value])
        terms.remove((x, sign))
        terms.remove((y, sign * relative))
        lists[value] = sorted([*terms, (whole, sign * orientation)])
        after = _pairs(lists[value])
        for old in before.keys() - after.keys():
            where.get(old, {}).pop(value, None)
        for new in after.keys() - before.keys():
            where.setdefault(new, {})[value] = None
            changed[new] = None
    return [new for new in changed if len(where[new]) > 1]


def _sign_of(pair: Pair, terms: list[Term]) -> int:
    """The sign with which a pair that is in a list stands there."""
    x, y, relative = pair
    return 1 if (x, 1) in terms and (y, relative) in terms else -1


def _pairs(terms: list[Term]) -> dict[Pair, None]:
    """The pairs of a sorted list, in a fixed order."""
    return {
        (x, y, sign * other): None
        for k, (x, sign) in enumerate(terms) for y, other in terms[k + 1:]
    }
