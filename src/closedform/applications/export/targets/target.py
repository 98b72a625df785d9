"""What a target is: a frozen record of options that writes functions and their test vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar


@dataclass(frozen=True)
class Target(ABC):
    """A language. Its fields are the options it has, each with what it means.

    A class says by what `name` it is found, which `files` it writes for the function NAME, which
    command is to `check` a folder, what that `needs`, and whether it takes robots in symbols.
    """

    name: ClassVar[str]
    files: ClassVar[tuple[str, ...]]
    check: ClassVar[str]
    needs: ClassVar[str]
    suffix: ClassVar[str] = ""      # of a module's name, behind the function's
    takes_symbols: ClassVar[bool] = False

    @abstractmethod
    def texts(self, piece: Any) -> Mapping[str, str | bytes]:
        """The files of a function, a `Piece`, or in symbols a `SymbolicPiece`: texts or bytes."""

    @abstractmethod
    def runner(self, folder: Path) -> Mapping[str, str | bytes]:
        """What checks all test vectors that a folder holds; its exit status tells."""
