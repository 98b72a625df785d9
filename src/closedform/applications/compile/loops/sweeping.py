"""Which quantities of which robots are computed by loops, and the loops: recorded steps and tables.

Several quantities in one kernel run one after the other; what one has computed already, and nobody
has changed, is not computed again. What nobody reads is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from closedform.applications.compile.forms import Forms
from closedform.applications.compile.loops.lifted import Lifted
from closedform.applications.compile.loops.needs import Known, needed
from closedform.applications.compile.loops.plans import (
    CUT,
    CUT_FROM,
    DEPTH,
    FORCES,
    MANY,
    PLANS,
    LoopPlan,
    SweepRun,
)
from closedform.applications.compile.loops.units import Units
from closedform.applications.compile.names import output_names
from closedform.applications.compile.requests import Gravity, Parameters, PayloadAt, Request
from closedform.arrays import Array
from closedform.lowerings.native.cpu import host
from closedform.maths.algorithms.applicability import tree_depth
from closedform.maths.arguments import SIZES
from closedform.maths.frames import located
from closedform.maths.sweeps import articulated, bodies, joints, pairs, parameters
from closedform.maths.sweeps.joints import StepFunction
from closedform.program.ordering.critical_path import by_critical_path, with_signs_turned
from closedform.program.ordering.live_ranges import by_live_ranges
from closedform.program.pipeline import kept_outputs, optimised
from closedform.program.program import Program, Slot, size
from closedform.program.record import record
from closedform.program.sweeps import (
    ArrayAt,
    BlockLoop,
    BodyLoop,
    ColumnLoop,
    Order,
    PairLoop,
    Strides,
    Sweeps,
    UnitSweep,
    arrays_read,
)

SHAPES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("q", "x", "v", "a", "v_r", "a_r", "tau", "rotor", "mass", "total", "rest",
                     "inverse", "b", "rests", "first", "stiffness", "E", "weight", "number",
                     "share", "last", "SU", "KS"), ()),
    **dict.fromkeys(("joint", "motion", "spring"), (2,)),
    **dict.fromkeys(("p0", "pb", "pf", "axis", "o", "d", "h", "p", "W", "WT", "a_O", "c_O", "com",
                     "gravity", "planar"), (3,)),
    **dict.fromkeys(("R0", "Rb", "Rf", "L", "R", "G", "N_O", "D_O"), (3, 3)),
    **dict.fromkeys(("S", "V", "VP", "A", "AP", "dPsi", "dS", "ddPsi", "f", "Sigma", "U", "UA",
                     "UT", "ST", "SP", "Z", "Q", "D", "K", "F", "delta", "deltas", "wrenches", "VR",
                     "AR", "before"),
                    (6,)),
    **dict.fromkeys(("body", "ground", "given", "parameters"), (10,)),
    "YB": (6, 10), "I": (21,), "free": (7,), "spherical": (4,),
    "payload": (10,), "Rbpayload": (3, 3), "pbpayload": (3,),
}
"""What each array has for a unit."""

WIDE = {"F": 6, "rests": 1, "deltas": 6}
"""What a column needs of every unit."""
FEWEST = 16
"""Units of the smallest robot: as many as any register has lanes."""
DEEP = min(DEPTH.values())
BY_JOINT = ("integrate", "difference", "joint_friction")
"""Rows in which each joint is alone."""
OF_JOINTS: Mapping[StepFunction, StepFunction] = {
    bodies.columns: bodies.columns_of_joints,
    pairs.derivatives_before: pairs.derivatives_before_of_joints}
"""Steps where joints have several velocities."""
ON_SERIES: Mapping[StepFunction, StepFunction] = {joints.origin: joints.resting_origin}
"""Steps where arrays are series in time."""


def sweeps_of(forms: Forms, requests: Sequence[Request], wrenches: bool,
              only: Sequence[str]) -> Callable[[], Sweeps] | None:
    """What makes the loops that compute what is asked for; None where straight-line code does."""
    rows, robot = [request.row for request in requests], forms.robot
    if robot.loops or not all(row.name in PLANS for row in rows):
        return None
    least = min(DEEP if len(robot.segments) >= MANY.get(row.name, math.inf) else DEPTH[row.name]
                for row in rows)
    cut_from = math.inf if wrenches else _cut_from(forms, requests)
    if tree_depth(robot) < min(least, cut_from):                 # before tables are made
        return None
    units = forms.units
    if units is None or units.n < FEWEST:
        return None
    in_line = units.depth < least
    if in_line and not (units.is_chain and units.depth >= cut_from):
        return None
    made = _Assembly(forms, units, requests, wrenches, only, in_line)
    return cache(made.sweeps) if made.is_possible else None


def _cut_from(forms: Forms, requests: Sequence[Request]) -> float:
    """Joints from which on one state of a chain is computed in runs, in lanes of a register."""
    known = all(isinstance(x, Gravity) for x in forms.inputs)
    if not known or not all(request.row.name in CUT for request in requests):
        return math.inf
    return CUT_FROM.get(host().register, math.inf)


def expected_operations(forms: Forms, requests: Sequence[Request]) -> int:
    """About how many operations straight-line code would take of a robot that is deep, 0 of others.

    A joint takes some hundred, as often as there are products of two orders; an entry a few.
    """
    robot = forms.robot
    if tree_depth(robot) < DEEP:
        return 0
    total = 0
    for request in requests:
        shapes = request.row.output_shapes(robot, forms.order).values()
        orders = (forms.order + 1) * (forms.order + 2) // 2 if "rates" in request.row.inputs else 1
        joint = 5 if request.row.name in BY_JOINT else 120 * orders
        total += joint * len(robot.segments) + 3 * sum(map(size, shapes))
    return total


class _Part(NamedTuple):
    """A request, its plan, and what the plan's arrays are called in these loops."""

    plan: LoopPlan
    aliases: Mapping[str, str]
    over: str                            # the list of the request's frame


