"""Base parameters: exact counts and certified ranks, torques kept, symbols, choices, snapping."""

import math

import numpy as np
import pytest
import sympy

import closedform as cf
from closedform.errors import ArgumentError, UnknownName
from closedform.maths.base_parameters.base_parameters import base_parameters, generic_count
from closedform.maths.base_parameters.exact_linear import Residues
from closedform.maths.definitions.closed_form import inverse_dynamics
from closedform.maths.definitions.regressor import regressor
from closedform.model.inertia import Inertia
from closedform.model.zoo.zoo import NAMES
from nearly_parallel_robots import three_links
from random_robots import KINDS, random_robot, random_state
from special_robots import special_serial, special_tree

COUNTS = {"planar2r": 6, "planar3r": 9, "puma560": 36, "stanford": 33, "rx90": 36, "ur5": 36,
          "iiwa14": 43, "panda": 43, "humanoid25": 185}
Z = (0, 0, 1)


def states(robot, count=3):
    for seed in range(count):
        yield random_state(robot, seed)


def assert_torques_are_kept(b, robot):
    """Y = Y_b K: for every parameter vector at once; so K's null space is free of torque."""
    for q, v, a in states(robot, 2):
        Y, Y_b = regressor(robot, q, v, a), b.regressor(q, v, a)
        size = (1 + np.abs(Y).max(initial=0)) * (1 + np.abs(b.K).max(initial=0))
        np.testing.assert_allclose(Y_b @ b.K, Y, atol=1e-11 * size)


def check(robot):
    """The exact count is the certified rank, K keeps all torques and is 1 at what is kept."""
    b = base_parameters(robot, twin=True)
    assert b.evidence.twin.certified
    assert b.count == b.evidence.twin.rank
    np.testing.assert_array_equal(b.K[:, list(b.kept)], np.eye(b.count))
    assert_torques_are_kept(b, robot)


# ---------------------------------------------------------------------- counts
@pytest.mark.parametrize("name", [n for n in NAMES if not cf.load(n).loops])
def test_counts_of_the_built_in_robots(name):
    robot = cf.load(name)
    b = base_parameters(robot, twin=True)
    assert b.evidence.twin.certified
    assert b.count == COUNTS[name]
    assert not b.evidence.snaps
    assert b.count + len(b.no_effect) + len(b.regrouped) == len(robot.parameter_names)


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_special_serial_robots_have_the_certified_rank(start):
    for seed in range(start, start + 20):
        check(special_serial(seed))


@pytest.mark.parametrize("start", range(0, 100, 10))
def test_special_trees_have_the_certified_rank(start):
    for seed in range(start, start + 10):
        check(special_tree(seed))


@pytest.mark.parametrize("seed", range(24))
def test_every_joint_kind_has_the_certified_rank(seed):
    kinds = tuple(kind for kind in KINDS if kind != "mimic")
    check(random_robot(seed, kinds, bodies=1 + seed % 5, roots=1 + seed % 2))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 4000))
