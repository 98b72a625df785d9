"""Written by `make stubs`; do not edit."""

from typing import Any, overload

import numpy as np

from closedform.applications.compile import quantities as _named
from closedform.arrays import Array, ArrayLike, NestedNumbers
from closedform.applications import conventions as conventions
from closedform.applications import elastic as elastic
from closedform.applications import flexible as flexible
from closedform.applications import identification as identification
from closedform.applications import redundancy as redundancy
from closedform.applications import studies as studies
from closedform.applications.compile.kernels import CompiledRobot as CompiledRobot
from closedform.applications.compile.kernels import compile as compile
from closedform.applications.compile.kernels import fuse as fuse
from closedform.applications.compile.requests import At as At
from closedform.applications.compile.requests import Gravity as Gravity
from closedform.applications.compile.requests import Independent as Independent
from closedform.applications.compile.requests import Parameters as Parameters
from closedform.applications.compile.requests import PayloadAt as PayloadAt
from closedform.applications.elastic.system import ElasticSystem as ElasticSystem
from closedform.applications.export import targets as targets
from closedform.applications.export.export import export as export
from closedform.applications.export.options import ExportOptions as ExportOptions
from closedform.applications.flexible.system import FlexibleSystem as FlexibleSystem
from closedform.applications.live.page import live as live
from closedform.applications.motion.methods import BDF as BDF
from closedform.applications.motion.methods import DOP853 as DOP853
from closedform.applications.motion.methods import LSODA as LSODA
from closedform.applications.motion.methods import RK23 as RK23
from closedform.applications.motion.methods import RK4 as RK4
from closedform.applications.motion.methods import RK45 as RK45
from closedform.applications.motion.methods import Radau as Radau
from closedform.applications.motion.rigid import RigidSystem as RigidSystem
from closedform.applications.motion.simulation import Simulation as Simulation
from closedform.applications.motion.system import System as System
from closedform.applications.simulate import simulate as simulate
from closedform.errors import ArgumentError as ArgumentError
from closedform.errors import ClosedformError as ClosedformError
from closedform.errors import FormatError as FormatError
from closedform.errors import MissingDependency as MissingDependency
from closedform.errors import ModelError as ModelError
from closedform.errors import ModelWarning as ModelWarning
from closedform.errors import OpenLoop as OpenLoop
from closedform.errors import SingularLoop as SingularLoop
from closedform.errors import SingularMatrix as SingularMatrix
from closedform.errors import UnknownName as UnknownName
from closedform.lowerings.call.kernel import Kernel as Kernel
from closedform.maths.base_parameters.base_parameters import BaseParameters as BaseParameters
from closedform.maths.base_parameters.base_parameters import base_parameters as base_parameters
from closedform.maths.base_parameters.base_regressor import packed_entries as packed_entries
from closedform.maths.base_parameters.numeric_rank import RankDisagreement as RankDisagreement
from closedform.maths.catalogue import CATALOGUE as CATALOGUE
from closedform.maths.catalogue import CATALOGUES as CATALOGUES
from closedform.maths.definitions.centroidal_dynamics import CentroidalDynamics
from closedform.maths.definitions.centroidal_dynamics import CentroidalDynamicsDerivatives
from closedform.maths.definitions.dynamics_matrices import DynamicsMatrices
from closedform.maths.definitions.forward_derivatives import ForwardDynamicsDerivatives
from closedform.maths.definitions.forward_derivatives import ForwardDynamicsVjp
from closedform.maths.definitions.inverse_derivatives import InverseDynamicsAndDerivatives
from closedform.maths.definitions.inverse_derivatives import InverseDynamicsDerivatives
from closedform.maths.definitions.inverse_derivatives import InverseDynamicsVjp
from closedform.maths.definitions.regressor import ParameterDerivatives
from closedform.maths.definitions.second_derivatives import InverseDynamicsSecondDerivatives
from closedform.maths.definitions.state_derivatives import StateDerivatives
from closedform.maths.definitions.time_derivatives import TimeDerivatives
from closedform.maths.flexible.arm import FlexibleArm as FlexibleArm
from closedform.maths.frames import LOCAL as LOCAL
from closedform.maths.frames import LOCAL_WORLD_ALIGNED as LOCAL_WORLD_ALIGNED
from closedform.maths.frames import Reference as Reference
from closedform.maths.frames import WORLD as WORLD
from closedform.maths.loops.catalogue import LOOP_CATALOGUE as LOOP_CATALOGUE
from closedform.model import groups as groups
from closedform.model.elasticity.beam import FlexibleLink as FlexibleLink
from closedform.model.elasticity.beam import Payload as Payload
from closedform.model.elasticity.joints import ElasticJoints as ElasticJoints
from closedform.model.findings import Finding as Finding
from closedform.model.findings import Level as Level
from closedform.model.formats.dh import from_modified_dh as from_modified_dh
from closedform.model.formats.dh import from_screws as from_screws
from closedform.model.formats.dh import from_standard_dh as from_standard_dh
from closedform.model.inertia import Inertia as Inertia
from closedform.model.joints import Cylindrical as Cylindrical
from closedform.model.joints import Fixed as Fixed
from closedform.model.joints import Free as Free
from closedform.model.joints import Gimbal as Gimbal
from closedform.model.joints import Helical as Helical
from closedform.model.joints import Joint as Joint
from closedform.model.joints import Mimic as Mimic
from closedform.model.joints import Planar as Planar
from closedform.model.joints import Prismatic as Prismatic
from closedform.model.joints import Revolute as Revolute
from closedform.model.joints import Spherical as Spherical
from closedform.model.joints import Universal as Universal
from closedform.model.lint.lint import lint as lint
from closedform.model.load import load as load
from closedform.model.loops.records import Gear as Gear
from closedform.model.loops.records import Loop as Loop
from closedform.model.loops.records import Rod as Rod
from closedform.model.robot import Body as Body
from closedform.model.robot import Frame as Frame
from closedform.model.robot import Robot as Robot
from collections.abc import Callable

