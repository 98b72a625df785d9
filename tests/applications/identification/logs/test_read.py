"""Logs from arrays and from files of columns: which column is what, units, refusals."""

import numpy as np
import pytest

import closedform as cf
from closedform import identification as idn
from closedform.applications.identification.logs import csv
from simulated_logs import Faults, joint_columns, simulated

PANDA = cf.load("panda")
NAMES = PANDA.joint_names


@pytest.fixture(scope="module")
def logged():
    return simulated(PANDA, 1.0, Faults(period=4e-3))[0]


def same(log, logged, kinds=("t", "q", "v", "tau")):
    found = log.samples()
    for kind in kinds:
        np.testing.assert_allclose(getattr(found, kind), logged[kind], rtol=1e-12, atol=1e-12)
    assert log.kinds == set(kinds)


def table(columns):
    return list(columns), np.column_stack(list(columns.values()))


def write_csv(path, columns, separator=",", header=True, prefix=""):
    names, rows = table(columns)
    np.savetxt(path, rows, delimiter=separator, fmt="%.17g", comments="",
               header=prefix + separator.join(names) if header else "")


# ---------------------------------------------------------------------- arrays
def test_arrays_are_read_by_their_kinds(logged):
    same(idn.read(logged, PANDA), logged)


def test_arrays_are_read_by_other_words(logged):
    words = {"times": logged["t"], "positions": logged["q"], "velocities": logged["v"],
             "torques": logged["tau"]}
    same(idn.read(words, PANDA), logged)


def test_samples_are_a_log(logged):
    same(idn.read(idn.Samples(**logged), PANDA), logged)


def test_pieces_follow_each_other_and_are_the_whole(logged):
    log = idn.read(logged, PANDA)
    pieces = list(log.pieces(33))
    assert [len(p.t) for p in pieces] == [33] * 7 + [19]
    np.testing.assert_array_equal(np.concatenate([p.tau for p in pieces]), logged["tau"])


def test_a_part_of_a_log_has_the_times_between(logged):
    t = idn.read(logged, PANDA).between(0.3, 0.5).samples().t
    np.testing.assert_array_equal(t, logged["t"][(logged["t"] >= 0.3) & (logged["t"] < 0.5)])


def test_positions_come_from_motors_through_the_coupling(logged):
    P = np.eye(7) * -50.0
    P[6, 5] = 3.0
    motors = {"t": logged["t"], "motor_position": logged["q"] @ P.T, "current": logged["tau"]}
    log = idn.read(motors, PANDA)
    with pytest.raises(cf.ArgumentError, match="with_motors"):
        log.samples()
    np.testing.assert_allclose(log.with_motors(P).samples().q, logged["q"], atol=1e-12)


