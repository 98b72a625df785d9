"""Robots whose joints follow others by polynomials: what mechanics demands of their quantities."""

import numpy as np
import pytest

import closedform as cf
from closedform.lowerings.store.cache import Cache
from closedform.maths.algorithms.applicability import applies
from closedform.maths.catalogue import CATALOGUE, quantity
from closedform.maths.embedding import embedding
from closedform.model.joints import Revolute
from closedform.model.robot import Body, Robot
from curved_robots import cam, curved_robot
from random_robots import complex_step, random_state

ROBOTS = {"fixed": curved_robot(), "floating": curved_robot(floating=True)}
BY = [(row.name, partial) for row in CATALOGUE for partial in row.derivatives
      if partial.by in row.inputs]


@pytest.fixture(params=ROBOTS)
def robot(request):
    return ROBOTS[request.param]


def arguments(robot, row, seed=0):
    rng = np.random.default_rng(seed)
    return {name: robot.random(rng) if name == "q" else rng.normal(size=shape)
            for name, shape in row.input_shapes(robot).items()}


def value_of(robot, row, field, given):
    """A row's result, or a field of it."""
    found = row.definition(robot, **given, **({"frame": "tool"} if row.framed else {}))
    return getattr(found, field) if row.fields else found


def assert_close(actual, expected, parts=1e-11):
    size = max(1.0, np.abs(expected).max(initial=0))
    np.testing.assert_allclose(actual, expected, atol=parts * size, rtol=0)


@pytest.mark.parametrize(("name", "partial"), BY, ids=[f"{n} by {p.by}" for n, p in BY])
def test_derivatives_are_those_of_the_complex_step(robot, name, partial):
    row, by = quantity(name), partial.by
    given = arguments(robot, row)
    f = lambda x: np.asarray(value_of(robot, row, name, given | {by: x}))
    directions = np.eye(robot.nv)
    step = [complex_step(robot, f, given["q"], e) if by == "q" else
            np.imag(f(given[by] + 1e-30j * e)) / 1e-30 for e in directions]
    target = quantity(partial.row)
    own = {k: x for k, x in given.items() if k in target.inputs}
    own |= {k: x for k, x in arguments(robot, target, 1).items() if k not in own}
    actual = np.asarray(value_of(robot, target, partial.field, own))
    assert_close(actual, np.stack(step, axis=-1))


def test_jacobians_are_the_derivatives_of_poses(robot):
    q, v, _ = random_state(robot)
    T, dT = cf.poses(robot, q), complex_step(robot, lambda q: cf.poses(robot, q), q, v)
    V = cf.body_velocities(robot, q, v)
    for T_k, dT_k, V_k in zip(T, dT, V, strict=True):
        twist = np.linalg.solve(T_k, dT_k)
        x, y, z = V_k[3:]
        np.testing.assert_allclose(twist[:3, :3], [[0, -z, y], [z, 0, -x], [-y, x, 0]], atol=1e-12)
        np.testing.assert_allclose(twist[:3, 3], V_k[:3], atol=1e-12)


def test_M_C_and_g_are_those_of_the_free_robot_in_the_velocities_that_are_left(robot):
    q, v, a = random_state(robot)
    e = embedding(robot)
    q_hat, (v_hat, a_hat) = e.coordinates(q), e.rates(q, [v, a])
    G = np.stack([e.raised(x, e.slopes(q)) for x in np.eye(robot.nv)], axis=1)
    assert_close(cf.mass_matrix(robot, q), G.T @ cf.mass_matrix(e.free, q_hat) @ G)
    tau = cf.inverse_dynamics(e.free, q_hat, v_hat, a_hat)
    assert_close(cf.inverse_dynamics(robot, q, v, a), G.T @ tau)


def test_dM_less_2C_is_skew_for_the_passive_C(robot):
    q, v, _ = random_state(robot)
    dM = complex_step(robot, lambda q: cf.mass_matrix(robot, q), q, v)
    N = dM - 2 * cf.coriolis_matrix(robot, q, v)
    assert_close(N + N.T, np.zeros_like(N))


