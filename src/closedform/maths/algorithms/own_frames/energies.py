"""Kinetic and potential energy by sums over the bodies in their own frames, O(n).

    T = ½ Σ_k V_k · Λ_k V_k + ½ Σ rotor v²      U = −gravity · m c + ½ Σ k x²

Cites: [Featherstone2008, section 5.3] for the recursion of first moments.
"""

from __future__ import annotations

from typing import Any

from closedform.arrays import Array, Number, namespace
from closedform.maths.algebra.trees import subtree_sums, total
from closedform.maths.algorithms.joint_steps import body_twists, joint_steps
from closedform.maths.algorithms.moments import moments
from closedform.maths.kinematics import segment_parents
from closedform.maths.pull_backs import SAME, pulled_back
from closedform.maths.quantity import folds
from closedform.maths.springs import spring_energies
from closedform.model.robot import Robot


@folds
@pulled_back(SAME)
def kinetic_energy(robot: Robot, q: Array, v: Array) -> Number:
    """T, scalar."""
    V = body_twists(robot, joint_steps(robot, q), v, namespace(q, v))
    twice: list[Any] = [0.0]
    turned: set[int] = set()
    for segment, V_k in zip(robot.segments, V[1:], strict=True):
        own = [] if segment.inertia is None else [V_k @ (moments(segment.inertia) @ V_k)]
        for i in segment.v_index:
            if i not in turned and robot.rotor_inertia[i] != 0:
                own.append(robot.rotor_inertia[i] * v[i] * v[i])
            turned.add(i)
        twice.append(sum(own))
    return total(twice, segment_parents(robot)) / 2


@folds
def potential_energy(robot: Robot, q: Array) -> Number:
    """U, scalar, with the first moments of the weights carried from leaves to root."""
    parent, way = segment_parents(robot), joint_steps(robot, q)
    weights: list[tuple[Any, Array]] = [(0.0, namespace(q).zeros(3))]
    for segment in robot.segments:
        I_k, w = segment.inertia, segment.weight
        weights.append(weights[0] if I_k is None else (w * I_k.mass, w * I_k.first_moment))

    def in_parent(k: int, weight: tuple[Any, Array]) -> tuple[Any, Array]:
        m, h = weight
        return m, way[k - 1].up(h) + m * way[k - 1].p

    sums = subtree_sums(weights, parent, lambda x, y: (x[0] + y[0], x[1] + y[1]), in_parent)
    h = sum(parent.together(k, in_parent(k, sums[k]))[1]
            for k in range(1, len(sums)) if not parent[k])
    springs: list[Any] = [0.0] * len(sums)
    for k, energy in spring_energies(robot, q).items():
        springs[k] = energy
    return total(springs, parent) - robot.gravity @ h
