"""Random inputs of the programs of a robot, and robots beside it, for comparisons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from closedform.arrays import Array
from closedform.maths.arguments import SIZES
from closedform.model.inertia import Inertia
from closedform.model.loops.affine import y_of
from closedform.model.pose import pose
from closedform.model.robot import Robot
from closedform.program.program import Slot


def random_input(robot: Robot, slot: Slot, rng: np.random.Generator) -> Array:
    """An input at one state: a configuration, inertial parameters, a load, or numbers."""
    if SIZES.get(slot.name) == ("nq",):
        return robot.random(rng)
    if slot.name == "y":
        return robot.random(rng)[y_of(robot)] if robot.loops else robot.random(rng)
    if slot.name == "parameters":
        return robot.parameters.astype(float) * rng.uniform(0.8, 1.25, size=slot.shape)
    if slot.name == "payload":
        c = rng.uniform(-0.1, 0.1, size=3)
        return Inertia(rng.uniform(0.5, 2), c, np.diag(rng.uniform(0.01, 0.02, size=3))).array
    if slot.name == "gravity":
        return rng.normal(size=3) * 9.81
    return rng.normal(size=slot.shape)


def nearby(robot: Robot, part: float) -> Robot:
    """The robot with lengths, turns and inertias changed by about a part of them, at random."""
    rng, size = np.random.default_rng(0), _size(robot)

    def step() -> Array:
        x, y, z = part * rng.normal(size=3)
        turn, _ = np.linalg.qr(np.array([[1, -z, y], [z, 1, -x], [-y, x, 1]]))
        return pose(turn * np.sign(np.diag(turn)), part * size * rng.normal(size=3))

    if robot.loops:                          # moved bodies would not close them any more
        change = 1 + part * rng.normal(size=robot.parameters.shape)
        return robot.with_parameters(robot.parameters * change)
    bodies = []
    for body in robot.bodies:
        own = body.inertia.seen_from(step())
        inertia = Inertia.from_parameters(own.array * (1 + part * rng.normal(size=10)))
        bodies.append(replace(body, placement=body.placement @ step(), inertia=inertia))
    return Robot(robot.name, bodies, robot.gravity, robot.frames, robot.source)


def natural_size(robot: Robot) -> float:
    """The largest that terms of its equations are at velocities of order one: m (1 + l)²."""
    mass = float(sum(abs(b.inertia.mass) for b in robot.bodies))
    return max(1.0, mass * (1 + _size(robot))**2)


def _size(robot: Robot) -> float:
    return max((float(np.abs(b.placement[:3, 3]).max()) for b in robot.bodies), default=0.0)
