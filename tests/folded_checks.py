"""Folded programs and kernels against the closed forms, on robots with limbs."""

import warnings
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.folding import FoldedForms
from closedform.applications.compile.forms import Forms
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.applications.compile.states import random_input
from closedform.lowerings.call.trial import MOVING, NEAR
from closedform.lowerings.reference import run
from closedform.lowerings.store.cache import Cache
from closedform.maths.algorithms import articulated, newton_euler
from closedform.maths.algorithms.own_frames import derivatives, matrices
from closedform.maths.catalogue import quantity
from closedform.maths.quantity import may_fold, takes_base
from closedform.program.check import check
from closedform.program.lanes.unfolded import unfolded

FILES = {"solo12": "solo12", "anymal": "anymal", "talos": "talos_reduced"}
FOLDED = {
    "inverse_dynamics": newton_euler.inverse_dynamics,
    "gravity_torque": newton_euler.gravity_torque,
    "mass_matrix": newton_euler.mass_matrix,
    "forward_dynamics": articulated.forward_dynamics,
    "christoffel_coriolis_matrix": matrices.christoffel_coriolis_matrix,
    "inverse_dynamics_and_derivatives": derivatives.inverse_dynamics_and_derivatives,
}
FOLDING = [(row.name, algorithm) for row in cf.CATALOGUE
           for algorithm in row.algorithms or (row.definition,) if may_fold(algorithm)]
ROWS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "christoffel_dynamics_matrices",
        "inverse_dynamics_and_derivatives", "centroidal_dynamics", "kinetic_energy",
        "momentum_regressor", "inverse_dynamics_jet")


def urdfs():
    """The files of example-robot-data by their names."""
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        return {}
    folder = Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    return {path.stem: path for path in sorted(folder.rglob("*.urdf"), reverse=True)}


def loaded(name):
    files = urdfs()
    if name not in files:
        pytest.skip("example-robot-data is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.ModelWarning)
        return cf.load(files[name], floating=True)


def from_package(name):
    return loaded(FILES[name])


def state(robot, program, seed):
    rng = np.random.default_rng(seed)
    return {slot.name: random_input(robot, slot, rng) for slot in program.inputs}


def recorded(robot, row, algorithm, wrenches=False, unlike=False):
    folding = FoldedForms(Forms(robot), unlike)
    assert not unlike or folding.joins([Request(row)], wrenches)
    if takes_base(algorithm):
        algorithm = partial(algorithm, base=int(len(folding.at(row.form).tree[0].bodies) == 1))
    return check(folding.recorded([Request(row)], [algorithm], wrenches))


def assert_folded_is_the_definition(robot, name, algorithm=None, wrenches=False, unlike=False):
    row = quantity(name)
    program = recorded(robot, row, algorithm or FOLDED[name], wrenches, unlike)
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


def folds_for(robot, row):
    """Whether there is anything to fold for this row, and no reason against it."""
    return not FoldedForms(Forms(robot)).reason([Request(row)], False)


def states(kernel, robot, n):
    rng = np.random.default_rng(1)
    return [np.stack([random_input(robot, slot, rng) for _ in range(n)])
            for slot in kernel.interface.inputs]


def assert_kernels_agree(robot, rows):
    """One state, a batch and the definition."""
    arm = cf.compile(robot, cache=Cache(None))
    for name in rows:
        try:
            kernel = getattr(arm, name)
        except cf.SingularMatrix:
            continue
        trial = Preparation(robot).trial([Request(quantity(name))])
        given = states(kernel, robot, 17)
        whole = kernel(*given)
        whole = whole if isinstance(whole, tuple) else (whole,)
        for k in range(2):
            one = kernel(*(x[k] for x in given))
            one = one if isinstance(one, tuple) else (one,)
            named = {s.name: x[k] for s, x in zip(kernel.interface.inputs, given, strict=True)}
            assert_rounded(trial, kernel.program, named, one)
            assert_rounded(trial, kernel.program, named, [x[k] for x in whole])
