"""W along a motion, its adjoint, the criteria, and their gradient as a whole."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.excitation.criteria import (
    CRITERIA,
    Scene,
    condition_number,
)
from closedform.applications.identification.excitation.limits import Limits, room_of
from closedform.applications.identification.excitation.motions import Fourier, Spline
from closedform.applications.identification.excitation.problem import Excitation, gram, reach_of
from closedform.applications.identification.excitation.rows import MotionRows
from closedform.applications.identification.model import Friction, Model


def rows_of(robot, friction=None, **model):
    made = Model(robot, friction or Friction("viscous", "coulomb", "offset"), **model)
    return MotionRows(made, room_of(made, Limits()))


def moving(rows, count=5, seed=0):
    rng, n = np.random.default_rng(seed), len(rows.room.at)
    q = rng.uniform(rows.room.lower, rows.room.upper, (count, n))
    return q, *rng.normal(size=(2, count, n))


def problem_of(rows, criterion, basis, sharp=8.0):
    p = len(rows.model.names)
    measured = np.isin(np.arange(rows.model.robot.nv), rows.model.actuated) * 1.0
    reach = reach_of(rows, measured, np.zeros((p, p)), np.zeros((0, p)))
    return Excitation(rows, basis, CRITERIA[criterion], Scene(reach.basis, np.ones(p), sharp),
                   measured, np.zeros((p, p)))


@pytest.mark.parametrize("name", ["ur5", "stanford"])
def test_rows_and_expected_numbers_give_the_torques(name):
    rows = rows_of(cf.load(name))
    q, v, a = moving(rows)
    whole = rows.states(q, v, a)
    expected = [cf.inverse_dynamics(rows.model.robot, *x) for x in zip(*whole, strict=True)]
    np.testing.assert_allclose(rows.torques(rows.rows(q, v, a), q), expected, atol=1e-10)
    np.testing.assert_allclose(rows.torques_at(q, v, a), expected, atol=1e-10)


def test_friction_of_the_file_is_expected():
    joint = cf.Revolute((0, 0, 1), viscous=0.5, coulomb=2.0)
    robot = cf.Robot("one", [cf.Body("b", None, joint, inertia=cf.Inertia(1.0))])
    rows = rows_of(robot, Friction("asymmetric", "viscous"))
    tau = rows.torques_at(np.zeros((1, 1)), np.full((1, 1), 3.0), np.zeros((1, 1)))
    np.testing.assert_allclose(tau, 0.5 * 3 + 2.0, rtol=1e-4)


def test_springs_of_the_file_are_expected():
    joint = cf.Revolute((0, 0, 1), stiffness=3.0, spring_reference=0.4, lower=-1.0, upper=2.0)
    robot = cf.Robot("one", [cf.Body("b", None, joint, inertia=cf.Inertia(1.0))])
    rows = rows_of(robot)
    q, v, a = moving(rows)
    expected = [cf.inverse_dynamics(robot, *x) for x in zip(q, v, a, strict=True)]
    np.testing.assert_allclose(rows.torques_at(q, v, a), expected, atol=1e-12)


def test_the_adjoint_is_the_derivative_of_the_rows_by_complex_step():
    rows = rows_of(cf.load("ur5"))
    model, (q, v, a) = rows.model, moving(rows, 3)
    W = rows.rows(q, v, a)
    Z = [np.random.default_rng(1).normal(size=w.shape) for w in W]
    found = rows.gradients(q, v, a, Z)
    h, slip = 1e-30, rows.slip

    def value(q, v, a, n):
        columns = model.columns(q, v, a, slip)
        return sum(Z[i][n] @ columns[i, list(s)] for i, s in enumerate(model.support))
    for n in range(3):
        for which in range(3):
            for k in range(6):
                state = [x[n].astype(complex) for x in (q, v, a)]
                state[which][k] += 1j * h
                exact = np.imag(value(*state, n)) / h
                assert abs(found[which][n, k] - exact) < 1e-9 * max(1.0, abs(exact))


@pytest.mark.parametrize("criterion", list(CRITERIA))
@pytest.mark.parametrize("basis", [Fourier(5.0, 3), Spline(5.0, 3)], ids=["fourier", "bspline"])
def test_the_gradient_is_exact_to_1e_6(criterion, basis):
    """The signs are as smooth as slip makes them, so that a quotient of fourth order sees 1e-6."""
    made = Model(cf.load("planar3r"), Friction("viscous", "coulomb", "offset", slip=0.2))
    problem = problem_of(MotionRows(made, room_of(made, Limits(velocity=2.0))), criterion, basis)
    x, h = np.random.default_rng(0).normal(size=basis.size * 3), 2e-4
    _, gradient = problem(x, 0.0)
    for seed in range(3):
        dx = np.random.default_rng(seed).normal(size=len(x))

        def along(s, dx=dx):
            return problem(x + s * dx, 0.0)[0]
        quotient = (8 * (along(h) - along(-h)) - along(2 * h) + along(-2 * h)) / (12 * h)
        assert abs(quotient - gradient @ dx) < 1e-6 * np.linalg.norm(gradient)


@pytest.mark.parametrize("limits", [
    {"position": (-0.5, 0.5)}, {"velocity": 0.3}, {"acceleration": 0.5}, {"torque": 20.0}], ids=str)
def test_the_gradient_of_each_limit_is_exact_to_1e_6(limits):
    wide = {"position": (-9.0, 9.0), "velocity": 9.0, "acceleration": 99.0, "torque": 1e4}
    made = Model(cf.load("planar3r"))
    problem = problem_of(MotionRows(made, room_of(made, Limits(**wide | limits))), "information",
                         Fourier(5.0, 3))
    rng = np.random.default_rng(0)
    x, dx = rng.normal(size=(2, problem.basis.size * 3))
    x, h, rho = x / np.abs(problem.units).max(), 1e-6, 10.0

    def hinges(s):
        y = x + s * dx
        return problem(y, rho)[0] - problem(y, 0.0)[0]
    assert hinges(0.0) > 1e-3
    exact = (problem(x, rho)[1] - problem(x, 0.0)[1]) @ dx
    assert abs((hinges(h) - hinges(-h)) / (2 * h) - exact) < 1e-6 * abs(exact)


def test_the_smooth_condition_number_tends_to_the_condition_number_from_above():
    A = np.random.default_rng(0).normal(size=(9, 6))
    H, values = A.T @ A, []
    for sharp in (4.0, 16.0, 64.0, 256.0):
        values.append(np.exp(CRITERIA["condition"](Scene(np.eye(6), np.ones(6), sharp), H)[0] / 2))
    assert values == sorted(values, reverse=True)
    np.testing.assert_allclose(values[-1], np.linalg.cond(A), rtol=1e-2)
    assert values[-1] >= condition_number(H) * (1 - 1e-12)


def test_d_and_a_are_what_they_are_called():
    A, size = np.random.default_rng(1).normal(size=(9, 4)), np.array([1.0, 2.0, 0.5, 3.0])
    H, scene = A.T @ A, Scene(np.eye(4), size)
    np.testing.assert_allclose(CRITERIA["information"](scene, H)[0],
                               -np.log(np.linalg.det(H)) / 4)
    np.testing.assert_allclose(np.exp(CRITERIA["a"](scene, H)[0]),
                               np.sum(np.diag(np.linalg.inv(H)) / size**2))


def test_no_information_is_worse_than_any():
    for criterion in CRITERIA.values():
        value, slope = criterion(Scene(np.eye(3), np.ones(3)), np.diag([1.0, 1.0, 0.0]))
        assert value >= 1e6
        assert not slope.any()


def test_what_no_motion_tells_is_left_out():
    """Joint torques of a robot whose base stands still say nothing about the base."""
    turn = {"lower": -1.0, "upper": 1.0}
    one = cf.Inertia(2.0, (0.1, 0.05, 0.1), np.diag([0.1, 0.2, 0.15]))
    rows = rows_of(cf.Robot("free", [
        cf.Body("base", None, cf.Free(), inertia=one),
        cf.Body("a", "base", cf.Revolute((0, 0, 1), **turn), inertia=one),
        cf.Body("b", "a", cf.Revolute((0, 1, 0), **turn), inertia=one)]))
    measured = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    p = len(rows.model.names)
    reach = reach_of(rows, measured, np.zeros((p, p)), np.zeros((0, p)))
    dark = {n for n, o in zip(rows.model.names, reach.open, strict=True) if o}
    base = rows.model.robot.bodies[0].name
    assert {n for n in rows.model.names if n.startswith(f"{base}.")} <= dark
    q, v, a = moving(rows, 40)
    H = gram(rows, rows.rows(q, v, a), measured)
    hidden = np.eye(p) - reach.basis @ reach.basis.T
    assert np.abs(H @ hidden).max() < 1e-8 * np.abs(H).max()
