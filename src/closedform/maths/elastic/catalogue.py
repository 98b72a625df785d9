"""The equations of elastic joints, one row each.

Definitions take the model and their inputs as arrays.
"""

from __future__ import annotations

from functools import partial

from closedform.arrays import Array
from closedform.maths.elastic import control, joints
from closedform.maths.elastic.arguments import ELASTIC_JOINTS
from closedform.maths.elastic.control import Derivatives, ElasticState
from closedform.maths.quantity import Field, Quantity, row
from closedform.model.elasticity.joints import ElasticJoints


def motor_torque(model: ElasticJoints, q: Array, rates: Array) -> Array:
    """The motor torques u that a motion demands, (nv,); see `inverse_dynamics`."""
    return joints.inverse_dynamics(model, q, rates).motor_torque


def derivatives_from_state(model: ElasticJoints, *state: Array) -> Derivatives:
    """Accelerations and jerks of the links in a state, (nv,) each."""
    return control.derivatives_from_state(model, ElasticState(*state))


def decoupling_control(model: ElasticJoints, *given: Array) -> Array:
    """The motor torques u under which q⁽⁴⁾ is q4_desired, (nv,)."""
    return control.decoupling_control(model, ElasticState(*given[:4]), given[4])


def tracking_control(model: ElasticJoints, *given: Array) -> Array:
    """Decoupling with a linear outer loop about a reference, (nv,)."""
    return control.tracking_control(model, ElasticState(*given[:4]), *given[4:])


_row = partial(row, ELASTIC_JOINTS)
_STATE = "q v motor_position motor_velocity"


def _fields(names: str) -> tuple[Field, ...]:
    return tuple((name, ("nv",)) for name in names.split())


# A new array costs a call 60 ns, a sixth of the jet of a 7-joint arm (benchmarks/elastic.py): few
# of them are returned together, and the motor torques alone are a row too.
ELASTIC_CATALOGUE: tuple[Quantity, ...] = (
    _row("motor_torque", motor_torque, "q rates", "nv", letter="u"),
    _row("inverse_dynamics", joints.inverse_dynamics, "q rates", "",
         fields=_fields("motor_torque motor_position motor_velocity spring_torque")),
    _row("inverse_dynamics_rates", joints.inverse_dynamics, "q rates", "",
         fields=_fields("motor_acceleration spring_torque_rate spring_torque_acceleration")),
    _row("forward_dynamics", joints.forward_dynamics, f"{_STATE} motor_torque", "",
         fields=_fields("a motor_acceleration")),
    _row("energies", joints.energies, _STATE, "",
         fields=(("kinetic", ()), ("potential", ()), ("spring", ()))),
    _row("derivatives_from_state", derivatives_from_state, _STATE, "", fields=_fields("a j")),
    _row("decoupling_control", decoupling_control, f"{_STATE} q4_desired", "nv", letter="u"),
    _row("tracking_control", tracking_control, f"{_STATE} reference gains", "nv", letter="u"),
)
