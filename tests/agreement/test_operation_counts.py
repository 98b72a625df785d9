"""Operation counts of compiled quantities: free of noise, and not to rise."""

import warnings

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.maths.algorithms.newton_euler import inverse_dynamics
from closedform.maths.canonical.frames import canonical
from closedform.maths.canonical.regrouping import regrouped
from closedform.maths.canonical.snapping import snapped
from closedform.maths.catalogue import quantity
from closedform.program.record import record
from example_urdfs import FILES
from operation_counts import ARMS, HUMANOIDS, ROWS, allowed
from operation_counts import operations as counted

LONG = frozenset({
    "time_derivatives", "state_derivatives", "forward_dynamics_derivatives", "christoffel_symbols",
    "inverse_dynamics_second_derivatives", "parameter_derivatives", "forward_dynamics_jvp",
    "forward_dynamics_vjp"})
"""Rows that take seconds to record: in every run they are counted on one arm."""
ON_HUMANOIDS = frozenset({
    "poses", "frame_jacobian", "center_of_mass", "mass_matrix", "gravity_torque", "bias",
    "inverse_dynamics", "forward_dynamics", "coriolis_matrix", "christoffel_coriolis_matrix",
    "inverse_dynamics_and_derivatives"})
"""Rows that are counted on humanoids in every run."""


def fast(row, name):
    if name in HUMANOIDS:
        return row in ON_HUMANOIDS
    return name == "ur5" or row not in LONG


@pytest.mark.parametrize(("row", "name"), [
    pytest.param(row, name, marks=() if fast(row, name) else pytest.mark.slow)
    for name in (*ARMS, *HUMANOIDS) for row in ROWS])
def test_no_count_rises(row, name):
    command = f"python tests/operation_counts.py {row!r}"
    most = allowed().get(row, {}).get(name)
    assert most is not None, f"no figure for {row} of {name}: {command}"
    try:
        count = counted(row, name)
    except LookupError as error:
        pytest.skip(str(error))
    assert count <= most
    if count < most:
        warnings.warn(f"{row} of {name} fell from {most} to {count} operations: {command}",
                      stacklevel=1)


def urdf(name):
    path = next((p for p in FILES if p.name == name), None)
    if path is None:
        pytest.skip("needs the package example-robot-data")
    robot = cf.load(path)
    return robot.reduced({joint: 0.0 for joint in robot.joint_names if "finger" in joint})


def puma_with_general_parameters():
    """The PUMA of Gautier & Khalil's Table I with no parameter at zero."""
    robot = cf.load("puma560")
    return robot.with_parameters(np.random.default_rng(1).uniform(0.5, 1.5, size=60))


def operations(robot, name="inverse_dynamics"):
    return Preparation(robot, (), 1e-9).program([Request(quantity(name))]).operations


@pytest.mark.parametrize(("robot", "most"), [
    (lambda: urdf("ur5_robot.urdf"), 266),
    (lambda: urdf("panda.urdf"), 578),
    (lambda: cf.load("iiwa14"), 545),
    (puma_with_general_parameters, 471),   # OpenSYMORO and SymPyBotics: 301 + 240 = 541
    (lambda: cf.load("puma560"), 322),     # with Armstrong's zeros
    (lambda: cf.load("humanoid25"), 2659),
], ids=["ur5", "panda", "iiwa14", "puma560-general", "puma560", "humanoid25"])
def test_inverse_dynamics_takes_at_most_so_many_operations(robot, most):
    count = operations(robot())
    assert count.total == count.mul + count.add
    assert count.total <= most


@pytest.mark.parametrize("name", ["puma560", "ur5", "iiwa14", "panda", "stanford", "humanoid25"])
def test_canonical_frames_and_regrouped_mass_lower_the_count(name):
    robot = snapped(cf.load(name))[0]
    form = canonical(robot)
    shapes = {"q": (robot.nq,), "v": (robot.nv,), "a": (robot.nv,)}

    def count(robot, offset):
        def tau(q, v, a):
            return inverse_dynamics(robot, q + offset, v, a)
        return record(tau, shapes, name).operations.total

    as_given = count(robot, np.zeros(robot.nq))
    framed = count(form.robot, form.offset)
    grouped = count(regrouped(form.robot), form.offset)
    assert grouped < min(framed, as_given)


def test_fused_quantities_cost_less_than_apart():
    robot = cf.load("panda")
    names = ("mass_matrix", "christoffel_coriolis_matrix", "gravity_torque")
    fused = Preparation(robot, (), 1e-9).program([Request(quantity(n)) for n in names])
    assert fused.operations.total < sum(operations(robot, n).total for n in names)


def test_jets_grow_like_the_square_of_the_order():
    """Third differences of the counts over the order vanish against the counts."""
    robot = cf.load("iiwa14")
    counts = []
    for order in range(5):
        program = Preparation(robot, (), 1e-9, order).program(
            [Request(quantity("inverse_dynamics_jet"))])
        counts.append(program.operations.total)
    assert np.all(np.abs(np.diff(counts, 3)) < 0.02 * counts[-1])
    assert counts[2] <= 4.2 * operations(robot).total
