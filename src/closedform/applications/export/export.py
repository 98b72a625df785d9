"""Quantities of a robot as source that stands alone, with test vectors and their runner beside.

    cf.export(robot, ["inverse_dynamics", "mass_matrix"], "c", "folder")
    cf.export(robot, "inverse_dynamics", "jax", "folder", inputs=cf.Gravity())
    cf.export(arm, "inertia_matrix", "matlab", "folder")            a flexible arm's equation
    cf.export(model, "motor_torque", "c", "folder")                 one of elastic joints

The same programs leave that our kernels run; the test vectors come from the closed forms on floats.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from closedform.applications.compile.kernels import Asked, At, asked_request
from closedform.applications.compile.preparation import (
    Gravity,
    Parameters,
    PayloadAt,
    Preparation,
    Request,
    RuntimeInput,
)
from closedform.applications.elastic.programs import CompiledElastic
from closedform.applications.export.header import arm_header, elastic_header, robot_header
from closedform.applications.export.pieces import Piece, SymbolicPiece
from closedform.applications.export.symbolic import symbolic_piece
from closedform.applications.export.targets import TARGETS
from closedform.applications.export.vectors import function_vectors, robot_vectors
from closedform.applications.flexible.equations import EQUATIONS, equation, equation_program
from closedform.arrays import numeric
from closedform.errors import ArgumentError, suggestion
from closedform.maths.catalogue import gradient, quantity
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import PAPER, Model
from closedform.maths.frames import Reference
from closedform.model.elastic import ElasticJoints
from closedform.model.joints import Free, Mimic, Planar, Spherical
from closedform.model.robot import Robot
from closedform.program.program import Program

LONGEST = 54
"""Characters of a function's name: MATLAB tells 63 apart, and `_vectors` follows."""


@dataclass(frozen=True)
class ExportOptions:
    """How to export.

    `inputs`: what is given at run time. `wrenches`: loads on the bodies are an input. `fused`: one
    function for all quantities instead of one each; `name`: what it is called. `single`: float
    instead of double. `batch`: C gets a loop over states too. `order`: that of jets. `symbols`:
    SymPy and LaTeX name lengths, masses and gravity instead of writing their numbers. `damping`
    and `model` are those of flexible arms.
    """

    inputs: RuntimeInput | Sequence[RuntimeInput] = ()
    wrenches: bool = False
    fused: bool = False
    name: str | None = None
    single: bool = False
    batch: bool = True
    order: int = 2
    symbols: bool = False
    snap: float = 1e-9
    damping: Any = 0.0
    model: Model = PAPER

    @property
    def runtime(self) -> tuple[RuntimeInput, ...]:
        given = self.inputs
        return (given,) if isinstance(given, Parameters | Gravity | PayloadAt) else tuple(given)


def export(robot: Robot | FlexibleArm | ElasticJoints, quantities: Asked | Sequence[Asked],
           target: str, path: str | Path, options: ExportOptions | None = None,
           **changes: Any) -> list[Path]:
    """Write quantities of a robot, a flexible arm or elastic joints; the files written.

    `target` is one of c, matlab, python, jax, casadi, sympy, latex; `path` a folder, which is made.
    `options`, and keywords that change them, are those of `ExportOptions`. Functions are named
    ROBOT_QUANTITY. The folder's runner (test_vectors.c, .m or .py) checks all that is in it.
    """
    if target not in TARGETS:
        raise ArgumentError(f"no target {target!r}; {suggestion(target, TARGETS)}")
    if not isinstance(quantities, str | At | Iterable) or not isinstance(path, str | PathLike):
        raise ArgumentError("quantities must be names and path a folder, not "
                            f"{quantities!r} and {path!r}")
    asked = [quantities] if isinstance(quantities, str | At) else list(quantities)
    if not asked:
        raise ArgumentError("quantities must name at least one quantity")
    chosen = _chosen(options or ExportOptions(), changes)
    pieces: Sequence[Piece | SymbolicPiece]
    if isinstance(robot, FlexibleArm):
        pieces = [_arm_piece(robot, name, chosen) for name in asked]
    elif isinstance(robot, ElasticJoints):
        pieces = [_elastic_piece(robot, name, chosen) for name in asked]
    elif isinstance(robot, Robot):
        pieces = _robot_pieces(robot, asked, target, chosen)
    else:
        raise ArgumentError("robot must be a cf.Robot, cf.FlexibleArm or cf.ElasticJoints, "
                            f"not {type(robot).__name__}; cf.load(path or name) makes one")
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    files = [file for piece in pieces for file in TARGETS[target].write(piece, folder)]
    return [*files, TARGETS[target].runner(folder)]


