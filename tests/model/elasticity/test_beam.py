"""Flexible links and payloads: what is accepted, and how the rest is told."""

import numpy as np
import pytest

from closedform.errors import ModelError
from closedform.maths.flexible.arm import FlexibleArm
from closedform.model.elasticity.beam import FlexibleLink, Payload, Shape, TipLoad


@pytest.mark.parametrize(("change", "told"), [
    ({"stiffness": -1.0}, "stiffness of a link must be positive, in N m²; it is -1.0"),
    ({"stiffness": 0.0}, "stiffness of a link must be positive"),
    ({"length": 0.0}, "length of a link must be positive, in m; it is 0.0"),
    ({"density": -0.2}, "density of a link must be positive"),
    ({"density": float("nan")}, "density of a link must be a finite number in kg/m, not nan"),
    ({"hub_mass": -1.0}, "hub_mass of a link must not be negative"),
    ({"hub_inertia": "much"}, "hub_inertia of a link must be a finite number in kg m², not 'much'"),
    ({"modes": -1}, "modes of a link is a whole number from 0 to 400, not -1"),
    ({"modes": 2.5}, "modes of a link is a whole number"),
    ({"density": lambda x: 1 - 4 * x}, "density of a link must be positive numbers in kg/m all"),
    ({"shapes": [Shape.from_polynomial(0, 1, 1)]}, "shape 0 of a link must be clamped"),
])
def test_an_impossible_link_is_refused_with_what_was_given(change, told):
    with pytest.raises(ModelError) as error:
        FlexibleLink(**{"length": 0.5, "density": 0.2, "stiffness": 1.0, **change})
    assert told in str(error.value)


def test_a_rigid_link_may_be_massless_and_needs_no_stiffness():
    assert FlexibleLink(0.5, 0.0, 0.0, modes=0).modes == 0


@pytest.mark.parametrize("payload", [{"mass": -1}, {"inertia": -1e-9}, {"mass": None}])
def test_an_impossible_payload_is_refused(payload):
    with pytest.raises(ModelError, match="of a payload"):
        Payload(**payload)


def test_a_tip_load_obeys_the_inequality_of_cauchy_and_schwarz():
    TipLoad(2.0, 0.5, 1.0)
    with pytest.raises(ModelError, match=r"cannot have the first moment 1\.1 kg m; at most 1"):
        TipLoad(2.0, 0.5, 1.1)


@pytest.mark.parametrize(("arguments", "told"), [
    ({"links": []}, "1 to 30 FlexibleLinks"),
    ({"links": [1.0]}, "1 to 30 FlexibleLinks"),
    ({"payload": 0.1}, "payload of an arm is a Payload, not 0.1"),
    ({"gravity": 9.81}, "gravity of an arm is 2 finite numbers, not 9.81"),
    ({"reference": [0.0, 1.0]}, "reference of an arm is 1 finite numbers"),
])
def test_an_impossible_arm_is_refused(arguments, told):
    with pytest.raises(ModelError) as error:
        FlexibleArm(**{"links": [FlexibleLink(0.5, 0.2, 1.0)], **arguments})
    assert told in str(error.value)


def test_coordinates_are_joint_angles_and_then_deflections_by_link():
    arm = FlexibleArm([FlexibleLink(0.5, 0.2, 1.0, modes=m) for m in (2, 0, 1)])
    assert arm.coordinate_names == ("θ1", "θ2", "θ3", "δ11", "δ12", "δ31")
    assert arm.nq == 6
    assert [np.arange(6)[at].tolist() for at in arm.deflections] == [[3, 4], [], [5]]
