"""An identified robot: the numbers, their intervals, what is not identified, what is left.

    fit(info)                       bodies that can be, near the file's, weight from held-out blocks
    fit(info, method="weighted")    plain numbers, one weight for each torque
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from closedform.applications.identification.estimate import consistent
from closedform.applications.identification.estimate.least_squares import (
    Equations,
    equations,
    joint_residuals,
    joint_weights,
    noise,
    robust_blocks,
    torque_squares,
    weighted,
)
from closedform.applications.identification.estimate.uncertainty import (
    jackknife,
    naive,
    spread,
    unseen,
)
from closedform.applications.identification.information import Information
from closedform.applications.identification.model import Model
from closedform.arrays import Floats
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.maths.identification.pseudo_inertia import pseudo_inertia, repaired
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot

METHODS = ("least_squares", "weighted", "huber", "total", "consistent")
WEIGHTS = 10.0 ** np.arange(-8, -1)
"""Weights of the prior that are tried."""
FOLDS = 5
VAGUE = 0.3
"""A parameter whose interval's sd is above so much of its value is not identified in practice."""


class Row(NamedTuple):
    """One unknown: what it was before, what it is, how sure that is."""

    name: str
    prior: float
    value: float
    sd: float
    naive_sd: float
    low: float
    high: float
    identified: bool


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """What was found. `x` are the columns' numbers, `standard` those of bodies and joints."""

    info: Information
    method: str
    x: Floats
    standard: Floats
    prior: Floats                       # standard parameters before
    sd: Floats                          # of x, by leaving out blocks
    naive_sd: Floats
    reach: Floats                       # half of the 95 % interval
    sigma: Floats                       # noise of each torque
    weights: Floats
    equations: Equations
    by_data: Floats                     # x without prior
    weight: float = 0.0                 # of the prior
    certificate: consistent.Certificate | None = None
    held_out: tuple[tuple[float, float], ...] = ()   # (weight, held-out error) that were tried

    @property
    def model(self) -> Model:
        return self.info.model

    @cached_property
    def table(self) -> tuple[Row, ...]:
        """A row for each unknown."""
        before = np.zeros(len(self.x))
        before[:len(self.model.L)] = self.model.L @ self.prior
        vague = set(self.unidentified)
        return tuple(Row(n, *map(float, (b, x, s, m, x - r, x + r)), n not in vague)
                     for n, b, x, s, m, r in zip(self.info.columns, before, self.x, self.sd,
                                                 self.naive_sd, self.reach, strict=True))

    @cached_property
    def unidentified(self) -> tuple[str, ...]:
        """Unknowns that the data leave open, although other motions would tell them.

        Their sd is above 30 % of their value and would be seen in the torques, or the prior has
        moved them by more than their sd.
        """
        large = self.sd > VAGUE * np.abs(self.x)
        matters = self.sd * self.equations.scale > 0.01 * np.sqrt(self.equations.size)
        moved = np.abs(self.x - self.by_data) > self.sd
        return tuple(n for n, open_ in zip(self.info.columns, large & matters | moved, strict=True)
                     if open_)

    @cached_property
    def unidentifiable(self) -> tuple[str, ...]:
        """Parameters that no motion tells apart: without effect, or in sums with others."""
        base = self.model.base
        return (*base.no_effect, *base.regrouped)

    @property
    def _gain_values(self) -> Floats:
        return self.x[len(self.model.L):]

    @property
    def gains(self) -> dict[str, float]:
        """Drive gains that were found, Nm/A at the motor."""
        names = self.info.columns[len(self.model.L):]
        return dict(zip((n.removesuffix(".gain") for n in names), map(float, self._gain_values),
                        strict=True))

    @cached_property
    def residuals(self) -> dict[str, tuple[float, float]]:
        """(%, rms in Nm or N) of every torque on the data of the fit."""
        r, z = joint_residuals(self.info, self.x), torque_squares(self.info)
        rows = np.array([max(self.info.rows(j), 1) for j in range(len(r))])
        percent = 100 * np.sqrt(r / np.where(z > 0, z, np.inf))
        return {n: (float(a), float(b)) for n, a, b in
                zip(self.model.velocity_names, percent, np.sqrt(r / rows), strict=True)}

    @property
    def total(self) -> float:
        """100 |τ − τ̂| / |τ| on the data of the fit."""
        r, z = joint_residuals(self.info, self.x).sum(), torque_squares(self.info).sum()
        return float(100 * np.sqrt(r / z)) if z > 0 else float("inf")

    @cached_property
    def smallest_eigenvalue(self) -> float:
        """Of all pseudo-inertia matrices, relative to their largest: above zero, bodies can be."""
        values = [np.linalg.eigvalsh(pseudo_inertia(self.standard[i:i + 10]))
                  for i in range(0, 10 * len(self.model.body.bodies), 10)]
        return float(min(v[0] / max(abs(v[-1]), 1e-300) for v in values))

    # ------------------------------------------------------------------ results
    @cached_property
    def robot(self) -> Robot:
        """The robot with the inertias, rotors and friction that were found, without payload."""
        from closedform.applications.identification.result import identified_robot
        return identified_robot(self.model, self.standard)

    @cached_property
    def payload(self) -> Inertia | None:
        """The load at the model's payload frame."""
        if self.model.payload is None:
            return None
        first = len(self.model.body.parameter_names)
        return Inertia.from_parameters(self.standard[first:first + 10])

    def report(self, path: str | Path, trial: Any = None) -> Path:
        """Write the page, with a validation's torques if one is given."""
        from closedform.applications.identification.output.page import write_page
        return write_page(self, path, trial)

    def to_toml(self, path: str | Path) -> Path:
        """Write all that was found: also what a URDF cannot hold."""
        from closedform.applications.identification.output.files import write_toml
        return write_toml(self, path)

    def __repr__(self) -> str:
        return (f"<fit of {self.model.robot.name}: {self.method}, {len(self.x)} unknowns, "
                f"{self.total:.2f} % left>")


