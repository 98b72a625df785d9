"""Where the loop stops, and with what words."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.flexible import bang_bang, load
from closedform.applications.motion import integrator
from closedform.applications.motion.integrator import integrated
from oscillator import Oscillator

ARM = load("deluca_siciliano")
PUSH = bang_bang([0.2, 0.2], 0, 1, 2)


@pytest.mark.parametrize(("method", "digits"), [
    (cf.DOP853(), 5), (cf.RK45(rtol=1e-7), 5), (cf.LSODA(), 4), (cf.RK4(1e-3), 2)],
    ids=lambda x: type(x).__name__)
def test_a_motion_stops_where_its_inertia_matrix_loses_definiteness(method, digits):
    with pytest.raises(cf.SingularMatrix, match="loses positive definiteness") as stop:
        cf.simulate(ARM, None, PUSH, [0, 1, 2], method=method)
    t = float(str(stop.value).split("t = ")[1].split(" s")[0])
    assert round(t, digits) == round(1.29079, digits)


@pytest.mark.parametrize("method", [cf.DOP853(), cf.RK4(1e-2)])
def test_a_state_that_runs_away_is_told_with_the_time(method):
    """v̇ = v³ is infinite at t = ½; steps go a little further before they overflow."""
    body = cf.Body("cart", None, cf.Prismatic((1, 0, 0)), inertia=cf.Inertia(1.0))
    with pytest.raises(cf.ClosedformError, match=r"t = 0\.[5-9]"), np.errstate(over="ignore"):
        cf.simulate(cf.Robot("cart", [body]), ([0.0], [1.0]), lambda t, x: x.v**3, [0, 2],
                    method=method)


def test_steps_are_counted_before_they_are_made():
    with pytest.raises(cf.ArgumentError, match=r"2000 steps of 0\.001 s are more than"):
        cf.simulate(ARM, None, None, [0, 2], method=cf.RK4(1e-3), max_evaluations=7999)
    run = cf.simulate(ARM, None, None, [0, 2], method=cf.RK4(1e-3), max_evaluations=8000)
    assert run.evaluations == 8000


def test_a_run_over_its_limit_is_not_blamed_on_a_sound_model(monkeypatch):
    monkeypatch.setattr(integrator, "PACE", 20)
    with pytest.raises(cf.ClosedformError, match="more than 60 evaluations") as error:
        cf.simulate(ARM, ([0, 0, 0, 0, 0.1, 0.002], None), None, [0, 5], max_evaluations=60)
    assert not isinstance(error.value, cf.SingularMatrix)


@pytest.mark.parametrize("method", [cf.DOP853(), cf.RK4(1e-2)])
def test_output_times_do_not_change_the_motion(method):
    few = integrated(Oscillator(), [1.0, 0.0], None, [0, 1.0], method)
    many = integrated(Oscillator(), [1.0, 0.0], None, np.linspace(0, 1, 11), method)
    np.testing.assert_allclose(few.path[-1], many.path[-1], atol=1e-9)


def test_a_remark_of_the_system_is_a_warning():
    with pytest.warns(cf.ModelWarning, match="is loud"):
        integrated(Oscillator(loud=True), [1.0, 0.0], None, [0, 1.0], cf.DOP853())
