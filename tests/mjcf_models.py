"""Small MJCF models, and MuJoCo's numbers of them in our habits."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

EXACT = 1e-12  # MuJoCo normalises quaternions and diagonalises tensors


def document(world, rest="", model="test"):
    return f'<mujoco model="{model}"><worldbody>{world}</worldbody>{rest}</mujoco>'


INERTIAL = '<inertial pos=".1 .02 -.05" mass="{m}" fullinertia=".3 .25 .2 .02 .03 -.01"/>'


def link(name, joints, m, inside="", place='pos=".1 .2 .3" euler="20 30 40"'):
    return f'<body name="{name}" {place}>{joints}{INERTIAL.format(m=m)}{inside}</body>'


HINGE = '<joint name="{n}" type="hinge" axis="1 2 3" pos=".1 -.2 .3" ref="25"/>'
SLIDE = '<joint name="{n}" type="slide" axis="0 1 1" ref=".2"/>'
BALL = '<joint name="{n}" type="ball" pos="{p}"/>'

ARM = document(link("a", HINGE.format(n="h"), 2, '<site name="s" pos="0 0 1"/>' +
               link("b", SLIDE.format(n="t"), 1.5) +
               link("c", '<joint name="w" axis="0 0 1" armature=".3" damping=".4" '
                    'frictionloss=".5" range="-10 20" actuatorfrcrange="-30 40"/>', 1)))
SEVERAL = document(link("a", HINGE.format(n="x") + SLIDE.format(n="y") + '<joint axis="0 1 0"/>', 2,
                        link("b", "", 1, link("c", HINGE.format(n="z"), 1.5))))
BALLS = document(link("a", BALL.format(n="p", p="0 0 0"), 2,
                      link("b", BALL.format(n="o", p=".1 .2 .3"), 1,
                           link("c", HINGE.format(n="h"), 1))))
FREE = document(link("a", '<freejoint name="root"/>', 2, link("b", HINGE.format(n="h"), 1,
                link("c", BALL.format(n="o", p=".1 0 0"), 1))))

MODELS = {"arm": ARM, "several": SEVERAL, "balls": BALLS, "free": FREE}


def states(model, seed=0):
    """A random state of MuJoCo's, filled into its data."""
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    v = rng.normal(size=model.nv)
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
    data.qvel[:] = v
    mujoco.mj_forward(model, data)
    return data


def converted(model, data):
    """Our q and v, G = ∂v/∂qvel and dG qvel.

    Quaternions wxyz become xyzw; a free joint's linear velocity goes from the world to the body.
    """
    q, G, dGv = data.qpos.copy(), np.eye(model.nv), np.zeros(model.nv)
    for j in range(model.njnt):
        at, dof = model.jnt_qposadr[j], model.jnt_dofadr[j]
        kind = mujoco.mjtJoint(model.jnt_type[j])
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            at += 3
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, data.qpos[at:at + 4])
            G[dof:dof + 3, dof:dof + 3] = R.reshape(3, 3).T
            linear = R.reshape(3, 3).T @ data.qvel[dof:dof + 3]
            dGv[dof:dof + 3] = -np.cross(data.qvel[dof + 3:dof + 6], linear)
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            q[at:at + 4] = np.roll(data.qpos[at:at + 4], -1)
    return q, G @ data.qvel, G, dGv


def full_mass_matrix(model, data):
    columns = []
    for e in np.eye(model.nv):
        column = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, column, e)
        columns.append(column)
    return np.stack(columns, axis=1)
