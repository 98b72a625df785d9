"""Logs whose columns stand in other joints' places."""

import pytest

import closedform as cf
from closedform.applications.identification.estimate.joint_order import (
    LIKELIER,
    other_order,
    unlikeliness,
)
from measured_runs import run

idn = cf.identification
ROBOT = cf.load("planar3r")
MODEL = idn.Model(ROBOT, idn.Friction("viscous", "coulomb", slip=1e-3))
DATA = run(ROBOT, seconds=8.0)
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0)


def seen(robot=ROBOT, model=MODEL, data=DATA):
    return idn.information(model, idn.read(data, robot), signals=SIGNALS)


def exchanged(*kinds, pair=(1, 2)):
    order = list(range(3))
    order[pair[0]], order[pair[1]] = pair[::-1]
    return {**DATA, **{kind: DATA[kind][:, order] for kind in kinds}}


def test_columns_in_their_places_are_left():
    assert other_order(seen()) is None


@pytest.mark.parametrize(("kinds", "what"), [
    (("q",), "positions"), (("tau",), "torques"), (("q", "tau"), "positions and torques")])
@pytest.mark.parametrize("pair", [(0, 1), (1, 2)])
def test_an_exchange_of_two_joints_is_found_whatever_is_exchanged(kinds, what, pair):
    found = other_order(seen(data=exchanged(*kinds, pair=pair)))
    assert found is not None and found.what == what and found.gain > LIKELIER
    assert (found.first, found.second) == tuple(MODEL.velocity_names[i] for i in pair)
    assert f"the {what} of {found.first} and {found.second} exchanged" in str(found)


def test_the_order_that_is_right_is_the_likelier():
    assert unlikeliness(seen()) < unlikeliness(seen(data=exchanged("tau"))) - LIKELIER


def test_factors_without_their_logs_tell_nothing(tmp_path):
    info = seen(data=exchanged("tau"))
    info.save(tmp_path / "kept")
    saved = next(tmp_path.glob("kept*"))
    assert other_order(type(info).load(saved, MODEL)) is None
