"""The state of one client, what it may wish, and what a wish makes of the state. Pure.

A browser may send anything: `obey` takes only finite numbers of the right count, and keeps them
within the limits. What is said of a posture belongs to that posture: another q clears it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from closedform.applications.redundancy.certificate import Solution
from closedform.applications.redundancy.curves import SelfMotion
from closedform.applications.studio import posture
from closedform.applications.studio.dials import tilted
from closedform.applications.studio.subject import StudioRobot
from closedform.arrays import Floats
from closedform.errors import ArgumentError, ClosedformError

HEAVIEST = 1000.0
"""kg of a load at the tip, at most."""
FASTEST = 1e3
"""rad/s or m/s, and per second: rates beyond are no motion of a robot."""
CRITERIA = ("manipulability", "posture", "centering")
"""What the inverse kinematics of a redundant arm maximises."""


@final
@dataclass(frozen=True, eq=False)
class StudioState:
    """What one client looks at."""

    q: Floats
    v: Floats
    a: Floats
    tip: str
    criterion: str = CRITERIA[0]
    load: float = 0.0                               # kg at the tip
    load_at: tuple[float, float, float] = (0.0, 0.0, 0.0)   # m, its centre of mass in the tip
    mount: tuple[float, float] = (0.0, 0.0)         # rad, roll and pitch of the mounting
    target: Floats | None = None                    # (4, 4), what the tip was pulled to
    solution: Solution | None = None                # the certificate of this q
    refused: Solution | None = None                 # the certificate of the target not reached
    curve: SelfMotion | None = None                 # configurations of the same target
    along: float = 0.0                              # −1 … 1 on the curve, 0 where the drag ended
    branches: tuple[Solution, ...] = field(default=(), repr=False)
    branch: int = -1


def start(subject: StudioRobot) -> StudioState:
    """Ready and at rest."""
    rest = np.zeros(subject.robot.nv)
    return StudioState(subject.ready, rest, rest, subject.tip)


def arguments(subject: StudioRobot, state: StudioState) -> tuple[Floats, ...]:
    """What the kernels take: q, v, a, gravity, the load's ten parameters."""
    return state.q, state.v, state.a, gravity(subject, state), load(state)


def gravity(subject: StudioRobot, state: StudioState) -> Floats:
    """In the robot's world frame, m/s²."""
    return tilted(np.asarray(subject.robot.gravity, dtype=float), *state.mount)


def load(state: StudioState) -> Floats:
    """The load's ten parameters in the tip's frame: a point mass."""
    m, c = state.load, np.array(state.load_at)
    I = m * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


# ---------------------------------------------------------------------- wishes
@final
@dataclass(frozen=True, eq=False)
class Wish:
    """A wish of a kind with what is wished: `Wish("dials", values)`."""

    kind: str
    value: Any = None


def obey(subject: StudioRobot, state: StudioState, wish: Wish) -> StudioState:
    """The state after a wish; an error in words where it cannot be met."""
    if wish.kind not in WISHES:
        raise ArgumentError(f"no wish {wish.kind!r:.40}")
    try:
        return WISHES[wish.kind](subject, state, wish.value)
    except ClosedformError:
        raise
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        raise ArgumentError(f"{wish.kind}: not possible: {error}") from error


def _numbers(given: Any, size: int, what: str) -> Floats:
    x = np.asarray(given, dtype=float)
    if x.shape != (size,) or not np.all(np.isfinite(x)):
        raise ArgumentError(f"{what} must be {size} finite numbers")
    return x


def _at(subject: StudioRobot, state: StudioState, q: Floats,
        near: Floats | None = None) -> StudioState:
    """The state at another q, where nothing is certified; loops are closed near another one."""
    return replace(state, q=subject.kept(q, near), target=None, solution=None, refused=None,
                   curve=None, along=0.0, branches=(), branch=-1)


