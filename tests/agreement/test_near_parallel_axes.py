"""Compiled quantities of robots whose axes are nearly parallel are those of the closed forms.

The foot of the common normal of axes that are a tilt ε from parallel lies d/ε away. Tolerances are
ε · operations · the largest entry of the closed form: of the program, and of what it takes to move
each body's frame and inertia; where M is inverted, times its condition.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import closedform as cf
from closedform.applications.compile.kernels import fuse
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.applications.export.export import export
from closedform.lowerings import lanes
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.store.cache import Cache
from closedform.maths.algorithms import newton_euler
from closedform.maths.canonical.frames import NEARLY, NOISE, ULPS, canonical
from closedform.maths.canonical.regrouping import regrouped
from closedform.maths.catalogue import CATALOGUE, quantity
from closedform.maths.definitions import closed_form
from closedform.maths.quantity import Form
from nearly_parallel_robots import (
    WRITTEN,
    alternating,
    flap,
    nearly_parallel,
    ship,
    three_links,
    tilted,
    turned,
)
from random_robots import random_state, seeds

TILTS = tuple(10.0**k for k in range(-12, -1))
PRECISIONS = (np.float64, np.float32)
STATES = 5
MOVING = 400
"""Operations that move a body's frame and inertia: products of 4x4 and of 3x3 matrices."""
INVERTING = ("forward_dynamics", "forward_dynamics_derivatives", "operational_space_mobility")
DYNAMICS = ("mass_matrix", "inverse_dynamics", "forward_dynamics")


