"""Limbs in lanes: folded programs against the closed forms."""

import warnings
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import closedform as cf
from closedform.applications.compile.folding import FoldedForms
from closedform.applications.compile.forms import Forms
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.applications.compile.states import random_input
from closedform.errors import ArgumentError
from closedform.lowerings.call.trial import MOVING, NEAR
from closedform.lowerings.reference import run
from closedform.maths.algorithms import articulated, newton_euler
from closedform.maths.algorithms.applicability import applies
from closedform.maths.algorithms.own_frames import derivatives, matrices
from closedform.maths.catalogue import quantity
from closedform.maths.quantity import may_fold, takes_base
from closedform.program.check import check
from closedform.program.lanes.unfolded import unfolded
from closedform.program.record import record
from limbed_robots import limbed_robot

FILES = {"solo12": "solo_description/robots/solo12.urdf",
         "anymal": "anymal_b_simple_description/robots/anymal.urdf",
         "talos": "talos_data/robots/talos_reduced.urdf"}
FOLDED = {
    "inverse_dynamics": newton_euler.inverse_dynamics,
    "gravity_torque": newton_euler.gravity_torque,
    "mass_matrix": newton_euler.mass_matrix,
    "forward_dynamics": articulated.forward_dynamics,
    "christoffel_coriolis_matrix": matrices.christoffel_coriolis_matrix,
    "inverse_dynamics_and_derivatives": derivatives.inverse_dynamics_and_derivatives,
}


def from_package(name):
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    folder = Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.ModelWarning)
        return cf.load(folder / FILES[name], floating=True)


def state(robot, program, seed):
    rng = np.random.default_rng(seed)
    return {slot.name: random_input(robot, slot, rng) for slot in program.inputs}


def recorded(robot, row, algorithm, wrenches=False):
    folding = FoldedForms(Forms(robot))
    if takes_base(algorithm):
        algorithm = partial(algorithm, base=int(len(folding.at(row.form).tree[0].bodies) == 1))
    return check(folding.recorded([Request(row)], [algorithm], wrenches))


def assert_folded_is_the_definition(robot, name, algorithm=None, wrenches=False):
    row = quantity(name)
    program = recorded(robot, row, algorithm or FOLDED[name], wrenches)
    given = state(robot, program, 3)
    trial = Preparation(robot).trial([Request(row)], wrenches)
    assert all(np.isfinite(x).all() for x in trial.definition(given).values())
    for lanes in (program, unfolded(program)):
        assert_rounded(trial, lanes, given, run(lanes, *given.values()))
    return program


def assert_rounded(trial, program, given, found):
    """To ε times the operations and the condition of the result, as kernels are tried."""
    expected, near = trial.definition(given), trial.nearby(given)
    work = program.operations.total + program.operations.trig + MOVING * trial.bodies
    for output, x in zip(program.outputs, found, strict=True):
        y = expected[output.name]
        size = np.abs(y).max(initial=0) + np.abs(near[output.name] - y).max(initial=0) / NEAR
        atol = np.finfo(float).eps * (work * size + trial.natural)
        np.testing.assert_allclose(x, y, rtol=0, atol=atol, err_msg=f"{trial.title} {output.name}")


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


FOLDING = [(row.name, algorithm) for row in cf.CATALOGUE
           for algorithm in row.algorithms or (row.definition,) if may_fold(algorithm)]
robots = st.builds(limbed_robot, st.integers(0, 10_000), st.booleans(), st.booleans(),
                   st.booleans(), st.booleans(), st.booleans())


def folds_for(robot, row):
    """Whether there is anything to fold for this row, and no reason against it."""
    return not FoldedForms(Forms(robot)).reason([Request(row)], False)


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
