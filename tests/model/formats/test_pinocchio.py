"""Robots from `pinocchio.Model`, against Pinocchio itself."""

import numpy as np
import pytest

from closedform.applications.conventions import from_pinocchio_model
from closedform.errors import ModelError
from closedform.maths.algorithms.newton_euler import inverse_dynamics, mass_matrix
from closedform.maths.frames import frame_pose
from closedform.model.formats.urdf.write import urdf_text
from closedform.model.joints import Free, Gimbal, Mimic
from closedform.model.load import load

pin = pytest.importorskip("pinocchio")

ROUNDING = 1e-10
UNIT = np.array([0.6, 0.0, 0.8])


MIMIC = """<robot name="m">{links}
<joint name="lead" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0.6 0.8"/>
  <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>
  <limit lower="-1" upper="2" effort="10" velocity="3"/><dynamics damping="0.5" friction="0.25"/>
  </joint>
<joint name="slides" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0.6 0 0.8"/>
  <limit effort="1" velocity="1"/><mimic joint="lead" multiplier="-0.5" offset="0.2"/></joint>
<joint name="turns" type="revolute"><parent link="c"/><child link="d"/><axis xyz="0 1 0"/>
  <limit effort="1" velocity="1"/><mimic joint="lead" multiplier="3" offset="0.1"/></joint>
<joint name="glued" type="fixed"><parent link="d"/><child link="tool"/><origin xyz="0 0 1"/></joint>
</robot>"""
LINK = """<link name="{}"><inertial><origin xyz="0.1 0 0.2"/><mass value="2"/>
<inertia ixx="0.4" ixy="0.01" ixz="0" iyy="0.5" iyz="0.02" izz="0.3"/></inertial></link>"""
GRIPPER = MIMIC.format(links="".join(map(LINK.format, ("a", "b", "c", "d", "tool"))))


def chain(*joints, name="arm"):
    """A model with these joints one after the other, branches at every third."""
    rng, model, last = np.random.default_rng(1), pin.Model(), 0
    model.name = name
    for k, joint in enumerate(joints):
        parent = last if k % 3 else max(last - 1, 0)
        last = model.addJoint(parent, joint, pin.SE3.Random(), f"j{k}")
        inertia = pin.Inertia(1.0 + k, rng.normal(size=3), np.diag(rng.uniform(1, 1.5, 3)))
        model.appendBodyToJoint(last, inertia, pin.SE3.Random())
    return model


def composite():
    joint = pin.JointModelComposite()
    joint.addJoint(pin.JointModelRUBY(), pin.SE3.Random())
    joint.addJoint(pin.JointModelSpherical(), pin.SE3.Random())
    joint.addJoint(pin.JointModelPZ(), pin.SE3.Random())
    return joint


KINDS = {
    **{f"R{a}": lambda a=a: getattr(pin, f"JointModelR{a}")() for a in "XYZ"},
    **{f"P{a}": lambda a=a: getattr(pin, f"JointModelP{a}")() for a in "XYZ"},
    **{f"RUB{a}": lambda a=a: getattr(pin, f"JointModelRUB{a}")() for a in "XYZ"},
    "revolute unaligned": lambda: pin.JointModelRevoluteUnaligned(UNIT),
    "revolute unbounded": lambda: pin.buildModelFromXML(
        GRIPPER.replace("revolute", "continuous")).joints[1],
    "prismatic unaligned": lambda: pin.JointModelPrismaticUnaligned(UNIT),
    "helical": lambda: pin.JointModelHY(0.3),
    "helical unaligned": lambda: pin.JointModelHelicalUnaligned(UNIT, -0.2),
    "universal": lambda: pin.JointModelUniversal(UNIT, np.array([0.0, 1, 0])),
    "spherical": pin.JointModelSpherical, "gimbal": pin.JointModelSphericalZYX,
    "planar": pin.JointModelPlanar, "translation": pin.JointModelTranslation,
    "free": pin.JointModelFreeFlyer, "composite": composite,
}


def theirs(model):
    rng = np.random.default_rng(2)
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv))
    return q, *rng.normal(size=(2, model.nv))


def ours(model, q):
    """Our q of theirs: angles for (cos, sin)."""
    own = []
    for i in range(1, model.njoints):
        own += list(own_of(model.joints[i], q[model.joints[i].idx_q:]))
    return np.array(own)


def own_of(joint, q):
    name = joint.shortname()
    if "Composite" in name:
        result, at = [], 0
        for part in joint.extract().joints:
            result += list(own_of(part, q[at:]))
            at += part.nq
        return result
    if name.startswith(("JointModelRUB", "JointModelRevoluteUnb", "JointModelPlanar")):
        return [*q[:joint.nq - 2], np.arctan2(q[joint.nq - 1], q[joint.nq - 2])]
    return q[:joint.nq]


def assert_same_dynamics(robot, model):
    q, v, a = theirs(model)
    data = model.createData()
    own = ours(model, q)
    tau = inverse_dynamics(robot, own, v, a)
    np.testing.assert_allclose(tau, pin.rnea(model, data, q, v, a), rtol=0, atol=ROUNDING)
    M = np.triu(pin.crba(model, data, q))
    np.testing.assert_allclose(mass_matrix(robot, own), M + np.triu(M, 1).T, atol=ROUNDING)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_is_read(kind):
    model = chain(pin.JointModelRX(), KINDS[kind](), pin.JointModelRZ(), pin.JointModelPY())
    assert_same_dynamics(load(model), model)


