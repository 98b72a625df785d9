"""Passes that lower a program's count of operations and keep its value.

Each rule is an identity of real numbers; it rounds differently in the last places. A rule is kept
where it helps and undone where it does not, so that no program gets more expensive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from closedform.program.program import Program
from closedform.program.rules.angles import add_angles, angle_pairs
from closedform.program.rules.cancel import cancel_terms
from closedform.program.rules.factor import factor_sums
from closedform.program.rules.flat import Flat
from closedform.program.rules.share import share_products, share_sums

ROUNDS = 8
"""Rules make room for each other; so many times they are gone through at most."""

WORTHWHILE = 1e-3
"""Another round is not worth the time if the last one saved a smaller part of the cost."""

TRIALS = 30_000
"""Pairs of angles are tried one by one if pairs · instructions is less, else all together."""


class Flattened:
    """The flattened form of a program, made once for all passes that leave it as it is."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._flat: Flat | None = None

    def of(self, program: Program) -> Flat:
        if self._flat is None or self._program is not program:
            self._program, self._flat = program, Flat(program)
        return self._flat

    def spoil(self) -> None:
        """A pass has changed it."""
        self._flat = None


@dataclass(frozen=True)
class Rule:
    """An identity and what it does: from a program to candidates for a cheaper one."""

    name: str
    identity: str
    candidates: Callable[[Program, Flattened], Iterable[Program]]


class Simplified(NamedTuple):
    """The cheaper program, and how many operations each rule saved."""

    program: Program
    saved: Mapping[str, int]


def simplify(
    program: Program, rules: Sequence[Rule] | None = None, trig_cost: float = 0.0,
    rounds: int = ROUNDS,
) -> Simplified:
    """The program after the rules, again and again until none of them helps, or so many rounds.

    What counts is multiplications + additions + trig_cost · (sines and cosines), then the number of
    instructions when products are fused into sums. A sine costs about 12 instructions to compute;
    with trig_cost = 0 they are free, as counts of robot dynamics are usually given.
    """
    def cost(p: Program) -> tuple[float, int]:
        return p.operations.total + trig_cost * p.operations.trig, p.operations.instructions

    rules = RULES if rules is None else rules
    saved = {rule.name: 0 for rule in rules}
    flattened = Flattened()
    done: dict[str, Program] = {}  # by rule, the program that it cannot improve
    for _ in range(rounds):
        before, _ = cost(program)
        for rule in rules:
            if done.get(rule.name) is program:
                continue
            given, total = program, program.operations.total
            for candidate in rule.candidates(program, flattened):
                if cost(candidate) < cost(program):
                    program = candidate
            saved[rule.name] += total - program.operations.total
            if program is given:
                done[rule.name] = program
        if before - cost(program)[0] <= WORTHWHILE * before:
            break
    return Simplified(program, saved)


def _rewriting(
    rewrite: Callable[[Flat], bool],
) -> Callable[[Program, Flattened], Iterable[Program]]:
    """A candidate by a pass over the flattened form; one that finds nothing changes nothing."""

    def candidates(program: Program, flattened: Flattened) -> Iterable[Program]:
        flat = flattened.of(program)
        if rewrite(flat):
            flattened.spoil()
            yield flat.to_program()

    return candidates


def _turning(program: Program, flattened: Flattened) -> Iterable[Program]:
    """Candidates with the sums and differences of one pair of angles, or of all at once."""
    pairs = angle_pairs(flattened.of(program))
    together = len(pairs) * len(program.code) > TRIALS
    for group in [pairs] if together else [[angles] for angles in pairs]:
        flat = Flat(program)
        for angles in group:
            add_angles(flat, angles)
        yield flat.to_program()


REGROUP = Rule("regroup", "(a + b·c) + d = (a + d) + b·c",
               lambda program, flattened: [flattened.of(program).to_program()])
CANCEL = Rule("cancel", "(a + b) − a = b", _rewriting(cancel_terms))
FACTOR = Rule("factor", "a·b + a·c = a·(b + c)", _rewriting(factor_sums))
SHARE_PRODUCTS = Rule("share products", "(a·b)·c, (a·d)·b: a·b once", _rewriting(share_products))
SHARE_SUMS = Rule("share sums", "(a + b) + c, (a + d) + b: a + b once", _rewriting(share_sums))
ADD_ANGLES = Rule("add angles", "cos x cos y − sin x sin y = cos(x + y)", _turning)

RULES: tuple[Rule, ...] = (REGROUP, CANCEL, ADD_ANGLES, FACTOR, SHARE_PRODUCTS, SHARE_SUMS)
"""All rules, in the order they are tried."""
