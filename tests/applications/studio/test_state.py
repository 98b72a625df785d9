"""A state and what wishes make of it: dials, links, the tip pulled with its certificate."""

import contextlib
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import closedform as cf
from closedform.applications.studio import link, posture
from closedform.applications.studio.dials import Dials, turned, wxyz
from closedform.applications.studio.state import CRITERIA, WISHES, Wish, obey, start
from closedform.applications.studio.subject import StudioRobot
from closedform.model.loops.closure import y_index

PLANAR = StudioRobot(cf.load("planar3r"))
PANDA = StudioRobot(cf.load("panda"))
HUMANOID = StudioRobot(cf.load("humanoid25"))


# ---------------------------------------------------------------------- dials
@pytest.mark.parametrize("subject", [PLANAR, PANDA, HUMANOID], ids=lambda s: s.robot.name)
def test_dials_and_coordinates_are_the_same_posture(subject):
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = subject.robot.random(rng)
        again = subject.dials.coordinates(subject.dials.values(q), q)
        np.testing.assert_allclose(subject.robot.difference(q, again), 0, atol=1e-12)


@pytest.mark.parametrize("subject", [PLANAR, PANDA, HUMANOID], ids=lambda s: s.robot.name)
def test_zero_is_on_the_steps_of_every_dial(subject):
    for dial in subject.dials.all:
        assert abs(dial.low / 1e-3 - round(dial.low / 1e-3)) < 1e-6
        assert dial.low < dial.high


def test_quaternions_of_many_rotations_give_the_rotations_back():
    x = np.random.default_rng(0).normal(size=(50, 4))
    R = np.stack([turned(y) for y in x])
    for R_k, y in zip(R, wxyz(R), strict=True):
        np.testing.assert_allclose(turned(y), R_k, atol=1e-14)


def test_a_free_base_has_six_dials():
    assert [d.name for d in HUMANOID.dials.all[:6]] == [
        "root[0]", "root[1]", "root[2]", "root roll", "root pitch", "root yaw"]
    assert len(Dials(HUMANOID.robot).all) == HUMANOID.robot.nv


# ---------------------------------------------------------------------- loops
@pytest.mark.parametrize("name", ["four_bar", "delta"])
def test_loops_are_closed_by_compiled_steps_as_by_the_library(name, monkeypatch):
    """Turned a little they follow by kernels; turned far, the library finds the way."""
    subject = StudioRobot(cf.load(name))
    near, own = subject.home, y_index(subject.robot.tree, subject.robot.closure)
    asked = []
    closed = type(subject.robot).closed
    monkeypatch.setattr(type(subject.robot), "closed", lambda *args, **keywords: asked.append(
        1) or closed(*args, **keywords))
    for by, by_library in ((0.03, False), (0.3, True)):
        q, asked[:] = near.copy(), []
        q[own] += by
        found = subject.kept(q, near)
        assert bool(asked) == by_library
        np.testing.assert_allclose(found, closed(subject.robot, q[own], near=near), atol=1e-12)


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_loops_stay_closed_whatever_dial_is_turned(name):
    subject = StudioRobot(cf.load(name))
    assert len(subject.dials.all) == subject.robot.nv < subject.robot.nq
    state = start(subject)
    for k, x in ((0, 0.2), (-1, 0.3), (0, 0.1)):
        k %= len(subject.dials.all)
        state = obey(subject, state, Wish("dial", {k: subject.dials.values(state.q)[k] + x}))
        assert np.abs(cf.loop_residual(subject.robot, state.q)).max() < 1e-9
    before = state.q
    state = obey(subject, state, Wish("random", 3))
    assert np.abs(cf.loop_residual(subject.robot, state.q)).max() < 1e-9
    assert not np.array_equal(state.q, before)
    assert "loops" in posture.pulls(subject.robot, state.tip).reason


# ---------------------------------------------------------------------- any wish
numbers = st.one_of(st.floats(width=64), st.integers(-10**12, 10**12))
anything = st.one_of(
    st.none(), st.text(max_size=5), numbers, st.lists(numbers, max_size=8),
    st.lists(numbers, min_size=3, max_size=3),
    st.dictionaries(st.integers(-2, 9), numbers, max_size=3),
    st.tuples(st.lists(numbers, min_size=3, max_size=3), st.lists(numbers, min_size=3, max_size=3)),
    st.sampled_from(["home", *CRITERIA, *PLANAR.tips]))
CHEAP = sorted(set(WISHES) - {"target", "self_motion", "branches"})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(CHEAP), anything), max_size=6))
def test_any_wishes_in_any_order_leave_a_finite_state_within_the_limits(wishes):
    state, robot = start(PLANAR), PLANAR.robot
    for kind, value in wishes:
        with contextlib.suppress(cf.ClosedformError):
            state = obey(PLANAR, state, Wish(kind, value))
    for x in (state.q, state.v, state.a, [state.load], state.load_at, state.mount):
        assert np.all(np.isfinite(x))
    assert np.all(state.q >= robot.lower) and np.all(state.q <= robot.upper)


def test_a_dial_moves_its_joint_and_no_other():
    state = obey(PANDA, start(PANDA), Wish("random", 4))
    moved = obey(PANDA, state, Wish("dial", {2: 0.25}))
    assert moved.q[2] == 0.25
    assert np.array_equal(np.delete(moved.q, 2), np.delete(state.q, 2))


def test_a_dial_is_kept_within_the_limits():
    state = obey(PANDA, start(PANDA), Wish("dial", {3: 1e9}))
    assert state.q[3] <= PANDA.robot.upper[3]


