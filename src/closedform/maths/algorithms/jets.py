"""Inverse dynamics with all its time derivatives, by Taylor series.

The recursion of `newton_euler` runs on series in time, O(n K²) for order K. Accelerations of the
frames' origins are taken less gravity, so that gravity is a rotated series of its own, added and
never cancelled: at rest every derivative of τ is exactly zero.

Cites: [MuellerKumar2021, eqs. (28) and (38)], here as a recursion of any order.
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any, NamedTuple

from closedform.arrays import OBJECTS, Array, namespace
from closedform.errors import ArgumentError
from closedform.maths.algorithms.joint_steps import JointStep, joint_steps
from closedform.maths.algorithms.moments import moments
from closedform.maths.algorithms.newton_euler import body_force, joint_torques, rotation_rates
from closedform.maths.arguments import checked
from closedform.maths.kinematics import body_segments
from closedform.maths.loads import carries
from closedform.maths.pull_backs import jet, pulled_back
from closedform.maths.quantity import folds
from closedform.maths.rotors import rotor_coriolis, turning_rotors
from closedform.maths.scalars.series import (
    Series,
    coefficient,
    derivative,
    derivatives,
    from_coefficients,
    from_derivatives,
    known_terms,
    truncated,
)
from closedform.maths.spatial import cross
from closedform.maths.springs import has_springs, spring_jet
from closedform.model.robot import Robot
from closedform.model.segments import Segment


class SeriesStep(NamedTuple):
    """The way from a segment to its parent as a function of time: R(t) = R(0) R_δ(t), p(t).

    R_δ is known by its half-turn vector H = tan(δ/2) e, without sines and cosines of series:

        x = R_δ y   ⟺   x = y + H × (x + y)
    """

    frozen: JointStep     # at t = 0
    H: list[Array]   # coefficients of H from t¹ on, (3,) each; empty where nothing turns
    p: Array         # (3,) series

    def up(self, x: Array) -> Array:
        """R x: a vector of the segment, seen in the parent."""
        return self.frozen.up(turned(self.H, x))

    def down(self, x: Array) -> Array:
        """Rᵀ x: a vector of the parent, seen in the segment."""
        return turned([-H_j for H_j in self.H], self.frozen.down(x))


def turned(H: list[Array], y: Array) -> Array:
    """R_δ(t) y(t), (3,): every coefficient is turned at t = 0 already, and corrected here.

        x_k = y_k + Σ_{j=1..k} H_j × (x_{k−j} + y_{k−j})

    About half the operations of a product with the series of R. Coefficients of tan(δ/2) shrink
    like π^−k where those of sin δ do like 1/k!: from order 8 on that costs digits, 1.6 at order 10.
    """
    if not H:
        return y
    terms = known_terms(y, len(H) + 1)
    ys = [coefficient(y, k) for k in range(terms)]
    xs, both = [ys[0]], [2 * ys[0]]
    for k in range(1, terms):
        change = [cross(H[j - 1], both[k - j]) for j in range(1, k)] + [cross(2 * H[k - 1], ys[0])]
        xs.append(reduce(add, change, ys[k]))
        both.append(xs[k] + ys[k])
    return from_coefficients(xs)


def half_turns(segment: Segment, v: Array) -> list[Array]:
    """Coefficients of t, t², … of the joint's half-turn vector H, from its velocities' series.

        Ḣ = ½ (ω + H × ω + (H·ω) H),   H(0) = 0

    with ω in the segment's frame; for one axis, H = e h and ḣ = ½ θ̇ (1 + h²).
    """
    S = segment.S[3:]
    turning = [c for c in range(S.shape[1]) if any(x != 0 for x in S[:, c])]
    own = segment.velocities(v)
    if not turning:
        return []
    if len(turning) == 1:
        axis = segment.joint.S[3:, turning[0]]
        return [axis * h for h in _half_turn(segment.ratio * own[turning[0]])]
    w = S @ own
    H: list[Array] = [OBJECTS.zeros(3)]
    for k in range(known_terms(w, 0)):
        now = from_coefficients(H)
        rate = w + cross(now, w) + (now @ w) * now
        H.append(coefficient(rate, k) / (2 * (k + 1)))
    return H[1:]


def _half_turn(rate: Series) -> list[Any]:
    """Coefficients of t, t², … of h = tan(½ ∫ θ̇ dt): ḣ = ½ θ̇ (1 + h²)."""
    h: list[Any] = [0]
    for k in range(len(rate.c)):
        now = Series(h)
        growth = rate + rate * (now * now)
        h.append(growth.c[k] / (2 * (k + 1)))
    return h[1:]


def series_steps(robot: Robot, q: Array, v: Array) -> list[SeriesStep]:
    """The steps of all segments for the motion that starts at q with the velocities v(t).

        p(t) = p(0) + R_0 ∫ R_j s_v dt

    R_0 is the constant rotation before the joint's own R_j, s_v the joint's linear velocity.
    """
    result = []
    for segment, step in zip(robot.segments, joint_steps(robot, q), strict=True):
        H, p, S = half_turns(segment, v), step.p, segment.S[:3]
        if any(x != 0 for x in S.ravel()):
            rate = step.up(turned(H, S @ segment.velocities(v)))
            terms = range(known_terms(rate, 0))
            p = from_coefficients([p, *(coefficient(rate, k) / (k + 1) for k in terms)])
        result.append(SeriesStep(step, H, p))
    return result


@folds
@checked
@pulled_back(jet)
def inverse_dynamics_jet(
    robot: Robot, q: Array, rates: Array, wrenches: Array | None = None,
) -> Array:
    """τ, τ̇, τ̈, …, (K+1, nv), of a motion with the K+2 rates v, a, j, s, … (rows).

        ω_k = Rᵀ ω_p + s_ω                                   to order K+1
        U_k = ω̇~ + ω~ω~,  with ω̇ the derivative of ω_k
        a_k = Rᵀ (a_p + U_p p) + (Rᵀ ω_p + ω_k) × s_v + ṡ_v   to order K

    all of them series in time; then forces and torques as in `newton_euler`. Row k of
    `wrenches` (K+1, bodies, 6) is the k-th derivative of the loads' components in their bodies.
    Rates of quasi-velocities are those of their components.
    """
    terms = len(rates) - 1
    if terms < 1:
        raise ArgumentError("inverse_dynamics_jet: rates must have two rows (v, a) or more, "
                            f"not {len(rates)}")
    v = from_derivatives(list(rates))
    way, carried = series_steps(robot, q, v), carries(robot)
    zero = OBJECTS.zeros(3)
    gravity = from_coefficients([-robot.gravity, *[zero] * (terms - 1)])
    gamma: list[Array] = [gravity]
    w: list[Array] = [zero]
    U: list[Array] = [OBJECTS.zeros((3, 3))]
    a: list[Array] = [gravity]
    F: list[Array] = [OBJECTS.zeros(6)]
    for segment, step in zip(robot.segments, way, strict=True):
        s, above = segment.S @ segment.velocities(v), step.down(w[segment.parent])
        w_k = above + s[3:]
        now = truncated(w_k, terms)
        U_k = rotation_rates(now, derivative(w_k))
        a_k = (step.down(a[segment.parent] + U[segment.parent] @ truncated(step.p, terms))
               + cross(truncated(above, terms) + now, s[:3]) + derivative(s[:3]))
        w, U, a = [*w, w_k], [*U, U_k], [*a, a_k]
        if carried:
            gamma.append(step.down(gamma[segment.parent]))
            a_k = a_k - segment.carried * gamma[-1]
        F.append(F[0] if segment.inertia is None else
                 body_force(moments(segment.inertia), now * now, U_k, a_k))
    if wrenches is not None:
        load = from_derivatives(list(wrenches))
        for number, k in enumerate(body_segments(robot)):
            F[k] = F[k] - load[number]
    tau = joint_torques(robot, way, F, OBJECTS) + robot.rotor_inertia * derivative(v)
    if turning_rotors(robot):
        tau = tau + truncated(rotor_coriolis(robot, v) @ v, terms)
    jet = derivatives(tau, terms, namespace(q, rates))
    return jet + spring_jet(robot, q, rates[:-2]) if has_springs(robot) else jet
