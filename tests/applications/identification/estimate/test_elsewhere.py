"""What logs alone say of motions within the robot's limits, beside its definition."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.excitation.limits import Limits, room_of
from measured_runs import run

idn = cf.identification
ROBOT = cf.load("planar2r")
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0)


def fitted(size, robot=ROBOT):
    model = idn.Model(robot, idn.Friction("viscous", "coulomb", slip=1e-3))
    info = idn.information(model, idn.read(run(robot, seconds=10.0, size=size), robot),
                           signals=SIGNALS, blocks=6)
    return idn.fit(info, "least_squares")


def test_it_is_the_jackknife_of_torques_within_the_limits():
    """Fits without one block each, at other states: the two agree as far as 3000 states do."""
    fit, rng = fitted(0.1), np.random.default_rng(5)
    blocks = fit.info.blocks
    without = np.array([
        idn.fit(replace(fit.info, blocks=blocks[:k] + blocks[k + 1:]), "least_squares").x
        for k in range(len(blocks))])
    room, n = room_of(fit.model, Limits()), 3000
    q = rng.uniform(room.lower, room.upper, (n, 2))
    v, a = (0.5 * limit * rng.uniform(-1, 1, (n, 2))
            for limit in (room.velocity, room.acceleration))
    W = np.concatenate([fit.model.columns(*state, np.full(2, 1e-3))
                        for state in zip(q, v, a, strict=True)])
    moved = W @ (without - without.mean(axis=0)).T
    expected = np.sqrt((1 - 1 / len(blocks)) * np.sum(moved**2) / np.sum((W @ fit.x)**2))
    assert fit.elsewhere == pytest.approx(expected, rel=0.15)


def test_the_smaller_the_motions_of_a_log_the_less_it_says_of_others():
    large, small = fitted(0.4).elsewhere, fitted(0.01).elsewhere
    assert 0 < large < 0.05 and small > 10 * large


def test_of_joints_without_plain_coordinates_nothing_is_said():
    ball = cf.Robot("ball", [cf.Body("b", None, cf.Spherical(), np.eye(4),
                                     cf.Inertia(1.0, (0, 0, -0.3), 0.1 * np.eye(3)))])
    t = np.arange(0, 10, 0.01)
    v = np.stack([np.sin(t + k) for k in range(3)], axis=1)
    q = np.zeros((len(t), 4))
    q[0] = ball.neutral()
    for i in range(len(t) - 1):
        q[i + 1] = ball.integrate(q[i], 0.005 * (v[i] + v[i + 1]))
    a = np.stack([np.cos(t + k) for k in range(3)], axis=1)
    tau = cf.compile(ball).inverse_dynamics(q, v, a)
    tau += 1e-3 * np.random.default_rng(0).normal(size=tau.shape)
    info = idn.information(idn.Model(ball, idn.Friction()), idn.read({"t": t, "q": q, "tau": tau},
                                                                     ball))
    assert idn.fit(info, "weighted").elsewhere == 0.0
