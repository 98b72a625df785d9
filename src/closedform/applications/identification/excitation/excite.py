"""The best motion for finding a model's numbers, within a robot's limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from closedform.applications.identification.estimate.least_squares import known_rows, weighted
from closedform.applications.identification.excitation.criteria import CRITERIA, Scene
from closedform.applications.identification.excitation.limits import Limits, room_of
from closedform.applications.identification.excitation.motions import KINDS
from closedform.applications.identification.excitation.plan import Plan
from closedform.applications.identification.excitation.problem import Excitation, reach_of
from closedform.applications.identification.excitation.rows import MotionRows
from closedform.applications.identification.excitation.search import search
from closedform.applications.identification.model import Model
from closedform.applications.identification.triangles import Information
from closedform.arrays import ArrayLike, Floats, real_array
from closedform.errors import ArgumentError, ModelError, UnknownName, suggestion

RATE = 100.0
"""Hz: samples of a log that count as new, where no earlier log tells."""
NOISE = 0.01
"""Of a torque: so much of its limit, or of its usual size."""
SMALL = 0.1
"""An unknown's size is at least so much of the usual one of its kind."""


def excite(model: Model, duration: float = 10.0, harmonics: int = 5,
           start: ArrayLike | None = None, criterion: str = "information",
           limits: Limits | None = None, prior: Information | None = None, starts: int = 8,
           kind: str = "fourier", seed: int = 0, sigma: ArrayLike | None = None,
           rate: float | None = None, client: Any = None) -> Plan:
    """A motion of `duration` seconds from `start` back to it, at rest at both ends.

    `criterion`: "information" (the volume of the confidence ellipsoid), "a" (relative standard
    deviations, sizes from the file) or "condition" (number of W). `kind`: "fourier" or "bspline",
    of so many `harmonics`; by the first two criteria Fourier series may repeat within the time.
    `prior` is the information of earlier logs, counted in. `sigma` is the noise of each torque (by
    default that of `prior`, else 1 % of its limit or usual size) and `rate` (Hz) how many samples a
    second have noise of their own. The best of `starts` is kept; the same `seed` gives the same
    motion. Without `start` it is the middle of the limits. `client` is a Dask client, if its
    workers are to search and not threads of this machine.
    """
    _check(model, criterion, kind, limits, prior)
    if model.robot.is_curved:
        raise ModelError(f"excite: joints of {model.robot.name} follow others by polynomials, for "
                         "which the bounds of a motion are not known")
    basis = KINDS[kind](_positive(duration, "duration", "seconds"),
                        _count(harmonics, "harmonics", 2))
    starts, seed = _count(starts, "starts", 1), _count(seed, "seed", 0)
    limits = limits or Limits()
    rows = MotionRows(model, room_of(model, limits, start))
    links, apart = None, []
    if limits.clearance is not None or limits.collision is not None:
        from closedform.applications.identification.excitation.collision import links_of, shapes_of
        links = shapes_of(rows, limits) if limits.collision is not None else \
            links_of(rows, float(limits.clearance or 0.0))
        apart = ["links: no two of them are far enough apart in the tree to be kept apart"
                 if links is None else f"links: {len(links.pairs)} pairs of lines or shapes keep "
                 f"{links.clearance:g} m between them at all times"]
    noise = _noise(rows, sigma, prior)
    measured = np.isfinite(noise)
    often = _positive(rate, "rate", "Hz") if rate is not None else \
        prior.rate if prior is not None and prior.rate > 0 else RATE
    known, plain = earlier(model, prior, 1 / noise), earlier(model, prior, measured * 1.0)
    reach = reach_of(rows, measured, known, known_rows(Information(model, ()))[0])
    scale = sizes(rows, reach.open)
    condition = criterion == "condition"
    samples = often * basis.duration / len(basis.grid)
    first = Excitation(rows, basis, CRITERIA["information"], Scene(reach.basis, scale),
                    samples / noise**2, known)
    problem = first if criterion == "information" else replace(
        first, criterion=CRITERIA[criterion],
        weights=samples * measured if condition else first.weights,
        known=plain if condition else known)
    best = search(problem, first, starts, seed, links, client)[0]
    if best.basis.period < basis.duration:
        apart.append(f"the motion repeats every {best.basis.period:g} s: quicker, it tells more")
    return Plan(rows, best.basis, best.X, criterion, noise, often, known, plain, reach, scale,
                (*rows.room.notes, *apart, *_said(rows, reach.open, sigma, prior, often)),
                best.amplitude)


