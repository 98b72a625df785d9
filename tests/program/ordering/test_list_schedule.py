"""The order of scalar code: every step after what it needs, the longest chain first."""

from itertools import pairwise
from typing import NamedTuple

import closedform as cf
from closedform.lowerings.native.steps import _arithmetic
from closedform.program.ordering.list_schedule import by_list_schedule
from closedform.program.ordering.machine import CORE


class Step(NamedTuple):
    op: str
    results: tuple[int, ...]
    args: tuple[int, ...]


def assert_in_order(steps):
    made = {i for step in steps for i in step.results}
    known = set()
    for step in steps:
        assert all(i in known for i in step.args if i in made)
        known.update(step.results)


def test_the_longest_chain_starts_first():
    short = [Step("mul", (k,), (-1,)) for k in range(20)]
    chain = [Step("fma", (50,), (-1,)), *(Step("fma", (k,), (k - 1,)) for k in range(51, 55))]
    ordered = by_list_schedule(short + chain)
    places = [ordered.index(step) for step in chain]
    assert places[0] == 0
    assert all(0 < y - x <= 2 * CORE.latency("fma") for x, y in pairwise(places))
    assert_in_order(ordered)
    assert sorted(ordered) == sorted(short + chain)


def test_values_do_not_pile_up():
    """Quotients that could all start at once wait until those before them are used."""
    pairs = [step for k in range(150) for step in (
        Step("div", (k,), (-1,)), Step("add", (1000 + k,), (k, -1)))]
    ordered = by_list_schedule(pairs)
    assert_in_order(ordered)
    live = most = 0
    for step in ordered:
        live += 1 if step.op == "div" else -1
        most = max(most, live)
    assert most == CORE.registers


def test_fewer_values_wait_where_others_are_held():
    pairs = [step for k in range(90) for step in (
        Step("div", (k,), (-1,)), Step("add", (1000 + k,), (k, -1)))]
    for held, places in ((0, CORE.registers), (5, CORE.registers - 5), (99, CORE.registers // 2)):
        live = most = 0
        for step in by_list_schedule(pairs, held):
            live += 1 if step.op == "div" else -1
            most = max(most, live)
        assert most == places


def test_steps_of_real_programs_stay_the_same_steps():
    for name, asked in (("panda", "inverse_dynamics"), ("panda", "forward_dynamics"),
                        ("humanoid25", "mass_matrix")):
        program = getattr(cf.compile(cf.load(name)), asked).program
        given = list(_arithmetic(program, fma=True))
        ordered = by_list_schedule(given)
        assert sorted(ordered) == sorted(given)
        assert_in_order(ordered)
