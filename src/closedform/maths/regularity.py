"""What must be there to divide by: a mass for the centre of mass, inertia behind every joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from closedform.arrays import Array, namespace, numeric
from closedform.errors import SingularMatrix
from closedform.model.robot import Robot

LARGE = 300
"""Velocities above which no eigenvalues are computed."""
LISTED = 5
"""Of so many links at most a message has the names; the others it counts."""


def total_mass(robot: Robot) -> Any:
    """The mass of all bodies, to divide by; a `SingularMatrix` where there is none."""
    mass = robot.mass
    if numeric(np.asarray(mass)) and mass == 0:
        raise SingularMatrix(f"{robot.name} has no mass, and so no centre of mass; "
                             "give its links their mass")
    return mass


def solved(robot: Robot, M: Array, b: Array) -> Array:
    """M⁻¹ b, (nv,) or (nv, …); a `SingularMatrix` with the links if M is singular to rounding."""
    xp = namespace(M, b)
    if isinstance(M, np.ndarray) and M.dtype.kind in "fc" and np.all(np.isfinite(M)):
        refuse_singular(robot, np.real(M))
        return np.linalg.solve(M, b)
    return xp.solve(M, b)


def _has_a_factor(M: Array) -> bool:
    try:
        return bool(np.diag(np.linalg.cholesky(M)).min() ** 2 > 4 * len(M) * np.finfo(float).eps)
    except np.linalg.LinAlgError:
        return False


def refuse_singular(robot: Robot, M: Array) -> None:
    """Refuse a mass matrix that is not positive definite, naming links that move nothing.

    What is small is measured by the diagonal, so that grams beside tons are no fault; of a large
    matrix, by the pivots of its factor, where eigenvalues would take seconds.
    """
    diagonal = np.diag(M)
    if np.any(diagonal <= 0):
        without = [i for i, d in enumerate(diagonal) if d <= 0]
        raise SingularMatrix(
            f"the mass matrix of {robot.name} is singular: no inertia moves with "
            f"{_links(robot, without)}; give the links mass or the joints a rotor_inertia")
    scale = 1 / np.sqrt(diagonal)
    if len(M) > LARGE and _has_a_factor(M * np.outer(scale, scale)):
        return
    values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
    if len(values) and values[0] < 4 * len(values) * np.finfo(float).eps:
        worst = int(np.argmax(np.abs(vectors[:, 0])))
        raise SingularMatrix(f"the mass matrix of {robot.name} is singular (smallest eigenvalue "
                             f"{values[0]:.1e}, scaled), most at {_links(robot, [worst])}")


def _links(robot: Robot, velocities: list[int]) -> str:
    """The bodies that the velocities move, with their joints where those have other names."""
    moved = [body for body, _, v in robot.parts if set(range(v.start, v.stop)) & set(velocities)]
    names = [body.name if body.joint_name == body.name
             else f"{body.name} (joint {body.joint_name})" for body in moved]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more
