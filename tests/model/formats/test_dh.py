"""Robots from DH and screw tables."""

import math
from functools import reduce

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import expm

from closedform.errors import ModelError
from closedform.maths.definitions.closed_form import gravity_torque, mass_matrix
from closedform.maths.kinematics import poses
from closedform.model.formats.dh import from_modified_dh, from_screws, from_standard_dh
from closedform.model.inertia import PARAMETER_NAMES, Inertia
from closedform.model.joints import Helical, Prismatic, Revolute

PI = math.pi
EXACT = 1e-14  # a few products of numbers near 1


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    T = np.eye(4)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def shift(axis, length):
    T = np.eye(4)
    T["xyz".index(axis), 3] = length
    return T


def modified(alpha, d, theta, r, gamma=0.0, b=0.0):
    return reduce(np.matmul, [turn("z", gamma), shift("z", b), turn("x", alpha), shift("x", d),
                              turn("z", theta), shift("z", r)])


def standard(theta, d, a, alpha):
    return turn("z", theta) @ shift("z", d) @ shift("x", a) @ turn("x", alpha)


# ---------------------------------------------------------------------- modified DH
def test_modified_dh_poses_are_the_products_of_khalil_and_kleinfinger(rng):
    rows = rng.normal(size=(4, 6))
    sigma = (0, 1, 2, 0)
    keys = ("alpha", "d", "theta", "r", "gamma", "b")
    robot = from_modified_dh([{"sigma": s, **dict(zip(keys, row, strict=True))}
                              for s, row in zip(sigma, rows, strict=True)])
    q = rng.normal(size=3)
    moved = rows.copy()
    moved[0, 2] += q[0]
    moved[1, 3] += q[1]
    moved[3, 2] += q[2]
    expected = np.eye(4)
    for T, row in zip(poses(robot, q), moved, strict=True):
        expected = expected @ modified(*row)
        np.testing.assert_allclose(T, expected, atol=10 * EXACT)


def test_a_row_may_be_five_values_four_values_or_a_mapping(rng):
    q = rng.normal(size=1)
    forms = [(0, 0.1, 0.2, 0.3, 0.4), (0.1, 0.2, 0.3, 0.4), np.array([0, 0.1, 0.2, 0.3, 0.4]),
             {"alpha": 0.1, "d": 0.2, "theta": 0.3, "r": 0.4}]
    for form in forms:
        np.testing.assert_array_equal(poses(from_modified_dh([form]), q),
                                      poses(from_modified_dh([forms[0]]), q))


def test_antecedents_by_number_or_by_name_make_a_tree():
    rows = [{"d": 1}, {"d": 2, "name": "left"}, {"d": 3, "antecedent": 1},
            {"d": 4, "antecedent": "left"}, {"d": 5, "antecedent": 0}]
    robot = from_modified_dh(rows)
    assert robot.parents == (0, 1, 1, 2, 0)
    assert robot.body_names == ("link1", "left", "link3", "link4", "link5")
    assert robot.joint_names == ("joint1", "left", "joint3", "joint4", "joint5")


@pytest.mark.parametrize("angle", [PI / 2, -PI / 2, PI, -PI, 3 * PI / 2, 2 * PI, 0.0, sp.pi / 2])
def test_right_angles_give_exact_rotations(angle):
    for robot in (from_modified_dh([(angle, 0.1, angle, 0.2)]),
                  from_standard_dh([(angle, 0.1, 0.2, angle)])):
        R = robot.bodies[0].placement[:3, :3]
        assert R.dtype == float
        assert set(np.abs(R).ravel()) == {0.0, 1.0}
        assert set(np.abs(robot.bodies[0].joint.axis)) == {0.0, 1.0}


def test_an_angle_that_is_no_right_angle_is_not_snapped():
    placement = from_modified_dh([(PI / 2 + 1e-9, 0, 0, 0)]).bodies[0].placement
    assert placement[2, 2] == pytest.approx(-1e-9, rel=1e-6)


