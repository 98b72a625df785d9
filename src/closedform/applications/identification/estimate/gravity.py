"""Where gravity points, by the logs: three more unknowns beside all others, to test the file.

    z = W x + Σ_k ∂τ/∂g_k δ_k,     ∂τ/∂g = Y_g(q) s

with the file's masses in s, so that the equations stay linear. x is free: what a change of masses
or offsets explains is no gravity, and a direction that only they explain is not told.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from closedform.applications.compile.digest import robot_digest
from closedform.applications.identification.information import with_positions
from closedform.applications.identification.model import Model
from closedform.applications.identification.rows import (
    effort_kind,
    filtered_rows,
    slip_of,
    torques,
)
from closedform.applications.identification.signals.signals import Signals
from closedform.applications.identification.triangles import Information
from closedform.arrays import Array, Floats, namespace
from closedform.errors import ArgumentError
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.algorithms.regressors import regressor
from closedform.program.pipeline import optimised
from closedform.program.record import record

WINDOWS = 12
"""Of each log at most."""
TOLD = 1e-4
"""Of the gravity columns' squares so much must be left when all others have taken their part."""


class GravityTest(NamedTuple):
    """Gravity in the base's frame, m/s²: of the file, and as the logs have it."""

    file: Floats
    found: Floats
    sd: Floats                # ∞ where the logs do not tell
    angle: float              # degrees between the two; NaN where it is not told
    angle_sd: float
    explained: float          # share of what the fit leaves that another gravity explains

    @property
    def told(self) -> bool:
        """Whether the logs tell where gravity points."""
        return bool(np.isfinite(self.angle))

    def __str__(self) -> str:
        if not self.told:
            return "the logs do not tell where gravity points"
        return (f"gravity points {self.angle:.1f} ± {2 * self.angle_sd:.1f} degrees off the file's "
                f"{np.round(self.file, 2).tolist()}, to {np.round(self.found, 2).tolist()}")


def gravity_of(info: Information, standard: Floats, weights: Floats) -> GravityTest:
    """Gravity by the logs of an information; `standard` has the masses, `weights` those of rows."""
    if not info.sources:
        raise ArgumentError("gravity: this reads the logs again, and the information has none")
    H = np.array([_sums(info, standard, weights, k) for k in range(len(info.sources))])
    parts = H.reshape(-1, *H.shape[2:])
    parts = parts[np.any(parts != 0, axis=(1, 2))]
    file = np.asarray(info.model.robot.gravity, dtype=float)
    delta, told, gain = _solved(parts.sum(axis=0))
    if not told.any():
        return GravityTest(file, file, np.full(3, np.inf), np.nan, np.nan, 0.0)
    without = np.array([_solved(parts.sum(axis=0) - part)[0] for part in parts])
    n = len(parts)
    sd = np.sqrt((n - 1) / n * np.sum((without - without.mean(axis=0))**2, axis=0))
    turns = np.array([_angle(file + delta, file + d) for d in without])
    across = np.abs(told @ _across(file)).max(initial=0.0) > 0.5 and np.linalg.norm(file) > 0
    angle = _angle(file, file + delta) if across else np.nan
    spread = float(np.sqrt((n - 1) / n * np.sum(turns**2)))
    open_ = np.sum(told**2, axis=0) < 0.5
    return GravityTest(file, file + delta, np.where(open_, np.inf, sd), angle, spread, gain)


def _across(file: Floats) -> Floats:
    """(3, 2): directions at right angles to gravity."""
    return np.linalg.svd(file[None])[2][1:].T


def _angle(a: Floats, b: Floats) -> float:
    size = np.linalg.norm(a) * np.linalg.norm(b)
    return float(np.degrees(np.arccos(np.clip(a @ b / size, -1, 1)))) if size > 0 else np.nan


def _solved(H: Floats) -> tuple[Floats, Floats, float]:
    """δ, the directions (k, 3) in which it is told, and the share of the rest that it explains."""
    p = len(H) - 4
    scale = 1 / np.sqrt(np.maximum(np.diag(H)[:p], 1e-300))
    inverse = np.linalg.pinv(H[:p, :p] * scale[:, None] * scale, rcond=1e-10, hermitian=True)
    taken = H[p:, :p] * scale
    S = H[p:, p:] - taken @ inverse @ taken.T
    size = float(np.trace(H[p:p + 3, p:p + 3])) / 3
    values, turned = np.linalg.eigh(S[:3, :3])
    ok = values > TOLD * max(size, 1e-300)
    if size <= 0 or not ok.any():
        return np.zeros(3), np.zeros((0, 3)), 0.0
    along = turned[:, ok].T
    delta = along.T @ ((along @ S[:3, 3]) / values[ok])
    return delta, along, float(delta @ S[:3, 3] / max(S[3, 3], 1e-300))


def _sums(info: Information, standard: Floats, weights: Floats, number: int) -> Floats:
    """(WINDOWS, p + 4, p + 4): products of the columns, those of gravity and the torques."""
    model, (log, loaded) = info.model, info.sources[number]
    log = with_positions(model, log)
    prepared = (info.signals or Signals()).prepare(log)
    prepared = replace(prepared, plan=replace(prepared.plan, rows=max(
        prepared.plan.rows // 8, 64 * prepared.plan.keep)))
    kind, slip = effort_kind(model, log), slip_of(model, prepared.plan)
    p, found = len(info.columns), []
    for window in islice(prepared.windows(), WINDOWS):
        effort = torques(model, window, kind, info.gains)
        rows = filtered_rows(model, window, slip, effort, info.gains, loaded)
        slopes = _kernel(model)(window.q, np.broadcast_to(_masses(model, standard, loaded),
                                                          (len(window.q), 10 * len(
                                                              model.loaded.bodies))).copy())
        H = np.zeros((p + 4, p + 4))
        for j, (r, s) in enumerate(zip(rows, info.support, strict=True)):
            slope = window.reduce(np.ascontiguousarray(slopes[:, :, j]))
            own = np.concatenate([r[:, :-1], slope, r[:, -1:]], axis=1)
            at = [*s, p, p + 1, p + 2, p + 3]
            own = own[window.moving[:, j]]
            H[np.ix_(at, at)] += weights[j]**2 * (own.T @ own)
        found.append(H)
    return np.array(found + [np.zeros((p + 4, p + 4))] * (WINDOWS - len(found)))


def _masses(model: Model, standard: Floats, loaded: bool) -> Floats:
    """The ten of every body, the load's last."""
    n = 10 * len(model.body.bodies)
    if model.payload is None:
        return standard[:n]
    first = len(model.body.parameter_names)
    return np.concatenate([standard[:n], standard[first:first + 10] * loaded])


def _kernel(model: Model) -> Kernel:
    """∂τ/∂g, (3, nv), of q and the ten numbers of all bodies."""
    robot, n = model.loaded, 10 * len(model.loaded.bodies)
    still = np.zeros(robot.nv)

    def slopes(q: Array, s: Array) -> dict[str, Array]:
        xp = namespace(q, s)
        return {"slopes": xp.stack([
            regressor(robot.with_gravity(e), q, still, still)[:, :n] @ s
            for e in np.eye(3)])}
    return Kernel.load(f"gravity {robot_digest(robot)}", lambda: optimised(
        record(slopes, {"q": (robot.nq,), "s": (n,)}, "gravity")))
