"""Bodies and frames in a tree: what hangs on what, and where each joint stands in q and v."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from closedform.arrays import NO_ARRAY, ArrayLike, numeric
from closedform.errors import ModelError, UnknownName, suggestion
from closedform.model.bodies import Body, Frame
from closedform.model.names import checked_name
from closedform.model.segments import Segment, segments_of, starts
from closedform.model.vectors import as_given

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True, eq=False, repr=False)
class Tree(ABC):
    """The records that make a robot, with what follows from them; `Robot` adds what it can do.

    Edits, descriptions and writers work on a tree, so that a robot can offer them.
    """

    name: str
    bodies: tuple[Body, ...]
    gravity: np.ndarray
    frames: tuple[Frame, ...]
    source: str
    configurations: Mapping[str, np.ndarray]
    """Named coordinates, each (nq,), such as a file's keyframes: `configurations["home"]`."""
    notes: tuple[str, ...]
    """What reading its file left out."""
    segments: tuple[Segment, ...] = field(init=False)             # the tree the equations walk
    parts: tuple[tuple[Body, slice, slice], ...] = field(init=False)
    """Bodies whose joints own coordinates, with their parts of q and v."""
    parents: tuple[int, ...] = field(init=False)                  # counted from 1; 0 is the world
    nq: int = field(init=False)
    nv: int = field(init=False)

    def __init__(self, name: str, bodies: Iterable[Body], gravity: ArrayLike = STANDARD_GRAVITY,
                 frames: Iterable[Frame] = (), source: str = "",
                 configurations: Mapping[str, ArrayLike] | None = None,
                 notes: Iterable[str] = ()) -> None:
        checked_name(name, "robot")
        set_ = object.__setattr__
        set_(self, "name", name)
        set_(self, "bodies", _records(bodies, "bodies", "cf.Body"))
        set_(self, "frames", _records(frames, "frames", "cf.Frame"))
        set_(self, "gravity", _gravity(gravity))
        set_(self, "source", source)
        set_(self, "notes", tuple(notes))
        _check(self)
        set_(self, "segments", segments_of(self.bodies))  # checks mimic couplings
        q, v = starts(self.bodies)
        set_(self, "nq", q[-1])
        set_(self, "nv", v[-1])
        set_(self, "parts", tuple((b, slice(q[k], q[k + 1]), slice(v[k], v[k + 1]))
                                  for k, b in enumerate(self.bodies) if b.joint.nv))
        number: dict[str | None, int] = {None: 0}
        number.update((body.name, k) for k, body in enumerate(self.bodies, start=1))
        set_(self, "parents", tuple(number[body.parent] for body in self.bodies))
        set_(self, "configurations", _configurations(configurations, self.nq))

    @abstractmethod
    def __repr__(self) -> str:
        """What it is, in a line."""

    @property
    def body_names(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.bodies)

    @property
    def frame_names(self) -> tuple[str, ...]:
        return tuple(frame.name for frame in self.frames)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints (neither fixed nor mimic) in the order of q and v."""
        return tuple(body.joint_name for body, _, _ in self.parts)

    @property
    def q_slices(self) -> dict[str, slice]:
        """Where each moving joint's coordinates stand in q."""
        return {body.joint_name: q for body, q, _ in self.parts}

    @property
    def v_slices(self) -> dict[str, slice]:
        """Where each moving joint's velocities stand in v."""
        return {body.joint_name: v for body, _, v in self.parts}

    def body(self, name: str) -> Body:
        """The body of that name."""
        for body in self.bodies:
            if body.name == name:
                return body
        raise UnknownName(f"no body {name!r} in {self.name}; {suggestion(name, self.body_names)}")

    def frame(self, name: str) -> Frame:
        """The frame of that name, or the frame of the body of that name."""
        for frame in self.frames:
            if frame.name == name:
                return frame
        if name in self.body_names:
            return Frame(name, name)
        raise UnknownName(f"no frame or body {name!r} in {self.name}; "
                          f"{suggestion(name, self.body_names + self.frame_names)}")

    @property
    def tip(self) -> str:
        """What is meant where no frame is named: the last of the frames that most joints move.

        Or the last such body, where more joints move it than any frame.
        """
        depth = self._moving
        places = [*((depth[name], name) for name in self.body_names),
                  *((depth[frame.body], frame.name) for frame in self.frames)]
        return max(reversed(places), key=lambda place: place[0])[1]

    @cached_property
    def _moving(self) -> dict[str | None, int]:
        """How many joints move each body; none the world."""
        moved = [0]
        for parent, body in zip(self.parents, self.bodies, strict=True):
            moved.append(moved[parent] + bool(body.joint.nv))
        return dict(zip((None, *self.body_names), moved, strict=True))

    @cached_property
    def mass(self) -> Any:
        """Of all bodies, kg."""
        total: list[Any] = [0] * (len(self.bodies) + 1)
        if all(body.summed is None and body.seam is None for body in self.bodies):
            return sum(body.inertia.mass for body in self.bodies)
        number: dict[str | None, int] = {None: 0}
        number |= {body.name: k for k, body in enumerate(self.bodies, start=1)}
        for k, body in reversed(list(enumerate(self.bodies))):      # bodies that share places
            own = total[k + 1] + body.inertia.mass
            for name, share in body.shares(own):
                total[number[name]] = total[number[name]] + share
        return total[0]

    @cached_property
    def is_floating(self) -> bool:
        """Whether a body hangs from the world by a joint that leaves it free."""
        return any(body.parent is None and body.joint.nv == 6 for body in self.bodies)

    @cached_property
    def has_followers(self) -> bool:
        """Whether mimic joints share velocities."""
        return any(body.joint.driver for body in self.bodies)

    @cached_property
    def is_curved(self) -> bool:
        """Whether mimic joints follow others by polynomials, so that S changes with q."""
        return any(body.joint.driver and body.joint.driver.higher for body in self.bodies)


