"""Kernels under names that the graphs of a framework can hold, and keep on disk.

    forward_dynamics-83b1…                          a kernel, once its operator is made
    forward_dynamics-83b1…/with:wrenches            another one that serves some of its calls
    forward_dynamics-83b1…/cotangent:q,tau          what comes of it, and so on

So a graph can be loaded in another process: it needs the operators of the kernels alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from closedform.errors import ArgumentError
from closedform.lowerings.frameworks.differentiable import Differentiable
from closedform.program.program import Slot, size

MANY_OPERATIONS = 10_000
"""Up to so many a Jacobian is recorded that the catalogue has not: some seconds of compiling."""


@dataclass(frozen=True, eq=False)
class Handled:
    """A kernel under its name."""

    handle: str
    kernel: Differentiable
    parent: Handled | None = None
    how: str = ""                       # this kernel comes of its parent's
    wrt: tuple[str, ...] = ()

    @cached_property
    def inputs(self) -> tuple[Slot, ...]:
        return self.kernel.interface.inputs

    @cached_property
    def outputs(self) -> tuple[Slot, ...]:
        return self.kernel.interface.outputs

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(slot.name for slot in self.inputs)

    def derived(self, how: str, wrt: Iterable[str]) -> Handled:
        return node(f"{self.handle}/{how}:{','.join(wrt)}")

    def whole(self, directions: int) -> Handled | None:
        """The Jacobian of which so many products are meant, where that takes fewer operations.

        For a tangent or a cotangent alone.
        """
        parent, wrt = self.parent, self.wrt
        if parent is None or self.how not in ("tangent", "cotangent"):
            return None
        columns = sum(size(x.shape) for x in parent.inputs if x.name in wrt)
        rows = sum(size(y.shape) for y in parent.outputs)
        products = directions * (self._operations - rows * columns)
        if products < parent._operations:
            return None
        few = parent._operations * columns <= MANY_OPERATIONS
        if not few and parent.kernel.jacobian_row(*wrt) is None:
            return None
        found = parent.derived("jacobian", wrt)
        return found if found._operations < products else None

    @property
    def _operations(self) -> int:
        return self.kernel.interface.operations.instructions


_NODES: dict[str, Handled] = {}


def register(kernel: Differentiable) -> Handled:
    """A kernel from now on known by its identity."""
    handle = kernel.identity
    return _NODES.setdefault(handle, Handled(handle, kernel))


def node(handle: str) -> Handled:
    """What a name stands for."""
    if handle not in _NODES:
        of, slash, step = handle.rpartition("/")
        if not slash:
            raise ArgumentError(f"no kernel {handle!r} in this process: make its operator before "
                                "a graph that holds it is run, as by arm.forward_dynamics.torch()")
        _NODES[handle] = _child(node(of), handle, *step.split(":"))
    return _NODES[handle]


def _child(parent: Handled, handle: str, how: str, what: str) -> Handled:
    wrt, kernel = tuple(what.split(",")), parent.kernel
    if how == "tangent":
        return Handled(handle, kernel.tangent(*wrt), parent, how, wrt)
    if how == "cotangent":
        return Handled(handle, kernel.cotangent(*wrt), parent, how, wrt)
    if how == "jacobian":
        return Handled(handle, kernel.jacobian(*wrt), parent, how, wrt)
    return Handled(handle, kernel.other(f"{how}:{what}"))