# ---------------------------------------------------------------------- names of columns
SPELLINGS = {
    "joint.word": lambda j, k: f"{NAMES[j]}.{('position', 'velocity', 'effort')[k]}",
    "word_joint": lambda j, k: f"{('pos', 'vel', 'tau')[k]}_{NAMES[j]}",
    "path": lambda j, k: f"/joint_states/{NAMES[j]}/{('position', 'velocity', 'effort')[k]}",
    "from one": lambda j, k: f"{('q', 'dq', 'tau')[k]}{j + 1}",
    "from zero": lambda j, k: f"{('position', 'velocity', 'effort')[k]}_{j}",
    "brackets": lambda j, k: f"{('q', 'qd', 'torque')[k]}[{j}]",
    "RTDE": lambda j, k: f"{('actual_q', 'actual_qd', 'torque')[k]}_{j}",
    "other prefix": lambda j, k: f"fer_joint{j + 1}.{('position', 'velocity', 'effort')[k]}",
    "joint number": lambda j, k: f"joint{j + 1}_{('position', 'velocity', 'torque')[k]}",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_columns_are_matched_by_name_in_any_order(logged, spelling):
    columns = {SPELLINGS[spelling](j, k): logged[kind][:, j]
               for k, kind in enumerate(("q", "v", "tau")) for j in range(7)}
    mixed = list(np.random.default_rng(3).permutation(list(columns)))
    mixed += ["time", "desired_q1", "temperature"]
    columns |= {"time": logged["t"], "desired_q1": logged["t"], "temperature": logged["t"]}
    same(idn.read({name: columns[name] for name in mixed}, PANDA), logged)


def test_joints_that_the_robot_has_not_are_left_out_and_said(logged):
    columns = joint_columns(PANDA, logged) | {"gripper.position": logged["t"]}
    log = idn.read(columns, PANDA)
    same(log, logged)
    assert any("gripper" in note for note in log.notes)


def test_a_joint_that_follows_another_is_left_out_and_said():
    fingers = cf.Robot("fingers", [
        cf.Body("a", None, cf.Prismatic((1, 0, 0), name="left"), inertia=cf.Inertia(1.0)),
        cf.Body("b", None, cf.Mimic(cf.Prismatic((1, 0, 0), name="right"), of="a"),
                inertia=cf.Inertia(1.0))])
    t = np.arange(100) * 0.01
    log = idn.read({"t": t, "left.position": t, "right.position": t}, fingers)
    assert log.samples().q.shape == (100, 1)
    assert any("follow others" in note and "right" in note for note in log.notes)


def test_a_missing_joint_is_named_with_what_to_do(logged):
    columns = joint_columns(PANDA, logged)
    columns["arm_joint3.position"] = columns.pop("panda_joint3.position")
    with pytest.raises(cf.ArgumentError, match=r"no q of panda_joint3.*arm_joint3.*reduced"):
        idn.read(columns, PANDA)


def test_joints_of_another_robot_are_refused_with_both_lists(logged):
    columns = {f"{name}_axis.position": logged["t"] for name in "abcdefg"} | {"t": logged["t"]}
    with pytest.raises(cf.ArgumentError, match=r"a_axis.*panda_joint1.*columns=\{'joints'"):
        idn.read(columns, PANDA)


def test_joints_may_be_renamed(logged):
    names = dict(zip(NAMES, "abcdefg", strict=True))
    columns = {k.replace(k.rpartition(".")[0], names.get(k.rpartition(".")[0], "t")): x
               for k, x in joint_columns(PANDA, logged).items()}
    columns["t"] = logged["t"]
    same(idn.read(columns, PANDA, columns={"joints": names}), logged)
    same(idn.read(columns, PANDA, columns={"joints": list("abcdefg")}), logged)


def test_two_arms_need_to_be_told_apart(logged):
    columns = {f"{arm}_joint{j + 1}.position": logged["q"][:, j]
               for arm in ("left", "right") for j in range(7)} | {"t": logged["t"]}
    with pytest.raises(cf.ArgumentError, match="say which is which"):
        idn.read(columns, PANDA)


# ---------------------------------------------------------------------- told columns
@pytest.mark.parametrize("told", [
    {"t": 0, "q": slice(1, 8), "v": slice(8, 15), "tau": slice(15, 22)},
    {"t": "0", "q": [1, 2, 3, 4, 5, 6, 7], "v": range(8, 15), "tau": np.arange(15, 22)},
    {"t": 0, "q": slice(1, 8), "v": slice(8, 15), "tau": slice(-7, None)},
])
def test_columns_without_names_are_told_by_number(tmp_path, logged, told):
    write_csv(tmp_path / "run.csv", joint_columns(PANDA, logged), header=False)
    same(idn.read(tmp_path / "run.csv", PANDA, told), logged)


def test_columns_are_told_by_name_group_and_joint(logged):
    given = {"clock": logged["t"], "X": logged["q"], "speed": logged["v"][:, ::-1],
             **{f"m{j}": logged["tau"][:, j] for j in range(7)}}
    told = {"t": "clock", "q": "X", "v": [f"speed[{6 - j}]" for j in range(7)],
            "tau": {name: f"m{j}" for j, name in enumerate(NAMES)}}
    same(idn.read(given, PANDA, told), logged)


@pytest.mark.parametrize("told, message", [
    ({"q": slice(0, 6)}, "needs 7, not 6"),
    ({"q": "possition"}, "did you mean 'position'"),
    ({"q": [0, 1, 2, 3, 4, 5, 99]}, "no column 99"),
    ({"tau": {"elbow": "position"}}, "no joint 'elbow'"),
    ({"torque": "position"}, "no kind 'torque'"),
    ({"joints": {"elbow": "a"}}, "no joint 'elbow'"),
])
def test_what_is_told_wrongly_is_refused(logged, told, message):
    given = {"t": logged["t"], "position": logged["q"]}
    with pytest.raises(cf.ArgumentError, match=message):
        idn.read(given, PANDA, told)


# ---------------------------------------------------------------------- units
def test_degrees_and_milliseconds_are_read_as_told(logged):
    given = {"t": logged["t"] * 1e3, "q": np.degrees(logged["q"]), "v": np.degrees(logged["v"]),
             "tau": logged["tau"] * 1e3}
    units = {"t": "ms", "q": "deg", "v": "deg/s", "tau": "Nmm"}
    log = idn.read(given, PANDA, units=units)
    same(log, logged)
    assert "q: converted from deg" in log.notes


def test_units_in_names_are_read(logged):
    given = {"time [ms]": logged["t"] * 1e3,
             **{f"q{j + 1}_deg": np.degrees(logged["q"][:, j]) for j in range(7)},
             **{f"dq{j + 1} (deg/s)": np.degrees(logged["v"][:, j]) for j in range(7)},
             **{f"tau{j + 1} [Nm]": logged["tau"][:, j] for j in range(7)}}
    same(idn.read(given, PANDA), logged)


def test_degrees_turn_turns_and_leave_slides():
    robot = cf.Robot("both", [
        cf.Body("a", None, cf.Revolute((0, 0, 1)), inertia=cf.Inertia(1.0)),
        cf.Body("b", "a", cf.Prismatic((0, 0, 1)), inertia=cf.Inertia(1.0))])
    given = {"t": np.arange(60) * 0.01, "q": np.full((60, 2), 90.0)}
    np.testing.assert_allclose(idn.read(given, robot, units="deg").samples().q[0],
                               [np.pi / 2, 90.0])


@pytest.mark.parametrize("unit, factor, start", [
    ("ms", 1e3, 0.0), ("us", 1e6, 0.0), ("ns", 1e9, 0.0), ("ns", 1e9, 1.7e9), ("ms", 1e3, 1.7e9)])
def test_the_unit_of_time_is_found_by_its_size_and_said(logged, unit, factor, start):
    given = {**logged, "t": (start + logged["t"]) * factor}
    log = idn.read(given, PANDA)
    t = log.samples().t
    np.testing.assert_allclose(t - t[0], logged["t"], atol=1e-6)
    assert f"t: taken for {unit}, by the size of its steps" in log.notes


def test_a_step_of_one_is_refused_unless_velocities_tell(logged):
    given = {**logged, "t": logged["t"] * 250}          # one a row: seconds, or 4 ms in ms
    del given["v"]
    with pytest.raises(cf.ArgumentError, match="s or ms"):
        idn.read(given, PANDA)


@pytest.mark.parametrize("units, message", [
    ({"q": "furlong"}, "cannot be in 'furlong'"), ({"x": "deg"}, "no kind 'x'"),
    ("Nm", "unit of angles"), (3, "mapping")])
def test_units_that_cannot_be_are_refused(logged, units, message):
    with pytest.raises(cf.ArgumentError, match=message):
        idn.read(logged, PANDA, units=units)


# ---------------------------------------------------------------------- CSV
@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize("arrow", [True, False])
def test_csv_files_are_read_with_any_separator(tmp_path, logged, separator, arrow, monkeypatch):
    if not arrow:
        monkeypatch.setattr(csv, "_arrow", lambda: None)
    write_csv(tmp_path / "run.csv", joint_columns(PANDA, logged), separator)
    same(idn.read(tmp_path / "run.csv", PANDA), logged)


def test_csv_files_may_have_comments_a_byte_mark_and_texts(tmp_path, logged):
    write_csv(tmp_path / "plain.csv", joint_columns(PANDA, logged))
    lines = (tmp_path / "plain.csv").read_text().splitlines()
    lines = [lines[0] + ",state", *(line + ",running" for line in lines[1:])]
    (tmp_path / "run.csv").write_text("\ufeff# a comment\n" + "\n".join(lines) + "\n\n",
                                      encoding="utf8")
    same(idn.read(tmp_path / "run.csv", PANDA), logged)


def test_a_csv_file_that_is_cut_off_is_refused_with_its_line(tmp_path, logged):
    write_csv(tmp_path / "run.csv", joint_columns(PANDA, logged))
    text = (tmp_path / "run.csv").read_text()
    (tmp_path / "run.csv").write_text(text[:-60])
    with pytest.raises(cf.FormatError, match=r"run.csv:251: .* cut off"):
        idn.read(tmp_path / "run.csv", PANDA).samples()


def test_a_text_among_numbers_is_refused_with_line_and_column(tmp_path, logged):
    write_csv(tmp_path / "run.csv", joint_columns(PANDA, logged))
    lines = (tmp_path / "run.csv").read_text().splitlines()
    lines[10] = "0.036,oops," + lines[10].split(",", 2)[2]
    (tmp_path / "run.csv").write_text("\n".join(lines))
    with pytest.raises(cf.FormatError, match=r":11: column 'panda_joint1.position'.*'oops'"):
        idn.read(tmp_path / "run.csv", PANDA).samples()


def test_an_empty_cell_is_no_number(tmp_path, logged):
    write_csv(tmp_path / "run.csv", joint_columns(PANDA, logged))
    lines = (tmp_path / "run.csv").read_text().splitlines()
    lines[10] = "0.036,," + lines[10].split(",", 2)[2]
    (tmp_path / "run.csv").write_text("\n".join(lines))
    assert np.isnan(idn.read(tmp_path / "run.csv", PANDA).samples().q[9, 0])


def test_one_array_is_read_by_the_numbers_of_its_columns_or_by_its_fields(logged):
    whole = np.column_stack([logged[kind] for kind in ("t", "q", "v", "tau")])
    told = {"t": 0, "q": slice(1, 8), "v": range(8, 15), "tau": np.arange(15, 22)}
    same(idn.read(whole, PANDA, columns=told), logged)
    names, rows = table(joint_columns(PANDA, logged))
    fields = np.array([tuple(row) for row in rows], dtype=[(name, float) for name in names])
    same(idn.read(fields, PANDA), logged)
    with pytest.raises(cf.ArgumentError, match="say which with columns"):
        idn.read(whole, PANDA)


# ---------------------------------------------------------------------- npz, Parquet
def test_npz_files_stream_out_of_the_archive(tmp_path, logged):
    np.savez_compressed(tmp_path / "run.npz", times=logged["t"], positions=logged["q"],
                        velocities=logged["v"], torques=np.asfortranarray(logged["tau"]))
    same(idn.read(tmp_path / "run.npz", PANDA), logged)
    np.savez(tmp_path / "run.npz", t=logged["t"], q=logged["q"], v=logged["v"].astype("f4"),
             tau=logged["tau"], gains=np.ones(3))
    log = idn.read(tmp_path / "run.npz", PANDA)
    np.testing.assert_array_equal(log.samples().q, logged["q"])
    assert any("gains" in note for note in log.notes)


@pytest.mark.parametrize("order", [np.ascontiguousarray, np.asfortranarray])
def test_what_else_is_kept_beside_a_log_is_left_aside(tmp_path, logged, order):
    """Pickled settings, which are never opened, a rate, a small matrix."""
    columns = {"times": logged["t"], "positions": order(logged["q"]), "torques": logged["tau"],
               "positions_raw": logged["v"]}
    more = {"contacts": np.array({}), "frequency": 250.0, "robot": "panda"}
    np.savez(tmp_path / "run.npz", **columns, **more, P=np.asfortranarray(np.eye(7)))
    for source in (tmp_path / "run.npz", {**columns, **more}):
        log = idn.read(source, PANDA)
        same(log, logged, ("t", "q", "tau"))
        assert any("left aside" in note and "contacts" in note for note in log.notes)
    np.savez(tmp_path / "odd.npz", **columns, contacts=np.array({}))
    with np.load(tmp_path / "odd.npz") as arrays:
        same(idn.read(arrays, PANDA), logged, ("t", "q", "tau"))


def test_npz_files_by_joint_names(tmp_path, logged):
    np.savez(tmp_path / "run.npz", **joint_columns(PANDA, logged))
    same(idn.read(tmp_path / "run.npz", PANDA), logged)


def test_a_cut_npz_file_is_refused(tmp_path, logged):
    np.savez(tmp_path / "run.npz", **logged)
    (tmp_path / "run.npz").write_bytes((tmp_path / "run.npz").read_bytes()[:5000])
    with pytest.raises(cf.FormatError, match="no whole NumPy file"):
        idn.read(tmp_path / "run.npz", PANDA)


def test_parquet_files_are_read_with_their_units_and_lists(tmp_path, logged):
    pa = pytest.importorskip("pyarrow", reason="Parquet needs the extra identify")
    from pyarrow import parquet
    fields = [pa.field("t", pa.float64(), metadata={"unit": "ms"})] + [
        pa.field(kind, pa.list_(pa.float64())) for kind in ("q", "v", "tau")]
    columns = [logged["t"] * 1e3, *(list(logged[kind]) for kind in ("q", "v", "tau"))]
    parquet.write_table(pa.table(columns, schema=pa.schema(fields)), tmp_path / "run.parquet")
    same(idn.read(tmp_path / "run.parquet", PANDA), logged)
    parquet.write_table(pa.table(joint_columns(PANDA, logged)), tmp_path / "flat.parquet")
    log = idn.read(tmp_path / "flat.parquet", PANDA)
    same(log, logged)
    assert len(list(log.pieces(100))) == 3
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "flat.parquet").read_bytes()[:500])
    with pytest.raises(cf.FormatError, match="no whole Parquet file"):
        idn.read(tmp_path / "cut.parquet", PANDA)


