"""`closedform identify`: from a model file and logs to an identified robot and a verdict."""

import json
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import closedform as cf
from closedform.errors import ArgumentError
from closedform.interfaces.cli.identification import identify
from measured_runs import other_inertias, run

TRUE = cf.load("ur5")


def call(*arguments):
    app = typer.Typer()
    identify.register(app)
    app.command()(lambda: None)
    return CliRunner().invoke(app, ["identify", *map(str, arguments)], env={"COLUMNS": "200"},
                              catch_exceptions=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model file that is not quite right, a log, and one of another motion."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "my.urdf").write_text(other_inertias(TRUE).to_urdf(), encoding="utf8")
    names = [f"{n}.{kind}" for kind in ("position", "effort") for n in TRUE.joint_names]
    for name, seed in (("run1", 0), ("run2", 7)):
        data = run(TRUE, seed, rate=100.0)
        np.savetxt(folder / f"{name}.csv", np.column_stack([data["t"], data["q"], data["tau"]]),
                   delimiter=",", comments="", header=",".join(["t", *names]))
    return folder


def test_a_robot_is_identified_and_written(files, tmp_path):
    done = call(files / "my.urdf", files / "run1.csv", "--validate", files / "run2.csv",
                "--friction", "viscous,coulomb", "-o", tmp_path / "identified.urdf",
                "--report", tmp_path / "fit.html")
    assert done.exit_code == 0, done.output
    assert "the identified robot holds" in done.stdout and "held out %" in done.stdout
    found = cf.load(tmp_path / "identified.urdf")
    q, v, a = TRUE.random(2), np.full(6, 0.3), np.full(6, 0.2)
    expected = cf.inverse_dynamics(TRUE, q, v, a)
    np.testing.assert_allclose(cf.inverse_dynamics(found, q, v, a), expected,
                               atol=0.03 * np.abs(expected).max())
    assert "verdict holds" in (tmp_path / "fit.html").read_text(encoding="utf8")


def test_without_held_out_motion_it_ends_with_one(files, tmp_path):
    done = call(files / "my.urdf", files / "run1.csv", "-o", tmp_path / "found.toml", "--json")
    assert done.exit_code == 1
    said = json.loads(done.stdout)
    assert not said["holds"] and "held out" in said["reasons"][0]
    assert not tomllib.loads((tmp_path / "found.toml").read_text())["identification"]["holds"]


def test_wrong_options_are_refused_before_anything_is_read(files):
    with pytest.raises(ArgumentError, match=r"\.urdf or \.toml"):
        call(files / "my.urdf", files / "run1.csv", "-o", "found.xyz")
    with pytest.raises(ArgumentError, match="no folder"):
        call(files / "my.urdf", files / "run1.csv", "--report", files / "nowhere" / "fit.html")
    with pytest.raises(ArgumentError, match="--lock"):
        call(files / "my.urdf", files / "run1.csv", "--lock", "elbow_joint")
    with pytest.raises(ArgumentError, match="JSON"):
        call(files / "my.urdf", files / "run1.csv", "--columns", "{q: 1}")


@pytest.fixture(scope="module")
def motors(tmp_path_factory):
    """Torques of motors behind gears, one of them turned round and coupled; with a load and not."""
    folder, P = tmp_path_factory.mktemp("motors"), np.array([[50.0, 0], [20.0, -40.0]])
    arm = cf.load("planar2r")
    tip = arm.bodies[-1].name
    load = cf.Inertia(mass=1.5, com=(0.1, 0, 0.05), tensor=np.eye(3) * 0.01)
    heavy = replace(arm, bodies=(*arm.bodies[:-1], replace(
        arm.bodies[-1], inertia=arm.bodies[-1].inertia + load)))
    for name, robot, seed in (("bare", arm, 1), ("loaded", heavy, 2), ("other", heavy, 5)):
        data = run(robot, seed, rate=100.0)
        np.savez(folder / f"{name}.npz", t=data["t"], motor_position=data["q"] @ P.T,
                 motor_torque=data["tau"] @ np.linalg.inv(P))
    (folder / "drives.toml").write_text(f"ratio = [50, -40]\ncoupling = {P.tolist()}\n")
    return folder, tip


def test_drives_loads_and_what_is_known_are_told_on_the_line(motors, tmp_path):
    folder, tip = motors
    done = call("planar2r", folder / "bare.npz", folder / "loaded.npz", "--validate",
                folder / "other.npz", "--drives", folder / "drives.toml", "--payload", tip,
                "--loaded", folder / "loaded.npz", "--loaded", folder / "other.npz", "--friction",
                "viscous,coulomb", "--known", f"{tip}_payload.m=1.5", "--json")
    said = json.loads(done.stdout)
    assert done.exit_code == 0 and said["holds"], said["reasons"]
    found = {row["name"]: row for row in said["unknowns"]}
    x = found[f"{tip}_payload.mcx"]
    assert x["low"] <= 0.15 <= x["high"] and x["value"] == pytest.approx(0.15, abs=0.01)


@pytest.mark.parametrize(("wrong", "word"), [
    (("--drives", '{"gain": 1}'), "ratio"), (("--drives", "{ratio"), "cannot be read"),
    (("--known", "link1.m"), "parameter=number"), (("--loaded", "bare.npz"), "--payload"),
    (("--payload", "nowhere"), "nowhere"), (("--method", "instrumental"), "period"),
])
def test_what_is_told_wrongly_on_the_line_is_refused(motors, wrong, word):
    with pytest.raises(cf.ClosedformError, match=word):
        call("planar2r", motors[0] / "bare.npz", "--drives", motors[0] / "drives.toml", *wrong)


KILLED = """
import signal, sys, time
from pathlib import Path
from closedform.applications.identification.logs.log import Log
from closedform.interfaces.cli.main import main

whole, kept = Log.pieces, Path(sys.argv[sys.argv.index("--keep") + 1])

def pieces(log, rows=100):
    for number, piece in enumerate(whole(log, 100)):
        if log.name == "second" and number == 5:        # half-way, and the first is kept
            while not list(kept.glob("first-*.npz")):
                time.sleep(0.01)
            (kept / "now").touch()
            signal.pause()
        yield piece

Log.pieces = pieces
main()
"""


@pytest.mark.skipif(not hasattr(signal, "pause"), reason="signals of POSIX")
def test_a_run_that_is_killed_goes_on_with_the_same_bits(tmp_path, monkeypatch):
    """By SIGKILL, within the second of three logs: those that were done are not read again."""
    robot, logs = cf.load("planar2r"), [tmp_path / f"{n}.npz" for n in ("first", "second", "third")]
    for seed, path in enumerate(logs):
        np.savez(path, **run(robot, seed, seconds=10.0, rate=100.0))
    folder = tmp_path / "kept"
    arguments = ["planar2r", *map(str, logs), "--json", "--keep", str(folder)]
    child = subprocess.Popen([sys.executable, "-c", KILLED, "identify", *arguments],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not (folder / "now").exists():
        assert child.poll() is None, child.stderr.read().decode()
        time.sleep(0.01)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    child.stderr.close()
    done = {path.name.partition("-")[0] for path in folder.glob("[!.]*.npz")}
    assert "first" in done and "second" not in done
    room = import_module("closedform.applications.identification.information")
    real, read = room.log_information, []
    monkeypatch.setattr(room, "log_information",
                        lambda model, log, *rest: read.append(log.name) or real(model, log, *rest))
    goes_on = call(*arguments)
    assert set(read) == {"first", "second", "third"} - done
    assert goes_on.stdout == call(*arguments[:-2]).stdout and '"holds"' in goes_on.stdout
