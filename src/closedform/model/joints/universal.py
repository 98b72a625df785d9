"""The universal joint: two turns in one body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from closedform.arrays import Array, numeric
from closedform.errors import ModelError
from closedform.model.joints.in_series import TurnsInSeries
from closedform.model.joints.joint import Joint
from closedform.model.joints.on_axis import Revolute


@final
@dataclass(frozen=True)
class Universal(TurnsInSeries):
    """Rot(axis1, q₁) Rot(axis2, q₂), v = q̇: two revolute joints with a massless body between them.

    Its body twists span {Rot(axis2, −q₂) axis1, axis2}, which turns with q₂, so no constant S
    exists (Remark 7 of [Garofalo2013] says otherwise; `tests/papers/test_garofalo.py` shows it).
    """

    axis1: Any
    axis2: Any
    nq = 2
    nv = 2
    axes = ("axis1", "axis2")
    angles = (0, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        a, b = np.array(self.axis1), np.array(self.axis2)
        if numeric(a) and numeric(b) and np.linalg.norm(np.cross(a, b)) < 1e-9:
            raise ModelError("Universal axis1 and axis2 must not be parallel")

    def parts(self) -> tuple[Joint, ...]:
        return self.in_row(Revolute(self.axis1), Revolute(self.axis2))

    def with_screws(self, screws: list[Array]) -> Joint:
        return replace(self, axis1=screws[0][0][3:], axis2=screws[1][0][3:])
