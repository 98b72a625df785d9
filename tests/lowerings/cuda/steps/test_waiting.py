"""Inputs that are asked for early are there when they are taken; nothing else lies upon them."""

import pytest

import closedform as cf
from closedform.lowerings.cuda.plan import GpuPlan
from closedform.lowerings.cuda.steps.order import ordered
from closedform.lowerings.cuda.steps.waiting import NEVER, asked_early, with_moves
from random_programs import random_program


def moves(program, registers):
    return with_moves(program, ordered(program).steps, registers)[0]


def arrived(steps, ring):
    """Whether a "take" finds what it should; all groups but the last are there behind "await"."""
    places, groups, open_group = {}, [], []
    for step in steps:
        if step.op == "ask":
            assert 0 <= step.array < ring
            places.pop(step.array, None)                         # from now on it may be overwritten
            open_group.append((step.array, step.results[0]))
        elif step.op == "asked":
            groups.append(open_group)
            open_group = []
        elif step.op == "await":
            for group in groups[:-1]:
                places.update(group)
            del groups[:-1]
        elif step.op == "take":
            assert places[step.array] == step.results[0]
    return True


@pytest.mark.parametrize("registers", [4, 12, NEVER])
@pytest.mark.parametrize("ring", [2, 4, 16])
@pytest.mark.parametrize("seed", range(4))
def test_every_number_has_arrived_when_it_is_taken(seed, ring, registers):
    program = random_program(seed, operations=60)
    steps = moves(program, registers)
    inputs = {i for i, x in enumerate(program.code) if x.op == "input"}
    found = asked_early(steps, ring, inputs)
    assert arrived(found, ring)
    reads = [s.results for s in steps if s.op == "read"]
    assert [s.results for s in found if s.op == "take"] == reads
    others = [s for s in found if s.op not in ("ask", "asked", "await", "take")]
    assert others == [s for s in steps if s.op != "read"]


def test_inputs_that_a_warp_moves_are_read_as_before():
    program = random_program(1, operations=60)
    steps = moves(program, 6)
    reads = [s for s in steps if s.op == "read"]
    some = {s.results[0] for s in reads[::2]}
    found = asked_early(steps, 4, some)
    assert [s for s in found if s.op == "read"] == [s for s in reads if s.results[0] not in some]


def test_a_humanoids_torques_ask_ahead_and_an_arms_torques_do_not():
    plans = []
    for name in ("humanoid25", "panda"):
        kernel = cf.compile(cf.load(name)).inverse_dynamics
        count = len(kernel.program.inputs)
        plans.append(kernel.gpu.plan("double", ("states",) * count, ("states",)))
    assert plans[0].ring and plans[0].copies and not plans[1].ring and not plans[1].copies


@pytest.mark.parametrize("more", [{"staying": True}, {"width": 2}, {"ring": 3}])
def test_a_ring_is_of_two_halves_and_for_threads_of_one_state(more):
    with pytest.raises(ValueError, match="ring"):
        GpuPlan("double", ("states",), ("states",), **{"ring": 4, **more})
