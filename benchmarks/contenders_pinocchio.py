"""Pinocchio: its headers compiled here with -O3 -march=native, and its Python binding.

The robot comes to it as URDF, so that both sides have the same model.
"""

from __future__ import annotations

import ctypes
import timeit
from pathlib import Path
from typing import Any

import numpy as np
from building import HERE, MissingError, library
from clock import Job, cheapest
from subjects import DERIVATIVES, FD, ID, MASS, MATRICES, Subject, Task, split, urdf, width

from closedform.applications.conventions import from_pinocchio_model
from closedform.arrays import Array

CPP, PYTHON = "Pinocchio C++", "Pinocchio Python"

DEFINED = ("BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
           "BOOST_FUSION_INVOKE_MAX_ARITY=12")
"""What Pinocchio's own build defines for its users; its joints overflow Boost's usual limits."""

ALGORITHMS = ("rnea", "crba local", "crba world", "aba local", "aba world", "cholesky",
              "matrices local", "matrices world", "derivatives")
"""The order is that of `enum Algorithm` in pinocchio_loop.cpp."""

WAYS = {
    ID: ("rnea",), MASS: ("crba local", "crba world"),
    FD: ("aba local", "aba world", "cholesky"),
    MATRICES: ("matrices local", "matrices world"), DERIVATIVES: ("derivatives",),
}

CALLS = {
    ID: "pin.rnea(model, data, q, v, x)",
    MASS: "pin.crba(model, data, q)",
    FD: "pin.aba(model, data, q, v, x)",
    MATRICES: "pin.crba(model, data, q), pin.computeCoriolisMatrix(model, data, q, v), "
              "pin.computeGeneralizedGravity(model, data, q)",
    DERIVATIVES: "*pin.computeRNEADerivatives(model, data, q, v, x), data.tau",
}
"""What a user writes in Python."""


class Pinocchio:
    """One robot in Pinocchio."""

    def __init__(self, subject: Subject, build: bool) -> None:
        try:
            import pinocchio
        except ImportError as error:
            raise MissingError(f"pip install pin ({error})") from None
        self.pin: Any = pinocchio
        self.model = pinocchio.buildModelFromXML(urdf(subject.robot))
        self.model.gravity.linear = subject.robot.gravity
        self.data = self.model.createData()
        self.convention = from_pinocchio_model(subject.robot, self.model)
        given = subject.states()
        q, v = given["q"], given["v"]
        self.q, self.v = self.convention.q_to(q), self.convention.v_to(q, v)
        # B does not depend on q here, so that a and τ are translated alike
        self.third = {name: self.convention.tau_to(q, given[name]) for name in ("a", "tau")}
        self.reason = ""
        try:
            self.code = compiled("pinocchio_loop.cpp", Path(pinocchio.__file__),
                                 pinocchio.__version__, build)
        except MissingError as error:
            self.reason = f"{CPP}: {error}"

    def jobs(self, task: Task) -> list[Job]:
        ways = WAYS.get(task.name, ())
        jobs = [self._native(name, task) for name in ways] if not self.reason else []
        jobs = [cheapest(jobs)] if jobs else []
        call = self._call(task)
        return [*jobs, *([call] if call else [])]

    def _native(self, name: str, task: Task) -> Job:
        bench = _Bench(self.code, self.model, self.q, self.v, self.third[task.third])
        out = np.zeros((len(self.q), width(task, self.model.nv)))
        return Job(CPP, lambda repeats: bench.run(ALGORITHMS.index(name), repeats, out), len(out),
                   lambda: split(task, self.model.nv, out))

    def _call(self, task: Task) -> Job | None:
        """The call from Python, for one state."""
        if task.name not in CALLS:
            return None
        names: dict[str, Any] = {
            "pin": self.pin, "model": self.model, "data": self.data, "q": self.q[0].copy(),
            "v": self.v[0].copy(), "x": self.third[task.third][0].copy()}
        call = timeit.Timer(f"({CALLS[task.name]})", globals=names)

        def results() -> list[Array]:
            return [np.array(part)[None] for part in eval(f"({CALLS[task.name]},)", names)]

        return Job(PYTHON, lambda repeats: call.timeit(20 * repeats), 20, results)


class _Bench:
    """The C++ side: a model, its data and the states."""

    def __init__(self, code: ctypes.CDLL, model: Any, *states: Array) -> None:
        self.code = code
        code.bench_new.restype = ctypes.c_void_p
        self.handle = ctypes.c_void_p(code.bench_new(_pointer(model.gravity.linear)))
        for k in range(1, model.njoints):
            self._add(model, k)
        rows = [_pointer(x) for x in states]
        code.bench_states(self.handle, ctypes.c_long(len(states[0])), *rows)

    def _add(self, model: Any, k: int) -> None:
        joint, place, inertia = model.joints[k], model.jointPlacements[k], model.inertias[k]
        kind = joint.shortname()
        axis = joint.extract().axis if kind.endswith("Unaligned") else np.zeros(3)
        tensor = np.concatenate([[inertia.mass], inertia.lever, np.ravel(inertia.inertia)])
        refused = self.code.bench_add(
            self.handle, model.parents[k], kind.encode(), _pointer(axis),
            _pointer(place.rotation), _pointer(place.translation), _pointer(tensor))
        if refused:
            raise MissingError(f"{CPP}: the benchmark knows no {kind}")

    def run(self, algorithm: int, repeats: int, out: Array) -> None:
        self.code.bench_run(self.handle, algorithm, ctypes.c_long(repeats), _pointer(out))

    def __del__(self) -> None:
        self.code.bench_delete(self.handle)


def _pointer(x: Array) -> Any:
    array = np.ascontiguousarray(x, dtype=float)
    return array.ctypes.data_as(ctypes.c_void_p)        # keeps the array alive


def compiled(source: str, package: Path, version: str, build: bool) -> ctypes.CDLL:
    """A compiled loop, against the headers that came with the wheel."""
    include = next((p / "include" for p in package.parents if p.name == "cmeel.prefix"), None)
    if include is None:
        raise MissingError("its headers are not beside the package; the wheel `pin` has them")
    eigen = next((p for p in (include / "eigen3", Path("/usr/include/eigen3")) if p.exists()), None)
    if eigen is None:
        raise MissingError("no Eigen: pip install cmeel-eigen, or apt install libeigen3-dev")
    options = ["-std=c++17", *(f"-D{x}" for x in DEFINED), f"-I{include}", f"-I{eigen}"]
    return library(HERE / source, *options, key=version, build=build)
