"""Articulated bodies: the inverse of Newton and Euler, and the zeros that free axes make."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.forms import Forms
from closedform.maths.algorithms import articulated, newton_euler
from closedform.program.record import record
from example_urdfs import FILES
from random_robots import random_robot

KINDS = ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical", "planar",
         "free")


def with_rotors(joint, geared):
    inertia = np.zeros(joint.nv)
    inertia[:{"none": 0, "first": 1, "all": joint.nv}[geared]] = 0.3
    return replace(joint, rotor_inertia=tuple(inertia))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geared", ["none", "first", "all"])
def test_it_undoes_inverse_dynamics(kind, geared):
    """Axes are free where no rotor is: none, some or all velocities of a joint may have one."""
    given = random_robot(5, (kind, "revolute"), bodies=4)
    robot = Forms(cf.Robot("r", [replace(b, joint=with_rotors(b.joint, geared))
                                 for b in given.bodies], given.gravity)).base
    rng = np.random.default_rng(0)
    q, (v, a), F = robot.random(rng), rng.normal(size=(2, robot.nv)), rng.normal(
        size=(len(robot.bodies), 6))
    tau = newton_euler.inverse_dynamics(robot, q, v, a, F)
    condition = np.linalg.cond(newton_euler.mass_matrix(robot, q))
    np.testing.assert_allclose(articulated.forward_dynamics(robot, q, v, tau, F), a, rtol=0,
                               atol=1e-14 * condition * np.abs(tau).max())


@pytest.mark.parametrize(("stem", "most"), [("talos_reduced", 7936), ("solo12", 2471)])
def test_free_axes_are_not_computed(stem, most):
    """Counted as recorded, before any rule."""
    path = next((p for p in FILES if p.stem == stem), None)
    if path is None:
        pytest.skip("needs the package example-robot-data")
    forms = Forms(cf.load(path, floating=True))
    robot, offset = forms.base, forms.canonical.offset
    shapes = {"q": (robot.nq,), "v": (robot.nv,), "tau": (robot.nv,)}
    program = record(lambda q, v, tau: articulated.forward_dynamics(robot, q + offset, v, tau),
                     shapes, stem)
    assert program.operations.total <= most
