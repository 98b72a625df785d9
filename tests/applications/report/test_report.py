"""The report: its certificates, its data, what it leaves out and says why."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import closedform as cf
from closedform.applications.motion.torques import torques
from closedform.applications.motion.trajectories import cosines
from closedform.applications.report import (
    quantities as report_quantities,
)
from closedform.applications.report import (
    workers as report_workers,
)
from closedform.applications.report.certificates import LAWS, Certificate, along, laws, stepped
from closedform.applications.report.formulas import formulas
from closedform.applications.report.peers import peers
from closedform.applications.report.quantities import (
    CATALOGUE,
    found_by,
    jobs,
    ratio,
    sized,
    states,
    timed,
)
from closedform.applications.report.record import difference_residuals
from closedform.applications.report.redundancy import Redundant, redundant
from closedform.applications.report.report import certify, ratios, structure
from closedform.applications.report.workers import (
    LATE,
    Progress,
    await_all,
    kernel_of,
    module_path,
    warm,
    working,
)
from closedform.lowerings.store.cache import Cache
from report_fixture import planar_report

ROUNDED = """<robot name="rounded"><link name="base"/>
<link name="a"><inertial><mass value="2"/><origin xyz="0.1 0.2 0.3"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="1"/><origin xyz="0.3 0.2 0.1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="one" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<origin xyz="0 0 0.1" rpy="1.5707963268 0 0"/></joint>
<joint name="two" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<origin xyz="0.4 0 0" rpy="1.5707963266 0 0"/></joint></robot>"""


def row(name):
    return next(row for row in CATALOGUE if row.name == name)


def with_another_inertia(robot, body, entry, factor=1.01):
    """The robot with one of the ten parameters of a body changed."""
    pi = np.array(robot.parameters)
    k = 10 * body + entry
    pi[k] = factor * pi[k] if pi[k] else factor - 1
    return robot.with_parameters(pi)


@pytest.mark.parametrize("name", ["planar2r", "ur5"])
def test_every_law_holds_on_the_kernels(name):
    robot = cf.load(name)
    found, run = certify(robot, cf.compile(robot), *peers(robot))
    assert [c.law for c in found if not c.holds] == []
    assert sum(c.checked for c in found) >= len(LAWS) + 1
    assert run is not None


def test_a_floating_robot_has_a_certificate_of_its_momentum():
    robot = cf.load("planar2r", floating=True)
    base, *rest = robot.bodies
    base = replace(base, joint=cf.Free(rotor_inertia=0.5),
                   inertia=cf.Inertia(1.0, (0.1, 0, 0.2), np.eye(3)))
    robot = replace(robot, bodies=(base, *rest))
    found = {c.law: c for c in laws(robot, cf.compile(robot), 2)}
    assert found["momentum"].checked and found["momentum"].holds
    assert "momentum" not in {c.law for c in laws(cf.load("planar2r"),
                                                  cf.compile(cf.load("planar2r")), 1)}


@pytest.mark.parametrize("entry", [0, 1, 9], ids=["mass", "first moment", "Izz"])
def test_one_corrupted_inertia_entry_of_the_kernels_fails(entry):
    robot = cf.load("planar2r")
    found, _ = certify(robot, cf.compile(with_another_inertia(robot, 1, entry)), [], {})
    failed = {c.law for c in found if not c.holds}
    assert {"passivity", "power", "kernel and closed form"} & failed


def test_a_kernel_of_one_quantity_that_disagrees_is_found():
    robot = cf.load("ur5")
    good, bad = cf.compile(robot), cf.compile(with_another_inertia(robot, 2, 0))

    class Mixed:
        def __getattr__(self, name):
            return getattr(bad if name == "gravity_torque" else good, name)

    failed = {c.law for c in laws(robot, Mixed(), 3) if not c.holds}
    assert failed == {"equations of motion", "gravity"}


def test_forward_dynamics_are_judged_by_their_terms_and_not_by_what_is_left_of_them():
    """a = M⁻¹ (τ − C v − g) under a weight that dwarfs M a; twelve digits of τ do not do."""
    robot = cf.load("four_bar").with_gravity((0, -9810, 0))
    arm = cf.compile(robot)

    class Rounded:
        operations = arm.forward_dynamics.operations

        def __getattr__(self, name):
            return self if name == "forward_dynamics" else getattr(arm, name)

        def __call__(self, q, v, tau):
            return arm.forward_dynamics(q, v, tau * (1 + 1e-12))

    for kernels, holds in ((arm, True), (Rounded(), False)):
        law = "forward and inverse dynamics"
        assert next(c for c in laws(robot, kernels, 3) if c.law == law).holds is holds


def test_a_residual_that_is_not_a_number_fails():
    assert not Certificate("law", "a = b", float("nan"), 1e-10).holds
    assert Certificate("law", "a = b", None, None, "why").verdict == "not checked"


def test_the_complex_step_follows_every_joint_kind():
    """d/dt of the pose's entries agrees with the Jacobian, also on a free base."""
    robot = cf.load("planar2r", floating=True)
    rng = np.random.default_rng(0)
    q, d = robot.random(rng), rng.normal(size=robot.nv)
    dp = along(robot, lambda x: cf.center_of_mass(robot, x), q, d)
    np.testing.assert_allclose(dp, cf.com_jacobian(robot, q) @ d, atol=1e-13)
    moved = robot.integrate(q, 1e-6 * d)
    np.testing.assert_allclose(stepped(robot, q, 1e-6 * d), moved, atol=1e-11)


