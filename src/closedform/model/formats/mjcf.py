"""Robots from MJCF, through the compiler of the `mujoco` package.

What is read is the compiled tree, so that defaults, includes, angle units and inertias from geoms
are MuJoCo's own. q of hinges and slides is MuJoCo's qpos (its reference `ref` is in the placement);
ball and free joints have our quaternion order xyzw, and a free joint's v is the body twist.
A body with several joints becomes a chain with massless bodies `body/joint` between; a body without
joints is part of its parent and stays as a frame, as do the sites.

A `Robot` has no place for springs, tendons, actuators, contacts, gravity compensation, the range of
a ball joint and damping that is not linear: they are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from closedform.arrays import NUMBERS
from closedform.errors import FormatError, MissingDependency, ModelError
from closedform.model.edits import merged
from closedform.model.findings import Finding, refuse_errors
from closedform.model.formats.urdf.read import base_joint
from closedform.model.formats.xml import TEXT, Document, name_faults, read_xml, tag
from closedform.model.groups.quaternions import rotation as quaternion_rotation
from closedform.model.inertia import Inertia
from closedform.model.joints import (
    Fixed,
    Free,
    Joint,
    Mimic,
    Prismatic,
    Revolute,
    Spherical,
)
from closedform.model.pose import pose, rotation
from closedform.model.robot import Body, Frame, Robot

UNNAMED = "MuJoCo Model"
"""What MuJoCo calls a model without a name."""


def read_mjcf(source: Path | str, floating: bool = False) -> Robot:
    """The robot in an MJCF file (a Path) or MJCF text (a str).

    With `floating` the one root body, which must have no joint, is put on a free joint.
    """
    document = read_xml(source)
    found = tag(document.checked_root())
    if found != "mujoco":
        raise FormatError(f"{document.file}: the root element of MJCF is <mujoco>, not <{found}>")
    refuse_errors(mjcf_name_faults(document))
    try:
        return _robot(_compiled(source), floating, document.file)
    except ModelError as error:
        raise FormatError(f"{document.file}: {error}") from error


def mjcf_name_faults(document: Document) -> list[Finding]:
    """Names that become a robot's and that none may have; included files have no lines here."""
    root = document.checked_root()
    named = root.iter("{*}body", "{*}joint", "{*}freejoint", "{*}site")
    return [*name_faults([root], "model", document.file),
            *name_faults(named, "name", document.file)]


def _mujoco() -> Any:
    try:
        import mujoco
    except ImportError as error:
        raise MissingDependency("MJCF is read with MuJoCo's own compiler, which is not installed: "
                                "pip install closedform[mujoco]") from error
    return mujoco


def _compiled(source: Path | str) -> Any:
    """MuJoCo's compiled model, or its complaint in one line."""
    mujoco = _mujoco()
    try:
        if isinstance(source, Path):
            return mujoco.MjModel.from_xml_path(str(source))
        return mujoco.MjModel.from_xml_string(source)
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"MuJoCo says: {' '.join(str(error).split())}") from error


def _robot(model: Any, floating: bool, source: str) -> Robot:
    root = _floating_root(model) if floating else None
    tree = [(j, body) for b in range(1, model.nbody) for j, body in _chain(model, b, b == root)]
    bodies, held = _coupled(model, tree)
    off = int(model.opt.disableflags) & int(_mujoco().mjtDisableBit.mjDSBL_GRAVITY)
    gravity = np.zeros(3) if off else np.array(model.opt.gravity)
    name = model.names.split(b"\0")[0].decode()
    if name in ("", UNNAMED):
        name = "robot" if source == TEXT else Path(source).stem
    whole = Robot(name, bodies, gravity, _sites(model, {b.name for b in bodies}), source)
    robot = merged(bodies, whole, {b.name for b in bodies if b.joint.is_fixed})
    return robot.reduced(held) if held else robot


def _floating_root(model: Any) -> int:
    """The number of the one body that hangs on the world, if it has no joint."""
    roots = [b for b in range(1, model.nbody) if model.body_parentid[b] == 0]
    names = ", ".join(_body_name(model, b) for b in roots)
    if len(roots) != 1:
        raise ModelError(f"floating needs one root body, the model has {len(roots)}: {names}")
    if model.body_jntnum[roots[0]]:
        raise ModelError(f"the root body {names} has a joint already; read it without floating")
    return roots[0]


# ---------------------------------------------------------------------- bodies and joints
def _body_name(model: Any, b: int) -> str:
    return model.body(b).name or f"body{b}"


def _chain(model: Any, b: int, freed: bool) -> Iterator[tuple[int | None, Body]]:
    """The bodies of MuJoCo's body b, one for each joint, each with the number of its joint.

    A joint is pre · joint(q) · post; where the last post is no identity, or where there is no
    joint, a fixed body ends the chain.
    """
    name, up = _body_name(model, b), int(model.body_parentid[b])
    parent = _body_name(model, up) if up else None
    placement = _placement(model.body_pos[b], model.body_quat[b])
    numbers = [int(model.body_jntadr[b]) + i for i in range(int(model.body_jntnum[b]))]
    if freed:
        root = base_joint({model.joint(j).name for j in range(model.njnt)})
        yield None, Body(name, None, root, inertia=_inertia(model, b))
        return
    for j in numbers:
        joint, pre, post = _joint(model, j)
        ends = j == numbers[-1] and np.array_equal(post, np.eye(4))
        label = name if ends else f"{name}/{joint.name or f'joint{j}'}"
        before = np.eye(4) if joint.nv == 6 else placement @ pre
        yield j, Body(label, parent, joint, before, _inertia(model, b) if ends else Inertia())
        if ends:
            return
        parent, placement = label, post
    yield None, Body(name, parent, Fixed(), placement, _inertia(model, b))


