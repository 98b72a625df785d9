"""Quantities in symbols: lengths, masses and gravity by name, for SymPy and LaTeX.

A robot of numbers gets symbols m_k for masses, l_k for lengths (equal lengths share one), r_kx for
other centres of mass and I_kxx for inertias about them; g is the strength of gravity. A robot that
holds symbols already keeps its own. Loops close by numbers: the lengths of a robot that has any
stay numbers. The closed form runs over these scalars; nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from closedform.applications.compile.requests import Request
from closedform.applications.export.header import joint_lines, robot_conventions
from closedform.applications.export.pieces import SymbolicPiece
from closedform.applications.export.vectors import Vectors, definition_at, robot_states
from closedform.arrays import Array, numeric
from closedform.errors import ArgumentError
from closedform.lowerings.source.readable import exact, readable
from closedform.lowerings.to_sympy import Expressions, input_symbols
from closedform.maths.quantity import letters
from closedform.model.inertia import Inertia
from closedform.model.names import checked_name
from closedform.model.robot import Body, Robot
from closedform.program.program import Slot
from closedform.program.record import object_array
from closedform.version import __version__

LARGEST = 4
"""Moving joints of a robot whose symbolic expressions can still be read."""
TOLERANCE = 1e-12


def symbolic_piece(robot: Robot, request: Request, name: str, order: int) -> SymbolicPiece:
    """One quantity in symbols, with test vectors from the closed form on floats."""
    if robot.tree.nv > LARGEST:
        raise ArgumentError(f"{robot.name} has {robot.tree.nv} velocities; expressions in symbols "
                            f"are written for up to {LARGEST}. Without symbols every robot leaves, "
                            "with named intermediate terms")
    named, values = (symbolic(robot) if numeric(robot.parameters)
                     else (robot, _some_values(robot)))
    for x in values:
        checked_name(x.name, "symbol")
    expressions = symbolic_expressions(named, request, list(values), order)
    numbers = substituted(named, values)
    vectors = robot_states(numbers, request, order)
    taken = [x.name for x in expressions.symbols]
    twice = sorted({x for x in taken if taken.count(x) > 1})
    if twice:
        raise ArgumentError(f"{robot.name} has symbols named as coordinates or terms: "
                            f"{', '.join(twice)}; give them other names")
    symbols = np.tile(np.array(list(values.values()), dtype=float), (vectors.count, 1))
    with_symbols = Vectors({**vectors.inputs, "symbols": symbols}, vectors.outputs, TOLERANCE)
    return SymbolicPiece(name, expressions, with_symbols, _header(named, request, values),
                         letters([request.row]))


def symbolic_expressions(robot: Robot, request: Request, symbols: Sequence[Any],
                         order: int = 2) -> Expressions:
    """A quantity of a robot in symbols, with abbreviations for sines and cosines."""
    row = request.row
    inputs = {n: input_symbols(Slot(n, shape))
              for n, shape in row.input_shapes(robot, order).items()}
    result = definition_at(robot, request, inputs)
    found = dict(zip((name for name, _ in row.outputs), result, strict=True))
    angles = list(inputs["q"]) if "q" in inputs else []
    terms, outputs = readable(found, angles, symbols)
    return Expressions({**inputs, "symbols": object_array(list(symbols), (len(symbols),))},
                       terms, outputs)


def symbolic(robot: Robot) -> tuple[Robot, dict[Any, float]]:
    """The robot with symbols for its numbers, and what they stand for."""
    values: dict[Any, float] = {}
    lengths: dict[float, Any] = {}

    def symbol(name: str, value: float) -> Any:
        made = sympy.Symbol(name, real=True)
        values[made] = float(value)
        return made

    def length(x: float) -> Any:
        if x == 0:
            return 0
        size = abs(float(x))
        if size not in lengths:
            lengths[size] = symbol(f"l_{len(lengths) + 1}", size)
        return lengths[size] if x > 0 else -lengths[size]

    def component(name: str, x: float) -> Any:
        size = abs(float(x))
        return 0 if x == 0 else length(x) if size in lengths else symbol(name, x)

    placements: list[np.ndarray] = []
    for body in robot.bodies:
        if robot.loops:
            placements.append(np.asarray(body.placement))
            continue
        T = np.array([[exact(x) for x in row] for row in body.placement], dtype=object)
        T[:3, 3] = [length(x) for x in body.placement[:3, 3]]
        placements.append(T)
    for frame in () if robot.loops else robot.frames:
        for x in frame.placement[:3, 3]:
            length(x)
    bodies = []
    for k, (body, T) in enumerate(zip(robot.bodies, placements, strict=True), start=1):
        m = symbol(f"m_{k}", body.inertia.mass) if body.inertia.mass else 0
        com = [component(f"r_{k}{axis}", x)
               for axis, x in zip("xyz", body.inertia.com, strict=True)]
        bodies.append(replace(body, placement=T, inertia=Inertia(m, com, _tensor(
            body.inertia.tensor, k, symbol))))
    strength = float(np.linalg.norm(robot.gravity))
    g = symbol("g", strength) if strength else 0
    direction = [exact(x / strength) if strength else 0 for x in robot.gravity]
    return _with(robot, bodies, np.array([d * g for d in direction], dtype=object)), values


def _tensor(tensor: Array, k: int, symbol: Any) -> Array:
    """A tensor about the centre of mass in symbols; entries that are rounding stay zero."""
    least = 1e-12 * max(1e-300, np.abs(tensor).max())
    made = np.zeros((3, 3), dtype=object)
    for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)):
        if abs(tensor[i, j]) > least:
            made[i, j] = made[j, i] = symbol(f"I_{k}{'xyz'[i]}{'xyz'[j]}", tensor[i, j])
    return made


def substituted(robot: Robot, values: Mapping[Any, float]) -> Robot:
    """The robot with numbers for its symbols."""
    def number(x: Any) -> float:
        return float(sympy.sympify(x).subs(values))

    def numbers(array: Array) -> Array:
        a = np.asarray(array, dtype=object)
        return np.array([number(x) for x in a.ravel()]).reshape(a.shape)

    bodies = [replace(body, placement=numbers(body.placement),
                      inertia=Inertia.from_parameters(numbers(body.inertia.array)))
              for body in robot.bodies]
    return _with(robot, bodies, np.asarray(numbers(robot.gravity)))


def _with(robot: Robot, bodies: Sequence[Body], gravity: np.ndarray) -> Robot:
    """The robot with other bodies and gravity, without frames; its loops stay as they are."""
    return replace(robot, bodies=tuple(bodies), gravity=gravity, frames=(), configurations={})


def _some_values(robot: Robot) -> dict[Any, float]:
    """Numbers for a robot's own symbols, for its test vectors."""
    arrays = [robot.gravity, *(b.placement for b in robot.bodies),
              *(b.inertia.array for b in robot.bodies)]
    found = set().union(*(sympy.sympify(x).free_symbols for a in arrays for x in np.ravel(a)))
    return {s: 0.4 + 0.3 * k for k, s in enumerate(sorted(found, key=str))}


def _header(robot: Robot, request: Request, values: Mapping[Any, float]) -> list[str]:
    known = ", ".join(f"{s} = {x:g}" for s, x in values.items())
    return [f"{request.text} of {robot.name}", "",
            f"Written by closedform {__version__}.", "",
            f"{request.row.name}: {request.row.summary}",
            f"Symbols, with the values of the test vectors: {known}.",
            *(joint_lines(robot) if robot.loops else ()), *robot_conventions(robot)]
