"""Quantities of robots: the programs that kernels run, or the closed forms in symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, ClassVar, final

from closedform.applications.compile.kernels import by_entries
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import (
    Asked,
    At,
    Request,
    RuntimeInput,
    asked_request,
)
from closedform.applications.export.header import robot_header
from closedform.applications.export.names import checked_function_name, function_names
from closedform.applications.export.pieces import Piece, SymbolicPiece
from closedform.applications.export.sources.source import Source
from closedform.applications.export.targets.target import Target
from closedform.applications.export.vectors import robot_vectors
from closedform.arrays import numeric
from closedform.errors import ArgumentError
from closedform.maths.arguments import ROBOTS, Kind
from closedform.maths.catalogue import gradient, quantity
from closedform.maths.frames import Reference
from closedform.maths.quantity import letters
from closedform.model.robot import Robot
from closedform.program.program import Program


@final
@dataclass(frozen=True)
class RobotSource(Source):
    """Robots."""

    inputs: Annotated[RuntimeInput | Sequence[RuntimeInput], "what is given at run time"] = ()
    wrenches: Annotated[bool, "loads on the bodies are an input"] = False
    fused: Annotated[bool, "one function for all quantities"] = False
    name: Annotated[str | None, "the name of the fused function"] = None
    order: Annotated[int, "the order of jets"] = 2
    snap: Annotated[float | None, "numbers this near to 0 and ±1 in placements are made exact"
                    " (else what digits have left of π)"] = None

    of: ClassVar[Kind] = ROBOTS

    def __post_init__(self) -> None:
        if not isinstance(self.order, int) or self.order < 0:
            raise ArgumentError(f"order must be a whole number that is not negative, "
                                f"not {self.order!r}")

    @property
    def runtime(self) -> tuple[RuntimeInput, ...]:
        given = self.inputs
        return (given,) if isinstance(given, RuntimeInput) else tuple(given)

    def pieces(self, model: Robot, asked: Sequence[Asked],
               target: Target) -> Sequence[Piece | SymbolicPiece]:
        requests = [asked_request(model, x) for x in asked]
        if getattr(target, "symbols", False) or not numeric(model.parameters):
            return self._in_symbols(model, requests, target)
        groups = [requests] if self.fused else [[r] for r in requests]
        names = function_names(model.name, groups)
        if self.fused and self.name is not None:
            names = [checked_function_name(self.name)]
        prepared = Preparation(model, self.runtime, self.snap, self.order)
        made = [self._piece(prepared, group, name)
                for group, name in zip(groups, names, strict=True)]
        return made if _closes_itself(model, made) else [*made, self._closing_step(model)]

    def _closing_step(self, robot: Robot) -> Piece:
        """Newton's step that closes the loops, for the q that the others take."""
        step = [Request(quantity("loop_step"))]
        return replace(self, inputs=())._piece(
            Preparation(robot, (), self.snap, self.order), step,
            function_names(robot.name, [step])[0])

    def _in_symbols(self, robot: Robot, requests: Sequence[Request],
                    target: Target) -> Sequence[SymbolicPiece]:
        if not target.takes_symbols:
            raise ArgumentError(f"{robot.name} holds symbols, which do not leave to {target.name}")
        from closedform.applications.export.symbolic import symbolic_piece  # slow: SymPy
        names = function_names(robot.name, [[r] for r in requests])
        return [symbolic_piece(robot, r, name, self.order)
                for r, name in zip(requests, names, strict=True)]

    def _piece(self, prepared: Preparation, requests: Sequence[Request], name: str) -> Piece:
        loaded = self.wrenches and any(r.row.wrenches for r in requests)
        program, robot = prepared.program(requests, loaded), prepared.robot
        return Piece(
            name, program, robot_vectors(robot, requests, self.runtime, program),
            robot_header(robot, requests, program, self.runtime),
            letters(r.row for r in requests), partial(_derivatives, prepared, requests, loaded),
            partial(prepared.judged_folded, requests, loaded))


def _closes_itself(robot: Robot, made: Sequence[Piece]) -> bool:
    """Whether no step of Newton's is needed to call these: no q is, or the step is among them."""
    return (not robot.loops or not any(x.name == "q" for p in made for x in p.program.inputs)
            or any(x.name == "loop_step" for p in made for x in p.program.outputs))


def asked_by_name(name: str, frame: str | None, reference: str | None) -> Asked:
    """What words ask for: a quantity, and a frame and a reference where it takes them."""
    if not quantity(name).framed:
        return name
    if frame is None:
        raise ArgumentError(f"{name} needs a frame: --frame NAME")
    known = {r.name.lower(): r for r in Reference}
    if reference is not None and reference.lower() not in known:
        raise ArgumentError(f"reference is one of {', '.join(known)}, not {reference!r}")
    return At(name, frame, None if reference is None else known[reference.lower()])


def _derivatives(prepared: Preparation, requests: Sequence[Request],
                 loaded: bool) -> Program | None:
    """The exact partial derivatives of a quantity by its own inputs, where they are known.

    Joints whose q is no vector (quaternions; planar ones, whose v is the body's) and loops have
    derivatives along tangents, which are not partial derivatives by the entries of q.
    """
    if len(requests) > 1 or not by_entries(prepared.robot, ("q",)):
        return None
    found = gradient(requests[0].row)
    return None if found is None else prepared.program([Request(found)], loaded)
