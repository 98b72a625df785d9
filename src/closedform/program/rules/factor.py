"""Common factors of a sum: a·b + a·c = a·(b + c), which saves a multiplication."""

from __future__ import annotations

from closedform.program.rules.flat import Flat, Term


def factor_sums(flat: Flat) -> bool:
    """In every sum, take out the factor that most of its products share, again and again.

    Only products that nothing else uses are taken apart; constants are factors as others are.
    """
    pending, found = list(flat.sums), False
    while pending:
        value = pending.pop()
        while True:
            terms = flat.sums[value]
            shared = _most_shared_factor(flat, terms)
            if shared is None:
                break
            pending.append(_take_out(flat, value, shared))
            found = True
    return found


def _most_shared_factor(flat: Flat, terms: list[Term]) -> int | None:
    """The factor of at least two private products; of equals the one that comes first."""
    counts: dict[int, int] = {}
    for x, _ in terms:
        if flat.uses[x] == 1 and x in flat.products:
            for factor in set(flat.products[x]):
                counts[factor] = counts.get(factor, 0) + 1
    best = max(counts, key=lambda factor: (counts[factor], -factor), default=None)
    return best if best is not None and counts[best] > 1 else None


def _take_out(flat: Flat, value: int, factor: int) -> int:
    """Write the sum as rest + factor · inner; the value of the inner sum."""
    rest: list[Term] = []
    inner: list[Term] = []
    for x, sign in flat.sums[value]:
        factors = flat.products.get(x, [])
        if flat.uses[x] == 1 and factor in factors:
            cofactors = list(factors)
            cofactors.remove(factor)
            inner.append((flat.add_product(cofactors), sign))
        else:
            rest.append((x, sign))
    first = inner[0][1]
    sum_of_cofactors = flat.add_sum([(x, sign * first) for x, sign in inner])
    flat.sums[value] = [*rest, (flat.add_product([factor, sum_of_cofactors]), first)]
    return sum_of_cofactors
