"""Numbers whose lanes come of several places, and go back to them: limbs that hang on others apart.

    joined       in lane l, what the i-th number has in lane k, with ways[l] = (i, k)
    shared_out   the other way round: for each place what the lanes that hang on it give, added up

Both are linear, and signs of lanes stay what they are: those of what is joined are put together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from closedform.program.expr import Expr, Graph
from closedform.program.lanes.limbs import Limb, width
from closedform.program.lanes.numbers import (
    REAL,
    LaneConstant,
    LaneExpr,
    Signs,
    constant,
    lifted,
    signed,
    values_in,
)
from closedform.program.program import NONE

Ways = tuple[tuple[int, int], ...]
"""For every lane, the number of a place and the lane there."""


def joined(numbers: Sequence[Any], limbs: Sequence[Limb], ways: Ways, limb: Limb) -> Any:
    """A number of a limb from those of several places, which belong to these limbs."""
    if all(isinstance(x, (LaneConstant, *REAL)) for x in numbers):
        values = [values_in(x, near) for x, near in zip(numbers, limbs, strict=True)]
        return constant([values[i][k] for i, k in ways], limb)
    graph = next(x.graph for x in numbers if isinstance(x, Expr | LaneExpr))
    signs, sizes = [1] * len(ways), [0.0] * len(ways)
    lanes: dict[tuple[int, int], list[int]] = {}       # of the nodes, and how wide they are
    for i, (x, near) in enumerate(zip(numbers, limbs, strict=True)):
        mine = [(lane, k) for lane, (j, k) in enumerate(ways) if j == i]
        if isinstance(x, (LaneConstant, *REAL)):
            own_values = values_in(x, near)
            for lane, k in mine:
                signs[lane] = -1 if own_values[k] < 0 else 1
                sizes[lane] = abs(own_values[k])
            continue
        node, own = _in_lanes(x, near)
        for lane, k in mine:
            signs[lane] = own[k]
            lanes.setdefault((node, len(own)), [NONE] * len(ways))[lane] = k
    total: Any = _side_by_side(graph, lanes) if len(lanes) > 1 and not any(sizes) else sum(
        (_spread(graph, node, count, row) for (node, count), row in lanes.items()), 0.0)
    if any(sizes):
        total = total + Expr(graph, graph.node(("lanes", tuple(sizes))), 1)
    return signed(total, tuple(signs), limb)


def shared_out(x: Any, limb: Limb, ways: Ways, limbs: Sequence[Limb]) -> list[Any]:
    """What each of several limbs gets of a number: the sum of the lanes that hang on its lanes.

    Lanes beyond the ways are copies, which give nothing.
    """
    members = [[[lane for lane, way in enumerate(ways) if way == (i, k)]
                for k in range(width(near))] for i, near in enumerate(limbs)]
    if isinstance(x, (LaneConstant, *REAL)):
        values = values_in(x, limb)
        return [constant([sum([values[lane] for lane in row]) for row in rows], near)
                for rows, near in zip(members, limbs, strict=True)]
    node, signs = _in_lanes(x, limb)
    first = tuple([signs[ways.index(way)] for way in ways])
    first += signs[len(ways):]
    if first != signs:
        turned = LaneExpr(x.graph, node, signs, limb).with_signs(first)
        node, signs = turned.node, turned.signs
    return [_added_up(x.graph, node, signs, rows, near)
            for rows, near in zip(members, limbs, strict=True)]


def _added_up(graph: Graph, node: int, signs: Signs, rows: list[list[int]], near: Limb) -> Any:
    """In lane k of a limb the sum of the lanes rows[k], whose signs are equal."""
    count, most = len(signs), max(map(len, rows))
    own = tuple([signs[row[0]] if row else 1 for row in rows])
    if most > 1 and min(map(len, rows)) == most:
        picked = _spread(graph, node, count, [lane for row in rows for lane in row])
        lanes = tuple([k for k, row in enumerate(rows) for _ in row])
        return signed(Expr(graph, graph.node(("gather", picked.node, lanes)), 1), own, near)
    total: Any = 0.0
    for r in range(most):
        row_r = [row[r] if r < len(row) else NONE for row in rows]
        total = total + _spread(graph, node, count, row_r)
    return signed(total, own, near)


def _in_lanes(x: Any, limb: Limb) -> tuple[int, Signs]:
    """The node of a recorded number in the lanes of a limb, and its signs."""
    lane = lifted(x, limb)
    return lane.node, (lane.signum,) if isinstance(lane, Expr) else lane.signs


def _spread(graph: Graph, node: int, count: int, lanes: list[int]) -> Expr:
    """A node of so many lanes in others."""
    if lanes != list(range(count)):
        node = graph.node(("spread", node, tuple(lanes)))
    return Expr(graph, node, 1)


def _side_by_side(graph: Graph, lanes: dict[tuple[int, int], list[int]]) -> Expr:
    """Lanes of two nodes and more in one register; `lanes` has which of them are where."""
    ((node, count), row), *others = lanes.items()
    for (other, _), more in others:
        row = [k if k != NONE or m == NONE else count + m for k, m in zip(row, more, strict=True)]
        node = graph.node(("spread", node, other, tuple([max(k, 0) for k in row])))
        row = [lane if k != NONE else NONE for lane, k in enumerate(row)]
        count = len(row)
    return Expr(graph, node, 1)
