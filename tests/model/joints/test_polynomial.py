"""Polynomials of couplings, against NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closedform.model.joints.polynomial import composed, slope, value

coefficients = st.lists(st.floats(-3, 3), min_size=1, max_size=5)


@given(coefficients, coefficients, st.floats(-2, 2))
def test_values_slopes_and_compositions_are_those_of_numpy(a, b, x):
    p, q = np.polynomial.Polynomial(a), np.polynomial.Polynomial(b)
    assert value(a, x) == pytest.approx(p(x), abs=1e-9)
    assert value(slope(a), x) == pytest.approx(p.deriv()(x), abs=1e-9)
    assert value(composed(a, b), x) == pytest.approx(p(q(x)), rel=1e-7, abs=1e-6)
