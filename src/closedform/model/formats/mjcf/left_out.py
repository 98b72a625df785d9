"""What acts on the motion of a MuJoCo model and has no place in a robot, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedform.errors import ModelError


def left_out(model: Any, coupling_tendons: set[int]) -> list[str]:
    """`2 tendons`, `fluid forces`, …; contacts and actuators are not counted, they are inputs."""
    tendons = model.ntendon - len(coupling_tendons)
    turns = np.asarray(model.jnt_type) <= 1  # free and ball joints
    balls = turns & (np.asarray(model.jnt_limited) != 0)
    loose = sum(int(model.body_mocapid[b]) >= 0 for b in range(model.nbody))
    fluid = model.opt.density != 0 or model.opt.viscosity != 0
    counted = [
        (tendons, "tendon", "tendons"),
        (model.nflex, "flex (its points are loose masses)", "flexes (their points are loose "
         "masses)"),
        (_rows(model, "jnt_stiffnesspoly"), "spring that is not linear",
         "springs that are not linear"),
        (_rows(model, "dof_dampingpoly"), "damper that is not linear",
         "dampers that are not linear"),
        (int(balls.sum()), "range of a ball joint", "ranges of ball joints"),
        (int(np.count_nonzero(np.asarray(model.body_plugin) >= 0)), "plugin", "plugins"),
        (loose, "mocap body (part of the world)", "mocap bodies (part of the world)"),
    ]
    words = [f"{n} {one if n == 1 else many}" for n, one, many in counted if n]
    return [*words, *(["fluid forces"] if fluid else [])]


def _rows(model: Any, name: str) -> int:
    """How many rows of an array that newer versions have are not zero."""
    values = np.atleast_2d(np.asarray(getattr(model, name, np.zeros((1, 1)))))
    return int(np.count_nonzero(np.any(values != 0, axis=-1)))


def refuse_inertia_of_tendons(model: Any) -> None:
    """An error for inertia that would have to be in M and is not: armature along tendons."""
    armature = np.asarray(getattr(model, "tendon_armature", np.zeros(model.ntendon)))
    for t in np.flatnonzero(armature):
        name = model.tendon(int(t)).name or int(t)
        raise ModelError(f"the tendon {name!r} has an armature of {armature[t]:g}, an inertia "
                         "along the tendon that a robot has no place for: remove it")
