"""Forces in loops and torques of motors; the rows of robots with loops, compiled; simulation."""

from dataclasses import replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.requests import Request
from closedform.maths.catalogue import quantity
from closedform.maths.embedding import embedding
from closedform.maths.loops.catalogue import LOOP_CATALOGUE, OPEN
from loop_mechanisms import (
    BARS,
    at,
    bennett,
    delta,
    five_bar,
    floating_leg,
    four_bar,
    palletiser,
    stewart,
)

ESSENTIAL = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives",
             "inverse_dynamics_jet")


def test_motors_elsewhere_do_the_power_of_the_independent_joints():
    robot = four_bar(actuated=["rocker"])
    q, v, a = robot.closed([0.9]), np.array([1.3]), np.array([-0.4])
    tau = cf.inverse_dynamics(robot, q, v, a)
    motor = cf.actuator_torque(robot, q, tau)
    speed = embedding(robot).rates(q, [v])[0][2]
    assert motor.shape == (1,) and motor * speed == pytest.approx(tau * v)


def test_more_motors_than_needed_share_the_torque_with_the_least_norm():
    robot = four_bar(actuated=["crank", "rocker"])
    q, tau = robot.closed([0.9]), np.array([2.0])
    G_a = cf.loop_embedding(robot, q)[[0, 2]]
    motor = cf.actuator_torque(robot, q, tau)
    assert np.allclose(G_a.T @ motor, tau)
    assert np.allclose(motor, np.linalg.pinv(G_a.T) @ tau)


def test_too_few_motors_are_refused():
    robot = five_bar(actuated=["a1"])
    with pytest.raises(cf.ArgumentError, match="1 motors cannot do what 2"):
        cf.actuator_torque(robot, robot.neutral(), [1.0, 2.0])


def test_a_wrench_on_a_body_is_felt_by_its_power():
    robot = four_bar()
    q, v = robot.closed([0.9]), np.array([1.0])
    F = np.random.default_rng(0).normal(size=(3, 6))
    load = cf.inverse_dynamics(robot, q, v, [0.0]) - cf.inverse_dynamics(robot, q, v, [0.0], F)
    assert load @ v == pytest.approx(np.sum(F * cf.body_velocities(robot, q, v)))


@pytest.mark.parametrize("make", [
    four_bar, *(pytest.param(make, marks=pytest.mark.slow) for make in (
        bennett, floating_leg, lambda: palletiser("loop")))])
def test_kernels_compute_what_the_functions_do_for_one_state_and_for_many(make):
    robot = make()
    arm, rng = cf.compile(robot), np.random.default_rng(0)
    qs = np.stack([robot.random(seed) for seed in range(3)])
    rows = [*(x for x in cf.CATALOGUE if x.name in ESSENTIAL),
            *(x for x in LOOP_CATALOGUE if "y" not in x.inputs)]      # tested with explicit loops
    for row in rows[:5 if robot.nv > 5 else None]:
        given = {"q": qs, "v": rng.normal(size=(3, robot.nv)), "a": rng.normal(size=(3, robot.nv)),
                 "tau": rng.normal(size=(3, robot.nv)), "rates": rng.normal(size=(3, 4, robot.nv))}
        given = {name: given[name] for name in row.inputs}
        found = getattr(arm, row.name)(**given)
        for k in range(3):
            one = row.definition(robot, **{name: x[k] for name, x in given.items()})
            pairs = zip(found, one, strict=True) if isinstance(found, tuple) else [(found, one)]
            for x, y in pairs:
                size = max(1, np.abs(y).max())
                assert np.allclose(x[k], y, rtol=1e-8, atol=1e-8 * size), row.name


@pytest.mark.parametrize(("make", "most"), [
    (four_bar, {"inverse_dynamics": 84, "forward_dynamics": 98, "loop_step": 25}),
    (five_bar, {"inverse_dynamics": 121}),
    pytest.param(delta, {"inverse_dynamics": 2241, "mass_matrix": 1708}, marks=pytest.mark.slow),
    pytest.param(stewart, {"inverse_dynamics": 2063, "forward_dynamics": 4071},
                 marks=pytest.mark.slow)])
def test_torques_take_no_more_operations_than_were_promised(make, most):
    arm = cf.compile(make())
    for name, count in most.items():
        program = arm.program([Request(quantity(name))])
        assert program.operations.total <= count


def test_jax_runs_the_same_source_through_a_loop():
    jax = pytest.importorskip("jax")
    robot = four_bar()
    q, v, a = robot.closed([0.9]), np.array([1.0]), np.array([0.2])
    with jax.enable_x64(True):
        found = jax.jit(lambda q, v, a: cf.inverse_dynamics(robot, q, v, a))(
            *map(jax.numpy.array, (q, v, a)))
    assert np.allclose(found, cf.inverse_dynamics(robot, q, v, a))


def test_parameters_at_run_time_change_a_robot_with_loops():
    robot = four_bar()
    arm = cf.compile(robot, inputs=cf.Parameters())
    q, v, a = robot.closed([0.9]), np.array([1.0]), np.array([0.2])
    heavier = robot.with_parameters(1.5 * robot.parameters)
    found = arm.inverse_dynamics(q, v, a, heavier.parameters)
    assert np.allclose(found, cf.inverse_dynamics(heavier, q, v, a))
    assert np.allclose(cf.regressor(robot, q, v, a) @ heavier.parameters, found)


def test_a_simulation_keeps_its_loops_closed_and_its_energy():
    robot = four_bar()
    run = cf.simulate(robot, robot.neutral(), [0.5], None, np.linspace(0, 1, 11))
    assert max(np.abs(cf.loop_residual(robot, q)).max() for q in run.q) < 1e-12
    assert run.energy_drift < 1e-7


