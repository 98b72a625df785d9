"""Written by `make stubs`; do not edit."""

from typing import Any, overload

import numpy as np

from closedform.applications.compile import quantities as _named
from closedform.arrays import Array, ArrayLike, NestedNumbers
from closedform.applications.elastic.laws import ComputedTorque as ComputedTorque
from closedform.applications.elastic.laws import Decoupling as Decoupling
from closedform.applications.elastic.laws import Feedback as Feedback
from closedform.applications.elastic.laws import outer_loop as outer_loop
from closedform.applications.elastic.pictures import comparison_figure as comparison_figure
from closedform.applications.elastic.programs import CompiledElastic as CompiledElastic
from closedform.applications.elastic.programs import compile as compile
from closedform.applications.elastic.system import ElasticSystem as ElasticSystem
from closedform.applications.elastic.system import closed_loop as closed_loop
from closedform.applications.elastic.system import simulate as simulate
from closedform.applications.elastic.torques import ElasticTorques as ElasticTorques
from closedform.applications.elastic.torques import torques as torques
from closedform.applications.motion.inputs import Controller as Controller
from closedform.applications.motion.linear import StateSpace as StateSpace
from closedform.applications.motion.simulation import Simulation as Simulation
from closedform.maths.elastic.control import Derivatives as Derivatives
from closedform.maths.elastic.control import ElasticState as ElasticState
from closedform.maths.elastic.control import GrimmTerms as GrimmTerms
from closedform.maths.elastic.control import derivatives_from_state as derivatives_from_state
from closedform.maths.elastic.control import grimm_terms as grimm_terms
from closedform.maths.elastic.joints import ElasticAcceleration as ElasticAcceleration
from closedform.maths.elastic.joints import ElasticEnergy as ElasticEnergy
from closedform.maths.elastic.joints import ElasticMotion as ElasticMotion
from closedform.model.elasticity.joints import ElasticJoints as ElasticJoints
from closedform.model.elasticity.joints import Spring as Spring
from collections.abc import Callable

_NumPy = np.ndarray | NestedNumbers

def linearisation(model: ElasticJoints, q: ArrayLike) -> StateSpace:
    """The linear system about rest at q, held by the torques that gravity needs there."""
@overload
def decoupling_control(model: ElasticJoints, state: ElasticState, q4_desired: _NumPy) -> np.ndarray:
    """The motor torques u, (nv,), under which q⁽⁴⁾ is q4_desired: the direct law."""
@overload
def decoupling_control(model: ElasticJoints, state: ElasticState, q4_desired: ArrayLike) -> Array:
    """The motor torques u, (nv,), under which q⁽⁴⁾ is q4_desired: the direct law."""
def state_from_derivatives(
    model: ElasticJoints, q: ArrayLike, v: ArrayLike, a: ArrayLike, j: ArrayLike,
) -> ElasticState:
    """(q, v, a, j) to (q, v, motor side): f(Δq) = N τ, f' Δq̇ = N τ̇; u_r = N τ on rigid joints."""
@overload
def tracking_control(
    model: ElasticJoints, state: ElasticState, reference: _NumPy, gains: _NumPy,
) -> np.ndarray:
    """Decoupling with a linear outer loop, (nv,): rows of `reference` are q_d and its derivatives."""
@overload
def tracking_control(
    model: ElasticJoints, state: ElasticState, reference: ArrayLike, gains: ArrayLike,
) -> Array:
    """Decoupling with a linear outer loop, (nv,): rows of `reference` are q_d and its derivatives."""
def energies(
    model: ElasticJoints, q: ArrayLike, v: ArrayLike, motor_position: ArrayLike,
    motor_velocity: ArrayLike,
) -> ElasticEnergy:
    """Kinetic energy of links and motors, potential energy in gravity and of the springs."""
def forward_dynamics(
    model: ElasticJoints, q: ArrayLike, v: ArrayLike, motor_position: ArrayLike,
    motor_velocity: ArrayLike, motor_torque: ArrayLike, dynamics: Callable[..., Array] = ...,
) -> ElasticAcceleration:
    """q̈ and q̈_M under the motor torques u, (nv,) each."""
def inverse_dynamics(
    model: ElasticJoints, q: ArrayLike, rates: ArrayLike, deflection: ArrayLike | None = None,
) -> ElasticMotion:
    """What the motion with the rates v, a, j, s (rows) demands of the motors."""
ElasticSimulation = Simulation
state_space = linearisation
