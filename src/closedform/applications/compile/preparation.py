"""From quantities of a robot to the smallest program that computes them.

Every algorithm of a quantity that applies to the robot is recorded, those that take a frame of
expression in several frames, and the cheapest is kept. Several quantities are recorded each by its
own cheapest algorithm, and all in one frame, where they share more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import product
from typing import Any, NamedTuple

from closedform.applications.compile.folding import FoldedForms
from closedform.applications.compile.forms import Forms
from closedform.applications.compile.names import output_names
from closedform.applications.compile.requests import (
    Parameters,
    PayloadAt,
    Request,
    RuntimeInput,
)
from closedform.applications.compile.robot_trial import robot_trial
from closedform.arrays import Array
from closedform.errors import SingularMatrix
from closedform.lowerings.call.signature import Interface
from closedform.lowerings.call.trial import Trial
from closedform.maths.algorithms.applicability import applies
from closedform.maths.arguments import SIZES
from closedform.maths.catalogue import quantity
from closedform.maths.definitions.closed_form import mass_matrix
from closedform.maths.quantity import Form, may_fold, may_join, takes_base
from closedform.maths.regularity import refuse_singular
from closedform.model.robot import Robot
from closedform.program.lanes.limbs import LanesMeetError
from closedform.program.lanes.sharing import FoldedProgram
from closedform.program.lanes.unfolded import unfolded
from closedform.program.pipeline import kept_outputs, optimised
from closedform.program.program import Operations, Program, Slot
from closedform.program.record import record, uncollected

ALL_BASES = 10
"""Up to so many segments every frame of expression is tried, above it three."""
HOPELESS = 2
"""An algorithm that in its first frame takes so many times the operations of another is not tried
in further ones."""

CLEARLY = 0.8
"""Part of the instructions of all lanes below which limbs in lanes need not be compared with the
program without them: rules save it less than the rest."""


class Way(NamedTuple):
    """How a quantity is computed."""

    algorithm: Callable[..., Any]
    form: Form           # of the robot
    base: int | None     # the segment in whose frame it is written; None: the bodies' own frames


class Preparation:
    """The programs of a robot."""

    def __init__(self, robot: Robot, inputs: Sequence[RuntimeInput] = (), snap: float | None = None,
                 order: int = 2, forms: Forms | None = None) -> None:
        self.forms = forms or Forms(robot, inputs, snap, order)
        self.robot = self.forms.robot

    @uncollected()
    def program(self, requests: Sequence[Request], wrenches: bool = False,
                only: Sequence[str] = ()) -> Program:
        """The smallest program found for these quantities, sharing what they have in common.

        `only` names the outputs to keep.
        """
        found = self.unjudged(requests, wrenches, only)
        return self.trial(requests, wrenches, only).program(found)

    @uncollected()
    def unjudged(self, requests: Sequence[Request], wrenches: bool, only: Sequence[str]) -> Program:
        """The same before it is compared with the definition."""
        self.refuse_what_never_exists(requests)
        return optimised(*(kept_outputs(p, only) for p in self.programs(requests, wrenches)))

    @uncollected()
    def folded(self, requests: Sequence[Request], wrenches: bool = False,
               only: Sequence[str] = (), unlike: bool = True) -> FoldedProgram:
        """The program with limbs in lanes, for one state; none where it has no less to do.

        Where the lanes save little, that is decided by the program without them. `unlike` limbs
        have lanes side by side where that takes fewer instructions.
        """
        folding = FoldedForms(self.forms)
        reason = folding.reason(requests, wrenches)
        if reason:
            return FoldedProgram.missing(reason)
        self.refuse_what_never_exists(requests)
        ways = [self._folding(request, folding) for request in requests]
        for request, found in zip(requests, ways, strict=True):
            if not found:
                return FoldedProgram.missing(f"{request.row.name} has no algorithm that folds")
        foldings = [folding]
        if unlike and all(may_join(x) for found in ways for x in found):
            foldings += [x for x in [FoldedForms(self.forms, joined=True)]
                         if x.joins(requests, wrenches)]
        try:
            recorded = [[kept_outputs(x.recorded(requests, choice, wrenches), only)
                         for choice in product(*ways)] for x in foldings]
            folding, cheapest = min(zip(foldings, recorded, strict=True),
                                    key=lambda x: min(p.issued for p in x[1]))
            best = optimised(*cheapest)
        except LanesMeetError as error:
            return FoldedProgram.missing(str(error))
        clear = best.issued < CLEARLY * best.lane_operations.instructions
        if not clear and best.issued >= self.program(requests, wrenches, only).issued:
            return FoldedProgram.missing("without lanes it takes no more instructions")
        return FoldedProgram(best, folding.lanes)

    def judged_folded(self, requests: Sequence[Request], wrenches: bool = False) -> Program | None:
        """The program with limbs in lanes, where there is one and its results are right.

        It is for other machines, whose registers may have two lanes: unlike limbs have none.
        """
        found = self.folded(requests, wrenches, unlike=False).program
        if found is None:
            return None
        flat = unfolded(found)
        return found if self.trial(requests, wrenches).program(flat) is flat else None

    def _folding(self, request: Request, folding: FoldedForms) -> list[Callable[..., Any]]:
        """The algorithms of a request that fold: in the bodies' own frames, or in the trunk's."""
        found = [x for x in self._algorithms(request) if may_fold(x)]
        own = [x for x in found if not takes_base(x)]
        trunk = int(len(folding.at(request.row.form).tree[0].bodies) == 1)
        return own or [partial(x, base=trunk) for x in found]

    def trial(self, requests: Sequence[Request], wrenches: bool = False,
              only: Sequence[str] = ()) -> Trial:
        """What programs and kernels of these quantities are compared with before they are used."""
        slots = [Slot(*item) for item in self._shapes(requests, wrenches).items()]

        def plain() -> list[Program]:
            user = Preparation(self.robot, forms=self.forms.plain)
            found = [kept_outputs(p, only) for p in user.programs(requests, wrenches)]
            return [optimised(*found), found[0]]

        return robot_trial(self.forms, requests, slots, plain)

    def interpreted(self, requests: Sequence[Request], wrenches: bool = False,
                    only: Sequence[str] = ()) -> tuple[Interface, Callable[..., list[Array]]]:
        """These quantities as a function over NumPy, by the algorithms that programs are made of.

        In the bodies' own frames where there is such an algorithm.
        """
        self.refuse_what_never_exists(requests)
        shapes, names = self._shapes(requests, wrenches), output_names(requests)
        slots = {name: shape for request, own in zip(requests, names, strict=True)
                 for name, shape in zip(own, request.row.output_shapes(
                     self.robot, self.forms.order).values(), strict=True)}
        kept = tuple(only) or tuple(slots)

        def function(*arrays: Array) -> list[Array]:
            given, found = dict(zip(shapes, arrays, strict=True)), dict[str, Array]()
            for request, own in zip(requests, names, strict=True):
                way = Way(self._algorithms(request)[0], Form.USER, None)
                value = self._evaluated(request, way, given)
                found |= zip(own, value if request.row.fields else (value,), strict=True)
            return [found[name] for name in kept]

        inputs = tuple(Slot(*item) for item in shapes.items())
        return Interface("_and_".join(dict.fromkeys(r.row.name for r in requests)), inputs,
                         tuple(Slot(name, slots[name]) for name in kept),
                         Operations(0, 0, 0, 0, 0, 0), self.forms.digest), function

    def refuse_what_never_exists(self, requests: Sequence[Request],
                                 M: Callable[[Array], Array] | None = None) -> None:
        """The `SingularMatrix` of what cannot be solved for at two random states.

        `M` computes the mass matrix, where something does it faster than the definition.
        """
        if any(isinstance(x, Parameters | PayloadAt) for x in self.forms.inputs):
            return                             # masses are known when it is called
        for request in requests:
            if request.row.solves:
                refused = self._refused_at(request, self.robot.random(0), M)
                if refused and self._refused_at(request, self.robot.random(1), M):
                    raise refused

    def _refused_at(self, request: Request, q: Array,
                    M: Callable[[Array], Array] | None) -> SingularMatrix | None:
        try:
            if request.frame is None:
                refuse_singular(self.robot, M(q) if M else mass_matrix(self.robot, q))
            else:
                request.row.definition(self.robot, q, request.frame)
        except SingularMatrix as error:
            return error
        return None

    def programs(self, requests: Sequence[Request], wrenches: bool = False) -> Iterator[Program]:
        """Programs that compute these quantities in different ways."""
        alone = [self._alone(request, wrenches) for request in requests]
        if len(requests) == 1:
            yield from alone[0].values()
            return
        best = [min(found, key=lambda way, found=found: _count(found[way]))  # type: ignore[misc]
                for found in alone]
        choices = [best]
        for base, form in self._common_frames(requests):
            found = [self._in_frame(request, base, form or request.row.form, wrenches)
                     for request in requests]
            choices.append([x or y for x, y in zip(found, best, strict=True)])
        for choice in dict.fromkeys(map(tuple, choices)):
            yield self._recorded(requests, choice, wrenches)

    def _recorded(self, requests: Sequence[Request], ways: Sequence[Way],
                  wrenches: bool) -> Program:
        """The program of the requests, each computed in its way."""
        shapes = self._shapes(requests, wrenches)

        def together(*arrays: Array) -> Any:
            given = dict(zip(shapes, arrays, strict=True))
            return _named([(request, self._evaluated(request, way, given))
                           for request, way in zip(requests, ways, strict=True)])

        return record(together, shapes, "_and_".join(dict.fromkeys(r.row.name for r in requests)))

    def _shapes(self, requests: Sequence[Request], wrenches: bool) -> dict[str, tuple[int, ...]]:
        """Inputs of a program of these requests."""
        names = [n for n in SIZES if any(n in r.row.inputs for r in requests)]
        return self.forms.shapes([*names, *(["wrenches"] if wrenches else [])])

    def _evaluated(self, request: Request, way: Way, given: Mapping[str, Array]) -> Any:
        options = {} if way.base is None else {"base": way.base}
        algorithm = partial(way.algorithm, **options)
        return self.forms.evaluated(request, algorithm, way.form, given)

    def _alone(self, request: Request, wrenches: bool) -> dict[Way, Program]:
        """A request by every algorithm and in every frame that is worth trying."""
        found: dict[Way, Program] = {}
        for algorithm in self._algorithms(request):
            for tried, base in enumerate(self._bases(request, algorithm)):
                least = min(map(_count, found.values()), default=None)
                way = Way(algorithm, request.row.form, base)
                found[way] = self._recorded([request], [way], wrenches)
                if tried == 0 and least is not None and _count(found[way]) > HOPELESS * least:
                    break
        return found

    def _algorithms(self, request: Request) -> list[Callable[..., Any]]:
        """Those that apply to the robot, first those that keep every body in its own frame."""
        known = request.row.algorithms or (request.row.definition,)
        return sorted((x for x in known if applies(x, self.robot)), key=takes_base)

    def _bases(self, request: Request, algorithm: Callable[..., Any]) -> Sequence[int | None]:
        """Segments in whose frames to write an algorithm; None: the bodies' own frames."""
        row = request.row
        if not takes_base(algorithm):
            return (None,)
        n = len(self.forms.robot_in(row.form).segments)
        if n > ALL_BASES:
            return (1, 0, n // 2)
        tensors = any(len(shape) > 2 for _, shape in row.fields) or len(row.shape) > 2
        return self._promising if tensors else _frames(n)

    @cached_property
    def _promising(self) -> Sequence[int]:
        """The two frames of expression in which C takes the fewest operations.

        Frames rank alike for all quantities, and recording a tensor in every one takes seconds.
        """
        request = Request(quantity("coriolis_matrix"))
        counts = {base: _count(self._recorded([request], [way], False))
                  for base in _frames(len(self.forms.canonical.robot.segments))
                  if (way := self._in_frame(request, base, request.row.form, False)) is not None}
        return sorted(counts, key=counts.__getitem__)[:2]

    def _common_frames(
        self, requests: Sequence[Request],
    ) -> Iterator[tuple[int | None, Form | None]]:
        """Frames in which requests share more, each in its own form or all in a common one.

        Forms differ where one request allows less than another.
        """
        bases: list[int | None] = [None]
        forms = set()
        for request in requests:
            for algorithm in filter(takes_base, self._algorithms(request)):
                bases += self._bases(request, algorithm)
                forms.add(request.row.form)
        common = next((form for form in Form if form in forms), None)
        for base in dict.fromkeys(bases):
            yield base, None
            if base is not None and len(forms) > 1:
                yield base, common

    def _in_frame(self, request: Request, base: int | None, form: Form,
                  wrenches: bool) -> Way | None:
        """The cheapest way of a request in a frame, if there is one."""
        ways = [Way(algorithm, form, base) for algorithm in self._algorithms(request)
                if takes_base(algorithm) == (base is not None)]
        if len(ways) < 2:
            return ways[0] if ways else None
        return min(ways, key=lambda way: _count(self._recorded([request], [way], wrenches)))


def _count(program: Program) -> int:
    return program.operations.total


def _frames(n: int) -> Sequence[int]:
    """The world and the n segments, the first segment first: it tells most about the others."""
    return [1, 0, *range(2, n + 1)] if n else [0]


def _named(results: Sequence[tuple[Request, Any]]) -> Any:
    """One result as it is; several under their names, fields of named tuples under theirs."""
    if len(results) == 1:
        return results[0][1]
    named: dict[str, Any] = {}
    for (_, value), names in zip(results, output_names([r for r, _ in results]), strict=True):
        named |= zip(names, value if hasattr(value, "_asdict") else (value,), strict=True)
    return named
