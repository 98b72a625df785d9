"""What a robot is: bodies on joints in a tree, gravity, named frames. Frozen records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.arrays import Array, exact_or_float, numeric
from closedform.errors import ArgumentError, ModelError, UnknownName
from closedform.model.inertia import PARAMETER_NAMES, Inertia
from closedform.model.joints import Fixed, Free, Joint, Mimic
from closedform.model.names import checked_name
from closedform.model.pose import checked_placement, identity
from closedform.model.segments import Segment, segments_of, starts

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@final
@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body on a joint: T(q) = placement · joint(q) is its pose in the parent.

    `parent` is the parent's name; None is the world.
    """

    name: str
    parent: str | None
    joint: Joint
    placement: Any = field(default_factory=identity)
    inertia: Inertia = field(default_factory=Inertia)

    def __post_init__(self) -> None:
        checked_name(self.name, "body")
        what = f"body {self.name!r}"
        if self.parent is not None and not isinstance(self.parent, str):
            raise ModelError(f"{what}: parent must be a body's name or None, not {self.parent!r}")
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{what}: joint must be a joint such as cf.Revolute((0, 0, 1)), "
                             f"not {self.joint!r}")
        if not isinstance(self.inertia, Inertia):
            raise ModelError(f"{what}: inertia must be a cf.Inertia, not {self.inertia!r}")
        object.__setattr__(self, "placement", checked_placement(self.placement, what))

    @property
    def joint_name(self) -> str:
        """The joint's own name, or the body's."""
        return self.joint.name or self.name


