"""How the loops of a robot close: its mobility, independent joints, and rows to solve with.

    K(q) v = 0,   K (m, n) of rank r      v = (ẏ, v_d),   n_y = n − r

The rank is decided at closed configurations, where redundant rows are redundant: at the home
configuration and at others that are reached from it. r rows are kept, those that stay independent
at all of them, and an order of elimination with large pivots that fills few zeros.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import numeric
from closedform.errors import ModelError, OpenLoop, SingularLoop, suggestion
from closedform.model.joints import geometry
from closedform.model.loops.gap import Gap, gaps_of, jacobian, residual
from closedform.model.loops.lanes import both
from closedform.model.loops.records import Cut, Gear

if TYPE_CHECKING:
    from closedform.model.tree import Tree

CLOSED = 1e-6
"""Loops this far open, next to the robot's size, are closed as well as their file says."""
REGULAR = 1e-7
"""A singular value below this, next to the largest, counts as zero."""
SAMPLES = 4
ATTEMPTS = 40
"""Random starts for a guess that does not close, side by side."""
PIVOT = 0.05
"""A pivot is at least this part of the largest entry of its column."""


@dataclass(frozen=True, eq=False)
class Closure:
    """The loops of a tree, with what is independent and what is solved for.

    Velocities are those of the tree: `independent` and `dependent` ones, in their order; `rows` are
    kept of φ for solving, `pivots` the pairs of (row, column) of K_d in the order of elimination.
    If which rows are redundant changes on the way, as in Bennett's linkage, all are kept, and
    solved by K_dᵀ K_d, whose pivots they are then.
    """

    key: str
    gaps: tuple[Gap, ...]
    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    rows: tuple[int, ...]
    pivots: tuple[tuple[int, int], ...]
    home: np.ndarray
    size: float
    count: int                          # of all rows

    def K_d(self, K: np.ndarray) -> np.ndarray:
        """The rows and columns of K, (..., r, r), that are solved with."""
        return K[..., np.array(self.rows, dtype=int)[:, None], np.array(self.dependent, dtype=int)]

    def G_d(self, K: np.ndarray) -> np.ndarray:
        """The dependent velocities by the independent ones, (r, n_y): K_d G_d = −K_y."""
        K_y = K[np.ix_(self.rows, self.independent)]
        return -np.linalg.lstsq(self.K_d(K), K_y, rcond=None)[0] if len(self.rows) else K_y

    @property
    def is_square(self) -> bool:
        """Whether as many rows are kept as there are dependent velocities."""
        return len(self.rows) == len(self.dependent)

    def names(self) -> list[str]:
        """The loop of each row."""
        return [gap.cut.name for gap in self.gaps for _ in gap.rows]


def geometry_key(tree: Tree, cuts: Sequence[Cut], choice: object) -> str:
    """A hash of all that closing depends on."""
    text = hashlib.sha256(repr(choice).encode())
    for body in tree.bodies:
        joint = body.joint
        text.update(repr((body.name, body.parent, joint.kind, joint.driver, joint.moving.kind,
                          geometry(joint.moving))).encode())
        text.update(np.ascontiguousarray(body.placement).tobytes())
    for cut in cuts:
        for f in fields(cut):
            x = getattr(cut, f.name)
            if f.name in ("a", "b"):
                text.update(repr(x[0]).encode() + np.ascontiguousarray(x[1]).tobytes())
            else:
                text.update(repr(x).encode())
    return text.hexdigest()


