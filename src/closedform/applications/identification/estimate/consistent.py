"""Parameters that bodies can have, near a prior: a smooth convex problem, solved by Newton's steps.

    min |R L s − z|² / |z|² + w Σ_i D(P_i(s) ‖ P0_i),     P_i ≻ 0,  rotors and friction ≥ 0

D is the log-det divergence of pseudo-inertia matrices: it keeps P_i positive definite by itself,
and what the data do not tell stays at the prior. Rotors and friction get the same of one number,
with a weight that vanishes: what no row of the data sees stays where it was.
Bodies are seen through their prior, P_i = B X_i Bᵀ with P0_i = B Bᵀ, so that all are of size one.

Cites: [LeeWensingPark2020]; [BoydVandenberghe2004, ch. 10, 11].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import cho_factor, cho_solve, null_space, solve_triangular

from closedform.applications.identification.estimate.least_squares import Equations, independent
from closedform.applications.identification.model import Model
from closedform.arrays import Floats
from closedform.errors import ClosedformError
from closedform.maths.identification.pseudo_inertia import (
    BASIS,
    free_numbers,
    log_cholesky,
    pseudo_inertia,
)

STEPS = 300
BARRIER = 1e-6
"""What is left of the barrier at the end, in units of the prior's weight."""
RIDGES = (1e-13, 1e-11, 1e-9, 1e-7)
"""Of the diagonal, added in turn until a matrix has a factor."""
STALLED = 1e-6
CLOSED = 1e-6
"""Newton's decrement, in the units of the prior's weight, at which a solution stands."""
FAINT = 1e-12
"""Singular values of the polish, of the largest, that are none."""
UNSEEN = 1e-16
"""Of the largest column: in such directions there is nothing to be polished."""
FREE = ("offset", "stribeck")
"""Friction numbers that may have any sign."""


class NoSolution(ClosedformError, ArithmeticError):  # noqa: N818
    """No consistent parameters were found."""


class Optimality(NamedTuple):
    """What shows that a solution is one."""

    smallest_eigenvalue: float     # of all P_i, relative to the prior's
    gap: float                     # to the optimum, in units of the objective (which begins at 1)
    gradient: float
    steps: int
    polish: float                  # by which a step in log-Cholesky numbers moves x, relative


@final
@dataclass(frozen=True, eq=False)
class NearPrior:
    """The problem in the standard parameters s and the gains, for any weight."""

    model: Model
    equations: Equations
    prior: Floats                  # s0, bodies that can be

    @cached_property
    def bodies(self) -> list[slice]:
        """Where each body's ten are, the payload's last."""
        n = 10 * len(self.model.body.bodies)
        own = [slice(i, i + 10) for i in range(0, n, 10)]
        if self.model.payload is not None:
            first = len(self.model.body.parameter_names)
            own.append(slice(first, first + 10))
        return own

    @cached_property
    def positive(self) -> list[int]:
        """Rotors and friction that may not be negative."""
        inside = {i for s in self.bodies for i in range(s.start, s.stop)}
        return [i for i, name in enumerate(self.model.standard_names)
                if i not in inside and not name.endswith(FREE)]

    @cached_property
    def whitened(self) -> list[Floats]:
        """G (10, 4, 4) of every body: X = Σ s_k G_k, one at the prior."""
        found = []
        for at in self.bodies:
            B = np.linalg.cholesky(pseudo_inertia(self.prior[at]))
            inverse = np.linalg.inv(B)
            found.append(inverse @ BASIS @ inverse.T)
        return found

    @cached_property
    def to_x(self) -> Floats:
        """(unknowns, standard parameters and gains): x = L s, gains as they are."""
        model, width = self.model, self.equations.R.shape[1]
        n, gains = len(model.standard_names), width - len(model.L)
        to_x = np.zeros((width, n + gains))
        to_x[:len(model.L), :n] = model.L
        to_x[len(model.L):, n:] = np.eye(gains)
        return to_x

    @cached_property
    def squares(self) -> tuple[Floats, Floats, Floats]:
        """B, z and BᵀB with |B s − z|², relative to the torques."""
        size = np.sqrt(self.equations.size) or 1.0
        B = self.equations.R @ self.to_x / size
        return B, self.equations.z / size, B.T @ B


def solved(problem: NearPrior, weight: float, start: Floats | None = None,
           rough: float | None = None) -> tuple[Floats, Optimality]:
    """s with gains, and a certificate; `start` is one of about that weight.

    With `rough` the barrier ends there and so do the steps, as near as it takes to compare weights;
    the certificate is without polish.
    """
    try:
        return _solved(problem, weight, start, rough)
    except np.linalg.LinAlgError as error:
        raise NoSolution(f"no consistent parameters of {problem.model.robot.name}: columns of the "
                         "logs are of sizes too different to be compared; look at the units of "
                         "positions and torques"
                         + (", and at what is known" if problem.model.known else "")) from error


