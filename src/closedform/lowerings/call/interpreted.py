"""A function of arrays without machine code, called as a kernel is: where code would take too long.

It is run in Python for one state after the other; arguments, batches, `out=` and errors are those
of kernels.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, final

import numpy as np

from closedform.arrays import Floats
from closedform.errors import ClosedformError
from closedform.lowerings.call.signature import Interface, Subject, gufunc_signature
from closedform.lowerings.call.slow import Recipe, SlowPath
from closedform.lowerings.native.ir import BYTES, Kind
from closedform.lowerings.store.cache import Cache
from closedform.program.program import Slot, size

Function = Callable[..., Sequence[Any]]
"""Outputs of inputs, one state."""


@final
class Interpreted:
    """A kernel without code. What is asked of its code is refused with the reason."""

    def __init__(self, interface: Interface, function: Function, of: Subject, reason: str) -> None:
        self.interface, self._reason = interface, reason
        self._path = SlowPath(_Running(interface, function, self._refuse), of)  # type: ignore[arg-type]
        self._recipe: Recipe | None = None
        self.__doc__ = f"{self._path.title}, interpreted: {reason}."

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs for a state or a batch; `out=` takes an array, or a tuple of several."""
        return self._path(*args, **named)

    @property
    def name(self) -> str:
        return self.interface.name

    @property
    def signature(self) -> str:
        return gufunc_signature(self.interface)

    def with_variant(self, name: str, kernel: Callable[[], Any], at: int) -> Interpreted:
        self._path.variant, self._path.variant_at = (name, kernel), at
        return self

    def with_recipe(self, make: Callable[..., Any], *arguments: Any) -> Interpreted:
        self._recipe = make, arguments
        return self

    @property
    def recipe(self) -> Recipe:
        """What makes it anew."""
        if self._recipe is None:
            self._refuse("recipe")
        return self._recipe

    def with_rows(self, name: str, kernel: Callable[[int], Any]) -> Interpreted:
        self._path.rows = name, kernel
        return self

    def other(self, *steps: str) -> Any:
        return self._path.other(steps)

    def _refuse(self, what: str) -> NoReturn:
        raise ClosedformError(f"{self._path.title} has no {what}: it is interpreted, because "
                              f"{self._reason}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self._refuse(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.recipe

    def __repr__(self) -> str:
        inputs = ", ".join(s.name for s in self.interface.inputs)
        return f"<interpreted {self.name}({inputs})>"


class _Running:
    """What stands in the place of code: functions of addresses that run in Python."""

    def __init__(self, interface: Interface, function: Function,
                 refuse: Callable[[str], NoReturn]) -> None:
        self.interface, self.function, self.refuse = interface, function, refuse
        self.cache = Cache(None)

    @property
    def program(self) -> Any:
        self.refuse("program")

    def native(self, layout: str, kind: Kind) -> Any:
        return _Native(self, layout, kind)


class _Native:
    def __init__(self, running: _Running, layout: str, kind: Kind) -> None:
        self.running, self.layout, self.kind = running, layout, kind

    def function(self, *numbers: int) -> None:
        if self.layout == "kernel":
            self._one(numbers)
            return
        states, places = numbers[0], numbers[1:]
        for k in range(states):
            self._one([a + k * stride for a, stride in
                       zip(places[0::2], places[1::2], strict=True)])

    def _one(self, addresses: Sequence[int]) -> None:
        of = self.running.interface
        arrays = [self._array(a, slot) for a, slot in
                  zip(addresses, (*of.inputs, *of.outputs), strict=True)]
        given = [x.astype(float) for x in arrays[:len(of.inputs)]]
        found = self.running.function(*given)
        for x, y in zip(arrays[len(of.inputs):], found, strict=True):
            x[...] = y

    def _array(self, address: int, slot: Slot) -> Floats:
        bytes_ = BYTES[self.kind]
        whole: Any = (ctypes.c_char * (bytes_ * size(slot.shape))).from_address(address)
        found: Floats = np.frombuffer(whole, dtype=f"f{bytes_}").reshape(slot.shape)
        return found
