"""Bounds of how fast torques change, and what follows for all times."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.excitation.certificate import torque_rates, within
from closedform.applications.identification.excitation.limits import Limits, room_of
from closedform.applications.identification.excitation.motions import Fourier, Spline
from closedform.applications.identification.excitation.rows import MotionRows
from closedform.applications.identification.excitation.search import torques_of
from closedform.applications.identification.model import Friction, Model

ONE = cf.Inertia(1.0, (0.1, 0.2, -0.1), np.diag([0.1, 0.2, 0.15]))


def mixed():
    """A turn, a slide, a screw and a mimic, off their axes; friction and a rotor."""
    shift = np.eye(4)
    shift[:3, 3] = 0.3, -0.1, 0.2
    joints = [cf.Revolute((0, 0, 1), (0.2, 0.1, 0.0), viscous=0.3, coulomb=0.5, rotor_inertia=0.2),
              cf.Prismatic((0, 1, 0)), cf.Helical((1, 0, 0), pitch=0.3),
              cf.Mimic(cf.Revolute((0, 1, 0)), "b0", ratio=-0.7, offset=0.4),
              cf.Universal((1, 0, 0), (0, 1, 0))]
    return cf.Robot("mixed", [cf.Body(f"b{k}", f"b{k - 1}" if k else None, j, shift, ONE)
                              for k, j in enumerate(joints)])


@pytest.mark.parametrize("robot", [mixed(), cf.load("stanford"), cf.load("ur5")],
                         ids=lambda r: r.name)
@pytest.mark.parametrize("basis", [Fourier(4.0, 3), Spline(4.0, 3)], ids=["fourier", "bspline"])
def test_torques_change_no_faster_than_their_bound(robot, basis):
    model = Model(robot, Friction("viscous", "coulomb"))
    rows = MotionRows(model, room_of(model, Limits()))
    for seed in range(3):
        X = 0.1 * np.random.default_rng(seed).normal(size=(basis.size, len(rows.room.at)))
        t = np.linspace(0, basis.duration, 20_001)
        fastest = np.abs(np.diff(torques_of(rows, basis, X, t), axis=0)).max(axis=0) / t[1]
        assert np.all(torque_rates(rows, basis, X) >= fastest)


def test_a_peak_between_samples_is_seen():
    """A spike of 1e-4 s, in the middle between any samples that a grid would have."""
    where, width = 3.14159265, 1e-4

    def spike(t):
        return np.maximum(0.0, 1 - np.abs(t - where) / width)[:, None]
    rate = np.array([1 / width])
    assert within(spike, 10.0, np.array([1.01]), rate)
    assert not within(spike, 10.0, np.array([0.99]), rate)


def test_a_limit_that_is_touched_cannot_be_certain_but_is_never_called_kept():
    def wave(t):
        return np.sin(t)[:, None]
    assert not within(wave, 10.0, np.array([0.999]), np.ones(1))
    assert within(wave, 10.0, np.array([1.001]), np.ones(1))
    assert within(wave, 10.0, np.array([np.inf]), np.ones(1))
