"""Every quantity, one row each: those of robots here, those of other models in their rooms.

The compiler, the exporters, the report, the command line, the documentation and the tests read this
table. A row is a name, the definition, inputs, shape, and then the algorithms; see `Quantity`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from closedform.errors import UnknownName, suggestion
from closedform.maths import frames, kinematics
from closedform.maths.algorithms import (
    articulated,
    coriolis_transpose,
    frame_screws,
    inverse_mass,
    jacobian_jets,
    jets,
    newton_euler,
    regressors,
)
from closedform.maths.algorithms import time_derivatives as time_derivatives_by_series
from closedform.maths.algorithms.one_frame import (
    derivatives as one_frame_derivatives,
)
from closedform.maths.algorithms.one_frame import (
    matrices as one_frame_matrices,
)
from closedform.maths.algorithms.one_frame import (
    second as one_frame_second,
)
from closedform.maths.algorithms.one_frame import (
    tensors as one_frame_tensors,
)
from closedform.maths.algorithms.own_frames import (
    body_motion,
)
from closedform.maths.algorithms.own_frames import (
    center_of_mass as own_frames_center_of_mass,
)
from closedform.maths.algorithms.own_frames import (
    centroidal as own_frames_centroidal,
)
from closedform.maths.algorithms.own_frames import (
    derivative_products as own_frames_products,
)
from closedform.maths.algorithms.own_frames import (
    derivatives as own_frames_derivatives,
)
from closedform.maths.algorithms.own_frames import (
    matrices as own_frames_matrices,
)
from closedform.maths.arguments import ROBOTS
from closedform.maths.base_parameters import base_regressor
from closedform.maths.definitions import (
    center_of_mass,
    centroidal_dynamics,
    christoffel,
    closed_form,
    dynamics_matrices,
    energy,
    forward_derivatives,
    friction,
    inverse_derivatives,
    operational_space,
    regressor,
    second_derivatives,
    state_derivatives,
    time_derivatives,
)
from closedform.maths.elastic.catalogue import ELASTIC_CATALOGUE
from closedform.maths.flexible.catalogue import FLEXIBLE_CATALOGUE
from closedform.maths.loops import state as _rules_by_state  # noqa: F401
from closedform.maths.loops import torques as _rules_of_torques  # noqa: F401
from closedform.maths.loops.catalogue import LOOP_CATALOGUE
from closedform.maths.quantity import Field, Form, Quantity, partials, row
from closedform.model.robot import Robot

_row = partial(row, ROBOTS)
_CANONICAL, _BASE = Form.CANONICAL, Form.BASE
_NN, _NNN = ("nv", "nv"), ("nv", "nv", "nv")
_NP, _NNP = ("nv", "parameters"), ("nv", "nv", "parameters")
_MCG: tuple[Field, ...] = (("M", _NN), ("C", _NN), ("g", ("nv",)))

CATALOGUE: tuple[Quantity, ...] = (
    _row("poses", kinematics.poses, "q", "bodies 4 4"),
    _row("frame_pose", frames.frame_pose, "q", "4 4", framed=True, form=_CANONICAL),
    _row("integrate", kinematics.integrate, "q dv", "nq"),
    _row("difference", kinematics.difference, "q0 q1", "nv"),
    _row("body_jacobians", kinematics.body_jacobians, "q", "bodies 6 nv",
         derivatives=partials(t="body_jacobian_rates")),
    _row("body_jacobian_rates", kinematics.body_jacobian_rates, "q v", "bodies 6 nv",
         derivatives=partials(t="body_jacobian_second_rates")),
    _row("body_jacobian_second_rates", kinematics.body_jacobian_second_rates, "q v a",
         "bodies 6 nv"),
    _row("body_velocities", kinematics.body_velocities, "q v", "bodies 6",
         body_motion.body_velocities,
         derivatives=partials(v="body_jacobians", t="body_accelerations")),
    _row("body_accelerations", kinematics.body_accelerations, "q v a", "bodies 6",
         body_motion.body_accelerations, derivatives=partials(a="body_jacobians")),
    _row("frame_jacobian", frames.frame_jacobian, "q", "6 nv",
         frame_screws.frame_jacobian, frames.frame_jacobian, framed=True, form=_CANONICAL,
         letter="J", derivatives=partials(q="kinematic_hessian", t="frame_jacobian_rate")),
    _row("frame_jacobian_rate", frames.frame_jacobian_rate, "q v", "6 nv",
         frame_screws.frame_jacobian_rate, frames.frame_jacobian_rate,
         framed=True, form=_CANONICAL),
    _row("frame_velocity", frames.frame_velocity, "q v", "6", body_motion.frame_velocity,
         framed=True, form=_CANONICAL, derivatives=partials(v="frame_jacobian")),
    _row("frame_acceleration", frames.frame_acceleration, "q v a", "6",
         body_motion.frame_acceleration, framed=True, form=_CANONICAL,
         derivatives=partials(a="frame_jacobian")),
    _row("frame_classical_acceleration", frames.frame_classical_acceleration, "q v a", "6",
         body_motion.frame_classical_acceleration, framed=True, form=_CANONICAL,
         derivatives=partials(a="frame_jacobian")),
    _row("kinematic_hessian", frames.kinematic_hessian, "q", "6 nv nv",
         frame_screws.kinematic_hessian, frames.kinematic_hessian,
         framed=True, form=_CANONICAL),
    _row("center_of_mass", center_of_mass.center_of_mass, "q", "3",
         own_frames_center_of_mass.center_of_mass,
         derivatives=partials(q="com_jacobian", t="com_velocity")),
    _row("com_jacobian", center_of_mass.com_jacobian, "q", "3 nv",
         own_frames_centroidal.com_jacobian, derivatives=partials(t="com_jacobian_rate")),
    _row("com_jacobian_rate", center_of_mass.com_jacobian_rate, "q v", "3 nv",
         own_frames_centroidal.com_jacobian_rate),
    _row("com_velocity", center_of_mass.com_velocity, "q v", "3",
         own_frames_center_of_mass.com_velocity,
         derivatives=partials(v="com_jacobian", t="com_acceleration")),
    _row("com_acceleration", center_of_mass.com_acceleration, "q v a", "3",
         own_frames_center_of_mass.com_acceleration, derivatives=partials(a="com_jacobian")),
    _row("mass_matrix", closed_form.mass_matrix, "q", "nv nv",
         newton_euler.mass_matrix, one_frame_matrices.mass_matrix,
         symmetric=True, form=_BASE, letter="M", essential=True,
         derivatives=partials(q="state_derivatives.dM_dq", pi="parameter_derivatives.dM_dpi",
                              t="time_derivatives.dM")),
    _row("mass_matrix_inverse", closed_form.mass_matrix_inverse, "q", "nv nv",
         inverse_mass.mass_matrix_inverse, symmetric=True, solves=True, form=_BASE),
    _row("coriolis_matrix", closed_form.coriolis_matrix, "q v", "nv nv",
         one_frame_matrices.coriolis_matrix, form=_CANONICAL, letter="C", essential=True,
         derivatives=partials(q="state_derivatives.dC_dq", v="state_derivatives.dC_dv",
                              pi="parameter_derivatives.dC_dpi", t="time_derivatives.dC")),
    _row("christoffel_coriolis_matrix", closed_form.christoffel_coriolis_matrix, "q v", "nv nv",
         own_frames_matrices.christoffel_coriolis_matrix,
         one_frame_matrices.christoffel_coriolis_matrix, form=_BASE, letter="C"),
    _row("gravity_torque", closed_form.gravity_torque, "q", "nv",
         newton_euler.gravity_torque, one_frame_matrices.gravity_torque, form=_BASE,
         letter="g", essential=True,
         derivatives=partials(q="state_derivatives.dg_dq", pi="parameter_derivatives.dg_dpi",
                              t="time_derivatives.dg")),
    _row("coriolis_torque", closed_form.coriolis_torque, "q v", "nv",
         newton_euler.coriolis_torque, form=_BASE, essential=True),
    _row("bias", closed_form.bias, "q v", "nv", newton_euler.bias, form=_BASE),
    _row("inverse_dynamics", closed_form.inverse_dynamics, "q v a", "nv",
         newton_euler.inverse_dynamics, one_frame_derivatives.inverse_dynamics,
         wrenches=True, form=_BASE, letter=r"\tau", essential=True,
         jvp="inverse_dynamics_jvp", vjp="inverse_dynamics_vjp",
         derivatives=partials(q="inverse_dynamics_derivatives.dtau_dq",
                              v="inverse_dynamics_derivatives.dtau_dv",
                              a="inverse_dynamics_derivatives.dtau_da", pi="regressor")),
    _row("forward_dynamics", closed_form.forward_dynamics, "q v tau", "nv",
         newton_euler.forward_dynamics, articulated.forward_dynamics, wrenches=True, solves=True,
         form=_BASE, letter=r"\ddot{q}", essential=True,
         jvp="forward_dynamics_jvp", vjp="forward_dynamics_vjp",
         derivatives=partials(q="forward_dynamics_derivatives.da_dq",
                              v="forward_dynamics_derivatives.da_dv",
                              tau="forward_dynamics_derivatives.da_dtau")),
    _row("passivity_inverse_dynamics", closed_form.passivity_inverse_dynamics, "q v v_r a_r", "nv",
         newton_euler.passivity_inverse_dynamics, form=_CANONICAL,
         derivatives=partials(pi="slotine_li_regressor")),
    _row("kinetic_energy", energy.kinetic_energy, "q v", "", form=_BASE,
         letter="T", essential=True,
         derivatives=partials(v="generalized_momentum", pi="kinetic_energy_regressor")),
    _row("potential_energy", energy.potential_energy, "q", "", letter="U", essential=True,
         derivatives=partials(q="gravity_torque", pi="potential_energy_regressor")),
    _row("generalized_momentum", energy.generalized_momentum, "q v", "nv",
         newton_euler.generalized_momentum, form=_BASE, letter="p",
         derivatives=partials(v="mass_matrix", pi="momentum_regressor")),
    _row("momentum", center_of_mass.momentum, "q v", "6", own_frames_center_of_mass.momentum,
         derivatives=partials(q="centroidal_dynamics_derivatives.dh_dq",
                              v="centroidal_momentum_matrix", t="centroidal_dynamics.dh")),
    _row("centroidal_momentum_matrix", center_of_mass.centroidal_momentum_matrix, "q", "6 nv",
         own_frames_centroidal.centroidal_momentum_matrix,
         derivatives=partials(t="centroidal_momentum_matrix_rate")),
    _row("centroidal_momentum_matrix_rate",
         centroidal_dynamics.centroidal_momentum_matrix_rate, "q v", "6 nv",
         own_frames_centroidal.centroidal_momentum_matrix_rate),
    _row("centroidal_dynamics", centroidal_dynamics.centroidal_dynamics, "q v a", "",
         own_frames_center_of_mass.centroidal_dynamics, fields=(("h", (6,)), ("dh", (6,)))),
    _row("centroidal_dynamics_derivatives", centroidal_dynamics.centroidal_dynamics_derivatives,
         "q v a", "", own_frames_centroidal.centroidal_dynamics_derivatives, fields=tuple(
             (name, (6, "nv")) for name in ("dh_dq", "ddh_dq", "ddh_dv", "ddh_da"))),
    _row("joint_friction", friction.joint_friction, "v", "nv"),
    _row("operational_space_mobility", operational_space.operational_space_mobility, "q", "6 6",
         inverse_mass.operational_space_mobility,
         framed=True, solves=True, form=_CANONICAL, symmetric=True),
    _row("operational_space_inertia", operational_space.operational_space_inertia, "q", "6 6",
         inverse_mass.operational_space_inertia,
         framed=True, solves=True, form=_CANONICAL, symmetric=True),
    _row("time_derivatives", time_derivatives.time_derivatives, "q v a j", "",
         time_derivatives_by_series.time_derivatives, form=_CANONICAL,
         fields=(("dM", _NN), ("ddM", _NN), ("dC", _NN), ("ddC", _NN),
                 ("dg", ("nv",)), ("ddg", ("nv",)))),
    _row("inverse_dynamics_jet", jets.inverse_dynamics_jet, "q rates", "orders nv",
         wrenches=True, form=_BASE, letter=r"\tau", essential=True),
    _row("jacobian_jet", jacobian_jets.jacobian_jet, "q rates", "configurations 6 nv",
         framed=True, form=_CANONICAL),
    _row("state_derivatives", state_derivatives.state_derivatives, "q v", "",
         one_frame_tensors.state_derivatives, form=_CANONICAL,
         fields=(("dM_dq", _NNN), ("dC_dq", _NNN), ("dC_dv", _NNN), ("dg_dq", _NN))),
    _row("inverse_dynamics_derivatives", inverse_derivatives.inverse_dynamics_derivatives,
         "q v a", "", one_frame_derivatives.inverse_dynamics_derivatives,
         own_frames_derivatives.inverse_dynamics_derivatives,
         wrenches=True, form=_BASE, essential=True,
         fields=(("dtau_dq", _NN), ("dtau_dv", _NN), ("dtau_da", _NN))),
    _row("inverse_dynamics_and_derivatives", inverse_derivatives.inverse_dynamics_and_derivatives,
         "q v a", "", one_frame_derivatives.inverse_dynamics_and_derivatives,
         own_frames_derivatives.inverse_dynamics_and_derivatives,
         wrenches=True, form=_BASE,
         fields=(("tau", ("nv",)), ("dtau_dq", _NN), ("dtau_dv", _NN), ("dtau_da", _NN))),
    _row("forward_dynamics_derivatives", forward_derivatives.forward_dynamics_derivatives,
         "q v tau", "", one_frame_derivatives.forward_dynamics_derivatives,
         own_frames_derivatives.forward_dynamics_derivatives,
         wrenches=True, solves=True, form=_BASE,
         fields=(("da_dq", _NN), ("da_dv", _NN), ("da_dtau", _NN))),
    _row("inverse_dynamics_jvp", inverse_derivatives.inverse_dynamics_jvp,
         "q v a q_dot v_dot a_dot", "nv", own_frames_products.inverse_dynamics_jvp,
         wrenches=True, form=_BASE),
    _row("inverse_dynamics_vjp", inverse_derivatives.inverse_dynamics_vjp, "q v a tau_bar", "",
         own_frames_products.inverse_dynamics_vjp, wrenches=True, form=_BASE,
         fields=tuple((name, ("nv",)) for name in ("q_bar", "v_bar", "a_bar"))),
    _row("forward_dynamics_jvp", forward_derivatives.forward_dynamics_jvp,
         "q v tau q_dot v_dot tau_dot", "nv", own_frames_products.forward_dynamics_jvp,
         own_frames_products.articulated_forward_dynamics_jvp,
         wrenches=True, solves=True, form=_BASE),
    _row("forward_dynamics_vjp", forward_derivatives.forward_dynamics_vjp, "q v tau a_bar", "",
         own_frames_products.forward_dynamics_vjp,
         own_frames_products.articulated_forward_dynamics_vjp,
         wrenches=True, solves=True, form=_BASE,
         fields=tuple((name, ("nv",)) for name in ("q_bar", "v_bar", "tau_bar"))),
    _row("inverse_dynamics_second_derivatives",
         second_derivatives.inverse_dynamics_second_derivatives, "q v a", "",
         one_frame_second.inverse_dynamics_second_derivatives, form=_BASE,
         fields=(("d2tau_dqdq", _NNN), ("d2tau_dqdv", _NNN), ("d2tau_dvdv", _NNN),
                 ("d2tau_dqda", _NNN))),
    _row("regressor", regressor.regressor, "q v a", "nv parameters", regressors.regressor,
         letter="Y", essential=True),
    Quantity(ROBOTS, "base_regressor", base_regressor.base_regressor, ("q", "v", "a"),
             ("nv", base_regressor.base), (base_regressor.fast_base_regressor,)),
    Quantity(ROBOTS, "packed_base_regressor", base_regressor.packed_base_regressor,
             ("q", "v", "a"), (base_regressor.base_entries,),
             (base_regressor.fast_packed_base_regressor,)),
    _row("slotine_li_regressor", regressor.slotine_li_regressor, "q v v_r a_r", "nv parameters",
         regressors.slotine_li_regressor),
    _row("momentum_regressor", regressor.momentum_regressor, "q v", "nv parameters",
         regressors.momentum_regressor),
    _row("kinetic_energy_regressor", regressor.kinetic_energy_regressor, "q v", "parameters",
         regressors.kinetic_energy_regressor),
    _row("potential_energy_regressor", regressor.potential_energy_regressor, "q", "parameters",
         regressors.potential_energy_regressor),
    _row("parameter_derivatives", regressor.parameter_derivatives, "q v", "",
         regressors.parameter_derivatives,
         fields=(("dM_dpi", _NNP), ("dC_dpi", _NNP), ("dg_dpi", _NP))),
    _row("christoffel_symbols", christoffel.christoffel_symbols, "q", "nv nv nv",
         one_frame_tensors.christoffel_symbols, form=_BASE),
    _row("coriolis_transpose_torque", christoffel.coriolis_transpose_torque, "q v", "nv",
         coriolis_transpose.coriolis_transpose_torque, form=_BASE),
    _row("passive_dynamics_matrices", dynamics_matrices.passive_dynamics_matrices, "q v", "",
         one_frame_matrices.passive_dynamics_matrices, form=_CANONICAL, fields=_MCG),
    _row("christoffel_dynamics_matrices", dynamics_matrices.christoffel_dynamics_matrices,
         "q v", "", one_frame_matrices.christoffel_dynamics_matrices,
         own_frames_matrices.christoffel_dynamics_matrices,
         form=_BASE, fields=_MCG),
)


CATALOGUES: Mapping[type, tuple[Quantity, ...]] = MappingProxyType({
    rows[0].of.model: rows for rows in (
        CATALOGUE, FLEXIBLE_CATALOGUE, ELASTIC_CATALOGUE,
    )})
"""The rows of every kind of model, by its class."""


def quantity(name: str, model: type = Robot) -> Quantity:
    """The row of that name for models of a class."""
    rows = CATALOGUES[model] + (LOOP_CATALOGUE if model is Robot else ())
    found = next((x for x in rows if x.name == name), None)
    if found is not None:
        return found
    raise UnknownName(f"no quantity {name!r} of {rows[0].of.noun}; "
                      f"{suggestion(name, (x.name for x in rows))}")


def gradient(of: Quantity) -> Quantity | None:
    """The row whose results are the derivatives of another by its inputs, in order and all.

    A quantity of a frame has none: its derivative is a tensor, larger than what needs it.
    """
    by = {x.by: x for x in of.derivatives if x.by in of.inputs}
    if of.framed or tuple(by) != of.inputs:
        return None
    found = quantity(by[of.inputs[0]].row, of.of.model)
    fields = [(found.name, name) for name, _ in found.outputs]
    return found if fields == [(x.row, x.field) for x in by.values()] else None
