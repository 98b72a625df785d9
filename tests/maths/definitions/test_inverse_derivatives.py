"""∂τ/∂q, ∂τ/∂v, ∂τ/∂a on random trees of all joint kinds, and what they cost when recorded."""

import numpy as np
import pytest
from hypothesis import given, settings

import closedform as cf
from closedform.applications.conventions import from_pinocchio_model
from closedform.maths.algorithms.one_frame import derivatives as one_frame_derivatives
from closedform.maths.canonical.frames import canonical
from closedform.maths.canonical.regrouping import regrouped
from closedform.maths.definitions import closed_form, inverse_derivatives
from closedform.program.record import record
from example_urdfs import FILES
from random_robots import KINDS, complex_step, random_robot, random_state, robots, seeds
from tree_checks import assert_close, assert_zeros_by_structure, branched, joints_on_one_way


def loads(robot, seed):
    return np.random.default_rng(seed).normal(size=(len(robot.bodies), 6))


@settings(max_examples=30)
@given(robots(), seeds)
def test_they_are_the_derivatives_along_every_direction(robot, seed):
    q, v, a, w = random_state(robot, seed, 3)
    F = loads(robot, seed)
    d = inverse_derivatives.inverse_dynamics_derivatives(robot, q, v, a, F)
    scale = np.abs(d.dtau_dq).max(initial=1)
    dq = complex_step(robot, lambda q: closed_form.inverse_dynamics(robot, q, v, a, F), q, w)
    assert_close(d.dtau_dq @ w, dq, scale)
    dv = np.imag(closed_form.inverse_dynamics(robot, q, v + 1e-30j * w, a, F)) / 1e-30
    assert_close(d.dtau_dv @ w, dv, np.abs(d.dtau_dv).max(initial=1))
    np.testing.assert_array_equal(d.dtau_da, closed_form.mass_matrix(robot, q))


@settings(max_examples=30)
@given(robots(), seeds)
def test_the_algorithm_equals_the_closed_form_in_every_frame_of_expression(robot, seed):
    q, v, a = random_state(robot, seed)
    F = loads(robot, seed)
    expected = inverse_derivatives.inverse_dynamics_and_derivatives(robot, q, v, a, F)
    for base in (0, len(robot.segments) // 2, len(robot.segments)):
        found = one_frame_derivatives.inverse_dynamics_and_derivatives(robot, q, v, a, F, base)
        for x, y in zip(found, expected, strict=True):
            assert_close(x, y)
        alone = one_frame_derivatives.inverse_dynamics_derivatives(robot, q, v, a, F, base)
        for x, y in zip(alone, found[1:], strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("kind", KINDS)
def test_the_algorithm_equals_the_closed_form_on_chains_of_one_kind(kind):
    kinds = (kind, "revolute") if kind in ("fixed", "mimic") else (kind,)
    robot = random_robot(3, kinds, bodies=4, spread=1)
    q, v, a = random_state(robot)
    found = one_frame_derivatives.inverse_dynamics_derivatives(robot, q, v, a)
    expected = inverse_derivatives.inverse_dynamics_derivatives(robot, q, v, a)
    for x, y in zip(found, expected, strict=True):
        assert_close(x, y)


def test_dtau_da_is_symmetric_to_the_last_bit():
    robot = random_robot(8, KINDS, bodies=7)
    M = one_frame_derivatives.inverse_dynamics_derivatives(robot, *random_state(robot)).dtau_da
    np.testing.assert_array_equal(M, M.T)


def test_entries_of_joints_on_different_branches_are_exact_zeros_of_the_program():
    robot = branched()
    program = record(
        lambda q, v, a: one_frame_derivatives.inverse_dynamics_derivatives(robot, q, v, a, base=1),
        {"q": (robot.nq,), "v": (robot.nv,), "a": (robot.nv,)}, "derivatives")
    assert_zeros_by_structure(program, np.flatnonzero(~joints_on_one_way(robot).ravel()))


@pytest.mark.parametrize(("name", "most"), [("iiwa14", 3340), ("panda", 3440), ("ur5", 1080)])
def test_the_recorded_derivatives_by_q_and_v_take_few_operations(name, most):
    """Multiplications and additions in base parameters, before simplification.

    The numbers are what is counted, so that a change that costs operations is seen.
    """
    robot = regrouped(canonical(cf.load(name)).robot)
    shapes = {"q": (robot.nq,), "v": (robot.nv,), "a": (robot.nv,)}

    def operations(base):
        def by_state(q, v, a):
            d = one_frame_derivatives.inverse_dynamics_derivatives(robot, q, v, a, base=base)
            return {"dtau_dq": d.dtau_dq, "dtau_dv": d.dtau_dv}
        return record(by_state, shapes, "derivatives").operations.total

    assert min(operations(base) for base in (1, 2, 3)) <= most


def test_pinocchio_agrees_on_an_arm():
    pin = pytest.importorskip("pinocchio")
    robot = cf.load("panda").with_gravity((0, 0, -9.81))
    model = pin.buildModelFromXML(robot.to_urdf())
    data, (q, v, a) = model.createData(), random_state(robot)
    assert list(model.names)[1:] == list(robot.joint_names)
    dq, dv, M = pin.computeRNEADerivatives(model, data, q, v, a)
    found = one_frame_derivatives.inverse_dynamics_derivatives(robot, q, v, a)
    assert_close(found.dtau_dq, dq)
    assert_close(found.dtau_dv, dv)
    assert_close(found.dtau_da, np.triu(M) + np.triu(M, 1).T)


TALOS = [path for path in FILES if path.stem == "talos_reduced"]


@pytest.mark.parametrize("path", TALOS, ids=lambda p: p.stem)
def test_pinocchio_agrees_on_a_humanoid_on_a_free_base(path):
    pin = pytest.importorskip("pinocchio")
    robot = cf.load(path, floating=True)
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data, other = model.createData(), from_pinocchio_model(robot, model)
    q, v, a = random_state(robot)
    B, theirs = other.B(q), (other.q_to(q), other.v_to(q, v))
    dq, dv, _ = pin.computeRNEADerivatives(model, data, *theirs, other.a_to(q, v, a))
    found = one_frame_derivatives.inverse_dynamics_derivatives(robot, q, v, a, base=1)
    assert_close(B @ found.dtau_dq @ B.T, dq)
    assert_close(B @ found.dtau_dv @ B.T, dv)
    tau = closed_form.inverse_dynamics(robot, q, v, a)
    da_dq, da_dv, _ = pin.computeABADerivatives(model, data, *theirs, other.tau_to(q, tau))
    forward = one_frame_derivatives.forward_dynamics_derivatives(robot, q, v, tau, base=1)
    condition = np.linalg.cond(found.dtau_da)
    assert_close(B @ forward.da_dq @ B.T / condition, da_dq / condition)
    assert_close(B @ forward.da_dv @ B.T / condition, da_dv / condition)
