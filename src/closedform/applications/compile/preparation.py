"""From a quantity of a robot to the smallest program that computes it.

    robot ── snapped ── canonical frames ── regrouped
                              │ record every algorithm in every frame of expression
                              ▼
             the program with the fewest operations ── simplified ── by arrival ── scheduled
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from closedform.arrays import Array, numeric
from closedform.errors import ArgumentError, suggestion
from closedform.maths.algorithms.joint_steps import JointStep, wrench_in_parent
from closedform.maths.arguments import SIZES, expected_shape, size_of
from closedform.maths.canonical.frames import Canonical, canonical, snapped
from closedform.maths.canonical.regrouping import regrouped
from closedform.maths.catalogue import quantity
from closedform.maths.frames import Reference
from closedform.maths.quantity import Form, Quantity, takes_base
from closedform.model.inertia import Inertia
from closedform.model.joints import Fixed, Joint, Mimic
from closedform.model.robot import Body, Robot
from closedform.program.ordering.critical_path import by_arrival
from closedform.program.ordering.live_ranges import scheduled
from closedform.program.program import Program
from closedform.program.record import record
from closedform.program.rules.simplify import REGROUP, simplify

ALL_BASES = 10
"""Up to so many segments every frame of expression is tried, above it three."""

THOROUGH = 10_000
"""Up to so many operations all rules are applied; above it only the one that is linear in time."""


GEOMETRY = ("axis", "axis1", "axis2", "normal", "point", "pitch", "ratio", "offset",
            "rotor_inertia")
"""What a joint may hold that programs depend on."""


@dataclass(frozen=True)
class Request:
    """One output: a row of the catalogue, and the frame and reference where it takes them."""

    row: Quantity
    frame: str | None = None
    reference: Reference | None = None

    @property
    def text(self) -> str:
        """What is asked for, in words that tell requests apart."""
        if self.frame is None:
            return self.row.name
        reference = "" if self.reference is None else self.reference.name
        return f"{self.row.name}({self.frame}, {reference})"


@dataclass(frozen=True)
class Parameters:
    """All inertial parameters are an input `parameters`, in the order of `robot.parameters`."""


@dataclass(frozen=True)
class Gravity:
    """The gravity acceleration is an input `gravity`, (3,), in the world frame."""


@dataclass(frozen=True)
class PayloadAt:
    """A load on a frame or body is an input `payload`: its ten parameters, in that frame."""

    frame: str


RuntimeInput = Parameters | Gravity | PayloadAt
Evaluation = Callable[[Mapping[str, Array]], Any]
"""A quantity of given arrays, by some algorithm in some frame."""


class Preparation:
    """A robot made ready for recording; its canonical forms are computed when first needed."""

    def __init__(self, robot: Robot, inputs: Sequence[RuntimeInput], snap: float,
                 order: int = 2) -> None:
        if not _in_numbers(robot):
            raise ArgumentError(f"{robot.name} holds symbols; kernels need numbers in their place")
        self.robot, self.notes = snapped(robot, snap)
        self.inputs, self.order = tuple(inputs), order
        if len({type(x) for x in self.inputs}) < len(self.inputs):
            raise ArgumentError(f"inputs may be given once each, not {self.inputs!r}")
        for x in self.inputs:
            if isinstance(x, PayloadAt) and robot.frame(x.frame).body is None:
                raise ArgumentError(f"inputs: the frame {x.frame!r} belongs to the world")

    @cached_property
    def canonical(self) -> Canonical:
        if all(isinstance(body.joint, Fixed) for body in self.robot.bodies):
            places = tuple((k, np.eye(4)) for k in range(len(self.robot.bodies)))
            return Canonical(self.robot, np.zeros(0), places)
        return canonical(self.robot)

    @cached_property
    def base(self) -> Robot:
        return regrouped(self.canonical.robot)

    @cached_property
    def digest(self) -> str:
        """A hash of everything that programs of this robot depend on."""
        return f"{robot_digest(self.robot, self.inputs)} order {self.order}"

    def shapes(self, names: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """Inputs of a program: those named, then the run-time ones."""
        shapes = {name: expected_shape(self.robot, size_of(name, names), self.order)
                  for name in names}
        own: dict[type, tuple[str, tuple[int, ...]]] = {
            Parameters: ("parameters", self.robot.parameters.shape),
            Gravity: ("gravity", (3,)), PayloadAt: ("payload", (10,))}
        return shapes | dict(own[type(x)] for x in self.inputs)

    def program(self, requests: Sequence[Request], wrenches: bool = False,
                only: Sequence[str] = ()) -> Program:
        """The smallest program found for these quantities, sharing what they have in common.

        `only` names the outputs to keep.
        """
        title = "_and_".join(r.row.name for r in requests)
        with _uncollected():
            found = [kept_outputs(self._recorded(title, requests, choice, wrenches), only)
                     for choice in self._choices(requests, wrenches)]
            program = min(found, key=lambda p: p.operations.total)
            rules = None if program.operations.total <= THOROUGH else (REGROUP,)
            return scheduled(by_arrival(simplify(program, rules).program))

    def _recorded(self, title: str, requests: Sequence[Request], choice: Sequence[Evaluation],
                  wrenches: bool) -> Program:
        """The program of the requests, each evaluated as the choice says."""
        names = [n for n in SIZES if any(n in r.row.inputs for r in requests)]
        shapes = self.shapes([*names, *(["wrenches"] if wrenches else [])])

        def together(*arrays: Array) -> Any:
            given = dict(zip(shapes, arrays, strict=True))
            return _named([(r, evaluate(given))
                           for r, evaluate in zip(requests, choice, strict=True)])

        return record(together, shapes, title)

    def _choices(self, requests: Sequence[Request], wrenches: bool) -> Iterator[list[Evaluation]]:
        """Ways to evaluate all requests: each by itself the smallest, or all in one frame."""
        options = [list(self._candidates(r, r.row.algorithms, wrenches)) for r in requests]
        if len(requests) == 1:
            yield from ([evaluate] for _, evaluate in options[0])
            return
        alone = [min(option, key=lambda x, r=request: self._recorded(  # type: ignore[misc]
            r.row.name, [r], [x[1]], wrenches).operations.total)[1]
            for request, option in zip(requests, options, strict=True)]
        yield alone
        for request, option in zip(requests, options, strict=True):
            if request.row.shared is not None:
                option += self._candidates(request, (request.row.shared,), wrenches)
        bases = sorted({base for option in options for base, _ in option if base is not None})
        for base in bases:
            in_frame = [[e for b, e in option if b == base] for option in options]
            yield [last[-1] if last else own for last, own in zip(in_frame, alone, strict=True)]

    def _candidates(self, request: Request, algorithms: Sequence[Callable[..., Any]],
                    wrenches: bool) -> Iterator[tuple[int | None, Evaluation]]:
        """Frames of expression (None: of the bodies) with the evaluations of a request in them."""
        row = request.row
        coupled = any(isinstance(body.joint, Mimic) for body in self.robot.bodies)
        for algorithm in algorithms or (row.definition,):
            if coupled and algorithm.__module__.endswith("articulated"):
                continue
            for base in self._bases(row, algorithm):
                extra = {} if base is None else {"base": base}
                yield base, partial(self._evaluate, request, algorithm, extra, wrenches)

    def _bases(self, row: Quantity, algorithm: Callable[..., Any]) -> Sequence[int | None]:
        if not takes_base(algorithm):
            return (None,)
        n = len(self._form(row)[0].segments)
        if n > ALL_BASES:
            return (0, 1, n // 2)
        tensors = any(len(shape) > 2 for _, shape in row.fields) or len(row.shape) > 2
        return self._promising if tensors else range(n + 1)

    @cached_property
    def _promising(self) -> Sequence[int]:
        """The two frames of expression in which C takes the fewest operations.

        Frames rank alike for all quantities, and recording a tensor in every one takes seconds.
        """
        request = Request(quantity("coriolis_matrix"))
        counts = {base: self._recorded("C", [request], [evaluate], False).operations.total
                  for base, evaluate in self._candidates(request, request.row.algorithms, False)}
        return sorted((b for b in counts if b is not None), key=counts.__getitem__)[:2]

    def _form(self, row: Quantity) -> tuple[Robot, bool]:
        """The robot to record in, and whether it is canonical."""
        if row.form is Form.USER or any(isinstance(x, Parameters) for x in self.inputs):
            return self.robot, False
        return (self.base if row.form is Form.BASE else self.canonical.robot), True

    def _evaluate(self, request: Request, algorithm: Callable[..., Any], extra: Mapping[str, Any],
                  wrenches: bool, given: Mapping[str, Array]) -> Any:
        row = request.row
        robot, is_canonical = self._form(row)
        robot = self._with_inputs(robot, is_canonical, given)
        arguments: dict[str, Any] = {name: given[name] for name in row.inputs}
        if is_canonical and "q" in arguments:
            arguments["q"] = arguments["q"] + self.canonical.offset
        if wrenches and row.wrenches:
            F = given["wrenches"]
            arguments["wrenches"] = self._canonical_wrenches(F) if is_canonical else F
        if request.frame is not None:
            arguments["frame"] = request.frame
        if request.reference is not None:
            arguments["reference"] = request.reference
        return algorithm(robot, **arguments, **extra)

    def _with_inputs(self, robot: Robot, is_canonical: bool, given: Mapping[str, Array]) -> Robot:
        """The robot with what is only known at run time put in."""
        for x in self.inputs:
            if isinstance(x, Parameters):
                robot = robot.with_parameters(given["parameters"])
            elif isinstance(x, Gravity):
                robot = robot.with_gravity(given["gravity"])
        for x in self.inputs:
            if isinstance(x, PayloadAt):
                robot = robot.with_payload(Inertia.from_parameters(given["payload"]), at=x.frame)
        return robot

    def _canonical_wrenches(self, F: Array) -> Array:
        """Loads on the user's bodies, moved to the canonical bodies that carry them.

        For a jet, those of each order.
        """
        if F.ndim == 3:
            return np.stack([self._canonical_wrenches(F_k) for F_k in F])
        total = [np.zeros(6, dtype=object) for _ in self.canonical.robot.bodies]
        for (k, T), F_b in zip(self.canonical.places, F, strict=True):
            if k is not None:
                step = JointStep((T[:3, :3],), T[:3, 3])
                total[k] = total[k] + wrench_in_parent(step, F_b)
        return np.stack(total)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's collector: it walks a growing program again and again, and finds nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def kept_outputs(program: Program, only: Sequence[str]) -> Program:
    """The program with these outputs alone, in their order; with all if none is named."""
    if not only:
        return program
    known = {output.name: output for output in program.outputs}
    for name in only:
        if name not in known:
            raise ArgumentError(f"only: no output {name!r} of {program.name}; "
                                f"{suggestion(name, known)}")
    return scheduled(replace(program, outputs=tuple(known[name] for name in only)))


def _named(results: Sequence[tuple[Request, Any]]) -> Any:
    """One result as it is; several under their names, fields of named tuples under theirs."""
    if len(results) == 1:
        return results[0][1]
    named: dict[str, Any] = {}
    for request, value in results:
        parts = value._asdict() if hasattr(value, "_asdict") else {request.row.name: value}
        for name, part in parts.items():
            if name in named:
                raise ArgumentError(f"two quantities have the name {name!r}; compile them apart")
            named[name] = part
    return named


def robot_digest(robot: Robot, inputs: Sequence[RuntimeInput] = ()) -> str:
    """sha256 of the numbers and the structure of a robot; names count where frames are named."""
    number = {body.name: k for k, body in enumerate(robot.bodies)}
    text = hashlib.sha256()
    text.update(repr((robot.parents, robot.gravity.tolist(), inputs)).encode())
    for body in robot.bodies:
        text.update(repr((body.name, _joint_text(body, number))).encode())
        text.update(np.ascontiguousarray(body.placement).tobytes())
        text.update(np.ascontiguousarray(body.inertia.array).tobytes())
    for frame in robot.frames:
        text.update(repr((frame.name, frame.body)).encode())
        text.update(np.ascontiguousarray(frame.placement).tobytes())
    return text.hexdigest()


def _joint_text(body: Body, number: Mapping[str, int]) -> tuple[Any, ...]:
    joint: Joint = body.joint
    own = [(f.name, getattr(joint, f.name)) for f in fields(joint)
           if f.name not in ("name", "lower", "upper", "velocity", "effort")]
    return type(joint).__name__, own


def _in_numbers(robot: Robot) -> bool:
    """Whether everything that programs of the robot depend on is plain numbers."""
    given: list[Any] = [robot.gravity, *(frame.placement for frame in robot.frames)]
    for body in robot.bodies:
        joints = (body.joint, body.joint.joint) if isinstance(body.joint, Mimic) else (body.joint,)
        given += [body.placement, body.inertia.array]
        given += [getattr(joint, name) for joint in joints for name in GEOMETRY
                  if getattr(joint, name, None) is not None]
    return all(numeric(x) for x in given)
