"""Terms that cancel: (a + b) − a = b, also where a + b is needed elsewhere."""

from __future__ import annotations

from closedform.program.rules.flat import Flat, Term


def cancel_terms(flat: Flat) -> bool:
    """Drop opposite terms, and write out a partial sum where fewer terms are left than before."""
    found = False
    for value, given in list(flat.sums.items()):
        terms = _without_opposites(given)
        while (fewer := _with_one_written_out(flat, terms)) is not None:
            terms = fewer
        if len(terms) < len(given):
            flat.sums[value], found = terms, True
    return found


def _with_one_written_out(flat: Flat, terms: list[Term]) -> list[Term] | None:
    """The terms with the first partial sum that gains by it written out; None if none does."""
    for k, (x, sign) in enumerate(terms):
        if x not in flat.sums:
            continue
        left, rest = terms[:k] + terms[k + 1:], []
        for y, other in flat.sums[x]:
            if (y, -sign * other) in left:
                left.remove((y, -sign * other))
            else:
                rest.append((y, sign * other))
        if len(left) + len(rest) < len(terms):
            return left + rest
    return None


def _without_opposites(terms: list[Term]) -> list[Term]:
    left: list[Term] = []
    for x, sign in terms:
        if (x, -sign) in left:
            left.remove((x, -sign))
        else:
            left.append((x, sign))
    return left
