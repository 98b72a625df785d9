"""What a compiled robot has: one attribute for each row of the catalogue, made when first used.

Editors and type checkers read `quantities.pyi` instead, which `make stubs` writes from the
catalogue: there each attribute has the arguments, the result and the summary of its row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

from closedform.errors import UnknownName
from closedform.lowerings.native.cpu import MAKING
from closedform.maths.catalogue import CATALOGUE, quantity
from closedform.maths.quantity import Quantity


class Quantities(ABC):
    """The rows of the catalogue as attributes."""

    @abstractmethod
    def _made(self, row: Quantity) -> Any:
        """What computes a row."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            row = quantity(name)
        except UnknownName as error:
            raise AttributeError(str(error)) from None
        with MAKING:
            if name not in self.__dict__:        # found there from now on, without this function
                self.__dict__[name] = self._made(row)
        return self.__dict__[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(row.name for row in CATALOGUE)]


class CompiledWithInputs(Protocol):
    """A compiled robot with inputs at run time: its kernels take them after their own arguments."""
