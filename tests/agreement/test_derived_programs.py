"""Derivatives of programs up to the third order: as recorded, through the pipeline, compiled.

A derivative of any order is checked as the first derivative of the one before it: its tangent by
complex step, its cotangent as the transpose of that.
"""

import warnings
from itertools import product

import numpy as np
import pytest

from closedform.lowerings import lanes, reference
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.store.cache import Cache
from closedform.program.check import check
from closedform.program.derivatives import cotangent, tangent
from closedform.program.ops import OPS
from closedform.program.pipeline import optimised
from closedform.program.record import record, replay
from random_programs import random_program

STEP = 1e-30
BEFORE = [how for n in range(3) for how in product((tangent, cotangent), repeat=n)]
"""What was done to a program before it is differentiated once more."""


def words(how):
    return " of ".join(x.__name__ for x in reversed(how)) or "program"


def every_operation():
    """x ∘ y of each operator, and each function at x and y: all where they are smooth."""
    def all_of_them(x, y):
        found = {op.name: op.on(x[0], y[0]) * (x[1] + y[1])
                 for op in OPS.values() if op.arity == 2}
        return found | {op.name: op.on(x[1]) * op.on(y[0])
                        for op in OPS.values() if op.arity == 1}
    return record(all_of_them, {"x": (2,), "y": (2,)}, "every_operation")


PROGRAMS = {"every operation": every_operation(),
            **{f"random {seed}": random_program(seed, 15, ((3,), (2,)), ((3,), ()))
               for seed in (1, 2)}}


def inputs_of(program, seed):
    """Positive numbers, so that roots and quotients have derivatives."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(0.4, 1.6, size=slot.shape) for slot in program.inputs]


def ways(program):
    """Functions that run a program: the reference, NumPy after the pipeline, machine code."""
    ready, single = check(optimised(program)), len(program.outputs) == 1
    kernel = compile_program(ready, Cache(None))
    def compiled(*x):
        found = kernel(*x)
        return [found] if single else found
    return [lambda *x: reference.run(program, *x), lambda *x: lanes.run(ready, *x), compiled]


def assert_close(found, expected):
    for x, y in zip(found, expected, strict=True):
        size = max(1.0, np.abs(y).max(initial=0))
        np.testing.assert_allclose(x, y, rtol=0, atol=2e-12 * size)


@pytest.mark.parametrize("how", BEFORE, ids=words)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_next_derivative_is_right_in_every_way_of_running_it(name, how):
    """J ẋ by complex step, and ⟨ȳ, J ẋ⟩ = ⟨Jᵀ ȳ, ẋ⟩."""
    program = PROGRAMS[name]
    for derive in how:
        program = derive(program, [slot.name for slot in program.inputs])
    every = [slot.name for slot in program.inputs]
    x, dx = inputs_of(program, 1), inputs_of(program, 2)
    bars = [np.random.default_rng(3).normal(size=y.shape) for y in program.outputs]
    moved = replay(program, [np.array(a + 1j * STEP * b, dtype=object)
                             for a, b in zip(x, dx, strict=True)])
    expected = [np.imag(np.array(y, dtype=complex)) / STEP for y in moved.values()]
    given = sum(np.sum(a * b) for a, b in zip(bars, expected, strict=True))
    terms = sum(np.abs(a * b).sum() for a, b in zip(bars, expected, strict=True))
    for run in ways(check(tangent(program, every))):
        assert_close(run(*x, *dx), expected)
    for run in ways(check(cotangent(program, every))):
        found = run(*x, *bars)
        assert abs(sum(np.sum(a * b) for a, b in zip(found, dx, strict=True)) - given) < (
            1e-12 * (1 + terms) * len(program.code))


# ---------------------------------------------------------------------- odd points
ODD = {
    "sqrt": (lambda x: x.sqrt(), [0.0], {0.0: np.nan, 1.0: np.inf}),
    "a quotient": (lambda x: 1.0 / x, [0.0], {0.0: np.nan, 1.0: -np.inf}),
    "sign": (lambda x: x.sign() * 3.0, [0.0, -0.0, 2.0, -2.0], {0.0: 0.0, 1.0: 0.0}),
    "a folded zero": (lambda x: x.sqrt() * 0.0, [0.0], {0.0: 0.0, 1.0: 0.0}),
    "a root of a square": (lambda x: (x * x).sqrt(), [0.0], {0.0: np.nan, 1.0: np.nan}),
}
"""A function, points, and what its tangent there is along 0 and along 1.

Infinity is the slope of √x and of 1/x at 0; along 0, and where an inner derivative is 0, the chain
rule has 0 · ∞, which is NaN in IEEE's arithmetic. What is zero whatever x stays zero.
"""


@pytest.mark.parametrize("name", ODD)
def test_where_a_function_has_no_derivative_programs_say_so_alike(name):
    function, points, expected = ODD[name]
    program = record(lambda x: function(x), {"x": ()}, "odd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for run in (*ways(tangent(program, ["x"])), *ways(cotangent(program, ["x"]))):
            for x, (dx, dy) in product(points, expected.items()):
                np.testing.assert_array_equal(np.ravel(run(np.array(x), np.array(dx))[0]), [dy])
