"""Chang's arm follows a square: the optimum at every point, against resolved motion.

Draws the paper's two figures anew: joints against each other, and the paths of the tip. Run it with
a folder for the figures as its argument.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

import closedform as cf
from closedform.applications import redundancy
from closedform.applications.redundancy.plots import joint_figure, tip_figure

arm = cf.load("planar3r")
task, criterion = redundancy.PlanarPosition("tip"), redundancy.Manipulability()

# The square of the paper, 100 mm wide, 100 points a side, from its upper left corner downwards.
corner = cf.frame_pose(arm, np.radians([-90, 175, 0]), "tip")[:2, 3]
corners = corner + 0.1 * np.array([[0, 0], [0, -1], [1, -1], [1, 0], [0, 0]])
square = np.concatenate([np.linspace(a, b, 100, endpoint=False) for a, b in pairwise(corners)]
                        + [corners[:1]])

# At the position level: a certified maximum at every point, and a closed path closes.
optimum = redundancy.track(arm, task, square, criterion, np.radians([-40.5, 141.6, 78.4]))
worst = max(s.task_residual for s in optimum.solutions)
print(f"{len(optimum.q)} points, all {optimum.solutions[0].verdict}; tip within {worst:.1e} m; "
      f"returns within {np.abs(optimum.q[-1] - optimum.q[0]).max():.1e} rad")
for q in optimum.q[:400:100]:
    print("   θ = {:9.4f} {:9.4f} {:9.4f} °".format(*np.degrees(q)))

# At the velocity level, from a start far from the optimum: with the settings that reproduce the
# paper's tables, and with a correct Runge-Kutta method, which keeps the tip on the path.
start = np.radians([-90, 175, 0])
printed, correct = (
    redundancy.resolved_motion(arm, task, corners, redundancy.Yoshikawa(), start, speed=0.01,
                               gain=10.0, step=0.02, integrator=integrator)
    for integrator in (redundancy.Integrator(1, previous=1 / 6, late=True), redundancy.RK4))
for name, motion in (("as printed", printed), ("Runge-Kutta", correct)):
    lag = np.degrees(np.abs(motion.q[-1] - optimum.q[-1])).max()
    print(f"resolved motion, {name}: tip off by {1e3 * motion.task_error.max():.2g} mm, "
          f"joints off the optimum by {lag:.2g} ° after one lap")

# Every stationary point of the first corner: the tracked maximum is not the best there.
for s in redundancy.branches(arm, task, corner, criterion):
    print("   {:8.2f} {:8.2f} {:8.2f} °".format(*np.degrees(s.q)), f"{s.value:9.6f} {s.verdict}")

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "redundant_arm")
folder.mkdir(parents=True, exist_ok=True)
styles = {
    "command": {"color": "0.6", "linewidth": 5, "alpha": 0.5},
    "resolved motion": {"color": "tab:blue", "linewidth": 1.0},
    "proposed method": {"color": "tab:red", "linestyle": ":", "linewidth": 2.2},
}


def tips(q):
    return np.array([cf.frame_pose(arm, x, "tip")[:2, 3] for x in q])


joints = {"resolved motion": printed.history, "proposed method": optimum.q}
joint_figure(joints, styles, [(0, 2), (0, 1)]).savefig(folder / "joint_trajectories.png", dpi=130)
paths = {"command": square, **{name: tips(q) for name, q in joints.items()}}
tip_figure(paths, styles).savefig(folder / "tip_paths.png", dpi=130)
print(f"figures in {folder}")
