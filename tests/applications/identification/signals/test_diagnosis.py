"""What is wrong with a log is found, and a good log has nothing wrong."""

import json

import numpy as np
import pytest

import closedform as cf
from closedform import identification as idn
from simulated_logs import Faults, simulated

PANDA = cf.load("panda")


@pytest.fixture(scope="module")
def good():
    return simulated(PANDA, 10.0, Faults(noise=1e-6, torque_noise=0.02))[0]


def rules(logged, robot=PANDA, **options):
    found = idn.diagnose(idn.read(logged, robot, **options))
    return {f.rule: f for f in found.findings}


def changed(logged, **columns):
    return {**logged, **columns}


def test_a_good_log_has_nothing_wrong(good):
    assert set(rules(good)) == {"bandwidth"}


@pytest.mark.parametrize("faults, rule, words", [
    (Faults(noise=1e-6, jitter=2e-3), "clock-jitter", "ticks of 1 ms"),
    (Faults(repeats=0.05), "repeats", "repeat the row before"),
    (Faults(lost=0.05), "missing", "samples are missing"),
    (Faults(gap=(4.0, 5.5)), "gaps", "1 gaps"),
    (Faults(lag=5e-3), "velocity-lag", "5 ms behind"),
    (Faults(lag=-3e-3), "velocity-lag", "3 ms ahead"),
])
def test_faults_of_the_clock_and_lags_are_found(faults, rule, words):
    found = rules(simulated(PANDA, 10.0, faults)[0])
    assert words in found[rule].message
    assert not any(f.level is cf.Level.ERROR for f in found.values())


def test_numbers_that_are_none_are_errors_and_refused(good):
    for kind, number in (("tau", np.nan), ("q", np.inf), ("v", np.nan)):
        bad = good[kind].copy()
        bad[100:110, 2] = number
        found = rules(changed(good, **{kind: bad}))
        assert found["not-a-number"].message == (
            f"{kind} of panda_joint3 is no number in 10 of 10000 rows, first in row 100")
        with pytest.raises(cf.ArgumentError, match="is no number in 10"):
            idn.Signals().prepare(idn.read(changed(good, **{kind: bad}), PANDA))


def test_time_that_goes_back_is_an_error_and_refused(good):
    t = good["t"].copy()
    t[5000:] -= 2
    assert "first in row 5000" in rules(changed(good, t=t))["time-goes-back"].message
    with pytest.raises(cf.ArgumentError, match="time goes back"):
        idn.Signals().prepare(idn.read(changed(good, t=t), PANDA))


def faults_of(logged):
    return idn.Signals(delay=0.0).prepare(idn.read(logged, PANDA)).faults


def test_degrees_are_an_error_that_reaches_the_verdict(good):
    bad = changed(good, q=np.degrees(good["q"]), v=np.degrees(good["v"]))
    assert "cannot be radians" in rules(bad)["units"].message
    assert any("cannot be radians" in fault for fault in faults_of(bad))
    assert rules(bad, units="deg").keys() == {"bandwidth"}


def test_velocities_in_other_units_than_positions_are_an_error(good):
    assert "57.3 times" in rules(changed(good, v=np.degrees(good["v"])))["units"].message


def test_torques_in_newton_millimetres_are_an_error(good):
    assert "cannot be Nm" in rules(changed(good, tau=1e3 * good["tau"]))["units"].message


def test_positions_in_the_wrong_order_are_an_error(good):
    order = [6, 5, 4, 3, 2, 1, 0]
    bad = {k: x if k == "t" else x[:, order] for k, x in good.items()}
    assert "another order" in rules(bad)["joint-order"].message
    assert faults_of(bad)


def test_velocities_in_the_wrong_order_or_sign_are_errors(good):
    swapped = changed(good, v=good["v"][:, [0, 1, 2, 3, 4, 6, 5]])
    assert "column of panda_joint7" in rules(swapped)["joint-order"].message
    signs = changed(good, v=good["v"] * [1, -1, 1, 1, 1, 1, 1])
    assert "velocity of panda_joint2 has the opposite sign" in rules(signs)["joint-order"].message


def test_standing_joints_are_told_and_a_standing_robot_is_refused(good):
    q, v = good["q"].copy(), good["v"].copy()
    q[:, 4], v[:, 4] = 0.3, 0.0
    assert rules(changed(good, q=q, v=v))["standing"].subject == "panda_joint5"
    still = changed(good, q=0 * q + 0.1, v=0 * v)
    assert rules(still)["standing"].level is cf.Level.ERROR
    with pytest.raises(cf.ArgumentError, match="no joint moves"):
        idn.Signals().prepare(idn.read(still, PANDA))


def test_saturated_torques_are_told(good):
    found = rules(changed(good, tau=np.clip(good["tau"], -20, 20)))
    assert "extreme value" in found["saturation"].message


def test_a_log_without_torques_or_with_empty_columns_is_told(good):
    assert "no-torques" in rules({k: x for k, x in good.items() if k != "tau"})
    zero = rules(changed(good, tau=0 * good["tau"]))["no-torques"]
    assert zero.level is cf.Level.ERROR and "tau of all joints is 0 in every row" in zero.message
    assert "all joints is not what" in rules(changed(good, v=0 * good["v"]))["velocities"].message


def test_the_table_has_a_row_for_each_joint_and_json_is_strict(good):
    found = idn.diagnose(idn.read(good, PANDA))
    assert [row.joint for row in found.table] == list(PANDA.joint_names)
    assert all(row.moved > 0.5 and not row.stands for row in found.table)
    read = json.loads(found.to_json(), parse_constant=lambda x: pytest.fail(x))
    assert read["rows"] == 10000 and abs(read["period_s"] - 1e-3) < 1e-9
    assert len(read["joints"]) == 7 and read["findings"][0]["rule"] == "bandwidth"


def test_a_picture_is_written(good, tmp_path):
    idn.diagnose(idn.read(good, PANDA)).plot(tmp_path / "log.png")
    assert (tmp_path / "log.png").read_bytes().startswith(b"\x89PNG")


def test_time_that_stands_still_is_refused(good):
    with pytest.raises(cf.ArgumentError, match="time stands still"):
        idn.diagnose(idn.read(changed(good, t=0 * good["t"]), PANDA))


@pytest.mark.parametrize("rows", [0, 30])
def test_too_few_rows_are_refused(good, rows):
    with pytest.raises(cf.ArgumentError, match=f"{rows} rows are too few"):
        idn.diagnose(idn.read({k: x[:rows] for k, x in good.items()}, PANDA))
