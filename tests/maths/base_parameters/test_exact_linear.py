"""Exact linear algebra: echelon forms, closures, fields, and numbers declared exact."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closedform.errors import ArgumentError
from closedform.maths.base_parameters import coupled_rank
from closedform.maths.base_parameters.energy_vectors import bracket, generator, polar, transport
from closedform.maths.base_parameters.exact_linear import (
    PRIME,
    RationalFunctions,
    Rationals,
    Residues,
    closure,
    echelon,
    span,
    times,
)
from closedform.maths.base_parameters.modified_dh import Snapping, modified_dh, simplest_fraction
from closedform.maths.spatial import crm
from closedform.model.inertia import Inertia
from closedform.model.pose import from_rpy, pose, rotation

small = st.integers(-4, 4)
matrices = st.lists(st.lists(small, min_size=5, max_size=5), min_size=1, max_size=6)
FIELDS = (Rationals(), Residues(), RationalFunctions(["x"]))


def floats(rows):
    return np.array([[float(x) for x in row] for row in rows]).reshape(len(rows), -1)


# ---------------------------------------------------------------------- subspaces
@given(matrices)
def test_ranks_agree_over_every_field_and_with_singular_values(rows):
    expected = np.linalg.matrix_rank(np.array(rows))
    for field in FIELDS:
        exact = [[field.number(x) for x in row] for row in rows]
        assert len(span(exact, 5).rows) == expected
        assert len(echelon(exact, range(5))[1]) == expected


@given(matrices, st.permutations(range(5)))
def test_echelon_forms_have_the_row_space_and_the_first_independent_columns(rows, order):
    exact = [[Fraction(x) for x in row] for row in rows]
    R, pivots = echelon(exact, order)
    assert all(row[p] == int(i == j) for i, row in enumerate(R) for j, p in enumerate(pivots))
    both = span(exact, 5)
    assert all(not any(both.remainder(row)) for row in R)
    greedy, A = [], np.array(rows)
    for column in order:
        if np.linalg.matrix_rank(A[:, [*greedy, column]]) > len(greedy):
            greedy.append(column)
    assert pivots == greedy


@given(matrices, st.lists(small, min_size=5, max_size=5))
def test_closures_are_mapped_into_themselves_and_hold_their_start(rows, start):
    G = [[Fraction(x) for x in (row + [0] * 5)[:5]] for row in (rows * 5)[:5]]
    found = closure([[Fraction(x) for x in start]], [G], 5)
    assert not any(found.remainder([Fraction(x) for x in start]))
    assert all(not any(found.remainder(times(G, row))) for row in found.rows)


def test_residues_are_a_field():
    a, b = Residues().number(Fraction(3, 7)), Residues().number(-5)
    assert (a / b) * b == a
    assert a - a == 0
    assert 1 / (1 / a) == a
    assert Residues().symbol("x") == Residues().symbol("x") != Residues().symbol("y")


def test_fields_refuse_what_they_cannot_hold():
    with pytest.raises(ArgumentError, match="no rational number"):
        Rationals().symbol("d3")
    with pytest.raises(ArgumentError, match="only counts and names"):
        Residues().value(Residues().number(1), {})


@given(st.fractions(max_denominator=10**6).filter(lambda x: abs(x) < 10**6))
def test_fractions_come_back_from_their_residues(x):
    assert coupled_rank._fraction(Residues().number(x).n, PRIME) == x


# ---------------------------------------------------------------------- energy vectors
@given(st.lists(st.floats(-2, 2), min_size=12, max_size=12), st.lists(st.floats(-2, 2), min_size=10,
                                                                      max_size=10))
def test_energy_vectors_are_those_of_the_float_model(numbers, parameters):
    V, (roll, pitch, yaw), p = np.array(numbers[:6]), numbers[6:9], np.array(numbers[9:])
    inertia = Inertia.from_parameters(parameters)
    assert math.isclose(np.dot(polar(list(V), list(V)), parameters), V @ inertia.matrix @ V,
                        abs_tol=1e-11)
    R = from_rpy(roll, pitch, yaw)
    moved = np.array(transport(R.tolist(), p.tolist()), dtype=float) @ parameters
    np.testing.assert_allclose(moved, inertia.seen_from(pose(R, p)).array, atol=1e-11)


def test_generators_are_derivatives_of_transports_along_the_screw():
    S = [0.3, -0.2, 0.5, 0.1, 0.7, -0.4]
    v, w, h = np.array(S[:3]), np.array(S[3:]), 1e-6
    size = np.linalg.norm(w)
    difference = 0
    for sign in (1, -1):
        R = rotation(w / size, sign * h * size)
        difference = difference + sign * np.array(transport(R.tolist(), (sign * h * v).tolist()))
    np.testing.assert_allclose(np.array(generator(S), dtype=float).T, difference / (2 * h),
                               atol=1e-9)
    np.testing.assert_allclose(np.array(bracket(S), dtype=float), crm(np.array(S)), atol=0)


def test_a_turn_about_z_has_the_integer_generator_of_the_notes():
    """dIxx = Ixy, dIxy = 2Iyy − 2Ixx, dIyy = −Ixy, dIxz = Iyz, dIyz = −Ixz, dmcx = mcy, …"""
    DE = [0, 11, 12, 13, 4, 5, 6, 7, 8, 9]
    assert times(generator([0, 0, 0, 0, 0, 1]), DE) == [0, 12, -11, 0, 5, 4, -5, 8, -7, 0]


# ---------------------------------------------------------------------- declared numbers
@given(st.floats(-10, 10), st.sampled_from((1e-3, 1e-8, 1e-13)))
def test_the_simplest_fraction_is_within_its_tolerance_and_the_simplest(x, tolerance):
    f = simplest_fraction(x, tolerance)
    assert abs(f - Fraction(x)) <= Fraction(tolerance)
    below = f.denominator - 1
    if 0 < below < 2000:
        nearest = [Fraction(round(Fraction(x) * d), d) for d in range(1, below + 1)]
        assert all(abs(g - Fraction(x)) > Fraction(tolerance) for g in nearest)


@given(st.lists(st.sampled_from((0.0, math.pi / 2, -math.pi / 2, math.pi, 0.7, -2.4, 1e-9)),
                min_size=3, max_size=3),
       st.lists(st.sampled_from((0.0, 0.3, -1.25, 1e-10)), min_size=3, max_size=3))
def test_poses_come_back_from_their_six_numbers_and_are_exact_rotations(angles, p):
    T = pose(from_rpy(*angles), p)
    exact = Snapping(1e-6, 1.0, [], []).pose(T, "here")
    np.testing.assert_allclose(floats(exact.R), T[:3, :3], atol=3e-9)
    np.testing.assert_allclose(floats([exact.p])[0], p, atol=3e-9)
    for i in range(3):
        for j in range(3):
            assert sum(row[i] * row[j] for row in exact.R) == int(i == j)


def test_the_six_numbers_of_a_table_row_are_the_row():
    from closedform.model.formats.dh import from_modified_dh
    row = {"alpha": -0.8, "d": 0.3, "theta": 0.4, "r": -0.2, "gamma": 0.6, "b": 0.1}
    T = from_modified_dh([row]).bodies[0].placement
    found = modified_dh(T, 1e-6, 1.0)
    np.testing.assert_allclose(found, [row[k] for k in found._fields], atol=1e-15)
