"""Written by `make stubs`; do not edit."""

from collections.abc import Callable
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

import numpy as np

from closedform.applications.compile.kernels import Framed
from closedform.applications.compile.requests import RuntimeInput
from closedform.arrays import Array, ArrayLike
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.frames import Reference
from closedform.model.robot import Robot

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)
_A = TypeVar("_A", bound=Array, covariant=True)

class _Kernel(Kernel, Generic[_P, _R]):
    def __call__(self, *args: _P.args, **named: _P.kwargs) -> _R: ...

class _Framed(Framed, Generic[_P, _R]):
    def __call__(self, *args: _P.args, **named: _P.kwargs) -> _R: ...

class _kernel(Generic[_P, _R]):
    def __init__(self, row: Callable[Concatenate[Any, _P], _R]) -> None: ...
    def __get__(self, arm: object, owner: type) -> _Kernel[_P, _R]: ...

class _framed(Generic[_P, _R]):
    def __init__(self, row: Callable[Concatenate[Any, _P], _R]) -> None: ...
    def __get__(self, arm: object, owner: type) -> _Framed[_P, _R]: ...

class _CentroidalDynamics(NamedTuple, Generic[_A]):
    h: _A
    dh: _A

class _CentroidalDynamicsDerivatives(NamedTuple, Generic[_A]):
    dh_dq: _A
    ddh_dq: _A
    ddh_dv: _A
    ddh_da: _A

class _TimeDerivatives(NamedTuple, Generic[_A]):
    dM: _A
    ddM: _A
    dC: _A
    ddC: _A
    dg: _A
    ddg: _A

class _StateDerivatives(NamedTuple, Generic[_A]):
    dM_dq: _A
    dC_dq: _A
    dC_dv: _A
    dg_dq: _A

class _InverseDynamicsDerivatives(NamedTuple, Generic[_A]):
    dtau_dq: _A
    dtau_dv: _A
    dtau_da: _A

class _InverseDynamicsAndDerivatives(NamedTuple, Generic[_A]):
    tau: _A
    dtau_dq: _A
    dtau_dv: _A
    dtau_da: _A

class _ForwardDynamicsDerivatives(NamedTuple, Generic[_A]):
    da_dq: _A
    da_dv: _A
    da_dtau: _A

class _InverseDynamicsVjp(NamedTuple, Generic[_A]):
    q_bar: _A
    v_bar: _A
    a_bar: _A

class _ForwardDynamicsVjp(NamedTuple, Generic[_A]):
    q_bar: _A
    v_bar: _A
    tau_bar: _A

class _InverseDynamicsSecondDerivatives(NamedTuple, Generic[_A]):
    d2tau_dqdq: _A
    d2tau_dqdv: _A
    d2tau_dvdv: _A
    d2tau_dqda: _A

class _ParameterDerivatives(NamedTuple, Generic[_A]):
    dM_dpi: _A
    dC_dpi: _A
    dg_dpi: _A

class _PassiveDynamicsMatrices(NamedTuple, Generic[_A]):
    M: _A
    C: _A
    g: _A

class _ChristoffelDynamicsMatrices(NamedTuple, Generic[_A]):
    M: _A
    C: _A
    g: _A

