"""What torques are linear in."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.drives import Drives
from closedform.applications.identification.model import Friction, Model
from closedform.errors import ArgumentError, UnknownName
from random_robots import random_robot

idn = cf.identification
PLAIN = Friction()
SLIP = 1e-9


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(rng), *rng.normal(size=(2, robot.nv))


def friction(model, v, numbers):
    return sum(n * f for n, f in zip(numbers, (v, np.sign(v), np.ones_like(v)), strict=True))


@pytest.mark.parametrize("name", ["panda", "ur5", "humanoid25", "stanford"])
def test_the_columns_give_the_torques_with_rotors_and_friction(name):
    robot = cf.load(name)
    model = Model(robot)
    q, v, a = state(robot)
    s = np.zeros(len(model.standard_names))
    s[:len(model.body.parameters)] = model.body.parameters
    rotors = [i for i, n in enumerate(model.standard_names) if n.endswith(".rotor")]
    s[rotors] = np.linspace(0.1, 0.4, len(rotors))
    s[-3 * len(model.actuated):] = np.tile([0.5, 2.0, 0.1], len(model.actuated))
    at = list(model.actuated)
    expected = cf.inverse_dynamics(robot, q, v, a)
    expected[at] += np.linspace(0.1, 0.4, len(rotors)) * a[at]
    expected[at] += friction(model, v[at], (0.5, 2.0, 0.1))
    W = model.columns(q, v, a, np.full(len(at), SLIP))
    scale = np.abs(expected).max()
    np.testing.assert_allclose(W @ (model.L @ s), expected, atol=1e-11 * scale)


def test_rotors_are_counted_as_published():
    """40 for a UR10's kinematics and 48 for a Panda, with the rotors of all joints."""
    assert Model(cf.load("panda"), PLAIN).base.count == 48
    assert Model(cf.load("ur5"), PLAIN).base.count == 40
    assert Model(cf.load("panda"), PLAIN, rotors=False).base.count == 43


@pytest.mark.parametrize("seed", range(12))
def test_columns_are_independent_on_random_trees(seed):
    """As many as the rank of the standard columns at random states, and none to spare."""
    robot = random_robot(seed, bodies=4)
    model = Model(robot, PLAIN)
    W = np.concatenate([model.columns(*state(robot, k), np.full(len(model.actuated), SLIP))
                        for k in range(60)])
    size = np.linalg.norm(W, axis=0)
    assert np.all(size > 0)
    values = np.linalg.svd(W / size, compute_uv=False)
    assert values[-1] > 1e-9 * values[0]


def test_the_kernel_has_the_entries_that_are_not_always_zero_and_the_torques():
    robot = cf.load("ur5")
    model = Model(robot)
    q, v, a = state(robot)
    slip, tau = np.full(6, 0.01), np.arange(6.0)
    rows = model.kernel()(q, v, a, slip, tau)
    W = model.columns(q, v, a, slip)
    for j, (row, support) in enumerate(zip(rows, model.support, strict=True)):
        np.testing.assert_allclose(row[:-1], W[j, list(support)], rtol=1e-12, atol=1e-12)
        assert row[-1] == tau[j]
        rest = [c for c in range(W.shape[1]) if c not in support]
        assert not W[j, rest].any()


def test_coupled_motors_have_their_own_friction_and_rotors():
    """τ = Pᵀ (J P a + friction(P v)), of two motors on two joints."""
    robot = cf.load("planar2r")
    P = np.array([[50.0, 0.0], [30.0, 30.0]])
    model = Model(robot, Friction("viscous", "coulomb"), drives=Drives([50, 30], coupling=P))
    q, v, a = state(robot)
    rows = P / np.diag(P)[:, None]
    names = model.standard_names
    s = np.zeros(len(names))
    s[:len(model.body.parameters)] = model.body.parameters
    for joint, rotor in zip(model.velocity_names, (0.2, 0.3), strict=True):
        s[names.index(f"{joint}.rotor")] = rotor
    last = model.velocity_names[1]
    s[names.index(f"{last}.motor_viscous")], s[names.index(f"{last}.motor_coulomb")] = 0.7, 1.1
    motor = rows[1] @ v
    expected = cf.inverse_dynamics(robot, q, v, a) + rows.T @ ([0.2, 0.3] * (rows @ a)) \
        + rows[1] * (0.7 * motor + 1.1 * np.sign(motor))
    W = model.columns(q, v, a, np.full(2, SLIP))
    np.testing.assert_allclose(W @ (model.L @ s), expected, atol=1e-9)