def _solved(problem: NearPrior, weight: float, start: Floats | None,
            rough: float | None) -> tuple[Floats, Optimality]:
    model, to_x = problem.model, problem.to_x
    n, total = len(model.standard_names), to_x.shape[1]
    B, z, Q = problem.squares            # residuals first: squares would lose their digits
    E = np.zeros((len(model.equalities[1]), total))
    E[:, :n], b = model.equalities
    s = np.append(problem.prior, np.zeros(total - n)) if start is None else np.array(start)
    usual, largest = _typical(B[:, problem.positive])
    home = np.maximum(problem.prior[problem.positive], largest)
    if start is None:
        s[problem.positive] = np.maximum(s[problem.positive], usual)
    cone, steps, decrement = _Cone(problem, total, home), 0, np.inf
    for w, mu in _path(weight, start is not None, rough):
        closed = CLOSED**2 * max(w, mu) if rough is None else mu
        cone.weight = w
        for _ in range(STEPS):
            steps += 1
            g, H = cone.derivatives(s, mu)
            g, H = g + 2 * B.T @ (B @ s - z), H + 2 * Q
            off = b - E @ s
            move, decrement = _newton(H, g, E, off)
            t = cone.longest(s, move)
            if np.abs(off).max(initial=0.0) < 1e-9:   # before that nothing can be compared
                t = _shorter(s, move, t, float(g @ move), partial(_objective, cone, B, z, mu))
            s = s + t * move
            feasible = t == 1.0 or np.abs(off).max(initial=0.0) < 1e-9
            if feasible and decrement < closed:
                break
        else:
            if decrement < STALLED:      # as near as rounding lets it come; the certificate tells
                continue
            raise NoSolution(f"no consistent parameters of {model.robot.name} in {STEPS} steps: "
                             f"decrement {decrement:.1e} at weight {w:.0e}")
    least = float(np.linalg.eigvalsh(cone.matrices(s)).min(initial=1.0))
    gap = mu * float(np.sum(1 + s[problem.positive] / home))
    polish = 0.0
    if rough is None:
        g = cone.derivatives(s, mu)[0] + 2 * B.T @ (B @ s - z)
        move = to_x @ _free_step(cone, s, (np.sqrt(2) * B, g, E), mu)
        polish = float(np.linalg.norm(move) / max(float(np.linalg.norm(to_x @ s)), 1e-300))
    return s, Optimality(least, gap, float(np.sqrt(max(decrement, 0.0))), steps, polish)


def _free_step(cone: _Cone, s: Floats, data: tuple[Floats, Floats, Floats], mu: float) -> Floats:
    """What s moves by in a Newton step of other coordinates: log-Cholesky numbers, logarithms.

    The Hessian is FᵀF; its factor keeps numbers of all sizes apart, which the product would not.
    """
    A, g, E = data
    J, rows = np.eye(len(s)), [A]
    J[cone.positive, cone.positive] = s[cone.positive]
    rows.append(np.sqrt(mu) * np.eye(len(s))[cone.positive] / s[cone.positive][:, None])
    roots = np.linalg.inv(np.linalg.cholesky(cone.matrices(s)))
    for at, G, root in zip(cone.at, cone.G, roots, strict=True):
        theta, small = free_numbers(s[at]), 1e-30j * np.eye(10)
        J[np.ix_(at, at)] = np.stack([np.imag(log_cholesky(theta + d)) for d in small], 1) / 1e-30
        own = np.zeros((16, len(s)))
        own[:, at] = np.sqrt(cone.weight) * (root @ G @ root.T).reshape(10, 16).T
        rows.append(own)
    free = null_space(E @ J) if len(E) else np.eye(len(s))
    F = np.concatenate(rows) @ J @ free
    size = np.linalg.norm(F, axis=0)
    scale = np.where(size > UNSEEN * size.max(initial=0.0), size, 1.0)
    R: Floats = np.asarray(np.linalg.qr(F / scale, mode="r"))
    slope = free.T @ (J.T @ g) / scale
    if independent(R, FAINT):
        step = solve_triangular(R, solve_triangular(R, slope, trans="T"))
    else:
        inverse = np.linalg.pinv(R, rcond=FAINT)
        step = inverse @ (inverse.T @ slope)
    return np.asarray(-J @ (free @ (step / scale)))


def _typical(B: Floats) -> tuple[Floats, Floats]:
    """Numbers that make a thousandth of the torques each, and all of them; small if unseen."""
    size = np.linalg.norm(B, axis=0)
    seen = size > 1e-12
    return 1e-3 / np.where(seen, size, 1e3), 1 / np.where(seen, size, 1e6)


