"""Agreement with Pinocchio on every URDF of example-robot-data, joints matched by name."""

import warnings

import numpy as np
import pytest
from lxml import etree

import closedform as cf
from closedform.applications.conventions import from_pinocchio_model
from closedform.maths.algorithms import inverse_mass
from closedform.maths.algorithms.own_frames import body_motion, center_of_mass, centroidal
from example_urdfs import FILES

pin = pytest.importorskip("pinocchio")


def pinocchio_model(text, floating, mimic=True):
    """Pinocchio's model, or its reason to refuse."""
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    try:
        return pin.buildModelFromXML(text, *root, mimic=mimic), ""
    except (RuntimeError, ValueError) as error:
        return None, str(error).strip()


def without_mimics(text):
    root = etree.fromstring(text.encode())
    for element in root.xpath("//mimic"):
        element.getparent().remove(element)
    return etree.tostring(root).decode()


def test_the_package_has_its_robots():
    assert len(FILES) >= 60


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_dynamics_agree(path, floating):
    robot, model = robot_and_model(path, floating)
    if robot is not None:
        assert_agreement(robot, model)


@pytest.mark.parametrize("path", [
    pytest.param(path, marks=() if path.stem in ("panda", "ur5_robot", "solo12", "talos_reduced")
                 else pytest.mark.slow, id=path.stem) for path in FILES])
def test_kernels_agree(path):
    robot, model = robot_and_model(path, floating=True)
    if robot is None:
        return
    arm, data, other = cf.compile(robot), model.createData(), from_pinocchio_model(robot, model)
    rng = np.random.default_rng(0)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    B, q_pin, v_pin = other.B(q), other.q_to(q), other.v_to(q, v)
    tau = pin.rnea(model, data, q_pin, v_pin, other.a_to(q, v, a))
    close(other.tau_to(q, arm.inverse_dynamics(q, v, a)), tau)
    close(other.tau_to(q, arm.gravity_torque(q)), pin.computeGeneralizedGravity(model, data, q_pin))
    close(B @ arm.mass_matrix(q) @ B.T, mass_matrix(model, data, q_pin))
    if not any(isinstance(body.joint, cf.Mimic) for body in robot.bodies):
        C = pin.computeCoriolisMatrix(model, data, q_pin, v_pin)
        close(B @ arm.christoffel_coriolis_matrix(q, v) @ B.T, C)


