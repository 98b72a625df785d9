"""A URDF file as records with line numbers: one reading for `load` and for `lint`.

Reading never stops at a fault: every fault becomes a `Finding` of level ERROR, and what is
missing gets its default, so that all faults of a file are found at once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from closedform.model.findings import Finding, Level
from closedform.model.formats.urdf.extensions import (
    DRAKE_JOINT,
    DRAKE_KINDS,
    SPHERICAL,
    extension_findings,
    joint_elements,
    rotor_inertias,
    xacro_findings,
)
from closedform.model.formats.urdf.loops import UrdfLoop, loop_elements, urdf_loop
from closedform.model.formats.xml import (
    Document,
    Element,
    child,
    children,
    full_tag,
    line,
    name_faults,
    prefixed,
    tag,
)
from closedform.model.inertia import Inertia
from closedform.model.pose import from_rpy, pose

MAX_LINKS = 10_000
WORLD = "world"
UNLIMITED = sys.float_info.max
"""A limit of this size stands for none: URDF has no other word for it on a prismatic joint."""
JOINT_KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", SPHERICAL)
ONE_COORDINATE = ("revolute", "continuous", "prismatic")
AXISLESS = ("fixed", "floating", "ball", "universal")
SIZES = {**dict.fromkeys((*ONE_COORDINATE, "screw"), (1, 1)), "universal": (2, 2),
         "planar": (3, 3), "ball": (3, 4), "floating": (6, 7)}
"""How many velocities and coordinates the kinds of joints have."""
FloatTuple = tuple[float, ...]
RotorElements = dict[str, list[tuple[Element | None, Element | None]]]


@final
@dataclass(frozen=True, eq=False)
class UrdfInertial:
    """`<inertial>`: tensor (3, 3) about the centre of mass, as written and in the link's axes."""

    mass: float
    com: np.ndarray
    written_tensor: np.ndarray
    tensor: np.ndarray
    mass_line: int | None
    tensor_line: int | None

    @property
    def inertia(self) -> Inertia:
        return Inertia(self.mass, self.com, self.tensor)

    def impossibility(self) -> str | None:
        """Why no body of this mass has this tensor about its centre of mass, or None."""
        return Inertia(self.mass, tensor=self.written_tensor).impossibility()


UNREADABLE = UrdfInertial(math.nan, np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)), None, None)
"""Stands for an `<inertial>` with a fault: some mass, not known."""


@final
@dataclass(frozen=True)
class UrdfLink:
    name: str
    line: int | None
    inertial: UrdfInertial | None


@final
@dataclass(frozen=True)
class UrdfLimit:
    """`<limit>`; None where an attribute is not given."""

    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None
    line: int | None


@final
@dataclass(frozen=True)
class UrdfMimic:
    joint: str
    multiplier: float
    offset: float
    line: int | None


@final
@dataclass(frozen=True, eq=False)
class UrdfJoint:
    name: str
    kind: str
    parent: str
    child: str
    origin: np.ndarray
    axis: FloatTuple  # as written
    axis_line: int | None
    limit: UrdfLimit | None
    damping: float | None
    friction: float | None
    rotor_inertia: float | None  # seen at the joint
    stiffness: float | FloatTuple | None
    spring_reference: float | FloatTuple | None
    thread: float  # m a turn, of a screw
    mimic: UrdfMimic | None
    line: int | None


COORDINATES = {"floating": 7, "ball": 4, "planar": 3, "universal": 2}
"""How many coordinates joints have, by kind, that have not one."""


@final
@dataclass(frozen=True)
class UrdfDocument:
    """All links and joints of a file in its order, and the faults met while reading them."""

    name: str
    file: str
    line: int | None
    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]
    faults: tuple[Finding, ...]
    loops: tuple[UrdfLoop, ...] = ()
    independent: tuple[str, ...] = ()
    """Child links of the joints that URDF+ marks as independent."""
    guess: Mapping[str, FloatTuple] = field(default_factory=dict)
    """Coordinates near which loops are closed, by child links of joints."""


