"""Shared libraries made with the system's compiler, kept under `build/benchmarks` by content."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from closedform.errors import ClosedformError

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "build" / "benchmarks"
OPTIMISED = ("-O3", "-march=native", "-DNDEBUG", "-shared", "-fPIC", "-w")


class MissingError(ClosedformError):
    """Why a contender cannot take part."""


def library(source: Path, *options: str, key: str = "", build: bool = True) -> ctypes.CDLL:
    """The library of one source file; `key` names what else its code depends on.

    With `build=False` only one that was built before is taken.
    """
    language = "c++" if source.suffix == ".cpp" else "c"
    compiler = shutil.which(os.environ.get("CXX" if language == "c++" else "CC", "")
                            or {"c++": "g++", "c": "gcc"}[language])
    if compiler is None:
        raise MissingError(f"no {language} compiler; Debian: apt install g++")
    told = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    parts = (source.read_text(), *options, *OPTIMISED, key, told.stdout, _cpu())
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    target = FOLDER / f"{source.stem}-{digest}.so"
    if not target.exists():
        if not build:
            raise MissingError(f"{source.name} is not compiled yet; a run without --quick does it")
        _compile(compiler, source, options, target)
    return ctypes.CDLL(str(target))


def _compile(compiler: str, source: Path, options: tuple[str, ...], target: Path) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}")
    libraries = [x for x in options if x.startswith(("-l", "-L", "-Wl"))]
    others = [x for x in options if x not in libraries]
    done = subprocess.run([compiler, *OPTIMISED, *others, str(source), "-o", str(part), *libraries],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr)
        raise MissingError(f"{Path(compiler).name} refuses {source.name}: {first[:200]}")
    part.replace(target)


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""
    return next((line for line in text.splitlines() if line.startswith("flags")), "")
