"""Rows of deep robots by loops: against definitions, straight-line code and Pinocchio."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile import sweeping
from closedform.applications.compile.sweeping import PLANS, sweeps_of
from closedform.lowerings.store.cache import Cache
from closedform.maths.catalogue import quantity
from closedform.model.pose import pose
from closedform.program.sweeps import Sweeps

NOWHERE = Cache(None)
KINDS = {
    "revolute": lambda rng: cf.Revolute(rng.normal(size=3), 0.1 * rng.normal(size=3)),
    "prismatic": lambda rng: cf.Prismatic(rng.normal(size=3), rotor_inertia=0.3),
    "helical": lambda rng: cf.Helical(rng.normal(size=3), 0.2, 0.1 * rng.normal(size=3)),
    "geared": lambda rng: cf.Revolute((0, 0, 1), rotor_inertia=0.4),
    "fixed": lambda rng: cf.Fixed(),
}


def robot_of(parents, kinds, seed=0):
    """Bodies at random places; parents count from 1, the world is 0."""
    rng, bodies = np.random.default_rng(seed), []
    for k, (p, kind) in enumerate(zip(parents, kinds, strict=True), start=1):
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        A = rng.normal(size=(3, 3))
        bodies.append(cf.Body(
            name=f"b{k}", parent=f"b{p}" if p else None, joint=KINDS[kind](rng),
            placement=pose(turn * np.linalg.det(turn), 0.2 * rng.normal(size=3)),
            inertia=cf.Inertia(rng.uniform(0.5, 2), 0.1 * rng.normal(size=3),
                               0.01 * (A @ A.T + np.eye(3)))))
    return cf.Robot("loops", bodies)


CHAIN = robot_of(range(19), ["revolute"] * 19)
MIXED = robot_of(range(19), ["revolute", "prismatic", "helical", "geared", "fixed"] * 3
                 + ["revolute", "helical", "prismatic", "geared"])
TREE = robot_of([0, 1, 2, 3, 4, 2, 6, 7, 1, 9, 10, 0, 12, 13, 14, 13, 16],
                ["revolute", "prismatic", "geared"] * 5 + ["helical", "revolute"])


@pytest.fixture
def loops_for_all(monkeypatch):
    monkeypatch.setattr(sweeping, "PLANS", {k: p._replace(depth=1) for k, p in PLANS.items()})


def state(robot, row, seed=1):
    rng = np.random.default_rng(seed)
    return [robot.random(rng) if name == "q" else rng.normal(size=robot.nv)
            for name in quantity(row).inputs]


def parts(result):
    return result if isinstance(result, tuple) else (result,)


def assert_same(found, expected, part=1e-12):
    for x, y in zip(parts(found), parts(expected), strict=True):
        assert np.abs(x - y).max() <= part * max(np.abs(y).max(), 1e-3)


@pytest.mark.parametrize("row", PLANS)
@pytest.mark.parametrize("robot", [CHAIN, MIXED, TREE], ids=["chain", "mixed", "tree"])
def test_loops_compute_the_definition(loops_for_all, robot, row):
    arm, given = cf.compile(robot, cache=NOWHERE), state(robot, row)
    assert isinstance(swept(arm, row), Sweeps)
    assert_same(getattr(arm, row)(*given), getattr(cf, row)(robot, *given), 1e-11)


def swept(arm, row, wrenches=False):
    from closedform.applications.compile.requests import Request
    made = sweeps_of(arm._preparation.forms, [Request(quantity(row))], wrenches, ())
    return made and made()


@pytest.mark.parametrize("row", ["inverse_dynamics", "forward_dynamics",
                                 "inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_loops_take_wrenches(loops_for_all, row):
    arm, given = cf.compile(TREE, cache=NOWHERE), state(TREE, row)
    wrenches = np.random.default_rng(3).normal(size=(len(TREE.bodies), 6))
    assert swept(arm, row, wrenches=True) is not None
    assert_same(getattr(arm, row)(*given, wrenches=wrenches),
                getattr(cf, row)(TREE, *given, wrenches=wrenches), 1e-11)


@pytest.mark.parametrize("row", ["inverse_dynamics", "mass_matrix", "forward_dynamics_derivatives"])
def test_loops_take_batches_threads_outputs_and_float32(loops_for_all, row):
    kernel = getattr(cf.compile(TREE, cache=NOWHERE), row)
    states = [state(TREE, row, seed) for seed in range(5)]
    batch = [np.stack(x) for x in zip(*states, strict=True)]
    whole = parts(kernel(*batch, threads=2))
    for k, given in enumerate(states):
        assert all(np.array_equal(x[k], y) for x, y in
                   zip(whole, parts(kernel(*given)), strict=True))
    out = tuple(np.empty_like(x) for x in whole)
    kernel(*batch, out=out if len(out) > 1 else out[0])
    assert all(map(np.array_equal, out, whole))
    single = kernel(*(x.astype(np.float32) for x in batch))
    assert all(x.dtype == np.float32 for x in parts(single))
    assert_same(single, whole, 2e-3)


def test_gravity_may_come_at_run_time(loops_for_all):
    arm = cf.compile(CHAIN, inputs=cf.Gravity(), cache=NOWHERE)
    gravity = np.array([1.0, -2.0, 3.0])
    for row in ("inverse_dynamics", "gravity_torque", "forward_dynamics"):
        given = state(CHAIN, row)
        expected = getattr(cf, row)(CHAIN.with_gravity(gravity), *given)
        assert_same(getattr(arm, row)(*given, gravity), expected, 1e-11)


@pytest.mark.parametrize("n", [60, 300])
def test_loops_agree_with_pinocchio(n):
    pin = pytest.importorskip("pinocchio")
    robot = long_chain(n)
    model = pin.buildModelFromXML(robot.to_urdf())
    data, arm = model.createData(), cf.compile(robot, cache=NOWHERE)
    q, v, a = state(robot, "inverse_dynamics")
    assert_same(arm.inverse_dynamics(q, v, a), pin.rnea(model, data, q, v, a))
    assert_same(arm.forward_dynamics(q, v, a), pin.aba(model, data, q, v, a), 1e-10)
    dq, dv, M = (x.copy() for x in pin.computeRNEADerivatives(model, data, q, v, a))
    M = np.triu(M) + np.triu(M, 1).T
    assert_same(arm.inverse_dynamics_derivatives(q, v, a), (dq, dv, M))
    assert_same(arm.mass_matrix(q), M)


def long_chain(n):
    rng, bodies = np.random.default_rng(0), []
    for k in range(n):
        A = rng.normal(size=(3, 3))
        joint = cf.Revolute(np.roll((0, 0, 1), k), lower=-3.0, upper=3.0, velocity=1.0, effort=1.0)
        bodies.append(cf.Body(
            name=f"b{k}", parent=f"b{k - 1}" if k else None, joint=joint,
            placement=pose(np.eye(3), 0.1 * rng.normal(size=3)),
            inertia=cf.Inertia(rng.uniform(0.5, 2), 0.1 * rng.normal(size=3),
                               0.01 * (A @ A.T + np.eye(3)))))
    return cf.Robot(f"chain of {n}", bodies)


def test_a_chain_of_a_thousand_joints_obeys_its_equation_of_motion():
    robot = long_chain(1000)
    arm = cf.compile(robot, cache=NOWHERE)
    q, v, a = state(robot, "inverse_dynamics")
    tau = arm.inverse_dynamics(q, v, a)
    M, bias = arm.mass_matrix(q), arm.bias(q, v)
    assert_same(M @ a + bias, tau)
    back = arm.forward_dynamics(q, v, tau)
    assert_same(arm.inverse_dynamics(q, v, back), tau, 1e-8)


def test_code_does_not_grow_with_the_robot():
    sizes = []
    for n in (60, 300):
        kernel = cf.compile(long_chain(n), cache=NOWHERE).inverse_dynamics_derivatives
        sizes.append(len(swept(cf.compile(long_chain(n), cache=NOWHERE),
                               "inverse_dynamics_derivatives").loops))
        assert kernel.operations.total > n**2
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("robot", [cf.load("panda"), robot_of(range(12), ["revolute"] * 12)],
                         ids=["panda", "twelve"])
def test_short_robots_stay_straight_line(robot):
    arm = cf.compile(robot, cache=NOWHERE)
    assert [row for row in PLANS if swept(arm, row)] == []


def test_what_loops_cannot_express_stays_straight_line(loops_for_all):
    spring = cf.Robot("sprung", [cf.Body("a", None, cf.Revolute((0, 0, 1), stiffness=1.0))])
    assert swept(cf.compile(spring, cache=NOWHERE), "inverse_dynamics") is None
    ball = cf.Robot("ball", [cf.Body("a", None, cf.Spherical())])
    assert swept(cf.compile(ball, cache=NOWHERE), "inverse_dynamics") is None


def test_a_warm_load_records_no_step(tmp_path, monkeypatch):
    robot, cache = long_chain(30), Cache(tmp_path / "kernels")
    q = state(robot, "mass_matrix")[0]
    M = cf.compile(robot, cache=cache).mass_matrix(q)
    monkeypatch.setattr(sweeping, "record", None)
    assert np.array_equal(cf.compile(robot, cache=cache).mass_matrix(q), M)


def test_a_mass_matrix_that_is_always_singular_is_refused():
    chain = long_chain(45)
    last = cf.Body("tip", "b44", cf.Revolute((0, 0, 1)))
    arm = cf.compile(cf.Robot("massless tip", [*chain.bodies, last]), cache=NOWHERE)
    with pytest.raises(cf.SingularMatrix):
        arm.forward_dynamics  # noqa: B018


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_derivatives_of_forward_dynamics_run_where_memory_is_no_longer_on_the_stack(dtype):
    robot = long_chain(300)
    arm = cf.compile(robot, cache=NOWHERE)
    q, v, tau = (x.astype(dtype) for x in state(robot, "forward_dynamics"))
    found = arm.forward_dynamics_derivatives(q, v, tau)
    if dtype is np.float64:
        assert_same(found.da_dtau @ arm.mass_matrix(q), np.eye(300), 1e-6)
    assert all(np.isfinite(x).all() for x in found)
