"""Robots from a `pinocchio.Model`: its joints in its order, its frames, limits and armature.

A body goes by the name of the frame of kind BODY that stands where its joint does, else by its
joint's. A composite joint is a chain of massless bodies `joint/1`, `joint/2`, …; so is a
translation. q differs where Pinocchio writes angles as (cos, sin); `from_pinocchio_model` converts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from closedform.errors import ModelError
from closedform.model.formats.urdf.read import base_joint
from closedform.model.inertia import Inertia
from closedform.model.joints import (
    Free,
    Gimbal,
    Helical,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from closedform.model.robot import Body, Frame, Robot

UNLIMITED = 1e300
SOURCE = "<pinocchio.Model>"


class Counterpart(NamedTuple):
    """A joint of ours with its placement, the size of their q, and ours of it."""

    joint: Joint
    placement: np.ndarray
    nq: int
    own: Callable[[np.ndarray], np.ndarray]


def pinocchio_robot(model: Any, floating: bool = False) -> Robot:
    """The robot in a `pinocchio.Model`; with `floating` its fixed links are put on a free joint."""
    return _Reading(model).robot(floating)


# ---------------------------------------------------------------------- kinds of joints
def _same(q: np.ndarray) -> np.ndarray:
    return q


def _angle(q: np.ndarray) -> np.ndarray:
    """(…, cos, sin) as (…, angle)."""
    return np.append(q[:-2], np.arctan2(q[-1], q[-2]))


def _axis(joint: Any, letter: str) -> np.ndarray:
    """The axis that the kind names, that the joint holds, or that its motion has."""
    if letter in "XYZ":
        return np.eye(3)["XYZ".index(letter)]
    if hasattr(joint, "axis"):
        return np.array(joint.axis)
    data, q = joint.createData(), np.ones(max(int(joint.idx_q), 0) + int(joint.nq))
    joint.calc(data, q)
    return np.array(data.S).ravel()[3:]


KINDS: dict[str, Callable[[Any, str], list[Joint]]] = {
    r"R(?:UB)?([XYZ])": lambda joint, axis: [Revolute(_axis(joint, axis))],
    r"Revolute(?:Unbounded)?(U)naligned": lambda joint, axis: [Revolute(_axis(joint, axis))],
    r"P([XYZ])": lambda joint, axis: [Prismatic(_axis(joint, axis))],
    r"Prismatic(U)naligned": lambda joint, axis: [Prismatic(_axis(joint, axis))],
    r"H([XYZ])": lambda joint, axis: [Helical(_axis(joint, axis), float(joint.pitch))],
    r"Helical(U)naligned": lambda joint, axis: [Helical(_axis(joint, axis), float(joint.pitch))],
    r"(U)niversal": lambda joint, _: [Universal(np.array(joint.axis1), np.array(joint.axis2))],
    r"(S)pherical": lambda *_: [Spherical()],
    r"(S)phericalZYX": lambda *_: [Gimbal()],
    r"(P)lanar": lambda *_: [Planar()],
    r"(T)ranslation": lambda *_: [Prismatic(axis) for axis in np.eye(3)],
    r"(F)reeFlyer": lambda *_: [Free()],
}
"""What each kind of theirs is here, by the name after `JointModel`."""


def _parts(joint: Any, name: str, placement: np.ndarray) -> Iterator[Counterpart]:
    """Our joints of one of theirs, a composite's one after the other."""
    kind = joint.shortname().removeprefix("JointModel")
    inner = joint.extract() if hasattr(joint, "extract") else joint
    if kind == "Composite":
        for part, at in zip(inner.joints, inner.jointPlacements, strict=True):
            yield from _parts(part, name, placement @ _matrix(at))
            placement = np.eye(4)
        return
    for pattern, made in KINDS.items():
        if (found := re.fullmatch(pattern, kind)) is not None:
            ours = made(inner, found[1])
            nq = int(joint.nq) // len(ours)
            own = _angle if kind.startswith(("RUB", "RevoluteUnb", "Planar")) else _same
            for one in ours:
                yield Counterpart(one, placement, nq, own)
                placement = np.eye(4)
            return
    raise ModelError(f"the joint {name!r} is a {joint.shortname()}, which has no counterpart here")


