"""What is taken away: numbers as CSV, code with its runner as a zip, Python that makes the state.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from html import escape
from pathlib import Path

import numpy as np

from closedform.applications.export.export import export
from closedform.applications.live.page import live_page
from closedform.applications.live.robots import live_robot, start
from closedform.applications.studio.shown import Shown, as_robot
from closedform.applications.studio.state import StudioState, gravity, load
from closedform.applications.studio.subject import StudioRobot
from closedform.errors import ArgumentError
from closedform.model.robot import Robot

QUANTITIES = ("inverse_dynamics", "mass_matrix", "gravity_torque", "coriolis_matrix",
              "forward_dynamics", "inverse_dynamics_derivatives", "poses", "regressor")
TARGETS = ("c", "wasm", "javascript", "matlab", "python", "jax", "casadi", "latex")
REPAIR = ("from closedform.model.lint.repair import repaired", "robot = repaired(robot).robot")


def text(given: str) -> str:
    """A text of any length as HTML."""
    return escape(given, quote=True)


def packed(robot: Robot, quantity: str, target: str) -> bytes:
    """`cf.export` of a quantity, its runner and its test vectors as a zip."""
    if quantity not in QUANTITIES or target not in TARGETS:
        raise ArgumentError(f"no export of {quantity!r:.60} to {target!r:.60}")
    stream = io.BytesIO()
    with tempfile.TemporaryDirectory(prefix="closedform-export-") as folder:
        files = export(robot, quantity, target, folder)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
            for path in files:
                made.write(path, Path(path).relative_to(folder))
    return stream.getvalue()


def live(subject: StudioRobot, state: StudioState) -> str:
    """The live page of the robot with its load and mount, which begins at this posture."""
    robot = as_robot(subject, state)
    return live_page(live_robot(robot, start(robot, state.q)))


def csv_of(s: Shown) -> str:
    """Every number at the state, to the last bit: quantity, row, column, value."""
    lines = ["quantity,row,column,value"]
    found = {"q": s.state.q, "v": s.state.v, "a": s.state.a, **s.places._asdict(),
             **s.terms._asdict()}
    for name, array in found.items():
        A = np.atleast_1d(np.asarray(array, dtype=float))
        for index in np.ndindex(A.shape):
            row = "/".join(map(str, index[:-1])) if len(index) > 1 else str(index[0])
            column = str(index[-1]) if len(index) > 1 else ""
            lines.append(f"{name},{row},{column},{float(A[index])!r}")
    return "\r\n".join(lines) + "\r\n"


def python(subject: StudioRobot, state: StudioState) -> str:
    """The lines that give this very state and its numbers."""
    loading = [f"{name}={x!r}" for name, x in subject.loading.items()]
    lines = ["import closedform as cf", "import numpy as np", "",
             f"robot = cf.load({', '.join([repr(subject.source), *loading])})",
             *(REPAIR if subject.is_repaired else ()),
             f"robot = robot.with_gravity({gravity(subject, state).tolist()})"]
    if state.load:
        lines.append("robot = robot.with_payload(cf.Inertia.from_parameters("
                     f"{load(state).tolist()}), {state.tip!r})")
    lines += [f"{name} = np.array({x.tolist()})" for name, x in
              (("q", state.q), ("v", state.v), ("a", state.a))]
    lines += ["", "M = cf.mass_matrix(robot, q)", "C = cf.coriolis_matrix(robot, q, v)",
              "g = cf.gravity_torque(robot, q)", "tau = cf.inverse_dynamics(robot, q, v, a)",
              f"T = cf.frame_pose(robot, q, {state.tip!r})", "print(tau)", ""]
    return "\n".join(lines)
