"""A robot written as URDF and read back is the same robot."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import sympy

from closedform.errors import ModelError, ModelWarning
from closedform.maths.definitions.closed_form import inverse_dynamics
from closedform.maths.definitions.energy import potential_energy
from closedform.maths.frames import frame_pose
from closedform.maths.kinematics import body_jacobians
from closedform.model.formats.urdf.read import read_urdf
from closedform.model.formats.urdf.write import urdf_text
from closedform.model.inertia import Inertia
from closedform.model.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from closedform.model.loops.gap import residual
from closedform.model.loops.records import Gear, Loop, Rod
from closedform.model.pose import from_rpy, pose
from closedform.model.robot import Body, Frame, Robot
from closedform.model.zoo.zoo import builtin
from random_robots import random_inertia, random_placement, random_robot

WRITABLE = ("revolute", "prismatic", "cylindrical", "universal", "planar", "free", "fixed")


def written_and_read(robot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # gravity is lost
        return read_urdf(urdf_text(robot))


def joint_parts(robot, part):
    """Where each joint's coordinates stand; two-coordinate ones by their halves."""
    parts = {}
    for name, s in (robot.q_slices if part == "q" else robot.v_slices).items():
        joint = next(b.joint for b in robot.bodies if b.joint_name == name)
        if isinstance(joint, Cylindrical | Universal):
            middle = s.start + 1
            parts |= {f"{name}_1": slice(s.start, middle), f"{name}_2": slice(middle, s.stop)}
        else:
            parts[name] = s
    return parts


def order(robot, back, part):
    """Index that takes the coordinates of `robot` to those of `back`, joint by joint."""
    own = joint_parts(robot, part)
    return np.concatenate([np.r_[own[name]] for name in joint_parts(back, part)])


def mass_matrix(robot, q):
    """M = Σ_k J_kᵀ I_k J_k."""
    J = body_jacobians(robot, q)
    return sum(J_k.T @ body.inertia.matrix @ J_k for J_k, body in zip(J, robot.bodies, strict=True))


def assert_same(robot, back, rng):
    q = robot.random(rng)
    at, along = order(robot, back, "q"), order(robot, back, "v")
    assert len(at) == robot.nq == back.nq and len(along) == robot.nv == back.nv
    for name in (*robot.body_names, *robot.frame_names):
        np.testing.assert_allclose(frame_pose(back, q[at], name), frame_pose(robot, q, name),
                                   atol=1e-13)
    np.testing.assert_array_equal(back.rotor_inertia, robot.rotor_inertia[along])
    M = mass_matrix(robot, q)
    np.testing.assert_allclose(mass_matrix(back, q[at]), M[np.ix_(along, along)],
                               atol=1e-13 * max(1, np.abs(M).max()))


@pytest.mark.parametrize("seed", range(12))
def test_poses_and_inertia_survive_for_random_trees(seed):
    robot = random_robot(seed, WRITABLE, bodies=8, roots=2)
    assert_same(robot, written_and_read(robot), np.random.default_rng(seed))


def test_mimics_survive_with_their_ratio_and_offset():
    rng = np.random.default_rng(0)
    bodies = [Body("a", None, Revolute((0, 0, 1), name="lead"), inertia=random_inertia(rng)),
              Body("b", "a", Mimic(Prismatic((1, 0, 0), name="follow"), "a", -0.3, 0.2),
                   random_placement(rng), random_inertia(rng)),
              Body("c", "b", Mimic(Revolute((0, 1, 0), (0.1, 0.2, 0.3)), "b", 2.0, -0.1),
                   random_placement(rng), random_inertia(rng))]
    robot = Robot("gripper", bodies)
    back = written_and_read(robot)
    assert back.joint_names == ("lead",)
    assert_same(robot, back, rng)


def test_limits_and_friction_survive():
    joints = {"a": Revolute((0, 0, 1), name="ja", lower=-1.25, upper=0.1, velocity=2.0, effort=3.0,
                            viscous=0.5, coulomb=0.125),
              "b": Prismatic((1, 0, 0), name="jb", viscous=0.1, coulomb=0.0),
              "c": Prismatic((0, 1, 0), name="jc", lower=0.1),
              "d": Revolute((0, 1, 0), name="jd", effort=7.0),
              "e": Planar((0, 0, 1), name="je"), "f": Free(name="jf")}
    robot = Robot("r", [Body(name, None, joint) for name, joint in joints.items()])
    back = read_urdf(urdf_text(robot))
    assert {b.name: b.joint for b in back.bodies} == joints


