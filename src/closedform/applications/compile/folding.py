"""A robot with its equal limbs in lanes, and programs recorded on it.

    positions ── a robot whose constants have lanes ── an algorithm as it is ── results by lanes

Arguments and results are those of the unfolded robot: an entry of an input is read into the lane of
its joint, and an entry of a result is a lane of what the algorithm found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from closedform.applications.compile.forms import Forms
from closedform.applications.compile.names import output_names
from closedform.applications.compile.requests import Gravity, Request
from closedform.maths.algorithms.joint_steps import JointStep, wrench_in_parent
from closedform.maths.arguments import SIZES
from closedform.maths.canonical import joined_limbs
from closedform.maths.canonical.limbs import SharedPosition, is_folded, positions
from closedform.maths.quantity import Form, Quantity
from closedform.maths.scalars.series import Series
from closedform.model.bodies import Seam
from closedform.model.inertia import Inertia
from closedform.model.robot import Body, Robot
from closedform.program.expr import Expr, Graph
from closedform.program.lanes.limbs import TRUNK, LanesMeetError, Limb, lanes_of, outer, width
from closedform.program.lanes.numbers import (
    LaneConstant,
    LaneExpr,
    constant,
    entries,
    gathered,
    values_in,
)
from closedform.program.lanes.seams import joined, shared_out
from closedform.program.lanes.sharing import SharedLanes
from closedform.program.program import Program, Slot
from closedform.program.record import Picked, collect, input_array, object_array, uncollected


class LanePlace(NamedTuple):
    """Where an entry of q or v of the robot is in the folded one."""

    at: int
    lane: int
    limb: Limb


class FoldedForms:
    """A robot with its limbs in lanes, in the forms in which quantities are recorded.

    `joined`: unlike limbs too, as far as their joints agree.
    """

    def __init__(self, forms: Forms, joined: bool = False) -> None:
        self.forms, self.joined = forms, joined
        self._foldings: dict[Form, Folding] = {}

    def at(self, form: Form) -> Folding:
        """The robot in a form."""
        if form not in self._foldings:
            self._foldings[form] = Folding(self.forms, form, self.joined)
        return self._foldings[form]

    @property
    def lanes(self) -> SharedLanes:
        """The bodies that share lanes."""
        bodies, tree = self.forms.canonical.robot.bodies, self.at(Form.CANONICAL).tree
        return SharedLanes(tuple(tuple(bodies[b].name.removesuffix("′") for b in at.own)
                                 for at in tree if len(at.bodies) > 1))

    def joins(self, requests: Sequence[Request], wrenches: bool) -> bool:
        """Whether unlike limbs share lanes, wherever these are recorded."""
        used = [self.at(folded_form(request.row)) for request in requests]
        return self.joined and any(at.hangs for x in used for at in x.tree) and not (
            wrenches and any(x.carried is None for x in used))

    def reason(self, requests: Sequence[Request], wrenches: bool) -> str:
        """Why requests are computed without lanes; nothing if they may have some."""
        if self.forms.robot.loops:
            return "closed loops tie limbs to one another"
        if any(request.frame for request in requests):
            return "a frame hangs on one limb, which has nothing to share"
        if any(not isinstance(x, Gravity) for x in self.forms.inputs):
            return "inertias that come at run time belong to single bodies"
        if self.forms.robot.is_curved:
            return "joints follow others by polynomials"
        forms = {folded_form(r.row) for r in requests} or {Form.CANONICAL}
        if not self.forms.robot.nv or not all(is_folded(self.at(form).tree) for form in forms):
            return "no two limbs have the same joints"
        if any(r.row.form is Form.USER and folded_form(r.row) is not Form.USER for r in requests) \
                and any(k is None for k, _ in self.forms.canonical.places):
            return "bodies that are fixed to the world count in the result"
        if wrenches and any(self.at(r.row.form).carried is None for r in requests):
            return "limbs carry different numbers of bodies, which wrenches act on"
        return ""

    @uncollected()
    def recorded(self, requests: Sequence[Request], algorithms: Sequence[Callable[..., Any]],
                 wrenches: bool = False) -> Program:
        """The program of quantities, each by an algorithm, limbs in lanes."""
        graph = Graph()
        names = [n for n in SIZES if any(n in r.row.inputs for r in requests)]
        shapes = self.forms.shapes([*names, *(["wrenches"] if wrenches else [])])
        outputs: dict[str, np.ndarray] = {}
        for request, algorithm, own in zip(requests, algorithms, output_names(requests),
                                           strict=True):
            folding = self.at(folded_form(request.row))
            found = folding.evaluated(graph, request.row, algorithm, shapes)
            outputs |= zip(own, found, strict=True)
        name = "_and_".join(dict.fromkeys(r.row.name for r in requests))
        return collect(graph, name, tuple(Slot(*item) for item in shapes.items()), outputs)


def shared_lanes(robot: Robot, joined: bool = False) -> SharedLanes:
    """The bodies of a robot that share lanes in kernels of one state, whatever is asked for;
    `joined`: with unlike limbs, as torques and accelerations may have them."""
    folding = FoldedForms(Forms(robot), joined)
    reason = "no body moves" if not robot.nv else folding.reason([], False)
    return SharedLanes(reason=reason) if reason else folding.lanes


def folded_form(row: Quantity) -> Form:
    """The form in which a quantity is folded: canonical, unless it is about bodies."""
    about_bodies = any({"bodies", "parameters"} & {*size} for _, size in row.outputs)
    return Form.CANONICAL if row.form is Form.USER and not about_bodies else row.form


class Folding:
    """The folded form of a robot in one of its forms."""

    def __init__(self, forms: Forms, form: Form = Form.BASE, joined: bool = False) -> None:
        self.forms, self.form = forms, form
        self.flat = forms.robot_in(form)
        self.tree = positions(self.flat)
        self.turned: frozenset[int] = frozenset()
        if joined:
            self.tree, self.turned = joined_limbs.joined(self.flat, self.tree)
            self.flat = joined_limbs.in_turned_frames(self.flat, self.turned)

    @cached_property
    def robot(self) -> Robot:
        """The robot with a body for each position and constants for each lane."""
        bodies = self.flat.bodies
        made = []
        for at in self.tree:
            mine, parent = [bodies[b] for b in at.bodies], self.tree[at.parent - 1]
            near = parent.limb if at.parent else TRUNK
            made.append(replace(
                mine[0], parent=bodies[parent.bodies[0]].name if at.parent else None,
                placement=_lanes([b.placement for b in mine], at.limb),
                inertia=Inertia.from_parameters(_lanes([b.inertia.array for b in mine], at.limb)),
                summed=None if at.hangs or at.limb == near else
                partial(summed, limb=at.limb, near=near), seam=self._seam(at)))
        return Robot(self.flat.name, made, self.flat.gravity)

    def _seam(self, at: SharedPosition) -> Seam | None:
        """How the lanes of a position hang on several, or on some lanes of one."""
        if not at.hangs:
            return None
        above = sorted({number for number, _ in at.hangs})
        ways = tuple((above.index(number), lane) for number, lane in at.hangs)
        down = ways + ways[-1:] * at.copies
        limbs = [self.tree[number - 1].limb if number else TRUNK for number in above]
        return Seam(tuple(self.flat.bodies[self.tree[number - 1].bodies[0]].name if number else None
                          for number in above),
                    lambda states: each(lambda *x: joined(x, limbs, down, at.limb), *states),
                    lambda part: each_of(part, lambda x: shared_out(x, at.limb, ways, limbs)))

    @cached_property
    def places(self) -> dict[str, list[LanePlace]]:
        """For entries of q and of v, where they are in the folded robot."""
        found: dict[str, list[LanePlace]] = {}
        for size, own, there_of in (
                ("nq", self.robot.q_slices, self.flat.q_slices),
                ("nv", self.robot.v_slices, self.flat.v_slices)):
            places: list[Any] = [None] * getattr(self.flat, size)
            for at, body in zip(self.tree, self.robot.bodies, strict=True):
                for lane, b in enumerate(at.own):
                    if body.joint_name in own:
                        start, there = own[body.joint_name].start, self.flat.bodies[b].joint_name
                        for c, k in enumerate(range(*there_of[there].indices(len(places)))):
                            places[k] = LanePlace(start + c, lane, at.limb)
            found[size] = places
        found["bodies"] = [LanePlace(0, 0, TRUNK)] * len(self.flat.bodies)
        for k, position in enumerate(self.tree):
            for lane, b in enumerate(position.own):
                found["bodies"][b] = LanePlace(k, lane, position.limb)
        found["parameters"] = [LanePlace(10 * place.at + c, place.lane, place.limb)
                               for place in found["bodies"] for c in range(10)]
        first = 10 * len(self.tree) + np.cumsum([0, *map(_rotors, self.robot.bodies)])
        for place, body in zip(found["bodies"], self.flat.bodies, strict=True):
            found["parameters"] += [place._replace(at=int(first[place.at]) + r)
                                    for r in range(_rotors(body))]
        return found

    @cached_property
    def carried(self) -> list[list[tuple[list[int], np.ndarray]]] | None:
        """For each position the user's bodies that it carries, lane by lane, and where they are.

        None where lanes of one position carry different numbers of them.
        """
        places = (self.forms.canonical.places if self.form is not Form.USER else
                  [(k, np.eye(4)) for k in range(len(self.flat.bodies))])
        own: list[list[tuple[int, Any]]] = [[] for _ in self.flat.bodies]
        for b, (k, T) in enumerate(places):
            if k is not None:
                own[k].append((b, joined_limbs.QUARTER.T @ T if k in self.turned else T))
        found = []
        for at in self.tree:
            if len({len(own[k]) for k in at.bodies}) > 1:
                return None
            found.append([([b for b, _ in lanes], _lanes([T for _, T in lanes], at.limb))
                          for lanes in zip(*(own[k] for k in at.bodies), strict=True)])
        return found

    def _loads(self, graph: Graph, slot: int, shape: tuple[int, ...], order: int = 0) -> Any:
        """Wrenches on the user's bodies as those on the positions; of a jet, for each order."""
        if len(shape) > 2:
            return np.stack([self._loads(graph, slot, shape[1:], k) for k in range(shape[0])])
        total = []
        first = order * math.prod(shape)
        for at, bodies in zip(self.tree, self.carried or (), strict=True):
            F = np.zeros(6, dtype=object)
            for numbers, T in bodies:
                read = [entries(graph, slot, [first + 6 * b + c for b in numbers], at.limb)
                        for c in range(6)]
                step = JointStep((T[:3, :3],), T[:3, 3])
                F = F + wrench_in_parent(step, object_array(read, (6,)))
            total.append(F)
        return np.stack(total)

    def evaluated(self, graph: Graph, row: Quantity, algorithm: Callable[..., Any],
                  shapes: Mapping[str, tuple[int, ...]]) -> list[np.ndarray]:
        """The arrays of a quantity by an algorithm, as results of the unfolded robot."""
        given = {name: (self._loads if name == "wrenches" else partial(self._read, name=name))(
                     graph, slot, shape) for slot, (name, shape) in enumerate(shapes.items())}
        robot = self.robot if "gravity" not in given else self.robot.with_gravity(given["gravity"])
        arguments = {name: given[name] for name in row.inputs}
        if "q" in arguments and self.form is not Form.USER:
            arguments["q"] = arguments["q"] + self.offset
        if row.wrenches and "wrenches" in given:
            arguments["wrenches"] = given["wrenches"]
        result = algorithm(robot, **arguments)
        arrays = tuple(result) if row.fields else (result,)
        return [self._unfolded(np.asarray(array, dtype=object), size)
                for array, (_, size) in zip(arrays, row.outputs, strict=True)]

    def _read(self, graph: Graph, slot: int, shape: tuple[int, ...], name: str) -> Any:
        """An input as the folded robot takes it: those of the velocities' size in lanes."""
        *_, kind = SIZES.get(name, ("",))
        if kind not in ("nq", "nv"):
            return input_array(graph, slot, shape)
        lanes, rows = self.lanes[kind], math.prod(shape[:-1])
        read = [entries(graph, slot, [row * shape[-1] + k for k in at], limb)
                for row in range(rows) for at, limb in lanes]
        return object_array(read, (*shape[:-1], len(lanes)))

    @cached_property
    def lanes(self) -> dict[str, list[tuple[list[int], Limb]]]:
        """For entries of the folded q and v, those of the robot's, lane by lane, and their limb."""
        found: dict[str, list[tuple[list[int], Limb]]] = {}
        for size in ("nq", "nv"):
            places = self.places[size]
            members: dict[int, dict[int, int]] = {}
            for k, place in enumerate(places):
                members.setdefault(place.at, {})[place.lane] = k
            limbs = {place.at: place.limb for place in places}
            found[size] = [([members[i][min(lane, len(members[i]) - 1)]
                             for lane in range(width(limbs[i]))], limbs[i])
                           for i in range(len(members))]
        return found

    @cached_property
    def offset(self) -> np.ndarray:
        """What is added to the folded q, as canonical frames have it."""
        offset = self.forms.canonical.offset
        found = [constant([offset[k] for k in at], limb) for at, limb in self.lanes["nq"]]
        return object_array(found, (len(found),))

    def _unfolded(self, array: np.ndarray, size: tuple[Any, ...]) -> np.ndarray:
        """A result of the folded robot as that of the robot, each entry one lane."""
        axes = [self.places[s] if s in self.places else
                [LanePlace(k, 0, TRUNK) for k in range(n)]
                for s, n in zip(size, array.shape, strict=True)]
        shape = tuple(map(len, axes))
        return object_array([self._entry(array, index) for index in product(*axes)], shape)

    @staticmethod
    def _entry(array: np.ndarray, index: tuple[LanePlace, ...]) -> Any:
        x = array[tuple(place.at for place in index)]
        far = max((place for place in index), key=lambda place: len(place.limb),
                  default=LanePlace(0, 0, TRUNK))
        for place in index:
            apart = far.limb[:len(place.limb)] != place.limb
            if apart or lanes_of(far.limb, place.limb)[far.lane] != place.lane:
                return 0.0
        return lane_of(x, far.limb, far.lane)


