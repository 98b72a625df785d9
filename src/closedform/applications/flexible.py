"""Planar arms with flexible links: `closedform.flexible`.

    arm = cf.flexible.load("deluca_siciliano")
    run = cf.flexible.simulate(arm, q0=[0, 0, 0, 0, 0.1, 0.002], times=np.linspace(0, 2, 2001))
    run.plot()

Equations come from `maths`; `model=Truncated()`, the paper's, is the default, `ExactRotation()` is
for large motions.
"""

from closedform.applications.flexible_batch import BatchSimulation as BatchSimulation
from closedform.applications.flexible_batch import simulate_batch as simulate_batch
from closedform.applications.flexible_equations import EQUATIONS as EQUATIONS
from closedform.applications.flexible_equations import compile_equation as compile_equation
from closedform.applications.flexible_equations import equation_program as equation_program
from closedform.applications.flexible_files import BUILTIN_ARMS as BUILTIN_ARMS
from closedform.applications.flexible_files import load as load
from closedform.applications.flexible_files import motion_table as motion_table
from closedform.applications.flexible_files import write_table as write_table
from closedform.applications.flexible_inputs import Held as Held
from closedform.applications.flexible_inputs import bang_bang as bang_bang
from closedform.applications.flexible_pictures import arm_points as arm_points
from closedform.applications.flexible_pictures import shapes_figure as shapes_figure
from closedform.applications.flexible_pictures import vibration_figure as vibration_figure
from closedform.applications.flexible_simulation import FlexibleSimulation as FlexibleSimulation
from closedform.applications.flexible_simulation import simulate as simulate
from closedform.applications.flexible_vibration import StateSpace as StateSpace
from closedform.applications.flexible_vibration import Vibration as Vibration
from closedform.applications.flexible_vibration import frequencies as frequencies
from closedform.applications.flexible_vibration import linearisation as linearisation
from closedform.applications.flexible_vibration import vibration as vibration
from closedform.maths.assumed_modes import FlexibleArm as FlexibleArm
from closedform.maths.flexible_arm import Model as Model
from closedform.maths.flexible_arm import Truncated as Truncated
from closedform.maths.flexible_arm import coriolis_torque as coriolis_torque
from closedform.maths.flexible_arm import damping_matrix as damping_matrix
from closedform.maths.flexible_arm import forward_dynamics as forward_dynamics
from closedform.maths.flexible_arm import gravity_torque as gravity_torque
from closedform.maths.flexible_arm import inertia_matrix as inertia_matrix
from closedform.maths.flexible_arm import inverse_dynamics as inverse_dynamics
from closedform.maths.flexible_arm import kinetic_energy as kinetic_energy
from closedform.maths.flexible_arm import potential_energy as potential_energy
from closedform.maths.flexible_arm import stiffness_matrix as stiffness_matrix
from closedform.maths.flexible_arm import tip_jacobian as tip_jacobian
from closedform.maths.flexible_arm import tip_position as tip_position
from closedform.maths.flexible_kinematics import ExactRotation as ExactRotation
from closedform.maths.flexible_regressor import base_parameters as base_parameters
from closedform.maths.flexible_regressor import parameter_names as parameter_names
from closedform.maths.flexible_regressor import parameters as parameters
from closedform.maths.flexible_regressor import regressor as regressor

