"""A robot with its equal limbs in lanes, and programs recorded on it.

    positions ── a robot whose constants have lanes ── an algorithm as it is ── results by lanes

Arguments and results are those of the unfolded robot: an entry of an input is read into the lane of
its joint, and an entry of a result is a lane of what the algorithm found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from closedform.applications.compile.forms import Forms
from closedform.errors import ArgumentError
from closedform.maths.canonical.limbs import is_folded, positions
from closedform.maths.loads import carries
from closedform.maths.quantity import Form, Quantity
from closedform.maths.rotors import turning_rotors
from closedform.maths.scalars.series import Series
from closedform.maths.springs import has_springs
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot
from closedform.program.expr import Expr, Graph
from closedform.program.lanes.limbs import TRUNK, Limb, lanes_of, outer
from closedform.program.lanes.numbers import (
    LaneConstant,
    LaneExpr,
    constant,
    entries,
    gathered,
    values_in,
)
from closedform.program.program import Program, Slot
from closedform.program.record import Picked, collect, object_array, uncollected


class Place(NamedTuple):
    """Where an entry of q or v of the robot is in the folded one."""

    at: int
    lane: int
    limb: Limb


class Folding:
    """The folded form of a robot in one of the forms that have canonical frames."""

    def __init__(self, forms: Forms, form: Form = Form.BASE) -> None:
        self.forms = forms
        self.flat = forms.base if form is Form.BASE else forms.canonical.robot
        self.tree = positions(self.flat)

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
                summed=None if at.limb == near else partial(summed, limb=at.limb, near=near)))
        return Robot(self.flat.name, made, self.flat.gravity)

    @cached_property
    def places(self) -> dict[str, list[Place]]:
        """For entries of q and of v, where they are in the folded robot."""
        found: dict[str, list[Place]] = {}
        for size, own, there_of in (
                ("nq", self.robot.q_slices, self.flat.q_slices),
                ("nv", self.robot.v_slices, self.flat.v_slices)):
            places: list[Any] = [None] * getattr(self.flat, size)
            for at, body in zip(self.tree, self.robot.bodies, strict=True):
                for lane, b in enumerate(at.bodies):
                    if body.joint_name in own:
                        start, there = own[body.joint_name].start, self.flat.bodies[b].joint_name
                        for c, k in enumerate(range(*there_of[there].indices(len(places)))):
                            places[k] = Place(start + c, lane, at.limb)
            found[size] = places
        return found

    @uncollected()
    def recorded(self, row: Quantity, algorithm: Callable[..., Any]) -> Program:
        """The program of a quantity by an algorithm, limbs in lanes."""
        graph, shapes = Graph(), self.forms.shapes(row.inputs)
        given = {}
        for slot, name in enumerate(shapes):
            read = [entries(graph, slot, at, limb)
                    for at, limb in self.lanes["nq" if name == "q" else "nv"]]
            given[name] = object_array(read, (len(read),))
        if "q" in given:
            given["q"] = given["q"] + self.offset
        result = algorithm(self.robot, **given)
        arrays = result._asdict() if hasattr(result, "_asdict") else {row.name: result}
        sizes = [size for _, size in row.outputs]
        return collect(graph, row.name, tuple(Slot(*item) for item in shapes.items()), {
            name: self._unfolded(np.asarray(array, dtype=object), size)
            for (name, array), size in zip(arrays.items(), sizes, strict=True)})

    @cached_property
    def lanes(self) -> dict[str, list[tuple[list[int], Limb]]]:
        """For entries of the folded q and v, those of the robot's, lane by lane, and their limb."""
        found: dict[str, list[tuple[list[int], Limb]]] = {}
        for size, places in self.places.items():
            members: dict[int, dict[int, int]] = {}
            for k, place in enumerate(places):
                members.setdefault(place.at, {})[place.lane] = k
            limbs = {place.at: place.limb for place in places}
            found[size] = [([members[i][lane] for lane in range(len(members[i]))], limbs[i])
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
                [Place(k, 0, TRUNK) for k in range(n)]
                for s, n in zip(size, array.shape, strict=True)]
        shape = tuple(map(len, axes))
        return object_array([self._entry(array, index) for index in product(*axes)], shape)

    @staticmethod
    def _entry(array: np.ndarray, index: tuple[Place, ...]) -> Any:
        x = array[tuple(place.at for place in index)]
        far = max((place for place in index), key=lambda place: len(place.limb),
                  default=Place(0, 0, TRUNK))
        for place in index:
            apart = far.limb[:len(place.limb)] != place.limb
            if apart or lanes_of(far.limb, place.limb)[far.lane] != place.lane:
                return 0.0
        return lane_of(x, far.limb, far.lane)


def folds_at_all(forms: Forms) -> bool:
    """Whether a robot has equal limbs, and no loads that belong to single joints or bodies."""
    robot = forms.robot
    loaded = has_springs(robot) or carries(robot) or turning_rotors(robot)
    return not loaded and is_folded(positions(forms.canonical.robot))


def lane_of(x: Any, limb: Limb, lane: int) -> Any:
    """A lane of a number of a limb, or of one nearer to the trunk."""
    if isinstance(x, LaneConstant):
        return values_in(x, limb)[lane]
    if isinstance(x, LaneExpr):
        if outer(limb, x.limb) != limb:
            raise ArgumentError(f"a result of {limb} has the lanes of {x.limb}: a sum is missing")
        own = lanes_of(limb, x.limb)[lane]
        return Picked(Expr(x.graph, x.node, x.signs[own]), own)
    return x


def summed(x: Any, limb: Limb, near: Limb) -> Any:
    """Σ over the bodies that share a position, of numbers, arrays and tuples of them."""
    if isinstance(x, np.ndarray):
        return object_array([summed(y, limb, near) for y in x.ravel()], x.shape)
    if isinstance(x, tuple):
        parts = [summed(y, limb, near) for y in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, Series):
        return Series([summed(c, limb, near) for c in x.c])
    return gathered(x, limb, near)


def _lanes(arrays: list[np.ndarray], limb: Limb) -> np.ndarray:
    """Arrays of constants, one for each lane, as one array of numbers with lanes."""
    stacked = np.stack([np.asarray(x, dtype=float) for x in arrays])
    flat = stacked.reshape(len(arrays), -1).T
    return object_array([constant(row, limb) for row in flat.tolist()], stacked.shape[1:])
