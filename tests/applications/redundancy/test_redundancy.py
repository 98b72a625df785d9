"""Redundant arms: certificates, limits, obstacles, tracks, branches, batches, bad input."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import closedform as cf
from closedform.applications import redundancy
from closedform.applications.redundancy import (
    Climb,
    DetJJt,
    Ellipsoid,
    Hybrid,
    JointCentering,
    LimitBarrier,
    Manipulability,
    Newton,
    Obstacles,
    Path,
    PlanarPosition,
    Pose,
    Position,
    Posture,
    branches,
    resolved_motion,
    self_motion,
    solve,
    track,
)
from closedform.arrays import namespace

PLANAR, IIWA, PANDA = cf.load("planar3r"), cf.load("iiwa14"), cf.load("panda")
TIP = PlanarPosition("tip")
TARGET = np.array([0.446, 0.0915])
START = np.radians([-40.0, 141.0, 78.0])
BENT = np.array([0.2, 0.7, -0.3, -1.4, 0.4, 0.9, 0.1])


def limited(lower, upper):
    """Chang's arm with limits on its second joint."""
    bodies = [b if b.name != "link2" else
              cf.Body(b.name, b.parent, cf.Revolute((0, 0, -1), lower=lower, upper=upper),
                      b.placement, b.inertia) for b in PLANAR.bodies]
    return cf.Robot("limited", bodies, frames=PLANAR.frames)


def reachable(robot, frame, count, seed=0):
    rng = np.random.default_rng(seed)
    q = np.array([robot.random(rng) for _ in range(count)])
    starts = np.array([robot.random(rng) for _ in range(count)])
    return np.array([cf.frame_pose(robot, x, frame) for x in q]), starts


# ---------------------------------------------------------------------- solve
def test_a_solution_carries_its_certificate():
    s = solve(PLANAR, TIP, TARGET, Manipulability(), START)
    assert s.verdict == "maximum" and s.certified
    assert s.task_residual < 1e-14 and s.optimality_residual < 1e-13
    assert s.reduced_hessian.shape == (1,) and s.reduced_hessian[0] < 0
    assert s.branch_sign == -1
    J = cf.frame_jacobian(PLANAR, s.q, "tip")[:2]
    assert s.sigma_min == pytest.approx(np.linalg.svd(J, compute_uv=False)[-1], rel=1e-12)
    assert s.value == pytest.approx(0.5 * np.log(np.linalg.det(J @ J.T)), rel=1e-12)


def test_the_maximum_is_one_along_the_self_motion():
    """Independent of our derivatives: H falls on both sides of the solution."""
    s = solve(PLANAR, TIP, TARGET, Manipulability(), START)
    curve = self_motion(PLANAR, TIP, TARGET, Manipulability(), s.q)
    assert curve.closed
    for q in (curve.q[1], curve.q[-1]):
        J = cf.frame_jacobian(PLANAR, q, "tip")[:2]
        assert 0.5 * np.log(np.linalg.det(J @ J.T)) < s.value