def test_limits_of_two_coordinates_go_to_their_joints():
    joint = Universal((1, 0, 0), (0, 1, 0), name="u", lower=(-1, -2), upper=(3, 4), viscous=(5, 6))
    back = read_urdf(urdf_text(Robot("r", [Body("b", None, joint)])))
    assert back.joint_names == ("u_1", "u_2")
    np.testing.assert_array_equal(back.lower, [-1, -2])
    np.testing.assert_array_equal(back.upper, [3, 4])
    assert [b.joint.viscous for b in back.bodies] == [5, 6]


def test_frames_of_the_world_and_of_bodies_survive():
    rng = np.random.default_rng(1)
    frames = [Frame("floor", None), Frame("table", None, random_placement(rng)),
              Frame("tool", "b", random_placement(rng))]
    robot = Robot("r", [Body("b", None, Revolute((0, 0, 1)), random_placement(rng))], frames=frames)
    back = read_urdf(urdf_text(robot))
    assert set(back.frame_names) == {"floor", "table", "tool"}
    assert_same(robot, back, rng)


@pytest.mark.parametrize("pitch", [np.pi / 2, 1.57079632679, -1.5707, -np.pi / 2, 1.5])
def test_orientations_survive_near_a_pitch_of_90_degrees(pitch):
    """At 1.57079632679 cos(pitch) is 5e-12: roll and yaw must fit together."""
    placement = pose(from_rpy(0.3, pitch, -0.8), (1, 2, 3))
    robot = Robot("r", [Body("b", None, Revolute((0, 0, 1)), placement)])
    back = read_urdf(urdf_text(robot)).bodies[0].placement
    np.testing.assert_allclose(back, placement, atol=4e-15)


def test_names_that_would_clash_are_changed():
    joint = Revolute((0, 0, 1), (1, 0, 0), name="world_axis_fixed")
    robot = Robot("r", [Body("world", None, joint),
                        Body("world_axis", "world", Fixed(), inertia=Inertia(1.0, (0, 0, 0)))])
    back = read_urdf(urdf_text(robot))
    assert back.joint_names == ("world_axis_fixed",)
    assert {"world", "world_axis"} <= {*back.body_names, *back.frame_names}


@pytest.mark.parametrize("joint", [Helical((0, 0, 1), 0.1), Spherical(),
                                   Mimic(Helical((0, 0, 1), 0.1), "a")],
                         ids=lambda joint: type(joint).__name__)
def test_a_joint_that_urdf_does_not_have_is_refused(joint):
    robot = Robot("r", [Body("a", None, Revolute((0, 0, 1))), Body("b", "a", joint)])
    with pytest.raises(ModelError, match=r"URDF has no (helical|spherical) joint"):
        urdf_text(robot)


def test_rotors_and_springs_come_back_and_need_no_warning():
    bodies = [Body("a", None, Revolute((0, 0, 1), name="j", rotor_inertia=0.1, stiffness=7,
                                       spring_reference=-0.5)),
              Body("b", "a", Planar((0, 0, 1), rotor_inertia=2.0)),
              Body("c", "b", Mimic(Prismatic((1, 0, 0), rotor_inertia=3.0), "a", 2.0)),
              Body("d", "c", Universal((1, 0, 0), (0, 1, 0), stiffness=(1, 2))),
              Body("e", "d", Planar((0, 1, 0), stiffness=(1, 2, 3), spring_reference=(4, 5, 6))),
              Body("f", "e", Free(stiffness=(1, 2, 3, 4, 4, 4),
                                  spring_reference=(1, 2, 3, 0.1, 0.2, 0.3, 0.4)))]
    robot = Robot("r", bodies)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = read_urdf(urdf_text(robot))
    np.testing.assert_array_equal(back.rotor_inertia, robot.rotor_inertia)
    q = robot.random(0)
    energies = [potential_energy(r, q) for r in (robot.with_gravity([0, 0, 0]),
                                                 back.with_gravity([0, 0, 0]))]
    assert energies[0] == pytest.approx(energies[1], rel=1e-15) and energies[0] > 0
    symbolic = Robot("r", [Body("a", None, Revolute((0, 0, 1), rotor_inertia=sympy.Symbol("I")))])
    with pytest.raises(ModelError, match="URDF holds numbers"):
        urdf_text(symbolic)


