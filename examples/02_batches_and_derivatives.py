"""A million inverse dynamics of a 7-joint arm, and the derivatives that an optimiser needs."""

import time

import numpy as np

import closedform as cf

robot = cf.load("panda")
arm = cf.compile(robot)
rng = np.random.default_rng(0)
q, v, a = rng.normal(size=(3, 1_000_000, 7))

tau = arm.inverse_dynamics(q, v, a)                 # compiles, then runs
start = time.perf_counter()
arm.inverse_dynamics(q, v, a, out=tau)
print(f"{1e9 * (time.perf_counter() - start) / len(q):.1f} ns a state")

d = arm.inverse_dynamics_derivatives(q[0], v[0], a[0])
step = 1e-6 * rng.normal(size=7)
ahead, back = (arm.inverse_dynamics(q[0] + s * step, v[0], a[0]) for s in (1, -1))
print("derivative by q, and by differences:", (d.dtau_dq @ step)[:3], ((ahead - back) / 2)[:3])

jet = arm.inverse_dynamics_jet(q[0], np.stack([v[0], a[0], v[1], a[1]]))
print("τ, dτ/dt, d²τ/dt² of joint 2:", jet[:, 1])
