"""Robots from MJCF, through the compiler of the `mujoco` package.

What is read is the compiled tree, so that defaults, includes, angle units and inertias from geoms
are MuJoCo's own. q of hinges and slides is MuJoCo's qpos (its reference `ref` is in the placement);
ball and free joints have our quaternion order xyzw, and a free joint's v is the body twist.
A body with several joints becomes a chain with massless bodies `body/joint` between; a body without
joints is part of its parent and stays as a frame, as do the sites. Keyframes are configurations.

Springs, gravity compensation, armature, damping and friction are the joints' and bodies' own;
equalities close loops from where qpos0 has them; actuators give limits of effort, contacts nothing.
What acts on the motion and has no place in a `Robot` (tendons, fluid, flexes, …) is left out with
one warning and stands in `notes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from closedform.errors import FormatError, ModelError, warn_user
from closedform.model.edits import merged
from closedform.model.formats.loops import Start, closed_robot
from closedform.model.formats.mjcf.actuators import Actuation, actuations
from closedform.model.formats.mjcf.compiled import (
    Compiled,
    compiled,
    compiled_spec,
    import_mujoco,
)
from closedform.model.formats.mjcf.document import checked_file
from closedform.model.formats.mjcf.equalities import OPEN, Constraints
from closedform.model.formats.mjcf.frames import body_name, placement, sites
from closedform.model.formats.mjcf.left_out import left_out, refuse_inertia_of_tendons
from closedform.model.formats.urdf.read import base_joint
from closedform.model.formats.xml import TEXT
from closedform.model.inertia import Inertia
from closedform.model.joints import Fixed, Free, Joint, Prismatic, Revolute, Spherical
from closedform.model.pose import pose, rotation
from closedform.model.robot import Body, Robot

UNNAMED = "MuJoCo Model"
"""What MuJoCo calls a model without a name."""


@dataclass(frozen=True)
class Reading:
    """What a caller wants of a model: the root on a free joint, loops open (`loops="open"`)."""

    source: str
    floating: bool = False
    loops: str | None = None


def read_mjcf(source: Path | str, floating: bool = False, loops: str | None = None) -> Robot:
    """The robot in an MJCF file (a Path) or MJCF text (a str).

    With `floating` the one root body, which must have no joint, is put on a free joint. With
    `loops="open"` equalities that close loops are left out with a warning.
    """
    file = checked_file(source)
    try:
        return _robot(compiled(source), Reading(file, floating, loops))
    except ModelError as error:
        raise FormatError(f"{file}: {error}") from error


def mujoco_robot(given: Any, floating: bool = False, loops: str | None = None) -> Robot:
    """The robot in a `mujoco.MjModel` or a `mujoco.MjSpec`, which are not written to."""
    is_spec = hasattr(given, "worldbody")
    made = compiled_spec(given) if is_spec else Compiled(given)
    return _robot(made, Reading(f"<mujoco.{'MjSpec' if is_spec else 'MjModel'}>", floating, loops))


def held_joints(model: Any) -> dict[int, np.ndarray]:
    """Joints that equalities of a `mujoco.MjModel` hold still, with the qpos that they have.

    They are no joints of the robot: those of an equality over one joint, and free ones welded to
    the world.
    """
    tree = list(_Tree(model, None, {}).bodies())
    constraints = Constraints(model, tree, OPEN)
    names = {body.joint_name: j for j, body in tree if j is not None}
    welded = {body.name: j for j, body in tree if j is not None}
    result = {names[name]: np.array([q]) for name, q in constraints.held.items()}
    place: dict[str | None, np.ndarray] = {None: np.eye(4)}  # of what is fixed to the world
    for body in constraints.result():
        if body.joint.is_fixed and body.parent in place:
            place[body.name] = T = place[body.parent] @ body.placement
            quaternion = np.zeros(4)
            import_mujoco().mju_mat2Quat(quaternion, T[:3, :3].ravel())
            if body.name in welded:
                result[welded[body.name]] = np.concatenate([T[:3, 3], quaternion])
    return result


def _robot(made: Compiled, reading: Reading) -> Robot:
    model = made.model
    refuse_inertia_of_tendons(model)
    root = _floating_root(model) if reading.floating else None
    tree = list(_Tree(model, root, actuations(model)).bodies())
    constraints = Constraints(model, tree, reading.loops)
    bodies = constraints.result()
    if all(body.joint.is_fixed for body in bodies):
        raise ModelError("no joint moves, so that all bodies are part of the world; load it with "
                         "floating=True")
    off = int(model.opt.disableflags) & int(import_mujoco().mjtDisableBit.mjDSBL_GRAVITY)
    gravity = np.zeros(3) if off else np.array(model.opt.gravity)
    notes = _notes(model, constraints)
    whole = Robot(_name(model, reading.source), bodies, gravity,
                  sites(model, {b.name for b in bodies}), reading.source,
                  _keyframes(model, tree, bodies), notes)
    _warn(reading.source, notes, made.remarks)
    robot = merged(bodies, whole, {b.name for b in bodies if b.joint.is_fixed})
    robot = robot.reduced(constraints.held) if constraints.held else robot
    if not constraints.cuts:
        return robot
    number = {body.name: j for j, body in tree}
    zero = {b.name: _unit(np.array(model.qpos0[(at := int(model.jnt_qposadr[j])):at + b.joint.nq]),
                          b.joint) for b, _, _ in robot.parts
            if (j := number.get(b.name)) is not None}
    held = {b.name: constraints.held[b.joint_name] for b in bodies
            if b.joint_name in constraints.held}
    motors = constraints.driven()
    driven = tuple(b.name for b, _, _ in robot.parts if b.name in motors)
    return closed_robot(robot, constraints.cuts, Start(zero, driven, held))


def _notes(model: Any, constraints: Constraints) -> tuple[str, ...]:
    words = [*left_out(model, constraints.coupling_tendons), *constraints.notes]
    return tuple(f"left out: {text}" for text in words)


def _warn(source: str, notes: tuple[str, ...], remarks: tuple[str, ...]) -> None:
    """All that is worth knowing in one warning."""
    words = [note.removeprefix("left out: ") for note in notes]
    text = "; ".join([*([f"left out: {', '.join(words)}"] if words else []),
                      *(f"MuJoCo remarks: {remark}" for remark in remarks)])
    if text:
        warn_user(f"{source}: {text}")


def _name(model: Any, source: str) -> str:
    name = model.names.split(b"\0")[0].decode()
    if name not in ("", UNNAMED):
        return name
    return "robot" if source == TEXT or source.startswith("<") else Path(source).stem


def _floating_root(model: Any) -> int:
    """The number of the one body that hangs on the world, if it has no joint."""
    roots = [b for b in range(1, model.nbody) if model.body_parentid[b] == 0]
    names = ", ".join(body_name(model, b) for b in roots)
    if len(roots) != 1:
        raise ModelError(f"floating needs one root body, the model has {len(roots)}: {names}")
    if model.body_jntnum[roots[0]]:
        raise ModelError(f"the root body {names} has a joint already; read it without floating")
    return roots[0]


# ---------------------------------------------------------------------- bodies and joints
@dataclass(frozen=True)
class _Tree:
    """MuJoCo's bodies as ours; the body `root` is put on a free joint."""

    model: Any
    root: int | None
    actuations: dict[int, Actuation]

    def bodies(self) -> Iterator[tuple[int | None, Body]]:
        """All bodies, parents first, each with the number of its joint."""
        for b in range(1, self.model.nbody):
            yield from self.chain(b)

    def chain(self, b: int) -> Iterator[tuple[int | None, Body]]:
        """The bodies of MuJoCo's body b, one for each joint.

        A joint is pre · joint(q) · post; where the last post is no identity, or where there is no
        joint, a fixed body ends the chain.
        """
        model = self.model
        name, up = body_name(model, b), int(model.body_parentid[b])
        parent = body_name(model, up) if up else None
        at = placement(model.body_pos[b], model.body_quat[b])
        numbers = [int(model.body_jntadr[b]) + i for i in range(int(model.body_jntnum[b]))]
        carried = float(model.body_gravcomp[b])
        if b == self.root:
            free = base_joint({model.joint(j).name for j in range(model.njnt)})
            yield None, Body(name, None, free, np.eye(4), _inertia(model, b), carried)
            return
        for j in numbers:
            joint, pre, post = self.joint(j)
            ends = j == numbers[-1] and np.array_equal(post, np.eye(4))
            label = name if ends else f"{name}/{joint.name or f'joint{j}'}"
            before = np.eye(4) if joint.nv == 6 else at @ pre
            inertia = _inertia(model, b) if ends else Inertia()
            yield j, Body(label, parent, joint, before, inertia, carried)
            if ends:
                return
            parent, at = label, post
        yield None, Body(name, parent, Fixed(), at, _inertia(model, b), carried)

    def joint(self, j: int) -> tuple[Joint, np.ndarray, np.ndarray]:
        """A joint with the constant poses before and after it."""
        model = self.model
        kind = import_mujoco().mjtJoint(int(model.jnt_type[j])).name
        axis, point = np.array(model.jnt_axis[j]), np.array(model.jnt_pos[j])
        zero = float(model.qpos0[model.jnt_qposadr[j]])
        if kind == "mjJNT_HINGE":
            R = rotation(axis, -zero)
            hinge = Revolute(axis, point, **self.keywords(j, 1))
            return hinge, pose(R, point - R @ point), np.eye(4)
        if kind == "mjJNT_SLIDE":
            return Prismatic(axis, **self.keywords(j, 1)), pose(None, -zero * axis), np.eye(4)
        if kind == "mjJNT_BALL":
            return Spherical(**self.keywords(j, 3)), pose(None, point), pose(None, -point)
        return Free(**self.keywords(j, 6)), np.eye(4), np.eye(4)

    def keywords(self, j: int, size: int) -> dict[str, Any]:
        """Name, limits, spring, rotor inertia (armature), friction; nothing for zeros."""
        model, actuation = self.model, self.actuations.get(j)
        at = slice(int(model.jnt_dofadr[j]), int(model.jnt_dofadr[j]) + size)
        result: dict[str, Any] = {"name": model.joint(j).name or None}
        if size == 1 and model.jnt_limited[j]:
            result["lower"], result["upper"] = map(float, model.jnt_range[j])
        efforts = [actuation.effort] if actuation else []
        if model.jnt_actfrclimited[j]:
            efforts.append(float(np.abs(model.jnt_actfrcrange[j]).max()))
        if efforts and np.isfinite(min(efforts)):
            result["effort"] = min(efforts)
        if model.jnt_stiffness[j] and not self.is_off("SPRING"):
            result["stiffness"] = float(model.jnt_stiffness[j])
            rest = self.rest(j, size)
            result |= {"spring_reference": rest} if np.any(rest) else {}
        add = actuation or Actuation()
        for keyword, values, flag in (
                ("rotor_inertia", model.dof_armature[at] + add.armature, ""),
                ("viscous", model.dof_damping[at] + add.damping, "DAMPER"),
                ("coulomb", model.dof_frictionloss[at], "FRICTIONLOSS")):
            if np.any(values != 0) and not self.is_off(flag):
                same = np.all(values == values[0])
                result[keyword] = float(values[0]) if same else tuple(map(float, values))
        return result


    def rest(self, j: int, size: int) -> Any:
        """Where the spring of a joint is at rest; quaternions wxyz become xyzw."""
        start = int(self.model.jnt_qposadr[j])
        if size == 1:
            return float(self.model.qpos_spring[start])
        *place, w, x, y, z = map(float, self.model.qpos_spring[start:start + size + 1])
        return (*place, x, y, z, w)

    def is_off(self, flag: str) -> bool:
        """Whether the options switch a kind of force off, by the name of its flag."""
        bits = import_mujoco().mjtDisableBit
        bit = getattr(bits, f"mjDSBL_{flag}", None) or (
            getattr(bits, "mjDSBL_PASSIVE", None) if flag in ("SPRING", "DAMPER") else None)
        return bit is not None and bool(int(self.model.opt.disableflags) & int(bit))


