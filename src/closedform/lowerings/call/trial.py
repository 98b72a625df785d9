"""No program and no machine code is trusted unseen: what is new is compared with its definition.

It is run at random states before it is kept, and may be wrong by

    ε · (operations · (|y| + |δy| / δ) + natural)                                  (i)

y is the largest entry of the result by its definition, and δy how much it changes where the numbers
of model and state change by the small part δ: what cancels, and what a bad condition enlarges. What
is zero whatever the numbers has a natural size all the same, that of its terms.
Where a result is further away, a plainer program is taken in its place, and a warning says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from closedform.arrays import Floats
from closedform.errors import ClosedformError, ModelWarning
from closedform.lowerings import lanes
from closedform.program.program import Program
from closedform.program.record import named_arrays, record

STATES = 2
MANY = 40
"""Bodies above which one state has to do: definitions then take as long as compiling."""
LANES = 17
"""States that are run, the few again and again: more than any register holds, and one left over."""
MOVING = 400
"""Operations that move a body's frame and inertia: products of 4x4 and of 3x3 matrices."""
NEAR = 1e-8
"""The δ of (i): far above what rounding does, and small for any condition that is not hopeless."""
SEED = 15

Run = Callable[..., Sequence[Floats]]
"""The outputs for arrays of states."""
Values = Mapping[str, Any]
"""Arrays by name: inputs, or outputs."""
Definition = Callable[[Values], Values]


@dataclass(frozen=True, eq=False)
class Trial:
    """What programs of something are compared with.

    `inputs` makes random inputs of one state, `definition` says what comes of them, and `nearby`
    the same of a model whose numbers are up to NEAR away. `plain` are programs that do without what
    may have gone wrong, the plainest last; `oddity` says what is special about the model, and
    `bodies` are those whose frames were moved; `natural`: see (i).
    """

    title: str
    inputs: Callable[[np.random.Generator], Values]
    definition: Definition
    nearby: Definition
    plain: Callable[[], Sequence[Program]]
    oddity: Callable[[], str] = lambda: ""
    bodies: int = 0
    natural: float = 1.0
    _cases: dict[Any, _Cases] = field(default_factory=dict)

    def begin(self) -> None:
        """Find out beside other work what the definition says: while LLVM compiles, mostly."""
        self._at(np.dtype(np.float64)).begin()

    def _at(self, dtype: Any) -> _Cases:
        return self._cases.setdefault(dtype, _Cases(self, dtype))

    def program(self, program: Program) -> Program:
        """The program, or a plainer one where it is wrong."""
        return self.code(program, lanes.over_blocks(program), np.dtype(np.float64))

    def code(self, program: Program, run: Run, dtype: Any) -> Program:
        """The same of a program by a way to run it: its machine code."""
        cases = self._at(dtype)
        if not cases.known or cases.hold(program, run) or cases.hold(program, run, True):
            return program
        if cases.hold(program, lanes.over_blocks(program), True):
            raise ClosedformError(f"{self.title}: the machine code does not compute its program; "
                                  "this is an error of closedform or of LLVM")
        for other in self.plain():
            if cases.hold(other, lanes.over_blocks(other), True):
                warnings.warn(
                    f"{self.title}: in the cheapest frames the result is {cases.off(program, run)} "
                    "away from its definition, so it is computed in the frames of the model"
                    f"{self.oddity()}", ModelWarning, stacklevel=3)
                return other
        return program                      # nothing is nearer to the definition


