"""The certified numeric rank: right where it decides, silent where it cannot."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.base_parameters import base_parameters as module
from closedform.maths.base_parameters.numeric_rank import (
    NumericRank,
    RankDisagreement,
    numeric_rank,
    sampled_regressor,
)


def matrix_with(singular_values, rows=30, seed=0):
    rng = np.random.default_rng(seed)
    n = len(singular_values)
    U, _ = np.linalg.qr(rng.normal(size=(rows, n)))
    V, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return U * singular_values @ V.T


@pytest.mark.parametrize("rank", (1, 4, 8))
def test_a_clear_rank_is_certified(rank):
    found = numeric_rank(matrix_with(np.where(np.arange(8) < rank, 1.0, 0.0)))
    assert found.rank == rank
    assert found.certified


def test_a_matrix_of_zeros_has_rank_0_and_no_columns_too():
    assert numeric_rank(np.zeros((5, 3))) == NumericRank(0, np.inf, 3)
    assert numeric_rank(np.zeros((0, 3))).rank == 0


def test_singular_values_without_a_gap_are_undecided():
    found = numeric_rank(matrix_with(10.0 ** -np.arange(0.0, 16.0, 2.0)))
    assert not found.certified
    assert "undecided" in str(found)


def test_columns_that_are_rounding_errors_do_not_count_and_scales_do_not_matter():
    Y = np.random.default_rng(0).normal(size=(20, 3)) * [1e3, 1.0, 1e-3]
    noisy = np.concatenate([Y, 1e-15 * np.random.default_rng(1).normal(size=(20, 2))], axis=1)
    found = numeric_rank(noisy)
    assert found.rank == 3
    assert found.certified


def test_a_twist_of_a_millionth_leaves_the_rank_of_raw_floats_undecided():
    """Why geometry is declared first: floats cannot tell a rounded angle from a small one."""
    def rank(twist):
        rows = [(0, 0, 0, 0, 0), (0, twist, 0.5, 0, 0)]
        return numeric_rank(sampled_regressor(cf.from_modified_dh(rows, gravity=(0, 0, 0))))
    assert rank(0.0).rank == 4
    assert rank(0.0).certified
    assert not rank(1e-6).certified


def test_a_certified_rank_that_differs_from_the_exact_one_is_an_error(monkeypatch):
    monkeypatch.setattr(module, "declared_rank", lambda *_: NumericRank(35, 1e9, 60))
    with pytest.raises(RankDisagreement, match=r"36 base parameters.*rank 35"):
        module.base_parameters(cf.load("puma560"), twin=True)


def test_an_undecided_rank_is_told_but_no_error(monkeypatch):
    monkeypatch.setattr(module, "declared_rank", lambda *_: NumericRank(35, 1e3, 60))
    b = module.base_parameters(cf.load("puma560"), twin=True)
    assert not b.evidence.twin.certified
    assert "undecided" in str(b.evidence)


def test_limits_that_leave_no_room_do_not_lower_the_sampled_rank():
    """URDF's missing limits are 0 … 0; ranks are those of the joints, not of their ranges."""
    def pendulum(**limits):
        joint = cf.Revolute((0, 1, 0), **limits)
        return cf.Robot("pendulum", [cf.Body("b", None, joint)])
    assert numeric_rank(sampled_regressor(pendulum(lower=0.0, upper=0.0))).rank == 3
