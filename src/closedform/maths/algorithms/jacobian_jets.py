"""Jacobians with all their time derivatives, by Taylor series of the joints' screws.

Cites: [MuellerKumar2021, eq. (12)] for the first derivative; here of any order, screw by screw.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from closedform.arrays import OBJECTS, Array, namespace
from closedform.errors import ArgumentError
from closedform.maths.algebra.trees import way_up
from closedform.maths.algorithms.joint_steps import joint_steps, twist_in_parent
from closedform.maths.algorithms.one_frame.frame import steps_to
from closedform.maths.arguments import checked
from closedform.maths.frames import LOCAL, LOCAL_WORLD_ALIGNED, Reference, located
from closedform.maths.kinematics import segment_parents
from closedform.maths.pull_backs import jet, pulled_back
from closedform.maths.scalars.series import (
    coefficient,
    derivatives,
    from_coefficients,
    from_derivatives,
    known_terms,
)
from closedform.maths.spatial import crm, cross, motion_transform
from closedform.model.robot import Robot


def screw_series(S_0: Array, V: Array, own: Array | None = None) -> Array:
    """Screws, (6, n) series, that start as S_0 and move with twists V(t), (6,):

        Ṡ = (V + S own) × S,     (m + 1) S_{m+1} = Σ_j V_j × S_{m−j}

    `own` are the velocities of the screws' own joint, where it has several; S v × S = 0 for one.
    All is written in a frame that stands still. Known to one order more than V.
    """
    S, twists = [S_0], []
    for m in range(known_terms(V, 0)):
        V_m = coefficient(V, m)
        if own is not None:
            V_m = reduce(add, [S[j] @ coefficient(own, m - j) for j in range(m + 1)], V_m)
        twists.append(crm(V_m))
        S.append(reduce(add, [twists[j] @ S[m - j] for j in range(m + 1)]) / (m + 1))
    return from_coefficients(S)


@checked
@pulled_back(jet)
def jacobian_jet(
    robot: Robot, q: Array, rates: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """J, J̇, J̈, … of a frame or body, (R+1, 6, nv), of a motion with the R rates v, a, j, … (rows).

    They are derivatives of the components in the reference, as `frame_jacobian_rate` is. Written
    for the screws S_k of the joints on the way to the frame f:

        WORLD    Ṡ_k = V_k × S_k
        LOCAL    Ṡ_k = (V_k − V_f) × S_k          in the frame's own axes

    LOCAL_WORLD_ALIGNED is WORLD, moved to the frame's origin p(t), ṗ = u_f + ω_f × p.
    """
    if not isinstance(reference, Reference):
        raise ArgumentError("reference must be cf.LOCAL, cf.WORLD or cf.LOCAL_WORLD_ALIGNED, "
                            f"not {reference!r}")
    place, k = located(robot, frame)
    v, seen = from_derivatives(list(rates)), k if reference is LOCAL else 0
    xp = namespace(q, rates)
    T = steps_to(robot, joint_steps(robot, q), seen, xp)
    R_f, p_f = place.placement[:3, :3], place.placement[:3, 3]
    way = [*reversed(way_up(segment_parents(robot), k)), k] if k else []
    start = {i: _columns([twist_in_parent(T[i], s) for s in robot.segments[i - 1].S.T])
             for i in way}
    if reference is LOCAL:
        X = motion_transform(R_f, p_f)
        screws = _screws_seen_from_the_frame(robot, {i: X @ S for i, S in start.items()}, v)
    else:
        screws, V = _screws_seen_from_the_world(robot, start, v)
        if reference is LOCAL_WORLD_ALIGNED:
            p = _point_series(T[k].p + T[k].up(p_f), V)
            screws = {i: _moved(S, p) for i, S in screws.items()}
    columns = [OBJECTS.zeros(6)] * robot.nv
    for i, S in screws.items():
        for c, j in enumerate(robot.segments[i - 1].v_index):
            columns[j] = columns[j] + S[:, c]
    return derivatives(_columns(columns), len(rates) + 1, xp)


def _columns(vectors: Sequence[Array]) -> Array:
    """(6, n) from n vectors."""
    return OBJECTS.stack(vectors, axis=1) if vectors else OBJECTS.zeros((6, 0))


def _screws_seen_from_the_world(
    robot: Robot, start: dict[int, Array], v: Array,
) -> tuple[dict[int, Array], Array]:
    """Screws of the segments on a way from the root, and the twist at its end."""
    V, screws = from_coefficients([OBJECTS.zeros(6)] * known_terms(v, 1)), {}
    for i, S_0 in start.items():
        own = robot.segments[i - 1].velocities(v)
        screws[i] = screw_series(S_0, V, own if len(own) > 1 else None)
        V = V + screws[i] @ own
    return screws, V


def _screws_seen_from_the_frame(
    robot: Robot, start: dict[int, Array], v: Array,
) -> dict[int, Array]:
    """Screws of the segments on the way to a frame, in that frame, from its end to the root."""
    V, screws = from_coefficients([OBJECTS.zeros(6)] * known_terms(v, 1)), {}
    for i, S_0 in reversed(start.items()):
        screws[i] = screw_series(S_0, V)
        V = V - screws[i] @ robot.segments[i - 1].velocities(v)
    return screws


def _point_series(p_0: Array, V: Array) -> Array:
    """The series of a point that moves with the twist V: ṗ = u + ω × p."""
    p = [p_0]
    for m in range(known_terms(V, 0)):
        turning = [cross(coefficient(V[3:], j), p[m - j]) for j in range(m + 1)]
        p.append(reduce(add, turning, coefficient(V[:3], m)) / (m + 1))
    return from_coefficients(p)


def _moved(S: Array, p: Array) -> Array:
    """Screws with their linear parts taken at the point p: s_v + s_ω × p."""
    linear = [S[:3, c] + cross(S[3:, c], p) for c in range(S.shape[1])]
    return OBJECTS.concatenate([OBJECTS.stack(linear, axis=1), S[3:]]) if linear else S
