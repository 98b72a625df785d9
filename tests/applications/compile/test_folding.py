"""Limbs in lanes: folded programs against the closed forms."""

import warnings
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.folding import Folding
from closedform.applications.compile.forms import Forms
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.errors import ArgumentError
from closedform.lowerings.reference import run
from closedform.maths.algorithms import articulated, newton_euler
from closedform.maths.algorithms.applicability import may_fold
from closedform.maths.algorithms.own_frames import derivatives, matrices
from closedform.maths.catalogue import quantity
from closedform.model.pose import from_rpy, pose
from closedform.program.check import check
from closedform.program.lanes.unfolded import unfolded
from closedform.program.record import record

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


def random_limbs(seed, mirrored=True):
    """A trunk with two to five equal or mirrored limbs, one of them a bit unlike the others."""
    rng = np.random.default_rng(seed)
    floating = rng.random() < 0.5
    bodies = [cf.Body("trunk", None, cf.Free() if floating else cf.Revolute((0, 1, 0)),
                      inertia=random_inertia(rng))]
    count, length = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    kinds = [rng.choice(["turn", "turn", "slide"]) for _ in range(length)]
    axes = [np.eye(3)[rng.integers(0, 3)] for _ in range(length)]
    shifts, masses = rng.normal(size=(length, 3)), [random_inertia(rng) for _ in range(length)]
    for i in range(count):
        side = np.array([1.0, (-1.0) ** i if mirrored else 1.0, 1.0])
        for k in range(length):
            joint = (cf.Prismatic if kinds[k] == "slide" else cf.Revolute)(tuple(axes[k]))
            turn = from_rpy(0.0, 0.0, 0.7 * i) if k == 0 and not mirrored else np.eye(3)
            inertia, shift = reflected(masses[k], side), side * shifts[k]
            if i == 1 and k == length - 1:
                inertia, shift = random_inertia(rng), shift + 0.1 * rng.normal(size=3)
            bodies.append(cf.Body(f"limb{i}_{k}", f"limb{i}_{k - 1}" if k else "trunk", joint,
                                  pose(turn, shift), inertia))
    return cf.Robot(f"limbs{seed}", bodies)


def random_inertia(rng):
    return cf.Inertia(1.0 + rng.random(), 0.2 * rng.normal(size=3), np.diag([0.5, 0.6, 0.7]))


def reflected(inertia, side):
    E = np.diag(side)
    return cf.Inertia(inertia.mass, E @ inertia.com, E @ inertia.tensor @ E)


def state(robot, row, seed):
    rng = np.random.default_rng(seed)
    return [robot.random(rng) if name == "q" else rng.normal(size=robot.nv) for name in row.inputs]


def assert_folded_is_the_definition(robot, name, algorithm=None):
    row = quantity(name)
    folding = Folding(Forms(robot, (), 1e-9, 2), row.form)
    program = check(folding.recorded(row, algorithm or FOLDED[name]))
    given = state(robot, row, 3)
    expected = row.definition(robot, *given)
    expected = expected if isinstance(expected, tuple) else (expected,)
    eps = np.finfo(float).eps * program.operations.total
    worst = np.linalg.cond(cf.mass_matrix(robot, given[0])) if name == "forward_dynamics" else 1.0
    for lanes in (program, unfolded(program)):
        for found, x in zip(run(lanes, *given), expected, strict=True):
            np.testing.assert_allclose(found, x, rtol=0, atol=eps * worst * np.abs(x).max())
    return folding, program


@pytest.mark.parametrize("name", FOLDED)
@pytest.mark.parametrize("seed", range(6))
def test_folded_is_the_closed_form_for_random_limbs(seed, name):
    assert_folded_is_the_definition(random_limbs(seed, mirrored=seed % 2 == 0), name)


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
    _, program = assert_folded_is_the_definition(from_package(robot), name)
    assert program.operations.total <= most


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "forward_dynamics",
                                  "christoffel_dynamics_matrices"])
def test_limbs_are_put_into_lanes_where_that_takes_fewer_instructions(name):
    robot, requests = random_limbs(2), [Request(quantity(name))]
    preparation = Preparation(robot)
    flat = preparation.program(requests)
    folded = preparation.folded(requests, flat)
    assert folded.issued < flat.issued
    given = state(robot, requests[0].row, 5)
    for x, y in zip(run(check(folded), *given), run(flat, *given), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-11 * np.abs(y).max())


def test_arms_loads_frames_and_several_quantities_stay_flat():
    arm, robot = Preparation(cf.load("panda")), Preparation(random_limbs(2))
    tau, jacobian = Request(quantity("inverse_dynamics")), quantity("frame_jacobian")
    flat = robot.program([tau])
    assert arm.folded([tau], arm.program([tau])) is None
    assert robot.folded([tau], flat, wrenches=True) is None
    assert robot.folded([Request(jacobian, "limb0_0", cf.LOCAL)], flat) is None
    assert robot.folded([tau, Request(quantity("mass_matrix"))], flat) is None
    assert Preparation(random_limbs(2), [cf.Gravity()]).folded([tau], flat) is None


@pytest.mark.parametrize("name", [row.name for row in cf.CATALOGUE
                                  if any(map(may_fold, row.algorithms))])
@pytest.mark.parametrize("seed", range(2))
def test_every_algorithm_that_folds_is_its_definition(seed, name):
    for algorithm in filter(may_fold, quantity(name).algorithms):
        assert_folded_is_the_definition(random_limbs(seed), name, algorithm)


def test_an_arm_is_recorded_as_it_is():
    robot = cf.load("panda")
    row, forms = quantity("inverse_dynamics"), Forms(robot, (), 1e-9, 2)
    folded = Folding(forms).recorded(row, newton_euler.inverse_dynamics)
    flat = record(lambda q, v, a: newton_euler.inverse_dynamics(
        forms.base, q + forms.canonical.offset, v, a), forms.shapes(row.inputs), row.name)
    assert folded.digest == flat.digest


def test_a_sum_over_bodies_that_forgets_lanes_is_refused():
    def masses(robot, q, v):
        return sum(body.inertia.array[5] * q[-1] for body in robot.bodies)

    folding = Folding(Forms(random_limbs(0), (), 1e-9, 2))
    with pytest.raises(ArgumentError, match="a sum is missing"):
        folding.recorded(quantity("kinetic_energy"), masses)
