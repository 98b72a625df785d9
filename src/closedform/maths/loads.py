"""What acts beside the inertia of the bodies and their weights, added to the algorithms.

    springs                their torque in g
    gravity compensation   g of a robot with −c_k of the masses, c_k being the fraction carried
    turning rotors         their part of C

The algorithms know bodies, weights and diag(rotors) alone. `with_loads` adds what else there is, by
the rule for the quantity that the algorithm is named after; a robot without any of it is handed on
as it is. The definitions have these terms in their own sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from inspect import signature
from types import MappingProxyType
from typing import Any

import numpy as np

from closedform.arrays import Array, namespace
from closedform.maths.algorithms.joint_steps import gravity_in_segments, joint_steps
from closedform.maths.quantity import Function
from closedform.maths.rotors import (
    rotor_coriolis,
    rotor_coriolis_columns,
    rotor_second_derivative,
    rotor_speed_derivative,
    rotor_symbols,
    turning_rotors,
)
from closedform.maths.spatial import VelocityPart, christoffel_part, cross, passive_part
from closedform.maths.springs import (
    has_springs,
    has_turning_springs,
    spring_jet,
    spring_second_derivatives,
    spring_stiffness,
    spring_torque,
)
from closedform.model.inertia import Inertia
from closedform.model.robot import Body, Robot

Named = dict[str, Any]
"""The arguments of an algorithm by name, the robot among them."""
Addition = Callable[[Function, Named], Any]


def carries(robot: Robot) -> bool:
    """Whether part of a weight is carried from outside."""
    return any(body.gravity_compensation for body in robot.bodies)


def carried_columns(robot: Robot) -> np.ndarray:
    """The fraction carried of what each parameter weighs, (parameters,)."""
    c = np.repeat([body.gravity_compensation for body in robot.bodies], 10)
    return np.concatenate([c, np.zeros(len(robot.parameters) - len(c))])


def carried_weights(robot: Robot) -> Robot:
    """A robot of −c_k of the masses: its weights are what is carried. No springs.

    It is asked for what weights do alone: for g, and at rest.
    """
    return replace(robot, bodies=tuple(map(_carried, robot.bodies)))


def _carried(body: Body) -> Body:
    joint = body.joint.with_moving(replace(body.joint.moving, stiffness=None))
    part = Inertia.from_parameters(-body.gravity_compensation * body.inertia.array)
    return replace(body, joint=joint, inertia=part, gravity_compensation=0.0)


def weight_torque(robot: Robot, q: Array) -> Array:
    """Torques against the weights, (nv,), from leaves to root, gravity seen in every frame.

        g_k = S_vᵀ (m γ) + S_ωᵀ (h × γ),   γ = Rᵀ γ_p

    m and h are the composite moments behind joint k; γ of the world is −gravity.
    """
    xp = namespace(q)
    way = joint_steps(robot, q)
    gamma = gravity_in_segments(robot, way)
    inertias = [None, *(segment.inertia for segment in robot.segments)]
    m: list[Any] = [0 if I is None else I.mass for I in inertias]
    h = [xp.zeros(3) if I is None else I.first_moment for I in inertias]
    g: list[Any] = [0] * robot.nv
    for k in range(len(way), 0, -1):
        segment, step, p = robot.segments[k - 1], way[k - 1], robot.segments[k - 1].parent
        moment, force = cross(h[k], gamma[k]), m[k] * gamma[k]
        for c, i in enumerate(segment.v_index):
            g[i] = g[i] + (segment.S[:3, c] @ force + segment.S[3:, c] @ moment)
        if p:
            for above, (mass, first) in segment.shares((m[k], step.up(h[k]) + m[k] * step.p)):
                m[above], h[above] = m[above] + mass, h[above] + first
    return xp.stack(g) if g else xp.zeros(0)


def resting_loads(robot: Robot, q: Array) -> Array:
    """Torques of the springs and of what is carried, (nv,): what they add to g."""
    springs = spring_torque(robot, q)
    return springs + weight_torque(carried_weights(robot), q) if carries(robot) else springs


def with_loads(algorithm: Function) -> Function:
    """An algorithm with springs, gravity compensation and the Coriolis forces of rotors added."""
    rule, names = RULES[algorithm.__name__], signature(algorithm)

    @wraps(algorithm)
    def loaded(robot: Robot, *args: Any, **named: Any) -> Any:
        if not (has_springs(robot) or carries(robot) or turning_rotors(robot)):
            return algorithm(robot, *args, **named)
        return rule(algorithm, dict(names.bind(robot, *args, **named).arguments))

    return loaded


# ---------------------------------------------------------------------- rules
def _of_weights(algorithm: Function, given: Named) -> Any:
    """What the algorithm says of the carried weights at rest."""
    return algorithm(**_at_rest(given) | {"robot": carried_weights(given["robot"])})


def _at_rest(given: Named) -> Named:
    still = namespace(given["q"]).zeros(given["robot"].nv)
    return given | {name: still for name in ("v", "a", "v_r", "a_r", "v_dot", "a_dot")
                    if name in given}


def _torque(algorithm: Function, given: Named) -> Any:
    robot, q, v = given["robot"], given["q"], given["v"]
    tau = algorithm(**given) + resting_loads(robot, q)
    return tau + rotor_coriolis(robot, v) @ given.get("v_r", v)


def _coriolis_torque(algorithm: Function, given: Named) -> Any:
    return algorithm(**given) + rotor_coriolis(given["robot"], given["v"]) @ given["v"]


def _coriolis_transpose(algorithm: Function, given: Named) -> Any:
    return algorithm(**given) - rotor_coriolis(given["robot"], given["v"]) @ given["v"]


def _gravity(algorithm: Function, given: Named) -> Any:
    return algorithm(**given) + resting_loads(given["robot"], given["q"])


def _forward(algorithm: Function, given: Named) -> Any:
    """Loads that oppose the motion are so much less torque."""
    robot, q, v = given["robot"], given["q"], given["v"]
    less = resting_loads(robot, q) + rotor_coriolis(robot, v) @ v
    return algorithm(**given | {"tau": given["tau"] - less})


def _matrices(part: VelocityPart) -> Addition:
    def rule(algorithm: Function, given: Named) -> Any:
        robot, found = given["robot"], algorithm(**given)
        return found._replace(C=found.C + rotor_coriolis(robot, given["v"], part),
                              g=found.g + resting_loads(robot, given["q"]))
    return rule


def _symbols(algorithm: Function, given: Named) -> Any:
    return algorithm(**given) + rotor_symbols(given["robot"], given["q"], christoffel_part)


def _state_derivatives(algorithm: Function, given: Named) -> Any:
    robot, v, found = given["robot"], given["v"], algorithm(**given)
    dg_dq = found.dg_dq + spring_stiffness(robot, given["q"])
    if carries(robot):
        dg_dq = dg_dq + _of_weights(algorithm, given).dg_dq
    return found._replace(dg_dq=dg_dq, dC_dv=found.dC_dv + rotor_symbols(robot, v))


def _derivatives(algorithm: Function, given: Named) -> Any:
    robot, q, v, found = given["robot"], given["q"], given["v"], algorithm(**given)
    tau = found.tau + resting_loads(robot, q) + rotor_coriolis(robot, v) @ v
    dq = found.dtau_dq + spring_stiffness(robot, q)
    if carries(robot):
        dq = dq + _of_weights(algorithm, given | {"wrenches": None}).dtau_dq
    dv = found.dtau_dv + (rotor_speed_derivative(robot, v) if turning_rotors(robot) else 0)
    return found._replace(tau=tau, dtau_dq=dq, dtau_dv=dv)


def _jvp(algorithm: Function, given: Named) -> Any:
    robot, v, found = given["robot"], given["v"], algorithm(**given)
    found = found + spring_stiffness(robot, given["q"]) @ given["q_dot"]
    if carries(robot):
        found = found + _of_weights(algorithm, given | {"wrenches": None})
    if turning_rotors(robot):
        found = found + rotor_speed_derivative(robot, v) @ given["v_dot"]
    return found


def _vjp(algorithm: Function, given: Named) -> Any:
    robot, v, tau_bar, found = given["robot"], given["v"], given["tau_bar"], algorithm(**given)
    q_bar = found.q_bar + spring_stiffness(robot, given["q"]).T @ tau_bar
    found = found._replace(q_bar=q_bar)
    if carries(robot):
        carried = _of_weights(algorithm, given | {"wrenches": None})
        found = found._replace(q_bar=found.q_bar + carried.q_bar)
    if turning_rotors(robot):
        found = found._replace(v_bar=found.v_bar + rotor_speed_derivative(robot, v).T @ tau_bar)
    return found


def _second_derivatives(algorithm: Function, given: Named) -> Any:
    robot, found = given["robot"], algorithm(**given)
    if carries(robot):
        found = found._replace(d2tau_dqdq=found.d2tau_dqdq
                               + _of_weights(algorithm, given).d2tau_dqdq)
    if has_turning_springs(robot):
        found = found._replace(d2tau_dqdq=found.d2tau_dqdq
                               + spring_second_derivatives(robot, given["q"]))
    if turning_rotors(robot):
        found = found._replace(d2tau_dvdv=found.d2tau_dvdv
                               + rotor_second_derivative(robot, given["v"]))
    return found


def _time_derivatives(algorithm: Function, given: Named) -> Any:
    robot, v, a, found = given["robot"], given["v"], given["a"], algorithm(**given)
    _, dg, ddg = spring_jet(robot, given["q"], [v, a])
    dg, ddg = found.dg + dg, found.ddg + ddg
    if carries(robot):
        weights = algorithm(**given | {"robot": carried_weights(robot)})
        dg, ddg = dg + weights.dg, ddg + weights.ddg
    return found._replace(dg=dg, ddg=ddg, dC=found.dC + rotor_coriolis(robot, a),
                          ddC=found.ddC + rotor_coriolis(robot, given["j"]))


def _regressor(algorithm: Function, given: Named) -> Any:
    """Without the springs: they are known, whatever the parameters."""
    robot, v, Y = given["robot"], given["v"], algorithm(**given)
    if carries(robot):
        Y = Y - algorithm(**_at_rest(given)) * carried_columns(robot)
    v_r = {"v_r": v, **given}["v_r"]
    return _with_rotor_columns(Y, rotor_coriolis_columns(robot, v, v_r))


def _weight_regressor(algorithm: Function, given: Named) -> Any:
    return algorithm(**given) * (1 - carried_columns(given["robot"]))


def _parameter_derivatives(algorithm: Function, given: Named) -> Any:
    robot, v, found = given["robot"], given["v"], algorithm(**given)
    columns = [rotor_coriolis(robot, v, rotors=r) for r in robot.rotor_map.T]
    dC = found.dC_dpi
    if columns:
        dC = _with_rotor_columns(dC, namespace(v).stack(columns, axis=2))
    return found._replace(dC_dpi=dC, dg_dpi=found.dg_dpi * (1 - carried_columns(robot)))


def _with_rotor_columns(Y: Array, columns: Array) -> Array:
    """Y with the columns added to its last ones."""
    at = Y.shape[-1] - columns.shape[-1]
    return namespace(Y, columns).concatenate([Y[..., :at], Y[..., at:] + columns], axis=Y.ndim - 1)


RULES: Mapping[str, Addition] = MappingProxyType({
    "inverse_dynamics": _torque,
    "bias": _torque,
    "passivity_inverse_dynamics": _torque,
    "coriolis_torque": _coriolis_torque,
    "coriolis_transpose_torque": _coriolis_transpose,
    "gravity_torque": _gravity,
    "forward_dynamics": _forward,
    "forward_dynamics_derivatives": _forward,
    "passive_dynamics_matrices": _matrices(passive_part),
    "christoffel_dynamics_matrices": _matrices(christoffel_part),
    "christoffel_symbols": _symbols,
    "state_derivatives": _state_derivatives,
    "inverse_dynamics_and_derivatives": _derivatives,
    "inverse_dynamics_jvp": _jvp,
    "inverse_dynamics_vjp": _vjp,
    "inverse_dynamics_second_derivatives": _second_derivatives,
    "time_derivatives": _time_derivatives,
    "regressor": _regressor,
    "slotine_li_regressor": _regressor,
    "potential_energy_regressor": _weight_regressor,
    "parameter_derivatives": _parameter_derivatives,
})
"""What is added to the result of an algorithm, by its name."""
