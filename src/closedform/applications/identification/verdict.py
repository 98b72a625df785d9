"""Whether an identified robot may be trusted, and if not, every reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from closedform.applications.counts import is_number
from closedform.applications.identification.estimate.consistent import FREE
from closedform.applications.identification.estimate.found import VAGUE, Fit
from closedform.applications.identification.signals.findings import OTHER_ORDER
from closedform.applications.identification.validate import Validation
from closedform.errors import ArgumentError

WORSE = 1.5
"""Held-out error may be so many times that of the fit."""
SMALL = 0.5
"""Per cent that are always allowed."""
LARGE = 10.0
"""Per cent beyond which an error is too large, however large that of the fit is."""
ORDERED = 5.0
"""Per cent: torques of joints in a wrong order are not explained so well."""
FACTOR = 3.0
"""Masses of files are wrong, but not so much in all links."""
UNLIKE = "; the fit leaves as much: look at order, signs and units of the columns, and whether " \
         "gravity is taken off before torques are logged"
EXPLAINED = 0.5
STRUCTURE, COLOURED = 0.5, 0.5
"""What is left may be no noise up to so much of a torque's variation; of what is left so much."""
WORTH = 0.01
"""Of a torque's variation: structure that is worth a word."""
RUBS = 0.1
"""Of what is left of a torque: friction of another kind that explains it is worth a word."""
NOTHING = 1.0
"""Of the torques of other motions: who leaves so much of them open says nothing about them."""
HALF = 0.5
"""Share of the unknowns that a prior may hold alone, and of a motion that may be known."""
SURE = 1.5
"""Times an interval's reach by which data contradict a bound."""
DOUBT, TILTED, BODIES = 1.0, 2.0, 12
"""Gravity and order are tested where a fit leaves more %; a tilt counts from so many degrees; of
robots of so many bodies at most."""
AT_REST, SLOW = 1e-3, 0.1
"""Mean speed below which a joint stands, rad/s or m/s; and of that in the fit, hardly moves."""


@final
@dataclass(frozen=True)
class Verdict:
    """Holds, or the reasons why not."""

    holds: bool
    reasons: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        head = "the identified robot holds" if self.holds else "the identified robot does not hold"
        return "\n".join([head, *(f"- {r}" for r in self.reasons),
                          *(f"  ({r})" for r in self.remarks)])


def verdict(fit: Fit, trial: Validation | None = None, limit: float | None = None) -> Verdict:
    """Whether a fit holds: on motion that was held out, with bodies that can be.

    `limit` is the total error in % that is allowed; by default 1.5 times that of the fit, half a
    per cent at least and 10 % at most.
    """
    if not isinstance(fit, Fit):
        raise ArgumentError(f"verdict: fit must be idn.fit(…), not {type(fit).__name__}")
    if trial is not None and not isinstance(trial, Validation):
        raise ArgumentError(f"verdict: trial must be idn.validate(…), not {type(trial).__name__}")
    if limit is not None and not is_number(limit):
        raise ArgumentError(f"verdict: limit must be a number of per cent, not {limit!r}")
    reasons = [*_data(fit), *_against_the_file(fit), *_order(fit), *_gravity(fit),
               *_bodies(fit), *_bounds(fit),
               *_held_out(fit, trial, limit), *_structure(trial)]
    remarks = [f"the signals: {note}" for note in fit.info.faults if _by_limits(fit, note)]
    coloured = [] if trial is None else [
        f"{name} ({100 * s:.0f} %)" for name, s, share, reason in zip(
            trial.names, trial.structure, trial.coloured, _structured(trial), strict=True)
        if s > WORTH and share > COLOURED and not reason]
    if coloured:
        remarks.append("what is left is not noise alone, of the torques' variation: "
                       + _few(coloured))
    if trial is not None and np.all(np.isnan(trial.coloured)):
        remarks.append(f"{trial.rows} rows of {trial.log} are too few to tell what is left from "
                       "noise")
    if trial is not None and trial.known > HALF and not trial.seen:
        remarks.append(f"{100 * trial.known:.0f} % of {trial.log}'s motion is a part of what the "
                       "fit has seen: it says little about other motions")
    if trial is not None and len(_idle(fit, trial)) == len(fit.model.actuated):
        remarks.append(f"what {trial.log} tells of gravity: torques in its poses are predicted "
                       f"to {trial.total:.2f} %")
    remarks += [] if reasons else _friction(trial)     # what else is wrong would look like it
    if fit.unidentified:
        remarks.append(f"{len(fit.unidentified)} of {len(fit.x)} unknowns are not excited enough: "
                       + _few(fit.unidentified))
        motions = list(dict.fromkeys(fit.advice.values()))
        if motions:
            remarks.append(f"what would tell them: {_few(motions)}; idn.excite(model, prior=info) "
                           "plans it")
    return Verdict(not reasons, tuple(reasons), tuple(remarks))


