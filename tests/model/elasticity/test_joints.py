"""The record of elastic joints: what it takes in which form, and what it refuses."""

import numpy as np
import pytest

import closedform as cf
from closedform.model.elasticity.joints import ElasticJoints, Spring
from elastic_models import cubic


@pytest.fixture(scope="module")
def arm():
    return cf.load("planar2r")


def test_one_number_makes_every_joint_with_one_velocity_elastic():
    humanoid = cf.load("humanoid25")
    model = ElasticJoints(humanoid, 50.0, 1e-4, 0.01)
    assert model.rigid == tuple(range(6))
    assert model.elastic == tuple(range(6, 31))
    np.testing.assert_array_equal(model.gear_ratio[:6], 1.0)
    np.testing.assert_array_equal(model.motor_inertia[:6], 0.0)


def test_names_numbers_and_lists_say_the_same(arm):
    _, second = arm.joint_names
    by_name = ElasticJoints(arm, {second: 3.0}, {second: 0.2}, {second: 0.5}, {second: 0.1})
    by_list = ElasticJoints(arm, [None, 3.0], [0, 0.2], [1, 0.5], [0.7, 0.1])
    for model in (by_name, by_list):
        assert model.elastic == (1,)
        np.testing.assert_array_equal(model.stiffness, [np.inf, 3.0])
        np.testing.assert_array_equal(model.compliance, [0.0, 1 / 3])
        np.testing.assert_array_equal(model.damping, [0.0, 0.1])
    assert ElasticJoints(arm, [np.inf, 3.0], 0.1, 1.0).elastic == by_list.elastic


def test_lists_may_leave_out_joints_with_several_velocities():
    humanoid = cf.load("humanoid25")
    short, full = np.arange(1.0, 26.0), [None] * 6 + list(np.arange(1.0, 26.0))
    np.testing.assert_array_equal(ElasticJoints(humanoid, short, 0.1, 1.0).stiffness,
                                  ElasticJoints(humanoid, full, 0.1, 1.0).stiffness)


def test_motors_of_rigid_joints_are_reflected_onto_the_links(arm):
    model = ElasticJoints(arm, [None, 10.0], 0.02, 0.1)
    q = np.array([0.3, -0.7])
    np.testing.assert_allclose(
        cf.mass_matrix(model.link_robot, q) - cf.mass_matrix(arm, q), np.diag([2.0, 0.0]),
        rtol=0, atol=1e-14)


def test_a_changed_model_has_the_factors_and_keeps_its_springs(arm):
    model = ElasticJoints(arm, 10.0, 0.02, 0.1, 0.3).changed(stiffness=1.3, motor_inertia=0.5)
    np.testing.assert_allclose(model.stiffness, 13.0)
    np.testing.assert_allclose(model.motor_inertia, 0.01)
    springs = ElasticJoints(arm, cubic(), 0.02, 0.1)
    assert springs.changed(motor_inertia=2.0).springs == springs.springs
    assert springs.stiffness == pytest.approx([100.0, 100.0], rel=1e-9)


@pytest.mark.parametrize(("stiffness", "told"), [
    (0.0, "stiffness of .* must be positive, it is 0"),
    (-1.0, "must be positive, it is -1"),
    (np.nan, "finite number"),
    ("soft", "must be a number, not 'soft'"),
    ([1.0, 2.0, 3.0], "one number or 2 for planar2r, not 3"),
    ({"elbow of nobody": 1.0}, "no joint 'elbow of nobody' in planar2r"),
])
def test_a_stiffness_that_cannot_be_is_told(arm, stiffness, told):
    with pytest.raises(cf.ClosedformError, match=told):
        ElasticJoints(arm, stiffness, 0.1, 1.0)


@pytest.mark.parametrize(("change", "told"), [
    ({"motor_inertia": -0.1}, "motor_inertia of .* must not be negative"),
    ({"gear_ratio": 0.0}, "gear_ratio of .* must not be 0"),
    ({"damping": -1.0}, "damping of .* must not be negative"),
    ({"gear_ratio": [1.0]}, "gear_ratio must be one number or 2"),
    ({"robot": "planar2r"}, "robot must be a cf.Robot, not str"),
])
def test_other_numbers_that_cannot_be_are_told(arm, change, told):
    given = {"robot": arm, "stiffness": 1.0, "motor_inertia": 0.1, "gear_ratio": 1.0} | change
    with pytest.raises(cf.ClosedformError, match=told):
        ElasticJoints(**given)


def test_joints_with_several_velocities_cannot_be_elastic():
    humanoid = cf.load("humanoid25")
    with pytest.raises(cf.ModelError, match="has several velocities; such joints are rigid"):
        ElasticJoints(humanoid, {humanoid.joint_names[0]: 5.0}, 0.1, 1.0)


@pytest.mark.parametrize(("torque", "deflection", "told"), [
    (lambda x: 2 * x, lambda s: s, "must be the inverse"),
    (lambda x: 2 * x + 1, lambda s: (s - 1) / 2, "must be 0 at no deflection"),
    (lambda x: -2 * x, lambda s: -s / 2, "must grow with the deflection"),
    (3.0, lambda s: s / 3, "must be a function"),
])
def test_a_spring_that_cannot_be_is_told(torque, deflection, told):
    with pytest.raises(cf.ModelError, match=told):
        Spring(torque, deflection)
