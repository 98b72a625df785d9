"""MATLAB and Octave: a function and its test vectors in a file each; one runner finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, final

from closedform.applications.export.pieces import Piece
from closedform.applications.export.targets.target import Target
from closedform.applications.export.vectors import Vectors
from closedform.lowerings.source.matlab import matlab_array, matlab_source
from closedform.program.program import Program


@final
@dataclass(frozen=True)
class Matlab(Target):
    """Functions in the precision of their inputs."""

    name: ClassVar[str] = "matlab"
    files: ClassVar[tuple[str, ...]] = ("NAME.m", "NAME_vectors.m")
    check: ClassVar[str] = "octave test_vectors.m"
    needs: ClassVar[str] = "Octave 7 or MATLAB"

    def texts(self, piece: Piece) -> Mapping[str, str]:
        return {f"{piece.name}.m": matlab_source(piece.program, piece.name, piece.about),
                f"{piece.name}_vectors.m": matlab_vectors(piece.program, piece.name,
                                                          piece.vectors)}

    def runner(self, folder: Path) -> Mapping[str, str]:
        return {"test_vectors.m": MATLAB_MAIN}


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
