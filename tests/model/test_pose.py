"""Poses as people write them: few digits, axes next to −z."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedform as cf
from closedform.model.pose import basis_with_third

DOWN = (0.0, 0.0, -1.0)


@pytest.mark.parametrize("normal", [DOWN, (3e-5, 0, -1), (5e-5, 0, -1), (1e-4, -2e-4, -1),
                                    (1e-9, 1e-9, -1), (0.6, 0, -0.8), (0.3, 0.4, 0.5)])
def test_a_basis_is_a_rotation_with_the_vector_as_its_third_column(normal):
    n = np.array(normal) / np.linalg.norm(normal)
    R = basis_with_third(n)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-15)
    np.testing.assert_array_equal(R[:, 2], n)
    assert np.linalg.det(R) == pytest.approx(1)


def test_next_to_minus_z_a_basis_changes_little():
    np.testing.assert_allclose(basis_with_third((1e-7, 0, -1)), basis_with_third(DOWN), atol=2e-7)


def test_a_planar_joint_turns_about_its_normal_next_to_minus_z():
    """The twist of the turn is the normal, as the pose has it."""
    normal = np.array([3e-5, 0, -1]) / np.linalg.norm([3e-5, 0, -1])
    np.testing.assert_allclose(cf.Planar(normal).S[3:, 2], normal, atol=2e-16)


@pytest.mark.parametrize("digits", [7, 8, 9])
def test_rotations_of_few_digits_become_rotations_with_a_line_of_lint(digits):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("xyz", (0.3, 0.4, 0.5)).as_matrix().round(digits)
    body = cf.Body("b", None, cf.Revolute((0, 0, 1)), T,
                   cf.Inertia(1.0, (0.1, 0, 0), 0.1 * np.eye(3)))
    R = body.placement[:3, :3]
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=5e-16)
    np.testing.assert_allclose(R, T[:3, :3], atol=10.0**-digits)
    robot = cf.Robot("r", [body, cf.Body("c", "b", cf.Revolute((0, 1, 0)), T, body.inertia)],
                     frames=[cf.Frame("tool", "c", T), cf.Frame("exact", "c")])
    assert [(f.rule, f.subject) for f in cf.lint(robot)] == [
        ("rounded-rotation", subject) for subject in ("body 'b'", "body 'c'", "frame 'tool'")]
    q = np.array([0.3, 0.4])
    np.testing.assert_allclose(cf.compile(robot).mass_matrix(q), cf.mass_matrix(robot, q),
                               rtol=1e-14)


def test_rotations_with_all_their_digits_stay_as_they_are():
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("xyz", (0.3, 0.4, 0.5)).as_matrix()
    body = cf.Body("b", None, cf.Fixed(), T)
    np.testing.assert_array_equal(body.placement, T)
    assert body.rounded == 0
