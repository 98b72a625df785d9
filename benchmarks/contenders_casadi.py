"""CasADi: conventional spatial algebra in SX, its C code generator, gcc -O3 -march=native."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from building import FOLDER, HERE, MissingError, library
from clock import Job
from conventional import Scalars, forward_dynamics, inverse_dynamics, mass_matrix, prepared
from subjects import ARM, DERIVATIVES, FD, ID, MASS, STATES, Subject, Task, split

from closedform.applications.conventions import Convention, pinocchio_convention
from closedform.arrays import Array
from closedform.model.robot import Robot

LABEL = "CasADi"


class Casadi:
    """One robot in CasADi; q, v, a are ours."""

    def __init__(self, subject: Subject) -> None:
        try:
            import casadi
        except ImportError as error:
            raise MissingError(f"pip install casadi ({error})") from None
        self.ca: Any = casadi
        self.subject, self.robot = subject, prepared(subject.robot)
        self.convention = same_convention(subject.robot)

    def jobs(self, task: Task) -> list[Job]:
        # large functions keep gcc busy for minutes
        if task.name not in ((ID, MASS, FD, DERIVATIVES) if self.subject.kind == ARM else (ID,)):
            return []
        function = self._function(task)
        code = library(*self._source(function))
        given = self.subject.states()
        inputs = [given[name] for name in ("q", "v", task.third)]
        out = np.zeros((STATES, function.numel_out(0)))
        return [Job(LABEL, _loop(code, function, [*inputs, out]), STATES,
                    lambda: split(task, self.robot.nv, out))]

    def _function(self, task: Task) -> Any:
        ca, robot = self.ca, self.robot
        q, v, x = ca.SX.sym("q", robot.nq), ca.SX.sym("v", robot.nv), ca.SX.sym("x", robot.nv)
        of = Scalars(lambda c: np.asarray(c, dtype=float).astype(object), _objects,
                     lambda x: _objects([[ca.sin(x)]]), lambda x: _objects([[ca.cos(x)]]))
        q_s, v_s, x_s = (_objects([[s[i] for i in range(s.numel())]])[0] for s in (q, v, x))
        if task.name == MASS:
            parts = [entry for row in mass_matrix(robot, q_s, of) for entry in row]
        elif task.name == FD:
            parts = forward_dynamics(robot, q_s, v_s, x_s, of)
        else:
            parts = inverse_dynamics(robot, q_s, v_s, x_s, of)
        result = ca.densify(ca.vertcat(*parts))
        if task.name == DERIVATIVES:
            by = [ca.densify(ca.jacobian(result, s)).T for s in (q, v, x)]     # row by row
            result = ca.densify(ca.vertcat(*(ca.vec(d) for d in by), result))
        return ca.Function("f", [q, v, x], [result])

    def _source(self, function: Any) -> tuple[Any, ...]:
        """The generated C, in a file named by its content."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        generator = self.ca.CodeGenerator("f.c", {"with_header": False})
        generator.add(function)
        text = generator.dump()
        path = FOLDER / f"casadi-{hashlib.sha256(text.encode()).hexdigest()[:16]}.c"
        path.write_text(text)
        return path, "-lm"


def _objects(rows: list[list[Any]]) -> Any:
    """Scalars in an object array, so that NumPy does the algebra and CasADi the arithmetic."""
    result = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            result[i, j] = x
    return result


def same_convention(robot: Robot) -> Convention:
    """Our own habits and order."""
    return pinocchio_convention(robot, robot.joint_names)


def _loop(code: ctypes.CDLL, function: Any, arrays: list[Array]) -> Callable[[int], None]:
    loop = library(HERE / "loops.c").loop_casadi
    rows = (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))
    widths = (ctypes.c_long * len(arrays))(*(x[0].size for x in arrays))
    iw = np.zeros(function.sz_iw() + 8, dtype=np.int64)
    w = np.zeros(function.sz_w() + 8)

    def run(repeats: int) -> None:
        loop(code.f, rows, widths, ctypes.c_long(len(arrays[0])), ctypes.c_long(repeats),
             ctypes.c_void_p(iw.ctypes.data), ctypes.c_void_p(w.ctypes.data))

    return run
