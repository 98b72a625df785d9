"""A double pendulum: from bodies and joints to equations, kernels and a simulated swing."""

import numpy as np

import closedform as cf

link = cf.Inertia(mass=1.0, com=(0, 0, -0.5), tensor=np.diag([1, 1, 0]) / 12)
below = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 1]])
robot = cf.Robot("double pendulum", [
    cf.Body("upper", None, cf.Revolute((0, 1, 0)), inertia=link),
    cf.Body("lower", "upper", cf.Revolute((0, 1, 0)), below, link)])
print(robot)

q, v = [0.5, -0.3], [0.1, 0.2]
M, C = cf.mass_matrix(robot, q), cf.coriolis_matrix(robot, q, v)
print("M =", M.round(6).tolist())
print("C =", C.round(6).tolist())

arm = cf.compile(robot)
print(arm.forward_dynamics.operations)
print("a =", arm.forward_dynamics(q, v, [0.0, 0.0]))

swing = cf.simulate(robot, ([2.0, 0.0], [0.0, 0.0]), None, np.linspace(0, 5, 101))
print(swing)
