"""The equations of a flexible arm one by one, as programs for any lowering and as compiled code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from closedform.applications.flexible.programs import digest
from closedform.arrays import Array
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.call.signature import Subject
from closedform.lowerings.call.trial import function_trial
from closedform.maths.catalogue import quantity
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.catalogue import FLEXIBLE_CATALOGUE
from closedform.maths.flexible.dynamics import PAPER, Damping, Model, damping_matrix
from closedform.maths.quantity import Quantity, letters
from closedform.program.pipeline import optimised
from closedform.program.program import Program
from closedform.program.record import record

EQUATIONS: Mapping[str, Quantity] = MappingProxyType({row.name: row for row in FLEXIBLE_CATALOGUE})
"""The rows of the catalogue for flexible arms, by name."""


def equation(arm: FlexibleArm, row: Quantity, damping: Damping = 0.0,
             model: Model = PAPER) -> Callable[..., Array]:
    """A row as a function of its inputs alone."""
    options = {"model": model, **({"damping": damping} if row.takes("damping") else {})}
    return lambda *arrays: row.definition(arm, *arrays, **options)


def equation_program(arm: FlexibleArm, name: str, damping: Damping = 0.0,
                     model: Model = PAPER) -> Program:
    """The program of one equation of an arm, for compilers and exporters."""
    row = quantity(name, FlexibleArm)
    return optimised(record(equation(arm, row, damping, model), row.input_shapes(arm), name))


def compile_equation(arm: FlexibleArm, name: str, damping: Damping = 0.0,
                     model: Model = PAPER) -> Kernel:
    """One equation of an arm in machine code, for one state or any batch.

    Compiled forward dynamics do not refuse an indefinite B, as `forward_dynamics` does.
    """
    row = quantity(name, FlexibleArm)
    key = f"{row.name} {digest(arm, damping_matrix(arm, damping), model)}"
    trial = function_trial(name, row.input_shapes(arm), equation(arm, row, damping, model))
    return Kernel.load(
        f"flexible {key}", lambda: trial.program(equation_program(arm, name, damping, model)),
        of=Subject(arm.name, letters([row])), judge=trial.code)
