"""Gautier & Khalil 1990: the PUMA list, Armstrong's numbers, relations, errata, what rules miss."""

import math

import numpy as np
import pytest
import sympy

import closedform as cf
from closedform.errors import ArgumentError
from closedform.maths.base_parameters.base_parameters import base_parameters
from closedform.maths.definitions.closed_form import inverse_dynamics
from closedform.maths.definitions.energy import kinetic_energy
from closedform.maths.papers import gautier_khalil as gk
from closedform.model.inertia import SYMORO_ORDER, Inertia
from special_robots import random_gravity, random_links, serial

H = sympy.pi / 2
RIGHT = math.pi / 2
UP = (0, 0, -9.81)
LETTERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "mX", "mY", "mZ", "m")

PUMA = """
ZZ1: ZZ1 + YY2 + YY3 + 2*R3*mZ3 + (D3**2 + R3**2)*M3 + D4**2*M4
XX2: XX2 - YY2 - D3**2*M3
XY2: XY2
XZ2: XZ2 - D3*mZ3 - D3*R3*M3
YZ2: YZ2
ZZ2: ZZ2 + D3**2*M3
mX2: mX2 + D3*M3
mY2: mY2
XX3: XX3 - YY3 + YY4 + 2*R4*mZ4 + (R4**2 - D4**2)*M4
XY3: XY3 - D4*mZ4 - D4*R4*M4
XZ3: XZ3
YZ3: YZ3
ZZ3: ZZ3 + YY4 + 2*R4*mZ4 + (D4**2 + R4**2)*M4
mX3: mX3 + D4*M4
mY3: mY3 + mZ4 + R4*M4
XX4: XX4 - YY4 + YY5
XY4: XY4
XZ4: XZ4
YZ4: YZ4
ZZ4: ZZ4 + YY5
mX4: mX4
mY4: mY4 - mZ5
XX5: XX5 - YY5 + YY6
XY5: XY5
XZ5: XZ5
YZ5: YZ5
ZZ5: ZZ5 + YY6
mX5: mX5
mY5: mY5 + mZ6
XX6: XX6 - YY6
XY6: XY6
XZ6: XZ6
YZ6: YZ6
ZZ6: ZZ6
mX6: mX6
mY6: mY6
"""
ARMSTRONG = {
    "ZZ1": 3.15348227, "XX2": -1.6018612, "XY2": -0.0070992, "XZ2": -0.690314699, "YZ2": -0.023751,
    "ZZ2": 1.748114, "mX2": 3.79559, "mY2": 0.1044, "XX3": 0.299575024, "XY3": -0.0106736385,
    "YZ3": 0.004704, "ZZ3": 0.333105249, "mX3": -0.025375, "mY3": -0.861795, "XX4": 3e-4,
    "ZZ4": 1.6e-3, "XX5": 2.4216e-4, "ZZ5": 6.4216e-4, "mY5": -2.88e-3, "ZZ6": 4e-5}


def puma():
    D3, R3, D4, R4 = sympy.symbols("D3 R3 D4 R4")
    rows = [(0, 0, 0, 0, 0), (0, -H, 0, 0, 0), (0, 0, D3, 0, R3), (0, -H, D4, 0, R4),
            (0, H, 0, 0, 0), (0, -H, 0, 0, 0)]
    return cf.from_modified_dh(rows, symbolic_inertias=True)


def letter(name):
    """link3.Ixx as XX3."""
    body, _, kind = name.rpartition(".")
    ours = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
    return LETTERS[SYMORO_ORDER.index(ours.index(kind))] + body.removeprefix("link")


# ---------------------------------------------------------------------- section V, the PUMA 560
def test_the_36_parameters_of_the_puma_letter_for_letter():
    masses = {"M3": "(m3 + m4 + m5 + m6)", "M4": "(m4 + m5 + m6)"}
    b = base_parameters(puma())
    found = dict(zip(map(letter, b.names), b.expressions, strict=True))
    printed = dict(line.split(": ") for line in PUMA.strip().splitlines())
    assert set(found) == set(printed)
    assert len(found) == 36
    for name, text in printed.items():
        for short, long in masses.items():
            text = text.replace(short, long)
        expected = sympy.sympify(text, locals={s: sympy.Symbol(s) for s in ("ZZ1",)})
        assert sympy.expand(found[name] - expected) == 0, name


def test_the_two_lists_that_the_print_merges():
    b = base_parameters(puma())
    assert " ".join(sorted(map(letter, b.no_effect))) == \
        "XX1 XY1 XZ1 YY1 YZ1 m1 m2 mX1 mY1 mZ1 mZ2"
    assert " ".join(sorted(map(letter, b.regrouped))) == \
        "YY2 YY3 YY4 YY5 YY6 m3 m4 m5 m6 mZ3 mZ4 mZ5 mZ6"