# ---------------------------------------------------------------------- the tip
def reached(subject, state):
    return np.asarray(cf.frame_pose(subject.robot, state.q, state.tip))


def test_the_pulled_tip_is_where_it_was_pulled_with_a_certified_maximum():
    state = obey(PLANAR, start(PLANAR), Wish("coordinates", [0.4, 0.7, 0.5]))
    T = reached(PLANAR, state)
    T[0, 3] += 0.05
    state = obey(PLANAR, state, Wish("target", T))
    assert state.solution.verdict in ("maximum", "limit active")
    np.testing.assert_allclose(reached(PLANAR, state)[:2, 3], T[:2, 3], atol=1e-9)
    same = cf.redundancy.solve(PLANAR.robot, cf.redundancy.PlanarPosition(state.tip), T[:2, 3],
                               cf.redundancy.Manipulability(), state.q)
    assert same.value == pytest.approx(state.solution.value, abs=1e-9)


def test_a_target_out_of_reach_is_said_and_moves_nothing():
    before = obey(PLANAR, start(PLANAR), Wish("coordinates", [0.4, 0.7, 0.5]))
    T = reached(PLANAR, before)
    T[:2, 3] = 50.0
    after = obey(PLANAR, before, Wish("target", T))
    assert np.array_equal(after.q, before.q)
    assert after.refused.verdict == "unreachable" and after.solution is None


def test_along_the_self_motion_the_tip_rests():
    state = obey(PLANAR, start(PLANAR), Wish("coordinates", [0.4, 0.7, 0.5]))
    state = obey(PLANAR, state, Wish("target", reached(PLANAR, state)))
    state = obey(PLANAR, state, Wish("self_motion"))
    places = []
    for s in np.linspace(-1, 1, 21):
        moved = obey(PLANAR, state, Wish("along", s))
        assert moved.solution is None                 # what was certified was another posture
        places.append(reached(PLANAR, moved)[:2, 3])
    assert np.ptp(places, axis=0).max() < 1e-9


def test_another_posture_has_no_certificate_of_the_last():
    state = obey(PLANAR, start(PLANAR), Wish("coordinates", [0.4, 0.7, 0.5]))
    state = obey(PLANAR, state, Wish("target", reached(PLANAR, state)))
    assert state.solution is not None
    assert obey(PLANAR, state, Wish("dial", {0: 0.1})).solution is None


def test_branches_are_the_librarys_and_can_be_picked():
    state = obey(PLANAR, start(PLANAR), Wish("coordinates", [0.4, 0.7, 0.5]))
    T = reached(PLANAR, state)
    found = posture.all_branches(PLANAR.robot, state.tip, state.criterion, T, state.q)
    state = obey(PLANAR, state, Wish("branches", (T, found)))
    assert len(state.branches) >= 2
    for k in range(len(found)):
        there = obey(PLANAR, state, Wish("branch", k))
        np.testing.assert_allclose(reached(PLANAR, there)[:2, 3], T[:2, 3], atol=1e-8)
        assert there.solution is state.branches[k]


def test_a_free_base_is_not_pulled_and_says_why():
    pulled = posture.pulls(HUMANOID.robot, HUMANOID.tip)
    assert pulled.task is None and "sliders" in pulled.reason


# ---------------------------------------------------------------------- links
def test_a_link_restores_the_state():
    state = obey(PANDA, start(PANDA), Wish("random", 5))
    state = obey(PANDA, state, Wish("load", (2.5, (0.1, 0.0, 0.2))))
    state = obey(PANDA, state, Wish("rates", (np.arange(7.0), np.ones(7))))
    state = obey(PANDA, state, Wish("mount", (0.5, -0.2)))
    given = link.from_link(link.link(PANDA, state, "Dynamics"))
    again, word = link.restored(PANDA, given)
    assert word == "" and given["tab"] == "Dynamics"
    for name in ("q", "v", "a", "load", "load_at", "mount", "tip", "criterion"):
        assert np.array_equal(getattr(again, name), getattr(state, name)), name


@pytest.mark.parametrize("odd", [{}, [], None, "", "x", [None], {"a": 1}, [[1]], 1e400, True])
def test_what_a_browser_has_kept_may_be_anything(odd):
    names = ("q", "v", "a", "load", "mount", "tip", "criterion")
    state, word = link.restored(PLANAR, dict.fromkeys(names, odd))
    assert np.array_equal(state.q, start(PLANAR).q) and " q," in word


@pytest.mark.parametrize("name", ["tool/tip", "a;q=1", "100%25 tool", "ä b=c?#"])
def test_a_link_keeps_the_names_of_frames_whatever_stands_in_them(name):
    body = PANDA.robot.body_names[-1]
    subject = StudioRobot(replace(PANDA.robot, frames=(cf.Frame(name, body, np.eye(4)),)))
    state = obey(subject, start(subject), Wish("tip", name))
    path = unquote(link.link(subject, state))               # as the gate reads it
    again, word = link.restored(subject, link.from_link(path))
    assert word == "" and again.tip == name and np.array_equal(again.q, state.q)


@pytest.mark.parametrize("path", [
    "/panda/q=nan,0,0,0,0,0,0", "/panda/q=1,2", "/panda/q=" + "1," * 5000, "/panda/q=x",
    "/panda/q=1e400,0,0,0,0,0,0", "/panda/q=", "/%00/q=;;==", "/panda/load=-1", "/panda/tip=<b>"])
def test_a_damaged_link_is_the_start_and_a_word(path):
    state, word = link.restored(PANDA, link.from_link(path))
    assert np.array_equal(state.q, start(PANDA).q) and state.load == 0
    assert word or "=" not in path.rpartition("/")[2].strip(";=")
