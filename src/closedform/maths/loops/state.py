"""Derivatives by the state of robots with loops, from those of their spanning trees.

With D and B of `curvature`, W_ri = Σ_j D_rij v_j and K̇_rj = Σ_i D_rij v_i, and K v = 0 and
K a + K̇ v = 0 kept,

    K_d ∂v_d/∂y = −W G              K_d ∂a_d/∂y = −(B G + (W + K̇) ∂v/∂y)                     (i)
    ∂a/∂ẏ = ∂v/∂y + Ġ               Ġ = ∂v/∂y − (ad_v G − G (ad_v G)_y)
    ∂(Gᵀ τ)/∂y = Gᵀ ((τ_q − S) G + τ_v ∂v/∂y + M ∂a/∂y)                                     (ii)
    S_ji = Σ_r λ_r D_rij,           λ = K_d⁻ᵀ τ_d

all by one factor, with ẏ and ÿ held: derivatives are left-trivialised as they are for trees, where
ad is the bracket of turns of one joint. S is the geometric stiffness of the loops' forces. What has
three indices is differentiated along series of one direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array, Namespace, namespace
from closedform.maths import pull_backs, state_pull_backs
from closedform.maths.algebra.lu import is_zero
from closedform.maths.algorithms import newton_euler
from closedform.maths.definitions.closed_form import coriolis_matrix
from closedform.maths.definitions.second_derivatives import InverseDynamicsSecondDerivatives
from closedform.maths.definitions.state_derivatives import StateDerivatives
from closedform.maths.loops import legs
from closedform.maths.loops.curvature import curvature
from closedform.maths.loops.embedding import Here, LoopEmbedding
from closedform.maths.pull_backs import Seen, instead_of
from closedform.maths.quantity import Function
from closedform.maths.scalars.moving import coordinate_series
from closedform.maths.scalars.series import coefficient
from closedform.maths.spatial import crm
from closedform.model.loops.gap import Columns
from closedform.model.robot import Robot


class Partials(NamedTuple):
    """How the tree's v̂ and â change with y and ẏ, (n, n_y) each, and K with q."""

    G: Array
    Vq: Array
    Aq: Array
    Av: Array
    D: list[dict[int, Columns]]


def partials(seen: Seen) -> Partials:
    """(i)."""
    e: LoopEmbedding = seen.e
    here, q, G = e.here(seen.q), seen.q, e.here(seen.q).G
    motion = e.rates(q, seen.motion)
    v, a = (*motion, *[namespace(q).zeros(e.free.nv)] * 2)[:2]
    D, B = curvature(e, q, v, a)
    if not motion:
        none = namespace(q).zeros(G.shape)
        return Partials(G, none, none, none, D)
    W = [{i: _sum(x * v[j] for j, x in row.items()) for i, row in rows.items()} for rows in D]
    rate = [_columns(rows, v) for rows in D]
    Vq = _dependent(here, [_times(row, G) for row in W])
    both = [{i: x.get(i, 0) + y.get(i, 0) for i in {**x, **y}}
            for x, y in zip(W, rate, strict=True)]
    Aq = _dependent(here, [_times(x, G) + _times(y, Vq) for x, y in zip(B, both, strict=True)])
    return Partials(G, Vq, Aq, 2 * Vq - _brackets(e, v, G), D)


def _sum(terms: Iterable[Any]) -> Any:
    found = [x for x in terms if not is_zero(x)]
    return sum(found[1:], found[0]) if found else 0


def _columns(rows: Mapping[int, Columns], v: Array) -> Columns:
    """Σ_i v_i D_i, a row."""
    found: dict[int, list[Any]] = {}
    for i, row in rows.items():
        for j, x in row.items():
            found.setdefault(j, []).append(x * v[i])
    return {j: _sum(terms) for j, terms in found.items()}


def _times(row: Columns, X: Array) -> Array:
    """A row times a matrix of the tree's velocities, (n_y,)."""
    found = namespace(X).zeros(X.shape[1])
    for i, x in row.items():
        if not is_zero(x):
            found = found + x * X[i]
    return found


