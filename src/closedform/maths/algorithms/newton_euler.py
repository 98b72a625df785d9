"""The recursions for M, C v, g, τ and a: the same quantities as `closed_form`, in fewer operations.

Motion is carried as angular velocity ω, angular acceleration ω̇ and the acceleration a of the
frame's origin; mass as the moments m, h = ∫ x dm and Σ = ∫ x xᵀ dm about it. Force and moment of a
body are then linear in (m, h, Σ):

    U = ω̇~ + ω~ω~          f = m a + U h          n = vee(U Σ − (U Σ)ᵀ) + h × a

so that every zero among the parameters saves operations when this is recorded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.algebra.branch_factor import branch_solve
from closedform.maths.algorithms.joint_steps import Step, Symmetric, carried, steps
from closedform.maths.kinematics import body_segments
from closedform.maths.spatial import cross
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot
from closedform.model.segments import Segment


class Moments(NamedTuple):
    """Mass, first and second moments of a body about its frame's origin."""

    m: Any
    h: Array          # (3,)
    Sigma: Symmetric  # xx, xy, yy, xz, yz, zz


class Motion(NamedTuple):
    """Motion of a frame, in its own axes."""

    w: Array   # (3,) angular velocity
    U: Array   # (3, 3) ω̇~ + ω~ω~
    dw: Array  # (3,) angular acceleration
    a: Array   # (3,) acceleration of the origin, less gravity


def moments(inertia: Inertia) -> Moments:
    """m, h and Σ = ½ tr(I) 1 − I of an inertia."""
    xx, xy, yy, xz, yz, zz = inertia.array[4:]
    return Moments(inertia.mass, inertia.first_moment,
                   ((yy + zz - xx) / 2, -xy, (xx + zz - yy) / 2, -xz, -yz, (xx + yy - zz) / 2))


def rotation_rates(w: Array, dw: Array) -> Array:
    """U = ω̇~ + ω~ω~, (3, 3): U x is the acceleration of the point x relative to the origin."""
    xp = namespace(w, dw)
    x, y, z = w
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return xp.array([[-(yy + zz), xy - dw[2], xz + dw[1]],
                     [xy + dw[2], -(xx + zz), yz - dw[0]],
                     [xz - dw[1], yz + dw[0], -(xx + yy)]])


def body_force(body: Moments, w: Array, U: Array, a: Array) -> tuple[Array, Array]:
    """Force f and moment n about the origin, (3,) each, that move a body as U and a say.

        f = m a + U h,   n = vee(U Σ − (U Σ)ᵀ) + h × a

    The differences of U's diagonal are taken as those of ω's squares: U_zz − U_yy = ω_z² − ω_y².
    """
    xp = namespace(w, U, a)
    m, h, (xx, xy, yy, xz, yz, zz) = body
    x, y, z = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    f = m * a + U @ h
    n = xp.stack([
        U[2, 1] * yy - U[1, 2] * zz + U[2, 0] * xy - U[1, 0] * xz + (z - y) * yz,
        U[0, 2] * zz - U[2, 0] * xx + U[0, 1] * yz - U[2, 1] * xy + (x - z) * xz,
        U[1, 0] * xx - U[0, 1] * yy + U[1, 2] * xz - U[0, 2] * yz + (y - x) * xy])
    return f, n + cross(h, a)


def next_motion(segment: Segment, step: Step, parent: Motion, v: Array, a: Array | None) -> Motion:
    """Motion of a segment from its parent's; a None: no accelerations of the joints.

        ω_k  = Rᵀ ω_p + s_ω
        ω̇_k  = Rᵀ ω̇_p + (Rᵀ ω_p) × s_ω + ṡ_ω
        a_k  = Rᵀ (a_p + U_p p) + (2 Rᵀ ω_p + s_ω) × s_v + ṡ_v

    with the joint's twist (s_v; s_ω) = S v and its rate (ṡ_v; ṡ_ω) = S a.
    """
    S, w, dw = segment.S, step.down(parent.w), step.down(parent.dw)
    linear = step.down(parent.a + parent.U @ step.p)
    if segment.v_index:
        s = S @ segment.velocities(v)
        linear = linear + cross(2 * w + s[3:], s[:3])
        dw = dw + cross(w, s[3:])
        w = w + s[3:]
        if a is not None:
            ds = S @ segment.velocities(a)
            linear, dw = linear + ds[:3], dw + ds[3:]
    return Motion(w, rotation_rates(w, dw), dw, linear)


