"""Seconds from a robot to a kernel, each in a new process: `python benchmarks/compile_time.py`."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from figures import at_most
from subjects import ARM, HUMANOID, Subject, urdf
from tables import Table

from closedform.model.robot import Robot

LIMITS = {ARM: 0.15, HUMANOID: 0.6}
WARM = 0.05
SLOPES = {"talos": 1.2, "talos with two hands": 2.0}

SCRIPT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import closedform as cf
robot = cf.load(sys.stdin.read())
wall, used = time.perf_counter(), time.process_time()
cf.fuse(robot, sys.argv[1])
print(json.dumps([time.process_time() - used, time.perf_counter() - wall]))
"""


def compile_table(subjects: Sequence[Subject], repeats: int) -> Table:
    """Cold: nothing cached, recording included. Warm: the same again from the cache on disk."""
    rows = []
    for subject in subjects:
        if subject.kind not in LIMITS:
            continue
        cold = [_seconds(subject.robot, "off") for _ in range(repeats)]
        with tempfile.TemporaryDirectory() as folder:
            kept = str(Path(folder) / "cache")
            _seconds(subject.robot, kept)
            warm = [_seconds(subject.robot, kept) for _ in range(repeats)]
        rows += [_row(subject.name, "cold", cold, LIMITS[subject.kind]),
                 _row(subject.name, "from the cache", warm, WARM)]
    return Table("Time to the first call of inverse dynamics",
                 ("robot", "cache", "CPU, s", "wall, s", "target, s", "verdict"), rows,
                 "From the loaded robot to the compiled kernel, in a new process each, medians; "
                 "imports are not counted. The verdict is on CPU time.")


def slopes_table(robots: Mapping[str, Robot], repeats: int = 3) -> Table:
    """∂τ, M and τ of large robots, cold."""
    rows = []
    for name, most in SLOPES.items():
        if name in robots:
            times = [_seconds(robots[name], "off", "inverse_dynamics_and_derivatives")
                     for _ in range(repeats)]
            used, wall = (statistics.median(column) for column in zip(*times, strict=True))
            rows.append((name, f"{used:.2f}", f"{wall:.2f}", f"≤ {most:g}", at_most(wall, most)))
    return Table("Time to the first call of ∂τ, M, τ",
                 ("robot", "CPU, s", "wall, s", "target, s", "verdict"), rows,
                 "As above, cold. The definition that new code is compared with is computed while "
                 "LLVM compiles; the verdict is on wall time.")


def _row(name: str, what: str, times: Sequence[tuple[float, float]], most: float,
         ) -> tuple[str, ...]:
    used, wall = (statistics.median(column) for column in zip(*times, strict=True))
    return (name, what, f"{used:.3f}", f"{wall:.3f}", f"≤ {most:g}",
            at_most(used, most))


def _seconds(robot: Robot, cache: str, row: str = "inverse_dynamics") -> tuple[float, float]:
    """CPU and wall time of one compilation."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, row], input=urdf(robot), text=True,
                          capture_output=True, check=True,
                          env=os.environ | {"CLOSEDFORM_CACHE": cache})
    used, wall = json.loads(done.stdout)
    return used, wall


if __name__ == "__main__":
    from limbs import robots
    from rich.console import Console

    slopes_table(robots([*SLOPES])).print(Console(width=140))
