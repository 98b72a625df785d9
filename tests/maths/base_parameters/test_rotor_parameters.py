"""Rotor inertias among the base parameters: on every joint kind, one or several a joint."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import closedform as cf
from closedform.maths.base_parameters.base_parameters import base_parameters, generic_count
from closedform.maths.base_parameters.numeric_rank import numeric_rank, sampled_regressor
from closedform.maths.definitions.closed_form import inverse_dynamics
from closedform.maths.definitions.regressor import regressor
from random_robots import random_inertia, random_state, robots
from special_robots import GRAVITIES

NONE = (0, 0, 0)
DOWN = (0, 0, -9.81)


@st.composite
def rotors(draw, joint):
    """None, one number for the joint, or one for each velocity."""
    one = st.floats(0.1, 1.0)
    each = st.tuples(*[one] * (1 if isinstance(joint, cf.Mimic) else joint.nv))
    return draw(st.one_of(st.none(), one, each))


@st.composite
def robots_with_rotors(draw):
    """Trees of every joint kind; some bodies lie in their parent's frame."""
    tree = draw(robots(most=4, bent=False))
    bodies = [replace(body, joint=replace(body.joint, rotor_inertia=draw(rotors(body.joint))),
                      placement=draw(st.sampled_from((body.placement, np.eye(4)))))
              for body in tree.bodies]
    return cf.Robot(tree.name, bodies, draw(st.sampled_from(GRAVITIES)))


def assert_right(robot):
    """The count is the certified rank; K, values and the robot give every torque."""
    b, rank = base_parameters(robot), numeric_rank(sampled_regressor(robot))
    assert rank.certified
    assert b.count == rank.rank
    np.testing.assert_allclose(b.K @ b.robot.parameters, b.values, atol=0)
    for seed in range(2):
        q, v, a = random_state(robot, seed)
        tau = inverse_dynamics(robot, q, v, a)
        Y, Y_b = regressor(robot, q, v, a), b.regressor(q, v, a)
        size = 1 + (np.abs(Y_b) @ np.abs(b.K)).max(initial=0)    # of what cancels
        np.testing.assert_allclose(Y_b @ b.K, Y, atol=1e-12 * size)
        size = 1 + (np.abs(Y_b) @ np.abs(b.values)).max(initial=0)
        np.testing.assert_allclose(Y_b @ b.values, tau, atol=1e-12 * size)
        np.testing.assert_allclose(inverse_dynamics(b.robot, q, v, a), tau, atol=1e-12 * size)


@settings(max_examples=60)
@given(robots_with_rotors())
def test_rotors_on_every_joint_kind_leave_the_certified_rank_and_the_torques(robot):
    assert_right(robot)


# ---------------------------------------------------------------------- one body
def one(joint, gravity=DOWN):
    inertia = random_inertia(np.random.default_rng(0))
    return cf.Robot("one", [cf.Body("b", None, joint, inertia=inertia)], gravity)


@pytest.mark.parametrize(("joint", "without", "apart"), [
    (cf.Revolute((1, 0, 0), rotor_inertia=0.3), 3, 0),
    (cf.Cylindrical((1, 0, 0), rotor_inertia=(0.3, 0.2)), 4, 0),
    (cf.Universal((1, 0, 0), (0, 1, 0), rotor_inertia=(0.3, 0.2)), 9, 0),
    (cf.Spherical(rotor_inertia=0.3), 9, 0),
    (cf.Spherical(rotor_inertia=(0.1, 0.2, 0.3)), 9, 0),
    (cf.Planar(rotor_inertia=0.3), 4, 0),
    (cf.Planar(rotor_inertia=(0.1, 0.2, 0.3)), 4, 1),
    (cf.Free(rotor_inertia=0.3), 10, 1),
    (cf.Free(rotor_inertia=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)), 10, 3),
    (cf.Fixed(rotor_inertia=0.3), 0, 0),
], ids=lambda x: type(x).__name__ if isinstance(x, cf.Joint) else str(x))
def test_one_body_keeps_the_rotors_that_its_inertia_cannot_stand_for(joint, without, apart):
    """On a free joint the slides, which have no weight; turns go to the tensor, equal slides of a
    planar joint that gravity does not pull to the mass."""
    for gravity in (DOWN, NONE):
        assert_right(one(joint, gravity))
    assert base_parameters(one(replace(joint, rotor_inertia=None))).count == without
    assert base_parameters(one(joint)).count == without + apart


# ---------------------------------------------------------------------- trees, mimics, symbols
def gripper(base):
    """Two fingers on slides, the second driven by the first, on a base that is moved by rotors."""
    bodies = [cf.Body("base", None, base),
              cf.Body("left", "base", cf.Prismatic((1, 0, 0), rotor_inertia=0.2)),
              cf.Body("right", "base", cf.Mimic(cf.Prismatic((1, 0, 0), rotor_inertia=0.1),
                                                of="left", ratio=-1.0))]
    rng = np.random.default_rng(1)
    return cf.Robot("gripper", [replace(b, inertia=random_inertia(rng)) for b in bodies])


@pytest.mark.parametrize("base", [cf.Planar(rotor_inertia=(0.1, 0.2, 0.3)),
                                  cf.Spherical(rotor_inertia=(0.1, 0.2, 0.3)),
                                  cf.Free(rotor_inertia=0.4)], ids=lambda x: type(x).__name__)
def test_rotors_stand_apart_where_mimic_joints_share_rates_too(base):
    robot = gripper(base)
    assert "modulo primes" in base_parameters(robot).evidence.method
    assert_right(robot)


def test_rotors_of_a_floating_base_and_of_planar_joints_further_out():
    rng = np.random.default_rng(2)
    joints = [cf.Free(rotor_inertia=(0.1,) * 3 + (0.2,) * 3), cf.Planar(rotor_inertia=0.3),
              cf.Revolute((0, 1, 0), rotor_inertia=0.1), cf.Planar((1, 0, 0), rotor_inertia=0.2),
              cf.Spherical(rotor_inertia=(0.1, 0.2, 0.2))]
    parents = [None, "b0", "b0", "b2", "b2"]
    bodies = [cf.Body(f"b{k}", p, joint, inertia=random_inertia(rng))
              for k, (p, joint) in enumerate(zip(parents, joints, strict=True))]
    assert_right(cf.Robot("tree", bodies))


def test_symbols_for_rotor_inertias_and_lengths_stand_for_any_numbers():
    r, s, d = sympy.symbols("r s d")
    numbers = {r: 0.3, s: 0.2, d: 0.7}
    def arm(r, s, d):
        T = np.eye(4, dtype=object)
        T[0, 3] = d
        inertia = random_inertia(np.random.default_rng(3))
        return cf.Robot("arm", [
            cf.Body("a", None, cf.Planar(rotor_inertia=(r, s, s)), inertia=inertia),
            cf.Body("b", "a", cf.Revolute((0, 1, 0), rotor_inertia=r), T, inertia),
            cf.Body("c", None, cf.Spherical(rotor_inertia=(r, s, s)), T, inertia)])
    b, plain = base_parameters(arm(r, s, d), twin=True), arm(*numbers.values())
    assert b.evidence.twin.certified
    assert b.count == generic_count(b.source) == base_parameters(plain).count
    values = np.array([float(sympy.sympify(x).subs(numbers)) for x in b.values])
    for seed in range(2):
        q, v, a = random_state(plain, seed)
        np.testing.assert_allclose(regressor(plain, q, v, a)[:, list(b.kept)] @ values,
                                   inverse_dynamics(plain, q, v, a), atol=1e-12)
