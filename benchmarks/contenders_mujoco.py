"""MuJoCo in a C loop, constraints and contacts switched off; the robot comes to it as MJCF."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from building import HERE, MissingError, library
from clock import Job
from subjects import FD, ID, MASS, STATES, Subject, Task

import closedform as cf
from closedform.applications.conventions import from_mujoco_model
from closedform.arrays import Array
from closedform.model.robot import Body, Robot

LABEL = "MuJoCo"
ALGORITHMS = (ID, MASS, FD)
"""The order is that of the enumeration in mujoco_loop.c."""

OFF = ("constraint", "contact", "limit", "frictionloss", "equality")


class Mujoco:
    """One robot in MuJoCo."""

    def __init__(self, subject: Subject) -> None:
        try:
            import mujoco
        except ImportError as error:
            raise MissingError(f"pip install mujoco ({error})") from None
        package = Path(mujoco.__file__).parent
        shared = next(iter(sorted(package.glob("libmujoco.so*"))), None)
        if shared is None:
            raise MissingError(f"no libmujoco.so in {package}")
        try:
            self.model: Any = mujoco.MjModel.from_xml_string(mjcf(subject.robot))
        except ValueError as error:
            raise MissingError(f"it refuses the robot: {str(error).splitlines()[0]}") from None
        self.data = mujoco.MjData(self.model)
        self.code = library(HERE / "mujoco_loop.c", f"-I{package / 'include'}", f"-L{package}",
                            f"-l:{shared.name}", f"-Wl,-rpath,{package}", key=mujoco.__version__)
        self.convention = from_mujoco_model(subject.robot, self.model)
        given = subject.states()
        q, v = given["q"], given["v"]
        self.q, self.v = self.convention.q_to(q), self.convention.v_to(q, v)
        self.third = {"a": self.convention.a_to(q, v, given["a"]),
                      "tau": self.convention.tau_to(q, given["tau"])}

    def jobs(self, task: Task) -> list[Job]:
        if task.name not in ALGORITHMS:
            return []
        nv = self.model.nv
        out = np.zeros((STATES, nv, nv) if task.name == MASS else (STATES, nv))
        states = [self.q, self.v, self.third[task.third]]
        rows = [ctypes.c_void_p(x.ctypes.data) for x in (*states, out)]

        def run(repeats: int) -> None:
            self.code.mujoco_loop(
                ctypes.c_void_p(self.model._address), ctypes.c_void_p(self.data._address),
                ALGORITHMS.index(task.name), ctypes.c_long(repeats), ctypes.c_long(STATES), *rows)

        return [Job(LABEL, run, STATES, lambda: [out])]


def mjcf(robot: Robot) -> str:
    """The robot as MJCF, one element for each body, nested."""
    flags = " ".join(f'{name}="disable"' for name in OFF)
    roots = "".join(_body(robot, body) for body in robot.bodies if body.parent is None)
    return (f'<mujoco><compiler angle="radian" boundmass="0" boundinertia="0"/>'
            f'<option gravity="{_text(robot.gravity)}"><flag {flags}/></option>'
            f"<worldbody>{roots}</worldbody></mujoco>")


def _body(robot: Robot, body: Body) -> str:
    T, inertia = body.placement, body.inertia
    I = inertia.tensor
    six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    inner = "".join(_body(robot, child) for child in robot.bodies if child.parent == body.name)
    return (f'<body name={quoteattr(body.name)} pos="{_text(T[:3, 3])}" '
            f'xyaxes="{_text(T[:3, :2].T.ravel())}">{_joint(body)}'
            f'<inertial mass="{_text([inertia.mass])}" pos="{_text(inertia.com)}" '
            f'fullinertia="{_text(six)}"/>{inner}</body>')


def _joint(body: Body) -> str:
    joint, name = body.joint, quoteattr(body.joint_name)
    if isinstance(joint, cf.Free):
        return f"<freejoint name={name}/>"
    if isinstance(joint, cf.Revolute):
        place = f'axis="{_text(joint.axis)}" pos="{_text(joint.point)}"'
        return f'<joint name={name} type="hinge" {place}/>'
    if isinstance(joint, cf.Prismatic):
        return f'<joint name={name} type="slide" axis="{_text(joint.axis)}"/>'
    raise MissingError(f"the benchmark writes no {type(joint).__name__} as MJCF")


def _text(x: Array) -> str:
    return " ".join(repr(float(value)) for value in x)
