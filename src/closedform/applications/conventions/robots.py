"""The same robot in the habits of Pinocchio, MuJoCo and Drake: explicit, both ways, batches first.

A `Convention` takes our q, v, a, τ to another library's and back. Joints are matched by name; what
differs is their order and how each is written (its `Habit`):

    v' = B(q) v,    a' = B a + Ḃ v,    τ' = B τ,    M' = B M Bᵀ

B is orthogonal for every habit here: it only turns axes and changes the order.

    pinocchio   continuous joints (cos, sin); planar (x, y, cos, sin); siblings sorted by name
    mujoco      quaternions wxyz; a free joint's linear velocity in the world's axes
    drake       free joint (qw qx qy qz, x y z) with v = (ω, ṗ) in the world's axes; planar v = q̇
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from closedform.applications.conventions.joints import DRAKE, MUJOCO, PINOCCHIO, Habit, habit_of
from closedform.arrays import ArrayLike, real_array
from closedform.errors import ArgumentError, ModelError, suggestion
from closedform.model.bodies import Body
from closedform.model.joints import describe
from closedform.model.robot import Robot


# ---------------------------------------------------------------------- all joints
@dataclass(frozen=True)
class Place:
    """A joint's habit and where its numbers stand: in our q and v, and in theirs."""

    habit: Habit
    q: slice
    v: slice
    their_q: slice
    their_v: slice


