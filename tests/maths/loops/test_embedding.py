"""Robots with loops as motions of their trees: laws of mechanics, and references from elsewhere."""

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import closedform as cf
from closedform.maths.embedding import embedding
from loop_mechanisms import (
    ALL,
    BARS,
    five_bar,
    four_bar,
    four_bar_cut_at_the_crank,
    palletiser,
    welded_chain,
)

ROBOTS = {name: make() for name, make in ALL.items()}


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return robot.random(seed), *rng.normal(size=(2, robot.nv))


@pytest.fixture(params=ROBOTS, name="robot")
def _robot(request):
    return ROBOTS[request.param]


# ---------------------------------------------------------------------- laws
def test_the_trees_velocities_keep_the_loops_closed(robot):
    q, v, a = state(robot)
    K, G = cf.loop_jacobian(robot, q), cf.loop_embedding(robot, q)
    assert np.allclose(K @ G, 0, atol=1e-11)
    assert G.shape == (robot.tree.nv, robot.nv) and robot.mobility == robot.nv
    v_hat, a_hat = embedding(robot).rates(q, [v, a])
    assert np.allclose(v_hat, G @ v, rtol=1e-11)
    rate = cf.along(cf.loop_residual, robot.tree, q, np.stack([v_hat, a_hat]))
    assert np.allclose(rate, 0, atol=1e-9 * max(1, np.abs(a_hat).max()))


def test_K_is_the_derivative_of_the_residual_along_every_velocity_of_the_tree(robot):
    q, tree, h = robot.random(1), robot.tree, 1e-6
    K = cf.loop_jacobian(robot, q)
    step = [(cf.loop_residual(robot, tree.integrate(q, h * e))
             - cf.loop_residual(robot, tree.integrate(q, -h * e))) / (2 * h)
            for e in np.eye(tree.nv)]
    assert np.allclose(K, np.stack(step, axis=1), atol=1e-8)


def test_forward_dynamics_undo_inverse_dynamics(robot):
    q, v, a = state(robot)
    tau = cf.inverse_dynamics(robot, q, v, a)
    assert np.allclose(cf.forward_dynamics(robot, q, v, tau), a, rtol=1e-8, atol=1e-8)


def test_both_coriolis_matrices_share_the_rate_of_the_mass_matrix(robot):
    q, v, a = state(robot)
    dM = cf.time_derivatives(robot, q, v, a, a).dM
    for C in (cf.coriolis_matrix(robot, q, v), cf.christoffel_coriolis_matrix(robot, q, v)):
        assert np.allclose(C + C.T, dM, rtol=1e-9, atol=1e-9 * np.abs(dM).max())
        assert np.allclose(C @ v, cf.coriolis_torque(robot, q, v), rtol=1e-8, atol=1e-8)


def test_the_power_of_the_torques_is_the_rate_of_the_energy(robot):
    q, v, a = state(robot)

    def energy(robot, q, v):
        return np.array([cf.kinetic_energy(robot, q, v) + cf.potential_energy(robot, q)],
                        dtype=object)

    rate = cf.along(energy, robot, q, np.stack([v, a]))[1, 0]
    power = cf.inverse_dynamics(robot, q, v, a) @ v
    assert rate == pytest.approx(power, rel=1e-9, abs=1e-8)


def test_the_jet_of_the_torque_is_its_derivative_along_the_motion(robot):
    q, v, a = state(robot)
    rates = np.stack([v, a, 0.3 * v, -0.2 * a])
    jet = cf.inverse_dynamics_jet(robot, q, rates)
    by_series = cf.along(cf.inverse_dynamics, robot, q, rates)
    assert np.allclose(jet, by_series, rtol=1e-7, atol=1e-7 * np.abs(jet).max())


def test_torques_of_the_tree_are_those_of_the_independent_joints_and_of_the_loops(robot):
    q, v, a = state(robot)
    motion = embedding(robot).rates(q, [v, a])
    tree = cf.inverse_dynamics(robot.tree, q, *motion)
    own = np.zeros(robot.tree.nv)
    own[list(robot.closure.independent)] = cf.inverse_dynamics(robot, q, v, a)
    K, force = cf.loop_jacobian(robot, q), cf.loop_forces(robot, q, v, a)
    assert np.allclose(tree, own + K.T @ force, rtol=1e-9, atol=1e-9 * np.abs(tree).max())


def test_a_step_is_closed_and_its_difference_is_the_step(robot):
    q, v, _ = state(robot)
    near = robot.integrate(q, 0.02 * v)
    assert np.abs(cf.loop_residual(robot, near)).max() < 1e-12
    spin = np.array([name == "rod[2]" for name in robot.independent])   # one of a ball's three
    found = robot.difference(q, near) - 0.02 * v
    assert np.abs(found[~spin]).max() < 1e-12 and np.all(np.abs(found[spin]) < 1e-5)
    assert np.allclose(cf.integrate(robot, q, 0.02 * v), near, atol=1e-10)


