"""Written by `make stubs`; do not edit."""

from typing import Any, overload

import numpy as np

from closedform.applications.compile import quantities as _named
from closedform.arrays import Array, ArrayLike, NestedNumbers
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
from closedform.maths.flexible.dynamics import Damping
from closedform.maths.flexible.dynamics import Model as Model
from closedform.maths.flexible.dynamics import Truncated as Truncated
from closedform.maths.flexible.dynamics import damping_matrix as damping_matrix
from closedform.maths.flexible.dynamics import stiffness_matrix as stiffness_matrix
from closedform.maths.flexible.kinematics import ExactRotation as ExactRotation
from closedform.maths.flexible.regressor import base_parameters as base_parameters
from closedform.maths.flexible.regressor import parameter_names as parameter_names
from closedform.maths.flexible.regressor import parameters as parameters

_NumPy = np.ndarray | NestedNumbers

@overload
def coriolis_torque(arm: FlexibleArm, q: _NumPy, v: _NumPy, model: Model = ...) -> np.ndarray:
    """h(q, v), (N,): centrifugal and Coriolis torques, (26) of the model's B."""
@overload
def coriolis_torque(arm: FlexibleArm, q: ArrayLike, v: ArrayLike, model: Model = ...) -> Array:
    """h(q, v), (N,): centrifugal and Coriolis torques, (26) of the model's B."""
@overload
def forward_dynamics(
    arm: FlexibleArm, q: _NumPy, v: _NumPy, tau: _NumPy, damping: Damping = 0.0, model: Model = ...,
) -> np.ndarray:
    """a = B⁻¹ (Q u − h − K q − D v − g − f), (N,); `tau` are n joint torques or N forces."""
@overload
def forward_dynamics(
    arm: FlexibleArm, q: ArrayLike, v: ArrayLike, tau: ArrayLike, damping: Damping = 0.0,
    model: Model = ...,
) -> Array:
    """a = B⁻¹ (Q u − h − K q − D v − g − f), (N,); `tau` are n joint torques or N forces."""
@overload
def gravity_torque(arm: FlexibleArm, q: _NumPy, model: Model = ...) -> np.ndarray:
    """∂U/∂q, (N,), of the potential U = −Σ ∫ p · gravity dm."""
@overload
def gravity_torque(arm: FlexibleArm, q: ArrayLike, model: Model = ...) -> Array:
    """∂U/∂q, (N,), of the potential U = −Σ ∫ p · gravity dm."""
@overload
def inertia_matrix(arm: FlexibleArm, q: _NumPy, model: Model = ...) -> np.ndarray:
    """B(q), (N, N), symmetric."""
@overload
def inertia_matrix(arm: FlexibleArm, q: ArrayLike, model: Model = ...) -> Array:
    """B(q), (N, N), symmetric."""
@overload
def inverse_dynamics(
    arm: FlexibleArm, q: _NumPy, v: _NumPy, a: _NumPy, damping: Damping = 0.0, model: Model = ...,
) -> np.ndarray:
    """The left side of (25), (N,): joint torques, and forces on the deflections."""
@overload
def inverse_dynamics(
    arm: FlexibleArm, q: ArrayLike, v: ArrayLike, a: ArrayLike, damping: Damping = 0.0,
    model: Model = ...,
) -> Array:
    """The left side of (25), (N,): joint torques, and forces on the deflections."""
def kinetic_energy(arm: FlexibleArm, q: ArrayLike, v: ArrayLike, model: Model = ...) -> Any:
    """½ vᵀ B v, a scalar."""
def potential_energy(arm: FlexibleArm, q: ArrayLike, model: Model = ...) -> Any:
    """½ qᵀ K q and gravity's, a scalar."""
@overload
def tip_jacobian(arm: FlexibleArm, q: _NumPy, model: Model = ...) -> np.ndarray:
    """∂(tip position)/∂q and the payload's rate of turn, (3, N)."""
@overload
def tip_jacobian(arm: FlexibleArm, q: ArrayLike, model: Model = ...) -> Array:
    """∂(tip position)/∂q and the payload's rate of turn, (3, N)."""
@overload
def tip_position(arm: FlexibleArm, q: _NumPy, model: Model = ...) -> np.ndarray:
    """r_{n+1}, (2,), where the payload is."""
@overload
def tip_position(arm: FlexibleArm, q: ArrayLike, model: Model = ...) -> Array:
    """r_{n+1}, (2,), where the payload is."""
@overload
def regressor(arm: FlexibleArm, q: _NumPy, v: _NumPy, a: _NumPy) -> np.ndarray:
    """Y(q, v, a), (N, columns)."""
@overload
def regressor(arm: FlexibleArm, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Y(q, v, a), (N, columns)."""
FlexibleSimulation = Simulation
state_space = linearisation
