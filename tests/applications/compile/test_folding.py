"""Limbs in lanes: folded programs against the closed forms."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import closedform as cf
from closedform.applications.compile.folding import FoldedForms
from closedform.applications.compile.forms import Forms
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.errors import ArgumentError
from closedform.lowerings.reference import run
from closedform.lowerings.store.cache import Cache
from closedform.maths.algorithms import articulated, newton_euler
from closedform.maths.algorithms.applicability import applies
from closedform.maths.catalogue import quantity
from closedform.model.pose import pose
from closedform.program.check import check
from closedform.program.record import record
from folded_checks import (
    FILES,
    FOLDED,
    FOLDING,
    ROWS,
    assert_folded_is_the_definition,
    assert_kernels_agree,
    folds_for,
    from_package,
    loaded,
    state,
    states,
    urdfs,
)
from limbed_robots import limbed_robot


@pytest.mark.parametrize("name", FOLDED)
@pytest.mark.parametrize("seed", range(6))
def test_folded_is_the_closed_form_for_random_limbs(seed, name):
    assert_folded_is_the_definition(limbed_robot(seed, mirrored=seed % 2 == 0), name)


@pytest.mark.parametrize("name", FOLDED)
@pytest.mark.parametrize("robot", [*FILES, "humanoid25"])
def test_folded_is_the_closed_form_for_robots_with_legs_and_arms(robot, name):
    loaded = from_package(robot) if robot in FILES else cf.load(robot)
    assert_folded_is_the_definition(loaded, name)


@pytest.mark.parametrize("robot, name, most", [
    ("solo12", "inverse_dynamics", 333), ("anymal", "inverse_dynamics", 428),
    ("solo12", "forward_dynamics", 814), ("solo12", "mass_matrix", 158),
    ("solo12", "inverse_dynamics_and_derivatives", 1664)])
def test_folded_programs_have_the_operations_of_one_limb(robot, name, most):
    """Before any rule; unfolded, inverse dynamics of solo12 has 1120."""
    program = assert_folded_is_the_definition(from_package(robot), name)
    assert program.operations.total <= most


@pytest.mark.parametrize("robot, most", [("solo12", 2700), ("talos", 8900)])
def test_flat_forward_dynamics_has_no_hidden_zeros(robot, most):
    """Before joints without rotors and floating bases were eliminated exactly: 3274 and 10410."""
    row = quantity("forward_dynamics")
    forms = Forms(from_package(robot))
    program = record(lambda q, v, tau: articulated.forward_dynamics(
        forms.base, q + forms.canonical.offset, v, tau), forms.shapes(row.inputs), row.name)
    assert program.operations.total <= most


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "forward_dynamics",
                                  "christoffel_dynamics_matrices"])
def test_limbs_are_put_into_lanes_where_that_takes_fewer_instructions(name):
    robot, requests = limbed_robot(2), [Request(quantity(name))]
    preparation = Preparation(robot)
    flat = preparation.program(requests)
    folded = preparation.folded(requests).program
    assert folded.issued < flat.issued
    given = state(robot, flat, 5).values()
    for x, y in zip(run(check(folded), *given), run(flat, *given), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-11 * np.abs(y).max())


def test_what_stays_flat_says_why():
    arm, robot = Preparation(cf.load("panda")), Preparation(limbed_robot(2))
    tau, jacobian = Request(quantity("inverse_dynamics")), quantity("frame_jacobian")
    flat = [
        (arm.folded([tau]), "no two limbs"),
        (robot.folded([Request(jacobian, "limb0_0", cf.LOCAL)]), "hangs on one limb"),
        (Preparation(limbed_robot(2), [cf.Parameters()]).folded([tau]), "at run time"),
        (robot.folded([Request(quantity("mass_matrix_inverse"))]), "no algorithm that folds"),
    ]
    for (program, lanes), words in flat:
        assert program is None and not lanes
        assert words in lanes.reason and words in str(lanes)


robots = st.builds(limbed_robot, st.integers(0, 10_000), st.booleans(), st.booleans(),
                   st.booleans(), st.booleans(), st.booleans())


@pytest.mark.parametrize("name, algorithm", FOLDING, ids=[
    f"{name}-{algorithm.__module__.split('.')[-1]}" for name, algorithm in FOLDING])
def test_every_algorithm_that_folds_is_its_definition(name, algorithm):
    assert_folded_is_the_definition(limbed_robot(4, odd=False), name, algorithm)


def try_a_row_that_folds(robot, number, wrenches):
    name, algorithm = FOLDING[number % len(FOLDING)]
    row = quantity(name)
    if applies(algorithm, robot) and folds_for(robot, row):
        assert_folded_is_the_definition(robot, name, algorithm, wrenches and row.wrenches)


@settings(max_examples=40, deadline=None)
@given(robots, st.integers(0, 10_000), st.booleans())
def test_what_folds_is_its_definition_for_random_robots(robot, number, wrenches):
    try_a_row_that_folds(robot, number, wrenches)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(robots, st.integers(0, 10_000), st.booleans())
def test_what_folds_is_its_definition_for_many_random_robots(robot, number, wrenches):
    try_a_row_that_folds(robot, number, wrenches)


def roots_of_equal_legs():
    """Limbs on the world itself, without a trunk."""
    joints = (cf.Revolute((0, 0, 1)), cf.Revolute((0, 1, 0), (0.1, 0, 0.2)))
    return cf.Robot("legs", [
        cf.Body(f"leg{i}{k}", f"leg{i}0" if k else None, joint, pose(None, (0.3 * k, 0.4 * i, 0.1)),
                cf.Inertia(1.0 + i, (0.1, 0.2, 0.05), np.diag([0.02, 0.03, 0.04])))
        for i in range(2) for k, joint in enumerate(joints)])


def hands_that_follow():
    """Two arms whose fingers move with the arm, by equal numbers."""
    rod = cf.Inertia(1.0, (0.1, 0, 0), 0.1 * np.eye(3))
    bodies = [cf.Body("trunk", None, cf.Free(), inertia=rod)]
    for i in range(2):
        bodies.append(cf.Body(f"arm{i}", "trunk", cf.Revolute((0, 0, 1), rotor_inertia=0.2),
                              pose(None, (0.5, i - 0.5, 0)), rod))
        for j in range(2):
            turn = cf.Revolute((1, 0, 0), rotor_inertia=0.3, stiffness=2.0)
            bodies.append(cf.Body(f"finger{i}{j}", f"arm{i}", cf.Mimic(turn, f"arm{i}", 0.7),
                                  pose(None, (0, 0, 0.1 * j + 0.2)), rod))
    return cf.Robot("hands", bodies)


@pytest.mark.parametrize("name, algorithm", FOLDING, ids=[
    f"{name}-{algorithm.__module__.split('.')[-1]}" for name, algorithm in FOLDING])
@pytest.mark.parametrize("robot", [roots_of_equal_legs(), hands_that_follow()], ids=str)
def test_sums_reach_the_world_and_drivers(robot, name, algorithm):
    """Wrong once: momenta of legs on the world, and what several mimics give to one driver."""
    if applies(algorithm, robot) and folds_for(robot, quantity(name)):
        assert_folded_is_the_definition(robot, name, algorithm)


def test_an_arm_is_recorded_as_it_is():
    robot = cf.load("panda")
    row, forms = quantity("inverse_dynamics"), Forms(robot)
    folded = FoldedForms(forms).recorded([Request(row)], [newton_euler.inverse_dynamics])
    flat = record(lambda q, v, a: newton_euler.inverse_dynamics(
        forms.base, q + forms.canonical.offset, v, a), forms.shapes(row.inputs), row.name)
    assert folded.digest == flat.digest


def test_a_sum_over_bodies_that_forgets_lanes_is_refused():
    def masses(robot, q, v):
        return sum(body.inertia.array[5] * q[-1] for body in robot.bodies)

    folding = FoldedForms(Forms(limbed_robot(0)))
    with pytest.raises(ArgumentError, match="a sum is missing"):
        folding.recorded([Request(quantity("kinetic_energy"))], [masses])


# ---------------------------------------------------------------------- kernels
@pytest.fixture(scope="module")
def limbed(tmp_path_factory):
    """A robot with limbs in lanes, compiled, and where its code is kept."""
    kept = Cache(tmp_path_factory.mktemp("cache") / "cache")
    return cf.compile(limbed_robot(4, odd=False), cache=kept), kept


def test_a_call_has_limbs_in_lanes_and_agrees_with_the_batch_and_the_definition(limbed):
    arm, _ = limbed
    for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
        kernel = getattr(arm, name)
        given = states(kernel, arm.robot, 20)
        one = np.stack([kernel(*(x[k] for x in given)) for k in range(20)])
        exact = np.stack([getattr(cf, name)(arm.robot, *(x[k] for x in given)) for k in range(20)])
        eps = kernel.operations.total * np.finfo(float).eps
        worst = max(np.linalg.cond(cf.mass_matrix(arm.robot, q)) for q in given[0]) \
            if name == "forward_dynamics" else 1.0
        for other in (kernel(*given), exact):
            np.testing.assert_allclose(one, other, rtol=0, atol=eps * worst * np.abs(exact).max())
        assert kernel.operations.folded.total < kernel.operations.total
        assert kernel.operations == kernel.program.operations
        assert not kernel.program.has_lanes
        assert all(len(group) > 1 for group in kernel.lanes.groups)


def test_every_way_to_call_with_one_state_gives_the_same_bits(limbed):
    arm, _ = limbed
    kernel = arm.inverse_dynamics
    given = [x[0] for x in states(kernel, arm.robot, 1)]
    expected, out = kernel(*given), np.zeros(arm.robot.nv)
    assert kernel(*given, out=out) is out
    native = np.zeros(arm.robot.nv)
    kernel.native.function(*(x.ctypes.data for x in (*given, native)))
    listed = kernel(*(x.tolist() for x in given))
    strided = kernel(*(np.repeat(x, 2)[::2] for x in given))
    few = kernel(*(np.stack([x, x]) for x in given))[1]
    travelled = pickle.loads(pickle.dumps(kernel))(*given)
    for found in (out, native, listed, strided, few, travelled):
        np.testing.assert_array_equal(found, expected)
    single = kernel(*(x.astype(np.float32) for x in given))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-3 * np.abs(expected).max())


def test_threads_do_not_change_what_a_batch_says(limbed):
    arm, _ = limbed
    kernel = arm.inverse_dynamics
    given = states(kernel, arm.robot, 2000)
    np.testing.assert_array_equal(kernel(*given, threads=3), kernel(*given, threads=1))


def test_wrenches_and_gravity_at_run_time_fold_too(limbed):
    arm, _ = limbed
    robot, row = arm.robot, quantity("inverse_dynamics")
    loaded = arm.kernel([Request(row)], wrenches=True)
    assert loaded.lanes
    q, v, a, F = (x[0] for x in states(loaded, robot, 1))
    expected = cf.inverse_dynamics(robot, q, v, a, wrenches=F)
    np.testing.assert_allclose(arm.inverse_dynamics(q, v, a, wrenches=F), expected, rtol=0,
                               atol=1e-12 * np.abs(expected).max())
    light = cf.compile(robot, inputs=cf.Gravity(), cache=Cache(None)).inverse_dynamics
    assert light.lanes
    gravity = np.array([1.0, 2.0, 3.0])
    expected = cf.inverse_dynamics(robot.with_gravity(gravity), q, v, a)
    np.testing.assert_allclose(light(q, v, a, gravity), expected, rtol=0,
                               atol=1e-12 * np.abs(expected).max())


def test_a_fused_kernel_folds_and_keeps_what_is_asked_for(limbed):
    arm, kept = limbed
    both = cf.fuse(arm.robot, ["mass_matrix", "gravity_torque"], cache=kept)
    q = arm.robot.random(3)
    assert both.lanes and both.operations.folded.total < both.operations.total
    np.testing.assert_allclose(both(q).mass_matrix, arm.mass_matrix(q), rtol=0, atol=1e-13)
    np.testing.assert_allclose(both(q).gravity_torque, arm.gravity_torque(q), rtol=0, atol=1e-11)
    slopes = cf.fuse(arm.robot, "inverse_dynamics_derivatives", only="dtau_dv", cache=kept)
    given = [x[0] for x in states(slopes, arm.robot, 1)]
    expected = cf.inverse_dynamics_derivatives(arm.robot, *given).dtau_dv
    assert slopes.lanes
    np.testing.assert_allclose(slopes(*given), expected, rtol=0,
                               atol=1e-12 * np.abs(expected).max())


def test_from_the_cache_nothing_is_recorded_again(limbed, monkeypatch):
    arm, kept = limbed
    kernel = arm.inverse_dynamics
    given, flat = states(kernel, arm.robot, 20), kernel.operations

    def recorded(*_, **__):
        raise AssertionError("recorded again")

    monkeypatch.setattr(Preparation, "folded", recorded)
    monkeypatch.setattr(Preparation, "program", recorded)
    again = cf.compile(arm.robot, cache=kept).inverse_dynamics
    one = [x[0] for x in given]
    np.testing.assert_array_equal(again(*one), kernel(*one))
    assert again.lanes == kernel.lanes and again.operations == flat
    assert again.operations.folded == flat.folded and again.program.digest == kernel.program.digest


def test_lanes_that_are_wrong_give_way_to_the_flat_program(monkeypatch):
    robot = limbed_robot(4, odd=False)
    folded = Preparation.folded

    def wrong(self, *args):
        found = folded(self, *args)
        k = next(k for k, x in enumerate(found.program.code) if x.op == "sub")
        code = [x._replace(op="add") if i == k else x for i, x in enumerate(found.program.code)]
        return found._replace(program=replace(found.program, code=tuple(code)))

    monkeypatch.setattr(Preparation, "folded", wrong)
    kernel = cf.compile(robot, cache=Cache(None)).mass_matrix
    assert not kernel.lanes and "too far from the definition" in kernel.lanes.reason
    q = robot.random(2)
    np.testing.assert_allclose(kernel(q), cf.mass_matrix(robot, q), rtol=0, atol=1e-12)


def test_a_robot_without_equal_limbs_has_the_count_it_had():
    kernel = cf.compile(cf.load("panda"), cache=Cache(None)).inverse_dynamics
    assert kernel.operations == kernel.program.operations and kernel.operations.folded is None
    assert str(kernel.lanes) == "no lanes: no two limbs have the same joints"


TREES = sorted(urdfs().keys() - {"ur3"})                 # a file without a link


@pytest.mark.parametrize("name", ["solo12", "bolt"])
def test_one_state_a_batch_and_the_definition_agree(name):
    if name not in urdfs():
        pytest.skip("example-robot-data is not installed")
    assert_kernels_agree(loaded(name), ROWS[:4])


@pytest.mark.slow
@pytest.mark.parametrize("name", TREES)
def test_one_state_a_batch_and_the_definition_agree_for_every_tree(name):
    robot = loaded(name)
    assert_kernels_agree(robot, ROWS if robot.nv < 45 else ROWS[:4])
