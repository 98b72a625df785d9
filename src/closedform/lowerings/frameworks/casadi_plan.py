"""CasADi's functions of a kernel: value, Jacobian, adjoint and the Jacobian of the adjoint.

CasADi has matrices: vectors are columns, and an array of more axes has those behind the first
joined, in C order; entries lie column by column. Nodes of a horizon stand side by side, and so
follow each other in memory as the states of a batch do; derivatives are block diagonal, and so the
nonzeros of one node follow those of the node before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from closedform.arrays import Floats
from closedform.lowerings.frameworks.differentiable import Differentiable
from closedform.lowerings.frameworks.sparsity import Indices, Mask, Pattern, directions, reached
from closedform.program.ops import FUNCTIONS
from closedform.program.ordering.live_ranges import needed
from closedform.program.program import Output, Program, Slot, size

WRITTEN_OUT = 1500
"""Operations of a program up to which its second derivatives are written out; above, they are made
of tangents (benchmarks/casadi_operator.py, last table)."""
FIRST = 3
"""First derivatives grow less: so many times the operations."""


TAKEN = frozenset({"null", "jac", "hess", *(op.name for op in FUNCTIONS)})
"""Names with a meaning: CasADi's, and those of the C library."""


class Port(NamedTuple):
    """An argument or a result: its name, and its nonzeros in one node."""

    name: str
    pattern: Pattern
    diagonal: bool = False          # how the nodes stand


@dataclass(frozen=True)
class Stage:
    """A run of a kernel, and where its numbers go.

    For each input of the kernel `given` has the number of an argument, or the rows of directions.
    `taken` has for each result it gives the places of the nonzeros among the kernel's outputs, one
    behind the other in C order; of a kernel that is run along d directions, d times.
    """

    kernel: Differentiable
    given: tuple[int | Floats, ...]
    taken: Mapping[int, Indices]

    @property
    def directions(self) -> int:
        """0 for a kernel that is run once."""
        return next((len(x) for x in self.given if not isinstance(x, int)), 0)

    @property
    def rows(self) -> int:
        """How many numbers a run gives."""
        return sum(size(y.shape) for y in self.kernel.interface.outputs)


@dataclass(frozen=True)
class Function:
    """A function of CasADi's."""

    name: str
    arguments: tuple[Port, ...]
    results: tuple[Port, ...]
    stages: tuple[Stage, ...]


def legal(name: str) -> str:
    """A name that CasADi takes: letters, digits and single underscores, a letter first."""
    words = "_".join(filter(None, "".join(
        c if c.isascii() and c.isalnum() else "_" for c in name).split("_")))
    free = words[:1].isalpha() and words not in TAKEN
    return words if free else f"x_{words}".rstrip("_")


