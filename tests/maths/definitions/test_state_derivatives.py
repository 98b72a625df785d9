"""∂M/∂q, ∂C/∂q, ∂C/∂v, ∂g/∂q, Christoffel symbols and Cᵀ v on random trees of all joint kinds."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

from closedform.errors import ArgumentError
from closedform.maths.algorithms import coriolis_transpose
from closedform.maths.algorithms.one_frame import (
    matrices as one_frame_matrices,
)
from closedform.maths.algorithms.one_frame import (
    tensors as one_frame_tensors,
)
from closedform.maths.definitions import christoffel, closed_form, dynamics_matrices
from closedform.maths.definitions.state_derivatives import state_derivatives
from closedform.model.inertia import Inertia
from closedform.model.joints import (
    Cylindrical,
    Helical,
    Mimic,
    Prismatic,
    Revolute,
    Universal,
)
from closedform.model.pose import pose
from closedform.model.robot import Body, Robot
from closedform.program.record import record
from random_robots import (
    KINDS,
    ONE_DOF,
    complex_step,
    random_robot,
    random_state,
    robots,
    seeds,
)
from tree_checks import assert_close, assert_zeros_by_structure, branched, joints_on_one_way


@settings(max_examples=30)
@given(robots(), seeds)
def test_they_are_the_derivatives_along_every_direction(robot, seed):
    q, v, w = random_state(robot, seed)
    d = state_derivatives(robot, q, v)
    for tensor, f in ((d.dM_dq, lambda q: closed_form.mass_matrix(robot, q)),
                      (d.dC_dq, lambda q: closed_form.coriolis_matrix(robot, q, v)),
                      (d.dg_dq, lambda q: closed_form.gravity_torque(robot, q))):
        assert_close(tensor @ w, complex_step(robot, f, q, w), np.abs(tensor).max(initial=1))
    assert_close(d.dC_dv @ w, closed_form.coriolis_matrix(robot, q, w))


@settings(max_examples=30)
@given(robots(), seeds)
def test_the_algorithm_equals_the_closed_form_in_every_frame_of_expression(robot, seed):
    q, v, _ = random_state(robot, seed)
    expected = state_derivatives(robot, q, v)
    for base in (0, len(robot.segments)):
        found = one_frame_tensors.state_derivatives(robot, q, v, base=base)
        for x, y in zip(found, expected, strict=True):
            assert_close(x, y)


@pytest.mark.parametrize("kind", KINDS)
def test_the_algorithm_equals_the_closed_form_on_chains_of_one_kind(kind):
    kinds = (kind, "revolute") if kind in ("fixed", "mimic") else (kind,)
    robot = random_robot(3, kinds, bodies=4, spread=1)
    q, v, _ = random_state(robot)
    found = one_frame_tensors.state_derivatives(robot, q, v)
    for x, y in zip(found, state_derivatives(robot, q, v), strict=True):
        assert_close(x, y)
    assert_close(one_frame_tensors.christoffel_symbols(robot, q),
                 christoffel.christoffel_symbols(robot, q))


@settings(max_examples=30)
@given(robots(), seeds)
def test_dM_is_symmetric_and_along_v_it_is_C_plus_its_transpose(robot, seed):
    q, v, _ = random_state(robot, seed)
    dM_dq = one_frame_tensors.state_derivatives(robot, q, v).dM_dq
    np.testing.assert_array_equal(dM_dq, np.swapaxes(dM_dq, 0, 1))
    C = closed_form.coriolis_matrix(robot, q, v)
    assert_close(dM_dq @ v, C + C.T, np.abs(C).max(initial=1))


@settings(max_examples=30)
@given(robots(), seeds)
def test_christoffel_symbols_make_the_christoffel_C(robot, seed):
    q, v, _ = random_state(robot, seed)
    symbols = christoffel.christoffel_symbols(robot, q)
    assert_close(symbols @ v, closed_form.christoffel_coriolis_matrix(robot, q, v))
    assert_close(one_frame_tensors.christoffel_symbols(robot, q), symbols)


@pytest.mark.parametrize("seed", range(4))
def test_christoffel_symbols_are_those_of_M_where_v_is_the_rate_of_q(seed):
    """Γ_ijk = ½ (∂_k M_ij + ∂_j M_ik − ∂_i M_jk), symmetric in j and k."""
    robot = random_robot(seed, (*ONE_DOF, "universal", "cylindrical", "mimic"), bodies=6)
    q, v, _ = random_state(robot, seed)
    dM = state_derivatives(robot, q, v).dM_dq
    expected = (dM + np.transpose(dM, (0, 2, 1)) - np.transpose(dM, (2, 0, 1))) / 2
    symbols = one_frame_tensors.christoffel_symbols(robot, q)
    assert_close(symbols, expected)
    assert_close(symbols, np.transpose(symbols, (0, 2, 1)))


def test_christoffel_symbols_of_quasi_velocities_are_not_symmetric():
    robot = random_robot(3, ("free", "spherical"), bodies=2)
    symbols = christoffel.christoffel_symbols(robot, robot.random(1))
    assert np.abs(symbols - np.transpose(symbols, (0, 2, 1))).max() > 0.1


@settings(max_examples=30)
@given(robots(), seeds)
def test_the_transposed_C_times_v_is_the_same_for_every_C(robot, seed):
    q, v, _ = random_state(robot, seed)
    C = closed_form.coriolis_matrix(robot, q, v)
    scale = np.abs(C).max(initial=1) * max(1.0, np.abs(v).max(initial=0))
    expected = christoffel.coriolis_transpose_torque(robot, q, v)
    assert_close(closed_form.christoffel_coriolis_matrix(robot, q, v).T @ v, expected, scale)
    assert_close(coriolis_transpose.coriolis_transpose_torque(robot, q, v), expected, scale)


@settings(max_examples=30)
@given(robots(), seeds)
def test_M_C_g_from_one_sweep_are_the_closed_forms(robot, seed):
    q, v, _ = random_state(robot, seed)
    for name in ("passive_dynamics_matrices", "christoffel_dynamics_matrices"):
        expected = getattr(dynamics_matrices, name)(robot, q, v)
        for base in (0, len(robot.segments)):
            found = getattr(one_frame_matrices, name)(robot, q, v, base=base)
            for x, y in zip(found, expected, strict=True):
                assert_close(x, y)


def exact_arm():
    """Joints on coordinate axes, placements of zeros and ones, numbers in eighths.

    Rotations are then orthonormal, and products of two numbers of the model exact, to every digit.
    """
    rng = np.random.default_rng(7)

    def eighths(n):
        return rng.integers(-8, 9, size=n) / 8

    joints = (Revolute((1, 0, 0), eighths(3)), Prismatic((0, 1, 0)),
              Helical((0, 0, 1), 0.25, eighths(3)), Universal((1, 0, 0), (0, 1, 0)),
              Cylindrical((0, 1, 0)), Mimic(Revolute((0, 0, 1)), of="b0", ratio=-1.5, offset=0.5))
    turn = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    return Robot("exact", [
        Body(f"b{k}", f"b{k - 1}" if k else None, joint, pose(turn, eighths(3)),
             Inertia.from_parameters(eighths(10))) for k, joint in enumerate(joints)],
        gravity=(0.5, 2, -10))


def test_fifty_digit_differences_agree_to_twenty_six_digits():
    """A central difference with the step 1e-16 errs by 1e-32 of the third derivative."""
    with mpmath.workdps(50):
        robot = exact_arm()
        q, v, w = (np.array([mpmath.mpf(float(x)) for x in y]) for y in random_state(robot, 5))
        h = mpmath.mpf(10) ** -16
        matrices = dynamics_matrices.passive_dynamics_matrices
        after, before = matrices(robot, q + h * w, v), matrices(robot, q - h * w, v)
        for derivatives in (state_derivatives, one_frame_tensors.state_derivatives):
            d = derivatives(robot, q, v)
            for tensor, x, y in zip((d.dM_dq, d.dC_dq, d.dg_dq), after, before, strict=True):
                error = tensor @ w - (x - y) / (2 * h)
                assert max(abs(e) for e in error.ravel()) < mpmath.mpf(10) ** -26


def test_entries_of_joints_on_different_branches_are_exact_zeros_of_the_program():
    robot = branched()
    n = robot.nv
    program = record(lambda q, v: one_frame_tensors.state_derivatives(robot, q, v, base=1)._replace(
        dg_dq=np.zeros((n, n, n))), {"q": (robot.nq,), "v": (n,)}, "state_derivatives")
    way = joints_on_one_way(robot)
    together = way[:, :, None] & way[:, None, :] & way[None, :, :]
    assert_zeros_by_structure(program, np.flatnonzero(~together.ravel()))


def test_arrays_of_other_shapes_are_refused():
    robot = branched()
    with pytest.raises(ArgumentError, match="v must have the shape"):
        state_derivatives(robot, robot.neutral(), np.zeros(robot.nv + 1))
