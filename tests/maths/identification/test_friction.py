"""Friction laws, linear in their numbers."""

import numpy as np

from closedform.maths.coulomb import smoothed_sign
from closedform.maths.identification.friction import LAWS, friction_columns, friction_names


def torque(terms, numbers, v, slip=1e-6, speed=0.1):
    return float(friction_columns(terms, np.array(v), np.array(slip), speed) @ numbers)


def test_every_law_has_as_many_columns_as_numbers():
    for term in LAWS:
        columns = friction_columns([term], np.array(0.3), np.array(1e-3), 0.1)
        assert columns.shape == (len(friction_names([term])),)


def test_viscous_coulomb_and_offset_are_the_textbooks():
    for v in (-0.7, 0.7):
        found = torque(["viscous", "coulomb", "offset"], [0.5, 2.0, 0.1], v)
        assert abs(found - (0.5 * v + 2.0 * np.sign(v) + 0.1)) < 1e-9


def test_each_direction_has_its_own_numbers():
    terms = ["asymmetric", "asymmetric_viscous"]
    assert abs(torque(terms, [2.0, 3.0, 0.5, 0.7], 0.4) - (2.0 + 0.5 * 0.4)) < 1e-9
    assert abs(torque(terms, [2.0, 3.0, 0.5, 0.7], -0.4) - (-3.0 - 0.7 * 0.4)) < 1e-9


def test_stribecks_bump_is_half_at_its_speed_and_gone_far_away():
    assert abs(torque(["stribeck"], [1.0], 0.1) - 0.5) < 1e-9
    assert torque(["stribeck"], [1.0], 10.0) < 1e-3


def test_the_sign_is_the_smooth_one_of_simulations():
    v, slip = np.array(0.02), np.array(0.01)
    assert friction_columns(["coulomb"], v, slip, 0.1)[0] == smoothed_sign(v, slip)