def _dials(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    d = subject.dials
    values = np.clip(_numbers(given, len(d.all), "dials"), d.low, d.high)
    return _at(subject, state, d.coordinates(values, state.q), near=state.q)


def _dial(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    """Some dials by their place; the others stay exactly where they are."""
    d = subject.dials
    values = d.values(state.q)
    before, q = d.coordinates(values, state.q), state.q.copy()
    for k, x in dict(given).items():
        values[k] = np.clip(_numbers([x], 1, d.all[k].name), d.low[k], d.high[k])[0]
    after = d.coordinates(values, state.q)
    for _, i in d.parts:
        if np.any(after[i] != before[i]):
            q[i] = after[i]
    return _at(subject, state, q, near=state.q)


def _coordinates(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    return _at(subject, state, _numbers(given, subject.robot.nq, "q"))


def _named(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    found = subject.configurations
    if given not in found:
        raise ArgumentError(f"{subject.robot.name} has no configuration {given!r:.80}")
    return _at(subject, state, found[given])


def _random(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    return _at(subject, state, subject.robot.random(given))


def _rates(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    v, a = (np.clip(_numbers(x, subject.robot.nv, "rates"), -FASTEST, FASTEST) for x in given)
    return replace(state, v=v, a=a)


def _moment(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    """A moment of a motion: q, v and a together, as they are."""
    q, v, a = given
    return _rates(subject, _coordinates(subject, state, q), (v, a))


def _load(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    mass, at = given
    m, c = _numbers([mass], 1, "load")[0], _numbers(at, 3, "the load's place")
    if not 0 <= m <= HEAVIEST:
        raise ArgumentError(f"the load must be between 0 and {HEAVIEST:g} kg")
    x, y, z = (float(np.clip(x, -10, 10)) for x in c)
    return replace(state, load=float(m), load_at=(x, y, z))


def _mount(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    roll, pitch = _numbers(given, 2, "the mount's angles")
    return replace(state, mount=(float(roll), float(pitch)))


def _tip(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    return replace(_at(subject, state, state.q), tip=subject.checked_tip(given))


def _criterion(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    if given not in CRITERIA:
        raise ArgumentError(f"criterion must be one of {', '.join(CRITERIA)}")
    return replace(_at(subject, state, state.q), criterion=given)


# ---------------------------------------------------------------------- the tip, pulled
def _target(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    """The optimum for a pose of the tip, where it can be reached; else all stays as it was."""
    T = np.asarray(given, dtype=float)
    if T.shape != (4, 4) or not np.all(np.isfinite(T)):
        raise ArgumentError("the target must be a pose, (4, 4)")
    found = posture.pulled(subject.robot, state.tip, state.criterion, T, state.q)
    if found.task_residual > posture.REACHED:
        return replace(state, target=T, refused=found, curve=None, branches=(), branch=-1)
    return replace(_at(subject, state, np.asarray(found.q)), target=T, solution=found)


def _self_motion(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    """The curve through q of all configurations that meet the target."""
    T = posture.of_tip(subject.robot, state.tip, state.q) if state.target is None else state.target
    curve = posture.curve(subject.robot, state.tip, state.criterion, T, state.q)
    return replace(state, target=T, curve=curve, along=0.0)


def _along(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    """A configuration on the curve; corrected, so that the tip rests."""
    if state.curve is None or state.target is None:
        return state
    s = float(np.clip(_numbers([given], 1, "self-motion")[0], -1, 1))
    q = posture.on_curve(subject.robot, state.tip, state.criterion, state.target, state.curve, s)
    moved = subject.kept(q)
    return replace(state, q=moved, along=s, solution=None, refused=None)


def _branches(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    """Every stationary posture of a target, as `posture.all_branches` found them."""
    T, found = given
    return replace(state, target=np.asarray(T, dtype=float), branches=tuple(found), branch=-1)


def _branch(subject: StudioRobot, state: StudioState, given: Any) -> StudioState:
    if not state.branches:
        return state
    k = int(_numbers([given], 1, "branch")[0]) % len(state.branches)
    chosen = state.branches[k]
    return replace(state, q=subject.kept(np.asarray(chosen.q)), solution=chosen, refused=None,
                   curve=None, along=0.0, branch=k)


WISHES: dict[str, Callable[[StudioRobot, StudioState, Any], StudioState]] = {
    "tip": _tip, "criterion": _criterion, "load": _load, "mount": _mount, "rates": _rates,
    "named": _named, "random": _random, "coordinates": _coordinates, "dials": _dials,
    "dial": _dial, "moment": _moment, "target": _target, "self_motion": _self_motion,
    "along": _along, "branches": _branches, "branch": _branch,
}
"""In the order in which wishes of several kinds are met."""
