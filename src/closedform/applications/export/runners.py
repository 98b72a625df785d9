"""Runners of the test vectors, one in each folder: they tell, and their exit status too.

Vectors stand beside each exported file, so that a folder may grow: C's runner is written again for
all of them, those of MATLAB and Python find them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from closedform.applications.export.vectors import Vectors
from closedform.lowerings.source.assignments import output_names
from closedform.lowerings.source.c_text import Real, c_array
from closedform.lowerings.source.matlab import matlab_array
from closedform.program.program import Program, size

SINGLE = 1e8
"""How much coarser single precision is than double, and some."""

# ------------------------------------------------------------------------------------------ C
C_MAIN = """\
/* Checks every exported function against its test vectors: cc *.c -lm && ./a.out */

#include <stdio.h>
{includes}
int main(void)
{{
    int failed = 0;
{calls}
    printf(failed ? "%d FAILED\\n" : "all passed\\n", failed);
    return failed != 0;
}}
"""


def c_main(names: Sequence[str]) -> str:
    """The text of test_vectors.c for the functions of a folder."""
    return C_MAIN.format(includes="".join(f'#include "{x}_vectors.h"\n' for x in names),
                         calls="\n".join(f"    failed += {x}_check();" for x in names))


def c_vectors(program: Program, name: str, vectors: Vectors, real: Real, batch: bool) -> str:
    """The text of NAME_vectors.h: numbers, and a function that compares."""
    outputs, count = output_names(program), vectors.count
    tolerance = vectors.tolerance * (1 if real == "double" else SINGLE)
    lines = [f"/* Test vectors of {name}, from the closed form on floats. */", "",
             "#include <math.h>", "#include <stdio.h>", f'#include "{name}.h"', ""]
    for key, array in vectors.inputs.items():
        lines += c_array(real, f"{name}_{key}", array.ravel().tolist(), count)
    for key, array in zip(outputs, vectors.outputs.values(), strict=True):
        lines += c_array("double", f"{name}_{key}", array.ravel().tolist(), count)
    given = [f"{name}_{s.name}" for s in program.inputs]
    sizes = [max(size(o.shape), 1) for o in program.outputs]
    lines += ["", f"static int {name}_check(void)", "{", "    double worst = 0, scale;",
              *(f"    static {real} {x}[{count}][{n}];" for x, n in zip(outputs, sizes, strict=True)
                ), f"    for (int round = 0; round < {1 + batch}; ++round) {{"]
    calls = ", ".join([*(f"{x}[s]" for x in given), *(f"{x}[s]" for x in outputs)])
    whole = ", ".join([*(f"{x}[0]" for x in given), *(f"{x}[0]" for x in outputs)])
    lines += ["        if (round == 0)", f"            for (int s = 0; s < {count}; ++s) "
              f"{name}({calls});"]
    if batch:
        lines += ["        else", f"            {name}_batch({count}, {whole});"]
    for x, n in zip(outputs, sizes, strict=True):
        lines += [f"        for (int s = 0; s < {count}; ++s) {{", "            scale = 1;",
                  f"            for (int k = 0; k < {n}; ++k)",
                  f"                scale = fmax(scale, fabs({name}_{x}[s][k]));",
                  f"            for (int k = 0; k < {n}; ++k) {{",
                  f"                const double error = fabs((double){x}[s][k] - "
                  f"{name}_{x}[s][k])/scale;",
                  "                if (!(error < 1e300)) worst = 1e300;",
                  "                else if (error > worst) worst = error;",
                  f"                {x}[s][k] = 0;", "            }", "        }"]
    lines += ["    }", f'    printf("%s {name}: largest error %.1e, allowed {tolerance:.1e}\\n",',
              f'           worst <= {tolerance!r} ? "passed" : "FAILED", worst);',
              f"    return !(worst <= {tolerance!r});", "}"]
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------- MATLAB
MATLAB_MAIN = """\
% Checks every exported function of this folder against its test vectors; an error if one fails.
%   octave test_vectors.m        matlab -batch test_vectors
closedform_folder = fileparts(mfilename('fullpath'));
addpath(closedform_folder);
closedform_files = dir(fullfile(closedform_folder, '*_vectors.m'));
closedform_failed = 0;
for closedform_file = closedform_files'
  [~, closedform_name] = fileparts(closedform_file.name);
  if strcmp(closedform_name, 'test_vectors'), continue, end
  closedform_case = feval(closedform_name);
  closedform_worst = 0;
  for closedform_s = 1:closedform_case.count
    closedform_given = cell(1, numel(closedform_case.inputs));
    for closedform_k = 1:numel(closedform_given)
      closedform_x = closedform_case.inputs{closedform_k};
      closedform_shape = closedform_case.input_shapes{closedform_k};
      closedform_given{closedform_k} = permute(reshape(closedform_x(closedform_s, :), ...
        fliplr(closedform_shape)), numel(closedform_shape):-1:1);
    end
    closedform_found = cell(1, numel(closedform_case.outputs));
    [closedform_found{:}] = feval(closedform_case.name, closedform_given{:});
    for closedform_k = 1:numel(closedform_found)
      closedform_y = closedform_found{closedform_k};
      closedform_y = permute(closedform_y, ndims(closedform_y):-1:1);
      closedform_x = closedform_case.outputs{closedform_k}(closedform_s, :);
      closedform_error = abs(closedform_y(:)' - closedform_x)/max(1, max(abs(closedform_x)));
      closedform_error(~isfinite(closedform_error)) = Inf;
      closedform_worst = max([closedform_worst, closedform_error]);
    end
  end
  closedform_verdict = 'passed';
  if ~(closedform_worst <= closedform_case.tolerance)
    closedform_verdict = 'FAILED';
    closedform_failed = closedform_failed + 1;
  end
  fprintf('%s %s: largest error %.1e, allowed %.1e\\n', closedform_verdict, ...
    closedform_case.name, closedform_worst, closedform_case.tolerance);
end
if closedform_failed
  error('closedform:testVectors', '%d FAILED', closedform_failed);
end
fprintf('all passed\\n');
"""


def matlab_vectors(program: Program, name: str, vectors: Vectors) -> str:
    """The text of NAME_vectors.m."""
    lines = ["function vectors = " + f"{name}_vectors()",
             f"% Test vectors of {name}, from the closed form on floats.",
             f"  vectors.name = '{name}';", f"  vectors.count = {vectors.count};",
             f"  vectors.tolerance = {vectors.tolerance!r};"]
    for key, arrays, slots in (("inputs", vectors.inputs, program.inputs),
                               ("outputs", vectors.outputs, program.outputs)):
        rows = [";\n      ".join(matlab_array(row.ravel().tolist()) for row in array)
                for array in arrays.values()]
        shapes = [list(s.shape) if len(s.shape) > 1 else [*s.shape, 1] if s.shape else [1, 1]
                  for s in slots]
        lines += [f"  vectors.{key} = {{", *(f"      [{row}]," for row in rows), "  };"]
        if key == "inputs":
            lines.append(f"  vectors.input_shapes = {{{', '.join(map(str, shapes))}}};")
    return "\n".join([*lines, "end"]) + "\n"


# ------------------------------------------------------------------------------------- Python
PYTHON_MAIN = '''\
"""Checks every exported function of this folder against its test vectors; exit status 1 if one
fails:  python test_vectors.py
"""

import importlib
import json
import os
import pathlib
import sys

os.environ.setdefault("JAX_ENABLE_X64", "1")

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent


def as_numpy(case, function):
    """All states in one call, and one by one."""
    batch = function(*case["inputs"])
    single = [function(*(x[s] for x in case["inputs"])) for s in range(case["count"])]
    yield from ([x[s] for x in parts(batch)] for s in range(case["count"]))
    yield from (parts(x) for x in single)


def as_jax(case, function):
    import jax
    inputs = [x.astype(case["dtype"]) for x in case["inputs"]]
    batch = jax.jit(jax.vmap(function))(*inputs)
    return ([x[s] for x in parts(batch)] for s in range(case["count"]))


def as_casadi(case, function):
    def matrix(x):
        return x if x.ndim < 3 else x.reshape(len(x), -1)
    return ([np.array(x) for x in parts(function(*(matrix(x[s]) for x in case["inputs"])))]
            for s in range(case["count"]))


def one_by_one(case, function):
    return (parts(function(*(x[s] for x in case["inputs"]))) for s in range(case["count"]))


WAYS = {"python": as_numpy, "jax": as_jax, "casadi": as_casadi, "sympy": one_by_one,
        "latex": one_by_one}


def parts(result):
    return list(result) if isinstance(result, tuple) else [result]


def check(path):
    case = json.loads(path.read_text(encoding="utf8"))
    for key in ("inputs", "outputs"):
        case[key] = [np.array(x, dtype=float).reshape(case["count"], *shape)
                     for x, shape in zip(case[key], case[f"{key[:-1]}_shapes"])]
    module = importlib.import_module(case["module"])
    worst = 0.0
    for s, found in enumerate(WAYS[case["target"]](case, getattr(module, case["name"]))):
        assert len(found) == len(case["outputs"]), f"{case['name']} returns {len(found)} results"
        for x, expected in zip(found, case["outputs"]):
            y = expected[s % case["count"]]
            error = np.abs(np.asarray(x, dtype=float).ravel() - y.ravel())
            worst = np.fmax(worst, np.max(error, initial=0) / np.max(np.abs(y), initial=1))
            worst = np.inf if not np.all(np.isfinite(error)) else worst
    passed = worst <= case["tolerance"]
    print("passed" if passed else "FAILED", case["module"],
          f"largest error {worst:.1e}, allowed {case['tolerance']:.1e}")
    return passed


def main():
    sys.path.insert(0, str(HERE))
    failed = sum(not check(path) for path in sorted(HERE.glob("*_vectors.json")))
    print(f"{failed} FAILED" if failed else "all passed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
'''


def python_vectors(module: str, name: str, target: str, vectors: Vectors,
                   single: bool = False) -> str:
    """The text of MODULE_vectors.json."""
    fields = {
        "module": module, "name": name, "target": target, "count": vectors.count,
        "dtype": "float32" if single else "float64",
        "tolerance": vectors.tolerance * (SINGLE if single else 1),
        "input_shapes": [list(x.shape[1:]) for x in vectors.inputs.values()],
        "output_shapes": [list(x.shape[1:]) for x in vectors.outputs.values()],
        "inputs": [x.ravel().tolist() for x in vectors.inputs.values()],
        "outputs": [x.ravel().tolist() for x in vectors.outputs.values()]}
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"
