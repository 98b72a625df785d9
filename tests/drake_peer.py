"""The robot of an SDF file in Drake, where it is installed: M and the bias in our coordinates."""

from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

import closedform as cf
from closedform.applications.conventions import drake_convention
from closedform.applications.report.peers import Peer
from closedform.errors import MissingDependency


class Drake(Peer):
    name, version, tolerance = "Drake", "", 1e-12

    def __init__(self, robot: cf.Robot, source: Path | str) -> None:
        """`source` is an SDF file or text; roots that are part of our world are welded to it."""
        self.plant = plant_of(source, robot.gravity)
        self.context = self.plant.CreateDefaultContext()
        joints = [self.plant.get_joint(k) for k in self.plant.GetJointIndices()]
        moving = sorted((j for j in joints if j.num_velocities()), key=lambda j: j.velocity_start())
        self.ours = drake_convention(robot, [_name(self.plant, robot, j) for j in moving])

    def _at(self, q: Any, v: Any) -> None:
        self.plant.SetPositions(self.context, self.ours.q_to(q))
        self.plant.SetVelocities(self.context, self.ours.v_to(q, v))

    def mass_matrix(self, q: Any) -> Any:
        self._at(q, np.zeros(self.ours.robot.nv))
        B = self.ours.B(q)
        return B.T @ self.plant.CalcMassMatrix(self.context) @ B

    def bias(self, q: Any, v: Any) -> Any:
        self._at(q, v)
        plant, context = self.plant, self.context
        moved = plant.CalcMassMatrix(context) @ self.ours.a_to(q, v, np.zeros_like(v))
        forces = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
        return self.ours.tau_from(q, forces + moved)

    def calls(self, q: Any, v: Any, x: Any) -> dict[str, Any]:
        return {}


def plant_of(source: Path | str, gravity: Any = (0.0, 0.0, -9.81)) -> Any:
    """Drake's plant of an SDF file or text, its loose links welded where they stand."""
    try:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
    except ImportError:
        raise MissingDependency("Drake is not installed: pip install drake") from None
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    if isinstance(source, Path) and b"<include" in source.read_bytes():
        for config in source.parent.glob("*/model.config"):     # what model://NAME stands for
            parser.package_map().Add(config.parent.name, str(config.parent))
        parser.AddModels(str(source))
    else:
        parser.AddModelsFromString(_without_shapes(source), "sdf")
    for body in _roots(plant):
        place = plant.GetDefaultFloatingBaseBodyPose(body)
        plant.WeldFrames(plant.world_frame(), body.body_frame(), place)
    plant.mutable_gravity_field().set_gravity_vector(np.asarray(gravity, dtype=float))
    plant.Finalize()
    return plant


def _without_shapes(source: Path | str) -> str:
    """The text of a file without what Drake may refuse and dynamics does not need."""
    text = source.read_bytes() if isinstance(source, Path) else source.encode()
    root = etree.fromstring(text)
    for name in ("visual", "collision", "contact", "sensor", "plugin", "gui", "light", "scene"):
        for element in root.findall(f".//{name}"):
            element.getparent().remove(element)
    return etree.tostring(root, encoding="unicode")


def _roots(plant: Any) -> list[Any]:
    """Links that are below no joint."""
    from pydrake.multibody.tree import BodyIndex
    below = {plant.get_joint(k).child_body().index() for k in plant.GetJointIndices()}
    bodies = [plant.get_body(BodyIndex(k)) for k in range(1, plant.num_bodies())]  # 0: the world
    return [body for body in bodies if body.index() not in below]


def _name(plant: Any, robot: cf.Robot, joint: Any) -> str:
    """Our name of their joint, which goes by the models of its child and not by its own."""
    models = plant.GetModelInstanceName(joint.model_instance()).split("::")
    places = [models[i:k] for i in range(len(models) + 1) for k in range(len(models), i - 1, -1)]
    names = ["::".join([*place, joint.name()]) for place in places]
    return next((name for name in names if name in robot.joint_names), names[0])
