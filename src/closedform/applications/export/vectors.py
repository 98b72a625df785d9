"""Test vectors of exported programs: states, and what the closed forms say of them on floats.

They come from the definitions of the catalogue, never from a program: what they check shares
nothing with what is exported but the model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.applications.compile.requests import Gravity, Parameters, PayloadAt, Request
from closedform.applications.compile.states import random_input
from closedform.arrays import Array
from closedform.maths.definitions.closed_form import mass_matrix
from closedform.maths.loops.catalogue import OPEN
from closedform.maths.loops.forces import configuration_of
from closedform.model.coordinates import projected
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot
from closedform.program.program import Program, Slot

SEED = 8
STATES = 5
NUMBERS = 20_000
"""Numbers in the vectors of one program, at most, as long as there is one state."""
ROUNDING = 1e-12
"""What the sums of a program lose of the largest entry of an output."""
SINGLE = 1e8
"""How much coarser single precision is than double, and some."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Inputs and outputs by name, (states, ...) each.

    A result is right if it is within `tolerance` of the largest entry of its output, or of 1 if
    that is more.
    """

    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]
    tolerance: float

    @property
    def count(self) -> int:
        return len(next(iter(self.outputs.values())))


def vectors_text(vectors: Vectors, about: Mapping[str, str], single: bool = False) -> str:
    """The numbers and words `about` them as JSON, a line for each key."""
    fields = {
        **about, "count": vectors.count, "tolerance": vectors.tolerance * (SINGLE if single else 1),
        "input_shapes": [list(x.shape[1:]) for x in vectors.inputs.values()],
        "output_shapes": [list(x.shape[1:]) for x in vectors.outputs.values()],
        "inputs": [x.ravel().tolist() for x in vectors.inputs.values()],
        "outputs": [x.ravel().tolist() for x in vectors.outputs.values()]}
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def robot_vectors(robot: Robot, requests: Sequence[Request], runtime: Sequence[Any],
                  program: Program) -> Vectors:
    """Random states of a robot, and the closed forms of the requests there."""
    count = _states(program)
    rng = np.random.default_rng(SEED)
    inputs = {s.name: np.stack([random_input(robot, s, rng) for _ in range(count)])
              for s in program.inputs}
    is_open = bool(robot.loops) and all(r.row.name in OPEN for r in requests)
    if is_open:
        inputs["q"] = np.stack([projected(robot.tree, q + 0.01 * rng.normal(size=q.shape))
                                for q in inputs["q"]])
    rows, conditions = [], [1.0]
    for k in range(count):
        given = {name: array[k] for name, array in inputs.items()}
        if "y" in given and robot.loops:
            given["q"] = configuration_of(robot)(given["y"])
        there = _at_run_time(robot, runtime, given)
        rows.append([part for r in requests for part in definition_at(there, r, given)])
        if any(i.op == "div" for i in program.code) and "q" in given and not is_open:
            inverse = [x for r, x in zip(requests, rows[-1], strict=False)
                       if r.row.name == "operational_space_inertia"]
            conditions.append(_condition(there, given["q"], inverse))
    tolerance = float(max(ROUNDING, 10 * np.finfo(float).eps * max(conditions)))
    return Vectors(inputs, _named(program, rows), tolerance)


def robot_states(robot: Robot, request: Request, order: int) -> Vectors:
    """Random states of a robot, and the closed form of a request without run-time inputs."""
    row, rng = request.row, np.random.default_rng(SEED)
    slots = [Slot(*item) for item in request.row.input_shapes(robot, order).items()]
    inputs = {s.name: np.stack([random_input(robot, s, rng) for _ in range(STATES)]) for s in slots}
    rows = [definition_at(robot, request, {name: x[k] for name, x in inputs.items()})
            for k in range(STATES)]
    names = [name for name, _ in row.outputs]
    columns = [np.stack(column) for column in zip(*rows, strict=True)]
    return Vectors(inputs, dict(zip(names, columns, strict=True)), ROUNDING)


def function_vectors(function: Callable[..., Any], program: Program,
                     robot: Robot | None = None) -> Vectors:
    """Random inputs of order one (q: of the robot), and a function of one state there."""
    count, rng = _states(program), np.random.default_rng(SEED)
    inputs = {s.name: 0.3 * rng.normal(size=(count, *s.shape)) for s in program.inputs}
    if robot is not None and "q" in inputs:
        inputs["q"] = np.stack([robot.random(rng) for _ in range(count)])
    rows = [_parts(function(*(x[k] for x in inputs.values())), program) for k in range(count)]
    return Vectors(inputs, _named(program, rows), 10 * ROUNDING)


def _parts(result: Any, program: Program) -> list[Array]:
    """The outputs of a program in a result: an array, or the fields of a named tuple."""
    if not hasattr(result, "_asdict"):
        return [np.asarray(result)]
    return [np.asarray(getattr(result, output.name)) for output in program.outputs]


def _states(program: Program) -> int:
    numbers = sum(len(output.entries) for output in program.outputs)
    return max(1, min(STATES, NUMBERS // max(numbers, 1)))


def _named(program: Program, rows: Sequence[Sequence[Array]]) -> dict[str, np.ndarray]:
    columns = zip(*rows, strict=True)
    return {output.name: np.stack(column).reshape(len(rows), *output.shape)
            for output, column in zip(program.outputs, columns, strict=True)}


def _at_run_time(robot: Robot, runtime: Sequence[Any], given: Mapping[str, Array]) -> Robot:
    """The robot with what is given at run time."""
    if any(isinstance(x, Parameters) for x in runtime):
        robot = robot.with_parameters(given["parameters"])
    if any(isinstance(x, Gravity) for x in runtime):
        robot = robot.with_gravity(given["gravity"])
    for x in runtime:
        if isinstance(x, PayloadAt):
            robot = robot.with_payload(Inertia.from_parameters(given["payload"]), at=x.frame)
    return robot


def definition_at(robot: Robot, request: Request, given: Mapping[str, Array]) -> list[Array]:
    """The closed form of a request at one state: a result, or the fields of several."""
    row = request.row
    arguments: dict[str, Any] = {name: given[name] for name in row.inputs}
    if row.wrenches and "wrenches" in given:
        arguments["wrenches"] = given["wrenches"]
    if request.frame is not None:
        arguments["frame"] = request.frame
    if request.reference is not None:
        arguments["reference"] = request.reference
    result = row.definition(robot, **arguments)
    return [np.asarray(x) for x in (result if row.fields else (result,))]


def _condition(robot: Robot, q: Array, inverses: Sequence[Array]) -> float:
    """How much a division by M, or a result that is an inverse itself, enlarges rounding.

    Elimination does not feel the units of M's rows: what counts is M with a unit diagonal.
    """
    M = mass_matrix(robot, q)
    units = np.sqrt(np.diag(M))
    return float(max(np.linalg.cond(A) for A in (M / np.outer(units, units), *inverses)))