# ---------------------------------------------------------------------- references
def test_a_four_bar_has_the_numbers_that_were_derived_in_fifty_digits():
    robot = four_bar()
    q = robot.closed([0.7])
    rates = np.array([[1.3], [-0.4], [0.9], [1.1]])
    v, a = rates[:2]
    assert np.allclose(q, (0.7, -0.12888437608325803, 1.636800115785805), rtol=1e-14)
    G, dG = embedding(robot).slope_rates(q, [v])
    assert np.allclose(G[:, 0], (1, -1.3682541284470044, 0.07343438545015692), rtol=1e-14)
    assert np.allclose(dG[:, 0], (0, 0.443062971865995, 0.9845325838161804), rtol=1e-13)
    assert cf.mass_matrix(robot, q)[0, 0] == pytest.approx(0.05028547760237082, rel=1e-13)
    assert cf.gravity_torque(robot, q)[0] == pytest.approx(2.334841851893393, rel=1e-13)
    assert cf.coriolis_matrix(robot, q, v)[0, 0] == pytest.approx(0.022906179040325995, rel=1e-13)
    jet = cf.inverse_dynamics_jet(robot, q, rates)[:, 0]
    assert np.allclose(jet, (2.3445056936048685, -2.8829959919568475, -5.6176684362233065),
                       rtol=1e-13)
    force = cf.loop_forces(robot, q, v, a)
    assert np.allclose(force[:2], (-0.7830432377993036, 8.754861122949743), rtol=1e-13)


def dyad(w, c, b, sign):
    """The angle ψ of |c u(ψ) − w| = b, by the tangent of the half angle of P c + Q s = R."""
    P, Q = w
    R, D = (c * c + P * P + Q * Q - b * b) / (2 * c), P * P + Q * Q
    S = sign * mp.sqrt(D - R * R)
    return mp.atan2((Q * R + P * S) / D, (P * R - Q * S) / D)


def lagrange(places, y, v, a):
    """τ of Lagrange's equations from (mass, izz, com(y), angle(y)) of the bodies, gravity 9.81."""
    n = len(y)

    def mass_matrix(*at):
        M = mp.zeros(n, n)
        for mass, izz, place in places:
            J = mp.zeros(3, n)
            for k in range(n):
                order = tuple(int(i == k) for i in range(n))
                for row in range(3):
                    J[row, k] = mp.diff(lambda *x, row=row, place=place: place(*x)[row], at,
                                        order)
            M += J.T * mp.diag([mass, mass, izz]) * J
        return M

    def by(k, f):
        return mp.diff(f, tuple(y), tuple(int(i == k) for i in range(n)))

    M = mass_matrix(*y)
    dM = [mp.matrix(n, n) for _ in range(n)]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                dM[k][i, j] = by(k, lambda *x, i=i, j=j: mass_matrix(*x)[i, j])
    tau = []
    for i in range(n):
        force = by(i, lambda *x: sum(9.81 * mass * place(*x)[1] for mass, _, place in places))
        for j in range(n):
            force += M[i, j] * a[j]
            for k in range(n):
                force += (dM[k][i, j] - dM[i][j, k] / 2) * v[j] * v[k]
        tau.append(float(force))
    return tau


def put(angle, origin, x, y):
    c, s = mp.cos(angle), mp.sin(angle)
    return origin[0] + c * x - s * y, origin[1] + s * x + c * y, angle


def test_a_four_bar_moves_as_lagranges_equations_in_its_crank_say():
    def rocker(y):
        elbow = put(y, (0, 0), mp.mpf("0.2"), 0)
        return dyad((elbow[0] - mp.mpf("0.6"), elbow[1]), mp.mpf("0.4"), mp.mpf("0.5"), -1)

    def coupler(y):
        elbow, tip = put(y, (0, 0), mp.mpf("0.2"), 0), put(rocker(y), (mp.mpf("0.6"), 0), 0.4, 0)
        return mp.atan2(tip[1] - elbow[1], tip[0] - elbow[0]), elbow

    robot, y, v, a = four_bar(), [1.1], [0.7], [-0.3]
    with mp.workdps(30):
        places = [(m, izz, place) for (m, x, h, izz), place in (
            (BARS["crank"], lambda y: put(y, (0, 0), 0.1, 0)),
            (BARS["coupler"], lambda y: put(*coupler(y), 0.25, 0.03)),
            (BARS["rocker"], lambda y: put(rocker(y), (0.6, 0), 0.2, 0)))]
        assert float(rocker(mp.mpf("0.7"))) == pytest.approx(1.636800115785805)    # the branch
        wanted = lagrange(places, [mp.mpf("1.1")], v, a)
    assert np.allclose(cf.inverse_dynamics(robot, robot.closed(y), v, a), wanted, rtol=1e-11)


