"""Velocity parts of Coriolis matrices: what they are, transposed, and seen from the parent."""

import numpy as np
import pytest

from closedform.maths.algorithms.joint_steps import JointStep
from closedform.maths.algorithms.moments import moments
from closedform.maths.algorithms.operators import christoffel_operator, passive_operator
from closedform.maths.spatial import crf, crm, icrf, motion_transform
from closedform.model.inertia import Inertia
from closedform.model.pose import from_rpy

SEEDS = range(4)


def matrix(operator):
    return np.stack([operator @ e for e in np.eye(6)], axis=1)


def transposed(operator):
    return np.stack([operator.transposed_times(e) for e in np.eye(6)], axis=1)


def case(seed):
    rng = np.random.default_rng(seed)
    inertia, V = Inertia.from_parameters(rng.normal(size=10)), rng.normal(size=6)
    return moments(inertia), inertia.matrix, V, rng


@pytest.mark.parametrize("seed", SEEDS)
def test_they_are_what_their_names_say(seed):
    body, L, V, _ = case(seed)
    passive, christoffel = crf(V) @ L, (crf(V) @ L - L @ crm(V) + icrf(L @ V)) / 2
    np.testing.assert_allclose(matrix(passive_operator(body, V)), passive, atol=1e-13)
    operator = christoffel_operator(body, V)
    for found in (operator, operator.in_blocks()):
        np.testing.assert_allclose(matrix(found), christoffel, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_transposes_are_transposes_and_sums_are_sums(seed):
    body, _, V, rng = case(seed)
    for make in (passive_operator, christoffel_operator):
        one, other = make(body, V), make(body, rng.normal(size=6))
        np.testing.assert_allclose(transposed(one), matrix(one).T, atol=1e-14)
        np.testing.assert_allclose(matrix(one.plus(other)), matrix(one) + matrix(other),
                                   atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_operator_goes_to_the_parent_as_an_inertia_does(seed):
    """O_p = X_kpᵀ O X_kp, and it is the operator of the moved body with the moved twist."""
    body, _, V, rng = case(seed)
    step = JointStep((from_rpy(*rng.normal(size=3)),), rng.normal(size=3))
    X = motion_transform(step.factors[0], step.p)
    found = christoffel_operator(body, V).in_parent(step)
    np.testing.assert_allclose(matrix(found), X.T @ matrix(christoffel_operator(body, V)) @ X,
                               atol=1e-12)
    moved = christoffel_operator(body.in_parent(step), np.linalg.solve(X, V))
    np.testing.assert_allclose(matrix(found), matrix(moved), atol=1e-12)
