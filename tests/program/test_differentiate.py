"""Derivatives of recorded functions are exact."""

import numpy as np
import pytest

from closedform.arrays import namespace
from closedform.errors import ArgumentError, UnknownName
from closedform.lowerings import reference
from closedform.program.check import check
from closedform.program.differentiate import (
    cotangent,
    gradient,
    hessian,
    hessian_of,
    jacobian,
    jacobian_of,
    tangent,
)
from closedform.program.ops import OPS
from closedform.program.record import record
from random_programs import random_inputs, random_program

Q = np.array([0.4, -1.3, 0.8])
EPS = np.finfo(float).eps


def energy(q):
    """A function that uses every operation."""
    xp = namespace(q)
    s, c = xp.sin(q), xp.cos(q)
    return (s[0] * c[1] - q[2] / (c[0] + 2.0)) * xp.sqrt(q[1] * q[1] + 1.0) + xp.sign(q[1]) * q[0]


def vector(q):
    xp = namespace(q)
    return xp.stack([energy(q), q[0] * q[1] - xp.sin(q[2]), -q[2], q[0] / q[1]])


def complex_step(f, x, h=1e-30):
    """∂f/∂x, exact to rounding."""
    return np.stack([np.imag(f(x + 1j * h * e)) / h for e in np.eye(len(x))], axis=-1)


def run(f, name="f"):
    return reference.run(check(record(f, {"q": (3,)}, name)), Q)[0]


def test_the_gradient_is_exact():
    result = run(lambda q: gradient(energy(q), q))
    np.testing.assert_allclose(result, complex_step(energy, Q), rtol=0, atol=50 * EPS)


def test_the_hessian_is_exact_and_symmetric():
    """Against complex step of the recorded gradient, run on complex numbers by NumPy."""
    program = record(hessian_of(energy), {"q": (3,)}, "H")
    (H,) = reference.run(program, Q)
    entries = program.outputs[0].entries
    assert all(entries[3 * i + j] == entries[3 * j + i] for i in range(3) for j in range(3))
    h = 1e-5
    central = [(complex_step(energy, Q + h * e) - complex_step(energy, Q - h * e)) / (2 * h)
               for e in np.eye(3)]
    np.testing.assert_allclose(H, central, atol=50 * h * h)
    np.testing.assert_allclose(H, run(jacobian_of(jacobian_of(energy))), rtol=0, atol=50 * EPS)


@pytest.mark.parametrize("count", [2, 4], ids=["by gradients", "by tangents"])
def test_the_jacobian_is_exact_by_rows_and_by_columns(count):
    f = lambda q: vector(q)[:count]
    result = run(jacobian_of(f))
    assert result.shape == (count, 3)
    np.testing.assert_allclose(result, complex_step(f, Q), rtol=0, atol=50 * EPS)


def test_the_new_index_comes_last():
    f = lambda q: np.outer(q, q)
    result = run(jacobian_of(f))
    assert result.shape == (3, 3, 3)
    np.testing.assert_array_equal(result[0, 1], [Q[1], Q[0], 0.0])


def test_derivatives_by_values_on_the_way_take_these_as_independent():
    def f(q):
        y = np.array([q[0] * q[1], -(q[2].sin())])
        return gradient(y[0] * y[1] * q[2], y)
    y = [Q[0] * Q[1], -np.sin(Q[2])]
    np.testing.assert_allclose(run(f), [y[1] * Q[2], y[0] * Q[2]], rtol=4 * EPS)


def test_derivatives_of_constants_are_structural_zeros():
    for f in (lambda q: gradient(3.0, q), lambda q: jacobian(np.array([1.0, 2, 3]), q),
              lambda q: hessian(q[0] + 2.0 * q[1], q), lambda q: gradient(q[0].sign(), q)):
        assert not record(f, {"q": (3,)}, "f").structure()["f"].any()


def test_the_tangent_of_a_program_is_its_derivative_along_the_tangents():
    program = record(lambda q, p: vector(q) * p, {"q": (3,), "p": ()}, "y")
    linear = check(tangent(program, ["q"]))
    assert [slot.name for slot in linear.inputs] == ["q", "p", "q_dot"]
    assert [output.name for output in linear.outputs] == ["y_dot"]
    dq = np.array([0.3, 0.5, -0.2])
    (dy,) = reference.run(linear, Q, 2.0, dq)
    np.testing.assert_allclose(dy, 2.0 * complex_step(vector, Q) @ dq, rtol=0, atol=50 * EPS)


