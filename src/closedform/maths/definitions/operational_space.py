"""A frame's acceleration by a wrench on it, and the inertia that the wrench feels.

Cites: [Khatib1987].
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.errors import SingularMatrix
from closedform.maths.arguments import checked
from closedform.maths.definitions.closed_form import mass_matrix
from closedform.maths.frames import LOCAL_WORLD_ALIGNED, Reference, frame_jacobian
from closedform.maths.regularity import solved
from closedform.model.robot import Robot


@checked
def operational_space_mobility(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """J M⁻¹ Jᵀ, (6, 6): a frame's acceleration by a unit wrench on it, at singularities too."""
    J, M = frame_jacobian(robot, q, frame, reference), mass_matrix(robot, q)
    return J @ solved(robot, M, J.T) if robot.nv else namespace(J).zeros((6, 6))


@checked
def operational_space_inertia(
    robot: Robot, q: Array, frame: str, reference: Reference = LOCAL_WORLD_ALIGNED,
) -> Array:
    """Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6), where J has full row rank; elsewhere a `SingularMatrix`."""
    mobility = operational_space_mobility(robot, q, frame, reference)
    xp = namespace(mobility)
    try:
        return xp.stack([xp.solve(mobility, xp.eye(6)[i]) for i in range(6)], axis=1)
    except SingularMatrix as error:
        raise immobile(robot, frame) from error


def immobile(robot: Robot, frame: str) -> SingularMatrix:
    """The error where a wrench on a frame cannot accelerate it in all six directions."""
    return SingularMatrix(
        f"operational_space_inertia of {robot.name}: its joints move {frame!r} in fewer than six "
        "independent directions here; operational_space_mobility exists everywhere")
