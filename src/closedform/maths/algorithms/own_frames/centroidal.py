"""Momentum about the centre of mass for each velocity, its rate and derivatives, by composites.

For all behind the joint of screw S_j, in the frame of the joint's segment,

    F_j = Λ S_j      Ḟ_j = Λ Ṡ_j + Λ̇ S_j      Λ̇ = B + Bᵀ

are columns of the momentum's matrix and of its rate. Seen in the world's axes about the centre c
they are J_com = f_j / m, A_G = F_j and dA_G = Ḟ_j − (0; ċ × f_j). Moving along S_j changes the
momentum p and the force f of what lies behind as in `one_frame.screws`, and c by f_j / m:

    ∂_j h  = S_j×* p + Λ Ψ̇_j − (0; ∂_j c × p)      ∂dh/∂v_j = Λ (Ψ̇_j + Ṡ_j) + 2 B S_j
    ∂_j dh = S_j×* f + Λ Ψ̈_j + 2 B Ψ̇_j − (0; ∂_j c × f)

where the p and f behind ∂_j c are the whole robot's.

Cites: [OrinGoswamiLee2013] for A_G; [SinghRussellWensing2022] for moving along screws.
"""

from __future__ import annotations

from functools import reduce
from operator import add

from closedform.arrays import Array, namespace
from closedform.maths.algebra.entries import Entries, enter
from closedform.maths.algorithms.joint_steps import JointStep, joint_steps, wrench_in_parent
from closedform.maths.algorithms.newton_euler import composites
from closedform.maths.algorithms.one_frame.frame import steps_to
from closedform.maths.algorithms.own_frames.center_of_mass import behind, center, in_world, momenta
from closedform.maths.algorithms.own_frames.composites import composites_in_motion
from closedform.maths.definitions.centroidal_dynamics import CentroidalDynamicsDerivatives
from closedform.maths.pull_backs import COLUMNS, pulled_back, rate
from closedform.maths.quantity import folds
from closedform.maths.regularity import total_mass
from closedform.maths.spatial import cross, force_cross
from closedform.maths.state_pull_backs import centroidal_derivatives
from closedform.model.robot import Robot


@folds
def com_jacobian(robot: Robot, q: Array) -> Array:
    """J_com, (3, nv)."""
    return centroidal_momentum_matrix(robot, q)[:3] / total_mass(robot)


@folds
def com_jacobian_rate(robot: Robot, q: Array, v: Array) -> Array:
    """The rate of J_com, (3, nv)."""
    return centroidal_momentum_matrix_rate(robot, q, v)[:3] / total_mass(robot)


@folds
@pulled_back(COLUMNS)
def centroidal_momentum_matrix(robot: Robot, q: Array) -> Array:
    """A_G, (6, nv)."""
    way = joint_steps(robot, q)
    seen, columns = _from_center(robot, way), Entries()
    for k, Lambda in enumerate(composites(robot, way)[1:], start=1):
        segment = robot.segments[k - 1]
        for j, S_j in zip(segment.v_index, segment.S.T, strict=True):
            enter(columns, (j,), wrench_in_parent(seen[k], Lambda @ S_j))
    return _matrix(robot, columns, q)


@folds
@pulled_back(rate, centroidal_momentum_matrix)
def centroidal_momentum_matrix_rate(robot: Robot, q: Array, v: Array) -> Array:
    """The rate of A_G, (6, nv)."""
    here, columns = composites_in_motion(robot, q, v), Entries()
    seen = _from_center(robot, here.way)
    dc = in_world(robot, here.way, momenta(robot, here.way, v))[:3] / total_mass(robot)
    for k, own in enumerate(here.own):
        I, B = here.I[k], here.B[k]
        for x in own:
            rate = wrench_in_parent(seen[k], I @ x.dS + (B @ x.S + B.transposed_times(x.S)))
            enter(columns, (x.i,), _less(rate, cross(dc, seen[k].up((I @ x.S)[:3]))))
    return _matrix(robot, columns, q, v)


@folds
@pulled_back(centroidal_derivatives)
def centroidal_dynamics_derivatives(
    robot: Robot, q: Array, v: Array, a: Array,
) -> CentroidalDynamicsDerivatives:
    """∂h/∂q, ∂dh/∂q, ∂dh/∂v and ∂dh/∂a = A_G, (6, nv) each, in O(n)."""
    here = composites_in_motion(robot.with_gravity((0, 0, 0)), q, v, a)
    way, found = here.way, [Entries() for _ in range(4)]
    seen, p = _from_center(robot, way), behind(robot, way, momenta(robot, way, v))
    roots = [k for k, above in enumerate(here.parent) if k and not above]
    whole_p, whole_f = (
        reduce(add, [here.parent.together(k, way[k - 1].up(X[k][:3])) for k in roots])
        for X in (p, here.F))
    for k, own in enumerate(here.own):
        I, B = here.I[k], here.B[k]
        for x in own:
            h, dh, by_v, by_a = (wrench_in_parent(seen[k], F) for F in (
                force_cross(x.S, p[k]) + I @ x.dPsi,
                force_cross(x.S, here.F[k]) + I @ x.ddPsi + B @ (2 * x.dPsi),
                I @ (x.dPsi + x.dS) + B @ (2 * x.S), I @ x.S))
            dc = by_a[:3] / total_mass(robot)
            columns = _less(h, cross(dc, whole_p)), _less(dh, cross(dc, whole_f)), by_v, by_a
            for entries, column in zip(found, columns, strict=True):
                enter(entries, (x.i,), column)
    return CentroidalDynamicsDerivatives(*(_matrix(robot, x, q, v, a) for x in found))


def _from_center(robot: Robot, way: list[JointStep]) -> list[JointStep]:
    """From every segment's frame to one at the centre of mass with the world's axes."""
    c = center(robot, way)
    return [JointStep(step.factors, step.p - c)
            for step in steps_to(robot, way, 0, namespace(c, *(step.p for step in way)))]


def _less(F: Array, moment: Array) -> Array:
    return namespace(F, moment).concatenate([F[:3], F[3:] - moment])


def _matrix(robot: Robot, columns: Entries, *arrays: Array) -> Array:
    xp = namespace(*arrays)
    ordered = [columns.get((j,), xp.zeros(6)) for j in range(robot.nv)]
    return xp.stack(ordered, axis=1) if ordered else xp.zeros((6, 0))
