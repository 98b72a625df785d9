"""The same robot in the habits of Pinocchio, MuJoCo and Drake: explicit, both ways, batches first.

A `Convention` takes our q, v, a, τ to another library's and back. Joints are matched by name; what
differs is their order, how each is written (its `Habit`), and whether a joint that follows another
here is a joint of its own there:

    q' = G q + q_0,    v' = B(q) v,    a' = B a + Ḃ v,    τ = Bᵀ τ',    M = Bᵀ M' B

Without followers B is orthogonal: it only turns axes and changes the order.

    pinocchio   continuous joints (cos, sin); planar (x, y, cos, sin); siblings sorted by name
    mujoco      quaternions wxyz; a free joint's linear velocity in the world's axes
    drake       free joint (qw qx qy qz, x y z) with v = (ω, ṗ) in the world's axes; planar v = q̇
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from closedform.applications.conventions.convention import Convention, Follower, Place
from closedform.applications.conventions.joints import (
    DRAKE,
    MUJOCO,
    PINOCCHIO,
    Habit,
    Same,
    habit_of,
)
from closedform.errors import ArgumentError, ModelError, suggestion
from closedform.model.bodies import Body
from closedform.model.formats.mjcf.read import held_joints
from closedform.model.joints import describe
from closedform.model.robot import Robot
from closedform.model.segments import Segment


# ---------------------------------------------------------------------- by a list of names
def pinocchio_convention(robot: Robot, joint_order: Sequence[str],
                         continuous: Collection[str] = ()) -> Convention:
    """Pinocchio's, for its joints in `joint_order`; `continuous` ones are written (cos, sin)."""
    unknown = [name for name in continuous if name not in (*robot.joint_names, *_followers(robot))]
    if unknown:
        raise ArgumentError(f"continuous: {robot.name} has no joint {unknown[0]!r}; "
                            f"{suggestion(unknown[0], robot.joint_names)}")
    def habit(body: Body) -> Habit:
        return habit_of(body, "Pinocchio", PINOCCHIO, body.joint_name in continuous)
    return _in_order("Pinocchio", robot, joint_order, habit)


def mujoco_convention(robot: Robot, joint_order: Sequence[str]) -> Convention:
    """MuJoCo's, for its joints in `joint_order`."""
    return _in_order("MuJoCo", robot, joint_order,
                     lambda body: habit_of(body, "MuJoCo", MUJOCO))


def drake_convention(robot: Robot, joint_order: Sequence[str]) -> Convention:
    """Drake's, for its joints in `joint_order`, with the free joint a `QuaternionFloatingJoint`."""
    return _in_order("Drake", robot, joint_order, lambda body: habit_of(body, "Drake", DRAKE))


def _in_order(library: str, robot: Robot, order: Sequence[str],
              habit: Callable[[Body], Habit]) -> Convention:
    _check_same_joints(library, robot, order)
    bodies = {body.joint_name: body for body in robot.bodies}
    there, at_q, at_v = [], 0, 0
    for name in order:
        kind, nv = habit(bodies[name]), bodies[name].joint.moving.nv
        there.append(_There(name, kind, slice(at_q, at_q + kind.nq), slice(at_v, at_v + nv)))
        at_q, at_v = at_q + kind.nq, at_v + nv
    return _convention(library, robot, there)


class _There(NamedTuple):
    """A joint of theirs by our name: how it is written, and where."""

    name: str
    habit: Habit
    q: slice
    v: slice


def _convention(library: str, robot: Robot, there: Iterable[_There],
                held: Iterable[Follower] = ()) -> Convention:
    followed = _followers(robot)
    places, followers = [], list(held)
    for name, habit, q, v in there:
        if name in followed:
            s = followed[name]
            (i, j, ratio), *others = zip(s.q_index, s.v_index, map(float, np.atleast_1d(s.ratio)),
                                         strict=True)
            followers.append(Follower(habit, q, v, i, j, ratio, np.array([float(s.offset)]),
                                      tuple(map(float, s.higher)), tuple(others)))
        else:
            places.append(Place(habit, robot.q_slices[name], robot.v_slices[name], q, v))
    return Convention(library, robot, tuple(places), tuple(followers))


def _followers(robot: Robot) -> dict[str, Segment]:
    """The joints that follow others, by name."""
    return {robot.bodies[s.owner].joint_name: s for s in robot.segments
            if robot.bodies[s.owner].joint.driver}


