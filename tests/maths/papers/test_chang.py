"""Chang's Z, whatever the Jacobian."""

import numpy as np
import pytest

from closedform.maths.papers.chang import chang_Z, null_row


def test_Z_spans_the_null_space_and_avoids_singular_columns():
    J = np.random.default_rng(0).normal(size=(3, 6))
    J[:, 1] = 2 * J[:, 0]                               # the first three are dependent
    Z, columns = chang_Z(J)
    assert Z.shape == (3, 6)
    np.testing.assert_allclose(Z @ J.T, 0, atol=1e-14)
    assert np.linalg.matrix_rank(Z) == 3
    assert not {0, 1} <= set(columns)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_Z_is_the_row_of_minors_over_the_last_for_one_extra_joint(m):
    """(40), for every m: Z = −n_J/Δ_n."""
    J = np.random.default_rng(m).normal(size=(m, m + 1))
    Z = chang_Z(J, tuple(range(m))).Z[0]
    minors = null_row(J)
    np.testing.assert_allclose(Z, -minors / minors[-1], rtol=1e-12)
