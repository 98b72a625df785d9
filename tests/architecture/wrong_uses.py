"""Mistakes that a type checker has to find: each line with a comment is one, of that kind.

`test_types.py` gives this file to mypy; nothing runs it.
"""

import numpy as np

import closedform as cf
from closedform.applications import elastic, flexible, redundancy

robot = cf.load("panda")
arm = cf.compile(robot)
weighed = cf.compile(robot, inputs=cf.Gravity())
q, v = np.zeros(7), [0.1] * 7
task, best = redundancy.Position("tip"), redundancy.Manipulability()
bent = flexible.load("deluca_siciliano")
soft = cf.ElasticJoints(robot, 1.0, 3e-5, 0.01)

# ---------------------------------------------------------------------- right ones, for comparison
M: np.ndarray = cf.mass_matrix(robot, v)
tau: np.ndarray = arm.inverse_dynamics(q, v, a=v, wrenches=np.zeros((7, 6)), threads=2)
slope: np.ndarray = arm.inverse_dynamics_derivatives(q, v, v).dtau_dq
jet: np.ndarray = arm.inverse_dynamics_jet(q, [v, q, v, v], out=np.zeros((3, 7)))
pose: np.ndarray = arm.frame_pose.at("tip")(q)
kernel: cf.Kernel = arm.mass_matrix
total: int = cf.fuse(robot, ["mass_matrix", cf.At("frame_pose", "tip")]).operations.total
old: cf.Kernel = cf.compile(robot, "mass_matrix")
loads: np.ndarray = weighed.gravity_torque(q, robot.gravity)
one: redundancy.Solution = redundancy.solve(robot, task, [0.3, 0.0, 0.5], best, v)
B: np.ndarray = flexible.inertia_matrix(bent, [0.1] * 6)
u = elastic.inverse_dynamics(soft, v, [v, v, v, v]).motor_torque
swing: cf.Simulation = cf.simulate(robot, (q, v), lambda t, state: -state.v, [0.0, 1.0])

# ---------------------------------------------------------------------- functions
cf.mass_matrx(robot, q)                                         # attr-defined
cf.mass_matrix("x", q)                                          # call-overload
cf.mass_matrix(robot, "x")                                      # arg-type
cf.mass_matrix(robot, None)                                     # call-overload
cf.mass_matrix(robot, robot)                                    # call-overload
cf.mass_matrix(robot, {"q": q})                                 # call-overload
cf.inverse_dynamics(robot, q, v)                                # call-overload
cf.frame_jacobian(robot, q, "tip", "LOCAL")                     # call-overload
cf.kinetic_energy(robot, q)                                     # call-arg
print(cf.state_derivatives(robot, q, v).dM_dv)                  # attr-defined
robot.integrate(q, "v")                                         # arg-type
cf.Inertia(mass=1.0, com="origin")                              # arg-type

# ---------------------------------------------------------------------- compiled robots
arm.mass_matri(q)                                               # attr-defined
arm.inverse_dynamics(q)                                         # call-arg
arm.mass_matrix(q, q)                                           # call-arg
arm.mass_matrix("q")                                            # arg-type
arm.mass_matrix(q, ot=M)                                        # call-arg
arm.gravity_torque(q, wrenches=np.zeros((7, 6)))                # call-arg
arm.frame_jacobian(q)                                           # call-arg
arm.frame_jacobian(q, "tip", "LOCAL")                           # arg-type
print(arm.inverse_dynamics_derivatives(q, v, v).dtau_dtau)      # attr-defined
print(arm.mass_matrix.operation)                                # attr-defined
weighed.mass_matri(q)                                           # attr-defined
cf.compile("panda")                                             # call-overload
cf.fuse(robot, 3)                                               # arg-type
cf.fuse(robot)                                                  # call-arg

# ---------------------------------------------------------------------- applications
redundancy.solve(1, 2, 3, 4, 5)                                 # call-overload
redundancy.solve(robot, task, [0.3, 0.0, 0.5], "best")          # call-overload
redundancy.track(robot, "tip", [[0.3, 0.0, 0.5]], best)         # arg-type
redundancy.branches(robot, task, None, best)                    # arg-type
print(redundancy.solve(robot, task, q[:3], best).verdic)         # union-attr
flexible.inertia_matrix(robot, [0.1] * 6)                       # call-overload
flexible.simulate(bent, "straight")                             # arg-type
elastic.inverse_dynamics(robot, v, [v] * 4)                     # arg-type
elastic.decoupling_control(soft, (q, q, q), q)                  # call-overload
cf.simulate(robot, (q, v), None, "now")                         # arg-type
