"""Logs as users have them: read, or refused with what is wrong; never a number without a word."""

import pickle

import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform import identification as idn
from closedform.interfaces.cli.main import app
from measured_runs import motion, run

ARM = cf.load("ur5").reduced({"wrist_2_joint": 0.3, "wrist_3_joint": 0.0})
JOINTS = ARM.joint_names
NAMES = ["t", *(f"{name}.{word}" for word in ("position", "effort") for name in JOINTS)]
UNITS = ["s", *["rad"] * 4, *["Nm"] * 4]


def logged(seed=0):
    data = run(ARM, seed, seconds=5.0, rate=100.0)
    return {**data, "v": motion(ARM, data["t"], seed)[1]}


GOOD = logged()
TABLE = np.column_stack([GOOD[kind] for kind in ("t", "q", "tau")])


def rows(separator=",", form="{:.9g}"):
    return [separator.join(form.format(x) for x in row) for row in TABLE]


def text(*head, separator=",", body=None):
    return "\n".join([*head, *(body or rows(separator))]) + "\n"


COMMAS = [line.replace(".", ",") for line in rows(";")]
READ = {
    "names-in-a-comment": text("# " + ",".join(NAMES)),
    "comments-of-three-kinds": text("# a", "% b", "// c", ",".join(NAMES)),
    "a-line-of-units": text(",".join(NAMES), ",".join(UNITS)),
    "decimal-commas": text(";".join(NAMES), body=COMMAS),
    "decimal-commas-and-tabs": text("\t".join(NAMES), body=[x.replace(";", "\t") for x in COMMAS]),
    "separator-told": text("sep=;", ";".join(NAMES), body=COMMAS),
    "semicolons": text(";".join(NAMES), separator=";"),
    "lines-of-separators-at-the-end": text(",".join(NAMES)) + "," * (len(NAMES) - 1) + "\n",
    "cells-too-many-but-empty": text(",".join([*NAMES, "", ""]), body=[x + ",," for x in rows()]),
    "two-bytes-a-letter": text(",".join(NAMES)).encode("utf-16"),
    "a-byte-mark-and-windows-lines": b"\xef\xbb\xbf" + text(",".join(NAMES)).replace(
        "\n", "\r\n").encode(),
}


@pytest.mark.parametrize("content", READ.values(), ids=READ)
@pytest.mark.parametrize("arrow", [True, False])
def test_text_as_other_programs_write_it_is_read(tmp_path, content, arrow, monkeypatch):
    if not arrow:
        monkeypatch.setattr("closedform.applications.identification.logs.csv._arrow", lambda: None)
    path = tmp_path / "run.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = idn.read(path, ARM).samples()
    for kind in ("t", "q", "tau"):
        np.testing.assert_allclose(getattr(found, kind), GOOD[kind], rtol=1e-8, atol=1e-8)