def test_a_quantity_that_does_not_exist_for_a_robot_says_so():
    arm = cf.compile(cf.load("planar2r"))
    assert warm(arm, "mass_matrix", batch=True) == ""
    assert "fewer than six" in warm(arm, "operational_space_inertia", batch=False)


def test_a_program_beyond_the_limit_is_counted_and_refused_before_it_is_compiled(
        tmp_path, monkeypatch):
    arm, seen = cf.compile(cf.load("planar2r"), cache=Cache(tmp_path / "cache")), []
    monkeypatch.setattr(report_workers, "LARGEST", 3)
    with pytest.raises(cf.ArgumentError, match=r"operations, more than 3"):
        kernel_of(arm, row("inverse_dynamics"), seen.append)
    assert [p.name for p in seen] == ["inverse_dynamics"]
    assert not list((tmp_path / "cache").glob("*"))


def test_every_quantity_is_asked_for_with_its_batches_and_large_ones_first():
    robot = cf.load("ur5")
    asked = jobs(robot)
    assert {name for name, batch in asked if batch} == {row.name for row in CATALOGUE}
    single = [name for name, batch in asked if not batch]
    assert single[0] == "parameter_derivatives" and "inverse_dynamics" not in single


def test_essential_quantities_of_a_large_robot_come_first_and_small_ones_next():
    robot = cf.load("humanoid25")
    asked = jobs(robot)
    essential = {row.name for row in CATALOGUE if row.essential}
    assert {name for name, _ in asked[:len(essential)]} == essential
    assert not any(batch for _, batch in asked[:len(CATALOGUE)])
    sizes = [report_quantities.entries(robot, row(name)) for name, _ in
             asked[len(essential):len(CATALOGUE)]]
    assert sizes == sorted(sizes)


def test_what_no_worker_came_to_is_still_counted():
    robot = cf.load("planar2r")
    arm = cf.compile(robot)
    found = found_by(arm, Progress(done={("mass_matrix", False)}), until=float("inf"))
    assert set(found.kernels) == {"mass_matrix"} and not found.batched
    assert found.reasons["inverse_dynamics"] == LATE
    assert "fewer than six" in found.reasons["operational_space_inertia"]
    for name in ("mass_matrix", "inverse_dynamics", "state_derivatives"):
        count = sized(robot, row(name), found)
        assert count.operations == getattr(arm, name).operations.total


def test_workers_do_not_run_the_script_that_asks(tmp_path):
    """No `if __name__ == "__main__":` is needed around a report."""
    script = tmp_path / "script.py"
    script.write_text("from closedform.applications.report.workers import *\n"
                      "import closedform as cf, time\n"
                      "print('once')\n"
                      "jobs = [('mass_matrix', False), ('bias', True)]\n"
                      "robot = cf.load('planar2r')\n"
                      "with common_cache() as cache, working(robot, jobs, cache) as p:\n"
                      "    await_all(jobs, p, time.monotonic() + 300)\n"
                      "    print(sorted(p.done), sorted(p.counts))\n", encoding="utf8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True,
                          env=os.environ | {"CLOSEDFORM_CACHE": "off"})
    assert done.stdout.splitlines() == [
        "once", "[('bias', True), ('mass_matrix', False)] ['bias', 'mass_matrix']"]


def test_workers_find_modules_where_we_do_but_not_in_the_working_directory(tmp_path, monkeypatch):
    ours = Path(cf.__file__).parents[1]
    monkeypatch.setattr(sys, "path", ["", ".", "src", str(tmp_path / "modules")])
    monkeypatch.chdir(tmp_path)
    assert module_path() == str(tmp_path / "modules")
    monkeypatch.chdir(ours)                          # where this package itself is found so
    assert module_path().split(os.pathsep) == [str(ours), str(ours), str(tmp_path / "modules")]


