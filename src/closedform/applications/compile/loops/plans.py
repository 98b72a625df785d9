"""The rows that loops compute, and by which steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from closedform.maths.frames import Reference
from closedform.maths.sweeps import (
    articulated,
    bodies,
    frames,
    joints,
    pairs,
    parameters,
    products,
    sums,
)
from closedform.maths.sweeps.joints import StepFunction
from closedform.program.sweeps import Order

FORCES = bodies.force, bodies.inertia_and_force, articulated.articulated
"""Steps after which wrenches are taken off."""


class SweepRun(NamedTuple):
    """A step, in which order it runs, the list that has its places, and how runs are joined."""

    order: Order
    step: StepFunction
    over: str = ""
    joined: StepFunction | None = None


class LoopPlan(NamedTuple):
    """How a row is computed: steps, then pairs, then columns.

    `results` are the outputs by the arrays that steps call them, `aliases` other names for arrays.
    `rows` names the list of the pairs' rows, none: the units. Tables in `diagonal` are added to
    pairs, `blocks` gives columns for each body, `columns` are outputs that are solved for, of the
    unit matrix if so. `lift`: the steps run on series in time, see `lifted`. `grouped`: joints may
    have several velocities.
    """

    runs: tuple[SweepRun, ...]
    results: Mapping[str, str] = {}
    pairs: tuple[StepFunction, ...] = ()
    rows: str = ""
    diagonal: Mapping[str, str] = {}
    columns: Mapping[str, bool] = {}
    aliases: Mapping[str, str] = {}
    blocks: StepFunction | None = None
    lift: str = ""
    grouped: bool = True


SweepRuns = tuple[SweepRun, ...]
ONCE, MAP, OUTWARDS, INWARDS, LISTED = Order


def _once(*steps: StepFunction) -> SweepRuns:
    return tuple(SweepRun(ONCE, step) for step in steps)


def _map(*steps: StepFunction) -> SweepRuns:
    return tuple(SweepRun(MAP, step) for step in steps)


def _behind(*arrays: str) -> SweepRuns:
    return (SweepRun(INWARDS, _SUMS.setdefault(arrays, bodies.behind(*arrays)), "",
                     _together(*arrays)),)


def _summing(step: StepFunction, *arrays: str) -> SweepRun:
    """A sweep outwards that adds to what the parent has."""
    return SweepRun(OUTWARDS, step, "", _together(*arrays))


def _together(*arrays: str) -> StepFunction:
    return _JOINED.setdefault(arrays, bodies.together(*arrays))


_SUMS: dict[tuple[str, ...], StepFunction] = {}
_JOINED: dict[tuple[str, ...], StepFunction] = {}

_PLACES: SweepRuns = (
    SweepRun(LISTED, joints.coordinate, "coordinates"), *_map(joints.local),
    SweepRun(LISTED, joints.free, "free"), SweepRun(LISTED, joints.spherical, "spherical"),
    SweepRun(LISTED, joints.planar, "planar"), SweepRun(ONCE, joints.origin, "first"),
    SweepRun(OUTWARDS, joints.pose, "", joints.pose_behind), *_map(joints.screw))
_POSES = _once(joints.world) + _PLACES
_SPEED: SweepRuns = (_summing(joints.velocity, "V"),)
_TURNING: SweepRuns = (SweepRun(MAP, joints.screw_rates, "joints"),)
_RATES = _POSES + _SPEED + _map(joints.rates)
_MOTION: SweepRuns = (*_RATES, _summing(joints.acceleration, "A"))
_BIAS: SweepRuns = (*_RATES, _summing(joints.bias_acceleration, "A"))
_WEIGHTLESS = _once(joints.weightless_world) + _MOTION[1:]
_DERIVATIVES = (*_TURNING, *_map(bodies.inertia_and_force),
                *_behind("h", "Sigma", "p", "G", "f"), *_map(bodies.columns))
_SOLVED: SweepRuns = (
    *_once(articulated.at_rest), *_map(articulated.articulated),
    SweepRun(INWARDS, articulated.eliminated), SweepRun(OUTWARDS, articulated.solved))
_PASSIVE = (*_POSES, *_SPEED, *_TURNING, *_map(bodies.inertia_and_passive),
            *_behind("h", "Sigma", "a_O", "N_O", "c_O", "D_O"), *_map(bodies.passive_columns))
_CHRISTOFFEL = (*_POSES, *_SPEED, *_TURNING, *_map(bodies.inertia_and_flow),
                *_behind("h", "Sigma", "p", "G"), *_map(bodies.coriolis_columns))
_REFERENCE: SweepRuns = (*_POSES, *_SPEED, *_TURNING, *_once(joints.reference_world),
                    _summing(joints.reference_motion, "VR", "AR"))
_WEIGHTS = (*_map(bodies.weight), *_behind("f"), *_map(bodies.bias_torque))
_COMPOSITES = (*_POSES, *_map(bodies.inertia), *_behind("h", "Sigma"),
               *_map(bodies.momentum_of_screw))
_TORQUE = (*_map(bodies.force), *_behind("f"), *_map(bodies.torque))
_MOMENTUM = (*_POSES, *_SPEED, *_map(sums.momentum), *_behind("f"))
_GROUND = _once(sums.nothing)
_CENTROIDAL = (*_POSES, *_GROUND, *_map(bodies.inertia), *_behind("h", "Sigma"),
               *_once(sums.center), *_map(bodies.momentum_of_screw, sums.momentum_column))
_PRODUCTS = (*_map(products.weighted), *_behind("UT", "WT"), *_once(products.no_weight),
             SweepRun(OUTWARDS, products.weights_before))
_FORWARD = (*_BIAS, *_SOLVED)
_AFTER: SweepRuns = (_summing(joints.acceleration, "A"), *_DERIVATIVES)
_C = pairs.coriolis_before, pairs.coriolis_behind
_MC = pairs.matrices_before, pairs.matrices_behind
_SLOPES = pairs.derivatives_before, pairs.derivatives_behind
_ROTORS, _SPRINGS = {"M": "rotor"}, {"dtau_dq": "stiffness"}
_FOUND = {"a": "found"}
_BODIES, _FRAME = "bodies", "frame"


def _located(over: str) -> SweepRuns:
    return (SweepRun(LISTED, frames.located, over),)


def _of_frame(runs: SweepRuns, which: str) -> Callable[[Reference], LoopPlan]:
    """The motion of a frame in a reference."""
    return lambda reference: LoopPlan(
        (*runs, SweepRun(LISTED, getattr(frames.STEPS[reference], which), _FRAME)), {"twist": ""})


def _jacobian(runs: SweepRuns, which: str) -> Callable[[Reference], LoopPlan]:
    return lambda reference: LoopPlan(
        runs + _located(_FRAME), {"J": ""}, (getattr(frames.STEPS[reference], which),), _FRAME)


PLANS: Mapping[str, LoopPlan | Callable[[Any], LoopPlan]] = {
    "inverse_dynamics": LoopPlan(_MOTION + _TORQUE, {"tau": ""}),
    "bias": LoopPlan((*_BIAS, *_map(bodies.force), *_behind("f"), *_map(bodies.bias_torque)),
                     {"tau": ""}),
    "coriolis_torque": LoopPlan(
        (*_once(joints.weightless_world), *_BIAS[1:], *_map(bodies.force), *_behind("f"),
         *_map(bodies.coriolis_torque)), {"tau": ""}),
    "gravity_torque": LoopPlan(_POSES + _WEIGHTS, {"tau": ""}),
    "generalized_momentum": LoopPlan(_MOMENTUM + _map(sums.momentum_torque), {"tau": ""}),
    "forward_dynamics": LoopPlan(_FORWARD, {"a": ""}),
    "mass_matrix": LoopPlan(_COMPOSITES, {"M": ""}, (pairs.mass_before, pairs.mass_behind), "",
                            _ROTORS),
    "mass_matrix_inverse": LoopPlan(
        (*_POSES, *_once(articulated.fixed),
         *_map(articulated.at_rest_articulated),
         SweepRun(INWARDS, articulated.inertia_eliminated)), {}, columns={"": True}),
    "coriolis_matrix": LoopPlan(_PASSIVE, {"C": ""}, _C),
    "christoffel_coriolis_matrix": LoopPlan(_CHRISTOFFEL, {"C": ""}, _C),
    "passive_dynamics_matrices": LoopPlan(
        _PASSIVE + _WEIGHTS, {"M": "M", "C": "C", "tau": "g"}, _MC, "", _ROTORS),
    "christoffel_dynamics_matrices": LoopPlan(
        _CHRISTOFFEL + _WEIGHTS, {"M": "M", "C": "C", "tau": "g"}, _MC, "", _ROTORS),
    "inverse_dynamics_derivatives": LoopPlan(
        _MOTION + _DERIVATIVES, {x: x for x in ("dtau_dq", "dtau_dv", "dtau_da")}, _SLOPES, "",
        {"dtau_da": "rotor", **_SPRINGS}),
    "inverse_dynamics_and_derivatives": LoopPlan(
        _MOTION + _DERIVATIVES + _map(bodies.torque),
        {x: x for x in ("tau", "dtau_dq", "dtau_dv", "dtau_da")}, _SLOPES, "",
        {"dtau_da": "rotor", **_SPRINGS}),
    "forward_dynamics_derivatives": LoopPlan(
        _FORWARD + _AFTER, {"dtau_dq": "da_dq", "dtau_dv": "da_dv"}, _SLOPES, "", _SPRINGS,
        {"da_dq": False, "da_dv": False, "da_dtau": True}, _FOUND),
    "inverse_dynamics_jvp": LoopPlan(_MOTION + _TORQUE, {"tau": ""}, lift="jvp", grouped=False),
    "inverse_dynamics_jet": LoopPlan(_MOTION + _TORQUE, {"tau": ""}, lift="jet", grouped=False),
    "forward_dynamics_jvp": LoopPlan(_FORWARD, {"a": ""}, lift="jvp", grouped=False),
    "inverse_dynamics_vjp": LoopPlan(
        _MOTION + _DERIVATIVES + _PRODUCTS + _map(products.pulled_back),
        {x: x for x in ("q_bar", "v_bar", "a_bar")}, aliases={"weight": "tau_bar"}, grouped=False),
    "forward_dynamics_vjp": LoopPlan(
        (*_FORWARD, *_AFTER, *_once(articulated.still), *_map(articulated.unloaded),
         SweepRun(INWARDS, articulated.pushed), SweepRun(OUTWARDS, articulated.moved), *_PRODUCTS,
         *_map(products.solved_pulled_back)),
        {x: x for x in ("q_bar", "v_bar", "tau_bar")},
        aliases={"b": "a_bar", "y": "weight", **_FOUND}, grouped=False),
    "passivity_inverse_dynamics": LoopPlan(
        (*_REFERENCE, *_map(bodies.reference_force), *_behind("f"),
         *_map(bodies.reference_torque)), {"tau": ""}),
    "regressor": LoopPlan(
        (*_MOTION, SweepRun(LISTED, parameters.regressor_block, _BODIES),
         SweepRun(LISTED, parameters.rotor_column, "regressor")), {"Y": ""},
        blocks=parameters.regressor_entries),
    "slotine_li_regressor": LoopPlan(
        (*_REFERENCE, SweepRun(LISTED, parameters.reference_block, _BODIES),
         SweepRun(LISTED, parameters.reference_rotor_column, "regressor")), {"Y": ""},
        blocks=parameters.regressor_entries),
    "kinetic_energy": LoopPlan(
        (*_POSES, *_SPEED, *_GROUND, *_map(sums.kinetic), *_behind("E"),
         *_once(sums.kinetic_energy)), {"energy": ""}),
    "potential_energy": LoopPlan(
        (*_POSES, *_GROUND, *_map(sums.potential), *_behind("E"), *_once(sums.potential_energy)),
        {"energy": ""}),
    "center_of_mass": LoopPlan(
        (*_POSES, *_GROUND, *_map(sums.first_moment), *_behind("h"), *_once(sums.center_in_world)),
        {"com": ""}),
    "com_velocity": LoopPlan(
        (*_POSES, *_SPEED, *_GROUND, *_map(sums.momentum), *_behind("f"),
         *_once(sums.center_velocity)), {"com": ""}),
    "com_acceleration": LoopPlan(
        (*_WEIGHTLESS, *_GROUND, *_map(sums.moment_momentum_and_force), *_behind("F"),
         *_once(sums.center_acceleration)), {"com": ""}),
    "momentum": LoopPlan(
        (*_POSES, *_SPEED, *_GROUND, *_map(sums.moment_and_momentum), *_behind("h", "f"),
         *_once(sums.about_center)), {"about": ""}),
    "centroidal_dynamics": LoopPlan(
        (*_WEIGHTLESS, *_GROUND, *_map(sums.moment_momentum_and_force),
         *_behind("h", "f", "F"), *_once(sums.about_center, sums.rate_about_center)),
        {"about": "h", "rate": "dh"}),
    "com_jacobian": LoopPlan(_COMPOSITES + _map(sums.center_column), {"J": ""}),
    "centroidal_momentum_matrix": LoopPlan(_CENTROIDAL, {"J": ""}),
    "com_jacobian_rate": LoopPlan(_COMPOSITES + _map(sums.center_column), {"J": ""}, lift="rate",
                                  grouped=False),
    "centroidal_momentum_matrix_rate": LoopPlan(_CENTROIDAL, {"J": ""}, lift="rate",
                                                grouped=False),
    "poses": LoopPlan((*_POSES, SweepRun(LISTED, frames.placed, _BODIES)), {"T": ""}),
    "body_velocities": LoopPlan(
        (*_POSES, *_SPEED, SweepRun(LISTED, frames.body_velocity, _BODIES)), {"twist": ""}),
    "body_accelerations": LoopPlan(
        (*_WEIGHTLESS, SweepRun(LISTED, frames.body_acceleration, _BODIES)), {"twist": ""}),
    "body_jacobians": LoopPlan(_POSES + _located(_BODIES), {"J": ""}, (frames.local_column,),
                               _BODIES),
    "body_jacobian_rates": LoopPlan(
        _POSES + _SPEED + _TURNING + _located(_BODIES), {"J": ""}, (frames.local_rate,), _BODIES),
    "body_jacobian_second_rates": LoopPlan(
        _POSES + _SPEED + _TURNING + _located(_BODIES), {"J": ""}, (frames.local_rate,), _BODIES,
        lift="rate", grouped=False),
    "frame_pose": LoopPlan((*_POSES, SweepRun(LISTED, frames.placed, _FRAME)), {"T": ""}),
    "frame_velocity": _of_frame(_POSES + _SPEED, "velocity"),
    "frame_acceleration": _of_frame(_WEIGHTLESS, "acceleration"),
    "frame_classical_acceleration": _of_frame(_WEIGHTLESS, "classical"),
    "frame_jacobian": _jacobian(_POSES, "column"),
    "frame_jacobian_rate": _jacobian(_POSES + _SPEED + _TURNING, "rate"),
}
"""The rows that loops compute; of frames, by their reference. An output without a name is the
row's only one."""

DEPTH: Mapping[str, int] = {
    **dict.fromkeys(PLANS, 24), **dict.fromkeys(("inverse_dynamics", "forward_dynamics"), 101),
    **dict.fromkeys(("bias", "coriolis_torque", "gravity_torque"), 61)}
"""Joints on the longest way to the world from which on a row is computed by loops: they take less
time than straight-line code there, or code that compiles at once is worth more
(`benchmarks/deep.py`)."""

CUT = frozenset(("inverse_dynamics", "forward_dynamics", "bias", "coriolis_torque"))
"""Rows of which one state of a chain is computed by loops sooner, in runs that are lanes of a
register; batches, which have states in lanes, still are a line of code."""
CUT_FROM: Mapping[int, int] = {64: 32, 32: 60}
"""Joints from which on, by the bytes of a register; with smaller ones straight-line code is
faster."""

MANY: Mapping[str, int] = {
    "forward_dynamics": 101, **dict.fromkeys(
        ("inverse_dynamics", "bias", "coriolis_torque", "gravity_torque"), 201)}
"""Segments from which on rows of deep robots are computed by loops, whatever their depth: a line of
code would take longer to compile than users wait."""
