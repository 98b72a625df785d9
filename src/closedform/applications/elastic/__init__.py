"""Robots with elastic joints: `closedform.elastic`.

    model = cf.ElasticJoints(robot, stiffness=1.0, motor_inertia=3e-5, gear_ratio=0.01)
    cf.elastic.inverse_dynamics(model, q, rates).motor_torque
    cf.elastic.decoupling_control(model, state, q4_desired)
"""

from closedform.applications.elastic.laws import ComputedTorque as ComputedTorque
from closedform.applications.elastic.laws import Decoupling as Decoupling
from closedform.applications.elastic.laws import Feedback as Feedback
from closedform.applications.elastic.laws import outer_loop as outer_loop
from closedform.applications.elastic.linear import linearisation as linearisation
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
from closedform.maths.elastic.control import decoupling_control as decoupling_control
from closedform.maths.elastic.control import derivatives_from_state as derivatives_from_state
from closedform.maths.elastic.control import grimm_terms as grimm_terms
from closedform.maths.elastic.control import state_from_derivatives as state_from_derivatives
from closedform.maths.elastic.control import tracking_control as tracking_control
from closedform.maths.elastic.joints import ElasticAcceleration as ElasticAcceleration
from closedform.maths.elastic.joints import ElasticEnergy as ElasticEnergy
from closedform.maths.elastic.joints import ElasticMotion as ElasticMotion
from closedform.maths.elastic.joints import energies as energies
from closedform.maths.elastic.joints import forward_dynamics as forward_dynamics
from closedform.maths.elastic.joints import inverse_dynamics as inverse_dynamics
from closedform.model.elasticity.joints import ElasticJoints as ElasticJoints
from closedform.model.elasticity.joints import Spring as Spring

ElasticSimulation, state_space = Simulation, linearisation
"""The same under other names: one record and one noun serve rigid, flexible and elastic models."""
