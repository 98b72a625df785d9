"""Maps: every row certified or classified, by oracles that need no solver."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.cluster.blocks import BlockError
from closedform.applications.redundancy import (
    Grid,
    JointCentering,
    Manipulability,
    PlanarPosition,
    Pose,
    Position,
    Posture,
    map,
    solve,
)
from closedform.applications.redundancy.certificate import certify
from closedform.applications.redundancy.problem import problem_of
from closedform.applications.redundancy.workspace.ascents import reached


def planar(limit=np.inf, links=(1.0, 0.8, 0.5)):
    """Three joints about z, links along x, and a tip at the end of the last."""
    bodies, at = [], 0.0
    for k, length in enumerate(links):
        T = np.eye(4)
        T[0, 3] = at
        bodies.append(cf.Body(f"link{k}", f"link{k - 1}" if k else None,
                              cf.Revolute((0, 0, 1), name=f"j{k}", lower=-limit, upper=limit), T,
                              cf.Inertia(1.0, (length / 2, 0, 0), np.eye(3) / 12)))
        at = length
    T = np.eye(4)
    T[0, 3] = links[-1]
    return cf.Robot("planar", bodies, frames=[cf.Frame("tip", f"link{len(links) - 1}", T)])


TASK = PlanarPosition("tip")
REST = Posture(np.array([0.3, -0.5, 0.7]))


def test_reachable_is_what_the_lengths_of_the_links_allow():
    grid = Grid((-2.5, -2.5), (2.5, 2.5), 0.25)
    found = map(planar(), TASK, grid, REST)
    r = np.linalg.norm(grid[:], axis=1)
    assert len(found) == 21 * 21 == len(found.value) == len(found.q) == len(found.verdict)
    np.testing.assert_array_equal(found.verdict == "unreachable", r > 2.3)
    assert found.certified[r < 2.29].all()
    assert found.task_residual[r < 2.3].max() < 1e-9
    np.testing.assert_array_equal(found.reachability.ravel(), found.certified)
    assert found.dexterity.shape == (21, 21)


def test_every_certified_row_is_a_maximum_by_the_certificate_of_one():
    robot = cf.load("panda")
    task, criterion = Pose("panda_hand_tcp"), Manipulability()
    grid = Grid((0.3, -0.3, 0.2), (0.7, 0.3, 0.8), 0.2, 4)
    found = map(robot, task, grid, criterion)
    problem = problem_of(robot, task, criterion, True)
    x = grid[:]
    assert found.certified.mean() > 0.5
    for k in np.flatnonzero(found.certified):
        below, above = problem.room(found.q[k])
        one = certify(problem, found.q[k], x[k], np.minimum(below, above) <= 1e-12)
        assert one.certified and one.verdict == found.verdict[k]
        assert one.value == pytest.approx(found.value[k], abs=1e-12)
    names = {str(v) for v in found.verdict}
    assert names <= {"maximum", "limit active", "unreachable", "limit", "singular", "fold"}


@pytest.mark.slow
def test_a_map_misses_no_target_that_a_random_configuration_reaches():
    robot = cf.load("iiwa14")
    rng = np.random.default_rng(4)
    targets = np.array([cf.frame_pose(robot, robot.random(rng), "flange") for _ in range(40)])
    found = map(robot, Pose("flange"), targets, Manipulability())
    assert found.certified.all()


def test_tasks_with_several_joints_to_spare_are_mapped_too():
    robot = cf.load("panda")
    grid = Grid((0.3, -0.2, 0.3), (0.5, 0.2, 0.5), 0.2)
    found = map(robot, Position("panda_hand_tcp"), grid, JointCentering())
    assert found.certified.all()
    one = solve(robot, Position("panda_hand_tcp"), grid[:1][0], JointCentering(), found.q[0])
    assert one.certified and one.value == pytest.approx(found.value[0], abs=1e-9)


def test_what_limits_keep_away_is_told_from_what_is_too_far():
    """Joints within ±0.3 rad reach from 2.238 m to 2.3 m, ahead; 3 m no angle reaches."""
    found = map(planar(limit=0.3), TASK, [[2.26, 0], [2.2, 0], [-1, 0], [3, 0]], REST)
    assert found.certified.tolist() == [True, False, False, False]
    assert found.verdict[1:].tolist() == ["limit", "limit", "unreachable"]
    assert np.isnan(found.value[1:]).all()


def test_where_the_jacobian_loses_rank_is_singular():
    """At full stretch the arm is a line: the radial direction is lost."""
    found = map(planar(), TASK, [[2.3, 0.0], [0.0, 1.5]], REST)
    assert found.verdict.tolist() == ["singular", "maximum"]


def test_an_arm_at_full_stretch_does_not_stop_its_neighbours():
    """A target 1e-10 too far: JJᵀ has lost its rank and damping is lost beside it."""
    problem = problem_of(planar(), TASK, REST)
    q = np.linspace(-3, 3, 61)[:, None] * np.eye(3)[0]
    x = problem.at(q, np.zeros((61, 2))).e
    q[::2, 1:] = 0.5                                        # every other one can move
    assert reached(problem, q, (1 + 1e-10) * x)[1].all()


def test_where_nothing_is_a_strict_maximum_is_a_fold():
    flat = map(planar(), TASK, [[1.2, 0.3]], lambda q: 0.0 * q[0] + 0.0 * q[1])
    assert flat.verdict.tolist() == ["fold"]


@pytest.mark.parametrize("name", ["map.zarr", "map.parquet"])
def test_a_map_on_disk_is_the_one_in_memory_and_goes_on(tmp_path, name):
    pytest.importorskip("zarr" if name.endswith("zarr") else "pyarrow",
                        reason="NOT TESTED: pip install 'closedform[cluster]'")
    robot, grid = planar(), Grid((-1, -1), (1, 1), 0.5)
    plain = map(robot, TASK, grid, REST, block=8)
    bad = np.concatenate([grid[:20], [[np.nan, 0.0]], grid[21:]])
    with pytest.raises(BlockError, match=r"block 2 \(rows 16 to 23\): target 20 is not finite"):
        map(robot, TASK, bad, REST, block=8, out=tmp_path / name)
    found = map(robot, TASK, grid[:], REST, block=8, out=tmp_path / name)
    for column in ("value", "q", "codes", "task_residual", "optimality_residual", "sigma_min"):
        np.testing.assert_array_equal(getattr(found, column), getattr(plain, column))
    with pytest.raises(cf.ArgumentError, match=r"holds other work: its .*program"):
        map(robot, TASK, grid[:], Posture(np.zeros(3)), block=8, out=tmp_path / name)
    with pytest.raises(cf.ArgumentError, match=r"its block 0 \(rows 0 to 7\) was made of other"):
        map(robot, TASK, grid[:] + 1e-3, REST, block=8, out=tmp_path / name)


def test_grids_have_a_key_that_only_equal_ones_share():
    turned = np.tile(np.eye(3), (200, 1, 1))
    other = turned.copy()
    other[150] = np.diag([1.0, -1.0, -1.0])
    grids = [Grid((0, 0, 0), (1, 1, 1), 0.5), Grid((0, 0, 0), (1, 1, 1), 0.5, 3),
             Grid((0, 0, 0), (1, 1, 1 + 1e-12), 0.5), *(Grid((0, 0, 0), (1, 1, 1), 0.5, x)
                                                       for x in (turned, other))]
    assert len({grid.key for grid in grids}) == 5
    assert Grid(np.zeros(3), [1, 1, 1], 0.5).key == grids[0].key


def test_bad_targets_are_set_aside_if_asked():
    targets = np.full((30, 2), 0.9)
    targets[12] = np.inf
    found = map(planar(), TASK, targets, REST, block=10, aside=True)
    assert [str(x) for x in found.aside] == ["block 1 (rows 10 to 19): target 12 is not finite"]
    assert found.verdict[10:20].tolist() == [None] * 10 and found.certified.sum() == 20


def test_a_target_that_is_no_pose_is_named_by_its_row():
    targets = np.tile(np.eye(4), (20, 1, 1))
    targets[13, :3, :3] *= 1.2
    with pytest.raises(BlockError, match=r"block 1 \(rows 8 to 15\): target 13: .* a rotation"):
        map(cf.load("ur5"), Pose("tool0"), targets, Manipulability(), block=8)


def test_targets_may_lie_on_disk_or_be_of_dask(tmp_path):
    zarr = pytest.importorskip("zarr", reason="NOT TESTED: pip install 'closedform[cluster]'")
    da = pytest.importorskip("dask.array")
    x = Grid((-1, -1), (1, 1), 0.4)[:]
    on_disk = zarr.create_array(str(tmp_path / "x.zarr"), shape=x.shape, chunks=(7, 2), dtype="f8")
    on_disk[:] = x
    lazy = da.from_array(x, chunks=(11, 2))
    expected = map(planar(), TASK, x, REST, block=8)
    for targets in (on_disk, lazy):
        np.testing.assert_array_equal(map(planar(), TASK, targets, REST, block=8).q, expected.q)
    with pytest.raises(cf.ArgumentError, match=r"does not know how many"):
        map(planar(), TASK, lazy[lazy[:, 0] > 0], REST)


def test_blocks_do_not_change_results():
    grid = Grid((-1, -1), (1, 1), 0.25)
    a, b = (map(planar(), TASK, grid, REST, block=n) for n in (7, 81))
    np.testing.assert_array_equal(a.codes, b.codes)
    np.testing.assert_allclose(a.q, b.q, atol=1e-9)


@pytest.mark.parametrize(("grid", "message"), [
    (np.zeros((3, 4)), r"have the shape \(2,\); the grid has rows of \(4,\)"),
    (np.zeros((0, 2)), "no targets"),
    (Grid((0, 0, 0), (1, 1, 1), 0.5), r"rows of \(3,\)"),
])
def test_grids_that_do_not_fit_are_refused(grid, message):
    with pytest.raises(cf.ArgumentError, match=message):
        map(planar(), TASK, grid, REST)


def test_numbers_that_make_no_sense_are_refused():
    with pytest.raises(cf.ArgumentError, match="starts must be a positive whole number"):
        map(planar(), TASK, [[1.0, 0.0]], REST, starts=0)