def _inertia(model: Any, b: int) -> Inertia:
    R = placement(np.zeros(3), model.body_iquat[b])[:3, :3]
    tensor = R @ np.diag(model.body_inertia[b]) @ R.T
    return Inertia(float(model.body_mass[b]), np.array(model.body_ipos[b]), tensor)


# ---------------------------------------------------------------------- keyframes
def _keyframes(model: Any, tree: list[tuple[int | None, Body]],
               bodies: list[Body]) -> dict[str, np.ndarray]:
    """The keyframes as configurations of these bodies; one without a name is `key` and its number.

    A root that was put on a free joint stands where the file has it.
    """
    number = {body.name: j for j, body in tree}
    result = {}
    for k in range(model.nkey):
        parts = [_coordinates(model, k, body, number[body.name]) for body in bodies
                 if body.joint.nv]
        result[model.key(k).name or f"key{k}"] = np.concatenate([np.zeros(0), *parts])
    return result


def _coordinates(model: Any, k: int, body: Body, j: int | None) -> np.ndarray:
    if j is None:
        b = model.body(body.name).id
        q = np.concatenate([model.body_pos[b], model.body_quat[b]])
    else:
        at = int(model.jnt_qposadr[j])
        q = np.array(model.key_qpos[k][at:at + body.joint.nq])
    return _unit(q, body.joint)


def _unit(q: np.ndarray, joint: Joint) -> np.ndarray:
    if joint.unit:
        quaternion = np.roll(q[joint.unit], -1)  # wxyz there, xyzw here
        q[joint.unit] = quaternion / np.linalg.norm(quaternion)
    return q
