"""The same robot in Pinocchio and MuJoCo, where they are installed: results and times.

MuJoCo gets the MJCF, `MjModel` or `MjSpec` that the robot came from; else both get the robot as
URDF, which is why some joints leave one of them out. URDF has no rotor inertias, so they are added
to the model; mimics are joints of their own there.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, final

import numpy as np
from lxml import etree

from closedform.applications.compile.digest import robot_digest
from closedform.applications.conventions import Convention, from_mujoco_model, from_pinocchio_model
from closedform.arrays import Array
from closedform.errors import ClosedformError, MissingDependency
from closedform.maths.canonical.snapping import snapped
from closedform.maths.embedding import embedding
from closedform.maths.rotors import turning_rotors
from closedform.maths.springs import has_springs
from closedform.model.formats.mjcf.compiled import compiled, compiled_spec
from closedform.model.formats.mjcf.document import is_mjcf
from closedform.model.formats.mjcf.equalities import OPEN
from closedform.model.load import load, located
from closedform.model.robot import Robot


class Peer(ABC):
    """Another library's model of the robot; states are ours, results too."""

    name: str
    version: str
    tolerance: float
    """Of the largest entry: what reading the model costs in accuracy, far above rounding."""

    @abstractmethod
    def mass_matrix(self, q: Array) -> Array:
        """M (nv, nv) in our order of velocities."""

    @abstractmethod
    def bias(self, q: Array, v: Array) -> Array:
        """C v + g, (nv,)."""

    @abstractmethod
    def calls(self, q: Array, v: Array, x: np.ndarray) -> dict[str, Callable[[], Any]]:
        """What a user calls for a quantity at one state, by the quantity's name."""


def uncoupled(robot: Robot) -> Robot:
    """The robot with every mimic a joint of its own."""
    bodies = [replace(body, joint=body.joint.moving) for body in robot.bodies]
    return Robot(robot.name, bodies, robot.gravity, robot.frames)


def rotors(convention: Convention) -> Array:
    """What rotors add to the diagonal of their M, (nv',), by the convention of an uncoupled robot.
    """
    result = np.zeros(convention.nv)
    for place in convention.places:
        result[place.their_v] = convention.robot.rotor_inertia[place.v]
    return result


@final
class Pinocchio(Peer):
    name, tolerance = "Pinocchio", 1e-10

    def __init__(self, robot: Robot, urdf: str = "") -> None:
        """`urdf` is a file's text to be read, in place of the robot as URDF."""
        try:
            import pinocchio
        except ImportError:
            raise MissingDependency("Pinocchio is not installed: pip install pin") from None
        self.pin: Any = pinocchio
        self.version = pinocchio.__version__
        _refuse_turning_rotors(robot, "Pinocchio")
        if has_springs(robot):
            raise ClosedformError("Pinocchio has no springs in joints")
        _refuse_carried(robot, "Pinocchio")
        free = uncoupled(robot)
        self.model = pinocchio.buildModelFromXML(urdf or _urdf(free))
        self.model.gravity.linear = np.asarray(robot.gravity, dtype=float)
        self.model.armature = rotors(from_pinocchio_model(free, self.model))
        self.data, self.ours = self.model.createData(), from_pinocchio_model(robot, self.model)

    def mass_matrix(self, q: Array) -> Array:
        M = self.pin.crba(self.model, self.data, self.ours.q_to(q))
        B = self.ours.B(q)
        return B.T @ (np.triu(M) + np.triu(M, 1).T) @ B

    def bias(self, q: Array, v: Array) -> Array:
        moved = self.ours.a_to(q, v, np.zeros_like(v))
        tau = self.pin.rnea(self.model, self.data, self.ours.q_to(q), self.ours.v_to(q, v), moved)
        return self.ours.tau_from(q, tau)

    def calls(self, q: Array, v: Array, x: np.ndarray) -> dict[str, Callable[[], Any]]:
        pin, model, data = self.pin, self.model, self.data
        given: tuple[Array, ...] = self.ours.q_to(q), self.ours.v_to(q, v), self.ours.a_to(q, v, x)
        q, v, x = map(np.ascontiguousarray, given)
        found: dict[str, Callable[[], Any]] = {
            "inverse_dynamics": lambda: pin.rnea(model, data, q, v, x),
            "mass_matrix": lambda: pin.crba(model, data, q),
            "gravity_torque": lambda: pin.computeGeneralizedGravity(model, data, q),
            "bias": lambda: pin.nonLinearEffects(model, data, q, v),
        }
        if not self.ours.robot.is_coupled:
            found |= {
                "forward_dynamics": lambda: pin.aba(model, data, q, v, x),
                "christoffel_coriolis_matrix": lambda: pin.computeCoriolisMatrix(
                    model, data, q, v),
                "inverse_dynamics_derivatives": lambda: pin.computeRNEADerivatives(
                    model, data, q, v, x),
                "forward_dynamics_derivatives": lambda: pin.computeABADerivatives(
                    model, data, q, v, x),
                "regressor": lambda: pin.computeJointTorqueRegressor(model, data, q, v, x),
            }
        return found