def world_motion(robot: Robot, xp: Any, gravity: bool = True) -> Motion:
    """The world's motion: at rest, accelerated against gravity."""
    zero = xp.zeros(3)
    return Motion(zero, xp.zeros((3, 3)), zero, -robot.gravity if gravity else zero)


def inverse_dynamics(
    robot: Robot, q: Array, v: Array, a: Array, wrenches: Array | None = None,
) -> Array:
    """τ = M a + C v + g − Σ J_kᵀ F_k by Newton and Euler, (nv,): O(n)."""
    tau = newton_euler(robot, q, v, a, wrenches)
    return tau + robot.rotor_inertia * a


def bias(robot: Robot, q: Array, v: Array) -> Array:
    """C v + g, (nv,): Newton–Euler without accelerations."""
    return newton_euler(robot, q, v, None)


def coriolis_torque(robot: Robot, q: Array, v: Array) -> Array:
    """C v, (nv,): Newton–Euler without accelerations and gravity."""
    return newton_euler(robot, q, v, None, gravity=False)


def newton_euler(
    robot: Robot, q: Array, v: Array, a: Array | None, wrenches: Array | None = None,
    gravity: bool = True,
) -> Array:
    """Joint torques, (nv,), without the rotors'; a None: no accelerations of the joints.

    Motions from root to leaves (`next_motion`), forces of the bodies (`body_force`) less the
    wrenches, and their sums from leaves to root (`joint_torques`).
    """
    xp = namespace(q, v, *(x for x in (a, wrenches) if x is not None))
    way = steps(robot, q)
    _, f, n = motions_and_forces(robot, way, v, a, wrenches, xp, gravity)
    return joint_torques(robot, way, f, n, xp)


def motions_and_forces(
    robot: Robot, way: list[Step], v: Array, a: Array | None, wrenches: Array | None, xp: Any,
    gravity: bool = True,
) -> tuple[list[Motion], list[Array], list[Array]]:
    """Motions of all segments, and the forces and moments on them; lists start with the world."""
    motion = [world_motion(robot, xp, gravity)]
    f: list[Array] = [xp.zeros(3)]
    n: list[Array] = [xp.zeros(3)]
    for segment, step in zip(robot.segments, way, strict=True):
        here = next_motion(segment, step, motion[segment.parent], v, a)
        motion.append(here)
        f_k, n_k = xp.zeros(3), xp.zeros(3)
        if segment.inertia is not None:
            f_k, n_k = body_force(moments(segment.inertia), here.w, here.U, here.a)
        f.append(f_k)
        n.append(n_k)
    if wrenches is not None:
        for number, k in enumerate(body_segments(robot)):
            f[k], n[k] = f[k] - wrenches[number][:3], n[k] - wrenches[number][3:]
    return motion, f, n


def joint_torques(robot: Robot, way: list[Step], f: list[Array], n: list[Array], xp: Any) -> Array:
    """Torques of the forces f_k, n_k on all segments, (nv,), from leaves to root.

        τ_k = S_kᵀ (f_k; n_k),   f_p += R f_k,   n_p += R n_k + p × R f_k

    f and n start with the world and are used up: each becomes the sum over its subtree.
    """
    tau: list[Any] = [0] * robot.nv
    for k in range(len(way), 0, -1):
        segment, step = robot.segments[k - 1], way[k - 1]
        for c, i in enumerate(segment.v_index):
            tau[i] = tau[i] + (segment.S[:3, c] @ f[k] + segment.S[3:, c] @ n[k])
        if segment.parent:
            force, moment = carried(step, f[k], n[k])
            f[segment.parent] = f[segment.parent] + force
            n[segment.parent] = n[segment.parent] + moment
    return xp.stack(tau) if tau else xp.zeros(0)


