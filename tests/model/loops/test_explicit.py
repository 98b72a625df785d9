"""Loops in closed form: the same configurations as Newton's steps find, on both branches."""

import numpy as np
import pytest

import closedform as cf
from closedform.model.loops.closing import ClosingPath
from closedform.model.loops.closure import y_index
from closedform.model.loops.explicit import explicit_loops, numbers
from loop_mechanisms import Z, at, bar, bennett, floating_leg, four_bar, slider_crank, stewart


def piston():
    """A slider-crank whose slide is a joint of the tree, cut at the pin."""
    bodies = [cf.Body("crank", None, cf.Revolute(Z), inertia=bar(1, 0.05, 0, 0.01)),
              cf.Body("rod", "crank", cf.Revolute(Z), at(0.1), bar(0.5, 0.15, 0.01, 0.01)),
              cf.Body("piston", None, cf.Prismatic((1, 0, 0)), at(0.05, 0.02), bar(1, 0, 0, 0.1))]
    pin = cf.Loop("pin", ("rod", (0.3, 0, 0)), ("piston", (0, 0, 0)), cf.Revolute(Z))
    return cf.Robot("piston", bodies, (0, -9.81, 0), loops=[pin], independent=["crank"],
                    guess={"crank": 0.8, "rod": -1.0, "piston": 0.3})


def crank_and_rod():
    """A spatial crank whose tip is held by a massless rod, and a gear on top."""
    bodies = [cf.Body("lever", None, cf.Revolute((0, 1, 0)), inertia=bar(1, 0.05, 0, 0.01)),
              cf.Body("crank", None, cf.Revolute(Z), at(0, 0, 0.3), bar(1, 0.1, 0, 0.01)),
              cf.Body("wheel", "crank", cf.Revolute(Z), at(0.1), bar(1, 0.1, 0, 0.01))]
    loops = [cf.Rod("rod", ("lever", (0.2, 0, 0)), ("crank", (0.15, 0.02, 0)), 0.33),
             cf.Gear("belt", {"wheel": 2.0, "crank": 1.0, "lever": -0.5}, 0.1)]
    return cf.Robot("crank_and_rod", bodies, loops=loops, independent=["lever"],
                    guess={"lever": 0.1, "crank": 0.8})


def stewart_by_its_pose():
    robot = stewart()
    guess = {body.name: robot.neutral()[at_] for body, at_, _ in robot.tree.parts}
    return cf.Robot("stewart", robot.bodies, loops=robot.loops, independent=["platform"],
                    guess=guess)


MADE = {"four_bar": lambda: cf.load("four_bar"), "five_bar": lambda: cf.load("five_bar"),
        "palletiser": lambda: cf.load("palletiser"), "ankle": lambda: cf.load("ankle"),
        "slider_crank": slider_crank, "piston": piston, "crank_and_rod": crank_and_rod,
        "stewart_by_its_pose": stewart_by_its_pose}
COMPILED = ("four_bar", "slider_crank", "crank_and_rod")
"""Whose programs are recorded in every run."""


@pytest.fixture(params=MADE, name="robot", scope="module")
def _robot(request):
    return MADE[request.param]()


@pytest.fixture(params=[name if name in COMPILED else pytest.param(name, marks=pytest.mark.slow)
                        for name in MADE], name="compiled", scope="module")
def _compiled(request):
    return MADE[request.param]()


def by_newton(robot, q, y):
    path = ClosingPath(robot.tree, robot.closure, y_index(robot.tree, robot.closure))
    return path.followed(np.atleast_2d(q), np.atleast_2d(y))[0]


def same_places(x, y, tolerance=1e-12):
    return np.abs(np.sin((x - y) / 2)).max() < tolerance


def test_the_closed_form_is_what_newtons_steps_find(robot):
    loops = explicit_loops(robot.tree, robot.closure)
    assert loops is not None
    for seed in range(3):
        q = robot.random(seed)
        y = q[list(loops.index)]
        found = robot.closed(y)
        assert np.array_equal(found[list(loops.index)], y)
        assert same_places(found, by_newton(robot, robot.neutral(), y), 1e-10)
        assert np.abs(cf.loop_residual(robot, found)).max() < 1e-14
        assert same_places(numbers(loops.configuration(y)).astype(float), found, 1e-14)


def test_a_program_of_y_closes_the_loops(compiled):
    loops = explicit_loops(compiled.tree, compiled.closure)
    y = compiled.random(5)[list(loops.index)]
    q = compiled.closed(y)
    assert same_places(cf.compile(compiled).loop_configuration(y), q, 1e-14)
    assert same_places(cf.loop_configuration(compiled, y), q, 1e-14)


def test_quantities_of_y_are_those_of_the_closed_configuration(compiled):
    loops = explicit_loops(compiled.tree, compiled.closure)
    v, a = np.random.default_rng(0).normal(size=(2, compiled.nv))
    y = np.stack([compiled.random(seed)[list(loops.index)] for seed in range(4)])
    by_y = cf.compile(compiled, inputs=cf.Independent()).inverse_dynamics
    assert [slot.name for slot in by_y.interface.inputs] == ["y", "v", "a"]
    gears = sum(step.how == "gear" for step in loops.steps)
    if loops.linear is None:                # of what follows no angle is needed
        assert by_y.operations.trig <= 2 * (len(loops.index) + gears)
    wanted = [cf.inverse_dynamics(compiled, q, v, a) for q in compiled.closed(y)]
    assert np.allclose(by_y(y, v, a), wanted, rtol=1e-10, atol=1e-10)