def _dependent(here: Here, b: Sequence[Array]) -> Array:
    """The tree's rates whose independent part is zero: K_d⁻¹ of −b, (n, n_y)."""
    ny = here.of.robot.nv
    return here.spread(here.xp.zeros((ny, ny)), [-x for x in here.solve(b)], here.of.free.nv)


def _brackets(e: LoopEmbedding, v: Array, G: Array) -> Array:
    """ad_v G − G (ad_v G)_y, (n, n_y): zero but for joints whose turns do not commute.

    The rows (ad_v G)_y are ad_ẏ if no such joint is independent in part.
    """
    xp, tree, own = namespace(v, G), e.free, np.array(e.closure.independent, dtype=int)
    found = [xp.zeros(G.shape[1]) for _ in range(tree.nv)]
    for s in tree.segments:
        if s.v_index and not s.joint.is_vector:
            for i, row in zip(s.v_index, legs.joint_bracket(s, v), strict=True):
                found[i] = _times(dict(zip(s.v_index, row, strict=True)), G)
    turned = xp.stack(found) if found else xp.zeros(G.shape)
    return turned - G @ turned[own]


def pulled(x: Partials, force: Sequence[Any], n: int, xp: Namespace) -> Array:
    """S, (n, n): how Kᵀ λ changes with the tree's velocities, λ held."""
    total: dict[tuple[int, int], list[Any]] = {}
    for rows, f in zip(x.D, force, strict=True):
        for i, row in rows.items():
            for j, K in row.items():
                total.setdefault((j, i), []).append(K * f)
    zero = xp.zeros(())
    return xp.stack([xp.stack([_sum(total.get((j, i), ())) + zero for i in range(n)])
                     for j in range(n)]) if n else xp.zeros((0, 0))


def stiffness(seen: Seen, x: Partials, tau: Array) -> Array:
    """S of the loops' forces at the torques τ̂ of the tree, (n, n)."""
    _, force = seen.e.here(seen.q).lowered(tau)
    return pulled(x, force, seen.e.free.nv, namespace(tau, seen.q))


def _by_q(x: Partials, dq: Array, dv: Array, da: Array) -> Array:
    return dq @ x.G + dv @ x.Vq + da @ x.Aq


# ---------------------------------------------------------------------- first derivatives
def _derivatives(seen: Seen, found: Any, tau: Array) -> tuple[Array, Any]:
    """τ, and `found` of the tree as that of the robot."""
    e: LoopEmbedding = seen.e
    if e.platform is not None:
        state = (seen.q, *e.rates(seen.q, seen.motion))
        tau, by_a, by_v, by_q = legs.derivatives(e.platform, e.free, state, legs.TorqueSlopes(
            tau, found.dtau_da, found.dtau_dv, found.dtau_dq))
        return tau, found._replace(dtau_dq=by_q, dtau_dv=by_v, dtau_da=by_a)
    x = partials(seen)
    by_v = found.dtau_dv @ x.G + found.dtau_da @ x.Av
    by_q = _by_q(x, found.dtau_dq - stiffness(seen, x, tau), found.dtau_dv, found.dtau_da)
    return e.here(seen.q).lowered(tau)[0], found._replace(
        dtau_dq=x.G.T @ by_q, dtau_dv=x.G.T @ by_v, dtau_da=x.G.T @ (found.dtau_da @ x.G))


@instead_of(state_pull_backs.inverse_dynamics_derivatives)
def inverse_dynamics_derivatives(function: Function, seen: Seen, inverse: Function) -> Any:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a."""
    return _derivatives(seen, seen.free(function), seen.free(inverse))[1]


@instead_of(state_pull_backs.inverse_dynamics_and_derivatives)
def inverse_dynamics_and_derivatives(function: Function, seen: Seen) -> Any:
    """τ and the same."""
    free = seen.free(function)
    tau, found = _derivatives(seen, free, free.tau)
    return found._replace(tau=tau)


@instead_of(state_pull_backs.inverse_dynamics_jvp)
def inverse_dynamics_jvp(function: Function, seen: Seen, inverse: Function) -> Array:
    """Gᵀ τ̂̇ along the direction that the tree takes, and the loops' stiffness."""
    x = partials(seen)
    q, v, a = (seen.given[name] for name in ("q_dot", "v_dot", "a_dot"))
    found = seen.free(function, q_dot=x.G @ q, v_dot=x.Vq @ q + x.G @ v,
                      a_dot=x.Aq @ q + x.Av @ v + x.G @ a)
    return x.G.T @ (found - stiffness(seen, x, seen.free(inverse)) @ (x.G @ q))


