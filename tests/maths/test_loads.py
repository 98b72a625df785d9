"""Springs, carried weights and turning rotors, in every algorithm and its compiled code."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import closedform as cf
from closedform.maths.catalogue import CATALOGUE, quantity
from closedform.maths.loads import RULES
from loaded_robots import loaded_robot
from random_robots import complex_step, random_state

BASE = ("base_regressor", "packed_base_regressor")    # refuse bodies carried by unequal fractions
ROWS = [row for row in CATALOGUE if row.algorithms and not row.framed and row.name not in BASE]
MJCF = """<mujoco><worldbody>
<body pos="0 0 1" gravcomp="0.6"><joint axis="0 1 0"/>
 <inertial pos="0.2 0 0.1" mass="2" diaginertia="0.1 0.2 0.25"/>
 <body pos="0.5 0 0" gravcomp="1"><joint axis="1 0 0"/>
  <inertial pos="0.1 0.3 0" mass="1" diaginertia="0.1 0.1 0.1"/>
  <body pos="0 0 0.3"><inertial pos="0 0.1 0" mass="0.5" diaginertia="0.01 0.01 0.01"/></body>
 </body></body></worldbody></mujoco>"""


def state(robot, seed):
    q, v, a, j = random_state(robot, seed, 3)
    return {"q": q, "v": v, "a": a, "j": j, "v_r": a, "a_r": j, "tau": a,
            "rates": np.stack([v, a, j, v]), "q_dot": j, "v_dot": a, "a_dot": v, "tau_dot": v,
            "tau_bar": j, "a_bar": j}


def assert_same(row, expected, found):
    pairs = zip(expected, found, strict=True) if row.fields else [(expected, found)]
    for x, y in pairs:
        np.testing.assert_allclose(y, x, atol=1e-11 * max(1, np.abs(x).max(initial=0)))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_algorithms_agree_with_definitions_on_robots_with_all_loads(row):
    for seed in (0, 3, 7):
        robot = loaded_robot(seed)
        given = state(robot, seed)
        arguments = [given[name] for name in row.inputs]
        for algorithm in row.algorithms:
            if getattr(algorithm, "applies", lambda robot: True)(robot):
                assert_same(row, row.definition(robot, *arguments), algorithm(robot, *arguments))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "potential_energy",
                                  "inverse_dynamics_derivatives", "inverse_dynamics_jet",
                                  "inverse_dynamics_jvp", "inverse_dynamics_vjp",
                                  "forward_dynamics_jvp", "forward_dynamics_vjp",
                                  "regressor", "time_derivatives"])
def test_kernels_agree_with_definitions_on_robots_with_all_loads(name):
    row = quantity(name)
    for seed in (3, 8):
        robot = loaded_robot(seed, bodies=4)
        given = state(robot, seed)
        arguments = [given[x] for x in row.inputs]
        arm = cf.compile(robot)
        assert_same(row, row.definition(robot, *arguments), getattr(arm, name)(*arguments))


def test_g_is_the_gradient_of_the_potential_energy():
    for seed in range(6):
        robot = loaded_robot(seed)
        q = robot.random(seed)
        dU = [complex_step(robot, lambda q, r=robot: quantity("potential_energy").definition(r, q),
                           q, e) for e in np.eye(robot.nv)]
        np.testing.assert_allclose(cf.gravity_torque(robot, q), dU, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_carried_weights_are_mujocos(seed):
    model, rng = mujoco.MjModel.from_xml_string(MJCF), np.random.default_rng(seed)
    up, out, above = (np.eye(4) for _ in range(3))
    up[2, 3], out[0, 3], above[2, 3] = 1, 0.5, 0.3
    robot = cf.Robot("arm", [
        cf.Body("a", None, cf.Revolute((0, 1, 0)), up,
                cf.Inertia(2, (0.2, 0, 0.1), np.diag([0.1, 0.2, 0.25])), 0.6),
        cf.Body("b", "a", cf.Revolute((1, 0, 0)), out,
                cf.Inertia(1, (0.1, 0.3, 0), 0.1 * np.eye(3)), gravity_compensation=1),
        cf.Body("c", "b", cf.Fixed(), above, cf.Inertia(0.5, (0, 0.1, 0), 0.01 * np.eye(3)))])
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = rng.normal(size=(2, 2))
    mujoco.mj_forward(model, data)
    for dynamics in (cf.compile(robot).forward_dynamics,
                     lambda *state: cf.forward_dynamics(robot, *state)):
        np.testing.assert_allclose(dynamics(data.qpos, data.qvel, np.zeros(2)), data.qacc,
                                   rtol=1e-9, atol=1e-12)


def test_a_body_that_is_carried_otherwise_stays_a_body_when_its_joint_is_locked():
    robot = loaded_robot(0, kinds=("revolute",), bodies=3)
    values = {0.0, *(body.gravity_compensation for body in robot.bodies)}
    assert len(values) > 1
    locked = robot.reduced({robot.joint_names[-1]: 0.3})
    q = np.array([0.2, -0.4])
    np.testing.assert_allclose(cf.gravity_torque(locked, q),
                               cf.gravity_torque(robot, [*q, 0.3])[:2], rtol=1e-12)


def test_base_parameters_know_weight_that_is_all_carried_and_refuse_mixtures():
    plain = cf.load("planar2r").with_gravity((0, -9.81, 0))

    def carried(*shares):
        return replace(plain, bodies=tuple(replace(b, gravity_compensation=c)
                                           for b, c in zip(plain.bodies, shares, strict=True)))
    assert cf.base_parameters(carried(1, 1), twin=True).count \
        == cf.base_parameters(plain.with_gravity((0, 0, 0))).count
    assert cf.base_parameters(carried(0.5, 0.5), twin=True).names \
        == cf.base_parameters(plain).names
    with pytest.raises(cf.ClosedformError, match="gravity_compensation is 0 of"):
        cf.base_parameters(carried(0, 1))


@pytest.mark.parametrize("wrong", [np.nan, "all", (1, 2), None])
def test_a_fraction_that_is_no_number_is_refused(wrong):
    with pytest.raises(cf.ClosedformError, match="gravity_compensation"):
        cf.Body("b", None, cf.Fixed(), gravity_compensation=wrong)


def test_every_rule_is_that_of_a_row():
    assert set(RULES) <= {row.name for row in CATALOGUE}
