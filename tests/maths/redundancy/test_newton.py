"""The inverse of a task's Jacobian, by J Jᵀ = L D Lᵀ."""

import numpy as np
import pytest

from closedform.maths.redundancy.newton import inverse_terms


@pytest.mark.parametrize("m", [1, 2, 3, 6])
def test_G_is_the_transpose_of_the_pseudoinverse_and_det_that_of_J_Jt(m):
    J = np.random.default_rng(m).normal(size=(m, 7))
    found = inverse_terms(J)
    np.testing.assert_allclose(found.G.T, np.linalg.pinv(J), atol=1e-13 * np.linalg.cond(J) ** 2)
    assert found.det == pytest.approx(np.linalg.det(J @ J.T), rel=1e-12)


def test_the_rows_of_Y_are_orthogonal_with_the_squares_of_their_lengths_in_D():
    """Y Yᵀ = L⁻¹ J Jᵀ L⁻ᵀ = D."""
    J = np.random.default_rng(0).normal(size=(4, 7))
    factor, Y, _, _ = inverse_terms(J)
    np.testing.assert_allclose(Y @ Y.T, np.diag(list(factor.D.values())), atol=1e-13)
