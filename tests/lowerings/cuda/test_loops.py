"""Rows of robots with closed loops on a GPU: what the CPU's kernels give, by the emulator."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.requests import asked_request
from closedform.applications.compile.states import random_input
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from cuda_runs import emulated, plan_of, same_bits

pytestmark = pytest.mark.skipif(not host().fma, reason="this processor has no fused multiply-add, "
                                "so that its own kernels round in another way")
ROBOT = cf.load("four_bar")
QUICK = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "loop_step", "loop_forces",
         "poses", "inverse_dynamics_derivatives")
ROWS = [row.name if not row.framed else cf.At(row.name, "coupler")
        for row in (*cf.CATALOGUE, *cf.LOOP_CATALOGUE)
        if row.name != "operational_space_inertia"]                     # needs six joints


@pytest.mark.parametrize("asked", [
    pytest.param(x, id=str(x), marks=() if x in QUICK else pytest.mark.slow) for x in ROWS])
def test_every_row_of_a_four_bar_runs_on_a_gpu(asked):
    program = cf.compile(ROBOT).program([asked_request(ROBOT, asked)])
    rng = np.random.default_rng(0)
    states = [np.stack([random_input(ROBOT, slot, rng) for _ in range(2)])
              for slot in program.inputs]
    found = emulated(program, plan_of(program, "double", "states", "states"), states)
    expected = compile_program(program, Cache(None))(*states)
    for x, y in zip(found, expected if isinstance(expected, tuple) else [expected], strict=True):
        same_bits(x, y)
