"""The PUMA 560: which inertial parameters torques can tell, and their values from noisy torques."""

import numpy as np

import closedform as cf

robot = cf.load("puma560")
base = cf.base_parameters(robot)
print(f"{base.count} of {len(robot.parameters)} parameters; without effect: {len(base.no_effect)}, "
      f"regrouped: {len(base.regrouped)}")
for name, expression in list(zip(base.names, base.expressions, strict=True))[:3]:
    print(f"   {name} = {expression}")

rng = np.random.default_rng(0)
q, v, a = rng.normal(size=(3, 300, robot.nv))
noise = 0.05                                                             # N m
arm = cf.compile(robot)
measured = arm.inverse_dynamics(q, v, a) + noise * rng.normal(size=q.shape)
Y = np.concatenate(arm.regressor(q, v, a) @ np.linalg.pinv(base.K))      # τ = Y π_b
found, *_ = np.linalg.lstsq(Y, measured.ravel(), rcond=None)

spread = noise * np.sqrt(np.diag(np.linalg.inv(Y.T @ Y)))
print(f"condition of the regressor {np.linalg.cond(Y):.1f}; largest error "
      f"{np.abs((found - base.values) / spread).max():.1f} standard deviations")
