"""Bodies whose inertial parameters are known at run time, gathered in the units that carry them."""

from __future__ import annotations

from closedform.arrays import Array, Number, namespace
from closedform.maths.algorithms.joint_steps import JointStep
from closedform.maths.algorithms.moments import Moments, moments
from closedform.maths.sweeps.joints import StepArrays
from closedform.model.inertia import Inertia


def empty(gravity: Array) -> StepArrays:
    """No mass, no rotor."""
    xp = namespace(gravity)
    return {"body": xp.zeros(10), "rotor": xp.zeros(()), "mass": xp.zeros(())}


def as_given(given: Array) -> StepArrays:
    """The bodies of the robot."""
    return {"body": 1 * given}


def with_body(body_u: Array, parameters: Array, Rb: Array, pb: Array) -> StepArrays:
    """The moments of unit u and of a body that it carries in the frame (R_b, p_b)."""
    more = moments(Inertia.from_parameters(parameters)).in_parent(JointStep((Rb,), pb))
    own = Moments(body_u[0], body_u[1:4], tuple(body_u[4:])).plus(more)
    xp = namespace(body_u, parameters)
    return {"body_u": xp.concatenate([xp.stack([own.m]), own.h, xp.stack(list(own.Sigma))])}


def with_rotor(rotor_u: Number, number_s: Number, share: Number) -> StepArrays:
    return {"rotor_u": rotor_u + share * number_s}


def own_mass(body: Array) -> StepArrays:
    return {"mass": 1 * body[0]}
