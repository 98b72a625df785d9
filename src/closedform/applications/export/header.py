"""What stands at the head of every exported file: robot, quantity, operations, conventions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from closedform.applications.compile.requests import Gravity, Parameters, PayloadAt, Request
from closedform.arrays import numeric
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.quantity import Quantity
from closedform.model.elasticity.joints import ElasticJoints
from closedform.model.robot import Robot
from closedform.program.program import Program
from closedform.version import __version__

WIDTH = 96

RUNTIME = {
    "parameters": "inertial parameters (m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) per body",
    "gravity": "gravity acceleration in the world frame",
    "payload": "the ten inertial parameters of the load, in its frame",
}
"""What inputs mean that are given at run time; the others are arguments of rows."""


def header(model: str, rows: Sequence[Quantity], program: Program, conventions: Sequence[str],
           title: str = "") -> list[str]:
    """The lines about rows of a model, by name, and of their program."""
    names = title or ", ".join(row.name for row in rows)
    lines = [f"{names} of {model}", "", *_version(program)]
    lines += [line for row in rows for line in _wrapped(f"{row.name}: {row.summary}")]
    meanings = RUNTIME | {name: x.meaning for name, x in rows[0].of.arguments.items()}
    return [*lines, "", *(f"{s.name}: {meanings[s.name]}" for s in program.inputs), *conventions]


def robot_header(robot: Robot, requests: Sequence[Request], program: Program,
                 runtime: Sequence[object]) -> list[str]:
    """The lines about quantities of a robot."""
    lines = joint_lines(robot, any(x.name == "q" for x in program.inputs))
    if any(isinstance(x, PayloadAt) for x in runtime):
        frames = ", ".join(x.frame for x in runtime if isinstance(x, PayloadAt))
        lines += _wrapped(f"The payload sits at {frames}.")
    if not any(isinstance(x, Gravity) for x in runtime):
        lines += [f"Gravity: {_vector(robot.gravity)} m/s² in the world frame."]
    if any(isinstance(x, Parameters) for x in runtime):
        lines += _wrapped(f"Parameters: {', '.join(robot.parameter_names)}.")
    return header(robot.name, [r.row for r in requests], program,
                  [*lines, *robot_conventions(robot)], ", ".join(r.text for r in requests))


def joint_lines(robot: Robot, closing: bool = True) -> list[str]:
    """The joints in the order of v; with loops, what q and v are of, and how q is closed."""
    if robot.closure is None:
        return _wrapped(f"Joints, in the order of v: {', '.join(robot.joint_names) or 'none'}.")
    loops = ", ".join(cut.name for cut in robot.loops)
    step = _wrapped(f"q closes the loops {loops}: a q near one that does is closed by calling "
                    "loop_step until it changes no more, which moves the dependent joints.")
    return [*_wrapped(f"Joints, in the order of q: {', '.join(robot.joint_names)}."),
            *_wrapped(f"Independent, in the order of v: {', '.join(robot.independent or ())}."),
            *(step if closing else ())]


def arm_conventions(arm: FlexibleArm) -> list[str]:
    """Conventions of a flexible arm."""
    return _wrapped(f"Coordinates: {', '.join(arm.coordinate_names)}; a flexible arm in the "
                    "plane, angles in radians, deflections in metres, SI units.")


def elastic_conventions(model: ElasticJoints) -> list[str]:
    """Conventions of a robot with elastic joints."""
    joints = ", ".join(model.robot.joint_names)
    return [*_wrapped(f"Joints, in the order of v: {joints}."),
            *_wrapped("Motor position, velocity and torque are those at the motor's shaft; link "
                      "speed = gear ratio × motor speed where a spring is straight."), "",
            *robot_conventions(model.robot)]


def _version(program: Program) -> list[str]:
    n = program.operations
    return [f"Written by closedform {__version__}: {n.mul} multiplications"
            f"{f' ({n.div} divisions among them)' if n.div else ''}, {n.add} additions, "
            f"{n.trig} sines and cosines.", ""]


def robot_conventions(robot: Robot) -> list[str]:
    """Conventions, as far as this robot has to do with them."""
    lines = ["Radians and SI units; M a + C v + g = tau + loads; twists and wrenches linear part "
             "first; the differentiation index comes last."]
    joints = [body.joint.moving for body in robot.bodies]
    lines += dict.fromkeys(joint.convention for joint in joints if joint.convention)
    if not all(joint.is_vector for joint in joints):
        lines += ["Derivatives by q where v is in the body are left-trivialised (tangent at the "
                  "body)."]
    return [line for text in lines for line in _wrapped(text)]


def _vector(x: object) -> str:
    a = np.asarray(x)
    return "(" + ", ".join(f"{y:g}" if numeric(a) else str(y) for y in a) + ")"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="  ")
