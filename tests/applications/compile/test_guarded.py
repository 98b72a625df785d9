"""Kernels of a frame's inertia: errors at singularities, and all else a kernel has."""

import pickle

import numpy as np
import pytest

import closedform as cf

STRETCHED = np.array([0.3, -1.0, 1.2, 0.4, 0.0, 0.2])


@pytest.fixture(scope="module")
def kernel():
    return cf.compile(cf.load("ur5")).operational_space_inertia.at("wrist_3_link")


def test_a_singular_state_is_an_error_alone_and_in_a_batch(kernel):
    for q in (STRETCHED, np.stack([STRETCHED + 0.3, STRETCHED]), STRETCHED.astype(np.float32)):
        with pytest.raises(cf.SingularMatrix, match="fewer than six"):
            kernel(q)


def test_other_states_are_the_function(kernel):
    q = STRETCHED + 0.3
    expected = cf.operational_space_inertia(cf.load("ur5"), q, "wrist_3_link")
    np.testing.assert_allclose(kernel(q), expected, rtol=1e-9)
    out = np.empty((6, 6))
    assert kernel(q, out=out) is out


def test_it_is_pickled_and_shown_and_counted_as_a_kernel(kernel):
    again = pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(again(STRETCHED + 0.3), kernel(STRETCHED + 0.3))
    assert repr(kernel) == "<kernel operational_space_inertia(q)>"
    assert again.operations.total == kernel.operations.total > 0
