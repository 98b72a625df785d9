"""By how much logged torques are late: the shift at which the robot's equations explain them best.

    J(d) = log |(1 − U Uᵀ) τ(t + d)|²                                          (1)

U spans the columns of all torques together, inertias and friction of every joint, so that no
parameter has to be known. (Each torque by itself has too much freedom: it takes a shift for a
change of its inertias, and where friction is all, stiction looks like a delay.) Torques at several
shifts are several last columns of the same rows: one factor has (1) for all of them, and for every
shift between, by cubics.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from closedform.applications.identification.model import Model
from closedform.applications.identification.rows import (
    effort_kind,
    filtered_rows,
    slip_of,
    torques,
)
from closedform.applications.identification.signals.filter import Window
from closedform.applications.identification.signals.grid import cubic, stretches
from closedform.applications.identification.signals.survey import PIECE, Survey
from closedform.applications.identification.signals.windows import EFFORTS, Stream, WindowPlan
from closedform.arrays import Floats
from closedform.lowerings.native.householder import triangle

REACH = 0.03        # s, to both sides
TRIED = 25          # shifts
SHIFTS = np.linspace(-REACH, REACH, TRIED)
STEP = float(SHIFTS[1] - SHIFTS[0])
KEPT, MORE = 400, 4000      # rows at most, and for a delay that is there
AGAIN = 2           # times a delay is looked for about itself, torques as logged and no between
READ = 131072       # logged rows at most
CLEAR = 0.1         # by which J must be better to be applied


def torque_delay(plan: WindowPlan, made: Survey,
                 model: Model | None) -> tuple[WindowPlan, str, bool]:
    """The plan with a delay where one is clear, what to say, and whether that can be right."""
    unknown = "the delay of the torques was not estimated"
    kinds = made.log.kinds & set(EFFORTS)
    if made.found is None or not kinds or (model is None and "tau" not in kinds):
        return plan, f"{unknown}: no joint torques are logged", True
    model = model or Model(made.log.robot)
    kind = effort_kind(model, made.log)
    if kind == "current" and (model.drives is None or model.drives.gain is None):
        return plan, f"{unknown}: the gains of the currents are not known", True
    left = _left(model, plan, made, 0.0, KEPT)
    if left is None:
        return plan, f"{unknown}: the log is too short", True
    J = _misfits(left, SHIFTS)
    if not np.isfinite(J).all():
        return plan, f"{unknown}: the equations leave nothing of the torques, or all", True
    i = int(np.argmin(J))
    gain = float(J[TRIED // 2] - J[i])
    if i in (0, TRIED - 1) and gain > CLEAR:
        return plan, (f"torques fit the better the {'later' if i else 'earlier'} they are taken, "
                      f"also beyond {1e3 * REACH:.0f} ms: their times are not those of the "
                      "positions"), False
    if i in (0, TRIED - 1):
        return plan, f"{unknown}: none within {1e3 * REACH:.0f} ms fits best", True
    best = float(SHIFTS[i]) + _nearest(left, i)
    if gain < CLEAR:
        return plan, (f"torques fit best {1e3 * best:.2g} ms later than positions, which explains "
                      f"{100 * (1 - np.exp(-gain / 2)):.2g} % more: not clear enough, no delay is "
                      "applied"), True
    for _ in range(AGAIN):
        closer = _left(model, plan, made, best, MORE)
        best += 0.0 if closer is None else _nearest(closer, TRIED // 2)
    return replace(plan, delay=best), (
        f"torques are {1e3 * abs(best):.2g} ms {'later' if best > 0 else 'earlier'} than "
        "positions: they are shifted"), True


def _beginning(plan: WindowPlan, made: Survey) -> Window | None:
    """The first window that is full, or the longest of the rows that are read."""
    found: list[Window] = []
    stream, read = Stream(plan), 0
    for rows, first in stretches(made.clock.stamped(made.log, PIECE), made.gap):
        if first:
            found += stream.close()
            stream = Stream(plan)
        for window in stream.push(rows):
            return window
        read += len(rows.t)
        if read >= READ:
            break
    return max([*found, *stream.close()], key=lambda w: len(w.kept), default=None)


def _nearest(left: Floats, i: int) -> float:
    """From the i-th shift to where (1) is least between its neighbours."""
    near = np.linspace(-STEP, STEP, 1001)
    return float(near[int(np.argmin(_misfits(left, SHIFTS[i] + near)))])


def _left(model: Model, plan: WindowPlan, made: Survey, delay: float,
          most: int) -> Floats | None:
    """R, (TRIED, TRIED): |R c|² is what the equations leave of torques Σ_k c_k τ(t + delay + d_k).

    Of so many rows at most; None of few.
    """
    window = _beginning(replace(plan, delay=delay, rows=most * plan.keep), made)
    if window is None or len(window.kept) < max(60, 15 * len(made.log.robot.bodies)):
        return None
    tau = torques(model, window, effort_kind(model, made.log), False)
    half = window.low_pass.half
    rows = filtered_rows(model, window, slip_of(model, plan), tau, False)
    t, smooth = window.t[half:len(window.t) - half], window.low_pass.smoothed(tau)
    kept = t[::window.step]
    inside = (kept > t[0] + REACH) & (kept < t[-1] - REACH)
    shifted = np.stack([cubic(t, smooth, kept + d) for d in SHIFTS])
    p = len(model.names)
    total = np.zeros((p + TRIED, p + TRIED))
    for j, (row, support) in enumerate(zip(rows, model.support, strict=True)):
        use = inside & window.moving[:, j]
        if np.count_nonzero(use) < 50 or not np.any(tau[:, j]):
            continue
        own = shifted[:, :, j] - shifted[TRIED // 2, :, j] + row[:, -1]    # springs are not shifted
        R = np.zeros((len(support) + TRIED,) * 2)
        triangle(R, np.concatenate([row[:, :-1], own.T], axis=1), use)
        wide = np.zeros((len(R), p + TRIED))
        wide[:, [*support, *range(p, p + TRIED)]] = np.triu(R)
        triangle(total, wide)
    return np.triu(total)[p:, p:]


def _misfits(left: Floats, shifts: Floats) -> Floats:
    """(1) for every shift."""
    with np.errstate(divide="ignore"):
        return np.log(np.sum((cubic(SHIFTS, left.T, shifts))**2, axis=1))
