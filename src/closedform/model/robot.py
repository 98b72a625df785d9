"""What a robot is: bodies on joints in a tree, gravity, named frames; and what it can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast, final

import numpy as np

from closedform.arrays import ArrayLike, numeric, real_array
from closedform.errors import ModelError
from closedform.model import coordinates, edits
from closedform.model import parameters as inertial
from closedform.model.bodies import Body as Body
from closedform.model.bodies import Frame as Frame
from closedform.model.describe import html_table
from closedform.model.formats.urdf.write import urdf_text
from closedform.model.inertia import Inertia
from closedform.model.loops import coordinates as looped
from closedform.model.loops.carried import choice_left, loops_left
from closedform.model.loops.closing import closed
from closedform.model.loops.closure import (
    Closure,
    closure_of,
    geometry_key,
    named_velocities,
    velocity_names,
)
from closedform.model.loops.gap import jacobian
from closedform.model.loops.records import Cut, checked_cuts
from closedform.model.tree import STANDARD_GRAVITY as STANDARD_GRAVITY
from closedform.model.tree import Tree


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Robot(Tree):
    """A tree of bodies, parents first, with gravity (m/s², world frame) and named frames.

    `q` and `v` follow `bodies`. `source` says where the robot came from; it changes nothing, nor do
    `configurations`, coordinates with names (a file's keyframes): `configurations["home"]`, (nq,),
    and `notes`, what reading its file left out.
    `parts` are the bodies whose joints own coordinates, with their slices of q and v; `segments`
    the tree that the equations walk; `parents` count bodies from 1, the world is 0.

    `loops` (cf.Loop, cf.Rod, cf.Gear) close loops of the tree. Then q is a closed configuration of
    all its joints, and v, a and tau are of the `independent` ones alone, named by their bodies
    (`body[i]` for one velocity of several), in the order of the tree; if none are named, the first
    that will do. `guess` are coordinates of joints near a closed configuration on the branch that
    is meant; `actuated` the joints that have motors, if they are not the independent ones.
    """

    loops: tuple[Cut, ...]
    independent: tuple[str, ...] | None
    guess: Mapping[str, Any] | None
    actuated: tuple[str, ...] | None
    closure: Closure | None

    def __init__(self, name: str, bodies: Iterable[Body], gravity: ArrayLike = STANDARD_GRAVITY,
                 frames: Iterable[Frame] = (), source: str = "",
                 configurations: Mapping[str, ArrayLike] | None = None, notes: Iterable[str] = (),
                 loops: Iterable[Cut] = (), independent: Iterable[str] | None = None,
                 guess: Mapping[str, Any] | None = None, actuated: Iterable[str] | None = None,
                 closure: Closure | None = None) -> None:
        super().__init__(name, bodies, gravity, frames, source, configurations, notes)
        set_ = object.__setattr__
        set_(self, "loops", checked_cuts(loops, self.body_names))
        set_(self, "guess", guess)
        for what, given in (("independent", independent), ("actuated", actuated)):
            set_(self, what, None if given is None else given if isinstance(given, str)
                 else tuple(given))
        set_(self, "closure", None)
        if self.loops:
            self._close(closure)
        elif independent is not None:
            raise ModelError(f"{name}: independent is for robots with loops, and there are none")
        elif self.actuated is not None:
            named_velocities(self, self.actuated, "actuated")

    def _close(self, known: Closure | None) -> None:
        """Find how the loops close, and count velocities by the independent ones."""
        set_, tree = object.__setattr__, self.tree
        key = geometry_key(tree, self.loops, (self.independent, self.guess, self.actuated))
        if known is None or known.key != key:
            known = closure_of(tree, self.loops, self.independent, self.guess, self.actuated)
        names = velocity_names(tree)
        set_(self, "independent", tuple(names[i] for i in known.independent))
        key = geometry_key(tree, self.loops, (self.independent, self.guess, self.actuated))
        set_(self, "closure", replace(known, key=key))
        number = {i: k for k, i in enumerate(known.independent)}
        parts, at = [], 0
        for body, q, v in tree.parts:
            own = sum(i in number for i in range(v.start, v.stop))
            parts.append((body, q, slice(at, at + own)))
            at += own
        set_(self, "parts", tuple(parts))
        set_(self, "nv", at)

    # ------------------------------------------------------------------ loops
    @cached_property
    def tree(self) -> Robot:
        """The spanning tree: the same robot with its loops open, or the robot itself."""
        return self if not self.loops else Robot(
            self.name, self.bodies, self.gravity, self.frames, self.source)

    @property
    def mobility(self) -> int:
        """How many velocities are independent: those of the tree less the rank of the loops."""
        return self.nv

    def closed(self, y: ArrayLike, near: ArrayLike | None = None) -> np.ndarray:
        """The configuration q, (..., nq), with the loops closed at independent coordinates y.

        y holds the coordinates of the independent joints, in the order of q, batch axes first.
        `near` is a configuration on the branch that is meant; if none is given, the one that the
        `guess` leads to. y is gone to in steps, so that the branch stays the same.
        """
        if self.closure is None:
            return real_array(y, (self.nq,), f"closed of {self.name}: y").copy()
        return closed(self.tree, self.closure, y, near)

    @property
    def actuated_velocities(self) -> tuple[int, ...]:
        """The velocities of the tree that have motors."""
        if self.actuated is not None:
            return named_velocities(self.tree, self.actuated, "actuated")
        return self.closure.independent if self.closure else tuple(range(self.nv))

    @cached_property
    def is_floating(self) -> bool:
        """Whether a body hangs from the world by a joint that leaves it free, loops included."""
        if self.closure is None:
            return super().is_floating
        free = [v for b, _, v in self.tree.parts if b.parent is None and b.joint.nv == 6]
        K = np.asarray(jacobian(self.tree, self.closure.gaps, self.closure.home))
        return any(np.abs(K[:, v]).max(initial=0) < 1e-9 for v in free)

    @cached_property
    def _moving(self) -> dict[str | None, int]:
        """How many independent velocities move each body, at the home configuration."""
        closure = self.closure
        if closure is None:
            return super()._moving
        G = np.zeros((self.tree.nv, self.nv), dtype=bool)
        G[list(closure.independent)] = np.eye(self.nv, dtype=bool)
        K = np.asarray(jacobian(self.tree, closure.gaps, closure.home))
        G[list(closure.dependent)] = np.abs(closure.G_d(K)) > 1e-9
        own = {b.name: G[v].any(axis=0) for b, _, v in self.tree.parts}
        by: dict[str | None, np.ndarray] = {None: np.zeros(self.nv, dtype=bool)}
        for body in self.bodies:
            by[body.name] = by[body.parent] | own.get(body.name, by[None])
        return {name: int(moved.sum()) for name, moved in by.items()}

    @property
    def is_coupled(self) -> bool:
        """Whether mimic joints or loops share velocities."""
        return self.closure is not None or self.has_followers

    @property
    def is_embedded(self) -> bool:
        """Whether its motions are those of a freer robot: by loops, or couplings that bend."""
        return self.closure is not None or self.is_curved

    # ------------------------------------------------------------------ coordinates
    def neutral(self) -> np.ndarray:
        """q with every joint at its zero and every quaternion at (0, 0, 0, 1).

        With loops, the closed configuration that `guess` leads to.
        """
        return coordinates.neutral(self) if self.closure is None else self.closure.home.copy()

    def random(self, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """A random q: within the limits that there are, else ±π for turns, ±1 m for slides.

        Quaternions are uniform over all rotations. With loops it is closed.
        """
        if self.closure is not None:
            return looped.random(self.tree, self.closure, coordinates.generator(rng))
        return coordinates.random(self, rng)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> np.ndarray:
        """q ⊕ dv, as Pinocchio's: each joint moved by exp of its part of dv; batch axes first.

        With loops, the independent joints are moved and the others closed again.
        """
        if self.closure is not None:
            q, dv = coordinates.together(self, "integrate", q=q, dv=dv)
            return looped.integrated(self.tree, self.closure, q, dv)
        return coordinates.integrate(self, q, dv)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """The dv with integrate(q0, dv) = q1, the shorter way round; batch axes first."""
        return self._of_independent(coordinates.difference(self.tree, q0, q1))

    def integrate_jacobians(self, q: ArrayLike, dv: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """How q ⊕ dv moves with q and with dv, (..., nv, nv) each, as Pinocchio's dIntegrate."""
        if self.closure is not None:
            q, dv = coordinates.together(self, "integrate_jacobians", q=q, dv=dv)
            dv = looped.raised(self.tree, self.closure, dv)
        by_q, by_dv = coordinates.integrate_jacobians(self.tree, q, dv)
        return self._of_independent(by_q, 2), self._of_independent(by_dv, 2)

    def difference_jacobians(self, q0: ArrayLike, q1: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """How the difference changes with q0 and with q1, (..., nv, nv) each; dDifference."""
        by_q0, by_q1 = coordinates.difference_jacobians(self.tree, q0, q1)
        return self._of_independent(by_q0, 2), self._of_independent(by_q1, 2)

    def _of_independent(self, x: np.ndarray, axes: int = 1) -> np.ndarray:
        """The entries of the tree's velocities that are independent, of the last axes."""
        if self.closure is None:
            return x
        own = np.array(self.closure.independent, dtype=int)
        return x[..., own] if axes == 1 else x[..., own[:, None], own]

    @property
    def lower(self) -> np.ndarray:
        """Lower limits of q, (nq,); −∞ where none is given."""
        return coordinates.limits(self, "lower", -np.inf)

    @property
    def upper(self) -> np.ndarray:
        """Upper limits of q, (nq,); ∞ where none is given."""
        return coordinates.limits(self, "upper", np.inf)

    @property
    def velocity_limits(self) -> np.ndarray:
        """Limits of |v|, (nv,); ∞ where none is given."""
        return self._of_independent(coordinates.limits(self.tree, "velocity", np.inf))

    @property
    def effort_limits(self) -> np.ndarray:
        """Limits of |τ|, (nv,); ∞ where none is given."""
        return self._of_independent(coordinates.limits(self.tree, "effort", np.inf))

    # ------------------------------------------------------------------ parameters
    @property
    def parameters(self) -> np.ndarray:
        """Ten inertial parameters of every body, then the rotor inertias that are given."""
        return inertial.parameters(self)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of `parameters` and of every regressor's columns: `body.Ixx`, `joint.rotor`."""
        return inertial.parameter_names(self)

    @cached_property
    def rotor_map(self) -> np.ndarray:
        """(nv, given rotor inertias): what each adds to the diagonal of M."""
        return inertial.rotor_map(self)

    @cached_property
    def rotor_inertia(self) -> np.ndarray:
        """What the rotors add to the diagonal of M, (nv,)."""
        given = self.parameters[10 * len(self.bodies):]
        return self.rotor_map @ given if len(given) else np.zeros(self.nv)

    # ------------------------------------------------------------------ other robots
    def with_parameters(self, parameters: ArrayLike) -> Robot:
        """The same robot with other inertial parameters, in the order of `parameters`.

        They may be numbers, symbols or recorded scalars.
        """
        return inertial.with_parameters(self, parameters)

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """The same robot under another gravity acceleration (world frame)."""
        return replace(self, gravity=cast(Any, gravity))

    def with_payload(self, inertia: Inertia, at: str) -> Robot:
        """The same robot with a rigid load at a frame or body; `inertia` is in that frame."""
        return edits.with_payload(self, inertia, at)

    def with_frames(self, *frames: Frame) -> Robot:
        """The same robot with more named frames."""
        return replace(self, frames=self.frames + frames)

    def reduced(self, locked: Mapping[str, Any] | Sequence[str]) -> Robot:
        """The robot with joints locked at the given coordinates.

        Their bodies merge into the parents and stay as frames. Loops are closed again around them.
        """
        made = edits.with_locked(self.tree, locked)
        if self.closure is None:
            return made
        cuts = loops_left(made, self.tree, self.loops, locked)
        own, guess = choice_left(made, self.tree, self.independent or (), self.closure.home)
        if not cuts:
            return made
        try:
            return replace(made, loops=cuts, independent=tuple(own), guess=guess)
        except ModelError:                     # others have to be independent now
            return replace(made, loops=cuts, guess=guess)

    # ------------------------------------------------------------------ views
    def to_urdf(self) -> str:
        """This robot as URDF text."""
        return urdf_text(self)

    def __repr__(self) -> str:
        mass = f"{self.mass:.4g} kg" if numeric(np.asarray(self.mass)) else f"mass {self.mass}"
        base = "floating base" if self.is_floating else "fixed base"
        moving, frames = len(self.parts), f", {len(self.frames)} frames" if self.frames else ""
        mimics = sum(b.joint.driver is not None for b in self.bodies)
        fixed = sum(b.joint.is_fixed for b in self.bodies)
        loops = f", {len(self.loops)} loops" if self.loops else ""
        extra = (f" + {mimics} mimic" if mimics else "") + (f" + {fixed} fixed" if fixed else "")
        return (f"<Robot {self.name}: {len(self.bodies)} bodies, {moving} joints{extra}, "
                f"nq {self.nq}, nv {self.nv}, {mass}, {base}{loops}{frames}>")

    def _repr_html_(self) -> str:
        return html_table(self)
