"""Seeded random computations with numbers of several lanes, and what each lane has to be."""

import numpy as np

from closedform.program.check import check
from closedform.program.expr import Expr, Graph
from closedform.program.lanes.limbs import TRUNK, lanes_of, outer, width
from closedform.program.lanes.numbers import (
    LaneConstant,
    LaneExpr,
    constant,
    entries,
    gathered,
    values_in,
)
from closedform.program.lanes.seams import joined, shared_out
from closedform.program.program import Slot
from closedform.program.record import Picked, collect, object_array

ARMS, FINGERS, LEGS, TOES = ((0, 2),), ((0, 2), (1, 4)), ((2, 2),), ((3, 4),)
LIMBS = ((), ARMS, FINGERS)


class Both:
    """A number with lanes beside the array of what its lanes have to be, in eight lanes."""

    def __init__(self, recorded, value, limb):
        self.recorded, self.value, self.limb = recorded, value, limb


def eight(values, limb):
    return np.array([values[k] for k in lanes_of(FINGERS, limb)])


def random_computation(seed, operations=80):
    """A program whose outputs are all lanes of some numbers, its inputs and expected outputs."""
    rng = np.random.default_rng(seed)
    graph, x = Graph(), rng.normal(size=24)
    known = []
    for limb in LIMBS:
        for _ in range(4):
            at = rng.integers(0, 24, size=width(limb))
            known.append(Both(entries(graph, 0, at.tolist(), limb), eight(x[at], limb), limb))
        for _ in range(3):
            c = rng.choice([-2.0, -1.0, 0.5, 1.0, 3.0]) * rng.choice([-1.0, 1.0], size=width(limb))
            known.append(Both(constant(c, limb), eight(c, limb), limb))
        c = rng.normal(size=width(limb))
        known.append(Both(constant(c, limb), eight(c, limb), limb))
    for _ in range(operations):
        known.append(random_step(rng, *rng.choice(known, size=2)))
    picked, expected = [], []
    for one in known:
        for lane in range(width(one.limb)):
            x_l = one.recorded
            if isinstance(x_l, LaneConstant):
                x_l = values_in(x_l, one.limb)[lane]
            if isinstance(x_l, LaneExpr):
                within = lanes_of(one.limb, x_l.limb)[lane]
                x_l = Picked(Expr(graph, x_l.node, x_l.signs[within]), within)
            picked.append(x_l)
            expected.append(one.value[lane * (8 // width(one.limb))])
    program = collect(graph, "random", (Slot("x", (24,)),),
                      {"y": object_array(picked, (len(picked),))})
    return check(program), x, np.array(expected)


def random_step(rng, a, b):
    limb = outer(a.limb, b.limb)
    kind = rng.choice(["add", "sub", "mul", "div", "sin", "cos", "sqrt", "gather"])
    if kind == "add":
        return Both(a.recorded + b.recorded, a.value + b.value, limb)
    if kind == "sub":
        return Both(a.recorded - b.recorded, a.value - b.value, limb)
    if kind == "mul":
        x, y = a.recorded * b.recorded, a.value * b.value
        return Both(x / 4, y / 4, limb)
    if kind == "div":
        return Both(a.recorded / (b.recorded * b.recorded + 1.0), a.value / (b.value**2 + 1), limb)
    if kind == "gather":
        near = LIMBS[rng.integers(0, LIMBS.index(a.limb) + 1)]
        blocks = a.value.reshape(width(a.limb), -1)[:, 0].reshape(width(near), -1)
        total = gathered(a.recorded, a.limb, near)
        return Both(total / 8, eight(blocks.sum(axis=1), near) / 8, near)
    if isinstance(a.recorded, Expr | LaneExpr):
        if kind == "sqrt":
            return Both((a.recorded * a.recorded + 1.0).sqrt(), np.sqrt(a.value**2 + 1), a.limb)
        return Both(getattr(a.recorded, kind)(), getattr(np, kind)(a.value), a.limb)
    return a


def random_number(rng, graph, x, limb):
    """A recorded number or a constant of a limb, with signs, and its lanes."""
    kind = rng.choice(["input", "constant", "number", "trunk"], p=[0.6, 0.15, 0.1, 0.15])
    if kind == "constant":
        values = rng.choice([-2.0, -1.0, 0.0, 1.0, 3.0], size=width(limb))
        return constant(values, limb), values
    if kind == "number":
        return 1.5, np.full(width(limb), 1.5)
    limb_x = limb if kind == "input" else TRUNK
    at = rng.integers(0, len(x), size=width(limb_x))
    number, values = entries(graph, 0, at.tolist(), limb_x), x[at]
    if limb_x != TRUNK:
        signs = rng.choice([-1.0, 1.0], size=width(limb_x))
        number, values = constant(signs, limb_x) * number, values * signs
    return number * -2.0, np.broadcast_to(values * -2.0, width(limb))


def lanes_of_number(number, limb):
    """Each lane of a number, as entries of an output."""
    if not isinstance(number, Expr | LaneExpr):
        return list(values_in(number, limb))
    signs = (number.signum,) * width(limb) if isinstance(number, Expr) else number.signs
    lanes = range(len(signs)) if isinstance(number, LaneExpr) else [0] * len(signs)
    return [Picked(Expr(number.graph, number.node, s), k)
            for k, s in zip(lanes, signs, strict=True)]


def random_seam(seed):
    """What is joined from two or three places and shared out again, and what it has to be."""
    rng = np.random.default_rng(seed)
    graph, x = Graph(), rng.normal(size=12)
    limbs = [[TRUNK, TRUNK], [TRUNK, ARMS], [ARMS, TOES], [TRUNK, ARMS, TOES], [TOES]][seed % 5]
    ways = [(i, k) for i, limb in enumerate(limbs) for k in range(width(limb))]
    copies = 0
    if seed % 2:                                     # lanes that are left over, or come twice
        ways = [ways[k] for k in sorted(rng.integers(0, len(ways), size=7))]
        copies = 1
    used = sorted({i for i, _ in ways})
    ways = tuple((used.index(i), k) for i, k in ways)
    limbs = [limbs[i] for i in used]
    wide = ((9, len(ways) + copies),)
    numbers = [random_number(rng, graph, x, limb) for limb in limbs]
    one = joined([number for number, _ in numbers], limbs, ways + ways[-1:] * copies, wide)
    expected = np.array([numbers[i][1][k] for i, k in ways + ways[-1:] * copies])
    factor = constant(rng.choice([-1.0, 1.0, 2.0], size=len(expected)), wide)
    other, of = random_number(rng, graph, x, wide)
    product = one * factor + other
    value = expected * values_in(factor, wide) + of
    back = shared_out(product, wide, ways, limbs)
    given = [np.zeros(width(limb)) for limb in limbs]
    for lane, (i, k) in enumerate(ways):
        given[i][k] += value[lane]
    picked = lanes_of_number(one, wide)
    for number, limb in zip(back, limbs, strict=True):
        picked += lanes_of_number(number, limb)
    program = collect(graph, "seam", (Slot("x", (12,)),),
                      {"y": object_array(picked, (len(picked),))})
    return check(program), x, np.concatenate([expected, *given])