@final
@dataclass(frozen=True, eq=False)
class Convention:
    """A robot's q, v, a, τ in another library's habits. Every `q` beside v, a, τ is **ours**."""

    library: str
    robot: Robot
    places: tuple[Place, ...]

    @property
    def nq(self) -> int:
        """How many coordinates the other library has."""
        return sum(place.habit.nq for place in self.places)

    def q_to(self, q: ArrayLike) -> np.ndarray:
        """Their q (..., nq) of ours."""
        x = self._sized(q, self.robot.nq, "q")
        result = np.empty((*x.shape[:-1], self.nq))
        for place in self.places:
            result[..., place.their_q] = place.habit.q_to(x[..., place.q])
        return result

    def q_from(self, q: ArrayLike) -> np.ndarray:
        """Our q (..., robot.nq) of theirs."""
        x = self._sized(q, self.nq, "their q")
        result = np.empty((*x.shape[:-1], self.robot.nq))
        for place in self.places:
            result[..., place.q] = place.habit.q_from(x[..., place.their_q])
        return result

    def B(self, q: ArrayLike) -> np.ndarray:
        """(..., nv, nv), orthogonal: v' = B v, τ' = B τ, M' = B M Bᵀ, J' = J Bᵀ."""
        x, n = self._sized(q, self.robot.nq, "q"), self.robot.nv
        result = np.zeros((*x.shape[:-1], n, n))
        for place in self.places:
            size = place.v.stop - place.v.start
            result[..., place.their_v, place.v] = place.habit.B(x[..., place.q], size)
        return result

    def v_to(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """B v."""
        return self._turned(q, v, "v")

    def v_from(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Bᵀ v'."""
        return self._turned(q, v, "v", back=True)

    def a_to(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """B a + Ḃ v; v is ours."""
        return self._turned(q, a, "a") + self._drag(q, v)

    def a_from(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> np.ndarray:
        """Bᵀ (a' − Ḃ v); v is ours."""
        own = self._sized(a, self.robot.nv, "a") - self._drag(q, v)
        return self._turned(q, own, "a", back=True)

    def tau_to(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """B τ, so that τ'ᵀ v' = τᵀ v."""
        return self._turned(q, tau, "tau")

    def tau_from(self, q: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Bᵀ τ'."""
        return self._turned(q, tau, "tau", back=True)

    def _turned(self, q: ArrayLike, x: ArrayLike, what: str, back: bool = False) -> np.ndarray:
        B = self.B(q)
        matrix = np.swapaxes(B, -1, -2) if back else B
        return (matrix @ self._sized(x, self.robot.nv, what)[..., None])[..., 0]

    def _sized(self, x: ArrayLike, size: int, what: str) -> np.ndarray:
        convention = f"convention of {self.robot.name} for {self.library}"
        return real_array(x, (size,), f"{convention}: {what}")

    def _drag(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Ḃ v, (..., nv)."""
        x, u = self._sized(q, self.robot.nq, "q"), self._sized(v, self.robot.nv, "v")
        result = np.zeros((*np.broadcast_shapes(x.shape[:-1], u.shape[:-1]), self.robot.nv))
        for place in self.places:
            result[..., place.their_v] = place.habit.dB_v(x[..., place.q], u[..., place.v])
        return result


# ---------------------------------------------------------------------- by a list of names
def pinocchio_convention(robot: Robot, joint_order: Sequence[str],
                         continuous: Collection[str] = ()) -> Convention:
    """Pinocchio's, for its joints in `joint_order`; `continuous` ones are written (cos, sin)."""
    unknown = [name for name in continuous if name not in robot.joint_names]
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
    bodies = {body.joint_name: body for body in robot.bodies if body.joint.nv}
    places, at_q, at_v = [], 0, 0
    for name in order:
        kind, nv = habit(bodies[name]), bodies[name].joint.nv
        places.append(Place(kind, robot.q_slices[name], robot.v_slices[name],
                            slice(at_q, at_q + kind.nq), slice(at_v, at_v + nv)))
        at_q, at_v = at_q + kind.nq, at_v + nv
    return Convention(library, robot, tuple(places))


def _check_same_joints(library: str, robot: Robot, theirs: Iterable[str]) -> None:
    given = list(theirs)
    repeated = sorted({name for name in given if given.count(name) > 1})
    ours_only = [name for name in robot.joint_names if name not in given]
    theirs_only = [name for name in given if name not in robot.joint_names]
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
    places = []
    for name, joint in theirs.items():
        body, kind = bodies[ours[name]], joint.shortname().removeprefix("JointModel")
        row = PINOCCHIO.get(type(body.joint))
        if row and not re.fullmatch(row.name, kind):
            raise ModelError(f"the joint {name!r} is {describe(body.joint)} in {robot.name}, but "
                             f"{joint.shortname()} in Pinocchio")
        habit = habit_of(body, "Pinocchio", PINOCCHIO, (joint.nq, joint.nv) == (2, 1))
        places.append(Place(habit, robot.q_slices[ours[name]], robot.v_slices[ours[name]],
                            slice(joint.idx_q, joint.idx_q + joint.nq),
                            slice(joint.idx_v, joint.idx_v + joint.nv)))
    return Convention("Pinocchio", robot, tuple(places))


MUJOCO_TYPES = ("free", "ball", "slide", "hinge")
"""The kinds of `mjtJoint`, by their numbers."""


def from_mujoco_model(robot: Robot, model: Any,
                      names: Mapping[str, str] | None = None) -> Convention:
    """The convention of a `mujoco.MjModel`, by its joints' names; `names` as for Pinocchio.

    A joint without a name goes by its body's, as in a robot that was loaded from MJCF.
    """
    theirs = {_mujoco_name(robot, model, j): j for j in range(model.njnt)}
    free = [name for name, j in theirs.items() if model.jnt_type[j] == 0]
    ours = _matched("MuJoCo", robot, list(theirs), free, names)
    bodies = {body.joint_name: body for body in robot.bodies}
    places = []
    for name, j in theirs.items():
        body, kind = bodies[ours[name]], MUJOCO_TYPES[int(model.jnt_type[j])]
        habit = habit_of(body, "MuJoCo", MUJOCO)
        if MUJOCO[type(body.joint)].name != kind:
            raise ModelError(f"the joint {name!r} is {describe(body.joint)} in {robot.name}, but "
                             f"{kind} in MuJoCo")
        q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        places.append(Place(habit, robot.q_slices[ours[name]], robot.v_slices[ours[name]],
                            slice(q, q + habit.nq), slice(v, v + body.joint.nv)))
    return Convention("MuJoCo", robot, tuple(places))


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