def urdf_document(document: Document) -> UrdfDocument:
    """The records of a parsed URDF document."""
    root, file = document.root, document.file
    if root is None:
        return UrdfDocument("", file, None, (), (), document.findings)
    if tag(root) != "robot":
        message = f"a URDF has the root element <robot>, not <{tag(root)}>"
        fault = Finding(Level.ERROR, "no-urdf", "document", message, "", file, line(root))
        return UrdfDocument("", file, line(root), (), (), (fault,))
    name = root.get("name") or "robot"
    of_links, of_joints = children(root, "link"), joint_elements(root)
    largest = max(len(of_links), len(of_joints))
    beside = (*xacro_findings(root, file), *extension_findings(root, file)) \
        if largest <= MAX_LINKS else ()
    if not of_links or largest > MAX_LINKS:
        message = (f"robot {name!r:.80}: a robot has 1 to {MAX_LINKS} links and joints, this has "
                   f"{len(of_links)} links and {len(of_joints)} joints")
        fault = Finding(Level.ERROR, "links", "document", message, "", file, line(root))
        return UrdfDocument(name, file, line(root), (), (), (*beside, fault))
    reader = _Reader(file, rotor_inertias(root))
    reader.faults += beside
    reader.faults += name_faults([root, *of_links, *of_joints], "name", file)
    links, joints = tuple(map(reader.link, of_links)), tuple(map(reader.joint, of_joints))
    loops = _loops(reader, root, {link.name for link in links})
    held = next((joint for joint in joints if joint.parent == WORLD), None)
    if held and all(link.name != WORLD for link in links):
        links += (UrdfLink(WORLD, None, None),)
        reader.faults.append(Finding(
            Level.INFO, "implicit-world", f"joint {held.name!r}",
            f"joint {held.name!r}: its parent {WORLD!r} is no link of the file, and is taken for "
            "the world, as Drake takes it", f'add <link name="{WORLD}"/>', file, held.line))
    pairs = list(zip(joints, of_joints, strict=True)) if loops else []
    marked = tuple(joint.child for joint, element in pairs if _independent(reader, joint, element))
    guess = {joint.child: reader.numbers(element, "guess", (0.0,) * COORDINATES.get(joint.kind, 1))
             for joint, element in pairs if reader.about(joint, element, "guess")}
    return UrdfDocument(name, file, line(root), links, joints, tuple(reader.faults), loops, marked,
                        guess)


def _independent(reader: _Reader, joint: UrdfJoint, element: Element) -> bool:
    """Whether URDF+ marks a joint as independent."""
    word = (element.get("independent") or "").strip().lower()
    if reader.about(joint, element, "independent") and word not in ("true", "1", "false", "0"):
        reader.fault(element, "loop", f"independent must be true or false, not {word!r}")
    return word in ("true", "1")


def _loops(reader: _Reader, root: Element, links: set[str]) -> tuple[UrdfLoop, ...]:
    """The loops of the file; a fault for each whose link is not there."""
    found = []
    for number, element in enumerate(loop_elements(root), start=1):
        loop = urdf_loop(reader, element, number)
        for link, _ in loop.sides if loop else ():
            if link and link not in links | {WORLD}:
                reader.fault(element, "unknown-link", f"{link!r} is no link of the file",
                             "add or rename the link")
        found += [loop] if loop else []
    return tuple(found)


