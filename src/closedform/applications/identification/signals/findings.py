"""What is wrong with a log, from its survey: each finding has a rule, a joint and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from closedform.applications.identification.logs.columns import wanted_names
from closedform.applications.identification.logs.units import turns
from closedform.applications.identification.signals import clock as clocks
from closedform.applications.identification.signals.survey import Survey
from closedform.applications.identification.signals.windows import EFFORTS
from closedform.arrays import Floats
from closedform.model.findings import Finding, Level

ERROR, WARNING, INFO = Level.ERROR, Level.WARNING, Level.INFO
UNITS, ORDER, CLOCK, SATURATION = "units", "joint-order", "clock", "saturation"
FLAT = 0.8
"""Of the rows within a hundredth of the range of an extreme: so many are at it if it is cut off."""
DEGREE = 180 / math.pi
CROWDED = 0.4
"""Share of rows at the time of the row before from which times are no times."""
OTHER_ORDER = "would keep all limits if the columns were in another order"


def is_fault(finding: Finding) -> bool:
    """Whether a log may be read on with this finding, but results of it cannot be trusted."""
    return finding.rule in (CLOCK, SATURATION) or (
        finding.level is ERROR and finding.rule in (UNITS, ORDER))


def findings(made: Survey) -> tuple[Finding, ...]:
    """All findings, errors first."""
    every = [*_numbers(made), *_back(made), *_sources(made)]
    if not every:
        every = [*_time(made), *_positions(made), *_velocities(made), *_torques(made),
                 *_motion(made)]
    levels = list(Level)
    return tuple(sorted(every, key=lambda f: levels.index(f.level)))


def _finding(made: Survey, level: Level, rule: str, subject: str, message: str,
             repair: str = "") -> Finding:
    return Finding(level, rule, subject, message, repair, made.log.source)


def _numbers(made: Survey) -> Iterator[Finding]:
    for kind in dict.fromkeys(kind for kind, _ in made.bad):
        columns = {j: found for (other, j), found in made.bad.items() if other == kind}
        names = ["t"] if kind == "t" else wanted_names(made.log.robot, kind)
        of = "" if kind == "t" else f" of {_some(names, list(columns))}"
        yield _finding(made, ERROR, "not-a-number", kind,
                       f"{kind}{of} is no number in {max(n for n, _ in columns.values())} of "
                       f"{made.rows} rows, first in row {min(i for _, i in columns.values())}",
                       "leave these rows out, or the column if it is not needed")


def _back(made: Survey) -> Iterator[Finding]:
    if made.back is not None:
        row, before, after = made.back
        yield _finding(made, ERROR, "time-goes-back", "t",
                       f"time goes back in {made.backs} rows, first in row {row}: {before:.6g} s, "
                       f"then {after:.6g} s", "sort the rows, or cut the log into two")


def _sources(made: Survey) -> Iterator[Finding]:
    if made.woven:
        yield _finding(made, ERROR, "two-sources", made.woven,
                       f"{made.woven} jumps to and fro from row to row: rows of two sources take "
                       "turns", "read one of them: another topic, or every second row")
    if made.crowded > CROWDED * made.rows:
        yield _finding(made, ERROR, "time-digits", "t",
                       f"{made.crowded} of {made.rows} rows have the time of the row before and "
                       "other positions", "write times with more digits")


def _time(made: Survey) -> Iterator[Finding]:
    T, (least, median, most) = made.clock.period, made.steps
    if made.clock.kind == clocks.TICKS:
        yield _finding(made, WARNING, "clock-jitter", "t",
                       f"logged times step by {1e3 * least:.3g} to {1e3 * most:.3g} ms; positions "
                       f"and velocities are on ticks of {1e3 * T:.6g} ms and last "
                       f"{made.duration:.3f} s", "times are rebuilt from positions and velocities")
    elif made.clock.kind == clocks.LINE or least < 0.5 * median:
        yield _finding(made, WARNING, "clock-jitter", "t",
                       f"logged times step by {1e3 * least:.3g} to {1e3 * most:.3g} ms around "
                       f"{1e3 * median:.4g} ms")
    if made.unmended:
        yield _finding(made, WARNING, CLOCK, "t",
                       f"logged times step by {1e3 * least:.3g} to {1e3 * most:.3g} ms, and "
                       "positions are smoother on other times", 'clock="repair" finds them')
    if made.missing > made.kept:
        yield _finding(made, WARNING, CLOCK, "t",
                       f"{made.missing} samples are missing, more than the {made.kept} there are",
                       "log every sample, or at a lower rate")
    if made.repeats:
        yield _finding(made, WARNING if made.repeats > 1e-3 * made.rows else INFO, "repeats", "t",
                       f"{made.repeats} of {made.rows} rows repeat the row before",
                       "they are left out")
    if made.missing:
        yield _finding(made, INFO, "missing", "t",
                       f"{made.missing} samples are missing between rows ({T * 1e3:.4g} ms apart)",
                       "they are interpolated")
    if made.gaps:
        begin, longest = max(made.gaps, key=lambda x: x[1])
        yield _finding(made, WARNING, "gaps", "t",
                       f"{len(made.gaps)} gaps longer than {1e3 * made.gap:.3g} ms; the longest is "
                       f"{longest:.4g} s, {begin:.4g} s after the beginning",
                       "the log is read in stretches between them")


def _positions(made: Survey) -> Iterator[Finding]:
    robot, extremes = made.log.robot, made.extremes.get("q")
    if extremes is None:
        return
    low, high, names = extremes.low, extremes.high, wanted_names(robot, "q")
    outside = _outside(low, high, robot.lower, robot.upper)
    far = np.where(outside > 0, np.maximum(np.abs(low), np.abs(high)), 0.0)
    reach = np.maximum(np.abs(robot.lower), np.abs(robot.upper))
    angle = turns(robot, "q") if robot.nq else np.zeros(0, bool)
    scaled = _outside(low / DEGREE, high / DEGREE, robot.lower, robot.upper)
    suspects = angle & (far > 3 * np.where(np.isfinite(reach), reach, np.inf)) & (scaled == 0)
    unlimited = angle & ~np.isfinite(reach) & (high - low > 60)
    fast = made.found is not None and bool(np.any(made.found.speed > 30))
    if suspects.any() or (unlimited.any() and fast):
        j = int(np.argmax(np.where(suspects | unlimited, high - low, -1)))
        yield _finding(made, ERROR, UNITS, names[j],
                       f"q of {names[j]} goes from {low[j]:.4g} to {high[j]:.4g}: that cannot be "
                       "radians", "units={'q': 'deg'} reads degrees")
        return
    if not outside.any():
        return
    better = _permutation(made, low, high)
    if better is not None:
        yield _finding(made, ERROR, ORDER, "q", "positions leave the limits of "
                       f"{_some(names, np.flatnonzero(outside))}, and {OTHER_ORDER}, such as "
                       f"{', '.join(better)}",
                       "columns={'q': …} in the order of the robot's joints")
        return
    for j in np.flatnonzero(outside).tolist():
        yield _finding(made, ERROR if far[j] > 50 * reach[j] else WARNING,
                       UNITS if far[j] > 50 * reach[j] else "limits", names[j],
                       f"q of {names[j]} goes from {low[j]:.4g} to {high[j]:.4g}, its limits are "
                       f"{robot.lower[j]:.4g} and {robot.upper[j]:.4g}",
                       "look at units, signs and zeros of the columns, or at the file's limits")


def _outside(low: Floats, high: Floats, lower: Floats, upper: Floats) -> Floats:
    """How far ranges leave their limits, beyond five per cent of the limits' range."""
    slack = np.where(np.isfinite(upper - lower), 0.05 * (upper - lower), 0.0) + 0.02
    return np.maximum(np.maximum(lower - low, high - upper) - slack, 0.0)