def _matrix(placement: Any) -> np.ndarray:
    """A pose of theirs; 0 and ±1 without rounding."""
    T = np.array(placement.homogeneous)
    whole = np.round(T[:3, :3])
    T[:3, :3] = np.where(np.abs(T[:3, :3] - whole) < 1e-15, whole, T[:3, :3]) + 0.0
    return T


def _inertia(inertia: Any) -> Inertia:
    return Inertia(float(inertia.mass), np.array(inertia.lever), np.array(inertia.inertia))


# ---------------------------------------------------------------------- the tree
@dataclass(frozen=True)
class _Reading:
    model: Any

    def robot(self, floating: bool) -> Robot:
        model, bodies = self.model, []
        root = None
        if floating:
            root = self.names[0] if self.names[0] is not None else "base"
            free = base_joint(set(model.names))
            bodies.append(Body(root, None, free, inertia=_inertia(model.inertias[0])))
        for i in range(1, model.njoints):
            bodies += self.chain(i, root)
        if not bodies:
            raise ModelError("the Pinocchio model has no joints; load it with floating=True")
        if floating and any(b.joint.nv == 6 for b in bodies[1:] if b.parent == root):
            raise ModelError("the Pinocchio model has a free flyer already; load it without "
                             "floating")
        name = re.sub(r"[^\x20-\x7e]", "_", model.name) or "robot"
        frames = self.frames({b.name for b in bodies}, root)
        return Robot(name, bodies, np.array(model.gravity.linear), frames, SOURCE,
                     {} if floating else self.configurations, self.notes)

    def chain(self, i: int, root: str | None) -> list[Body]:
        """The bodies of joint i, massless but for the last."""
        model, name = self.model, self.names[i]
        up = int(model.parents[i])
        parent = self.names[up] if up else root
        parts, bodies = self.parts[i], []
        for k, (joint, placement, *_) in enumerate(parts, start=1):
            last = k == len(parts)
            label = name if last else f"{model.names[i]}/{k}"
            inertia = _inertia(model.inertias[i]) if last else Inertia()
            bodies.append(Body(str(label), parent, joint, placement, inertia))
            parent = label
        return bodies

    @cached_property
    def parts(self) -> dict[int, list[Counterpart]]:
        """Our joints for each of theirs, with their keywords."""
        result = {}
        for i in range(1, self.model.njoints):
            joint, at = self.model.joints[i], _matrix(self.model.jointPlacements[i])
            if joint.shortname() == "JointModelMimic":
                result[i] = [Counterpart(self.mimic(i), at, 0, _same)]
            else:
                result[i] = self.with_keywords(i, list(_parts(joint, self.model.names[i], at)))
        return result

    def with_keywords(self, i: int, parts: list[Counterpart]) -> list[Counterpart]:
        model, result = self.model, []
        q, v = int(model.joints[i].idx_q), int(model.joints[i].idx_v)
        for k, part in enumerate(parts, start=1):
            joint, name = part.joint, model.names[i]
            label = name if len(parts) == 1 else f"{name}/{k}"
            keywords = self.keywords(slice(v, v + joint.nv))
            if part.own is _same and joint.is_vector:
                keywords |= _limits(model, slice(q, q + joint.nq))
            result.append(part._replace(joint=replace(joint, name=label, **keywords)))
            q, v = q + part.nq, v + joint.nv
        return result

    def keywords(self, v: slice) -> dict[str, Any]:
        """Armature, friction and limits of velocities; nothing where there is none."""
        model, given = self.model, {}
        for keyword, names, none in (("rotor_inertia", ("armature",), 0),
                                     ("viscous", ("damping",), 0),
                                     ("coulomb", ("friction", "upperDryFrictionLimit"), 0),
                                     ("velocity", ("velocityLimit", "upperVelocityLimit"), None),
                                     ("effort", ("effortLimit", "upperEffortLimit"), None)):
            name = next((n for n in names if hasattr(model, n)), None)
            values = np.array(getattr(model, name)[v]) if name else np.zeros(0)
            if values.size and np.all(np.abs(values) < UNLIMITED) and np.any(values != none):
                given[keyword] = _one_or_all(values)
        return given

    def mimic(self, i: int) -> Mimic:
        """A mimic's own joint, from its motion S = scaling · (its screw)."""
        from pinocchio import neutral
        model, joint = self.model, self.model.joints[i]
        inner, data = joint.extract(), joint.createData()
        joint.calc(data, neutral(model))
        primary = dict(zip(model.mimicking_joints, model.mimicked_joints, strict=True))[i]
        ratio = float(inner.scaling)
        screw = np.array(data.S).ravel() / (ratio or 1.0)
        slide, turn = screw[:3], screw[3:]
        if not np.any(screw):
            raise ModelError(f"the mimic joint {model.names[i]!r} has the scaling 0: it never "
                             "moves")
        moves: Joint = Helical(turn, float(slide @ turn)) if np.any(turn) else Prismatic(slide)
        if not np.any(slide):
            moves = Revolute(turn)
        return Mimic(moves, self.names[int(primary)], ratio, float(inner.offset),
                     name=model.names[i])

    # ------------------------------------------------------------------ names and frames
    @cached_property
    def names(self) -> dict[int, str | None]:
        """The name of the body of each joint; of the world's that of its first link, or None."""
        found: dict[int, str | None] = {0: None}
        for frame in self.model.frames:
            i = int(frame.parentJoint)
            at_joint = np.allclose(frame.placement.homogeneous, np.eye(4), atol=1e-15)
            if _kind(frame) == "BODY" and at_joint and found.get(i) is None:
                found[i] = frame.name
        taken = set(found.values())
        for i in range(1, self.model.njoints):
            if found.get(i) is None:
                name = self.model.names[i]
                found[i] = f"{name}/body" if name in taken else name
        return found

    def frames(self, taken: set[str], root: str | None) -> list[Frame]:
        """Frames of links, tools and sensors, in their order, that no body goes by."""
        frames = []
        for frame in self.model.frames:
            if _kind(frame) in ("BODY", "OP_FRAME", "SENSOR") and frame.name not in taken:
                taken.add(frame.name)
                i = int(frame.parentJoint)
                frames.append(Frame(frame.name, self.names[i] if i else root,
                                    _matrix(frame.placement)))
        return frames

    # ------------------------------------------------------------------ configurations
    @cached_property
    def configurations(self) -> dict[str, np.ndarray]:
        """The reference configurations in our coordinates."""
        given = self.model.referenceConfigurations
        return {entry.key(): self.coordinates(np.array(entry.data())) for entry in given}

    def coordinates(self, q: np.ndarray) -> np.ndarray:
        own = []
        for i, parts in self.parts.items():
            at = int(self.model.joints[i].idx_q)
            for part in parts:
                own.append(part.own(q[at:at + part.nq]) if part.nq else q[:0])
                at += part.nq
        return np.concatenate([q[:0], *own])

    @property
    def notes(self) -> tuple[str, ...]:
        """Rotor inertias that Pinocchio holds but does not put into M, where no armature is."""
        model = self.model
        bare = np.count_nonzero((np.array(model.rotorInertia) != 0)
                                & (np.array(getattr(model, "armature", 0)) == 0))
        return (f"left out: {bare} rotor inertias without an armature, which Pinocchio's M does "
                "not have either",) if bare else ()


def _limits(model: Any, q: slice) -> dict[str, Any]:
    given = {"lower": np.array(model.lowerPositionLimit[q]),
             "upper": np.array(model.upperPositionLimit[q])}
    return {key: _one_or_all(x) for key, x in given.items()
            if x.size and np.all(np.abs(x) < UNLIMITED)}


def _one_or_all(values: np.ndarray) -> float | tuple[float, ...]:
    return float(values[0]) if np.all(values == values[0]) else tuple(map(float, values))


def _kind(frame: Any) -> str:
    return str(frame.type).rpartition(".")[2]
