"""Our numbers in the habits of Pinocchio, MuJoCo and Drake, and back.

Agreement is to rounding: a few dozen operations on numbers of order 100.
"""

import numpy as np
import pytest

from closedform.applications.conventions import (
    drake_convention,
    from_mujoco_model,
    from_pinocchio_model,
    mujoco_convention,
    pinocchio_convention,
)
from closedform.errors import ArgumentError, ModelError
from closedform.maths.algorithms.newton_euler import bias, inverse_dynamics, mass_matrix
from closedform.maths.kinematics import poses
from closedform.model.joints import (
    Cylindrical,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from closedform.model.load import load
from closedform.model.pose import from_rpy, pose
from closedform.model.robot import Body, Robot
from random_robots import random_inertia

ROUNDING = 1e-10


def link(name):
    return f"""<link name="{name}"><inertial><origin xyz="0.1 0.02 -0.3" rpy="0.3 0.1 0"/>
      <mass value="1.7"/><inertia ixx="0.04" ixy="0.001" ixz="0" iyy="0.05" iyz="0.002" izz="0.03"/>
      </inertial></link>"""


def joint(name, kind, parent, child, axis="0 0 1"):
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
      <origin xyz="0.2 -0.1 0.4" rpy="0.5 -0.2 0.3"/><axis xyz="{axis}"/>
      <limit lower="-1" upper="1" effort="10" velocity="3"/></joint>"""


URDF = "<robot name='branches'>" + "".join(map(link, ("base", "a", "b", "c", "d"))) + "".join([
    joint("zulu", "continuous", "base", "a"), joint("alpha", "revolute", "base", "b", "1 0 0"),
    joint("mike", "prismatic", "a", "c", "0 1 0"),
    joint("echo", "continuous", "b", "d", "0.6 0 0.8"),
]) + "</robot>"

MJCF = """
<mujoco><option gravity="1 2 -9"/><worldbody>
  <body name="trunk" pos="0.1 0.2 0.3" quat="0.8 0.6 0 0"><freejoint name="root"/>
    <inertial pos="0.1 0 0.05" mass="4" fullinertia="0.2 0.3 0.25 0.01 0.02 0.03"/>
    <body name="arm" pos="0 0.2 0.3" euler="20 30 40"><joint name="shoulder" type="ball"/>
      <inertial pos="0 0.1 0.2" mass="2" fullinertia="0.05 0.06 0.04 0 0.001 0"/>
      <body name="hand" pos="0.3 0 0">
        <joint name="elbow" type="hinge" axis="0 1 0" ref="30" armature="0.1"/>
        <inertial pos="0.1 0.1 0" mass="1" diaginertia="0.01 0.02 0.015"/></body></body>
    <body name="rail" pos="0 -0.2 0.1"><joint type="slide" axis="1 1 0"/>
      <inertial pos="0 0 0.1" mass="1.5" diaginertia="0.02 0.03 0.025"/></body>
  </body></worldbody></mujoco>"""


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def states(robot, rng, batch=()):
    q = np.reshape([robot.random(rng) for _ in range(int(np.prod(batch)))], (*batch, robot.nq))
    return q, *rng.normal(size=(3, *batch, robot.nv))


def free_robot():
    """A free body on a turned placement, with a turn and a slide on it."""
    rng = np.random.default_rng(2)
    placement = pose(from_rpy(0.3, -0.5, 1.1), (0.4, -0.2, 0.7))
    return Robot("free", [Body("trunk", None, Free(name="root"), placement, random_inertia(rng)),
                          Body("arm", "trunk", Revolute((0, 1, 0)), placement, random_inertia(rng)),
                          Body("rail", "trunk", Prismatic((1, 0, 0)), inertia=random_inertia(rng))])


def with_joint(kind):
    return Robot("one", [*free_robot().bodies, Body("extra", "arm", kind)])


CONVENTIONS = {
    "pinocchio": lambda: pinocchio_convention(
        with_joint(Planar()), ["root", "rail", "extra", "arm"], continuous=["arm"]),
    "mujoco": lambda: mujoco_convention(with_joint(Spherical()), ["rail", "root", "extra", "arm"]),
    "drake": lambda: drake_convention(with_joint(Planar()), ["extra", "rail", "arm", "root"]),
}


# ---------------------------------------------------------------------- laws
@pytest.mark.parametrize("library", CONVENTIONS)
def test_there_and_back_is_the_identity_for_any_batch(library, rng):
    c = CONVENTIONS[library]()
    q, v, a, tau = states(c.robot, rng, batch=(2, 3))
    assert np.abs(c.robot.difference(q, c.q_from(c.q_to(q)))).max() < 1e-14
    for back, x in ((c.v_from(q, c.v_to(q, v)), v), (c.a_from(q, v, c.a_to(q, v, a)), a),
                    (c.tau_from(q, c.tau_to(q, tau)), tau)):
        np.testing.assert_allclose(back, x, atol=1e-14)


@pytest.mark.parametrize("library", CONVENTIONS)
def test_power_is_the_same_in_every_convention(library, rng):
    c = CONVENTIONS[library]()
    q, v, _, tau = states(c.robot, rng)
    assert c.tau_to(q, tau) @ c.v_to(q, v) == pytest.approx(tau @ v, abs=1e-13)


@pytest.mark.parametrize("library", CONVENTIONS)
def test_their_acceleration_is_the_rate_of_their_velocity(library, rng):
    """Central difference along q(t) = q ⊕ v h, v(t) = v + a h; its error is of the order h²."""
    c, h = CONVENTIONS[library](), 1e-5
    q, v, a, _ = states(c.robot, rng)
    at = lambda s: c.v_to(c.robot.integrate(q, s * v), v + s * a)
    np.testing.assert_allclose((at(h) - at(-h)) / (2 * h), c.a_to(q, v, a), atol=1e-8)


@pytest.mark.parametrize(("library", "linear", "turn"), [("mujoco", slice(1, 4), slice(4, 7)),
                                                         ("drake", slice(8, 11), slice(5, 8))])
def test_the_free_joint_is_the_pose_of_the_body_in_the_world(library, linear, turn, rng):
    """p' and ṗ' are of the body's origin; ω' is in the world (Drake) or the body (MuJoCo)."""
    c = CONVENTIONS[library]()
    q, v, _, _ = states(c.robot, rng)
    T = poses(c.robot, q)[0]
    their_q, their_v = c.q_to(q), c.v_to(q, v)
    p = their_q[1:4] if library == "mujoco" else their_q[9:12]
    np.testing.assert_allclose(p, T[:3, 3], atol=1e-14)
    np.testing.assert_allclose(their_v[linear], T[:3, :3] @ v[:3], atol=1e-14)
    w = v[3:6] if library == "mujoco" else T[:3, :3] @ v[3:6]
    np.testing.assert_allclose(their_v[turn], w, atol=1e-14)


def test_drake_writes_the_quaternion_first_with_w_first():
    robot = Robot("ship", [Body("hull", None, Free())])
    c = drake_convention(robot, ["hull"])
    np.testing.assert_allclose(c.q_to([1, 2, 3, 0.6, 0, 0, 0.8]), [0.8, 0.6, 0, 0, 1, 2, 3])


def test_pinocchio_writes_continuous_joints_as_cosine_and_sine():
    robot = Robot("wheel", [Body("wheel", None, Revolute((0, 0, 1)))])
    c = pinocchio_convention(robot, ["wheel"], continuous=["wheel"])
    np.testing.assert_allclose(c.q_to([0.3]), [np.cos(0.3), np.sin(0.3)])
    np.testing.assert_allclose(c.q_from(c.q_to([0.3 + 2 * np.pi])), [0.3], atol=1e-15)


# ---------------------------------------------------------------------- the libraries themselves
def pinocchio_model(free):
    pin = pytest.importorskip("pinocchio")
    root = [pin.JointModelFreeFlyer()] if free else []
    return pin, pin.buildModelFromXML(URDF, *root)


@pytest.mark.parametrize("free", [False, True])
def test_dynamics_agree_with_pinocchio_through_its_convention(free, rng):
    pin, model = pinocchio_model(free)
    robot = load(URDF, floating=free)
    c = from_pinocchio_model(robot, model)
    assert c.nq == model.nq
    q, v, a, _ = states(robot, rng)
    data, their_q = model.createData(), c.q_to(q)
    tau = pin.rnea(model, data, their_q, c.v_to(q, v), c.a_to(q, v, a))
    np.testing.assert_allclose(c.tau_to(q, inverse_dynamics(robot, q, v, a)), tau, atol=ROUNDING)
    M = np.triu(pin.crba(model, data, their_q))
    B = c.B(q)
    np.testing.assert_allclose(np.triu(B @ mass_matrix(robot, q) @ B.T), M, atol=ROUNDING)


def test_planar_ball_universal_and_helical_joints_agree_with_pinocchio(rng):
    pin = pytest.importorskip("pinocchio")
    kinds = {"slab": (Planar(), pin.JointModelPlanar()),
             "ball": (Spherical(), pin.JointModelSpherical()),
             "cross": (Universal((1, 0, 0), (0, 0.6, 0.8)),
                       pin.JointModelUniversal(1, 0, 0, 0, 0.6, 0.8)),
             "screw": (Helical((0, 1, 0), 0.2), pin.JointModelHY(0.2)),
             "wheel": (Revolute((0, 0, 1)), pin.JointModelRUBZ())}
    model, bodies, parent = pin.Model(), [], None
    for name, (ours, theirs) in kinds.items():
        inertia, T = random_inertia(rng), free_robot().bodies[0].placement
        at = model.addJoint(model.njoints - 1, theirs, pin.SE3(T), name)
        model.appendBodyToJoint(at, pin.Inertia(inertia.mass, inertia.com, inertia.tensor),
                                pin.SE3.Identity())
        bodies.append(Body(name, parent, ours, T, inertia))
        parent = name
    robot = Robot("kinds", bodies)
    c = from_pinocchio_model(robot, model)
    q, v, a, _ = states(robot, rng)
    tau = pin.rnea(model, model.createData(), c.q_to(q), c.v_to(q, v), c.a_to(q, v, a))
    np.testing.assert_allclose(c.tau_to(q, inverse_dynamics(robot, q, v, a)), tau, atol=ROUNDING)


def test_pinocchios_order_is_not_ours_and_the_convention_knows():
    _, model = pinocchio_model(free=False)
    robot = load(URDF)
    assert list(model.names)[1:] != list(robot.joint_names)
    c = from_pinocchio_model(robot, model)
    by_hand = pinocchio_convention(robot, list(model.names)[1:], continuous=["zulu", "echo"])
    q = robot.random(1)
    np.testing.assert_array_equal(by_hand.q_to(q), c.q_to(q))


def test_integration_agrees_with_pinocchio(rng):
    pin, model = pinocchio_model(free=True)
    robot = load(URDF, floating=True)
    c = from_pinocchio_model(robot, model)
    q, v, _, _ = states(robot, rng)
    theirs = pin.integrate(model, c.q_to(q), c.v_to(q, v))
    np.testing.assert_allclose(c.q_to(robot.integrate(q, v)), theirs, atol=1e-13)


def test_dynamics_agree_with_mujoco_through_its_convention(rng):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(MJCF)
    robot = load(MJCF)
    c = from_mujoco_model(robot, model)
    assert c.nq == model.nq
    q, v, a, _ = states(robot, rng)
    data = mujoco.MjData(model)
    data.qpos, data.qvel, data.qacc = c.q_to(q), c.v_to(q, v), c.a_to(q, v, a)
    mujoco.mj_inverse(model, data)
    tau = c.tau_to(q, inverse_dynamics(robot, q, v, a))
    np.testing.assert_allclose(tau, data.qfrc_inverse, atol=ROUNDING)
    np.testing.assert_allclose(data.xpos[1:], poses(robot, q)[:, :3, 3], atol=ROUNDING)


def test_the_bias_is_not_the_same_vector_in_mujoco_because_its_acceleration_differs(rng):
    """With a' = B a + Ḃ v, C v + g becomes B (C v + g) − M' Ḃ v."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(MJCF)
    robot = load(MJCF)
    c = from_mujoco_model(robot, model)
    q, v, a, _ = states(robot, rng)
    data = mujoco.MjData(model)
    data.qpos, data.qvel = c.q_to(q), c.v_to(q, v)
    mujoco.mj_forward(model, data)
    B = c.B(q)
    drag = c.a_to(q, v, 0 * a)
    expected = B @ bias(robot, q, v) - B @ mass_matrix(robot, q) @ B.T @ drag
    np.testing.assert_allclose(data.qfrc_bias, expected, atol=ROUNDING)


# ---------------------------------------------------------------------- refusals
def test_differing_joints_are_listed():
    with pytest.raises(ModelError, match=r"only free has arm; only Pinocchio has elbow"):
        pinocchio_convention(free_robot(), ["root", "rail", "elbow"])
    with pytest.raises(ModelError, match=r"named twice: rail"):
        drake_convention(free_robot(), ["root", "rail", "rail", "arm"])


def test_another_robots_pinocchio_model_is_refused():
    _, model = pinocchio_model(free=False)
    with pytest.raises(ModelError, match=r"only free has root, arm, rail; only Pinocchio has"):
        from_pinocchio_model(free_robot(), model)


def test_another_joint_under_the_same_name_is_refused():
    _, model = pinocchio_model(free=False)
    robot = load(URDF.replace('name="mike" type="prismatic"', 'name="mike" type="revolute"'))
    with pytest.raises(ModelError, match=r"'mike' is revolute y in branches, but JointModelPY"):
        from_pinocchio_model(robot, model)


@pytest.mark.parametrize("make", [pinocchio_convention, mujoco_convention, drake_convention])
def test_a_joint_that_the_other_library_splits_is_refused(make):
    robot = with_joint(Cylindrical((0, 0, 1)))
    with pytest.raises(ModelError, match=r"'extra' \(cylindrical z\) has no counterpart"):
        make(robot, robot.joint_names)


def test_numbers_of_the_wrong_size_are_refused():
    c = CONVENTIONS["drake"]()
    with pytest.raises(ArgumentError, match=r"q must have the shape \(12,\) .* not \(3,\)"):
        c.q_to([1, 2, 3])
    with pytest.raises(ArgumentError, match="for Drake: their q must be real numbers"):
        c.q_from("home")


def test_an_unknown_continuous_joint_is_refused():
    with pytest.raises(ArgumentError, match="has no joint 'wheel'"):
        pinocchio_convention(free_robot(), ["root", "rail", "arm"], continuous=["wheel"])


def test_names_bridge_differing_names():
    _, model = pinocchio_model(free=False)
    robot = load(URDF.replace('"mike"', '"michael"'))
    c = from_pinocchio_model(robot, model, names={"mike": "michael"})
    assert c.nq == model.nq
