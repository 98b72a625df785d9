"""Frameworks are extras: imported when asked for, named when missing, in versions that are told."""

import re
import subprocess
import sys
import tomllib
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from closedform.lowerings.call.kernel import Kernel

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
NEWEST = PROJECT["tool"]["closedform"]["newest"]
FRAMEWORKS = ("jax", "torch", "casadi", "dask", "distributed", "xarray")


def printed(code, tmp_path):
    """What a new Python prints, with a cache of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
                          timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_neither_importing_nor_calling_imports_a_framework(tmp_path):
    code = (f"import sys, numpy as np, closedform as cf\n"
            f"def there(): return [x for x in {FRAMEWORKS} if x in sys.modules]\n"
            f"found = there()\n"
            f"arm = cf.compile(cf.load('planar2r'))\n"
            f"arm.inverse_dynamics.cotangent()(*np.ones((4, 2)))\n"
            f"arm.integrate(np.ones((3, 2)), np.ones(2))\n"
            f"print(found + there())")
    assert printed(code, tmp_path) == "[]"


@pytest.mark.parametrize("name", ["jax", "torch", "casadi"])
def test_a_framework_that_is_missing_is_named_with_its_extra(name, tmp_path):
    if not hasattr(Kernel, name):
        pytest.skip(f"NOT TESTED: kernels are no operators of {name}")
    code = (f"import sys\n"
            f"sys.modules[{name!r}] = None\n"                        # import raises ImportError
            f"import closedform as cf\n"
            f"try: cf.compile(cf.load('planar2r')).mass_matrix.{name}()\n"
            f"except cf.MissingDependency as error: print(error)")
    assert f"pip install 'closedform[{name}]'" in printed(code, tmp_path)
    assert name in EXTRAS


@pytest.mark.parametrize("name", NEWEST)
def test_the_versions_that_are_tested_are_told(name):
    """The oldest after >= in the extra, the newest in a table, which is never the smaller one."""
    found = [re.match(rf"{name}\s*>=\s*([\d.]+)", x) for x in EXTRAS.get(name, [])]
    if not any(found):
        pytest.skip(f"NOT TESTED: {name} is no extra")
    (least,) = (numbers(match[1]) for match in found if match)
    assert least <= numbers(NEWEST[name])
    try:
        here = version(name)
    except PackageNotFoundError:
        pytest.skip(f"NOT TESTED: pip install 'closedform[{name}]'")
    assert numbers(here) >= least
    if numbers(here) > numbers(NEWEST[name]):
        warnings.warn(f"{name} {here} is newer than {NEWEST[name]}, the newest that "
                      "pyproject.toml tells of", stacklevel=1)


def numbers(text):
    return tuple(int(x) for x in re.match(r"[\d.]*\d", text)[0].split("."))