def test_a_linkage_that_moves_by_its_special_lengths_keeps_its_energy_all_the_way():
    robot = bennett()
    run = cf.simulate(robot, (robot.neutral(), [2.0]), None, np.linspace(0, 2, 11),
                      method=cf.RK4(1e-3))
    assert np.ptp(run.q[:, 0]) > 2                     # past where two fixed rows are singular
    assert max(np.abs(cf.loop_residual(robot, q)).max() for q in run.q) < 1e-12
    assert run.energy_drift < 1e-8


def test_a_hundred_thousand_steps_leave_a_loop_closed():
    robot = four_bar()
    run = cf.simulate(robot, (robot.neutral(), [0.5]), None, np.linspace(0, 20, 21),
                      method=cf.RK4(2e-4))
    assert max(np.abs(cf.loop_residual(robot, q)).max() for q in run.q) < 1e-10
    assert run.energy_drift < 1e-9


def test_friction_of_a_dependent_joint_is_felt_at_the_independent_one():
    def rubbing(robot):
        bodies = [cf.Body(b.name, b.parent, cf.Revolute((0, 0, 1), viscous=0.3), b.placement,
                          b.inertia) for b in robot.bodies]
        return cf.Robot("rubbing", bodies, robot.gravity, loops=robot.loops,
                        independent=["crank"], guess=robot.guess)

    robot = rubbing(four_bar())
    q, v = robot.closed([0.9]), np.array([2.0])
    G = cf.loop_embedding(robot, q)
    assert np.allclose(cf.joint_friction(robot, v, q), 0.3 * (G.T @ G @ v))
    with pytest.raises(cf.ArgumentError, match="q must be given"):
        cf.joint_friction(robot, v)


def test_pinocchios_constrained_dynamics_give_the_same_accelerations():
    pin = pytest.importorskip("pinocchio")
    robot = four_bar()
    model = pin.Model()
    model.gravity.linear = robot.gravity
    for body, parent in zip(robot.bodies, robot.parents, strict=True):
        joint = model.addJoint(parent, pin.JointModelRZ(), pin.SE3(body.placement), body.name)
        inertia = body.inertia
        model.appendBodyToJoint(joint, pin.Inertia(
            float(inertia.mass), np.array([*BARS[body.name][1:3], 0.0]),
            np.diag([1e-3, 1e-3, BARS[body.name][3]])), pin.SE3.Identity())
    pin_a, pin_b = pin.SE3.Identity(), pin.SE3.Identity()
    pin_a.translation, pin_b.translation = np.array([0.5, 0, 0]), np.array([0.4, 0, 0])
    constraint = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, 2, pin_a, 3, pin_b,
                                          pin.ReferenceFrame.LOCAL)
    data, models = model.createData(), pin.StdVec_RigidConstraintModel()
    datas = pin.StdVec_RigidConstraintData()
    models.append(constraint)
    datas.append(constraint.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    q, v, tau = robot.closed([1.1]), np.array([1.7]), np.array([0.8])
    settings = pin.ProximalSettings(1e-12, 1e-12, 20)
    whole = np.array([tau[0], 0, 0])
    speed = cf.loop_embedding(robot, q) @ v
    wanted = pin.constraintDynamics(model, data, q, speed, whole, models, datas, settings)
    assert np.allclose(cf.forward_dynamics(robot, q, v, tau), wanted[:1], rtol=1e-8)


def test_kernels_are_right_where_a_row_of_the_loop_does_not_feel_a_joint():
    """A forearm that stands upright moves its pin sideways only: one entry of K_d is zero there."""
    robot, elbow = five_bar(), 0.3 * np.array([np.cos(0.5), np.sin(0.5)])
    way = elbow + np.array([-0.4, 0.45])      # from the other arm's base to the tip
    d = np.hypot(*way)
    b1 = np.arctan2(way[1], way[0]) + np.arccos((d**2 + 0.3**2 - 0.45**2) / (2 * d * 0.3))
    rest = way - 0.3 * np.array([np.cos(b1), np.sin(b1)])
    q = np.array([0.5, np.pi / 2 - 0.5, b1, np.arctan2(rest[1], rest[0]) - b1])
    assert np.abs(cf.loop_residual(robot, q)).max() < 1e-15
    arm, v, a = cf.compile(robot), np.array([1.0, -0.5]), np.array([0.3, 0.4])
    assert np.allclose(arm.mass_matrix(q), cf.mass_matrix(robot, q), rtol=1e-12)
    assert np.allclose(arm.inverse_dynamics(q, v, a), cf.inverse_dynamics(robot, q, v, a),
                       rtol=1e-12)


def test_kernels_refuse_forces_of_a_parallelogram_that_is_folded_flat():
    robot = four_bar(guess={"crank": 0.5, "coupler": -0.5, "rocker": 0.5})
    bodies = [robot.bodies[0], robot.bodies[1], replace(robot.bodies[2], placement=at(0.5))]
    pin = cf.Loop("pin", ("coupler", (0.5, 0, 0)), ("rocker", (0.2, 0, 0)), cf.Revolute((0, 0, 1)))
    arm = cf.compile(cf.Robot("flat", bodies, loops=[pin], guess=robot.guess))
    assert np.all(np.isfinite(arm.loop_forces([0.5, -0.5, 0.5], [1.0], [0.0])))
    with pytest.raises(cf.SingularLoop, match="'pin' of flat lose rank here, where branches meet"):
        arm.loop_forces(np.zeros((2, 3)), np.ones((2, 1)), np.zeros((2, 1)))


def test_kernels_that_take_open_loops_return_numbers_there():
    arm, q = cf.compile(four_bar()), np.array([0.7, 0.2, 1.2])
    for name in OPEN:
        assert np.all(np.isfinite(getattr(arm, name)(q))), name
