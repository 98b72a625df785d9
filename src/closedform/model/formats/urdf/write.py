"""A robot written as URDF that `load` reads back: same joints, same dynamics, all frames.

A joint that URDF does not have is written as several, with massless links between them: T(q) stays
the same. `load` takes bodies depth first, so that q may come back in another order: compare by
joint names. What URDF cannot say is refused (helical and spherical joints, symbols) or named in a
warning (another gravity, gears but those of two joints). Loops are `<loop_joint>`s, as Isaac Sim
has them, with `independent="true"` on joints and `guess`, the coordinates they are closed at; a rod
is one of type `rod` with a `<length>`. Rotor inertia and springs are written as `<dynamics armature
spring_stiffness spring_reference>`, which URDF's own specification does not have.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from lxml import etree

from closedform.arrays import numeric
from closedform.errors import ModelError, ModelWarning
from closedform.model.bodies import Body
from closedform.model.formats.urdf.document import UNLIMITED
from closedform.model.inertia import Inertia
from closedform.model.joints import Driver, Fixed, Joint
from closedform.model.loops.records import Gear, Loop, Rod
from closedform.model.pose import pose, to_rpy
from closedform.model.tree import STANDARD_GRAVITY, Tree

DYNAMICS = {"viscous": "damping", "coulomb": "friction", "rotor_inertia": "armature",
            "stiffness": "spring_stiffness", "spring_reference": "spring_reference"}
"""The attributes of `<dynamics>` by keywords of joints."""


def urdf_text(robot: Tree) -> str:
    """The robot as URDF; a `ModelWarning` names what URDF cannot hold."""
    writer = _Writer(robot)
    writer.write()
    if writer.lost:
        warnings.warn(f"URDF of {robot.name} is without {'; '.join(writer.lost)}", ModelWarning,
                      stacklevel=3)
    return etree.tostring(writer.root, encoding="unicode", pretty_print=True)


@dataclass
class _Step:
    """One URDF joint: a constant placement, then a motion."""

    name: str
    joint: Joint
    placement: np.ndarray
    mimic: Driver | None = None  # `of` is a joint's name here
    marks: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Writer:
    robot: Tree
    lost: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        robot = self.robot
        self.root = self.named(etree.Element("robot"), robot.name)
        self.links = {*robot.body_names, *robot.frame_names}
        self.joints = {body.joint_name for body in robot.bodies}
        if not np.array_equal(robot.gravity, STANDARD_GRAVITY):
            self.lost.append(f"its gravity {robot.gravity.tolist()}")

    def write(self) -> None:
        world = next((f.name for f in self.robot.frames
                      if f.body is None and np.array_equal(f.placement, np.eye(4))), None)
        base = world or self.fresh("world", self.links)
        self.link(base, Inertia())
        for body in self.robot.bodies:
            self.body(body, body.parent or base)
        for frame in self.robot.frames:
            if frame.name != world:
                self.fixed(frame.name, frame.body or base, frame.placement, Inertia())
        if any(text.startswith("which of the velocities") for text in self.lost):
            etree.strip_attributes(self.root, "independent")    # the reader chooses
        for cut in getattr(self.robot, "loops", ()):
            if isinstance(cut, Gear):
                self.coupling(cut)
            else:
                self.loop(cut, base)

    def loop(self, cut: Loop | Rod, base: str) -> None:
        """`<loop_joint>` of the two links that meet in it."""
        element = self.named(etree.SubElement(self.root, "loop_joint"), cut.name)
        joint = None if isinstance(cut, Rod) else cut.joint
        element.set("type", "rod" if joint is None else joint.kind)
        line = None if joint is None else joint.line
        turns = [pose(None, line[1]) if line else np.eye(4)] * 2
        axes = [] if joint is None else [getattr(joint, axis) for axis in joint.axes]
        if len(axes) == 2:                               # read about x of link1 and y of link2
            turns = [pose(_turned(np.eye(3)[k], np.asarray(axis, dtype=float)), (0, 0, 0))
                     for k, axis in enumerate(axes)]
        for k, ((body, T), turn) in enumerate(zip((cut.a, cut.b), turns, strict=True), start=1):
            place = T @ turn
            self.child(element, f"link{k}", link=body or base, xyz=self.numbers(place[:3, 3]),
                       rpy=self.numbers(to_rpy(place[:3, :3])))
        for axis in axes if len(axes) == 1 else ():
            self.child(element, "axis", xyz=self.numbers(axis))
        if isinstance(cut, Rod):
            self.child(element, "length", value=self.numbers([cut.length]))

    def coupling(self, gear: Gear) -> None:
        """`<coupling>` of two joints, each alone on its way from the link that both hang from."""
        above: dict[str | None, list[str]] = {None: []}     # a body and all that carry it
        for body in self.robot.bodies:
            above[body.name] = [body.name, *above[body.parent]]
        ways = [above[name] for name in gear.factors]
        if len(ways) != 2 or gear.constant or any(
                [x for x in ways[k] if x not in ways[1 - k]] != [ways[k][0]] for k in (0, 1)):
            self.lost.append(f"the gear {gear.name!r}")
            return
        (a, x), (b, y) = gear.factors.items()
        element = self.named(etree.SubElement(self.root, "coupling"), gear.name)
        self.child(element, "predecessor", link=a)
        self.child(element, "successor", link=b)
        self.child(element, "ratio", value=self.numbers([-x / y]))

    def marks(self, body: Body, count: int) -> list[dict[str, str]]:
        """What each of the joints of a body has to say of loops: independent, and where closed."""
        closure = getattr(self.robot, "closure", None)
        tree = getattr(self.robot, "tree", self.robot)
        part = next(((i, v) for b, i, v in tree.parts if b.name == body.name), None)
        if closure is None or part is None:
            return [{}] * count
        q, own = closure.home[part[0]], [k in closure.independent
                                         for k in range(part[1].start, part[1].stop)]
        if count == 1 and any(own) and not all(own):
            self.lost.append(f"which of the velocities of {body.joint_name!r} are independent")
        told = [any(own)] if count == 1 else own
        return [{"guess": self.numbers(q if count == 1 else q[k:k + 1]),
                 **({"independent": "true"} if told[k] else {})} for k in range(count)]

    def body(self, body: Body, parent: str) -> None:
        """The body's joints one after the other, and its link at the end."""
        if body.gravity_compensation:
            self.lost.append(f"the gravity compensation of {body.name!r}")
        *between, last = self.steps(body)
        for step in between:
            link = self.fresh(body.name + "_between", self.links)
            self.joint(step, parent, link)
            self.link(link, Inertia())
            parent = link
        point = last.joint.line[1] if last.joint.line else np.zeros(3)
        if not any(point):
            self.joint(last, parent, body.name)
            self.link(body.name, body.inertia)
            return
        # T(q) = placement · Trans(point) · Rot(axis, q) · Trans(−point)
        axis = self.fresh(body.name + "_axis", self.links)
        self.joint(replace(last, placement=last.placement @ pose(None, point)), parent, axis)
        self.link(axis, Inertia())
        self.fixed(body.name, axis, pose(None, -point), body.inertia)

    def steps(self, body: Body) -> list[_Step]:
        joint, name, placement = body.joint, body.joint_name, np.asarray(body.placement)
        if joint.driver is not None:
            if len(joint.driver.bodies) > 1:
                raise ModelError(f"{name!r} follows several joints, "
                                 f"{', '.join(joint.driver.bodies)}, and URDF has mimics of one "
                                 "joint only")
            of = self.robot.body(joint.driver.of).joint_name
            if joint.driver.higher:
                raise ModelError(f"{name!r} follows {of!r} by a polynomial, and URDF has mimics "
                                 "with a multiplier and an offset only")
            return [_Step(name, joint.moving, placement, joint.driver._replace(of=of))]
        row = (joint,) if joint.urdf else joint.series()
        marks = self.marks(body, len(row))
        if len(row) == 1:
            return [_Step(name, joint, placement, marks=marks[0])]
        return [_Step(self.fresh(f"{name}_{i}", self.joints), part,
                      placement if i == 1 else np.eye(4), marks=marks[i - 1])
                for i, part in enumerate(row, start=1)]

    # ------------------------------------------------------------------ elements
    def joint(self, step: _Step, parent: str, child: str) -> None:
        joint = step.joint
        kind = joint.urdf
        if kind is None:
            raise ModelError(f"joint {step.name!r}: URDF has no {joint.kind} joint; it has "
                             "revolute, prismatic, planar, floating and fixed ones")
        if kind == "revolute" and not np.any(np.isfinite(_limits(joint))):
            kind = "continuous"
        element = self.named(etree.SubElement(self.root, "joint"), step.name)
        element.set("type", kind)
        for word, value in step.marks.items():
            element.set(word, value)
        self.origin(element, step.placement)
        self.child(element, "parent", link=parent)
        self.child(element, "child", link=child)
        for axis in joint.axes:
            self.child(element, "axis", xyz=self.numbers(getattr(joint, axis)))
        if kind != "fixed":
            self.limit(element, kind, step)
            self.dynamics(element, step)
        if step.mimic is not None:
            of, ratio, offset, _ = step.mimic
            self.child(element, "mimic", joint=of, multiplier=self.numbers([ratio]),
                       offset=self.numbers([offset]))

    def limit(self, element: Any, kind: str, step: _Step) -> None:
        """`<limit>`, which revolute and prismatic joints must have."""
        joint, words = step.joint, {}
        if kind in ("revolute", "prismatic"):
            lower, upper = np.clip(_limits(joint), -UNLIMITED, UNLIMITED)
            words = {"lower": self.numbers([lower]), "upper": self.numbers([upper])}
        elif joint.lower is not None or joint.upper is not None:
            self.lost += [f"the position limits of {step.name!r}"] if kind != "continuous" else []
        for word in ("effort", "velocity"):
            words[word] = self.numbers([self.common(step, word, UNLIMITED)])
        self.child(element, "limit", **words)

    def dynamics(self, element: Any, step: _Step) -> None:
        """`<dynamics>` with friction, rotor inertia and spring, in the words that `load` reads."""
        given = {attribute: self.spring(step.joint, keyword) if "spring" in attribute else
                 self.numbers([self.common(step, keyword, 0.0)])
                 for keyword, attribute in DYNAMICS.items()
                 if getattr(step.joint, keyword) is not None}
        if given and not {"damping", "friction"} & set(given):
            given["damping"] = "0"          # urdfdom refuses the joint where neither is said
        if given:
            self.child(element, "dynamics", **given)

    def spring(self, joint: Joint, keyword: str) -> str:
        """One number where it is one for all coordinates."""
        return self.numbers(np.atleast_1d(getattr(joint, keyword)))

    def common(self, step: _Step, word: str, missing: float) -> float:
        """The one number that URDF has for all coordinates of a joint; different ones are lost."""
        values = step.joint.per_coordinate(word, step.joint.nv, missing)
        self.numbers(values)  # symbols are refused
        if np.all(values == values[0]):
            return min(float(values[0]), UNLIMITED)
        self.lost.append(f"the {word} of each coordinate of {step.name!r}")
        return missing

    def fixed(self, link: str, parent: str, placement: np.ndarray, inertia: Inertia) -> None:
        name = self.fresh(link + "_fixed", self.joints)
        self.joint(_Step(name, Fixed(), np.asarray(placement)), parent, link)
        self.link(link, inertia)

    def link(self, name: str, inertia: Inertia) -> None:
        element = self.named(etree.SubElement(self.root, "link"), name)
        if numeric(inertia.array) and not np.any(inertia.array):
            return
        if numeric(inertia.array) and inertia.mass == 0 and np.any(inertia.first_moment):
            raise ModelError(f"body {name!r}: URDF cannot hold a regrouped body (m = 0, m c ≠ 0)")
        inertial = self.child(element, "inertial")
        self.child(inertial, "origin", xyz=self.numbers(inertia.com), rpy="0 0 0")
        self.child(inertial, "mass", value=self.numbers([inertia.mass]))
        I = inertia.tensor
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        entries = (I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2])
        self.child(inertial, "inertia",
                   **{n: self.numbers([x]) for n, x in zip(names, entries, strict=True)})

    def origin(self, element: Any, placement: np.ndarray) -> None:
        xyz = self.numbers(placement[:3, 3])
        self.numbers(placement[:3, :3].ravel())  # symbols are refused before they reach arctan
        self.child(element, "origin", xyz=xyz, rpy=self.numbers(to_rpy(placement[:3, :3])))

    def named(self, element: Any, name: str) -> Any:
        try:
            element.set("name", name)
        except ValueError as error:
            raise ModelError(f"the name {name!r} cannot be written in XML: {error}") from error
        return element

    def child(self, element: Any, tag: str, **attributes: str) -> Any:
        return etree.SubElement(element, tag, attributes)

    def numbers(self, values: Any) -> str:
        """Numbers with all their digits."""
        if not numeric(np.asarray(values)):
            raise ModelError(f"{self.robot.name}: URDF holds numbers, not {values!r:.200}")
        return " ".join(repr(float(x)) for x in values)

    def fresh(self, name: str, taken: set[str]) -> str:
        """The name, or one like it, that is not taken yet; taken from here on."""
        while name in taken:
            name += "_"
        taken.add(name)
        return name


def _turned(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """A rotation that takes one unit vector to another, (3, 3)."""
    end = end / np.linalg.norm(end)
    c, w = float(start @ end), np.cross(start, end)
    if c < -1 + 1e-12:                                   # half a turn about any axis across
        side = np.eye(3)[int(np.argmin(np.abs(start)))]
        w = np.cross(start, side)
        w /= np.linalg.norm(w)
        return 2 * np.outer(w, w) - np.eye(3)
    W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    return np.eye(3) + W + W @ W / (1 + c)


def _limits(joint: Joint) -> tuple[float, float]:
    lower = joint.per_coordinate("lower", 1, -np.inf)
    upper = joint.per_coordinate("upper", 1, np.inf)
    return float(lower[0]), float(upper[0])