def test_symbols_stay_exact_beside_right_angles_and_zeros():
    L, a = sp.symbols("L a")
    placement = from_modified_dh([(0, PI / 2, L, 0.0, 0.0)]).bodies[0].placement
    assert placement.tolist() == [[1, 0, 0, L], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    placement = from_modified_dh([(a, 0, 0, 0)]).bodies[0].placement
    assert placement[2, 1] == sp.sin(a)


def test_the_symbolic_mass_matrix_of_two_links_is_the_textbooks():
    L, m1, m2, d, q1, q2 = sp.symbols("L m1 m2 d q1 q2")
    robot = from_modified_dh([(0, 0, 0, 0), (0, L, 0, 0)],
                             inertias=[Inertia(m1, (L, 0, 0)), Inertia(m2, (d, 0, 0))])
    M = sp.Matrix(mass_matrix(robot, np.array([q1, q2], dtype=object)))
    c2 = sp.cos(q2)
    M_12 = m2 * (d**2 + L * d * c2)
    expected = sp.Matrix([[m1 * L**2 + m2 * (L**2 + d**2 + 2 * L * d * c2), M_12],
                          [M_12, m2 * d**2]])
    assert sp.simplify(M - expected) == sp.zeros(2, 2)


def test_symbolic_inertias_have_gautier_and_khalils_names():
    robot = from_modified_dh([(0, 0, 0, 0), (0, 1, 0, 0)], symbolic_inertias=True)
    named = dict(zip(PARAMETER_NAMES, map(str, robot.bodies[1].inertia.parameters), strict=True))
    assert named == {"m": "m2", "mcx": "mX2", "mcy": "mY2", "mcz": "mZ2", "Ixx": "XX2",
                     "Ixy": "XY2", "Iyy": "YY2", "Ixz": "XZ2", "Iyz": "YZ2", "Izz": "ZZ2"}


@pytest.mark.parametrize(("rows", "words"), [
    ([(0, 0, 0)], ["row 1", "sigma, alpha, d, theta, r", "(0, 0, 0)"]),
    ([(0, 0, 0, 0), (3, 0, 0, 0, 0)], ["row 2", "sigma", "3"]),
    ([(0, "x", 0, 0, 0)], ["row 1", "alpha", "'x'"]),
    ([(0, 0, math.nan, 0, 0)], ["row 1", "d", "nan"]),
    ([(0, 0, 10**400, 0, 0)], ["row 1", "d", "finite"]),
    ([{"alfa": 1}], ["row 1", "'alfa'", "did you mean 'alpha'"]),
    ([{"antecedent": 1}], ["row 1", "antecedent", "1"]),
    ([{"antecedent": "nobody"}], ["row 1", "antecedent", "'nobody'"]),
    ([{"d": None}], ["row 1", "d", "None"]),
    ([{"d": True}], ["row 1", "d", "True"]),
    ([{"lower": "low"}], ["row 1", "lower", "'low'"]),
    ([], ["at least one row"]),
    ("abcd", ["sequence of rows", "abcd"]),
    ([7], ["row 1", "7"]),
])
def test_what_is_wrong_in_a_table_is_named(rows, words):
    with pytest.raises(ModelError) as caught:
        from_modified_dh(rows)
    for word in words:
        assert word in str(caught.value)


def test_inertias_and_names_must_be_as_many_as_the_rows():
    with pytest.raises(ModelError, match=r"inertias: one for each of 1 rows expected, got 2"):
        from_modified_dh([(0, 0, 0, 0)], inertias=[Inertia(), Inertia()])
    with pytest.raises(ModelError, match=r"names: one for each of 1 rows expected, got 0"):
        from_modified_dh([(0, 0, 0, 0)], names=[])
    with pytest.raises(ModelError, match="row 1, inertia"):
        from_modified_dh([{"inertia": Inertia(1.0)}], inertias=[Inertia(2.0)])


# ---------------------------------------------------------------------- standard DH
def test_standard_dh_poses_are_the_products_of_denavit_and_hartenberg(rng):
    rows = rng.normal(size=(4, 4))
    sigma = (0, 1, 0, 2)
    robot = from_standard_dh([(s, *row) for s, row in zip(sigma, rows, strict=True)])
    q = rng.normal(size=3)
    moved = rows.copy()
    moved[0, 0] += q[0]
    moved[1, 1] += q[1]
    moved[2, 0] += q[2]
    expected = np.eye(4)
    for T, row in zip(poses(robot, q), moved, strict=True):
        expected = expected @ standard(*row)
        np.testing.assert_allclose(T, expected, atol=10 * EXACT)


def puma_of_the_robotics_toolbox():
    """The standard DH model of the PUMA 560 in the Robotics Toolbox (Corke)."""
    rows = [(0, 0, 0, PI / 2), (0, 0, 0.4318, 0), (0, 0.15005, 0.0203, -PI / 2),
            (0, 0.4318, 0, PI / 2), (0, 0, 0, -PI / 2), (0, 0, 0, 0)]
    inertias = [Inertia(0, (0, 0, 0), np.diag([0, 0.35, 0])),
                Inertia(17.4, (-0.3638, 0.006, 0.2275), np.diag([0.13, 0.524, 0.539])),
                Inertia(4.8, (-0.0203, -0.0141, 0.070), np.diag([0.066, 0.086, 0.0125])),
                Inertia(0.82, (0, 0.019, 0), np.diag([1.8e-3, 1.3e-3, 1.8e-3])),
                Inertia(0.34, (0, 0, 0), np.diag([0.3e-3, 0.4e-3, 0.3e-3])),
                Inertia(0.09, (0, 0, 0.032), np.diag([0.15e-3, 0.15e-3, 0.04e-3]))]
    return from_standard_dh(rows, inertias=inertias)


def test_standard_dh_reproduces_the_toolboxs_gravity_torque_of_the_puma():
    q = np.array([0, PI / 4, PI, 0, PI / 4, 0])
    expected = [0, 31.6399, 6.0351, 0, 0.0283, 0]
    np.testing.assert_allclose(gravity_torque(puma_of_the_robotics_toolbox(), q), expected,
                               atol=0.5e-4)


def test_standard_dh_reproduces_the_toolboxs_inertia_of_the_puma():
    q = np.array([0, PI / 4, PI, 0, PI / 4, 0])
    motors = np.array([200e-6, 200e-6, 200e-6, 33e-6, 33e-6, 33e-6])
    gears = np.array([62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686])
    M = mass_matrix(puma_of_the_robotics_toolbox(), q) + np.diag(motors * gears**2)
    np.testing.assert_allclose(M @ np.ones(6), [3.3531, 4.3626, 1.3908, 0.1900, 0.1752, 0.1941],
                               atol=0.5e-4)


# ---------------------------------------------------------------------- screws
def hat(S):
    v, (x, y, z) = S[:3], S[3:]
    return np.array([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0, 0, 0, 0]])


