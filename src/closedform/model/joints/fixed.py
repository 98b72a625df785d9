"""The fixed joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from closedform.arrays import Array, Namespace
from closedform.model.joints.joint import Joint


@final
@dataclass(frozen=True)
class Fixed(Joint):
    """No motion: the body keeps its ten parameters and its frame."""

    nq = 0
    nv = 0
    twists = ()
    urdf = "fixed"
    convention = "Fixed bodies have no place in q and v."

    @cached_property
    def S(self) -> Array:
        return np.zeros((6, 0))

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        return np.eye(3), np.zeros(3)