# ---------------------------------------------------------------------- refusals
@pytest.mark.parametrize("source, message", [
    ("nowhere.csv", "no such file"), (3, "file, arrays by name or Samples"),
    ({"t": np.zeros((2, 2, 2))}, r"\(N,\) or"), ({"t": ["a", "b"]}, "must be numbers"),
    ({"t": np.zeros(5), "q": np.zeros((6, 7))}, "differ in length"),
    ({"t": np.zeros(60), "q": np.zeros((60, 6))}, "needs 7 columns"),
    ({"q": np.zeros((60, 7))}, "no column is told to be t"),
    ({"t": np.zeros(60)}, "no column is told to be q"),
])
def test_what_is_no_log_is_refused(source, message):
    with pytest.raises(cf.ClosedformError, match=message):
        idn.read(source, PANDA)


def test_other_files_and_topics_of_no_bag_are_refused(tmp_path, logged):
    (tmp_path / "run.xyz").write_text("1")
    with pytest.raises(cf.FormatError, match="must end in"):
        idn.read(tmp_path / "run.xyz", PANDA)
    write_csv(tmp_path / "run.csv", joint_columns(PANDA, logged))
    with pytest.raises(cf.ArgumentError, match="has no topics"):
        idn.read(tmp_path / "run.csv", PANDA, topic="/joint_states")
    with pytest.raises(cf.ArgumentError, match="robot must be"):
        idn.read(logged, "panda")


