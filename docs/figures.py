"""`python docs/figures.py`: draws the papers' figures again, for the pages in docs/papers.

Runs the examples that make them and keeps the pictures, with few colours, in docs/_static/figures.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "_static" / "figures"
EXAMPLES = {
    "06_redundant_arm.py": {"tip_paths": "chang_paths", "joint_trajectories": "chang_joints"},
    "07_flexible_arm.py": {f"figure_{k:02}": f"de_luca_{k:02}" for k in range(2, 11)},
    "09_elastic_joints.py": {"errors": "grimm_errors"},
}
"""By example: its pictures, and the names under which the pages show them."""
WIDTH, COLOURS = 900, 200


def main() -> None:
    FIGURES.mkdir(parents=True, exist_ok=True)
    for example, pictures in EXAMPLES.items():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, HERE.parent / "examples" / example, folder], check=True)
            for made, name in pictures.items():
                picture = Image.open(Path(folder) / f"{made}.png").convert("RGB")
                if picture.width > WIDTH:
                    picture = picture.resize((WIDTH, picture.height * WIDTH // picture.width),
                                             Image.Resampling.LANCZOS)
                picture.quantize(COLOURS, kmeans=2).save(FIGURES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
