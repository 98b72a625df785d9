"""By how much logged torques are late: the shift at which the robot's equations explain them best.

    J(d) = log |(1 − U Uᵀ) τ(t + d)|²                                          (1)

U spans the columns of all torques together, base parameters and friction of every joint, so that
no parameter has to be known. (Each torque by itself has too much freedom: it takes a shift for a
change of its inertias, and where friction is all, stiction looks like a delay.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from closedform.applications.compile.kernels import compile
from closedform.applications.identification.logs.log import joined
from closedform.applications.identification.signals.filter import Window
from closedform.applications.identification.signals.grid import straight
from closedform.applications.identification.signals.spectrum import longest
from closedform.applications.identification.signals.survey import Survey
from closedform.applications.identification.signals.windows import Stream, WindowPlan
from closedform.arrays import Floats

REACH = 0.03        # s, to both sides
TRIED = 25          # shifts
KEPT = 2000         # rows at most
BODIES = 12         # at most: the regressor of a large robot takes long to compile
CLEAR = 0.1         # by which J must be better to be applied


def torque_delay(plan: WindowPlan, made: Survey) -> tuple[WindowPlan, str, bool]:
    """The plan with a delay where one is clear, what to say, and whether that can be right."""
    unknown = "the delay of the torques was not estimated"
    if "tau" not in made.log.kinds or made.found is None:
        return plan, f"{unknown}: no joint torques are logged", True
    if len(made.log.robot.bodies) > BODIES:
        return plan, f"{unknown}: {made.log.robot.name} has more than {BODIES} bodies", True
    window = _beginning(replace(plan, delay=0.0, rows=2 * KEPT * plan.keep), made)
    if window is None or len(window.kept) < max(60, 15 * len(made.log.robot.bodies)):
        return plan, f"{unknown}: the log is too short", True
    shifts = np.linspace(-REACH, REACH, TRIED)
    J = _misfits(plan, window, shifts)
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
    near = np.linspace(shifts[i - 1], shifts[i + 1], TRIED)
    best = near[int(np.argmin(_misfits(plan, window, near)))]
    if gain < CLEAR:
        return plan, (f"torques fit best {1e3 * best:.2g} ms later than positions, which explains "
                      f"{100 * (1 - np.exp(-gain / 2)):.2g} % more: not clear enough, no delay is "
                      "applied"), True
    return replace(plan, delay=float(best)), (
        f"torques are {1e3 * abs(best):.2g} ms {'later' if best > 0 else 'earlier'} than "
        "positions: they are shifted"), True


def _beginning(plan: WindowPlan, made: Survey) -> Window | None:
    """One window of the first rows, for the equations and for shifting."""
    pieces, rows = [], 0
    need = int((KEPT * plan.keep + 2 * plan.coarse.half) * plan.every) + 2 * plan.fine.half
    for piece in made.log.pieces():
        pieces.append(piece)
        rows += len(piece.t)
        if rows >= need:
            break
    head = joined(pieces).rows(slice(0, need))
    part = longest(made.clock.of(made.log.robot, head), made.gap)
    stream = Stream(plan)
    return next(iter([*stream.push(part), *stream.close()]), None)


def _misfits(plan: WindowPlan, window: Window, shifts: Floats) -> Floats:
    """(1) for every shift, over torques that move."""
    robot, t, tau = plan.robot, window.t, window.effort["tau"]
    Y = np.asarray(compile(robot).base_regressor(window.q, window.v, window.a))
    shifted = [window.reduce(straight(t, tau, t + d)) for d in shifts]
    ends = 1 + int(REACH * len(window.kept) / (t[-1] - t[0]))
    inside = slice(ends, -ends)
    A, z = [], []
    for j in range(robot.nv):
        use = window.moving[inside, j]
        if use.sum() < 50 or not np.any(tau[:, j]):
            continue
        v = window.v[:, j]
        own = np.zeros((len(v), 3 * robot.nv))
        own[:, 3 * j:3 * j + 3] = np.column_stack([
            v, np.tanh(v / max(plan.slowest[j], 1e-9)), np.ones(len(v))])
        A.append(window.reduce(np.concatenate([Y[:, j], own], axis=1))[inside][use])
        z.append(np.stack([x[inside, j][use] for x in shifted], axis=1))
    if not A:
        return np.full(len(shifts), np.nan)
    U, s, _ = np.linalg.svd(np.concatenate(A), full_matrices=False)
    U, given = U[:, s > 1e-9 * s[0]], np.concatenate(z)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(np.sum(given**2, axis=0) - np.sum((U.T @ given)**2, axis=0), 0.0))
