"""What an operator of a framework needs to know of a kernel."""

from __future__ import annotations

from typing import Protocol

from closedform.program.program import Operations, Slot


class Described(Protocol):
    """A program seen from outside."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> tuple[Slot, ...]: ...
    @property
    def outputs(self) -> tuple[Slot, ...]: ...
    @property
    def operations(self) -> Operations: ...
    @property
    def digest(self) -> str: ...


class Differentiable(Protocol):
    """A kernel, and those of its derivatives."""

    @property
    def interface(self) -> Described: ...

    def tangent(self, *wrt: str) -> Differentiable: ...

    def cotangent(self, *wrt: str, linear: bool = False) -> Differentiable: ...

    def jacobian(self, *wrt: str) -> Differentiable: ...
