"""Plans for devices with less shared memory than the one that was measured."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ClosedformError
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.cuda import driver, fitting
from closedform.lowerings.cuda.fitting import H200, GpuLimits
from closedform.lowerings.cuda.pieces import stages, waits
from closedform.lowerings.cuda.plan import chosen
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from cuda_runs import DTYPES, emulated
from fake_cuda import ATTRIBUTES, FakeCuda, pretended, seen

LIMITS = {"sm_75": GpuLimits(64 << 10, copies=False), "sm_86": GpuLimits(99 << 10), "sm_90": H200}
FMA = pytest.mark.skipif(not host().fma, reason="this processor has no fused multiply-add, so that "
                         "its own kernels round in another way")


def told(chip):
    """What the driver says of a device."""
    return {**ATTRIBUTES, 75: int(chip[3]), 76: int(chip[4]), 97: LIMITS[chip].shared}


def program(robot, name):
    return getattr(cf.compile(cf.load(robot)), name).program


def layouts(of, layout):
    return (layout,) * len(of.inputs), (layout,) * len(of.outputs)


@pytest.mark.parametrize("chip", LIMITS)
def test_a_device_tells_what_a_plan_has_to_fit(chip):
    with pretended(FakeCuda(attributes=told(chip))):
        assert driver.device(0).limits == LIMITS[chip]


@pytest.mark.parametrize("robot, name", [
    ("panda", "inverse_dynamics_derivatives"), ("panda", "forward_dynamics")])
@pytest.mark.parametrize("kind", DTYPES)
def test_two_warps_have_room_in_the_shared_memory_of_every_device(robot, name, kind):
    found = program(robot, name)
    for layout in ("rows", "states"):
        for limits in LIMITS.values():
            plan = fitting.fitting(found, kind, *layouts(found, layout), limits)
            assert limits.copies or not plan.staying
            for stage in stages(found, plan):
                each = stage.code().shared + 1024              # the system's own of a block
                assert each * max(1, 2 // stage.plan.warps) <= limits.shared + 1024


def test_the_device_that_was_measured_has_the_plans_that_were():
    found = program("panda", "inverse_dynamics_derivatives")
    for layout in ("rows", "states"):
        for kind in DTYPES:
            parts = layouts(found, layout)
            assert fitting.fitting(found, kind, *parts) == chosen(found, kind, *parts)


def test_of_two_orders_of_long_rows_that_one_is_taken_in_which_less_waits():
    """In M, C, g of a humanoid the matrices share little, in ∂τ/∂q and ∂τ/∂v much."""
    for name, apart in (("christoffel_dynamics_matrices", True),
                        ("inverse_dynamics_derivatives", False)):
        found = program("humanoid25", name)
        plan = fitting.fitting(found, "double", *layouts(found, "rows"))
        count = {x: waits(stages(found, replace(plan, apart=x))) for x in (False, True)}
        assert plan.apart == apart
        assert count[apart] < count[not apart]


def test_memory_that_no_value_waits_in_is_left_to_tiles():
    """Up to 215 values may wait; inverse dynamics of a humanoid have 15."""
    found = program("humanoid25", "inverse_dynamics")
    plan = fitting.fitting(found, "double", *layouts(found, "rows"), LIMITS["sm_86"])
    assert {*plan.inputs, *plan.outputs} == {"tile"}
    assert plan.slots == max(stage.code().slots for stage in stages(found, plan))


def test_without_room_nothing_goes_through_shared_memory():
    found = program("panda", "inverse_dynamics_derivatives")
    for kind in DTYPES:
        plan = fitting.fitting(found, kind, *layouts(found, "rows"), GpuLimits(1 << 10))
        assert all(stage.code().shared <= 1 << 10 for stage in stages(found, plan))


@FMA
@pytest.mark.parametrize("chip", ["sm_75", "sm_86"])
def test_smaller_plans_give_the_same_numbers(chip):
    kernel = cf.compile(cf.load("panda")).inverse_dynamics_derivatives
    x = np.random.default_rng(0).normal(size=(3, 40, 7))
    plan = fitting.fitting(kernel.program, "double", *layouts(kernel.program, "rows"), LIMITS[chip])
    for found, expected in zip(emulated(kernel.program, plan, list(x)), kernel(*x), strict=True):
        np.testing.assert_array_equal(found, expected)


@FMA
@pytest.mark.parametrize("chip", LIMITS)
def test_a_driver_that_refuses_large_blocks_takes_those_of_its_device(chip):
    kernel = compile_program(program("panda", "forward_dynamics_derivatives"), Cache(None))
    x = np.random.default_rng(1).normal(size=(3, 2, 7))
    with pretended(FakeCuda(attributes=told(chip))) as cuda:
        found = [seen(cuda, y) for y in kernel(*(cuda.array(a) for a in x))]
    for y, expected in zip(found, kernel(*x), strict=True):
        np.testing.assert_array_equal(y, expected)


def test_such_a_driver_refuses_what_was_planned_for_another(monkeypatch):
    monkeypatch.setattr(driver.Device, "limits", H200)
    kernel = compile_program(program("panda", "forward_dynamics_derivatives"), Cache(None))
    x = np.random.default_rng(1).normal(size=(3, 2, 7))
    with pretended(FakeCuda(attributes=told("sm_75"))) as cuda, pytest.raises(ClosedformError):
        kernel(*(cuda.array(a) for a in x))