@instead_of(state_pull_backs.inverse_dynamics_vjp)
def inverse_dynamics_vjp(function: Function, seen: Seen, inverse: Function) -> Any:
    """The same backwards."""
    x, weights = partials(seen), seen.given["tau_bar"]
    found = seen.free(function, tau_bar=x.G @ weights)
    S = stiffness(seen, x, seen.free(inverse))
    q_bar = (x.G.T @ (found.q_bar - S.T @ (x.G @ weights)) + x.Vq.T @ found.v_bar
             + x.Aq.T @ found.a_bar)
    return found._replace(q_bar=q_bar, v_bar=x.G.T @ found.v_bar + x.Av.T @ found.a_bar,
                          a_bar=x.G.T @ found.a_bar)


@instead_of(state_pull_backs.centroidal_derivatives)
def centroidal_derivatives(function: Function, seen: Seen) -> Any:
    """Of h(q̂, v̂) and its rate; ∂h/∂v̂ is ∂ḣ/∂â."""
    found, x = seen.free(function), partials(seen)
    return found._replace(
        dh_dq=found.dh_dq @ x.G + found.ddh_da @ x.Vq,
        ddh_dq=_by_q(x, found.ddh_dq, found.ddh_dv, found.ddh_da),
        ddh_dv=found.ddh_dv @ x.G + found.ddh_da @ x.Av, ddh_da=found.ddh_da @ x.G)


# ---------------------------------------------------------------------- along one direction
LoopFunction = Callable[[Array], Any]


def along(seen: Seen, function: LoopFunction, direction: Array, order: int = 1) -> list[Array]:
    """The derivatives of a function of q along the motion with the constant ẏ = direction."""
    e, xp = seen.e, namespace(seen.q)
    rates = e.rates(seen.q, [direction, *[xp.zeros(seen.robot.nv)] * (order - 1)])
    found = np.asarray(function(coordinate_series(e.free, seen.q, xp.stack(rates))), dtype=object)
    factor = {1: 1, 2: 2}
    return [xp.array((factor[k] * coefficient(found, k)).tolist()) + xp.zeros(found.shape)
            for k in range(1, order + 1)]


def _each(seen: Seen, function: LoopFunction) -> Array:
    """∂ of a function of q by all directions, the new index last."""
    xp = namespace(seen.q)
    columns = [along(seen, function, e)[0] for e in xp.eye(seen.robot.nv)]
    return xp.stack(columns, axis=columns[0].ndim)


@instead_of(pull_backs.hessian)
def hessian(function: Function, seen: Seen, J: Function) -> Array:
    """∂J_ij/∂q_k."""
    if not seen.robot.nv:
        return namespace(seen.q).zeros((6, 0, 0))
    rest = {k: x for k, x in seen.given.items() if k not in ("robot", "q")}
    return _each(seen, lambda q: J(seen.robot, q, **rest))


@instead_of(pull_backs.symbols)
def symbols(function: Function, seen: Seen, mass: Function) -> Array:
    """Γ_ijk = Γ̂ G G G, and Gᵀ M̂ ∂_k G."""
    e, xp = seen.e, namespace(seen.q)
    G, M = e.here(seen.q).G, seen.free(mass)
    own = [G.T @ M @ e.slope_rates(seen.q, [y])[1] for y in xp.eye(seen.robot.nv)]
    if not own:
        return xp.zeros((0, 0, 0))
    return e.folded(seen.free(function), G, G, G) + xp.stack(own, axis=2)


