"""What small tilts of robot files cost: `python benchmarks/snapping.py [FILE ...]`.

Operations of inverse dynamics with every entry as it is (`snap=0`), with quarter turns of nine
decimals or more made exact (as compiled), and with all entries within 1e-9 of 0 and ±1; and how far
the last two move the mass matrix, next to its largest entry. Files: those of example-robot-data.
"""

from __future__ import annotations

import sys
import warnings
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
from tables import Table

import closedform as cf
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.maths.canonical.snapping import snapped
from closedform.maths.catalogue import quantity

FILES = ("ur5_robot", "tiago_no_hand", "anymal", "talos_left_arm", "panda")
SNAPS = (0.0, None, 1e-9)


def examples() -> list[Path]:
    """The files of those names in example-robot-data."""
    package = distribution("example-robot-data")
    found = {Path(x.name).stem: Path(package.locate_file(x)).resolve()
             for x in package.files or () if x.suffix == ".urdf"}
    return [found[name] for name in FILES]


def row(path: Path) -> tuple[str, ...]:
    robot = cf.load(path)
    request = [Request(quantity("inverse_dynamics"))]
    counts = [str(Preparation(robot, (), snap).program(request).operations.total)
              for snap in SNAPS]
    return path.stem, str(robot.nv), *counts, *(_moved(robot, snap) for snap in SNAPS[1:])


def _moved(robot: cf.Robot, snap: float | None) -> str:
    """By how much snapping changes M at one state, next to its largest entry."""
    q, exact = robot.random(0), snapped(robot, snap)[0]
    M = cf.mass_matrix(robot, q)
    return f"{np.abs(cf.mass_matrix(exact, q) - M).max() / np.abs(M).max():.0e}"


def main() -> None:
    warnings.simplefilter("ignore")
    files = [Path(x) for x in sys.argv[1:]] or examples()
    print(Table("Small tilts and operations of inverse dynamics", (
        "file", "velocities", "`snap=0`", "as compiled", "`snap=1e-9`", "M moved, as compiled",
        "M moved, `snap=1e-9`"), [row(path) for path in files]).markdown())


if __name__ == "__main__":
    main()