class _Cone:
    """w Σ (tr X − log det X − 4) + μ Σ (s_k/h_k − log s_k); all bodies at once."""

    def __init__(self, problem: NearPrior, total: int, home: Floats) -> None:
        self.home = home
        self.at = np.array([range(b.start, b.stop) for b in problem.bodies])   # (bodies, 10)
        self.positive, self.total = problem.positive, total
        self.G, self.weight = np.array(problem.whitened), 1.0      # (bodies, 10, 4, 4)
        self.traces = np.trace(self.G, axis1=2, axis2=3)

    def matrices(self, s: Floats) -> Floats:
        """X, (bodies, 4, 4)."""
        return np.asarray(np.einsum("bk,bkij->bij", s[self.at], self.G))

    def value(self, s: Floats, mu: float) -> float:
        """Infinite outside."""
        if np.any(s[self.positive] <= 0):
            return float("inf")
        X = self.matrices(s)
        try:
            roots = np.linalg.cholesky(X)
        except np.linalg.LinAlgError:
            return float("inf")
        log = 2 * np.sum(np.log(np.diagonal(roots, axis1=1, axis2=2)))
        near = float(np.trace(X, axis1=1, axis2=2).sum() - log) - 4 * len(X)
        own = s[self.positive]
        return self.weight * near + mu * float(np.sum(own / self.home - np.log(own)))

    def derivatives(self, s: Floats, mu: float) -> tuple[Floats, Floats]:
        """Gradient and Hessian."""
        g, H, w = np.zeros(self.total), np.zeros((self.total, self.total)), self.weight
        g[self.positive] = mu / self.home - mu / s[self.positive]
        H[self.positive, self.positive] = mu / s[self.positive]**2
        Y = np.linalg.solve(self.matrices(s)[:, None], self.G)
        g[self.at] = w * (self.traces - np.trace(Y, axis1=2, axis2=3))
        flat = Y.reshape(len(Y), 10, 16)
        turned = Y.swapaxes(2, 3).reshape(len(Y), 10, 16)
        H[self.at[:, :, None], self.at[:, None, :]] = w * flat @ turned.swapaxes(1, 2)
        return g, H

    def longest(self, s: Floats, move: Floats) -> float:
        """A step that stays well inside."""
        down = move[self.positive]
        shares = (s[self.positive] / np.where(down < 0, -down, 1.0))[down < 0]
        root = np.linalg.inv(np.linalg.cholesky(self.matrices(s)))
        turned = root @ self.matrices(move) @ root.swapaxes(1, 2)
        least = float(np.linalg.eigvalsh(turned)[:, 0].min(initial=0.0))
        return min(1.0, 0.95 * float(shares.min(initial=np.inf)),
                   -0.95 / least if least < 0 else np.inf)


def _newton(H: Floats, g: Floats, E: Floats, off: Floats) -> tuple[Floats, float]:
    """The step of least H-norm model with E (s + step) = b, and its decrement squared."""
    scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    factor = _factor(H * scale[:, None] * scale)
    step = -cho_solve(factor, g * scale)
    if len(off):
        F = E * scale
        V = cho_solve(factor, F.T)
        y = np.linalg.lstsq(F @ V, off - F @ step, rcond=1e-12)[0]
        step = step + V @ y
    move = step * scale
    return move, float(move @ H @ move)


def _factor(K: Floats) -> tuple[Floats, bool]:
    """Cholesky's of a matrix with ones on its diagonal, and a little more where rounding asks it.

    A step is then shorter than Newton's in what the data hardly see, and leads down as well.
    """
    for more in RIDGES:
        try:
            lower: tuple[Floats, bool] = cho_factor(K + more * np.eye(len(K)))
        except (np.linalg.LinAlgError, ValueError):       # no number, of numbers too large
            continue
        return lower
    raise np.linalg.LinAlgError("no ridge is large enough")


def _objective(cone: _Cone, B: Floats, z: Floats, mu: float, s: Floats) -> float:
    r = B @ s - z
    return float(cone.value(s, mu) + r @ r)


def _path(weight: float, warm: bool, rough: float | None) -> list[tuple[float, float]]:
    """(weight, barrier) from a problem that is easy to the one that is asked for."""
    last = BARRIER * weight if rough is None else rough
    easier = [] if warm else [(w, w) for w in 10.0 ** np.arange(-1, -12, -1) if w > 3 * weight]
    first = 1e-4 * weight if warm else weight
    down = 0.01 ** np.arange(20) * first if rough is None or not warm else np.zeros(0)
    return [*easier, *((weight, float(m)) for m in down if m > 3 * last), (weight, last)]


def _shorter(s: Floats, move: Floats, t: float, slope: float,
             value: Callable[[Floats], float]) -> float:
    """The step, halved until the value falls by enough of what its slope says."""
    now = value(s)
    while value(s + t * move) > now + 1e-4 * t * slope + 1e-15 * abs(now) and t > 1e-10:
        t /= 2
    return t
