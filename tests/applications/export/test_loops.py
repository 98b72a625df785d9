"""Robots with closed loops leave with the step that closes them, and derivatives by all of q."""

import json
import sys

import numpy as np
import pytest

import closedform as cf
from closedform.applications.export.targets import TARGETS
from export_tools import check_folder, compile_folder, run
from loop_mechanisms import slider_crank

Y = 0.7


SLOW = ("casadi", "latex", "listing", "sympy")


@pytest.mark.parametrize("target", [
    pytest.param(x, marks=pytest.mark.slow) if x in SLOW else x for x in TARGETS])
def test_every_target_runs_a_four_bar_and_its_closing_step(target, tmp_path):
    cf.export(cf.load("four_bar"), "inverse_dynamics", target, tmp_path)
    told = check_folder(tmp_path, target)
    assert told.count("passed ") == 2 and "all passed" in told and "four_bar_loop_step" in told


MAIN = """\
#include <math.h>
#include <stdio.h>
#include "four_bar_inverse_dynamics.h"
#include "four_bar_loop_step.h"

int main(void)
{
    double q[3] = {0.7, 0.0, 1.5}, next[3], v = 1.3, a = -0.4, tau;
    for (int k = 0; k < 10; ++k) {
        four_bar_loop_step(q, next);
        for (int i = 0; i < 3; ++i) q[i] = next[i];
    }
    four_bar_inverse_dynamics(q, &v, &a, &tau);
    printf("%.17g %.17g %.17g\\n", q[1], q[2], tau);
    return 0;
}
"""


def test_exported_steps_close_the_loop_for_the_exported_torque(tmp_path):
    """The published numbers of closed_loops.md, from C alone."""
    cf.export(cf.load("four_bar"), "inverse_dynamics", "c", tmp_path)
    (tmp_path / "test_vectors.c").write_text(MAIN)
    compile_folder(tmp_path)
    found = [float(x) for x in run(["./check"], tmp_path).split()]
    expected = [-0.12888437608325803, 1.636800115785805, 2.3445056936048685]
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_headers_say_what_is_independent_and_what_is_to_be_closed(tmp_path):
    cf.export(cf.load("four_bar"), "mass_matrix", "c", tmp_path)
    told = (tmp_path / "four_bar_mass_matrix.h").read_text()
    assert "in the order of q: crank, coupler, rocker" in told
    assert "Independent, in the order of v: crank" in told and "loop_step" in told


def test_the_step_is_checked_at_open_loops_and_left_out_where_it_is_asked_for(tmp_path):
    files = cf.export(slider_crank(), ["loop_step", "mass_matrix"], "python", tmp_path)
    assert sum("loop_step" in x.name for x in files) == 2
    sys.path.insert(0, str(tmp_path))
    try:
        from slider_crank_loop_step import slider_crank_loop_step as step
    finally:
        sys.path.remove(str(tmp_path))
    told = json.loads((tmp_path / "slider_crank_loop_step_vectors.json").read_text())
    q = np.reshape(told["inputs"][0], (-1, slider_crank().nq))
    gaps = [np.abs(cf.loop_residual(slider_crank(), x)).max() for x in q]
    after = [np.abs(cf.loop_residual(slider_crank(), x)).max() for x in np.asarray(step(q))]
    assert min(gaps) > 1e-4 and max(after) < 0.3 * min(gaps)


def test_affine_loops_are_closed_by_one_exported_step_from_anywhere():
    robot = cf.load("palletiser")
    q = robot.random(3)
    moved = q + np.where(np.isin(np.arange(10), (0, 1, 4, 8)), 0.0, 0.7)
    np.testing.assert_allclose(cf.loop_step(robot, moved), q, atol=1e-12)


def test_derivatives_in_jax_are_by_all_coordinates_of_the_tree(tmp_path):
    jax = pytest.importorskip("jax")
    robot = cf.load("four_bar")
    cf.export(robot, "inverse_dynamics", "jax", tmp_path)
    scope = {}
    exec((tmp_path / "four_bar_inverse_dynamics_jax.py").read_text(), scope)
    with jax.enable_x64(True):
        q, v, a = robot.closed([Y]), np.array([1.3]), np.array([-0.4])
        by_q = np.asarray(jax.jacobian(scope["four_bar_inverse_dynamics"])(q, v, a))
    whole = by_q @ cf.loop_embedding(robot, q) + 0 * v
    slopes = cf.inverse_dynamics_derivatives(robot, q, v, a)
    assert by_q.shape == (1, 3)
    np.testing.assert_allclose(whole, slopes.dtau_dq, atol=1e-10)


def test_kernels_differentiate_by_all_coordinates_of_the_tree():
    robot = cf.load("four_bar")
    kernel, q = cf.compile(robot).inverse_dynamics, robot.closed([Y])
    given = q, np.array([1.3]), np.array([-0.4])
    J = kernel.jacobian("q")(*given)
    assert J.shape == (1, 3)
    np.testing.assert_allclose(J @ cf.loop_embedding(robot, q),
                               cf.inverse_dynamics_derivatives(robot, *given).dtau_dq, atol=1e-10)
    np.testing.assert_allclose(kernel.cotangent("q")(*given, np.ones(1)), J[0], atol=1e-12)


@pytest.mark.parametrize("target", ["sympy", pytest.param("latex", marks=pytest.mark.slow)])
def test_loops_leave_in_symbols_for_masses_with_lengths_in_numbers(target, tmp_path):
    cf.export(cf.load("four_bar"), "mass_matrix", target, tmp_path, symbols=True)
    told = check_folder(tmp_path, target)
    assert "all passed" in told
    text = next(tmp_path.glob("*mass_matrix*.tex" if target == "latex" else "*matrix_sympy.py"))
    assert "m_" in text.read_text() and "l_1" not in text.read_text()
