"""Loops in closed form: dyads, slider-cranks, rods on cranks and on universal joints, gears.

Joint after joint is solved for (`steps`), each by what is known before it, until all are known;
affine loops are one linear map. A robot whose loops are not all of these is closed by Newton's
steps (`closing`). What is found is held to closed configurations before it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from closedform.arrays import OBJECTS
from closedform.model.loops.angles import Angle
from closedform.model.loops.closure import Closure, samples, velocity_names, y_index
from closedform.model.loops.gap import Gap, residual
from closedform.model.loops.lanes import lanes, residuals, together
from closedform.model.loops.linear import linear_map
from closedform.model.loops.records import Gear, Rod
from closedform.model.loops.steps import LoopStep, slides, turns, walked

if TYPE_CHECKING:
    from closedform.model.tree import Tree

SAME = 1e-8
"""How well a solution repeats closed configurations, next to the robot's size."""
Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class ExplicitLoops:
    """How all dependent coordinates follow from the independent ones, the entries `index` of q.

    By q = A y + o, or by steps with the signs that their roots have at the home configuration.
    """

    tree: Tree
    index: tuple[int, ...]
    home: np.ndarray
    steps: tuple[LoopStep, ...] = ()
    signs: tuple[float, ...] = ()
    linear: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def branch(self) -> dict[str, str]:
        """Which of the two roots is taken, by the joint that has them."""
        names = velocity_names(self.tree)
        at = [names[self.tree.segments[step.segment - 1].v_index[0]] for step in self.steps
              if step.has_branch]
        return {name: "+" if sign > 0 else "-" for name, sign in zip(at, self.signs, strict=True)}

    def configuration(self, y: Any, signs: Sequence[Any] | None = None) -> np.ndarray:
        """The closed q at y, (nq,) scalars of any kind; turns that are solved for are `Angle`s."""
        q = np.empty(self.tree.nq, dtype=object)
        if self.linear is not None:
            A, o = self.linear
            q[:] = [sum((x * r if r != 1 else x for r, x in zip(row, y, strict=True) if r), c)
                    for row, c in zip(A.tolist(), o.tolist(), strict=True)]
            return q
        q[:] = 0.0
        q[list(self.index)] = list(y)
        left = list(self.signs if signs is None else signs)
        for step in self.steps:
            found = step.solved(self.tree, q, partial(_given, left.pop(0) if step.has_branch
                                                      else None))
            if isinstance(found, Angle):
                found = Angle(found.c, found.s, float(self.home[step.at]))
            q[step.at] = found
        return q

    def signs_at(self, q: np.ndarray) -> list[Any]:
        """The signs of the roots at a closed configuration, of scalars of any kind."""
        found, known = list[Any](), np.zeros(self.tree.nq, dtype=object)
        known[list(self.index)] = q[list(self.index)]
        for step in self.steps:
            if step.has_branch:
                def signed(side: Any, x: Any = q[step.at]) -> Any:
                    found.append(OBJECTS.sign(side(x)))
                    return found[-1]
                step.solved(self.tree, known, signed)
            known[step.at] = q[step.at]
        return found


def _given(sign: Any, side: Any) -> Any:
    return sign


def numbers(q: np.ndarray) -> np.ndarray:
    """q with the numbers of its angles, (nq,) objects."""
    found = np.empty(len(q), dtype=object)
    found[:] = [x.number if isinstance(x, Angle) else x for x in q]
    return found


_known: WeakKeyDictionary[Closure, tuple[ExplicitLoops | None]] = WeakKeyDictionary()


def explicit_loops(tree: Tree, closure: Closure) -> ExplicitLoops | None:
    """The loops in closed form; None where some of them are implicit."""
    if closure not in _known:
        _known[closure] = (_explicit(tree, closure),)
    return _known[closure][0]


def _explicit(tree: Tree, closure: Closure) -> ExplicitLoops | None:
    unknown = _unknown(tree, closure)
    if unknown is None:
        return None
    made = ExplicitLoops(tree, tuple(y_index(tree, closure).tolist()), closure.home,
                         linear=linear_map(tree, closure))
    if made.linear is not None:
        return made
    points = samples(tree, closure)
    try:
        with np.errstate(all="ignore"):
            made = replace(made, steps=_Search(tree, points, closure.size).steps(
                closure.gaps, unknown))
            made = replace(made, signs=tuple(map(float, made.signs_at(closure.home))))
            good = all(made.signs) and all(_repeats(made, closure, q) for q in points)
            good = good and _holds(made, closure)
    except (_ImplicitError, ArithmeticError):
        return None
    return made if good else None


def _unknown(tree: Tree, closure: Closure) -> set[int] | None:
    """The entries of q that are solved for; None if one is of a joint whose v is not q̇."""
    own, found = set(closure.dependent), set[int]()
    for body, i, v in tree.parts:
        mine = [k for k in range(v.start, v.stop) if k in own]
        if mine and not body.joint.is_vector:
            return None
        found.update(i.start + k - v.start for k in mine)
    return found


def _repeats(made: ExplicitLoops, closure: Closure, q: np.ndarray) -> bool:
    """Whether the solution at y of a closed configuration, on its branch, is that configuration."""
    found = numbers(made.configuration(q[list(made.index)], made.signs_at(q))).astype(float)
    turning = [i for s in made.tree.segments if turns(s.joint) for i in s.q_index]
    off = found - q
    off[turning] = (off[turning] + np.pi) % (2 * np.pi) - np.pi
    phi = residual(made.tree, closure.gaps, found)
    return bool(np.abs(off).max(initial=0) < 1e3 * SAME * max(1, closure.size)
                and np.abs(phi).max(initial=0) < SAME * closure.size)


