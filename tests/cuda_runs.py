"""Programs by the kernels of a plan, run by the emulator: what a GPU would give."""

import numpy as np

from closedform.lowerings.cuda.pieces import stages
from closedform.lowerings.cuda.plan import GpuPlan
from ptx_emulator import Emulator
from ptx_memory import Memory

DTYPES = {"double": np.float64, "float": np.float32}
CALL = 5


def plan_of(program, kind, inputs, outputs, **more):
    return GpuPlan(kind, (inputs,) * len(program.inputs), (outputs,) * len(program.outputs), **more)


def same_bits(found, expected):
    """Equal bit for bit, zeros by their signs too; any NaN is equal to any other."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    some = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[some], np.signbit(expected)[some])


def emulated(program, plan, arrays, shift=0):
    """The outputs for arrays of states, (n, ...) each, in the layouts of a plan.

    They lie so many bytes behind where memory begins for an array.
    """
    n, size, memory = len(arrays[0]), plan.size, Memory()
    dtype = DTYPES[plan.kind]
    told, places = [], []
    for x, layout in zip(arrays, plan.inputs, strict=True):
        flat = np.asarray(x, dtype).reshape(n, -1)
        last = layout == "states"
        told += [memory.put(flat.T if last else flat), (n if last else flat.shape[1]) * size]
    count = len(told)
    for output, layout in zip(program.outputs, plan.outputs, strict=True):
        m, last = len(output.entries), layout == "states"
        start = memory.put(np.full((n, m), 99.0, dtype), shift)
        places.append((start, m, last))
        told += [start, (n if last else m) * size]
    found = stages(program, plan)
    slots = max(stage.slots for stage in found)
    waiting = [memory.put(np.full((slots, n), np.nan, dtype)), n * size]
    word = memory.put(np.zeros(1, np.uint64))
    for stage in found:
        code = stage.code()
        between = waiting if stage.slots else []
        looping = stage.plan.staying or stage.plan.careful
        Emulator(code.ptx()).launch(
            memory, 2 if looping else -(-n // stage.plan.states), code.shared,
            n, *told[:count], *between, *told[count:], *between, word, CALL)
    results = []
    for (start, m, last), output in zip(places, program.outputs, strict=True):
        x = memory.get(start, (m, n) if last else (n, m), dtype)
        results.append((x.T if last else x).reshape(n, *output.shape))
    return results
