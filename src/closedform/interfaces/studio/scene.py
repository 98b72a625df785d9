"""The robot in three dimensions: one client's nodes. They are numbered, never named by a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from closedform.applications.bones import bone_ends, bones, cut_points, rods
from closedform.applications.studio.dials import turned, wxyz
from closedform.applications.studio.shown import Shown
from closedform.applications.studio.subject import StudioRobot
from closedform.arrays import Floats
from closedform.interfaces.studio.looks import Look
from closedform.interfaces.studio.shapes import (
    arrows,
    axis_and_range,
    behind_sheet,
    free,
    lines,
    nested,
    pairs,
    stage,
    towards,
)

BLUE, ORANGE, GREEN, PINK = (74, 127, 181), (217, 114, 44), (63, 155, 99), (177, 58, 108)
RED, GREY = (190, 50, 40), (130, 135, 145)
FLAT = {"cast_shadow": False, "receive_shadow": False}
LAYERS = {"meshes": True, "bones": True, "inertia": False, "frames": False, "joints": False,
          "centre of mass": True, "manipulability": False, "loads": False, "torques": False}
"""What can be seen, and whether it is at first; bones give way to meshes."""
WEIGHT, TORQUE = 0.15, 0.2
"""Of the robot's size: an arrow of the largest weight, of a torque at its limit."""
FROM = np.array([0.68, -0.68, 0.29])
"""From where the camera looks, a direction with z up."""
FULL, TRIED = 0.9, 16
"""The distance from which all that the robot reaches would be seen whole, and how much of it the
camera keeps; random configurations from which the reach is taken."""
STILL = 1e-7
"""m, and of a quaternion: a node that moves less stays where it is."""


