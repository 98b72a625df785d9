import numpy as np
import pytest

from closedform.lowerings import reference
from closedform.lowerings.source.matlab import is_name, matlab_array, matlab_source
from export_tools import run, tool
from random_programs import random_inputs, random_program


def matlab_value(x):
    rows = np.atleast_2d(x) if x.ndim != 1 else x[:, None]
    return "[" + "; ".join(" ".join(repr(float(y)) for y in row) for row in rows) + "]"


@pytest.mark.parametrize("seed", range(2))
def test_octave_computes_what_the_program_says(seed, tmp_path):
    octave = tool("octave")
    program = random_program(seed)
    (tmp_path / "f.m").write_text(matlab_source(program, "f", ["random"]))
    inputs = random_inputs(program, 1)
    arguments = ", ".join(matlab_value(np.asarray(x)) for x in inputs)
    (tmp_path / "go.m").write_text(
        f"[a, b, c] = f({arguments});\nprintf('%.17g ', a, b', c); printf('\\n');\n")
    told = run([octave, "--no-gui", "--quiet", "go.m"], tmp_path)
    found = np.array([float(x) for x in told.splitlines()[0].split()])
    expected = np.concatenate([x.ravel() for x in reference.run(program, *inputs)])
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)


def test_the_help_stands_behind_the_first_line():
    lines = matlab_source(random_program(1), "f", ["about this"]).splitlines()
    assert lines[0] == "function [y0, y1, y2] = f(x0, x1, x2)" and lines[1] == "% about this"


def test_names_that_matlab_does_not_take_are_known():
    assert is_name("panda_mass_matrix")
    assert not is_name("2r") and not is_name("x" * 64) and not is_name("a-b")


def test_numbers_keep_all_their_digits():
    values = [0.1 + 0.2, 1e-300, -3.0]
    assert [float(x) for x in matlab_array(values).strip("[]").split()] == values
