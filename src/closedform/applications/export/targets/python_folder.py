"""Folders of Python modules: test vectors in JSON beside each module, and one runner for all.

A module's function is called in one of a few ways, which its vectors name: on batches, through
`jax.vmap`, on matrices state by state as CasADi has them, or on arrays one by one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from closedform.applications.export.targets.target import Target
from closedform.applications.export.vectors import Vectors, vectors_text


@dataclass(frozen=True)
class PythonFolder(Target):
    """A target whose functions are reached from Python.

    `way`: how the runner calls one.
    """

    way: ClassVar[str] = "one by one"
    check: ClassVar[str] = "python test_vectors.py"

    @abstractmethod
    def sources(self, piece: Any, module: str) -> Mapping[str, str]:
        """The files of a function, among them MODULE.py."""

    def texts(self, piece: Any) -> Mapping[str, str]:
        module = f"{piece.name}{self.suffix}"
        return {**self.sources(piece, module),
                f"{module}_vectors.json": self._vectors(module, piece.name, piece.vectors)}

    def runner(self, folder: Path) -> Mapping[str, str]:
        return {"test_vectors.py": MAIN}

    def _vectors(self, module: str, name: str, vectors: Vectors) -> str:
        single = getattr(self, "single", False)
        return vectors_text(vectors, {"module": module, "name": name, "way": self.way,
                                      "dtype": "float32" if single else "float64"}, single)


MAIN = '''\
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


def batches(case, function):
    """All states in one call, and one by one."""
    batch = function(*case["inputs"])
    single = [function(*(x[s] for x in case["inputs"])) for s in range(case["count"])]
    yield from ([x[s] for x in parts(batch)] for s in range(case["count"]))
    yield from (parts(x) for x in single)


def vmap(case, function):
    import jax
    inputs = [x.astype(case["dtype"]) for x in case["inputs"]]
    batch = jax.jit(jax.vmap(function))(*inputs)
    return ([x[s] for x in parts(batch)] for s in range(case["count"]))


def matrices(case, function):
    def matrix(x):
        return x if x.ndim < 3 else x.reshape(len(x), -1)
    return ([np.array(x) for x in parts(function(*(matrix(x[s]) for x in case["inputs"])))]
            for s in range(case["count"]))


def one_by_one(case, function):
    return (parts(function(*(x[s] for x in case["inputs"]))) for s in range(case["count"]))


WAYS = {"batches": batches, "vmap": vmap, "matrices": matrices, "one by one": one_by_one}


def parts(result):
    return list(result) if isinstance(result, tuple) else [result]


def check(path):
    case = json.loads(path.read_text(encoding="utf8"))
    for key in ("inputs", "outputs"):
        case[key] = [np.array(x, dtype=float).reshape(case["count"], *shape)
                     for x, shape in zip(case[key], case[f"{key[:-1]}_shapes"])]
    module = importlib.import_module(case["module"])
    worst = 0.0
    for s, found in enumerate(WAYS[case["way"]](case, getattr(module, case["name"]))):
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