class _Assembly:
    """The loops of some requests."""

    def __init__(self, forms: Forms, units: Units, requests: Sequence[Request], wrenches: bool,
                 only: Sequence[str], in_line: bool) -> None:
        self.forms, self.units, self.wrenches, self.in_line = forms, units, wrenches, in_line
        robot = forms.robot
        self.requests = requests
        names = [n for n in SIZES if any(n in r.row.inputs for r in requests)]
        shapes = forms.shapes([*names, *(["wrenches"] if wrenches else [])])
        self.inputs = tuple(Slot(*item) for item in shapes.items())
        found = {name: shape for request, own in zip(requests, output_names(requests), strict=True)
                 for name, shape in zip(own, request.row.output_shapes(robot, forms.order).values(),
                                        strict=True)}
        self.outputs = tuple(Slot(name, found[name]) for name in only or found if name in found)
        self.tables, self.lists = dict(units.tables), dict(units.lists)
        self.places = {slot.name: Strides(1) for slot in self.inputs} | {
            "wrenches": Strides(6), "gravity": Strides(0), "parameters": Strides(10),
            "parameters ": Strides(1),
            "rates": Strides(1, units.n), "payload": Strides(10)}
        entries = np.argwhere(robot.rotor_map != 0)
        share = [[float(robot.rotor_map[tuple(x)])] for x in entries]
        self.tables["share"] = np.array(share, dtype=float).reshape(-1, 1)
        columns, first = len(robot.parameters), 10 * len(robot.bodies)
        numbers = {"u": tuple(int(u) for u, _ in entries)}
        self.lists |= {
            "rotors": {"": tuple(range(len(entries))), **numbers,
                       "s": tuple(first + int(r) for _, r in entries)},
            "regressor": {"": tuple(int(u) * columns + first + int(r) for u, r in entries),
                          **numbers, "s": tuple(range(len(entries)))}}
        self.plain = robot.nq == units.n and not units.grouped
        self.parts = [self._part(k, r, own) for k, (r, own) in
                      enumerate(zip(requests, output_names(requests), strict=True))]

    @property
    def is_possible(self) -> bool:
        """Whether loops can express it: no frame of the world, no lift of joints that turn."""
        rows = [u for part in self.parts for u in self.lists.get(part.over, {}).get("u", ())]
        rows += [u for part in self.parts if part.plan.rows for u in self._rows(part)]
        lifts = [part.plan for part in self.parts if part.plan.lift]
        late = any(isinstance(x, Parameters | PayloadAt) for x in self.forms.inputs)
        return min(rows, default=0) >= 0 and not (self.units.grouped and any(
            not part.plan.grouped for part in self.parts)) and not (lifts and (
                len(self.parts) > 1 or late or self.wrenches))

    def _part(self, k: int, request: Request, own: Sequence[str]) -> _Part:
        plan = PLANS[request.row.name]
        if not isinstance(plan, LoopPlan):
            plan = plan(request.reference)
        aliases = {"x": "q"} if self.plain else {}
        aliases |= {"free": "q", "spherical": "q", "planar": "q", **plan.aliases}
        fields = dict(zip((name for name, _ in request.row.outputs), own, strict=True))
        kept = {slot.name: f"out{m}" for m, slot in enumerate(self.outputs)}
        for array, field in plan.results.items():
            name = own[0] if field == "" else fields[field]
            aliases[array] = kept.get(name, f"{name} of {k}")
        over = ""
        if request.frame is not None:
            place, segment = located(self.forms.robot, request.frame)
            over = f"frame {k}"
            aliases |= {"Rb": f"Rb{k}", "pb": f"pb{k}"}
            self._add_frame(k, over, segment, place.placement)
        columns = {kept[name]: unit for field, unit in plan.columns.items()
                   if (name := own[0] if field == "" else fields[field]) in kept}
        return _Part(plan._replace(columns=columns), aliases, over)

    def _add_frame(self, k: int | str, over: str, segment: int, placement: np.ndarray) -> None:
        unit, T = self.units.places[segment]
        T = T @ np.asarray(placement, dtype=float)
        self.lists[over] = {"": (0,), "u": (unit,)}
        self.tables |= {f"Rb{k}": T[:3, :3].reshape(1, 9), f"pb{k}": T[:3, 3].reshape(1, 3)}

    def _rows(self, part: _Part) -> tuple[int, ...]:
        if not part.plan.rows:
            return ()
        return self.lists[part.over if part.plan.rows == "frame" else part.plan.rows]["u"]

    # ------------------------------------------------------------------ loops
    def sweeps(self) -> Sweeps:
        loops: list[BodyLoop] = []
        known = Known()
        late, late_aliases = self._at_run_time()
        for part in self.parts:
            part = part._replace(aliases=late_aliases | dict(part.aliases))
            for run in (*late, *self._runs(part.plan)):
                made = self._sweep(part, run)
                if made is None:
                    continue
                if known.repeats((run, part.over * (run.over == "frame"), part.plan.lift), made):
                    continue
                loops.append(made)
            matrices = self._matrices(part)
            late_columns = [x for x in loops if part.plan.blocks and isinstance(x, UnitSweep)
                            and any(y.name.startswith("out") for y in x.step.outputs)]
            loops = [*(x for x in loops if x not in late_columns), *matrices, *late_columns]
        loops = needed(loops, {f"out{m}" for m in range(len(self.outputs))}, set(self.tables))
        return self._finished(loops)

    def _finished(self, loops: list[BodyLoop]) -> Sweeps:
        units, places = self.units, dict(self.places)
        buffers: dict[str, int] = {}
        for loop in loops:
            if not isinstance(loop, UnitSweep):
                continue
            for y in loop.step.outputs:
                array = ArrayAt.of(y.name).array
                if not array.startswith("out"):
                    buffers[array] = size(y.shape)
                elif loop.order is Order.LISTED:
                    places[array] = Strides(size(y.shape))
                else:
                    places[array] = Strides(0) if loop.order is Order.ONCE else Strides(1, units.n)
        used = {x for loop in loops for x in arrays_read(loop)}
        tables = {name: x for name, x in self.tables.items() if name in used}
        return Sweeps("_and_".join(dict.fromkeys(r.row.name for r in self.requests)), self.inputs,
                      self.outputs, places, units.parents, units.lasts, tables, buffers,
                      tuple(loops), self.in_line)

    def _runs(self, plan: LoopPlan) -> list[SweepRun]:
        found = []
        for run in plan.runs:
            found.append(run)
            if self.wrenches and run.step in FORCES:
                found.append(SweepRun(Order.LISTED, bodies.loaded, "bodies"))
        return found

    def _sweep(self, part: _Part, run: SweepRun) -> UnitSweep | None:
        """A run; None where its list is empty, or q is there already."""
        if run.step is joints.coordinate and self.plain:
            return None
        at = self.lists[part.over if run.over == "frame" else run.over] if run.over else {}
        if run.order is Order.LISTED and not at[""]:
            return None
        step = self._recorded(part, run.step)
        if run.order in (Order.OUTWARDS, Order.INWARDS):
            ordered = by_critical_path(step, halves=True, last=_parents(step))
            step = with_signs_turned(by_live_ranges(ordered))
        if run.joined is None or part.plan.lift:
            return UnitSweep(step, run.order, at)
        joined = self._recorded(part, run.joined)
        neutral = {y.name: tuple(np.ravel(joints.NEUTRAL.get(y.name, np.zeros(y.shape))).tolist())
                   for y in joined.outputs}
        return UnitSweep(step, run.order, at, joined, neutral)

    def _matrices(self, part: _Part) -> list[BodyLoop]:
        plan, loops = part.plan, list[BodyLoop]()
        if plan.pairs:
            before, *behind = (self._recorded(part, step) for step in plan.pairs)
            kept = [y.name for y in before.outputs if y.name.startswith("out")]
            extra = {part.aliases[name]: table for name, table in plan.diagonal.items()
                     if part.aliases.get(name) in kept and (
                         table not in self.tables or np.any(self.tables[table] != 0))}
            if kept:
                loops.append(PairLoop(kept_outputs(before, kept), kept_outputs(
                    behind[0], kept) if behind else None, extra, self._rows(part)))
        if plan.blocks is not None:
            loops.insert(0, BlockLoop(self._recorded(part, plan.blocks),
                                      self.lists["bodies"]["u"]))
        for output, unit in plan.columns.items():
            inwards = self._recorded(part, articulated.pushed if unit else articulated.pulled)
            loops.append(ColumnLoop(inwards, self._recorded(part, articulated.moved), output, unit,
                                    WIDE))
        return loops

    def _at_run_time(self) -> tuple[list[SweepRun], dict[str, str]]:
        """Steps that gather bodies whose parameters come with the state."""
        given = [x for x in self.forms.inputs if isinstance(x, Parameters | PayloadAt)]
        if not given:
            return [], {}
        runs, robot = [SweepRun(order, parameters.empty) for order in (Order.ONCE, Order.MAP)], (
            self.forms.robot)
        whole = any(isinstance(x, Parameters) for x in given)
        own = self.tables.pop("body")
        for name in ("mass", "total", "ground", *(["rotor"] if whole else [])):
            rest = self.tables.pop(name)
            if name == "ground" and not whole:
                self.tables["ground given"] = rest
        if whole:
            runs.append(SweepRun(Order.LISTED, parameters.with_body, "bodies"))
            runs.append(SweepRun(Order.LISTED, parameters.with_rotor, "rotors"))
        else:
            self.tables["given"] = own
            runs.append(SweepRun(Order.MAP, parameters.as_given))
        for x in given:
            if isinstance(x, PayloadAt):
                place, segment = located(robot, x.frame)
                self._add_frame("payload", "payload", segment, place.placement)
                runs.append(SweepRun(Order.LISTED, parameters.with_payload, "payload"))
        runs += [SweepRun(order, parameters.own_mass) for order in (Order.ONCE, Order.MAP)]
        runs.append(SweepRun(Order.INWARDS, bodies.behind("mass")))
        return runs, {"total": "mass", "ground": "body", "number": "parameters "}

    # ------------------------------------------------------------------ recording
    def _recorded(self, part: _Part, step: StepFunction) -> Program:
        """A step as a program; what is the same for all units is a constant of it."""
        step = OF_JOINTS.get(step, step) if self.units.grouped else step
        step = ON_SERIES.get(step, step) if part.plan.lift else step
        names = list(signature(step).parameters)
        lifted = Lifted(part.plan.lift, self.forms.order, self.tables)
        slots: dict[str, tuple[int, ...]] = {}
        for name in names:
            array, ending = ArrayAt.of(name)
            for source, shape in lifted.sources(array, SHAPES[array]).items():
                slots[_slot(part.aliases.get(source, source), ending)] = shape

        def known(name: str, given: Mapping[str, Any]) -> Any:
            array, ending = ArrayAt.of(name)
            if array == "gravity" and "gravity" not in self.input_names:
                return self.units.gravity
            found = {source: given[_slot(part.aliases.get(source, source), ending)]
                     for source in lifted.sources(array, SHAPES[array])}
            real = part.aliases.get(array, array)
            if real in self.tables:
                return _with_constants(found[array], self.tables[real])
            return lifted.value(array, found, SHAPES[array])

        def run(*arrays: Array) -> dict[str, Array]:
            given = dict(zip(slots, arrays, strict=True))
            found: dict[str, Array] = {}
            for key, x in step(*(known(name, given) for name in names)).items():
                array, ending = ArrayAt.of(key)
                real = part.aliases.get(array, array)
                found[_slot(real, ending)] = lifted.result(x, real.startswith("out"))
            return found

        return optimised(record(run, slots, step.__name__))

    @property
    def input_names(self) -> set[str]:
        return {slot.name for slot in self.inputs}


def _parents(step: Program) -> frozenset[int]:
    """Inputs that a step inwards adds to: what the parent has itself, which lies in memory."""
    written = {y.name for y in step.outputs}
    return frozenset(k for k, x in enumerate(step.inputs) if x.name in written)


def _slot(array: str, ending: str) -> str:
    return f"{array}_{ending}" if ending else array


def _with_constants(x: Any, table: np.ndarray) -> Any:
    """The recorded entries of a table, those that are all alike as numbers."""
    if not len(table):
        return x
    alike = np.ptp(table, axis=0) == 0
    if np.ndim(x) == 0:
        return float(table[0, 0]) if alike[0] else x
    flat = [float(t) if same else y
            for y, t, same in zip(np.ravel(x), table[0], alike, strict=True)]
    found = np.empty(len(flat), dtype=object)
    found[:] = flat
    return found.reshape(np.shape(x))
