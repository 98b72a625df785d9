"""Products with the derivatives of inverse and forward dynamics, without the matrices: O(n).

The recursions of `newton_euler`, differentiated by hand. A direction q̇ of the coordinates moves the
frame of a segment by the twist σ = S q̇ = (σ_v; σ_ω), seen in the frame that moves. What the parent
has (') in the segment's axes, ω' = Rᵀ ω_p and so on, then changes by

    δω' = Rᵀ δω_p + ω' × σ_ω               the same for ω̇' and a'                        (i)
    δa' + U' σ_v                           since the origin moves too
    F_p ← F_p + X_kpᵀ (δF_k + σ ×* F_k)                                                  (ii)

and nothing else depends on q. Weights τ̄ of the torques go the other way: with W = J τ̄, the twist of
the velocities τ̄, they are Σ_k W_k · F_k, and the transposes of (i) and (ii) collect

    (ā; ω̇̄) = Σ Λ W      ω̄ = T ω − tr(T) ω,      T = G + Gᵀ + Σ_children (α pᵀ + p αᵀ)   (iii)

from leaves to root; G = w~ Σ + u hᵀ is that of `Moments.rate` for W = (u; w), α = R ā a child's.
One cross product along the joint's axis stands where the chain rule over recorded operations
differentiates sines and cosines.

Cites: [LuhWalkerPaul1980] for the recursion; [GriewankWalther2008, chapter 3] for its transpose.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import NamedTuple

from closedform.arrays import Array, Namespace, namespace
from closedform.maths import state_pull_backs
from closedform.maths.algebra.entries import Entries, enter, tensor
from closedform.maths.algebra.ldl import branch_solve
from closedform.maths.algebra.trees import subtree_sums
from closedform.maths.algorithms import articulated, newton_euler
from closedform.maths.algorithms.applicability import uncoupled
from closedform.maths.algorithms.joint_steps import (
    JointStep,
    Symmetric,
    body_twists,
    joint_steps,
    twist_in_segment,
    wrench_in_parent,
)
from closedform.maths.algorithms.moments import moments
from closedform.maths.algorithms.newton_euler import OriginMotion, body_force, of_products
from closedform.maths.definitions.forward_derivatives import ForwardDynamicsVjp
from closedform.maths.definitions.inverse_derivatives import InverseDynamicsVjp
from closedform.maths.kinematics import segment_parents
from closedform.maths.loads import with_loads
from closedform.maths.pull_backs import pulled_back
from closedform.maths.quantity import folds
from closedform.maths.spatial import cross, force_cross
from closedform.model.robot import Robot
from closedform.model.segments import Segment


class Swept(NamedTuple):
    """Newton and Euler's recursion at a state: steps, motions, wrenches with all behind them."""

    way: list[JointStep]
    motion: list[OriginMotion]
    F: list[Array]

    def seen(self, segment: Segment, k: int) -> tuple[Array, Array, Array]:
        """ω', ω̇' and a' of segment k: the parent's motion in its axes, at its origin."""
        step, parent = self.way[k - 1], self.motion[segment.parent]
        return (step.down(parent.w), step.down(parent.dw),
                step.down(parent.a + parent.U @ step.p))


def _swept(robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None,
           xp: Namespace) -> Swept:
    way = joint_steps(robot, q)
    motion, F = newton_euler.motions_and_forces(robot, way, v, a, wrenches, xp)
    behind = subtree_sums(F, segment_parents(robot), add,
                          lambda k, F_k: wrench_in_parent(way[k - 1], F_k))
    return Swept(way, motion, behind)