@final
class MuJoCo(Peer):
    name = "MuJoCo"

    def __init__(self, robot: Robot, origin: Any = "") -> None:
        try:
            import mujoco
        except ImportError:
            raise MissingDependency("MuJoCo is not installed: pip install mujoco") from None
        self.mujoco: Any = mujoco
        self.version = mujoco.__version__
        own = own_model(robot, origin)
        # what lies within a rounding of exact is made exact here, but not in a file of its own
        self.tolerance = 1e-9 if own is None else 1e-8
        self.model = self._of_urdf(robot) if own is None else own
        self._leave_out()
        self.data, self.ours = mujoco.MjData(self.model), from_mujoco_model(robot, self.model)

    def _of_urdf(self, robot: Robot) -> Any:
        _refuse_turning_rotors(robot, "MuJoCo")
        _refuse_carried(robot, "MuJoCo read from URDF")
        free = uncoupled(robot)
        root = etree.fromstring(_urdf(free).encode())
        told = etree.SubElement(root, "mujoco")
        etree.SubElement(told, "compiler", balanceinertia="false", fusestatic="true")
        model = self.mujoco.MjModel.from_xml_string(etree.tostring(root).decode())
        model.opt.gravity[:] = robot.gravity
        ours, rest = from_mujoco_model(free, model), free.neutral()
        model.dof_armature[:] = rotors(ours)
        for body, q, _ in free.parts:
            joint = body.joint
            if joint.stiffness is not None:
                k, *others = np.unique(joint.stiffness)
                if others:
                    raise ClosedformError("MuJoCo has one stiffness for all motions of a joint")
                model.jnt_stiffness[model.joint(body.joint_name).id] = k
                rest[q] = rest[q] if joint.spring_reference is None else joint.spring_reference
        model.qpos_spring[:] = ours.q_to(rest)
        return model

    def _leave_out(self) -> None:
        """What a `Robot` has no place for: constraints, contacts, actuators, tendons, fluids, and
        springs that are not linear.
        """
        off, model = self.mujoco.mjtDisableBit, self.model
        model.opt.disableflags |= (off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT
                                   | off.mjDSBL_ACTUATION)
        model.tendon_stiffness[:] = model.tendon_damping[:] = 0.0
        model.opt.density = model.opt.viscosity = 0.0
        if hasattr(model, "jnt_stiffnesspoly"):                 # of a newer MuJoCo
            model.jnt_stiffnesspoly[:] = 0.0

    def _at(self, q: Array, v: Array) -> None:
        self.data.qpos[:], self.data.qvel[:] = self.ours.q_to(q), self.ours.v_to(q, v)
        self.mujoco.mj_forward(self.model, self.data)

    def _their_mass_matrix(self) -> Array:
        M = np.zeros((self.model.nv, self.model.nv))
        if "qM" in dir(self.data):
            self.mujoco.mj_fullM(self.model, M, self.data.qM)
        else:                                       # MuJoCo 4
            self.mujoco.mj_fullM(self.model, self.data, M)
        return M

    def mass_matrix(self, q: Array) -> Array:
        self._at(q, np.zeros(self.ours.robot.nv))
        B = self.ours.B(q)
        return B.T @ self._their_mass_matrix() @ B

    def bias(self, q: Array, v: Array) -> Array:
        """Theirs is at a' = 0, which on a free base is not our a = 0: M' a' is added.

        Springs and carried weights, which are no part of it there, are of ours.
        """
        self._at(q, v)
        moved = self._their_mass_matrix() @ self.ours.a_to(q, v, np.zeros_like(v))
        passive = self.data.qfrc_spring + self.data.qfrc_gravcomp
        return self.ours.tau_from(q, self.data.qfrc_bias + moved - passive)

    def calls(self, q: Array, v: Array, x: np.ndarray) -> dict[str, Callable[[], Any]]:
        self._at(q, v)
        self.data.qacc[:] = self.data.qfrc_applied[:] = self.ours.a_to(q, v, x)
        mujoco, model, data = self.mujoco, self.model, self.data
        found = {"inverse_dynamics": lambda: mujoco.mj_inverse(model, data)}
        return found if self.ours.robot.is_coupled else found | {
            "forward_dynamics": lambda: mujoco.mj_forward(model, data)}


