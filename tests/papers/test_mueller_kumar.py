"""Müller & Kumar 2021: published expressions and numbers, and the misprints shown to be such."""

from functools import cached_property

import numpy as np
import pytest
import sympy

import closedform as cf
from closedform.maths.algorithms.jets import inverse_dynamics_jet
from closedform.maths.papers.mueller_kumar import (
    body_ad,
    coriolis_rates,
    generalized_forces,
    joint_ad,
    mass_rates,
    passive_coriolis_rates,
    propagation,
    system_matrices,
    system_twists,
)
from random_robots import random_robot, random_state
from trajectories import along

# ---------------------------------------------------------------------- the 2R arm, symbolically
m1, m2, L1, L2, g = sympy.symbols("m1 m2 L1 L2 g", positive=True)
q1, q2, v1, v2, a1, a2, j1, j2, s1, s2 = sympy.symbols("q1 q2 v1 v2 a1 a2 j1 j2 s1 s2")
sin, cos = sympy.sin, sympy.cos

TAU = (
    L1**2 * a1 * (m1 + m2) + L2**2 * m2 * (a1 + a2) + L2 * g * m2 * cos(q1 + q2)
    + L1 * g * (m1 + m2) * cos(q1) - L1 * L2 * v2**2 * m2 * sin(q2)
    + 2 * L1 * L2 * a1 * m2 * cos(q2) + L1 * L2 * a2 * m2 * cos(q2)
    - 2 * L1 * L2 * v1 * v2 * m2 * sin(q2),
    L2 * m2 * (L1 * sin(q2) * v1**2 + L2 * a1 + L2 * a2 + g * cos(q1 + q2) + L1 * a1 * cos(q2)),
)


def first_derivative_of_tau1(rate):
    """τ̇₁ of the paper; its seventh L₁L₂ term is printed with q̇₂ for `rate`, which is q̈₂."""
    return (L1**2 * j1 * (m1 + m2) + L2**2 * m2 * (j1 + j2)
            - L2 * (v1 + v2) * g * m2 * sin(q1 + q2)
            + 2 * L1 * L2 * j1 * m2 * cos(q2) + L1 * L2 * j2 * m2 * cos(q2)
            - L1 * v1 * g * (m1 + m2) * sin(q1) - L1 * L2 * v2**3 * m2 * cos(q2)
            - 4 * L1 * L2 * a1 * v2 * m2 * sin(q2) - 2 * L1 * L2 * rate * v1 * m2 * sin(q2)
            - 3 * L1 * L2 * a2 * v2 * m2 * sin(q2) - 2 * L1 * L2 * v1 * v2**2 * m2 * cos(q2))


DTAU = (
    first_derivative_of_tau1(a2),
    L2 * m2 * (L2 * (j1 + j2) - (v1 + v2) * g * sin(q1 + q2) + L1 * j1 * cos(q2)
               + 2 * L1 * a1 * v1 * sin(q2) - L1 * a1 * v2 * sin(q2) + L1 * v1**2 * v2 * cos(q2)),
)
DDTAU = (
    (m1 + m2) * L1**2 * s1 + m2 * L2**2 * (s1 + s2) + m2 * L1 * L2 * (
        2 * cos(q2) * s1 + cos(q2) * s2 - 6 * sin(q2) * j1 * v2 - 2 * sin(q2) * v1 * j2
        - 4 * sin(q2) * v2 * j2 - 6 * sin(q2) * a1 * a2 - 3 * sin(q2) * a2**2
        - 6 * cos(q2) * a1 * v2**2 - 6 * cos(q2) * v1 * v2 * a2 - 6 * cos(q2) * v2**2 * a2
        + 2 * sin(q2) * v1 * v2**3 + sin(q2) * v2**4)
    - (m1 + m2) * g * L1 * (cos(q1) * v1**2 + sin(q1) * a1)
    - m2 * g * L2 * (cos(q1 + q2) * (v1 + v2)**2 + sin(q1 + q2) * (a1 + a2)),
    L2 * m2 * (L2 * (s1 + s2) + L1 * (
        cos(q2) * s1 - 2 * sin(q2) * j1 * v2 + 2 * sin(q2) * v1 * j1 + 2 * sin(q2) * a1**2
        - sin(q2) * a1 * a2 - cos(q2) * a1 * v2**2 + 4 * cos(q2) * v1 * a1 * v2
        + cos(q2) * v1**2 * a2 - sin(q2) * v1**2 * v2**2)
        - g * (cos(q1 + q2) * (v1 + v2)**2 + sin(q1 + q2) * (a1 + a2))),
)


