"""A robot in the forms in which quantities are recorded.

    robot ── snapped ── canonical frames ── mass regrouped along the joint axes
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from closedform.applications.compile.digest import in_numbers, robot_digest
from closedform.applications.compile.loops.units import Units, units_of
from closedform.applications.compile.requests import (
    Gravity,
    Independent,
    Parameters,
    PayloadAt,
    Request,
    RuntimeInput,
)
from closedform.arrays import Array
from closedform.errors import ArgumentError
from closedform.maths.algorithms.joint_steps import JointStep, wrench_in_parent
from closedform.maths.arguments import expected_shape, size_of
from closedform.maths.canonical.frames import Canonical, canonical
from closedform.maths.canonical.regrouping import regrouped
from closedform.maths.canonical.snapping import snapped
from closedform.maths.loops.forces import configuration_of
from closedform.maths.quantity import Form
from closedform.model.inertia import Inertia
from closedform.model.loops.affine import y_of
from closedform.model.robot import Robot


class Forms:
    """A robot made ready for recording; its canonical forms are computed when first needed."""

    def __init__(self, robot: Robot, inputs: Sequence[RuntimeInput] = (), snap: float | None = None,
                 order: int = 2) -> None:
        if not in_numbers(robot):
            raise ArgumentError(f"{robot.name} holds symbols; kernels need numbers in their place")
        self.robot, self.notes = snapped(robot, snap)
        self.inputs, self.order = tuple(inputs), order
        if len({type(x) for x in self.inputs}) < len(self.inputs):
            raise ArgumentError(f"inputs may be given once each, not {self.inputs!r}")
        for x in self.inputs:
            if isinstance(x, PayloadAt) and robot.frame(x.frame).body is None:
                raise ArgumentError(f"inputs: the frame {x.frame!r} belongs to the world")
            if isinstance(x, Independent):
                configuration_of(self.robot)

    @cached_property
    def canonical(self) -> Canonical:
        fixed = all(body.joint.is_fixed for body in self.robot.bodies)
        return self._as_it_is if fixed else canonical(self.robot)

    @property
    def _as_it_is(self) -> Canonical:
        places = tuple((k, np.eye(4)) for k in range(len(self.robot.bodies)))
        return Canonical(self.robot, np.zeros(self.robot.nq), places)

    @cached_property
    def plain(self) -> Forms:
        """The same in the user's frames, whatever is asked for."""
        forms = Forms(self.robot, self.inputs, 0.0, self.order)
        forms.canonical, forms.base = forms._as_it_is, forms.robot
        return forms

    @cached_property
    def base(self) -> Robot:
        return regrouped(self.canonical.robot)

    @cached_property
    def units(self) -> Units | None:
        """What loops need of the robot; None where they cannot express it."""
        return units_of(self.robot)

    @cached_property
    def digest(self) -> str:
        """A hash of everything that programs of this robot depend on."""
        return f"{robot_digest(self.robot, self.inputs)} order {self.order}"

    def shapes(self, names: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """Inputs of a program: those named, then the run-time ones."""
        by_y = any(isinstance(x, Independent) for x in self.inputs)
        known = ["y" if name == "q" and by_y else name for name in names]
        shapes = {name: expected_shape(self.robot, size_of(name, known), self.order)
                  for name in dict.fromkeys(known)}
        own: dict[type, tuple[str, tuple[int, ...]]] = {
            Parameters: ("parameters", self.robot.parameters.shape),
            Gravity: ("gravity", (3,)), PayloadAt: ("payload", (10,))}
        return shapes | dict(own[type(x)] for x in self.inputs if type(x) in own)

    def robot_in(self, form: Form) -> Robot:
        """The robot in a form; parameters at run time are those of the user's bodies."""
        if form is Form.USER or any(isinstance(x, Parameters) for x in self.inputs):
            return self.robot
        return self.base if form is Form.BASE else self.canonical.robot

    def evaluated(self, request: Request, algorithm: Callable[..., Any], form: Form,
                  given: Mapping[str, Array]) -> Any:
        """The quantity of the given arrays, by an algorithm on the robot in a form."""
        robot, row = self.robot_in(form), request.row
        is_canonical = robot is not self.robot
        arguments: dict[str, Any] = {name: given[name] for name in row.inputs if name in given}
        if "q" in row.inputs:
            name = "q" if "q" in given else "y"
            x = given[name]
            if is_canonical:
                offset = self.canonical.offset
                x = x + (offset if name == "q" else offset[y_of(robot)])
            arguments["q"] = x if name == "q" else configuration_of(robot)(x)
        if row.wrenches and "wrenches" in given:
            F = given["wrenches"]
            arguments["wrenches"] = self._canonical_wrenches(F) if is_canonical else F
        if request.frame is not None:
            arguments["frame"] = request.frame
        if request.reference is not None:
            arguments["reference"] = request.reference
        return algorithm(self._with_inputs(robot, given), **arguments)

    def _with_inputs(self, robot: Robot, given: Mapping[str, Array]) -> Robot:
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