def gravity_torque(robot: Robot, q: Array) -> Array:
    """g, (nv,): weights of subtrees, carried from leaves to root with gravity seen in every frame.

        g_k = S_vᵀ (m γ) + S_ωᵀ (h × γ),   γ = Rᵀ γ_p

    m and h are the composite moments behind joint k; γ of the world is −gravity.
    """
    xp = namespace(q)
    way = steps(robot, q)
    gamma: list[Array] = [-robot.gravity]
    for segment, step in zip(robot.segments, way, strict=True):
        gamma.append(step.down(gamma[segment.parent]))
    inertias = [None, *(segment.inertia for segment in robot.segments)]
    m: list[Any] = [0 if I is None else I.mass for I in inertias]
    h = [xp.zeros(3) if I is None else I.first_moment for I in inertias]
    g: list[Any] = [0] * robot.nv
    for k in range(len(way), 0, -1):
        segment, step, p = robot.segments[k - 1], way[k - 1], robot.segments[k - 1].parent
        moment, force = cross(h[k], gamma[k]), m[k] * gamma[k]
        for c, i in enumerate(segment.v_index):
            g[i] = g[i] + (segment.S[:3, c] @ force + segment.S[3:, c] @ moment)
        if p:
            m[p], h[p] = m[p] + m[k], h[p] + (step.up(h[k]) + m[k] * step.p)
    return xp.stack(g) if g else xp.zeros(0)


def passivity_inverse_dynamics(robot: Robot, q: Array, v: Array, v_r: Array, a_r: Array) -> Array:
    """M a_r + C v_r + g with the C of (6b), (nv,): Newton–Euler with a second velocity, O(n).

        F = Λ A_r + (Λ V× − (V×)ᵀ Λ) V_r

    in the body's frame, with V = J v, V_r = J v_r and A_r = J a_r + dJ v_r + γ, γ being −gravity.
    """
    xp = namespace(q, v, v_r, a_r)
    way = steps(robot, q)
    zero = xp.zeros(3)
    state = [(zero, zero, zero, zero, zero, -robot.gravity)]  # ω, V; ω_r, V_r; Ȧ_r angular, linear
    f, n = [zero], [zero]
    for segment, step in zip(robot.segments, way, strict=True):
        w, u, w_r, u_r, dw_r, du_r = state[segment.parent]
        p = step.p
        w, u = step.down(w), step.down(u + cross(w, p))
        w_r, u_r = step.down(w_r), step.down(u_r + cross(w_r, p))
        dw_r, du_r = step.down(dw_r), step.down(du_r + cross(dw_r, p))
        s, s_r, ds_r = (segment.S @ segment.velocities(x) for x in (v, v_r, a_r))
        dw_r = dw_r - cross(s[3:], w_r) + ds_r[3:]
        du_r = du_r - cross(s[3:], u_r) - cross(s[:3], w_r) + ds_r[:3]
        w, u, w_r, u_r = w + s[3:], u + s[:3], w_r + s_r[3:], u_r + s_r[:3]
        state.append((w, u, w_r, u_r, dw_r, du_r))
        if segment.inertia is None:
            f.append(zero)
            n.append(zero)
            continue
        body = moments(segment.inertia)
        # Λ (A_r + V× V_r) + V×* (Λ V_r)
        f_a, n_a = momentum(body, du_r + cross(w, u_r) + cross(u, w_r), dw_r + cross(w, w_r))
        f_r, n_r = momentum(body, u_r, w_r)
        f.append(f_a + cross(w, f_r))
        n.append(n_a + cross(u, f_r) + cross(w, n_r))
    return joint_torques(robot, way, f, n, xp) + robot.rotor_inertia * a_r


