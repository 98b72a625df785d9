"""A frame's Jacobian, its rate and its derivatives by q, from the screws that move the frame.

With the screws S_a = (p_a; w_a) of the joints between the world and the frame, all taken at one
point and in one set of axes, and the twists V_a of their segments,

    J_a = S_a      dS_a = (V_a − V_o) × S_a      ∂_k S_a = ([k ⪯ a] S_k − S_ko) × S_a

V_o is the reference's own twist: 0 for WORLD, that of the frame, V_f = (v_f; ω_f), for LOCAL, and
(v_f; 0) for LOCAL_WORLD_ALIGNED; S_ko likewise is 0, S_k or (p_k; 0). k ⪯ a: joint k lies nearer to
the world, or both are screws of one joint.

Definitions are in `maths.frames`.

Cites: [OrinSchrader1984] for J by screws; [Hourtash2005] for its derivatives by q.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.algebra.entries import Entries, enter, tensor
from closedform.maths.algebra.trees import way_up
from closedform.maths.algorithms.joint_steps import JointStep, joint_steps, twist_in_parent
from closedform.maths.algorithms.one_frame.frame import steps_to
from closedform.maths.frames import LOCAL, LOCAL_WORLD_ALIGNED, WORLD, Reference, located
from closedform.maths.kinematics import segment_parents
from closedform.maths.pull_backs import COLUMNS, Seen, hessian, pulled_back, rate
from closedform.maths.quantity import Function
from closedform.maths.spatial import motion_cross
from closedform.model.robot import Robot


class FrameScrew(NamedTuple):
    """A joint's screw as it moves a frame."""

    k: int       # its segment: the larger of two lies nearer to the frame
    i: int       # the velocity that drives it
    S: Array     # (6,)
    bend: Array | None = None   # (6,), its derivative by its own coordinate, where it has one

    @property
    def p(self) -> Array:
        """The linear half, (3,): the velocity of the point at which screws are taken."""
        return self.S[:3]

    @property
    def w(self) -> Array:
        """The angular half, (3,)."""
        return self.S[3:]


class FrameScrews(NamedTuple):
    """A frame's place, and the screws of the joints that move it, from the world to the frame."""

    R: Array                 # (3, 3), in the world; for LOCAL in the segment that carries it
    p: Array                 # (3,), likewise
    screws: tuple[FrameScrew, ...]
    nv: int


def _bent(function: Function, seen: Seen) -> FrameScrews:
    """The screws of the free robot with the velocities that drive them: γ' S, and γ'' S."""
    found, source, (g,), bend = seen.free(function), seen.e.v_source, seen.g(), seen.slope(2)
    screws = [FrameScrew(k, source[r], S * g[r] if r in bend else S,
                         S * bend[r] if r in bend else None) for k, r, S, _ in found.screws]
    return found._replace(screws=tuple(screws), nv=seen.robot.nv)


