"""Rows of deep robots by loops: against definitions, straight-line code and Pinocchio."""

import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given as random_cases
from hypothesis import settings
from hypothesis import strategies as st

import closedform as cf
from closedform.applications.compile import kernels
from closedform.applications.compile.loops import sweeping
from closedform.applications.compile.loops.plans import DEPTH, PLANS
from closedform.applications.compile.loops.sweeping import sweeps_of
from closedform.applications.compile.requests import Request
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from closedform.maths.catalogue import CATALOGUE, quantity
from closedform.maths.frames import LOCAL, LOCAL_WORLD_ALIGNED, WORLD
from closedform.program.sweeps import Sweeps
from deep_robots import KINDS, long_chain, robot_of

NOWHERE = Cache(None)
CHAIN = robot_of(range(17), ["revolute"] * 17)
MIXED = robot_of(range(19), ["revolute", "prismatic", "helical", "geared", "fixed", "sprung"] * 3
                 + ["revolute"])
TREE = robot_of([0, 1, 2, 3, 4, 2, 6, 7, 1, 9, 10, 0, 12, 13, 14, 13, 16],
                ["revolute", "prismatic", "geared"] * 5 + ["helical", "revolute"])
FLOATING = robot_of([0, 1, 2, 3, 4, 2, 6, 7, 1, 9, 10, 1], ["free"] + ["revolute"] * 11)
EVERY = robot_of([0, 1, 2, 3, 4, 5, 4, 7, 8, 1, 10, 11, 12],
                 ["free", "revolute", "spherical", "planar", "cylindrical", "gimbal", "universal",
                  "revolute", "fixed", "spherical", "free", "sprung", "planar"])
ROBOTS = {"chain": CHAIN, "mixed": MIXED, "tree": TREE, "floating": FLOATING, "every": EVERY}
OF_ONE_VELOCITY = [name for name, plan in PLANS.items() if not getattr(plan, "grouped", True)]


@pytest.fixture
def loops_for_all(monkeypatch):
    monkeypatch.setattr(sweeping, "DEPTH", dict.fromkeys(PLANS, 1))


def state(robot, row, seed=1):
    rng = np.random.default_rng(seed)
    return [robot.random(rng) if name == "q" else rng.normal(size=shape)
            for name, shape in quantity(row).input_shapes(robot).items()]


def parts(result):
    return result if isinstance(result, tuple) else (result,)


def assert_same(found, expected, part=1e-12):
    for x, y in zip(parts(found), parts(expected), strict=True):
        assert np.abs(x - y).max() <= part * max(np.abs(y).max(), 1e-3)


def swept(arm, row, wrenches=False, frame=None, reference=None):
    made = sweeps_of(arm._preparation.forms, [Request(quantity(row), frame, reference)], wrenches,
                     ())
    return made and made()