def test_armstrongs_numbers_in_the_frames_of_table_1():
    b = base_parameters(cf.load("puma560"))
    found = dict(zip(map(letter, b.names), b.values, strict=True))
    for name, value in found.items():
        assert value == pytest.approx(ARMSTRONG.get(name, 0.0), rel=2e-9, abs=1e-15), name


# ---------------------------------------------------------------------- appendix
def symoro(inertia):
    return np.array([inertia.array[i] for i in SYMORO_ORDER])


def ours(X):
    parameters = [0.0] * 10
    for at, x in zip(SYMORO_ORDER, X, strict=True):
        parameters[at] = x
    return Inertia.from_parameters(parameters)


def moved(links, q):
    """The table at the joint positions q."""
    return [link._replace(theta=link.theta + x) if link.sigma == 0 else link._replace(r=link.r + x)
            for link, x in zip(links, q, strict=True)]


@pytest.mark.parametrize("seed", range(12))
def test_the_recursion_of_the_appendix_gives_the_energies(seed):
    rng = np.random.default_rng(seed)
    links, gravity = random_links(rng), random_gravity(rng)
    robot = serial(links, gravity, rng)
    q, v = rng.normal(size=(2, len(links)))
    DE, DU = gk.energy_derivatives(moved(links, q), v, gravity)
    X = [symoro(body.inertia) for body in robot.bodies]
    E, U = (sum(D_j @ X_j for D_j, X_j in zip(D, X, strict=True)) for D in (DE, DU))
    assert abs(E - kinetic_energy(robot, q, v)) < 1e-12 * (1 + abs(E))
    assert abs(U - cf.potential_energy(robot, q)) < 1e-12 * (1 + abs(U))


# ---------------------------------------------------------------------- relations
def torque(links, X, gravity, state):
    robot = cf.from_modified_dh([tuple(link) for link in links], gravity=gravity,
                                inertias=[ours(X_j) for X_j in X])
    return inverse_dynamics(robot, *state)


@pytest.mark.parametrize("seed", range(60))
def test_relations_15_and_16_and_19_and_20_keep_the_torques(seed):
    rng = np.random.default_rng(seed)
    links, gravity = random_links(rng), random_gravity(rng)
    X = list(rng.normal(size=(len(links), 10)))
    state = rng.normal(size=(3, len(links)))
    before = torque(links, X, gravity, state)
    r1, r2 = gk.first_axes(links)
    for j in reversed(range(len(links))):
        parent = X[j - 1] if j else np.zeros(10)
        relation = gk.regroup_rotational if links[j].sigma == 0 else gk.regroup_translational
        parent, X[j] = relation(links[j], parent, X[j])
        twist = links[j].alpha
        special = min(abs(math.sin(twist)), abs(math.cos(twist))) < 1e-9
        if links[j].sigma == 1 and r1 < j < r2 and special and all(
                gk._parallel(gk.axis_of(links, i, r1)) for i in range(r1, j + 1)):
            parent, X[j] = gk.regroup_parallel_slide(links[j], parent, X[j])
        if j:
            X[j - 1] = parent
    np.testing.assert_allclose(torque(links, X, gravity, state), before,
                               atol=1e-11 * (1 + np.abs(before).max()))


def test_relation_20_a_slide_along_r1_behind_a_slide_across_it():
    """Cα = 0: the mX, mY of the slide go to mX, mZ and YY of a link whose z is across r1."""
    links = [gk.Link(0, 0.0, 0.0, 0.0, 0.0), gk.Link(1, RIGHT, 0.2, 0.3, 0.0),
             gk.Link(1, -RIGHT, 0.4, -0.5, 0.1)]
    rng = np.random.default_rng(0)
    X, state = list(rng.normal(size=(3, 10))), rng.normal(size=(3, 3))
    links[1] = links[1]._replace(theta=0.0)
    before = torque(links, X, (0, 0, -9.81), state)
    X[1], X[2] = gk.regroup_translational(links[2], X[1], X[2])
    X[1], X[2] = gk.regroup_parallel_slide(links[2], X[1], X[2])
    np.testing.assert_allclose(torque(links, X, (0, 0, -9.81), state), before, atol=1e-12)


def test_relations_19_and_20_refuse_an_oblique_axis():
    with pytest.raises(ArgumentError, match="Sα = 0 or Cα = 0"):
        gk.regroup_parallel_slide(gk.Link(1, 0.4, 0, 0, 0), np.zeros(10), np.zeros(10))


def test_bound_18_is_never_exceeded():
    for seed in range(150):
        rng = np.random.default_rng(seed)
        links, gravity = random_links(rng), random_gravity(rng)
        assert base_parameters(serial(links, gravity, rng)).count <= gk.bound(links)
    links = [gk.Link(0, 0.7, 0.3, 0.0, 0.2), gk.Link(0, 0.4, 0.3, 0.0, 0.1)]
    assert base_parameters(serial(links, (1.0, 2.0, 3.0), rng)).count == gk.bound(links) == 10