def _check_same_joints(library: str, robot: Robot, theirs: Iterable[str]) -> None:
    given = list(theirs)
    repeated = sorted({name for name in given if given.count(name) > 1})
    ours_only = [name for name in robot.joint_names if name not in given]
    known = {*robot.joint_names, *_followers(robot)}
    theirs_only = [name for name in given if name not in known]
    wrong = [f"{what} {', '.join(names)}" for what, names in (
        (f"only {robot.name} has", ours_only), (f"only {library} has", theirs_only),
        ("named twice:", repeated)) if names]
    if wrong:
        raise ModelError(f"the joints of {robot.name} and of {library} differ: {'; '.join(wrong)}")


# ---------------------------------------------------------------------- from a model
def from_pinocchio_model(robot: Robot, model: Any,
                         names: Mapping[str, str] | None = None) -> Convention:
    """The convention of a `pinocchio.Model`, by its joints' names.

    `names` gives our name for theirs where they differ; a free joint left over on either side is
    taken for the same one, because the model files do not name it.
    """
    joints = zip(list(model.names)[1:], list(model.joints)[1:], strict=True)  # 0 is the universe
    theirs = {name: joint for name, joint in joints if joint.nv > 0}
    free = [name for name, joint in theirs.items() if joint.shortname().endswith("FreeFlyer")]
    ours = _matched("Pinocchio", robot, list(theirs), free, names)
    bodies = {body.joint_name: body for body in robot.bodies}
    there = []
    for name, joint in theirs.items():
        body, kind = bodies[ours[name]], joint.shortname().removeprefix("JointModel")
        row = PINOCCHIO.get(type(body.joint.moving))
        if row and not re.fullmatch(row.name, kind):
            raise ModelError(f"the joint {name!r} is {describe(body.joint)} in {robot.name}, but "
                             f"{joint.shortname()} in Pinocchio")
        habit = habit_of(body, "Pinocchio", PINOCCHIO, (joint.nq, joint.nv) == (2, 1))
        there.append(_There(ours[name], habit, slice(joint.idx_q, joint.idx_q + joint.nq),
                            slice(joint.idx_v, joint.idx_v + joint.nv)))
    return _convention("Pinocchio", robot, there)


MUJOCO_TYPES = ("free", "ball", "slide", "hinge")
"""The kinds of `mjtJoint`, by their numbers."""


def from_mujoco_model(robot: Robot, model: Any,
                      names: Mapping[str, str] | None = None) -> Convention:
    """The convention of a `mujoco.MjModel`, by its joints' names; `names` as for Pinocchio.

    A joint without a name goes by its body's, as in a robot that was loaded from MJCF. Joints that
    its equalities hold still, and that the robot therefore has not, stay where they are held.
    """
    held = held_joints(model)
    still = {j for j in held if _mujoco_name(robot, model, j) not in robot.joint_names}
    theirs = {_mujoco_name(robot, model, j): j for j in range(model.njnt) if j not in still}
    free = [name for name, j in theirs.items() if model.jnt_type[j] == 0]
    ours = _matched("MuJoCo", robot, list(theirs), free, names)
    bodies = {body.joint_name: body for body in robot.bodies}
    there = []
    for name, j in theirs.items():
        body, kind = bodies[ours[name]], MUJOCO_TYPES[int(model.jnt_type[j])]
        habit = habit_of(body, "MuJoCo", MUJOCO)
        if MUJOCO[type(body.joint.moving)].name != kind:
            raise ModelError(f"the joint {name!r} is {describe(body.joint)} in {robot.name}, but "
                             f"{kind} in MuJoCo")
        there.append(_There(ours[name], habit, *_mujoco_slices(model, j)))
    kept = [Follower(Same(len(held[j])), *_mujoco_slices(model, j), 0, 0, 0.0, held[j])
            for j in sorted(still)]
    return _convention("MuJoCo", robot, there, kept)


def _mujoco_slices(model: Any, j: int) -> tuple[slice, slice]:
    nq, nv = ((7, 6), (4, 3), (1, 1), (1, 1))[int(model.jnt_type[j])]
    q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
    return slice(q, q + nq), slice(v, v + nv)


def _mujoco_name(robot: Robot, model: Any, j: int) -> str:
    body = model.body(int(model.jnt_bodyid[j])).name or f"body{int(model.jnt_bodyid[j])}"
    inner = f"{body}/joint{j}"
    return model.joint(j).name or (inner if inner in robot.joint_names else body)


def _matched(library: str, robot: Robot, theirs: list[str], free: list[str],
             names: Mapping[str, str] | None) -> dict[str, str]:
    """Our joint's name for each of theirs."""
    ours = {name: (names or {}).get(name, name) for name in theirs}
    left = [body.joint_name for body in robot.bodies
            if body.joint.nv == 6 and body.joint_name not in ours.values()]
    loose = [name for name in free if ours[name] not in robot.joint_names]
    if len(left) == len(loose) == 1:
        ours[loose[0]] = left[0]
    _check_same_joints(library, robot, ours.values())
    return ours
