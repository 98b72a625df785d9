"""A planned motion: samples, what it will tell, how much of the limits it uses; files of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from scipy.linalg import orth

from closedform.applications.identification.excitation.criteria import condition_number
from closedform.applications.identification.excitation.motions import Basis
from closedform.applications.identification.excitation.problem import Reach, gram
from closedform.applications.identification.excitation.rows import MotionRows
from closedform.applications.identification.excitation.search import torques_of
from closedform.applications.motion.tables import write_columns
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.model.coordinates import coordinate_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DENSE = 20_001
DARK = 1e-13
"""Eigenvalues of the inertial columns below so much of the largest are sums that nothing tells."""
WELL = 0.3
"""A number whose sd is below so much of its size counts as found."""


class Conditions(NamedTuple):
    """All criteria of one motion; a motion that is best by one of them is not by the others."""

    condition: float            # of W, torques and columns as they are
    scaled: float               # of W with columns of length one
    inertial: float             # of the columns of inertias and rotors alone
    information: float          # D: log det H / columns, H weighted by the noise; more is better
    a: float                    # A: root mean square of sd / size of the unknowns; less is better


class PredictedRow(NamedTuple):
    """One unknown: its value in the file, and the sd that a log of the motion will leave."""

    name: str
    expected: float
    sd: float
    relative: float


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """A motion that starts and ends at rest at `start`, within the limits at all times.

    `coefficients` (size, joints that move) are those of `basis`; `sigma` is the noise of every
    torque, `rate` how many samples a second count as new.
    """

    rows: MotionRows
    basis: Basis
    coefficients: Floats
    criterion: str
    sigma: Floats               # (nv,), ∞ where a torque is not measured
    rate: float                 # Hz
    known: Floats               # (columns, columns): information of earlier logs, weighted
    plain_known: Floats         # the same, not weighted
    reach: Reach
    scale: Floats               # sizes of the unknowns
    notes: tuple[str, ...]
    amplitude: float

    @property
    def duration(self) -> float:
        return self.basis.duration

    @property
    def start(self) -> Floats:
        """q at the first and at the last moment."""
        return self.rows.room.start

    @property
    def joints(self) -> list[str]:
        """Names of the velocities that move."""
        return [self.rows.model.velocity_names[i] for i in self.rows.room.at]

    # ------------------------------------------------------------------ the motion
    def at(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """q (times, nq), v and a (times, nv) at any times of the motion."""
        t = np.asarray(t, dtype=float)
        q, v, a = (self.basis.at(t, order) @ self.coefficients for order in range(3))
        return self.rows.states(q + self.rows.room.home, v, a)

    def sample(self, rate: float = 1000.0) -> tuple[Floats, Floats, Floats, Floats]:
        """t, q, v, a at even times from the start to the end, both included."""
        if not isinstance(rate, int | float) or not 0 < rate < np.inf:
            raise ArgumentError(f"sample: rate must be positive, in Hz, not {rate!r}")
        n = max(round(rate * self.duration), 1)
        t = np.arange(n + 1) * (self.duration / n)
        return t, *self.at(t)

    def torques(self, t: Floats) -> Floats:
        """τ (times, nv) that the robot of the file needs, friction included."""
        return torques_of(self.rows, self.basis, self.coefficients, np.asarray(t, dtype=float))

    # ------------------------------------------------------------------ what it tells
    @cached_property
    def _rows(self) -> list[Floats]:
        t, *_ = self.sample(self.rate)
        q, v, a = (self.basis.at(t, order) @ self.coefficients for order in range(3))
        return self.rows.rows(q + self.rows.room.home, v, a)

    @cached_property
    def matrix(self) -> Floats:
        """H = Σ WᵀΣ⁻¹W (columns, columns) of the motion and of earlier logs."""
        return gram(self.rows, self._rows, 1 / self.sigma**2) + self.known

    @cached_property
    def predicted_sd(self) -> Floats:
        """(columns,): of least squares weighted by the noise; ∞ where no log so far tells it."""
        B = self.reach.basis
        inverse = np.linalg.pinv(B.T @ self.matrix @ B, rcond=1e-15, hermitian=True)
        sd = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", B, inverse, B), 0.0))
        return np.where(self.reach.open, np.inf, sd)

    @cached_property
    def conditions(self) -> Conditions:
        """All three criteria."""
        B, measured = self.reach.basis, np.isfinite(self.sigma).astype(float)
        H = gram(self.rows, self._rows, measured) + self.plain_known
        size = np.sqrt(np.diag(H))
        size = np.where(size > 0, size, 1.0)
        friction = self.rows.model.friction.names
        body = [k for k, n in enumerate(self.rows.model.names)
                if n.rpartition(".")[2].removeprefix("motor_") not in friction]
        scaled = orth(size[:, None] * B)
        told = ~np.array(self.reach.open)
        relative = self.predicted_sd[told] / self.scale[told]
        _, log_det = np.linalg.slogdet(B.T @ self.matrix @ B)
        return Conditions(
            condition_number(B.T @ H @ B),
            condition_number(scaled.T @ (H / np.outer(size, size)) @ scaled),
            condition_number(H[np.ix_(body, body)], DARK),
            float(log_det) / B.shape[1], float(np.sqrt(np.mean(relative**2))))

    @cached_property
    def limit_use(self) -> dict[str, dict[str, float]]:
        """By limit and joint: the largest share at any time; 1 is the limit itself."""
        room, full = self.rows.room, self.rows.room.full
        low, high = self.basis.range(self.coefficients, 0)
        middle, half = (full["upper"] + full["lower"]) / 2, (full["upper"] - full["lower"]) / 2
        position = np.maximum(np.abs(room.home + high - middle), np.abs(room.home + low - middle))
        shares = {"position": position / half}
        for order, what in ((1, "velocity"), (2, "acceleration")):
            shares[what] = self.basis.largest(self.coefficients, order) / full[what]
        used = {what: dict(zip(self.joints, map(float, x), strict=True))
                for what, x in shares.items()}
        tau = np.abs(self.torques(np.linspace(0, self.duration, DENSE))).max(axis=0)
        used["torque"] = {n: float(x / limit) for n, x, limit in
                          zip(self.rows.model.velocity_names, tau, full["torque"], strict=True)
                          if np.isfinite(limit)}
        return used

    @cached_property
    def table(self) -> tuple[PredictedRow, ...]:
        """A row for each unknown."""
        x = self.rows.expected
        return tuple(PredictedRow(n, float(v), float(s), float(s / abs(v)) if v else float("inf"))
                     for n, v, s in zip(self.rows.model.names, x, self.predicted_sd, strict=True))

    # ------------------------------------------------------------------ out
    def to_csv(self, path: str | Path, rate: float = 1000.0) -> Path:
        """Write t, q, v, a at a rate in Hz; .parquet too."""
        t, q, v, a = self.sample(rate)
        robot = self.rows.model.robot
        columns = {"t": t}
        for letter, x, slices in (("q", q, robot.q_slices), ("v", v, robot.v_slices),
                                  ("a", a, robot.v_slices)):
            columns |= {f"{letter}_{n}": x[:, i] for i, n in enumerate(coordinate_names(slices))}
        write_columns(columns, path)
        return Path(path)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Positions, velocities and torques over time as shares of their limits, and the sds."""
        from closedform.applications.identification.excitation.picture import plan_figure
        figure = plan_figure(self)
        if path is not None:
            figure.savefig(path, dpi=150)
        return figure

    def __str__(self) -> str:
        c, well = self.conditions, sum(r.relative < WELL for r in self.table)
        use = ", ".join(f"{what} {100 * max(x.values()):.0f} %"
                        for what, x in self.limit_use.items() if x)
        return "\n".join((
            f"{self!r}",
            f"  condition number {c.condition:.1f}, of scaled columns {c.scaled:.1f}, of inertial "
            f"columns {c.inertial:.1f}",
            f"  D: log det H / p = {c.information:.3f};  A: relative sd {c.a:.3g} (rms);  "
            f"{well} of {len(self.table)} unknowns below 30 %",
            f"  limits used at any time: {use}",
            *(f"  {note}" for note in self.notes)))

    def __repr__(self) -> str:
        kind = type(self.basis).__name__
        return (f"<plan for {self.rows.model.robot.name}: {self.duration:g} s, {kind} of "
                f"{self.basis.harmonics} harmonics, {len(self.joints)} joints move, criterion "
                f"{self.criterion}, condition number {self.conditions.condition:.1f}>")