def _permutation(made: Survey, low: Floats, high: Floats) -> list[str] | None:
    """Names in an order in which all columns keep the limits, if the one given does not."""
    from scipy.optimize import linear_sum_assignment  # slow to import

    robot = made.log.robot
    if robot.nq != robot.nv or robot.nq < 2:
        return None
    cost = _outside(low[None, :], high[None, :], robot.lower[:, None], robot.upper[:, None])
    rows, columns = linear_sum_assignment(np.minimum(cost, 1e3) + 1e-6 * (1 - np.eye(len(low))))
    if cost[rows, columns].any():
        return None
    names = wanted_names(robot, "q")
    return [names[int(np.argmax(columns == k))] for k in range(len(names))]


def _velocities(made: Survey) -> Iterator[Finding]:
    fit = made.agreement
    if fit is None:
        return
    names = wanted_names(made.log.robot, "v")
    moves = np.isfinite(fit.scale)
    wrong = [j for j, k in enumerate(fit.order) if k != j and fit.fit[j] < 0.7]
    if len(wrong) > 1:
        j = wrong[0]
        yield _finding(made, ERROR, ORDER, names[j],
                       f"the velocity of {names[j]} is logged in the column of "
                       f"{names[fit.order[j]]}", "columns={'v': …} in the order of q")
        return
    unlike = np.flatnonzero(moves & ~(np.abs(fit.fit) > 0.7))
    if len(unlike):
        yield _finding(made, WARNING, "velocities", "v", f"the logged velocity of "
                       f"{_some(names, unlike)} is not what its position does",
                       "velocities and accelerations are taken from the positions")
    clear = moves & (np.abs(fit.fit) > 0.7)
    against = np.flatnonzero(clear & (fit.scale < 0))
    if len(against):
        yield _finding(made, ERROR, ORDER, "v", f"the velocity of {_some(names, against)} has the "
                       "opposite sign of what its position does", "look at the columns' signs")
    off = np.flatnonzero(clear & (fit.scale > 0) & (np.abs(fit.scale - 1) > 0.1))
    if len(off):
        scale = float(np.median(fit.scale[off]))
        yield _finding(made, WARNING if 0.3 < scale < 3 else ERROR, UNITS, "v",
                       f"the logged velocity of {_some(names, off)} is {scale:.4g} times that of "
                       "its position", "look at the units of q, v and t")
        return
    lag = float(np.median(fit.lag[clear])) if clear.any() else 0.0
    if abs(lag) > max(0.3 * made.clock.period, 3e-4):
        yield _finding(made, WARNING, "velocity-lag", "v",
                       f"logged velocities are {1e3 * abs(lag):.2g} ms "
                       f"{'behind' if lag > 0 else 'ahead of'} the positions",
                       "velocities and accelerations are taken from the positions")


