"""Motion of a flexible arm in time, with q and v apart."""

from __future__ import annotations

from closedform.applications.flexible.system import FlexibleSystem
from closedform.applications.motion.inputs import Input
from closedform.applications.motion.integrator import EVALUATIONS, integrated
from closedform.applications.motion.methods import Method, chosen
from closedform.applications.motion.simulation import Simulation
from closedform.arrays import ArrayLike
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import PAPER, Damping, Model


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