# ---------------------------------------------------------------------- along a direction
@folds
@pulled_back(state_pull_backs.inverse_dynamics_jvp, newton_euler.inverse_dynamics)
@with_loads
def inverse_dynamics_jvp(
    robot: Robot, q: Array, v: Array, a: Array, q_dot: Array, v_dot: Array, a_dot: Array,
    wrenches: Array | None = None,
) -> Array:
    """∂τ/∂q q̇ + ∂τ/∂v v̇ + ∂τ/∂a ȧ, (nv,): O(n)."""
    given = (q, v, a, q_dot, v_dot, a_dot, *(() if wrenches is None else (wrenches,)))
    xp = namespace(*given)
    swept = _swept(robot, q, v, a, wrenches, xp)
    zero = xp.zeros(3)
    change, dF = [OriginMotion(zero, xp.zeros((3, 3)), zero, zero)], [xp.zeros(6)]
    for k, segment in enumerate(robot.segments, start=1):
        here = _changed(segment, k, swept, change[segment.parent],
                        tuple(segment.S @ segment.velocities(x) for x in (v, q_dot, v_dot, a_dot)))
        change.append(here)
        dF.append(body_force(moments(segment.inertia), 2 * swept.motion[k].w * here.w, here.U,
                             here.a))
    sigma = [segment.S @ segment.velocities(q_dot) for segment in robot.segments]

    def in_parent(k: int, dF_k: Array) -> Array:
        turned = force_cross(sigma[k - 1], swept.F[k])
        return wrench_in_parent(swept.way[k - 1], dF_k + turned)                         # (ii)

    behind = subtree_sums(dF, segment_parents(robot), add, in_parent)
    tau: Entries = {}
    for segment, dF_k in zip(robot.segments, behind[1:], strict=True):
        _enter(tau, segment, dF_k)
    return tensor(tau, (robot.nv,), xp) + robot.rotor_inertia * a_dot


def _changed(segment: Segment, k: int, swept: Swept, parent: OriginMotion,
             twists: tuple[Array, ...]) -> OriginMotion:
    """How the motion of segment k changes, from how the parent's does: `next_motion` and (i)."""
    step, (w, dw, a), (s, sigma, ds, dds) = swept.way[k - 1], swept.seen(segment, k), twists
    turn, slide = sigma[3:], sigma[:3]
    w_dot = step.down(parent.w) + cross(w, turn)
    dw_dot = step.down(parent.dw) + cross(dw, turn)
    a_dot = step.down(parent.a + parent.U @ step.p) + cross(a, turn)
    a_dot = a_dot + cross(dw, slide) + cross(w, cross(w, slide))                 # U' σ_v
    a_dot = a_dot + cross(2 * w_dot + ds[3:], s[:3]) + cross(2 * w + s[3:], ds[:3]) + dds[:3]
    dw_dot = dw_dot + cross(w_dot, s[3:]) + cross(w, ds[3:]) + dds[3:]
    w_dot = w_dot + ds[3:]
    return OriginMotion(w_dot, of_products(_products_change(swept.motion[k].w, w_dot), dw_dot),
                        dw_dot, a_dot)


def _products_change(w: Array, w_dot: Array) -> Symmetric:
    """ω̇ᵢ ωⱼ + ωᵢ ω̇ⱼ of all pairs."""
    (x, y, z), (dx, dy, dz) = w, w_dot
    return (2 * x * dx, x * dy + y * dx, 2 * y * dy, x * dz + z * dx, y * dz + z * dy, 2 * z * dz)