def fit(info: Information, method: str = "consistent", prior: Robot | None = None,
        weight: float | str = "auto") -> Fit:
    """The robot that logs describe.

    `method`: "least_squares", "weighted" by the noise of each torque, "huber" (blocks that fit
    badly count less), "total" least squares, or "consistent": bodies that can be, near those of
    `prior` (the model's robot), whose `weight` is found from held-out blocks.
    """
    if not isinstance(info, Information):
        raise ArgumentError(f"fit: info must be idn.information(…), not {type(info).__name__}")
    if method not in METHODS:
        raise UnknownName(f"fit: no method {method!r}; {suggestion(str(method), METHODS)}")
    if info.gains and not len(info.model.equalities[1]):
        raise ArgumentError("fit: gains of drives need a known load: "
                            'Model(payload="tool", known={"tool.m": kg})')
    before = prior_parameters(info.model, prior)
    plain = np.ones(len(info.support))
    if method in ("least_squares", "total"):
        eq = equations(info, plain)
        x = eq.solve() if method == "least_squares" else eq.total()
        return _plain(info, method, eq, x, plain, before)
    x, weights = weighted(info)
    if method == "weighted":
        return _plain(info, method, equations(info, weights), x, weights, before)
    if method == "huber":
        x, blocks = robust_blocks(info, weights, x)
        return _plain(info, method, equations(info, weights, blocks), x, weights, before, blocks)
    return _consistent(info, weights, before, weight)


def prior_parameters(model: Model, prior: Robot | None = None) -> Floats:
    """s of a prior: inertias repaired where no body has them, rotors and friction of the file."""
    source = model.robot if prior is None else prior
    if not isinstance(source, Robot) or source.body_names != model.robot.body_names:
        raise ArgumentError("fit: prior must be a cf.Robot with the bodies of the model's robot")
    s = np.zeros(len(model.standard_names))
    n = len(source.bodies)
    for k in range(n):
        s[10 * k:10 * k + 10] = repaired(source.bodies[k].inertia.array)
    rotors = replace_rotors(model, source).parameters[10 * n:]
    s[10 * n:10 * n + len(rotors)] = rotors
    if model.payload is not None:
        first = len(model.body.parameter_names)
        mass = float(dict(model.known).get(f"{model.load_name}.m", 1.0))
        s[first:first + 10] = repaired(np.array([mass, *9 * [0.0]]))
    return s


