"""Loops as quantities: how far open, K, G; forces in them, and torques of the motors there are.

    M a + C v + g = S_yᵀ τ + Kᵀ λ        of the tree,      λ on side A of each cut, −λ on side B

Rows that are redundant carry no force that rigid bodies determine: theirs is zero here, or if which
rows are redundant changes on the way, that of minimum norm of all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from closedform.arrays import Array, namespace
from closedform.errors import ArgumentError
from closedform.maths.algorithms import newton_euler
from closedform.maths.arguments import checked
from closedform.maths.embedding import embedding
from closedform.model.loops.affine import affine, coordinates_of, y_of
from closedform.model.loops.explicit import explicit_loops, numbers
from closedform.model.loops.gap import jacobian, residual
from closedform.model.robot import Robot


@checked
def loop_residual(robot: Robot, q: Array) -> Array:
    """φ(q), (rows,): zero where all loops are closed; see `closedform.model.loops.gap`."""
    if robot.closure is None:
        return namespace(q).zeros(0)
    return residual(robot.tree, robot.closure.gaps, q)


@checked
def loop_jacobian(robot: Robot, q: Array) -> Array:
    """K = ∂φ/∂q, (rows, n), by all n velocities of the tree: K v = 0."""
    if robot.closure is None:
        return namespace(q).zeros((0, robot.nv))
    return jacobian(robot.tree, robot.closure.gaps, q)


@checked
def loop_embedding(robot: Robot, q: Array) -> Array:
    """G, (n, nv): the velocities of the tree are G v."""
    if robot.closure is None:
        return namespace(q).eye(robot.nv)
    return embedding(robot).here(q).G


@checked
def loop_configuration(robot: Robot, y: Array) -> Array:
    """q, (nq,), closed at the independent coordinates y, of loops that have a closed form.

    On the branch of `robot.neutral()`, turns within half a turn of it; `robot.closed` is for all.
    Numbers out of reach are an `OpenLoop`.
    """
    if robot.closure is None:
        return y
    q = configuration_of(robot)(y)
    if q.dtype.kind == "f" and np.all(np.isfinite(y)) and not np.all(np.isfinite(q)):
        robot.closed(y)                      # which says what does not close
    return numbers(q) if q.dtype == object else q


def configuration_of(robot: Robot) -> Callable[[Array], np.ndarray]:
    """The closed q of scalars y of any kind; an error of loops that are implicit.

    Turns that are solved for are numbers for numbers y, else known by their cosines and sines.
    """
    loops = None if robot.closure is None else explicit_loops(robot.tree, robot.closure)
    if loops is None:
        names = ", ".join(repr(cut.name) for cut in robot.loops)
        raise ArgumentError(f"the loops {names} of {robot.name} have no closed form; robot.closed("
                            "y) closes them by Newton's steps, and kernels take q" if names else
                            f"{robot.name} has no loops, and so no y beside q")
    found = loops

    def configuration(y: Array) -> np.ndarray:
        q = found.configuration(y)
        return q if np.asarray(y).dtype == object else numbers(q).astype(np.asarray(y).dtype)

    return configuration


@checked
def loop_step(robot: Robot, q: Array) -> Array:
    """q, (nq,), after one step of Newton's that closes loops by the dependent joints.

    Affine loops, q_d = A y + o, are closed by one step from anywhere.
    """
    if robot.closure is None:
        return q
    same = affine(robot)
    return embedding(robot).stepped(q) if same is None else coordinates_of(same, q[y_of(robot)])


@checked
def loop_forces(robot: Robot, q: Array, v: Array, a: Array,
                wrenches: Array | None = None) -> Array:
    """λ, (rows,): what the cuts pass on, in the axes and units of the rows of `loop_residual`.

        λ = K_d⁻ᵀ τ_d        τ = ID(q, G v, G a + Ġ v) of the tree

    λ acts on side A and −λ on side B. Rows that are always redundant have zero.
    """
    xp = namespace(q, v, a)
    if robot.closure is None:
        return xp.zeros(0)
    e = embedding(robot)
    motion = e.rates(q, [v, a])
    _, force = e.here(q).lowered(newton_euler.inverse_dynamics(robot.tree, q, *motion, wrenches))
    found = dict(zip(robot.closure.rows, force, strict=True))
    zero = xp.zeros(())
    return xp.stack([found[i] + zero if i in found else zero for i in range(robot.closure.count)])


@checked
def actuator_torque(robot: Robot, q: Array, tau: Array) -> Array:
    """τ_a, (motors,): torques of the actuated joints that do what τ does at the independent ones.

        G_aᵀ τ_a = τ        G_a: the rows of G of the actuated velocities

    With more motors than nv the torques of minimum norm, τ_a = G_a (G_aᵀ G_a)⁻¹ τ.
    """
    own = robot.actuated_velocities
    G = loop_embedding(robot, q)
    if len(own) < robot.nv:
        raise ArgumentError(f"actuator_torque of {robot.name}: {len(own)} motors cannot do what "
                            f"{robot.nv} independent joints ask for; name more as actuated")
    if own == tuple(robot.closure.independent if robot.closure else range(robot.nv)):
        return tau
    G_a = G[np.array(own, dtype=int)]
    xp = namespace(q, tau)
    return G_a @ xp.solve(G_a.T @ G_a, tau)
