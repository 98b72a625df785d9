"""Derivatives by the state of robots with loops, by complex steps on the loops."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.algorithms.own_frames import derivative_products as products
from closedform.maths.embedding import embedding
from closedform.model.coordinates import rates as coordinate_rates
from loop_mechanisms import ALL, at, random_inertia

ROBOTS = {name: make() for name, make in ALL.items() if name not in ("stewart", "palletiser")}
H = 1e-30


@pytest.fixture(params=ROBOTS, name="robot")
def _robot(request):
    return ROBOTS[request.param]


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(seed), *rng.normal(size=(2, robot.nv))


def complex_steps(robot, q, function):
    """∂ of a function of closed q by every direction: a complex step, closed in complex numbers."""
    e = embedding(robot)
    G, found = e.here(q).G, []
    for k in range(robot.nv):
        moved = q + 1j * H * coordinate_rates(robot.tree, q, G[:, k])
        found.append(np.asarray(function(e.stepped(moved))).imag / H)
    return np.stack(found, axis=-1)


def close(x, y, digits=8):
    return np.allclose(x, y, rtol=10.0**-digits, atol=10.0**-digits * max(1, np.abs(y).max()))


def test_torques_change_with_the_state_as_their_derivatives_say(robot):
    q, v, a = state(robot)
    F = 0.3 * np.random.default_rng(1).normal(size=(len(robot.bodies), 6))
    d = cf.inverse_dynamics_derivatives(robot, q, v, a, F)
    assert close(d.dtau_dq, complex_steps(
        robot, q, lambda x: cf.inverse_dynamics(robot, x, v, a, F)))
    by_v = np.stack([cf.inverse_dynamics(robot, q, v + 1j * H * e, a, F).imag / H
                     for e in np.eye(robot.nv)], axis=1)
    assert close(d.dtau_dv, by_v) and close(d.dtau_da, cf.mass_matrix(robot, q))


def test_products_of_the_derivatives_are_those_of_the_matrices(robot):
    q, v, a = state(robot)
    d = cf.inverse_dynamics_derivatives(robot, q, v, a)
    x, y, z, w = np.random.default_rng(2).normal(size=(4, robot.nv))
    jvp = products.inverse_dynamics_jvp(robot, q, v, a, x, y, z)
    assert close(jvp, d.dtau_dq @ x + d.dtau_dv @ y + d.dtau_da @ z)
    vjp = products.inverse_dynamics_vjp(robot, q, v, a, w)
    for found, wanted in zip(vjp, (d.dtau_dq, d.dtau_dv, d.dtau_da), strict=True):
        assert close(found, wanted.T @ w)


def test_matrices_change_with_the_state_as_their_derivatives_say(robot):
    q, v, _ = state(robot)
    d = cf.state_derivatives(robot, q, v)
    assert close(d.dM_dq, complex_steps(robot, q, lambda x: cf.mass_matrix(robot, x)))
    assert close(d.dg_dq, complex_steps(robot, q, lambda x: cf.gravity_torque(robot, x)))
    C = np.einsum("ijk,k->ij", cf.christoffel_symbols(robot, q), v)
    assert close(C, cf.christoffel_coriolis_matrix(robot, q, v))
    assert close(np.einsum("ijk,k->ij", d.dC_dv, v), cf.coriolis_matrix(robot, q, v))


def test_second_derivatives_are_derivatives_of_the_first(robot):
    if robot.nv > 2:
        pytest.skip("those of many joints take minutes in Python")
    q, v, a = state(robot)
    d = cf.inverse_dynamics_second_derivatives(robot, q, v, a)
    assert close(d.d2tau_dqdq, complex_steps(
        robot, q, lambda x: complex_derivatives(robot, x, v, a)[0]), 6)
    assert close(d.d2tau_dqda, np.swapaxes(cf.state_derivatives(robot, q, v).dM_dq, 1, 2))


def complex_derivatives(robot, q, v, a):
    return cf.inverse_dynamics_derivatives(robot, q, v, a)


def test_a_frames_jacobian_changes_as_its_hessian_says(robot):
    if robot.nv > 6:
        pytest.skip("enough of them")
    q, frame = robot.random(0), robot.bodies[-1].name
    found = cf.kinematic_hessian(robot, q, frame)
    assert close(found, complex_steps(robot, q, lambda x: cf.frame_jacobian(robot, x, frame)))


def test_balls_and_free_bodies_may_be_independent_in_part():
    """Their brackets mix velocities that are given with such that follow."""
    rng = np.random.default_rng(1)
    robot = cf.Robot("held", [
        cf.Body("ball", None, cf.Spherical(), inertia=random_inertia(rng)),
        cf.Body("arm", "ball", cf.Revolute((0, 1, 0)), at(0.3), random_inertia(rng)),
        cf.Body("free", None, cf.Free(), inertia=random_inertia(rng)),
    ], loops=[cf.Loop("hold", ("arm", (0.2, 0, 0.1)), ("free", (0, 0.1, 0)),
                      cf.Universal((1, 0, 0), (0, 1, 0)))],
        independent=["ball", "arm", "free[2]", "free[4]"],
        guess={"free": [0.5, -0.1, 0.1, 0, 0, 0, 1]})
    q, v, a = state(robot)
    d, way = cf.inverse_dynamics_derivatives(robot, q, v, a), rng.normal(size=robot.nv)
    assert close(d.dtau_dv @ way, cf.inverse_dynamics(robot, q, v + 1j * H * way, a).imag / H)
    assert close(d.dtau_dq, complex_steps(robot, q, lambda x: cf.inverse_dynamics(robot, x, v, a)))
