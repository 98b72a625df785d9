"""What keeps the threads of a warp in order: without any one of these lines it is an error."""

import re

import numpy as np
import pytest

from closedform.lowerings.cuda.code import CudaCode
from closedform.program.record import record
from cuda_runs import emulated, plan_of

PLANS = {
    "tiles": ("tile", "tile", {"block": 32}),
    "tiles, blocks of two warps": ("tile", "tile", {}),
    "tiles in": ("tile", "rows", {}),
    "tiles out": ("rows", "tile", {}),
    "segments": ("tile", "segments", {"registers": 4, "slots": 2, "block": 32}),
    "warps that stay": ("tile", "tile", {"staying": True, "block": 32}),
    "warps that stay, blocks of two warps": ("tile", "tile", {"staying": True}),
    "warps that stay, own rows": ("tile", "rows", {"staying": True, "block": 32}),
    "warps that stay, states last": ("states", "states", {"staying": True, "block": 32}),
}
ORDER = re.compile(r"bar\.|cp\.async\.(commit_group|wait_group)")
SPARE = {"warps that stay, states last": {3}}
"""Lines that are not needed: each lane reads what it has asked for itself."""
PROGRAM = record(lambda x: np.concatenate((np.sin(x[::-1]) + x, [x[0] * x[1], 2.5])), {"x": (3,)},
                 "order")


def states(staying):
    """Three tiles for every warp and a part of one; the last state is done again by its thread."""
    x = np.random.default_rng(0).normal(size=(6 * 32 + 5 if staying else 37, 3))
    x[-1, 1] = 1e300
    return [x]


@pytest.mark.parametrize("name", PLANS)
def test_every_line_that_keeps_order_is_needed(name, monkeypatch):
    inputs, outputs, more = PLANS[name]
    plan = plan_of(PROGRAM, "double", inputs, outputs, **more)
    x, lines = states(plan.staying), CudaCode(PROGRAM, plan).ptx().splitlines()
    emulated(PROGRAM, plan, x)
    order = [k for k, line in enumerate(lines) if ORDER.match(line.strip())]
    assert order
    for n, k in enumerate(order):
        text = "\n".join((*lines[:k], *lines[k + 1:], ""))
        monkeypatch.setattr(CudaCode, "ptx", lambda self, text=text: text)
        if n in SPARE.get(name, ()):
            emulated(PROGRAM, plan, x)
            continue
        with pytest.raises(RuntimeError, match=r"without a barrier|was waited for"):
            emulated(PROGRAM, plan, x)
