"""Units of columns: what is stated, as a factor to SI; the unit of time found out by its size."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np

from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.model.robot import Robot

ANGLES = {"rad": 1.0, "radian": 1.0, "radians": 1.0, "mrad": 1e-3, "deg": math.pi / 180,
          "degree": math.pi / 180, "degrees": math.pi / 180, "°": math.pi / 180,
          "rev": 2 * math.pi, "turn": 2 * math.pi, "turns": 2 * math.pi}
LENGTHS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
TORQUES = {"nm": 1.0, "n·m": 1.0, "n*m": 1.0, "n m": 1.0, "nmm": 1e-3, "ncm": 1e-2, "mnm": 1e-3,
           "knm": 1e3, "n": 1.0, "kn": 1e3}
CURRENTS = {"a": 1.0, "ma": 1e-3, "amp": 1.0, "amps": 1.0}
TIMES = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
IN_NAMES = ("rad", "deg", "degrees", "ms", "us", "ns", "sec", "nm", "nmm", "mm", "ma")
"""Units that end a column's name behind an underscore or a dot."""
ORDERS = {"q": 0, "v": 1, "a": 2, "motor_position": 0}
EPOCH = (1e8, 5e9)
"""Seconds since 1970 of a log's times lie between these."""


def stated(name: str) -> tuple[str, str | None]:
    """A column's name without its unit, and the unit: `q1 [deg]`, `q1_deg`."""
    match = re.fullmatch(r"(.*?)[\s_.]*[\[(]\s*([^\])\d\s][^\])]*?)\s*[\])]", name)
    if match and is_unit(match[2]):
        return match[1], match[2]
    match = re.fullmatch(rf"(.+?)[_.\s]({'|'.join(IN_NAMES)})(?:/s|ps)?", name, re.IGNORECASE)
    return (match[1], match[2]) if match else (name, None)


def is_unit(unit: str) -> bool:
    """Whether a text is a unit of anything that is logged."""
    plain = re.sub(r"(/s|ps)(\^?2|²)?$", "", unit.strip().lower())
    return plain == "rpm" or any(plain in x for x in (ANGLES, LENGTHS, TORQUES, CURRENTS, TIMES))


def factors(robot: Robot, kind: str, unit: str) -> Floats:
    """What the columns of a kind are multiplied by, (width,); angles and lengths told apart.

    A unit of angle leaves slides as they are, one of length leaves turns; quaternions are numbers.
    """
    plain = unit.strip().lower()
    if kind == "t":
        return np.array([_factor(TIMES, plain, kind, unit)])
    if kind == "current":
        return np.full(robot.nv, _factor(CURRENTS, plain, kind, unit))
    if kind in ("tau", "motor_torque"):
        return np.full(robot.nv, _factor(TORQUES, plain, kind, unit))
    base = re.sub(r"(/s|ps)(\^?2|²)?$", "", plain) if ORDERS[kind] else plain
    if kind == "v" and base == "rpm":
        angle, length = 2 * math.pi / 60, 1.0
    elif base in LENGTHS:
        angle, length = 1.0, LENGTHS[base]
    else:
        angle, length = _factor(ANGLES, base, kind, unit), 1.0
    return np.where(turns(robot, kind), angle, np.where(slides(robot, kind), length, 1.0))


def turns(robot: Robot, kind: str) -> np.ndarray:
    """Which columns of a kind are angles or their rates, (width,) bool."""
    return _columns(robot, kind, angular=True)


def slides(robot: Robot, kind: str) -> np.ndarray:
    """Which columns of a kind are lengths or their rates, (width,) bool."""
    return _columns(robot, kind, angular=False)


def _columns(robot: Robot, kind: str, angular: bool) -> np.ndarray:
    parts = [np.zeros(0, dtype=bool)]
    for body, _, _ in robot.parts:
        joint = body.joint
        lengths = np.isin(np.arange(joint.nq), joint.lengths)
        if joint.is_vector:
            parts.append(~lengths if angular else lengths)
        elif kind == "q":
            parts.append(np.zeros(joint.nq, dtype=bool) if angular else lengths)
        else:
            turning = np.any(np.asarray(joint.S, dtype=float)[3:] != 0, axis=0)
            parts.append(turning if angular else ~turning)
    return np.concatenate(parts)


def _factor(table: Mapping[str, float], plain: str, kind: str, unit: str) -> float:
    if plain not in table:
        raise ArgumentError(f"units: {kind} cannot be in {unit!r}; it may be in "
                            f"{', '.join(table)}"
                            + ("; currents are columns={'current': …}, with idn.Drives"
                               if plain in CURRENTS else ""))
    return table[plain]


# ---------------------------------------------------------------------- time
def unit_of_time(t: Floats, period: float | None) -> str:
    """s, ms, us or ns, by the size of the steps; `period` (s) is what q and v say, if they do.

    Seconds since 1970 tell the unit by themselves. Else a step is 50 µs to 5 s in seconds and 50 µs
    to 0.2 s in other units; of a step between 0.2 and 5 that could be seconds or milliseconds only
    q and v can tell.
    """
    names = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    steps = np.diff(t)
    steps = steps[steps > 0]
    if not len(steps):
        return "s"
    step = float(np.median(steps))
    since_1970 = [unit for unit, c in names.items() if EPOCH[0] < abs(t[0]) * c < EPOCH[1]]
    possible = since_1970 or [unit for unit, c in names.items()
                              if 5e-5 <= step * c <= (5.0 if unit == "s" else 0.2)]
    if period is not None and len(possible) != 1:
        near = [unit for unit, c in names.items() if abs(math.log10(step * c / period)) < 0.7]
        possible = near or possible
    if len(possible) == 1 or (possible and step <= 0.2):
        return possible[0]
    if not possible:
        return "s"
    raise ArgumentError(f"times step by {step:.4g}: that may be {' or '.join(possible)}; say which "
                        "with units={'t': 'ms'}")