class _Cases:
    """States of a precision, and what a definition says of them."""

    def __init__(self, trial: Trial, dtype: Any) -> None:
        self.trial, self.dtype = trial, dtype
        self._early: Future[Sequence[tuple[Values, Values]]] | None = None

    def begin(self) -> None:
        """Compute what is known in another thread."""
        if self._early is None and "known" not in vars(self):
            pool = ThreadPoolExecutor(1)
            self._early = pool.submit(self._computed)
            pool.shutdown(wait=False)

    @cached_property
    def known(self) -> Sequence[tuple[Values, Values]]:
        """Inputs and outputs of the states where these are finite."""
        return self._computed() if self._early is None else self._early.result()

    def _computed(self) -> Sequence[tuple[Values, Values]]:
        rng, found = np.random.default_rng(SEED), []
        for _ in range(STATES if self.trial.bodies <= MANY else 1):
            state = {name: np.asarray(x, self.dtype) for name, x in self.trial.inputs(rng).items()}
            answer = _answer(self.trial.definition,
                             {name: x.astype(float) for name, x in state.items()})
            if answer is not None and all(np.isfinite(x).all() for x in answer.values()):
                found.append((state, answer))
        return found

    @cached_property
    def changes(self) -> Mapping[str, float]:
        """The largest |δy| / δ of each output."""
        rng, found = np.random.default_rng(SEED), dict.fromkeys(self.known[0][1], 0.0)
        for state, answer in self.known:
            moved = {name: x + NEAR * np.abs(x).max(initial=0.0) * rng.normal(size=x.shape)
                     for name, x in state.items()}
            near = _answer(self.trial.nearby, moved)
            for name in found if near is None else near:
                change = np.inf if near is None else np.nanmax(
                    np.abs(near[name] - answer[name]), initial=0.0, where=np.isfinite(near[name]))
                found[name] = max(found[name], float(change) / NEAR)
        return found

    def hold(self, program: Program, run: Run, conditioned: bool = False) -> bool:
        """Whether all outputs are the expected ones, to rounding."""
        work = program.operations.total + program.operations.trig + MOVING * self.trial.bodies
        for output, error, size in self._errors(program, run):
            allowed = work * size
            if conditioned:
                allowed += work * self.changes[output] + self.trial.natural
            if not error <= np.finfo(self.dtype).eps * allowed:
                return False
        return True

    def off(self, program: Program, run: Run) -> str:
        """How wrong the worst output is, next to its size."""
        parts = [error / (size or 1.0) for _, error, size in self._errors(program, run)]
        return f"{max(parts):.1e} of its size"

    def _errors(self, program: Program, run: Run) -> Sequence[tuple[str, float, float]]:
        """Name, largest error and largest expected entry of every output."""
        states = [self.known[k % len(self.known)] for k in range(LANES)]
        found = run(*(np.stack([state[slot.name] for state, _ in states])
                      for slot in program.inputs))
        errors = []
        for output, x in zip(program.outputs, found, strict=True):
            expected = np.stack([answer[output.name] for _, answer in states])
            errors.append((output.name, float(np.abs(x - expected).max(initial=0.0)),
                           float(np.abs(expected).max(initial=0.0))))
        return errors


def _answer(definition: Definition, given: Values) -> Values | None:
    """What a definition says, None where it refuses: a singular state."""
    try:
        with np.errstate(all="ignore"):
            return {name: np.asarray(x, dtype=float) for name, x in definition(given).items()}
    except (ClosedformError, ArithmeticError, np.linalg.LinAlgError):
        return None


def function_trial(name: str, shapes: Mapping[str, tuple[int, ...]], function: Callable[..., Any],
                   plain: Callable[[], Sequence[Program]] | None = None,
                   q: Callable[[np.random.Generator], Any] | None = None) -> Trial:
    """The trial of a program by a function on floats, which can be recorded if `plain` is not told.

    `q` makes random configurations where they are no vectors. The model's numbers are the constants
    of the plain program.
    """
    programs = plain or (lambda: [record(function, shapes, name)])

    def inputs(rng: np.random.Generator) -> Values:
        found = {key: 0.3 * rng.normal(size=shape) for key, shape in shapes.items()}
        return found if q is None or "q" not in found else found | {"q": q(rng)}

    def definition(given: Values) -> Values:
        return named_arrays(function(*given.values()), name)

    def nearby(given: Values) -> Values:
        return nearby_constants(programs()[-1])(given)

    return Trial(name, inputs, definition, nearby, programs)


def nearby_constants(program: Program) -> Definition:
    """The program with constants that are up to NEAR away."""
    rng = np.random.default_rng(SEED)
    code = tuple(x if x.value is None else x._replace(value=x.value * (1 + NEAR * rng.normal()))
                 for x in program.code)
    moved = replace(program, code=code)

    def definition(given: Values) -> Values:
        found = lanes.run(moved, *given.values())
        return {x.name: y for x, y in zip(program.outputs, found, strict=True)}

    return definition
