"""Sweeps: one kernel for all designs, equal to a robot made for each."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.studies import Length, Load, Mass, Uniform, monte_carlo, sweep
from closedform.applications.studies.designs import design_kernel, designed

ROBOT = cf.load("planar3r")
LINKS = [body.name for body in ROBOT.bodies]
OVER = [Length(LINKS[1], (0.7, 1.0, 1.4)), Mass(LINKS[2], (0.5, 2.0)), Load(LINKS[2], (0.0, 1.5))]
rng = np.random.default_rng(0)
Q, V, A = rng.normal(size=(3, 5, ROBOT.nv))


@pytest.mark.parametrize(("quantity", "states"), [
    ("inverse_dynamics", (Q, V, A)), ("gravity_torque", (Q,)), ("mass_matrix", (Q,)),
    ("forward_dynamics", (Q, V, A)), (cf.At("frame_pose", LINKS[2]), (Q,))],
    ids=lambda x: getattr(x, "quantity", x if isinstance(x, str) else ""))
def test_every_design_is_the_robot_made_for_it(quantity, states):
    robot = ROBOT.with_gravity((0, -9.81, 0))
    found = sweep(robot, quantity, OVER, states, kept="mean")
    assert found.design.shape == (12, 3) and len(found.value) == 12
    at = (quantity.frame,) if isinstance(quantity, cf.At) else ()
    f = getattr(cf, quantity.quantity if at else quantity)
    for design, value in zip(found.design, found.value, strict=True):
        one = designed(robot, OVER, design)
        expected = np.mean([f(one, *x, *at) for x in zip(*states, strict=True)], axis=0)
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-10)


def test_one_of_several_results_is_swept_and_sampled():
    only, last = "dtau_dq", len(LINKS) - 1
    over = [Mass(LINKS[last], (0.5, 2.0))]
    found = sweep(ROBOT, "inverse_dynamics_derivatives", over, (Q, V, A), "mean", only=only)
    assert found.quantity == "inverse_dynamics_derivatives.dtau_dq"
    for design, value in zip(found.design, found.value, strict=True):
        one = designed(ROBOT, over, design)
        expected = np.mean([cf.inverse_dynamics_derivatives(one, *x).dtau_dq
                            for x in zip(Q, V, A, strict=True)], axis=0)
        np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-10)
    pi = ROBOT.parameters
    drawn = monte_carlo(ROBOT, "inverse_dynamics_derivatives", Uniform(pi, pi), (Q, V, A), 2,
                        only=only)
    for k in range(len(Q)):
        np.testing.assert_allclose(
            drawn.samples[1, k],
            cf.inverse_dynamics_derivatives(ROBOT, Q[k], V[k], A[k]).dtau_dq, atol=1e-10)
    with pytest.raises(cf.ClosedformError, match="no result 'dtau'"):
        sweep(ROBOT, "inverse_dynamics_derivatives", over, (Q, V, A), only="dtau")


def test_a_link_twice_as_long_puts_the_next_joint_twice_as_far():
    """Also of its own inertia: the same mass twice as wide is four times as hard to turn."""
    longer = designed(ROBOT, [Length(LINKS[0], (2.0,))], [2.0])
    np.testing.assert_allclose(longer.bodies[1].placement[:3, 3],
                               2 * ROBOT.bodies[1].placement[:3, 3])
    before, after = ROBOT.bodies[0].inertia, longer.bodies[0].inertia
    assert after.mass == before.mass
    np.testing.assert_allclose(after.array[4:], 4 * before.array[4:])


def test_all_designs_share_one_kernel():
    kernel = design_kernel(ROBOT, tuple(OVER), "gravity_torque")
    assert kernel is design_kernel(ROBOT, tuple(OVER), "gravity_torque")
    assert [s.name for s in kernel.interface.inputs] == ["q", "change"]


def test_samples_lie_between_the_values_and_are_the_same_again():
    a, b = (sweep(ROBOT, "mass_matrix", OVER, (Q,), samples=700, seed=3) for _ in range(2))
    np.testing.assert_array_equal(a.value, b.value)
    assert a.design.shape == (700, 3) and len(np.unique(a.design[:, 0])) == 700
    assert a.design[:, 0].min() >= 0.7 and a.design[:, 0].max() <= 1.4


def test_a_sweep_on_disk_goes_on(tmp_path):
    pytest.importorskip("pyarrow")
    plain = sweep(ROBOT, "mass_matrix", OVER, (Q,))
    kept = sweep(ROBOT, "mass_matrix", OVER, (Q,), out=tmp_path / "s.parquet")
    again = sweep(ROBOT, "mass_matrix", OVER, (Q,), out=tmp_path / "s.parquet")
    for one in (kept, again):
        np.testing.assert_array_equal(one.value, plain.value)
        np.testing.assert_array_equal(one.design, plain.design)
    with pytest.raises(cf.ArgumentError, match="holds other work"):
        sweep(ROBOT, "mass_matrix", OVER[:1], (Q,), out=tmp_path / "s.parquet")


@pytest.mark.parametrize(("over", "message"), [
    ([], "over must be"), (None, "over must be"), ([Length("nobody", (1.0,))], "no body 'nobody'"),
    ([Length(LINKS[0], (0.0, 1.0))], "must be positive"),
    ([Load(LINKS[0], (-1.0,))], "must not be negative"),
    ([Mass(LINKS[0]), Mass(LINKS[0], (2.0,))], "the same twice"),
])
def test_designs_that_cannot_be_are_refused(over, message):
    with pytest.raises(cf.ClosedformError, match=message):
        sweep(ROBOT, "mass_matrix", over, (Q,))


def test_states_and_names_that_do_not_fit_are_refused():
    with pytest.raises(cf.ArgumentError, match="must be 3 arrays"):
        sweep(ROBOT, "inverse_dynamics", OVER, (Q, V))
    with pytest.raises(cf.ArgumentError, match=r"several results; .* 'dtau_dq' or 'dtau_dv'"):
        sweep(ROBOT, "inverse_dynamics_derivatives", OVER, (Q, V, A))
    for given, message in (({"seed": -1}, "seed must be"), ({"samples": 0}, "samples must be"),
                           ({"kept": ["max"]}, "nothing is kept"), ({"out": 5}, "out must end")):
        with pytest.raises(cf.ClosedformError, match=message):
            sweep(ROBOT, "mass_matrix", OVER, (Q,), **given)
    with pytest.raises(cf.ArgumentError, match=r"robot must be a cf\.Robot, not str"):
        sweep("planar3r", "mass_matrix", OVER, (Q,))
    with pytest.raises(cf.ClosedformError, match="nothing is kept by 'all'"):
        sweep(ROBOT, "mass_matrix", OVER, (Q,), kept="all")
    with pytest.raises(cf.ArgumentError, match="the distribution has 1 numbers"):
        monte_carlo(ROBOT, "mass_matrix", Uniform([0.0], [1.0]), (Q,))
