"""What a compiled robot hands out: kernels by quantity, frame and number of rates."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile import kernels
from closedform.lowerings.call import code
from closedform.lowerings.store.cache import Cache

NOWHERE = Cache(None)
ROBOT = cf.load("planar2r")
TIP = ROBOT.body_names[-1]


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0,
                               atol=1e-13 * np.abs(expected).max(initial=1))


@pytest.mark.parametrize("rows", [2, 3, 4, 5, 7])
def test_a_jet_is_of_the_order_of_the_rates_given(rows):
    arm, rng = cf.compile(ROBOT, cache=NOWHERE), np.random.default_rng(rows)
    q, rates = rng.normal(size=(3, 2)), rng.normal(size=(3, rows, 2))
    F = rng.normal(size=(3, rows - 1, len(ROBOT.bodies), 6))
    tau, loaded = arm.inverse_dynamics_jet(q, rates), arm.inverse_dynamics_jet(q, rates, F)
    J = arm.jacobian_jet(q, rates, TIP, cf.WORLD)
    for k in range(3):
        close(tau[k], cf.inverse_dynamics_jet(ROBOT, q[k], rates[k]))
        close(loaded[k], cf.inverse_dynamics_jet(ROBOT, q[k], rates[k], F[k]))
        close(J[k], cf.jacobian_jet(ROBOT, q[k], rates[k], TIP, cf.WORLD))
    np.testing.assert_array_equal(arm.inverse_dynamics_jet(q[0], rates=rates[0].tolist()), tau[0])


def test_a_jet_says_what_its_own_order_takes():
    own, third = (cf.compile(ROBOT, order=order, cache=NOWHERE) for order in (2, 3))
    assert own.inverse_dynamics_jet.interface.inputs[1].shape == (4, 2)
    assert third.inverse_dynamics_jet.operations.total > own.inverse_dynamics_jet.operations.total
    own.inverse_dynamics_jet(np.zeros(2), np.zeros((5, 2)))
    assert own.inverse_dynamics_jet.interface.inputs[1].shape == (4, 2)


def test_kernels_of_other_orders_are_made_once():
    arm = cf.compile(ROBOT, cache=NOWHERE)
    other = arm.inverse_dynamics_jet._path.rows[1]
    assert other(3) is other(3)


def test_a_pickled_jet_still_takes_any_number_of_rates():
    arm, rates = cf.compile(ROBOT), np.ones((3, 2))
    for kernel in (arm.inverse_dynamics_jet, arm.jacobian_jet.at(TIP)):
        again = pickle.loads(pickle.dumps(kernel))
        np.testing.assert_array_equal(again(np.ones(2), rates), kernel(np.ones(2), rates))


@pytest.mark.parametrize(("rates", "message"), [
    (np.zeros((1, 2)), "rates must have two rows"),
    (np.zeros((0, 2)), r"of planar2r: rates must have the shape \(4, 2\) or .* not \(0, 2\)"),
    (np.zeros((3, 3)), r"not \(3, 3\)"),
    (np.zeros(2), r"not \(2,\)"),
    ("abc", "rates must be real numbers"),
])
def test_rates_that_are_none_are_refused(rates, message):
    with pytest.raises(cf.ArgumentError, match=message):
        cf.compile(ROBOT).inverse_dynamics_jet(np.zeros(2), rates)


@pytest.mark.parametrize(("ask", "message"), [
    (lambda: cf.compile(ROBOT).mass_matri, "did you mean 'mass_matrix'"),
    (lambda: cf.mass_matri, "did you mean 'mass_matrix'"),
    (lambda: cf.compile(ROBOT, ["mass_matri"]), "did you mean 'mass_matrix'"),
    (lambda: cf.compile(ROBOT, cf.At("frame_pos", TIP)), "did you mean 'frame_pose'"),
    (lambda: cf.compile(ROBOT).frame_pose([0, 0], TIP + "x"), f"did you mean '{TIP}'"),
    (lambda: cf.compile(ROBOT, "mass_matrix", only="mas_matrix"), "did you mean 'mass_matrix'"),
    (lambda: cf.compile(ROBOT).mass_matrix(p=[0, 0]), "no argument 'p'"),
    (lambda: ROBOT.reduced([ROBOT.joint_names[0] + "x"]), f"did you mean '{ROBOT.joint_names[0]}'"),
    (lambda: ROBOT.body("LINK1"), "did you mean 'link1'"),
    (lambda: cf.load("pandda"), "did you mean 'panda'"),
    (lambda: cf.export(ROBOT, "bias", "pyton", "."), "did you mean 'python'"),
    (lambda: cf.base_parameters(ROBOT, keep=["Ixxx"]), "did you mean 'Ixx'"),
])
def test_an_unknown_name_is_answered_with_the_nearest(ask, message):
    with pytest.raises((cf.ClosedformError, AttributeError), match=message) as caught:
        ask()
    assert len(str(caught.value)) < 300


# ---------------------------------------------------------------------- threads, signals, forks
def counted(monkeypatch):
    """Names of the programs that machine code is made of from now on."""
    made, compiled = [], code._compiled

    def noted(program, layout, kind):
        made.append(program.name)
        return compiled(program, layout, kind)

    monkeypatch.setattr(code, "_compiled", noted)
    return made


def test_equal_arms_in_many_threads_are_compiled_once(tmp_path, monkeypatch):
    made, cache, robot = counted(monkeypatch), Cache(tmp_path / "cache"), cf.load("planar3r")
    arms = [cf.compile(robot, cache=cache) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda arm: arm.mass_matrix(np.ones(3)), arms))
    assert made == ["mass_matrix"]
    assert all(np.array_equal(x, found[0]) for x in found)


def test_one_thread_without_a_cache_compiles_every_time(monkeypatch):
    made = counted(monkeypatch)
    for _ in range(2):
        cf.compile(cf.load("planar3r"), cache=Cache(None)).mass_matrix(np.ones(3))
    assert made == ["mass_matrix"] * 2


@pytest.mark.parametrize("ask", [lambda arm: arm.mass_matrix(np.ones(3)),
                                 lambda arm: arm.frame_pose(np.ones(3), "tip"),
                                 lambda arm: arm.inverse_dynamics(*np.ones((3, 5, 3)))],
                         ids=["a state", "a frame", "a batch"])
@pytest.mark.parametrize("shared", [True, False], ids=["one arm", "an arm each"])
def test_threads_without_a_cache_wait_for_the_first_that_compiles(ask, shared, monkeypatch):
    """The first is not done before the others are waiting; some of them are done by the next."""
    count, made, compiled = 16, [], code._compiled
    one = cf.compile(cf.load("planar3r"), cache=Cache(None))
    arms = [one if shared else cf.compile(cf.load("planar3r"), cache=Cache(None))
            for _ in range(count)]
    start = threading.Barrier(count)

    def slowly(program, layout, kind):
        made.append((program.name, layout))
        late = time.monotonic() + (5 if len(made) == 1 else 0.5)
        while len({*code.MAKING.threads}) < count and time.monotonic() < late:
            time.sleep(0.01)
        return compiled(program, layout, kind)

    def ask_at_once(arm):
        start.wait()
        return ask(arm)

    monkeypatch.setattr(code, "_compiled", slowly)
    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(ask_at_once, arms))
    assert made and len(made) == len(set(made))
    assert all(np.array_equal(x, found[0]) for x in found)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="no such signal")
def test_a_signal_handler_may_compile_while_its_thread_compiles(monkeypatch):
    """The signal comes before the first kernel is done."""
    robot = cf.load("planar3r")
    arm, found = cf.compile(robot, cache=Cache(None)), []
    compiled = code._compiled

    def slowly(program, layout, kind):
        if not found:
            signal.raise_signal(signal.SIGUSR1)
        return compiled(program, layout, kind)

    def handler(*_):
        found.append(None)
        found[0] = arm.gravity_torque(np.ones(3))

    monkeypatch.setattr(code, "_compiled", slowly)
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        arm.mass_matrix(np.ones(3))
    finally:
        signal.signal(signal.SIGUSR1, before)
    np.testing.assert_allclose(found[0], cf.gravity_torque(robot, np.ones(3)), atol=1e-12)


FORKING = """
import os, threading, time, signal
import numpy as np, closedform as cf
from closedform.lowerings.store.cache import Cache
stop = threading.Event()
def work():
    while not stop.is_set():
        cf.compile(cf.load("ur5"), cache=Cache(None)).mass_matrix