def asked_by_name(name: str, frame: str | None, reference: str | None) -> Asked:
    """What words ask for: a quantity, and a frame and a reference where it takes them."""
    if not quantity(name).framed:
        return name
    if frame is None:
        raise ArgumentError(f"{name} needs a frame")
    known = {r.name.lower(): r for r in Reference}
    if reference is not None and reference.lower() not in known:
        raise ArgumentError(f"reference is one of {', '.join(known)}, not {reference!r}")
    return At(name, frame, None if reference is None else known[reference.lower()])


def _chosen(options: ExportOptions, changes: dict[str, Any]) -> ExportOptions:
    known = ExportOptions.__dataclass_fields__
    for key in changes:
        if key not in known:
            raise ArgumentError(f"export has no option {key!r}; {suggestion(key, known)}")
    return replace(options, **changes)


def _robot_pieces(robot: Robot, asked: Sequence[Asked], target: str,
                  options: ExportOptions) -> Sequence[Piece | SymbolicPiece]:
    requests = [asked_request(robot, x) for x in asked]
    groups = [requests] if options.fused else [[r] for r in requests]
    symbolic = options.symbols or not numeric(robot.parameters)
    if symbolic and target not in ("sympy", "latex"):
        raise ArgumentError(f"symbols leave to sympy and latex, not to {target}")
    if symbolic:
        return [symbolic_piece(robot, r, function_name(robot.name, [r]), options.order)
                for r in requests]
    prepared = Preparation(robot, options.runtime, options.snap, options.order)
    return [_robot_piece(prepared, group, target, options) for group in groups]


def _robot_piece(prepared: Preparation, requests: Sequence[Request], target: str,
                 options: ExportOptions) -> Piece:
    loaded = options.wrenches and any(r.row.wrenches for r in requests)
    program = prepared.program(requests, loaded)
    robot = prepared.robot
    return Piece(
        options.name if options.name and options.fused else function_name(robot.name, requests),
        program, robot_vectors(robot, requests, options.runtime, program),
        robot_header(robot, requests, program, options.runtime), options.single, options.batch,
        _derivatives(prepared, requests, loaded) if target == "jax" else None)


def _derivatives(prepared: Preparation, requests: Sequence[Request],
                 loaded: bool) -> Program | None:
    """The exact partial derivatives of a quantity by its own inputs, where they are known.

    Joints whose q is no vector (quaternions; planar ones, whose v is the body's) have derivatives
    along tangents, which are not partial derivatives by the entries of q.
    """
    joints = [b.joint.joint if isinstance(b.joint, Mimic) else b.joint
              for b in prepared.robot.bodies]
    if len(requests) > 1 or any(isinstance(j, Free | Spherical | Planar) for j in joints):
        return None
    found = gradient(requests[0].row)
    return None if found is None else prepared.program([Request(found)], loaded)


def _arm_piece(arm: FlexibleArm, name: Asked, options: ExportOptions) -> Piece:
    if not isinstance(name, str) or options.runtime or options.fused:
        raise ArgumentError("equations of a flexible arm leave one by one, by name, "
                            "without run-time inputs")
    program, row = equation_program(arm, name, options.damping, options.model), EQUATIONS[name]
    vectors = function_vectors(equation(arm, row, options.damping, options.model), program)
    return Piece(_shortened(f"{arm.name}_{name}"), program, vectors,
                 arm_header(arm, name, row.summary, program), options.single, options.batch)


def _elastic_piece(model: ElasticJoints, name: Asked, options: ExportOptions) -> Piece:
    if not isinstance(name, str) or options.runtime or options.fused:
        raise ArgumentError("equations of elastic joints leave one by one, by name, "
                            "without run-time inputs")
    row, program = quantity(name, ElasticJoints), CompiledElastic(model).program(name)
    vectors = function_vectors(lambda *x: row.definition(model, *x), program, model.robot)
    return Piece(_shortened(f"{model.robot.name}_elastic_{name}"), program, vectors,
                 elastic_header(model, name, program), options.single, options.batch)


def function_name(robot: str, requests: Sequence[Request]) -> str:
    """ROBOT_QUANTITY, with frame and reference, as a name in every language."""
    parts = []
    for r in requests:
        reference = "" if r.reference is None else f"_{r.reference.name.lower()}"
        parts.append(r.row.name + (f"_{r.frame}{reference}" if r.frame else ""))
    return _shortened(f"{robot}_{'_and_'.join(parts)}")


def _shortened(text: str) -> str:
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    name = name if name[:1].isalpha() else f"robot_{name}"
    if len(name) <= LONGEST:
        return name
    return f"{name[:LONGEST - 9]}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
