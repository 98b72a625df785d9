import json

import numpy as np
import pytest

from closedform.lowerings import reference
from closedform.lowerings.source.javascript import javascript_number, javascript_source
from export_tools import run, tool
from random_programs import random_inputs, random_program

LONG = {"operations": 1500, "outputs": ((1500,), (3, 3), ())}


@pytest.mark.parametrize("seed, size", [(0, {}), (1, {}), (2, LONG)])
def test_node_computes_what_the_program_says(seed, size, tmp_path):
    program = random_program(seed, **size)
    text = javascript_source(program, "f", ["random"])
    assert ("f_1(" in text) == bool(size)          # long ones are cut
    (tmp_path / "f.mjs").write_text(text, encoding="utf8")
    inputs = random_inputs(program, 1)
    given = json.dumps([np.ravel(x).tolist() for x in inputs])
    (tmp_path / "go.mjs").write_text(
        f"import {{ f }} from './f.mjs';\nconst y = f(...{given});\n"
        "console.log(JSON.stringify(Object.values(y).flatMap(x => [...x])));\n")
    found = json.loads(run([tool("node"), "go.mjs"], tmp_path))
    expected = np.concatenate([x.ravel() for x in reference.run(program, *inputs)])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_numbers_keep_all_their_digits():
    for x in (0.1 + 0.2, 1e-300, -3.0, 5e-324, 1e22):
        assert float(javascript_number(x)) == x
    assert [javascript_number(x) for x in (np.inf, -np.inf, np.nan)] == [
        "Infinity", "-Infinity", "NaN"]


@pytest.mark.parametrize("name", ["*/ alert(1) /*", "a\u2028b\nc"])
def test_names_of_others_stay_in_their_comment(name):
    head = javascript_source(random_program(1), "f", [name]).split("export")[0]
    assert head.count("*/") == 1 and "\u2028" not in head