def test_power_is_the_rate_of_energy(robot):
    """Ė = vᵀ τ, along q̇ = v and v̇ = a."""
    q, v, a = random_state(robot)
    energy = lambda q, v: cf.kinetic_energy(robot, q, v) + cf.potential_energy(robot, q)
    rate = complex_step(robot, lambda q: energy(q, v), q, v) + np.imag(
        energy(q, v + 1e-30j * a)) / 1e-30
    assert rate == pytest.approx(v @ cf.inverse_dynamics(robot, q, v, a), rel=1e-11)


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_every_algorithm_is_its_definition_under_wrenches_too(robot, row):
    if "base" in row.name:                     # they are of robots that are carried equally
        robot = curved_robot(robot.is_floating, carried=0.0)
    given = arguments(robot, row) | ({"frame": "g"} if row.framed else {})
    loads = [{}]
    if row.wrenches and "rates" not in given:
        loads.append({"wrenches": np.random.default_rng(1).normal(size=(len(robot.bodies), 6))})
    for load in loads:
        try:
            expected = row.definition(robot, **given, **load)
        except cf.SingularMatrix:
            assert row.name == "operational_space_inertia" and robot.nv < 6
            return
        for algorithm in (x for x in row.algorithms if applies(x, robot)):
            found = algorithm(robot, **given, **load)
            pairs = zip(found, expected, strict=True) if row.fields else [(found, expected)]
            for x, y in pairs:
                assert_close(np.asarray(x), np.asarray(y))


@pytest.mark.slow
@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_every_kernel_of_a_floating_robot_is_its_definition(row):
    robot = curved_robot(floating=True, carried=0.0 if "base" in row.name else 0.3)
    given = arguments(robot, row)
    kernel = getattr(cf.compile(robot), row.name)
    expected = row.definition(robot, **given, **({"frame": "tool"} if row.framed else {}))
    found = kernel(*given.values(), *(["tool"] if row.framed else []))
    for x, y in zip(found, expected, strict=True) if row.fields else [(found, expected)]:
        assert_close(np.asarray(x), np.asarray(y))


def test_energy_is_kept_in_a_simulation():
    robot = ROBOTS["fixed"]
    q, v, _ = random_state(robot)
    found = cf.simulate(robot, (q, 0.2 * v), None, np.linspace(0, 0.5, 11))
    energy = [cf.kinetic_energy(robot, q, v) + cf.potential_energy(robot, q)
              for q, v in zip(found.q, found.v, strict=True)]
    assert np.ptp(energy) < 1e-6 * max(1, np.abs(energy).max())


def test_where_a_follower_stands_still_and_carries_all_mass_the_matrix_is_singular():
    """γ' = x is zero at x = 0, and the wheel has no inertia of its own."""
    robot = cam()
    assert cf.mass_matrix(robot, [0.5]) == pytest.approx(0.25)
    for solve in (cf.forward_dynamics, cf.compile(robot, cache=Cache(None)).forward_dynamics):
        found = solve(*((robot,) if solve is cf.forward_dynamics else ()), [0.5], [0.0], [0.0])
        np.testing.assert_allclose(found, -9.81 / 0.5)
        with pytest.raises(cf.SingularMatrix):
            solve(*((robot,) if solve is cf.forward_dynamics else ()), [0.0], [0.0], [1.0])


def test_a_polynomial_without_slope_is_a_fixed_joint():
    robot = cam(higher=(0.0, 0.0))
    assert not robot.is_curved
    assert cf.mass_matrix(robot, [0.5]) == 0


def test_what_follows_the_polynomial_x_squared_moves_by_it():
    """A lifter of mass m at h = x²/2: τ = m x (x ẍ + ẋ² + g)."""
    robot, (x, v, a) = cam(mass=2.0), (0.7, -1.1, 0.4)
    tau = cf.inverse_dynamics(robot, [x], [v], [a])
    np.testing.assert_allclose(tau, 2.0 * x * (x * a + v * v + 9.81), rtol=1e-14)
    Y = cf.inverse_dynamics_jet(robot, [x], [[v], [a], [0.3]])[1]
    rate = 2 * v * (x * a + v * v + 9.81) + 2 * x * (v * a + x * 0.3 + 2 * v * a)
    np.testing.assert_allclose(Y, rate, rtol=1e-13)


def test_base_parameters_see_what_a_polynomial_moves():
    """The lifter's mass is seen; its wheel, about its own axis, has one inertia."""
    robot = cam()
    assert cf.base_parameters(robot, twin=True).names == ("wheel.Izz", "lifter.m")
    turned = Robot("arm", [*robot.bodies, Body("arm", "lifter", Revolute((1, 0, 0)))])
    found = cf.base_parameters(turned, twin=True)
    assert found.evidence.twin.certified and found.evidence.twin.rank == found.count