@final
class OfTree(Peer):
    """A peer of a robot with loops: its spanning tree there, seen in the independent velocities.

        M = Gᵀ M̂ G      C v + g = Gᵀ (b̂(q, G v) + M̂ Ġ v)
    """

    def __init__(self, robot: Robot, peer: Peer) -> None:
        self.name, self.version, self.tolerance = peer.name, peer.version, peer.tolerance
        self.e, self.peer = embedding(robot), peer

    def mass_matrix(self, q: Array) -> Array:
        G = self.e.here(q).G
        return G.T @ self.peer.mass_matrix(q) @ G

    def bias(self, q: Array, v: Array) -> Array:
        moved, bent = self.e.rates(q, [v, np.zeros_like(v)])
        own = self.peer.bias(q, moved) + self.peer.mass_matrix(q) @ bent
        return self.e.here(q).G.T @ own

    def calls(self, q: Array, v: Array, x: np.ndarray) -> dict[str, Callable[[], Any]]:
        """None: what they have for a tree is another quantity."""
        return {}


def peers(robot: Robot, origin: Any = "") -> tuple[list[Peer], dict[str, str]]:
    """The peers that take the robot, and the reasons of the others.

    `origin` is a file, text or object that the robot may have come from, else its `source`.
    """
    found: list[Peer] = []
    reasons: dict[str, str] = {}
    makers: dict[str, Callable[[], Peer]] = {
        "Pinocchio": lambda: Pinocchio(robot.tree),
        "MuJoCo": lambda: MuJoCo(robot.tree, origin or robot.source)}
    for name, made in makers.items():
        try:
            found.append(OfTree(robot, made()) if robot.loops else made())
        except ClosedformError as error:
            reasons[name] = str(error)
        except (ValueError, RuntimeError) as error:
            reasons[name] = f"it {_refusal(' '.join(str(error).split()))}"
    return found, reasons


REFUSALS = {
    "mjMINVAL": "takes no moving body without mass or inertia",
    "balanceinertia": "takes no inertia that breaks the triangle inequality",
}
"""What a peer's error says, by a word of it."""


def _refusal(text: str) -> str:
    return next((told for word, told in REFUSALS.items() if word in text), f"says: {text}")


def own_model(robot: Robot, origin: Any) -> Any:
    """A new `MjModel` of the MJCF or MuJoCo's object in `origin`, if it is this robot; else None.
    """
    source = origin
    if not _is_mujoco(origin):
        try:
            source = located(origin)
        except ClosedformError:
            return None
        if not is_mjcf(source):
            return None
    for floating, loops in product((False, True), (None, OPEN)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read = load(origin, floating, loops)
        except ClosedformError:
            continue
        if _key(read) == _key(robot):
            return _anew(source, floating)
    return None


def _is_mujoco(origin: object) -> bool:
    kind = type(origin)
    return kind.__module__.startswith("mujoco.") and kind.__name__ in ("MjModel", "MjSpec")


def _anew(source: Any, floating: bool) -> Any:
    """The model of a file, a text or an object; `floating` puts its root body on a free joint."""
    from mujoco import MjSpec
    if not isinstance(source, str | Path) and not hasattr(source, "worldbody"):
        return None if floating else copy(source)
    if not floating and isinstance(source, str | Path):
        return compiled(source).model
    spec = (MjSpec.from_string(source) if isinstance(source, str) else
            MjSpec.from_file(str(source)) if isinstance(source, Path) else source.copy())
    if floating:
        spec.worldbody.first_body().add_freejoint()
    return compiled_spec(spec).model


def _key(robot: Robot) -> str:
    return robot_digest(snapped(robot)[0])


def _refuse_turning_rotors(robot: Robot, library: str) -> None:
    """An error where rotor inertias turn with the body, which a peer's constant diagonal cannot.

    Equal ones about all axes are the same in all axes; along them in MuJoCo, whose free joint has
    the world's axes.
    """
    for segment in turning_rotors(robot):
        given = robot.rotor_inertia[list(segment.v_index)]
        slides, turns = np.split(given, [len(segment.joint.lengths)])
        if np.any(np.diff(turns)) or np.any(np.diff(slides) if library == "MuJoCo" else slides):
            raise ClosedformError(f"the rotor inertia of {segment.name!r} is in axes that turn, "
                                  f"which {library} does not have")


def _refuse_carried(robot: Robot, library: str) -> None:
    if any(body.gravity_compensation for body in robot.bodies):
        raise ClosedformError(f"{library} has no gravity compensation of bodies")


def _urdf(robot: Robot) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return robot.to_urdf()
