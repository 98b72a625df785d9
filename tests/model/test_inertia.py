"""The ten inertial parameters."""

import numpy as np
import pytest
from hypothesis import given

from closedform.errors import ModelError
from closedform.model.inertia import GAROFALO_ORDER, PARAMETER_NAMES, SYMORO_ORDER, Inertia
from random_robots import random_inertia, random_placement, seeds


@given(seeds)
def test_the_three_ways_to_write_an_inertia_agree(seed):
    I = random_inertia(np.random.default_rng(seed))
    for other in (Inertia.from_parameters(I.parameters), Inertia.from_matrix(I.matrix),
                  Inertia(I.mass, I.com, I.tensor)):
        np.testing.assert_allclose(other.array, I.array, atol=1e-14)


@given(seeds)
def test_a_moved_inertia_has_the_same_kinetic_energy(seed):
    from closedform.maths.spatial import motion_transform
    rng = np.random.default_rng(seed)
    I, T, V = random_inertia(rng), random_placement(rng), rng.normal(size=6)
    X = motion_transform(T[:3, :3], T[:3, 3])       # twists from the new frame to the body's
    moved = I.seen_from(T)
    np.testing.assert_allclose(V @ moved.matrix @ V, (X @ V) @ I.matrix @ (X @ V), rtol=1e-12)


def test_parameters_are_pinocchios():
    pin = pytest.importorskip("pinocchio")
    I = random_inertia(np.random.default_rng(3))
    theirs = pin.Inertia(I.mass, np.asarray(I.com), np.asarray(I.tensor)).toDynamicParameters()
    np.testing.assert_allclose(I.array, theirs, atol=1e-14)


def test_orders_of_the_papers_are_permutations_of_ours():
    names = np.array(PARAMETER_NAMES)
    assert list(names[list(SYMORO_ORDER)]) == ["Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz",
                                               "mcx", "mcy", "mcz", "m"]
    assert list(names[list(GAROFALO_ORDER)]) == ["m", "mcx", "mcy", "mcz", "Ixx", "Iyy", "Izz",
                                                 "Ixy", "Ixz", "Iyz"]


@given(seeds)
def test_clouds_of_mass_are_possible_and_their_repair_is_themselves(seed):
    I = random_inertia(np.random.default_rng(seed))
    assert I.impossibility() is None
    np.testing.assert_allclose(I.nearest_possible().array, I.array, atol=1e-12)


@pytest.mark.parametrize(("moments", "message"), [
    ((-0.1, 1, 1), "negative principal moment"), ((0.1, 0.2, 0.5), "triangle inequality by 0.2")])
def test_impossible_tensors_are_told_and_repaired(moments, message):
    I = Inertia(2.0, (0.1, 0.2, 0.3), np.diag(moments))
    assert message in I.impossibility()
    repaired = I.nearest_possible()
    assert repaired.impossibility() is None
    assert (repaired.mass, tuple(repaired.com)) == (2.0, pytest.approx((0.1, 0.2, 0.3)))


def test_regrouped_bodies_exist_without_a_centre_of_mass():
    body = Inertia.from_parameters([0, 1, 2, 3, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(body.first_moment, [1, 2, 3])
    with pytest.raises(ModelError, match="no centre of mass"):
        _ = body.com


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Inertia(-1), "not negative"),
    (lambda: Inertia(float("nan")), "not negative"),
    (lambda: Inertia("1"), "one number"),
    (lambda: Inertia(1, (0, 0)), "com must have the shape"),
    (lambda: Inertia(1, (0, 0, np.inf)), "not finite"),
    (lambda: Inertia(1, (0, 0, 0), np.ones((2, 2))), "tensor must have the shape"),
    (lambda: Inertia(1, (0, 0, 0), [[1, 2, 0], [0, 1, 0], [0, 0, 1]]), "symmetric"),
    (lambda: Inertia.from_parameters(np.zeros(9)), "parameters must have the shape"),
    (lambda: Inertia.from_matrix(np.ones((6, 6))), "no 6x6 rigid-body inertia"),
])
def test_bad_numbers_are_refused_with_the_reason(make, message):
    with pytest.raises(ModelError, match=message):
        make()
