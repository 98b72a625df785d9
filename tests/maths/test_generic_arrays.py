"""One source runs on floats, complex numbers, exact rationals, mpmath and SymPy."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy

from closedform import load, mass_matrix
from closedform.errors import SingularMatrix
from closedform.maths.algorithms.applicability import applies
from closedform.maths.catalogue import CATALOGUE
from random_robots import KINDS, random_robot

PLACES = ("q", "q0", "q1")
ROWS = [row for row in CATALOGUE if row.name != "joint_friction"]


def arguments(robot, row, rng):
    values = {name: robot.random(rng) if name in PLACES else rng.normal(size=shape)
              for name, shape in row.input_shapes(robot).items()}
    return {**values, **({"frame": "tool"} if row.framed else {})}


def assert_same(row, result, expected):
    parts = zip(result, expected, strict=True) if row.fields else [(result, expected)]
    for x, y in parts:
        np.testing.assert_allclose(np.asarray(np.real(x), dtype=float), y, rtol=0,
                                   atol=1e-10 * max(1, np.abs(y).max()))


def functions(robot, row):
    return [f for f in (row.definition, *row.algorithms) if applies(f, robot)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_object_arrays_of_mpmath_numbers_give_the_float_result(row):
    small = row.fields or len(row.shape) > 2
    kinds = ("revolute", "mimic", "universal") if small else ("free", "revolute", "mimic", "planar")
    robot = random_robot(6, kinds, bodies=3 if small else 7, spread=1)
    values = arguments(robot, row, np.random.default_rng(1))
    try:
        expected = row.definition(robot, **values)
    except SingularMatrix:
        pytest.fail("the robot of this test moves its tool in all directions")
    exact = {name: np.vectorize(mpmath.mpf, otypes=[object])(value) if name != "frame" else value
             for name, value in values.items()}
    for function in functions(robot, row):
        assert_same(row, function(robot, **exact), expected)


@pytest.mark.parametrize("row", [r for r in ROWS if not r.framed], ids=lambda row: row.name)
def test_complex_numbers_pass_through_every_function(row):
    """The result is analytic: f(x + ih) has the real part of f(x) and is not cast to real."""
    robot = random_robot(8, KINDS[:-1], bodies=4)
    values = arguments(robot, row, np.random.default_rng(2))
    expected = row.definition(robot, **values)
    first = row.inputs[0]
    values[first] = values[first] + 1e-30j
    for function in functions(robot, row):
        result = function(robot, **values)
        assert any(np.iscomplexobj(x) for x in (result if row.fields else (result,)))
        assert_same(row, result, expected)


def test_a_symbolic_arm_gives_the_textbook_mass_matrix():
    from closedform.maths.definitions.closed_form import gravity_torque, mass_matrix
    from closedform.model.inertia import Inertia
    from closedform.model.joints import Revolute
    from closedform.model.pose import pose
    from closedform.model.robot import Body, Robot
    m1, m2, l1, l2, g = sympy.symbols("m1 m2 l1 l2 g", positive=True)
    q = np.array(sympy.symbols("q1 q2"))
    robot = Robot("2R", [Body("a", None, Revolute((0, 0, 1)), inertia=Inertia(m1, (l1, 0, 0))),
                         Body("b", "a", Revolute((0, 0, 1)), pose(None, [l1, 0, 0]),
                              Inertia(m2, (l2, 0, 0)))], gravity=(0, -g, 0))
    c2 = sympy.cos(q[1])
    textbook = [[(m1 + m2) * l1**2 + m2 * l2**2 + 2 * m2 * l1 * l2 * c2,
                 m2 * l2**2 + m2 * l1 * l2 * c2], [m2 * l2**2 + m2 * l1 * l2 * c2, m2 * l2**2]]
    M = mass_matrix(robot, q)
    for i, j in np.ndindex(2, 2):
        assert sympy.simplify(sympy.nsimplify(M[i, j] - textbook[i][j])) == 0
    weight = gravity_torque(robot, q)
    assert sympy.simplify(sympy.nsimplify(weight[1] - m2 * g * l2 * sympy.cos(q[0] + q[1]))) == 0


def test_exact_rationals_stay_exact_where_no_sine_is_taken():
    from closedform.maths.definitions.center_of_mass import center_of_mass
    from closedform.model.inertia import Inertia
    from closedform.model.joints import Prismatic
    from closedform.model.robot import Body, Robot
    robot = Robot("slide", [Body("a", None, Prismatic((1, 0, 0)), inertia=Inertia(2, (0, 0, 0)))])
    assert center_of_mass(robot, np.array([Fraction(1, 4)], dtype=object))[0] == Fraction(1, 4)


def test_truth_values_are_the_numbers_0_and_1():
    robot = load("planar2r")
    for q in ([True, False], np.array([True, False])):
        M = mass_matrix(robot, q)
        assert M.dtype == float
        np.testing.assert_array_equal(M, mass_matrix(robot, [1.0, 0.0]))
