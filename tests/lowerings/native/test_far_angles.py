"""The reduction of angles far out: its constants, and that all machines find the same."""

import mpmath
import numpy as np

from closedform.lowerings.native.far_angles import HALF_PI, TWO_OVER_PI
from native_code import SINCOS, NativeCode, targets


def test_the_table_has_the_bits_of_two_over_pi():
    with mpmath.workprec(64 * len(TWO_OVER_PI) + 64):
        bits = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, 64 * (len(TWO_OVER_PI) - 1))))
        assert int(mpmath.nint(mpmath.ldexp(mpmath.pi / 2, 63))) == HALF_PI
    words = [bits >> 64 * k & (1 << 64) - 1 for k in reversed(range(len(TWO_OVER_PI) - 1))]
    assert list(TWO_OVER_PI) == [0, *words]


def test_targets_that_fuse_find_the_same_bits():
    x = 10.0 ** np.random.default_rng(0).uniform(5, 308, 1000)
    found = [NativeCode(SINCOS, cpu).states(len(x), x) for cpu in targets().values() if cpu.fma]
    for sine, cosine in found[1:]:
        np.testing.assert_array_equal(sine, found[0][0])
        np.testing.assert_array_equal(cosine, found[0][1])