def _joint(model: Any, j: int) -> tuple[Joint, np.ndarray, np.ndarray]:
    """A joint with the constant poses before and after it."""
    kind = _mujoco().mjtJoint(int(model.jnt_type[j])).name
    axis, point = np.array(model.jnt_axis[j]), np.array(model.jnt_pos[j])
    zero = float(model.qpos0[model.jnt_qposadr[j]])
    if kind == "mjJNT_HINGE":
        R = rotation(axis, -zero)
        hinge = Revolute(axis, point, **_keywords(model, j, 1))
        return hinge, pose(R, point - R @ point), np.eye(4)
    if kind == "mjJNT_SLIDE":
        return Prismatic(axis, **_keywords(model, j, 1)), pose(None, -zero * axis), np.eye(4)
    if kind == "mjJNT_BALL":
        return Spherical(**_keywords(model, j, 3)), pose(None, point), pose(None, -point)
    return Free(**_keywords(model, j, 6)), np.eye(4), np.eye(4)


def _keywords(model: Any, j: int, size: int) -> dict[str, Any]:
    """Name, limits, rotor inertia (armature) and friction of a joint; nothing where it is zero."""
    at = slice(int(model.jnt_dofadr[j]), int(model.jnt_dofadr[j]) + size)
    result: dict[str, Any] = {"name": model.joint(j).name or None}
    if size == 1 and model.jnt_limited[j]:
        result["lower"], result["upper"] = map(float, model.jnt_range[j])
    if model.jnt_actfrclimited[j]:
        result["effort"] = float(np.abs(model.jnt_actfrcrange[j]).max())
    for keyword, values in (("rotor_inertia", model.dof_armature[at]),
                            ("viscous", model.dof_damping[at]),
                            ("coulomb", model.dof_frictionloss[at])):
        if np.any(values != 0):
            same = np.all(values == values[0])
            result[keyword] = float(values[0]) if same else tuple(map(float, values))
    return result


def _placement(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """The pose of a position and a unit quaternion wxyz; 0 and ±1 without rounding."""
    w, *xyz = map(float, quaternion)
    R = quaternion_rotation(np.array([*xyz, w]), NUMBERS)
    whole = np.round(R)
    return pose(np.where(np.abs(R - whole) < 1e-15, whole, R) + 0.0, np.array(position))


def _inertia(model: Any, b: int) -> Inertia:
    R = _placement(np.zeros(3), model.body_iquat[b])[:3, :3]
    tensor = R @ np.diag(model.body_inertia[b]) @ R.T
    return Inertia(float(model.body_mass[b]), np.array(model.body_ipos[b]), tensor)


def _sites(model: Any, taken: set[str]) -> list[Frame]:
    """The named sites as frames; one that is named as a body gets `/site` behind its name."""
    frames = []
    for s in range(model.nsite):
        name, b = model.site(s).name, int(model.site_bodyid[s])
        if name:
            label = f"{name}/site" if name in taken else name
            at = _placement(model.site_pos[s], model.site_quat[s])
            frames.append(Frame(label, _body_name(model, b) if b else None, at))
    return frames


# ---------------------------------------------------------------------- equalities
def _coupled(model: Any,
             tree: list[tuple[int | None, Body]]) -> tuple[list[Body], dict[str, float]]:
    """The bodies with mimic joints from the active joint equalities, and the joints held still.

        q_1 − q0_1 = a_0 + a_1 (q_2 − q0_2)
    """
    bodies = {j: body for j, body in tree if j is not None}
    held: dict[str, float] = {}
    for e in range(model.neq):
        if not model.eq_active0[e]:
            continue
        j, driver, a = _linear(model, e)
        zero = float(model.qpos0[model.jnt_qposadr[j]])
        if bodies[j].joint.driver or bodies[j].joint_name in held:
            raise ModelError(f"two equalities act on the joint {bodies[j].joint_name!r}")
        if driver is None:
            held[bodies[j].joint_name] = zero + a[0]
            continue
        offset = a[0] + zero - a[1] * float(model.qpos0[model.jnt_qposadr[driver]])
        mimic = Mimic(bodies[j].joint, bodies[driver].name, a[1], offset)
        bodies[j] = replace(bodies[j], joint=mimic)
    return [body if j is None else bodies[j] for j, body in tree], held


def _linear(model: Any, e: int) -> tuple[int, int | None, list[float]]:
    """The joint, the joint it follows and (a_0, a_1) of a linear joint equality."""
    kind = _mujoco().mjtEq(int(model.eq_type[e])).name.removeprefix("mjEQ_").lower()
    label = f"the {kind} equality {model.equality(e).name or e!r}"
    if kind != "joint":
        raise ModelError(f"{label} closes a loop; only trees are read: remove it or deactivate it")
    first, second, data = int(model.eq_obj1id[e]), int(model.eq_obj2id[e]), model.eq_data[e]
    if np.any(data[2:5] != 0):
        raise ModelError(f"{label} is not linear: polycoef {data[:5].tolist()}; "
                         "a mimic joint has two coefficients, an offset and a ratio")
    return first, None if second < 0 else second, [float(data[0]), float(data[1])]
