"""Random coordinates of a joint: for tests, demonstrations and sampled checks."""

from __future__ import annotations

import numpy as np

from closedform.arrays import Array
from closedform.model import groups
from closedform.model.joints import Cylindrical, Free, Joint, Planar, Prismatic, Spherical


def random_coordinates(joint: Joint, rng: np.random.Generator) -> Array:
    """q of one joint: uniform within its limits, else ±π for turns, ±1 m for slides.

    Quaternions are uniform over all rotations.
    """
    turns = isinstance(joint, Spherical | Free)
    quaternion = groups.normalised(rng.normal(size=4)) if turns else np.zeros(0)
    n = joint.nq - len(quaternion)
    reach = np.array([1.0 if slides else np.pi for slides in _slides(joint, n)])
    lower = joint.per_coordinate("lower", joint.nq, -np.inf)[:n]
    upper = joint.per_coordinate("upper", joint.nq, np.inf)[:n]
    below, above = np.isfinite(lower), np.isfinite(upper)
    low = np.where(below, lower, np.where(above, upper - 2 * reach, -reach))
    high = np.where(above, upper, np.where(below, lower + 2 * reach, reach))
    return np.concatenate([rng.uniform(np.minimum(low, high), np.maximum(low, high)), quaternion])


def _slides(joint: Joint, n: int) -> list[bool]:
    """Which of the first n coordinates are lengths."""
    if isinstance(joint, Cylindrical):
        return [True, False]
    if isinstance(joint, Planar):
        return [True, True, False]
    return [isinstance(joint, Prismatic | Free)] * n
