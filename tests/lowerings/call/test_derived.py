"""Derivatives of kernels are kernels, kept by key; whole Jacobians are rows of the catalogue."""

import pickle

import numpy as np
import pytest

import closedform as cf
from closedform.errors import UnknownName
from closedform.lowerings.call.derived import Derivative
from closedform.lowerings.call.kernel import Kernel, compile_program
from closedform.lowerings.store.cache import Cache
from closedform.program import pipeline
from random_programs import random_inputs, random_program

RNG = np.random.default_rng(4)


@pytest.fixture(scope="module")
def arm():
    return cf.compile(cf.load("ur5"))


def state(arm, count=3):
    robot = arm.robot
    return [robot.random(RNG), *RNG.normal(size=(count - 1, robot.nv))]


def test_the_cotangent_is_the_catalogues_jacobian_transposed(arm):
    q, v, a = state(arm)
    weights = RNG.normal(size=6)
    expected = arm.inverse_dynamics_derivatives(q, v, a)
    found = arm.inverse_dynamics.cotangent()(q, v, a, weights)
    for bar, J in zip(found, expected, strict=True):
        np.testing.assert_allclose(bar, weights @ J, rtol=1e-12, atol=1e-12)
    rates = RNG.normal(size=(3, 6))
    np.testing.assert_allclose(
        arm.inverse_dynamics.tangent()(q, v, a, *rates),
        sum(J @ x for J, x in zip(expected, rates, strict=True)), rtol=1e-12, atol=1e-12)


def test_a_jacobian_is_the_catalogues_row_where_there_is_one(arm):
    J = arm.forward_dynamics.jacobian("q", "tau")
    assert [slot.name for slot in J.interface.outputs] == ["da_dq", "da_dtau"]
    floating = cf.compile(cf.load("humanoid25"))
    entries = floating.gravity_torque.jacobian("q")
    assert entries.interface.outputs[0].shape == (floating.robot.nv, floating.robot.nq)


@pytest.mark.parametrize("seed", range(3))
def test_jacobians_of_any_program_meet_its_tangents(seed):
    program = random_program(seed)
    kernel = compile_program(program, Cache(None))
    x = random_inputs(program, seed)
    whole = kernel.jacobian("x0")(*x)
    dx = RNG.normal(size=x[0].shape)
    along = kernel.tangent("x0")(*x, dx)
    many = len(program.outputs) > 1
    for J, dy in zip(whole if many else [whole], along if many else [along], strict=True):
        np.testing.assert_allclose(np.tensordot(J, dx, axes=dx.ndim), dy, rtol=1e-11, atol=1e-11)


def test_a_derivative_is_made_once_on_a_machine(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    robot, cache = cf.load("planar2r"), Cache(tmp_path)
    first = cf.compile(robot, cache=cache).inverse_dynamics.cotangent("q").tangent("v")
    x = [RNG.normal(size=slot.shape) for slot in first.interface.inputs]
    monkeypatch.setattr(pipeline, "optimised", None)
    monkeypatch.setattr(Derivative, "builder", lambda *_: (None, None))
    again = cf.compile(robot, cache=cache).inverse_dynamics.cotangent("q").tangent("v")
    np.testing.assert_array_equal(first(*x), again(*x))


def test_wrt_goes_by_the_order_of_the_inputs_and_names_what_is_wrong(arm):
    kernel = arm.inverse_dynamics
    assert kernel.tangent("v", "q") is kernel.tangent("q", "v")
    assert kernel.tangent() is kernel.tangent("q", "v", "a")
    with pytest.raises(UnknownName, match=r"no input 'tau'; .*there are q, v, a"):
        kernel.cotangent("tau")


def test_a_transpose_does_without_what_it_is_linear_in(arm):
    back = arm.inverse_dynamics.tangent("q").cotangent("q_dot", linear=True)
    assert [slot.name for slot in back.interface.inputs] == [
        "q", "v", "a", "inverse_dynamics_dot_bar"]


def test_the_code_of_a_derivative_is_tried_before_it_is_kept(monkeypatch):
    """A pipeline that loses a term is found out, and what was recorded is taken."""
    kernel = compile_program(random_program(5), Cache(None))
    other = kernel.cotangent("x0").program
    monkeypatch.setattr("closedform.lowerings.call.derived.optimised",
                        lambda program: _with_other_constants(program))
    with pytest.warns(cf.ModelWarning, match="away from its definition"):
        found = compile_program(random_program(5), Cache(None)).cotangent("x0")
    x = random_inputs(found.program, 5)
    for one, two in zip(_many(found(*x)), _many(compile_program(other, Cache(None))(*x)),
                        strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10)


def _many(result):
    return result if isinstance(result, tuple) else [result]


def _with_other_constants(program):
    code = tuple(x if x.value is None else x._replace(value=1.1 * x.value) for x in program.code)
    return program.__class__(program.name, program.inputs, program.outputs, code)


def test_kernels_keep_their_catalogue_when_pickled(arm):
    kernel: Kernel = pickle.loads(pickle.dumps(arm.forward_dynamics))
    assert kernel.jacobian("q").interface.outputs[0].name == "da_dq"
