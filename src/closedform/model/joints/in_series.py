"""Joints that are turns about several axes, one after the other, in one body.

Their body twists turn with q, so that no constant S exists; the equations walk their parts, each a
revolute joint, with massless bodies between them.
"""

from __future__ import annotations

from abc import ABC
from functools import reduce
from operator import matmul

import numpy as np

from closedform.arrays import Array, Namespace
from closedform.errors import ModelError
from closedform.model.joints.joint import Joint


class TurnsInSeries(Joint, ABC):
    """R = Π_i Rot(axis_i, q_i), v = q̇; `parts` gives the turns."""

    @property
    def S(self) -> Array:
        raise ModelError(f"a {type(self).__name__} joint has no constant motion subspace; "
                         "use Robot.segments, which splits it")

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        turns = [turn.pose(q[i:i + 1], xp)[0] for i, turn in enumerate(self.parts())]
        return reduce(matmul, turns), np.zeros(3)
