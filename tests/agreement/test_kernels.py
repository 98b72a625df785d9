"""Every quantity of the catalogue on every backend agrees with its closed form on floats."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings

import closedform as cf
from closedform.applications.compile.kernels import compile
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import At, Request
from closedform.lowerings import lanes, reference
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.store.cache import Cache
from closedform.maths.catalogue import CATALOGUE
from closedform.program.check import check
from random_robots import random_robot, robots, seeds

ARMS = ("planar2r", "ur5", "stanford")
STATES = 19                      # a ragged number: two vectors of eight and a tail
NOWHERE = Cache(None)


def name_of(row):
    return row.name


def request_for(robot, row):
    frame = robot.bodies[-1].name if row.framed else None
    takes_reference = row.framed and row.name != "frame_pose"
    return Request(row, frame, cf.LOCAL_WORLD_ALIGNED if takes_reference else None)


def states(robot, row, count, seed=0):
    """Random arguments, (count, ...) each, in the order of the row's inputs."""
    rng = np.random.default_rng(seed)
    shapes = row.input_shapes(robot)
    values = {name: rng.normal(size=(count, *shape)) for name, shape in shapes.items()}
    for name in {"q", "q0", "q1"} & set(values):
        values[name] = np.stack([robot.random(rng) for _ in range(count)])
    return list(values.values())


def definition_at(robot, request, arguments):
    named = dict(zip(request.row.inputs, arguments, strict=True))
    if request.frame is not None:
        named["frame"] = request.frame
    if request.reference is not None:
        named["reference"] = request.reference
    result = request.row.definition(robot, **named)
    return tuple(result) if request.row.fields else (result,)


def assert_backends_agree(robot, row, count=STATES, single=True):
    request = request_for(robot, row)
    arguments = states(robot, row, count)
    try:
        expected = [definition_at(robot, request, [x[k] for x in arguments]) for k in range(count)]
    except cf.SingularMatrix:
        assert row.name == "operational_space_inertia"    # fewer than six joints
        return
    expected = [np.stack(parts) for parts in zip(*expected, strict=True)]
    program = check(Preparation(robot, (), 1e-9).program([request]))
    kernel = compile_program(program, NOWHERE)
    one = [x[0] for x in arguments]
    condition = worst_condition(robot, request, arguments, expected)
    tolerance = rounding(program, robot, np.float64) * condition
    compare(reference.run(program, *one), [x[0] for x in expected], tolerance)
    compare(results(kernel(*one)), [x[0] for x in expected], tolerance)
    compare(results(kernel(*arguments)), expected, tolerance)
    compare(results(lanes.run(program, *arguments)), expected, tolerance)
    if single:
        rounded = [x.astype(np.float32) for x in arguments]
        exact = results(kernel(*[x.astype(np.float64) for x in rounded]))
        assert all(x.dtype == np.float32 for x in results(kernel(*rounded)))
        compare(results(kernel(*rounded)), exact, rounding(program, robot, np.float32) * condition)


POSE = 60
"""Operations of the closed form, for each body, that no program need have: its constant pose."""


def rounding(program, robot, kind):
    """What one rounding error in every operation may add up to, of numbers of size one."""
    count = program.operations
    return (count.total + count.trig + POSE * len(robot.bodies)) * np.finfo(kind).eps


def worst_condition(robot, request, arguments, expected):
    """By how much solving may magnify errors: the condition of the matrix that is solved with."""
    name = request.row.name
    if name.startswith(("forward_dynamics", "operational_space_mobility", "mass_matrix_inverse")):
        return max(np.linalg.cond(cf.mass_matrix(robot, q)) for q in arguments[0])
    if name == "operational_space_inertia":
        return max(np.linalg.cond(x) for x in expected[0])
    return 1.0


def results(value):
    return list(value) if isinstance(value, tuple) else [value]


def compare(actual, expected, tolerance):
    assert len(actual) == len(expected)
    for x, y in zip(actual, expected, strict=True):
        size = np.abs(y).max(initial=1.0)
        np.testing.assert_allclose(x, y, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("row", CATALOGUE, ids=name_of)
def test_every_backend_agrees_with_the_closed_form(row, name):
    assert_backends_agree(cf.load(name), row)


HUMANOID = ("poses", "frame_pose", "frame_jacobian", "center_of_mass", "com_jacobian",
            "mass_matrix", "christoffel_coriolis_matrix", "coriolis_matrix", "gravity_torque",
            "bias", "inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives",
            "momentum")


@pytest.mark.parametrize("row", [r for r in CATALOGUE if r.name in HUMANOID], ids=name_of)
def test_every_backend_agrees_on_the_humanoid(row):
    assert_backends_agree(cf.load("humanoid25"), row, 3, single=row.name == "inverse_dynamics")


@pytest.mark.slow
@pytest.mark.parametrize("row", [r for r in CATALOGUE if r.name not in HUMANOID], ids=name_of)
def test_every_backend_agrees_on_all_of_the_humanoid(row):
    assert_backends_agree(cf.load("humanoid25"), row, 3, single=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "iiwa14", "panda", "rx90"])
@pytest.mark.parametrize("row", CATALOGUE, ids=name_of)
def test_every_backend_agrees_on_more_arms(row, name):
    assert_backends_agree(cf.load(name), row)


FAST = [r for r in CATALOGUE
        if r.name in ("inverse_dynamics", "mass_matrix", "forward_dynamics", "coriolis_matrix",
                      "christoffel_coriolis_matrix", "frame_jacobian", "center_of_mass")]


