"""Bodies whose inertial parameters are known at run time, gathered in the units that carry them."""

from __future__ import annotations

from closedform.arrays import Array, Number, namespace
from closedform.maths.algorithms.joint_steps import JointStep
from closedform.maths.algorithms.moments import Moments, moments
from closedform.maths.definitions.regressor import momentum_matrix
from closedform.maths.spatial import crf, cross
from closedform.maths.sweeps.frames import local_twist
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


def with_payload(
    body_u: Array, payload: Array, Rbpayload: Array, pbpayload: Array,
) -> StepArrays:
    return with_body(body_u, payload, Rbpayload, pbpayload)


def with_rotor(rotor_u: Number, number_s: Number, share: Number) -> StepArrays:
    return {"rotor_u": rotor_u + share * number_s}


def own_mass(body: Array) -> StepArrays:
    return {"mass": 1 * body[0]}


def regressor_block(
    V_u: Array, A_u: Array, R_u: Array, o_u: Array, Rb: Array, pb: Array,
) -> StepArrays:
    """Y of a body, (6, 10), in the world's frame: f = Y π. See `definitions.regressor`."""
    return reference_block(V_u, V_u, A_u, R_u, o_u, Rb, pb)


def reference_block(
    V_u: Array, VR_u: Array, AR_u: Array, R_u: Array, o_u: Array, Rb: Array, pb: Array,
) -> StepArrays:
    """Y = A(A_r) + V ×* A(V_r) in the body's frame, its columns taken to the world's."""
    xp, R, p = namespace(R_u), R_u @ Rb, o_u + R_u @ pb
    V, VR, AR = (local_twist(X, R, p) for X in (V_u, VR_u, AR_u))
    Y = momentum_matrix(AR) + crf(V) @ momentum_matrix(VR)
    push = R @ Y[:3]
    turn = R @ Y[3:] + xp.stack([cross(p, push[:, c]) for c in range(10)], axis=1)
    return {"YB": xp.concatenate([push, turn])}


def regressor_entries(S_i: Array, YB: Array) -> StepArrays:
    """S · Y, (10,), of a joint and a body behind it."""
    return {"Y": S_i @ YB}


def rotor_column(a_u: Number, share_s: Number) -> StepArrays:
    return {"Y": share_s * a_u}


def reference_rotor_column(a_r_u: Number, share_s: Number) -> StepArrays:
    return {"Y": share_s * a_r_u}