_NumPy = np.ndarray | NestedNumbers

@overload
def jacobian_jet(
    robot: Robot, q: _NumPy, rates: _NumPy, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> np.ndarray:
    """J, J̇, J̈, … of a frame or body, (R+1, 6, nv), of a motion with the R rates v, a, j, … (rows)."""
@overload
def jacobian_jet(
    robot: Robot, q: ArrayLike, rates: ArrayLike, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> Array:
    """J, J̇, J̈, … of a frame or body, (R+1, 6, nv), of a motion with the R rates v, a, j, … (rows)."""
@overload
def inverse_dynamics_jet(
    robot: Robot, q: _NumPy, rates: _NumPy, wrenches: _NumPy | None = None,
) -> np.ndarray:
    """τ, τ̇, τ̈, …, (K+1, nv), of a motion with the K+2 rates v, a, j, s, … (rows)."""
@overload
def inverse_dynamics_jet(
    robot: Robot, q: ArrayLike, rates: ArrayLike, wrenches: ArrayLike | None = None,
) -> Array:
    """τ, τ̇, τ̈, …, (K+1, nv), of a motion with the K+2 rates v, a, j, s, … (rows)."""
@overload
def base_regressor(robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy) -> np.ndarray:
    """Y_b, (nv, base parameters): the torque M a + C v + g is Y_b π_b."""
@overload
def base_regressor(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Y_b, (nv, base parameters): the torque M a + C v + g is Y_b π_b."""
@overload
def packed_base_regressor(robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy) -> np.ndarray:
    """The entries of Y_b that are not zero in every state, (entries,), row by row."""
@overload
def packed_base_regressor(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """The entries of Y_b that are not zero in every state, (entries,), row by row."""
@overload
def center_of_mass(robot: Robot, q: _NumPy) -> np.ndarray:
    """Centre of mass in the world, (3,): Σ_k (m_k p_k + R_k (m c)_k) / m."""
@overload
def center_of_mass(robot: Robot, q: ArrayLike) -> Array:
    """Centre of mass in the world, (3,): Σ_k (m_k p_k + R_k (m c)_k) / m."""
@overload
def centroidal_momentum_matrix(robot: Robot, q: _NumPy) -> np.ndarray:
    """A_G, (6, nv): the robot's momentum about its centre of mass, in world axes, is A_G v."""
@overload
def centroidal_momentum_matrix(robot: Robot, q: ArrayLike) -> Array:
    """A_G, (6, nv): the robot's momentum about its centre of mass, in world axes, is A_G v."""
@overload
def com_acceleration(robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy) -> np.ndarray:
    """Acceleration J_com a + dJ_com v of the centre of mass in the world, (3,)."""
@overload
def com_acceleration(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Acceleration J_com a + dJ_com v of the centre of mass in the world, (3,)."""
@overload
def com_jacobian(robot: Robot, q: _NumPy) -> np.ndarray:
    """J_com, (3, nv), in the world: the velocity of the centre of mass is J_com v."""
@overload
def com_jacobian(robot: Robot, q: ArrayLike) -> Array:
    """J_com, (3, nv), in the world: the velocity of the centre of mass is J_com v."""
@overload
def com_jacobian_rate(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """Time derivative of `com_jacobian`, (3, nv): (1/m) Σ_k P_kᵀ (Λ_k dJ_k + V_k×* Λ_k J_k)."""
@overload
def com_jacobian_rate(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Time derivative of `com_jacobian`, (3, nv): (1/m) Σ_k P_kᵀ (Λ_k dJ_k + V_k×* Λ_k J_k)."""
@overload
def com_velocity(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """Velocity J_com v of the centre of mass in the world, (3,)."""
@overload
def com_velocity(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Velocity J_com v of the centre of mass in the world, (3,)."""
@overload
def momentum(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """h_G = A_G v, (6,): linear momentum, angular momentum about the centre of mass; world axes."""
@overload
def momentum(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """h_G = A_G v, (6,): linear momentum, angular momentum about the centre of mass; world axes."""
@overload
def centroidal_dynamics(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy,
) -> _named._CentroidalDynamics[np.ndarray]:
    """h = A_G v and dh = A_G a + dA_G v, (6,) each: momentum about the centre of mass, its rate."""
@overload
def centroidal_dynamics(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike,
) -> _named._CentroidalDynamics[Array]:
    """h = A_G v and dh = A_G a + dA_G v, (6,) each: momentum about the centre of mass, its rate."""
@overload
def centroidal_dynamics_derivatives(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy,
) -> _named._CentroidalDynamicsDerivatives[np.ndarray]:
    """∂h/∂q, ∂dh/∂q, ∂dh/∂v and ∂dh/∂a = A_G, (6, nv) each; by q left-trivialised."""
@overload
def centroidal_dynamics_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike,
) -> _named._CentroidalDynamicsDerivatives[Array]:
    """∂h/∂q, ∂dh/∂q, ∂dh/∂v and ∂dh/∂a = A_G, (6, nv) each; by q left-trivialised."""
@overload
def centroidal_momentum_matrix_rate(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """Time derivative of `centroidal_momentum_matrix`, (6, nv): dh = A_G a + dA_G v."""
@overload
def centroidal_momentum_matrix_rate(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Time derivative of `centroidal_momentum_matrix`, (6, nv): dh = A_G a + dA_G v."""
@overload
def christoffel_symbols(robot: Robot, q: _NumPy) -> np.ndarray:
    """Γ_ijk = ∂C_ij/∂v_k of `christoffel_coriolis_matrix`, (nv, nv, nv): C_ij = Σ_k Γ_ijk v_k."""
@overload
def christoffel_symbols(robot: Robot, q: ArrayLike) -> Array:
    """Γ_ijk = ∂C_ij/∂v_k of `christoffel_coriolis_matrix`, (nv, nv, nv): C_ij = Σ_k Γ_ijk v_k."""
@overload
def coriolis_transpose_torque(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """C(q, v)ᵀ v = dM v − C v, (nv,): the same for every C with dM = C + Cᵀ."""
@overload
def coriolis_transpose_torque(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """C(q, v)ᵀ v = dM v − C v, (nv,): the same for every C with dM = C + Cᵀ."""
@overload
def bias(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """C(q, v) v + g(q), (nv,)."""
@overload
def bias(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """C(q, v) v + g(q), (nv,)."""
@overload
def christoffel_coriolis_matrix(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """Coriolis matrix made of Christoffel symbols, (nv, nv); dM = C + Cᵀ. Pinocchio's C."""
@overload
def christoffel_coriolis_matrix(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Coriolis matrix made of Christoffel symbols, (nv, nv); dM = C + Cᵀ. Pinocchio's C."""
@overload
def coriolis_matrix(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """Garofalo's passive C(q, v), (nv, nv): dM = C + Cᵀ."""
@overload
def coriolis_matrix(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Garofalo's passive C(q, v), (nv, nv): dM = C + Cᵀ."""
@overload
def coriolis_torque(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """C(q, v) v, (nv,): the same for every C."""
@overload
def coriolis_torque(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """C(q, v) v, (nv,): the same for every C."""
@overload
def forward_dynamics(
    robot: Robot, q: _NumPy, v: _NumPy, tau: _NumPy, wrenches: _NumPy | None = None,
) -> np.ndarray:
    """a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv,)."""
@overload
def forward_dynamics(
    robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: ArrayLike | None = None,
) -> Array:
    """a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv,)."""
@overload
def gravity_torque(robot: Robot, q: _NumPy) -> np.ndarray:
    """The torques that hold the robot against gravity and its springs, (nv,): ∂U/∂q."""
@overload
def gravity_torque(robot: Robot, q: ArrayLike) -> Array:
    """The torques that hold the robot against gravity and its springs, (nv,): ∂U/∂q."""
@overload
def inverse_dynamics(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy, wrenches: _NumPy | None = None,
) -> np.ndarray:
    """τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv,)."""
@overload
def inverse_dynamics(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None,
) -> Array:
    """τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv,)."""
@overload
def mass_matrix(robot: Robot, q: _NumPy) -> np.ndarray:
    """The mass matrix, (nv, nv), with the rotors' inertias on its diagonal."""
@overload
def mass_matrix(robot: Robot, q: ArrayLike) -> Array:
    """The mass matrix, (nv, nv), with the rotors' inertias on its diagonal."""
@overload
def mass_matrix_inverse(robot: Robot, q: _NumPy) -> np.ndarray:
    """M⁻¹, (nv, nv); to solve M x = b, forward dynamics takes fewer operations."""
@overload
def mass_matrix_inverse(robot: Robot, q: ArrayLike) -> Array:
    """M⁻¹, (nv, nv); to solve M x = b, forward dynamics takes fewer operations."""
@overload
def passivity_inverse_dynamics(
    robot: Robot, q: _NumPy, v: _NumPy, v_r: _NumPy, a_r: _NumPy,
) -> np.ndarray:
    """M(q) a_r + C(q, v) v_r + g(q), (nv,), with the passive C of (6b): Slotine and Li's torque."""
@overload
def passivity_inverse_dynamics(
    robot: Robot, q: ArrayLike, v: ArrayLike, v_r: ArrayLike, a_r: ArrayLike,
) -> Array:
    """M(q) a_r + C(q, v) v_r + g(q), (nv,), with the passive C of (6b): Slotine and Li's torque."""
@overload
def christoffel_dynamics_matrices(
    robot: Robot, q: _NumPy, v: _NumPy,
) -> _named._ChristoffelDynamicsMatrices[np.ndarray]:
    """M, the C of Christoffel symbols and g."""
@overload
def christoffel_dynamics_matrices(
    robot: Robot, q: ArrayLike, v: ArrayLike,
) -> _named._ChristoffelDynamicsMatrices[Array]:
    """M, the C of Christoffel symbols and g."""
@overload
def passive_dynamics_matrices(
    robot: Robot, q: _NumPy, v: _NumPy,
) -> _named._PassiveDynamicsMatrices[np.ndarray]:
    """M, the passive C of (6b) and g."""
@overload
def passive_dynamics_matrices(
    robot: Robot, q: ArrayLike, v: ArrayLike,
) -> _named._PassiveDynamicsMatrices[Array]:
    """M, the passive C of (6b) and g."""
@overload
def generalized_momentum(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """p = M v, (nv,)."""
@overload
def generalized_momentum(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """p = M v, (nv,)."""
def kinetic_energy(robot: Robot, q: ArrayLike, v: ArrayLike) -> Any:
    """T = ½ Σ_k V_kᵀ Λ_k V_k + ½ Σ rotor v², scalar; V_k = J_k v."""
def potential_energy(robot: Robot, q: ArrayLike) -> Any:
    """U = −gravityᵀ Σ_k w_k (m_k p_k + R_k (m c)_k) + ½ Σ k (q − q₀)², scalar."""
@overload
def forward_dynamics_derivatives(
    robot: Robot, q: _NumPy, v: _NumPy, tau: _NumPy, wrenches: _NumPy | None = None,
) -> _named._ForwardDynamicsDerivatives[np.ndarray]:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ of a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv, nv) each."""
@overload
def forward_dynamics_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: ArrayLike | None = None,
) -> _named._ForwardDynamicsDerivatives[Array]:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ of a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv, nv) each."""
@overload
def forward_dynamics_jvp(
    robot: Robot, q: _NumPy, v: _NumPy, tau: _NumPy, q_dot: _NumPy, v_dot: _NumPy, tau_dot: _NumPy,
    wrenches: _NumPy | None = None,
) -> np.ndarray:
    """ȧ = ∂a/∂q q̇ + ∂a/∂v v̇ + ∂a/∂τ τ̇, (nv,): how a changes along a direction."""
@overload
def forward_dynamics_jvp(
    robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, q_dot: ArrayLike, v_dot: ArrayLike,
    tau_dot: ArrayLike, wrenches: ArrayLike | None = None,
) -> Array:
    """ȧ = ∂a/∂q q̇ + ∂a/∂v v̇ + ∂a/∂τ τ̇, (nv,): how a changes along a direction."""
@overload
def forward_dynamics_vjp(
    robot: Robot, q: _NumPy, v: _NumPy, tau: _NumPy, a_bar: _NumPy, wrenches: _NumPy | None = None,
) -> _named._ForwardDynamicsVjp[np.ndarray]:
    """q̄ = (∂a/∂q)ᵀ ā, v̄ = (∂a/∂v)ᵀ ā and τ̄ = M⁻¹ ā, (nv,) each: the gradient of ā · a."""
@overload
def forward_dynamics_vjp(
    robot: Robot, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a_bar: ArrayLike,
    wrenches: ArrayLike | None = None,
) -> _named._ForwardDynamicsVjp[Array]:
    """q̄ = (∂a/∂q)ᵀ ā, v̄ = (∂a/∂v)ᵀ ā and τ̄ = M⁻¹ ā, (nv,) each: the gradient of ā · a."""
@overload
def joint_friction(robot: Robot, v: _NumPy, q: _NumPy | None = None) -> np.ndarray:
    """Friction torque that opposes the motion, (nv,): Σ r (viscous r v + coulomb sign(r v))."""
@overload
def joint_friction(robot: Robot, v: ArrayLike, q: ArrayLike | None = None) -> Array:
    """Friction torque that opposes the motion, (nv,): Σ r (viscous r v + coulomb sign(r v))."""
@overload
def inverse_dynamics_and_derivatives(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy, wrenches: _NumPy | None = None,
) -> _named._InverseDynamicsAndDerivatives[np.ndarray]:
    """τ, ∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a at once, as a Newton step takes them."""
@overload
def inverse_dynamics_and_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None,
) -> _named._InverseDynamicsAndDerivatives[Array]:
    """τ, ∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a at once, as a Newton step takes them."""
@overload
def inverse_dynamics_derivatives(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy, wrenches: _NumPy | None = None,
) -> _named._InverseDynamicsDerivatives[np.ndarray]:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv, nv) each."""
@overload
def inverse_dynamics_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None,
) -> _named._InverseDynamicsDerivatives[Array]:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv, nv) each."""
@overload
def inverse_dynamics_jvp(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy, q_dot: _NumPy, v_dot: _NumPy, a_dot: _NumPy,
    wrenches: _NumPy | None = None,
) -> np.ndarray:
    """τ̇ = ∂τ/∂q q̇ + ∂τ/∂v v̇ + ∂τ/∂a ȧ, (nv,): how τ changes along a direction."""
@overload
def inverse_dynamics_jvp(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, q_dot: ArrayLike, v_dot: ArrayLike,
    a_dot: ArrayLike, wrenches: ArrayLike | None = None,
) -> Array:
    """τ̇ = ∂τ/∂q q̇ + ∂τ/∂v v̇ + ∂τ/∂a ȧ, (nv,): how τ changes along a direction."""
@overload
def inverse_dynamics_vjp(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy, tau_bar: _NumPy, wrenches: _NumPy | None = None,
) -> _named._InverseDynamicsVjp[np.ndarray]:
    """q̄ = (∂τ/∂q)ᵀ τ̄, v̄ = (∂τ/∂v)ᵀ τ̄ and ā = M τ̄, (nv,) each: the gradient of τ̄ · τ."""
@overload
def inverse_dynamics_vjp(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau_bar: ArrayLike,
    wrenches: ArrayLike | None = None,
) -> _named._InverseDynamicsVjp[Array]:
    """q̄ = (∂τ/∂q)ᵀ τ̄, v̄ = (∂τ/∂v)ᵀ τ̄ and ā = M τ̄, (nv,) each: the gradient of τ̄ · τ."""
@overload
def operational_space_inertia(
    robot: Robot, q: _NumPy, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> np.ndarray:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6), where J has full row rank; elsewhere a `SingularMatrix`."""
@overload
def operational_space_inertia(
    robot: Robot, q: ArrayLike, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> Array:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6), where J has full row rank; elsewhere a `SingularMatrix`."""
@overload
def operational_space_mobility(
    robot: Robot, q: _NumPy, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> np.ndarray:
    """J M⁻¹ Jᵀ, (6, 6): a frame's acceleration by a unit wrench on it, at singularities too."""
@overload
def operational_space_mobility(
    robot: Robot, q: ArrayLike, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> Array:
    """J M⁻¹ Jᵀ, (6, 6): a frame's acceleration by a unit wrench on it, at singularities too."""
@overload
def kinetic_energy_regressor(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """Y, (parameters,): the kinetic energy is Y · π;  Y_k = ½ V_kᵀ A(V_k)."""
@overload
def kinetic_energy_regressor(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Y, (parameters,): the kinetic energy is Y · π;  Y_k = ½ V_kᵀ A(V_k)."""
@overload
def momentum_regressor(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """Y, (nv, parameters): the generalised momentum M v is Y π;  Y_k = J_kᵀ A(V_k)."""
@overload
def momentum_regressor(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Y, (nv, parameters): the generalised momentum M v is Y π;  Y_k = J_kᵀ A(V_k)."""
@overload
def parameter_derivatives(
    robot: Robot, q: _NumPy, v: _NumPy,
) -> _named._ParameterDerivatives[np.ndarray]:
    """∂M/∂π, ∂C/∂π (nv, nv, parameters) and ∂g/∂π (nv, parameters), with the passive C of (6b)."""
@overload
def parameter_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike,
) -> _named._ParameterDerivatives[Array]:
    """∂M/∂π, ∂C/∂π (nv, nv, parameters) and ∂g/∂π (nv, parameters), with the passive C of (6b)."""
@overload
def potential_energy_regressor(robot: Robot, q: _NumPy) -> np.ndarray:
    """Y, (parameters,): the potential energy is Y · π;  Y_k = −gravityᵀ [p_k, R_k, 0]."""
@overload
def potential_energy_regressor(robot: Robot, q: ArrayLike) -> Array:
    """Y, (parameters,): the potential energy is Y · π;  Y_k = −gravityᵀ [p_k, R_k, 0]."""
@overload
def regressor(robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy) -> np.ndarray:
    """Y, (nv, parameters): the torque M a + C v + g is Y π, plus that of springs."""
@overload
def regressor(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Y, (nv, parameters): the torque M a + C v + g is Y π, plus that of springs."""
@overload
def slotine_li_regressor(
    robot: Robot, q: _NumPy, v: _NumPy, v_r: _NumPy, a_r: _NumPy,
) -> np.ndarray:
    """Y, (nv, parameters): M a_r + C v_r + g = Y π, with the passive C of (6b)."""
@overload
def slotine_li_regressor(
    robot: Robot, q: ArrayLike, v: ArrayLike, v_r: ArrayLike, a_r: ArrayLike,
) -> Array:
    """Y, (nv, parameters): M a_r + C v_r + g = Y π, with the passive C of (6b)."""
@overload
def inverse_dynamics_second_derivatives(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy,
) -> _named._InverseDynamicsSecondDerivatives[np.ndarray]:
    """∂²τ/∂q∂q, ∂²τ/∂q∂v, ∂²τ/∂v∂v and ∂²τ/∂q∂a, (nv, nv, nv) each; the last is ∂M/∂q."""
@overload
def inverse_dynamics_second_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike,
) -> _named._InverseDynamicsSecondDerivatives[Array]:
    """∂²τ/∂q∂q, ∂²τ/∂q∂v, ∂²τ/∂v∂v and ∂²τ/∂q∂a, (nv, nv, nv) each; the last is ∂M/∂q."""
@overload
def state_derivatives(robot: Robot, q: _NumPy, v: _NumPy) -> _named._StateDerivatives[np.ndarray]:
    """∂M/∂q, ∂C/∂q, ∂C/∂v (nv, nv, nv) and ∂g/∂q (nv, nv), with the passive C of (6b)."""
@overload
def state_derivatives(robot: Robot, q: ArrayLike, v: ArrayLike) -> _named._StateDerivatives[Array]:
    """∂M/∂q, ∂C/∂q, ∂C/∂v (nv, nv, nv) and ∂g/∂q (nv, nv), with the passive C of (6b)."""
@overload
def time_derivatives(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy, j: _NumPy,
) -> _named._TimeDerivatives[np.ndarray]:
    """Ṁ, M̈, Ċ, C̈ (nv, nv), ġ and g̈ (nv,) of a motion with velocity v, acceleration a, jerk j."""
@overload
def time_derivatives(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, j: ArrayLike,
) -> _named._TimeDerivatives[Array]:
    """Ṁ, M̈, Ċ, C̈ (nv, nv), ġ and g̈ (nv,) of a motion with velocity v, acceleration a, jerk j."""
@overload
def frame_acceleration(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> np.ndarray:
    """Spatial acceleration of a frame or body, (6,), in the given reference: a twist's transport."""
@overload
def frame_acceleration(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> Array:
    """Spatial acceleration of a frame or body, (6,), in the given reference: a twist's transport."""
@overload
def frame_classical_acceleration(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> np.ndarray:
    """Acceleration of a frame's origin and its angular acceleration, (6,)."""
@overload
def frame_classical_acceleration(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> Array:
    """Acceleration of a frame's origin and its angular acceleration, (6,)."""
@overload
def frame_jacobian(
    robot: Robot, q: _NumPy, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> np.ndarray:
    """Jacobian of a frame or body, (6, nv), in the given reference."""
@overload
def frame_jacobian(
    robot: Robot, q: ArrayLike, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> Array:
    """Jacobian of a frame or body, (6, nv), in the given reference."""
@overload
def frame_jacobian_rate(
    robot: Robot, q: _NumPy, v: _NumPy, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> np.ndarray:
    """Time derivative of `frame_jacobian`, (6, nv): of its components."""
@overload
def frame_jacobian_rate(
    robot: Robot, q: ArrayLike, v: ArrayLike, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> Array:
    """Time derivative of `frame_jacobian`, (6, nv): of its components."""
@overload
def frame_pose(robot: Robot, q: _NumPy, frame: str) -> np.ndarray:
    """Pose T_0f of a frame or body in the world, (4, 4)."""
@overload
def frame_pose(robot: Robot, q: ArrayLike, frame: str) -> Array:
    """Pose T_0f of a frame or body in the world, (4, 4)."""
@overload
def frame_velocity(
    robot: Robot, q: _NumPy, v: _NumPy, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> np.ndarray:
    """Twist J v of a frame or body, (6,), in the given reference: linear part first."""
@overload
def frame_velocity(
    robot: Robot, q: ArrayLike, v: ArrayLike, frame: str,
    reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> Array:
    """Twist J v of a frame or body, (6,), in the given reference: linear part first."""
@overload
def kinematic_hessian(
    robot: Robot, q: _NumPy, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> np.ndarray:
    """∂J_ij/∂q_k of `frame_jacobian`, (6, nv, nv), left-trivialised for quasi-velocities."""
@overload
def kinematic_hessian(
    robot: Robot, q: ArrayLike, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED,
) -> Array:
    """∂J_ij/∂q_k of `frame_jacobian`, (6, nv, nv), left-trivialised for quasi-velocities."""
@overload
def body_accelerations(robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy) -> np.ndarray:
    """Spatial accelerations dV_k = J_k a + dJ_k v of all bodies in their own frames, (bodies, 6)."""
@overload
def body_accelerations(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Spatial accelerations dV_k = J_k a + dJ_k v of all bodies in their own frames, (bodies, 6)."""
@overload
def body_jacobian_rates(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """Time derivatives dJ_k of all body Jacobians, (bodies, 6, nv)."""
@overload
def body_jacobian_rates(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Time derivatives dJ_k of all body Jacobians, (bodies, 6, nv)."""
@overload
def body_jacobian_second_rates(robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy) -> np.ndarray:
    """Second time derivatives ddJ_k of all body Jacobians, (bodies, 6, nv)."""
@overload
def body_jacobian_second_rates(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Second time derivatives ddJ_k of all body Jacobians, (bodies, 6, nv)."""
@overload
def body_jacobians(robot: Robot, q: _NumPy) -> np.ndarray:
    """J_k of all bodies in their own frames, (bodies, 6, nv)."""
@overload
def body_jacobians(robot: Robot, q: ArrayLike) -> Array:
    """J_k of all bodies in their own frames, (bodies, 6, nv)."""
@overload
def body_velocities(robot: Robot, q: _NumPy, v: _NumPy) -> np.ndarray:
    """Twists V_k = J_k v of all bodies in their own frames, (bodies, 6)."""
@overload
def body_velocities(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Twists V_k = J_k v of all bodies in their own frames, (bodies, 6)."""
@overload
def difference(robot: Robot, q0: _NumPy, q1: _NumPy) -> np.ndarray:
    """The tangent vector dv with q0 ⊕ dv = q1, (nv,), the shorter way round: `integrate` undone."""
@overload
def difference(robot: Robot, q0: ArrayLike, q1: ArrayLike) -> Array:
    """The tangent vector dv with q0 ⊕ dv = q1, (nv,), the shorter way round: `integrate` undone."""
@overload
def integrate(robot: Robot, q: _NumPy, dv: _NumPy) -> np.ndarray:
    """q ⊕ dv, (nq,): every joint moved from q by the exponential of its part of dv."""
@overload
def integrate(robot: Robot, q: ArrayLike, dv: ArrayLike) -> Array:
    """q ⊕ dv, (nq,): every joint moved from q by the exponential of its part of dv."""
@overload
def poses(robot: Robot, q: _NumPy) -> np.ndarray:
    """Poses T_0k of all bodies in the world, (bodies, 4, 4)."""
@overload
def poses(robot: Robot, q: ArrayLike) -> Array:
    """Poses T_0k of all bodies in the world, (bodies, 4, 4)."""
@overload
def actuator_torque(robot: Robot, q: _NumPy, tau: _NumPy) -> np.ndarray:
    """τ_a, (motors,): torques of the actuated joints that do what τ does at the independent ones."""
@overload
def actuator_torque(robot: Robot, q: ArrayLike, tau: ArrayLike) -> Array:
    """τ_a, (motors,): torques of the actuated joints that do what τ does at the independent ones."""
@overload
def loop_configuration(robot: Robot, y: _NumPy) -> np.ndarray:
    """q, (nq,), closed at the independent coordinates y, of loops that have a closed form."""
@overload
def loop_configuration(robot: Robot, y: ArrayLike) -> Array:
    """q, (nq,), closed at the independent coordinates y, of loops that have a closed form."""
@overload
def loop_embedding(robot: Robot, q: _NumPy) -> np.ndarray:
    """G, (n, nv): the velocities of the tree are G v."""
@overload
def loop_embedding(robot: Robot, q: ArrayLike) -> Array:
    """G, (n, nv): the velocities of the tree are G v."""
@overload
def loop_forces(
    robot: Robot, q: _NumPy, v: _NumPy, a: _NumPy, wrenches: _NumPy | None = None,
) -> np.ndarray:
    """λ, (rows,): what the cuts pass on, in the axes and units of the rows of `loop_residual`."""
@overload
def loop_forces(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None,
) -> Array:
    """λ, (rows,): what the cuts pass on, in the axes and units of the rows of `loop_residual`."""
@overload
def loop_jacobian(robot: Robot, q: _NumPy) -> np.ndarray:
    """K = ∂φ/∂q, (rows, n), by all n velocities of the tree: K v = 0."""
@overload
def loop_jacobian(robot: Robot, q: ArrayLike) -> Array:
    """K = ∂φ/∂q, (rows, n), by all n velocities of the tree: K v = 0."""
@overload
def loop_residual(robot: Robot, q: _NumPy) -> np.ndarray:
    """φ(q), (rows,): zero where all loops are closed; see `closedform.model.loops.gap`."""
@overload
def loop_residual(robot: Robot, q: ArrayLike) -> Array:
    """φ(q), (rows,): zero where all loops are closed; see `closedform.model.loops.gap`."""
@overload
def loop_step(robot: Robot, q: _NumPy) -> np.ndarray:
    """q, (nq,), after one step of Newton's that closes loops by the dependent joints."""
@overload
def loop_step(robot: Robot, q: ArrayLike) -> Array:
    """q, (nq,), after one step of Newton's that closes loops by the dependent joints."""
@overload
def along(function: Callable[..., Array], robot: Robot, q: _NumPy, rates: _NumPy) -> np.ndarray:
    """f, df/dt, d²f/dt², … along the motion with these rates at q, (orders, ...)."""
@overload
def along(function: Callable[..., Array], robot: Robot, q: ArrayLike, rates: ArrayLike) -> Array:
    """f, df/dt, d²f/dt², … along the motion with these rates at q, (orders, ...)."""
