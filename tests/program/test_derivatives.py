"""Derivatives of programs are programs: tangents, their transposes, whole Jacobians."""

import numpy as np
import pytest

from closedform.arrays import namespace
from closedform.errors import ArgumentError, UnknownName
from closedform.lowerings import reference
from closedform.program.check import check
from closedform.program.derivatives import arranged, cotangent, tangent, whole_jacobian
from closedform.program.record import record
from random_programs import random_inputs, random_program

Q = np.array([0.4, -1.3, 0.8])
EPS = np.finfo(float).eps


def vector(q):
    """A function that uses every operation."""
    xp = namespace(q)
    s, c = xp.sin(q), xp.cos(q)
    e = (s[0] * c[1] - q[2] / (c[0] + 2.0)) * xp.sqrt(q[1] * q[1] + 1.0) + xp.sign(q[1]) * q[0]
    return xp.stack([e, q[0] * q[1] - xp.sin(q[2]), -q[2], q[0] / q[1]])


def complex_step(f, x, h=1e-30):
    """∂f/∂x, exact to rounding."""
    return np.stack([np.imag(f(x + 1j * h * e)) / h for e in np.eye(len(x))], axis=-1)


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


def test_the_whole_jacobian_has_the_tangents_of_the_axes_as_columns():
    program = random_program(3)
    x = random_inputs(program, 3)
    whole = check(whole_jacobian(program, ["x0", "x1"]))
    assert [y.name for y in whole.outputs] == [
        f"d{y.name}_d{name}" for y in program.outputs for name in ("x0", "x1")]
    found = iter(reference.run(whole, *x))
    along = tangent(program, ["x0", "x1"])
    for k, _ in enumerate(program.outputs):
        for name, other in (("x0", "x1"), ("x1", "x0")):
            J, shape = next(found), x[int(name[1])].shape
            for at in np.ndindex(*shape):
                axis = {name: np.zeros(shape), other: np.zeros(x[int(other[1])].shape)}
                axis[name][at] = 1.0
                column = reference.run(along, *x, axis["x0"], axis["x1"])[k]
                np.testing.assert_allclose(J[(..., *at)], column, rtol=1e-12, atol=1e-12)


def test_derivatives_of_derivatives_have_inputs_of_their_own():
    program = record(lambda q, p: vector(q) * p, {"q": (3,), "p": ()}, "y")
    twice = check(tangent(tangent(program, ["q"]), ["q", "q_dot"]))
    assert [slot.name for slot in twice.inputs] == ["q", "p", "q_dot", "q_dot2", "q_dot_dot"]
    h, d, e = 1e-6, np.array([0.3, 0.5, -0.2]), np.array([1.0, -0.4, 0.7])
    J = lambda q: complex_step(vector, q)
    (found,) = reference.run(twice, Q, 1.0, d, e, np.zeros(3))
    np.testing.assert_allclose(found, (J(Q + h * e) - J(Q - h * e)) @ d / (2 * h), atol=1e-8)


def test_a_program_is_arranged_as_another_with_zeros_for_what_that_has_not():
    def product(a, b, c):
        return {"found": a * b[0] + c, "other": b}
    program = record(product, {"a": (), "b": (2,), "c": ()}, "first")
    like = record(lambda b, weight: {"y": b[0] * weight, "z": b}, {"b": (2,), "weight": ()}, "like")
    found = check(arranged(program, like))
    assert (found.name, found.inputs) == ("like", like.inputs)
    for x, y in zip(reference.run(found, [2.0, 3.0], 5.0), reference.run(like, [2.0, 3.0], 5.0),
                    strict=True):
        np.testing.assert_array_equal(x, y)
    assert [y.name for y in found.outputs] == ["y", "z"]


def test_an_input_that_there_is_not_is_named():
    for derive in (tangent, cotangent, whole_jacobian):
        with pytest.raises(UnknownName, match="there are q"):
            derive(record(vector, {"q": (3,)}, "f"), ["v"])
