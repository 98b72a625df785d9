"""Types are worth having: what users write checks, their mistakes do not, and stubs are fresh."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import closedform

PACKAGE = Path(closedform.__file__).parent
ROOT = Path(__file__).parents[2]
WRONG = Path(__file__).parent / "wrong_uses.py"


def checked(*files):
    """What mypy says about users' files: (path, line, kind of error) of each."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--check-untyped-defs",
         "--warn-unused-ignores", "--follow-imports=silent", "--no-error-summary",
         "--cache-dir", str(ROOT / ".mypy_cache" / "users"), *map(str, files)],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"^(.*?):(\d+): error: .*\[([a-z-]+)\]$", done.stdout, re.MULTILINE)
    return [(Path(path).name, int(line), kind) for path, line, kind in found]


def test_examples_check_as_a_user_would_write_them():
    examples = sorted((ROOT / "examples").glob("*.py"))
    assert len(examples) >= 10
    assert not any("type: ignore" in path.read_text(encoding="utf8") for path in examples)
    assert checked(*examples) == []


def test_mistakes_are_found():
    """A line of `wrong_uses.py` with a comment is an error of that kind, and no other line is."""
    lines = enumerate(WRONG.read_text(encoding="utf8").splitlines(), start=1)
    expected = [(WRONG.name, number, kind[1]) for number, line in lines
                if (kind := re.search(r"\) +# ([a-z]+-[a-z]+)$", line))]
    assert len(expected) > 30
    assert sorted(set(checked(WRONG))) == expected


@pytest.fixture(scope="module")
def stubs():
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools" / "stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.stubs()


def test_stubs_are_what_is_generated(stubs):
    """If not: `make stubs`."""
    assert set(stubs) == set(PACKAGE.rglob("*.pyi"))
    stale = [str(path.relative_to(PACKAGE)) for path, text in stubs.items()
             if path.read_text(encoding="utf8") != text]
    assert not stale, f"`make stubs` writes {', '.join(stale)} anew"


@pytest.mark.parametrize("row", closedform.CATALOGUE, ids=lambda row: row.name)
def test_a_row_has_an_exact_signature_on_compiled_robots(row, stubs):
    text = stubs[PACKAGE / "applications" / "compile" / "quantities.pyi"]
    found = re.search(rf"@(_kernel|_framed)\n    def {row.name}\((.*?)\) -> (\S+?):\n"
                      r' +"""(.*?)"""', text, re.DOTALL)
    kind, parameters, result, summary = found.groups()
    names = re.findall(r"(\w+): ", parameters)
    further = [name for name in ("frame", "reference", "wrenches") if row.takes(name)]
    assert names == [*row.inputs, *further, "out", "threads"]
    assert kind == ("_framed" if row.framed else "_kernel") and summary == row.summary
    assert ("np.ndarray" in result) == bool(row.shape or row.fields)
    fields = re.search(rf"class {result.partition('[')[0]}\(.*?\):\n((?:    \w+: _A\n)+)", text)
    assert re.findall(r"(\w+): _A", fields[1] if fields else "") == [name for name, _ in row.fields]
