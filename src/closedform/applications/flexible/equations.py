"""The equations of a flexible arm one by one, as programs for any lowering and as compiled code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from closedform.applications.flexible.programs import digest
from closedform.errors import UnknownName
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.flexible import dynamics as fa
from closedform.maths.flexible.arm import FlexibleArm
from closedform.model.formats.dh import unknown
from closedform.program.pipeline import optimised
from closedform.program.program import Program
from closedform.program.record import record

Equation = Callable[..., Any]

EQUATIONS: Mapping[str, tuple[Equation, tuple[str, ...], bool]] = MappingProxyType({
    "inertia_matrix": (fa.inertia_matrix, ("q",), False),
    "coriolis_torque": (fa.coriolis_torque, ("q", "v"), False),
    "gravity_torque": (fa.gravity_torque, ("q",), False),
    "inverse_dynamics": (fa.inverse_dynamics, ("q", "v", "a"), True),
    "forward_dynamics": (fa.forward_dynamics, ("q", "v", "tau"), True),
    "kinetic_energy": (fa.kinetic_energy, ("q", "v"), False),
    "potential_energy": (fa.potential_energy, ("q",), False),
    "tip_position": (fa.tip_position, ("q",), False),
    "tip_jacobian": (fa.tip_jacobian, ("q",), False),
})
"""By name: the function of the arm, its inputs, and whether it takes damping."""


def equation_program(arm: FlexibleArm, name: str, damping: Any = 0.0,
                     model: fa.Model = fa.PAPER) -> Program:
    """The program of one equation of an arm, for compilers and exporters."""
    function, inputs, damped = _equation(name)
    options = {"damping": damping, "model": model} if damped else {"model": model}
    shapes = {x: (arm.n if x == "tau" else arm.nq,) for x in inputs}
    return optimised(record(lambda *arrays: function(arm, *arrays, **options), shapes, name))


def compile_equation(arm: FlexibleArm, name: str, damping: Any = 0.0,
                     model: fa.Model = fa.PAPER) -> Kernel:
    """One equation of an arm in machine code, for one state or any batch.

    Compiled forward dynamics do not refuse an indefinite B, as `forward_dynamics` does.
    """
    _equation(name)
    key = digest(arm, fa.damping_matrix(arm, damping), model)
    return Kernel.load(f"flexible {name} {key}",
                       lambda: equation_program(arm, name, damping, model))


def _equation(name: str) -> tuple[Equation, tuple[str, ...], bool]:
    if name not in EQUATIONS:
        raise UnknownName(unknown("equation", name, tuple(EQUATIONS)))
    return EQUATIONS[name]
