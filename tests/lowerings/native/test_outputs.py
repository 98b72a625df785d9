"""Which entries are written together: rows of neighbouring values, in each lane alike."""

import numpy as np
import pytest

from closedform.lowerings.native import steps
from closedform.lowerings.native.outputs import lane_rows, output_blocks
from closedform.program.expr import Graph
from closedform.program.lanes.numbers import entries
from closedform.program.program import Slot
from closedform.program.record import Picked, collect, object_array
from native_code import NativeCode, targets

TARGETS = targets()


def limb_matrix(width, count, gap):
    """Row l: `count` values of limb l with signs of their own, then zeros; y_lk = ±2 x_lk.

    The last column is the first once more, so that values stand in several rows.
    """
    graph, rng = Graph(), np.random.default_rng(width * 100 + count)
    x = rng.normal(size=(width, count))
    limb = ((0, width),)
    read = [2.0 * entries(graph, 0, [count * lane + k for lane in range(width)], limb)
            for k in range(count)]
    signs = rng.choice([-1, 1], size=(width, count))
    rows, expected = [], []
    for lane in range(width):
        row = [Picked(int(signs[lane, k]) * read[k].positive, lane) for k in range(count)]
        rows += [*row, *[0.0] * gap, row[0]]
        expected += [*(2 * signs[lane] * x[lane]), *[0.0] * gap, 2 * signs[lane, 0] * x[lane, 0]]
    program = collect(graph, "limbs", (Slot("x", (width, count)),), {
        "y": object_array(rows, (width, count + gap + 1))})
    return program, x, np.array(expected).reshape(width, -1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("width", [2, 4, 8])
def test_rows_of_limbs_are_written_as_they_are(target, width, dtype):
    for count in range(1, 9):
        for gap in (0, 1, 9):
            program, x, expected = limb_matrix(width, count, gap)
            found, = NativeCode(program, TARGETS[target], dtype).one_state(x)
            np.testing.assert_array_equal(found, expected.astype(dtype))


@pytest.mark.parametrize(("width", "count", "gap"), [(2, 7, 0), (8, 7, 0), (4, 3, 1), (8, 6, 3)])
def test_all_entries_are_written_by_rows_or_blocks(width, count, gap):
    program, _, _ = limb_matrix(width, count, gap)
    output = program.outputs[0]
    rows = list(lane_rows(output.entries, program.widths))
    written = set().union(*(r.entries for r in rows))
    for start, stop, fill in output_blocks(output.entries, 1, written):
        written |= set(range(start, stop))
        assert fill is None
    assert written == set(range(len(output.entries)))


def test_wide_limbs_are_mostly_written_in_fours():
    program, _, _ = limb_matrix(8, 7, 2)
    found = steps.steps(program, True, 1)
    rows = [step for step in found if step.op == "rows"]
    assert all(len(step.args) == 4 for step in rows) and len(rows) == 2
    assert sum(step.op == "write" and max(step.args) >= 0 for step in found) == 8
