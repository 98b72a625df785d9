"""What a call of an operator computes: a kernel's value, its tangent or its cotangent.

    value        x → y
    tangent      (x, ẋ) → ẏ = Σ (∂y/∂x) ẋ          linear in ẋ
    cotangent    (x, ȳ) → x̄ = Σ (∂y/∂x)ᵀ ȳ         linear in ȳ

Tangent and cotangent are each other's transpose, so that a gradient, which frameworks make by
transposing a tangent, never asks for the code of the tangent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from closedform.lowerings.cuda.kernel import CudaKernel
from closedform.lowerings.frameworks.differentiable import Differentiable
from closedform.lowerings.native.ir import Kind
from closedform.program.program import Slot, size

ENOUGH = 3
"""Tangents for which a whole Jacobian is computed in place of products with each..."""
SHARE = 8
"""... and no fewer than this part of its columns: the catalogue's rows cost about as much as
products with an eighth of the columns (panda 2 of 21, talos 15 of 114)."""
SMALL = 4000
"""Operations, about, of a Jacobian that is written out where the catalogue has no row."""


class Operand(Differentiable, Protocol):
    """A kernel with what an operator of it needs."""

    def tangent(self, *wrt: str) -> Operand: ...

    def cotangent(self, *wrt: str, linear: bool = False) -> Operand: ...

    def jacobian(self, *wrt: str) -> Operand: ...

    def jacobian_row(self, *wrt: str) -> Operand | None: ...

    def compiled(self, layout: Literal["xla"], kind: Kind) -> Any: ...

    @property
    def gpu(self) -> CudaKernel: ...


_KNOWN: dict[str, Operand] = {}
"""Kernels by digest, as long as the process lives: targets of XLA cannot be taken back, and what a
framework has traced with one kernel serves all that compute the same."""


@dataclass(frozen=True)
class OperatorCall:
    """A call; `by` are the inputs x that move, in their order."""

    kernel: Operand
    how: Literal["value", "tangent", "cotangent"] = "value"
    by: tuple[str, ...] = ()

    @classmethod
    def of(cls, kernel: Operand) -> OperatorCall:
        return cls(_KNOWN.setdefault(kernel.interface.digest, kernel))

    @property
    def name(self) -> str:
        return self.kernel.interface.name

    @property
    def moving(self) -> tuple[Slot, ...]:
        return tuple(slot for slot in self.kernel.interface.inputs if slot.name in self.by)

    @property
    def own(self) -> int:
        """How many inputs are the kernel's own; the call is linear in those after them."""
        return len(self.kernel.interface.inputs)

    @property
    def inputs(self) -> tuple[Slot, ...]:
        of = self.kernel.interface
        further = {"value": (), "tangent": self.moving, "cotangent": of.outputs}
        return (*of.inputs, *further[self.how])

    @property
    def outputs(self) -> tuple[Slot, ...]:
        return self.moving if self.how == "cotangent" else self.kernel.interface.outputs

    def realised(self) -> Operand:
        """The kernel that computes the call."""
        if self.how == "value":
            return self.kernel
        return (self.kernel.tangent if self.how == "tangent" else self.kernel.cotangent)(*self.by)

    def tangent(self, places: Iterable[int]) -> OperatorCall:
        """The tangent by inputs at these places."""
        whole = OperatorCall.of(self.realised())
        names = [slot.name for slot in whole.inputs]
        return OperatorCall(whole.kernel, "tangent", tuple(names[k] for k in places))

    def cotangent(self, by: Iterable[str]) -> OperatorCall:
        """The transpose of a tangent, by some of its inputs."""
        return OperatorCall(self.kernel, "cotangent", tuple(by))

    def transposed_cotangent(self, by: Iterable[str]) -> OperatorCall:
        """The transpose of a cotangent, whose results for `by` are given."""
        return OperatorCall(self.kernel, "tangent", tuple(by))

    def jacobian(self, count: int) -> Operand | None:
        """The kernel of ∂y/∂x, if that is better than products with so many vectors."""
        columns = sum(size(slot.shape) for slot in self.moving)
        if self.how == "value" or count < ENOUGH or SHARE * count < columns:
            return None
        row = self.kernel.jacobian_row(*self.by)
        if row is None and self.kernel.interface.operations.total * columns <= SMALL:
            return self.kernel.jacobian(*self.by)
        return row
