"""Arguments of the equations of flexible arms."""

from __future__ import annotations

from closedform.maths.arguments import Argument, Kind
from closedform.maths.flexible.arm import FlexibleArm

FLEXIBLE_ARMS = Kind(
    "flexible arms", FlexibleArm,
    {"q": Argument(("nq",), "q", "joint angles, then deflections"),
     "v": Argument(("nq",), r"\dot{q}", "their velocities"),
     "a": Argument(("nq",), r"\ddot{q}", "their accelerations"),
     "tau": Argument(("links",), r"\tau", "joint torques", several=True)},
    lambda arm, order: {"nq": arm.nq, "links": arm.n},
    made="cf.flexible.load(path or name)", batches="cf.flexible.compile_equation(arm, name)",
    finite=True)
checked = FLEXIBLE_ARMS.checked
