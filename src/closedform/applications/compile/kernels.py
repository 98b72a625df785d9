"""Compiled robots: every quantity of the catalogue as machine code for one robot.

    arm = compile(robot)                     arm.inverse_dynamics(q, v, a), one state or any batch
    both = fuse(robot, ["mass_matrix", "gravity_torque"])           both(q) is a named tuple
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, final, overload

import numpy as np

from closedform.applications.compile.guarded import guarded
from closedform.applications.compile.loops.sweeping import expected_operations, sweeps_of
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.quantities import CompiledWithInputs, Quantities
from closedform.applications.compile.requests import (
    Asked,
    At,
    Gravity,
    Independent,
    Parameters,
    PayloadAt,
    Request,
    RuntimeInput,
    asked_request,
    checked_reference,
)
from closedform.applications.progress import compiling
from closedform.arrays import Array
from closedform.errors import ArgumentError, ClosedformError
from closedform.lowerings.call.derived import Derivative
from closedform.lowerings.call.interpreted import Interpreted
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.call.signature import Subject
from closedform.lowerings.native.cpu import MAKING
from closedform.lowerings.store.cache import Cache
from closedform.maths.catalogue import quantity
from closedform.maths.frames import Reference
from closedform.maths.quantity import Quantity, letters
from closedform.model.robot import Robot
from closedform.program.lanes.sharing import FoldedProgram
from closedform.program.pipeline import kept_outputs
from closedform.program.program import Program
from closedform.program.sweeps import Sweeps

ENORMOUS = 200_000
"""Operations from which on a warning comes before compiling: M of 300 joints took 107 s and 1.9 GB
for 1.6 million."""

LONGEST = 60_000
"""Operations, as expected, up to which a deep robot's program is written out for those who ask."""
AFFORDABLE = 30_000
"""Operations up to which code is written out in a line for robots that are deep, in 2 to 3 s. What
loops cannot compute and takes more is interpreted."""


@overload
def compile(robot: Robot, *, order: int = 2, snap: float | None = None,
            cache: Cache | None = None) -> CompiledRobot: ...
@overload
def compile(robot: Robot, *, inputs: RuntimeInput | Sequence[RuntimeInput], order: int = 2,
            snap: float | None = None, cache: Cache | None = None) -> CompiledWithInputs: ...
@overload
def compile(robot: Robot, quantities: Asked | Sequence[Asked], *, only: str | Sequence[str] = (),
            inputs: RuntimeInput | Sequence[RuntimeInput] = (), order: int = 2,
            snap: float | None = None, cache: Cache | None = None) -> Kernel: ...


def compile(
    robot: Robot, quantities: Asked | Sequence[Asked] | None = None, *,
    only: str | Sequence[str] = (),
    inputs: RuntimeInput | Sequence[RuntimeInput] = (), order: int = 2, snap: float | None = None,
    cache: Cache | None = None,
) -> CompiledRobot | CompiledWithInputs | Kernel:
    """A robot whose quantities are machine code.

    Kernels are recorded and compiled when first used, and kept in `cache` (by default on disk; see
    `closedform.lowerings.store.cache`). Quarter turns that a file writes with nine decimals or more
    are made exact, and with `snap` all placements and axes whose entries are so near to 0 and ±1;
    `.snapped` tells which, and by how much. `inputs` are arguments that come after the quantity's
    own: `Parameters()`, `Gravity()`, `PayloadAt(frame)`. `order` is that of the jets.

    Deprecated: with `quantities` this is `fuse`.
    """
    if quantities is not None:
        return fuse(robot, quantities, only=only, inputs=inputs, order=order, snap=snap,
                    cache=cache)
    whole = _compiled(robot, inputs, order, snap, cache)
    if only:
        raise ArgumentError(f"only={only!r} needs the quantities that it is a part of")
    return whole


def fuse(
    robot: Robot, quantities: Asked | Sequence[Asked], *, only: str | Sequence[str] = (),
    inputs: RuntimeInput | Sequence[RuntimeInput] = (), order: int = 2, snap: float | None = None,
    cache: Cache | None = None,
) -> Kernel:
    """One kernel for several quantities, which share what they have in common.

    Its arguments are those of all quantities, its result is a named tuple. `only` names the outputs
    to keep of those that the quantities have: `only=["dtau_dq", "dtau_dv"]`. A quantity of a frame
    is `At(name, frame, reference)`; the other arguments are those of `compile`.
    """
    whole = _compiled(robot, inputs, order, snap, cache)
    asked = [quantities] if isinstance(quantities, str | At) else quantities
    if not isinstance(asked, Iterable):
        raise ArgumentError(f"quantities must be names of quantities or cf.At, not {asked!r}")
    asked = list(asked)
    if not asked:
        raise ArgumentError("quantities must name at least one quantity")
    kept = (only,) if isinstance(only, str) else tuple(only)
    requests = [asked_request(whole.robot, x) for x in asked]
    made: Kernel = guarded(whole.kernel(requests, only=kept), whole.robot, requests)
    return made


