"""The velocities of a spanning tree as those of the independent joints, and their rates.

    K v = 0      v = (ẏ, v_d)      v = G ẏ      a = G ÿ + Ġ ẏ

    K_d v_d = −K_y ẏ                          K_d a_d = −(K_y ÿ + K̇ v)                    (i)
    K_d G_d⁽ᵐ⁾ = −Σ_{j≥1} (m over j) K⁽ʲ⁾ G⁽ᵐ⁻ʲ⁾                                           (ii)

with one factor of K_d, the kept rows and dependent columns of K. Higher rates of v come from the
series of φ(q(t)), of which each new coefficient is linear in the new dependent rate. What the rules
of `pull_backs` ask for is the same as for joints that follow by polynomials; the factors are
matrices (n, n_y) here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from closedform.arrays import Array, namespace
from closedform.errors import OpenLoop, SingularLoop
from closedform.maths.algebra.lu import Factor, is_zero, lu
from closedform.maths.loops.legs import Platform, platform_of
from closedform.maths.scalars.dual import duals, first
from closedform.maths.scalars.moving import coordinate_series
from closedform.maths.scalars.series import coefficient
from closedform.model.coordinates import moved
from closedform.model.coordinates import rates as coordinate_rates
from closedform.model.loops.assembly import CLOSED
from closedform.model.loops.closure import Closure, velocity_names
from closedform.model.loops.elimination import suitable, values_text
from closedform.model.loops.gap import Columns, dense, drift, jacobian, jacobian_rows, residual
from closedform.model.robot import Robot
from closedform.model.segments import Segment

STEPS = 4
"""Of Newton's after a step along the tangent, whose error of 0.1 they make 1e-16."""