def closure_of(tree: Tree, cuts: Sequence[Cut], independent: Any, guess: Any,
               actuated: Any) -> Closure:
    """The closure of a tree's loops; see `Robot` for the arguments."""
    if not all(numeric(body.placement) for body in tree.bodies):
        raise ModelError(f"{tree.name}: loops need bodies placed by numbers, not symbols")
    given = None if independent is None else named_velocities(tree, independent, "independent")
    preferred = () if actuated is None else named_velocities(tree, actuated, "actuated")
    gaps = gaps_of(tree, cuts)
    found = _Assembly(tree, gaps, _size(tree, cuts))
    home = found.home(start(tree, guess), given or preferred)
    points = [home, *found.around(home)]
    Ks = np.stack([jacobian(tree, gaps, q) for q in points])
    rank = max(_rank(K) for K in Ks)
    if _rank(Ks[0]) < rank:
        raise SingularLoop(
            f"{tree.name}: {found.named(Ks[0])} is at a singular configuration at the guess, where "
            f"branches meet (rank {_rank(Ks[0])} instead of {rank}; singular values "
            f"{values_text(Ks[0])}); give guess={{...}} on the branch that is meant, away from it")
    chosen = found.independent(Ks, rank, given, preferred)
    dependent = tuple(i for i in range(tree.nv) if i not in chosen)
    rows = _kept_rows(Ks, list(dependent))
    held = found.solved(start(tree, guess)[None], dependent)[0]
    if found.is_closed(held):
        K = np.asarray(jacobian(tree, gaps, held))
        signs = [determinant_sign(x[np.ix_(rows, dependent)]) for x in (K, Ks[0])]
        if signs[0] == signs[1] and regular(K, dependent, rank):
            home, Ks[0] = held, K            # with the independent joints where the guess has them
    at = np.ix_(range(len(Ks)), rows, dependent)
    return Closure("", gaps, tuple(chosen), dependent, rows, elimination(Ks[at]), home, found.size,
                   Ks.shape[1])


def refitted(tree: Tree, closure: Closure) -> Closure:
    """The closure with rows and pivots chosen anew: those of other frames are other rows."""
    Ks = np.stack([np.asarray(jacobian(tree, closure.gaps, q)) for q in samples(tree, closure)])
    rows = _kept_rows(Ks, list(closure.dependent))
    at = np.ix_(range(len(Ks)), rows, closure.dependent)
    return replace(closure, rows=rows, pivots=elimination(Ks[at]))


def named_velocities(tree: Tree, given: Any, what: str) -> tuple[int, ...]:
    """Numbers of the tree's velocities, of joints named by their bodies or names, or `body[i]`."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ModelError(f"{what} must be names of joints, not {given!r}")
    known: dict[str, range] = {}
    for body, _, v in tree.parts:
        own = range(v.start, v.stop)
        for name in (body.joint_name, body.name):
            known[name] = own
            known.update((f"{name}[{i}]", own[i:i + 1]) for i in range(len(own)))
    found: set[int] = set()
    for name in given:
        if name not in known:
            raise ModelError(f"{what}: no moving joint {name!r} in {tree.name}; "
                             f"{suggestion(name, [b.name for b, _, _ in tree.parts])}")
        if found & set(known[name]):
            raise ModelError(f"{what}: {name!r} of {tree.name} is named twice")
        found.update(known[name])
    return tuple(sorted(found))


def velocity_names(tree: Tree) -> list[str]:
    """One name for each velocity of the tree: the body's, with a number where it has several."""
    return [body.name if v.stop - v.start == 1 else f"{body.name}[{i}]"
            for body, _, v in tree.parts for i in range(v.stop - v.start)]


def start(tree: Tree, guess: Any) -> np.ndarray:
    """Coordinates to start from: the guess where there is one, else those of the identity."""
    if guess is not None and not isinstance(guess, Mapping):
        raise ModelError(f"guess must map joints to coordinates, not {guess!r}")
    q, left = [], dict(guess or {})
    for body, i, _ in tree.parts:
        x = left.pop(body.name, left.pop(body.joint_name, body.joint.neutral()))
        try:
            x = np.atleast_1d(np.asarray(x, dtype=float))
        except (TypeError, ValueError):
            x = np.zeros(0)
        if x.shape != (i.stop - i.start,) or not np.all(np.isfinite(x)):
            raise ModelError(f"guess: joint {body.name!r} needs {i.stop - i.start} finite numbers, "
                             f"not {(guess or {}).get(body.name)!r}")
        if body.joint.unit:
            x = x.copy()
            x[body.joint.unit] /= np.linalg.norm(x[body.joint.unit]) or 1
        q.append(x)
    if left:
        raise ModelError(f"guess: no moving joint {next(iter(left))!r} in {tree.name}; "
                         f"{suggestion(next(iter(left)), [b.name for b, _, _ in tree.parts])}")
    return np.concatenate([np.zeros(0), *q])


def values_text(K: np.ndarray) -> str:
    """The smallest singular values, to be read."""
    s = np.linalg.svd(K, compute_uv=False)
    return ", ".join(f"{x:.2g}" for x in s[-6:])