def replace_rotors(model: Model, source: Robot) -> Robot:
    """A robot's own numbers in the structure of the model's."""
    bodies = []
    for own, of in zip(source.bodies, model.body.bodies, strict=True):
        wanted, given = of.joint.rotor_inertia, own.joint.rotor_inertia
        r = None if wanted is None else given if given is not None else wanted
        bodies.append(replace(own, joint=replace(own.joint, rotor_inertia=r)))
    return replace(source, bodies=tuple(bodies))


def _plain(info: Information, method: str, eq: Equations, x: Floats, weights: Floats,
           prior: Floats, blocks: Floats | None = None) -> Fit:
    """A fit without prior; the standard parameters are those nearest the prior."""
    H = eq.R.T @ eq.R
    left_out = jackknife(info, weights, x, H, np.eye(len(x)), blocks)
    sd, reach = _open(spread(left_out), eq)
    L = info.model.L
    standard = prior + np.linalg.pinv(L) @ (x[:len(L)] - L @ prior)
    sigma = noise(info, x)
    scaled = equations(info, joint_weights(sigma, info))
    return Fit(info, method, x, standard, prior, sd, naive(scaled.R.T @ scaled.R), reach, sigma,
               weights, eq, x)


def _consistent(info: Information, weights: Floats, prior: Floats, weight: float | str) -> Fit:
    eq = equations(info, weights)
    tried: tuple[tuple[float, float], ...] = ()
    if weight == "auto":
        weight, tried = chosen_weight(info, weights, prior)
    if not isinstance(weight, int | float) or not weight > 0:
        raise ArgumentError(f'fit: weight must be "auto" or a positive number, not {weight!r}; '
                            "without a prior masses run away")
    problem = consistent.Problem(info.model, eq, prior, float(weight))
    y, H, certificate = consistent.solved(problem)
    to_x = consistent.to_unknowns(problem)
    x = to_x @ y
    size = eq.size
    own = spread(jackknife(info, weights, y, H * size / 2, to_x) @ to_x.T)
    by_data = eq.solve()
    data = spread(jackknife(info, weights, by_data, eq.R.T @ eq.R, np.eye(len(x))))
    sd, reach = _open(np.maximum(own, data), eq)      # a prior makes no interval narrower
    return Fit(info, "consistent", x, y[:len(prior)], prior, sd, naive(eq.R.T @ eq.R), reach,
               noise(info, x), weights, eq, by_data, float(weight), certificate, tried)


def chosen_weight(info: Information, weights: Floats,
                  prior: Floats) -> tuple[float, tuple[tuple[float, float], ...]]:
    """The largest weight whose held-out error is within one standard error of the least."""
    folds = np.array([b.number for b in info.blocks])
    count = int(folds.max()) + 1
    fold = folds * FOLDS // max(count, 1)
    errors = []
    for k in range(FOLDS):
        inside = [i for i in range(len(folds)) if fold[i] != k]
        outside = [i for i in range(len(folds)) if fold[i] == k]
        if not inside or not outside:
            continue
        train = equations(_part(info, inside), weights)
        test = equations(_part(info, outside), weights)
        y: Floats | None = None
        row = []
        for w in WEIGHTS[::-1]:
            problem = consistent.Problem(info.model, train, prior, float(w))
            y, _, _ = consistent.solved(problem, y)
            row.append(test.residual(consistent.to_unknowns(problem) @ y) / max(test.size, 1e-300))
        errors.append(row[::-1])
    table = np.array(errors)
    mean = table.mean(axis=0)
    best = int(np.argmin(mean))
    worse = table - table[:, best:best + 1]
    error = np.std(worse, axis=0, ddof=1) / np.sqrt(len(table))
    within = np.flatnonzero(worse.mean(axis=0) <= error)
    pairs = tuple((float(w), float(100 * np.sqrt(m))) for w, m in zip(WEIGHTS, mean, strict=True))
    return float(WEIGHTS[within[-1]]), pairs


def _open(spreads: Any, eq: Equations) -> tuple[Floats, Floats]:
    """sd and reach, without end for what the data do not see."""
    blind = unseen(eq.R)
    sd, reach = (np.where(blind, np.inf, x) for x in spreads)
    return sd, reach


def _part(info: Information, at: list[int]) -> Information:
    return replace(info, blocks=tuple(info.blocks[i] for i in at))

