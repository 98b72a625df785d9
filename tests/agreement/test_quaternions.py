"""Steps between configurations as compiled code, and derivatives by the entries of quaternions."""

import numpy as np
import pytest

import closedform as cf
from closedform.arrays import NUMBERS
from closedform.model import coordinates
from random_robots import KINDS, random_robot

EPS = np.finfo(float).eps
STEP = 1e-30
ANGLES = (0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-4, 0.5, 1.0 - 1e-15, 1.0, 2.0, np.pi - 1e-9, np.pi,
          4.0, 2 * np.pi, 11.0, 40.0)


@pytest.fixture(scope="module", params=[0, 1, 3])
def arm(request):
    """Trees of all joint kinds, one of them floating."""
    return cf.compile(random_robot(request.param, KINDS, bodies=9))


def directions(arm, seed):
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=arm.robot.nv)
    for _, _, v in arm.robot.parts:
        turn[v][-3:] /= np.linalg.norm(turn[v][-3:])         # a quaternion's turn has length one
    return rng, turn


@pytest.mark.parametrize("angle", ANGLES)
def test_compiled_steps_are_the_robots_own_at_every_angle(arm, angle):
    rng, turn = directions(arm, 1)
    q = np.stack([arm.robot.random(rng) for _ in range(5)])
    dv = angle * turn
    q1 = arm.integrate(q, dv)
    rounding = 40 * EPS * (1 + angle)
    np.testing.assert_allclose(q1, arm.robot.integrate(q, dv), rtol=0, atol=rounding)
    back = arm.difference(q, q1)
    rounding = 40 * EPS * (1 + np.abs(q1).max())
    # half a turn may go either way, to q or to −q; an angle is twice what a quaternion shows
    apart = arm.robot.difference(arm.robot.integrate(q, back), arm.robot.integrate(
        q, arm.robot.difference(q, q1)))
    np.testing.assert_allclose(apart, 0, rtol=0, atol=2 * rounding)
    for one, two in zip(arm.integrate(q, back), q1, strict=True):
        np.testing.assert_allclose(cf.poses(arm.robot, one), cf.poses(arm.robot, two), rtol=0,
                                   atol=50 * rounding)


@pytest.mark.parametrize("angle", [0, 1e-160, 1e-9, 1e-3, 0.9, 1.1, 3.0])
def test_the_derivative_of_a_step_is_finite_and_exact(arm, angle):
    """∂(q ⊕ dv)/∂dv e: the tangent J_r(dv) e at q ⊕ dv, by Γ there; at 0 it is Γ(q) e."""
    rng, turn = directions(arm, 2)
    robot, q, dv = arm.robot, arm.robot.random(rng), angle * turn
    e = rng.normal(size=robot.nv)
    found = arm.integrate.tangent("dv")(q, dv, e)
    _, J_r = robot.integrate_jacobians(q, dv)
    expected = coordinates.rates(robot, robot.integrate(q, dv), J_r @ e, NUMBERS)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("angle", [0, 1e-160, 1e-9, 1e-3, 0.9, 1.1, 3.0])
def test_the_derivative_of_a_difference_is_finite_and_exact(arm, angle):
    rng, turn = directions(arm, 3)
    robot, q0 = arm.robot, arm.robot.random(rng)
    q1, e = robot.integrate(q0, angle * turn), rng.normal(size=robot.nv)
    by0, by1 = robot.difference_jacobians(q0, q1)
    back = arm.difference.tangent("q0")(q0, q1, coordinates.rates(robot, q0, e, NUMBERS))
    forth = arm.difference.tangent("q1")(q0, q1, coordinates.rates(robot, q1, e, NUMBERS))
    for found, expected in ((back, by0 @ e), (forth, by1 @ e)):
        np.testing.assert_allclose(found, expected, rtol=0,
                                   atol=1e-12 * (1 + np.abs(expected).max()))


def test_second_derivatives_of_a_step_are_finite_at_zero(arm):
    robot, (rng, _) = arm.robot, directions(arm, 4)
    q, zero, e = robot.random(rng), np.zeros(robot.nv), rng.normal(size=robot.nv)
    twice = arm.integrate.tangent("dv").tangent("dv")(q, zero, e, e)
    before, after = (arm.integrate.tangent("dv")(q, h * e, e) for h in (-1e-4, 1e-4))
    np.testing.assert_allclose(twice, (after - before) / 2e-4, rtol=0,
                               atol=1e-6 * (1 + np.abs(twice).max()))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_gradients_by_entries_are_the_catalogues_tangents(name):
    """q̄ of the row = Γᵀ q̄ of the entries, Γ = ∂(q ⊕ δ)/∂δ at δ = 0: what operators rely on."""
    robot = random_robot(5, ("free", "spherical", "revolute", "planar"), bodies=4)
    arm, rng = cf.compile(robot), np.random.default_rng(6)
    q, (v, x, weights) = robot.random(rng), rng.normal(size=(3, robot.nv))
    Gamma = arm.integrate.jacobian("dv")(q, np.zeros(robot.nv))
    entries = getattr(arm, name).cotangent("q")(q, v, x, weights)
    assert entries.shape == (robot.nq,) and robot.nq > robot.nv
    tangent = getattr(arm, f"{name}_vjp")(q, v, x, weights).q_bar
    np.testing.assert_allclose(Gamma.T @ entries, tangent, rtol=1e-10,
                               atol=1e-11 * np.abs(tangent).max())


def test_normalising_in_front_makes_gradients_tangent():
    """What an optimiser over entries may do: with q/|q| in front, no gradient points outwards."""
    robot = random_robot(5, ("spherical", "revolute"), bodies=3)
    rng = np.random.default_rng(7)
    q = 1.3 * robot.random(rng)

    def potential(q):
        return cf.potential_energy(robot, coordinates.projected(robot, q))

    for at in coordinates.units(robot).values():
        out = np.zeros(robot.nq)
        out[at] = q[at]
        assert abs(np.imag(potential(q + 1j * STEP * out)) / STEP) < 1e-12
        assert abs(np.imag(cf.potential_energy(robot, q + 1j * STEP * out)) / STEP) > 1e-3


@pytest.mark.parametrize("library", ["jax", "casadi"])
def test_other_libraries_have_finite_derivatives_of_a_step_at_zero(library):
    """The slope at dv = 0 is Γ(q), also where the library differentiates by itself."""
    robot = random_robot(4, ("free", "planar", "spherical"), bodies=3)
    arm, q, zero = cf.compile(robot), robot.random(8), np.zeros(robot.nv)
    Gamma = arm.integrate.jacobian("dv")(q, zero)
    if library == "jax":
        jax = pytest.importorskip("jax", reason="NOT TESTED: pip install jax")
        with jax.enable_x64(True):
            found = np.asarray(jax.jacfwd(arm.integrate.jax(), argnums=1)(q, zero))
            back = np.asarray(jax.jacrev(arm.integrate.jax(), argnums=1)(q, zero))
        np.testing.assert_allclose(back, Gamma, rtol=0, atol=1e-14)
    else:
        casadi = pytest.importorskip("casadi", reason="NOT TESTED: pip install casadi")
        x, dx = casadi.MX.sym("q", robot.nq), casadi.MX.sym("dv", robot.nv)
        slope = casadi.jacobian(arm.integrate.casadi()(x, dx), dx)
        found = np.array(casadi.Function("slope", [x, dx], [slope])(q, zero))
    np.testing.assert_allclose(found, Gamma, rtol=0, atol=1e-14)