# ---------------------------------------------------------------------- errata
def test_erratum_16_the_printed_YY_line_lacks_a_sine():
    """(16) must be (17), J + A J Aᵀ; with −2 Sθ Cα XZ as printed it is not."""
    link, X = gk.Link(1, 0.7, 0.3, 0.4, 0.2), np.arange(1.0, 11.0)
    A = gk.rotation(link).astype(float)
    xx, xy, xz, yy, yz, zz = X[:6]
    J = A @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ A.T
    after, rest = gk.regroup_translational(link, np.zeros(10), X)
    expected = [J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]]
    np.testing.assert_allclose(after[:6].astype(float), expected, atol=1e-14)
    assert not np.any(rest[:6])
    printed = after[gk.YY] + 2 * math.sin(0.4) * math.cos(0.7) * (math.sin(0.7) - 1) * xz
    assert abs(printed - J[1, 1]) > 0.1


def test_erratum_15_the_first_line_belongs_to_link_j():
    """XX_{j−1} − YY_j, as printed, changes the torque; XX_j − YY_j does not."""
    link, X = gk.Link(0, RIGHT, 0.3, 0.0, 0.2), np.arange(1.0, 11.0)
    _, rest = gk.regroup_rotational(link, np.zeros(10), X)
    assert rest[gk.XX] == X[gk.XX] - X[gk.YY]
    links = [gk.Link(0, RIGHT, 0.0, 0.0, 0.0), link]
    state = np.random.default_rng(0).normal(size=(3, 2))
    before = torque(links, [np.zeros(10), X], UP, state)
    parent, rest = gk.regroup_rotational(link, np.zeros(10), X)
    np.testing.assert_allclose(torque(links, [parent, rest], UP, state), before, atol=1e-12)
    wrong_parent, wrong = parent.copy(), rest.copy()
    wrong_parent[gk.XX], wrong[gk.XX] = parent[gk.XX] - X[gk.YY], X[gk.XX]
    assert np.abs(torque(links, [wrong_parent, wrong], UP, state) - before).max() > 0.1


def test_erratum_rule_2_a_pendulum_across_gravity_keeps_its_first_moments():
    """r1 = 1 alone does not free mX, mY; it must lie along gravity."""
    pendulum = [gk.Link(0, RIGHT, 0.0, 0.0, 0.0)]
    assert gk.no_effect(pendulum, UP)[0].isdisjoint({gk.MX, gk.MY})
    assert gk.kept_by_the_rules(pendulum, UP) == [{gk.ZZ, gk.MX, gk.MY}]
    robot = serial(pendulum, UP, np.random.default_rng(0))
    assert {"link1.mcx", "link1.mcy"} <= set(base_parameters(robot).names)


# ---------------------------------------------------------------------- rules and exact method
def counts(links, gravity):
    exact = base_parameters(serial(links, gravity, np.random.default_rng(0)), twin=True)
    assert exact.evidence.twin.certified
    return sum(map(len, gk.kept_by_the_rules(links, gravity))), exact.count


def test_the_rules_find_the_36_of_the_puma():
    rows = [(0, 0.0, 0.0), (-RIGHT, 0.0, 0.0), (0, 0.4318, 0.1501), (-RIGHT, -0.0203, -0.4331),
            (RIGHT, 0.0, 0.0), (-RIGHT, 0.0, 0.0)]
    assert counts([gk.Link(0, a, d, 0.0, r) for a, d, r in rows], UP) == (36, 36)


def test_the_rules_never_drop_a_needed_parameter():
    for seed in range(150):
        rng = np.random.default_rng(seed)
        links, gravity = random_links(rng), random_gravity(rng)
        exact = base_parameters(serial(links, gravity, rng)).count
        assert exact <= sum(map(len, gk.kept_by_the_rules(links, gravity)))


@pytest.mark.parametrize("twist", (RIGHT, 0.7))
def test_rules_keep_one_too_many_for_a_slide_across_or_oblique_to_r1(twist):
    """Situation 1: u · (mX, mY, mZ) = constant, with u the axis of r1, ties one first moment."""
    links = [gk.Link(0, RIGHT, 0.0, 0.0, 0.0), gk.Link(1, twist, 0.3, 0.4, 0.0)]
    rules, exact = counts(links, UP)
    assert rules - exact == 1


def test_rules_keep_two_too_many_for_a_turn_coaxial_with_r1_along_gravity():
    """Situation 2: mX, mY of every link on that axis have no effect."""
    links = [gk.Link(0, 0.0, 0.0, 0.0, 0.0), gk.Link(0, 0.0, 0.0, 0.0, 0.4)]
    assert counts(links, UP) == (4, 2)


def test_rules_keep_two_too_many_where_all_axes_meet_without_gravity():
    """Situation 3: link 2 of two meeting axes shows 5, not 7."""
    links = [gk.Link(0, 0.0, 0.0, 0.0, 0.0), gk.Link(0, RIGHT, 0.0, 0.0, 0.0)]
    rules, exact = counts(links, (0, 0, 0))
    assert (rules, exact) == (8, 6)