# ---------------------------------------------------------------------- back from weights
@folds
@pulled_back(state_pull_backs.inverse_dynamics_vjp, newton_euler.inverse_dynamics)
@with_loads
def inverse_dynamics_vjp(
    robot: Robot, q: Array, v: Array, a: Array, tau_bar: Array, wrenches: Array | None = None,
) -> InverseDynamicsVjp:
    """(∂τ/∂q)ᵀ τ̄, (∂τ/∂v)ᵀ τ̄ and M τ̄, (nv,) each: O(n)."""
    xp = namespace(q, v, a, tau_bar, *(() if wrenches is None else (wrenches,)))
    swept = _swept(robot, q, v, a, wrenches, xp)
    way, n = swept.way, robot.nv
    W = body_twists(robot, way, tau_bar, xp)
    bodies = [moments(None), *(moments(segment.inertia) for segment in robot.segments)]
    P = subtree_sums([body @ W_k for body, W_k in zip(bodies, W, strict=True)],
                     segment_parents(robot), add,
                     lambda k, P_k: wrench_in_parent(way[k - 1], P_k))
    T = [body.rate(W_k).Sigma for body, W_k in zip(bodies, W, strict=True)]
    w_bar = [xp.zeros(3) for _ in W]
    q_bar: Entries = {}
    v_bar: Entries = {}
    a_bar: Entries = {}
    for k in range(len(way), 0, -1):
        segment, step, p = robot.segments[k - 1], way[k - 1], robot.segments[k - 1].parent
        own = _pulled(segment, v, swept.motion[k].w, swept.seen(segment, k),
                      (T[k], w_bar[k], P[k]))
        still = twist_in_segment(step, W[p])
        _enter(q_bar, segment, own.sigma + _power_change(swept.F[k], still, xp))
        _enter(v_bar, segment, own.s)
        _enter(a_bar, segment, P[k])
        if p:
            pairs, w = segment.together((_pairs(step.up(P[k][:3]), step.p), step.up(own.w)))
            T[p] = _plus(T[p], pairs)                                                    # (iii)
            w_bar[p] = w_bar[p] + w
    found = [tensor(x, (n,), xp) for x in (q_bar, v_bar, a_bar)]
    return InverseDynamicsVjp(found[0], found[1], found[2] + robot.rotor_inertia * tau_bar)


class Pulled(NamedTuple):
    """Weights of what goes into a segment's motion: of ω', of S v and of σ = S q̇."""

    w: Array      # (3,)
    s: Array      # (6,)
    sigma: Array  # (6,)


def _pulled(segment: Segment, v: Array, w_k: Array, seen: tuple[Array, Array, Array],
            weights: tuple[Symmetric, Array, Array]) -> Pulled:
    """The transposes of `next_motion` and of (i), from the weights of ω, ω̇ and a."""
    (w, dw, a), (T, w_bar, P) = seen, weights
    xp, s = namespace(w_k, w_bar, P), segment.S @ segment.velocities(v)
    a_bar, dw_bar = P[:3], P[3:]
    total = w_bar + _turned_about(T, w_k)
    slid = cross(s[:3], a_bar)
    before = total + cross(s[3:], dw_bar) + 2 * slid
    joint = xp.concatenate([cross(a_bar, 2 * w + s[3:]), total + cross(dw_bar, w) + slid])
    moved = xp.concatenate([
        cross(a_bar, dw) + cross(w, cross(w, a_bar)),                            # U'ᵀ ā
        cross(before, w) + cross(dw_bar, dw) + cross(a_bar, a)])
    return Pulled(before, joint, moved)


def _power_change(F: Array, W: Array, xp: Namespace) -> Array:
    """The weight of σ in (σ ×* F) · W, (6,)."""
    return xp.concatenate([cross(F[:3], W[3:]), cross(F[:3], W[:3]) + cross(F[3:], W[3:])])


def _turned_about(T: Symmetric, w: Array) -> Array:
    """T ω − tr(T) ω, (3,)."""
    xx, xy, yy, xz, yz, zz = T
    x, y, z = w
    return namespace(w).stack([xy * y + xz * z - (yy + zz) * x, xy * x + yz * z - (xx + zz) * y,
                               xz * x + yz * y - (xx + yy) * z])


def _pairs(x: Array, p: Array) -> Symmetric:
    """x pᵀ + p xᵀ."""
    return (2 * x[0] * p[0], x[0] * p[1] + x[1] * p[0], 2 * x[1] * p[1],
            x[0] * p[2] + x[2] * p[0], x[1] * p[2] + x[2] * p[1], 2 * x[2] * p[2])


