"""Where values wait between the pieces of a program that is cut: numbered slots, used again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Uses = tuple[Iterable[int], Iterable[int]]
"""What a part of a piece computes, and what it reads: places of values."""


def waiting_slots(pieces: Sequence[Sequence[Uses]]) -> tuple[dict[int, int], int]:
    """A numbered slot for every value that a later piece uses, and how many slots there are.

    A slot is used again when the last piece that needs its value is over.
    """
    born: dict[int, int] = {}
    last: dict[int, int] = {}
    for k, piece in enumerate(pieces):
        for results, args in piece:
            last.update((i, k) for i in args if born.get(i, k) < k)
            born.update((i, k) for i in results if i >= 0)
    slots: dict[int, int] = {}
    free: list[int] = []
    ending: list[list[int]] = [[] for _ in pieces]
    count = 0
    for k, piece in enumerate(pieces):
        for i in (i for results, _ in piece for i in results if i in last):
            slots[i] = free.pop() if free else count
            count = max(count, slots[i] + 1)
            ending[last[i]].append(slots[i])
        free.extend(ending[k])
    return slots, count
