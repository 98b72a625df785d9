"""Methods as objects."""

import numpy as np
import pytest

from closedform.applications.motion import methods
from closedform.applications.motion.methods import METHODS, RK4, chosen, rk4_step
from closedform.errors import ArgumentError
from closedform.lowerings import lanes
from closedform.program.record import record


def test_the_error_of_a_step_is_of_fifth_order():
    """ẏ = (y_2, −y_1): a step of RK4 is the series of the exponential up to h⁴."""
    step = rk4_step(lambda y, u: np.array([y[1], -y[0]]), 0)
    errors = [abs(step(np.array([1.0, 0.0]), np.array([h]))[0] - np.cos(h)) for h in (0.2, 0.1)]
    assert errors[0] / errors[1] == pytest.approx(2**6, rel=0.01)      # cos is even: h⁶


def test_a_recorded_step_is_the_step():
    step = rk4_step(lambda y, u: u - y * y, 2)
    program = record(step, {"y": (2,), "held": (3,)}, "step")
    y, held = np.array([0.3, -0.2]), np.array([1.0, 0.5, 0.1])
    np.testing.assert_allclose(lanes.run(program, y, held)[0], step(y, held), rtol=1e-15)


@pytest.mark.parametrize("name", METHODS)
def test_a_name_stands_for_the_method_with_its_own_options(name):
    made = chosen(name, step=0.5, rtol=1e-3, atol=None)
    assert made == (RK4(0.5) if name == "RK4" else METHODS[name](rtol=1e-3))
    assert chosen(made) is made


@pytest.mark.parametrize(("call", "told"), [
    (lambda: chosen("Euler"), "method must be one of RK4, RK23, RK45, DOP853, Radau, BDF, LSODA"),
    (lambda: chosen(RK4(), step=1.0), r"step belong to the method: give RK4\(step="),
    (lambda: RK4(0.0), "step must be a positive number"),
    (lambda: RK4("short"), "step must be a positive number"),
    (lambda: methods.DOP853(rtol=np.nan), "rtol must be a positive number"),
    (lambda: methods.BDF(atol=-1.0), "atol must be a positive number"),
])
def test_what_is_no_method_is_told(call, told):
    with pytest.raises(ArgumentError, match=told):
        call()


def test_an_absolute_tolerance_may_be_nothing():
    assert methods.RK45(atol=0).atol == 0