def test_a_floating_base_is_read_by_its_numbers():
    robot = cf.load("panda", floating=True)
    logged = simulated(robot, 0.5, Faults(period=4e-3))[0]
    same(idn.read(logged, robot), logged)
    numbered = {"t": logged["t"]} | {f"{kind}{i}": logged[kind][:, i] for kind in ("q", "v", "tau")
                                     for i in range(logged[kind].shape[1])}
    same(idn.read(numbered, robot), logged)


def test_a_parquet_file_is_not_read_ahead_as_a_whole(tmp_path):
    """Also one that is a single group of rows."""
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    rng, path, n = np.random.default_rng(0), tmp_path / "long.parquet", 800_000
    columns = {"t": np.arange(n) * 1e-3} | {
        name: rng.normal(size=n) for name in ("q1", "q2", "tau1", "tau2")}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=10**7)
    before = pyarrow.total_allocated_bytes()
    held = [pyarrow.total_allocated_bytes() - before
            for _ in idn.read(path, cf.load("planar2r")).pieces(8192)]
    assert max(held) < path.stat().st_size / 2


def test_torques_of_a_floating_robot_may_be_of_its_joints_alone():
    """By name, by number or as an array: the wrench on the base is zero, and that is said."""
    robot = cf.load("panda", floating=True)
    n = 30
    q = np.tile(robot.neutral(), (n, 1)) + 1e-3 * np.arange(n)[:, None]
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    tau = np.arange(7.0 * n).reshape(n, 7)
    by_name = {f"{j}.effort": x for j, x in zip(robot.joint_names[1:], tau.T, strict=True)}
    for efforts in ({"tau": tau}, by_name, {f"tau{i}": x for i, x in enumerate(tau.T, start=1)}):
        log = idn.read({"t": 0.01 * np.arange(n), "q": q, **efforts}, robot)
        found = log.samples().tau
        np.testing.assert_array_equal(found[:, 6:], tau)
        assert not found[:, :6].any() and any("alone" in note for note in log.notes)
    whole = np.column_stack([np.ones((n, 6)), tau])
    log = idn.read({"t": 0.01 * np.arange(n), "q": q, "tau": whole}, robot)
    np.testing.assert_array_equal(log.samples().tau, whole)
