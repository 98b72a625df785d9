import numpy as np
import pytest
import sympy

from closedform.lowerings import reference
from closedform.lowerings.source.readable import readable
from closedform.lowerings.to_sympy import program_expressions, sympy_source
from random_programs import random_inputs, random_program


@pytest.mark.parametrize("seed", range(2))
def test_terms_and_outputs_compute_what_the_program_says(seed):
    program = random_program(seed, operations=40)
    of = program_expressions(program)
    inputs = random_inputs(program, 1)
    values = {s: sympy.Float(x) for array, numbers in zip(of.inputs.values(), inputs, strict=True)
              for s, x in zip(np.ravel(array), np.ravel(numbers), strict=True)}
    for symbol, term in of.terms:
        values[symbol] = term.xreplace(values)
    for array, expected in zip(of.outputs.values(), reference.run(program, *inputs), strict=True):
        found = [float(x.xreplace(values)) for x in np.ravel(array)]
        np.testing.assert_allclose(found, np.ravel(expected), rtol=1e-12, atol=1e-13)


def test_the_module_puts_numbers_in():
    program = random_program(3, operations=40)
    module = {}
    exec(sympy_source(program_expressions(program), "f", ["random"]), module)
    inputs = random_inputs(program, 1)
    for x, y in zip(module["f"](*inputs), reference.run(program, *inputs), strict=True):
        np.testing.assert_allclose(np.array(x), y, rtol=1e-12, atol=1e-13)


q1, q2, m, n, l, r = sympy.symbols("q1 q2 m n l r", real=True)


@pytest.mark.parametrize("given, made", [
    (m * (sympy.sin(q1)**2 + sympy.cos(q1)**2), "m"),
    (sympy.cos(q1) * sympy.cos(q2) - sympy.sin(q1) * sympy.sin(q2), "c1_2"),
    (l**2 * m + l**2 * n + r**2 * n, "l**2*(m + n) + n*r**2"),
    (0.5 * l * sympy.sin(q1) * 2, "l*s1"),
])
def test_readable_expressions_are_short(given, made):
    terms, outputs = readable({"x": np.array([given], dtype=object)}, [q1, q2], [m, n, l, r])
    assert str(outputs["x"][0]) == made
    back = outputs["x"][0].subs(dict(terms))
    assert sympy.simplify(sympy.expand_trig(back - sympy.nsimplify(given))) == 0
