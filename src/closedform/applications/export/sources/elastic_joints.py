"""Equations of robots with elastic joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from closedform.applications.compile.requests import Asked
from closedform.applications.elastic.programs import CompiledElastic
from closedform.applications.export.header import elastic_conventions, header
from closedform.applications.export.names import legal_name
from closedform.applications.export.pieces import Piece
from closedform.applications.export.sources.source import Source
from closedform.applications.export.targets.target import Target
from closedform.applications.export.vectors import function_vectors
from closedform.maths.arguments import Kind
from closedform.maths.catalogue import quantity
from closedform.maths.elastic.arguments import ELASTIC_JOINTS
from closedform.maths.quantity import letters
from closedform.model.elasticity.joints import ElasticJoints


@final
@dataclass(frozen=True)
class ElasticJointsSource(Source):
    """Robots with elastic joints."""

    of: ClassVar[Kind] = ELASTIC_JOINTS

    def pieces(self, model: ElasticJoints, asked: Sequence[Asked],
               target: Target) -> Sequence[Piece]:
        return [_piece(model, str(name)) for name in asked]


def _piece(model: ElasticJoints, name: str) -> Piece:
    row, robot = quantity(name, ElasticJoints), model.robot
    program = CompiledElastic(model).program(name)
    vectors = function_vectors(lambda *x: row.definition(model, *x), program, robot)
    return Piece(legal_name(f"{robot.name}_elastic_{name}"), program, vectors,
                 header(f"{robot.name} with elastic joints", [row], program,
                        elastic_conventions(model)), letters([row]))