@pytest.mark.slow
def test_a_five_bar_moves_as_lagranges_equations_in_its_cranks_say():
    def tips(p, r):
        a = put(p, (0, 0), mp.mpf("0.3"), 0)
        b = put(r, (mp.mpf("0.4"), 0), mp.mpf("0.3"), 0)
        outer = dyad((b[0] - a[0], b[1] - a[1]), mp.mpf("0.45"), mp.mpf("0.45"), 1)
        tip = put(outer, a, mp.mpf("0.45"), 0)
        return a, outer, b, mp.atan2(tip[1] - b[1], tip[0] - b[0])

    robot, y, v, a = five_bar(), [1.9, 1.2], [0.7, -0.4], [-0.3, 0.5]
    q = robot.closed(y)
    with mp.workdps(25):
        assert float(tips(*y)[1]) == pytest.approx(q[0] + q[1])
        places = [(1, 0.01, lambda p, r: put(p, (0, 0), 0.1, 0)),
                  (0.8, 0.02, lambda p, r: put(tips(p, r)[1], tips(p, r)[0], 0.2, 0.01)),
                  (1.1, 0.012, lambda p, r: put(r, (0.4, 0), 0.12, 0)),
                  (0.7, 0.015, lambda p, r: put(tips(p, r)[3], tips(p, r)[2], 0.2, 0))]
        wanted = lagrange(places, [mp.mpf(x) for x in y], v, a)
    assert np.allclose(cf.inverse_dynamics(robot, q, v, a), wanted, rtol=1e-9)


def test_the_torque_is_the_same_wherever_the_loop_is_cut():
    one, other = four_bar(), four_bar_cut_at_the_crank()
    for y, v, a in ((0.7, 1.3, -0.4), (2.4, -0.6, 0.8)):
        tau = [cf.inverse_dynamics(r, r.closed([y]), [v], [a]) for r in (one, other)]
        assert np.allclose(tau[0], tau[1], rtol=1e-12)


def test_torques_of_other_independent_joints_do_the_same_power():
    one, other = four_bar(), four_bar(independent=["rocker"])
    q = one.closed([0.9])
    v, a = embedding(one).rates(q, [np.array([1.3]), np.array([-0.4])])
    tau = cf.inverse_dynamics(one, q, v[:1], a[:1])
    assert np.allclose(cf.inverse_dynamics(other, q, v[2:], a[2:]) * v[2], tau * v[0], rtol=1e-11)


def test_a_palletiser_is_the_same_by_couplings_gears_and_loops():
    rng = np.random.default_rng(0)
    y, v, a = rng.normal(size=(3, 4)) * 0.4
    found = []
    for how in ("mimic", "gear", "loop"):
        robot = palletiser(how)
        q = robot.closed(y)
        d = cf.inverse_dynamics_derivatives(robot, q, v, a)
        found.append(np.concatenate([cf.inverse_dynamics(robot, q, v, a), d.dtau_dq.ravel(),
                                     cf.coriolis_matrix(robot, q, v).ravel(),
                                     cf.inverse_dynamics_jet(robot, q, [v, a, v, a]).ravel(),
                                     cf.regressor(robot, q, v, a).ravel()]))
    assert np.allclose(found[0], found[1], rtol=1e-9, atol=1e-9)
    assert np.allclose(found[0], found[2], rtol=1e-9, atol=1e-9)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(7, cf.Fixed()), (5, cf.Spherical()),
                                                (6, cf.Revolute((1, 2, 3))),
                                                (5, cf.Universal((1, 0, 0), (0, 1, 1))),
                                                (6, cf.Prismatic((1, 0, 2))),
                                                (5, cf.Cylindrical((0, 1, 1)))]))
def test_random_chains_held_at_their_tips_keep_their_energy_and_their_loops(seed, kind):
    joints, cut = kind
    robot = welded_chain(seed, joints, cut)
    q, v = robot.neutral(), np.random.default_rng(seed).normal(size=robot.nv)
    K, G = cf.loop_jacobian(robot, q), cf.loop_embedding(robot, q)
    scale = np.abs(G).max()
    assert np.abs(K @ G).max() < 1e-10 * scale
    tau = cf.inverse_dynamics(robot, q, v, 0 * v)
    rate = cf.along(lambda robot, q, v: np.array([
        cf.kinetic_energy(robot, q, v) + cf.potential_energy(robot, q)], dtype=object),
        robot, q, np.stack([v, 0 * v]))[1, 0]
    assert rate == pytest.approx(tau @ v, rel=1e-7, abs=1e-8 * scale**3)


KINDS = st.sampled_from([(7, cf.Fixed()), (5, cf.Spherical()), (6, cf.Revolute((1, 2, 3)))])


