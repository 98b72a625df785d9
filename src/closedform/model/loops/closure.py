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
from closedform.errors import ModelError, SingularLoop, suggestion
from closedform.model.joints import geometry
from closedform.model.loops.assembly import Assembly
from closedform.model.loops.elimination import (
    determinant_sign,
    kept_rows,
    pivots,
    rank_of,
    regular,
    suitable,
    values_text,
)
from closedform.model.loops.gap import Gap, gaps_of, jacobian
from closedform.model.loops.records import Cut, Gear

if TYPE_CHECKING:
    from closedform.model.tree import Tree


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
    found = Assembly(tree, gaps, _size(tree, cuts))
    home = found.home(start(tree, guess), given or preferred)
    points = [home, *found.around(home)]
    Ks = np.stack([jacobian(tree, gaps, q) for q in points])
    rank = max(map(rank_of, Ks))
    if rank_of(Ks[0]) < rank:
        names = list(dict.fromkeys(gap.cut.name for gap in gaps))
        raise SingularLoop(
            f"{tree.name}: {'the loop' if len(names) == 1 else 'one of the loops'} "
            f"{', '.join(map(repr, names))} is at a singular configuration at the guess, where "
            f"branches meet (rank {rank_of(Ks[0])} instead of {rank}; singular values "
            f"{values_text(Ks[0])}); give guess={{...}} on the branch that is meant, away from it")
    chosen = _independent(found, Ks, given, preferred)
    dependent = tuple(i for i in range(tree.nv) if i not in chosen)
    rows = kept_rows(Ks, list(dependent))
    held = found.solved(start(tree, guess)[None], dependent)[0]
    if found.is_closed(held):
        K = np.asarray(jacobian(tree, gaps, held))
        signs = [determinant_sign(x[np.ix_(rows, dependent)]) for x in (K, Ks[0])]
        if signs[0] == signs[1] and regular(K, dependent, rank):
            home, Ks[0] = held, K            # with the independent joints where the guess has them
    at = np.ix_(range(len(Ks)), rows, dependent)
    return Closure("", gaps, tuple(chosen), dependent, rows, pivots(Ks[at]), home, found.size,
                   Ks.shape[1])


def _independent(found: Assembly, Ks: np.ndarray, given: tuple[int, ...] | None,
                 preferred: Sequence[int]) -> tuple[int, ...]:
    """The velocities that tell all others: those given, or as many of the first as will do."""
    tree, n, rank = found.tree, Ks.shape[2], rank_of(Ks[0])
    names = velocity_names(tree)
    would = suitable(Ks[0], rank, preferred)
    if given is None:
        return would
    text = ", ".join(names[i] for i in would) or "none"
    if len(given) != n - rank:
        raise ModelError(
            f"independent: {tree.name} has mobility {n - rank} ({n} velocities of the tree, "
            f"loops of rank {rank}), but {len(given)} "
            f"{'velocity is' if len(given) == 1 else 'velocities are'} named "
            f"({', '.join(names[i] for i in given) or 'none'}); these would do: {text}")
    rest = [i for i in range(n) if i not in given]
    if not regular(Ks[0], rest, rank):
        other = any(regular(K, rest, rank) for K in Ks[1:])
        where = "at the guess" if other else "anywhere"
        raise SingularLoop(
            f"independent: {', '.join(names[i] for i in given)} do not tell how "
            f"{', '.join(map(repr, dict.fromkeys(g.cut.name for g in found.gaps)))} of "
            f"{tree.name} moves {where} (singular values of the other joints' columns "
            f"{values_text(Ks[0][:, rest])}); these would do as independent joints: {text}")
    return given


def refitted(tree: Tree, closure: Closure) -> Closure:
    """The closure with rows and pivots chosen anew: those of other frames are other rows."""
    Ks = np.stack([np.asarray(jacobian(tree, closure.gaps, q)) for q in samples(tree, closure)])
    rows = kept_rows(Ks, list(closure.dependent))
    at = np.ix_(range(len(Ks)), rows, closure.dependent)
    return replace(closure, rows=rows, pivots=pivots(Ks[at]))


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
        if not isinstance(name, str) or name not in known:
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
    return [closure.home, *Assembly(tree, closure.gaps, closure.size).around(closure.home)]


def _size(tree: Tree, cuts: Sequence[Cut]) -> float:
    """A length of the robot: of its largest offset."""
    places = [b.placement for b in tree.bodies]
    places += [side[1] for cut in cuts if not isinstance(cut, Gear) for side in (cut.a, cut.b)]
    return max([1e-3, *(float(np.abs(p[:3, 3]).max()) for p in places)])