def momentum(body: Moments, u: Array, w: Array) -> tuple[Array, Array]:
    """Λ (u; ω) of a body: f = m u + ω × h, n = h × u + (tr Σ 1 − Σ) ω."""
    m, h, (xx, xy, yy, xz, yz, zz) = body
    xp = namespace(u, w, h)
    turning = xp.stack([(yy + zz) * w[0] - xy * w[1] - xz * w[2],
                        (xx + zz) * w[1] - xy * w[0] - yz * w[2],
                        (xx + yy) * w[2] - xz * w[0] - yz * w[1]])
    return m * u + cross(w, h), cross(h, u) + turning


def composites(robot: Robot, way: list[Step], xp: Any) -> list[Moments]:
    """Moments of every segment with all that it carries, about its frame's origin.

        m_p += m,   h_p += R h + m p,   Σ_p += R Σ Rᵀ + p tᵀ + t pᵀ,   t = R h + ½ m p

    The list starts with the world, which stays empty.
    """
    none = Moments(0, xp.zeros(3), (0, 0, 0, 0, 0, 0))
    found = [none] + [none if s.inertia is None else moments(s.inertia) for s in robot.segments]
    for k in range(len(way), 0, -1):
        p, step = robot.segments[k - 1].parent, way[k - 1]
        if p:
            found[p] = _joined(found[p], found[k], step)
    return found


def _joined(parent: Moments, child: Moments, step: Step) -> Moments:
    p, mp, h = step.p, child.m * step.p, step.up(child.h)
    t, (xx, xy, yy, xz, yz, zz) = h + mp / 2, step.up_symmetric(child.Sigma)
    x, y = parent.Sigma, (
        xx + 2 * p[0] * t[0], xy + (p[0] * t[1] + t[0] * p[1]), yy + 2 * p[1] * t[1],
        xz + (p[0] * t[2] + t[0] * p[2]), yz + (p[1] * t[2] + t[1] * p[2]), zz + 2 * p[2] * t[2])
    Sigma = (x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4], x[5] + y[5])
    return Moments(parent.m + child.m, parent.h + (h + mp), Sigma)


def mass_matrix(robot: Robot, q: Array) -> Array:
    """M by composite bodies, (nv, nv), in O(n d).

        M_ij = S_iᵀ (Λ S_j)

    Λ is the composite inertia behind joint j, and its momentum Λ S_j is carried to the ancestors i.
    """
    xp = namespace(q)
    way = steps(robot, q)
    composite = composites(robot, way, xp)
    M: dict[tuple[int, int], Any] = {(i, i): robot.rotor_inertia[i] for i in range(robot.nv)}

    def enter(i: int, j: int, value: Any) -> None:
        M[i, j] = M.get((i, j), 0) + value

    for k, segment in enumerate(robot.segments, start=1):
        for c, j in enumerate(segment.v_index):
            f, n = momentum(composite[k], segment.S[:3, c], segment.S[3:, c])
            for d, i in enumerate(segment.v_index):
                if d >= c:
                    value = segment.S[:3, d] @ f + segment.S[3:, d] @ n
                    enter(i, j, value)
                    if d > c:
                        enter(j, i, value)
            at = k
            while robot.segments[at - 1].parent:
                f, n = carried(way[at - 1], f, n)
                at = robot.segments[at - 1].parent
                above = robot.segments[at - 1]
                for d, i in enumerate(above.v_index):
                    value = above.S[:3, d] @ f + above.S[3:, d] @ n
                    enter(i, j, value)
                    enter(j, i, value)  # for a mimic i may be j: both halves belong there
    return xp.stack([xp.stack([M.get((i, j), 0) + xp.zeros(()) for j in range(robot.nv)])
                     for i in range(robot.nv)]) if robot.nv else xp.zeros((0, 0))


def forward_dynamics(
    robot: Robot, q: Array, v: Array, tau: Array, wrenches: Array | None = None,
) -> Array:
    """a = M⁻¹ (τ + Σ J_kᵀ F_k − C v − g), (nv,), by the branch-sparse factor of M."""
    force = tau - newton_euler(robot, q, v, None, wrenches)
    return branch_solve(robot, mass_matrix(robot, q), force)