@pytest.mark.parametrize("row", [name for name in PLANS if not quantity(name).framed])
@pytest.mark.parametrize("name", ["mixed", "every"])
def test_loops_compute_the_definition(loops_for_all, name, row):
    robot = ROBOTS[name]
    arm, given = cf.compile(robot, cache=NOWHERE), state(robot, row)
    if name == "every" and row in OF_ONE_VELOCITY:
        assert swept(arm, row) is None
        return
    assert isinstance(swept(arm, row), Sweeps)
    assert_same(getattr(arm, row)(*given), getattr(cf, row)(robot, *given), 1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("row", [name for name in PLANS if not quantity(name).framed])
@pytest.mark.parametrize("name", ["chain", "tree", "floating"])
def test_loops_compute_the_definition_of_other_robots(loops_for_all, name, row):
    robot = ROBOTS[name]
    arm, given = cf.compile(robot, cache=NOWHERE), state(robot, row)
    if swept(arm, row) is not None:
        assert_same(getattr(arm, row)(*given), getattr(cf, row)(robot, *given), 1e-11)
    else:
        assert name == "floating" and row in OF_ONE_VELOCITY


@pytest.mark.parametrize("reference", [LOCAL, LOCAL_WORLD_ALIGNED, WORLD])
def test_loops_compute_what_frames_do(loops_for_all, reference):
    arm = cf.compile(EVERY, cache=NOWHERE)
    for row in (name for name in PLANS if quantity(name).framed):
        given = [*state(EVERY, row), "b8"]
        at = [reference] if quantity(row).takes("reference") else []
        assert isinstance(swept(arm, row, False, "b8", *at), Sweeps)
        assert_same(getattr(arm, row)(*given, *at), getattr(cf, row)(EVERY, *given, *at), 1e-11)


TREES = st.integers(0, 10**6), st.lists(st.sampled_from(sorted(KINDS)), min_size=16, max_size=24)


def random_tree(seed, kinds):
    """Branches leave at any depth, as a file lists them: each is finished before the next."""
    rng, way, parents = np.random.default_rng(seed), [0], []
    for k in range(1, len(kinds) + 1):
        way = way[:rng.integers(1, len(way) + 1)] if rng.random() < 0.2 else way
        parents.append(way[-1])
        way = [*way, k]
    return robot_of(parents, kinds, seed)


def looped(robot, row):
    """A row by loops, None where there are none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "DEPTH", dict.fromkeys(PLANS, 1))
        arm = cf.compile(robot, cache=NOWHERE)
        return getattr(arm, row) if swept(arm, row) else None


@settings(max_examples=8, deadline=None)
@random_cases(*TREES, st.sampled_from(["inverse_dynamics", "mass_matrix", "forward_dynamics",
                                       "christoffel_coriolis_matrix", "com_jacobian", "regressor",
                                       "inverse_dynamics_derivatives", "poses"]))
def test_loops_over_random_trees_compute_the_definition(seed, kinds, row):
    robot = random_tree(seed, kinds)
    kernel, given = looped(robot, row), state(robot, row, seed)
    assert (kernel is not None) == (robot.nv >= sweeping.FEWEST)
    if kernel is not None:
        assert_same(kernel(*given), getattr(cf, row)(robot, *given), 1e-9)


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@random_cases(*TREES)
def test_loops_over_random_trees_agree_with_straight_line_code(seed, kinds):
    robot = random_tree(seed, kinds)
    straight = cf.compile(robot, cache=NOWHERE)
    for row in ("inverse_dynamics", "mass_matrix", "christoffel_coriolis_matrix"):
        kernel, given = looped(robot, row), state(robot, row, seed)
        if kernel is not None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sweeping, "DEPTH", dict.fromkeys(PLANS, 10**6))
                assert_same(kernel(*given), getattr(straight, row)(*given), 1e-9)


@pytest.mark.parametrize("row", ["inverse_dynamics", "forward_dynamics",
                                 "inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
@pytest.mark.parametrize("robot", [TREE, EVERY], ids=["tree", "every"])
def test_loops_take_wrenches(loops_for_all, robot, row):
    arm, given = cf.compile(robot, cache=NOWHERE), state(robot, row)
    wrenches = np.random.default_rng(3).normal(size=(len(robot.bodies), 6))
    assert swept(arm, row, wrenches=True) is not None
    assert_same(getattr(arm, row)(*given, wrenches=wrenches),
                getattr(cf, row)(robot, *given, wrenches=wrenches), 1e-11)


@pytest.mark.parametrize(("rows", "only"), [
    (["mass_matrix", "christoffel_coriolis_matrix", "gravity_torque"], ()),
    (["inverse_dynamics_derivatives", "inverse_dynamics"], ("dtau_dq", "inverse_dynamics")),
    (["forward_dynamics", "inverse_dynamics_and_derivatives", "mass_matrix_inverse"], ()),
    (["forward_dynamics_derivatives", "inverse_dynamics"], ("da_dtau",)),
])
def test_several_rows_run_in_one_kernel(loops_for_all, rows, only):
    kernel = cf.fuse(EVERY, rows, only=only, cache=NOWHERE)
    assert kernel._code._loops is not None
    rng = np.random.default_rng(1)
    given = {"q": EVERY.random(rng), **{x: rng.normal(size=EVERY.nv) for x in ("v", "a", "tau")}}
    expected = {}
    for row in map(quantity, rows):
        found = getattr(cf, row.name)(EVERY, *(given[x] for x in row.inputs))
        expected |= zip((name for name, _ in row.outputs), parts(found), strict=True)
    found = kernel(*(given[slot.name] for slot in kernel.interface.inputs))
    assert_same(found, tuple(expected[name] for name in only or expected), 1e-11)


def test_rows_in_one_kernel_share_their_steps(loops_for_all):
    alone = sum(len(swept(cf.compile(CHAIN, cache=NOWHERE), row).loops)
                for row in ("mass_matrix", "gravity_torque"))
    both = cf.fuse(CHAIN, ["mass_matrix", "gravity_torque"], cache=NOWHERE)
    assert len(both._code._loops().loops) <= alone - 4


@pytest.mark.parametrize("inputs", [
    (cf.Parameters(),), (cf.PayloadAt("b7"),), (cf.Parameters(), cf.Gravity(), cf.PayloadAt("b5"))])
def test_parameters_gravity_and_payload_may_come_at_run_time(loops_for_all, inputs):
    rng = np.random.default_rng(4)
    values = {"parameters": EVERY.parameters * rng.uniform(0.8, 1.2, EVERY.parameters.shape),
              "gravity": np.array([1.0, -2.0, 3.0]),
              "payload": cf.Inertia(0.7, (0.1, 0.2, 0.05), 0.01 * np.eye(3)).array}
    other, arm = EVERY, cf.compile(EVERY, inputs=inputs, cache=NOWHERE)
    for x in inputs:
        other = other.with_parameters(values["parameters"]) if x == cf.Parameters() else other
        other = other.with_gravity(values["gravity"]) if x == cf.Gravity() else other
    for x in inputs:
        if isinstance(x, cf.PayloadAt):
            other = other.with_payload(cf.Inertia.from_parameters(values["payload"]), at=x.frame)
    for row in ("inverse_dynamics", "forward_dynamics", "mass_matrix", "center_of_mass",
                "potential_energy", "regressor"):
        kernel, given = getattr(arm, row), state(EVERY, row)
        assert kernel._code._loops is not None
        late = [values[slot.name] for slot in kernel.interface.inputs[len(given):]]
        assert_same(kernel(*given, *late), getattr(cf, row)(other, *given), 1e-11)


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


def test_loops_lose_no_digits_far_from_the_origin(loops_for_all):
    """m o² of a million metres left four digits of M, which does not depend on the place."""
    arm, (q,) = cf.compile(FLOATING, cache=NOWHERE), state(FLOATING, "mass_matrix")
    away = q + np.where(np.arange(len(q)) < 3, 1e6, 0)
    assert swept(arm, "mass_matrix") is not None
    assert_same(arm.mass_matrix(away), arm.mass_matrix(q), 1e-13)
    assert_same(arm.center_of_mass(away), cf.center_of_mass(FLOATING, away), 1e-14)
    for reference in (WORLD, LOCAL):
        assert_same(arm.frame_jacobian(away, "b8", reference),
                    cf.frame_jacobian(FLOATING, away, "b8", reference), 1e-10)


def test_gravity_may_come_at_run_time(loops_for_all):
    arm = cf.compile(CHAIN, inputs=cf.Gravity(), cache=NOWHERE)
    gravity = np.array([1.0, -2.0, 3.0])
    for row in ("inverse_dynamics", "gravity_torque", "forward_dynamics"):
        given = state(CHAIN, row)
        expected = getattr(cf, row)(CHAIN.with_gravity(gravity), *given)
        assert_same(getattr(arm, row)(*given, gravity), expected, 1e-11)


@pytest.mark.parametrize("n", [30, 300])
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


def test_a_floating_chain_agrees_with_pinocchio():
    pin = pytest.importorskip("pinocchio")
    robot, free = long_chain(60), long_chain(60, cf.Free())
    model = pin.Model()
    kinds = [pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ()]
    for k, body in enumerate(free.bodies):
        joint = pin.JointModelFreeFlyer() if k == 0 else kinds[(k + 2) % 3]
        place = pin.SE3(np.array(body.placement, dtype=float))
        at = model.addJoint(k, joint, place, body.name)
        tensor = pin.Inertia(float(body.inertia.mass), np.array(body.inertia.com, dtype=float),
                             np.array(body.inertia.tensor, dtype=float))
        model.appendBodyToJoint(at, tensor, pin.SE3.Identity())
    data, arm = model.createData(), cf.compile(free, cache=NOWHERE)
    q, v, a = state(free, "inverse_dynamics")
    assert robot.nv + 5 == model.nv
    assert_same(arm.inverse_dynamics(q, v, a), pin.rnea(model, data, q, v, a))
    assert_same(arm.forward_dynamics(q, v, a), pin.aba(model, data, q, v, a), 1e-10)
    dq, dv, M = (x.copy() for x in pin.computeRNEADerivatives(model, data, q, v, a))
    assert_same(arm.inverse_dynamics_derivatives(q, v, a),
                (dq, dv, np.triu(M) + np.triu(M, 1).T), 1e-11)


GROWTH = """
import resource, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from deep_robots import long_chain
import closedform as cf
robot = long_chain(1000)
arm = cf.compile(robot)
q, v, a = np.random.default_rng(0).normal(size=(3, 1000))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
arm.mass_matrix(q), arm.inverse_dynamics(q, v, a)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_grows_as_the_results_do(tmp_path):
    """M of a thousand joints is 8 MB, its straight-line program would be gigabytes."""
    run = subprocess.run([sys.executable, "-c", GROWTH, str(Path(__file__).parents[3])],
                         capture_output=True, text=True, check=True,
                         env={**os.environ, "CLOSEDFORM_CACHE": str(tmp_path)})
    assert int(run.stdout) < 150_000                                # kB


def test_a_chain_of_a_thousand_joints_obeys_its_equation_of_motion():
    robot = long_chain(1000)
    arm = cf.compile(robot, cache=NOWHERE)
    q, v, a = state(robot, "inverse_dynamics")
    tau = arm.inverse_dynamics(q, v, a)
    M, bias = arm.mass_matrix(q), arm.bias(q, v)
    assert_same(M @ a + bias, tau)
    back = arm.forward_dynamics(q, v, tau)
    assert_same(arm.inverse_dynamics(q, v, back), tau, 1e-8)


def test_forward_dynamics_of_batches_is_a_line_while_it_compiles_soon():
    """By depth and by count: chains of up to 100 joints, and no tree of more that is deep."""
    def by_loops(robot):
        made = swept(cf.compile(robot, cache=NOWHERE), "forward_dynamics")
        return made is not None and not made.one_state

    tree = robot_of([*range(31), 4, *range(32, 60), 3, *range(61, 110)],
                    ["revolute"] * 110)
    assert [by_loops(long_chain(n)) for n in (30, 100, 101)] == [False, False, True]
    assert by_loops(tree)


@pytest.mark.parametrize("row", ["inverse_dynamics", "forward_dynamics", "bias"])
def test_one_state_of_a_chain_goes_through_loops_and_batches_through_a_line(monkeypatch, row):
    monkeypatch.setattr(sweeping, "CUT_FROM", {host().register: 32})
    robot = long_chain(33)
    kernel = getattr(cf.compile(robot, cache=NOWHERE), row)
    monkeypatch.setattr(sweeping, "CUT_FROM", {})
    line = getattr(cf.compile(robot, cache=NOWHERE), row)
    states = [state(robot, row, seed) for seed in range(20)]
    batch = [np.stack(x) for x in zip(*states, strict=True)]
    assert np.array_equal(kernel(*batch), line(*batch))
    assert np.array_equal(kernel(*(x[:1] for x in batch))[0], kernel(*states[0]))
    assert_same(kernel(*states[0]), getattr(cf, row)(robot, *states[0]), 1e-10)
    assert kernel.operations == line.operations == kernel.program.operations
    assert line.operations.total < kernel.operations.folded.total


@pytest.mark.parametrize(("robot", "inputs", "wrenches"), [
    (long_chain(40, cf.Free()), (), False), (long_chain(40), (), True),
    (long_chain(40), (cf.Parameters(),), False),
    (robot_of([*range(40), 4], ["revolute"] * 41), (), False)],
    ids=["floating", "wrenches", "parameters", "branched"])
def test_what_is_not_cut_into_runs_stays_a_line(monkeypatch, robot, inputs, wrenches):
    monkeypatch.setattr(sweeping, "CUT_FROM", {host().register: 32})
    arm = cf.compile(robot, inputs=inputs, cache=NOWHERE)
    assert swept(arm, "inverse_dynamics", wrenches=wrenches) is None


def test_chains_are_cut_by_their_depth_and_the_width_of_registers(monkeypatch):
    monkeypatch.setattr(sweeping, "CUT_FROM", {host().register: 32})
    found = [swept(cf.compile(long_chain(n), cache=NOWHERE), "inverse_dynamics") for n in (31, 32)]
    assert found[0] is None and found[1].one_state
    monkeypatch.setattr(sweeping, "CUT_FROM", {2 * host().register: 32})
    assert swept(cf.compile(long_chain(40), cache=NOWHERE), "inverse_dynamics") is None


def test_deep_trees_of_very_many_joints_are_looped_whatever_their_depth():
    """Torques of twelve limbs of twenty-three joints were interpreted once."""
    limbs = robot_of([0, *(1 if k % 23 == 0 else k + 1 for k in range(12 * 23))],
                     ["free", *["revolute"] * (12 * 23)])
    arm = cf.compile(limbs, cache=NOWHERE)
    for name in PLANS.keys() & DEPTH.keys():
        row = quantity(name)
        if not row.framed and getattr(PLANS[name], "grouped", True):
            assert swept(arm, name) is not None, name
    q, v, a = state(limbs, "inverse_dynamics")
    assert_same(arm.mass_matrix(q) @ a + arm.bias(q, v), arm.inverse_dynamics(q, v, a))


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
    assert [row for row in PLANS if not quantity(row).framed and swept(arm, row)] == []


def test_what_loops_cannot_express_stays_straight_line(loops_for_all):
    driver = cf.Body("follower", "b17", cf.Mimic(cf.Revolute((0, 0, 1)), of="b3", ratio=2.0))
    coupled = cf.Robot("coupled", [*CHAIN.bodies, driver])
    assert swept(cf.compile(coupled, cache=NOWHERE), "inverse_dynamics") is None
    crossed = robot_of([0, 1, 1, 2, 3, *range(5, 17)], ["revolute"] * 17)
    assert swept(cf.compile(crossed, cache=NOWHERE), "inverse_dynamics") is None


def test_what_is_neither_a_loop_nor_affordable_is_interpreted_and_says_so():
    chain = long_chain(70)
    follower = cf.Body("follower", "b69", cf.Mimic(cf.Revolute((0, 0, 1)), of="b3", ratio=2.0),
                       inertia=cf.Inertia(1.0, (0, 0, 0.1), 0.01 * np.eye(3)))
    robot = cf.Robot("coupled", [*chain.bodies, follower])
    arm = cf.compile(robot, cache=NOWHERE)
    q, v, a = state(robot, "inverse_dynamics")
    with pytest.warns(UserWarning, match="is interpreted"):
        kernel = arm.inverse_dynamics_derivatives
    expected = cf.inverse_dynamics_derivatives(robot, q, v, a)
    assert_same(kernel(q, v, a), expected, 1e-10)
    out = tuple(np.empty((2, *x.shape)) for x in expected)
    kernel(np.stack([q, q]), v, a, out=out)
    assert_same(tuple(x[1] for x in out), expected, 1e-10)
    single = kernel(*(x.astype(np.float32) for x in (q, v, a)))
    assert single.dtau_dq.dtype == np.float32
    wrenches = np.ones((len(robot.bodies), 6))
    assert_same(kernel(q, v, a, wrenches=wrenches),
                cf.inverse_dynamics_derivatives(robot, q, v, a, wrenches=wrenches), 1e-10)
    with pytest.raises(cf.ArgumentError, match="q must"):
        kernel(q[:5], v, a)
    with pytest.raises(cf.ClosedformError, match="no program: it is interpreted"):
        kernel.program  # noqa: B018
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(pickle.loads(pickle.dumps(kernel))(q, v, a), expected, 1e-10)


@pytest.mark.parametrize("robot", [cf.load("panda"), cf.load("humanoid25")], ids=str)
def test_arms_and_humanoids_are_never_looped_nor_interpreted(robot):
    arm = cf.compile(robot, cache=NOWHERE)
    for row in CATALOGUE:
        request = [Request(row, robot.tip if row.framed else None, LOCAL if row.framed else None)]
        assert sweeps_of(arm._preparation.forms, request, False, ()) is None
        assert sweeping.expected_operations(arm._preparation.forms, request) == 0


@pytest.mark.parametrize("first", [None, cf.Free(), cf.Spherical()], ids=["fixed", "free", "ball"])
def test_a_chain_of_three_hundred_joints_has_all_rows_that_users_call(first):
    """Compiled by loops or refused by name: nothing is written out in a line."""
    robot = long_chain(300, first)
    arm = cf.compile(robot, cache=NOWHERE)
    for name, plan in PLANS.items():
        row = quantity(name)
        at = {"frame": robot.tip, "reference": LOCAL} if row.framed else {}
        found = sweeps_of(arm._preparation.forms, [Request(row, **at)], False, ())
        assert (found is None) == (first is not None and not getattr(plan, "grouped", True))
        if found is None:
            forms = arm._preparation.forms
            assert sweeping.expected_operations(forms, [Request(row)]) > kernels.AFFORDABLE


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


def test_programs_of_deep_robots_are_refused_by_name_above_a_size():
    arm = cf.compile(long_chain(200), cache=NOWHERE)
    kernel = arm.inverse_dynamics_derivatives
    with pytest.raises(cf.ClosedformError, match="inverse_dynamics_derivatives of chain of 200 wo"):
        kernel.program  # noqa: B018
    with pytest.raises(cf.ClosedformError, match="mass_matrix of chain of 200 would take"):
        cf.compile(long_chain(200), cache=NOWHERE).mass_matrix.jacobian("q")
