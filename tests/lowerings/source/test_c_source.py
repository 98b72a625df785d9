import ctypes
import re

import numpy as np
import pytest

from closedform.arrays import OBJECTS
from closedform.lowerings import reference
from closedform.lowerings.source import assignments as statements
from closedform.lowerings.source.c_source import c_source
from closedform.lowerings.source.c_text import CFunction, number
from closedform.program.record import record
from export_tools import WARNINGS, run, tool
from random_programs import random_inputs, random_program


def written(folder, function):
    files = c_source(function)
    (folder / f"{function.name}.h").write_text(files.header)
    (folder / f"{function.name}.c").write_text(files.source)
    return files


def loaded(folder, function, *options):
    """The functions of a shared library."""
    written(folder, function)
    run([tool("gcc"), "-std=c99", *WARNINGS, "-O1", *options, "-shared", "-fPIC",
         f"{function.name}.c", "-o", "code.so", "-lm"], folder)
    return ctypes.CDLL(str(folder / "code.so"))


def call(code, function, inputs, states=None):
    """Outputs for one state, or for a batch through NAME_batch."""
    dtype = np.float64 if function.real == "double" else np.float32
    shape = () if states is None else (states,)
    arrays = [np.ascontiguousarray(x, dtype) for x in inputs]
    results = [np.full((*shape, *o.shape), np.nan, dtype) for o in function.program.outputs]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, *results)]
    if states is None:
        getattr(code, function.name)(*pointers)
    else:
        getattr(code, f"{function.name}_batch")(ctypes.c_size_t(states), *pointers)
    return results


@pytest.mark.parametrize("seed", range(4))
def test_c_computes_what_the_program_says(seed, tmp_path):
    function = CFunction(random_program(seed), "f", ["random"])
    code = loaded(tmp_path, function, "-ffp-contract=off")
    for k in range(5):
        inputs = random_inputs(function.program, k)
        expected = reference.run(function.program, *inputs)
        for x, y in zip(call(code, function, inputs), expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)


def test_a_program_in_pieces_computes_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(statements, "WHOLE", 20)
    monkeypatch.setattr(statements, "PIECE", 15)
    function = CFunction(random_program(5, operations=200), "f", ["random"])
    code = loaded(tmp_path, function, "-ffp-contract=off")
    assert (tmp_path / "f.c").read_text().count("static void f_") > 3
    inputs = random_inputs(function.program, 1, (3,))
    batch = call(code, function, inputs, 3)
    for s in range(3):
        one = [x[s] for x in inputs]
        for x, y, z in zip(call(code, function, one), reference.run(function.program, *one),
                           [b[s] for b in batch], strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)
            np.testing.assert_array_equal(x, z)


@pytest.mark.parametrize("states", [0, 1, 15, 16, 37])
def test_the_batch_loop_computes_every_state(states, tmp_path):
    function = CFunction(random_program(2), "f", ["random"])
    code = loaded(tmp_path, function, "-ffp-contract=off")
    inputs = random_inputs(function.program, 1, (states,))
    batch = call(code, function, inputs, states)
    for s in range(states):
        for x, y in zip(call(code, function, [z[s] for z in inputs]), batch, strict=True):
            np.testing.assert_allclose(y[s], x, rtol=1e-14, atol=1e-15)


def test_float_is_within_single_rounding(tmp_path):
    function = CFunction(random_program(3), "f", ["random"], real="float")
    source = written(tmp_path, function).source
    assert "double" not in source and not re.search(r"\b(sin|cos|sqrt)\(", source)
    code = loaded(tmp_path, function)
    inputs = [x.astype(np.float32) for x in random_inputs(function.program, 1)]
    for x, y in zip(call(code, function, inputs),
                    reference.run(function.program, *inputs), strict=True):
        np.testing.assert_allclose(x, y, atol=60 * np.finfo(np.float32).eps)


@pytest.mark.parametrize("compiler, options", [
    ("gcc", ["-std=c99"]), ("clang", ["-std=c99"]), ("g++", ["-x", "c++"])])
@pytest.mark.parametrize("real", ["double", "float"])
def test_no_compiler_finds_anything_to_warn_about(compiler, options, real, tmp_path):
    written(tmp_path, CFunction(random_program(4), "f", ["with */ in it"], real=real))
    run([tool(compiler), *options, *WARNINGS, "-O1", "-c", "f.c", "-o", "f.o"], tmp_path)


def test_gcc_vectorises_the_batch_loop(tmp_path):
    def motion(q, v):
        s, c = OBJECTS.sin(q), OBJECTS.cos(q)
        return s * v * v + 0.5 * c[::-1] / (2 + c * v)

    written(tmp_path, CFunction(record(motion, {"q": (3,), "v": (3,)}, "motion"), "f", ["motion"]))
    lines = (tmp_path / "f.c").read_text().splitlines()
    loops = [k + 1 for k, line in enumerate(lines) if line.startswith("        for (size_t i = 0")]
    told = run([tool("gcc"), "-std=c99", "-O3", "-fopt-info-vec", "-c", "f.c", "-o", "f.o"],
               tmp_path)
    vectorised = {int(x) for x in re.findall(r"f\.c:(\d+):.*loop vectorized", told)}
    assert loops[2] in vectorised                # gather, sines, arithmetic, scatter


def test_the_stated_stack_is_enough(tmp_path):
    function = CFunction(random_program(7, operations=300), "f", ["random"], batch=False)
    header = written(tmp_path, function).header
    stated = int(re.search(r"up to (\d+) bytes without", header).group(1))
    run([tool("gcc"), "-std=c99", "-O0", "-fstack-usage", "-c", "f.c", "-o", "f.o"], tmp_path)
    used = int((tmp_path / "f.su").read_text().split()[1])
    assert used <= stated + 256                  # saved registers, pointers, alignment


def test_nothing_is_allocated_and_nothing_is_inline_in_the_header(tmp_path):
    files = c_source(CFunction(random_program(1), "f", ["random"]))
    assert "inline" not in files.header and "static" not in files.header
    assert "malloc" not in files.source
    assert re.findall(r"#include [<\"](.*)[>\"]", files.source) == ["math.h", "f.h"]


def test_the_text_is_the_same_every_time():
    function = CFunction(random_program(1), "f", ["random"])
    assert c_source(function) == c_source(function)


@pytest.mark.parametrize("x", [0.1, 1e-300, 3.0, 1e22, 2.0**-1074, 123456789.123456789])
def test_literals_read_back_as_the_same_number(x):
    assert float(number("double", x)) == x
    assert number("float", x).endswith("f") and set(number("double", x)) & set(".e")
