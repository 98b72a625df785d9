"""The one call: every system, method, input and way of asking for a motion."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.motion.methods import METHODS
from elastic_models import random_model
from flexible_arms import paper_arm
from random_robots import random_robot, random_state

TREE = random_robot(2, kinds=("free", "revolute", "spherical"), bodies=3)
ARM = cf.load("planar2r")
SPRINGS = cf.ElasticJoints(ARM, [None, 30.0], 0.2, 0.5)


def rigid():
    q, v, _ = random_state(TREE, 2)
    return TREE, (q, v)


def flexible():
    return paper_arm(), (np.array([0, 0.3, 0.05, 0.001, 0.05, 0.001]), np.zeros(6))


def elastic():
    return SPRINGS, cf.elastic.ElasticState(*np.array(
        [[0.3, 0.2], [1.0, -1.0], [0.0, 0.5], [0.0, 1.0]]))


CASES = [rigid, flexible, elastic]


@pytest.mark.parametrize("case", CASES)
def test_energy_is_conserved_without_input(case):
    """rtol 1e-9 of each of some hundred steps."""
    model, state = case()
    run = cf.simulate(model, state, None, np.linspace(0, 0.3, 4))
    assert run.energy_drift < 1e-6
    np.testing.assert_array_equal(run.work, 0)


@pytest.mark.parametrize("case", CASES)
def test_energy_changes_by_the_work_of_a_law(case):
    model, state = case()
    law = lambda t, x: 0.1 * np.cos(5 * t) - 0.01 * x.v[:len(law.names)]
    law.names = cf.simulate(model, state, None, [0.0]).system.input_names
    run = cf.simulate(model, state, law, np.linspace(0, 0.3, 4))
    assert np.max(np.abs(run.work)) > 1e-5
    assert run.energy_drift < 1e-6
    np.testing.assert_array_equal(run.tau[-1], law(run.times[-1], last(run)))


def last(run):
    return run.system.state(run.path[-1])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES)
def test_every_method_finds_the_same_motion(case, method):
    """Errors of rtol 1e-7 and of 1 ms steps on vibrations up to 30 Hz stay below 1e-4."""
    model, state = case()
    t = [0, 0.05, 0.1]
    chosen = METHODS[method]() if method == "RK4" else METHODS[method](rtol=1e-7, atol=1e-9)
    exact = cf.simulate(model, state, None, t)
    run = cf.simulate(model, state, None, t, method=chosen)
    assert run.method == method
    np.testing.assert_allclose(run.q, exact.q, rtol=0, atol=1e-4)
    np.testing.assert_array_equal(cf.simulate(model, state, None, t[:1], method=chosen).q,
                                  exact.q[:1])


# ---------------------------------------------------------------------- ways of asking
def test_q_and_v_apart_are_the_same_motion():
    model, (q, v) = rigid()
    t = [0, 0.1, 0.2]
    whole = cf.simulate(model, (q, v), None, t)
    for run in (cf.simulate(model, q, v, None, t), cf.simulate(model, q, v, None, times=t),
                cf.simulate(model, q0=q, v0=v, torque=None, times=t),
                cf.simulate(cf.RigidSystem(model), (q, v), None, t, method="DOP853"),
                cf.simulate(system=model, state=[q, v], input=None, times=t)):
        np.testing.assert_array_equal(run.path, whole.path)


def test_flexible_and_elastic_calls_are_the_same_motion():
    (arm, (q, v)), t = flexible(), [0, 0.05, 0.1]
    old = cf.flexible.simulate(arm, q, v, [0.1, 0.0], t, 0.1, "RK4")
    new = cf.simulate(arm, (q, v), [0.1, 0.0], t, method=cf.RK4(1e-3), damping=0.1)
    np.testing.assert_array_equal(old.path, new.path)
    assert isinstance(new, cf.flexible.FlexibleSimulation)
    model, state = elastic()
    old = cf.elastic.simulate(model, state, [0.1, 0.0], t)
    np.testing.assert_array_equal(old.path, cf.simulate(model, state, [0.1, 0.0], t).path)


def test_a_law_may_take_the_state_or_q_and_v():
    t, zero = [0, 0.1, 0.2], (np.zeros(2), np.zeros(2))
    gain = 3.0
    laws = (lambda t, state: -gain * state.q - state.v, lambda t, q, v: -gain * q - v,
            lambda t, state, k=gain: -k * state[0] - state[1],
            lambda *given: -gain * given[1] - given[2])
    runs = [cf.simulate(ARM, zero, law, t) for law in laws]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.path, runs[0].path)
    by_parts = cf.simulate(SPRINGS, zero, lambda t, q, v: -q - v, t)
    np.testing.assert_array_equal(
        by_parts.path, cf.simulate(SPRINGS, zero, lambda t, x: -x.q - x.v, t).path)


def test_no_state_is_rest_and_a_pair_has_its_springs_at_rest():
    run = cf.simulate(ARM, None, None, [0])
    np.testing.assert_array_equal(run.path, 0)
    model = random_model(TREE)
    q, v, _ = random_state(TREE, 1)
    run = cf.simulate(model, (q, v), None, [0])
    np.testing.assert_allclose(run.deflection, 0, atol=1e-12)
    np.testing.assert_allclose(run.motor_velocity[0], v / model.gear_ratio, rtol=1e-15)


def test_friction_acts_on_a_robot_when_asked_for_and_on_a_flexible_arm_always():
    joint = cf.Revolute((0, 0, 1), viscous=0.5, coulomb=0.2)
    body = cf.Body("disc", None, joint, inertia=cf.Inertia(1.0, tensor=np.eye(3)))
    disc, start = cf.Robot("disc", [body]), ([0.0], [1.0])
    free = cf.simulate(disc, start, None, [0, 0.5])
    braked = cf.simulate(disc, start, None, [0, 0.5], friction=True)
    np.testing.assert_allclose(free.v[:, 0], 1)
    # v̇ = −d v − c while v is far above the slip velocity
    np.testing.assert_allclose(braked.v[-1, 0], 1.4 * np.exp(-0.25) - 0.4, atol=1e-6)
    assert braked.work[-1] < 0
    link = cf.FlexibleLink(0.5, 0.2, 1.0, 0.5, 0.1, 1, viscous=0.05, coulomb=0.01)
    run = cf.simulate(cf.FlexibleArm([link]), ([0, 0], [1.0, 0]), None, [0, 0.5])
    assert run.work[-1] < 0


# ---------------------------------------------------------------------- refusals
@pytest.mark.parametrize(("call", "error", "told"), [
    (lambda: cf.simulate(3, None, None, [0, 1]), cf.ArgumentError, "system must be a cf.Robot"),
    (lambda: cf.simulate(cf.RigidSystem(ARM), None, None, [0, 1], friction=True),
     cf.ArgumentError, r"friction belong to the system: give RigidSystem\(\.\.\., friction="),
    (lambda: cf.simulate(ARM, None, None, [0, 1], method=cf.Radau(), rtol=1e-3),
     cf.ArgumentError, r"rtol belong to the method: give Radau\(rtol="),
    (lambda: cf.simulate(ARM, None, None), TypeError, "simulate takes system, state, input, times"),
    (lambda: cf.simulate(ARM, [0, 0], [0, 0], None, [0, 1], 3), TypeError, "simulate takes"),
    (lambda: cf.simulate(ARM, np.zeros(4), None, [0, 1]), cf.ArgumentError, "a pair"),
    (lambda: cf.simulate(ARM, ([10**400, 0], [0, 0]), None, [0, 1]), cf.ArgumentError, "finite"),
    (lambda: cf.simulate(ARM, None, None, [0, 10**400]), cf.ArgumentError, "times must be"),
    (lambda: cf.simulate(ARM, None, None, np.ma.array([0, 1.0], mask=[0, 1])), cf.ArgumentError,
     "times must be"),
    (lambda: cf.simulate(SPRINGS, np.zeros(4), None, [0, 1]), cf.ArgumentError, "ElasticState"),
    (lambda: cf.simulate(ARM, None, [1.0], [0, 1]), cf.ArgumentError,
     "input must be 2 finite numbers"),
])
def test_a_wrong_request_is_told(call, error, told):
    with pytest.raises(error, match=told):
        call()