def _compiled(robot: Robot, inputs: RuntimeInput | Sequence[RuntimeInput], order: int,
              snap: float | None, cache: Cache | None) -> CompiledRobot:
    if not isinstance(robot, Robot):
        raise ArgumentError(f"robot must be a cf.Robot, not {type(robot).__name__}; "
                            "cf.load(path or name) makes one")
    given = _runtime_inputs(inputs)
    if not isinstance(order, int) or order < 0:
        raise ArgumentError(f"order must be a whole number that is not negative, not {order!r}")
    if snap is not None and (not isinstance(snap, int | float) or not snap >= 0):
        raise ArgumentError(f"snap must be a number that is not negative, not {snap!r}")
    if cache is not None and not isinstance(cache, Cache):
        raise ArgumentError(f"cache must be a Cache or None, not {cache!r}")
    return CompiledRobot(robot, given, order, snap, cache)


def _runtime_inputs(inputs: RuntimeInput | Sequence[RuntimeInput]) -> tuple[RuntimeInput, ...]:
    kinds = Parameters | Gravity | PayloadAt | Independent
    given = (inputs,) if isinstance(inputs, kinds) or not isinstance(inputs, Iterable) else inputs
    checked = tuple(given)
    if not all(isinstance(x, kinds) for x in checked):
        raise ArgumentError("inputs must be cf.Parameters(), cf.Gravity(), cf.PayloadAt(frame) or "
                            f"cf.Independent(), or several of them, not {inputs!r}")
    return checked