def distinct(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Legal names, no two alike."""
    found = list(taken)
    for name in map(legal, names):
        other, count = name, 1
        while other in found:
            count += 1
            other = f"{name}_out" if name in taken and count == 2 else f"{name}_{count}"
        found.append(other)
    return found[len(taken):]


def order(shape: tuple[int, ...]) -> Indices:
    """The entries of an array in C order, by where they lie in CasADi's matrix."""
    rows, columns = matrix(shape)
    return np.arange(rows * columns).reshape(rows, columns).T.ravel()


def matrix(shape: tuple[int, ...]) -> tuple[int, int]:
    return (shape[0] if shape else 1), size(shape[1:])


class CasadiPlan:
    """The functions of a kernel, under the names that CasADi looks for."""

    def __init__(self, kernel: Differentiable) -> None:
        self.kernel, own = kernel, kernel.interface
        self.name = legal(own.name)
        self.x, self.y = own.inputs, own.outputs
        names = distinct([s.name for s in self.x])
        self.inputs = [_dense(n, s.shape) for n, s in zip(names, self.x, strict=True)]
        self.outputs = [_dense(n, s.shape) for n, s in zip(
            distinct([s.name for s in self.y], names), self.y, strict=True)]
        self.nothing = [_empty(f"out_{p.name}", p) for p in self.outputs]
        self.seeds = [p._replace(name=f"adj_{p.name}") for p in self.outputs]
        self.adjoints = [p._replace(name=f"adj_{p.name}") for p in self.inputs]
        self.at = {s.name: k for k, s in enumerate(self.x)}

    def functions(self) -> tuple[Function, ...]:
        """All of them; of a kernel without inputs the value alone."""
        if not self.x:
            return (self.value(),)
        return self.value(), self.jacobian(), self.adjoint(), self.second()

    def value(self) -> Function:
        stage = Stage(self.kernel, tuple(range(len(self.x))), _ordered(self.y))
        return Function(self.name, tuple(self.inputs), tuple(self.outputs), (stage,))

    def jacobian(self) -> Function:
        ports, taken = list[Port](), dict[int, dict[int, Indices]]()
        for i, y in enumerate(self.outputs):
            for j, x in enumerate(self.inputs):
                pattern, stage, places = self.blocks[i, j]
                taken.setdefault(id(stage), {})[len(ports)] = places
                ports.append(Port(f"jac_{y.name}_{x.name}", pattern, True))
        return Function(f"jac_{self.name}", (*self.inputs, *self.nothing), tuple(ports),
                        self._with(taken))

    def adjoint(self) -> Function:
        stage = Stage(self.kernel.cotangent(), self._adjoint_inputs, _ordered(self.x))
        return Function(f"adj1_{self.name}", (*self.inputs, *self.nothing, *self.seeds),
                        tuple(self.adjoints), (stage,))

    def second(self) -> Function:
        """∂x̄/∂x, and ∂x̄/∂ȳ, which is the Jacobian's transpose."""
        second, places = self._second_blocks()
        ports, taken = list[Port](), {id(second): dict[int, Indices]()}
        for i, bar in enumerate(self.adjoints):
            for j, x in enumerate(self.inputs):
                pattern, where = places[i, j]
                taken[id(second)][len(ports)] = where
                ports.append(Port(f"jac_{bar.name}_{x.name}", pattern, True))
            ports += [_nothing(f"jac_{bar.name}_{y.name}", bar, y) for y in self.nothing]
            for k, y in enumerate(self.seeds):
                pattern, stage, where = self.blocks[k, i]
                turned, across = _transposed(pattern)
                taken.setdefault(id(stage), {})[len(ports)] = where[across]
                ports.append(Port(f"jac_{bar.name}_{y.name}", turned, True))
        gone = [_empty(f"out_{p.name}", p) for p in self.adjoints]
        return Function(f"jac_adj1_{self.name}",
                        (*self.inputs, *self.nothing, *self.seeds, *gone), tuple(ports),
                        self._with(taken, second))

    def _with(self, taken: Mapping[int, Mapping[int, Indices]], *more: Stage) -> tuple[Stage, ...]:
        """The stages that give something, with what is taken of them."""
        stages = {id(s): s for s in (*(s for _, s, _ in self.blocks.values()), *more)}
        return tuple(Stage(s.kernel, s.given, taken[k]) for k, s in stages.items()
                     if any(len(x) for x in taken[k].values()))

    @cached_property
    def blocks(self) -> dict[tuple[int, int], tuple[Pattern, Stage, Indices]]:
        """∂y_i/∂x_j by i, j: the nonzeros, the stage that gives them, and where it has them."""
        return dict(self._blocks())

    def _blocks(self) -> Iterator[tuple[tuple[int, int], tuple[Pattern, Stage, Indices]]]:
        """By the catalogue's row for as many inputs as it has, and otherwise."""
        names = list(self.at)
        row, own = _largest_row(self.kernel, names)
        rest = [name for name in names if name not in own]
        mask = reached(self.kernel.program, names)
        at_y, at_x = _starts(self.y), _starts(self.x)
        for wrt in filter(None, (own, rest)):
            columns = np.concatenate([np.arange(at_x[self.at[n]], at_x[self.at[n] + 1])
                                      for n in wrt])
            stage, part, places = self._derivative(row if wrt is own else None, wrt,
                                                   mask[:, columns])
            for name, a, b in zip(wrt, *_ranges([self.x[self.at[n]] for n in wrt]), strict=True):
                for i in range(len(self.y)):
                    block = slice(at_y[i], at_y[i + 1]), slice(a, b)
                    yield (i, self.at[name]), (*_laid(
                        part[block], places[block], self.y[i], self.x[self.at[name]], stage),)

    def _derivative(self, row: Differentiable | None, wrt: Sequence[str],
                    mask: Mask) -> tuple[Stage, Mask, Indices]:
        """The stage of ∂y/∂x for all y and some x; what is not zero; where the stage has it."""
        if row is None and self.kernel.interface.operations.total > FIRST * WRITTEN_OUT:
            seeds, places = directions(mask)
            return self._along(self.kernel.tangent(*wrt), wrt, seeds), mask, places
        whole = row or self.kernel.jacobian(*wrt)
        known, places = _whole(whole.program, self.y, [self.x[self.at[n]] for n in wrt])
        given = tuple(self.at[s.name] for s in whole.interface.inputs)
        return Stage(whole, given, {}), mask & known, places

    def _second_blocks(self) -> tuple[Stage, dict[tuple[int, int], tuple[Pattern, Indices]]]:
        adjoint, names = self.kernel.cotangent(), list(self.at)
        mask = reached(adjoint.program, names)
        mask &= mask.T
        if self.kernel.interface.operations.total > WRITTEN_OUT:
            seeds, places = directions(mask, symmetric=True)
            stage = self._along(adjoint.tangent(*names), names, seeds)
        else:
            whole = adjoint.jacobian(*names)
            known, places = _whole(whole.program, self.x, self.x)
            mask &= known & known.T
            places = _cheaper_half(whole.program, mask, places)
            stage = Stage(whole, self._adjoint_inputs, {})
        at, blocks = _starts(self.x), {}
        for i, x in enumerate(self.x):
            for j, z in enumerate(self.x):
                block = slice(at[i], at[i + 1]), slice(at[j], at[j + 1])
                pattern, _, where = _laid(mask[block], places[block], x, z, stage)
                blocks[i, j] = pattern, where
        return stage, blocks

    @property
    def _adjoint_inputs(self) -> tuple[int, ...]:
        n, m = len(self.x), len(self.y)
        return (*range(n), *range(n + m, n + 2 * m))

    def _along(self, tangent: Differentiable, wrt: Sequence[str], seeds: Mask) -> Stage:
        """A tangent along directions, which are its last inputs."""
        own = len(tangent.interface.inputs) - len(wrt)
        given = tuple(range(own)) if own == len(self.x) else self._adjoint_inputs
        slots = [self.x[self.at[n]] for n in wrt]
        rows = [seeds[:, a:b].astype(float).reshape(len(seeds), *slot.shape)
                for slot, a, b in zip(slots, *_ranges(slots), strict=True)]
        return Stage(tangent, (*given, *rows), {})


def _largest_row(kernel: Differentiable,
                 names: Sequence[str]) -> tuple[Differentiable | None, list[str]]:
    """The kernel that the catalogue has for most of the first inputs, and these.

    Not without q: where the catalogue has no derivative by q, it holds quaternions, and off the
    unit sphere, where solvers pass, derivatives by v alone are not those of the same function.
    """
    for count in range(len(names), 0, -1):
        row = kernel.jacobian_row(*names[:count])
        if row is not None:
            return row, list(names[:count])
    return None, []


def _starts(slots: Sequence[Slot]) -> list[int]:
    return list(accumulate((size(s.shape) for s in slots), initial=0))


def _ranges(slots: Sequence[Slot]) -> tuple[list[int], list[int]]:
    starts = _starts(slots)
    return starts[:-1], starts[1:]


def _whole(program: Program, y: Sequence[Slot], x: Sequence[Slot]) -> tuple[Mask, Indices]:
    """Of a program with an output for each y, and for it each x: what is not zero, and where."""
    rows, columns = _starts(y), _starts(x)
    mask = np.zeros((rows[-1], columns[-1]), bool)
    places, start = np.zeros(mask.shape, np.int64), 0
    structure = iter(program.structure().values())
    for r in pairwise(rows):
        for c in pairwise(columns):
            part = mask[slice(*r), slice(*c)]
            part[:] = next(structure).reshape(part.shape)
            places[slice(*r), slice(*c)] = start + np.arange(part.size).reshape(part.shape)
            start += part.size
    return mask, places


def _cheaper_half(program: Program, mask: Mask, places: Indices) -> Indices:
    """The places of a symmetric matrix in that of its triangles which takes fewer operations."""
    entries = [e for y in program.outputs for e in y.entries]
    halves = [np.where(np.tri(len(mask), dtype=bool) ^ upper, places, places.T)
              for upper in (False, True)]

    def operations(half: Indices) -> int:
        taken = tuple(entries[i] for i in half[mask])
        return needed(replace(program, outputs=(Output("", (len(taken),), taken),))
                      ).operations.total

    return min(halves, key=operations)


def _laid(mask: Mask, places: Indices, y: Slot, x: Slot,
          stage: Stage) -> tuple[Pattern, Stage, Indices]:
    """A block in CasADi's order: its nonzeros, the stage, and where this has them."""
    at = np.ix_(order(y.shape), order(x.shape))
    pattern = Pattern.of(mask[at])
    return pattern, stage, places[at][pattern.row, pattern.column]


def _transposed(pattern: Pattern) -> tuple[Pattern, Indices]:
    """The transpose, and for each of its nonzeros the number that it had."""
    across = np.lexsort((pattern.column, pattern.row))
    return Pattern(pattern.columns, pattern.rows, pattern.column[across],
                   pattern.row[across]), across


def _dense(name: str, shape: tuple[int, ...]) -> Port:
    return Port(name, Pattern.of(np.ones(matrix(shape), bool)))


def _empty(name: str, like: Port) -> Port:
    rows, columns, *_ = like.pattern
    return Port(name, Pattern.of(np.zeros((rows, columns), bool)))


def _nothing(name: str, y: Port, x: Port) -> Port:
    """∂y/∂x that is zero."""
    rows, columns = (p.pattern.rows * p.pattern.columns for p in (y, x))
    return Port(name, Pattern.of(np.zeros((rows, columns), bool)), True)


def _ordered(slots: Sequence[Slot]) -> dict[int, Indices]:
    """All outputs of a kernel in CasADi's order."""
    return {k: start + order(s.shape)
            for k, (s, (start, _)) in enumerate(zip(slots, pairwise(_starts(slots)), strict=True))}
