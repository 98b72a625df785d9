"""Motions by several starts of L-BFGS, the best of them refined, then made strict by amplitude.

    q_0 + Φ(t) X  ⟶  q_0 + α Φ(t) X,   0 < α ≤ 1

A smaller amplitude keeps the motion at rest at its ends and lowers every use of a limit, down to
that of standing at q_0.

Cites: [ByrdLuNocedalZhu1995].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from closedform.applications.cluster.blocks import Work, computed
from closedform.applications.identification.excitation.certificate import torque_rates, within
from closedform.applications.identification.excitation.criteria import condition
from closedform.applications.identification.excitation.motions import Basis, repeated
from closedform.applications.identification.excitation.problem import Excitation
from closedform.applications.identification.excitation.rows import MotionRows
from closedform.arrays import Floats
from closedform.errors import ArgumentError

if TYPE_CHECKING:
    from closedform.applications.identification.excitation.collision import Capsules

ROUGH = (30.0, 8.0, 100)
"""The first try of every start: weight of limits, sharpness of norms, steps."""
FINE = ((300.0, 16.0, 150), (3000.0, 40.0, 350))
"""What the best of them go through."""
REFINED = 4
"""How many are refined."""
SHORTER = 0.98
"""By how much the amplitude shrinks while a limit is not kept."""
DENSE = 4001
SLACK = 0.995
"""Of the torque's limit at samples before the times between them are asked for: they are few."""


class Best(NamedTuple):
    """A motion within all limits at all times."""

    basis: Basis
    X: Floats
    value: float                 # of the criterion
    amplitude: float             # what was left of it
    evaluations: int


class SearchStart(NamedTuple):
    """Where a search starts from, or goes on from."""

    number: int
    basis: Basis
    x: Floats
    value: float = np.inf
    evaluations: int = 0

    def __str__(self) -> str:
        return f"start {self.number}"


def search(problem: Excitation, first: Excitation, starts: int, seed: int,
           links: Capsules | None = None, client: Any = None) -> list[Best]:
    """Motions within the limits, the best first; every second start goes by `first` at first.

    Starts take turns with what repeats within the time, unless the condition number is the goal:
    quicker motion tells more, but spoils that.
    """
    stands(problem.rows, links)
    rng = np.random.default_rng(seed)
    bases = [problem.basis] if problem.criterion is condition else repeated(problem.basis)
    drawn = []
    for n in range(starts):
        basis = bases[n // 2 % len(bases)]
        x = 0.5 * rng.normal(size=basis.size * len(problem.rows.room.at))
        drawn.append(SearchStart(n, basis, x))
    other = None if first is problem else first
    rough = [found for _, found in computed(
        partial(_tried, problem, other, links), drawn, Work(client, what="exciting", named=False))]
    rough.sort(key=lambda r: r.value)
    fine = [found for _, found in computed(
        partial(_refined, problem, links), rough[:REFINED],
        Work(client, what="refining", named=False))]
    return sorted(fine, key=lambda f: f.value)


def _tried(problem: Excitation, first: Excitation | None, links: Capsules | None,
           start: SearchStart) -> SearchStart:
    x = start.x
    if start.number % 2 and first is not None:
        x, _, _ = _improved(replace(first, basis=start.basis), x, ROUGH, links)
    return SearchStart(start.number, start.basis,
                 *_improved(replace(problem, basis=start.basis), x, ROUGH, links))


def _refined(problem: Excitation, links: Capsules | None, start: SearchStart) -> Best:
    own = replace(problem, basis=start.basis)
    x, count = start.x, start.evaluations
    for stage in FINE:
        x, _, more = _improved(own, x, stage, links)
        count += more
    X, amplitude = strict(own.rows, own.basis, own.coefficients(x), links)
    H = own.scene.basis.T @ own.matrix(own.rows.rows(*own.motion(X))) @ own.scene.basis
    value, _ = own.criterion(own.scene, H)
    return Best(own.basis, X, value, amplitude, count)


def _improved(problem: Excitation, x: Floats, stage: tuple[float, float, int],
              links: Capsules | None) -> tuple[Floats, float, int]:
    rho, sharp, steps = stage
    one = replace(problem, scene=replace(problem.scene, sharp=sharp))
    whole = one if links is None else links.added(one)
    done = minimize(partial(whole, rho=rho), x, jac=True, method="L-BFGS-B",
                    options={"maxiter": steps, "maxcor": 20})
    return np.asarray(done.x), float(done.fun), int(done.nfev)


def stands(rows: MotionRows, links: Capsules | None) -> None:
    """An error if the robot cannot stand at the start."""
    nothing = np.zeros((1, len(rows.room.at)))
    tau = rows.torques_at(rows.room.home[None], nothing, nothing)[0]
    heavy = np.abs(tau) >= rows.room.torque
    if heavy.any():
        j = int(np.argmax(heavy))
        raise ArgumentError(f"excite: standing at the start takes {abs(tau[j]):.4g} of "
                            f"{rows.model.velocity_names[j]}, more than its limit less the margin, "
                            f"{rows.room.torque[j]:.4g}; start elsewhere or give torque limits")
    if links is not None:
        links.stand(rows.room.home)


def strict(rows: MotionRows, basis: Basis, X: Floats,
           links: Capsules | None) -> tuple[Floats, float]:
    """The motion with the largest amplitude tried at which every limit is kept at all times."""
    X = X * np.minimum(1.0, linear_amplitudes(rows, basis, X))
    t, amplitude = np.linspace(0, basis.duration, DENSE), 1.0
    for _ in range(2000):
        made = amplitude * X
        tau = torques_of(rows, basis, made, t)
        if np.all(np.abs(tau) <= SLACK * rows.room.torque) and certain(rows, basis, made) \
                and (links is None or links.keep(basis, made)):
            return made, amplitude
        amplitude *= SHORTER
    raise ArgumentError("excite: no motion about the start keeps the limits; "
                        "start elsewhere or give wider limits")


def linear_amplitudes(rows: MotionRows, basis: Basis, X: Floats) -> Floats:
    """The amplitude of each joint at which its position, velocity or acceleration is at a limit."""
    room = rows.room
    low, high = basis.range(X, 0)
    pairs: Sequence[tuple[Floats, Floats]] = (
        (room.upper - room.home, high), (room.home - room.lower, -low),
        (room.velocity, basis.largest(X, 1)), (room.acceleration, basis.largest(X, 2)))
    each = [limit / np.maximum(size, 1e-300) for limit, size in pairs]
    return np.min(each, axis=0) * (1 - 1e-12)


def torques_of(rows: MotionRows, basis: Basis, X: Floats, t: Floats) -> Floats:
    """τ, (times, nv), of the robot as expected on a motion."""
    return rows.torques_at(rows.room.home + basis.at(t, 0) @ X, basis.at(t, 1) @ X,
                           basis.at(t, 2) @ X)


def certain(rows: MotionRows, basis: Basis, X: Floats) -> bool:
    """Whether the torques keep their limits at all times."""
    return within(lambda t: np.abs(torques_of(rows, basis, X, t)), basis.duration,
                  rows.room.torque, torque_rates(rows, basis, X))