def _data(fit: Fit) -> list[str]:
    reasons = [f"the signals: {note}" for note in fit.info.faults if not _by_limits(fit, note)]
    rank, unknowns = fit.equations.rank, len(fit.x)
    if rank < unknowns:
        blind = [n for n, s in zip(fit.info.columns, fit.sd, strict=True) if np.isinf(s)]
        return [*reasons, f"the motion does not excite all: rank {rank} of {unknowns}; "
                          f"open: {_few(blind)}"]
    if fit.elsewhere > (VAGUE if fit.certificate is None else NOTHING):
        reasons.append("the motion does not excite enough: the logs leave torques of motions at "
                       f"half of the robot's limits open by {100 * fit.elsewhere:.0f} %"
                       + ("" if fit.certificate is None else ", where the prior alone tells them"))
    if fit.certificate is not None and len(fit.unidentified) > HALF * unknowns:
        reasons.append(f"{len(fit.unidentified)} of {unknowns} unknowns are the prior's, the logs "
                       f"do not tell them: {_few(fit.unidentified)}")
    elif fit.certificate is None and len(fit.unidentified) > unknowns / 4:
        reasons.append(f"{len(fit.unidentified)} of {unknowns} unknowns are known worse than 30 % "
                       f"and no prior holds them: {_few(fit.unidentified)}")
    return reasons


def _against_the_file(fit: Fit) -> list[str]:
    """Torques that are like the file's but for their sign, or many times as large."""
    info, x = fit.info, fit.model.L @ fit.prior
    if info.gains or not any(body.inertia.mass for body in fit.model.robot.bodies):
        return []
    slopes = {}
    for j, (name, support) in enumerate(zip(fit.model.velocity_names, info.support, strict=True)):
        R = info.factor(j)
        made, given = R[:, :-1] @ x[list(support)], R[:, -1]
        both = float(made @ given)
        if both**2 > EXPLAINED * (made @ made) * (given @ given) > 0:
            slopes[name] = both / float(made @ made)
    turned = [name for name, slope in slopes.items() if slope < 0]
    reasons = [f"torques of {_few(turned)} have the opposite sign of what the file's masses make"] \
        if turned else []
    usual = float(np.median(np.abs([*slopes.values()]))) if slopes else 1.0
    if not 1 / FACTOR < usual < FACTOR:
        reasons.append(f"torques are {usual:.2g} times what the file's masses make: are they "
                       "currents, of motors, or in another unit?")
    return reasons


def _order(fit: Fit) -> list[str]:
    """Columns of two joints in each other's place: looked for where a joint is not explained."""
    worst = max((fit.residuals[fit.model.velocity_names[i]][0] for i in fit.model.actuated),
                default=0.0)
    if worst < DOUBT or len(fit.model.robot.bodies) > BODIES or fit.other_order is None:
        return []
    return [str(fit.other_order)]


def _gravity(fit: Fit) -> list[str]:
    """A file that is mounted otherwise: looked for where the fit leaves something to explain."""
    if fit.total < DOUBT or not fit.info.sources or len(fit.model.robot.bodies) > BODIES:
        return []
    g = fit.gravity
    clear = g.told and g.angle > max(TILTED, 3 * g.angle_sd) and g.explained > EXPLAINED
    return [str(g)] if clear else []


def _by_limits(fit: Fit, fault: str) -> bool:
    """Whether only limits of the file, often wrong, speak for another order, not the fit."""
    return OTHER_ORDER in fault and fit.total <= ORDERED


def _bodies(fit: Fit) -> list[str]:
    reasons = []
    if not fit.smallest_eigenvalue > 0:
        reasons.append("no body can have these inertias (smallest eigenvalue of the pseudo-inertia "
                       f"matrices {fit.smallest_eigenvalue:.1e}); method=\"consistent\" finds some")
    if fit.certificate is not None and fit.certificate.smallest_eigenvalue < 1e-4:
        reasons.append("a body lies at the border of what can be (eigenvalue "
                       f"{fit.certificate.smallest_eigenvalue:.1e} of the prior's): give the prior "
                       "more weight, or check the file's inertias")
    negative = [n for n, high in zip(fit.info.columns, fit.interval[1], strict=True)
                if n.rpartition(".")[2].startswith(("viscous", "coulomb")) and high < 0]
    if negative:
        reasons.append(f"friction below zero: {_few(negative)}")
    return reasons


