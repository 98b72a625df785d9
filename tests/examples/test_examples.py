"""Every example runs, in an empty folder, and writes the figures that it speaks of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9][0-9]_*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_the_example_runs(path, tmp_path):
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True,
                          timeout=300, env={**os.environ, "MPLBACKEND": "Agg"}, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    if "savefig" in path.read_text(encoding="utf8"):
        assert list(tmp_path.rglob("*.png"))