def symbolic_arm():
    place = np.array([[1, 0, 0, L1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=object)
    return cf.Robot("2R", [
        cf.Body("a", None, cf.Revolute((0, 0, 1)), inertia=cf.Inertia(m1, (L1, 0, 0))),
        cf.Body("b", "a", cf.Revolute((0, 0, 1)), place, cf.Inertia(m2, (L2, 0, 0)))],
        gravity=(0, -g, 0))


def vanishes(expression):
    """Whether an expression is zero: a polynomial in sines and cosines modulo s² + c² = 1."""
    parts = sympy.symbols("sine1 cosine1 sine2 cosine2")
    flat = sympy.expand(sympy.expand_trig(sympy.nsimplify(expression))).subs(
        dict(zip((sin(q1), cos(q1), sin(q2), cos(q2)), parts, strict=True)))
    for s, c in (parts[:2], parts[2:]):
        flat = sympy.rem(sympy.expand(flat), s**2 + c**2 - 1, s)
    return sympy.expand(flat) == 0


@pytest.fixture(scope="module")
def symbolic_jet():
    rates = np.array([[v1, v2], [a1, a2], [j1, j2], [s1, s2]])
    return inverse_dynamics_jet(symbolic_arm(), np.array([q1, q2]), rates)


@pytest.mark.parametrize("order, published", [(0, TAU), (1, DTAU), (2, DDTAU)])
@pytest.mark.parametrize("joint", [0, 1])
def test_the_published_expressions_of_the_2r_arm_come_out(symbolic_jet, order, published, joint):
    assert vanishes(symbolic_jet[order][joint] - published[joint])


def test_in_the_first_derivative_of_tau1_q2_dot_is_printed_for_q2_double_dot(symbolic_jet):
    assert not vanishes(symbolic_jet[1][0] - first_derivative_of_tau1(v2))


def test_the_block_form_gives_the_published_torques_too():
    rates = tuple(np.array(x) for x in ((v1, v2), (a1, a2), (j1, j2), (s1, s2)))
    Q = generalized_forces(symbolic_arm(), np.array([q1, q2]), rates)
    for order, published in enumerate((TAU, DTAU, DDTAU)):
        assert all(vanishes(Q[order][k] - published[k]) for k in range(2))


def test_a_point_mass_has_no_inertia_about_the_line_to_it():
    """The paper's M₁ and M₂ have m L² at (1, 1), and M₂'s last row is not symmetric as printed."""
    inertia = symbolic_arm().bodies[1].inertia.matrix
    assert inertia[3, 3] == 0 and inertia[4, 4] == inertia[5, 5] == L2**2 * m2
    assert inertia[2, 4] == -L2 * m2 and inertia[2, 5] == 0  # their row 6: (0, −L₂m₂, 0, …), not
    assert inertia[4, 2] == inertia[2, 4]                    # (0, 0, −L₂m₂, …)


# ---------------------------------------------------------------------- numbers
REFERENCE = {
    "planar2r": (
        "-0.6859 0.838", "1.1957 -1.0641", "1.2217 1.562", "0.9456 -2.3169", "-0.1752 2.6365",
        "27.77805005604362 7.752854662820215", "19.39018717668123 0.6535611875952375",
        "-17.06494430053593 -2.330511125081151"),
    "iiwa14": (
        "-0.440629766 -0.39478954 -0.08122761 -0.44712362 0.891236075 0.035274269 -0.273188927",
        "2.140333284 -1.791953435 1.218676422 -1.153014686 -1.86031411 2.068409483 2.073999307",
        "1.349428657 3.793927482 0.34135903 5.79472212 -1.746822707 -0.186600881 9.190075521",
        "-6.554770683 17.220672511 -5.121487664 14.943070331 3.646215655 -10.941886166 "
        "-69.769336683",
        "-4.132625262 -36.459643105 -1.434561323 -75.099598681 3.423772505 0.98711866 "
        "-309.154140521",
        "5.70673093233699 29.5403053802596 -2.41042460007246 -0.889260321597837 "
        "-0.158284390545762 -0.31568261583308 -0.000743978646815365",
        "28.7090165040918 154.004459471239 -18.1669221365704 -15.5265936699268 "
        "-1.19464887110411 -2.62799911851796 -0.42475374309634",
        "-106.689688512019 -68.7873242474589 -59.3655448713523 -79.4418231784402 "
        "-2.9013450441395 5.52355213107845 0.716379452632355"),
}
"""q and four rates, then Q, Q̇, Q̈ by central differences in 50-digit arithmetic, to 15 digits."""


@pytest.mark.parametrize("name", REFERENCE)
def test_the_reference_torques_come_out_to_twelve_digits(name):
    q, *rows = (np.array([float(x) for x in row.split()]) for row in REFERENCE[name])
    robot, rates, expected = cf.load(name), rows[:4], np.array(rows[4:])
    scale = np.abs(expected).max(axis=1, keepdims=True)
    for found in (inverse_dynamics_jet(robot, q, rates), generalized_forces(robot, q, rates)):
        assert np.abs(np.array(found) / scale - expected / scale).max() < 1e-12


def test_without_steiners_term_bodies_of_the_kuka_are_impossible():
    """(24) needs Θ about the frame's origin: with Table 1's, about the centre of mass, five of
    the seven 6x6 inertias are indefinite."""
    bad = []
    for number, body in enumerate(cf.load("iiwa14").bodies, start=1):
        m, c = body.inertia.mass, body.inertia.com
        I = body.inertia.matrix.copy()
        I[3:, 3:] -= m * (c @ c * np.eye(3) - np.outer(c, c))
        assert np.linalg.eigvalsh(body.inertia.matrix).min() > 0
        if np.linalg.eigvalsh(I).min() < 0:
            bad.append(number)
    assert bad == [1, 2, 3, 5, 6]


def test_the_column_theta_yx_of_table_1_is_theta_xz():
    """Read as Θ_yx it contradicts Θ_xy in the same row of a symmetric tensor."""
    xy, third = -0.00005, 0.00007  # link 3
    inertia = cf.load("iiwa14").bodies[2].inertia
    m, c = inertia.mass, inertia.com
    about_com = inertia.origin_tensor - m * (c @ c * np.eye(3) - np.outer(c, c))
    assert xy != third
    np.testing.assert_allclose(about_com[0], [0.00223, xy, third], atol=1e-15)


# ---------------------------------------------------------------------- misprints
class Chain:
    """A chain of one-dof joints in motion, with the paper's matrices; dots are d's."""

    def __init__(self, seed=3):
        self.robot = random_robot(seed, ("revolute", "prismatic", "helical"), bodies=4, spread=1)
        self.q, *self.rates = random_state(self.robot, seed, 4)
        self.now = system_matrices(self.robot, self.q)
        self.A, self.M, self.J = self.now.A, self.now.M, self.now.J
        self.a, self.da, self.dda = (joint_ad(self.robot, x) for x in self.rates[:3])
        P = propagation(self.robot, self.now, *self.rates[:3])
        self.V, self.dV, self.ddV = system_twists(self.now, P, *self.rates[:3])
        self.b, self.db, self.ddb = (body_ad(x) for x in (self.V, self.dV, self.ddV))

    def along(self, f):
        """d/dt of f(A, a, b) by complex step."""
        def at(q, rates):
            now = system_matrices(self.robot, q)
            return f(now, joint_ad(self.robot, rates[0]), body_ad(now.J @ rates[0]))
        return along(self.robot, at, self.q, self.rates)

    def C_of(self, a, b):
        """(22) with any a and b."""
        return -self.M @ self.A @ a - b.T @ self.M

    @cached_property
    def C(self):
        return self.C_of(self.a, self.b)

    @cached_property
    def dC(self):
        """Ċ by complex step."""
        return self.along(lambda now, a, b: -now.M @ now.A @ a - b.T @ now.M)

    @cached_property
    def C1(self):
        """C⁽¹⁾ of (32), with Ċ by complex step."""
        P = self.A @ self.a
        return self.dC - self.C @ P - P.T @ self.C

    @cached_property
    def ddC(self):
        """C̈ by complex step of the corrected (33)."""
        def at(q, rates):
            now = system_matrices(self.robot, q)
            P = propagation(self.robot, now, *rates)
            _, dV, _ = system_twists(now, P, *rates)
            a, da = joint_ad(self.robot, rates[0]), joint_ad(self.robot, rates[1])
            MA = now.M @ now.A
            return (MA @ a @ now.A @ a - MA @ a @ a - MA @ da - body_ad(dV).T @ now.M)
        return along(self.robot, at, self.q, self.rates)

    @cached_property
    def C2(self):
        """C⁽²⁾ of (46), with (47) and C̈ by complex step."""
        A, a, da, C = self.A, self.a, self.da, self.C
        P = A @ a
        dC1 = (self.ddC - self.dC @ P - P.T @ self.dC - C @ A @ da - (A @ da).T @ C
               + C @ P @ P + P.T @ P.T @ C - C @ P @ a - (P @ a).T @ C)
        return dC1 - self.C1 @ P - P.T @ self.C1


def M1(c, a):
    """(30)."""
    X = c.M @ c.A @ a
    return -X - X.T


def eq33(c, third, b):
    A, a, MA = c.A, c.a, c.M @ c.A
    return MA @ a @ A @ a - MA @ a @ a - third - b.T @ c.M


def eq35(c, last):
    A, a, MA, P = c.A, c.a, c.M @ c.A, c.A @ c.a
    return (-MA @ c.da - c.db.T @ c.M + c.b.T @ MA @ a + P.T @ c.b.T @ c.M + P.T @ MA @ a
            + 2 * MA @ a @ A @ a - last)


def eq43(c, rate):
    P = c.A @ c.a
    X = c.M @ (P @ c.A - P) @ c.a
    Y = M1(c, c.a) @ P
    return M1(c, joint_ad(c.robot, rate)) + X + X.T - Y - Y.T


def eq48(c, first=None, fourth=None, sixth=None):
    A, a, da, MA = c.A, c.a, c.da, c.M @ c.A
    first = c.C_of(c.dda, c.ddb) if first is None else first
    fourth = MA @ a @ A @ a @ A @ a if fourth is None else fourth
    sixth = MA @ a @ da if sixth is None else sixth
    return (first + MA @ da @ A @ a + 2 * MA @ a @ A @ da - 2 * fourth + 2 * MA @ a @ A @ a @ a
            - 3 * sixth - MA @ a @ a @ a + MA @ a @ a @ A @ a)


def eq50(c, last, rate=None):
    A, a, da, C, MA, P = c.A, c.a, c.da, c.C, c.M @ c.A, c.A @ c.a
    dda = c.dda if rate is None else joint_ad(c.robot, rate)
    return (c.C_of(dda, c.ddb) - 2 * c.C1 @ P - 2 * P.T @ c.C1 - C @ A @ da - (A @ da).T @ C
            - 2 * P.T @ C @ P - C @ P @ a - (P @ a).T @ C + MA @ da @ P + 2 * MA @ a @ A @ da
            - 2 * MA @ a @ P @ P + 2 * MA @ a @ P @ a - 3 * MA @ a @ da - MA @ a @ a @ a
            + last * MA @ a @ a @ P)


def eq51(c, cubic):
    A, a, da, C, M, MA, P = c.A, c.a, c.da, c.C, c.M, c.M @ c.A, c.A @ c.a
    return (-MA @ c.dda - c.ddb.T @ M + 2 * c.db.T @ M @ P + 2 * P.T @ c.db.T @ M
            + 3 * MA @ da @ P + 2 * MA @ a @ A @ da + 2 * P.T @ MA @ da
            - C @ A @ da - (A @ da).T @ C + 2 * C @ P @ P + 2 * P.T @ C @ P + 2 * P.T @ P.T @ C
            - 4 * cubic - 2 * P.T @ M @ P @ P + 2 * MA @ a @ a @ P + 2 * P.T @ MA @ a @ a
            + 2 * MA @ a @ P @ a - 3 * MA @ a @ da - MA @ a @ a @ a + MA @ a @ a @ P
            - C @ P @ a - (P @ a).T @ C)


def eq53(c, times):
    A, a, P = c.A, c.a, c.A @ c.a
    return 2 * (P @ P).T - times * (A @ c.da).T - (A @ a @ a).T


def second_rate_of_transpose(c):
    """J̈ᵀ = Jᵀ X, X by complex step of J̇ᵀ = −(A a J)ᵀ."""
    return c.along(lambda now, a, b: -(now.A @ a @ now.J).T)


def Q1(c, third):
    v, a, _, _ = c.rates
    M, dM, _ = mass_rates(c.robot, c.q, *c.rates[:3])
    C, dC, _ = coriolis_rates(c.robot, c.q, *c.rates[:3])
    return M @ third + (dM + C) @ a + dC @ v


def Q2(c, fourth, third):
    v, a, _, _ = c.rates
    M, dM, ddM = mass_rates(c.robot, c.q, *c.rates[:3])
    C, dC, ddC = coriolis_rates(c.robot, c.q, *c.rates[:3])
    return M @ fourth + (2 * dM + C) @ third + (ddM + 2 * dC) @ a + ddC @ v


def torque_rates(c):
    """Derivatives of M a + C v, by the jet of the robot without gravity and rotors."""
    bodies = [cf.Body(b.name, b.parent, type(b.joint)(**{
        k: getattr(b.joint, k) for k in ("axis", "point", "pitch") if hasattr(b.joint, k)}),
        b.placement, b.inertia) for b in c.robot.bodies]
    return inverse_dynamics_jet(cf.Robot("c", bodies, (0, 0, 0)), c.q, c.rates)


def block(c, i, j):
    return c.A[6 * i:6 * i + 6, 6 * j:6 * j + 6]


def rate_of_block(c, i, j):
    rate = c.along(lambda now, a, b: now.A)
    return rate[6 * i:6 * i + 6, 6 * j:6 * j + 6]


def ad_times_block(c, i, j):
    return -c.a[6 * i:6 * i + 6, 6 * i:6 * i + 6] @ block(c, i, j)


MISPRINTS = {
    "(12) J for its derivative": (
        lambda c: c.along(lambda now, a, b: now.J), lambda c: -c.A @ c.a @ c.J, lambda c: c.J),
    "after (18) the index j for i−1": (
        lambda c: rate_of_block(c, 3, 2), lambda c: ad_times_block(c, 3, 2),
        lambda c: rate_of_block(c, 3, 1) - ad_times_block(c, 3, 1) + rate_of_block(c, 3, 2)),
    "(19) A for its derivative": (
        lambda c: c.along(lambda now, a, b: now.A),
        lambda c: c.A @ c.a - c.A @ c.a @ c.A, lambda c: c.A),
    "(28) q̈ for its derivative": (
        lambda c: torque_rates(c)[1], lambda c: Q1(c, c.rates[2]), lambda c: Q1(c, c.rates[1])),
    "(33) a for its derivative": (
        lambda c: c.dC, lambda c: eq33(c, c.M @ c.A @ c.da, c.db),
        lambda c: eq33(c, 2 * c.M @ c.A @ c.a @ c.a, c.db)),
    "(33) ḃ of V, not of its derivative": (
        lambda c: c.dC, lambda c: eq33(c, c.M @ c.A @ c.da, c.db),
        lambda c: eq33(c, c.M @ c.A @ c.da, c.b)),
    "(35) the last term is lost": (
        lambda c: c.C1, lambda c: eq35(c, c.M @ c.A @ c.a @ c.a), lambda c: eq35(c, 0)),
    "(38) q̈ for its second derivative": (
        lambda c: torque_rates(c)[2], lambda c: Q2(c, c.rates[3], c.rates[2]),
        lambda c: Q2(c, c.rates[1], c.rates[2])),
    "(38) q̈ for its first derivative": (
        lambda c: torque_rates(c)[2], lambda c: Q2(c, c.rates[3], c.rates[2]),
        lambda c: Q2(c, c.rates[3], c.rates[1])),
    "(43) M⁽¹⁾ of q̇, not of q̈": (
        lambda c: c.along(lambda now, a, b: -now.M @ now.A @ a - (now.M @ now.A @ a).T)
        - M1(c, c.a) @ c.A @ c.a - (M1(c, c.a) @ c.A @ c.a).T,
        lambda c: eq43(c, c.rates[1]), lambda c: eq43(c, c.rates[0])),
    "(48) C of q̈, not of its derivative": (
        lambda c: c.ddC, eq48, lambda c: eq48(c, first=c.C_of(c.da, c.ddb))),
    "(48), (49) AaAaA for AaAaAa": (
        lambda c: c.ddC, eq48, lambda c: eq48(c, fourth=c.M @ c.A @ c.a @ c.A @ c.a @ c.A)),
    "(48) ȧȧ for aȧ": (
        lambda c: c.ddC, eq48, lambda c: eq48(c, sixth=c.M @ c.A @ c.da @ c.da)),
    "(50) the last coefficient 2 for 1": (
        lambda c: c.C2, lambda c: eq50(c, 1), lambda c: eq50(c, 2)),
    "after (51) ä of q̇, not of the jerk": (
        lambda c: c.C2, lambda c: eq50(c, 1), lambda c: eq50(c, 1, c.rates[0])),
    "(51) AaAaaa for AaAaAa": (
        lambda c: c.C2, lambda c: eq51(c, c.M @ c.A @ c.a @ c.A @ c.a @ c.A @ c.a),
        lambda c: eq51(c, c.M @ c.A @ c.a @ c.A @ c.a @ c.a @ c.a)),
    "(53) Aȧ twice": (
        second_rate_of_transpose, lambda c: c.J.T @ eq53(c, 1), lambda c: c.J.T @ eq53(c, 2)),
}
"""Each: what is true, the corrected formula, the formula as printed."""


@pytest.fixture(scope="module")
def chain():
    return Chain()


@pytest.mark.parametrize("name", MISPRINTS)
def test_the_correction_holds_and_what_is_printed_does_not(chain, name):
    truth, corrected, printed = (f(chain) for f in MISPRINTS[name])
    scale = np.abs(truth).max()
    np.testing.assert_allclose(corrected, truth, rtol=0, atol=1e-11 * scale)
    assert np.abs(printed - truth).max() > 1e-3 * scale


def test_the_missing_second_derivative_of_the_system_twist(chain):
    """V̈ = J q⃛ − 2 A a V̇ − A (ȧ + a a) V is used in the paper and not given."""
    A, a = chain.A, chain.a
    found = (chain.J @ chain.rates[2] - 2 * A @ a @ chain.dV - A @ (chain.da + a @ a) @ chain.V)
    np.testing.assert_allclose(found, chain.ddV, atol=1e-12 * np.abs(chain.ddV).max())


def test_the_work_identity_holds_for_every_C_but_skewness_only_for_54(chain):
    """After (57) the paper ties vᵀ(Ṁ − 2C)v = 0 to the arrangement (22)."""
    v = chain.rates[0]
    _, dM, _ = mass_rates(chain.robot, chain.q, *chain.rates[:3])
    passive = passive_coriolis_rates(chain.robot, chain.q, *chain.rates[:3]).value
    other = coriolis_rates(chain.robot, chain.q, *chain.rates[:3]).value
    christoffel = cf.christoffel_coriolis_matrix(chain.robot, chain.q, v)
    for C in (passive, other, christoffel):
        assert abs(v @ (dM - 2 * C) @ v) < 1e-12 * np.abs(dM).max()
    skewness = [np.abs(dM - C - C.T).max() / np.abs(dM).max() for C in (passive, other)]
    assert skewness[0] < 1e-12 and skewness[1] > 1e-3
