"""What is shown at a state: every number that a panel or the scene has. Pure, no browser.

Each number is that of the library's own call at this q, v, a, of the robot with the load at its
tip and under the gravity of its mount (`as_robot`); tests hold them to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.applications.studio.state import StudioState, arguments, gravity, load
from closedform.applications.studio.subject import StudioRobot
from closedform.arrays import Floats
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot

SHORT = 1e-12
"""A smaller singular value beside the largest counts as zero."""


@final
@dataclass(frozen=True, eq=False)
class Shown:
    """A state and what the kernels made of it; what is derived is computed when first asked."""

    subject: StudioRobot
    state: StudioState
    places: Any                 # poses, center_of_mass, frame_pose, frame_jacobian
    terms: Any                  # the terms of the equation of motion; None while they are compiled

    # ------------------------------------------------------------------ the tip
    @cached_property
    def sigma(self) -> Floats:
        """Singular values of the tip's Jacobian, largest first."""
        return np.linalg.svd(self.places.frame_jacobian, compute_uv=False)

    @property
    def manipulability(self) -> float:
        """√det J Jᵀ: the product of the singular values; 0 for fewer than six freedoms."""
        J = self.places.frame_jacobian
        return float(np.prod(self.sigma)) if J.shape[1] >= 6 else 0.0

    @cached_property
    def ellipsoid(self) -> tuple[Floats, Floats]:
        """Axes (3, 3), right-handed, and half lengths (3,) of where the tip's velocity can be."""
        J = self.places.frame_jacobian[:3]
        values, axes = np.linalg.eigh(J @ J.T)
        axes[:, 0] *= np.sign(np.linalg.det(axes))
        return axes, np.sqrt(np.maximum(values, 0.0))

    # ------------------------------------------------------------------ limits
    @property
    def room(self) -> Floats:
        """How far each coordinate is from its nearer limit, over half its range; ∞ without one."""
        low, high, q = self.subject.lower, self.subject.upper, self.state.q
        with np.errstate(invalid="ignore"):
            half = (high - low) / 2
            room = np.minimum(q - low, high - q) / half
        return np.where(np.isfinite(half), room, np.inf)

    @property
    def effort(self) -> Floats:
        """Limits of |τ|, (nv,)."""
        return self.subject.effort

    # ------------------------------------------------------------------ M
    @cached_property
    def eigenvalues(self) -> Floats:
        """Of M, rising."""
        return np.linalg.eigvalsh(self.terms.mass_matrix)

    @property
    def condition(self) -> float:
        """Of M: its largest eigenvalue over its smallest; ∞ where M is singular."""
        low, high = self.eigenvalues[0], self.eigenvalues[-1]
        return float(high / low) if low > SHORT * abs(high) else np.inf

    @property
    def definite(self) -> str:
        """Whether M is positive definite, in a word."""
        low, high = self.eigenvalues[0], self.eigenvalues[-1]
        if low > SHORT * abs(high):
            return "positive definite"
        return "indefinite" if low < -SHORT * abs(high) else "singular"

    @cached_property
    def tip_inertia(self) -> Floats | None:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6); None where J has lost rank."""
        J = self.places.frame_jacobian
        if J.shape[1] < 6 or self.sigma[-1] <= 1e-9 * self.sigma[0] or self.condition == np.inf:
            return None
        A = J @ np.linalg.solve(self.terms.mass_matrix, J.T)
        found = np.linalg.inv(A)
        return (found + found.T) / 2

    # ------------------------------------------------------------------ loads
    @cached_property
    def weights(self) -> tuple[Floats, Floats]:
        """Where the weights act, (k, 3), and the forces, (k, 3) N: of bodies, last of the load."""
        points, forces = [], []
        g = gravity(self.subject, self.state)
        for body, T in zip(self.subject.robot.bodies, self.places.poses, strict=True):
            if body.inertia.mass > 0:
                points.append(T[:3, :3] @ np.asarray(body.inertia.com, float) + T[:3, 3])
                forces.append(float(body.inertia.mass) * g)
        if self.state.load > 0:
            T = self.places.frame_pose
            points.append(T[:3, :3] @ np.array(self.state.load_at) + T[:3, 3])
            forces.append(self.state.load * g)
        return np.reshape(points, (-1, 3)), np.reshape(forces, (-1, 3))

    @property
    def robot(self) -> Robot:
        """The robot that the numbers are of."""
        return as_robot(self.subject, self.state)

    @property
    def operations(self) -> int:
        """Multiplications, additions, sines and cosines of one call of the equations."""
        count = self.subject.equations(self.state.tip).operations
        return int(count.total)

    @property
    def microseconds(self) -> float:
        """Of one call of the equations from Python on this machine."""
        return 1e6 * self.subject.time_per_call(
            self.state.tip, arguments(self.subject, self.state))


def as_robot(subject: StudioRobot, state: StudioState) -> Robot:
    """The robot with its load and its mount: what `cf.mass_matrix` and the others are called with.
    """
    robot = subject.robot.with_gravity(gravity(subject, state))
    if state.load == 0:
        return robot
    return robot.with_payload(Inertia.from_parameters(load(state)), state.tip)


def shown(subject: StudioRobot, state: StudioState, wait: bool = True) -> Shown:
    """Everything at a state; without `wait` no equations until their kernel is compiled."""
    q, v, a, g, extra = arguments(subject, state)
    places = subject.places(state.tip)(q, g, extra)
    terms = None
    if wait or subject.is_ready(state.tip):
        terms = subject.equations(state.tip)(q, v, a, g, extra)
    return Shown(subject, state, places, terms)
