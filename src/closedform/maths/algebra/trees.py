"""Sums over subtrees and ways to the root, for trees numbered from the root: parent[k] < k.

Number 0 is the world; lists have an entry for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import add
from types import MappingProxyType
from typing import Any, TypeVar

Part = TypeVar("Part")
Shares = list[tuple[int, Part]]


class Parents(list[int]):
    """Parents by number; `summed` adds up what several bodies in one place give to their parent.

    `shared` gives it to several, where lanes of one place hang on them: numbers and parts.
    """

    def __init__(self, numbers: Iterable[int],
                 summed: Mapping[int, Callable[[Any], Any]] = MappingProxyType({}),
                 shared: Mapping[int, Callable[[Any], Shares[Any]]] = MappingProxyType({})) -> None:
        super().__init__(numbers)
        self.summed, self.shared = summed, shared

    def together(self, k: int, part: Part) -> Part:
        """What the parent of k gets of a part: the sum over the bodies that share the place."""
        found: Part = self.summed[k](part) if k in self.summed else part
        return found

    def shares(self, k: int, part: Part) -> Shares[Part]:
        """The parents of k, mostly one, and what each gets of a part."""
        if k in self.shared:
            return self.shared[k](part)
        return [(self[k], self.together(k, part))]


def subtree_sums(
    parts: list[Part], parent: Parents, plus: Callable[[Part, Part], Part],
    in_parent: Callable[[int, Part], Part] | None = None,
) -> list[Part]:
    """For every k the sum of the parts in its subtree; the world's stays as it is.

    `in_parent(k, part)` is a part of k as its parent sees it, where that is another thing.
    """
    found = list(parts)
    for k in range(len(found) - 1, 0, -1):
        if parent[k]:
            part = found[k] if in_parent is None else in_parent(k, found[k])
            for p, share in parent.shares(k, part):
                if p:
                    found[p] = plus(found[p], share)
    return found


def total(parts: list[Any], parent: Parents) -> Any:
    """Σ of the parts of all k, the world's left out."""
    sums = subtree_sums(parts, parent, add)
    return reduce(add, [parent.together(k, sums[k]) for k in range(1, len(sums)) if not parent[k]],
                  0.0)


def way_up(parent: list[int], k: int) -> list[int]:
    """The numbers between k and the world, both left out, nearest first."""
    found = []
    while parent[k]:
        k = parent[k]
        found.append(k)
    return found
