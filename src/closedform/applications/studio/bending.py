"""A flexible arm to be looked at: a swing, its vibrations, and where its bent links are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from closedform.applications.flexible.pictures import arm_points
from closedform.applications.flexible.system import simulate
from closedform.applications.flexible.vibration import Vibration, vibration
from closedform.applications.motion.simulation import Simulation
from closedform.applications.studio import cells
from closedform.applications.studio.cells import Strip
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.maths.flexible.arm import FlexibleArm

SECONDS, RATE = 4.0, 100
BENT = 0.03
"""Of its length: how far the first mode bends the end of each link, or turns it, at the start."""
PART = 0.15
"""Of the arm's length: how far a mode is drawn out."""


@final
@dataclass(frozen=True, eq=False)
class Bending:
    """An arm, a motion of it, and its free vibrations."""

    arm: FlexibleArm

    @property
    def reach(self) -> float:
        """Of the straight arm, m."""
        return float(sum(link.length for link in self.arm.links))

    @cached_property
    def vibration(self) -> Vibration | None:
        """With the joints locked; None for an arm that does not vibrate."""
        try:
            return vibration(self.arm, locked=True)
        except ArgumentError:
            return None

    @cached_property
    def run(self) -> Simulation:
        """A swing of four seconds from bent links."""
        q = np.zeros(self.arm.nq)
        for link, at, modes in zip(self.arm.links, self.arm.deflections, self.arm.modes,
                                   strict=True):
            if at.stop > at.start:
                turn = link.length * abs(float(modes.tip_slope[0]))
                q[at.start] = BENT * link.length / max(abs(float(modes.tip[0])), turn)
        times = np.linspace(0, SECONDS, 1 + int(RATE * SECONDS))
        return simulate(self.arm, q0=q, times=times)

    def bent(self, q: Floats, size: float) -> Floats:
        """Points on the links, (k, 3) with deflections `size` times as large."""
        q = np.array(q, dtype=float)
        q[self.arm.n:] *= size
        return _in_space(arm_points(self.arm, q))

    def mode(self, k: int, phase: float) -> Floats:
        """The k-th vibration at a phase, drawn out to a part of the arm's length."""
        found = self.vibration
        if found is None:
            raise ArgumentError(f"{self.arm.name} does not vibrate")
        rest = arm_points(self.arm, found.q)
        way = arm_points(self.arm, found.q + 1e-6 * found.shapes[k]) - rest
        size = PART * self.reach / (float(np.abs(way).max()) or 1.0)
        return _in_space(rest + np.sin(phase) * size * way)

    def strips(self) -> tuple[Strip, ...]:
        """Joint angles, deflections, and the residual of energy over the swing."""
        run, arm = self.run, self.arm
        joints = tuple(f"θ{i + 1}" for i in range(arm.n))
        bends = tuple(f"δ{i + 1}{j + 1}" for i, at in enumerate(arm.deflections)
                      for j in range(at.stop - at.start))
        return (Strip("joint angles", "rad", run.q[:, :arm.n], joints),
                Strip("deflections", "m", run.q[:, arm.n:], bends),
                Strip("energy residual", "J", run.energy_residual[:, None], ("residual",)))

    def page(self) -> str:
        """Frequencies, and the strips of the swing."""
        told: dict[str, str | float] = {
            "links": f"{self.arm.n}", "reach [m]": self.reach,
            "energy drift of the swing": float(self.run.energy_drift)}
        if self.vibration is not None:
            told |= {f"mode {k + 1} [Hz]": float(x)
                     for k, x in enumerate(self.vibration.frequencies)}
        drawn = "".join(cells.strip(self.run.times, x) for x in self.strips()
                        if x.values.shape[1])
        return cells.facts(told, "flexible arm") + drawn


def _in_space(points: Floats) -> Floats:
    """(links, k, 2) as pairs of points in space, (m, 2, 3)."""
    P = np.concatenate([points, np.zeros((*points.shape[:2], 1))], axis=2)
    pairs: Floats = np.concatenate([np.stack([p[:-1], p[1:]], axis=1) for p in P])
    return pairs
