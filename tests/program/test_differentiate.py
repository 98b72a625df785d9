"""Derivatives of recorded functions are exact."""

import numpy as np
import pytest

from closedform.arrays import namespace
from closedform.errors import ArgumentError
from closedform.lowerings import reference
from closedform.program.check import check
from closedform.program.differentiate import (
    gradient,
    hessian,
    hessian_of,
    jacobian,
    jacobian_of,
)
from closedform.program.ops import OPS
from closedform.program.record import record

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