def test_a_gimbal_is_a_gimbal_and_a_free_flyer_a_free_joint():
    robot = load(chain(pin.JointModelFreeFlyer(), pin.JointModelSphericalZYX()))
    assert [type(b.joint) for b in robot.bodies] == [Free, Gimbal]
    assert robot.joint_names == ("j0", "j1")
    assert robot.is_floating


def test_mimic_joints_are_read():
    model = pin.buildModelFromXML(GRIPPER, mimic=True)
    robot = load(model)
    assert robot.joint_names == ("lead",)
    assert [type(b.joint) for b in robot.bodies[1:]] == [Mimic, Mimic]
    q, v, a = np.array([0.3]), np.array([0.7]), np.array([-0.4])
    tau = pin.rnea(model, model.createData(), q, v, a)
    np.testing.assert_allclose(inverse_dynamics(robot, q, v, a), tau, atol=ROUNDING)


@pytest.mark.parametrize("mimic", [False, True])
def test_a_model_built_from_urdf_is_the_robot_of_the_file(mimic):
    if mimic:
        model, file = pin.buildModelFromXML(GRIPPER, mimic=True), load(GRIPPER)
    else:
        plain = urdf_text(load("panda"))
        model, file = pin.buildModelFromXML(plain), load(plain)
    robot = load(model)
    assert set(robot.body_names) == set(file.body_names)
    assert set(file.frame_names) - {file.name} <= {*robot.frame_names, "universe"}
    assert robot.joint_names == file.joint_names
    for limits in ("lower", "upper", "velocity_limits", "effort_limits"):
        np.testing.assert_array_equal(getattr(robot, limits), getattr(file, limits))
    q = file.random(3)
    for name in file.frame_names:
        np.testing.assert_allclose(frame_pose(robot, q, name), frame_pose(file, q, name),
                                   atol=1e-12)


def test_armature_friction_and_limits_are_read():
    model = pin.buildModelFromXML(GRIPPER)
    model.armature[:] = [0.5, 0, 0]
    joint = load(model).body("b").joint
    assert (joint.rotor_inertia, joint.viscous, joint.coulomb) == (0.5, 0.5, 0.25)
    assert (joint.lower, joint.upper, joint.velocity, joint.effort) == (-1, 2, 3, 10)
    assert_same_dynamics(load(model), model)


def test_a_rotor_inertia_that_pinocchio_does_not_use_is_noted():
    model = pin.buildModelFromXML(GRIPPER)
    model.rotorInertia[:] = [0.5, 0, 0]
    assert "1 rotor inertia" in load(model).notes[0]
    assert_same_dynamics(load(model), model)


def test_frames_of_the_user_and_reference_configurations_are_read():
    model = chain(pin.JointModelFreeFlyer(), pin.JointModelRUBZ(), pin.JointModelPlanar())
    placement = pin.SE3.Random()
    model.addFrame(pin.Frame("tool", 2, 0, placement, pin.FrameType.OP_FRAME))
    q = pin.integrate(model, pin.neutral(model), np.linspace(-1, 1, model.nv))
    model.referenceConfigurations["home"] = q
    robot = load(model)
    np.testing.assert_allclose(robot.frame("tool").placement, placement.homogeneous, atol=1e-15)
    np.testing.assert_allclose(robot.configurations["home"], ours(model, q), atol=1e-15)


def test_gravity_is_the_models():
    model = chain(pin.JointModelRX())
    model.gravity.linear = np.array([1.0, 2, 3])
    np.testing.assert_array_equal(load(model).gravity, [1, 2, 3])


def test_a_fixed_model_is_floated_with_its_base_and_a_floating_one_is_refused():
    model = pin.buildModelFromXML(GRIPPER, pin.JointModelFreeFlyer())
    floated = load(pin.buildModelFromXML(GRIPPER), floating=True)
    assert floated.bodies[0].inertia.mass == 2
    assert floated.nv == model.nv
    assert_same_dynamics(floated, model)
    with pytest.raises(ModelError, match="free flyer already"):
        load(model, floating=True)


def test_the_adapter_takes_the_robot_to_the_model_and_back():
    model = chain(pin.JointModelFreeFlyer(), pin.JointModelRUBZ(), pin.JointModelPlanar())
    robot = load(model)
    convention = from_pinocchio_model(robot, model)
    q = robot.random(1)
    np.testing.assert_allclose(ours(model, convention.q_to(q)), q, atol=1e-14)


def test_the_model_is_not_written_to():
    model = chain(pin.JointModelFreeFlyer(), pin.JointModelRUBZ())
    before = model.copy()
    load(model)
    assert model == before


def test_an_empty_model_and_unknown_joints_are_refused_by_name():
    with pytest.raises(ModelError, match="no joints"):
        load(pin.Model())
    if hasattr(pin, "JointModelEllipsoid"):
        with pytest.raises(ModelError, match="'j0' is a JointModelEllipsoid"):
            load(chain(pin.JointModelEllipsoid(1.0, 2.0, 3.0)))