def screws_and_homes(rng):
    """A revolute, a prismatic, a helical and another revolute screw through random points."""
    units = [x / np.linalg.norm(x) for x in rng.normal(size=(4, 3))]
    points = rng.normal(size=(4, 3))
    screws = [np.concatenate([np.cross(p, e), e]) for p, e in zip(points, units, strict=True)]
    screws[1] = np.concatenate([units[1], np.zeros(3)])
    screws[2][:3] += 0.3 * units[2]
    homes = [modified(*row) for row in rng.normal(size=(4, 6))]
    return screws, homes


def test_screws_give_the_product_of_exponentials(rng):
    screws, homes = screws_and_homes(rng)
    robot = from_screws(screws, homes)
    assert [type(b.joint) for b in robot.bodies] == [Revolute, Prismatic, Helical, Revolute]
    q = rng.normal(size=4)
    product = np.eye(4)
    for T, S, M_k, q_k in zip(poses(robot, q), screws, homes, q, strict=True):
        product = product @ expm(hat(S) * q_k)
        np.testing.assert_allclose(T, product @ M_k, atol=100 * EXACT)


def test_screws_with_parents_make_a_tree(rng):
    screws, homes = screws_and_homes(rng)
    robot = from_screws(screws, homes, parents=[None, 1, 1, "b"], names=["a", "b", "c", "d"])
    assert robot.parents == (0, 1, 1, 2)
    q = rng.normal(size=4)
    way = expm(hat(screws[0]) * q[0]) @ expm(hat(screws[1]) * q[1]) @ expm(hat(screws[3]) * q[3])
    np.testing.assert_allclose(poses(robot, q)[3], way @ homes[3], atol=100 * EXACT)


def test_symbolic_screws_know_their_kind():
    L, h = sp.symbols("L h")
    robot = from_screws([(0, 0, 0, 0, 0, 1), (0, -L, 0, 0, 0, 1), (0, -L, h, 0, 0, 1),
                         (0, 0, 1, 0, 0, 0)])
    assert [type(b.joint) for b in robot.bodies] == [Revolute, Revolute, Helical, Prismatic]
    assert robot.bodies[1].joint.point == (L, 0, 0)
    assert robot.bodies[2].joint.pitch == h


@pytest.mark.parametrize(("screw", "words"), [
    ((0, 0, 0, 0, 0, 2), ["row 1", "|ω| = 1", "2"]),
    ((0, 0, 0, 0, 0, 0), ["row 1", "|v| = 1", "0"]),
    ((0, 0, 1), ["row 1", "six numbers"]),
    ((0, 0, 0, 0, 0, "z"), ["row 1", "screw", "'z'"]),
    ({"screw": (0, 0, 0, 0, 0, 1), "axis": 1}, ["row 1", "'axis'"]),
])
def test_what_is_wrong_with_a_screw_is_named(screw, words):
    with pytest.raises(ModelError) as caught:
        from_screws([screw])
    for word in words:
        assert word in str(caught.value)
