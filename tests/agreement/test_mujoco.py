"""Agreement with MuJoCo on the URDFs of example-robot-data that it accepts.

Each refusal is a skip with its reason.
"""

import re
import warnings

import numpy as np
import pytest
from lxml import etree

import closedform as cf
from closedform.applications.conventions import from_mujoco_model
from closedform.maths.algorithms import newton_euler
from example_urdfs import FILES

mujoco = pytest.importorskip("mujoco")


def without_shapes(path):
    """The URDF without geometry, which MuJoCo looks for on disk, and mimics, which it drops."""
    root = etree.parse(str(path)).getroot()
    for element in root.xpath("//visual|//collision|//transmission|//gazebo|//mimic"):
        element.getparent().remove(element)
    told = etree.SubElement(root, "mujoco")
    etree.SubElement(told, "compiler", balanceinertia="false", fusestatic="true")
    return etree.tostring(root).decode()


def mujoco_model(text):
    """MuJoCo's model, or its reason to refuse."""
    try:
        return mujoco.MjModel.from_xml_string(text), ""
    except ValueError as error:
        return None, re.sub(r"\s+", " ", str(error))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_dynamics_agree_where_mujoco_accepts_the_file(path):
    text = without_shapes(path)
    model, reason = mujoco_model(text)
    if model is None:
        pytest.skip(f"MuJoCo refuses {path.name}: {reason}")
    if model.nv == 0:
        pytest.skip(f"no joint moves in {path.name}")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", cf.ModelWarning)
        robot = cf.load(text).with_gravity(model.opt.gravity)
    if told:                                # such as the feet of bolt
        pytest.skip(f"MuJoCo puts other tensors in place of impossible ones: {told[0].message}")
    assert_agreement(robot, model)


def assert_agreement(robot, model):
    data, other = mujoco.MjData(model), from_mujoco_model(robot, model)
    model.opt.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
                               | mujoco.mjtDisableBit.mjDSBL_CONTACT)
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    data.qpos[:], data.qvel[:] = other.q_to(q), other.v_to(q, v)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    if "qM" in dir(data):
        mujoco.mj_fullM(model, M, data.qM)
    else:                                  # MuJoCo 4
        mujoco.mj_fullM(model, data, M)
    B = other.B(q)
    close(B @ newton_euler.mass_matrix(robot, q) @ B.T, M)
    close(other.tau_to(q, newton_euler.bias(robot, q, v)), data.qfrc_bias)


def close(ours, theirs):
    """To 1e-9 of the largest entry: MuJoCo diagonalises the tensors it reads."""
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * max(1.0, np.abs(theirs).max()))