@pulled_back(_bent)
def frame_screws(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> FrameScrews:
    """The frame in the reference: in whose axes, and at whose point, screws are taken.

        w_a = R_k ω_a      p_a = R_k v_a + w_a × (o − p_k)

    (v_a; ω_a) is a column of S_k, (R_k, p_k) the pose of its segment k, and o the point.
    """
    xp = namespace(q)
    place, k = located(robot, frame)
    T = steps_to(robot, joint_steps(robot, q), k if reference is LOCAL else 0, xp)
    R, p = T[k].up(place.placement[:3, :3]), T[k].p + T[k].up(place.placement[:3, 3])
    o = xp.zeros(3) if reference is WORLD else p
    screws: list[FrameScrew] = []
    for at in reversed([k, *way_up(segment_parents(robot), k)] if k else []):
        step = JointStep(T[at].factors, T[at].p - o)
        segment = robot.segments[at - 1]
        screws += [FrameScrew(at, i, twist_in_parent(step, s))
                   for i, s in zip(segment.v_index, segment.S.T, strict=True)]
    if reference is LOCAL:
        back = JointStep((place.placement[:3, :3].T,), xp.zeros(3))
        screws = [s._replace(S=twist_in_parent(back, s.S)) for s in screws]
    return FrameScrews(R, p, tuple(screws), robot.nv)


def screw_derivatives(
    here: FrameScrews, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> list[list[Array]]:
    """[a][k] = ∂_k S_a, (6,)."""
    xp = namespace(here.p, *(s.S for s in here.screws))
    zero, none = xp.zeros(3), xp.zeros(6)

    def change(k: FrameScrew, a: FrameScrew) -> Array:
        still = k.k > a.k                            # a does not move with k
        if reference is LOCAL_WORLD_ALIGNED:
            turn = [-k.p, zero] if still else [zero, k.w]
            return motion_cross(xp.concatenate(turn), a.S)
        if k is a or still is (reference is WORLD):
            return none
        return motion_cross(-k.S if still else k.S, a.S)

    return [[change(k, a) if k is not a or a.bend is None else change(k, a) + a.bend
             for k in here.screws] for a in here.screws]


def jacobian_of(here: FrameScrews) -> Array:
    """J, (6, nv), of the frame in the reference of its screws."""
    return _columns([((a.i,), a.S) for a in here.screws], (here.nv,), here)


def jacobian_derivative(
    here: FrameScrews, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """∂J/∂q of `jacobian_of`, (6, nv, nv), the new index last."""
    changes = screw_derivatives(here, reference)
    return _columns([((a.i, k.i), dS) for a, row in zip(here.screws, changes, strict=True)
                     for k, dS in zip(here.screws, row, strict=True)], (here.nv, here.nv), here)


@pulled_back(COLUMNS)
def frame_jacobian(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """J, (6, nv), in O(d)."""
    return jacobian_of(frame_screws(robot, q, frame, reference))


@pulled_back(hessian, frame_jacobian)
def kinematic_hessian(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """∂J_ij/∂q_k, (6, nv, nv), in O(d²)."""
    return jacobian_derivative(frame_screws(robot, q, frame, reference), reference)


@pulled_back(rate, frame_jacobian)
def frame_jacobian_rate(
    robot: Robot, q: Array, v: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """dJ, (6, nv), in O(d)."""
    here = frame_screws(robot, q, frame, reference)
    turns = _relative_twists(here, v, reference)
    return _columns([((a.i,), motion_cross(turn, a.S))
                     for a, turn in zip(here.screws, turns, strict=True)], (here.nv,), here)


def _relative_twists(here: FrameScrews, v: Array, reference: Reference) -> list[Array]:
    """V_a − V_o for every screw; its own share is left out where it is alone in its joint."""
    xp = namespace(here.p, v)
    own: Entries = {}
    for a in here.screws:
        enter(own, (a.k,), a.S * v[a.i])
    before = _running_sums(own, xp.zeros(6))
    behind = _running_sums(dict(reversed(own.items())), xp.zeros(6))
    alone = Counter(a.k for a in here.screws)

    def turn(k: int) -> Array:
        if reference is LOCAL:
            return -behind[k,]
        moved = before[k,] + own[k,]
        if reference is LOCAL_WORLD_ALIGNED:
            return xp.concatenate([-behind[k,][:3], moved[3:]])
        return before[k,] if alone[k] == 1 else moved

    return [turn(a.k) for a in here.screws]


def _running_sums(parts: Entries, zero: Array) -> Entries:
    """For each part the sum of those that come before it."""
    return dict(zip(parts, accumulate(parts.values(), initial=zero), strict=False))


def _columns(
    vectors: list[tuple[tuple[int, ...], Array]], shape: tuple[int, ...], here: FrameScrews,
) -> Array:
    """(6, *shape): six-vectors added up by their index, zeros elsewhere."""
    xp = namespace(here.p, *(x for _, x in vectors))
    found: Entries = {}
    for index, x in vectors:
        for row in range(6):
            enter(found, (row, *index), x[row])
    return tensor(found, (6, *shape), xp)