def test_a_payload_has_columns_of_its_own():
    robot = cf.load("ur5")
    frame = robot.frame_names[-1] if robot.frame_names else robot.body_names[-1]
    model = Model(robot, PLAIN, payload=frame)
    load = cf.Inertia(1.5, (0.01, 0.02, 0.1), np.diag([0.01, 0.012, 0.008]))
    q, v, a = state(robot)
    s = np.zeros(len(model.standard_names))
    first = len(model.body.parameters)
    s[:first] = model.body.parameters
    s[first:first + 10] = load.array
    expected = cf.inverse_dynamics(robot.with_payload(load, at=frame), q, v, a)
    W = model.columns(q, v, a, np.full(6, SLIP))
    np.testing.assert_allclose(W @ (model.L @ s), expected, atol=1e-9 * np.abs(expected).max())


def test_an_offset_that_a_weight_makes_too_is_no_column_of_its_own():
    """A slide that carries its load upwards: mass, rotor and offset are two numbers, not three."""
    body = cf.Body("cart", None, cf.Prismatic((0, 0, 1)), inertia=cf.Inertia(3.0, (0, 0, 0),
                                                                           0.1 * np.eye(3)))
    robot = cf.Robot("lift", (body,))
    model = Model(robot, Friction("viscous", "offset"))
    assert len(model.names) == 3
    s = np.zeros(len(model.standard_names))
    s[:10] = robot.parameters[:10]
    s[model.standard_names.index(f"{model.velocity_names[0]}.offset")] = 0.7
    q, v, a = np.array([0.2]), np.array([0.5]), np.array([-1.5])
    W = model.columns(q, v, a, np.full(1, SLIP))
    np.testing.assert_allclose(W @ (model.L @ s), cf.inverse_dynamics(robot, q, v, a) + 0.7)


def test_what_is_known_is_an_equation():
    robot = cf.load("ur5")
    one, two = (f"{n}.m" for n in robot.body_names[1:3])
    A, b = Model(robot, known={one: 2.0, f"{one} + {two}": 5.0}).equalities
    assert A.sum() == 3 and list(b) == [2.0, 5.0]


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda r: Model("panda"), ArgumentError, "cf.Robot"),
    (lambda r: Model(r, known={"nothing.m": 1}), UnknownName, "nothing.m"),
    (lambda r: Model(r, "viscous"), ArgumentError, "idn.Friction"),
    (lambda r: Model(r, drives=3), ArgumentError, "idn.Drives"),
    (lambda r: Model(r, payload="nowhere"), UnknownName, "nowhere"),
    (lambda r: Friction("viscuous"), UnknownName, "did you mean 'viscous'"),
    (lambda r: Friction("coulomb", "asymmetric"), ArgumentError, "cannot be told apart"),
    (lambda r: Friction("coulomb", slip=-1), ArgumentError, "slip")])
def test_what_makes_no_model_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make(cf.load("ur5"))


@pytest.mark.parametrize(("known", "message"), [
    ([1], "must be a mapping"), ({"2.m": "heavy"}, "must be a number"),
    ({"2.m": float("nan")}, "must be a number"), ({"2.m": -1.0}, "below zero"),
    ({"1.m + 2.m": -1.0}, "below zero"), ({"q1.coulomb": -0.1}, "below zero"),
    ({"2.mass": 1.0}, "no parameter '2.mass'")])
def test_what_cannot_be_known_is_refused(known, message):
    """Bodies are called 1 and 2, the first joint q1."""
    robot = cf.load("planar2r")
    bodies = tuple(replace(b, name=str(k + 1), parent=str(k) if k else None,
                           joint=replace(b.joint, name=f"q{k + 1}"))
                   for k, b in enumerate(robot.bodies))
    with pytest.raises(cf.ClosedformError, match=message):
        idn.Model(cf.Robot("two", bodies), known=known)


def test_a_log_of_another_robot_is_refused():
    other = cf.load("stanford")
    t = np.arange(100) * 0.01
    log = idn.read({"t": t, "q": np.ones((100, 6)), "tau": np.ones((100, 6))}, other)
    with pytest.raises(ArgumentError, match="is a log of stanford with joints"):
        idn.information(idn.Model(cf.load("ur5")), log)
