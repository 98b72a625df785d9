"""The built-in robots against the numbers and files they come from."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from closedform.errors import ClosedformError
from closedform.maths.definitions.closed_form import inverse_dynamics, mass_matrix
from closedform.maths.definitions.energy import potential_energy
from closedform.maths.frames import frame_pose
from closedform.maths.kinematics import poses
from closedform.maths.loops.forces import loop_residual
from closedform.model.formats.dh import SYMORO_NAMES
from closedform.model.inertia import SYMORO_ORDER
from closedform.model.joints import Free, Prismatic
from closedform.model.zoo.zoo import BUILTIN, NAMES, builtin

PI_ROUNDING = 1e-10  # the URDF files round π/2 at 5e-12; a few lengths, masses and sums follow
SIZES = {"planar2r": (2, 2), "planar3r": (3, 3), "puma560": (6, 6), "stanford": (6, 6),
         "rx90": (6, 6), "ur5": (6, 6), "iiwa14": (7, 7), "panda": (7, 7), "humanoid25": (32, 31),
         "four_bar": (3, 1), "five_bar": (4, 2), "palletiser": (10, 4), "delta": (22, 3),
         "stewart": (25, 6), "ankle": (8, 2)}
MASSES = {"planar2r": 3.25, "planar3r": 1.65, "puma560": 23.45, "stanford": 20.77, "rx90": 71.1,
          "ur5": 16.9939, "iiwa14": 20.66958, "panda": 16.822132, "humanoid25": 76.4,
          "four_bar": 4.5, "five_bar": 4.0, "palletiser": 358.5, "delta": 5.0, "stewart": 36.2,
          "ankle": 2.34}
IMPOSSIBLE = {  # as their sources have them
    "iiwa14": {"link4": "triangle inequality by 0.000291",
               "link7": "triangle inequality by 5.7e-05"},
    "puma560": {"link1": "without mass", "link3": "triangle inequality by 0.0075"},
}


# ---------------------------------------------------------------------- all of them
def test_every_built_in_has_its_size_and_mass():
    assert set(NAMES) == set(BUILTIN) == set(SIZES)
    for name in NAMES:
        robot = builtin(name)
        assert robot.name == name
        assert (robot.nq, robot.nv) == SIZES[name]
        assert robot.mass == pytest.approx(MASSES[name], rel=1e-14)
        assert robot.source


@pytest.mark.parametrize("name", NAMES)
def test_built_ins_have_neither_rotors_nor_friction(name):
    for body in builtin(name).bodies:
        joint = body.joint
        assert (joint.rotor_inertia, joint.viscous, joint.coulomb) == (None, None, None)


@pytest.mark.parametrize("name", NAMES)
def test_inertias_are_possible_except_where_the_source_has_them_so(name):
    found = {b.name: b.inertia.impossibility() for b in builtin(name).bodies}
    flagged = {body: words for body, words in found.items() if words}
    expected = IMPOSSIBLE.get(name, {})
    assert set(flagged) == set(expected)
    for body, words in expected.items():
        assert words in flagged[body]


@pytest.mark.parametrize("name", NAMES)
def test_every_mass_matrix_is_positive_definite(name):
    robot = builtin(name)
    for seed in range(5):
        M = mass_matrix(robot, robot.random(seed))
        np.testing.assert_allclose(M, M.T, atol=1e-13 * np.abs(M).max())
        assert np.linalg.eigvalsh(M)[0] > 0


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"planar2r", "planar3r"}))
def test_every_joint_but_a_free_one_is_limited(name):
    for body in builtin(name).bodies:
        if not isinstance(body.joint, Free):
            assert body.joint.lower < body.joint.upper


def test_a_built_in_is_one_frozen_record():
    assert builtin("ur5") is builtin("ur5")
    with pytest.raises(AttributeError):
        builtin("ur5").name = "mine"
    with pytest.raises(ValueError, match="read-only"):
        builtin("ur5").bodies[0].placement[0, 0] = 2


def test_an_unknown_name_is_met_with_the_nearest():
    with pytest.raises(ClosedformError, match="did you mean 'iiwa14'"):
        builtin("iiwa")


def test_right_angles_in_the_tables_are_exact():
    for name in ("puma560", "stanford", "rx90", "iiwa14", "ur5", "panda"):
        for body in builtin(name).bodies:
            assert set(np.abs(body.placement[:3, :3]).ravel()) == {0.0, 1.0}


# ---------------------------------------------------------------------- papers
def test_planar2r_has_the_torque_of_mueller_and_kumars_example():
    q, v, a = np.array([[-0.6859, 0.838], [1.1957, -1.0641], [1.2217, 1.562]])
    expected = [27.77805005604362, 7.752854662820215]
    np.testing.assert_allclose(inverse_dynamics(builtin("planar2r"), q, v, a), expected, rtol=1e-14)


def test_planar3r_has_its_first_vertex_where_chang_prints_it():
    tip = frame_pose(builtin("planar3r"), np.radians([-90, 175, 0]), "tip")[:3, 3]
    np.testing.assert_allclose(tip, [0.446004433, 0.091513530, 0], atol=0.5e-9)


def test_iiwa14_has_the_torque_of_mueller_and_kumars_table():
    q = [-0.440629766, -0.39478954, -0.08122761, -0.44712362, 0.891236075, 0.035274269,
         -0.273188927]
    v = [2.140333284, -1.791953435, 1.218676422, -1.153014686, -1.86031411, 2.068409483,
         2.073999307]
    a = [1.349428657, 3.793927482, 0.34135903, 5.79472212, -1.746822707, -0.186600881,
         9.190075521]
    expected = [5.70673093233699, 29.5403053802596, -2.41042460007246, -0.889260321597837,
                -0.158284390545762, -0.31568261583308, -0.000743978646815365]
    tau = inverse_dynamics(builtin("iiwa14"), *map(np.array, (q, v, a)))
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-12)


def symoro(robot):
    """Each link's parameters under Gautier & Khalil's names: X["XX3"], X["mY4"], …"""
    return {f"{letter}{j}": body.inertia.parameters[at]
            for j, body in enumerate(robot.bodies, start=1)
            for letter, at in zip(SYMORO_NAMES, SYMORO_ORDER, strict=True)}


def puma_base_values(X):
    """The base parameters of the PUMA 560 that are not zero [GautierKhalil1990, section V]."""
    D3, R3, D4, R4 = 0.4318, 0.1501, -0.0203, -0.4331
    M4 = X["m4"] + X["m5"] + X["m6"]
    M3 = X["m3"] + M4
    return {
        "ZZ1": X["ZZ1"] + X["YY2"] + X["YY3"] + 2 * R3 * X["mZ3"] + (D3**2 + R3**2) * M3
        + D4**2 * M4,
        "XX2": X["XX2"] - X["YY2"] - D3**2 * M3, "XY2": X["XY2"],
        "XZ2": X["XZ2"] - D3 * X["mZ3"] - D3 * R3 * M3, "YZ2": X["YZ2"],
        "ZZ2": X["ZZ2"] + D3**2 * M3, "mX2": X["mX2"] + D3 * M3, "mY2": X["mY2"],
        "XX3": X["XX3"] - X["YY3"] + X["YY4"] + 2 * R4 * X["mZ4"] + (R4**2 - D4**2) * M4,
        "XY3": X["XY3"] - D4 * X["mZ4"] - D4 * R4 * M4, "XZ3": X["XZ3"], "YZ3": X["YZ3"],
        "ZZ3": X["ZZ3"] + X["YY4"] + 2 * R4 * X["mZ4"] + (D4**2 + R4**2) * M4,
        "mX3": X["mX3"] + D4 * M4, "mY3": X["mY3"] + X["mZ4"] + R4 * M4,
        "XX4": X["XX4"] - X["YY4"] + X["YY5"], "XY4": X["XY4"], "XZ4": X["XZ4"], "YZ4": X["YZ4"],
        "ZZ4": X["ZZ4"] + X["YY5"], "mX4": X["mX4"], "mY4": X["mY4"] - X["mZ5"],
        "XX5": X["XX5"] - X["YY5"] + X["YY6"], "XY5": X["XY5"], "XZ5": X["XZ5"], "YZ5": X["YZ5"],
        "ZZ5": X["ZZ5"] + X["YY6"], "mX5": X["mX5"], "mY5": X["mY5"] + X["mZ6"],
        "XX6": X["XX6"] - X["YY6"], "XY6": X["XY6"], "XZ6": X["XZ6"], "YZ6": X["YZ6"],
        "ZZ6": X["ZZ6"], "mX6": X["mX6"], "mY6": X["mY6"],
    }


def test_puma560_has_armstrongs_base_values_in_gautier_and_khalils_frames():
    expected = {"ZZ1": 3.15348227, "XX2": -1.6018612, "XY2": -0.0070992, "XZ2": -0.690314699,
                "YZ2": -0.023751, "ZZ2": 1.748114, "mX2": 3.79559, "mY2": 0.1044,
                "XX3": 0.299575024, "XY3": -0.0106736385, "YZ3": 0.004704, "ZZ3": 0.333105249,
                "mX3": -0.025375, "mY3": -0.861795, "XX4": 3e-4, "ZZ4": 1.6e-3, "XX5": 2.4216e-4,
                "ZZ5": 6.4216e-4, "mY5": -2.88e-3, "ZZ6": 4e-5}
    values = puma_base_values(symoro(builtin("puma560")))
    assert len(values) == 36
    for name, value in values.items():
        assert value == pytest.approx(expected.get(name, 0), rel=1e-8, abs=1e-15), name


def test_stanford_has_a_prismatic_third_joint_between_crossing_axes():
    robot = builtin("stanford")
    assert [isinstance(b.joint, Prismatic) for b in robot.bodies] == [j == 3 for j in range(1, 7)]
    z = [T[:3, 2] for T in poses(robot, np.zeros(6))]
    assert [abs(float(z[i] @ z[i + 1])) for i in range(5)] == [0, 0, 1, 0, 0]


def test_rx90_stands_straight_where_its_table_says():
    T = poses(builtin("rx90"), np.radians([0, 90, -90, 0, 0, 0]))
    np.testing.assert_allclose(T[5][:3, 3], [0, 0, 0.9], atol=1e-15)
    np.testing.assert_allclose(T[5][:3, 2], [0, 0, 1], atol=1e-15)


# ---------------------------------------------------------------------- files
def urdf(*parts):
    for root in find_spec("cmeel").submodule_search_locations:
        path = Path(root).parent / "cmeel.prefix/share/example-robot-data/robots" / Path(*parts)
        if path.exists():
            return path
    pytest.skip("example-robot-data is not installed")


URDFS = {"ur5": ("ur_description", "urdf", "ur5_robot.urdf"),
         "panda": ("panda_description", "urdf", "panda.urdf")}


def from_urdf(name, floating=False):
    from closedform.model.formats.urdf.read import read_urdf
    robot = read_urdf(urdf(*URDFS[name]), floating)
    return robot.reduced({"panda_finger_joint1": 0}) if name == "panda" else robot


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", URDFS)
def test_arms_are_those_of_their_urdf_files(name, floating):
    ours, theirs = builtin(name, floating), from_urdf(name, floating)
    assert ours.joint_names == theirs.joint_names
    np.testing.assert_allclose(ours.lower, theirs.lower, rtol=1e-12)
    np.testing.assert_allclose(ours.upper, theirs.upper, rtol=1e-12)
    np.testing.assert_array_equal(ours.velocity_limits, theirs.velocity_limits)
    np.testing.assert_array_equal(ours.effort_limits, theirs.effort_limits)
    for seed in range(3):
        q, v, a = ours.random(seed), *np.random.default_rng(seed).normal(size=(2, ours.nv))
        tau = inverse_dynamics(theirs, q, v, a)
        np.testing.assert_allclose(inverse_dynamics(ours, q, v, a), tau, atol=100 * PI_ROUNDING)
        for frame in ours.body_names + ours.frame_names:
            np.testing.assert_allclose(frame_pose(ours, q, frame), frame_pose(theirs, q, frame),
                                       atol=PI_ROUNDING)


@pytest.mark.parametrize("name", URDFS)
def test_arms_have_pinocchios_mass_matrix(name):
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(urdf(*URDFS[name])))
    fingers = [j for j in range(1, model.njoints) if "finger" in model.names[j]]
    model = pin.buildReducedModel(model, fingers, pin.neutral(model))
    robot = builtin(name)
    assert tuple(model.names)[1:] == robot.joint_names
    q = robot.random(1)
    M = np.triu(pin.crba(model, model.createData(), q))
    np.testing.assert_allclose(np.triu(mass_matrix(robot, q)), M, atol=PI_ROUNDING)


# ---------------------------------------------------------------------- the humanoid
def test_humanoid25_is_a_tree_of_25_joints_on_a_free_pelvis_depth_first():
    robot = builtin("humanoid25")
    assert isinstance(robot.bodies[0].joint, Free)
    assert robot.body_names[0] == "pelvis"
    leg = [1, *range(2, 7)], [1, *range(8, 13)]
    arm = [14, *range(15, 20)], [14, *range(21, 26)]
    assert robot.parents == (0, *leg[0], *leg[1], 1, *arm[0], *arm[1])


def test_humanoid25_is_symmetric_left_and_right():
    robot = builtin("humanoid25")
    mirror = np.array([1, 1, -1, 1, 1, -1, 1, 1, -1, 1])  # m, mc, xx xy yy xz yz zz under y → −y
    flip = np.diag([1, -1, 1, 1])
    pairs = [(b, robot.body("right" + b.name.removeprefix("left")))
             for b in robot.bodies if b.name.startswith("left")]
    assert len(pairs) == 12
    for left, right in pairs:
        np.testing.assert_array_equal(left.inertia.array * mirror, right.inertia.array)
        np.testing.assert_array_equal(flip @ left.placement @ flip, right.placement)
        across = left.joint.axis == (0, 1, 0)
        expected = (left.joint.lower, left.joint.upper)
        assert (right.joint.lower, right.joint.upper) == (
            expected if across else (-expected[1], -expected[0]))


def test_humanoid25_stands_on_level_feet():
    robot = builtin("humanoid25")
    feet = [frame_pose(robot, robot.neutral(), f"{side}_foot") for side in ("left", "right")]
    for T in feet:
        np.testing.assert_array_equal(T[:3, :3], np.eye(3))
    assert feet[0][2, 3] == feet[1][2, 3] < 0
    assert feet[0][1, 3] == -feet[1][1, 3] > 0


# ---------------------------------------------------------------------- mechanisms with loops
LOOPED = {"four_bar": (5, 2), "five_bar": (5, 2), "palletiser": (15, 6), "delta": (18, 18),
          "stewart": (18, 18), "ankle": (6, 6)}
"""Rows of the loops, and their rank."""


@pytest.mark.parametrize("name", LOOPED)
def test_mechanisms_close_and_have_their_mobility(name):
    robot, rng = builtin(name), np.random.default_rng(4)
    assert (robot.closure.count, len(robot.closure.rows)) == LOOPED[name]
    assert robot.mobility == robot.tree.nv - LOOPED[name][1]
    assert robot.loops and robot.source.startswith("synthetic")
    q = robot.integrate(robot.neutral(), 0.05 * rng.normal(size=robot.nv))
    for at in (robot.neutral(), q):
        np.testing.assert_allclose(loop_residual(robot, at), 0, atol=1e-13)


@pytest.mark.parametrize("name", LOOPED)
def test_the_power_of_a_mechanisms_torques_is_the_rate_of_its_energy(name):
    robot, rng = builtin(name), np.random.default_rng(5)
    q = robot.integrate(robot.neutral(), 0.05 * rng.normal(size=robot.nv))
    v, a = rng.normal(size=(2, robot.nv))
    tau, h = inverse_dynamics(robot, q, v, a), 1e-5

    def energy(t):
        at = robot.integrate(q, t * v + t * t / 2 * a)
        rate = v + t * a
        return 0.5 * rate @ mass_matrix(robot, at) @ rate + potential_energy(robot, at)

    slope = (energy(h) - energy(-h)) / (2 * h)
    assert tau @ v == pytest.approx(slope, rel=1e-7, abs=1e-7)


def test_the_four_bar_has_the_torque_of_lagranges_equations():
    robot = builtin("four_bar")
    q = robot.closed([0.7])
    np.testing.assert_allclose(q, (0.7, -0.12888437608325803, 1.636800115785805), atol=1e-14)
    assert inverse_dynamics(robot, q, [1.3], [-0.4]) == pytest.approx(2.3445056936048685, rel=1e-13)
