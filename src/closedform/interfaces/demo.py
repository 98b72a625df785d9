"""`python -m closedform.interfaces.demo FOLDER`: the report on an arm and on a URDF file.

The URDF is the UR5 of `example-robot-data` where that is installed, else our own UR5, written now.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from typer.main import get_command

from closedform.interfaces.cli.main import app
from closedform.model.zoo.zoo import builtin


def real_urdf(folder: Path) -> Path:
    """A URDF file that robots are really described by, or one written now."""
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        path = folder / "ur5.urdf"
        path.write_text(builtin("ur5").to_urdf(), encoding="utf8")
        return path
    return next(Path(str(package.locate_file(file))).resolve() for file in package.files or ()
                if file.name == "ur5_robot.urdf")


def main(folder: Path) -> int:
    """Write both pages and say where they are; 1 if a certificate fails."""
    folder.mkdir(parents=True, exist_ok=True)
    command, status = get_command(app), 0
    pages = []
    for source in ("iiwa14", str(real_urdf(folder))):
        page = folder / f"{Path(source).stem}.html"
        print(f"closedform report {source} -o {page}", flush=True)
        status |= int(command.main(["report", source, "-o", str(page)], prog_name="closedform",
                                   standalone_mode=False) or 0)
        pages.append(page.resolve())
    print("open in a browser:", *(page.as_uri() for page in pages), sep="\n  ")
    return status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/demo")))
