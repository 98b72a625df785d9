"""Which quantities of which robots are computed by loops, and the loops: recorded steps and tables.

Loops take robots of joints with one coordinate each, fixed ones between them; see `units`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from closedform.applications.compile.forms import Forms
from closedform.applications.compile.requests import Gravity, Request
from closedform.applications.compile.units import Units, units_of
from closedform.arrays import Array
from closedform.maths.sweeps import articulated, bodies, pairs
from closedform.model.robot import Robot
from closedform.program.pipeline import optimised
from closedform.program.program import Program, Slot, size
from closedform.program.record import record
from closedform.program.sweeps import ArrayAt, ColumnLoop, Order, PairLoop, Sweep, Sweeps

SHAPES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("q", "v", "a", "tau", "rotor", "mass", "rest", "inverse", "b", "rests"), ()),
    **dict.fromkeys(("p0", "pb", "joint", "o", "d", "h", "p", "W", "a_O", "c_O", "gravity"), (3,)),
    **dict.fromkeys(("R0", "Rb", "L", "R", "G", "N_O", "D_O"), (3, 3)),
    **dict.fromkeys(("S", "V", "VP", "A", "AP", "dPsi", "ddPsi", "f", "Sigma", "U", "UA", "Z", "Q",
                     "D", "K", "F", "delta", "deltas", "wrenches"), (6,)),
    "body": (10,), "I": (21,),
}
"""What each array has for a body."""

WIDE = {"F": 6, "rests": 1, "deltas": 6}
"""What a column needs of every body."""

Steps = tuple[tuple[Order, Callable[..., Any]], ...]


class LoopPlan(NamedTuple):
    """How a row is computed: steps, then pairs, then columns.

    `depth`: joints on the longest way to the world from which on loops take less time than
    straight-line code, or code that compiles at once is worth more.
    `results`: what steps call the outputs. Rotors are added to the output `rotors`.
    """

    depth: int
    steps: Steps
    results: Mapping[str, str] = {}
    pairs: tuple[Callable[..., Any], ...] = ()
    rotors: str = ""
    columns: Mapping[str, bool] = {}


_POSES: Steps = (
    (Order.ONCE, bodies.world), (Order.MAP, bodies.local), (Order.OUTWARDS, bodies.pose),
    (Order.MAP, bodies.screw))
_MOVING: Steps = ((Order.OUTWARDS, bodies.velocity), (Order.MAP, bodies.rates))
_RATES: Steps = (*_POSES, *_MOVING)
_MOTION: Steps = (*_RATES, (Order.OUTWARDS, bodies.acceleration))
_BIAS: Steps = (*_RATES, (Order.OUTWARDS, bodies.bias_acceleration))
_TORQUE: Steps = ((Order.INWARDS, bodies.force_behind), (Order.MAP, bodies.bias_torque))
_DERIVATIVES: Steps = ((Order.MAP, bodies.inertia_and_force), (Order.INWARDS, bodies.all_behind),
                       (Order.MAP, bodies.columns))
_SOLVED: Steps = ((Order.ONCE, articulated.at_rest), (Order.MAP, articulated.articulated),
                  (Order.INWARDS, articulated.eliminated), (Order.OUTWARDS, articulated.solved))
_PASSIVE: Steps = (*_RATES, (Order.MAP, bodies.inertia_and_passive),
                   (Order.INWARDS, bodies.passive_behind), (Order.MAP, bodies.passive_columns))
_CHRISTOFFEL: Steps = (*_RATES, (Order.MAP, bodies.inertia_and_flow),
                       (Order.INWARDS, bodies.flow_behind), (Order.MAP, bodies.coriolis_columns))
_WEIGHTS: Steps = ((Order.MAP, bodies.weight), *_TORQUE)
_C = pairs.coriolis_before, pairs.coriolis_behind
_MC = pairs.matrices_before, pairs.matrices_behind
_SLOPES = pairs.derivatives_before, pairs.derivatives_behind

PLANS: Mapping[str, LoopPlan] = {
    "inverse_dynamics": LoopPlan(
        101, (*_MOTION, (Order.MAP, bodies.force), (Order.INWARDS, bodies.force_behind),
              (Order.MAP, bodies.torque)), {"tau": "inverse_dynamics"}),
    "bias": LoopPlan(101, (*_BIAS, (Order.MAP, bodies.force), *_TORQUE), {"tau": "bias"}),
    "coriolis_torque": LoopPlan(
        101, ((Order.ONCE, bodies.weightless_world), *_BIAS[1:], (Order.MAP, bodies.force),
              *_TORQUE), {"tau": "coriolis_torque"}),
    "gravity_torque": LoopPlan(101, (*_POSES, *_WEIGHTS), {"tau": "gravity_torque"}),
    "forward_dynamics": LoopPlan(41, (*_BIAS, *_SOLVED), {"a": "forward_dynamics"}),
    "mass_matrix": LoopPlan(24, (
        *_POSES, (Order.MAP, bodies.inertia), (Order.INWARDS, bodies.inertia_behind),
        (Order.MAP, bodies.momentum_of_screw)), {"M": "mass_matrix"},
        (pairs.mass_before, pairs.mass_behind), "M"),
    "coriolis_matrix": LoopPlan(24, _PASSIVE, {"C": "coriolis_matrix"}, _C),
    "christoffel_coriolis_matrix": LoopPlan(
        24, _CHRISTOFFEL, {"C": "christoffel_coriolis_matrix"}, _C),
    "passive_dynamics_matrices": LoopPlan(24, (*_PASSIVE, *_WEIGHTS), {"tau": "g"}, _MC, "M"),
    "christoffel_dynamics_matrices": LoopPlan(
        24, (*_CHRISTOFFEL, *_WEIGHTS), {"tau": "g"}, _MC, "M"),
    "inverse_dynamics_derivatives": LoopPlan(
        24, (*_MOTION, *_DERIVATIVES), {}, _SLOPES, "dtau_da"),
    "inverse_dynamics_and_derivatives": LoopPlan(
        24, (*_MOTION, *_DERIVATIVES, (Order.MAP, bodies.torque)), {}, _SLOPES, "dtau_da"),
    "forward_dynamics_derivatives": LoopPlan(
        24, (*_BIAS, *_SOLVED, (Order.OUTWARDS, bodies.acceleration), *_DERIVATIVES), {},
        (pairs.slopes_before, pairs.slopes_behind), "",
        {"da_dq": False, "da_dv": False, "da_dtau": True}),
}
"""The rows that loops compute."""


def sweeps_of(forms: Forms, requests: Sequence[Request], wrenches: bool,
              only: Sequence[str]) -> Callable[[], Sweeps] | None:
    """What makes the loops that compute what is asked for; None where straight-line code does."""
    row = requests[0].row
    if len(requests) > 1 or only or row.name not in PLANS or any(
            not isinstance(x, Gravity) for x in forms.inputs):
        return None
    if _depth(forms.robot) < PLANS[row.name].depth:         # before tables are made
        return None
    units = units_of(forms.robot)
    if units is None or units.depth < PLANS[row.name].depth or (wrenches and not units.loadable):
        return None
    names = [*row.inputs, *(["wrenches"] if wrenches else [])]
    inputs = tuple(Slot(*item) for item in forms.shapes(names).items())
    outputs = tuple(Slot(*item) for item in row.output_shapes(forms.robot).items())
    return cache(partial(_assembled, row.name, units, inputs, outputs, wrenches))


def _depth(robot: Robot) -> int:
    """Segments on the longest way to the world."""
    depth = [0]
    for segment in robot.segments:
        depth.append(depth[segment.parent] + 1)
    return max(depth)


def _assembled(name: str, units: Units, inputs: tuple[Slot, ...], outputs: tuple[Slot, ...],
               wrenches: bool) -> Sweeps:
    plan = PLANS[name]
    given = {slot.name for slot in inputs}

    def recorded(step: Callable[..., Any]) -> Program:
        return _recorded(step, units, given, plan.results)

    sweeps = []
    for order, step in plan.steps:
        sweeps.append(Sweep(recorded(step), order))
        if wrenches and step in (bodies.force, bodies.inertia_and_force, articulated.articulated):
            sweeps.append(Sweep(recorded(bodies.loaded), Order.OUTWARDS))
    loops: list[Sweep | PairLoop | ColumnLoop] = [*sweeps]
    if plan.pairs:
        rotors = {plan.results.get(plan.rotors, plan.rotors): "rotor"} if plan.rotors else {}
        before, behind = map(recorded, plan.pairs)
        loops.append(PairLoop(before, behind, rotors))
    for output, unit in plan.columns.items():
        loops.append(ColumnLoop(recorded(articulated.pushed if unit else articulated.pulled),
                             recorded(articulated.moved), output, unit, WIDE))
    final = {slot.name for slot in outputs}
    buffers = {place.array: size(y.shape) for x in sweeps for y in x.step.outputs
               if (place := ArrayAt.of(y.name)).array not in final}
    return Sweeps(name, inputs, outputs, units.parents, units.tables, buffers, tuple(loops))


def _recorded(step: Callable[..., Any], units: Units, given: set[str],
              results: Mapping[str, str]) -> Program:
    """A step as a program; what is the same for all bodies is a constant of it."""
    names = list(signature(step).parameters)

    def known(name: str, x: Any) -> Any:
        if name == "gravity" and name not in given:
            return units.gravity
        return x if name not in units.tables else _with_constants(x, units.tables[name])

    def run(*arrays: Array) -> dict[str, Array]:
        found = step(*(known(name, x) for name, x in zip(names, arrays, strict=True)))
        return {results.get(key, key): x for key, x in found.items()}

    shapes = {name: SHAPES[ArrayAt.of(name).array] for name in names}
    return optimised(record(run, shapes, step.__name__))


def _with_constants(x: Any, table: np.ndarray) -> Any:
    """The recorded entries of a table, those that are all alike as numbers."""
    alike = np.ptp(table, axis=0) == 0
    if np.ndim(x) == 0:
        return float(table[0, 0]) if alike[0] else x
    flat = [float(t) if same else y
            for y, t, same in zip(np.ravel(x), table[0], alike, strict=True)]
    found = np.empty(len(flat), dtype=object)
    found[:] = flat
    return found.reshape(np.shape(x))
