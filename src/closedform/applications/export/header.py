"""What stands at the head of every exported file: robot, quantity, operations, conventions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from closedform.applications.compile.preparation import Gravity, Parameters, PayloadAt, Request
from closedform.arrays import numeric
from closedform.maths.flexible.arm import FlexibleArm
from closedform.model.elastic import ElasticJoints
from closedform.model.robot import Robot
from closedform.program.program import Program
from closedform.version import __version__

WIDTH = 96

MEANINGS = {
    "q": "joint coordinates", "v": "joint velocities", "a": "joint accelerations",
    "j": "joint jerks", "tau": "joint torques and forces", "v_r": "reference velocities",
    "a_r": "reference accelerations", "rates": "rows v, a, j, …: derivatives of the motion",
    "wrenches": "loads on the bodies, each at its frame's origin, in its frame, force first",
    "parameters": "inertial parameters (m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) per body",
    "gravity": "gravity acceleration in the world frame",
    "payload": "the ten inertial parameters of the load, in its frame",
}


def robot_header(robot: Robot, requests: Sequence[Request], program: Program,
                 runtime: Sequence[object]) -> list[str]:
    """The lines about quantities of a robot."""
    title = ", ".join(r.text for r in requests)
    lines = [f"{title} of {robot.name}", "", *_version(program)]
    lines += [line for r in requests for line in _wrapped(f"{r.row.name}: {r.row.summary}")]
    lines += ["", *_inputs(program)]
    lines += _wrapped(f"Joints, in the order of v: {', '.join(robot.joint_names) or 'none'}.")
    if any(isinstance(x, PayloadAt) for x in runtime):
        frames = ", ".join(x.frame for x in runtime if isinstance(x, PayloadAt))
        lines += _wrapped(f"The payload sits at {frames}.")
    if not any(isinstance(x, Gravity) for x in runtime):
        lines += [f"Gravity: {_vector(robot.gravity)} m/s² in the world frame."]
    if any(isinstance(x, Parameters) for x in runtime):
        lines += _wrapped(f"Parameters: {', '.join(robot.parameter_names)}.")
    return [*lines, *robot_conventions(robot)]


def arm_header(arm: FlexibleArm, name: str, summary: str, program: Program) -> list[str]:
    """The lines about an equation of a flexible arm."""
    return [f"{name} of {arm.name}", "", *_version(program), *_wrapped(f"{name}: {summary}"), "",
            *_inputs(program),
            *_wrapped(f"Coordinates: {', '.join(arm.coordinate_names)}; a flexible arm in the "
                      "plane, angles in radians, deflections in metres, SI units.")]


def elastic_header(model: ElasticJoints, name: str, program: Program) -> list[str]:
    """The lines about an equation of elastic joints."""
    joints = ", ".join(model.robot.joint_names)
    return [f"{name} of {model.robot.name} with elastic joints", "", *_version(program),
            *_inputs(program), *_wrapped(f"Joints, in the order of v: {joints}."),
            *_wrapped("Motor position, velocity and torque are those at the motor's shaft; link "
                      "speed = gear ratio × motor speed where a spring is straight."), "",
            *robot_conventions(model.robot)]


def _version(program: Program) -> list[str]:
    n = program.operations
    return [f"Written by closedform {__version__}: {n.mul} multiplications"
            f"{f' ({n.div} divisions among them)' if n.div else ''}, {n.add} additions, "
            f"{n.trig} sines and cosines.", ""]


def _inputs(program: Program) -> list[str]:
    return [f"{s.name}: {MEANINGS.get(s.name, 'an input')}" for s in program.inputs]


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