@cache
def prepared(tilt):
    """Three links with one placement off by the tilt, or all of them: every other decade."""
    k = round(np.log10(tilt))
    robot = tilted(three_links(), tilt, seed=-k, only=-k // 2 % 3 if k % 2 else None)
    return robot, Preparation(robot, (), snap=0)


def request_for(robot, row):
    tip = "tool" if "tool" in robot.frame_names else robot.bodies[-1].name
    frame = tip if row.framed else None
    referred = row.framed and row.name != "frame_pose"
    return Request(row, frame, cf.LOCAL_WORLD_ALIGNED if referred else None)


def arguments_of(robot, row, precision, count=STATES):
    rng = np.random.default_rng(7)
    values = {name: rng.normal(size=(count, *shape))
              for name, shape in row.input_shapes(robot).items()}
    if "q" in values:
        values["q"] = np.stack([robot.random(rng) for _ in range(count)])
    return [x.astype(precision) for x in values.values()]


def closed_forms(robot, request, arguments):
    """The outputs of the definition, each (count, ...), in float64."""
    def one(*given):
        named = dict(zip(request.row.inputs, given, strict=True))
        if request.frame is not None:
            named["frame"] = request.frame
        if request.reference is not None:
            named["reference"] = request.reference
        result = request.row.definition(robot, **named)
        return tuple(result) if request.row.fields else (result,)
    states = zip(*[x.astype(np.float64) for x in arguments], strict=True)
    return [np.stack(parts) for parts in zip(*[one(*state) for state in states], strict=True)]


def condition(robot, name, arguments, expected):
    """How much an error of M can grow in what is asked for."""
    if name == "operational_space_inertia":
        return max(np.linalg.cond(x) for x in expected[0])
    if name not in INVERTING:
        return 1.0
    return max(np.linalg.cond(cf.mass_matrix(robot, q)) for q in arguments[0].astype(np.float64))


def assert_closed_form(robot, request, run, operations, precision):
    """The outputs of a way to run a program are those of the closed form to rounding."""
    arguments = arguments_of(robot, request.row, precision)
    expected = closed_forms(robot, request, arguments)
    found = run(*arguments)
    found = found if isinstance(found, tuple) else (found,)
    slack = (operations + MOVING * len(robot.bodies)) * np.finfo(precision).eps
    slack *= condition(robot, request.row.name, arguments, expected)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == precision
        np.testing.assert_allclose(x, y, rtol=0, atol=slack * np.abs(y).max(initial=0.0))


def assert_programs_agree(robot, preparation, row):
    request = request_for(robot, row)
    program = preparation.program([request])
    for precision in PRECISIONS:
        assert_closed_form(robot, request, lanes.over_blocks(program),
                           program.operations.total + program.operations.trig, precision)


@pytest.mark.parametrize("row", [r for r in CATALOGUE if r.name != "operational_space_inertia"],
                         ids=lambda row: row.name)
def test_every_quantity_of_a_tilted_robot_is_its_closed_form(row):
    for tilt in TILTS if row.form is not Form.USER else TILTS[::5]:
        assert_programs_agree(*prepared(tilt), row)


@pytest.mark.parametrize("tilt", [1e-9, 1e-6, 1e-3])
def test_operational_space_inertia_of_a_tilted_arm_is_its_closed_form(tilt):
    robot = tilted(cf.load("ur5"), tilt)
    assert_programs_agree(robot, Preparation(robot, (), 0), quantity("operational_space_inertia"))


@pytest.mark.parametrize("pi", WRITTEN)
@pytest.mark.parametrize("name", DYNAMICS)
def test_pi_may_be_written_with_any_number_of_digits(name, pi):
    robot = three_links(pi=float(pi))
    assert_programs_agree(robot, Preparation(robot), quantity(name))


def kernels_agree(robot, names):
    for name in names:
        request = request_for(robot, quantity(name))
        kernel = compile_program(Preparation(robot).program([request]), Cache(None))
        for precision in PRECISIONS:
            operations = kernel.operations.total + kernel.operations.trig
            assert_closed_form(robot, request, kernel, operations, precision)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("tilt", [1e-12, 1e-7, 1e-4])
def test_tilts_about_one_axis_may_add_up(tilt, axis):
    robot = three_links(turns=((0.5, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))
    turn = np.eye(3)[axis]
    bodies = [replace(b, placement=turned(b.placement, turn, tilt)) for b in robot.bodies]
    robot = cf.Robot("added up", bodies, robot.gravity)
    for name in DYNAMICS:
        assert_programs_agree(robot, Preparation(robot, (), 0), quantity(name))


@pytest.mark.parametrize("inputs", [cf.Parameters(), cf.Gravity(), cf.PayloadAt("wrist_3_link")],
                         ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("tilt", [1e-7, 1e-4])
def test_numbers_that_come_at_run_time_change_nothing(tilt, inputs):
    """The inputs are the robot's own numbers, or no load."""
    robot = tilted(cf.load("ur5"), tilt)
    given = {cf.Parameters: robot.parameters, cf.Gravity: robot.gravity,
             cf.PayloadAt: np.zeros(10)}[type(inputs)]
    for name in DYNAMICS:
        request = request_for(robot, quantity(name))
        kernel = fuse(robot, name, inputs=inputs, cache=Cache(None))
        operations = kernel.operations.total + kernel.operations.trig
        for precision in PRECISIONS:
            assert_closed_form(robot, request, lambda *x, k=kernel, p=precision: k(
                *x, given.astype(p)), operations, precision)


@pytest.mark.parametrize("tilt", [1e-7, 1e-4])
@pytest.mark.parametrize("name", [*DYNAMICS, "christoffel_coriolis_matrix", "center_of_mass"])
def test_exported_functions_are_the_closed_forms(name, tilt, tmp_path):
    robot = tilted(three_links(), tilt)
    export(robot, name, "python", tmp_path)
    (path,) = (x for x in tmp_path.glob(f"*{name}.py"))
    found = {}
    exec(path.read_text(encoding="utf8"), found)
    function, count = found[path.stem], Preparation(robot).program([Request(quantity(name))])
    operations = count.operations.total + count.operations.trig

    def run(*arguments):
        return np.stack([function(*state) for state in zip(*arguments, strict=True)])

    assert_closed_form(robot, Request(quantity(name)), run, operations, np.float64)


@pytest.mark.parametrize("tilt", [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
def test_kernels_of_a_calibrated_arm_are_its_closed_forms(tilt):
    kernels_agree(tilted(cf.load("ur5"), tilt), DYNAMICS)


def test_kernels_of_axes_that_are_nearly_parallel_and_cross_in_turns_are_their_closed_forms():
    kernels_agree(alternating(), (*DYNAMICS, "christoffel_coriolis_matrix", "frame_pose"))


@pytest.mark.parametrize("tilt", [1e-7, 1e-5, 1e-3])
def test_forward_dynamics_of_a_calibrated_arm_solves_its_equation_in_single_precision(tilt):
    """M a + C v + g = τ to rounding, whatever the condition of M."""
    robot = tilted(cf.load("ur5"), tilt)
    row = quantity("forward_dynamics")
    program = Preparation(robot).program([Request(row)])
    q, v, tau = arguments_of(robot, row, np.float32)
    (a,) = lanes.run(program, q, v, tau)
    for state in zip(q, v, tau, a, strict=True):
        q_k, v_k, tau_k, a_k = (x.astype(float) for x in state)
        M, b = cf.mass_matrix(robot, q_k), cf.bias(robot, q_k, v_k)
        size = np.linalg.norm(M) * np.linalg.norm(a_k) + np.linalg.norm(b) + np.linalg.norm(tau_k)
        slack = program.operations.total * np.finfo(np.float32).eps
        assert np.linalg.norm(M @ a_k + b - tau_k) < slack * size


@pytest.mark.parametrize("tilt", [1e-12, 1e-11, 1e-10, 1e-9])
def test_kernels_keep_any_tilt_unless_told(tilt):
    robot = tilted(cf.load("ur5"), tilt)
    arm = cf.compile(robot, cache=Cache(None))
    assert arm.snapped == ()
    for name in DYNAMICS:
        kernel, request = getattr(arm, name), Request(quantity(name))
        operations = kernel.operations.total + kernel.operations.trig
        assert_closed_form(robot, request, kernel, operations, np.float64)


def test_a_tilt_that_is_snapped_is_told_and_moves_results_by_no_more_than_itself():
    for tilt in (1e-12, 1e-11, 1e-10, 5e-10):
        robot = tilted(cf.load("ur5"), tilt)
        arm = cf.compile(robot, snap=1e-9, cache=Cache(None))
        assert len(arm.snapped) == len(robot.bodies)
        q = robot.random(3)
        expected = cf.mass_matrix(robot, q)
        change = np.abs(arm.mass_matrix(q) - expected).max() / np.abs(expected).max()
        assert 1e-2 * tilt < change < 2 * len(robot.bodies) * tilt
    assert cf.compile(tilted(cf.load("ur5"), 2e-8), snap=1e-9).snapped == ()


# ---------------------------------------------------------------------- unequal masses
def scaled_error(M, expected):
    """The largest error of an entry of M next to what the diagonal allows it to be."""
    d = np.sqrt(np.diag(expected))
    return np.abs((M - expected) / np.outer(d, d)).max()


@pytest.mark.parametrize("robot", [
    ship(), flap(), flap((1, 2, 3)), flap((1, 0, 0), cf.Revolute((0, 0, 1))),
    flap((1, 2, 3), cf.Revolute((0, 0.1, 1)))],
    ids=["ship", "flap", "oblique flap", "crossing flap", "oblique flap that is carried round"])
def test_small_parts_of_very_unequal_robots_keep_their_inertia(robot):
    request = Request(quantity("mass_matrix"))
    program = Preparation(robot).program([request])
    count = program.operations.total + MOVING * len(robot.bodies)
    (q,) = arguments_of(robot, request.row, np.float64)
    (M,) = lanes.run(program, q)
    for M_k, q_k in zip(M, q, strict=True):
        error = scaled_error(M_k, cf.mass_matrix(robot, q_k))
        assert error < count * np.finfo(float).eps


@pytest.mark.parametrize("robot", [ship(), flap(), flap((1, 2, 3))],
                         ids=["ship", "flap", "oblique flap"])
def test_forward_dynamics_of_very_unequal_robots_undoes_the_closed_form(robot):
    """Next to the accelerations that gravity, velocities and torques bring about one by one."""
    row = quantity("forward_dynamics")
    program = Preparation(robot).program([Request(row)])
    rng = np.random.default_rng(3)
    q, v, a = robot.random(rng), *rng.normal(size=(2, robot.nv))
    tau, M = newton_euler.inverse_dynamics(robot, q, v, a), cf.mass_matrix(robot, q)
    (found,) = lanes.run(program, q, v, tau)
    d = np.sqrt(np.diag(M))
    parts = M @ a, cf.gravity_torque(robot, q), cf.coriolis_torque(robot, q, v)
    size = np.linalg.norm(np.abs(parts).sum(axis=0) / d) * np.linalg.cond(M / np.outer(d, d))
    slack = (program.operations.total + MOVING * len(robot.bodies)) * np.finfo(float).eps
    assert np.linalg.norm((found - a) * d) < slack * size


# ---------------------------------------------------------------------- any tilt
@given(st.floats(-17, -0.5), seeds)
@example(np.log10(0.99 * NOISE), 1)
@example(np.log10(1.01 * NOISE), 1)
@example(np.log10(0.99 * NEARLY), 2)
@example(np.log10(1.01 * NEARLY), 2)
@example(np.log10(np.sqrt(1.9 * ULPS)), 4)
@example(np.log10(np.sqrt(2.1 * ULPS)), 4)
def test_canonical_frames_and_regrouped_mass_are_exact_for_any_tilt(exponent, seed):
    robot = nearly_parallel(seed, 10.0**exponent)
    form = canonical(robot)
    base = regrouped(form.robot)
    q, v, a = random_state(robot, seed)
    p = q + form.offset
    slack = MOVING * len(robot.bodies) * np.finfo(float).eps

    def close(actual, expected, size=0.0):
        size = max(size, np.abs(expected).max())
        np.testing.assert_allclose(actual, expected, rtol=0, atol=slack * size)

    M = closed_form.mass_matrix(robot, q)
    close(newton_euler.mass_matrix(base, p), M)
    close(newton_euler.inverse_dynamics(base, p, v, a),
          closed_form.inverse_dynamics(robot, q, v, a))
    close(closed_form.coriolis_matrix(form.robot, p, v), closed_form.coriolis_matrix(robot, q, v),
          np.abs(M).max() * np.abs(v).max())
    for name in robot.body_names:
        close(cf.frame_pose(form.robot, p, name), cf.frame_pose(robot, q, name))
