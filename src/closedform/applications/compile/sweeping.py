"""Which quantities of which robots are computed by loops, and the loops: steps, recorded, and tables.

Loops take robots of joints with one coordinate each, fixed ones between them; see `unit_tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from closedform.applications.compile.forms import Forms
from closedform.applications.compile.requests import Gravity, Request
from closedform.applications.compile.units import Units, units_of
from closedform.arrays import Array
from closedform.maths.sweeps import articulated, bodies, pairs
from closedform.program.pipeline import optimised
from closedform.program.program import Program, Slot, size
from closedform.program.record import record
from closedform.program.sweeps import Order, Pairs, Place, Sweep, Sweeps

MATRIX_DEPTH, VECTOR_DEPTH = 24, 60
"""Joints on the longest way to the world from which on matrices, and vectors, are computed by
loops: benchmarks/large.py."""

SHAPES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("q", "v", "a", "tau", "rotor", "mass", "rest"), ()),
    **dict.fromkeys(("p0", "pb", "joint", "o", "d", "h", "p", "W", "gravity"), (3,)),
    **dict.fromkeys(("R0", "Rb", "L", "R", "G"), (3, 3)),
    **dict.fromkeys(("S", "V", "VP", "A", "AP", "dPsi", "ddPsi", "f", "Sigma", "U", "Q", "D", "K",
                     "delta", "wrenches"), (6,)),
    "body": (10,), "I": (21,),
}
"""What each array has for a body."""

Step = tuple[Order, Callable[..., Any]]
_POSES: tuple[Step, ...] = (
    (Order.ONCE, bodies.world), (Order.MAP, bodies.local), (Order.OUTWARDS, bodies.pose),
    (Order.MAP, bodies.screw))
_RATES: tuple[Step, ...] = (
    *_POSES, (Order.OUTWARDS, bodies.velocity), (Order.MAP, bodies.rates))
_MOTION: tuple[Step, ...] = (*_RATES, (Order.OUTWARDS, bodies.acceleration))
_BIAS: tuple[Step, ...] = (*_RATES, (Order.OUTWARDS, bodies.bias_acceleration))
_LOADED: tuple[Step, ...] = ((Order.OUTWARDS, bodies.loaded),)
_DERIVATIVES: tuple[Step, ...] = (
    (Order.INWARDS, bodies.all_behind), (Order.MAP, bodies.columns))

PLANS: Mapping[str, tuple[tuple[Step, ...], tuple[Step, ...], tuple[Any, ...]]] = {
    "inverse_dynamics": ((*_MOTION, (Order.MAP, bodies.force)),
                         ((Order.INWARDS, bodies.force_behind), (Order.MAP, bodies.torque)), ()),
    "bias": ((*_BIAS, (Order.MAP, bodies.force)),
             ((Order.INWARDS, bodies.force_behind), (Order.MAP, bodies.bias_torque)), ()),
    "forward_dynamics": (
        (*_BIAS, (Order.ONCE, articulated.at_rest), (Order.MAP, articulated.articulated)),
        ((Order.INWARDS, articulated.eliminated), (Order.OUTWARDS, articulated.solved)), ()),
    "mass_matrix": ((*_POSES, (Order.MAP, bodies.inertia), (Order.INWARDS, bodies.inertia_behind),
                     (Order.MAP, bodies.momentum_of_screw)), (),
                    (pairs.mass_before, pairs.mass_behind, "M")),
    "inverse_dynamics_derivatives": (
        (*_MOTION, (Order.MAP, bodies.inertia_and_force)), _DERIVATIVES,
        (pairs.derivatives_before, pairs.derivatives_behind, "dtau_da")),
    "inverse_dynamics_and_derivatives": (
        (*_MOTION, (Order.MAP, bodies.inertia_and_force)),
        (*_DERIVATIVES, (Order.MAP, bodies.torque)),
        (pairs.derivatives_before, pairs.derivatives_behind, "dtau_da")),
}
"""Steps before loads are known, steps after it, and pairs with the output that rotors add to."""

RESULTS = {"inverse_dynamics": {"tau": "inverse_dynamics"}, "bias": {"tau": "bias"},
           "forward_dynamics": {"a": "forward_dynamics"}, "mass_matrix": {"M": "mass_matrix"}}
"""What steps call the result of a row of one output."""


def sweeps_of(forms: Forms, requests: Sequence[Request], wrenches: bool,
              only: Sequence[str]) -> Sweeps | None:
    """The loops that compute what is asked for; None where straight-line code does."""
    if len(requests) > 1 or only or requests[0].row.name not in PLANS:
        return None
    if any(not isinstance(x, Gravity) for x in forms.inputs):
        return None
    row = requests[0].row
    units = units_of(forms.robot)
    if units is None or (wrenches and not units.loadable):
        return None
    limit = MATRIX_DEPTH if PLANS[row.name][2] else VECTOR_DEPTH
    if units.depth < limit:
        return None
    names = [*row.inputs, *(["wrenches"] if wrenches else [])]
    inputs = tuple(Slot(*item) for item in forms.shapes(names).items())
    outputs = tuple(Slot(*item) for item in row.output_shapes(forms.robot).items())
    return _assembled(row.name, units, inputs, outputs, wrenches)


def _assembled(name: str, units: Units, inputs: tuple[Slot, ...], outputs: tuple[Slot, ...],
               wrenches: bool) -> Sweeps:
    before, after, matrix = PLANS[name]
    given = {slot.name for slot in inputs}
    recorded = [Sweep(_recorded(step, units, given, RESULTS.get(name, {})), order)
                for order, step in (*before, *(_LOADED if wrenches else ()), *after)]
    loops: tuple[Sweep | Pairs, ...] = tuple(recorded)
    if matrix:
        low, high, diagonal = matrix
        results = RESULTS.get(name, {})
        loops += (Pairs(*(_recorded(x, units, given, results) for x in (low, high)),
                        {results.get(diagonal, diagonal): "rotor"}),)
    final = {slot.name for slot in outputs}
    buffers = {place.array: size(y.shape) for x in recorded for y in x.step.outputs
               if (place := Place.of(y.name)).array not in final}
    return Sweeps(name, inputs, outputs, units.parents, units.tables, buffers, loops)


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

    shapes = {name: SHAPES[Place.of(name).array] for name in names}
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
