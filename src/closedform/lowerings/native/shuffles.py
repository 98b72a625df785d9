"""Numbers moved between the lanes of registers, as IR: spread, gathered, packed side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from closedform.lowerings.native.ir import Emitter
from closedform.program.program import NONE


def of_width(e: Emitter, width: int) -> Emitter:
    """The same emitter for registers of another width."""
    return e if e.lanes.width == width else Emitter(e.function, replace(e.lanes, width=width))


def chosen(e: Emitter, x: str, lanes: Sequence[int]) -> str:
    """In lane l, lane lanes[l] of a register that e writes, or zero; of one lane, a number."""
    f, t = e.function, e.lanes.type
    if e.lanes.width == 1:
        t = of_width(e, len(lanes)).lanes.type
        x = f.let(f"insertelement {t} poison, {e.lanes.kind} {x}, i32 0")
        zero = len(lanes)
    elif len(lanes) == 1:
        return f.let(f"extractelement {t} {x}, i32 {lanes[0]}")
    else:
        zero = e.lanes.width
    other = "zeroinitializer" if NONE in lanes else "poison"
    mask = _mask([zero if k == NONE else k for k in lanes])
    return f.let(f"shufflevector {t} {x}, {t} {other}, {mask}")


def chosen_of_two(e: Emitter, x: str, other: Emitter, y: str, lanes: Sequence[int]) -> str:
    """In lane l, lane lanes[l] of a register that e writes and, behind it, one of the other."""
    count = e.lanes.width
    wide = of_width(e, max(count, other.lanes.width))
    x, y = (z if a.lanes.width == wide.lanes.width else
            chosen(a, z, [*range(a.lanes.width), *[0] * (wide.lanes.width - a.lanes.width)])
            for a, z in ((e, x), (other, y)))
    if wide.lanes.width == 1:
        pair = of_width(e, 2)
        t, first = pair.lanes.type, pair.function.let(
            f"insertelement {pair.lanes.type} poison, {e.lanes.kind} {x}, i32 0")
        both = pair.function.let(f"insertelement {t} {first}, {e.lanes.kind} {y}, i32 1")
        return chosen(pair, both, lanes)
    t = wide.lanes.type
    mask = _mask([k if k < count else wide.lanes.width + k - count for k in lanes])
    return e.function.let(f"shufflevector {t} {x}, {t} {y}, {mask}")


def side_by_side(e: Emitter, x: str, y: str) -> str:
    """Two registers as one of twice the width."""
    t = e.lanes.type
    return e.function.let(f"shufflevector {t} {x}, {t} {y}, {_mask(range(2 * e.lanes.width))}")


def added_up(e: Emitter, x: str, lanes: Sequence[int]) -> str:
    """In lane l, the sum of the lanes k with lanes[k] = l; all sums are of equally many."""
    width = max(lanes) + 1
    members = [[k for k, lane in enumerate(lanes) if lane == at] for at in range(width)]
    while len(members[0]) > 1:
        half = (len(members[0]) + 1) // 2
        first = [k for row in members for k in row[:half]]
        last = [k for row in members for k in row[half:]]
        if len(first) != len(last):
            return _chain(e, x, members)
        narrow = of_width(e, len(first))
        x = narrow.binary("fadd", chosen(e, x, first), chosen(e, x, last))
        e, members = narrow, [list(range(at * half, (at + 1) * half)) for at in range(width)]
    return x


def in_rows(e: Emitter, columns: Sequence[str]) -> dict[int, str]:
    """For each lane the numbers that two or four registers have there, side by side.

    In every round registers of two neighbouring columns become two, of the even lanes and of the
    odd ones, or one of twice the width where each has but one lane.
    """
    made = [[(range(e.lanes.width), x)] for x in columns]
    size = 1
    while len(made) > 1:
        made = [[row for (lanes, x), (_, y) in zip(*made[k:k + 2], strict=True)
                 for row in _zipped(e, size, lanes, x, y)] for k in range(0, len(made), 2)]
        size *= 2
    whole = of_width(e, max(size, e.lanes.width))
    return {lane: x if len(lanes) == 1 else chosen(whole, x, range(k * size, (k + 1) * size))
            for lanes, x in made[0] for k, lane in enumerate(lanes)}


def _zipped(e: Emitter, size: int, lanes: range, x: str, y: str) -> Iterator[tuple[range, str]]:
    """Pieces of `size` numbers, one for each lane, of two registers in turn: even lanes, odd."""
    wide = of_width(e, size * len(lanes))
    if len(lanes) == 1:
        yield lanes, side_by_side(wide, x, y)
        return
    t, half = wide.lanes.type, wide.lanes.width
    for first in (0, 1):
        mask = [at + piece * size + k for piece in range(first, len(lanes), 2)
                for at in (0, half) for k in range(size)]
        yield lanes[first::2], e.function.let(f"shufflevector {t} {x}, {t} {y}, {_mask(mask)}")


def _chain(e: Emitter, x: str, members: list[list[int]]) -> str:
    narrow = of_width(e, len(members))
    total = chosen(e, x, [row[0] for row in members])
    for k in range(1, len(members[0])):
        total = narrow.binary("fadd", total, chosen(e, x, [row[k] for row in members]))
    return total


def _mask(lanes: Sequence[int]) -> str:
    return f"<{len(lanes)} x i32> <{', '.join(f'i32 {k}' for k in lanes)}>"
