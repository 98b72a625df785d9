"""Coordinates: what integrators see, and the Jacobians of integrate and difference."""

import math

import numpy as np
import pytest
from hypothesis import given

from closedform.errors import ArgumentError
from closedform.model import coordinates
from closedform.model.joints import Free, Planar, Revolute, Spherical
from closedform.model.robot import Body, Robot
from random_robots import random_robot, random_state, robots, seeds


def centred(f, n, h=1e-5):
    """df/dε at 0 of f(ε) along each of n directions, as columns."""
    return np.stack([(f(h * e) - f(-h * e)) / (2 * h) for e in np.eye(n)], axis=-1)


@given(robots(), seeds)
def test_integrate_jacobians_are_the_derivatives_between_tangents(robot, seed):
    """(q ⊕ ε) ⊕ dv = (q ⊕ dv) ⊕ (J_q ε) and q ⊕ (dv + ε) = (q ⊕ dv) ⊕ (J_v ε)."""
    q, dv, _ = random_state(robot, seed)
    to = robot.integrate(q, dv)
    by_q, by_dv = robot.integrate_jacobians(q, dv)
    n = robot.nv
    tolerance = 1e-8 * max(1.0, np.abs(dv).max(initial=0)) ** 2
    np.testing.assert_allclose(by_q, centred(lambda e: robot.difference(
        to, robot.integrate(robot.integrate(q, e), dv)), n) if n else by_q, atol=tolerance)
    np.testing.assert_allclose(by_dv, centred(lambda e: robot.difference(
        to, robot.integrate(q, dv + e)), n) if n else by_dv, atol=tolerance)


@given(robots(), seeds)
def test_difference_jacobians_are_the_derivatives_by_both_ends(robot, seed):
    q0, dv, _ = random_state(robot, seed)
    q1 = robot.integrate(q0, dv / max(1.0, np.abs(dv).max(initial=0)))
    by_0, by_1 = robot.difference_jacobians(q0, q1)
    if robot.nv:
        np.testing.assert_allclose(by_0, centred(
            lambda e: robot.difference(robot.integrate(q0, e), q1), robot.nv), atol=1e-8)
        np.testing.assert_allclose(by_1, centred(
            lambda e: robot.difference(q0, robot.integrate(q1, e)), robot.nv), atol=1e-8)


@given(robots(), seeds)
def test_the_jacobian_of_the_difference_undoes_that_of_integrate(robot, seed):
    q, dv, _ = random_state(robot, seed)
    dv = dv / max(1.0, np.abs(dv).max(initial=0))
    _, by_dv = robot.integrate_jacobians(q, dv)
    _, by_1 = robot.difference_jacobians(q, robot.integrate(q, dv))
    np.testing.assert_allclose(by_1 @ by_dv, np.eye(robot.nv), atol=1e-13)


def pinocchio_pair(pin):
    """A chain of all joints whose q is no vector, here and there, and Pinocchio's q of ours."""
    robot = Robot("r", [Body("a", None, Free()), Body("b", "a", Spherical()),
                        Body("c", "b", Planar()), Body("d", "c", Revolute((0, 0, 1)))])
    model, at = pin.Model(), 0
    for name, joint in (("a", pin.JointModelFreeFlyer()), ("b", pin.JointModelSpherical()),
                        ("c", pin.JointModelPlanar()), ("d", pin.JointModelRZ())):
        at = model.addJoint(at, joint, pin.SE3.Identity(), name)
    def theirs(q):
        return np.concatenate([q[:13], [math.cos(q[13]), math.sin(q[13])], q[14:]])
    return robot, model, theirs


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.3, 1.0, 2.5])
def test_the_jacobians_are_pinocchios(size):
    pin = pytest.importorskip("pinocchio")
    robot, model, theirs = pinocchio_pair(pin)
    rng = np.random.default_rng(1)
    q, dv = robot.random(rng), rng.normal(size=robot.nv)
    for part in (slice(3, 6), slice(6, 9), slice(11, 12)):
        dv[part] *= size / np.linalg.norm(dv[part])
    q1 = robot.integrate(q, dv)
    for ours, arg in zip(robot.integrate_jacobians(q, dv), (pin.ARG0, pin.ARG1), strict=True):
        np.testing.assert_allclose(ours, pin.dIntegrate(model, theirs(q), dv, arg), atol=1e-12)
    for ours, arg in zip(robot.difference_jacobians(q, q1), (pin.ARG0, pin.ARG1), strict=True):
        expected = pin.dDifference(model, theirs(q), theirs(q1), arg)
        np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_jacobians_take_batches_and_name_wrong_sizes():
    robot = random_robot(7)
    q, v = np.stack([robot.random(k) for k in range(4)]), np.ones(robot.nv)
    for many, one in zip(robot.integrate_jacobians(q, v), robot.integrate_jacobians(q[2], v),
                         strict=True):
        assert many.shape == (4, robot.nv, robot.nv)
        np.testing.assert_allclose(many[2], one, atol=1e-15)
    with pytest.raises(ArgumentError, match=r"dv must have the shape"):
        robot.integrate_jacobians(q, v[1:])


@given(robots(), seeds)
def test_what_an_integrator_sees_turns_unit_vectors_of_any_length_alike(robot, seed):
    q, v, _ = random_state(robot, seed)
    y = q.copy()
    for at in coordinates.units(robot).values():
        y[at] *= 1.3
    dq, dy = coordinates.rates(robot, q, v), coordinates.integrand(robot, y, q, v)
    np.testing.assert_allclose(coordinates.projected(robot, y), q, atol=1e-15)
    for at in coordinates.units(robot).values():
        dy[at] /= 1.3
    np.testing.assert_allclose(dy, dq, atol=1e-12)
