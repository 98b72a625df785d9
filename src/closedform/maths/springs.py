"""Springs in the joints: ½ k (x − x₀)² of the joint's own coordinate x, a mimic's among them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from closedform.arrays import Array, Number, namespace
from closedform.errors import ModelError
from closedform.maths.pull_backs import COVECTOR, pulled_back
from closedform.model.robot import Robot


def spring_energy(robot: Robot, q: Array) -> Number:
    """½ Σ k (x − x₀)², scalar; x = ratio q + offset, the ratio being 1 where nothing is followed.
    """
    return sum(k * stretch * stretch / 2 for _, k, _, stretch in _springs(robot, q))


@pulled_back(COVECTOR)
def spring_torque(robot: Robot, q: Array) -> Array:
    """Σ ratio k (x − x₀), (nv,): the gradient of `spring_energy`."""
    xp = namespace(q)
    torque = [xp.zeros(()) for _ in range(robot.nv)]
    for i, k, ratio, stretch in _springs(robot, q):
        torque[i] = torque[i] + ratio * k * stretch
    return xp.stack(torque) if torque else xp.zeros(0)


def spring_stiffness(robot: Robot) -> np.ndarray:
    """Σ ratio² k, (nv,): the diagonal of the derivative of `spring_torque`."""
    K = np.zeros(robot.nv)
    if robot.is_curved:
        raise ModelError(f"{robot.name}: how stiff its springs are changes with q where joints "
                         "follow others by polynomials; cf.state_derivatives has dg_dq")
    for i, k, ratio, _ in _springs(robot, np.zeros(robot.nq)):
        K[i] += ratio * ratio * k
    return K


def has_springs(robot: Robot) -> bool:
    return any(np.any(body.joint.stiffness) for body in robot.bodies
               if body.joint.stiffness is not None)


def _springs(robot: Robot, q: Array) -> Iterator[tuple[int, float, Any, Any]]:
    """(velocity, k, ratio, x − x₀) of every coordinate with a spring."""
    for segment in robot.segments:
        joint, n = segment.joint, len(segment.v_index)
        if joint.stiffness is not None and n:
            stiffness = joint.per_coordinate("stiffness", n, 0.0)
            rest = joint.per_coordinate("spring_reference", n, 0.0)
            stretch = segment.coordinates(q) - rest
            for c, i in enumerate(segment.v_index):
                if stiffness[c] != 0:
                    yield i, float(stiffness[c]), segment.ratio, stretch[c]