def _bounds(fit: Fit) -> list[str]:
    """Friction and rotors that are held at zero although the data, without bound, go below it."""
    if fit.certificate is None:
        return []
    kinds = (*(n for n in fit.model.friction.names if n not in FREE), "rotor")
    below = -fit.by_data > SURE * fit.reach
    matters = np.abs(fit.by_data) * fit.equations.scale > 0.01 * np.sqrt(fit.equations.size)
    alone = np.count_nonzero(fit.model.L, axis=1) == 1       # in no sum with other parameters
    held = [n for n, out in zip(fit.model.names, below & matters & alone, strict=True)
            if out and n.rpartition(".")[2] in kinds]
    return [f"at their bound, zero, while the data would have them below it: {_few(held)}"] \
        if held else []


def _structured(trial: Validation) -> NDArray[np.bool_]:
    """Torques whose residual is mostly no noise, and large."""
    moves = (trial.travel > AT_REST) & (trial.squares > 0)
    return np.asarray(moves & (trial.structure > STRUCTURE) & (trial.coloured > COLOURED))


def _structure(trial: Validation | None) -> list[str]:
    if trial is None:
        return []
    return [f"what is left of {name}'s torque is not noise: {100 * share:.0f} % of it has "
            f"structure, {100 * size:.0f} % of the torque's variation; the model lacks something "
            "(friction, elasticity, a load)"
            for name, size, share, wrong in zip(trial.names, trial.structure, trial.coloured,
                                                _structured(trial), strict=True) if wrong]


def _friction(trial: Validation | None) -> list[str]:
    """Joints that rub otherwise than the model says."""
    other = [] if trial is None else [
        f"{name} ({100 * share:.0f} % of what is left)"
        for name, share in zip(trial.names, trial.other_friction, strict=True) if share > RUBS]
    return [f"friction is not what the model says near standstill or where joints turn: "
            f"{_few(other)}; its numbers are those of such motions, their intervals as wide as "
            'slow and fast ones differ (Friction(…, "stribeck") may be nearer)'] if other else []


def _held_out(fit: Fit, trial: Validation | None, limit: float | None) -> list[str]:
    if trial is None:
        return ["no motion was held out: give a log that the fit has not seen"]
    reasons = [f"the signals of {trial.log}: {note}" for note in trial.faults
               if not _by_limits(fit, note) and note not in fit.info.faults]
    if trial.seen:
        reasons.append(f"{trial.log} repeats a motion of the fit: it says nothing about others")
    allowed = min(max(WORSE * fit.total, SMALL), LARGE) if limit is None else limit
    if not trial.total <= allowed:
        reasons.append(f"held-out error {trial.total:.2f} %, above {allowed:.2f} %"
                       + (f" ({WORSE:g} times the fit's)" if SMALL < allowed < LARGE
                          and limit is None else "") + (UNLIKE if fit.total > LARGE else ""))
    idle = _idle(fit, trial)
    if len(idle) == len(fit.model.actuated) > 0:
        reasons.append(f"{trial.log} hardly moves: it tests gravity at most, no friction and no "
                       "inertia; hold a motion out that is like those of the fit")
    elif idle:
        reasons.append(f"{trial.log} hardly moves {_few(idle)}: no friction and no inertia is "
                       "tested there")
    for j, name in enumerate(trial.names):
        share, speed = trial.explained[j], trial.travel[j]
        if np.isnan(share):             # as the wrench on a base that floats may be
            if speed > AT_REST and j in fit.model.actuated:
                reasons.append(f"the torque of {name} is the same in every row of {trial.log}")
        elif speed > AT_REST and not share >= EXPLAINED:
            reasons.append(f"only {100 * share:.0f} % of the variation of {name}'s torque is "
                           "explained")
    return reasons


def _idle(fit: Fit, trial: Validation) -> list[str]:
    """Joints with motors that stand, or nearly: a log judges none that it does not move."""
    least = np.maximum(AT_REST, SLOW * fit.info.speed)
    return [trial.names[j] for j in fit.model.actuated if not trial.travel[j] > least[j]]


def _few(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"