def _records(given: object, what: str, kind: str) -> tuple[Any, ...]:
    if not isinstance(given, Iterable):
        raise ModelError(f"{what} must be a sequence of {kind} records, not {given!r}")
    return tuple(given)


def _gravity(gravity: object) -> np.ndarray:
    g = as_given(gravity, "gravity must be three numbers")
    if g.shape != (3,) or (numeric(g) and not np.all(np.isfinite(g))):
        raise ModelError(f"gravity must be three finite numbers, not {gravity!r}")
    g = g.copy()
    g.setflags(write=False)
    return g


def _configurations(given: object, nq: int) -> dict[str, np.ndarray]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(f"configurations must map names to coordinates, not {given!r:.200}")
    result = {}
    for name, values in given.items():
        checked_name(name, "configuration")
        try:
            q = np.array(values, dtype=float)
        except NO_ARRAY as error:
            raise ModelError(f"configuration {name!r} must be {nq} numbers, not "
                             f"{values!r:.200}") from error
        if q.shape != (nq,) or not np.all(np.isfinite(q)):
            raise ModelError(f"configuration {name!r} must be {nq} finite numbers, not "
                             f"{values!r:.200}")
        q.setflags(write=False)
        result[name] = q
    return result


def _check(tree: Tree) -> None:
    seen: set[str] = set()
    for body in tree.bodies:
        if not isinstance(body, Body):
            raise ModelError(f"bodies must be cf.Body records, not {body!r}")
        if body.name in seen:
            raise ModelError(f"two bodies are named {body.name!r}")
        if body.parent is not None and body.parent not in seen:
            known = body.parent in {b.name for b in tree.bodies}
            reason = ("comes after it; parents come first" if known else
                      f"is no body of the robot; {suggestion(body.parent, tree.body_names)}")
            raise ModelError(f"body {body.name!r}: parent {body.parent!r} {reason}")
        seen.add(body.name)
    if not tree.bodies:
        raise ModelError(f"robot {tree.name!r} has no bodies")
    bodies = set(seen)
    for frame in tree.frames:
        if not isinstance(frame, Frame):
            raise ModelError(f"frames must be cf.Frame records, not {frame!r}")
        if frame.name in seen:
            raise ModelError(f"the name {frame.name!r} is taken twice among bodies and frames")
        if frame.body is not None and frame.body not in bodies:
            raise ModelError(f"frame {frame.name!r}: {frame.body!r} is no body of the robot; "
                             f"{suggestion(frame.body, tree.body_names)}")
        seen.add(frame.name)
    joints = [body.joint_name for body in tree.bodies if not body.joint.is_fixed]
    repeated = [name for name, times in Counter(joints).items() if times > 1]
    if repeated:
        raise ModelError(f"two joints are named {sorted(repeated)[0]!r}")
