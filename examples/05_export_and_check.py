"""Inverse dynamics of a Panda leaves as C, and its own test vectors check it."""

import shutil
import subprocess
from pathlib import Path

import closedform as cf

robot = cf.load("panda")
cf.export(robot, ["inverse_dynamics", "mass_matrix"], "c", "panda_c")
cf.export(robot, ["inverse_dynamics", "mass_matrix"], "python", "panda_numpy")
for path in sorted(Path("panda_c").iterdir()):
    print(f"{path}  {len(path.read_text(encoding='utf8').splitlines())} lines")

compiler = shutil.which("cc")
if compiler is None:
    print("no C compiler here: `cc *.c -lm && ./a.out` in panda_c checks the vectors")
else:
    sources = sorted(p.name for p in Path("panda_c").glob("*.c"))
    subprocess.run([compiler, *sources, "-lm", "-o", "check"], cwd="panda_c", check=True)
    subprocess.run(["./check"], cwd="panda_c", check=True)
