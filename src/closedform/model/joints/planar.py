"""The planar joint: two slides and a turn, with the velocities in the body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.arrays import Array, Namespace, namespace
from closedform.model.groups.quaternions import log_of_sine
from closedform.model.groups.stumpff import inverse_coefficient, stumpff
from closedform.model.joints.joint import Joint
from closedform.model.pose import basis_with_third, pose, rotation


@final
@dataclass(frozen=True)
class Planar(Joint):
    """Motion in the plane across `normal`: q = (x, y, θ), v = (vx, vy, ω) in the body frame.

    x and y run along the first two columns of `basis_with_third(normal)`; for normal z those are
    x and y.
    """

    normal: Any = (0, 0, 1)
    nq = 3
    nv = 3
    axes = ("normal",)
    lengths = (0, 1)
    angles = (2,)
    is_vector = False
    twists = (0, 1, 5)
    urdf = "planar"
    convention = "Planar joint: q = (x, y, angle), v in the body."

    @cached_property
    def basis(self) -> Array:
        return basis_with_third(self.normal)

    @property
    def frame(self) -> np.ndarray:
        return pose(self.basis)

    @cached_property
    def S(self) -> Array:
        zero = np.zeros((3, 1))
        linear = np.concatenate([self.basis[:, :2], zero], axis=1)
        angular = np.concatenate([zero, zero, self.basis[:, 2:]], axis=1)
        return np.concatenate([linear, angular])

    def pose(self, q: Array, xp: Namespace) -> tuple[Array, Array]:
        return rotation(np.array(self.normal), q[2], xp), self.basis[:, :2] @ q[:2]

    def integrate(self, q: Array, dv: Array) -> Array:
        """q · exp(dv), with exp(v, ω) = (sin ω/ω v + (1 − cos ω)/ω v⟂, ω)."""
        xp, (vx, vy, w) = namespace(q, dv), _three(dv)
        c = stumpff(w * w, xp)
        step = xp.stack([c[1] * vx - w * c[2] * vy, w * c[2] * vx + c[1] * vy, w], axis=-1)
        return q + self.rates(q, step, xp)

    def difference(self, q0: Array, q1: Array) -> Array:
        """The logarithm of q0⁻¹ · q1, the angle taken within ±π."""
        xp = namespace(q0, q1)
        back = self.velocities(q0, q1 - q0, xp)
        x, y, turn = back[..., 0], back[..., 1], back[..., 2:] / 2
        w = log_of_sine(xp.sin(turn), xp.cos(turn))[..., 0]
        half, cot = w / 2, 1 - w * w * inverse_coefficient(stumpff(w * w, xp))  # ω/2 cot ω/2
        return xp.stack([cot * x + half * y, cot * y - half * x, w], axis=-1)

    def rates(self, q: Array, v: Array, xp: Namespace) -> Array:
        (vx, vy, w), c, s = _three(v), xp.cos(q[..., 2]), xp.sin(q[..., 2])
        return xp.stack([c * vx - s * vy, s * vx + c * vy, w], axis=-1)

    def velocities(self, q: Array, dq: Array, xp: Namespace) -> Array:
        (dx, dy, w), c, s = _three(dq), xp.cos(q[..., 2]), xp.sin(q[..., 2])
        return xp.stack([c * dx + s * dy, c * dy - s * dx, w], axis=-1)

    def pull(self, q: Array, f: Array, xp: Namespace) -> Array:
        """Γᵀ f: Γ is orthogonal."""
        return self.velocities(q, f, xp)

    def spring_slope(self, q: Array, xp: Namespace) -> Array:
        """Γᵀ K Γ, and in the last column how the force of the spring turns in the body."""
        k = self.per_coordinate("stiffness", 3, 0.0)
        fx, fy, _ = self.pull(q, k * self.stretch(q, xp), xp)
        columns = [self.pull(q, k * self.rates(q, e, xp), xp) for e in xp.eye(3)]
        columns[2] = columns[2] + xp.stack([fy, -fx, 0 * fx])
        return xp.stack(columns, axis=1)

    def with_screws(self, screws: list[Array]) -> Joint:
        return replace(self, normal=screws[0][2][3:])


def _three(x: Array) -> tuple[Array, Array, Array]:
    return x[..., 0], x[..., 1], x[..., 2]