def test_the_cotangent_of_a_program_is_the_transpose_of_its_tangent():
    program = record(lambda q, p: vector(q) * p, {"q": (3,), "p": ()}, "y")
    back = check(cotangent(program, ["q"]))
    assert [slot.name for slot in back.inputs] == ["q", "p", "y_bar"]
    weights = np.array([0.3, 0.5, -0.2, 1.1])
    (found,) = reference.run(back, Q, 2.0, weights)
    np.testing.assert_allclose(found, 2.0 * weights @ complex_step(vector, Q), rtol=0,
                               atol=50 * EPS)


@pytest.mark.parametrize("seed", range(20))
def test_tangents_and_cotangents_of_random_programs_meet(seed):
    """⟨ȳ, J ẋ⟩ = ⟨Jᵀ ȳ, ẋ⟩, and the same of the tangent of the cotangent: ⟨ȳ, ∂²y[ẋ, ż]⟩."""
    program = random_program(seed)
    wrt = ["x0", "x1"]
    x = random_inputs(program, seed)
    rng = np.random.default_rng(seed)
    dx, dz = ([rng.normal(size=x[k].shape) for k in range(2)] for _ in range(2))
    bars = [rng.normal(size=y.shape) for y in program.outputs]
    forward = check(tangent(program, wrt))
    back = check(cotangent(program, wrt))
    left = reference.run(forward, *x, *dx)
    right = reference.run(back, *x, *bars)
    scale = sum(np.abs(a * b).sum() for a, b in zip(bars, left, strict=True)) + 1e-3
    assert abs(inner(bars, left) - inner(right, dx)) < 1e-12 * scale
    second = check(tangent(back, wrt))
    one = inner(reference.run(second, *x, *bars, *dx), dz)
    other = inner(reference.run(second, *x, *bars, *dz), dx)
    assert abs(one - other) < 1e-10 * (1 + abs(one))


def inner(a, b):
    return sum(float(np.sum(x * y)) for x, y in zip(a, b, strict=True))


def test_the_transpose_of_a_linear_program_needs_nothing_that_it_is_linear_in():
    program = record(lambda q, p: vector(q) * p, {"q": (3,), "p": ()}, "y")
    linear = tangent(program, ["q"])
    back = check(cotangent(linear, ["q_dot"], linear=True))
    assert [slot.name for slot in back.inputs] == ["q", "p", "y_dot_bar"]
    weights = np.array([0.3, 0.5, -0.2, 1.1])
    np.testing.assert_allclose(
        reference.run(back, Q, 2.0, weights)[0],
        reference.run(cotangent(program, ["q"]), Q, 2.0, weights)[0], rtol=0, atol=50 * EPS)
    with pytest.raises(ArgumentError, match="not linear in q"):
        cotangent(program, ["q"], linear=True)


def test_a_gradient_costs_a_few_times_the_value():
    """However many inputs there are, [GriewankWalther2008]: at most four times here."""
    for seed in range(5):
        program = random_program(seed, operations=200)
        back = cotangent(program, ["x0", "x1", "x2"])
        assert back.operations.total <= 4 * program.operations.total


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_the_partials_of_every_operation_are_its_slopes(op):
    """Against a central difference with step h, whose error is of order h² = 1e-10 here."""
    x, h = np.array([0.7, 1.6])[:op.arity], 1e-5

    def partials(q):
        return np.array(op.partials(*q), dtype=object)
    (found,) = reference.run(record(partials, {"q": (op.arity,)}, "f"), x)
    slopes = [(op.value(*(x + h * e)) - op.value(*(x - h * e))) / (2 * h)
              for e in np.eye(op.arity)]
    np.testing.assert_allclose(found, slopes, atol=1e-9)


def test_derivatives_refuse_what_they_cannot_do():
    with pytest.raises(ArgumentError, match="one value"):
        record(hessian_of(vector), {"q": (3,)}, "f")
    with pytest.raises(ArgumentError, match="recorded scalars"):
        record(lambda q: gradient(q[0], np.ones(2)), {"q": (3,)}, "f")
    with pytest.raises(UnknownName, match="there are q"):
        tangent(record(energy, {"q": (3,)}, "f"), ["v"])
