"""One call moves a rigid robot, a flexible arm and elastic joints; every run carries its checks."""

import numpy as np

import closedform as cf

robot = cf.load("iiwa14")
arm = cf.flexible.load("deluca_siciliano")
springs = cf.ElasticJoints(robot, stiffness=0.15, motor_inertia=4e-5, gear_ratio=0.01)
start = np.array([0.0, 0.5, 0.0, -1.2, 0.0, 1.0, 0.0]), np.zeros(7)
bent = np.array([0, 0, 0, 0, 0.1, 0.002]), np.zeros(6)
times = np.linspace(0, 0.5, 51)

for system, state, gain in ((robot, start, 5.0), (arm, bent, 0.05), (springs, start, 0.05)):
    for method in (cf.DOP853(), cf.RK4(step=1e-3)):
        inputs = 2 if system is arm else 7
        run = cf.simulate(system, state, lambda t, x, n=inputs, k=gain: -k * x.v[:n], times,
                          method=method)
        print(f"{run!r}: work {run.work[-1]:+.4f} J, balance within "
              f"{np.abs(run.energy_residual).max():.1e} J, smallest eigenvalue of the inertia "
              f"matrix {run.smallest_inertia.min():.1e}")
