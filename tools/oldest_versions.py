"""The frameworks in the oldest versions that pyproject.toml allows: a part of `make slow`.

    python tools/oldest_versions.py              all of them
    python tools/oldest_versions.py jax casadi   some

Makes build/oldest, an environment with this package and each framework in the version that its
extra names after >=, and runs the framework's tests there. PyTorch comes from its own index of
wheels without CUDA; where that is out of reach, or has no such wheel for this Python, it is said
and left out.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "oldest"
WITHOUT_CUDA = "https://download.pytorch.org/whl/cpu"
TOOLS = ("pytest>=8.2", "hypothesis>=6.100", "mpmath>=1.3")
TESTS = ("tests/lowerings/frameworks", "tests/lowerings/source/test_jax.py",
         "tests/lowerings/test_to_casadi.py")
FRAMEWORKS = ("jax", "torch", "casadi", "dask", "cluster")


def oldest(extra: str) -> list[str]:
    """The requirements of an extra with >= made ==; none if there is no such extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    given = project["optional-dependencies"].get(extra, [])
    return [re.sub(r"\s*>=\s*([\w.]+).*", r"==\1", requirement) for requirement in given]


def installed(python: Path, *requirements: str) -> bool:
    """Whether pip could install them."""
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*command, *requirements], check=False).returncode == 0


def environment() -> Path:
    """The Python of a new environment with this package and what the tests need."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(FOLDER)], check=True)
    python = FOLDER / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not installed(python, "-e", str(ROOT), *TOOLS):
        sys.exit("the package itself could not be installed")
    return python


def main() -> None:
    python, wanted = environment(), sys.argv[1:] or FRAMEWORKS
    for extra in wanted:
        pins = oldest(extra)
        where = ["--index-url", WITHOUT_CUDA] if extra == "torch" else []
        if pins and not installed(python, *where, *pins):
            if extra != "torch":
                sys.exit(f"{', '.join(pins)} could not be installed")
            print(f"NOT TESTED: no wheel of {', '.join(pins)} without CUDA", flush=True)
        elif pins:
            print(f"oldest: {', '.join(pins)}", flush=True)
    there = [test for test in TESTS if (ROOT / test).exists()]
    sys.exit(subprocess.run([str(python), "-m", "pytest", "-q", "-m", "not slow", *there],
                            cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
