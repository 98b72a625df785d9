"""Motions of flexible arms: methods, inputs, monitors, batches, linearisation, files, pictures."""

import dataclasses
import sys

import matplotlib
import numpy as np
import pytest
from scipy.linalg import expm

from closedform.applications import flexible
from closedform.applications.flexible.programs import arm_kernels, state_rate
from closedform.errors import (
    ArgumentError,
    ClosedformError,
    FormatError,
    MissingDependency,
    ModelWarning,
    SingularMatrix,
    UnknownName,
)
from closedform.maths.flexible.dynamics import damping_matrix
from closedform.model.elasticity.beam import FlexibleLink, Payload
from flexible_arms import ARMS, odd_arm, paper_arm, random_motion

matplotlib.use("Agg")
STRAIGHT = [0, 0, 0, 0, 0.1, 0.002]
BENT = [0, 0, 0, 0, 0.05, 0.001]
MODELS = [flexible.Truncated(), flexible.ExactRotation()]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("name", ARMS)
def test_compiled_rates_equal_the_interpreted_equations(name, model):
    arm, rng = dataclasses.replace(ARMS[name], gravity=(0.0, -9.81)), np.random.default_rng(3)
    D = damping_matrix(arm, 0.1)
    q, v, _ = random_motion(arm, rng)
    x, u = np.concatenate([q, v, [0.0, 0.0]]), rng.normal(size=arm.n)
    rate = state_rate(arm, D, model)(x, u)
    np.testing.assert_allclose(arm_kernels(arm, D, model).rate(x, u), rate, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", flexible.EQUATIONS)
def test_every_equation_compiles_for_states_and_batches(name):
    arm, rng = paper_arm(gravity=(0.0, -9.81)), np.random.default_rng(4)
    row = flexible.EQUATIONS[name]
    kernel = flexible.compile_equation(arm, name, 0.1)
    motions = [random_motion(arm, rng) for _ in range(9)]
    states = [dict(zip("qva", motion, strict=True), tau=rng.normal(size=2)) for motion in motions]
    batch = kernel(*(np.stack([state[x] for state in states]) for x in row.inputs))
    for state, found in zip(states, batch, strict=True):
        damping = {"damping": 0.1} if row.takes("damping") else {}
        expected = row.definition(arm, *(state[x] for x in row.inputs), **damping)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_an_unknown_equation_is_told_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'inertia_matrix'"):
        flexible.equation_program(paper_arm(), "inertia_matrx")


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF", "LSODA"])
def test_every_integrator_gives_the_same_motion_with_a_switched_input(method):
    arm, t = paper_arm(), np.array([0.0, 0.05, 0.1, 0.15])
    torque = flexible.Held([0.02, 0.07], [[0.2, -0.1], [-0.2, 0.1]])
    exact = flexible.simulate(arm, np.zeros(6), torque=torque, times=t, damping=0.1, rtol=1e-11,
                              atol=1e-13)
    run = flexible.simulate(arm, np.zeros(6), torque=torque, times=t, damping=0.1, method=method,
                            rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(run.q, exact.q, atol=1e-6)
    np.testing.assert_array_equal(run.tau, [[0, 0], [0.2, -0.1], [-0.2, 0.1], [-0.2, 0.1]])


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_energy_and_momentum_balance_with_torque_damping_and_friction(model):
    links = [FlexibleLink(0.5, 0.2, 1.0, 0.5, 0.1, 1, viscous=0.05, coulomb=0.01)] * 2
    arm = flexible.FlexibleArm(links, Payload(0.1, 0.0005), gravity=(0.0, -1.0))
    run = flexible.simulate(
        arm, [0.1, 0.2, 0.02, 0.01], [1.0, 0.5, 0, 0], lambda t, q, v: [0.2 * np.cos(t), -0.1],
        np.linspace(0, 0.5, 26), 0.05, rtol=1e-10, atol=1e-12, model=model)
    assert np.max(np.abs(run.energy_residual)) < 1e-9
    assert np.max(np.abs(run.momentum_residual)) < 1e-9
    assert np.ptp(run.energy) > 1e-3                  # something happened


def test_a_function_of_the_state_may_give_the_torque_under_rk4():
    """A joint controller works against its own arm; the input is held over each step."""
    law = lambda t, q, v: -q[:2] - 0.02 * v[:2]
    run = flexible.simulate(paper_arm(), STRAIGHT, None, law, np.linspace(0, 0.5, 11), method="RK4")
    exact = flexible.simulate(paper_arm(), STRAIGHT, None, law, np.linspace(0, 0.5, 11))
    np.testing.assert_array_equal(run.tau, -run.q[:, :2] - 0.02 * run.v[:, :2])
    # held over 1 ms the torque lags by half of it: 5e-4 s times rates up to 1 rad/s
    np.testing.assert_allclose(run.q, exact.q, atol=5e-4)


def test_a_held_input_switches_at_its_times():
    held = flexible.Held([1.0, 2.0], [[1.0], [-1.0]])
    np.testing.assert_array_equal(held.at(np.array([0.5, 1.0, 1.999, 2.0, 9.0]))[:, 0],
                                  [0, 1, 1, -1, -1])


def test_linearisation_predicts_small_motions():
    arm, dt = paper_arm(), 0.05
    x0 = 1e-6 * np.random.default_rng(5).normal(size=12)
    system = flexible.linearisation(arm, np.zeros(6), damping=0.1)
    run = flexible.simulate(arm, x0[:6], x0[6:], times=[0, dt], damping=0.1, rtol=1e-12, atol=1e-20)
    predicted = expm(system.A * dt) @ x0
    # the rest is of second order in 1e-6, times rates up to 1e3
    np.testing.assert_allclose(np.concatenate([run.q[-1], run.v[-1]]), predicted, atol=1e-9)


def test_a_batch_of_payloads_moves_as_each_arm_alone():
    arm, t = paper_arm(), np.linspace(0, 0.1, 3)
    arms = [arm.with_payload(Payload(m, 0.005 * m)) for m in (0.0, 0.05, 0.1, 0.2, 0.4)] * 4
    torque = flexible.bang_bang([0.2, 0.1], 0, 0.05, 0.1)
    batch = flexible.simulate_batch(arms, BENT, None, torque, t, 0.1)
    assert batch.q.shape == (3, 20, 6)
    for k in (0, 3, 19):
        alone = flexible.simulate(arms[k], BENT, None, torque, t, 0.1, "RK4")
        np.testing.assert_allclose(batch.q[:, k], alone.q, atol=1e-11)
        np.testing.assert_allclose(batch.work[:, k], alone.work, atol=1e-11)


def test_a_batch_refuses_arms_of_different_kinds():
    with pytest.raises(ArgumentError, match="same modes on each link"):
        flexible.simulate_batch([paper_arm(), paper_arm(3)], np.zeros(6))
    with pytest.raises(ArgumentError, match="has gravity or Coulomb friction"):
        flexible.simulate_batch([paper_arm(gravity=(0, -9.81))], np.zeros(6))
    with pytest.raises(ArgumentError, match=r"q0 of a batch is finite numbers of shape \(6,\)"):
        flexible.simulate_batch([paper_arm()], np.zeros(5))
    with pytest.raises(ArgumentError, match="torque of a batch"):
        flexible.simulate_batch([paper_arm()], np.zeros(6), torque=[1.0])


def test_rigid_arms_are_simulated_and_do_not_vibrate():
    arm = odd_arm(0, 0)
    run = flexible.simulate(arm, [0.1, 0.2], [1.0, -1.0], times=[0, 0.1])
    assert np.max(np.abs(run.energy_residual)) < 1e-9
    np.testing.assert_array_equal(flexible.frequencies(arm), 0)
    with pytest.raises(ArgumentError, match="does not vibrate"):
        flexible.vibration_figure(arm)


# ---------------------------------------------------------------------- refusals
def test_vibrations_about_an_impossible_configuration_are_refused():
    with pytest.raises(SingularMatrix, match="not positive definite"):
        flexible.vibration(paper_arm(), [0, np.pi / 2, -0.35, 0, 0, 0])
    with pytest.raises(ArgumentError, match="gravity makes it fall"):
        flexible.frequencies(odd_arm(1, gravity=(-9.81, 0.0)), [0.0])
    with pytest.raises(ArgumentError, match=r"q must have the shape \(2,\) or \(6,\), not \(3,\)"):
        flexible.frequencies(paper_arm(), [0, 0, 0])


@pytest.mark.parametrize(("change", "told"), [
    ({"q0": [0, 0, 0, 0, 0.3, 0]}, r"q0 bends link 2 by up to 0\.79.* rad; deflections are small"),
    ({"q0": [0, 0]}, r"q0 must be 6 finite numbers \(θ1, θ2, δ11"),
    ({"v0": [np.nan] * 6}, "v0 must be 6 finite numbers"),
    ({"torque": [0.1]}, r"torque must be 2 finite numbers \(θ1, θ2\), not \[0\.1\]"),
    ({"torque": lambda t, q, v: [t]},
     r"at t = 0 s: torque returned \[0\.0\], not finite numbers of shape \(2,\)"),
    ({"torque": flexible.Held([0.0], [[1.0]])}, "torque has 1 columns; flexible arm has 2 inputs"),
    ({"times": [0, 1, 1]}, "times must be one or more increasing"),
    ({"method": "Euler"}, "method must be one of RK4, RK23"),
    ({"step": 0.0, "method": "RK4"}, "step must be a positive number"),
    ({"step": "short", "method": "RK4"}, "step must be a positive number"),
    ({"damping": -1.0}, "damping must not be negative"),
])
def test_a_wrong_request_is_told(change, told):
    arguments = {"q0": STRAIGHT, "times": [0, 0.01], **change}
    with pytest.raises(ArgumentError, match=told):
        flexible.simulate(paper_arm(), **arguments)


def test_a_step_too_long_for_the_damping_is_told_instead_of_nan():
    """The paper's damped arm needs steps below 2.4 ms."""
    with pytest.raises(ClosedformError, match=r"RK4's step of 0\.01 s is too long"):
        flexible.simulate(paper_arm(), STRAIGHT, times=[0, 2, 4], damping=0.1, method="RK4",
                          step=1e-2)


def test_a_run_with_too_many_evaluations_is_stopped():
    with pytest.raises(ClosedformError, match="more than 50 evaluations by t ="):
        flexible.simulate(paper_arm(), STRAIGHT, times=[0, 1], max_evaluations=50)


def test_a_motion_that_leaves_the_small_deflection_range_is_warned_of():
    with pytest.warns(ModelWarning, match=r"bent by up to [\d.]+ rad, more than"):
        flexible.simulate(paper_arm(), np.zeros(6), torque=[1.0, 1.0],
                          times=np.linspace(0, 0.5, 11), model=flexible.ExactRotation())


def test_progress_is_shown_on_standard_error_when_asked_for(capsys):
    flexible.simulate(paper_arm(), STRAIGHT, times=[0, 0.1], method="RK4", progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "simulating" in err


# ---------------------------------------------------------------------- files and pictures
def test_the_built_in_arm_is_the_paper_s():
    arm, mine = flexible.load("deluca_siciliano"), paper_arm()
    np.testing.assert_array_equal(flexible.inertia_matrix(arm, np.full(6, 0.1)),
                                  flexible.inertia_matrix(mine, np.full(6, 0.1)))


GOOD = """name = "one"
[[links]]
length = 0.5
density = 0.2
stiffness = 1.0
modes = 1
"""


@pytest.mark.parametrize(("text", "told"), [
    (GOOD.replace("stiffness = 1.0", "stiffness = -1.0"), "stiffness of a link must be positive"),
    (GOOD.replace("length = 0.5\n", ""), "link 1: length is missing"),
    (GOOD.replace("density", "densty"), "unknown key 'densty'; did you mean 'density'?"),
    ("name = 'x'", "one or more tables"),
    ("name = ", "no TOML"),
    (GOOD + "[payload]\nmass = 'heavy'", "mass of a payload must be a finite number"),
])
def test_a_file_that_is_no_arm_is_told_with_the_place(text, told, tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        flexible.load(path)
    assert told in str(error.value)
    assert "arm.toml" in str(error.value)


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(FormatError, match="did you mean 'deluca_siciliano'"):
        flexible.load("deluca_sicilano")


def test_a_motion_written_as_csv_reads_back_to_the_last_bit(tmp_path):
    run = flexible.simulate(paper_arm(), STRAIGHT, times=np.linspace(0, 0.1, 11), method="RK4")
    flexible.write_table(run, tmp_path / "run.csv")
    back = np.genfromtxt(tmp_path / "run.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(back["delta21"], run.q[:, 4])
    np.testing.assert_array_equal(back["tip_y"], run.tip[:, 1])


def test_parquet_without_its_library_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    run = flexible.simulate(paper_arm(), STRAIGHT, times=[0, 0.01], method="RK4")
    with pytest.raises(MissingDependency, match="pip install pyarrow"):
        flexible.write_table(run, tmp_path / "run.parquet")


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_drawn_arm_ends_at_its_tip(model):
    arm, (q, _, _) = paper_arm(), random_motion(paper_arm(), np.random.default_rng(2))
    points = flexible.arm_points(arm, q, model)
    assert points.shape == (2, 25, 2)
    np.testing.assert_allclose(points[-1, -1], flexible.tip_position(arm, q, model), atol=1e-6)
    np.testing.assert_allclose(points[0, -1], points[1, 0], atol=1e-6)


def test_pictures_have_a_panel_for_everything(tmp_path):
    from matplotlib import pyplot
    arm = paper_arm()
    run = flexible.simulate(arm, STRAIGHT, times=np.linspace(0, 0.1, 11), method="RK4")
    assert [len(panel.lines) for panel in run.plot().axes] == [2, 2, 2, 2, 1, 4]
    assert len(flexible.shapes_figure(arm).axes) == 2
    assert len(flexible.vibration_figure(arm, [0, 1.0], locked=True).axes) == 4
    run.animate(tmp_path / "run.gif", frames=3)
    assert (tmp_path / "run.gif").read_bytes()[:6] == b"GIF89a"
    pyplot.close("all")