class _Reader:
    """Turns elements into records and collects the faults."""

    def __init__(self, file: str, rotors: RotorElements) -> None:
        self.file = file
        self.rotors = rotors
        self.faults: list[Finding] = []
        self.subject = ""

    def fault(self, element: Element, rule: str, message: str, repair: str = "",
              level: Level = Level.ERROR) -> None:
        self.faults.append(Finding(level, rule, self.subject, f"{self.subject}: {message}", repair,
                                   self.file, line(element)))

    def about(self, joint: UrdfJoint, element: Element, attribute: str) -> bool:
        """Whether a joint's element has an attribute, which is what faults are about then."""
        self.subject = f"joint {joint.name!r}"
        return element.get(attribute) is not None

    # ------------------------------------------------------------------ attributes
    def text(self, element: Element | None, owner: Element, what: str, attribute: str) -> str:
        """A text attribute that must be there and not empty."""
        value = (element.get(attribute) or "").strip() if element is not None else ""
        if not value:
            self.fault(owner, "missing", f"{what} is missing", f"give it in line {line(owner)}")
        return value

    def number(self, element: Element, attribute: str, default: float | None) -> float | None:
        """A number attribute; the default where it is not given."""
        if element.get(attribute) is None:
            return default
        return self.numbers(element, attribute, (0.0,))[0]

    def required(self, element: Element, attribute: str) -> float:
        if element.get(attribute) is None:
            self.fault(element, "missing", f"<{tag(element)}> has no attribute {attribute!r}",
                       "give a number")
            return math.nan
        return self.numbers(element, attribute, (math.nan,))[0]

    def numbers(self, element: Element | None, attribute: str, default: FloatTuple) -> FloatTuple:
        """As many finite numbers as the default has; the default where they are not given."""
        given = element.get(attribute) if element is not None else None
        if element is None or given is None:
            return default
        values = [_float(word) for word in given.split()]
        where = f"{attribute} of <{tag(element)}>"
        one = len(default) == 1
        if len(values) == len(default) and all(math.isfinite(x) for x in values):
            if one and given != given.strip():  # XML turns line breaks in attributes into spaces
                self.fault(element, "broken-number", f"{where} has a space or a line break beside "
                           "the number, which other readers refuse", "remove it", Level.INFO)
            return tuple(values)
        expected = "a finite number" if one else f"{len(default)} finite numbers"
        repair = ("run xacro first" if "${" in given or "$(" in given else
                  "no line break or space inside a number" if one and len(values) > 1 else "")
        self.fault(element, "bad-number", f"{where} must be {expected}, not {given[:80]!r}", repair)
        return default

    def origin(self, element: Element | None) -> np.ndarray:
        """The 4x4 pose of `<origin xyz rpy>`; the identity where it is not given."""
        places = children(element, "origin") if element is not None else []
        place = places[0] if places else None
        if element is not None and len(places) > 1:
            self.fault(places[1], "two-origins", f"<{tag(element)}> has {len(places)} "
                       "<origin> elements; the first is read", "remove the others", Level.WARNING)
        zero = (0.0, 0.0, 0.0)
        rpy = self.numbers(place, "rpy", zero)
        return pose(from_rpy(*rpy), self.numbers(place, "xyz", zero))

    # ------------------------------------------------------------------ elements
    def link(self, element: Element) -> UrdfLink:
        self.subject = f"link {element.get('name')!r}"
        name = self.text(element, element, "its name", "name")
        inertial = child(element, "inertial")
        return UrdfLink(name, line(element), None if inertial is None else self.inertial(inertial))

    def inertial(self, element: Element) -> UrdfInertial:
        mass, inertia = child(element, "mass"), child(element, "inertia")
        if mass is None or inertia is None:
            missing = "<mass>" if mass is None else "<inertia>"
            self.fault(element, "missing", f"<inertial> has no {missing}",
                       f"add {missing}, or remove <inertial> from a link without mass")
            return UNREADABLE
        m = self.required(mass, "value")
        if m < 0:
            self.fault(mass, "negative-mass", f"mass {m!r} kg is negative", "give a mass ≥ 0")
        names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        absent = [n for n in ("ixy", "ixz", "iyz") if inertia.get(n) is None]
        if absent:
            self.fault(inertia, "no-products", f"<inertia> has no {', '.join(absent)}; zero is "
                       "taken", "give all six numbers", Level.WARNING)
        xx, xy, xz, yy, yz, zz = (0.0 if n in absent else self.required(inertia, n) for n in names)
        T = self.origin(element)
        R, I = T[:3, :3], np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        with np.errstate(over="ignore", invalid="ignore"):
            tensor = R @ I @ R.T
            largest = np.abs(tensor).sum() + 4 * abs(m) * (1 + np.abs(T[:3, 3]).sum()) ** 2
        if not np.isfinite(largest):
            if np.isfinite([m, xx, xy, xz, yy, yz, zz]).all():  # else there is a fault already
                self.fault(element, "bad-number", "mass, centre and tensor overflow together")
            return UNREADABLE
        return UrdfInertial(m, T[:3, 3], I, 0.5 * tensor + 0.5 * tensor.T, line(mass),
                            line(inertia))

    def joint(self, element: Element) -> UrdfJoint:
        self.subject = f"joint {element.get('name')!r}"
        name = self.text(element, element, "its name", "name")
        kind = self.text(element, element, "its type", "type")
        kinds = DRAKE_KINDS if full_tag(element) == DRAKE_JOINT else JOINT_KINDS
        if kind and kind not in kinds:
            self.fault(element, "joint-type", f"type {kind!r} is none of {', '.join(kinds)}")
        kind = "ball" if kind == SPHERICAL else kind
        thread = prefixed(element, "drake:screw_thread_pitch")
        axis, dynamics = child(element, "axis"), child(element, "dynamics")
        direction = self.numbers(axis, "xyz", (1.0, 0.0, 0.0))
        if kind not in AXISLESS and not 1e-12 < np.linalg.norm(direction) < math.inf:
            self.fault(element if axis is None else axis, "zero-axis",
                       f"axis {_words(direction)} has no direction", "give a unit vector")
        return UrdfJoint(
            name, kind, parent=self.text(child(element, "parent"), element, "its parent", "link"),
            child=self.text(child(element, "child"), element, "its child", "link"),
            origin=self.origin(element), axis=direction,
            axis_line=line(element if axis is None else axis), limit=self.limit(element),
            damping=self.not_negative(dynamics, "damping"),
            friction=self.not_negative(dynamics, "friction"),
            rotor_inertia=self.rotor_inertia(name, dynamics), **self.spring(kind, dynamics),
            thread=0.0 if thread is None else self.required(thread, "value"),
            mimic=self.mimic(element), line=line(element))

    def limit(self, element: Element) -> UrdfLimit | None:
        given = child(element, "limit")
        if given is None:
            return None
        return UrdfLimit(self.number(given, "lower", None), self.number(given, "upper", None),
                         self.not_negative(given, "velocity"), self.not_negative(given, "effort"),
                         line(given))

    def not_negative(self, element: Element | None, attribute: str) -> float | None:
        value = None if element is None else self.number(element, attribute, None)
        if element is not None and value is not None and value < 0:
            self.ignored(element, attribute, value)
            return None
        return value

    def ignored(self, element: Element, attribute: str, value: float | FloatTuple) -> None:
        self.fault(element, "negative", f"{attribute} of <{tag(element)}> is negative, "
                   f"{value!r}, and is ignored", "give a number ≥ 0", Level.WARNING)

    def rotor_inertia(self, joint: str, dynamics: Element | None) -> float | None:
        """`<dynamics armature>`, and Σ rotor_inertia · gear_ratio² of Drake's transmissions."""
        given = [self.not_negative(dynamics, "armature")]
        for rotor, gear in self.rotors.get(joint, ()):
            ratio = 1.0 if gear is None else self.required(gear, "value")
            own = self.not_negative(rotor, "value")
            given.append(None if own is None else own * ratio**2)
        stated = [x for x in given if x is not None]
        return sum(stated) if stated else None

    def spring(self, kind: str, dynamics: Element | None) -> dict[str, float | FloatTuple | None]:
        """`<dynamics spring_stiffness spring_reference>`: one number each, or all of them."""
        if dynamics is None or kind not in SIZES or dynamics.get("spring_stiffness") is None:
            return {"stiffness": None, "spring_reference": None}
        stiffness, rest = (self.one_or_all(dynamics, word, size) for word, size in zip(
            ("spring_stiffness", "spring_reference"), SIZES[kind], strict=True))
        if np.min(stiffness) < 0:
            self.ignored(dynamics, "spring_stiffness", stiffness)
            return {"stiffness": None, "spring_reference": None}
        return {"stiffness": stiffness, "spring_reference": rest or None}

    def one_or_all(self, element: Element, attribute: str, size: int) -> float | FloatTuple:
        """A number, 0 where none is given, or `size` numbers where there are several."""
        many = size > 1 and len((element.get(attribute) or "").split()) > 1
        found = self.numbers(element, attribute, (0.0,) * (size if many else 1))
        return found if many else found[0]

    def mimic(self, element: Element) -> UrdfMimic | None:
        given = child(element, "mimic")
        if given is None:
            return None
        of = self.text(given, given, "the joint that <mimic> names", "joint")
        return UrdfMimic(of, self.numbers(given, "multiplier", (1.0,))[0],
                         self.numbers(given, "offset", (0.0,))[0], line(given))


def _float(word: str) -> float:
    """The number that a word spells in C and XML Schema; NaN where it spells none."""
    try:
        return float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        return math.nan


def _words(values: Sequence[float]) -> str:
    return " ".join(f"{x:g}" for x in values)