def y_index(tree: Tree, closure: Closure) -> np.ndarray:
    """The entries of q that are independent.

    Where v is not q̇, as of balls, all those of a joint with an independent velocity.
    """
    own, found = set(closure.independent), list[int]()
    for body, i, v in tree.parts:
        if body.joint.is_vector:
            found += [i.start + k for k in range(v.stop - v.start) if v.start + k in own]
        elif own & set(range(v.start, v.stop)):
            found += range(i.start, i.stop)
    return np.array(found, dtype=int)


def samples(tree: Tree, closure: Closure) -> list[np.ndarray]:
    """The home configuration, and closed ones that are reached from it."""
    return [closure.home, *_Assembly(tree, closure.gaps, closure.size).around(closure.home)]


def moved(tree: Tree, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
    """q ⊕ dv of the tree, batch axes first."""
    return np.concatenate([q[..., :0], *(b.joint.integrate(q[..., i], dv[..., j])
                                         for b, i, j in tree.parts)], axis=-1)


def _size(tree: Tree, cuts: Sequence[Cut]) -> float:
    """A length of the robot: of its largest offset."""
    places = [b.placement for b in tree.bodies]
    places += [side[1] for cut in cuts if not isinstance(cut, Gear) for side in (cut.a, cut.b)]
    return max([1e-3, *(float(np.abs(p[:3, 3]).max()) for p in places)])


def _rank(K: np.ndarray) -> int:
    s = np.linalg.svd(K, compute_uv=False)
    return int(np.sum(s > REGULAR * s[0])) if len(s) and s[0] > 0 else 0


def _damped(K: np.ndarray, phi: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Gauss–Newton steps −K⁺ φ of many, damped where asked for; none where there are no numbers."""
    good = np.isfinite(K).all(axis=(1, 2))
    found = np.zeros((len(K), K.shape[2]))
    if K.size and np.any(good):
        u, s, vt = np.linalg.svd(K[good], full_matrices=False)
        d, least = damping[good][:, None], 1e-9 * s[:, :1]
        gain = np.where(d > 0, s / np.maximum(s * s + d, 1e-300),
                        np.where(s > least, 1 / np.where(s > 0, s, 1), 0))
        step = np.einsum("bmr,bm->br", u, phi[good]) * gain
        found[good] = -np.einsum("brn,br->bn", vt, step)
    return np.nan_to_num(found, posinf=0, neginf=0)      # of lengths that are no lengths


@dataclass(frozen=True, eq=False)
class _Assembly:
    """The search for closed configurations."""

    tree: Tree
    gaps: tuple[Gap, ...]
    size: float

    def home(self, q: np.ndarray, held: Sequence[int]) -> np.ndarray:
        """A closed configuration near q, with the velocities `held` at rest if that is possible."""
        free = [i for i in range(self.tree.nv) if i not in held]
        every, rng = range(self.tree.nv), np.random.default_rng(0)
        near = np.stack([moved(self.tree, q, 0.05 * min(k, 30) * rng.normal(size=self.tree.nv))
                         for k in range(1, ATTEMPTS + 1)])
        for starts, moving in ((q[None], free), (q[None], every), (near[:4], every),
                               (near[4:], every)):
            for found in self.solved(starts, moving):
                if self.is_closed(found):
                    return found
        found = self.solved(q[None], every)[0]
        phi = residual(self.tree, self.gaps, found)
        names = [gap.cut.name for gap in self.gaps for _ in gap.rows]
        open_ = list(dict.fromkeys(n for n, x in zip(names, phi, strict=True)
                                   if not abs(x) <= CLOSED * self.size))
        raise OpenLoop(f"{self.tree.name}: the loop {', '.join(map(repr, open_))} cannot be closed "
                       f"from the guess: it stays open by {np.abs(phi).max():.3g}; check its "
                       "frames and lengths, or give guess={joint: coordinate, ...} nearer to a "
                       "closed configuration")

    def is_closed(self, q: np.ndarray) -> bool:
        return bool(np.abs(residual(self.tree, self.gaps, q)).max(initial=0) < CLOSED * self.size)

    def solved(self, q: np.ndarray, free: Sequence[int]) -> np.ndarray:
        """Configurations, (batch, nq), moved by damped Gauss–Newton steps of the free velocities.

        Each as closed as it gets; given up where the gap has not halved in eight steps.
        """
        q, free, count = q.copy(), list(free), len(q)
        damping, way = np.zeros(count), np.arange(count)
        phi, K = both(self.tree, self.gaps, q)
        before = np.full(count, np.inf)
        for turn in range(60):
            gap = np.abs(phi).max(axis=1, initial=0)
            going = (gap > 1e-14 * self.size) & np.isfinite(gap) & (damping < 1e8)
            if turn % 8 == 7:
                going &= (gap < 0.5 * before) | (gap < 1e-9 * self.size)
                before = gap
            way = way[going[way]]
            if not len(way) or not free:
                break
            dv = np.zeros((len(way), self.tree.nv))
            dv[:, free] = _damped(K[way][:, :, free], phi[way], damping[way])
            size = np.abs(dv).max(axis=1, initial=0)
            dv *= np.minimum(1, 0.5 / np.maximum(size, 1e-300))[:, None]
            new = moved(self.tree, q[way], dv)
            found, slope = both(self.tree, self.gaps, new)
            better = np.sum(found * found, axis=1) < np.sum(phi[way] ** 2, axis=1)
            kept, left = way[better], way[~better]
            q[kept], phi[kept], K[kept] = new[better], found[better], slope[better]
            damping[kept] = np.where(damping[kept] > 1e-12, damping[kept] / 10, 0)
            damping[left] = np.where(gap[left] < 1e-13 * self.size, np.inf,
                                     np.maximum(10 * damping[left], 1e-8))
        return q

    def around(self, home: np.ndarray) -> list[np.ndarray]:
        """Closed configurations away from home, each reached by small steps along the loops."""
        rng, n = np.random.default_rng(1), self.tree.nv
        q = np.tile(home, (SAMPLES, 1))
        ways = np.stack([rng.normal(size=n) for _ in range(SAMPLES)])
        going = np.ones(SAMPLES, dtype=bool)
        for step in range(2 + SAMPLES - 1):
            at = np.flatnonzero(going & (step < 2 + np.arange(SAMPLES)))
            if not len(at):
                break
            _, s, vt = np.linalg.svd(both(self.tree, self.gaps, q[at])[1])
            start = []
            for k, s_k, v_k in zip(at, s, vt, strict=True):
                free = v_k[int(np.sum(s_k > REGULAR * s_k[0])) if len(s_k) else 0:]
                tangent = free.T @ (free @ ways[k])
                start.append(0.1 * tangent / max(np.abs(tangent).max(initial=0), 1e-12))
            new = self.solved(moved(self.tree, q[at], np.stack(start)), range(n))
            closed = np.array([self.is_closed(x) for x in new])
            q[at[closed]], going[at[~closed]] = new[closed], False
        return list(q)

    def named(self, K: np.ndarray) -> str:
        """The loops whose own rows have lost rank, or all."""
        names = dict.fromkeys(gap.cut.name for gap in self.gaps)
        return ("the loop " if len(names) == 1 else "one of the loops ") + ", ".join(
            map(repr, names))

    def independent(self, Ks: np.ndarray, rank: int, given: tuple[int, ...] | None,
                    preferred: Sequence[int]) -> tuple[int, ...]:
        """The velocities that tell all others: those given, or as many of the first as will do."""
        tree, n = self.tree, Ks.shape[2]
        names = velocity_names(tree)
        would = suitable(Ks[0], rank, preferred)
        text = ", ".join(names[i] for i in would) or "none"
        if given is None:
            return would
        if len(given) != n - rank:
            raise ModelError(
                f"independent: {tree.name} has mobility {n - rank} ({n} velocities of the tree, "
                f"loops of rank {rank}), but {len(given)} "
                f"{'velocity is' if len(given) == 1 else 'velocities are'} named "
                f"({', '.join(names[i] for i in given) or 'none'}); these would do: {text}")
        rest = [i for i in range(n) if i not in given]
        if not all(regular(K, rest, rank) for K in Ks[:1]):
            other = any(regular(K, rest, rank) for K in Ks[1:])
            where = "at the guess" if other else "anywhere"
            raise SingularLoop(
                f"independent: {', '.join(names[i] for i in given)} do not tell how "
                f"{', '.join(map(repr, dict.fromkeys(g.cut.name for g in self.gaps)))} of "
                f"{tree.name} moves {where} (singular values of the other joints' columns "
                f"{values_text(Ks[0][:, rest])}); these would do as independent joints: {text}")
        return given


def regular(K: np.ndarray, columns: Sequence[int], rank: int, least: float = REGULAR) -> bool:
    """Whether these columns of K have its rank."""
    if rank == 0:
        return True
    s = np.linalg.svd(K[:, list(columns)], compute_uv=False)
    return len(s) >= rank and bool(s[rank - 1] > least * np.linalg.norm(K, 2))


def suitable(K: np.ndarray, rank: int, preferred: Sequence[int] = ()) -> tuple[int, ...]:
    """Velocities that may be independent here: the preferred and then the first that will do."""
    n = K.shape[1]
    found: list[int] = []
    for least in (1e-3, REGULAR):
        for i in (*preferred, *range(n)):
            rest = [j for j in range(n) if j != i and j not in found]
            if i not in found and len(found) < n - rank and regular(K, rest, rank, least):
                found.append(i)
    return tuple(sorted(found))


def determinant_sign(K_d: np.ndarray) -> Any:
    """The sign of det K_d, of many: the branch; 1 where more rows are kept than are independent."""
    square = K_d.shape[-1] == K_d.shape[-2]
    return np.sign(np.linalg.det(K_d)) if square else np.ones(K_d.shape[:-2])


def _kept_rows(Ks: np.ndarray, dependent: list[int]) -> tuple[int, ...]:
    """Rows that are independent at every one of the configurations, or all if that changes."""
    there = np.flatnonzero(np.abs(Ks).max(axis=(0, 2)) > 1e-10 * np.abs(Ks).max(initial=0))
    rank = len(dependent)
    if len(there) > rank:
        u = np.linalg.svd(Ks[:, there])[0][:, :, rank:]
        redundant = u @ np.swapaxes(u, 1, 2)              # the projector onto what Kᵀ takes to zero
        if np.abs(redundant - redundant[0]).max() > 1e-5:
            return tuple(there.tolist())
    return _best_rows(Ks[:, :, dependent], rank)


def _best_rows(Ks: np.ndarray, rank: int) -> tuple[int, ...]:
    """Rows that are independent at every one of the configurations, the best first, then sorted."""
    left = Ks / np.maximum(np.linalg.norm(Ks, axis=2, keepdims=True).max(axis=0), 1e-300)
    kept: list[int] = []
    for _ in range(rank):
        score = np.linalg.norm(left, axis=2).min(axis=0)
        score[kept] = -1
        best = int(np.argmax(np.round(score, 6)))
        kept.append(best)
        e = left[:, best] / np.maximum(np.linalg.norm(left[:, best], axis=1, keepdims=True), 1e-300)
        left = left - np.einsum("smn,sn->sm", left, e)[:, :, None] * e[:, None, :]
    return tuple(sorted(kept))


def elimination(Ks: np.ndarray) -> tuple[tuple[int, int], ...]:
    """(row, column) in an order of elimination: few fill-ins, pivots large at all samples."""
    if Ks.shape[1] > Ks.shape[2]:
        return tuple((k, k) for k in range(Ks.shape[2]))
    A, r = Ks.copy(), Ks.shape[1]
    rows, columns, found = list(range(r)), list(range(r)), list[tuple[int, int]]()
    while rows:
        part = np.abs(A[np.ix_(range(len(A)), rows, columns)])
        least, scale = part.min(axis=0), np.maximum(part.max(axis=1, keepdims=True), 1e-300)
        enough = (part / scale).min(axis=0) >= PIVOT
        there = part.max(axis=0) > 1e-10 * np.abs(Ks).max()
        cost = np.outer(there.sum(axis=1) - 1, there.sum(axis=0) - 1).astype(float)
        if not np.any(enough & there):
            enough = (part / scale).min(axis=0) >= (part / scale).min(axis=0).max()
        cost[~(enough & (least > 0))] = np.inf
        if not np.any(np.isfinite(cost)):
            cost = -least
        cheap = cost == cost.min()
        i, j = np.unravel_index(int(np.argmax(np.where(cheap, least, -1))), cost.shape)
        p, c = rows.pop(int(i)), columns.pop(int(j))
        found.append((p, c))
        for k in rows:
            A[:, k] -= (A[:, k, c] / A[:, p, c])[:, None] * A[:, p]
    return tuple(found)