def _torques(made: Survey) -> Iterator[Finding]:
    robot = made.log.robot
    kinds = [kind for kind in EFFORTS if kind in made.extremes]
    if not kinds:
        yield _finding(made, WARNING, "no-torques", "tau",
                       "the log has no torques, motor torques or currents",
                       "columns={'tau': …} says where they are")
    for kind in kinds:
        x, names = made.extremes[kind], wanted_names(robot, "tau")
        largest, limit = np.maximum(np.abs(x.low), np.abs(x.high)), robot.effort_limits
        if kind == "tau":
            far = np.flatnonzero(largest > 50 * np.where(limit > 0, limit, np.inf))
            if len(far):
                j = int(far[0])
                yield _finding(made, ERROR, UNITS, "tau",
                               f"tau of {_some(names, far)} cannot be Nm: it reaches "
                               f"{largest[j]:.4g}, the limit of {names[j]} is {limit[j]:.4g}",
                               "units={'tau': 'Nmm'} reads newton millimetres")
        same = np.flatnonzero(x.low == x.high)
        if len(same):
            yield _finding(made, ERROR if len(same) == len(names) else WARNING, "no-torques", kind,
                           f"{kind} of {_some(names, same)} is {x.low[same[0]] + 0.0:.4g} in every "
                           "row",
                           "columns={'tau': …} says where torques are")
        least = max(10, 5e-3 * made.rows)
        for j in np.flatnonzero((np.maximum(x.at_low, x.at_high) > least)
                                & (x.high > x.low)).tolist():
            if (x.at_low[j] > least and x.low[j] < 0) or (x.at_high[j] > least and x.high[j] > 0):
                count = int(max(x.at_low[j], x.at_high[j]))
                if not _cut_off(made, kind, j):
                    continue
                yield _finding(made, WARNING, SATURATION, names[j],
                               f"{kind} of {names[j]} stands at its extreme value in {count} rows",
                               "leave these parts of the motion out")


def _cut_off(made: Survey, kind: str, j: int) -> bool:
    """Whether an extreme is a plateau, and not only the last step of coarse numbers at a peak.

    Numbers coarser than a hundredth of their range do not tell.
    """
    x = made.extremes[kind]
    low, high = float(x.low[j]), float(x.high[j])
    at, near, band = np.zeros(2), np.zeros(2), 0.01 * (high - low)
    next_low, next_high = high, low
    for piece in made.log.pieces():                  # once more, if there is something to ask
        column = np.asarray(getattr(piece, kind))[:, j]
        at += np.count_nonzero(column == low), np.count_nonzero(column == high)
        near += np.count_nonzero(column <= low + band), np.count_nonzero(column >= high - band)
        next_low = np.min(column, where=column > low, initial=next_low)
        next_high = np.max(column, where=column < high, initial=next_high)
    often = at > max(10, 5e-3 * made.rows)
    often &= np.array([next_low - low, high - next_high]) < band
    return bool(np.any(often & (at > FLAT * near) & (np.array([-low, high]) > 0)))


def _motion(made: Survey) -> Iterator[Finding]:
    robot, found = made.log.robot, made.found
    names = wanted_names(robot, "v")
    if found is None or made.moved is None:
        yield _finding(made, WARNING, "short", "t", "no stretch is long enough to say how fast "
                       "the robot moves")
        return
    still = standing(made)
    if still.all():
        yield _finding(made, ERROR, "standing", "q", "no joint moves")
        return
    for j in np.flatnonzero(still):
        yield _finding(made, WARNING, "standing", names[j],
                       f"{names[j]} stands still: nothing about its friction and inertia can be "
                       "found")
    yield _finding(made, INFO, "bandwidth", "q",
                   f"the motion goes up to {found.excited.max():.3g} Hz, positions have nothing "
                   f"above {found.positions:.3g} Hz; a cutoff of {made.cutoff:.3g} Hz suits")


def standing(made: Survey) -> np.ndarray:
    """Joints that move less than their noise, or a milliradian (a tenth of a millimetre), (nv,)."""
    assert made.moved is not None
    noise = np.zeros_like(made.moved) if made.found is None else made.found.noise
    least = np.where(turns(made.log.robot, "v"), 1e-3, 1e-4)
    return np.asarray(made.moved < np.maximum(least, 8 * noise))


def _some(names: Sequence[str], which: Sequence[int] | np.ndarray) -> str:
    """Some of the names; all of them in a word."""
    if len(which) == len(names) > 2:
        return "all joints"
    return ", ".join(names[int(j)] for j in which[:5]) + (", …" if len(which) > 5 else "")
