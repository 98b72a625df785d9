"""An identified robot: the numbers, their intervals, what is not identified, what is left.

    fit(info)                       bodies that can be, near the file's, weight from held-out blocks
    fit(info, method="weighted")    plain numbers, one weight for each torque
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from closedform.applications.counts import is_number
from closedform.applications.identification.estimate import consistent, second_pass
from closedform.applications.identification.estimate.found import Fit, Writers
from closedform.applications.identification.estimate.least_squares import (
    Equations,
    equations,
    joint_weights,
    noise,
    robust_blocks,
    weighted,
    with_gains,
)
from closedform.applications.identification.estimate.prior_weight import PriorWeight
from closedform.applications.identification.estimate.second_pass import ControlLaw
from closedform.applications.identification.estimate.standard import standard_of
from closedform.applications.identification.estimate.uncertainty import (
    jackknife,
    naive,
    spread,
    unseen,
)
from closedform.applications.identification.model import Model
from closedform.applications.identification.output.files import write_toml
from closedform.applications.identification.output.page import write_page
from closedform.applications.identification.triangles import Information
from closedform.arrays import Floats
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.maths.identification.pseudo_inertia import repaired
from closedform.model.robot import Robot

METHODS = ("least_squares", "weighted", "huber", "total", "consistent", "generalised",
           "instrumental", "didim")
DIDIM_STEPS = 8
NO_TORQUE = 1e-8
"""Square of torques, of what a known load alone makes, that is none."""


def fit(info: Information, method: str = "consistent", prior: Robot | None = None,
        weight: float | str = "auto", *, period: float | None = None,
        law: ControlLaw | None = None) -> Fit:
    """The robot that logs describe.

    `method`: "least_squares", "weighted" by the noise of each torque, "huber" (blocks that fit
    badly count less), "total" least squares, or "consistent": bodies that can be, near those of
    `prior` (the model's robot), whose `weight` is found from held-out blocks. These look at the
    logs again: "generalised" whitens residuals, "instrumental" takes the other periods of a motion
    of `period` seconds as instruments, "didim" the motion that the robot makes under the control
    `law` (t, q, v) -> torques.
    """
    if not isinstance(info, Information):
        raise ArgumentError(f"fit: info must be idn.information(…), not {type(info).__name__}")
    if method not in METHODS:
        raise UnknownName(f"fit: no method {method!r}; {suggestion(str(method), METHODS)}")
    _refuse_untold_gains(info)
    before = prior_parameters(info.model, prior)
    found = _fitted(info, method, before, weight, period, law)
    return replace(found, writers=Writers(write_page, write_toml))


def _refuse_untold_gains(info: Information) -> None:
    """Currents alone tell no scale: all of a robot may be heavier, and the gains larger."""
    if not info.gains:
        return
    if not np.any(info.model.decided[1]):
        raise ArgumentError("fit: gains of drives need a known load: "
                            'Model(payload="tool", known={"tool.m": kg})'
                            + ("; what is known is in sums with unknowns, which take any scale"
                               if len(info.model.equalities[1]) else ""))
    eq = equations(info, np.ones(len(info.support)))
    known = eq.R @ eq.start
    if eq.size <= NO_TORQUE * float(known @ known):
        raise ArgumentError("fit: the logs do not tell the gains of drives: links take up the "
                            "known load, which is on in all of them; give logs without it too, "
                            "loaded=[False, True]")


def _fitted(info: Information, method: str, before: Floats, weight: float | str,
            period: float | None, law: ControlLaw | None) -> Fit:
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
    if method == "consistent":
        return _consistent(info, weights, before, weight)
    return _again(info, method, before, weight, period, law)


def _again(info: Information, method: str, before: Floats, weight: float | str,
           period: float | None, law: ControlLaw | None) -> Fit:
    """The methods that look at the logs again."""
    if method == "generalised":
        info = second_pass.whitened(info, weighted(info)[0])
        x, weights = weighted(info)
        return _plain(info, method, equations(info, weights), x, weights, before)
    if method == "instrumental":
        if period is None:
            raise ArgumentError("fit: method 'instrumental' needs period=, seconds of a repetition")
        made = second_pass.instrumental(info, period)
        weights = joint_weights(noise(info, made.x), info)
        eq = equations(info, weights)
        sd, reach = _open(spread(made.left_out), eq)
        return replace(_plain(info, method, eq, made.x, weights, before), sd=sd, reach=reach,
                       naive_sd=made.naive)
    if law is None:
        raise ArgumentError("fit: method 'didim' needs law=, a function (t, q, v) -> torques")
    found = _consistent(info, weighted(info)[1], before, weight)
    for _ in range(DIDIM_STEPS):
        moved = second_pass.simulated_information(info, found.standard, law)
        new = _consistent(moved, weighted(moved)[1], before, found.weight)
        done = np.linalg.norm(new.x - found.x) <= 1e-3 * np.linalg.norm(found.x)
        found = replace(new, method=method)
        if done:
            break
    return found


def prior_parameters(model: Model, prior: Robot | None = None) -> Floats:
    """s of a prior: inertias repaired where no body has them, rotors and friction of the file."""
    source = model.robot if prior is None else prior
    if not isinstance(source, Robot) or source.body_names != model.robot.body_names:
        raise ArgumentError("fit: prior must be a cf.Robot with the bodies of the model's robot")
    s = np.zeros(len(model.standard_names))
    n = len(source.bodies)
    given = np.array([body.inertia.array for body in source.bodies]).reshape(n, 10)
    if not given[:, 0].any():
        given[:, 0] = 1.0                       # a file without masses: bodies of a kilogram
    for k in range(n):
        s[10 * k:10 * k + 10] = repaired(given[k])
    rotors = replace_rotors(model, source).parameters[10 * n:]
    s[10 * n:10 * n + len(rotors)] = rotors
    if model.payload is not None:
        first = len(model.body.parameter_names)
        mass = float(dict(model.known).get(f"{model.load_name}.m", 1.0))
        s[first:first + 10] = _somewhere_near(mass)
    return s


def _somewhere_near(mass: float) -> Floats:
    """A load's ten: a ball of water that touches the frame's origin, on any side of it."""
    ball = repaired(np.array([mass, *9 * [0.0]]))
    return np.array([mass, 0, 0, 0, *(6 * ball[4:])])      # 2/5 m r², of which all sides make six


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
    """A fit without prior; the standard parameters are those near the prior, bodies if any can."""
    sd, reach = _open(spread(jackknife(info, weights, x, eq, blocks)), eq)
    standard = standard_of(info.model, x, prior, eq)
    sigma = noise(info, x)
    scaled = equations(info, joint_weights(sigma, info))
    return Fit(info, method, x, standard, prior, sd, naive(scaled), reach, sigma,
               weights, eq, x)


def _consistent(info: Information, weights: Floats, prior: Floats, weight: float | str) -> Fit:
    if info.gains:
        return _with_found_gains(info, prior, weight)
    eq = equations(info, weights)
    by_data = eq.solve()
    left_out = jackknife(info, weights, by_data, eq)
    problem, near = consistent.NearPrior(info.model, eq, prior), None
    tried: tuple[tuple[float, float], ...] = ()
    if weight == "auto":
        weight, near, tried = PriorWeight(info, weights, problem, left_out).found()
    if not is_number(weight):
        raise ArgumentError(f'fit: weight must be "auto" or a positive number, not {weight!r}; '
                            "without a prior masses run away")
    y, certificate = consistent.solved(problem, float(weight), near)
    x = problem.to_x @ y
    sd, reach = _open(spread(left_out), eq)        # a prior makes nothing surer,
    sd = np.hypot(sd, x - by_data)                 # and what it moves may be wrong
    return Fit(info, "consistent", x, y[:len(prior)], prior, sd, naive(eq), reach,
               noise(info, x), weights, eq, by_data, float(weight), certificate, tried)


def _with_found_gains(info: Information, prior: Floats, weight: float | str) -> Fit:
    """Gains by least squares, since a prior would pull them; bodies and friction with these."""
    plain = _plain(info, "least_squares", equations(info, np.ones(len(info.support))),
                   equations(info, np.ones(len(info.support))).solve(),
                   np.ones(len(info.support)), prior)
    known = with_gains(info, plain.x)
    found = _consistent(known, weighted(known)[1], prior, weight)
    p = len(found.x)
    return replace(found, gain_rows=plain.table[p:], sd=np.maximum(found.sd, plain.sd[:p]),
                   reach=np.maximum(found.reach, plain.reach[:p]))


def _open(spreads: Any, eq: Equations) -> tuple[Floats, Floats]:
    """sd and reach, without end for what the data do not see."""
    blind = unseen(eq)
    sd, reach = (np.where(blind, np.inf, x) for x in spreads)
    return sd, reach

