"""Derivatives of a program: their keys in the cache, their programs, and how they are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from closedform.arrays import Floats
from closedform.errors import UnknownName, suggestion
from closedform.lowerings import lanes
from closedform.lowerings.call.code import Judge
from closedform.lowerings.call.signature import Interface
from closedform.lowerings.call.trial import Trial, nearby_constants
from closedform.program.derivatives import arranged, cotangent, tangent, whole_jacobian
from closedform.program.pipeline import optimised
from closedform.program.program import Program

How = Literal["tangent", "cotangent", "transpose", "jacobian"]
"""A transpose is the cotangent of what is linear."""

PROGRAMS: Mapping[How, Callable[[Program, Iterable[str]], Program]] = MappingProxyType({
    "tangent": tangent,
    "cotangent": cotangent,
    "transpose": lambda program, wrt: cotangent(program, wrt, linear=True),
    "jacobian": whole_jacobian,
})


class Derivative(NamedTuple):
    """A derivative of a program by some of its inputs."""

    how: How
    wrt: tuple[str, ...]

    @classmethod
    def of(cls, how: How, wrt: Iterable[str], interface: Interface) -> Derivative:
        """By these inputs in the order of the program's, by all if none is named."""
        chosen, names = tuple(wrt), [slot.name for slot in interface.inputs]
        for name in chosen:
            if name not in names:
                raise UnknownName(f"{interface.name}: no input {name!r}; "
                                  f"{suggestion(name, names)}")
        return cls(how, tuple(name for name in names if name in chosen or not chosen))

    def key(self, digest: str) -> str:
        return f"{self.how} by {', '.join(self.wrt)} of {digest}"

    def builder(self, of: Callable[[], Program],
                other: Callable[[Derivative], Program | None] | None = None,
                ) -> tuple[Callable[[], Program], Judge]:
        """What makes the program ready for lowerings, and what tries its code.

        It is tried against the derivative as recorded, run by NumPy. `other` may know another
        program for the same, which is taken if it has fewer operations.
        """
        recorded = cache(lambda: PROGRAMS[self.how](of(), self.wrt))

        def build() -> Program:
            known = other(self) if other else None
            return optimised(recorded(), *(() if known is None else
                                           (arranged(known, recorded()),)))

        def judge(program: Program, run: Callable[..., Sequence[Floats]], dtype: Any) -> Program:
            return _trial(recorded()).code(program, run, dtype)

        return build, judge


@cache
def _trial(plain: Program) -> Trial:
    def inputs(rng: np.random.Generator) -> dict[str, Floats]:
        return {slot.name: 0.3 * rng.normal(size=slot.shape) for slot in plain.inputs}

    def definition(given: Mapping[str, Floats]) -> dict[str, Floats]:
        found = lanes.run(plain, *given.values())
        return {y.name: x for y, x in zip(plain.outputs, found, strict=True)}

    return Trial(plain.name, inputs, definition, nearby_constants(plain), lambda: [plain])