thread = threading.Thread(target=work)
thread.start()
for k in range(4):
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        signal.alarm(20)                       # ends it if it hangs
        cf.compile(cf.load("planar2r"), cache=Cache(None)).mass_matrix(np.ones(2))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_beside_a_thread_that_compiles_can_compile():
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], check=True, timeout=120)


def test_an_enormous_program_is_announced_before_it_is_compiled(monkeypatch):
    made = counted(monkeypatch)
    monkeypatch.setattr(kernels, "ENORMOUS", 10)
    with pytest.warns(UserWarning, match=r"mass_matrix of planar3r takes \d+ operations"):
        cf.compile(cf.load("planar3r"), cache=Cache(None)).mass_matrix  # noqa: B018
    assert made == ["mass_matrix"]


def test_two_feet_go_into_one_kernel_under_their_names():
    robot = cf.load("humanoid25")
    feet = robot.body_names[-1], robot.body_names[-2]
    both = cf.fuse(robot, [cf.At("frame_pose", foot) for foot in feet], cache=Cache(None))
    q = robot.random(2)
    found = both(q)
    assert found._fields == tuple(f"frame_pose_{foot}" for foot in feet)
    for x, foot in zip(found, feet, strict=True):
        np.testing.assert_allclose(x, cf.frame_pose(robot, q, foot), atol=1e-12)
