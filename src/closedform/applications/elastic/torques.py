"""Motor torques and positions along a trajectory, with the filter of damped springs solved.

A damped spring follows D Δq̇ + C Δq = s(t), s = N τ. Between two times s is taken as the polynomial
of degree five that has its values and two derivatives at both, exact ones, and the equation is
solved exactly for it by a matrix exponential: the error is that of the polynomial, h⁶.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from closedform.applications.elastic.system import motor_angles
from closedform.applications.motion.pictures import Panel, legend, panels_figure
from closedform.applications.motion.tables import write_columns
from closedform.applications.motion.times import increasing
from closedform.applications.motion.torques import jets_of
from closedform.applications.motion.trajectories import DEGREE, Sampled, Trajectory, motion
from closedform.arrays import ArrayLike
from closedform.errors import ArgumentError
from closedform.maths.elastic.joints import motion_from_jet
from closedform.model.elasticity.joints import ElasticJoints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUGH = 0.3
"""How far the fourth derivative may change where every second sample is left out, relative."""


@final
@dataclass(frozen=True, eq=False)
class ElasticTorques:
    """What a motion demands of motors on springs, at given times; (points, nv) each."""

    model: ElasticJoints
    times: np.ndarray            # (points,) s
    motor_torque: np.ndarray     # at the shafts
    motor_position: np.ndarray
    motor_velocity: np.ndarray
    spring_torque: np.ndarray
    deflection: np.ndarray       # Δq
    rigid_torque: np.ndarray     # what motors on rigid joints would need

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The table: t, then torque, position, velocity and spring torque of every motor."""
        parts = {"u": self.motor_torque, "theta": self.motor_position,
                 "omega": self.motor_velocity, "spring": self.spring_torque}
        return {"t": self.times, **{f"{symbol}_{name}": rows[:, i]
                                    for symbol, rows in parts.items()
                                    for i, name in enumerate(self.model.names)}}

    def write(self, path: str | Path) -> None:
        """The table as CSV, or as Parquet where the name ends so."""
        write_columns(self.columns, path)

    def plot(self) -> Figure:
        """Torques, what elasticity adds to them, and deflections over time."""
        N, names = self.model.gear_ratio, self.model.names
        figure = panels_figure(
            f"{self.model.robot.name}: torques of motors on springs", self.times,
            [Panel("motor torque at the link\n[N m, N]", self.motor_torque / N, names),
             Panel("what elasticity adds\n[N m, N]",
                   (self.motor_torque - self.rigid_torque) / N, ()),
             Panel("deflection at the link\n[mrad, mm]", 1e3 * N * self.deflection, ())])
        dashes = figure.axes[0].plot(self.times, self.rigid_torque / N, "k--", linewidth=0.7)
        dashes[0].set_label("rigid joints")
        legend(figure.axes[0], len(names) + 1)
        return figure


def torques(
    model: ElasticJoints, trajectory: Trajectory, times: ArrayLike,
    deflection: ArrayLike | None = None,
) -> ElasticTorques:
    """Motor torques, positions and velocities along a trajectory at increasing times.

    `deflection` (nv,) is the springs' state at the first time, for damped ones; by default that of
    a filter which has settled. Samples that do not determine four derivatives are refused.
    """
    t = increasing(times, 2)
    if isinstance(trajectory, Sampled):
        refuse_rough(trajectory)
    q, rates = motion(model.robot, trajectory, t)
    jets = jets_of(model.robot, q, rates)
    N, M_G = model.gear_ratio, model.motor_inertia
    start = None if deflection is None else np.asarray(deflection)
    filtered = _filtered(model, t, N * jets, start)
    rows = [motion_from_jet(model, q_k, r_k, jet, x) for q_k, r_k, jet, x in zip(
        q, rates, jets, filtered if model.damped else [None] * len(t), strict=True)]
    u, position, velocity, spring = (
        np.stack([getattr(row, name) for row in rows])
        for name in ("motor_torque", "motor_position", "motor_velocity", "spring_torque"))
    rigid = N * jets[:, 0] + M_G * rates[:, 1] / N
    return ElasticTorques(model, t, u, position, velocity, spring,
                          position - motor_angles(model, q), rigid)


