"""Time derivatives of M, C and g: closed forms, block forms and the recursion are one thing."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

import closedform as cf
from closedform.lowerings import reference
from closedform.maths.algorithms import newton_euler
from closedform.maths.algorithms.one_frame.matrices import coriolis_matrix
from closedform.maths.algorithms.time_derivatives import time_derivatives as by_series
from closedform.maths.definitions.time_derivatives import time_derivatives
from closedform.program.record import record
from random_robots import KINDS, random_robot, random_state, robots, seeds
from trajectories import along, exact_start, exactly, rates_at, state_at


def assert_same(found, expected, digits=12):
    for name, x, y in zip(expected._fields, found, expected, strict=True):
        scale = np.abs(y).max(initial=1.0)
        np.testing.assert_allclose(x, y, rtol=0, atol=10.0**-digits * scale, err_msg=name)


@settings(max_examples=20)
@given(robot=robots(), seed=seeds)
def test_the_recursion_gives_the_closed_forms_in_every_frame(robot, seed):
    q, v, a, j = random_state(robot, seed, 3)
    expected = time_derivatives(robot, q, v, a, j)
    for base in {0, len(robot.segments) // 2, len(robot.segments)}:
        assert_same(by_series(robot, q, v, a, j, base), expected)


@pytest.mark.parametrize("kind", KINDS[:-1])
def test_chains_of_one_kind_agree_too(kind):
    robot = random_robot(3, (kind, "revolute") if kind == "fixed" else (kind,), bodies=3)
    state = random_state(robot, 1, 3)
    assert_same(by_series(robot, *state), time_derivatives(robot, *state))


@pytest.mark.parametrize("seed", range(4))
def test_first_derivatives_are_those_of_M_C_and_g(seed):
    robot = random_robot(seed, roots=1 + seed % 2)
    q, *rates = random_state(robot, seed, 3)
    d = time_derivatives(robot, q, *rates)
    def step(f):
        return along(robot, f, q, rates)
    for found, expected in (
            (d.dM, step(lambda q, r: cf.mass_matrix(robot, q))),
            (d.dC, step(lambda q, r: cf.coriolis_matrix(robot, q, r[0]))),
            (d.dg, step(lambda q, r: cf.gravity_torque(robot, q)))):
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max(initial=1))


@pytest.mark.parametrize("seed", range(4))
def test_second_derivatives_are_those_of_the_first(seed):
    robot = random_robot(seed, roots=1 + seed % 2)
    q, *rates = random_state(robot, seed, 4)
    d = time_derivatives(robot, q, *rates[:3])
    for first, second in (("dM", d.ddM), ("dC", d.ddC), ("dg", d.ddg)):
        expected = along(robot, lambda q, r, first=first: getattr(
            time_derivatives(robot, q, *r), first), q, rates)
        np.testing.assert_allclose(second, expected, atol=1e-12 * np.abs(expected).max(initial=1))


def test_the_derivatives_agree_with_differences_in_fifty_digits():
    with mpmath.workdps(50):
        robot = random_robot(2, ("free", "revolute", "planar", "mimic", "universal"), bodies=5)
        q, *rates = random_state(robot, 2, 3)
        start, exact, h = exact_start(robot, q), exactly(rates), mpmath.mpf("1e-12")
        def matrices(t):
            x, v = state_at(robot, start, exact, t), rates_at(exact, t)[0]
            return (newton_euler.mass_matrix(robot, x), coriolis_matrix(robot, x, v),
                    newton_euler.gravity_torque(robot, x))
        expected = []
        for before, now, after in zip(matrices(-h), matrices(0), matrices(h), strict=True):
            expected += [(after - before) / (2 * h), (after - 2 * now + before) / h**2]
        found = time_derivatives(robot, q, *rates)
        assert_same(type(found)(*(x.astype(float) for x in expected)), found)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("function", [time_derivatives, by_series])
def test_the_structure_of_M_and_C_carries_over_to_their_derivatives(seed, function):
    """M⁽ᵏ⁾ symmetric, Ṁ = C + Cᵀ, M̈ = Ċ + Ċᵀ, so that Ṁ − 2C and M̈ − 2Ċ are skew."""
    robot = random_robot(seed)
    q, v, a, j = random_state(robot, seed, 3)
    d, C = function(robot, q, v, a, j), cf.coriolis_matrix(robot, q, v)
    scale = 1e-12 * max(1.0, *(np.abs(x).max(initial=0) for x in d))
    for x, y in ((d.dM, d.dM.T), (d.ddM, d.ddM.T), (d.dM, C + C.T), (d.ddM, d.dC + d.dC.T)):
        np.testing.assert_allclose(x, y, atol=scale)


@pytest.mark.parametrize("seed", range(4))
def test_they_make_up_the_derivatives_of_the_torque(seed):
    """τ̇ = M j + (Ṁ + C) a + Ċ v + ġ, and τ̈ likewise."""
    robot = random_robot(seed)
    q, v, a, j, s = random_state(robot, seed, 4)
    M, C = cf.mass_matrix(robot, q), cf.coriolis_matrix(robot, q, v)
    d = time_derivatives(robot, q, v, a, j)
    from closedform.maths.algorithms.jets import inverse_dynamics_jet
    tau = inverse_dynamics_jet(robot, q, [v, a, j, s])
    first = M @ j + (d.dM + C) @ a + d.dC @ v + d.dg
    second = M @ s + (2 * d.dM + C) @ j + (d.ddM + 2 * d.dC) @ a + d.ddC @ v + d.ddg
    np.testing.assert_allclose(tau[1:], [first, second], atol=1e-12 * np.abs(second).max(initial=1))


def test_a_recorded_program_computes_the_same():
    robot = random_robot(4, bodies=5)
    state = random_state(robot, 4, 3)
    shapes = {name: x.shape for name, x in zip("qvaj", state, strict=True)}
    program = record(lambda *x: by_series(robot, *x), shapes, "d")
    assert_same(reference.run(program, *state), time_derivatives(robot, *state))


def test_a_robot_that_cannot_move_has_empty_derivatives():
    robot = cf.Robot("rock", [cf.Body("b", None, cf.Fixed(), inertia=cf.Inertia(1.0))])
    for function in (time_derivatives, by_series):
        sizes = [x.shape for x in function(robot, *np.zeros((4, 0)))]
        assert sizes == [(0, 0)] * 4 + [(0,)] * 2


def test_the_recursion_is_recorded_in_half_the_operations_of_the_closed_form():
    robot, shapes = cf.load("iiwa14"), dict.fromkeys("qvaj", (7,))
    closed, fast = (record(lambda *x, f=f: f(robot, *x), shapes, "d").operations.total
                    for f in (time_derivatives, by_series))
    assert fast < 0.65 * closed
