"""Poses and motions of bodies and frames, of what their units have in the world's axes.

The frame (R_b, p_b) is fixed in the frame of its unit u, the world is at o_w. A twist about the
origin becomes

    (v + ω × p; ω) at the frame's origin,      with Rᵀ in the frame's axes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.frames import LOCAL, LOCAL_WORLD_ALIGNED, WORLD, Reference
from closedform.maths.spatial import cross, homogeneous
from closedform.maths.sweeps.joints import StepArrays, StepFunction


def placed(R_u: Array, o_u: Array, Rb: Array, pb: Array, o_w: Array) -> StepArrays:
    """T, (4, 4)."""
    return {"T": homogeneous(R_u @ Rb, (o_u + R_u @ pb) - o_w, namespace(R_u))}


def _at(X: Array, p: Array) -> Array:
    return namespace(X).concatenate([X[:3] - cross(p, X[3:]), X[3:]])


def local_twist(X: Array, R: Array, p: Array) -> Array:
    """A twist about the origin, at p in the axes R."""
    there = _at(X, p)
    return namespace(X).concatenate([R.T @ there[:3], R.T @ there[3:]])


def body_velocity(V_u: Array, R_u: Array, o_u: Array, Rb: Array, pb: Array) -> StepArrays:
    return {"twist": local_twist(V_u, R_u @ Rb, o_u + R_u @ pb)}


def body_acceleration(A_u: Array, R_u: Array, o_u: Array, Rb: Array, pb: Array) -> StepArrays:
    return {"twist": local_twist(A_u, R_u @ Rb, o_u + R_u @ pb)}


def aligned_velocity(V_u: Array, R_u: Array, o_u: Array, pb: Array) -> StepArrays:
    return {"twist": _at(V_u, o_u + R_u @ pb)}


def aligned_acceleration(A_u: Array, R_u: Array, o_u: Array, pb: Array) -> StepArrays:
    return {"twist": _at(A_u, o_u + R_u @ pb)}


def world_velocity(V_u: Array, o_w: Array) -> StepArrays:
    return {"twist": _at(V_u, o_w)}


def world_acceleration(A_u: Array, o_w: Array) -> StepArrays:
    return {"twist": _at(A_u, o_w)}


def _classical(V: Array, A: Array) -> StepArrays:
    return {"twist": A + namespace(A).concatenate([cross(V[3:], V[:3]), 0 * A[3:]])}


def local_classical(
    V_u: Array, A_u: Array, R_u: Array, o_u: Array, Rb: Array, pb: Array,
) -> StepArrays:
    """(A_v + ω × v; A_ω)."""
    R, p = R_u @ Rb, o_u + R_u @ pb
    return _classical(local_twist(V_u, R, p), local_twist(A_u, R, p))


def aligned_classical(V_u: Array, A_u: Array, R_u: Array, o_u: Array, pb: Array) -> StepArrays:
    p = o_u + R_u @ pb
    return _classical(_at(V_u, p), _at(A_u, p))


def world_classical(V_u: Array, A_u: Array, o_w: Array) -> StepArrays:
    return _classical(_at(V_u, o_w), _at(A_u, o_w))


def located(R_u: Array, o_u: Array, Rb: Array, pb: Array) -> StepArrays:
    """A frame's own R and p."""
    return {"Rf": R_u @ Rb, "pf": o_u + R_u @ pb}


def local_column(S: Array, Rf_u: Array, pf_u: Array) -> StepArrays:
    """A column of the Jacobian, (6,)."""
    return {"J": local_twist(S, Rf_u, pf_u)}


def aligned_column(S: Array, pf_u: Array) -> StepArrays:
    return {"J": _at(S, pf_u)}


def world_column(S: Array, o_w: Array) -> StepArrays:
    return {"J": _at(S, o_w)}


def aligned_rate(S: Array, dS: Array, V_i: Array, pf_u: Array) -> StepArrays:
    """d/dt (S_v − p × S_ω; S_ω), ṗ being the velocity of the frame's origin."""
    moved = _at(dS, pf_u)
    return {"J": moved - namespace(S).concatenate([cross(_at(V_i, pf_u)[:3], S[3:]), 0 * S[3:]])}


def local_rate(S: Array, dS: Array, V_i: Array, Rf_u: Array, pf_u: Array) -> StepArrays:
    """Rᵀ (d/dt of the aligned column − ω × it)."""
    J, rate, w = _at(S, pf_u), aligned_rate(S, dS, V_i, pf_u)["J"], V_i[3:]
    xp = namespace(S)
    turned = [Rf_u.T @ (rate[part] - cross(w, J[part])) for part in (slice(3), slice(3, 6))]
    return {"J": xp.concatenate(turned)}


def world_rate(dS: Array, o_w: Array) -> StepArrays:
    return {"J": _at(dS, o_w)}


class FrameSteps(NamedTuple):
    """The steps of a reference."""

    velocity: StepFunction
    acceleration: StepFunction
    classical: StepFunction
    column: StepFunction
    rate: StepFunction


STEPS: Mapping[Reference, FrameSteps] = {
    LOCAL: FrameSteps(body_velocity, body_acceleration, local_classical, local_column, local_rate),
    LOCAL_WORLD_ALIGNED: FrameSteps(aligned_velocity, aligned_acceleration, aligned_classical,
                                    aligned_column, aligned_rate),
    WORLD: FrameSteps(world_velocity, world_acceleration, world_classical, world_column,
                      world_rate),
}