def robot_and_model(path, floating):
    """A URDF as a robot and as Pinocchio's model; None where no joint moves."""
    text = path.read_text(encoding="utf8")
    model, reason = pinocchio_model(text, floating)
    if model is None and "mimic" in reason:      # it wants the driver before its mimics
        text = without_mimics(text)
        model, reason = pinocchio_model(text, floating)
    if model is None:
        pytest.skip(f"Pinocchio refuses {path.name}: {reason}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.ModelWarning)
        if model.nv == 0:
            with pytest.raises(cf.FormatError, match="no joint moves"):
                cf.load(text, floating=floating)
            return None, model
        return cf.load(text, floating=floating), model


def mass_matrix(model, data, q):
    return symmetric(pin.crba(model, data, q))


def assert_agreement(robot, model):
    data, other = model.createData(), from_pinocchio_model(robot, model)
    mimic = any(isinstance(body.joint, cf.Mimic) for body in robot.bodies)
    rng = np.random.default_rng(0)
    for _ in range(2):
        q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
        B, q_pin = other.B(q), other.q_to(q)
        v_pin, a_pin = other.v_to(q, v), other.a_to(q, v, a)
        close(B @ cf.mass_matrix(robot, q) @ B.T, mass_matrix(model, data, q_pin))
        tau = pin.rnea(model, data, q_pin, v_pin, a_pin)
        close(other.tau_to(q, cf.inverse_dynamics(robot, q, v, a)), tau)
        close(other.tau_to(q, cf.gravity_torque(robot, q)),
              pin.computeGeneralizedGravity(model, data, q_pin))
        if not mimic:                       # Pinocchio refuses mimic joints in the rest
            C = pin.computeCoriolisMatrix(model, data, q_pin, v_pin)
            close(B @ cf.christoffel_coriolis_matrix(robot, q, v) @ B.T, C)
        assert_kinematics_agree(robot, model, data, other, q, v)
        assert_motion_agrees(robot, model, data, other, q, v, a)
        if not mimic:
            assert_momentum_agrees(robot, model, data, other, q, v, a)


REFERENCES = ((cf.LOCAL, pin.LOCAL), (cf.WORLD, pin.WORLD),
              (cf.LOCAL_WORLD_ALIGNED, pin.LOCAL_WORLD_ALIGNED))


def assert_motion_agrees(robot, model, data, other, q, v, a):
    """Velocities, spatial and classical accelerations of the last frame and of all bodies."""
    pin.forwardKinematics(model, data, other.q_to(q), other.v_to(q, v), other.a_to(q, v, a))
    names = {frame.name: k for k, frame in enumerate(model.frames)}
    name = [x for x in (robot.body_names + robot.frame_names) if x in names][-1]
    for reference, theirs in REFERENCES:
        k = names[name], theirs
        close(cf.frame_velocity(robot, q, v, name, reference),
              pin.getFrameVelocity(model, data, *k).vector)
        close(cf.frame_acceleration(robot, q, v, a, name, reference),
              pin.getFrameAcceleration(model, data, *k).vector)
        close(cf.frame_classical_acceleration(robot, q, v, a, name, reference),
              pin.getFrameClassicalAcceleration(model, data, *k).vector)
    V = body_motion.body_velocities(robot, q, v)
    A = body_motion.body_accelerations(robot, q, v, a)
    links = {frame.name: k for k, frame in enumerate(model.frames)
             if frame.type == pin.FrameType.BODY}       # a joint may have the name of a link
    for body, V_k, A_k in zip(robot.body_names, V, A, strict=True):
        if body in links:
            close(V_k, pin.getFrameVelocity(model, data, links[body], pin.LOCAL).vector)
            close(A_k, pin.getFrameAcceleration(model, data, links[body], pin.LOCAL).vector)


def assert_momentum_agrees(robot, model, data, other, q, v, a):
    """Centre of mass and momentum about it; their matrices where B is the same everywhere."""
    theirs = other.q_to(q), other.v_to(q, v), other.a_to(q, v, a)
    B = other.B(q)
    pin.centerOfMass(model, data, *theirs)
    close(center_of_mass.com_velocity(robot, q, v), data.vcom[0])
    close(center_of_mass.com_acceleration(robot, q, v, a), data.acom[0])
    condition = np.linalg.cond(cf.mass_matrix(robot, q))
    if condition < 1e12:                                    # not of robots with links of no mass
        close(B @ inverse_mass.mass_matrix_inverse(robot, q) @ B.T,
              symmetric(pin.computeMinverse(model, data, theirs[0])), 1e-15 * condition)
    derivatives = pin.computeCentroidalDynamicsDerivatives(model, data, *theirs)
    h, dh = center_of_mass.centroidal_dynamics(robot, q, v, a)
    close(h, data.hg.vector)
    close(dh, data.dhg.vector)
    if np.abs(other.a_to(q, v, np.zeros(robot.nv))).max() == 0:
        for ours, x in zip(centroidal.centroidal_dynamics_derivatives(robot, q, v, a), derivatives,
                           strict=True):
            close(ours @ B.T, x)
        pin.dccrba(model, data, *theirs[:2])
        close(centroidal.centroidal_momentum_matrix_rate(robot, q, v) @ B.T, data.dAg)
        close(centroidal.com_jacobian_rate(robot, q, v) @ B.T, data.dAg[:3] / robot.mass)


def symmetric(M):
    return np.triu(M) + np.triu(M, 1).T


def assert_kinematics_agree(robot, model, data, other, q, v):
    q_pin, B = other.q_to(q), other.B(q)
    pin.framesForwardKinematics(model, data, q_pin)
    pin.computeJointJacobians(model, data, q_pin)
    pin.centerOfMass(model, data, q_pin)
    names = {frame.name: k for k, frame in enumerate(model.frames)}
    ours = [name for name in (robot.body_names + robot.frame_names) if name in names]
    for name in ours[-1:]:
        k = names[name]
        close(cf.frame_pose(robot, q, name), data.oMf[k].homogeneous)
        for reference, theirs in REFERENCES:
            J = pin.getFrameJacobian(model, data, k, theirs)
            close(cf.frame_jacobian(robot, q, name, reference) @ B.T, J)


def close(ours, theirs, least=0.0):
    """To 1e-10 of the largest entry, or to `least` where a condition allows no more."""
    size = max(1.0, np.abs(theirs).max())
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=max(1e-10, least) * size)