def test_a_line_of_units_is_obeyed(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text(text(",".join(NAMES), ",".join(["s", *["deg"] * 4, *["Nm"] * 4])))
    np.testing.assert_allclose(idn.read(path, ARM).samples().q, np.radians(GOOD["q"]), rtol=1e-8)


def test_a_last_line_that_may_lack_digits_is_told(tmp_path):
    whole = text(",".join(NAMES))
    for content, told in ((whole, False), (whole[:-3], True)):
        found = idn.read(written(tmp_path, content), ARM)
        assert any("last line has no end" in note for note in found.notes) == told
        assert len(found.samples().t) == len(GOOD["t"])


def test_columns_that_are_told_to_be_currents_are_no_torques_by_their_names(tmp_path):
    path = written(tmp_path, text(",".join(NAMES)))
    log = idn.read(path, ARM, {"current": slice(5, 9)})
    assert "tau" not in log.kinds
    with pytest.raises(cf.ArgumentError, match="has currents and no torques"):
        idn.information(idn.Model(ARM), log)


def test_a_column_is_one_kind_only(tmp_path):
    path = written(tmp_path, text(",".join(NAMES)))
    with pytest.raises(cf.ArgumentError, match="is told to be q and tau"):
        idn.read(path, ARM, {"q": slice(1, 5), "tau": slice(4, 8)})


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


def damaged_parquet(folder):
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs the extra identify")
    from pyarrow import parquet
    path = folder / "run.parquet"
    parquet.write_table(arrow.table(dict(zip(NAMES, TABLE.T, strict=True))), path)
    data = bytearray(path.read_bytes())
    data[600:1500] = bytes(900)
    path.write_bytes(data)
    return path


def written(folder, content, name="run.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


REFUSED = {
    "commas-between-and-inside": (lambda f: written(f, text(
        ",".join(NAMES), body=[x.replace(".", ",") for x in rows()])), "run.csv:2.*commas inside"),
    "binary": (lambda f: written(f, b"PK\x03\x04\x00\x00" * 50), "run.csv.*binary"),
    "a-sheet": (lambda f: written(f, b"PK", "run.xlsx"), "save the sheet as .csv"),
    "counts": (lambda f: written(f, text(",".join(
        ["t", *(f"{n}.position [counts]" for n in JOINTS), *NAMES[5:]]))),
        "run.csv.*'counts' is a unit, it is none"),
    "currents-called-torques": (lambda f: written(f, text(",".join(
        [*NAMES[:5], *(f"{n} [A]" for n in NAMES[5:])]))), "run.csv.*'A'.*'current'"),
    "pickles-in-npz": (lambda f: saved(f / "run.npz", t=GOOD["t"], q=GOOD["q"], tau=np.array(
        [{}] * len(GOOD["t"]))), "array 'tau' holds pickled Python objects"),
    "a-pickle-in-npy": (lambda f: written(f, b"", "x") and _npy(f), "'data' holds pickled"),
    "a-pickle-called-npz": (lambda f: written(f, pickle.dumps(GOOD), "run.npz"), "no whole NumPy"),
    "transposed": (lambda f: saved(f / "run.npz", t=GOOD["t"], q=GOOD["q"].T.copy(),
                                   tau=GOOD["tau"].T.copy()), "array 'q' is 4 by 500: transpose"),
    "one-row-less": (lambda f: saved(f / "run.npz", t=GOOD["t"][1:], q=GOOD["q"],
                                     tau=GOOD["tau"]), r"left aside: t \(499,\)"),
    "texts-for-numbers": (lambda f: saved(f / "run.npz", t=GOOD["t"], q=GOOD["q"].astype(str)),
                          "no columns of numbers are left aside: q"),
    "damaged-parquet": (damaged_parquet, r"run.parquet: the file is damaged"),
}


def _npy(folder):
    path = folder / "run.npy"
    np.save(path, np.array([{}]), allow_pickle=True)
    return path


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_log_is_refused_with_what_is_wrong(tmp_path, make, message):
    with pytest.raises(cf.ClosedformError, match=message):
        idn.diagnose(idn.read(make(tmp_path), ARM))


def test_arrays_with_a_row_for_each_joint_are_refused():
    with pytest.raises(cf.ArgumentError, match="transpose"):
        idn.read({"t": GOOD["t"], "q": GOOD["q"].T, "tau": GOOD["tau"].T}, ARM)


def test_complex_numbers_are_refused_and_masked_ones_are_none():
    with pytest.raises(cf.ArgumentError, match="q must be real numbers"):
        idn.read({**GOOD, "q": GOOD["q"] + 0j}, ARM)
    hidden = np.ma.masked_array(GOOD["tau"], np.zeros(GOOD["tau"].shape, bool))
    assert not idn.diagnose(idn.read({**GOOD, "tau": hidden}, ARM)).errors
    hidden[5, 1] = np.ma.masked
    found = idn.diagnose(idn.read({**GOOD, "tau": hidden}, ARM)).errors
    assert [f.rule for f in found] == ["not-a-number"] and "first in row 5" in found[0].message


def broken(change):
    data = {kind: x.copy() for kind, x in GOOD.items()}
    change(data)
    return data


def two_sources(data):
    """Every row twice, the second with other torques and a millisecond later."""
    for kind, x in list(data.items()):
        data[kind] = np.repeat(x, 2, axis=0)
    data["tau"][1::2] = 0.0
    data["t"][1::2] += 1e-3


FAULTS = {
    "inf": (lambda d: d["tau"].__setitem__((7, 2), np.inf), "tau of elbow_joint is no number"),
    "time-without-end": (lambda d: d["t"].__setitem__(55, np.inf), "t is no number in 1 of"),
    "times-without-digits": (lambda d: d.update(t=np.round(d["t"] / 5) * 5),
                             "have the time of the row before and other positions"),
    "two-publishers": (two_sources, "tau jumps to and fro"),
    "no-torque": (lambda d: d["tau"].fill(-0.0), "tau of all joints is 0 in every row"),
}


@pytest.mark.parametrize(("change", "message"), FAULTS.values(), ids=FAULTS)
@pytest.mark.filterwarnings("error")
def test_faults_are_told_and_refused(change, message):
    log = idn.read(broken(change), ARM)
    assert any(message in f.message for f in idn.diagnose(log).errors)
    with pytest.raises(cf.ArgumentError, match=message):
        idn.Signals().prepare(log)


def test_rows_from_the_last_to_the_first_are_refused():
    log = idn.read({kind: x[::-1] for kind, x in logged().items()}, ARM)
    with pytest.raises(cf.ArgumentError, match="time goes back in most rows"):
        idn.diagnose(log)


def test_a_torque_that_is_the_same_in_every_row_is_a_reason():
    model = idn.Model(ARM, idn.Friction("viscous", "coulomb"))

    def silent(seed):
        data = logged(seed)
        data["tau"][:, 1] = 0.0
        return idn.read(data, ARM)
    fit = idn.fit(idn.information(model, silent(0)))
    found = idn.verdict(fit, idn.validate(fit, silent(7)))
    assert not found.holds
    assert any("torque of shoulder_lift_joint is the same in every row" in r
               for r in found.reasons)


@pytest.mark.parametrize("command", ["signals", "identify"])
def test_refusals_are_errors_of_the_program_and_no_tracebacks(tmp_path, command):
    (tmp_path / "arm.urdf").write_text(ARM.to_urdf())
    for number, (make, message) in enumerate(REFUSED.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        told = [str(make(folder)), "--robot"] if command == "signals" else []
        line = [command, *told, str(tmp_path / "arm.urdf")]
        done = CliRunner().invoke(app, line if told else [*line, str(make(folder))])
        assert isinstance(done.exception, cf.ClosedformError), message
