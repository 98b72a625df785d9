"""The gimbal: three turns in one body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from closedform.model.joints.in_series import TurnsInSeries
from closedform.model.joints.joint import Joint
from closedform.model.joints.on_axis import Revolute


@final
@dataclass(frozen=True)
class Gimbal(TurnsInSeries):
    """Rz(q₁) Ry(q₂) Rx(q₃), v = q̇: yaw, pitch and roll, Pinocchio's `JointModelSphericalZYX`.

    At q₂ = ±π/2 the first and the last axis are parallel, and M is singular.
    """

    nq = 3
    nv = 3
    angles = (0, 1, 2)
    convention = "Gimbal joint: q = angles of Rz(q1) Ry(q2) Rx(q3), v their rates."

    def parts(self) -> tuple[Joint, ...]:
        return self.in_row(Revolute((0, 0, 1)), Revolute((0, 1, 0)), Revolute((1, 0, 0)))
