"""Robots without mass, and unequal ones: one error by name, from functions and kernels alike."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.errors import SingularMatrix

Y, Z, OUT = (0, 1, 0), (0, 0, 1), np.eye(4)
OUT[0, 3] = 0.5
MASS = cf.Inertia(1.0, (0.1, 0, 0), 0.1 * np.eye(3))
SOLVING = ("forward_dynamics", "forward_dynamics_derivatives", "mass_matrix_inverse")
OF_THE_CENTRE = ("center_of_mass", "com_jacobian", "com_jacobian_rate", "com_velocity",
                 "com_acceleration", "momentum", "centroidal_momentum_matrix",
                 "centroidal_dynamics", "centroidal_dynamics_derivatives")


def arm(*inertias, joint=None):
    """Two links, the first on joint `a`."""
    first, second = inertias
    return cf.Robot("arm", [cf.Body("a", None, cf.Revolute(Z), inertia=first),
                            cf.Body("hand", "a", joint or cf.Revolute(Y, name="wrist"), OUT,
                                    second)])


def both(robot, name, *more):
    """The function and the kernel of a quantity, at random arguments."""
    rng = np.random.default_rng(0)
    row = next(row for row in cf.CATALOGUE if row.name == name)
    given = [rng.normal(size=shape) for shape in row.input_shapes(robot).values()]
    yield lambda: getattr(cf, name)(robot, *given, *more)
    yield lambda: getattr(cf.compile(robot), name)(*given, *more)


@pytest.mark.parametrize("name", SOLVING)
def test_a_massless_leaf_is_named_by_functions_and_kernels(name):
    for call in both(arm(MASS, cf.Inertia()), name):
        with pytest.raises(SingularMatrix, match=r"no inertia moves with hand \(joint wrist\)"):
            call()


def test_simulate_says_the_same():
    with pytest.raises(SingularMatrix, match=r"no inertia moves with hand \(joint wrist\)"):
        cf.simulate(arm(MASS, cf.Inertia()), (np.zeros(2), np.zeros(2)), None, [0.0, 0.1])


@pytest.mark.parametrize("name", OF_THE_CENTRE)
def test_robots_without_mass_have_no_centre_of_mass(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in both(arm(cf.Inertia(), cf.Inertia()), name):
            with pytest.raises(SingularMatrix, match="arm has no mass"):
                call()


def test_robots_without_mass_have_kinematics_and_zero_torques():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("poses", "mass_matrix", "inverse_dynamics", "potential_energy"):
            for call in both(arm(cf.Inertia(), cf.Inertia()), name):
                assert np.all(np.isfinite(call()))


def test_a_rotor_is_inertia_enough():
    robot = arm(MASS, cf.Inertia(), joint=cf.Revolute(Y, rotor_inertia=0.1))
    for call in both(robot, "forward_dynamics"):
        assert np.all(np.isfinite(call()))


def test_a_load_that_comes_later_may_make_a_link_heavy():
    kernel = cf.compile(arm(MASS, cf.Inertia()), inputs=cf.PayloadAt("hand")).forward_dynamics
    load = np.array(MASS.array)
    loaded = arm(MASS, cf.Inertia()).with_payload(MASS, "hand")
    state = np.ones((3, 2))
    np.testing.assert_allclose(kernel(*state, load), cf.forward_dynamics(loaded, *state))


def test_two_joints_on_one_line_with_nothing_between_are_refused_where_they_meet():
    bodies = [cf.Body("a", None, cf.Revolute(Z)), cf.Body("b", "a", cf.Revolute(Z), inertia=MASS)]
    for call in both(cf.Robot("twins", bodies), "forward_dynamics"):
        with pytest.raises(SingularMatrix, match="mass matrix of twins is singular"):
            call()


@pytest.mark.parametrize(("mass", "size"), [(1e-6, 1e-4), (1e-9, 1e-5)])
def test_a_flap_on_a_heavy_table_is_solved(mass, size):
    """Scaled by its diagonal M is well conditioned: units are no fault."""
    flap = cf.Inertia(mass, (size, 0, 0), np.eye(3) * mass * size**2 * 1e-4)
    robot = cf.Robot("table", [
        cf.Body("top", None, cf.Prismatic(Z), inertia=cf.Inertia(1000, (0, 0, 0), np.eye(3))),
        cf.Body("flap", "top", cf.Revolute(Y), OUT, flap)])
    q, v, tau = np.array([[0.1, 0.4], [0.2, 0.3], [5.0, 0.0]])
    for a in (cf.forward_dynamics(robot, q, v, tau),
              cf.compile(robot).forward_dynamics(q, v, tau)):
        back = cf.inverse_dynamics(robot, q, v, a)
        scale = np.abs(cf.mass_matrix(robot, q)) @ np.abs(a)
        np.testing.assert_allclose(back, tau, atol=1e-12 * scale.max())


def test_an_arm_on_a_base_of_a_hundred_thousand_tons_keeps_its_inertia():
    ur5 = cf.load("ur5")
    base = cf.Body("ship", None, cf.Free(),
                   inertia=cf.Inertia(1e8, (0, 0, 0), 3e11 * np.eye(3)))
    ship = cf.Robot("ship", [base, *(replace(b, parent=b.parent or "ship") for b in ur5.bodies)])
    q = ship.random(0)
    M, found = cf.mass_matrix(ship, q), cf.compile(ship).mass_matrix(q)
    size = np.sqrt(np.outer(np.diag(M), np.diag(M)))
    assert np.abs((found - M) / size).max() < 1e-14


# ---------------------------------------------------------------------- operational space
STRETCHED = np.array([0.3, -1.0, 1.2, 0.4, 0.0, 0.2])


@pytest.mark.parametrize("q", [STRETCHED, np.stack([STRETCHED + 0.3, STRETCHED])])
def test_kernels_refuse_the_inertia_of_a_frame_at_a_singularity(q):
    arm = cf.compile(cf.load("ur5"))
    with pytest.raises(SingularMatrix, match="'wrist_3_link' in fewer than six"):
        arm.operational_space_inertia(q, "wrist_3_link")
    assert np.all(np.isfinite(arm.operational_space_inertia(STRETCHED + 0.3, "wrist_3_link")))


def test_functions_refuse_it_in_the_same_words():
    with pytest.raises(SingularMatrix, match="'wrist_3_link' in fewer than six"):
        cf.operational_space_inertia(cf.load("ur5"), STRETCHED, "wrist_3_link")


def test_arms_of_few_joints_are_refused_before_anything_is_compiled():
    with pytest.raises(SingularMatrix, match="'link2' in fewer than six"):
        cf.compile(cf.load("planar2r")).operational_space_inertia.at("link2")


def test_a_robot_that_does_not_move_has_empty_derivatives():
    robot = cf.Robot("rock", [cf.Body("b", None, cf.Fixed(), inertia=MASS)])
    for call in both(robot, "forward_dynamics_derivatives"):
        assert [x.shape for x in call()] == [(0, 0)] * 3
