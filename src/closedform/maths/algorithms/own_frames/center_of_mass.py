"""The centre of mass, its motion and the robot's momentum: sums from leaf to root, O(n).

    c = h / m      ċ = p_f / m      c̈ = f_f / m      h_G = (p_f; p_n − c × p_f)

First moments h, momenta p and forces f of the bodies are taken in their own frames, where the
parameters are constant and many are zero, and carried to the world joint by joint.

Cites: [Featherstone2008, section 5.3] for the recursion.
"""

from __future__ import annotations

from functools import reduce
from operator import add

from closedform.arrays import Array, namespace
from closedform.maths.algebra.trees import subtree_sums
from closedform.maths.algorithms.joint_steps import (
    JointStep,
    body_twists,
    joint_steps,
    wrench_in_parent,
)
from closedform.maths.algorithms.moments import Moments, moments
from closedform.maths.algorithms.newton_euler import composites, motions_and_forces
from closedform.maths.definitions.centroidal_dynamics import CentroidalDynamics
from closedform.maths.kinematics import segment_parents
from closedform.maths.pull_backs import SAME, pulled_back
from closedform.maths.quantity import folds
from closedform.maths.regularity import total_mass
from closedform.maths.spatial import cross
from closedform.model.robot import Robot
from closedform.model.segments import Segment


@folds
def center_of_mass(robot: Robot, q: Array) -> Array:
    """c, (3,)."""
    return center(robot, joint_steps(robot, q))


@folds
@pulled_back(SAME)
def com_velocity(robot: Robot, q: Array, v: Array) -> Array:
    """ċ, (3,)."""
    way = joint_steps(robot, q)
    return in_world(robot, way, momenta(robot, way, v))[:3] / total_mass(robot)


@folds
@pulled_back(SAME)
def com_acceleration(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """c̈, (3,)."""
    way = joint_steps(robot, q)
    return in_world(robot, way, _forces(robot, way, v, a))[:3] / total_mass(robot)


@folds
@pulled_back(SAME)
def momentum(robot: Robot, q: Array, v: Array) -> Array:
    """h_G, (6,)."""
    way = joint_steps(robot, q)
    return _about(center(robot, way), in_world(robot, way, momenta(robot, way, v)))


@folds
@pulled_back(SAME)
def centroidal_dynamics(robot: Robot, q: Array, v: Array, a: Array) -> CentroidalDynamics:
    """h_G and its rate, (6,) each."""
    way = joint_steps(robot, q)
    c, p, f = center(robot, way), momenta(robot, way, v), _forces(robot, way, v, a)
    return CentroidalDynamics(*(_about(c, in_world(robot, way, F)) for F in (p, f)))


def center(robot: Robot, way: list[JointStep]) -> Array:
    """c = h / m, (3,)."""
    behind = composites(robot, way)
    return reduce(Moments.plus, [segment.together(behind[k].in_parent(way[k - 1]))
                                 for k, segment in _roots(robot)]).h / total_mass(robot)


def momenta(robot: Robot, way: list[JointStep], v: Array) -> list[Array]:
    """Λ_k V_k of the world and of every segment, (6,) each, in their own frames."""
    V = body_twists(robot, way, v, namespace(v, *(step.p for step in way)))
    inertias = [None, *(segment.inertia for segment in robot.segments)]
    return [moments(I_k) @ V_k for I_k, V_k in zip(inertias, V, strict=True)]


def _forces(robot: Robot, way: list[JointStep], v: Array, a: Array) -> list[Array]:
    """What moves the world and every segment without gravity, (6,) each, in their own frames."""
    xp = namespace(v, a, *(step.p for step in way))
    return motions_and_forces(robot, way, v, a, None, xp, gravity=False)[1]


def in_world(robot: Robot, way: list[JointStep], F: list[Array]) -> Array:
    """The sum of wrenches in the segments' frames, (6,), about the world's origin."""
    sums = behind(robot, way, F)
    return reduce(add, [segment.together(wrench_in_parent(way[k - 1], sums[k]))
                        for k, segment in _roots(robot)])


def behind(robot: Robot, way: list[JointStep], F: list[Array]) -> list[Array]:
    """For every segment the sum of the wrenches on it and behind it, (6,) each, in its frame."""
    return subtree_sums(F, segment_parents(robot), add,
                        lambda k, F_k: wrench_in_parent(way[k - 1], F_k))


def _about(c: Array, F: Array) -> Array:
    """A momentum or wrench about the world's origin, (6,), about the point c."""
    return namespace(c, F).concatenate([F[:3], F[3:] - cross(c, F[:3])])


def _roots(robot: Robot) -> list[tuple[int, Segment]]:
    """The segments that hang from the world, with their numbers."""
    return [(k, segment) for k, segment in enumerate(robot.segments, start=1)
            if not segment.parent]
