"""The report: its certificates, its data, what it leaves out and says why."""

import json

import numpy as np
import pytest

import closedform as cf
from closedform.applications.report import certify, difference_residuals, ratios, structure
from closedform.applications.report_certificates import LAWS, Certificate, along, laws, stepped
from closedform.applications.report_formulas import formulas
from closedform.applications.report_peers import peers
from closedform.applications.report_quantities import Timed, timed, too_large, warm
from closedform.applications.report_redundancy import Redundant, redundant
from closedform.applications.torques import torques
from closedform.applications.trajectories import cosines
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


def test_tensors_of_a_humanoid_are_left_out_with_the_reason():
    robot = cf.load("humanoid25")
    named = {row.name: too_large(robot, row) for row in cf.CATALOGUE}
    assert "119164 numbers" in named["inverse_dynamics_second_derivatives"]
    assert named["inverse_dynamics"] == ""


def test_a_quantity_that_does_not_exist_for_a_robot_says_so():
    assert "planar" not in warm(cf.load("planar2r"), "mass_matrix")
    assert warm(cf.load("planar2r"), "operational_space_inertia").startswith("does not exist")


def test_a_program_beyond_the_limit_is_refused_before_it_is_compiled(tmp_path):
    from closedform.applications.kernels import asked_request
    from closedform.lowerings.cache import Cache
    robot = cf.load("planar2r")
    arm = cf.compile(robot, cache=Cache(tmp_path))
    with pytest.raises(cf.ArgumentError, match="more than 3"):
        arm.kernel([asked_request(robot, "inverse_dynamics")], largest=3)


def test_structure_is_the_mean_size_of_the_entries():
    robot = cf.load("planar2r")
    maps = structure(robot, cf.compile(robot))
    assert set(maps) == {"M", "C", "∂τ/∂q"}
    assert maps["C"][1, 1] < 8 * np.finfo(float).eps * maps["C"].max()      # zero but for rounding
    np.testing.assert_allclose(maps["M"], maps["M"].T)


def test_formulas_are_written_for_small_robots_only():
    found = formulas(cf.load("planar2r"))
    assert set(found) == {"M", "C", "g"}
    assert all(line.startswith("<math") for lines in found.values() for line in lines)
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


def test_times_are_positive_and_a_ratio_is_theirs_over_ours():
    robot = cf.load("planar2r")
    row = next(row for row in cf.CATALOGUE if row.name == "mass_matrix")
    one = timed(robot, row, cf.compile(robot).mass_matrix, 0.001)
    assert one.call > 0 and one.batch > 0
    found, _ = peers(robot)
    if not found:
        pytest.skip("neither Pinocchio nor MuJoCo is installed")
    told = ratios(robot, found, [Timed("inverse_dynamics", 1.0, 1.0)])
    assert set(told) == {"inverse_dynamics"}
    assert all(x > 1 for x in told["inverse_dynamics"].values())     # over one nanosecond


def test_the_data_is_plain():
    told = json.loads(json.dumps(planar_report().data()))
    assert told["holds"] is True
    assert {"robot", "lint", "quantities", "structure", "base_parameters", "derivatives",
            "certificates", "speed", "redundancy"} <= set(told)


def test_kernels_of_a_file_with_rounded_angles_hold_to_the_laws_of_what_was_recorded():
    """1.5707963268 is a rounding away from π/2: kernels have π/2, and so must the laws."""
    from closedform.maths.canonical import snapped
    robot = cf.load(ROUNDED)
    exact, notes = snapped(robot)
    assert notes
    assert all(c.holds for c in laws(exact, cf.compile(robot), 3))
    assert not all(c.holds for c in laws(robot, cf.compile(robot), 3))