def test_a_worker_that_ends_is_the_reason_for_its_own_job_only(monkeypatch):
    robot, asked = cf.load("planar2r"), [("mass_matrix", False), ("bias", False)]
    dies = ("import os\nfrom closedform.applications.report import workers as w\n"
            "w.warm = lambda arm, name, *_: os._exit(7) if name == 'bias' else ''\nw.serve()")
    monkeypatch.setattr(report_workers, "SERVE", dies)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    with working(robot, asked, Cache(None)) as progress:
        await_all(asked, progress, time.monotonic() + 300)
    assert progress.done == {("mass_matrix", False)}
    assert progress.missing("bias").endswith("ended early (status 7)")
    assert progress.missing("regressor") == progress.missing() == LATE


def test_structure_is_the_mean_size_of_the_entries():
    robot = cf.load("planar2r")
    maps = structure(robot, cf.compile(robot))
    assert set(maps) == {"M", "C", "∂τ/∂q"}
    assert maps["C"][1, 1] < 8 * np.finfo(float).eps * maps["C"].max()      # zero but for rounding
    np.testing.assert_allclose(maps["M"], maps["M"].T)


def test_formulas_are_written_for_small_robots_only():
    found = formulas(cf.load("planar2r"))
    assert set(found) == {"M", "C", "g"}
    assert all(x.mathml.startswith("<math") for lines in found.values() for x in lines)
    assert found["M"][-1].latex.startswith("M_{22} = ")
    assert formulas(cf.load("ur5")) == {}


def test_differences_of_the_torques_miss_by_their_own_error_only():
    """Central differences err by h²/6 of the third derivative: a quarter with half the step."""
    robot = cf.load("planar2r")
    path = cosines(robot)
    coarse, fine = (difference_residuals(torques(robot, path, np.linspace(0, 4, n)))
                    for n in (201, 401))
    assert all(f < 0.35 * c for c, f in zip(coarse, fine, strict=True))


def test_a_redundant_arm_follows_a_closed_path_and_moves_within_its_pose():
    found = redundant(cf.load("planar3r"))
    assert isinstance(found, Redundant)
    assert found.track.complete
    assert np.abs(found.track.q[-1] - found.track.q[0]).max() < 1e-8
    assert found.values.max() > 1.2 * found.values.min()
    assert "one more joint" in redundant(cf.load("ur5"))


LINK = np.array([1.0, 0.15, 0, 0, 0.01, 0, 0.04, 0, 0, 0.04])
"""A slender link of 1 kg along x, about its end."""


def planar_arm(joints):
    def along_x(x):
        T = np.eye(4)
        T[0, 3] = x
        return T

    bodies = [cf.Body(f"l{k}", f"l{k - 1}" if k else None, cf.Revolute((0, 0, 1), name=f"j{k}"),
                      along_x(0.3 if k else 0.0), cf.Inertia.from_parameters(LINK))
              for k in range(joints)]
    return cf.Robot("planar", bodies, (0, -9.81, 0), [
        cf.Frame("tool", f"l{joints - 1}", along_x(0.3)), cf.Frame("elbow", "l1", np.eye(4))])


def test_with_more_than_one_freedom_there_is_a_path_and_no_curve():
    robot = planar_arm(4)
    assert robot.tip == "tool"                  # the last frame is moved by two joints only
    found = redundant(robot)
    assert found.track.complete and found.curve is None and len(found.names) == 4


def test_times_are_positive_and_a_ratio_is_theirs_over_ours():
    robot = cf.load("planar2r")
    arm = cf.compile(robot)
    one = timed(row("mass_matrix"), arm.mass_matrix, states(robot, 8), seconds=0.001)
    assert one.call > 0 and one.batch > 0
    assert timed(row("bias"), arm.bias, states(robot, 8), batch=False).batch is None
    found, _ = peers(robot)
    if not found:
        pytest.skip("neither Pinocchio nor MuJoCo is installed")
    told = ratios(robot, found, {"inverse_dynamics": arm.inverse_dynamics})
    assert set(told) == {"inverse_dynamics"}
    assert all(x > 0 for x in told["inverse_dynamics"].values())


def test_a_ratio_is_the_median_of_rounds(monkeypatch):
    monkeypatch.setattr(report_quantities, "_spent", lambda run, repeats: repeats * run())
    assert ratio(lambda: 3e-3, lambda: 2e-3) == pytest.approx(1.5)


def test_the_data_is_plain():
    told = json.loads(json.dumps(planar_report().data()))
    assert told["holds"] is True
    assert {"robot", "lint", "quantities", "structure", "base_parameters", "derivatives",
            "certificates", "speed", "redundancy"} <= set(told)


def test_kernels_of_a_file_with_rounded_angles_hold_to_the_laws_of_what_was_recorded():
    """1.5707963268 is a rounding away from π/2: kernels have π/2, and so must the laws."""
    from closedform.maths.canonical.snapping import snapped
    robot = cf.load(ROUNDED)
    exact, notes = snapped(robot)
    assert notes
    assert all(c.holds for c in laws(exact, cf.compile(robot), 3))
    assert not all(c.holds for c in laws(robot, cf.compile(robot), 3))
