"""Every rule lowers the count and keeps the value."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closedform.lowerings import reference
from closedform.program.check import check
from closedform.program.record import record
from closedform.program.rules.simplify import (
    ADD_ANGLES,
    CANCEL,
    FACTOR,
    REGROUP,
    RULES,
    SHARE_PRODUCTS,
    SHARE_SUMS,
    simplify,
)

HIGH = mpmath.mp.clone()
HIGH.prec = 300
MEANING = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y, "sin": HIGH.sin, "cos": HIGH.cos, "sqrt": HIGH.sqrt,
    "sign": HIGH.sign,
}


def precise(program, q):
    """The entries of all outputs, in arithmetic of 300 bits."""
    values = []
    for op, args, value in program.code:
        values.append(
            HIGH.mpf(q[args[1]]) if op == "input" else HIGH.mpf(value) if op == "const"
            else MEANING[op](*[values[i] for i in args])
        )
    return [e.sign * values[e.index] if e.index >= 0 else HIGH.mpf(e.constant)
            for output in program.outputs for e in output.entries]


def counted(f, n=6):
    return record(lambda q: np.array(f(*q), dtype=object), {"q": (n,)}, "f")


KINDS = ["add", "sub", "mul", "mul", "scale", "sin", "cos", "div", "sqrt"]
STEPS = st.tuples(st.sampled_from(KINDS), st.integers(0, 50), st.integers(0, 50))


@st.composite
def programs(draw):
    """Programs of low degree whose constants are small and dyadic, so that they fold exactly."""
    steps = draw(st.lists(STEPS, min_size=1, max_size=40))

    def f(*q):
        pool = [(x, 1) for x in q]
        for op, i, j in steps:
            (x, m), (y, n) = pool[i % len(pool)], pool[j % len(pool)]
            if op in ("add", "sub"):
                pool.append((x + y if op == "add" else x - y, max(m, n)))
            elif op == "mul" and m + n < 8:
                pool.append((x * y, m + n))
            elif op == "scale":
                pool.append((x * (0.5, -1.0, 2.0, 3.0)[j % 4], m))
            elif op == "div":
                pool.append((x / (q[0] * q[0] + 1.0), m))
            elif op == "sqrt":
                pool.append(((q[j % 3] * q[j % 3] + 2.0).sqrt(), 1))
            elif op in ("sin", "cos"):
                angle = q[i % 3] + q[j % 3] if i % 2 else q[i % 3]
                pool.append((getattr(angle, op)(), 1))
        return [x for x, _ in pool[-5:]]

    return counted(f)


@settings(max_examples=60, deadline=None)
@given(programs(), st.lists(st.floats(-2, 2), min_size=6, max_size=6), st.booleans())
def test_simplified_programs_have_the_same_value_and_are_no_dearer(program, q, one_by_one):
    """In 300-bit arithmetic, where only a wrong identity could make a difference of 1e-60."""
    before = precise(program, q)
    for rules in [[rule] for rule in RULES] if one_by_one else [RULES]:
        simple, saved = simplify(program, rules)
        check(simple)
        assert simple.operations.total <= program.operations.total
        assert sum(saved.values()) == program.operations.total - simple.operations.total
        for x, y in zip(before, precise(simple, q), strict=True):
            assert abs(x - y) <= 1e-60 * (1 + abs(x))


@pytest.mark.parametrize("rule, f, total", [
    (FACTOR, lambda a, b, c, d, e, g: [a * b + c - a * d], 3),
    (FACTOR, lambda a, b, c, d, e, g: [a * b + a * c + d * b + d * c], 3),
    (FACTOR, lambda a, b, c, d, e, g: [3.0 * a - b + 3.0 * c], 3),
    (FACTOR, lambda a, b, c, d, e, g: [a * b * c - a * b * d - a * e], 4),
    (SHARE_SUMS, lambda a, b, c, d, e, g: [(a - b) + c, (d - b) + a], 3),
    (SHARE_SUMS, lambda a, b, c, d, e, g: [a + b + c + d, a + c + e, g - a - c], 5),
    (SHARE_PRODUCTS, lambda a, b, c, d, e, g: [(a * b) * c, (a * d) * b], 3),
    (SHARE_PRODUCTS, lambda a, b, c, d, e, g: [a * a * b, a * c * a], 3),
    (REGROUP, lambda a, b, c, d, e, g: [(2.0 * a) * (3.0 * b)], 2),
    (REGROUP, lambda a, b, c, d, e, g: [(a + 0.5) - b + 2.0, (c - 0.5) + d + 0.5], 3),
    (CANCEL, lambda a, b, c, d, e, g: [a + b, c - (a + b) + a], 2),
    (CANCEL, lambda a, b, c, d, e, g: [a * b - c, d + (a * b - (a * b - c))], 3),
    (CANCEL, lambda a, b, c, d, e, g: [(a + b) + (c - a)], 1),
    (ADD_ANGLES, lambda a, b, c, d, e, g: [a.cos() * b.cos() - a.sin() * b.sin()], 1),
    (ADD_ANGLES, lambda a, b, c, d, e, g: [a.cos() * b.cos() + a.sin() * b.sin()], 1),
    (ADD_ANGLES, lambda a, b, c, d, e, g: [a.sin() * b.cos() + a.cos() * b.sin()], 1),
    (ADD_ANGLES, lambda a, b, c, d, e, g: [a.sin() * b.cos() - a.cos() * b.sin()], 1),
    (ADD_ANGLES, lambda a, b, c, d, e, g: [
        d * a.sin() * b.cos() * c + (d * c) * (b.sin() * a.cos()) + e], 4),
    (ADD_ANGLES, lambda a, b, c, d, e, g: [      # a term that stands twice is used up once
        (a.sin() * b.cos() + c) + (a.sin() * b.cos() + a.cos() * b.sin())], 4),
])
def test_each_rule_finds_its_pattern(rule, f, total):
    program = counted(f)
    simple, saved = simplify(program, [rule])
    assert simple.operations.total == total
    assert saved == {rule.name: program.operations.total - total} and saved[rule.name] > 0
    q = [0.3, -1.1, 0.7, 2.0, 1.3, 0.9]
    for x, y in zip(precise(program, q), precise(simple, q), strict=True):
        assert abs(x - y) < 1e-80


def test_sums_of_angles_are_left_alone_where_sines_have_a_price():
    program = counted(lambda a, b, *_: [a.cos() * b.cos() - a.sin() * b.sin(), a.sin(), b.sin()])
    assert simplify(program).program.operations.trig == 3
    assert simplify(program, trig_cost=12.0).program.operations.total == 1
    keeps = counted(lambda a, b, *_: [
        a.cos() * b.cos() - a.sin() * b.sin(), a.sin(), b.sin(), a.cos(), b.cos()])
    assert simplify(keeps, trig_cost=12.0).program.operations.total == 3


def test_regrouping_lets_every_product_be_fused():
    program = counted(lambda a, b, c, d, e, g: [(a * b + c * d) + e])
    assert program.operations.instructions == 3
    assert simplify(program, [REGROUP]).program.operations.instructions == 2


def cross(a, b):
    return np.array([a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))])


def inverse_dynamics(q, v, a):
    """Newton and Euler's recursion of four equal links; the last three axes are parallel."""
    turn = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    offset, lever = np.array([0.3, 0.0, 0.1]), np.array([0.2, 0.05, 0.0])
    inertia, mass, z = np.diag([0.1, 0.2, 0.3]), 2.0, np.array([0.0, 0, 1])
    w = dw = np.zeros(3)
    acceleration = np.array([0, 0, 9.81])
    frames, loads = [], []
    for k in range(len(q)):
        s, c = q[k].sin(), q[k].cos()
        R = (turn if k == 1 else np.eye(3)) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        acceleration = R.T @ (acceleration + cross(dw, offset) + cross(w, cross(w, offset)))
        w, dw = R.T @ w, R.T @ dw
        w, dw = w + z * v[k], dw + z * a[k] + cross(w, z * v[k])
        at_com = acceleration + cross(dw, lever) + cross(w, cross(w, lever))
        loads.append((mass * at_com, inertia @ dw + cross(w, inertia @ w)))
        frames.append(R)
    force = moment = np.zeros(3)
    torques = []
    for R, (f, n) in zip(reversed(frames), reversed(loads), strict=True):
        force, moment = f + force, n + cross(lever, f) + moment
        torques.insert(0, moment[2])
        force, moment = R @ force, R @ moment
        moment = moment + cross(offset, force)
    return np.array(torques)


def test_inverse_dynamics_gets_cheaper_by_several_percent_and_keeps_its_value():
    program = record(inverse_dynamics, {"q": (4,), "v": (4,), "a": (4,)}, "tau")
    simple = check(simplify(program).program)
    assert simple.operations.total < 0.97 * program.operations.total
    assert simple.operations.instructions < 0.9 * program.operations.instructions
    state = np.random.default_rng(3).normal(size=(3, 4))
    (before,), (after,) = reference.run(program, *state), reference.run(simple, *state)
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-12 * abs(before).max())


def test_simplification_is_deterministic():
    shapes = {"q": (4,), "v": (4,), "a": (4,)}
    first, second = (simplify(record(inverse_dynamics, shapes, "tau")).program for _ in range(2))
    assert first.digest == second.digest