@instead_of(state_pull_backs.state_derivatives)
def state_derivatives(function: Function, seen: Seen, matrices: Function) -> Any:
    """∂M/∂q, ∂C/∂q, ∂C/∂v and ∂g/∂q; C is linear in v."""
    robot, v, xp, n = seen.robot, seen.given["v"], namespace(seen.q), seen.robot.nv
    if not n:
        cube = xp.zeros((0, 0, 0))
        return StateDerivatives(cube, cube, cube, xp.zeros((0, 0)))

    def packed(q: Array) -> Array:
        found = matrices(robot, q, v)
        return np.concatenate([found.M, found.C, np.stack([found.g], axis=1)], axis=1)

    every = _each(seen, packed)
    C_v = xp.stack([matrices(robot, seen.q, e).C for e in xp.eye(n)], axis=2)
    return StateDerivatives(every[:, :n], every[:, n:2 * n], C_v, every[:, 2 * n])


@instead_of(state_pull_backs.second_derivatives)
def second_derivatives(function: Function, seen: Seen, first_ones: Function) -> Any:
    """The second derivatives of τ.

        ∂_k ∂_j τ = ½ (D²_{j+k} − D²_j − D²_k) τ + ½ ∂_{[k, j]} τ

    D_d being the derivative along the motion with ẏ = d, and [k, j] what two turns of one joint do
    not commute by.
    """
    robot, q, (v, a), xp = seen.robot, seen.q, seen.motion, namespace(seen.q, *seen.motion)
    n, e = robot.nv, seen.e
    if not n:
        return InverseDynamicsSecondDerivatives(*(xp.zeros((0, 0, 0)) for _ in range(4)))
    eye, G = namespace(q).eye(n), e.here(q).G

    def twice(d: Array) -> Array:
        return along(seen, lambda at: newton_euler.inverse_dynamics(robot, at, v, a), d, 2)[1]

    own = [twice(eye[k]) for k in range(n)]
    slope = first_ones(robot, q, v, a).dtau_dq
    qq: list[list[Any]] = [[None] * n for _ in range(n)]
    for j in range(n):
        qq[j][j] = own[j]
        for k in range(j):
            both = (twice(eye[j] + eye[k]) - own[j] - own[k]) / 2
            bracket = slope @ _bracket(e.free, e.closure.independent, G[:, k], G[:, j]) / 2
            qq[j][k], qq[k][j] = both + bracket, both - bracket
    by_q = [_each(seen, partial(_by_speed, robot, v=v, e=eye[k])) for k in range(n)]
    qv = xp.stack(by_q, axis=2)
    vv = xp.stack([xp.stack([coriolis_matrix(robot, q, eye[j]) @ eye[k]
                             + coriolis_matrix(robot, q, eye[k]) @ eye[j] for k in range(n)],
                            axis=1) for j in range(n)], axis=1)
    M_q = _each(seen, lambda at: newton_euler.mass_matrix(robot, at))
    qa = xp.stack([M_q[:, :, j] for j in range(n)], axis=1)
    return InverseDynamicsSecondDerivatives(
        xp.stack([xp.stack(row, axis=1) for row in qq], axis=1), qv, vv, qa)


def _by_speed(robot: Robot, q: Array, v: Array, e: Array) -> Array:
    """∂τ/∂v along e: C(v) e + C(e) v."""
    return coriolis_matrix(robot, q, v) @ e + coriolis_matrix(robot, q, e) @ v


def _bracket(tree: Robot, independent: Sequence[int], x: Array, y: Array) -> Array:
    """The independent part of x × y, joint by joint: zero but for turns that do not commute."""
    xp = namespace(x, y)
    found = [xp.zeros(()) for _ in range(tree.nv)]
    for segment in tree.segments:
        if segment.v_index and not segment.joint.is_vector:
            S = np.asarray(segment.joint.S, dtype=float)
            own = np.linalg.pinv(S) @ (crm(S @ segment.velocities(x)) @ (
                S @ segment.velocities(y)))
            for i, z in zip(segment.v_index, own, strict=True):
                found[i] = z
    return xp.stack([found[i] + xp.zeros(()) for i in independent])