@final
class CompiledRobot(Quantities):
    """A robot whose quantities are kernels: `arm.mass_matrix(q)`, `arm.frame_pose(q, "tool")`."""

    def __init__(self, robot: Robot, inputs: tuple[RuntimeInput, ...], order: int,
                 snap: float | None, cache: Cache | None) -> None:
        self.robot, self.inputs, self.order = robot, inputs, order
        self._snap, self._cache = snap, cache
        self._preparation = Preparation(robot, inputs, snap, order)

    @property
    def snapped(self) -> tuple[str, ...]:
        """What was made exact before recording."""
        return self._preparation.forms.notes

    def program(self, requests: Sequence[Request], wrenches: bool = False,
                only: tuple[str, ...] = ()) -> Program:
        """What computes these requests, recorded now and not compiled."""
        self._refuse_to_write_out(requests)
        return self._preparation.program(requests, wrenches, only)

    def kernel(self, requests: Sequence[Request], wrenches: bool = False,
               accepted: Callable[[Program], None] = lambda program: None,
               only: tuple[str, ...] = ()) -> Kernel:
        """One kernel for these requests; `accepted` sees a new program before it is compiled."""
        trial = self._preparation.trial(requests, wrenches, only)

        def build() -> Program:
            self._refuse_to_write_out(requests)
            with compiling(requests[0].text):
                program = self._preparation.unjudged(requests, wrenches, only)
                if swept is None and folded().program is None:    # its machine code will be judged
                    trial.begin()
                else:
                    program = trial.program(program)
            accepted(program)
            if program.operations.total > ENORMOUS:
                warnings.warn(f"{program.name} of {self.robot.name} takes "
                              f"{program.operations.total} operations; some 15 s and 250 MB for "
                              f"every {ENORMOUS} of them will go into compiling", stacklevel=2)
            return program

        loads = " with wrenches" if wrenches else ""
        kept = f" only {', '.join(only)}" if only else ""
        key = f"{self._preparation.forms.digest} {'; '.join(r.text for r in requests)}{loads}{kept}"
        swept = sweeps_of(self._preparation.forms, requests, wrenches, only)

        if swept is None and (expected := expected_operations(
                self._preparation.forms, requests)) > AFFORDABLE:
            return self._interpreted(requests, wrenches, only, expected)

        @cache
        def loops() -> Sweeps:
            assert swept is not None
            if any(r.row.solves for r in requests):
                known = any(isinstance(x, Parameters | PayloadAt) for x in self.inputs)
                M = None if known else self._mass_matrix
                self._preparation.refuse_what_never_exists(requests, M)
            return swept()

        @cache
        def folded() -> FoldedProgram:
            with compiling(requests[0].text):
                found = self._preparation.folded(requests, wrenches, only)
            if found.program is not None:
                accepted(found.program)
                trial.begin()
            return found

        made = Kernel.load(key, build, self._cache, compiling,
                           Subject(self.robot.name, letters(r.row for r in requests)), trial.code,
                           loops if swept else None, folded)
        made.with_recipe(_kernel, self, [(r.row.name, r.frame, r.reference) for r in requests],
                         wrenches, only)
        if len(requests) == 1 and not only:
            made.with_jacobian(JacobianRows(self, requests[0], wrenches))
        if len(requests) > 1 or "rates" not in requests[0].row.inputs or wrenches or only:
            return made
        return made.with_rows("rates", OtherOrders(self, requests[0]))

    def _refuse_to_write_out(self, requests: Sequence[Request]) -> None:
        """The error of a program that nobody would wait for: a deep robot's matrices."""
        expected = expected_operations(self._preparation.forms, requests)
        if expected > LONGEST:
            raise ClosedformError(
                f"{'; '.join(r.text for r in requests)} of {self.robot.name} would take some "
                f"{round(expected, -3)} operations as a program, {LONGEST} are the most that are "
                "written out; exports, GPUs, other frameworks and derivatives of kernels need one, "
                "calls do not: they are computed by loops or interpreted")

    def _mass_matrix(self, q: Array) -> Array:
        """M by its kernel; gravity that comes at run time does not matter."""
        found: Array = self.mass_matrix(q, *(np.zeros(3) for _ in self.inputs))
        return found

    def _interpreted(self, requests: Sequence[Request], wrenches: bool, only: tuple[str, ...],
                     expected: int) -> Kernel:
        """The function of these requests over NumPy, in the place of a kernel."""
        reason = (f"machine code in a line would take some {round(expected, -3)} operations, and "
                  f"there are no loops for it (docs/large_robots_loops.md)")
        interface, function = self._preparation.interpreted(requests, wrenches, only)
        of = Subject(self.robot.name, letters(r.row for r in requests))
        made: Any = Interpreted(interface, function, of, reason)
        warnings.warn(f"{of.title(interface.name)} is interpreted: {reason}; a call takes "
                      "milliseconds to minutes", stacklevel=4)
        recipe = self, [(r.row.name, r.frame, r.reference) for r in requests], wrenches, only
        made.with_recipe(_kernel, *recipe)
        if len(requests) == 1 and "rates" in requests[0].row.inputs and not (wrenches or only):
            made.with_rows("rates", OtherOrders(self, requests[0]))
        kernel: Kernel = made
        return kernel

    def _made(self, row: Quantity) -> Any:
        """What computes a row of the catalogue."""
        if row.framed:
            return Framed(self, row)
        return guarded(self._unguarded(row), self.robot, [Request(row)])

    def _unguarded(self, row: Quantity) -> Kernel:
        """The kernel of a row, with wrenches where there may be some."""
        kernel = self.kernel([Request(row)])
        if row.wrenches:
            kernel.with_variant("wrenches", UnderWrenches(self, row), len(row.inputs))
            kernel = kernel.with_recipe(_unguarded_row, self, row.name)
        return kernel

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledRobot, (self.robot, self.inputs, self.order, self._snap, self._cache)

    def __repr__(self) -> str:
        extra = f", inputs {', '.join(map(repr, self.inputs))}" if self.inputs else ""
        return f"<compiled {self.robot.name}: nv {self.robot.nv}{extra}>"


def _kernel(arm: CompiledRobot, asked: Sequence[tuple[str, str | None, Reference | None]],
            wrenches: bool, only: tuple[str, ...]) -> Kernel:
    """The kernel of requests that were pickled."""
    requests = [Request(quantity(name), frame, reference) for name, frame, reference in asked]
    return arm.kernel(requests, wrenches, only=only)


def _unguarded_row(arm: CompiledRobot, name: str) -> Kernel:
    return arm._unguarded(quantity(name))


@final
class OtherOrders:
    """The kernels of a jet for other numbers of rates, made when they are first asked for."""

    def __init__(self, arm: CompiledRobot, request: Request) -> None:
        self.arm, self.request = arm, request
        self._arms: dict[int, CompiledRobot] = {}

    def __call__(self, rows: int) -> Kernel:
        whole, row = self.arm, self.request.row
        order = rows - 2
        if order not in self._arms:
            self._arms[order] = CompiledRobot(whole.robot, whole.inputs, order, whole._snap,
                                              whole._cache)
        kernel = getattr(self._arms[order], row.name)
        return kernel.at(self.request.frame, self.request.reference) if row.framed else kernel