def test_what_urdf_cannot_hold_is_named_in_one_warning():
    joint = Planar((0, 0, 1), name="j", rotor_inertia=(1, 2, 3))
    robot = Robot("r", [Body("a", None, joint), Body("b", "a", Free(viscous=(1, 2, 3, 4, 5, 6)),
                                                     gravity_compensation=1.0)],
                  gravity=(0, 0, -1.62))
    with pytest.warns(ModelWarning) as caught:
        urdf_text(robot)
    message = str(caught[0].message)
    assert len(caught) == 1
    assert all(word in message for word in ("its gravity", "gravity compensation of 'b'",
                                            "rotor_inertia of each", "viscous of each"))


def test_symbols_and_regrouped_bodies_are_refused():
    mass = Inertia(sympy.Symbol("m"))
    symbolic = Robot("r", [Body("a", None, Revolute((0, 0, 1)), inertia=mass)])
    regrouped = Inertia.from_parameters([0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    with pytest.raises(ModelError, match="URDF holds numbers"):
        urdf_text(symbolic)
    with pytest.raises(ModelError, match="regrouped"):
        urdf_text(Robot("r", [Body("a", None, Revolute((0, 0, 1)), inertia=regrouped)]))


def test_names_are_escaped_or_refused():
    robot = Robot('a<b>&"c"', [Body("<&>", None, Revolute((0, 0, 1)))])
    back = read_urdf(urdf_text(robot))
    assert (back.name, back.body_names) == ('a<b>&"c"', ("<&>",))
    with pytest.raises(ModelError, match="cannot be written in XML"):
        urdf_text(Robot("r", [Body("a\ufffeb", None, Revolute((0, 0, 1)))]))


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "ankle", "palletiser", "delta"])
def test_loops_are_written_with_what_is_independent_and_where_they_close(name):
    robot = builtin(name)
    back = written_and_read(robot).with_gravity(robot.gravity)
    v, a = 0.3 * np.arange(1, robot.nv + 1), -np.ones(robot.nv)
    assert [x.name for x in back.loops] == [x.name for x in robot.loops]
    np.testing.assert_allclose(inverse_dynamics(back, back.neutral(), v, a),
                               inverse_dynamics(robot, robot.neutral(), v, a), atol=1e-12)


def rod_and_wheel():
    """A crank whose pin is held by a rod without mass, and a wheel that it drives."""
    body, z = Inertia(1.0, (0.1, 0.02, 0), 0.01 * np.eye(3)), (0, 0, 1)
    bodies = [Body("crank", None, Revolute(z), inertia=body),
              Body("rocker", None, Revolute(z), pose(None, (0.5, 0, 0)), body),
              Body("wheel", None, Revolute(z), pose(None, (0, 0.4, 0)), body)]
    return Robot("r", bodies, loops=[
        Rod("rod", ("crank", (0.2, 0, 0)), ("rocker", (0.3, 0, 0)), 0.45),
        Gear("gear", {"crank": 2.0, "wheel": -4.0})], independent=["crank"],
        guess={"crank": 0.5, "rocker": 1.2, "wheel": 0.25})


def test_rods_and_gears_of_two_joints_are_written():
    robot = rod_and_wheel()
    back = written_and_read(robot)
    assert isinstance(back.loops[0], Rod) and back.loops[0].length == 0.45
    assert back.loops[1].factors == {"crank": 0.5, "wheel": -1.0}
    np.testing.assert_allclose(back.neutral(), robot.neutral(), atol=1e-12)
    np.testing.assert_allclose(inverse_dynamics(back, back.neutral(), [1.0], [2.0]),
                               inverse_dynamics(robot, robot.neutral(), [1.0], [2.0]), atol=1e-12)


def test_a_universal_cut_keeps_its_axes():
    ball = [Body(name, None, Spherical(), inertia=Inertia(1.0, (0, 0, 0.1), 0.02 * np.eye(3)))
            for name in ("a", "b")]
    joint = Universal((0, 0.6, 0.8), (1, 0, 0))
    robot = Robot("u", ball, loops=[Loop("cross", ("a", np.eye(4)), ("b", np.eye(4)), joint)])
    with pytest.raises(ModelError, match="no spherical joint"):
        urdf_text(robot)
    free = Robot("u", [replace(x, joint=Free()) for x in ball], loops=robot.loops)
    back = written_and_read(free)
    q = back.tree.random(3)
    one, two = (residual(x.tree, x.closure.gaps, q) for x in (back, free))
    np.testing.assert_allclose(one, two, atol=1e-12)


def test_gears_that_urdf_cannot_hold_are_named():
    robot = rod_and_wheel()
    other = replace(robot, loops=[robot.loops[0], Gear("gear", {"crank": 2, "wheel": -4}, 0.3)])
    with pytest.warns(ModelWarning, match="without the gear 'gear'"):
        urdf_text(other)