def _filtered(model: ElasticJoints, t: np.ndarray, s: np.ndarray,
              start: np.ndarray | None) -> np.ndarray:
    """Δq of damped linear springs at the times, (points, nv), from s, ṡ, s̈ (points, 3, nv)."""
    found = np.zeros((len(t), model.robot.nv))
    for i in np.flatnonzero(model.damping > 0):
        if i in model.springs:
            raise ArgumentError(f"{model.names[i]}: a damped spring must be linear here")
        C, D = model.stiffness[i], model.damping[i]
        T, (f, df, ddf) = D / C, s[0, :, i]
        found[0, i] = (f - T * df + T * T * ddf) / C if start is None else float(start[i])
        steps: dict[float, np.ndarray] = {}
        for k, h in enumerate(np.diff(t)):
            key = round(float(h), 12)
            if key not in steps:
                steps[key] = _exact_step(C, D, float(h))
            c = _quintic(s[k, :, i], s[k + 1, :, i], float(h))
            found[k + 1, i] = steps[key] @ np.concatenate([[found[k, i]], c])
    return found


def _quintic(left: np.ndarray, right: np.ndarray, h: float) -> np.ndarray:
    """Coefficients in x = t / h of the polynomial with these values and two derivatives at 0, 1."""
    a0, a1, a2 = left[0], left[1] * h, left[2] * h * h / 2
    e0 = right[0] - (a0 + a1 + a2)
    e1 = right[1] * h - (a1 + 2 * a2)
    e2 = right[2] * h * h / 2 - a2
    return np.array([a0, a1, a2, 10 * e0 - 4 * e1 + e2, -15 * e0 + 7 * e1 - 2 * e2,
                     6 * e0 - 3 * e1 + e2])


def _exact_step(C: float, D: float, h: float) -> np.ndarray:
    """Row w with Δq(h) = w · (Δq(0), c_0 … c_5) for D Δq̇ + C Δq = Σ c_k (t/h)^k.

    With p_k = k! c_k the polynomial is a chain: ṗ-values shift down, and the whole is linear.
    """
    from scipy.linalg import expm  # slow to import
    A = np.zeros((7, 7))
    A[0, 0], A[0, 1] = -C * h / D, h / D
    for k in range(1, 6):
        A[k, k + 1] = 1.0
    return expm(A)[0] * np.array([1.0, *(float(math.factorial(k)) for k in range(6))])


def refuse_rough(samples: Sampled) -> None:
    """An error where samples show a jump of position, velocity, acceleration or jerk.

    The fourth derivative of the spline through all samples and through every second one agree for
    a smooth motion; a jump of the k-th derivative makes them differ by 2^(4−k). Fewer than 16
    samples say nothing about it.
    """
    from scipy.interpolate import make_interp_spline  # slow to import
    t, q = samples.times, samples.q
    if len(t) <= 2 * DEGREE + 1:
        return
    t, q = (t, q) if len(t) % 2 else (t[:-1], q[:-1])
    inside = t[4:-4]
    fine = make_interp_spline(t, q, k=DEGREE)(inside, nu=4)
    coarse = make_interp_spline(t[::2], q[::2], k=DEGREE)(inside, nu=4)
    step = float(np.min(np.diff(t)))
    noise = 1e4 * np.finfo(float).eps * np.max(np.abs(q), axis=0, initial=0.0) / step**4
    size = np.max(np.abs(fine), axis=0)
    worst = np.max(np.abs(fine - coarse), axis=0) / np.maximum(size, noise + 1e-300)
    if np.any(worst > ROUGH):
        i = int(np.argmax(worst))
        place = inside[int(np.argmax(np.abs(fine[:, i] - coarse[:, i])))]
        raise ArgumentError(
            f"the trajectory's coordinate {i} is not smooth near t = {place:g} s: without every "
            f"second sample its fourth derivative changes by {100 * worst[i]:.0f} %. Motor torques "
            "on springs need q, v, a and j continuous: smooth the motion or sample it more finely")
