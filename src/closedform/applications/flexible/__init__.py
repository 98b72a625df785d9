"""Planar arms with flexible links: `closedform.flexible`.

    arm = cf.flexible.load("deluca_siciliano")
    run = cf.flexible.simulate(arm, q0=[0, 0, 0, 0, 0.1, 0.002], times=np.linspace(0, 2, 2001))
    run.plot()

Equations come from `maths`; `model=Truncated()`, the paper's, is the default, `ExactRotation()` is
for large motions.
"""

from closedform.applications.flexible.batch import BatchSimulation as BatchSimulation
from closedform.applications.flexible.batch import simulate_batch as simulate_batch
from closedform.applications.flexible.equations import EQUATIONS as EQUATIONS
from closedform.applications.flexible.equations import compile_equation as compile_equation
from closedform.applications.flexible.equations import equation_program as equation_program
from closedform.applications.flexible.files import BUILTIN_ARMS as BUILTIN_ARMS
from closedform.applications.flexible.files import load as load
from closedform.applications.flexible.files import motion_table as motion_table
from closedform.applications.flexible.files import write_table as write_table
from closedform.applications.flexible.pictures import arm_points as arm_points
from closedform.applications.flexible.pictures import shapes_figure as shapes_figure
from closedform.applications.flexible.pictures import vibration_figure as vibration_figure
from closedform.applications.flexible.system import FlexibleSystem as FlexibleSystem
from closedform.applications.flexible.system import simulate as simulate
from closedform.applications.flexible.vibration import Vibration as Vibration
from closedform.applications.flexible.vibration import frequencies as frequencies
from closedform.applications.flexible.vibration import linearisation as linearisation
from closedform.applications.flexible.vibration import vibration as vibration
from closedform.applications.motion.inputs import Held as Held
from closedform.applications.motion.inputs import bang_bang as bang_bang
from closedform.applications.motion.linear import StateSpace as StateSpace
from closedform.applications.motion.simulation import Simulation as Simulation
from closedform.maths.flexible.arm import FlexibleArm as FlexibleArm
from closedform.maths.flexible.dynamics import Model as Model
from closedform.maths.flexible.dynamics import Truncated as Truncated
from closedform.maths.flexible.dynamics import coriolis_torque as coriolis_torque
from closedform.maths.flexible.dynamics import damping_matrix as damping_matrix
from closedform.maths.flexible.dynamics import forward_dynamics as forward_dynamics
from closedform.maths.flexible.dynamics import gravity_torque as gravity_torque
from closedform.maths.flexible.dynamics import inertia_matrix as inertia_matrix
from closedform.maths.flexible.dynamics import inverse_dynamics as inverse_dynamics
from closedform.maths.flexible.dynamics import kinetic_energy as kinetic_energy
from closedform.maths.flexible.dynamics import potential_energy as potential_energy
from closedform.maths.flexible.dynamics import stiffness_matrix as stiffness_matrix
from closedform.maths.flexible.dynamics import tip_jacobian as tip_jacobian
from closedform.maths.flexible.dynamics import tip_position as tip_position
from closedform.maths.flexible.kinematics import ExactRotation as ExactRotation
from closedform.maths.flexible.regressor import base_parameters as base_parameters
from closedform.maths.flexible.regressor import parameter_names as parameter_names
from closedform.maths.flexible.regressor import parameters as parameters
from closedform.maths.flexible.regressor import regressor as regressor

FlexibleSimulation, state_space = Simulation, linearisation
"""The same under other names: one record and one noun serve rigid, flexible and elastic models."""
