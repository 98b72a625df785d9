"""What a fit found: numbers, intervals, what is not identified, what is left of the torques."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from closedform.applications.identification.estimate.advice import advice
from closedform.applications.identification.estimate.consistent import Optimality
from closedform.applications.identification.estimate.elsewhere import elsewhere
from closedform.applications.identification.estimate.essential import essential
from closedform.applications.identification.estimate.friction_error import friction_error
from closedform.applications.identification.estimate.gravity import GravityTest, gravity_of
from closedform.applications.identification.estimate.joint_order import OtherOrder, other_order
from closedform.applications.identification.estimate.least_squares import (
    Equations,
    joint_residuals,
    torque_squares,
)
from closedform.applications.identification.model import Model
from closedform.applications.identification.result import identified_robot
from closedform.applications.identification.triangles import Information
from closedform.applications.studies.distributions import Normal
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.maths.identification.pseudo_inertia import pseudo_inertia
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot

VAGUE = 0.3
"""A parameter whose sd is above so much of its value is not identified in practice."""
MOVED = 0.05


class Writers(NamedTuple):
    """What writes a fit into files."""

    page: Callable[..., Path]
    toml: Callable[..., Path]


class FoundRow(NamedTuple):
    """One unknown: what it was before, what it is, how sure that is."""

    name: str
    prior: float
    value: float
    sd: float
    naive_sd: float
    low: float
    high: float
    identified: bool
    essential: bool = True


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """What was found. `x` are the columns' numbers, `standard` those of bodies and joints."""

    info: Information
    method: str
    x: Floats
    standard: Floats
    prior: Floats                       # standard parameters before
    sd: Floats                          # of x, by leaving out blocks, with what a prior moved it by
    naive_sd: Floats
    reach: Floats                       # half of the 95 % interval about `by_data`
    sigma: Floats                       # noise of each torque
    weights: Floats
    equations: Equations
    by_data: Floats                     # x without prior
    weight: float = 0.0                 # of the prior
    certificate: Optimality | None = None
    held_out: tuple[tuple[float, float], ...] = ()   # (weight, held-out error) that were tried
    writers: Writers | None = None
    gain_rows: tuple[FoundRow, ...] = ()             # of gains that were found before the rest

    @property
    def model(self) -> Model:
        return self.info.model

    @cached_property
    def table(self) -> tuple[FoundRow, ...]:
        """A row for each unknown."""
        before = np.zeros(len(self.x))
        before[:len(self.model.L)] = self.model.L @ self.prior
        vague, needed = set(self.unidentified), set(self.essential)
        low, high = self.interval
        rows = tuple(FoundRow(n, float(b), float(x), float(s), float(m), float(lo), float(hi),
                              n not in vague, n in needed)
                     for n, b, x, s, m, lo, hi in zip(self.info.columns, before, self.x, self.sd,
                                                      self.naive_sd, low, high, strict=True))
        return (*rows, *self.gain_rows)

    @cached_property
    def interval(self) -> tuple[Floats, Floats]:
        """(low, high) that hold the truth in 95 of 100 cases: the data's own, and x.

        A prior is no evidence: it moves x, not what the data tell. Friction of another kind than
        the model's, where the logs show it, widens those of friction.
        """
        reach = np.maximum(self.reach, self.friction_error)
        return np.minimum(self.x, self.by_data - reach), np.maximum(self.x, self.by_data + reach)

    @cached_property
    def friction_error(self) -> Floats:
        """Half of the 95 % interval that other speeds leave of friction; the logs are read again.

        0 where friction is as the model says, slow and fast.
        """
        return friction_error(self.info, self.by_data)

    @cached_property
    def unidentified(self) -> tuple[str, ...]:
        """Unknowns that the data leave open, although other motions would tell them.

        Their sd is above 30 % of their value and would be seen in the torques, or the prior has
        moved them by more than half of their interval's reach and 5 % of their value.
        """
        large = self.sd > VAGUE * np.abs(self.x)
        matters = self.sd * self.equations.scale > 0.01 * np.sqrt(self.equations.size)
        moved = np.abs(self.x - self.by_data) > np.maximum(self.reach / 2, MOVED * np.abs(self.x))
        own = [n for n, open_ in zip(self.info.columns, large & matters | moved, strict=True)
               if open_]
        return (*own, *(row.name for row in self.gain_rows if not row.identified))

    @cached_property
    def essential(self) -> tuple[str, ...]:
        """Unknowns without which held-out blocks are predicted worse; the others could be zero."""
        return essential(self.info, self.weights, self.x)

    @cached_property
    def advice(self) -> dict[str, str]:
        """For each unknown that the data leave open the joints whose motion would tell it."""
        return advice(self.info, self.weights, self.unidentified)

    @cached_property
    def elsewhere(self) -> float:
        """How uncertain the logs alone leave the torques of other motions, relative to these.

        Over poses, speeds and accelerations within the limits of the robot; above 1 they say
        nothing about them.
        """
        return elsewhere(self.info, self.weights, self.by_data, self.x, self.equations)

    @cached_property
    def gravity(self) -> GravityTest:
        """Where gravity points by the logs, which are read again: a test of the file's mounting."""
        return gravity_of(self.info, self.prior, self.weights)

    @cached_property
    def other_order(self) -> OtherOrder | None:
        """Two joints whose columns change places by the logs, which are read again; or None."""
        return other_order(self.info)

    @cached_property
    def unidentifiable(self) -> tuple[str, ...]:
        """Parameters that no motion tells apart: without effect, or in sums with others."""
        base = self.model.base
        return (*base.no_effect, *base.regrouped)

    @cached_property
    def gains(self) -> dict[str, float]:
        """Drive gains that were found, Nm/A at the motor."""
        return {row.name.removesuffix(".gain"): row.value for row in self.table
                if row.name.endswith(".gain")}

    @cached_property
    def residuals(self) -> dict[str, tuple[float, float]]:
        """(%, rms in Nm or N) of every torque on the data of the fit."""
        r, z = joint_residuals(self.info, self.x), torque_squares(self.info, self.x)
        rows = np.array([max(self.info.rows(j), 1) for j in range(len(r))])
        percent = 100 * np.sqrt(r / np.where(z > 0, z, np.inf))
        return {n: (float(a), float(b)) for n, a, b in
                zip(self.model.velocity_names, percent, np.sqrt(r / rows), strict=True)}

    @property
    def total(self) -> float:
        """100 |τ − τ̂| / |τ| on the data of the fit."""
        r, z = joint_residuals(self.info, self.x).sum(), torque_squares(self.info, self.x).sum()
        return float(100 * np.sqrt(r / z)) if z > 0 else float("inf")

    @cached_property
    def smallest_eigenvalue(self) -> float:
        """Of all pseudo-inertia matrices, relative to their largest: above zero, bodies can be."""
        values = [np.linalg.eigvalsh(pseudo_inertia(self.standard[i:i + 10]))
                  for i in range(0, 10 * len(self.model.body.bodies), 10)]
        return float(min(v[0] / max(abs(v[-1]), 1e-300) for v in values))

    # ------------------------------------------------------------------ results
    @cached_property
    def robot(self) -> Robot:
        """The robot with the inertias, rotors and friction that were found, without payload."""
        return identified_robot(self.model, self.standard)

    @cached_property
    def distribution(self) -> Normal:
        """Of `robot.parameters`, for `cf.studies.monte_carlo`: by the sd of the columns found.

            π = π̂ + L⁺ (sd ⊙ z):   L π has the deviations sd, and nothing else moves
        """
        names = {name: k for k, name in enumerate(self.model.standard_names)}
        columns = len(self.model.L)
        moved = np.linalg.pinv(self.model.L)
        parts = [moved[names[n]] if n in names else np.zeros(columns)
                 for n in self.robot.parameter_names]
        return Normal(self.robot.parameters, self.sd[:columns], np.array(parts))

    @cached_property
    def payload(self) -> Inertia | None:
        """The load at the model's payload frame."""
        if self.model.payload is None:
            return None
        first = len(self.model.body.parameter_names)
        return Inertia.from_parameters(self.standard[first:first + 10])

    def report(self, path: str | Path, trial: Any = None) -> Path:
        """Write the page, with a validation's torques if one is given."""
        return self._writers().page(self, path, trial)

    def to_toml(self, path: str | Path) -> Path:
        """Write all that was found: also what a URDF cannot hold."""
        return self._writers().toml(self, path)

    def _writers(self) -> Writers:
        if self.writers is None:
            raise ArgumentError("a fit that `fit` has not made has no page and no file")
        return self.writers

    def __repr__(self) -> str:
        return (f"<fit of {self.model.robot.name}: {self.method}, {len(self.x)} unknowns, "
                f"{self.total:.2f} % left>")
