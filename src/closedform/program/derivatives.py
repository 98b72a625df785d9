"""Derivatives of programs, which are programs again: along a direction, back from weights, whole.

    tangent      (x, ẋ) → ẏ = Σ (∂y/∂x) ẋ
    cotangent    (x, ȳ) → x̄ = Σ (∂y/∂x)ᵀ ȳ
    jacobian     x → ∂y/∂x

They have derivatives themselves, and so on. Where the chain rule meets 0 · ∞, as for √(x²) at 0,
they are NaN; the derivative of a sign is 0 everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.program.differentiate import arguments_of, jacobian, partials_of, tangents
from closedform.program.expr import Expr, Graph, Scalar
from closedform.program.program import Instruction, Output, Program, Slot
from closedform.program.record import collect, input_array, object_array, replay


def tangent(program: Program, wrt: Iterable[str]) -> Program:
    """(x, ẋ) → ẏ = Σ (∂y/∂x) ẋ: a program that is linear in the tangents of some inputs.

    For each x in `wrt` there is a further input `x_dot`, in the order of the program's inputs; the
    outputs y are `y_dot`. A name that there is already gets a number.
    """
    moving = _moving(program, wrt)
    recorded = _Recorded(program, _further(program, moving, "dot"))
    seeds = {x.node: dx for slot, further in zip(moving, recorded.further, strict=True)
             for x, dx in zip(recorded.entries(slot.name), recorded.entries(further), strict=True)}
    flat = [x for output in recorded.outputs.values() for x in output.ravel()]
    rates = iter(tangents(flat, seeds))
    found = {f"{name}_dot": object_array([next(rates) for _ in range(y.size)], y.shape)
             for name, y in recorded.outputs.items()}
    return collect(recorded.graph, f"{program.name}_tangent", recorded.slots, found)


def cotangent(program: Program, wrt: Iterable[str], linear: bool = False) -> Program:
    """(x, ȳ) → x̄ = Σ (∂y/∂x)ᵀ ȳ: the transpose of `tangent`, linear in ȳ.

    For each output y there is a further input `y_bar`; the outputs are `x_bar` for each x in `wrt`.
    It costs a few times the program, however many entries x has. Of a program that is `linear` in
    what `wrt` names, the result needs none of those inputs, and has none.

        x̄_i = Σ_j x̄_j ∂x_j/∂x_i,  over the values x_j that x_i is an argument of         (i)
    """
    moving = _moving(program, wrt)
    recorded = _Recorded(program, _further(program, program.outputs, "bar"))
    graph = recorded.graph
    wanted = {x.node for slot in moving for x in recorded.entries(slot.name)}
    adjoints: dict[int, Scalar] = {}
    for y, further in zip(recorded.outputs.values(), recorded.further, strict=True):
        for value, weight in zip(y.ravel(), recorded.entries(further), strict=True):
            if isinstance(value, Expr):
                adjoints[value.node] = adjoints.get(value.node, 0.0) + value.signum * weight
    last = max(adjoints, default=-1)
    needed = _reaching(graph, wanted, last)
    for node in range(last, -1, -1):
        if node in adjoints and node not in wanted and node in needed:
            adjoint = adjoints.pop(node)
            for argument, partial in partials_of(graph, node):
                if argument in needed:
                    adjoints[argument] = adjoints.get(argument, 0.0) + adjoint * partial  # (i)
    found = {f"{slot.name}_bar": object_array(
        [adjoints.get(x.node, 0.0) for x in recorded.entries(slot.name)], slot.shape)
        for slot in moving}
    made = collect(graph, f"{program.name}_cotangent", recorded.slots, found)
    return _without(made, {slot.name for slot in moving}) if linear else made


def whole_jacobian(program: Program, wrt: Iterable[str]) -> Program:
    """x → ∂y/∂x for each output y, and for it each x in `wrt`; the index of x is last."""
    moving = _moving(program, wrt)
    recorded = _Recorded(program, {})
    found = {f"d{name}_d{slot.name}": jacobian(y, recorded.array(slot.name))
             for name, y in recorded.outputs.items() for slot in moving}
    return collect(recorded.graph, f"{program.name}_jacobian", recorded.slots, found)


def arranged(program: Program, like: Program) -> Program:
    """A program with the inputs and the names of another that computes the same.

    Its inputs are found by name, then in their order; those that the other has not are zero.
    """
    graph = Graph()
    given = {slot.name: input_array(graph, k, slot.shape) for k, slot in enumerate(like.inputs)}
    rest = iter([x for name, x in given.items() if name not in {s.name for s in program.inputs}])
    arrays = [given[slot.name] if slot.name in given else next(rest, np.zeros(slot.shape))
              for slot in program.inputs]
    found = dict(zip((y.name for y in like.outputs), replay(program, arrays).values(), strict=True))
    return collect(graph, like.name, like.inputs, found)


class _Recorded:
    """A program recorded again, with further inputs."""

    def __init__(self, program: Program, further: Mapping[str, tuple[int, ...]]) -> None:
        self.graph, self.further = Graph(), tuple(further)
        self.slots = (*program.inputs, *(Slot(name, shape) for name, shape in further.items()))
        self.arrays = {slot.name: input_array(self.graph, k, slot.shape)
                       for k, slot in enumerate(self.slots)}
        self.outputs = replay(program, [self.arrays[slot.name] for slot in program.inputs])

    def entries(self, name: str) -> np.ndarray:
        return self.array(name).ravel()

    def array(self, name: str) -> np.ndarray:
        return np.asarray(self.arrays[name], dtype=object)


def _further(program: Program, of: Sequence[Slot | Output],
             what: str) -> dict[str, tuple[int, ...]]:
    """Names that no input has yet, and shapes: `q_dot`, and in a tangent's tangent `q_dot2`."""
    taken = {slot.name for slot in program.inputs}
    found: dict[str, tuple[int, ...]] = {}
    for slot in of:
        name, count = f"{slot.name}_{what}", 1
        while name in taken:
            count += 1
            name = f"{slot.name}_{what}{count}"
        taken.add(name)
        found[name] = slot.shape
    return found


def _moving(program: Program, wrt: Iterable[str]) -> list[Slot]:
    chosen, names = list(wrt), [slot.name for slot in program.inputs]
    for name in chosen:
        if name not in names:
            raise UnknownName(f"no input {name!r} in {program.name}; {suggestion(name, names)}")
    return [slot for slot in program.inputs if slot.name in chosen]


def _reaching(graph: Graph, wanted: Collection[int], last: int) -> set[int]:
    """The nodes up to the last that depend on those that are wanted, and these."""
    found = set(wanted)
    for node in range(last + 1):
        if any(i in found for i in arguments_of(graph, node)):
            found.add(node)
    return found


def _without(program: Program, names: Collection[str]) -> Program:
    """The program without inputs that it does not use; an error if it does."""
    at = {k for k, slot in enumerate(program.inputs) if slot.name in names}
    if any(op == "input" and args[0] in at for op, args, _ in program.code):
        raise ArgumentError(f"{program.name}: not linear in {', '.join(sorted(names))}")
    new = {k: i for i, k in enumerate(k for k in range(len(program.inputs)) if k not in at)}
    code = tuple(Instruction(op, (new[args[0]], args[1]), value) if op == "input"
                 else Instruction(op, args, value) for op, args, value in program.code)
    return replace(program, code=code, inputs=tuple(
        slot for k, slot in enumerate(program.inputs) if k not in at))
