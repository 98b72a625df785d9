"""One table of cycles for all that orders programs."""

from closedform.lowerings.native.steps import _arithmetic
from closedform.program.ops import OPS
from closedform.program.ordering import critical_path
from closedform.program.ordering.machine import ADDED, CORE, MULTIPLIED
from closedform.program.record import record


def test_every_operation_has_a_latency():
    assert all(CORE.latency(op) > 0 for op in OPS)
    assert CORE.latency("const") == 0


def test_a_product_fused_into_a_sum_is_known_before_both_one_after_the_other():
    assert CORE.latency("mul") < CORE.latency("fma") < CORE.latency("mul") + CORE.latency("add")
    fused = CORE.latency("mul"), CORE.latency("fma")
    assert fused == (critical_path.PRODUCT, critical_path.FUSED)


def test_units_are_named_for_all_sums_and_products_of_steps():
    program = record(lambda q: [q[0] * q[1] + q[2], q[2] - q[0] * q[1].sin(), q[0] * q[0] - q[1],
                                q[1] * q[2] * q[0], q[0] + q[1], q[1] - q[2]], {"q": (3,)}, "f")
    ops = {step.op for step in _arithmetic(program, fma=True)} - {"sincos"}
    assert ops <= MULTIPLIED | ADDED