@pytest.mark.parametrize(("robot", "task"), [
    (PLANAR, TIP), (IIWA, Pose("flange")), (IIWA, Position("flange")),
    (PANDA, Pose("panda_hand_tcp")),
], ids=["planar", "iiwa pose", "iiwa position", "panda pose"])
def test_random_starts_end_at_certified_maxima(robot, task):
    """At least 95 %, within the limits; nothing else is called a maximum."""
    poses, starts = reachable(robot, task.frame, 20)
    shape = task.shape(robot)
    targets = poses if shape == (4, 4) else poses[:, :shape[0], 3]
    found = solve(robot, task, targets, Manipulability(), starts)
    assert np.mean(found.certified) >= 0.95
    for k in np.flatnonzero(found.certified):
        assert found.task_residual[k] < 1e-11
        assert np.nanmax(found[k].reduced_hessian, initial=-1.0) < 0
        assert np.all(found.q[k] >= robot.lower - 1e-12)
        assert np.all(found.q[k] <= robot.upper + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("robot", [IIWA, PANDA], ids=["iiwa", "panda"])
@pytest.mark.parametrize("limits", [True, False], ids=["limits", "no limits"])
def test_hundreds_of_random_starts_end_at_certified_maxima(robot, limits):
    task = Pose(robot.frame_names[-1])
    targets, starts = reachable(robot, task.frame, 300)
    found = solve(robot, task, targets, Manipulability(), starts, limits=limits)
    assert np.mean(found.certified) >= 0.95
    if not limits:
        assert np.mean(found.verdict == "maximum") >= 0.95


def test_a_minimum_is_left_by_climbing_and_found_on_request():
    minimum = next(s for s in branches(PLANAR, TIP, TARGET, Manipulability())
                   if s.verdict == "minimum")
    assert solve(PLANAR, TIP, TARGET, Manipulability(), minimum.q).verdict == "maximum"
    asked = solve(PLANAR, TIP, TARGET, Manipulability(), minimum.q + 1e-3, method=Newton())
    assert asked.verdict == "minimum"
    np.testing.assert_allclose(asked.q, minimum.q, atol=1e-10)


def test_as_many_joints_as_equations_leave_nothing_to_optimise():
    def place_and_turn(robot, q):
        p = cf.frame_pose(robot, q, "tip")
        xp = namespace(q)
        return xp.stack([p[0, 3], p[1, 3], q[0] + q[1] + q[2]])

    q = np.array([0.3, 1.1, -0.4])
    target = np.array(place_and_turn(PLANAR, q))
    s = solve(PLANAR, place_and_turn, target, DetJJt(), q + 0.1)
    assert s.verdict == "maximum" and len(s.reduced_hessian) == 0
    np.testing.assert_allclose(s.q, q, atol=1e-12)
    assert abs(s.branch_sign) == 1


def test_a_function_as_a_task_and_as_a_criterion_agree_with_the_built_in_ones():
    def place(q):
        return namespace(q).stack(list(cf.frame_pose(PLANAR, q, "tip")[:2, 3]))

    def near(q):
        return -0.5 * sum((x - y) * (x - y) for x, y in zip(q, START, strict=True))

    for own, built_in in ((Manipulability(), Manipulability()), (near, Posture(START))):
        a = solve(PLANAR, place, TARGET, own, START)
        b = solve(PLANAR, TIP, TARGET, built_in, START)
        np.testing.assert_allclose(a.q, b.q, atol=1e-12)
        np.testing.assert_allclose(a.reduced_hessian, b.reduced_hessian, atol=1e-10)


def test_sums_weigh_their_summands():
    posture = Posture(START)
    a = solve(PLANAR, TIP, TARGET, 1e6 * posture + Manipulability(), START)
    b = solve(PLANAR, TIP, TARGET, posture, START)
    c = solve(PLANAR, TIP, TARGET, 1e-6 * posture + Manipulability(), START)
    d = solve(PLANAR, TIP, TARGET, Manipulability(), START)
    assert np.abs(a.q - b.q).max() < 1e-5 < np.abs(a.q - d.q).max()
    assert np.abs(c.q - d.q).max() < 1e-5
    e = solve(PLANAR, TIP, TARGET, Manipulability() - 2 * posture, START)
    assert e.value == pytest.approx(solve(PLANAR, TIP, TARGET, -2 * posture + Manipulability(),
                                          START).value, rel=1e-12)


def test_joint_centering_stays_away_from_the_limits():
    pose = cf.frame_pose(IIWA, BENT, "flange")
    for criterion in (JointCentering(), LimitBarrier()):
        s = solve(IIWA, Pose("flange"), pose, criterion, BENT)
        assert s.verdict == "maximum"
        middle, half = (IIWA.lower + IIWA.upper) / 2, (IIWA.upper - IIWA.lower) / 2
        assert np.all(np.abs(s.q - middle) < half)


def test_a_branch_of_a_tree_moves_alone():
    """Joints that move neither the task nor the criterion stay where they were."""
    arm = [cf.Body(f"{side}{k}", f"{side}{k - 1}" if k else None, cf.Revolute((0, 0, 1)),
                   [[1, 0, 0, 0.5 if k else 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
           for side in "lr" for k in range(4)]
    robot = cf.Robot("tree", arm)
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    s = solve(robot, PlanarPosition("r3"), [0.9, 0.4], Manipulability(), q)
    assert s.verdict == "maximum"
    np.testing.assert_array_equal(s.q[:4], q[:4])
    assert s.q[7] == q[7]                               # turns about the point itself


def test_a_floating_arm_is_solved_in_its_tangent_space():
    robot = cf.load("planar3r", floating=True)
    q = robot.neutral()
    q[7:] = [0.3, 0.9, 0.5]
    s = solve(robot, Position("tip"), [0.4, 0.5, 0.1], Manipulability(), q)
    assert s.task_residual < 1e-12
    assert np.linalg.norm(s.q[3:7]) == pytest.approx(1.0, abs=1e-12)


# ---------------------------------------------------------------------- limits and obstacles
def test_a_limit_holds_the_joint_and_has_a_multiplier():
    """The free optimum has θ2 = 134.5°; a limit at 132° is worth what its multiplier says."""
    def best(limit):
        start = np.radians([-25.0, 131.0, 105.0])
        return solve(limited(-3.0, np.radians(limit)), TIP, TARGET, Manipulability(), start,
                     method=Climb(restarts=0))

    s = best(132.0)
    assert s.verdict == "limit active" and s.certified and s.limits == ("link2",)
    assert s.q[1] == pytest.approx(np.radians(132.0), abs=1e-12)
    assert s.task_residual < 1e-12
    gain = (best(132.01).value - best(131.99).value) / np.radians(0.02)
    assert s.limit_multipliers[1] == pytest.approx(gain, rel=1e-3)


def test_without_limits_the_joint_goes_beyond():
    s = solve(limited(-3.0, np.radians(132.0)), TIP, TARGET, Manipulability(), START, limits=False)
    assert s.verdict == "maximum" and s.q[1] > np.radians(134.0)


def test_obstacles_are_kept_outside():
    """The elbow passes on the far side; a place inside counts as forbidden."""
    free = solve(PLANAR, TIP, TARGET, Manipulability(), START)
    elbow = cf.frame_pose(PLANAR, free.q, "link3")[:3, 3]
    obstacle = Ellipsoid((elbow[0] + 0.02, elbow[1], elbow[2]), (0.1, 0.1, 0.1))
    criterion = Manipulability() + 0.01 * Obstacles([obstacle], ["link3"])
    s = solve(PLANAR, TIP, TARGET, criterion, free.q)
    there = cf.frame_pose(PLANAR, s.q, "link3")[:3, 3]
    assert s.verdict == "maximum"
    assert np.linalg.norm(there - obstacle.centre) > 0.1
    assert s.value < free.value


# ---------------------------------------------------------------------- tracks
def circle(radius=0.05, points=61):
    s = np.linspace(0, 2 * np.pi, points)
    x = np.array([0.5, 0.04]) + radius * np.stack([np.cos(s), np.sin(s)], axis=1)
    dx = radius * np.stack([-np.sin(s), np.cos(s)], axis=1)
    ddx = -radius * np.stack([np.cos(s), np.sin(s)], axis=1)
    return Path(x, s, dx, ddx)


def test_rates_and_accelerations_are_those_of_the_configurations():
    path = circle(points=401)
    t = track(PLANAR, TIP, path, Manipulability(), START)
    step = path.times[1]
    rates = (t.q[2:] - t.q[:-2]) / (2 * step)
    accelerations = (t.q[2:] - 2 * t.q[1:-1] + t.q[:-2]) / step**2
    np.testing.assert_allclose(t.rates[1:-1], rates, atol=1e-5)         # step²/6 · third derivative
    np.testing.assert_allclose(t.accelerations[1:-1], accelerations, atol=1e-5)


def test_a_closed_path_of_poses_returns_in_both_directions():
    start = solve(IIWA, Pose("flange"), cf.frame_pose(IIWA, BENT, "flange"), Manipulability(), BENT)
    centre = cf.frame_pose(IIWA, start.q, "flange")
    path = []
    for s in np.linspace(0, 2 * np.pi, 25):
        T = centre.copy()
        T[:3, 3] += 0.02 * np.array([np.cos(s) - 1, np.sin(s), 0.3 * np.sin(2 * s)])
        T[:3, :3] = Rotation.from_rotvec([0.1 * np.sin(s), 0, 0]).as_matrix() @ T[:3, :3]
        path.append(T)
    path[-1] = path[0]
    there = track(IIWA, Pose("flange"), path, Manipulability(), start.q)
    back = track(IIWA, Pose("flange"), path[::-1], Manipulability(), there.q[-1])
    assert there.complete and back.complete
    assert all(s.verdict == "maximum" for s in there.solutions)
    assert np.abs(there.q[-1] - there.q[0]).max() < 1e-9
    assert np.abs(back.q[::-1] - there.q).max() < 1e-9


def test_a_track_stops_at_a_fold_and_offers_another_maximum():
    path = np.linspace(0.5, 0.05, 60)[:, None] * [1.0, 0.2]
    t = track(PLANAR, TIP, path, Manipulability(), START)
    assert not t.complete and "fold" in t.stop.reason
    assert 0 < t.stop.index < 60 and len(t.q) == t.stop.index
    assert abs(t.solutions[-1].reduced_hessian[0]) < abs(t.solutions[0].reduced_hessian[0])
    way = t.stop.self_motion
    np.testing.assert_array_equal(way[0], t.stop.q)
    for q in way:
        tip = cf.frame_pose(PLANAR, q, "tip")[:2, 3]
        np.testing.assert_allclose(tip, t.stop.target, atol=1e-10)
    other = solve(PLANAR, TIP, t.stop.target, Manipulability(), way[-1])
    np.testing.assert_allclose(other.q, way[-1], atol=1e-9)
    assert track(PLANAR, TIP, path[t.stop.index:], Manipulability(), way[-1]).complete


def test_a_track_meets_and_leaves_a_limit():
    """θ2 grows towards the middle of the path, where its limit holds it."""
    robot = limited(-3.0, np.radians(131.0))
    x = np.concatenate([np.linspace(0.55, 0.45, 30), np.linspace(0.45, 0.55, 30)[1:]])
    path = np.stack([x, np.full_like(x, 0.04)], axis=1)
    t = track(robot, TIP, path, Manipulability(), np.radians([-10.0, 127.0, 91.0]))
    assert t.complete
    verdicts = [s.verdict for s in t.solutions]
    assert verdicts[0] == verdicts[-1] == "maximum" and verdicts[29] == "limit active"
    assert t.q[:, 1].max() <= np.radians(131.0) + 1e-12
    np.testing.assert_allclose(t.q, t.q[::-1], atol=1e-9)


# ---------------------------------------------------------------------- branches
def test_branches_of_a_seven_joint_arm_come_in_eight_copies():
    """Shoulder, elbow and wrist flips: the same values on each of eight curves."""
    pose = cf.frame_pose(IIWA, np.radians([10, 40, 20, -80, 30, 60, 10]), "flange")
    found = branches(IIWA, Pose("flange"), pose, Manipulability(), limits=False, starts=60)
    values, counts = np.unique(np.round([s.value for s in found], 9), return_counts=True)
    assert np.all(counts == 8) and len(values) == 6
    assert [s.verdict for s in found].count("maximum") == 24


# ---------------------------------------------------------------------- resolved motion
def test_the_extended_rate_keeps_the_optimum_that_liegeois_lags_behind():
    x = circle().points
    start = solve(PLANAR, TIP, x[0], Manipulability(), START).q
    exact = track(PLANAR, TIP, x, Manipulability(), start).q
    options = {"speed": 0.05, "step": 0.05}
    extended = resolved_motion(PLANAR, TIP, x, Manipulability(), start, rate=redundancy.EXTENDED,
                               **options)
    lagging = resolved_motion(PLANAR, TIP, x, Manipulability(), start, gain=5.0, **options)
    euler = resolved_motion(PLANAR, TIP, x, Manipulability(), start, gain=5.0,
                            integrator=redundancy.EULER, **options)
    assert np.abs(extended.q - exact).max() < 1e-5 < 1e-3 < np.abs(lagging.q - exact).max()
    assert lagging.task_error.max() < 1e-6 < euler.task_error.max()


# ---------------------------------------------------------------------- batches
@pytest.mark.parametrize("task", [Pose("flange"), Position("flange")], ids=["pose", "position"])
def test_a_batch_gives_what_its_members_give(task):
    rng = np.random.default_rng(2)
    poses, _ = reachable(IIWA, "flange", 1)
    target = poses[0] if isinstance(task, Pose) else poses[0][:3, 3]
    base = solve(IIWA, task, target, Manipulability(), BENT, limits=False)
    seeds = base.q + 0.02 * rng.normal(size=(20, 7))
    many = solve(IIWA, task, target, Manipulability(), seeds, limits=False)
    assert many.counts() == {"maximum": 20}
    for k in (0, 7, 19):
        one = solve(IIWA, task, target, Manipulability(), seeds[k], limits=False)
        np.testing.assert_allclose(many.q[k], one.q, atol=1e-9)
        np.testing.assert_allclose(many[k].reduced_hessian, one.reduced_hessian, atol=1e-8)
        assert many[k].value == pytest.approx(one.value, abs=1e-10)
        assert many[k].branch_sign == one.branch_sign


def test_a_batch_classifies_what_cannot_be_done():
    targets = np.array([TARGET, [5.0, 0.0], [1.0, 0.5], [0.0, -9.0]])
    found = solve(PLANAR, TIP, targets, Manipulability(), START)
    assert list(found.verdict) == ["maximum", "unreachable", "maximum", "unreachable"]
    assert found.task_residual[1] == pytest.approx(5.0 - 1.65, abs=1e-3)    # nearly stretched out


# ---------------------------------------------------------------------- bad input
def test_singular_starts_are_left():
    for start in ([0.0, 0.0, 0.0], [0.5, np.pi, 0.0]):
        assert solve(PLANAR, TIP, TARGET, Manipulability(), start).verdict == "maximum"


def test_the_rim_of_the_workspace_is_singular_or_out_of_reach():
    rim = solve(PLANAR, TIP, [1.65, 0.0], Manipulability(), START)
    assert rim.verdict in ("singular", "unreachable") and not rim.certified
    assert solve(PLANAR, TIP, [1.7, 0.0], Manipulability(), START).verdict == "unreachable"


def test_a_flat_criterion_is_not_called_a_maximum():
    s = solve(PLANAR, TIP, TARGET, lambda q: 0.0 * q[0] + 1.0, START)
    assert s.verdict == "singular"


@pytest.mark.parametrize("method", [Climb(), Newton(), Hybrid()], ids=str)
def test_no_method_raises_on_what_cannot_be_reached(method):
    s = solve(PLANAR, TIP, [3.0, 3.0], Manipulability(), START, method=method)
    assert s.verdict == "unreachable"


@pytest.mark.parametrize(("arguments", "message"), [
    ((PLANAR, PlanarPosition("hand"), TARGET, Manipulability(), START), "hand"),
    ((PLANAR, TIP, [np.nan, 0.0], Manipulability(), START), "finite"),
    ((PLANAR, TIP, [1.0, 2.0, 3.0], Manipulability(), START), "shape"),
    ((PLANAR, TIP, TARGET, Manipulability(), [np.inf, 0.0, 0.0]), "finite"),
    ((PLANAR, TIP, TARGET, Manipulability(), [0.0, 0.0]), "shape"),
    ((PLANAR, Pose("tip"), np.eye(4), Manipulability(), START), "can choose 3"),
    ((IIWA, Pose("flange"), 2 * np.eye(4), Manipulability(), BENT), "rotation"),
    ((PLANAR, TIP, TARGET, "manipulability", START), "criterion"),
    ((PLANAR, "tip", TARGET, Manipulability(), START), "task"),
    (("planar3r", TIP, TARGET, Manipulability(), START), "cf.Robot"),
    ((PLANAR, TIP, TARGET, JointCentering(), START), "limits"),
    ((PLANAR, TIP, TARGET, Posture([1.0]), START), "3 numbers"),
])
def test_bad_input_is_refused_with_a_reason(arguments, message):
    with pytest.raises(cf.ClosedformError, match=message):
        solve(*arguments)


def test_bad_obstacles_and_paths_are_refused():
    for centre, radii, exponent in ((0, 1, 3), (0, -1, 2)):
        with pytest.raises(cf.ArgumentError):
            Obstacles([Ellipsoid((centre,) * 3, (radii,) * 3, exponent)], ["tip"])
    with pytest.raises(cf.ArgumentError, match="a list of obstacles"):
        Obstacles(3, ["tip"])
    with pytest.raises(cf.ArgumentError, match="posture must be a list"):
        Posture("here")
    with pytest.raises(cf.ArgumentError, match="EULER or RK4"):
        resolved_motion(PLANAR, TIP, [TARGET], Manipulability(), START, integrator="RK4")
    with pytest.raises(cf.ArgumentError, match="increasing"):
        track(PLANAR, TIP, Path([TARGET, TARGET], [1.0, 0.0]), Manipulability(), START)
    with pytest.raises(cf.ArgumentError, match="no maximum to follow"):
        track(PLANAR, TIP, [[5.0, 5.0]], Manipulability(), START)
    with pytest.raises(cf.ArgumentError, match="n − m = 1"):
        self_motion(IIWA, Position("flange"), [0.5, 0, 0.5], Manipulability(), BENT)


def test_the_text_of_a_track_is_one_line():
    path = TARGET + np.linspace(0, 0.02, 3)[:, None] * np.ones(2)
    assert repr(track(PLANAR, TIP, path, Manipulability(), START)) == (
        "<Track: 3 points (3 maximum), nq 3, complete>")


def test_branches_leave_out_what_lies_within_an_obstacle():
    arm = planar_5r()
    task, links = PlanarPosition("tool"), ["l2", "l3", "l4", "tool"]
    obstacle = Ellipsoid((0.6, 0.4, 0.0), (0.15, 0.15, 1.0))
    criterion = Manipulability() + 0.01 * Obstacles([obstacle], links)
    found = branches(arm, task, [0.9, 0.5], criterion, starts=20)
    assert found and all(np.isfinite(one.value) for one in found)
    within = solve(arm, task, [0.6, 0.4], criterion, [0.5, 0.5, -0.5, 0.5, 0.3])
    assert within.verdict == "forbidden" and not within.certified and within.sigma_min > 0.01
    assert branches(arm, task, [0.6, 0.4], criterion, starts=5) == []


def planar_5r():
    at = np.eye(4)
    at[0, 3] = 0.3
    bodies = [cf.Body(f"l{k}", f"l{k - 1}" if k else None, cf.Revolute((0, 0, 1)),
                      at if k else np.eye(4)) for k in range(5)]
    return cf.Robot("planar5r", bodies, frames=[cf.Frame("tool", "l4", at)])
