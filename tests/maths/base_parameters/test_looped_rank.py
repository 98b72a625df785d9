"""Base parameters of robots with loops: counts of the literature, exact where loops are affine."""

from dataclasses import replace

import numpy as np
import pytest

from closedform.maths.base_parameters.base_parameters import base_parameters
from closedform.maths.definitions.closed_form import inverse_dynamics
from closedform.model.formats.dh import from_modified_dh
from closedform.model.inertia import Inertia
from closedform.model.joints import Mimic, Revolute
from closedform.model.loops.records import Loop
from closedform.model.robot import Body, Robot
from closedform.model.zoo.zoo import builtin


@pytest.mark.parametrize(("name", "count"), [
    ("four_bar", 8), ("five_bar", 11), pytest.param("palletiser", 25, marks=pytest.mark.slow),
    pytest.param("ankle", 31, marks=pytest.mark.slow),
    pytest.param("delta", 34, marks=pytest.mark.slow),
    pytest.param("stewart", 82, marks=pytest.mark.slow)])
def test_mechanisms_have_as_many_base_parameters_as_counted_exactly(name, count):
    robot, rng = builtin(name), np.random.default_rng(2)
    found = base_parameters(robot)
    assert found.count == count
    exact = "modulo primes" in found.evidence.method
    assert exact or found.evidence.twin.certified
    assert exact == (name == "palletiser")
    q = robot.integrate(robot.neutral(), 0.1 * rng.normal(size=robot.nv))
    v, a = rng.normal(size=(2, robot.nv))
    tau = inverse_dynamics(robot, q, v, a)
    np.testing.assert_allclose(found.regressor(q, v, a) @ found.values, tau, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(inverse_dynamics(found.robot, q, v, a), tau, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_two_four_bars_over_one_rocker_have_thirteen():
    """Three for each of five planar bars, less one for each pin; an arc of the crank does not tell.
    """
    def bar(name, parent, place):
        T = np.eye(4)
        T[:2, 3] = place
        return Body(name, parent, Revolute((0, 0, 1)), T, Inertia(1, (0.1, 0.02, 0), np.eye(3) / 9))

    robot = Robot("watt", [
        bar("crank", None, (0, 0)), bar("coupler", "crank", (0.15, 0)),
        bar("rocker", None, (0.55, 0)), bar("rod", "rocker", (0.24, 0.07)),
        bar("out", None, (1.0, 0.1))], gravity=(0, -9.81, 0), loops=[
        Loop("one", ("coupler", (0.5, 0, 0)), ("rocker", (0.4, 0, 0)), Revolute((0, 0, 1))),
        Loop("two", ("rod", (0.45, 0, 0)), ("out", (0.35, 0, 0)), Revolute((0, 0, 1)))],
        independent=["crank"],
        guess={"crank": 0.6, "coupler": 0, "rocker": 1.5, "rod": -1, "out": 1.5})
    found = base_parameters(robot)
    assert found.count == 13 and found.evidence.twin.certified


def parallelogram(guess):
    def bar(m, x, zz):
        return Inertia(m, (x, 0.01, 0), np.diag([zz, zz, zz]))

    def at(x):
        T = np.eye(4)
        T[0, 3] = x
        return T
    z = (0, 0, 1)
    return Robot("parallelogram", [
        Body("crank", None, Revolute(z), inertia=bar(1, 0.1, 0.01)),
        Body("coupler", "crank", Revolute(z), at(0.3), bar(2, 0.2, 0.05)),
        Body("rocker", None, Revolute(z), at(0.5), bar(1.5, 0.2, 0.03))], (0, -9.81, 0),
        loops=[Loop("pin", ("coupler", (0.5, 0, 0)), ("rocker", (0.3, 0, 0)), Revolute(z))],
        independent=["crank"], guess=guess)


def test_a_parallelogram_has_three_and_its_other_branch_eight():
    assert base_parameters(parallelogram({"crank": 1, "coupler": -1, "rocker": 1})).count == 3
    other = parallelogram({"crank": 1, "coupler": -2, "rocker": -1.8})
    assert base_parameters(other).count == 8


def sr400(lengths):
    """The robot as affine loops have it: θ3 = π/2 − θ2 + θ7, θ8 = θ2 − θ7."""
    d2, d3, d4, d8, r4 = lengths
    right = np.pi / 2
    table = [(0, 0, 0, 0), (1, -right, d2, 0), (2, 0, d3, 0), (3, -right, d4, r4), (4, right, 0, 0),
             (5, -right, 0, 0), (1, -right, d2, 0), (7, 0, d8, 0)]
    robot = from_modified_dh([{"antecedent": p, "alpha": alpha, "d": d, "r": r}
                              for p, alpha, d, r in table], symbolic_inertias=True)
    bodies = list(robot.bodies)
    for k, ratios, offset in ((2, (-1, 1), right), (7, (1, -1), 0.0)):
        of = dict(zip(("link2", "link7"), ratios, strict=True))
        bodies[k] = replace(bodies[k], joint=Mimic(bodies[k].joint, of=of, offset=offset))
    return Robot("sr400", bodies)


@pytest.mark.slow
def test_the_sr400_has_39_with_symbolic_lengths():
    sympy = pytest.importorskip("sympy")
    found = base_parameters(sr400(sympy.symbols("d2 d3 d4 d8 r4")))
    assert found.count == 39
    told = dict(zip(found.names, found.expressions, strict=True))
    for name, text in {
            "link1.Izz": "ZZ1 + YY2 + YY3 + XX7 + YY8 + d2**2*(m2 + m7 + m8) + (d2**2 + d3**2)*m3 "
                         "+ (d2**2 + d3**2 + d4**2)*(m4 + m5 + m6)",
            "link2.Ixx": "XX2 - YY2 - d3**2*(m3 + m4 + m5 + m6) + XX8 - YY8",
            "link3.mcy": "mY3 + mZ4 + r4*(m4 + m5 + m6) - d8/d3*mX8",
            "link3.Ixx": "XX3 - YY3 + YY4 + 2*r4*mZ4 + (r4**2 - d4**2)*(m4 + m5 + m6) - XX7 + YY7 "
                         "+ d8**2*m8",
            "link3.Iyz": "YZ3 - XZ7 + d8*mZ8",
            "link7.mcx": "mX7 + d8*m8 - d8/d3*mX8", "link8.mcy": "mY8"}.items():
        assert sympy.expand(told[name] - sympy.sympify(text)) == 0