def _plus(x: Symmetric, y: Symmetric) -> Symmetric:
    return x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5]


def _enter(entries: Entries, segment: Segment, F: Array) -> None:
    """Sᵀ F, entered where the segment's velocities stand."""
    for c, i in enumerate(segment.v_index):
        enter(entries, (i,), segment.S[:, c] @ F)


# ---------------------------------------------------------------------- forward dynamics
Solve = Callable[[Robot, Array, Array], Array]
"""(robot, q, b) → M⁻¹ b."""


def _solved_by_factor(robot: Robot, q: Array, b: Array) -> Array:
    return branch_solve(robot, newton_euler.mass_matrix(robot, q), b)


def forward_dynamics_jvp(
    robot: Robot, q: Array, v: Array, tau: Array, q_dot: Array, v_dot: Array, tau_dot: Array,
    wrenches: Array | None = None,
) -> Array:
    """M⁻¹ (τ̇ − ∂ID/∂q q̇ − ∂ID/∂v v̇), (nv,), by the branch-sparse factor of M."""
    a = newton_euler.forward_dynamics(robot, q, v, tau, wrenches)
    return _along(robot, (q, v, a), (q_dot, v_dot, tau_dot), wrenches, _solved_by_factor)


@folds
@uncoupled
def articulated_forward_dynamics_jvp(
    robot: Robot, q: Array, v: Array, tau: Array, q_dot: Array, v_dot: Array, tau_dot: Array,
    wrenches: Array | None = None,
) -> Array:
    """M⁻¹ (τ̇ − ∂ID/∂q q̇ − ∂ID/∂v v̇), (nv,), by articulated bodies: O(n)."""
    a = articulated.forward_dynamics(robot, q, v, tau, wrenches)
    return _along(robot, (q, v, a), (q_dot, v_dot, tau_dot), wrenches, articulated.mass_solve)


def _along(robot: Robot, at: tuple[Array, Array, Array], along: tuple[Array, Array, Array],
           wrenches: Array | None, solve: Solve) -> Array:
    q_dot, v_dot, tau_dot = along
    still = namespace(*at, *along).zeros(robot.nv)
    needed = inverse_dynamics_jvp(robot, *at, q_dot, v_dot, still, wrenches)
    return solve(robot, at[0], tau_dot - needed)


def forward_dynamics_vjp(
    robot: Robot, q: Array, v: Array, tau: Array, a_bar: Array, wrenches: Array | None = None,
) -> ForwardDynamicsVjp:
    """(∂a/∂q)ᵀ ā, (∂a/∂v)ᵀ ā and M⁻¹ ā, (nv,) each, by the branch-sparse factor of M."""
    a = newton_euler.forward_dynamics(robot, q, v, tau, wrenches)
    return _back(robot, (q, v, a), a_bar, wrenches, _solved_by_factor)


@folds
@uncoupled
def articulated_forward_dynamics_vjp(
    robot: Robot, q: Array, v: Array, tau: Array, a_bar: Array, wrenches: Array | None = None,
) -> ForwardDynamicsVjp:
    """(∂a/∂q)ᵀ ā, (∂a/∂v)ᵀ ā and M⁻¹ ā, (nv,) each, by articulated bodies: O(n)."""
    a = articulated.forward_dynamics(robot, q, v, tau, wrenches)
    return _back(robot, (q, v, a), a_bar, wrenches, articulated.mass_solve)


def _back(robot: Robot, at: tuple[Array, Array, Array], a_bar: Array, wrenches: Array | None,
          solve: Solve) -> ForwardDynamicsVjp:
    tau_bar = solve(robot, at[0], a_bar)
    q_bar, v_bar, _ = inverse_dynamics_vjp(robot, *at, -tau_bar, wrenches)
    return ForwardDynamicsVjp(q_bar, v_bar, tau_bar)