@dataclass(frozen=True, eq=False)
class LoopEmbedding:
    """The spanning tree of a robot with loops, and how its velocities follow from the robot's."""

    robot: Robot

    @cached_property
    def free(self) -> Robot:
        return self.robot.tree

    @cached_property
    def closure(self) -> Closure:
        found = self.robot.closure
        assert found is not None
        return found

    @cached_property
    def platform(self) -> Platform | None:
        """The robot as a platform on legs, if it is one."""
        return platform_of(self.free, self.closure)

    @cached_property
    def stays(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Dependent turns about parallel axes that an independent turn carries, with their signs.

        If they turn back as it turns, their links only shift, and so do the gaps: the difference of
        the columns of K is shorter than any of them.
        """
        segments, closure = self.free.segments, self.closure
        found: dict[int, tuple[tuple[int, int], ...]] = {}
        for s in segments:
            p = segments[s.parent - 1] if s.parent else None
            if p is None or not (_turns(s) and _turns(p)):
                continue
            (d,), (i,) = s.v_index, p.v_index
            sign = float((s.placement[:3, :3] @ s.joint.S[3:, 0]) @ p.joint.S[3:, 0])
            if d in closure.dependent and i in closure.independent and abs(abs(sign) - 1) < 1e-15:
                found[i] = (*found.get(i, ()), (d, round(sign)))
        return found

    def coordinates(self, q: Array) -> Array:
        """q itself: it is that of the tree, closed."""
        return q

    def here(self, q: Array) -> Here:
        """K and its factor at q."""
        return Here(self, q)

    def rates(self, q: Array, rates: Sequence[Array]) -> list[Array]:
        """v̂, â, … of the tree for the rates ẏ, ÿ, … of the independent joints: (i)."""
        here, found = self.here(q), list[Array]()
        for k, y in enumerate(rates):
            found.append(here.completed(y, here.missing(found, y, k)))
        return found

    def slope_rates(self, q: Array, rates: Sequence[Array]) -> list[Array]:
        """G and its time derivatives along a motion, one for each of the rates: (ii)."""
        here, tree = self.here(q), self.free
        found = [here.G]
        if not rates:
            return found
        motion = self.rates(q, rates)
        Ks = self.jacobian_rates(q, motion)
        for m in range(1, len(rates) + 1):
            b: list[Array] = []
            for row in range(len(self.closure.rows)):
                total = None
                for j in range(1, m + 1):
                    for i, x in Ks[j - 1][row].items():
                        if not is_zero(x):
                            term = math.comb(m, j) * x * found[m - j][i]
                            total = term if total is None else total + term
                b.append(here.xp.zeros(self.robot.nv) if total is None else total)
            found.append(here.spread(here.xp.zeros((self.robot.nv, self.robot.nv)),
                                     [-x for x in here.solve(b)], tree.nv))
        return found

    def jacobian_rates(self, q: Array, motion: Sequence[Array]) -> list[list[Columns]]:
        """The rows of K̇, K̈, … that are kept, along a motion of the tree."""
        if len(motion) == 1:
            return [self.jacobian_along(q, motion[0])]
        xp = namespace(q, *motion)
        moving = jacobian_rows(self.free, self.closure.gaps, coordinate_series(
            self.free, q, xp.stack(list(motion))))
        kept = [moving[i] for i in self.closure.rows]
        return [[{i: coefficient(np.asarray(x), m)[()] * math.factorial(m) for i, x in row.items()}
                 for row in kept] for m in range(1, len(motion) + 1)]

    def jacobian_along(self, q: Array, v: Array) -> list[Columns]:
        """The kept rows of the derivative of K along the tree's velocities v."""
        moving = jacobian_rows(self.free, self.closure.gaps, self.along(q, v))
        return [{i: first(x) for i, x in moving[row].items()} for row in self.closure.rows]

    def along(self, q: Array, v: Array) -> np.ndarray:
        """q + ε Γ(q) v, as duals."""
        return duals(q, coordinate_rates(self.free, q, v, namespace(q, v)))

    def stepped(self, q: Array) -> Array:
        """q after one step of Newton's of the dependent joints: K_d δ = −φ."""
        here = Here(self, q, closed=False)
        phi = residual(self.free, self.closure.gaps, q)
        zero = here.xp.zeros(self.robot.nv)
        return moved(self.free, q, here.completed(zero, [phi[i] for i in self.closure.rows]))

    def integrated(self, q: Array, dv: Array) -> Array:
        """q ⊕ dv: the independent joints moved by dv, the others along and closed again."""
        q = moved(self.free, q, self.here(q).G @ dv)
        for _ in range(STEPS):
            q = self.stepped(q)
        return q

    def difference(self, dv: Array) -> Array:
        """The independent ones of the tree's velocities."""
        return dv[np.array(self.closure.independent, dtype=int)]

    def raised(self, x: Array, factors: Array) -> Array:
        """factors @ x: G x for those of G."""
        return factors @ x

    def folded(self, x: Array, *factors: Array | None) -> Array:
        """x with its axes, the first ones first, multiplied by Gᵀ or another of the factors."""
        for axis, f in enumerate(factors):
            x = x if f is None else _folded(x, axis, f)
        return x


def _folded(x: Array, axis: int, F: Array) -> Array:
    if axis == 0 and x.ndim < 3:
        return F.T @ x
    if axis == 1 and x.ndim == 2:
        return x @ F
    xp, before = namespace(x, F), (slice(None),) * axis
    found = []
    for d in range(F.shape[1]):
        terms = [x[(*before, r)] * F[r, d] for r in range(F.shape[0]) if not is_zero(F[r, d])]
        found.append(sum(terms[1:], terms[0]) if terms else
                     xp.zeros((*x.shape[:axis], *x.shape[axis + 1:])))
    shape = (*x.shape[:axis], 0, *x.shape[axis + 1:])
    return xp.stack(found, axis=axis) if found else xp.zeros(shape)


class Here:
    """K at one configuration, its factor, and what is solved with it."""

    def __init__(self, of: LoopEmbedding, q: Array, closed: bool = True) -> None:
        self.of, self.q, self.xp = of, q, namespace(q)
        if closed:
            _refuse_open(of, q)

    @cached_property
    def rows(self) -> list[Columns]:
        """The kept rows of K, by velocities of the tree."""
        every = jacobian_rows(self.of.free, self.of.closure.gaps, self.q)
        return [every[i] for i in self.of.closure.rows]

    @cached_property
    def stays(self) -> list[tuple[int, int, int]]:
        """Of `stays` of the robot those whose gaps feel both turns: (independent, turn, sign)."""
        return [(i, d, sign) for i, turns in self.of.stays.items() for d, sign in turns
                if all(i in row for row in self.rows if d in row)]

    @cached_property
    def shifts(self) -> list[Columns]:
        """The rows' columns of independent velocities, with the turns in `stays` turned back."""
        found = [{i: row[i] for i in self.of.closure.independent if i in row} for row in self.rows]
        for i, d, sign in self.stays:
            for shift, row in zip(found, self.rows, strict=True):
                if d in row:
                    shift[i] = shift[i] - sign * row[d]
        return found

    def turned_back(self, y: Array) -> list[Any]:
        """The dependent rates that keep the links of `stays` from turning."""
        closure, found = self.of.closure, dict[int, Any]()
        for i, d, sign in self.stays:
            found[d] = found.get(d, 0) - sign * y[closure.independent.index(i)]
        none = namespace(self.q, y).zeros(())
        return [found.get(d, none) for d in closure.dependent]

    @cached_property
    def columns(self) -> list[Columns]:
        """The kept rows of K_d, by dependent velocity."""
        at = {i: c for c, i in enumerate(self.of.closure.dependent)}
        return [{at[i]: x for i, x in row.items() if i in at} for row in self.rows]

    @cached_property
    def factor(self) -> Factor | Any:
        """K_d, or K_dᵀ K_d if more rows are kept than are independent: numbers, or its factor."""
        closure = self.of.closure
        if self.q.dtype != object:
            K_d = dense(self.columns, len(closure.dependent), self.xp)
            if isinstance(K_d, np.ndarray):
                _refuse_singular(self.of, self.q, K_d)
            return K_d if closure.is_square else K_d.T @ K_d
        return lu(self.columns if closure.is_square else _squared(self.columns), closure.pivots)

    def solve(self, b: Sequence[Any]) -> list[Any]:
        """K_d⁻¹ b, one for each dependent velocity; entries may be rows of a matrix."""
        if not self.of.closure.is_square:
            b = [sum(terms[1:], terms[0]) for terms in (
                [row[c] * x for row, x in zip(self.columns, b, strict=True) if c in row]
                for c in range(len(self.of.closure.dependent)))]
        if isinstance(self.factor, Factor):
            return self.factor.solve(b)
        return list(_solve(self.factor, self.xp.stack(list(b)))) if len(b) else []

    def solve_transposed(self, b: Sequence[Any]) -> list[Any]:
        """K_d⁻ᵀ b, one for each kept row: the forces of the loops, of minimum norm if several do.
        """
        if isinstance(self.factor, Factor):
            found = self.factor.solve_transposed(b)
        else:
            found = list(_solve(self.factor.T, self.xp.stack(list(b)))) if len(b) else []
        if self.of.closure.is_square:
            return found
        return [sum((x * found[c] for c, x in row.items()), 0) for row in self.columns]

    @cached_property
    def G(self) -> Array:
        """(n, n_y), the identity on the independent velocities."""
        ny, closure = self.of.robot.nv, self.of.closure
        b = [self.xp.stack([row.get(i, 0) + self.xp.zeros(()) for i in closure.independent])
             if ny else self.xp.zeros(0) for row in self.shifts]
        return self.completed(self.xp.eye(ny), b)

    def spread(self, independent: Array, dependent: Sequence[Any], n: int) -> Array:
        """The entries of both kinds of velocities in the order of the tree, (n, …)."""
        found: list[Any] = [None] * n
        for k, i in enumerate(self.of.closure.independent):
            found[i] = independent[k]
        for x, i in zip(dependent, self.of.closure.dependent, strict=True):
            found[i] = x
        return namespace(self.q, independent, *dependent).stack(found)

    def completed(self, y: Array, b: Sequence[Any]) -> Array:
        """The tree's rates with y for the independent ones; the others turn back, and K_d⁻¹ of −b.
        """
        return self.spread(y, [back - x for back, x in zip(
            self.turned_back(y), self.solve(b), strict=True)], self.of.free.nv)

    def missing(self, lower: Sequence[Array], y: Array, k: int) -> list[Any]:
        """What the kept rows lack if the dependent rates of order k only turn back."""
        tree, closure = self.of.free, self.of.closure
        if k > 1:
            xp = namespace(self.q, y, *lower)
            trial = xp.stack([*lower, self.spread(y, self.turned_back(y), tree.nv)])
            phi = residual(tree, closure.gaps, coordinate_series(tree, self.q, trial))
            return [coefficient(np.asarray(phi[i]), k + 1)[()] * math.factorial(k + 1)
                    for i in closure.rows]
        none = namespace(self.q, y).zeros(())
        number = {i: n for n, i in enumerate(closure.independent)}
        b = [sum((x * y[number[i]] for i, x in row.items() if not is_zero(x)), none)
             for row in self.shifts]
        if k == 1:
            extra = drift(tree, closure.gaps, self.q, lower[0])
            b = [x + extra[i] for x, i in zip(b, closure.rows, strict=True)]
        return b

    def lowered(self, tau: Array) -> tuple[Array, list[Any]]:
        """Gᵀ τ = τ_y − K_yᵀ λ and λ = K_d⁻ᵀ τ_d: torques of the tree at the independent joints."""
        closure = self.of.closure
        force = self.solve_transposed([tau[i] for i in closure.dependent])
        found = []
        for i in closure.independent:
            total = tau[i]
            for j, d, sign in self.stays:
                total = total - sign * tau[d] if i == j else total
            for row, x in zip(self.shifts, force, strict=True):
                if i in row and not is_zero(row[i]) and not is_zero(x):
                    total = total - row[i] * x
            found.append(total)
        xp = namespace(tau, self.q)
        return xp.stack(found) if found else tau[:0], force


def _squared(rows: Sequence[Columns]) -> list[Columns]:
    """KᵀK by columns, of rows by entries."""
    found: list[Columns] = [{} for _ in range(1 + max(max(row, default=-1) for row in rows))]
    for row in rows:
        for i, x in row.items():
            for j, y in row.items():
                found[i][j] = found[i][j] + x * y if j in found[i] else x * y
    return found


def _turns(s: Segment) -> bool:
    """Whether a segment is one turn about an axis by its own coordinate."""
    S = s.joint.S
    return (S.shape[1] == 1 and bool(np.any(S[3:] != 0)) and len(s.v_index) == 1
            and s.ratio == 1 and not s.higher)


def _solve(A: Array, b: Array) -> Any:
    if isinstance(A, np.ndarray) and isinstance(b, np.ndarray):
        return np.linalg.solve(A, b)
    return namespace(A, b).solve(A, b)


# ---------------------------------------------------------------------- refusing
def _real(q: Array) -> np.ndarray | None:
    told = isinstance(q, np.ndarray) and q.dtype.kind in "fc" and bool(np.all(np.isfinite(q)))
    return np.real(np.asarray(q)) if told else None


def _refuse_open(of: LoopEmbedding, q: Array) -> None:
    """An `OpenLoop` for numbers that do not close the loops."""
    at = _real(q)
    if at is None:
        return
    phi, closure = residual(of.free, of.closure.gaps, at), of.closure
    worst = int(np.argmax(np.abs(phi)))
    if abs(phi[worst]) > CLOSED * max(1.0, closure.size):
        raise OpenLoop(f"q of {of.robot.name} is no closed configuration: the loop "
                       f"{closure.names()[worst]!r} is open by {abs(phi[worst]):.3g}; "
                       "robot.closed(y, near=q) closes it")


def _refuse_singular(of: LoopEmbedding, q: Array, K_d: np.ndarray) -> None:
    """A `SingularLoop` where the independent velocities do not tell the others."""
    if not K_d.size or not np.all(np.isfinite(K_d)):
        return
    values = np.linalg.svd(np.real(K_d), compute_uv=False)
    if values[-1] > 1e-12 * values[0]:
        return
    K = np.asarray(jacobian(of.free, of.closure.gaps, np.real(np.asarray(q))))
    rank, names = len(of.closure.dependent), ", ".join(map(repr, dict.fromkeys(of.closure.names())))
    all_values = np.linalg.svd(K, compute_uv=False)
    if all_values[rank - 1] < 1e-9 * all_values[0]:
        raise SingularLoop(f"the loops {names} of {of.robot.name} lose rank here, where branches "
                           f"meet (singular values {values_text(K)}): its motion is not determined")
    would = ", ".join(velocity_names(of.free)[i] for i in suitable(K, rank))
    raise SingularLoop(f"the independent joints {', '.join(of.robot.independent or ())} of "
                       f"{of.robot.name} do not tell how {names} moves here (singular values "
                       f"{values_text(K_d)}); as independent joints would do: {would}")
