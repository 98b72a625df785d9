"""The equations of flexible arms, one row each.

Definitions take the arm and their inputs, then `model=` and, those with friction, `damping=`.
"""

from __future__ import annotations

from functools import partial

from closedform.maths.flexible import dynamics
from closedform.maths.flexible.arguments import FLEXIBLE_ARMS
from closedform.maths.quantity import Quantity, partials, row

_row = partial(row, FLEXIBLE_ARMS)

FLEXIBLE_CATALOGUE: tuple[Quantity, ...] = (
    _row("inertia_matrix", dynamics.inertia_matrix, "q", "nq nq", symmetric=True, letter="B"),
    _row("coriolis_torque", dynamics.coriolis_torque, "q v", "nq", letter="h"),
    _row("gravity_torque", dynamics.gravity_torque, "q", "nq", letter="g"),
    _row("inverse_dynamics", dynamics.inverse_dynamics, "q v a", "nq", letter=r"\tau",
         derivatives=partials(a="inertia_matrix")),
    _row("forward_dynamics", dynamics.forward_dynamics, "q v tau", "nq", letter=r"\ddot{q}"),
    _row("kinetic_energy", dynamics.kinetic_energy, "q v", "", letter="T"),
    _row("potential_energy", dynamics.potential_energy, "q", "", letter="U"),
    _row("tip_position", dynamics.tip_position, "q", "2"),
    _row("tip_jacobian", dynamics.tip_jacobian, "q", "3 nq", letter="J"),
)
