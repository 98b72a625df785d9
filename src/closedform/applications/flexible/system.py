"""A flexible arm as a system, and its motion: compiled, until B ceases to be positive definite."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

import numpy as np

from closedform.applications.flexible.equations import compile_equation
from closedform.applications.flexible.pictures import write_animation
from closedform.applications.flexible.programs import arm_kernels
from closedform.applications.motion.inputs import Input, finite, pair
from closedform.applications.motion.integrator import EVALUATIONS, integrated
from closedform.applications.motion.methods import Method, chosen
from closedform.applications.motion.pictures import Panel
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.system import MotionState, System
from closedform.arrays import Array, ArrayLike
from closedform.errors import ArgumentError, SingularMatrix
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import (
    PAPER,
    Damping,
    Model,
    damping_matrix,
    inertia_matrix,
)

SMALL_SLOPE = 0.5
"""rad; a link bent more than this at a point is outside the small-deflection range: at it the
paper's y' differs from arctan y' by 8 %."""

NEARLY = 1e-2
"""B is next to indefinite where its smallest eigenvalue is this part of what it was at first."""


@final
class FlexibleSystem(System):
    """A flexible arm under joint torques, with its links' friction and structural `damping`.

    Beside the work it keeps the impulse about the first joint, and whether B stayed definite. For
    `damping` see `damping_matrix`.
    """

    accounts = ("work", "impulse", "definite")

    def __init__(self, arm: FlexibleArm, damping: Damping = 0.0, model: Model = PAPER) -> None:
        self._kernels = arm_kernels(arm, damping_matrix(arm, damping), model)
        self.arm, self.model, self.name, names = arm, model, arm.name, arm.coordinate_names
        self.state_names = [*names, *(f"rate of {name}" for name in names)]
        self.input_names = names[:arm.n]

    def start(self, state: Any) -> Array:
        """Refuses a start outside the small-deflection range, or with an indefinite B."""
        arm = self.arm
        q, v = (None, None) if state is None else pair(state)
        q = finite(np.zeros(arm.nq) if q is None else q, arm.coordinate_names, "q0")
        v = finite(np.zeros(arm.nq) if v is None else v, arm.coordinate_names, "v0")
        for i, worst in enumerate(slopes(arm, q[None])[:, 0]):
            if worst > SMALL_SLOPE:
                at = arm.deflections[i]
                raise ArgumentError(
                    f"q0 bends link {i + 1} by up to {worst:.3g} rad; deflections are small up to "
                    f"{SMALL_SLOPE:g} rad, which {', '.join(arm.coordinate_names[at])} = "
                    f"{np.array2string(q[at] * SMALL_SLOPE / worst, precision=3)} would give")
        smallest = self._smallest(q)
        if smallest <= 0:
            raise SingularMatrix(f"the inertia matrix B of {arm.name} is not positive definite at "
                                 f"q0; its smallest eigenvalue is {smallest:.3g}")
        return np.concatenate([q, v])

    def state(self, y: Array) -> MotionState:
        N = self.arm.nq
        return MotionState(y[..., :N], y[..., N:2 * N])

    def rate(self, y: Array, u: Array) -> Array:
        return self._kernels.rate(np.ascontiguousarray(y[:-1]), u)

    @property
    def step(self) -> Kernel:
        return self._kernels.step

    def inertia(self, y: Array) -> Array:
        kernel = compile_equation(self.arm, "inertia_matrix", model=self.model)
        return kernel(np.ascontiguousarray(self.state(y).q))

    def observed(self, y: Array, u: Array) -> dict[str, Any]:
        state, impulse = self.state(y), y[:, -2]
        seen = self._kernels.watch(*map(np.ascontiguousarray, state))
        return {**seen._asdict(), "impulse": impulse,
                "momentum_residual": seen.momentum - seen.momentum[0] - impulse,
                "slope": np.max(slopes(self.arm, state.q), axis=0)}

    def panels(self, run: Simulation) -> list[Panel]:
        """As in the paper: deflections, joints, tip; and a check, θ_1 being cyclic."""
        arm, q, names = self.arm, run.q, self.arm.coordinate_names
        bent = [at for at in arm.deflections if at.stop > at.start]
        return [*(Panel("deflections δ", q[:, at], names[at]) for at in bent),
                Panel("joints θ [rad]", q[:, :arm.n], names[:arm.n]),
                Panel("tip [m]", run.tip, ("x", "y")),
                Panel("residual of momentum\n[kg m²/s]", run.momentum_residual[:, None], ())]

    def remarks(self, run: Simulation) -> list[str]:
        if np.max(run.slope) <= SMALL_SLOPE:
            return []
        return [f"from t = {run.times[int(np.argmax(run.slope > SMALL_SLOPE))]:g} s on a link of "
                f"{self.name} is bent by up to {np.max(run.slope):.2g} rad, more than the "
                f"{SMALL_SLOPE:g} rad of the small-deflection range"]

    def stopped(self, first: Array, last: Array) -> str | None:
        """Next to where B loses definiteness accelerations grow, while it is still hardly so."""
        N = self.arm.nq
        if np.isfinite(last[-1]) and self._smallest(last[:N]) >= NEARLY * self._smallest(first[:N]):
            return None
        return (f"the inertia matrix B of {self.name} loses positive definiteness; the truncated "
                "model has no motion beyond. Deflections are outside its range: try "
                "model=ExactRotation(), more damping or less torque")

    def animate(self, run: Simulation, path: Path, **options: Any) -> None:
        write_animation(run, path, **options)

    def _smallest(self, q: Array) -> float:
        return float(np.linalg.eigvalsh(inertia_matrix(self.arm, q, self.model))[0])


def slopes(arm: FlexibleArm, q: Array) -> Array:
    """The largest |y'| on each link, (n, points), for q (points, N)."""
    return np.stack([np.max(np.abs(q[:, at] @ modes.slopes(
        np.linspace(0, modes.link.length, 33)).T), axis=1, initial=0.0)
        for at, modes in zip(arm.deflections, arm.modes, strict=True)])


def simulate(arm: FlexibleArm, q0: ArrayLike, v0: ArrayLike | None = None, torque: Input = None,
             times: ArrayLike = (0.0, 1.0), damping: Damping = 0.0,
             method: Method | str = "DOP853", *, model: Model = PAPER,
             step: float | None = None, rtol: float | None = None,
             atol: float | None = None, progress: bool | None = None,
             max_evaluations: int = EVALUATIONS) -> Simulation:
    """`cf.simulate` of an arm from (q0, v0), at rest without v0.

    `torque`: joint torques, as a function (t, q, v) or (t, state) -> (n,), a constant (n,), a
    `Held` input or None. `damping`: see `damping_matrix`. The friction of the links' joints acts
    always. `method` is an object or a name, and `step`, `rtol` (1e-9) and `atol` (1e-11) are for
    methods by name. The run stops with a `SingularMatrix` that names the time where B ceases to be
    positive definite.
    """
    if atol is None and isinstance(method, str):
        atol = 1e-11
    return integrated(FlexibleSystem(arm, damping, model), (q0, v0), torque, times,
                      chosen(method, step=step, rtol=rtol, atol=atol), progress=progress,
                      max_evaluations=max_evaluations, what="torque")