@final
@dataclass(frozen=True, eq=False)
class Frame:
    """A named place on a body (None: the world), such as a tool or a sensor."""

    name: str
    body: str | None
    placement: Any = field(default_factory=identity)

    def __post_init__(self) -> None:
        checked_name(self.name, "frame")
        what = f"frame {self.name!r}"
        if self.body is not None and not isinstance(self.body, str):
            raise ModelError(f"{what}: body must be a body's name or None, not {self.body!r}")
        placement = checked_placement(self.placement, what)
        object.__setattr__(self, "placement", placement)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Robot:
    """A tree of bodies, parents first, with gravity (m/s², world frame) and named frames.

    `q` and `v` follow `bodies`. `source` says where the robot came from; it changes nothing.
    """

    name: str
    bodies: tuple[Body, ...]
    gravity: Any = STANDARD_GRAVITY
    frames: tuple[Frame, ...] = ()
    source: str = ""

    def __init__(self, name: str, bodies: Iterable[Body], gravity: Any = STANDARD_GRAVITY,
                 frames: Iterable[Frame] = (), source: str = "") -> None:
        checked_name(name, "robot")
        set_ = object.__setattr__
        set_(self, "name", name)
        set_(self, "bodies", _records(bodies, "bodies", "cf.Body"))
        set_(self, "frames", _records(frames, "frames", "cf.Frame"))
        set_(self, "gravity", _gravity(gravity))
        set_(self, "source", source)
        _check_tree(self)
        self.segments  # noqa: B018  mimic couplings are checked here

    # ------------------------------------------------------------------ structure
    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The tree the equations walk; see `closedform.model.segments`."""
        return segments_of(self.bodies)

    @cached_property
    def nq(self) -> int:
        return sum(body.joint.nq for body in self.bodies)

    @cached_property
    def nv(self) -> int:
        return sum(body.joint.nv for body in self.bodies)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Each body's parent as a number: bodies count from 1, the world is 0."""
        number: dict[str | None, int] = {None: 0}
        number.update((body.name, k) for k, body in enumerate(self.bodies, start=1))
        return tuple(number[body.parent] for body in self.bodies)

    @property
    def body_names(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.bodies)

    @property
    def frame_names(self) -> tuple[str, ...]:
        return tuple(frame.name for frame in self.frames)

    @cached_property
    def parts(self) -> tuple[tuple[Body, slice, slice], ...]:
        """Bodies whose joints own coordinates, with their parts of q and v."""
        q, v = starts(self.bodies)
        return tuple((b, slice(q[k], q[k + 1]), slice(v[k], v[k + 1]))
                     for k, b in enumerate(self.bodies) if b.joint.nv)

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
        for body in self.bodies:
            if body.name == name:
                return body
        raise UnknownName(f"no body {name!r} in {self.name}; it has {', '.join(self.body_names)}")

    def frame(self, name: str) -> Frame:
        """The frame of that name, or the frame of the body of that name."""
        for frame in self.frames:
            if frame.name == name:
                return frame
        if name in self.body_names:
            return Frame(name, name)
        raise UnknownName(f"no frame or body {name!r} in {self.name}; it has "
                          f"{', '.join(self.body_names + self.frame_names)}")

    # ------------------------------------------------------------------ coordinates
    def neutral(self) -> Array:
        """q with every joint at its zero and every quaternion at (0, 0, 0, 1)."""
        return np.concatenate([np.zeros(0), *(b.joint.neutral() for b, _, _ in self.parts)])

    def random(self, rng: Any = None) -> Array:
        """A random q: within the limits that there are, else ±π for turns, ±1 m for slides.

        Quaternions are uniform over all rotations.
        """
        from closedform.model.sampling import random_coordinates
        try:
            rng = np.random.default_rng(rng)
        except (TypeError, ValueError) as error:
            raise ArgumentError("rng must be a NumPy generator, a seed that is not negative or "
                                f"None, not {rng!r}") from error
        parts = [random_coordinates(b.joint, rng) for b, _, _ in self.parts]
        return np.concatenate([np.zeros(0), *parts])

    def integrate(self, q: Any, dv: Any) -> Array:
        """q ⊕ dv, as Pinocchio's: each joint moved by exp of its part of dv; batch axes first."""
        q, dv = self._sized(q, self.nq, "q"), self._sized(dv, self.nv, "dv")
        batch = _batch(q=q, dv=dv)
        q, dv = np.broadcast_to(q, (*batch, self.nq)), np.broadcast_to(dv, (*batch, self.nv))
        parts = [b.joint.integrate(q[..., i], dv[..., j]) for b, i, j in self.parts]
        return np.concatenate([np.zeros((*batch, 0)), *parts], axis=-1)

    def difference(self, q0: Any, q1: Any) -> Array:
        """The dv with integrate(q0, dv) = q1, the shorter way round; batch axes first."""
        q0, q1 = self._sized(q0, self.nq, "q0"), self._sized(q1, self.nq, "q1")
        batch = _batch(q0=q0, q1=q1)
        q0, q1 = np.broadcast_to(q0, (*batch, self.nq)), np.broadcast_to(q1, (*batch, self.nq))
        parts = [b.joint.difference(q0[..., i], q1[..., i]) for b, i, _ in self.parts]
        return np.concatenate([np.zeros((*batch, 0)), *parts], axis=-1)

    def _sized(self, x: Any, size: int, what: str) -> Array:
        shape = f"(..., {size})"
        try:
            a = np.asarray(x, dtype=float)
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{what} must be numbers of shape {shape}, not {x!r}") from error
        if a.ndim == 0 or a.shape[-1] != size:
            raise ArgumentError(f"{what} must have the shape {shape} for {self.name}, "
                                f"not {a.shape}")
        return a

    def _limits(self, keyword: str, by: str, missing: float) -> Array:
        joints = [b.joint for b, _, _ in self.parts]
        parts = [j.per_coordinate(keyword, getattr(j, by), missing) for j in joints]
        return np.concatenate([np.zeros(0), *parts])

    @property
    def lower(self) -> Array:
        """Lower limits of q, (nq,); −∞ where none is given."""
        return self._limits("lower", "nq", -np.inf)

    @property
    def upper(self) -> Array:
        """Upper limits of q, (nq,); ∞ where none is given."""
        return self._limits("upper", "nq", np.inf)

    @property
    def velocity_limits(self) -> Array:
        return self._limits("velocity", "nv", np.inf)

    @property
    def effort_limits(self) -> Array:
        return self._limits("effort", "nv", np.inf)

    # ------------------------------------------------------------------ parameters
    @cached_property
    def mass(self) -> Any:
        return sum(body.inertia.mass for body in self.bodies)

    @property
    def parameters(self) -> Array:
        """Ten inertial parameters of every body, then the rotor inertias that are given."""
        rotors = [np.atleast_1d(exact_or_float(r)) for _, r in self._rotors]
        return np.concatenate([np.zeros(0), *(b.inertia.array for b in self.bodies), *rotors])

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of `parameters` and of every regressor's columns: `body.Ixx`, `joint.rotor`."""
        masses = [f"{body.name}.{p}" for body in self.bodies for p in PARAMETER_NAMES]
        rotors = [f"{body.joint_name}.rotor{i if np.ndim(r) else ''}"
                  for body, r in self._rotors for i in range(np.size(r))]
        return (*masses, *rotors)

    @property
    def _rotors(self) -> list[tuple[Body, Any]]:
        pairs = [(body, body.joint.rotor_inertia) for body in self.bodies]
        return [(body, given) for body, given in pairs if given is not None]

    @cached_property
    def rotor_map(self) -> Array:
        """(nv, given rotor inertias): what each adds to the diagonal of M.

        A mimic's ratio enters squared.
        """
        columns: list[Array] = []
        for k, body in enumerate(self.bodies):
            given = body.joint.rotor_inertia
            if given is not None:
                parts = [s for s in self.segments if s.owner == k]
                unit = [np.array([s.ratio * s.ratio if i == at else 0 for i in range(self.nv)])
                        for s in parts for at in s.v_index]
                columns += unit if np.ndim(given) else [np.sum(unit, axis=0)]
        return np.stack(columns, axis=1) if columns else np.zeros((self.nv, 0))

    @cached_property
    def rotor_inertia(self) -> Array:
        """What the rotors add to the diagonal of M, (nv,)."""
        given = self.parameters[10 * len(self.bodies):]
        return self.rotor_map @ given if len(given) else np.zeros(self.nv)

    def with_parameters(self, parameters: Any) -> Robot:
        """The same robot with other inertial parameters, in the order of `parameters`.

        They may be numbers, symbols or recorded scalars.
        """
        pi, shape = exact_or_float(parameters), self.parameters.shape
        if pi.shape != shape:
            raise ArgumentError(f"parameters must have the shape {shape} for {self.name}, "
                                f"not {pi.shape}")
        rest, bodies = list(pi[10 * len(self.bodies):]), []
        for k, body in enumerate(self.bodies):
            joint, r = body.joint, body.joint.rotor_inertia
            if r is not None:
                taken, rest = rest[:np.size(r)], rest[np.size(r):]
                joint = replace(joint, rotor_inertia=tuple(taken) if np.ndim(r) else taken[0])
            inertia = Inertia.from_parameters(pi[10 * k:10 * k + 10])
            bodies.append(replace(body, joint=joint, inertia=inertia))
        return self._with(bodies=bodies)

    def with_gravity(self, gravity: Any) -> Robot:
        """The same robot under another gravity acceleration (world frame)."""
        return self._with(gravity=gravity)

    def with_payload(self, inertia: Inertia, at: str) -> Robot:
        """The same robot with a rigid load at a frame or body; `inertia` is in that frame."""
        frame = self.frame(at)
        if frame.body is None:
            raise ArgumentError(f"at: the frame {at!r} belongs to the world, "
                                "which carries no payload")
        if not isinstance(inertia, Inertia):
            raise ArgumentError(f"inertia must be a cf.Inertia, not {inertia!r}")
        load = inertia.seen_from(frame.placement)
        return self._with(bodies=[
            replace(body, inertia=body.inertia + load) if body.name == frame.body else body
            for body in self.bodies])

    def with_frames(self, *frames: Frame) -> Robot:
        """The same robot with more named frames."""
        return self._with(frames=self.frames + frames)

    def reduced(self, locked: Mapping[str, Any] | Sequence[str]) -> Robot:
        """The robot with joints locked at the given coordinates.

        Their bodies merge into the parents and stay as frames.
        """
        from closedform.model.edits import locked_robot
        return locked_robot(self, locked)

    def to_urdf(self) -> str:
        """This robot as URDF text."""
        from closedform.model.formats.urdf.write import urdf_text
        return urdf_text(self)

    def _with(self, **changes: Any) -> Robot:
        now = {f.name: getattr(self, f.name) for f in fields(self)}
        return Robot(**{**now, **changes})

    # ------------------------------------------------------------------ views
    @property
    def is_floating(self) -> bool:
        return any(b.parent is None and isinstance(b.joint, Free) for b in self.bodies)

    def __repr__(self) -> str:
        mass = f"{self.mass:.4g} kg" if numeric(np.asarray(self.mass)) else f"mass {self.mass}"
        base = "floating base" if self.is_floating else "fixed base"
        moving, frames = len(self.parts), f", {len(self.frames)} frames" if self.frames else ""
        mimics = sum(isinstance(b.joint, Mimic) for b in self.bodies)
        fixed = sum(isinstance(b.joint, Fixed) for b in self.bodies)
        extra = (f" + {mimics} mimic" if mimics else "") + (f" + {fixed} fixed" if fixed else "")
        return (f"<Robot {self.name}: {len(self.bodies)} bodies, {moving} joints{extra}, "
                f"nq {self.nq}, nv {self.nv}, {mass}, {base}{frames}>")

    def _repr_html_(self) -> str:
        from closedform.model.describe import html_table
        return html_table(self)


