"""What a kernel says of its program, and the program in other libraries' hands."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy

import closedform as cf
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.call.signature import Subject
from closedform.lowerings.store.cache import Cache
from random_programs import random_inputs, random_program

NOWHERE = Cache(None)
ARM = cf.compile(cf.load("planar2r"), cache=NOWHERE)
Q, V, A = np.array([0.3, -0.7]), np.array([0.5, 0.2]), np.array([-0.4, 1.1])


def evaluated(of, *arrays):
    """SymPy's expressions with numbers put in."""
    values = {}
    for symbols, numbers in zip(of.inputs.values(), arrays, strict=True):
        values |= dict(zip(np.ravel(symbols), np.ravel(numbers), strict=True))
    for symbol, term in of.terms:
        values[symbol] = sympy.sympify(term).xreplace(values)
    return [np.vectorize(lambda x: float(sympy.sympify(x).xreplace(values)))(array)
            for array in of.outputs.values()]


@pytest.mark.parametrize("name", ["mass_matrix", "bias", "inverse_dynamics_derivatives"])
def test_sympy_has_the_same_numbers(name):
    kernel = getattr(ARM, name)
    arrays = [{"q": Q, "v": V, "a": A}[slot.name] for slot in kernel.interface.inputs]
    result = kernel(*arrays)
    for found, expected in zip(evaluated(kernel.sympy(), *arrays),
                               result if isinstance(result, tuple) else [result], strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-13)


def test_latex_writes_the_letters_of_the_catalogue_under_the_names_of_function_and_robot():
    text = ARM.inverse_dynamics.latex()
    assert text.startswith("% inverse_dynamics of planar2r")
    assert r"\tau_{1} &=" in text and r"\ddot{q}_{2}" in text
    assert pickle.loads(pickle.dumps(ARM.inverse_dynamics)).latex() == text


def test_a_listing_has_a_line_for_every_output():
    text = ARM.gravity_torque.listing()
    assert text.startswith("# gravity_torque(q[2]):")
    assert "gravity_torque[0] =" in text and "gravity_torque[1] =" in text


def test_casadi_and_jax_have_the_same_numbers():
    pytest.importorskip("casadi")
    jax = pytest.importorskip("jax")
    expected = ARM.inverse_dynamics(Q, V, A)
    function = ARM.inverse_dynamics.casadi()
    assert function.name_in() == ["q", "v", "a"]
    np.testing.assert_allclose(np.array(function(Q, V, A)).ravel(), expected, atol=1e-13)
    with jax.enable_x64(True):
        np.testing.assert_allclose(ARM.inverse_dynamics.jax()(Q, V, A), expected, atol=1e-13)


def test_what_is_not_installed_is_told_with_how_to_install_it():
    code = ("import sys; sys.modules['casadi'] = sys.modules['jax'] = None\n"
            "import closedform as cf\narm = cf.compile(cf.load('planar2r'))\n"
            "for name in ('casadi', 'jax'):\n"
            "    try: getattr(arm.bias, name)()\n"
            "    except cf.MissingDependency as error: print(error)\n")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.count("is not installed; pip install 'closedform[") == 2


def test_sympy_is_imported_when_it_is_asked_for():
    code = ("import sys, closedform as cf\nbias = cf.compile(cf.load('planar2r')).bias\n"
            "assert 'sympy' not in sys.modules\nbias.sympy()\nassert 'sympy' in sys.modules\n")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_messages_name_the_function_and_what_it_is_of():
    program = random_program(1, outputs=((4,),))
    wrong = [np.zeros(9), *random_inputs(program, 0)[1:]]
    for of, text in ((Subject(), "random_1: x0 must"), (Subject("arm"), "random_1 of arm: x0")):
        with pytest.raises(cf.ArgumentError, match=text):
            compile_program(program, NOWHERE, of=of)(*wrong)


def test_a_missing_argument_is_named_beside_what_the_function_takes():
    with pytest.raises(cf.ArgumentError, match="inverse_dynamics of planar2r takes q, v, a: a is"):
        ARM.inverse_dynamics(Q, V)
    with pytest.raises(cf.ArgumentError, match="inverse_dynamics takes robot, q, v, a, wrenches: "
                                               "missing a required argument: 'a'"):
        cf.inverse_dynamics(cf.load("planar2r"), Q, V)