def earlier(model: Model, prior: Information | None, weights: Floats) -> Floats:
    """Σ_j w_j² R_jᵀR_j of earlier logs, (columns, columns); gains that are found too taken off."""
    p = len(model.names)
    if prior is None:
        return np.zeros((p, p))
    H = np.zeros((len(prior.columns), len(prior.columns)))
    for j, support in enumerate(prior.support):
        R = prior.factor(j)
        if R.size and weights[j] > 0:
            H[np.ix_(support, support)] += weights[j]**2 * (R.T @ R)[:-1, :-1]
    if len(H) > p:                         # what is left when the gains are whatever they are
        H = H[:p, :p] - H[:p, p:] @ np.linalg.pinv(H[p:, p:], hermitian=True) @ H[p:, :p]
    return H


def sizes(rows: MotionRows, hidden: tuple[bool, ...]) -> Floats:
    """The unknowns' sizes, by the file; of small ones a part of the usual one of their kind."""
    names, x = rows.model.names, np.abs(rows.expected)
    kinds = np.array([_kind(n) for n in names])
    found = np.array(x)
    for kind in set(kinds):
        same = kinds == kind
        usual = np.median(x[same][x[same] > 0]) if np.any(x[same] > 0) else 1.0
        found[same] = np.maximum(x[same], SMALL * usual)
    return np.where(hidden, np.inf, found)


def _kind(name: str) -> str:
    """m, mc, I, rotor, viscous …"""
    last = name.rpartition(".")[2].rstrip("0123456789")
    return "mc" if last.startswith("mc") else "I" if last.startswith("I") else last


def _noise(rows: MotionRows, sigma: ArrayLike | None, prior: Information | None) -> Floats:
    """σ of every torque; ∞ of a floating base, which no motor measures, unless it is given."""
    model, room = rows.model, rows.room
    motors, nv = list(model.actuated), model.robot.nv
    found = np.full(nv, np.inf)
    if sigma is not None:
        x = real_array(sigma, (), "excite: sigma")
        if x.shape not in ((), (len(motors),), (nv,)) or not np.all(x > 0):
            raise ArgumentError(f"excite: sigma must be positive, one number or {len(motors)}, one "
                                f"for each joint that has a motor, not {sigma!r}")
        if x.shape == (nv,):
            return np.array(x)
        found[motors] = x
        return found
    limit = room.full["torque"]
    rng = np.random.default_rng(0)
    q = rng.uniform(room.lower, room.upper, (200, len(room.at)))
    v, a = (rng.uniform(-0.7, 0.7, q.shape) * x for x in (room.velocity, room.acceleration))
    usual = np.sqrt(np.mean(rows.torques_at(q, v, a)**2, axis=0))
    usual = np.maximum(usual, 1e-3 * usual.max(initial=0.0)) + (usual.max(initial=0.0) == 0)
    found[motors] = NOISE * np.where(np.isfinite(limit), limit, usual)[motors]
    if prior is not None:
        _, weights = weighted(prior)
        seen = weights > 0
        found[seen] = 1 / weights[seen]
    return found


def _said(rows: MotionRows, hidden: tuple[bool, ...], sigma: ArrayLike | None,
          prior: Information | None, rate: float) -> list[str]:
    """What was assumed, and what no motion tells."""
    notes = []
    if sigma is None:
        notes.append("noise of the torques: " + (
            "1 % of their limits, or of their usual size" if prior is None
            else "what the earlier logs leave"))
    notes.append(f"{rate:g} samples a second have noise of their own")
    dark = [n for n, h in zip(rows.model.names, hidden, strict=True) if h]
    if dark:
        notes.append(f"no motion of this kind tells {', '.join(dark)}; other logs or known values "
                     "would")
    return notes


# ---------------------------------------------------------------------- checking
def _check(model: Any, criterion: Any, kind: Any, limits: Any, prior: Any) -> None:
    if not isinstance(model, Model):
        raise ArgumentError(f"excite: model must be an idn.Model, not {type(model).__name__}")
    if criterion not in CRITERIA:
        raise UnknownName(f"excite: no criterion {criterion!r}; "
                          f"{suggestion(str(criterion), CRITERIA)}")
    if kind not in KINDS:
        raise UnknownName(f"excite: no kind {kind!r}; {suggestion(str(kind), KINDS)}")
    if limits is not None and not isinstance(limits, Limits):
        raise ArgumentError(f"excite: limits must be idn.Limits(…), not {limits!r}")
    if prior is not None and not (isinstance(prior, Information)
                                  and prior.model.names == model.names):
        raise ArgumentError("excite: prior must be idn.information(…) of the same model")


def _positive(x: Any, name: str, unit: str) -> float:
    if isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0 < x < np.inf:
        raise ArgumentError(f"excite: {name} must be positive, in {unit}, not {x!r}")
    return float(x)


def _count(x: Any, name: str, least: int) -> int:
    if isinstance(x, bool) or not isinstance(x, int | np.integer) or x < least:
        raise ArgumentError(f"excite: {name} must be a whole number, {least} at least, not {x!r}")
    return int(x)
