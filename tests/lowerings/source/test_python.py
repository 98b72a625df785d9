import numpy as np
import pytest

from closedform.lowerings import reference
from closedform.lowerings.source.python import casadi_source, numpy_source
from random_programs import random_inputs, random_program


def function_of(text):
    module = {}
    exec(compile(text, "<exported>", "exec"), module)
    return module["f"]


@pytest.mark.parametrize("seed", range(4))
def test_numpy_source_computes_what_the_program_says(seed):
    program = random_program(seed)
    f = function_of(numpy_source(program, "f", ["random"]))
    inputs = random_inputs(program, 1)
    for x, y in zip(f(*inputs), reference.run(program, *inputs), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-14, atol=1e-15)


def test_batch_axes_broadcast():
    program = random_program(1)
    f = function_of(numpy_source(program, "f", ["random"]))
    x0, x1, x2 = random_inputs(program, 1, (4, 3))
    results = f(x0, x1[0], x2[0, 0])
    assert [x.shape for x in results] == [(4, 3, *o.shape) for o in program.outputs]
    for i, j in ((0, 0), (3, 2)):
        expected = reference.run(program, x0[i, j], x1[0, j], x2[0, 0])
        for x, y in zip(results, expected, strict=True):
            np.testing.assert_allclose(x[i, j], y, rtol=1e-14, atol=1e-15)


def test_single_precision_stays_single():
    program = random_program(1)
    f = function_of(numpy_source(program, "f", ["random"]))
    inputs = [x.astype(np.float32) for x in random_inputs(program, 1)]
    results = f(*inputs)
    assert {x.dtype for x in results} == {np.dtype(np.float32)}
    for x, y in zip(results, reference.run(program, *inputs), strict=True):
        np.testing.assert_allclose(x, y, atol=60 * np.finfo(np.float32).eps)


def test_text_about_the_program_cannot_leave_its_docstring():
    text = numpy_source(random_program(1), "f", ['a """ b', "\\ c"])
    assert function_of(text) is not None


def test_casadi_source_computes_what_the_program_says():
    pytest.importorskip("casadi", reason="NOT TESTED: pip install casadi")
    program = random_program(2)
    f = function_of(casadi_source(program, "f", ["random"]))
    inputs = random_inputs(program, 1)
    assert f.name_in() == ["x0", "x1", "x2"] and f.name_out() == ["y0", "y1", "y2"]
    for x, y in zip(f(*inputs), reference.run(program, *inputs), strict=True):
        np.testing.assert_allclose(np.array(x).reshape(y.shape), y, rtol=1e-14, atol=1e-15)
