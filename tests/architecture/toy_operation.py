"""Run in a copy of the package that has one operation more: every lowering knows it."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from closedform.applications.export.pieces import Piece
from closedform.applications.export.targets import TARGETS
from closedform.applications.export.vectors import Vectors
from closedform.lowerings import lanes, reference
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.source import jax as jax_lowering
from closedform.lowerings.to_casadi import casadi_function
from closedform.program.derivatives import tangent
from closedform.program.ops import OPS
from closedform.program.record import record
from closedform.program.rules.simplify import simplify
from export_tools import jax_function
from random_programs import random_inputs, random_program

PROGRAM = random_program(1, operations=40)
INPUTS = [random_inputs(PROGRAM, seed) for seed in range(5)]
EXPECTED = [reference.run(PROGRAM, *x) for x in INPUTS]
BATCH = [np.stack(x) for x in zip(*INPUTS, strict=True)]


def same(found, expected, tolerance=1e-12):
    for x, y in zip(found, expected, strict=True):
        assert np.allclose(np.asarray(x, dtype=float).reshape(np.shape(y)), y, rtol=tolerance,
                           atol=tolerance)


def told(name):
    print(name, flush=True)


new = next(op for op in reversed(OPS.values()) if op.name not in ("sin", "cos", "sqrt", "sign"))
assert any(x.op == new.name for x in PROGRAM.code)
told("reference")
same(lanes.run(PROGRAM, *BATCH), [np.stack(x) for x in zip(*EXPECTED, strict=True)])
told("lanes")
kernel = compile_program(PROGRAM)
same(kernel(*INPUTS[0]), EXPECTED[0])
same([x[3] for x in kernel(*BATCH)], EXPECTED[3])
same([x[3] for x in kernel(*(x.astype(np.float32) for x in BATCH))], EXPECTED[3], 1e-4)
told("native")
same(casadi_function(PROGRAM)(*(x.reshape(len(x) if x.ndim else 1, -1) for x in INPUTS[0])),
     EXPECTED[0])
told("casadi")
import jax  # noqa: E402

with jax.enable_x64(True):
    same(jax_function(PROGRAM)(*INPUTS[0]), EXPECTED[0])
    told("jax")
    jax_lowering.WRITTEN_OUT = 0
    same(jax_function(PROGRAM)(*INPUTS[0]), EXPECTED[0])
    told("jax_loop")

vectors = Vectors({s.name: x for s, x in zip(PROGRAM.inputs, BATCH, strict=True)},
                  {o.name: np.stack(x) for o, x in zip(
                      PROGRAM.outputs, zip(*EXPECTED, strict=True), strict=True)}, 1e-11)
piece = Piece("toy", PROGRAM, vectors, ["a toy"])
for name in ("python", "sympy", "latex", "listing", "c", "matlab", "javascript"):
    folder, target = Path(name), TARGETS[name]()
    folder.mkdir()
    for file, text in target.texts(piece).items():
        (folder / file).write_text(text, encoding="utf8")
    for file, text in target.runner(folder).items():
        (folder / file).write_text(text, encoding="utf8")
    command = target.check.replace("python ", f"{sys.executable} ")
    if shutil.which(command.split()[0]):
        done = subprocess.run(command, shell=True, cwd=folder, check=False, capture_output=True,
                              text=True)
        assert done.returncode == 0 and "all passed" in done.stdout, done.stdout + done.stderr
    text = "".join(target.texts(piece).values())
    assert f"{new.name}(" in text or f"\\{new.name}" in text
    told(name)

x, h = np.array([0.7]), 1e-30
one = record(lambda x: OPS[new.name].on(x[0]) * x, {"x": (1,)}, "one")
slope = reference.run(tangent(one, ["x"]), x, np.ones(1))[-1]
exact = np.imag(getattr(np, new.ufunc)(x + 1j * h) * (x + 1j * h)) / h
assert np.allclose(slope, exact, rtol=1e-14)
told("derivative")
same(reference.run(simplify(PROGRAM).program, *INPUTS[0]), EXPECTED[0])
told("simplified")
from closedform.arrays import namespace  # noqa: E402

for given in (x, x + 1j, x.astype(object)):
    found = getattr(namespace(given), new.name)(given)
    assert np.allclose(complex(found[0]), getattr(np, new.ufunc)(complex(given[0])))
told("complex")
ast.parse(Path("python/toy.py").read_text(encoding="utf8"))
