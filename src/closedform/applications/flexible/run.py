"""One integration of a flexible arm's state, by fixed steps or by SciPy, until B is indefinite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from closedform.applications.flexible.inputs import Constant, Held, Law
from closedform.applications.flexible.programs import ArmKernels
from closedform.arrays import Array
from closedform.errors import ArgumentError, ClosedformError, SingularMatrix
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import Model, inertia_matrix

Adaptive = Literal["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]
Method = Literal["RK4"] | Adaptive
METHODS = ("RK4", *get_args(Adaptive))
"""RK4 has fixed steps; SciPy's others adapt them. The last three are for stiff motion, as with
structural damping on many modes."""

NEARLY = 1e-2
"""B is next to indefinite where its smallest eigenvalue is this part of what it was at first."""

CHUNK = 64
"""Steps between two looks at the state and the progress bar."""


@dataclass
class Run:
    """One integration: the arm, its input, and how often the rate was asked for."""

    arm: FlexibleArm
    model: Model
    kernels: ArmKernels
    law: Law
    held: Held | None
    limit: int
    evaluations: int = 0
    ends: tuple[tuple[float, Array], tuple[float, Array]] = field(init=False)

    @property
    def known(self) -> bool:
        """Whether the torque depends on nothing but time."""
        return self.held is not None or isinstance(self.law, Constant)

    def torques(self, t: Array, q: Array, v: Array) -> Array:
        """The torques at these times and states, (points, n)."""
        if self.held is not None:
            return self.held.at(t)
        if isinstance(self.law, Constant):
            return np.tile(self.law.value, (len(t), 1))
        return np.stack([self.law(*row) for row in zip(t, q, v, strict=True)])

    def rk4(self, x: Array, t: Array, step: float, show: Callable[[float], None]) -> Array:
        """The states at the times t, (points, 2N + 2), by fixed steps."""
        counts = np.maximum(np.ceil(np.diff(t) / step - 1e-9), 1).astype(int)
        if 4 * int(counts.sum()) > self.limit:
            raise ArgumentError(f"{counts.sum()} steps of {step:g} s are more than "
                                f"max_evaluations = {self.limit} allows")
        sizes, ends = np.repeat(np.diff(t) / counts, counts), np.cumsum(counts)
        within = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
        marks = np.repeat(t[:-1], counts) + within * sizes
        path = np.zeros((len(marks) + 1, len(x) + 1))
        path[0, :-1] = x
        for first in range(0, len(marks), CHUNK):
            part = slice(first, first + CHUNK)
            self._steps(path[first:first + CHUNK + 1], marks[part], sizes[part])
            show(marks[part][-1])
        self.evaluations = 4 * len(marks)
        return path[np.concatenate([[0], ends]), :-1]

    def _steps(self, path: Array, marks: Array, sizes: Array) -> None:
        N, rows, step = self.arm.nq, list(path), self.kernels.step
        if self.known:
            u = self.torques(marks, path, path)
            inputs = list(np.concatenate([u, sizes[:, None]], axis=1))
            for x, held, following in zip(rows, inputs, rows[1:], strict=False):
                step(x, held, out=following)
        else:
            for k, (x, following) in enumerate(pairwise(rows)):
                u = self.law(marks[k], x[:N], x[N:2 * N])
                step(x, np.append(u, sizes[k]), out=following)
                if following[-1] != 0:
                    break
        self._refuse_bad(path[1:len(marks) + 1], marks, sizes)

    def _refuse_bad(self, path: Array, marks: Array, sizes: Array) -> None:
        """Stop at the first step after which B was indefinite or the state is not finite."""
        bad = np.flatnonzero((path[:, -1] != 0) | ~np.all(np.isfinite(path), axis=1))
        if not len(bad):
            return
        first = int(bad[0])
        if np.isfinite(path[first, -1]) and path[first, -1] != 0:
            raise self.lost(marks[first], f", or RK4's step of {sizes[first]:g} s is too long")
        raise ClosedformError(
            f"at t = {marks[first]:g} s the motion of {self.arm.name} is not finite: RK4's step of "
            f"{sizes[first]:g} s is too long for it; try a shorter one, or method='Radau'")

    def scipy(self, x: Array, t: Array, method: Adaptive, rtol: float, atol: float,
              show: Callable[[float], None]) -> Array:
        """The states at the times t, anew from each switch of a held input."""
        stops = [t[0], t[-1]] if self.held is None else [
            t[0], *[s for s in self.held.times if t[0] < s < t[-1]], t[-1]]
        path, at = [x], x
        self.ends = (t[0], x), (t[0], x)
        for start, stop in pairwise(stops):
            if stop <= start:
                continue
            inside = t[(t > start) & (t <= stop)]
            asked = inside if len(inside) and inside[-1] == stop else np.append(inside, stop)
            from scipy.integrate import solve_ivp  # slow to import
            found = solve_ivp(self._rate(start, stop, method, show), (start, stop), at,
                              method=method, t_eval=asked, rtol=rtol, atol=atol)
            if not found.success:
                raise self._failure(found, method)
            at = found.y[:, -1]
            path += list(found.y.T[:len(inside)])
        return np.array(path)

    def _rate(self, start: float, stop: float, method: Adaptive,
              show: Callable[[float], None]) -> Callable[[float, Array], Array]:
        """(t, x) -> ẋ; NaN where B is not definite, which makes the integrator shorten its step."""
        N, rate = self.arm.nq, self.kernels.rate
        held = None if self.held is None else self.held.at(np.array([(start + stop) / 2]))[0]

        def function(t: float, x: Array) -> Array:
            self.evaluations += 1
            self.ends = self.ends[0], (t, x)
            if self.evaluations > self.limit:
                raise ClosedformError(
                    f"more than {self.limit} evaluations by t = {t:g} s: the motion is stiff or "
                    "rtol too small; try method='Radau', or raise max_evaluations")
            if self.evaluations % 200 == 0:
                show(t)
            u = self.law(t, x[:N], x[N:2 * N]) if held is None else held
            found = rate(np.ascontiguousarray(x), u)
            if found[-1] == 0:
                return found[:-1]
            if method == "LSODA":                       # its Fortran does not survive NaN
                raise self.lost(t)
            return np.full(len(x), np.nan)

        return function

    def _failure(self, found: Any, method: str) -> ClosedformError:
        """Why SciPy gave up: because it came to where B loses definiteness, or for its reasons.

        Next to that point accelerations grow without bound while B is still definite, hardly so.
        """
        (_, first), (t, x) = self.ends
        smallest = [np.linalg.eigvalsh(inertia_matrix(self.arm, y[:self.arm.nq], self.model))[0]
                    for y in (first, x)]
        if smallest[1] < NEARLY * smallest[0]:
            return self.lost(t)
        return ClosedformError(f"{method} stopped at t = {t:g} s: {found.message}")

    def lost(self, t: float, otherwise: str = "") -> SingularMatrix:
        """The stop where B ceases to be positive definite."""
        return SingularMatrix(
            f"at t = {t:.6g} s: the inertia matrix B of {self.arm.name} loses positive "
            f"definiteness; the truncated model has no motion beyond{otherwise}. Deflections are "
            "outside its range: try model=ExactRotation(), more damping or less torque")
