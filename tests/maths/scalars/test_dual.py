"""Scalars with one derivative."""

import math

import pytest

from closedform.maths.scalars.dual import Dual, first
from closedform.maths.scalars.series import Series


def test_a_function_of_a_dual_has_its_slope():
    def f(x):
        return (x * x + 3) / (2 - x) + x.sin() * x.cos() - 1 / x + (x * 2).sqrt()

    x, h = 0.7, 1e-6
    slope = (f(Dual(x + h, 0)).value - f(Dual(x - h, 0)).value) / (2 * h)
    assert first(f(Dual(x, 1.0))) == pytest.approx(slope, rel=1e-8)
    assert first(2.0) == 0 and math.isclose(Dual(-2.0, 1.0).sign(), -1)


def test_a_dual_of_series_is_differentiated_along_both():
    x = Dual(Series([0.5, 1.0]), Series([2.0, 0.0]))
    found = (x * x).first                   # 2 x x' = 4 (0.5 + t)
    assert found.c == (2.0, 4.0)
