"""W along a motion, and what a function of W says about the motion: a compiled adjoint.

    f(W)  ⟶  ∂f/∂q = Σ_jc Z_jc ∂W_jc/∂q,   Z = ∂f/∂W          (and by v and a)

One program computes the three gradients of ⟨Z, W(q, v, a)⟩ for a state, for a few times the cost
of W itself. The sign of friction is the smooth one, so that they exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.applications.compile.digest import robot_digest
from closedform.applications.identification.excitation.limits import Room
from closedform.applications.identification.model import SLIP, Model
from closedform.arrays import Array, Floats
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.springs import spring_stiffness, spring_torque
from closedform.model.inertia import PARAMETER_NAMES
from closedform.program.differentiate import gradient
from closedform.program.expr import Expr
from closedform.program.pipeline import optimised
from closedform.program.program import Program
from closedform.program.record import record

CHUNK = 4096
"""States of one call of a kernel."""


@final
@dataclass(frozen=True, eq=False)
class MotionRows:
    """The rows of W that torques are measured for, and their adjoint."""

    model: Model
    room: Room

    @cached_property
    def slip(self) -> Floats:
        """The scale of the smooth sign of every motor."""
        given = self.model.friction.slip
        return np.full(len(self.model.actuated), float(SLIP if given is None else given))

    @cached_property
    def standard(self) -> Floats:
        """s of the robot as its file describes it."""
        return expected_parameters(self.model)

    @cached_property
    def expected(self) -> Floats:
        """x of the robot as its file describes it."""
        return np.asarray(self.model.L @ self.standard, dtype=float)

    @cached_property
    def own_expected(self) -> list[Floats]:
        """For each torque the numbers of `expected` that it may depend on."""
        return [self.expected[list(s)] for s in self.model.support]

    @cached_property
    def blocks(self) -> list[tuple[Any, ...]]:
        """For each torque where its WᵀW stands among all columns."""
        return [np.ix_(s, s) for s in self.model.support]

    # ------------------------------------------------------------------ values
    def states(self, q: Floats, v: Floats, a: Floats) -> tuple[Floats, Floats, Floats]:
        """All coordinates from those of the joints that move."""
        robot, n = self.model.robot, len(q)
        whole = np.tile(self.room.start, (n, 1))
        whole[:, list(self.room.q_at)] = q
        rates = np.zeros((2, n, robot.nv))
        rates[:, :, list(self.room.at)] = v, a
        return whole, rates[0], rates[1]

    def rows(self, q: Floats, v: Floats, a: Floats) -> list[Floats]:
        """For each torque W_j, (states, support), of the joints that move."""
        states, n = self.states(q, v, a), len(q)
        kernel, nothing = self.model.kernel(), np.zeros((min(CHUNK, n), self.model.robot.nv))
        made = [np.empty((n, *slot.shape)) for slot in kernel.interface.outputs]
        slip = np.tile(self.slip, (min(CHUNK, n), 1))
        for first in range(0, n, CHUNK):
            part = slice(first, first + CHUNK)
            out = tuple(m[part] for m in made)
            size = len(out[0])
            kernel(*(x[part] for x in states), slip[:size], nothing[:size],
                   out=out if len(out) > 1 else out[0])
        return [m[:, :-1] for m in made]

    def torques(self, rows: Sequence[Floats], q: Floats) -> Floats:
        """τ, (states, nv), of the robot as expected, its springs at q of the joints that move."""
        tau = np.stack([W @ x for W, x in zip(rows, self.own_expected, strict=True)], axis=1)
        tau += self._spring
        tau[:, list(self.room.at)] += self.stiffness * (q - self.room.home)
        return tau

    @cached_property
    def _spring(self) -> Floats:
        """What the springs take at the start, (nv,)."""
        return np.asarray(spring_torque(self.model.robot, self.room.start), dtype=float)

    @cached_property
    def stiffness(self) -> Floats:
        """Of the springs in the joints that move."""
        K = np.asarray(spring_stiffness(self.model.robot, self.room.start), dtype=float)
        return np.diag(K)[list(self.room.at)]

    def torques_at(self, q: Floats, v: Floats, a: Floats) -> Floats:
        """τ, (states, nv), of many states without keeping their rows."""
        parts = [slice(first, first + CHUNK) for first in range(0, len(q), CHUNK)]
        return np.concatenate([np.zeros((0, self.model.robot.nv)), *(
            self.torques(self.rows(q[at], v[at], a[at]), q[at]) for at in parts)])

    # ------------------------------------------------------------------ gradients
    def gradients(self, q: Floats, v: Floats, a: Floats,
                  Z: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
        """Σ Z ∂W by q, v and a of the joints that move, (states, joints) each."""
        slip = np.tile(self.slip, (len(q), 1))
        found = self._adjoint(*self.states(q, v, a), slip, np.hstack(list(Z)))
        return found[0], found[1], found[2]

    @cached_property
    def _adjoint(self) -> Kernel:
        model, at, q_at = self.model, list(self.room.at), list(self.room.q_at)
        width = sum(len(s) for s in model.support)
        n, nq, nv = len(model.actuated), model.robot.nq, model.robot.nv

        def products(q: Array, v: Array, a: Array, slip: Array, Z: Array) -> dict[str, Array]:
            W, total, k = model.columns(q, v, a, slip), 0.0 * Z[0], 0
            for i, support in enumerate(model.support):
                for c in support:
                    total = total + Z[k] * W[i, c]
                    k += 1
            if not isinstance(total, Expr):
                return {"q": 0 * q[q_at], "v": 0 * v[at], "a": 0 * a[at]}
            return {"q": gradient(total, q[q_at]), "v": gradient(total, v[at]),
                    "a": gradient(total, a[at])}

        def program() -> Program:
            shapes = {"q": (nq,), "v": (nv,), "a": (nv,), "slip": (n,), "Z": (width,)}
            return optimised(record(products, shapes, "columns_adjoint"))

        key = (f"excitation {robot_digest(model.loaded)} {model.friction!r} {model.rotors} "
               f"{model.motor_matrix.tolist()} {model.payload} {at}")
        return Kernel.load(key, program)


def expected_parameters(model: Model) -> Floats:
    """s of the robot's file: inertias, rotors and friction; of the payload what is known."""
    values = dict.fromkeys(model.standard_names, 0.0)
    own = model.body.parameter_names
    values.update(zip(own, map(float, model.body.parameters), strict=True))
    for body, _, v in model.robot.parts:
        for n, i in enumerate(range(v.start, v.stop)):
            for kind in ("viscous", "coulomb"):
                x = float(body.joint.per_coordinate(kind, body.joint.nv, 0.0)[n])
                for name in (kind, f"{kind}_forward", f"{kind}_backward"):
                    if f"{model.velocity_names[i]}.{name}" in values:
                        values[f"{model.velocity_names[i]}.{name}"] = x
    load = {f"{model.load_name}.{p}" for p in PARAMETER_NAMES} if model.payload else set()
    values.update({n: float(x) for n, x in model.known.items() if n in load})
    return np.array([values[n] for n in model.standard_names])
