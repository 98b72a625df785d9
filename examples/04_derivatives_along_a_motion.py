"""Torques of an iiwa along a motion and their two exact time derivatives, over numeric ones."""

import numpy as np

import closedform as cf
from closedform.applications.motion.torques import torques
from closedform.applications.motion.trajectories import cosines

robot = cf.load("iiwa14")
times = np.linspace(0, 5, 1001)
run = torques(robot, cosines(robot), times)                          # τ, τ̇, τ̈ by one kernel

gaps = np.nanmax(np.abs(run.values - run.differences()), axis=(0, 2))   # NaN at the ends
for order, gap in enumerate(gaps):
    largest = np.abs(run.values[:, order]).max()
    print(f"derivative {order}: up to {largest:.2f}, differences are off by {gap:.1e}")

run.plot().savefig("torques.png", dpi=110)
print("torques.png")
