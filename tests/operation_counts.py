"""Operations of every quantity on seven robots, and the table of what they may be at most.

`python tests/operation_counts.py` counts all of them and rewrites the table, in some minutes;
`python tests/operation_counts.py mass_matrix bias` those rows alone. A sum of names is one program.
"""

import sys
import tomllib
from functools import cache
from pathlib import Path

import closedform as cf
from closedform.applications.compile.kernels import CompiledRobot
from closedform.applications.compile.requests import At, asked_request
from closedform.maths.catalogue import CATALOGUE, quantity
from example_urdfs import FILES

TABLE = Path(__file__).parent / "agreement" / "operation_counts.toml"
ARMS = ("ur5", "panda", "iiwa14", "puma560", "stanford")
HUMANOIDS = ("humanoid25", "talos")
FUSED = (
    "mass_matrix + christoffel_coriolis_matrix + gravity_torque",
    "mass_matrix + coriolis_matrix + gravity_torque",
    "inverse_dynamics + inverse_dynamics_derivatives",
    "inverse_dynamics + mass_matrix",
    "mass_matrix + bias",
)
ROWS = (*(row.name for row in CATALOGUE), *FUSED)


@cache
def compiled(name: str) -> CompiledRobot:
    """A built-in robot, or Talos on a floating base from example-robot-data."""
    if name != "talos":
        return cf.compile(cf.load(name))
    path = next((p for p in FILES if p.stem == "talos_reduced"), None)
    if path is None:
        raise LookupError("needs the package example-robot-data")
    return cf.compile(cf.load(path, floating=True))


def operations(row: str, name: str) -> int:
    """Multiplications and additions of what is compiled; of its last frame where it needs one."""
    whole = compiled(name)
    frame = [*whole.robot.body_names, *(f.name for f in whole.robot.frames)][-1]
    asked = [At(x, frame) if quantity(x).framed else x for x in row.split(" + ")]
    return whole.program([asked_request(whole.robot, x) for x in asked]).operations.total


def allowed() -> dict[str, dict[str, int]]:
    """The table: for every row the operations on every robot."""
    return tomllib.loads(TABLE.read_text(encoding="utf8"))


def main() -> None:
    counts = allowed() if TABLE.exists() else {}
    for row in sys.argv[1:] or ROWS:
        counts[row] = {name: operations(row, name) for name in (*ARMS, *HUMANOIDS)}
        print(row, counts[row], flush=True)
    lines = ["# Multiplications and additions of what is compiled, at most: they may fall and not "
             "rise.", "# Written by `python tests/operation_counts.py`."]
    for row in ROWS:
        if row in counts:
            lines += ["", f'["{row}"]' if " " in row else f"[{row}]",
                      *(f"{name} = {count}" for name, count in counts[row].items())]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
