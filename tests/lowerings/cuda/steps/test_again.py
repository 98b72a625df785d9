"""Values that are computed again: fewer wait, and nothing else is computed."""

import pytest

import closedform as cf
from closedform.lowerings.cuda.steps.again import computed_again
from closedform.lowerings.cuda.steps.order import largest_live_set, live_profile, ordered
from random_programs import random_program


def replayed(program, steps, known):
    """A number for each value, the same for the same operation on the same values."""
    names = {}
    for step in steps:
        args = tuple(names.get(i, program.code[i]) for i in step.args)
        for k, i in enumerate(step.results):
            assert i < 0 or i not in names, "computed twice by the same name"
            names[i] = known.setdefault((step.op, k, args), len(known))
    return names


@pytest.mark.parametrize("seed", range(8))
def test_outputs_are_made_of_the_same_operations(seed):
    program = random_program(seed, operations=60)
    steps = ordered(program).steps
    found = computed_again(program, steps, room=4, weight=3)
    known = {}
    before, after = replayed(program, steps, known), replayed(found.program, found.steps, known)
    outputs = [e.index for output in program.outputs for e in output.entries if e.index >= 0]
    assert [after.get(i) for i in outputs] == [before.get(i) for i in outputs]


def test_fewer_values_wait_in_the_forward_dynamics_of_a_humanoid():
    program = cf.compile(cf.load("humanoid25")).forward_dynamics.program
    steps, live = ordered(program)
    found = computed_again(program, steps, room=100, weight=2)
    assert largest_live_set(found.program, found.steps) < 0.75 * live
    assert len(found.steps) < 1.06 * len(steps)


def test_nothing_is_computed_again_where_there_is_room():
    program = cf.compile(cf.load("ur5")).forward_dynamics.program
    steps, live = ordered(program)
    assert computed_again(program, steps, room=live, weight=9) == (program, steps)


def test_a_dear_value_is_kept():
    """Angles are not reduced again for a product that waits."""
    program = cf.compile(cf.load("humanoid25")).forward_dynamics.program
    steps, _ = ordered(program)
    found = computed_again(program, steps, room=100, weight=4).steps
    assert sum(s.op == "sincos" for s in found) == sum(s.op == "sincos" for s in steps)
    assert max(live_profile(found)) < max(live_profile(steps))
