"""Where values wait: never more in registers than there are, and always somewhere when needed."""

import numpy as np
import pytest

from closedform.lowerings.native import functions
from closedform.lowerings.native.registers import read_again, waiting
from closedform.lowerings.native.steps import pieces, steps
from native_code import NativeCode, targets
from random_lanes import random_computation


@pytest.mark.parametrize("limits", [None, (60, 60)])
@pytest.mark.parametrize("count", [6, 27])
def test_every_value_is_in_a_register_or_waits_in_memory_that_is_its_own(count, limits):
    program, _, _ = random_computation(1, operations=300)
    parts = pieces(steps(program, True, 1), 1, limits)
    assert (len(parts) > 1) == (limits is not None)
    found = waiting(program, parts, count)
    held, memory = set(), {}
    for part, leaving in zip(parts, found.leaving, strict=True):
        last = dict.fromkeys((i for step in part for i in step.results), -1)
        last |= {i: k for k, step in enumerate(part) for i in step.args}
        for k, step in enumerate(part):
            for i in step.args:
                if i < 0 or program.code[i].op in ("const", "lanes") or i in held:
                    continue
                assert read_again(program, i) or all(
                    memory[found.places[i] + lane] == i for lane in range(program.widths[i]))
            held.update(i for i in step.results if i >= 0)
            for i in step.results:
                if i in found.places:
                    memory |= {found.places[i] + lane: i for lane in range(program.widths[i])}
            held -= set(leaving.get(k, ()))
            held -= {i for i in held if last[i] <= k}
            assert len(held) <= count or len(step.results) > 1
        assert not held & {i for later in parts[parts.index(part) + 1:]
                           for step in later for i in step.args}
        held.clear()
    assert max(memory, default=-1) < found.size


def test_few_registers_change_no_result(monkeypatch):
    monkeypatch.setattr(functions, "REGISTERS", 4)
    program, x, expected = random_computation(2, operations=200)
    found, = NativeCode(program, targets()["host"]).one_state(x)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())


def test_the_more_registers_the_fewer_values_wait():
    program, _, _ = random_computation(3, operations=300)
    parts = pieces(steps(program, True, 1), 1)
    waited = [len(waiting(program, parts, count).places) for count in (5, 10, 20, np.inf)]
    assert waited == sorted(waited, reverse=True) and waited[0] > 0
    assert waited[-1] == 0
