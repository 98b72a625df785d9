"""Rotations and rigid motions: group laws, derivatives, other libraries, near 0 and near π."""

import math

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import closedform as cf
from closedform.errors import ArgumentError
from closedform.lowerings import reference
from closedform.model import groups
from closedform.program.record import record

ANGLES = (0.0, 1e-12, 1e-8, 1e-4, 1e-3, 1e-2, 0.9, 1.1, 2.5, math.pi - 1e-4, math.pi - 1e-9,
          math.pi)
BELOW_PI = ANGLES[:-1]
SIZES = {"so3": 3, "se3": 6}


def vector(angle, seed=0):
    """A twist with this angle; its last three numbers are the rotation vector."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    return np.concatenate([rng.normal(size=3), angle * axis / np.linalg.norm(axis)])


def of(group):
    """exp, log, left and right Jacobian with their inverses, and the size of a tangent vector."""
    return (getattr(groups, f"exp_{group}"), getattr(groups, f"log_{group}"), SIZES[group])


def adjoint(T):
    """Ad of an element: R, or [[R, p̃R], [0, R]]."""
    if T.shape == (3, 3):
        return T
    R, p = T[:3, :3], T[:3, 3]
    skew = np.cross(p, np.eye(3)).T
    return np.block([[R, skew @ R], [np.zeros((3, 3)), R]])


@pytest.mark.parametrize("group", SIZES)
@given(st.integers(0, 10**6), st.floats(-4, 4), st.floats(-4, 4))
def test_exp_is_a_one_parameter_group(group, seed, s, t):
    exp, _, n = of(group)
    u = vector(1.0, seed)[-n:]
    np.testing.assert_allclose(exp(s * u) @ exp(t * u), exp((s + t) * u), atol=2e-14)


@pytest.mark.parametrize("group", SIZES)
@pytest.mark.parametrize("angle", ANGLES)
def test_exp_gives_elements_of_the_group(group, angle):
    exp, _, n = of(group)
    T = exp(vector(angle)[-n:])
    np.testing.assert_allclose(T[:3, :3].T @ T[:3, :3], np.eye(3), atol=1e-15)
    assert np.linalg.det(T) == pytest.approx(1, abs=1e-15)
    if n == 6:
        np.testing.assert_array_equal(T[3], [0, 0, 0, 1])


@pytest.mark.parametrize("group", SIZES)
@pytest.mark.parametrize("angle", BELOW_PI)
def test_log_undoes_exp(group, angle):
    exp, log, n = of(group)
    for seed in range(8):
        u = vector(angle, seed)[-n:]
        atol = 1e-14 if angle > 1e-3 else 1e-16
        np.testing.assert_allclose(log(exp(u)), u, rtol=1e-15, atol=atol)


@pytest.mark.parametrize("group", SIZES)
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, -1, 1),
                                  (1, 2, 3)])
def test_at_half_a_turn_log_gives_one_of_the_two_answers(group, axis):
    exp, log, n = of(group)
    w = math.pi * np.array(axis) / np.linalg.norm(axis)
    T = exp(np.concatenate([[0.3, -0.2, 0.5], w])[-n:])
    u = log(T)
    assert np.linalg.norm(u[-3:]) == pytest.approx(math.pi, abs=1e-15)
    np.testing.assert_allclose(exp(u), T, atol=1e-14)


def test_a_tiny_rotation_keeps_all_its_digits():
    w = np.array([3e-13, -2e-12, 1e-12])
    np.testing.assert_allclose(groups.log_so3(groups.exp_so3(w)), w, rtol=1e-15)


@pytest.mark.parametrize("group", SIZES)
@pytest.mark.parametrize("angle", ANGLES)
def test_jacobians_are_the_derivatives_of_exp(group, angle):
    """exp(u + ε) = exp(J_l ε) exp(u) = exp(u) exp(J_r ε): complex step, exact to rounding."""
    exp, _, n = of(group)
    u, h = vector(angle, 3)[-n:], 1e-30
    T, left, right = exp(u), jacobian("left", group)(u), jacobian("right", group)(u)
    for k in range(n):
        dT = np.imag(exp(u + 1j * h * np.eye(n)[k])) / h
        for element, J in ((dT @ np.linalg.inv(T), left), (np.linalg.inv(T) @ dT, right)):
            twist = [element[2, 1], element[0, 2], element[1, 0]]
            twist = twist if n == 3 else [*element[:3, 3], *twist]
            np.testing.assert_allclose(J[:, k], twist, atol=2e-15)
    np.testing.assert_allclose(left, adjoint(T) @ right, atol=5e-15)


def jacobian(side, group, inverse=""):
    return getattr(groups, f"{side}_jacobian_{group}{inverse}")


@pytest.mark.parametrize("group", SIZES)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("angle", ANGLES)
def test_inverse_jacobians_are_inverse(group, side, angle):
    u = vector(angle, 5)[-SIZES[group]:]
    product = jacobian(side, group)(u) @ jacobian(side, group, "_inverse")(u)
    np.testing.assert_allclose(product, np.eye(SIZES[group]), atol=1e-14)


@pytest.mark.parametrize("angle", BELOW_PI)
def test_it_is_what_pinocchio_computes(angle):
    pin = pytest.importorskip("pinocchio")
    u = vector(angle, 7)
    w, R, T = u[3:], pin.exp3(u[3:]), pin.exp6(u)
    near = 1e-12  # Pinocchio's short series at small angles are good to about 1e-13
    np.testing.assert_allclose(groups.exp_so3(w), R, atol=1e-14)
    np.testing.assert_allclose(groups.exp_se3(u), T.homogeneous, atol=1e-14)
    np.testing.assert_allclose(groups.log_so3(R), pin.log3(R), atol=near)
    np.testing.assert_allclose(groups.log_se3(T.homogeneous), pin.log6(T).vector, atol=near)
    np.testing.assert_allclose(groups.right_jacobian_so3(w), pin.Jexp3(w), atol=near)
    if angle in (1e-3, 1e-2):
        return  # where Pinocchio's Jexp6 cancels, to 1e-8; the complex step above is exact
    np.testing.assert_allclose(groups.right_jacobian_se3(u), pin.Jexp6(u), atol=near)
    np.testing.assert_allclose(groups.right_jacobian_so3_inverse(w), pin.Jlog3(R), atol=near)
    np.testing.assert_allclose(groups.right_jacobian_se3_inverse(u), pin.Jlog6(T), atol=near)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.3, 3.1, 6.0])
def test_recorded_programs_compute_the_same(angle):
    u = vector(angle, 9)
    for name in ("exp_se3", "left_jacobian_se3", "right_jacobian_se3"):
        f = getattr(groups, name)
        np.testing.assert_allclose(run(f, u), f(u), atol=2e-14)
    if angle < math.pi:
        f = groups.right_jacobian_se3_inverse
        np.testing.assert_allclose(run(f, u), f(u), atol=2e-14)
        T = groups.exp_se3(u)
        np.testing.assert_allclose(run(groups.log_se3, T), u, atol=2e-15)


def run(function, x):
    """The function recorded, and its program run by the reference."""
    program = record(function, {"x": x.shape}, "f")
    return reference.run(program, x)[0]


@pytest.mark.parametrize("angle", [1e-3, 1.3, 3.1])
def test_symbols_give_expressions_with_the_same_values(angle):
    u = vector(angle, 11)
    symbols = np.array(sympy.symbols("v1:4 w1:4", real=True))
    R = groups.exp_so3(symbols[3:])
    assert any(x.has(sympy.sin) for x in R.ravel())

    def number(x):
        """Its value with 30 digits."""
        with mpmath.workdps(30):
            found = sympy.lambdify(symbols, list(np.ravel(x)), "mpmath", cse=True)(*u)
        return np.array([float(y) for y in found]).reshape(np.shape(x))

    np.testing.assert_allclose(number(R), groups.exp_so3(u[3:]), atol=1e-13)
    np.testing.assert_allclose(number(groups.exp_se3(symbols)), groups.exp_se3(u), atol=1e-13)
    np.testing.assert_allclose(number(groups.log_so3(R)), u[3:], atol=1e-9)


def test_complex_steps_pass_through_the_logarithm_at_any_angle():
    """d log(exp(u) exp(ε)) = J_r⁻¹(u) ε."""
    for angle in (0.0, 1e-8, 1.0, math.pi - 1e-6):
        u, d, h = vector(angle, 13), vector(1.0, 14), 1e-30
        moved = groups.log_se3(groups.exp_se3(u) @ groups.exp_se3(1j * h * d))
        np.testing.assert_allclose(np.imag(moved) / h, groups.right_jacobian_se3_inverse(u) @ d,
                                   atol=1e-12)


def test_jax_traces_and_differentiates_them_at_the_identity():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        u = jax.numpy.asarray(vector(1.3))
        np.testing.assert_allclose(jax.jit(groups.exp_se3)(u), groups.exp_se3(vector(1.3)),
                                   atol=1e-15)
        turned = jax.jacobian(lambda w: groups.log_so3(groups.exp_so3(w)))(jax.numpy.zeros(3))
        np.testing.assert_allclose(turned, np.eye(3), atol=1e-15)


def test_batches_come_first():
    u = np.stack([vector(angle, k) for k, angle in enumerate(ANGLES)]).reshape(1, -1, 6)
    for name in [n for n in dir(groups) if n.startswith(("exp_", "left_", "right_"))]:
        f, x = getattr(groups, name), u if "se3" in name else u[..., 3:]
        many = f(x)
        for k in range(len(ANGLES)):
            np.testing.assert_allclose(many[0, k], f(x[0, k]), atol=1e-15)
    T = groups.exp_se3(u)
    np.testing.assert_allclose(groups.log_se3(T)[0, 5], groups.log_se3(T[0, 5]), atol=1e-15)


def test_the_groups_are_public_and_wrong_shapes_are_named():
    assert cf.groups.exp_so3 is groups.exp_so3
    np.testing.assert_allclose(cf.groups.exp_so3([0, 0, 0]), np.eye(3))
    with pytest.raises(ArgumentError, match=r"exp_se3: u must have the shape \(\.\.\., 6\), not"):
        cf.groups.exp_se3([1, 2, 3])
    with pytest.raises(ArgumentError, match=r"log_so3: R must have the shape \(\.\.\., 3, 3\)"):
        cf.groups.log_so3(np.eye(4))
