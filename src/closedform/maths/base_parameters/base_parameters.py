"""Base parameters: the fewest combinations of inertial parameters that the joint torques hold.

    τ = Y(q, v, a) π = Y_b(q, v, a) π_b,     π_b = K π,     Y_b = the columns of Y that are kept

K has a one in the column of each kept parameter, where every other row has a zero; so setting the
dropped parameters to zero and the kept ones to π_b leaves every torque as it is.

Ranks are decided in exact numbers on the declared geometry (`exact_geometry`), by the recursion of
`base_recursion` and, where mimic joints or affine loops couple rates, by `coupled_rank` after it.
Of other loops the rank is numeric (`looped_rank`), with its certificate in `evidence.twin`.

Cites: [GautierKhalil1990]; [WensingNiemeyerSlotine2024].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.arrays import Array, numeric
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.maths.base_parameters.base_recursion import Regrouping, SparseRow, regrouping
from closedform.maths.base_parameters.coupled_rank import without_dependent
from closedform.maths.base_parameters.exact_geometry import TOLERANCE, exact_geometry
from closedform.maths.base_parameters.exact_linear import (
    NumberField,
    RationalFunctions,
    Residues,
    echelon,
)
from closedform.maths.base_parameters.looped_rank import without_looped
from closedform.maths.base_parameters.modified_dh import Declared
from closedform.maths.base_parameters.numeric_rank import (
    NumericRank,
    RankDisagreement,
    declared_rank,
)
from closedform.maths.base_parameters.symbolic_entries import expression, readable_sum
from closedform.maths.definitions.regressor import regressor
from closedform.model.formats.dh import SYMORO_NAMES
from closedform.model.inertia import PARAMETER_NAMES, SYMORO_ORDER
from closedform.model.loops.affine import affine
from closedform.model.robot import Robot

COARSE = 1e-3
"""What rests on angles (rad) and lengths (of the robot's size) below this no measurement tells."""
PAPER_NAMES = dict(zip(SYMORO_NAMES, (PARAMETER_NAMES[i] for i in SYMORO_ORDER), strict=True))
"""XX … m of the paper, as our Ixx … m."""


@dataclass(frozen=True)
class Evidence:
    """On what the count rests: the method, the field, what was declared exact, the numeric twin.

    `snaps` were changed by more than rounding; `near` were left although they are within a hundred
    times the tolerance of a special value.
    """

    method: str
    field: str
    tolerance: float
    snaps: tuple[Declared, ...]
    near: tuple[Declared, ...]
    twin: NumericRank | None = None

    def __str__(self) -> str:
        lines = [f"{self.method} over {self.field}",
                 f"special values within {self.tolerance:g} rad, {self.tolerance:g} of the size"]
        lines += [f"snapped: {snap}" for snap in self.snaps]
        lines += [f"not snapped, though near: {near.where}: {near.what} = {near.given!r}, "
                  f"{near.change:.1e} from {near.exact}" for near in self.near]
        return "\n".join([*lines, *([f"numeric twin: {self.twin}"] if self.twin else [])])


@final
@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The base parameters of a robot; `kept` are the columns of its regressor that stay.

    `source` is the robot as given; `rows` are the sparse rows of K in numbers of `numbers`.
    """

    source: Robot
    kept: tuple[int, ...]
    rows: tuple[SparseRow, ...]
    numbers: NumberField
    evidence: Evidence = field(repr=False)

    @property
    def count(self) -> int:
        return len(self.kept)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The kept parameters' names, in the order of `robot.parameter_names`."""
        return tuple(self.source.parameter_names[c] for c in self.kept)

    @cached_property
    def K(self) -> np.ndarray:
        """(count, parameters): π_b = K π; floats, or SymPy expressions of the geometry."""
        symbolic = isinstance(self.numbers, RationalFunctions)
        K = np.zeros((self.count, len(self.source.parameter_names)),
                     dtype=object if symbolic else float)
        for i, row in enumerate(self.rows):
            for column, x in row.items():
                K[i, column] = expression(x, self.numbers) if symbolic \
                    else float(self.numbers.value(x, {}))
        K.setflags(write=False)
        return K

    @cached_property
    def values(self) -> np.ndarray:
        """π_b = K π, (count,), of the robot's parameters."""
        return self.K @ self.source.parameters

    @cached_property
    def expressions(self) -> tuple[Any, ...]:
        """π_b as SymPy sums of parameters: the robot's own symbols, else symbols of their names."""
        import sympy
        pairs = zip(self.source.parameters, self.source.parameter_names, strict=True)
        symbols = {c: x if isinstance(x, sympy.Symbol) else sympy.Symbol(name)
                   for c, (x, name) in enumerate(pairs)}
        return tuple(readable_sum(row, symbols, self.numbers) for row in self.rows)

    @cached_property
    def no_effect(self) -> tuple[str, ...]:
        """Parameters that no torque depends on: zero columns of K."""
        used = {column for row in self.rows for column in row}
        return tuple(n for c, n in enumerate(self.source.parameter_names) if c not in used)

    @cached_property
    def regrouped(self) -> tuple[str, ...]:
        """Parameters that are dropped because others take them up."""
        kept, idle = set(self.names), set(self.no_effect)
        return tuple(n for n in self.source.parameter_names if n not in kept | idle)

    @cached_property
    def on_paper_only(self) -> tuple[str, ...]:
        """Kept parameters whose columns are independent by small angles and lengths alone.

        If what is below COARSE were zero, the others would take them up: axes that are a tilt ε
        from parallel tell them from the others by ε times the torques that they make.
        """
        coarse = self._coarse
        return () if coarse is None else tuple(n for n in self.names if n not in coarse.names)

    @property
    def small_geometry(self) -> tuple[Declared, ...]:
        """The small angles and lengths that parameters `on_paper_only` rest on."""
        if self._coarse is None or not self.on_paper_only:
            return ()
        known = {(x.where, x.what) for x in self.evidence.snaps}
        return tuple(x for x in self._coarse.evidence.snaps
                     if x.change < COARSE and (x.where, x.what) not in known)

    @cached_property
    def _coarse(self) -> BaseParameters | None:
        """The base parameters of the robot without small angles and lengths, these ones first."""
        if self.evidence.tolerance >= COARSE or isinstance(self.numbers, RationalFunctions):
            return None
        snaps = exact_geometry(self.source, Residues(), COARSE).snaps
        if {s.where for s in snaps} <= {s.where for s in self.evidence.snaps}:
            return None
        return base_parameters(self.source, self.names, field=Residues(), tolerance=COARSE)

    def regressor(self, q: Array, v: Array, a: Array) -> Array:
        """Y_b, (nv, count), with Y_b π_b = τ."""
        return regressor(self.source, q, v, a)[:, list(self.kept)]

    @cached_property
    def robot(self) -> Robot:
        """A robot with the same q and the same torques, the dropped parameters at zero."""
        object_ = not numeric(self.values)
        pi = np.zeros(len(self.source.parameter_names), dtype=object if object_ else float)
        pi[list(self.kept)] = self.values
        return self.source.with_parameters(pi)

    def __repr__(self) -> str:
        return (f"<BaseParameters of {self.source.name}: {self.count} of "
                f"{len(self.source.parameter_names)}, {len(self.no_effect)} without effect, "
                f"{len(self.regrouped)} regrouped>")


def base_parameters(robot: Robot, keep: Sequence[str] | None = None, *,
                    field: NumberField | None = None, tolerance: float = TOLERANCE,
                    twin: bool = False) -> BaseParameters:
    """The base parameters of a robot, decided in exact arithmetic.

    `keep` lists parameters to keep before all others, first ones first: names such as `link2.Iyy`,
    or kinds such as `Iyy` (the paper's `YY`) for every body; the rest follows the paper's choice,
    which drops Iyy, mcz and m of links on revolute z axes. `field` is where exact numbers live:
    rational numbers, or rational functions if the geometry holds symbols; `Residues()` decides
    counts and names only, faster. `tolerance` (rad, and of the robot's size) is where special
    values begin. With `twin` the rank of a sampled regressor is taken beside; a certified rank that
    differs is an error.
    """
    if not isinstance(robot, Robot):
        raise ArgumentError(f"base_parameters: robot must be a cf.Robot, not "
                            f"{type(robot).__name__}; cf.load(path or name) makes one")
    if field is not None and not isinstance(field, NumberField):
        raise ArgumentError(f"field must be a field of exact numbers such as Residues(), not "
                            f"{field!r}")
    seen = _under_what_is_not_carried(robot)
    same = affine(seen) if seen.loops else None
    tree = seen.tree if same is None else same
    geometry = exact_geometry(tree, field, tolerance)
    found, method = regrouping(tree, geometry), "recursion of subspaces"
    number: NumericRank | None = None
    if tree.is_coupled:
        found = without_dependent(tree, geometry, found, tolerance)
        method += (", then the rank of sampled energies modulo primes, for "
                   f"{'affine loops' if same else 'mimic joints'}")
    if seen.loops and same is None:
        found, number = without_looped(seen, found)
        method += ", then the numeric rank of torques on the closed loops"
    if keep is not None:
        found = _repivoted(found, _order(robot, keep))
    if twin and number is None:
        number = declared_rank(tree, geometry)
    if number is not None and number.certified and number.rank != len(found.kept):
        raise RankDisagreement(f"{robot.name}: {len(found.kept)} base parameters in exact "
                               f"arithmetic, {number}")
    evidence = Evidence(method, geometry.field.name, tolerance, geometry.snaps, geometry.near,
                        number)
    return BaseParameters(robot, tuple(found.kept), tuple(found.rows), geometry.field, evidence)


def _under_what_is_not_carried(robot: Robot) -> Robot:
    """The robot, without gravity where all weight is carried: only a share of all changes no rank.
    """
    shares = {body.gravity_compensation: body.name for body in robot.bodies}
    if len(shares) > 1:
        (x, a), (y, b), *_ = shares.items()
        raise ArgumentError(f"base_parameters: gravity_compensation is {x:g} of {a!r} and {y:g} of "
                            f"{b!r}; it must be the same for all bodies of {robot.name}")
    return robot.with_gravity((0, 0, 0)) if 1.0 in shares else robot


def generic_count(robot: Robot, *, seed: int = 0) -> int:
    """The number of base parameters, modulo a 61-bit prime with random values for symbols."""
    return base_parameters(robot, field=Residues(seed)).count


def _order(robot: Robot, keep: Sequence[str]) -> list[int]:
    """The columns that the user prefers, in the user's order."""
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        raise ArgumentError(f"keep must be a list of names, not {keep!r}")
    names, order = robot.parameter_names, []
    for wanted in keep:
        kind = PAPER_NAMES.get(wanted, wanted)
        found = [c for c, n in enumerate(names) if n == wanted or n.rpartition(".")[2] == kind]
        if not found:
            raise UnknownName(f"keep: no parameter {wanted!r} in {robot.name}; "
                              f"{suggestion(wanted, (*PARAMETER_NAMES, *names))}")
        order += [c for c in found if c not in order]
    return order


def _repivoted(found: Regrouping, preferred: Sequence[int]) -> Regrouping:
    """The same row space with the preferred columns as pivots, where they are independent."""
    used = sorted({column for row in found.rows for column in row})
    order = [c for c in preferred if c in used]
    order += [c for c in (*found.kept, *used) if c not in order]
    at = {c: i for i, c in enumerate(used)}
    dense = [[row.get(c, 0) for c in used] for row in found.rows]
    rows, pivots = echelon(dense, [at[c] for c in order])
    pairs = sorted((used[p], {used[i]: x for i, x in enumerate(row) if x})
                   for p, row in zip(pivots, rows, strict=True))
    return Regrouping([c for c, _ in pairs], [row for _, row in pairs])
