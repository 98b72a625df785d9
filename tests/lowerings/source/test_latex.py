import shutil
import subprocess

import numpy as np
import pytest

from closedform.lowerings import reference
from closedform.lowerings.source.latex import latex_reader, latex_source
from closedform.lowerings.to_sympy import program_expressions
from closedform.program.program import Entry, Output, Program
from random_programs import random_inputs, random_program


@pytest.mark.parametrize("seed", range(6))
def test_the_printed_equations_compute_what_the_program_says(seed, tmp_path):
    program = random_program(seed, operations=40)
    of = program_expressions(program)
    (tmp_path / "f.tex").write_text(latex_source(of, ["random"]), encoding="utf8")
    module = {"__file__": str(tmp_path / "f_latex.py")}
    exec(latex_reader(of, "f"), module)
    inputs = random_inputs(program, 1)
    for x, y in zip(module["f"](*inputs), reference.run(program, *inputs), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-12)


def test_the_reader_sees_a_changed_equation(tmp_path):
    program = random_program(0)
    live = next(e for o in program.outputs for e in o.entries if e.index >= 0)
    program = Program("one", program.inputs, (Output("y", (1,), (Entry(live.index, 1),)),),
                      program.code)
    of = program_expressions(program)
    text = latex_source(of, ["random"])
    (tmp_path / "f.tex").write_text(text.replace("y_{1} &= ", "y_{1} &= 2 + "), encoding="utf8")
    module = {"__file__": str(tmp_path / "f_latex.py")}
    exec(latex_reader(of, "f"), module)
    inputs = random_inputs(program, 1)
    np.testing.assert_allclose(module["f"](*inputs), reference.run(program, *inputs)[0] + 2)


def test_latex_compiles_the_document(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("NOT TESTED: no pdflatex on this machine; apt install texlive-latex-base")
    text = latex_source(program_expressions(random_program(0)), ["random_program"])
    (tmp_path / "f.tex").write_text(text, encoding="utf8")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "f.tex"],
                          cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