def _holds(made: ExplicitLoops, closure: Closure) -> bool:
    """Whether roots on the branch close all rows wherever there are some.

    Of loops that move by their special lengths alone, as Bennett's, the branch changes on the way.
    """
    rng, tree = np.random.default_rng(2), made.tree
    q = np.stack([np.concatenate([np.zeros(0), *(b.joint.random(rng) for b, _, _ in tree.parts)])
                  for _ in range(16)])
    found = together(numbers(made.configuration(lanes(q[:, list(made.index)]))), len(q))
    phi = np.abs(residuals(tree, closure.gaps, found)).max(axis=1, initial=0)
    return bool(np.all(np.isnan(phi) | (phi < SAME * closure.size)))


class _ImplicitError(Exception):
    """Some loop has no closed form here."""


@dataclass(frozen=True)
class _Search:
    """The order in which loops are solved, and by what."""

    tree: Tree
    points: Sequence[np.ndarray]       # closed configurations
    size: float

    def steps(self, gaps: Sequence[Gap], unknown: set[int]) -> tuple[LoopStep, ...]:
        """Steps for all unknown coordinates, or an `_ImplicitError`."""
        left, missing, found = list(gaps), set(unknown), list[LoopStep]()
        while missing:
            gap, steps = next(((gap, steps) for gap in left
                               if (steps := self._of(gap, missing))), (None, ()))
            if gap is None:
                raise _ImplicitError
            left.remove(gap)
            found += [self._with_constants(step) for step in steps]
            missing -= {step.at for step in steps}
        return tuple(found)

    def _of(self, gap: Gap, unknown: set[int]) -> Sequence[LoopStep]:
        """The steps of a loop, base to tip; none if it has no closed form with what is known."""
        way = [n for n, _ in gap.terms] or [*reversed(gap.way_b), *gap.way_a]
        asked = [n for n in way if unknown & set(self.tree.segments[n - 1].q_index)]
        if not asked or not all(self._is_plain(n) for n in asked):
            return ()
        if isinstance(gap.cut, Gear):
            return [self._step("gear", gap, asked[0])] if len(asked) == 1 else ()
        if isinstance(gap.cut, Rod):
            return [self._apart(gap, asked[0], 0)] if len(asked) == 1 else ()
        ways = len(gap.cut.joint.lengths)
        if ways == 1:
            return self._on_a_slide(gap, asked)
        return () if ways else self._at_a_point(gap, asked)

    def _is_plain(self, n: int) -> bool:
        """Whether a joint is a turn or a slide by its own coordinate, which no other follows."""
        s = self.tree.segments[n - 1]
        return ((turns(s.joint) or slides(s.joint)) and s.ratio == 1 and not s.higher
                and len(s.q_index) == 1
                and sum(s.q_index[0] in t.q_index for t in self.tree.segments) == 1)

    def _turns(self, n: int) -> bool:
        return turns(self.tree.segments[n - 1].joint)

    def _step(self, how: str, gap: Gap, n: int, other: int = 0, held: Any = None) -> LoopStep:
        return LoopStep(how, gap, self.tree.segments[n - 1].q_index[0], n, other, held)

    def _apart(self, gap: Gap, n: int, other: int) -> LoopStep:
        """A joint by the length between two points."""
        return self._step("distance" if self._turns(n) else "slide", gap, n, other)

    def _at_a_point(self, gap: Gap, asked: Sequence[int]) -> Sequence[LoopStep]:
        if len(asked) == 1:
            n, = asked
            return [self._step("direction" if self._turns(n) else "meeting", gap, n)]
        for one, two in pairwise(asked):          # a universal joint
            if self._turns(one) and self._turns(two) and self._meet(gap, one, two):
                rest = [n for n in asked if n not in (one, two)]
                if len(rest) > 1:
                    return ()
                return [*(self._apart(gap, n, one) for n in rest),
                        self._step("projection", gap, two, one), self._step("direction", gap, one)]
        if len(asked) != 2 or not any(map(self._turns, asked)):
            return ()
        one, two = sorted(asked, key=self._turns, reverse=True)          # a turn first
        return [self._apart(gap, two, one), self._step("direction", gap, one)]

    def _meet(self, gap: Gap, one: int, two: int) -> bool:
        """Whether the points of two axes are one."""
        ways = [walked(self.tree, gap, q) for q in self.points]
        return all(np.abs(way.axes[one].o - way.axes[two].o).max() < SAME * self.size
                   for way in ways)

    def _on_a_slide(self, gap: Gap, asked: Sequence[int]) -> Sequence[LoopStep]:
        """Two turns about parallel axes, of a tip that slides along the cut's z."""
        if len(asked) != 2 or not all(map(self._turns, asked)):
            return ()
        one, two = asked
        way = walked(self.tree, gap, self.points[0])
        normal = np.cross(Z, way.axes[one].k)
        if np.linalg.norm(normal) < 0.5:
            return ()
        lever = way.x - way.axes[two].o
        return [self._step("line", gap, one, two, (lever, normal / np.linalg.norm(normal))),
                self._step("orientation", gap, two, held=(Z, way.R @ Z))]

    def _with_constants(self, step: LoopStep) -> LoopStep:
        """The step with a length that is the same at all closed configurations as a number."""
        if step.how not in ("distance", "slide", "direction"):
            return step
        values = [step.squared(walked(self.tree, step.gap, q)) for q in self.points]
        same = np.ptp(values) < 1e-9 * max(np.abs(values).max(), 1e-300)
        return replace(step, held=float(values[0])) if same else step
