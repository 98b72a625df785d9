"""A Panda falls from a pose and is caught by a damping torque; every run carries its own check."""

import numpy as np

import closedform as cf

robot = cf.load("panda")
arm = cf.compile(robot)
start, rest = np.array([0.0, 0.5, 0.0, -1.5, 0.0, 2.0, 0.8]), np.zeros(7)
times = np.linspace(0, 0.8, 81)


def caught(t, q, v):
    """Free fall for 0.2 s, then gravity is balanced and the motion damped."""
    return np.zeros(7) if t < 0.2 else arm.gravity_torque(q) - 8.0 * v


for name, torque in (("free", None), ("caught", caught)):
    run = cf.simulate(robot, (start, rest), torque, times)
    print(f"{name}: ends with |v| = {np.abs(run.v[-1]).max():.3f} rad/s, "
          f"energy balance within {np.abs(run.energy_residual).max():.1e} J")
    run.plot().savefig(f"{name}.png", dpi=110)
print("free.png, caught.png")
