"""Robots for tests of loops: every kind of joint, in chains and trees, and long chains."""

import numpy as np

import closedform as cf
from closedform.model.pose import pose

KINDS = {
    "revolute": lambda rng: cf.Revolute(rng.normal(size=3), 0.1 * rng.normal(size=3)),
    "prismatic": lambda rng: cf.Prismatic(rng.normal(size=3), rotor_inertia=0.3),
    "helical": lambda rng: cf.Helical(rng.normal(size=3), 0.2, 0.1 * rng.normal(size=3)),
    "geared": lambda rng: cf.Revolute((0, 0, 1), rotor_inertia=0.4),
    "sprung": lambda rng: cf.Revolute((0, 0, 1), stiffness=3.0, spring_reference=0.2),
    "cylindrical": lambda rng: cf.Cylindrical(rng.normal(size=3), 0.1 * rng.normal(size=3)),
    "universal": lambda rng: cf.Universal((1, 0, 0), (0, 1, 0)),
    "gimbal": lambda rng: cf.Gimbal(),
    "spherical": lambda rng: cf.Spherical(),
    "planar": lambda rng: cf.Planar(rng.normal(size=3)),
    "free": lambda rng: cf.Free(),
    "fixed": lambda rng: cf.Fixed(),
}


def robot_of(parents, kinds, seed=0):
    """Bodies at random places; parents count from 1, the world is 0."""
    rng, bodies = np.random.default_rng(seed), []
    for k, (p, kind) in enumerate(zip(parents, kinds, strict=True), start=1):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        A = rng.normal(size=(3, 3))
        bodies.append(cf.Body(
            name=f"b{k}", parent=f"b{p}" if p else None, joint=KINDS[kind](rng),
            placement=pose(turn * np.linalg.det(turn), 0.2 * rng.normal(size=3)),
            inertia=cf.Inertia(rng.uniform(0.5, 2), 0.1 * rng.normal(size=3),
                               0.01 * (A @ A.T + np.eye(3)))))
    return cf.Robot("loops", bodies)


def long_chain(n, first=None):
    """n revolute joints about x, y and z in turn, behind a joint of another kind if told."""
    rng, bodies = np.random.default_rng(0), []
    for k in range(n):
        A = rng.normal(size=(3, 3))
        joint = cf.Revolute(np.roll((0, 0, 1), k), lower=-3.0, upper=3.0, velocity=1.0, effort=1.0)
        bodies.append(cf.Body(
            name=f"b{k}", parent=f"b{k - 1}" if k else None,
            joint=first if first is not None and k == 0 else joint,
            placement=pose(np.eye(3), 0.1 * rng.normal(size=3)),
            inertia=cf.Inertia(rng.uniform(0.5, 2), 0.1 * rng.normal(size=3),
                               0.01 * (A @ A.T + np.eye(3)))))
    return cf.Robot(f"chain of {n}", bodies)