def test_thousands_of_special_serial_robots_have_the_certified_rank(seed):
    check(special_serial(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_a_thousand_special_trees_have_the_certified_rank(seed):
    check(special_tree(seed))


@pytest.mark.parametrize("seed", range(6))
def test_a_floating_base_has_10_and_7_a_turn_and_4_a_slide(seed):
    tree = special_tree(300 + seed)
    kinds = [type(body.joint).__name__ for body in tree.bodies]
    expected = 10 + 7 * kinds.count("Revolute") + 4 * kinds.count("Prismatic")
    base = cf.Body("base", None, cf.Free(), inertia=Inertia(1.0))
    bodies = [cf.Body(b.name, b.parent or "base",
                      type(b.joint)(**({} if isinstance(b.joint, cf.Fixed) else {"axis": Z})),
                      b.placement, b.inertia) for b in tree.bodies]
    for gravity in ((0, 0, -9.81), (0, 0, 0), (1, 2, 3)):
        assert base_parameters(cf.Robot("floating", [base, *bodies], gravity)).count == expected


def test_one_body_on_each_joint_kind():
    """A free body shows all ten parameters, one on a spherical joint all but the mass."""
    def count(joint, gravity=(0, 0, -9.81)):
        robot = cf.Robot("one", [cf.Body("b", None, joint)], gravity)
        return base_parameters(robot, twin=True).count
    assert count(cf.Free()) == 10
    assert count(cf.Spherical()) == 9
    assert count(cf.Spherical(), (0, 0, 0)) == 6
    assert count(cf.Prismatic(Z)) == 1
    assert count(cf.Revolute(Z)) == 1
    assert count(cf.Revolute((1, 0, 0))) == 3
    assert count(cf.Fixed()) == 0


# ---------------------------------------------------------------------- mimic joints
@pytest.mark.parametrize("seed", (0, 3, 9, 13, 26, 33))
def test_mimic_joints_have_the_certified_rank(seed):
    robot = random_robot(seed, ("revolute", "prismatic", "mimic", "helical"), bodies=3)
    check(robot)


@pytest.mark.parametrize("seed", (3, 11, 17, 75))
def test_joints_that_follow_by_polynomials_have_the_certified_rank(seed):
    robot = random_robot(seed, bodies=5, bent=True)
    assert robot.is_curved
    check(robot)


def gripper(ratio):
    """Two fingers on slides along x, the second driven by the first, on a wrist."""
    across = np.array([[0, 0, 1.0, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]])
    wrist = cf.Body("wrist", None, cf.Revolute((0, 1, 0)))
    left = cf.Body("left", "wrist", cf.Prismatic(Z), across)
    right = cf.Body("right", "wrist", cf.Mimic(cf.Prismatic(Z), of="left", ratio=ratio), across)
    return cf.Robot("gripper", [wrist, left, right])


def test_a_finger_that_mirrors_another_adds_fewer_parameters_than_a_free_one():
    free = [cf.Body(b.name, b.parent, cf.Prismatic(Z) if b.name == "right" else b.joint,
                    b.placement) for b in gripper(-1).bodies]
    mirrored, open_ = (base_parameters(r, twin=True)
                       for r in (gripper(-1), cf.Robot("open", free)))
    assert mirrored.count < open_.count
    assert "modulo primes" in mirrored.evidence.method
    assert_torques_are_kept(mirrored, gripper(-1))


# ---------------------------------------------------------------------- results
@pytest.mark.parametrize("name", ("puma560", "stanford", "ur5", "humanoid25"))
def test_regressor_values_and_equivalent_robot_give_the_torque(name):
    robot = cf.load(name)
    b = base_parameters(robot)
    assert b.robot.nq == robot.nq
    dropped = [i for i in range(len(robot.parameter_names)) if i not in b.kept]
    assert not np.any(b.robot.parameters[dropped])
    np.testing.assert_allclose(b.K @ robot.parameters, b.values, atol=0)
    for q, v, a in states(robot):
        tau = inverse_dynamics(robot, q, v, a)
        atol = 1e-12 * (1 + np.abs(tau).max())
        np.testing.assert_allclose(b.regressor(q, v, a) @ b.values, tau, atol=atol)
        np.testing.assert_allclose(inverse_dynamics(b.robot, q, v, a), tau, atol=atol)


def test_the_choice_of_kept_parameters_is_the_users():
    robot = cf.load("puma560")
    usual = base_parameters(robot)
    other = base_parameters(robot, keep=["YY", "link4.m", "link6.mcz"])
    assert other.count == usual.count
    assert {"link3.Iyy", "link6.Iyy", "link4.m", "link6.mcz"} <= set(other.names)
    assert "link6.Ixx" not in other.names
    assert other.no_effect == usual.no_effect
    assert_torques_are_kept(other, robot)


def test_rotor_inertias_regroup_with_the_first_links_only():
    bodies = [cf.Body("a", None, cf.Revolute(Z, rotor_inertia=0.1)),
              cf.Body("b", "a", cf.Revolute((0, 1, 0), rotor_inertia=0.2))]
    b = base_parameters(cf.Robot("arm", bodies), twin=True)
    assert "a.rotor" in b.regrouped
    assert "b.rotor" in b.names or "b.rotor" in b.regrouped
    assert b.evidence.twin.certified


# ---------------------------------------------------------------------- snapping
def planar(twist):
    return cf.from_modified_dh([(0, 0, 0, 0, 0), (0, twist, 0.5, 0, 0)], gravity=(0, 0, 0))


def test_planar_2r_has_four_parameters_and_a_rounded_angle_does_not_change_that():
    assert base_parameters(planar(0.0)).count == 4
    for twist in (1e-17, 1e-9, 4e-7):
        assert base_parameters(planar(twist)).count == 4
    assert base_parameters(planar(1e-3)).count == 8


def test_what_was_snapped_is_reported_and_what_is_near_too():
    (snap,) = base_parameters(planar(4e-7)).evidence.snaps
    assert (snap.where, snap.what, snap.exact) == ("link2", "alpha", "0")
    assert snap.change == pytest.approx(4e-7)
    near = base_parameters(planar(2e-5)).evidence
    assert not [s for s in near.snaps if s.what == "alpha"]
    assert [s.what for s in near.near] == ["alpha"]
    assert base_parameters(planar(2e-5), tolerance=1e-4).count == 4


def test_an_angle_of_a_file_with_few_digits_is_a_right_angle():
    twists = (0.0, -1.5707963, 0.0, -1.5707963, 1.5707963, -1.5707963)
    robot = cf.from_modified_dh([(0, a, 0.1 * j, 0, 0.2) for j, a in enumerate(twists)])
    b = base_parameters(robot, twin=True)
    assert b.count == 36
    assert len(b.evidence.snaps) == 4


def test_axes_that_meet_after_turns_of_30_and_60_degrees_still_meet():
    """Fixed turns that add up to a right angle leave the axis perpendicular, not almost so."""
    def turned(degrees):
        T = np.eye(4)
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        T[1:3, 1:3] = [[c, -s], [s, c]]
        return T
    straight = [cf.Body("a", None, cf.Revolute(Z)), cf.Body("c", "a", cf.Revolute(Z), turned(90))]
    bent = [straight[0], cf.Body("b", "a", cf.Fixed(), turned(30)),
            cf.Body("c", "b", cf.Revolute(Z), turned(60))]
    slid = [straight[0], cf.Body("b", "a", cf.Prismatic((0, 0, 1)), turned(30)),
            cf.Body("c", "b", cf.Revolute(Z), turned(60))]
    assert base_parameters(cf.Robot("bent", bent), twin=True).count == \
        base_parameters(cf.Robot("straight", straight)).count
    assert base_parameters(cf.Robot("slid", slid), twin=True).evidence.twin.certified


def test_gravity_along_a_tilted_first_axis_is_seen_as_along_it():
    T = np.eye(4)
    T[:3, :3] = [[math.cos(0.3), 0, math.sin(0.3)], [0, 1, 0], [-math.sin(0.3), 0, math.cos(0.3)]]
    robot = cf.Robot("tilted", [cf.Body("b", None, cf.Revolute(Z), T)], gravity=-9.81 * T[:3, 2])
    assert base_parameters(robot).count == 1


# ---------------------------------------------------------------------- symbols
def test_symbolic_lengths_and_angles_keep_the_torque():
    d, r, alpha, g = sympy.symbols("d r alpha g")
    rows = [(0, 0, 0, 0, 0), (1, alpha, d, 0, 0), (0, sympy.pi / 2, 0, 0, r)]
    robot = cf.from_modified_dh(rows, gravity=(0, 0, -g), symbolic_inertias=True)
    b = base_parameters(robot, twin=True)
    assert b.evidence.twin.certified
    numbers = {d: 0.3, r: -0.4, alpha: 0.7, g: 9.81}
    plain = cf.from_modified_dh([(0, 0, 0, 0, 0), (1, 0.7, 0.3, 0, 0),
                                 (0, math.pi / 2, 0, 0, -0.4)])
    K = np.array([[float(sympy.sympify(x).subs(numbers)) for x in row] for row in b.K])
    for q, v, a in states(plain):
        Y = regressor(plain, q, v, a)
        np.testing.assert_allclose(Y[:, list(b.kept)] @ K, Y, atol=1e-11)


def test_the_count_modulo_a_prime_is_the_symbolic_one_and_gives_no_numbers():
    a, b, c = sympy.symbols("a b c")
    h = sympy.pi / 2
    robot = cf.from_modified_dh([(0, 0, 0, 0, 0), (0, h, a, 0, b), (0, 0, c, 0, 0)])
    assert generic_count(robot) == base_parameters(robot).count
    with pytest.raises(ArgumentError, match="only counts and names"):
        base_parameters(robot, field=Residues()).K  # noqa: B018


def test_a_seven_joint_arm_with_symbolic_lengths_in_all_rows():
    h, s = sympy.pi / 2, sympy.Symbol
    twists = (0, h, -h, h, -h, h, -h)
    rows = [(0, t, s(f"d{j}"), 0, s(f"r{j}")) for j, t in enumerate(twists)]
    b = base_parameters(cf.from_modified_dh(rows, symbolic_inertias=True))
    assert b.count == generic_count(b.source)
    assert b.expressions[0].has(sympy.Symbol("d1"))


# ---------------------------------------------------------------------- refusals
@pytest.mark.parametrize("tilt", [1e-5, 1e-4])
def test_parameters_that_rest_on_a_tilt_are_identifiable_on_paper_only(tilt):
    """Of sampled torques, what is left of their columns beside the others is the tilt's part."""
    robot = three_links(pi=math.pi + tilt)
    b = base_parameters(robot)
    exact = base_parameters(three_links())
    assert len(b.on_paper_only) == b.count - exact.count > 0
    Y = np.concatenate([b.regressor(*random_state(robot, seed)) for seed in range(60)])
    weak = np.isin(b.names, b.on_paper_only)
    others, *_ = np.linalg.qr(Y[:, ~weak])
    rest = Y - others @ (others.T @ Y)
    assert np.linalg.norm(rest[:, weak], axis=0).max() < 10 * tilt * np.abs(Y).max() * len(Y)**0.5
    values = np.linalg.svd(Y[:, ~weak], compute_uv=False)
    assert values[-1] > 1e-3 * values[0]
    assert {x.where for x in b.small_geometry} == {"l1", "l2"}
    assert all(x.change < 2 * tilt for x in b.small_geometry)


@pytest.mark.parametrize("name", ["ur5", "panda", "puma560", "humanoid25"])
def test_exact_robots_have_nothing_on_paper_only(name):
    b = base_parameters(cf.load(name))
    assert b.on_paper_only == () == b.small_geometry


def test_symbols_and_a_coarse_tolerance_leave_nothing_on_paper_only():
    assert base_parameters(three_links(pi=3.1416), tolerance=1e-3).on_paper_only == ()
    assert base_parameters(three_links(pi=3.1416), field=Residues()).on_paper_only != ()


def test_arguments_that_make_no_sense_are_refused():
    robot = cf.load("planar2r")
    with pytest.raises(UnknownName, match="no parameter 'weight'"):
        base_parameters(robot, keep=["weight"])
    with pytest.raises(ArgumentError, match="a list of names"):
        base_parameters(robot, keep="Iyy")
    with pytest.raises(ArgumentError, match="keep must be a list of names, not 5"):
        base_parameters(robot, keep=5)
    with pytest.raises(ArgumentError, match="tolerance must be a number"):
        base_parameters(robot, tolerance="tight")
    with pytest.raises(ArgumentError, match="tolerance"):
        base_parameters(robot, tolerance=-1.0)
    with pytest.raises(ArgumentError, match=r"cf\.Robot"):
        base_parameters("planar2r")
