"""Closed configurations from the independent coordinates, by Newton along a path.

    K_d δ = −φ,      q ← q ⊕ (0, δ)

From a closed configuration nearby the independent coordinates go to the given ones in steps, and
every step is closed before the next: so the branch stays the one that it starts on, which the sign
of det K_d tells. Many configurations at once are one array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import real_array
from closedform.errors import ArgumentError, OpenLoop, SingularLoop
from closedform.model.loops.assembly import moved
from closedform.model.loops.closure import Closure, velocity_names, y_index
from closedform.model.loops.elimination import determinant_sign, suitable, values_text
from closedform.model.loops.explicit import explicit_loops, numbers
from closedform.model.loops.gap import jacobian, residual
from closedform.model.loops.lanes import both, lanes, residuals, together

if TYPE_CHECKING:
    from closedform.model.tree import Tree

STEP = 0.35
"""rad, or robot sizes: how far independent coordinates go before the loops are closed again."""
SHORTER = 64
"""How many times shorter than that a first step may have to be."""
TURNS = 12
"""Newton steps at most; they double the digits."""


def closed(tree: Tree, closure: Closure, y: Any, near: Any = None) -> np.ndarray:
    """q with the loops closed at the independent coordinates y, (..., nq), on the branch of near.

    `near` is a closed configuration, or one for each y; the home configuration if none is given.
    """
    index, what = y_index(tree, closure), f"closed of {tree.name}"
    given = real_array(y, (len(index),), f"{what}: y")
    q0 = closure.home if near is None else real_array(near, (tree.nq,), f"{what}: near")
    if not (np.all(np.isfinite(given)) and np.all(np.isfinite(q0))):
        raise ArgumentError(f"{what}: y and near must be finite")
    try:
        batch = np.broadcast_shapes(given.shape[:-1], q0.shape[:-1])
    except ValueError:
        raise ArgumentError(f"{what}: the batch axes of y {given.shape} and near {q0.shape} do "
                            "not fit together") from None
    ys = np.broadcast_to(given, (*batch, len(index))).reshape(-1, len(index))
    qs = np.broadcast_to(q0, (*batch, tree.nq)).reshape(-1, tree.nq)
    path, qs = ClosingPath(tree, closure, index), qs.astype(float)
    qs = qs if near is None else path.near_closed(qs)
    q, good = path.in_closed_form(qs, ys, near is None)
    if not np.all(good):
        q[~good] = path.followed(qs[~good], ys[~good])
    return q.reshape(*batch, tree.nq)


class ClosingPath:
    """From closed configurations to others."""

    def __init__(self, tree: Tree, closure: Closure, index: np.ndarray) -> None:
        self.tree, self.closure, self.index = tree, closure, index
        self.turning = np.zeros(tree.nq, dtype=bool)
        for body, i, _ in tree.parts:
            self.turning[[i.start + k for k in body.joint.angles]] = True

    def in_closed_form(self, q: np.ndarray, y: np.ndarray,
                       at_home: bool) -> tuple[np.ndarray, np.ndarray]:
        """The same without Newton's steps, and where loops are so solved; turns nearest to q's."""
        loops = explicit_loops(self.tree, self.closure)
        if loops is None or not len(q):
            return q.copy(), np.zeros(len(q), dtype=bool)
        with np.errstate(all="ignore"):
            signs = None if at_home else loops.signs_at(lanes(q))
            found = together(numbers(loops.configuration(lanes(y), signs)), len(q))
            turns = np.round((q - found) / (2 * np.pi))
            turns[:, self.index] = 0
            found = found + 2 * np.pi * np.where(self.turning, turns, 0)
            return found, self.is_closed(residuals(self.tree, self.closure.gaps, found))

    def is_closed(self, phi: np.ndarray) -> np.ndarray:
        """Where the kept rows are closed to rounding and all others nearly."""
        rows, size = np.array(self.closure.rows, dtype=int), self.closure.size
        phi = np.abs(phi)
        kept = phi[:, rows].max(axis=1, initial=0) < 1e-11 * size
        return kept & (phi.max(axis=1, initial=0) < 1e-5 * size)

    def followed(self, q: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The configurations at y, each on the branch of its q."""
        if not len(q):
            return q
        q = self.near_closed(q)
        way = y - q[:, self.index]
        turning = self.turning[self.index]
        way = np.where(turning, (way + np.pi) % (2 * np.pi) - np.pi, way)
        around = np.where(turning, way - np.sign(way) * 2 * np.pi, way)
        found, good = self.walked(q, way, 1)
        for option, refine in ((way, 6), (around, 1), (around, 6)):
            bad = np.flatnonzero(~good)
            if not len(bad):
                break
            found[bad], good[bad] = self.walked(q[bad], option[bad], refine)
        if not np.all(good):
            k = int(np.flatnonzero(~good)[0])
            self.refuse(q[k], y[k], found[k])
        found = np.array(found)
        found[:, self.index] = np.where(self.plain(), y, found[:, self.index])
        return found

    def plain(self) -> np.ndarray:
        """Which of y are taken as given, to the last bit: not those of joints that have v ≠ q̇."""
        whole = np.zeros(self.tree.nq, dtype=bool)
        for body, i, _ in self.tree.parts:
            whole[i] = body.joint.is_vector
        return whole[self.index]

    def near_closed(self, q: np.ndarray) -> np.ndarray:
        """q itself if it is closed, else with its dependent joints closed nearby."""
        phi = np.abs(residuals(self.tree, self.closure.gaps, q)).max(axis=1, initial=0)
        loose = phi > 1e-9 * self.closure.size
        if not np.any(loose):
            return q
        new, good, _ = self.newton(q[loose])
        if not np.all(good):
            self.refuse(q[loose][~good][0], q[loose][~good][0][self.index], new[~good][0])
        q = q.copy()
        q[loose] = new
        return q

    def walked(self, q: np.ndarray, way: np.ndarray,
               refine: int) -> tuple[np.ndarray, np.ndarray]:
        """q moved along the way in steps, and where that succeeded."""
        scale = np.where(self.turning[self.index], 1.0, self.closure.size)
        steps = refine * max(1, int(np.ceil((np.abs(way) / scale).max(initial=0) / STEP)))
        good = np.ones(len(q), dtype=bool)
        target = q[:, self.index]
        K = both(self.tree, self.closure.gaps, q)[1]
        sign = self.sign(K)
        for k in range(1, steps + 1):
            new = q.copy()
            new[:, self.index] = target + way * (k / steps)
            q, ok, K = self.newton(self.unit(self.predicted(q, new, K)))
            good &= ok & (self.sign(K) == sign)
            if not np.any(good):
                break
        return q, good

    def reached(self, q: np.ndarray, y: np.ndarray) -> np.ndarray:
        """q, (nq,), moved towards y as far as the loops let it; the first step as short as needed.
        """
        way, start, K = y - q[self.index], q, both(self.tree, self.closure.gaps, q[None])[1]
        steps, done = max(1, int(np.ceil(np.abs(way).max(initial=0) / STEP))), 0
        sign, most = self.sign(K), SHORTER * steps
        while done < steps <= most:
            new = q[None].copy()
            new[0, self.index] = start[self.index] + way * ((done + 1) / steps)
            new, ok, K_new = self.newton(self.unit(self.predicted(q[None], new, K)))
            if ok[0] and self.sign(K_new) == sign:
                q, K, done = new[0], K_new, done + 1
            elif done:
                break
            else:
                steps *= 2
        return q

    def predicted(self, q: np.ndarray, new: np.ndarray, K: np.ndarray) -> np.ndarray:
        """The new independent coordinates with the dependent ones moved along: K_d δ = −K_y δy."""
        dy = np.concatenate([new[:, :0], *(
            b.joint.difference(q[:, i], new[:, i]) if b.joint.is_vector else
            np.zeros((len(q), j.stop - j.start)) for b, i, j in self.tree.parts)], axis=1)
        own = np.array(self.closure.independent, dtype=int)
        kept = K[:, np.array(self.closure.rows, dtype=int)]
        b = -np.einsum("bmn,bn->bm", kept[:, :, own], dy[:, own])
        dv = np.zeros((len(q), self.tree.nv))
        dv[:, np.array(self.closure.dependent, dtype=int)] = _solved(self.closure.K_d(K), b)
        return moved(self.tree, new, dv)

    def unit(self, q: np.ndarray) -> np.ndarray:
        for body, i, _ in self.tree.parts:
            if body.joint.unit:
                at = slice(i.start + body.joint.unit.start, i.start + body.joint.unit.stop)
                q[:, at] /= np.maximum(np.linalg.norm(q[:, at], axis=1, keepdims=True), 1e-300)
        return q

    def sign(self, K: np.ndarray) -> np.ndarray:
        """The branch."""
        return np.asarray(determinant_sign(self.closure.K_d(K)))

    def newton(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q with the dependent joints moved until the kept rows are closed, where, and K there."""
        rows, size = np.array(self.closure.rows, dtype=int), self.closure.size
        columns = np.array(self.closure.dependent, dtype=int)
        before = np.full(len(q), np.inf)
        phi, K = both(self.tree, self.closure.gaps, q)
        for _ in range(TURNS):
            now = np.abs(phi[:, rows]).max(axis=1, initial=0)
            if np.all((now < 1e-15 * size) | ((now < 1e-12 * size) & (now >= before))):
                break
            before = now
            step = _solved(self.closure.K_d(K), -phi[:, rows])
            step *= np.minimum(1, 1 / np.maximum(np.abs(step).max(axis=1, initial=0), 1e-300)
                               )[:, None]
            dv = np.zeros((len(q), self.tree.nv))
            dv[:, columns] = step
            q = moved(self.tree, q, dv)
            phi, K = both(self.tree, self.closure.gaps, q)
        return q, self.is_closed(phi), K

    def refuse(self, q: np.ndarray, y: np.ndarray, found: np.ndarray) -> None:
        """The error for what was not closed: out of reach, or through a singular configuration."""
        tree, closure = self.tree, self.closure
        if np.all(np.isfinite(found)):                   # where the way ended; y may be beyond
            there = found[None].copy()
            there[:, self.index] = y
            there, beyond, _ = self.newton(self.unit(there))
            found = found if beyond[0] else there[0]
        K = np.asarray(jacobian(tree, closure.gaps, found))
        phi, names = residual(tree, closure.gaps, found), closure.names()
        worst = names[int(np.nanargmax(np.abs(np.nan_to_num(phi, nan=np.inf))))] if names else ""
        if np.all(np.isfinite(phi)) and np.abs(phi).max(initial=0) < 1e-6 * closure.size:
            would = ", ".join(velocity_names(tree)[i] for i in suitable(
                K, len(closure.dependent), closure.dependent))
            raise SingularLoop(
                f"closed of {tree.name}: the way to y = {y.tolist()} goes through a singular "
                f"configuration of the loop {worst!r}, onto another branch (singular values "
                f"{values_text(closure.K_d(K))}); independent joints that would do there: {would}")
        raise OpenLoop(f"closed of {tree.name}: the loop {worst!r} cannot be closed at y = "
                       f"{y.tolist()}: it stays open by {np.abs(phi).max():.3g}, out of reach; "
                       "give a y within reach, or near= on the branch that is meant")


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A⁻¹ b for many, by least squares where A is singular."""
    if not A.shape[-1]:
        return b[:, :0]
    if A.shape[-1] < A.shape[-2]:
        b, A = np.einsum("bmr,bm->br", A, b), np.swapaxes(A, 1, 2) @ A
    try:
        return np.linalg.solve(A, b[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        return np.stack([np.linalg.lstsq(A_k, b_k, rcond=1e-12)[0]
                         for A_k, b_k in zip(A, b, strict=True)])