@settings(max_examples=3, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(st.integers(0, 10_000), KINDS)
def test_matrices_of_random_loops_obey_the_laws(seed, kind):
    robot = welded_chain(seed, *kind)
    q, (v, a) = robot.neutral(), np.random.default_rng(seed).normal(size=(2, robot.nv))
    M, dM = cf.mass_matrix(robot, q), cf.time_derivatives(robot, q, v, a, a).dM
    size = np.abs(dM).max() + np.abs(M).max()
    for C in (cf.coriolis_matrix(robot, q, v), cf.christoffel_coriolis_matrix(robot, q, v)):
        assert np.allclose(C + C.T, dM, rtol=0, atol=1e-9 * size)
    assert np.allclose(M, M.T) and np.linalg.eigvalsh(M)[0] > 0
    tau = cf.inverse_dynamics(robot, q, v, a)
    parts = M @ a + cf.coriolis_matrix(robot, q, v) @ v + cf.gravity_torque(robot, q)
    assert np.allclose(tau, parts, rtol=0, atol=1e-9 * max(size, np.abs(tau).max()))


@settings(max_examples=3, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(st.integers(0, 10_000), KINDS)
def test_other_independent_joints_of_random_loops_do_the_same_power(seed, kind):
    one = welded_chain(seed, *kind)
    others = [n for n in (b.name for b in reversed(one.bodies)) if n not in one.independent]
    for names in (others[:one.nv], [*others[1:one.nv], one.independent[0]]):
        try:
            other = replace(one, independent=tuple(names), closure=None)
        except cf.ModelError:                                   # they do not tell the rest
            continue
        q, (v, a) = one.neutral(), np.random.default_rng(seed).normal(size=(2, one.nv))
        G = cf.loop_embedding(one, q)[list(other.closure.independent)]
        if np.linalg.cond(G) > 1e3:
            continue
        motion = [x[list(other.closure.independent)] for x in embedding(one).rates(q, [v, a])]
        tau = cf.inverse_dynamics(other, q, *motion)
        wanted = cf.inverse_dynamics(one, q, v, a)
        assert np.allclose(G.T @ tau, wanted, rtol=1e-7, atol=1e-8 * np.abs(tau).max())


def cut_elsewhere(robot, k):
    """A chain held at its tip, cut at joint k instead: the bodies behind it hang from the tip."""
    hold, = robot.loops
    tree = robot.tree
    bodies = list(tree.bodies[:k])
    place, parent, shift = hold.b[1] @ np.linalg.inv(hold.a[1]), None, np.eye(4)
    for n in range(len(tree.bodies) - 1, k - 1, -1):
        body = tree.bodies[n]
        if parent is None:
            joint, at_, inertia = cf.Fixed(), place, body.inertia
        else:                                  # turned about the axis of the one behind it
            behind = tree.bodies[n + 1]
            joint, at_ = type(behind.joint)(-np.asarray(behind.joint.axis, dtype=float)), shift
            inertia = body.inertia.seen_from(np.linalg.inv(behind.placement))
        shift = np.eye(4) if parent is None else np.linalg.inv(tree.bodies[n + 1].placement)
        bodies.append(cf.Body(body.name, parent, joint, at_, inertia))
        parent = body.name
    cut = tree.bodies[k]
    loop = cf.Loop("cut", (tree.bodies[k - 1].name, cut.placement), (cut.name, shift),
                   type(cut.joint)(cut.joint.axis))
    guess = {b.name: robot.guess[b.name] for b in tree.bodies[:k]}
    guess |= {tree.bodies[n].name: robot.guess[tree.bodies[n + 1].name]
              for n in range(k, len(tree.bodies) - 1)}
    return cf.Robot("cut", bodies, robot.gravity, loops=[loop], guess=guess,
                    independent=robot.independent)


@pytest.mark.parametrize(("seed", "k"), [(1, 3), (2, 4), (5, 6)])
def test_the_torque_of_random_loops_is_the_same_wherever_they_are_cut(seed, k):
    one = welded_chain(seed, 7)
    own = [int(name[1:]) for name in one.independent]
    assert len(own) == 1 and own[0] < k
    other = cut_elsewhere(one, k)
    v, a = np.random.default_rng(seed).normal(size=(2, 1))
    q = [r.closed([one.neutral()[own[0]]]) for r in (one, other)]
    assert np.allclose(q[0][:k], q[1][:k], atol=1e-9)
    tau = [cf.inverse_dynamics(r, x, v, a) for r, x in zip((one, other), q, strict=True)]
    scale = np.abs(np.concatenate([np.ones(1), *embedding(one).rates(q[0], [v, a])])).max() ** 2
    assert np.allclose(tau[0], tau[1], rtol=1e-8, atol=1e-9 * scale)
