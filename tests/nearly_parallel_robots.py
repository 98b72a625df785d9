"""Robots whose neighbouring axes miss being parallel or crossing at right angles by a tilt."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import closedform as cf
from closedform.model.pose import from_rpy, pose
from random_robots import random_inertia

AXES = np.concatenate([np.eye(3), -np.eye(3)])
TURNS = ((0, 0, 0), (2, 0, 0), (1, 0, 0), (0, 2, 0), (0, -1, 0), (0, 0, 1))
"""Placements of joints about z, in quarter turns: parallel, antiparallel and crossing axes."""
WRITTEN = ("3.14", "3.142", "3.1416", "3.14159", "3.141593", "3.1415927")
"""π, as files have it."""


def turned(T, axis, angle):
    """A placement turned by a small angle about an axis of its own frame."""
    w = np.asarray(axis, float)
    small = Rotation.from_rotvec(angle * w / np.linalg.norm(w)).as_matrix()
    return T @ pose(small)


def tilted(robot, tilt, seed=0, only=None):
    """The robot with every placement (or that of the body numbered `only`) off by a tilt."""
    rng = np.random.default_rng(seed)
    bodies = [replace(b, placement=turned(b.placement, rng.normal(size=3), tilt))
              if only in (None, k) else b for k, b in enumerate(robot.bodies)]
    return cf.Robot(robot.name, bodies, robot.gravity, robot.frames)


def three_links(turns=((0.5, 0, 0), (1, 0, 0), (0, 1, 0)), pi=np.pi):
    """Three links of 0.4 m about z; `turns` are the rpy of their placements as parts of π."""
    inertia = cf.Inertia(3, (0.2, 0.01, 0.03), np.diag([0.01, 0.05, 0.05]))
    bodies = [cf.Body(f"l{k}", f"l{k - 1}" if k else None, cf.Revolute((0, 0, 1), viscous=0.1),
                      pose(from_rpy(*(pi * np.array(rpy))), (0.4, 0, 0)), inertia)
              for k, rpy in enumerate(turns)]
    tool = cf.Frame("tool", "l2", pose(None, (0.3, 0.1, 0)))
    return cf.Robot("three_links", bodies, (1, -2, -9), [tool])


def alternating():
    """Six joints whose axes are parallel and cross in turns, with angles of five digits."""
    rng = np.random.default_rng(5)
    turns = ((-3.1416, 0, 0), (1.5708, 0, 0), (3.1416, 0, 0), (1.5708, 0, 0), (-1.5708, 0, 0),
             (0, 3.1416, 0))
    offsets = ((0, 0, 0.157), (0, 0.005, -0.128), (0, -0.41, 0), (0, 0.208, -0.006),
               (0, 0, -0.106), (0.1, 0, -0.106))
    return cf.Robot("alternating", [
        cf.Body(f"b{k}", f"b{k - 1}" if k else None, cf.Revolute((0, 0, 1)),
                pose(from_rpy(*rpy), p), random_inertia(rng))
        for k, (rpy, p) in enumerate(zip(turns, offsets, strict=True))])


def nearly_parallel(seed, tilt):
    """A random tree on quarter turns, tilted here and there about any axis, of any size."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.integers(-3, 4)
    bodies = []
    for k in range(rng.integers(2, 7)):
        T = pose(np.round(from_rpy(*(np.pi / 2 * np.array(TURNS[rng.integers(len(TURNS))])))),
                 size * rng.choice([0, 0, 0.3, -0.4, 1], size=3))
        if rng.random() < 0.8:
            axis = rng.normal(size=3) if rng.random() < 0.5 else AXES[rng.integers(6)]
            T = turned(T, axis, tilt * rng.choice([1, 0.3, 3]))
        axis, point = AXES[rng.integers(6)], size * rng.choice([0, 0, 0.2], size=3)
        joint = (cf.Revolute(axis, point), cf.Revolute((0, 0, 1)), cf.Revolute((0, 0, 1)),
                 cf.Prismatic(axis), cf.Helical(axis, 0.1 * size, point),
                 cf.Cylindrical(axis, point))[rng.integers(6)]
        scale = np.repeat([1, size, size**2], [1, 3, 6])
        inertia = cf.Inertia.from_parameters(random_inertia(rng).array * scale)
        parent = None if k == 0 else f"b{max(0, k - 1 - (rng.random() < 0.2))}"
        bodies.append(cf.Body(f"b{k}", parent, joint, T, inertia))
    return cf.Robot(f"tree{seed}", bodies, gravity=5 * size * rng.normal(size=3))


def ship():
    """A UR5 on a free base of 10⁸ kg."""
    arm = cf.load("ur5")
    hull = cf.Body("hull", None, cf.Free(), inertia=cf.Inertia(1e8, (1, 2, 3), 3e11 * np.eye(3)))
    bodies = [replace(b, parent=b.parent or "hull") for b in arm.bodies]
    return cf.Robot("ship", [hull, *bodies], arm.gravity)


def flap(axis=(0, 0, 1), table=None):
    """A flap of 10 µm and 1e-9 kg on a table of 1000 kg."""
    m, l = 1e-9, 1e-5
    inertia = cf.Inertia(m, (l / 2, 0, 0), m * l * l / 12 * np.diag([0.1, 1, 1]))
    return cf.Robot("flap", [
        cf.Body("table", None, table or cf.Prismatic((1, 0, 0)),
                inertia=cf.Inertia(1000, (0.1, 0.2, 0.3), np.diag([100.0, 120, 150]))),
        cf.Body("flap", "table", cf.Revolute(axis), pose(None, (1, 0.5, 0.2)), inertia)])