class Quantities:
    @_kernel
    def poses(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """Poses T_0k of all bodies in the world, (bodies, 4, 4)."""
    @_framed
    def frame_pose(
        self, q: ArrayLike, frame: str, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Pose T_0f of a frame or body in the world, (4, 4)."""
    @_kernel
    def integrate(
        self, q: ArrayLike, dv: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """q ⊕ dv, (nq,): every joint moved from q by the exponential of its part of dv."""
    @_kernel
    def difference(
        self, q0: ArrayLike, q1: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The tangent vector dv with q0 ⊕ dv = q1, (nv,), the shorter way round: `integrate` undone."""
    @_kernel
    def body_jacobians(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """J_k of all bodies in their own frames, (bodies, 6, nv)."""
    @_kernel
    def body_jacobian_rates(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Time derivatives dJ_k of all body Jacobians, (bodies, 6, nv)."""
    @_kernel
    def body_jacobian_second_rates(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Second time derivatives ddJ_k of all body Jacobians, (bodies, 6, nv)."""
    @_kernel
    def body_velocities(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Twists V_k = J_k v of all bodies in their own frames, (bodies, 6)."""
    @_kernel
    def body_accelerations(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Spatial accelerations dV_k = J_k a + dJ_k v of all bodies in their own frames, (bodies, 6)."""
    @_framed
    def frame_jacobian(
        self, q: ArrayLike, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """Jacobian of a frame or body, (6, nv), in the given reference."""
    @_framed
    def frame_jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, frame: str,
        reference: Reference = Reference.LOCAL_WORLD_ALIGNED, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Time derivative of `frame_jacobian`, (6, nv): of its components."""
    @_framed
    def frame_velocity(
        self, q: ArrayLike, v: ArrayLike, frame: str,
        reference: Reference = Reference.LOCAL_WORLD_ALIGNED, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Twist J v of a frame or body, (6,), in the given reference: linear part first."""
    @_framed
    def frame_acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str,
        reference: Reference = Reference.LOCAL_WORLD_ALIGNED, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Spatial acceleration of a frame or body, (6,), in the given reference: a twist's transport."""
    @_framed
    def frame_classical_acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str,
        reference: Reference = Reference.LOCAL_WORLD_ALIGNED, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Acceleration of a frame's origin and its angular acceleration, (6,)."""
    @_framed
    def kinematic_hessian(
        self, q: ArrayLike, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """∂J_ij/∂q_k of `frame_jacobian`, (6, nv, nv), left-trivialised for quasi-velocities."""
    @_kernel
    def center_of_mass(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """Centre of mass in the world, (3,): Σ_k (m_k p_k + R_k (m c)_k) / m."""
    @_kernel
    def com_jacobian(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """J_com, (3, nv), in the world: the velocity of the centre of mass is J_com v."""
    @_kernel
    def com_jacobian_rate(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Time derivative of `com_jacobian`, (3, nv): (1/m) Σ_k P_kᵀ (Λ_k dJ_k + V_k×* Λ_k J_k)."""
    @_kernel
    def com_velocity(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Velocity J_com v of the centre of mass in the world, (3,)."""
    @_kernel
    def com_acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Acceleration J_com a + dJ_com v of the centre of mass in the world, (3,)."""
    @_kernel
    def mass_matrix(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """The mass matrix, (nv, nv), with the rotors' inertias on its diagonal."""
    @_kernel
    def mass_matrix_inverse(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """M⁻¹, (nv, nv); to solve M x = b, forward dynamics takes fewer operations."""
    @_kernel
    def coriolis_matrix(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Garofalo's passive C(q, v), (nv, nv): dM = C + Cᵀ."""
    @_kernel
    def christoffel_coriolis_matrix(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Coriolis matrix made of Christoffel symbols, (nv, nv); dM = C + Cᵀ. Pinocchio's C."""
    @_kernel
    def gravity_torque(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """The torques that hold the robot against gravity and its springs, (nv,): ∂U/∂q."""
    @_kernel
    def coriolis_torque(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """C(q, v) v, (nv,): the same for every C."""
    @_kernel
    def bias(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """C(q, v) v + g(q), (nv,)."""
    @_kernel
    def inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv,)."""
    @_kernel
    def forward_dynamics(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: ArrayLike | None = None, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv,)."""
    @_kernel
    def passivity_inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, v_r: ArrayLike, a_r: ArrayLike, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """M(q) a_r + C(q, v) v_r + g(q), (nv,), with the passive C of (6b): Slotine and Li's torque."""
    @_kernel
    def kinetic_energy(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> Any:
        """T = ½ Σ_k V_kᵀ Λ_k V_k + ½ Σ rotor v², scalar; V_k = J_k v."""
    @_kernel
    def potential_energy(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> Any:
        """U = −gravityᵀ Σ_k w_k (m_k p_k + R_k (m c)_k) + ½ Σ k (q − q₀)², scalar."""
    @_kernel
    def generalized_momentum(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """p = M v, (nv,)."""
    @_kernel
    def momentum(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """h_G = A_G v, (6,): linear momentum, angular momentum about the centre of mass; world axes."""
    @_kernel
    def centroidal_momentum_matrix(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """A_G, (6, nv): the robot's momentum about its centre of mass, in world axes, is A_G v."""
    @_kernel
    def centroidal_momentum_matrix_rate(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Time derivative of `centroidal_momentum_matrix`, (6, nv): dh = A_G a + dA_G v."""
    @_kernel
    def centroidal_dynamics(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *,
        out: tuple[np.ndarray, ...] | None = None, threads: int | None = None,
    ) -> _CentroidalDynamics[np.ndarray]:
        """h = A_G v and dh = A_G a + dA_G v, (6,) each: momentum about the centre of mass, its rate."""
    @_kernel
    def centroidal_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *,
        out: tuple[np.ndarray, ...] | None = None, threads: int | None = None,
    ) -> _CentroidalDynamicsDerivatives[np.ndarray]:
        """∂h/∂q, ∂dh/∂q, ∂dh/∂v and ∂dh/∂a = A_G, (6, nv) each; by q left-trivialised."""
    @_kernel
    def joint_friction(
        self, v: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """Friction torque that opposes the motion, (nv,): Σ r (viscous r v + coulomb sign(r v))."""
    @_framed
    def operational_space_mobility(
        self, q: ArrayLike, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """J M⁻¹ Jᵀ, (6, 6): a frame's acceleration by a unit wrench on it, at singularities too."""
    @_framed
    def operational_space_inertia(
        self, q: ArrayLike, frame: str, reference: Reference = Reference.LOCAL_WORLD_ALIGNED, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6), where J has full row rank; elsewhere a `SingularMatrix`."""
    @_kernel
    def time_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, j: ArrayLike, *,
        out: tuple[np.ndarray, ...] | None = None, threads: int | None = None,
    ) -> _TimeDerivatives[np.ndarray]:
        """Ṁ, M̈, Ċ, C̈ (nv, nv), ġ and g̈ (nv,) of a motion with velocity v, acceleration a, jerk j."""
    @_kernel
    def inverse_dynamics_jet(
        self, q: ArrayLike, rates: ArrayLike, wrenches: ArrayLike | None = None, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """τ, τ̇, τ̈, …, (K+1, nv), of a motion with the K+2 rates v, a, j, s, … (rows)."""
    @_framed
    def jacobian_jet(
        self, q: ArrayLike, rates: ArrayLike, frame: str,
        reference: Reference = Reference.LOCAL_WORLD_ALIGNED, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """J, J̇, J̈, … of a frame or body, (R+1, 6, nv), of a motion with the R rates v, a, j, … (rows)."""
    @_kernel
    def state_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, out: tuple[np.ndarray, ...] | None = None,
        threads: int | None = None,
    ) -> _StateDerivatives[np.ndarray]:
        """∂M/∂q, ∂C/∂q, ∂C/∂v (nv, nv, nv) and ∂g/∂q (nv, nv), with the passive C of (6b)."""
    @_kernel
    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None, *,
        out: tuple[np.ndarray, ...] | None = None, threads: int | None = None,
    ) -> _InverseDynamicsDerivatives[np.ndarray]:
        """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv, nv) each."""
    @_kernel
    def inverse_dynamics_and_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None, *,
        out: tuple[np.ndarray, ...] | None = None, threads: int | None = None,
    ) -> _InverseDynamicsAndDerivatives[np.ndarray]:
        """τ, ∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a at once, as a Newton step takes them."""
    @_kernel
    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: ArrayLike | None = None, *,
        out: tuple[np.ndarray, ...] | None = None, threads: int | None = None,
    ) -> _ForwardDynamicsDerivatives[np.ndarray]:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ of a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv, nv) each."""
    @_kernel
    def inverse_dynamics_jvp(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, q_dot: ArrayLike, v_dot: ArrayLike,
        a_dot: ArrayLike, wrenches: ArrayLike | None = None, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """τ̇ = ∂τ/∂q q̇ + ∂τ/∂v v̇ + ∂τ/∂a ȧ, (nv,): how τ changes along a direction."""
    @_kernel
    def inverse_dynamics_vjp(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau_bar: ArrayLike,
        wrenches: ArrayLike | None = None, *, out: tuple[np.ndarray, ...] | None = None,
        threads: int | None = None,
    ) -> _InverseDynamicsVjp[np.ndarray]:
        """q̄ = (∂τ/∂q)ᵀ τ̄, v̄ = (∂τ/∂v)ᵀ τ̄ and ā = M τ̄, (nv,) each: the gradient of τ̄ · τ."""
    @_kernel
    def forward_dynamics_jvp(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, q_dot: ArrayLike, v_dot: ArrayLike,
        tau_dot: ArrayLike, wrenches: ArrayLike | None = None, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """ȧ = ∂a/∂q q̇ + ∂a/∂v v̇ + ∂a/∂τ τ̇, (nv,): how a changes along a direction."""
    @_kernel
    def forward_dynamics_vjp(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, a_bar: ArrayLike,
        wrenches: ArrayLike | None = None, *, out: tuple[np.ndarray, ...] | None = None,
        threads: int | None = None,
    ) -> _ForwardDynamicsVjp[np.ndarray]:
        """q̄ = (∂a/∂q)ᵀ ā, v̄ = (∂a/∂v)ᵀ ā and τ̄ = M⁻¹ ā, (nv,) each: the gradient of ā · a."""
    @_kernel
    def inverse_dynamics_second_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *,
        out: tuple[np.ndarray, ...] | None = None, threads: int | None = None,
    ) -> _InverseDynamicsSecondDerivatives[np.ndarray]:
        """∂²τ/∂q∂q, ∂²τ/∂q∂v, ∂²τ/∂v∂v and ∂²τ/∂q∂a, (nv, nv, nv) each; the last is ∂M/∂q."""
    @_kernel
    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Y, (nv, parameters): the torque M a + C v + g is Y π, plus that of springs."""
    @_kernel
    def base_regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Y_b, (nv, base parameters): the torque M a + C v + g is Y_b π_b."""
    @_kernel
    def packed_base_regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """The entries of Y_b that are not zero in every state, (entries,), row by row."""
    @_kernel
    def slotine_li_regressor(
        self, q: ArrayLike, v: ArrayLike, v_r: ArrayLike, a_r: ArrayLike, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """Y, (nv, parameters): M a_r + C v_r + g = Y π, with the passive C of (6b)."""
    @_kernel
    def momentum_regressor(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Y, (nv, parameters): the generalised momentum M v is Y π;  Y_k = J_kᵀ A(V_k)."""
    @_kernel
    def kinetic_energy_regressor(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """Y, (parameters,): the kinetic energy is Y · π;  Y_k = ½ V_kᵀ A(V_k)."""
    @_kernel
    def potential_energy_regressor(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """Y, (parameters,): the potential energy is Y · π;  Y_k = −gravityᵀ [p_k, R_k, 0]."""
    @_kernel
    def parameter_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, out: tuple[np.ndarray, ...] | None = None,
        threads: int | None = None,
    ) -> _ParameterDerivatives[np.ndarray]:
        """∂M/∂π, ∂C/∂π (nv, nv, parameters) and ∂g/∂π (nv, parameters), with the passive C of (6b)."""
    @_kernel
    def christoffel_symbols(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """Γ_ijk = ∂C_ij/∂v_k of `christoffel_coriolis_matrix`, (nv, nv, nv): C_ij = Σ_k Γ_ijk v_k."""
    @_kernel
    def coriolis_transpose_torque(
        self, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """C(q, v)ᵀ v = dM v − C v, (nv,): the same for every C with dM = C + Cᵀ."""
    @_kernel
    def passive_dynamics_matrices(
        self, q: ArrayLike, v: ArrayLike, *, out: tuple[np.ndarray, ...] | None = None,
        threads: int | None = None,
    ) -> _PassiveDynamicsMatrices[np.ndarray]:
        """M, the passive C of (6b) and g."""
    @_kernel
    def christoffel_dynamics_matrices(
        self, q: ArrayLike, v: ArrayLike, *, out: tuple[np.ndarray, ...] | None = None,
        threads: int | None = None,
    ) -> _ChristoffelDynamicsMatrices[np.ndarray]:
        """M, the C of Christoffel symbols and g."""
    @_kernel
    def loop_residual(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """φ(q), (rows,): zero where all loops are closed; see `closedform.model.loops.gap`."""
    @_kernel
    def loop_jacobian(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """K = ∂φ/∂q, (rows, n), by all n velocities of the tree: K v = 0."""
    @_kernel
    def loop_embedding(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """G, (n, nv): the velocities of the tree are G v."""
    @_kernel
    def loop_configuration(
        self, y: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """q, (nq,), closed at the independent coordinates y, of loops that have a closed form."""
    @_kernel
    def loop_step(
        self, q: ArrayLike, *, out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """q, (nq,), after one step of Newton's that closes loops by the dependent joints."""
    @_kernel
    def loop_forces(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: ArrayLike | None = None, *,
        out: np.ndarray | None = None, threads: int | None = None,
    ) -> np.ndarray:
        """λ, (rows,): what the cuts pass on, in the axes and units of the rows of `loop_residual`."""
    @_kernel
    def actuator_torque(
        self, q: ArrayLike, tau: ArrayLike, *, out: np.ndarray | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """τ_a, (motors,): torques of the actuated joints that do what τ does at the independent ones."""

class CompiledWithInputs(Protocol):
    """A compiled robot with inputs at run time: its kernels take them after their own arguments."""

    @property
    def robot(self) -> Robot: ...
    @property
    def inputs(self) -> tuple[RuntimeInput, ...]: ...
    @property
    def order(self) -> int: ...
    @property
    def snapped(self) -> tuple[str, ...]:
        """What was made exact before recording."""
    @property
    def poses(self) -> Kernel:
        """Poses T_0k of all bodies in the world, (bodies, 4, 4)."""
    @property
    def frame_pose(self) -> Framed:
        """Pose T_0f of a frame or body in the world, (4, 4)."""
    @property
    def integrate(self) -> Kernel:
        """q ⊕ dv, (nq,): every joint moved from q by the exponential of its part of dv."""
    @property
    def difference(self) -> Kernel:
        """The tangent vector dv with q0 ⊕ dv = q1, (nv,), the shorter way round: `integrate` undone."""
    @property
    def body_jacobians(self) -> Kernel:
        """J_k of all bodies in their own frames, (bodies, 6, nv)."""
    @property
    def body_jacobian_rates(self) -> Kernel:
        """Time derivatives dJ_k of all body Jacobians, (bodies, 6, nv)."""
    @property
    def body_jacobian_second_rates(self) -> Kernel:
        """Second time derivatives ddJ_k of all body Jacobians, (bodies, 6, nv)."""
    @property
    def body_velocities(self) -> Kernel:
        """Twists V_k = J_k v of all bodies in their own frames, (bodies, 6)."""
    @property
    def body_accelerations(self) -> Kernel:
        """Spatial accelerations dV_k = J_k a + dJ_k v of all bodies in their own frames, (bodies, 6)."""
    @property
    def frame_jacobian(self) -> Framed:
        """Jacobian of a frame or body, (6, nv), in the given reference."""
    @property
    def frame_jacobian_rate(self) -> Framed:
        """Time derivative of `frame_jacobian`, (6, nv): of its components."""
    @property
    def frame_velocity(self) -> Framed:
        """Twist J v of a frame or body, (6,), in the given reference: linear part first."""
    @property
    def frame_acceleration(self) -> Framed:
        """Spatial acceleration of a frame or body, (6,), in the given reference: a twist's transport."""
    @property
    def frame_classical_acceleration(self) -> Framed:
        """Acceleration of a frame's origin and its angular acceleration, (6,)."""
    @property
    def kinematic_hessian(self) -> Framed:
        """∂J_ij/∂q_k of `frame_jacobian`, (6, nv, nv), left-trivialised for quasi-velocities."""
    @property
    def center_of_mass(self) -> Kernel:
        """Centre of mass in the world, (3,): Σ_k (m_k p_k + R_k (m c)_k) / m."""
    @property
    def com_jacobian(self) -> Kernel:
        """J_com, (3, nv), in the world: the velocity of the centre of mass is J_com v."""
    @property
    def com_jacobian_rate(self) -> Kernel:
        """Time derivative of `com_jacobian`, (3, nv): (1/m) Σ_k P_kᵀ (Λ_k dJ_k + V_k×* Λ_k J_k)."""
    @property
    def com_velocity(self) -> Kernel:
        """Velocity J_com v of the centre of mass in the world, (3,)."""
    @property
    def com_acceleration(self) -> Kernel:
        """Acceleration J_com a + dJ_com v of the centre of mass in the world, (3,)."""
    @property
    def mass_matrix(self) -> Kernel:
        """The mass matrix, (nv, nv), with the rotors' inertias on its diagonal."""
    @property
    def mass_matrix_inverse(self) -> Kernel:
        """M⁻¹, (nv, nv); to solve M x = b, forward dynamics takes fewer operations."""
    @property
    def coriolis_matrix(self) -> Kernel:
        """Garofalo's passive C(q, v), (nv, nv): dM = C + Cᵀ."""
    @property
    def christoffel_coriolis_matrix(self) -> Kernel:
        """Coriolis matrix made of Christoffel symbols, (nv, nv); dM = C + Cᵀ. Pinocchio's C."""
    @property
    def gravity_torque(self) -> Kernel:
        """The torques that hold the robot against gravity and its springs, (nv,): ∂U/∂q."""
    @property
    def coriolis_torque(self) -> Kernel:
        """C(q, v) v, (nv,): the same for every C."""
    @property
    def bias(self) -> Kernel:
        """C(q, v) v + g(q), (nv,)."""
    @property
    def inverse_dynamics(self) -> Kernel:
        """τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv,)."""
    @property
    def forward_dynamics(self) -> Kernel:
        """a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv,)."""
    @property
    def passivity_inverse_dynamics(self) -> Kernel:
        """M(q) a_r + C(q, v) v_r + g(q), (nv,), with the passive C of (6b): Slotine and Li's torque."""
    @property
    def kinetic_energy(self) -> Kernel:
        """T = ½ Σ_k V_kᵀ Λ_k V_k + ½ Σ rotor v², scalar; V_k = J_k v."""
    @property
    def potential_energy(self) -> Kernel:
        """U = −gravityᵀ Σ_k w_k (m_k p_k + R_k (m c)_k) + ½ Σ k (q − q₀)², scalar."""
    @property
    def generalized_momentum(self) -> Kernel:
        """p = M v, (nv,)."""
    @property
    def momentum(self) -> Kernel:
        """h_G = A_G v, (6,): linear momentum, angular momentum about the centre of mass; world axes."""
    @property
    def centroidal_momentum_matrix(self) -> Kernel:
        """A_G, (6, nv): the robot's momentum about its centre of mass, in world axes, is A_G v."""
    @property
    def centroidal_momentum_matrix_rate(self) -> Kernel:
        """Time derivative of `centroidal_momentum_matrix`, (6, nv): dh = A_G a + dA_G v."""
    @property
    def centroidal_dynamics(self) -> Kernel:
        """h = A_G v and dh = A_G a + dA_G v, (6,) each: momentum about the centre of mass, its rate."""
    @property
    def centroidal_dynamics_derivatives(self) -> Kernel:
        """∂h/∂q, ∂dh/∂q, ∂dh/∂v and ∂dh/∂a = A_G, (6, nv) each; by q left-trivialised."""
    @property
    def joint_friction(self) -> Kernel:
        """Friction torque that opposes the motion, (nv,): Σ r (viscous r v + coulomb sign(r v))."""
    @property
    def operational_space_mobility(self) -> Framed:
        """J M⁻¹ Jᵀ, (6, 6): a frame's acceleration by a unit wrench on it, at singularities too."""
    @property
    def operational_space_inertia(self) -> Framed:
        """Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6), where J has full row rank; elsewhere a `SingularMatrix`."""
    @property
    def time_derivatives(self) -> Kernel:
        """Ṁ, M̈, Ċ, C̈ (nv, nv), ġ and g̈ (nv,) of a motion with velocity v, acceleration a, jerk j."""
    @property
    def inverse_dynamics_jet(self) -> Kernel:
        """τ, τ̇, τ̈, …, (K+1, nv), of a motion with the K+2 rates v, a, j, s, … (rows)."""
    @property
    def jacobian_jet(self) -> Framed:
        """J, J̇, J̈, … of a frame or body, (R+1, 6, nv), of a motion with the R rates v, a, j, … (rows)."""
    @property
    def state_derivatives(self) -> Kernel:
        """∂M/∂q, ∂C/∂q, ∂C/∂v (nv, nv, nv) and ∂g/∂q (nv, nv), with the passive C of (6b)."""
    @property
    def inverse_dynamics_derivatives(self) -> Kernel:
        """∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M of τ = M a + C v + g − Σ_k J_kᵀ F_k, (nv, nv) each."""
    @property
    def inverse_dynamics_and_derivatives(self) -> Kernel:
        """τ, ∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a at once, as a Newton step takes them."""
    @property
    def forward_dynamics_derivatives(self) -> Kernel:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ of a = M⁻¹ (τ + Σ_k J_kᵀ F_k − C v − g), (nv, nv) each."""
    @property
    def inverse_dynamics_jvp(self) -> Kernel:
        """τ̇ = ∂τ/∂q q̇ + ∂τ/∂v v̇ + ∂τ/∂a ȧ, (nv,): how τ changes along a direction."""
    @property
    def inverse_dynamics_vjp(self) -> Kernel:
        """q̄ = (∂τ/∂q)ᵀ τ̄, v̄ = (∂τ/∂v)ᵀ τ̄ and ā = M τ̄, (nv,) each: the gradient of τ̄ · τ."""
    @property
    def forward_dynamics_jvp(self) -> Kernel:
        """ȧ = ∂a/∂q q̇ + ∂a/∂v v̇ + ∂a/∂τ τ̇, (nv,): how a changes along a direction."""
    @property
    def forward_dynamics_vjp(self) -> Kernel:
        """q̄ = (∂a/∂q)ᵀ ā, v̄ = (∂a/∂v)ᵀ ā and τ̄ = M⁻¹ ā, (nv,) each: the gradient of ā · a."""
    @property
    def inverse_dynamics_second_derivatives(self) -> Kernel:
        """∂²τ/∂q∂q, ∂²τ/∂q∂v, ∂²τ/∂v∂v and ∂²τ/∂q∂a, (nv, nv, nv) each; the last is ∂M/∂q."""
    @property
    def regressor(self) -> Kernel:
        """Y, (nv, parameters): the torque M a + C v + g is Y π, plus that of springs."""
    @property
    def base_regressor(self) -> Kernel:
        """Y_b, (nv, base parameters): the torque M a + C v + g is Y_b π_b."""
    @property
    def packed_base_regressor(self) -> Kernel:
        """The entries of Y_b that are not zero in every state, (entries,), row by row."""
    @property
    def slotine_li_regressor(self) -> Kernel:
        """Y, (nv, parameters): M a_r + C v_r + g = Y π, with the passive C of (6b)."""
    @property
    def momentum_regressor(self) -> Kernel:
        """Y, (nv, parameters): the generalised momentum M v is Y π;  Y_k = J_kᵀ A(V_k)."""
    @property
    def kinetic_energy_regressor(self) -> Kernel:
        """Y, (parameters,): the kinetic energy is Y · π;  Y_k = ½ V_kᵀ A(V_k)."""
    @property
    def potential_energy_regressor(self) -> Kernel:
        """Y, (parameters,): the potential energy is Y · π;  Y_k = −gravityᵀ [p_k, R_k, 0]."""
    @property
    def parameter_derivatives(self) -> Kernel:
        """∂M/∂π, ∂C/∂π (nv, nv, parameters) and ∂g/∂π (nv, parameters), with the passive C of (6b)."""
    @property
    def christoffel_symbols(self) -> Kernel:
        """Γ_ijk = ∂C_ij/∂v_k of `christoffel_coriolis_matrix`, (nv, nv, nv): C_ij = Σ_k Γ_ijk v_k."""
    @property
    def coriolis_transpose_torque(self) -> Kernel:
        """C(q, v)ᵀ v = dM v − C v, (nv,): the same for every C with dM = C + Cᵀ."""
    @property
    def passive_dynamics_matrices(self) -> Kernel:
        """M, the passive C of (6b) and g."""
    @property
    def christoffel_dynamics_matrices(self) -> Kernel:
        """M, the C of Christoffel symbols and g."""
    @property
    def loop_residual(self) -> Kernel:
        """φ(q), (rows,): zero where all loops are closed; see `closedform.model.loops.gap`."""
    @property
    def loop_jacobian(self) -> Kernel:
        """K = ∂φ/∂q, (rows, n), by all n velocities of the tree: K v = 0."""
    @property
    def loop_embedding(self) -> Kernel:
        """G, (n, nv): the velocities of the tree are G v."""
    @property
    def loop_configuration(self) -> Kernel:
        """q, (nq,), closed at the independent coordinates y, of loops that have a closed form."""
    @property
    def loop_step(self) -> Kernel:
        """q, (nq,), after one step of Newton's that closes loops by the dependent joints."""
    @property
    def loop_forces(self) -> Kernel:
        """λ, (rows,): what the cuts pass on, in the axes and units of the rows of `loop_residual`."""
    @property
    def actuator_torque(self) -> Kernel:
        """τ_a, (motors,): torques of the actuated joints that do what τ does at the independent ones."""
