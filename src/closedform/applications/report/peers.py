"""The same robot in Pinocchio and MuJoCo, where they are installed: results and times.

The robot goes to them as URDF, which is why some joints or a floating base leave one of them out.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, final

import numpy as np
from lxml import etree

from closedform.applications.conventions import from_mujoco_model, from_pinocchio_model
from closedform.arrays import Array
from closedform.errors import ClosedformError, MissingDependency
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


@final
class Pinocchio(Peer):
    name, tolerance = "Pinocchio", 1e-10

    def __init__(self, robot: Robot) -> None:
        try:
            import pinocchio
        except ImportError:
            raise MissingDependency("Pinocchio is not installed: pip install pin") from None
        self.pin: Any = pinocchio
        self.version = pinocchio.__version__
        self.model = pinocchio.buildModelFromXML(_urdf(robot), mimic=robot.is_coupled)
        self.model.gravity.linear = np.asarray(robot.gravity, dtype=float)
        self.data, self.ours = self.model.createData(), from_pinocchio_model(robot, self.model)

    def mass_matrix(self, q: Array) -> Array:
        M = self.pin.crba(self.model, self.data, self.ours.q_to(q))
        B = self.ours.B(q)
        return B.T @ (np.triu(M) + np.triu(M, 1).T) @ B

    def bias(self, q: Array, v: Array) -> Array:
        still = np.zeros(self.model.nv)
        moved = self.ours.a_to(q, v, still)
        tau = self.pin.rnea(self.model, self.data, self.ours.q_to(q), self.ours.v_to(q, v), moved)
        return self.ours.tau_from(q, tau)

    def calls(self, q: Array, v: Array, x: np.ndarray) -> dict[str, Callable[[], Any]]:
        pin, model, data = self.pin, self.model, self.data
        q, v, x = self.ours.q_to(q), self.ours.v_to(q, v), x.copy()
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
    name, tolerance = "MuJoCo", 1e-9

    def __init__(self, robot: Robot) -> None:
        try:
            import mujoco
        except ImportError:
            raise MissingDependency("MuJoCo is not installed: pip install mujoco") from None
        if robot.is_coupled:
            raise ClosedformError("MuJoCo drops mimic joints of a URDF")
        self.mujoco: Any = mujoco
        self.version = mujoco.__version__
        root = etree.fromstring(_urdf(robot).encode())
        told = etree.SubElement(root, "mujoco")
        etree.SubElement(told, "compiler", balanceinertia="false", fusestatic="true")
        self.model = mujoco.MjModel.from_xml_string(etree.tostring(root).decode())
        self.model.opt.gravity[:] = robot.gravity
        self.model.opt.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
                                        | mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.data, self.ours = mujoco.MjData(self.model), from_mujoco_model(robot, self.model)

    def _at(self, q: Array, v: Array) -> None:
        self.data.qpos[:], self.data.qvel[:] = self.ours.q_to(q), self.ours.v_to(q, v)
        self.mujoco.mj_forward(self.model, self.data)

    def mass_matrix(self, q: Array) -> Array:
        self._at(q, np.zeros(self.model.nv))
        M = np.zeros((self.model.nv, self.model.nv))
        if "qM" in dir(self.data):
            self.mujoco.mj_fullM(self.model, M, self.data.qM)
        else:                                       # MuJoCo 4
            self.mujoco.mj_fullM(self.model, self.data, M)
        B = self.ours.B(q)
        return B.T @ M @ B

    def bias(self, q: Array, v: Array) -> Array:
        """Theirs is at a' = 0, which on a free base is not our a = 0: less M a there."""
        a = self.ours.a_from(q, v, np.zeros(self.model.nv))
        M = self.mass_matrix(q)
        self._at(q, v)
        return self.ours.tau_from(q, self.data.qfrc_bias) - M @ a

    def calls(self, q: Array, v: Array, x: np.ndarray) -> dict[str, Callable[[], Any]]:
        self._at(q, v)
        self.data.qacc[:], self.data.qfrc_applied[:] = x, x
        mujoco, model, data = self.mujoco, self.model, self.data
        return {"inverse_dynamics": lambda: mujoco.mj_inverse(model, data),
                "forward_dynamics": lambda: mujoco.mj_forward(model, data)}


def peers(robot: Robot) -> tuple[list[Peer], dict[str, str]]:
    """The peers that take the robot, and the reasons of the others."""
    found: list[Peer] = []
    reasons: dict[str, str] = {}
    for kind in (Pinocchio, MuJoCo):
        try:
            found.append(kind(robot))
        except (ClosedformError, ValueError, RuntimeError) as error:
            reasons[kind.name] = " ".join(str(error).split())
    return found, reasons


def _urdf(robot: Robot) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return robot.to_urdf()
