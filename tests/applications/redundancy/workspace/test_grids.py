"""Grids: places and orientations by number, without making the others."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.redundancy.workspace.grids import Grid, even_rotations, grid_around


def test_any_part_of_a_grid_is_that_part_of_the_whole():
    grid = Grid((0, -1, 0.5), (1, 1, 1.5), 0.5, 5)
    whole = grid[:]
    assert grid.shape == (3, 5, 3) and len(grid) == 225 and whole.shape == (225, 4, 4)
    np.testing.assert_array_equal(grid[17:40], whole[17:40])
    np.testing.assert_array_equal(grid[-1], whole[-1])
    np.testing.assert_array_equal(whole[:5, :3, 3], np.tile([0, -1, 0.5], (5, 1)))
    np.testing.assert_array_equal(whole[5, :3, 3], [0, -1, 1.0])


def test_a_grid_larger_than_memory_gives_its_last_targets():
    grid = Grid((0, 0, 0), (9.99, 9.99, 9.99), 0.01, 100)
    assert len(grid) == 10**11
    np.testing.assert_allclose(grid[10**11 - 1:][0, :3, 3], 9.99)


def test_even_rotations_are_rotations_and_far_apart():
    R = even_rotations(200)
    np.testing.assert_allclose(R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(3), R.shape),
                               atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(R), 1)
    cosine = np.clip((np.einsum("aij,bij->ab", R, R) - 1) / 2, -1, 1)
    np.fill_diagonal(cosine, -1)
    # balls of rotations of radius ρ have the volume of SO(3) in all where 200 (ρ − sin ρ) = π
    rho = 0.4567
    assert abs(200 * (rho - np.sin(rho)) - np.pi) < 0.02
    assert np.arccos(cosine.max()) > rho


def test_a_grid_around_a_robot_has_about_so_many_targets_and_holds_its_reach():
    robot = cf.load("iiwa14")
    grid = grid_around(robot, "flange", 5000, 8)
    assert 2500 < len(grid) < 10000
    p = np.array([cf.frame_pose(robot, robot.random(np.random.default_rng(k)), "flange")[:3, 3]
                  for k in range(30)])
    assert np.all(p > grid.lower) and np.all(p < grid.upper)


def test_a_grid_around_a_robot_holds_it_at_full_stretch():
    """An arm that turns about itself with every joint stretched out: rarely met at random."""
    bodies, T = [], np.eye(4)
    for k in range(6):
        bodies.append(cf.Body(f"b{k}", f"b{k - 1}" if k else None,
                              cf.Revolute(np.eye(3)[2 - k % 2], lower=-3, upper=3), T))
        T = np.eye(4)
        T[0, 3] = 0.5
    robot = cf.Robot("chain", bodies, frames=[cf.Frame("tip", "b5", T)])
    grid = grid_around(robot, "tip", 1000, 0)
    far = np.array([2.95, 2.95, 2.45])          # the first link turns about z and never points up
    assert np.all(np.array(grid.lower)[1:] < -far[1:]) and np.all(np.array(grid.upper) > far)
    slide = cf.Robot("slide", [cf.Body("b", None, cf.Prismatic((1, 0, 0)))])
    assert grid_around(slide, "b", 100, 0).upper[0] < 1.2          # without limits: 1 m each way


@pytest.mark.parametrize(("args", "message"), [
    (((0, 0), (1, 1, 1), 0.1), "two numbers each or three"),
    (((0, 0), (-1, 1), 0.1), "from lower to upper"),
    (((0, 0), (1, 1), 0.0), "step must be positive"),
    (((0, 0), (1, 1), 0.1, 3), "places of three numbers"),
    (((0, 0, 0), (1, 1, 1), 0.1, np.eye(3)), "orientations must be"),
    (((0, 0, 0), (1, 1, 1), 1e-9, 3), "targets at most"),
    (((0, 0), (1, 1), "fine"), "step must be positive, not 'fine'"),
    (((0, 0), (1, 1), [0.1]), "step must be positive"),
    ((("a", 0), (1, 1), 0.1), "two numbers each or three"),
    (((0, 0, 0), (1, 1, 1), 0.5, None), "orientations must be how many"),
    (((0, 0, 0), (1, 1, 1), 0.5, [np.eye(3), 2 * np.eye(3)]), "orientation 1 is no rotation"),
    (((0, 0, 0), (1, 1, 1), 0.5, np.full((1, 3, 3), np.nan)), "orientation 0 is no rotation"),
])
def test_grids_that_are_none_are_refused(args, message):
    with pytest.raises(cf.ArgumentError, match=message):
        Grid(*args)


def test_numbers_of_numpy_are_taken_and_rows_end_as_those_of_lists():
    grid = Grid(np.zeros(3), np.ones(3), np.float64(0.5), np.int64(3))
    assert grid.key == Grid((0, 0, 0), (1, 1, 1), 0.5, 3).key and len(list(grid)) == len(grid) == 81
    with pytest.raises(IndexError):
        grid[81]