@pytest.mark.parametrize("row", FAST, ids=name_of)
@settings(max_examples=8)
@given(robot=robots(most=5), seed=seeds)
def test_kernels_of_random_trees_agree_with_the_closed_form(row, robot, seed):
    request = request_for(robot, row)
    if robot.nv == 0:
        return
    arguments = states(robot, row, 3, seed)
    expected = np.stack([definition_at(robot, request, [x[k] for x in arguments])[0]
                         for k in range(3)])
    program = Preparation(robot, (), 1e-9).program([request])
    condition = worst_condition(robot, request, arguments, [expected])
    tolerance = rounding(program, robot, np.float64) * condition
    compare([compile_program(program, NOWHERE)(*arguments)], [expected], tolerance)


def test_wrenches_are_loads_on_the_users_bodies_in_their_frames():
    robot = random_robot(6, bodies=6)
    arm = compile(robot, cache=NOWHERE)
    rng = np.random.default_rng(1)
    F = rng.normal(size=(5, len(robot.bodies), 6))
    q = np.stack([robot.random(rng) for _ in range(5)])
    v, a = rng.normal(size=(2, 5, robot.nv))
    for k in range(5):
        expected = cf.inverse_dynamics(robot, q[k], v[k], a[k], F[k])
        np.testing.assert_allclose(arm.inverse_dynamics(q[k], v[k], a[k], wrenches=F[k]), expected,
                                   atol=1e-10)
        np.testing.assert_allclose(arm.inverse_dynamics(q[k], v[k], a[k], F[k]), expected,
                                   atol=1e-10)
    tau = arm.inverse_dynamics(q, v, a, wrenches=F)
    np.testing.assert_allclose(arm.forward_dynamics(q, v, tau, wrenches=F), a, atol=1e-8)


def test_fused_kernels_share_and_return_a_named_tuple():
    robot = cf.load("ur5")
    names = ["mass_matrix", "coriolis_matrix", "gravity_torque"]
    both = compile(robot, names, cache=NOWHERE)
    apart = [compile(robot, name, cache=NOWHERE).operations.total for name in names]
    assert both.operations.total < sum(apart)
    q, v = robot.random(1), np.arange(6.0)
    result = both(q, v)
    assert result._fields == tuple(names)
    np.testing.assert_allclose(result.coriolis_matrix, cf.coriolis_matrix(robot, q, v), atol=1e-9)
    np.testing.assert_allclose(result.gravity_torque, cf.gravity_torque(robot, q), atol=1e-9)
    frames = compile(robot, [At("frame_pose", "ee_link"), "mass_matrix"], cache=NOWHERE)
    np.testing.assert_allclose(frames(q).frame_pose, cf.frame_pose(robot, q, "ee_link"), atol=1e-9)


def test_frame_quantities_take_a_frame_and_a_reference():
    robot = cf.load("panda")
    arm = compile(robot, cache=NOWHERE)
    q = robot.random(2)
    for reference_ in cf.Reference:
        np.testing.assert_allclose(arm.frame_jacobian(q, "panda_hand", reference_),
                                   cf.frame_jacobian(robot, q, "panda_hand", reference_),
                                   atol=1e-10)
    np.testing.assert_allclose(arm.frame_jacobian(q, frame="panda_hand"),
                               cf.frame_jacobian(robot, q, "panda_hand"), atol=1e-10)
    assert arm.frame_pose.at("panda_hand").operations.total > 0
    with pytest.raises(cf.UnknownName, match="no frame or body 'paw'"):
        arm.frame_pose(q, "paw")
    with pytest.raises(cf.ArgumentError, match="frame is missing"):
        arm.frame_pose(q)


@pytest.mark.parametrize(("wrong", "message"), [
    ({"quantities": 3}, "quantities must be names of quantities"),
    ({"inputs": 3}, "inputs must be cf.Parameters"),
    ({"inputs": [cf.Gravity]}, "inputs must be cf.Parameters"),
    ({"snap": "x"}, "snap must be a number"),
    ({"snap": float("nan")}, "snap must be a number"),
    ({"cache": "/tmp"}, "cache must be a Cache"),
])
def test_compile_names_what_it_cannot_use(wrong, message):
    with pytest.raises(cf.ArgumentError, match=message):
        compile(cf.load("planar2r"), **wrong)


def test_symbols_anywhere_in_the_robot_are_refused_by_compile():
    g = sympy.Symbol("g")
    for joint, gravity in ((cf.Revolute((0, 0, 1)), (0, 0, -g)),
                           (cf.Revolute((0, 0, 1), point=(g, 0, 0)), (0, 0, 0)),
                           (cf.Revolute((0, 0, 1), rotor_inertia=g), (0, 0, 0))):
        with pytest.raises(cf.ArgumentError, match="holds symbols"):
            compile(cf.Robot("r", [cf.Body("a", None, joint)], gravity), cache=NOWHERE)


def test_only_the_outputs_named_are_computed():
    robot = cf.load("ur5")
    whole = compile(robot, "inverse_dynamics_derivatives", cache=NOWHERE)
    part = compile(robot, "inverse_dynamics_derivatives", only=["dtau_dv"], cache=NOWHERE)
    assert part.operations.total < whole.operations.total
    q, v, a = robot.random(1), np.arange(6.0), np.ones(6)
    np.testing.assert_allclose(part(q, v, a), whole(q, v, a).dtau_dv, atol=1e-10)
    with pytest.raises(cf.ArgumentError, match=r"no output 'dtau_dw' of inv.*; did you mean"):
        compile(robot, "inverse_dynamics_derivatives", only=["dtau_dw"], cache=NOWHERE)
    with pytest.raises(cf.ArgumentError, match="needs the quantities"):
        compile(robot, only=["dtau_dq"])
