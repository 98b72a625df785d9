"""What a source is: a frozen record of options that makes pieces of the rows of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from closedform.applications.compile.requests import Asked
from closedform.applications.export.pieces import Piece, SymbolicPiece
from closedform.applications.export.targets.target import Target
from closedform.maths.arguments import Kind


@dataclass(frozen=True)
class Source(ABC):
    """A kind of model. Its fields are the options it has, each with what it means."""

    of: ClassVar[Kind]

    @abstractmethod
    def pieces(self, model: Any, asked: Sequence[Asked],
               target: Target) -> Sequence[Piece | SymbolicPiece]:
        """What leaves of a model, ready to be written."""