def _batch(**arrays: Array) -> tuple[int, ...]:
    """The batch axes that the arrays have together."""
    try:
        return np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ArgumentError(f"the batch axes do not fit together: {shapes}") from None


def _records(given: Any, what: str, kind: str) -> tuple[Any, ...]:
    if not isinstance(given, Iterable):
        raise ModelError(f"{what} must be a sequence of {kind} records, not {given!r}")
    return tuple(given)


def _gravity(gravity: Any) -> Array:
    try:
        g = exact_or_float(gravity)
    except (TypeError, ValueError) as error:
        raise ModelError(f"gravity must be three numbers, not {gravity!r}") from error
    if g.shape != (3,) or g.dtype.kind in "USb" or (numeric(g) and not np.all(np.isfinite(g))):
        raise ModelError(f"gravity must be three finite numbers, not {gravity!r}")
    g = g.copy()
    g.setflags(write=False)
    return g


def _check_tree(robot: Robot) -> None:
    seen: set[str] = set()
    for body in robot.bodies:
        if not isinstance(body, Body):
            raise ModelError(f"bodies must be cf.Body records, not {body!r}")
        if body.name in seen:
            raise ModelError(f"two bodies are named {body.name!r}")
        if body.parent is not None and body.parent not in seen:
            known = body.parent in {b.name for b in robot.bodies}
            reason = "comes after it; parents come first" if known else "is no body of the robot"
            raise ModelError(f"body {body.name!r}: parent {body.parent!r} {reason}")
        seen.add(body.name)
    if not robot.bodies:
        raise ModelError(f"robot {robot.name!r} has no bodies")
    bodies = set(seen)
    for frame in robot.frames:
        if not isinstance(frame, Frame):
            raise ModelError(f"frames must be cf.Frame records, not {frame!r}")
        if frame.name in seen:
            raise ModelError(f"the name {frame.name!r} is taken twice among bodies and frames")
        if frame.body is not None and frame.body not in bodies:
            raise ModelError(f"frame {frame.name!r}: {frame.body!r} is no body of the robot")
        seen.add(frame.name)
    joints = [body.joint_name for body in robot.bodies
              if body.joint.nv or isinstance(body.joint, Mimic)]
    repeated = [name for name, times in Counter(joints).items() if times > 1]
    if repeated:
        raise ModelError(f"two joints are named {sorted(repeated)[0]!r}")
