import numpy as np
import pytest

from closedform.lowerings import reference
from closedform.lowerings.to_casadi import casadi_function
from random_programs import random_inputs, random_program

pytest.importorskip("casadi", reason="NOT TESTED: pip install casadi")


@pytest.mark.parametrize("seed", range(3))
def test_the_function_computes_what_the_program_says(seed):
    program = random_program(seed)
    f = casadi_function(program)
    inputs = random_inputs(program, 1)
    for x, y in zip(f(*inputs), reference.run(program, *inputs), strict=True):
        np.testing.assert_allclose(np.array(x).reshape(y.shape), y, rtol=1e-14, atol=1e-15)


def test_inputs_and_outputs_have_their_names_and_shapes():
    f = casadi_function(random_program(1), "motion")
    assert f.name() == "motion"
    assert f.name_in() == ["x0", "x1", "x2"] and f.name_out() == ["y0", "y1", "y2"]
    assert [f.size_in(k) for k in range(3)] == [(5, 1), (3, 2), (1, 1)]
    assert [f.size_out(k) for k in range(3)] == [(4, 1), (3, 3), (1, 1)]


def test_casadi_differentiates_it():
    import casadi

    program = random_program(1)
    f = casadi_function(program)
    x = casadi.SX.sym("x", 5)
    others = random_inputs(program, 1)[1:]
    J = casadi.Function("J", [x], [casadi.jacobian(f(x, *others)[0], x)])
    at, h = np.linspace(0.1, 0.9, 5), 1e-6
    for k in range(5):
        step = h * np.eye(5)[k]
        difference = (np.array(f(at + step, *others)[0]) - np.array(f(at - step, *others)[0]))
        np.testing.assert_allclose(np.array(J(at))[:, k], difference.ravel() / (2 * h), atol=1e-7)
