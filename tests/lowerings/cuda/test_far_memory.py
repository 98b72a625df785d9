"""Arrays of more bytes than 32 bits can count: addresses have 64 bits in every layout."""

import numpy as np
import pytest

from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.cuda.pieces import stages
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from closedform.program.record import record
from cuda_runs import DTYPES, plan_of
from ptx_emulator import Emulator
from ptx_memory import FarMemory

pytestmark = pytest.mark.skipif(not host().fma, reason="this processor has no fused multiply-add, "
                                "so that its own kernels round in another way")
STATES = 3


def put_apart(memory, start, table, stride):
    """Rows of a table, so many bytes apart."""
    for k, row in enumerate(table):
        memory.put(start + k * stride, np.ascontiguousarray(row))


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("layout, more", [
    ("states", {}), ("states", {"chained": True}), ("strided", {})])
@pytest.mark.parametrize("stride", [3 << 30, 5 << 30, 4 * ((1 << 31) - 8)])
def test_entries_or_states_that_lie_gigabytes_apart(layout, more, stride, kind):
    dtype = DTYPES[kind]
    program = record(lambda x: np.array([x[0] * x[1] + x[3], x[2] - x[0] / x[3]]), {"x": (4,)},
                     "mixed")
    x = np.random.default_rng(0).normal(size=(STATES, 4)).astype(dtype)
    memory, first, result = FarMemory(), 1 << 40, 1 << 44
    y = np.zeros((STATES, 2), dtype)
    entries = layout == "states"
    put_apart(memory, first, x.T if entries else x, stride)
    put_apart(memory, result, y.T if entries else y, stride)
    word = memory.put(1 << 20, np.zeros(1, np.uint64))
    for stage in stages(program, plan_of(program, kind, layout, layout, **more)):
        code = stage.code()
        Emulator(code.ptx()).launch(memory, 1, code.shared, STATES, first, stride, result, stride,
                                    word, 1)
    expected = compile_program(program, Cache(None))(x)
    for k, row in enumerate(expected.T if entries else expected):
        np.testing.assert_array_equal(memory.get(result + k * stride, row.shape, dtype), row)