@final
class JacobianRows:
    """What the catalogue's rows know of a quantity's derivatives by its arguments.

    Not by q where v is not q̇, nor of loops: the rows have a column for each velocity.
    """

    def __init__(self, arm: CompiledRobot, request: Request, wrenches: bool) -> None:
        self.arm, self.request, self.wrenches = arm, request, wrenches
        self._kernels: dict[tuple[str, ...], Kernel | None] = {}

    def program(self, meant: Derivative) -> Program | None:
        """The cheapest program as recorded, of the rows of products with a direction or weights."""
        row, robot = self.request.row, self.arm.robot
        name = {"tangent": row.jvp, "cotangent": row.vjp}.get(meant.how, "")
        if not name or not set(meant.wrt) <= set(row.inputs) or not by_entries(robot, meant.wrt):
            return None
        only = [f"{x}_bar" for x in meant.wrt] if meant.how == "cotangent" else ()
        found = self.arm._preparation.programs([Request(quantity(name))], self.wrenches)
        return min((kept_outputs(p, only) for p in found), key=lambda p: p.operations.total)

    def __call__(self, wrt: tuple[str, ...]) -> Kernel | None:
        if wrt not in self._kernels:
            self._kernels[wrt] = self._made(wrt)
        return self._kernels[wrt]

    def _made(self, wrt: tuple[str, ...]) -> Kernel | None:
        row, robot = self.request.row, self.arm.robot
        found = {partial.by: partial for partial in row.derivatives}
        if not set(wrt) <= set(found) or not by_entries(robot, wrt) or row.fields:
            return None
        rows = [quantity(name) for name in dict.fromkeys(found[by].row for by in wrt)]
        if not all(set(x.inputs) <= set(row.inputs) and x.wrenches >= self.wrenches for x in rows):
            return None
        at = self.request.frame, self.request.reference
        requests = [Request(x, *at) if x.framed else Request(x) for x in rows]
        return self.arm.kernel(requests, self.wrenches, only=tuple(found[by].field for by in wrt))


@final
class UnderWrenches:
    """The kernel of a quantity under wrenches, made when it is first asked for."""

    def __init__(self, arm: CompiledRobot, row: Quantity) -> None:
        self.arm, self.row = arm, row
        self._kernel: Kernel | None = None

    def __call__(self) -> Kernel:
        if self._kernel is None:
            self._kernel = self.arm.kernel([Request(self.row)], wrenches=True)
        return self._kernel


class Framed:
    """A quantity of a frame: one kernel for each frame and reference, compiled when first used."""

    def __init__(self, arm: CompiledRobot, row: Quantity) -> None:
        self._arm, self._row = arm, row
        self._kernels: dict[tuple[str, Reference | None], Kernel] = {}
        self.__doc__ = row.definition.__doc__

    def at(self, frame: str, reference: Reference | None = None) -> Kernel:
        """The kernel of one frame: a function of the arrays alone."""
        frame = self._arm.robot.frame(frame).name
        key = frame, checked_reference(self._row, reference)
        if key not in self._kernels:
            requests = [Request(self._row, *key)]
            with MAKING:                             # others wait for the thread that comes first
                if key not in self._kernels:
                    self._kernels[key] = guarded(self._arm.kernel(requests), self._arm.robot,
                                                 requests)
        return self._kernels[key]

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The quantity of a frame, with the arguments of the function of the same name."""
        frame, reference = named.pop("frame", None), named.pop("reference", None)
        n = len(self._row.inputs) - sum(name in named for name in self._row.inputs)
        arrays, rest = args[:n], list(args[n:])
        if rest and isinstance(rest[0], str) and frame is None:
            frame = rest.pop(0)
            if rest and reference is None and isinstance(rest[0], Reference | str):
                reference = rest.pop(0)          # a text is refused with the names there are
        if frame is None:
            raise ArgumentError(f"{self._row.name}: frame is missing; it takes "
                                f"{', '.join(self._row.inputs)}, frame")
        return self.at(frame, reference)(*arrays, *rest, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._arm, self._row.name)

    def __repr__(self) -> str:
        return f"<{self._row.name} of the frames of {self._arm.robot.name}>"


def by_entries(robot: Robot, wrt: tuple[str, ...]) -> bool:
    """Whether derivatives by the entries of these inputs are those along tangents."""
    return "q" not in wrt or (not robot.loops and all(b.joint.is_vector for b in robot.bodies))