def _rotors(body: Body) -> int:
    """How many rotor inertias a body's joint is given."""
    return 0 if body.joint.rotor_inertia is None else np.size(body.joint.rotor_inertia)


def lane_of(x: Any, limb: Limb, lane: int) -> Any:
    """A lane of a number of a limb, or of one nearer to the trunk."""
    if isinstance(x, LaneConstant):
        return values_in(x, limb)[lane]
    if isinstance(x, LaneExpr):
        if outer(limb, x.limb) != limb:
            raise LanesMeetError(f"a result of {limb} has the lanes of {x.limb}: a sum is missing")
        own = lanes_of(limb, x.limb)[lane]
        return Picked(Expr(x.graph, x.node, x.signs[own]), own)
    return x


def summed(x: Any, limb: Limb, near: Limb) -> Any:
    """Σ over the bodies that share a position, of numbers, arrays and tuples of them."""
    return each(lambda y: gathered(y, limb, near), x)


def each(function: Callable[..., Any], *xs: Any) -> Any:
    """A function of numbers, on those of arrays and tuples of the same shape."""
    x = xs[0]
    if isinstance(x, np.ndarray):
        flat = [y.ravel() for y in xs]
        return object_array([each(function, *ys) for ys in zip(*flat, strict=True)], x.shape)
    if isinstance(x, tuple):
        parts = [each(function, *ys) for ys in zip(*xs, strict=True)]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, Series):
        return Series([each(function, *ys) for ys in zip(*(y.c for y in xs), strict=True)])
    return function(*xs)


def each_of(x: Any, function: Callable[[Any], list[Any]]) -> list[Any]:
    """The same of a function with several results: one array or tuple for each of them."""
    found: list[list[Any]] = []
    each(lambda y: found.append(function(y)), x)
    results = []
    for numbers in zip(*found, strict=True):
        left = iter(numbers)
        results.append(each(lambda _, left=left: next(left), x))
    return results


def _lanes(arrays: list[np.ndarray], limb: Limb) -> np.ndarray:
    """Arrays of constants, one for each lane, as one array of numbers with lanes."""
    stacked = np.stack([np.asarray(x, dtype=float) for x in arrays])
    flat = stacked.reshape(len(arrays), -1).T
    return object_array([constant(row, limb) for row in flat.tolist()], stacked.shape[1:])
