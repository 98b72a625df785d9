"""Equations of flexible arms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, final

from closedform.applications.compile.requests import Asked
from closedform.applications.export.header import arm_conventions, header
from closedform.applications.export.names import legal_name
from closedform.applications.export.pieces import Piece
from closedform.applications.export.sources.source import Source
from closedform.applications.export.targets.target import Target
from closedform.applications.export.vectors import function_vectors
from closedform.applications.flexible.equations import equation, equation_program
from closedform.maths.arguments import Kind
from closedform.maths.catalogue import quantity
from closedform.maths.flexible.arguments import FLEXIBLE_ARMS
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import PAPER, Model
from closedform.maths.quantity import letters


@final
@dataclass(frozen=True)
class FlexibleArmSource(Source):
    """Planar arms with flexible links."""

    damping: Annotated[Any, "structural damping d of D = d √K"] = 0.0
    model: Annotated[Model, "the kinematics: Truncated() or ExactRotation()"] = PAPER

    of: ClassVar[Kind] = FLEXIBLE_ARMS

    def pieces(self, model: FlexibleArm, asked: Sequence[Asked],
               target: Target) -> Sequence[Piece]:
        return [self._piece(model, str(name)) for name in asked]

    def _piece(self, arm: FlexibleArm, name: str) -> Piece:
        row, program = quantity(name, FlexibleArm), equation_program(
            arm, name, self.damping, self.model)
        vectors = function_vectors(equation(arm, row, self.damping, self.model), program)
        return Piece(legal_name(f"{arm.name}_{name}"), program, vectors,
                     header(arm.name, [row], program, arm_conventions(arm)), letters([row]))