def test_axes_beside_the_origins_of_their_bodies_close_the_same():
    bodies = [cf.Body("crank", None, cf.Revolute(Z, point=(0.1, 0, 0)), at(-0.1)),
              cf.Body("coupler", "crank", cf.Revolute(Z, point=(-0.05, 0.1, 0)), at(0.35, -0.1)),
              cf.Body("rocker", None, cf.Revolute(Z, point=(0, 0.2, 0)), at(0.6, -0.2))]
    pin = cf.Loop("pin", ("coupler", (0.45, 0.1, 0)), ("rocker", (0.4, 0.2, 0)), cf.Revolute(Z))
    robot = cf.Robot("beside", bodies, loops=[pin], independent=["crank"],
                     guess={"crank": 0.7, "coupler": -0.1, "rocker": 1.6})
    assert explicit_loops(robot.tree, robot.closure).branch == {"coupler": "-"}
    assert np.allclose(robot.closed([0.9]), four_bar().closed([0.9]), atol=1e-13)


def test_both_branches_of_a_four_bar_are_told_by_their_signs():
    one = four_bar()
    other = four_bar(guess={"crank": 0.7, "coupler": -2.0, "rocker": -2.0})
    signs = [explicit_loops(r.tree, r.closure).branch for r in (one, other)]
    assert signs == [{"coupler": "-"}, {"coupler": "+"}]
    for y in np.linspace(-3, 3, 7):
        crossed = one.closed([y], near=other.closed([y - 0.1]))
        assert same_places(crossed, other.closed([y]))
        assert not same_places(crossed, one.closed([y]), 0.1)
        for robot in (one, other):
            assert same_places(robot.closed([y]), by_newton(robot, robot.closed([y - 0.1]), [y]))


@pytest.mark.parametrize("flipped", range(4))
def test_an_ankle_keeps_the_branch_of_each_crank_and_rod(flipped):
    robot = cf.load("ankle")
    loops, y = explicit_loops(robot.tree, robot.closure), np.array([0.1, -0.05])
    signs = list(loops.signs)
    signs[flipped] *= -1
    near = numbers(loops.configuration(y, signs)).astype(float)
    assert np.abs(cf.loop_residual(robot, near)).max() < 1e-14
    assert loops.signs_at(near) == signs and not same_places(near, robot.closed(y), 0.1)
    found = robot.closed(y + 0.01, near=near)
    assert same_places(found, by_newton(robot, near, y + 0.01), 1e-10)


def test_close_to_a_dead_point_the_loop_stays_closed():
    rocker = four_bar(independent=["rocker"])
    reach, d, r = 0.7, 0.6, 0.4                           # crank and coupler in line
    end = np.pi - np.arccos((d**2 + r**2 - reach**2) / (2 * d * r))
    for gap in (1e-3, 1e-6, 1e-9, 1e-12):
        q = rocker.closed([end + gap])
        assert np.abs(cf.loop_residual(rocker, q)).max() < 1e-14
    with pytest.raises((cf.OpenLoop, cf.SingularLoop), match="'pin'"):
        rocker.closed([end - 1e-3])


def test_a_crank_may_turn_many_times():
    robot = four_bar()
    q = robot.neutral()
    for y in np.arange(0.7, 20, 0.5):
        q = robot.closed([y], near=q)
        assert abs(q[0] - y) < 1e-15 and np.abs(cf.loop_residual(robot, q)).max() < 1e-14
    assert abs(q[1] + q[0] - robot.neutral()[:2].sum()) < np.pi      # unwound with the crank


def test_derivatives_by_y_are_those_along_the_loop():
    robot = four_bar()
    kernel = cf.compile(robot).loop_configuration
    y, h = np.array([1.1]), 1e-30
    slope = np.imag(cf.loop_configuration(robot, y + 1j * h)) / h
    assert np.allclose(slope, cf.loop_embedding(robot, robot.closed(y))[:, 0], rtol=1e-12)
    assert np.allclose(kernel.jacobian("y")(y)[:, 0], slope, rtol=1e-12)


@pytest.mark.parametrize("make", [floating_leg, stewart, bennett], ids=lambda f: f.__name__)
def test_implicit_loops_have_no_closed_form_and_say_so(make):
    robot = make()
    assert explicit_loops(robot.tree, robot.closure) is None
    with pytest.raises(cf.ArgumentError, match=r"no closed form; robot\.closed"):
        cf.compile(robot, inputs=cf.Independent())
    with pytest.raises(cf.ArgumentError, match="no closed form"):
        cf.loop_configuration(robot, robot.neutral()[y_index(robot.tree, robot.closure)])


def test_a_robot_without_loops_has_no_y():
    with pytest.raises(cf.ArgumentError, match="has no loops"):
        cf.compile(cf.load("panda"), inputs=cf.Independent())