@final
class StudioScene:
    """The nodes of one client's scene, and which layers are seen."""

    def __init__(self, scene: Any, subject: StudioRobot) -> None:
        self.scene, self.subject, robot = scene, subject, subject.robot
        at_home = subject.places(subject.tip)(subject.home, np.zeros(3), np.zeros(10))
        places = np.asarray(at_home.poses, dtype=float)
        spread = np.concatenate([places[:, :3, 3], at_home.frame_pose[None, :3, 3],
                                 np.zeros((0 if robot.is_floating else 1, 3))])
        self.size = max(float(np.ptp(spread, axis=0).max(initial=0.0)), 0.2)
        self.middle, self.reach = self._reached(spread)
        self.layers, self.has_meshes = dict(LAYERS), False
        self.up = stage(scene, np.asarray(robot.gravity, dtype=float), self.size)
        self.above, self.paths = nested(robot.parents)
        self.bodies = [scene.add_frame(path, show_axes=False) for path in self.paths]
        self._sent = np.full((len(robot.bodies), 7), np.inf)
        self.nodes: dict[str, list[Any]] = {name: [] for name in LAYERS}
        self._bones(places)
        self._inertias()
        self._joints(places)
        r = 0.02 * self.size
        self.nodes["frames"] = [
            scene.add_frame(f"{path}/axes", axes_length=5 * r, axes_radius=0.2 * r, visible=False)
            for path in self.paths]
        self.nodes["frames"] += [
            scene.add_frame(f"{self.paths[robot.body_names.index(f.body)]}/f{k}",
                            axes_length=4 * r, axes_radius=0.15 * r, visible=False,
                            position=f.placement[:3, 3],
                            wxyz=wxyz(np.asarray(f.placement, float)[:3, :3]))
            for k, f in enumerate(robot.frames) if f.body is not None]
        self.com = scene.add_icosphere("/com", 1.2 * r, PINK, subdivisions=2, **FLAT)
        self.ellipsoid = scene.add_icosphere("/ellipsoid", 1.0, GREEN, opacity=0.25,
                                             visible=False, **FLAT)
        self.weights = arrows(scene, "/weights", PINK, self.size)
        self.torques = arrows(scene, "/torques", ORANGE, self.size)
        self.ghosts = lines(scene, "/ghosts", np.zeros((1, 2, 3)), ORANGE, 3)
        self.elbow = lines(scene, "/elbow", np.zeros((1, 2, 3)), GREEN, 3)
        self.nodes |= {"centre of mass": [self.com], "manipulability": [self.ellipsoid],
                       "loads": [self.weights], "torques": [self.torques]}

    def _reached(self, points: Floats) -> tuple[Floats, float]:
        """The middle of what the robot reaches, and how far from there that is, m."""
        subject = self.subject
        if not subject.robot.is_floating and not subject.robot.loops:
            kernel, rng = subject.places(subject.tip), np.random.default_rng(0)
            for _ in range(TRIED):
                at = kernel(subject.robot.random(rng), np.zeros(3), np.zeros(10))
                points = np.concatenate([points, np.asarray(at.poses)[:, :3, 3],
                                         np.asarray(at.frame_pose)[None, :3, 3]])
        middle = (points.max(axis=0) + points.min(axis=0)) / 2
        return middle, max(float(np.linalg.norm(points - middle, axis=1).max()), self.size / 2)

    def look(self, camera: Any, beside: float) -> None:
        """Put a camera where the robot is seen, between panels so many pixels wide, or on a phone
        above the sheet of widgets."""
        R = turned(towards(self.up))                # z to what is up
        half = np.arctan(min(free(camera, beside)) * np.tan(float(camera.fov) / 2))
        out = FROM / np.linalg.norm(FROM)
        way = R @ (FULL * self.reach / np.sin(half) * out)
        above = R @ (np.array([0.0, 0.0, 1.0]) - out[2] * out) / np.hypot(out[0], out[1])
        at = self.middle - behind_sheet(camera, way) * above         # up in the picture
        camera.position, camera.look_at = tuple(at + way), tuple(at)

    # ------------------------------------------------------------------ what is there
    def _path(self, body: int) -> str:
        """The node of a body; of the world for −1."""
        return self.paths[body] if body >= 0 else "/world"

    def _bones(self, T: Floats) -> None:
        """A bone from each body's origin to each child's, frames and loops; a ball at each joint.
        """
        robot, r = self.subject.robot, 0.018 * self.size
        places = np.concatenate([np.eye(4)[None], T])
        ends = [(bone.a, (np.linalg.inv(places[bone.a]) @ places[bone.b] @ [*bone.at_b, 1])[:3])
                for bone in bones(robot)]
        tip = robot.frame(self.subject.tip)
        if tip.body is not None:
            ends.append((robot.body_names.index(tip.body) + 1,
                         np.asarray(tip.placement, dtype=float)[:3, 3]))
        for i, (p, end) in enumerate(ends):
            length = float(np.linalg.norm(end))
            if length > 1e-6:
                self.nodes["bones"].append(self.scene.add_cylinder(
                    f"{self._path(p - 1)}/bone{i}", r, length, BLUE,
                    wxyz=towards(end / length), position=end / 2, radial_segments=12, **FLAT))
        for k in range(len(robot.bodies)):
            self.nodes["bones"].append(self.scene.add_icosphere(
                f"{self.paths[k]}/joint", 1.4 * r, ORANGE, subdivisions=1, **FLAT))
        for i, (_, k, at) in enumerate(cut_points(robot)):
            self.nodes["bones"].append(self.scene.add_icosphere(
                f"{self._path(k - 1)}/cut{i}", 1.4 * r, GREY, subdivisions=1, position=at, **FLAT))
        self.rods = lines(self.scene, "/rods", np.zeros((1, 2, 3)), GREY, 4)
        if rods(robot):
            self.rods.visible = True
            self.nodes["bones"].append(self.rods)

    def _inertias(self) -> None:
        """The ellipsoid of a solid with each body's mass and tensor; red where no body has it."""
        for k, body in enumerate(self.subject.robot.bodies):
            if not body.inertia.mass > 0:
                continue
            values, axes = np.linalg.eigh(np.asarray(body.inertia.tensor, dtype=float))
            axes[:, 0] *= np.sign(np.linalg.det(axes))
            squares = 2.5 * (values.sum() - 2 * values) / float(body.inertia.mass)
            half = np.sqrt(np.maximum(squares, (0.004 * self.size) ** 2))
            colour = GREEN if body.inertia.impossibility() is None else RED
            self.nodes["inertia"].append(self.scene.add_icosphere(
                f"{self.paths[k]}/inertia", 1.0, colour, opacity=0.45, scale=tuple(half.tolist()),
                wxyz=wxyz(axes), position=np.asarray(body.inertia.com, float), visible=False,
                **FLAT))

    def _joints(self, T: Floats) -> None:
        """Axes of the joints, and the range of a turn as an arc: both rest in the parent."""
        robot, r = self.subject.robot, 0.07 * self.size
        for k, (body, p) in enumerate(zip(robot.bodies, robot.parents, strict=True)):
            drawn = axis_and_range(body.joint, r)
            if drawn is None:
                continue
            A = np.asarray(body.placement, dtype=float)
            node = lines(self.scene, f"{self._path(p - 1)}/range{k}", drawn, GREY, 2)
            node.position, node.wxyz = A[:3, 3], wxyz(A[:3, :3])
            self.nodes["joints"].append(node)

    def add_looks(self, looks: Sequence[Look]) -> None:
        """Meshes, when they have been read; bones step back."""
        for i, look in enumerate(looks):
            self.nodes["meshes"].append(self.scene.add_mesh_trimesh(
                f"{self._path(look.body)}/v{i}", look.mesh, wxyz=wxyz(look.placement[:3, :3]),
                position=look.placement[:3, 3], **FLAT))
        if looks and not self.has_meshes:
            self.has_meshes = True
            self.see("bones", False)

    def see(self, layer: str, visible: bool) -> None:
        """Show a layer or hide it."""
        self.layers[layer] = visible
        for node in self.nodes[layer]:
            node.visible = visible

    # ------------------------------------------------------------------ at a state
    def show(self, s: Shown) -> None:
        """Move everything to where it is."""
        T = s.places.poses
        self._move(T)
        if rods(self.subject.robot):
            places = np.concatenate([np.eye(4)[None], T])
            self.rods.points = np.array([bone_ends(places, rod) for rod in rods(
                self.subject.robot)], dtype=np.float32)
        if self.layers["centre of mass"]:
            self.com.position = s.places.center_of_mass
        if self.layers["manipulability"]:
            axes, half = s.ellipsoid
            self.ellipsoid.position, self.ellipsoid.wxyz = s.places.frame_pose[:3, 3], wxyz(axes)
            self.ellipsoid.scale = tuple(0.25 * np.maximum(half, 1e-3 * self.size))
        if self.layers["loads"]:
            at, force = s.weights
            most = float(np.linalg.norm(force, axis=1).max(initial=0.0)) or 1.0
            self.weights.points = pairs(at, WEIGHT * self.size * force / most)
        if self.layers["torques"] and s.terms is not None:
            self.torques.points = pairs(*self._torque_arrows(s))

    def _move(self, T: Floats) -> None:
        """Send the places that have changed, each in its parent: a slider moves one node."""
        above = np.concatenate([T, np.eye(4)[None]])[self.above]
        R = np.swapaxes(above[:, :3, :3], 1, 2)
        turns = wxyz(R @ T[:, :3, :3])
        places = (R @ (T[:, :3, 3] - above[:, :3, 3])[..., None])[..., 0]
        moved = np.abs(np.concatenate([places, turns], axis=1) - self._sent) > STILL
        for k in np.flatnonzero(moved.any(axis=1)):
            if moved[k, :3].any():
                self.bodies[k].position = self._sent[k, :3] = places[k]
            if moved[k, 3:].any():
                self.bodies[k].wxyz = self._sent[k, 3:] = turns[k]

    def _torque_arrows(self, s: Shown) -> tuple[Floats, Floats]:
        """Along each joint's axis, by the part of its limit, or of the largest torque."""
        tau, most = s.terms.inverse_dynamics, s.effort
        largest = float(np.abs(tau).max(initial=0.0)) or 1.0
        starts, ways = [], []
        for body, _, j in s.subject.robot.parts:
            k = s.subject.robot.body_names.index(body.name)
            line = body.joint.moving.line if j.stop - j.start == 1 else None
            if line is not None:
                T, x = s.places.poses[k], float(tau[j][0])
                bound = float(most[j][0])
                part = x / (bound if np.isfinite(bound) and bound > 0 else largest)
                starts.append(T[:3, 3])
                ways.append(TORQUE * self.size * part * (T[:3, :3] @ np.asarray(line[0], float)))
        return np.reshape(starts, (-1, 3)), np.reshape(ways, (-1, 3))

    def show_curves(self, ghosts: Sequence[Floats], elbow: Floats | None) -> None:
        """Other branches as thin arms, and the way of the elbow along the self-motion."""
        robot = self.subject.robot
        bones = [(T[p - 1][:3, 3], T[k][:3, 3]) for T in ghosts
                 for k, p in enumerate(robot.parents) if p]
        self.ghosts.visible, self.elbow.visible = bool(bones), elbow is not None
        if bones:
            self.ghosts.points = np.array(bones, dtype=np.float32)
        if elbow is not None:
            self.elbow.points = np.stack([elbow[:-1], elbow[1:]], axis=1).astype(np.float32)

    def remove(self) -> None:
        """Take all of it away."""
        self.scene.reset()
