"""Derivatives by the state of robots with loops, from those of their spanning trees.

Along the direction k of the independent joints the tree moves by G e_k, and with K v = 0 and
K a + K̇ v = 0 kept,

    K_d ∂_k v_d = −(∂_k K) v        K_d ∂_k a_d = −((∂_k K) a + ∂_k (K̇ v))                  (i)
    ∂â/∂ẏ = ∂v̂/∂y + Ġ
    ∂_k (Gᵀ τ) = Gᵀ ∂_k τ − Gᵀ (∂_k K)ᵀ λ,        λ = K_d⁻ᵀ τ_d                              (ii)

with ẏ and ÿ held: ∂_k is left-trivialised as it is for trees. (∂_k K)ᵀ λ is the geometric stiffness
of the loops' forces. What has three indices is differentiated along series of one direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from closedform.arrays import Array, namespace
from closedform.maths import pull_backs, state_pull_backs
from closedform.maths.algebra.lu import is_zero
from closedform.maths.algorithms import newton_euler
from closedform.maths.definitions.closed_form import coriolis_matrix
from closedform.maths.definitions.second_derivatives import InverseDynamicsSecondDerivatives
from closedform.maths.definitions.state_derivatives import StateDerivatives
from closedform.maths.loops.embedding import Here, LoopEmbedding
from closedform.maths.pull_backs import Seen, instead_of
from closedform.maths.quantity import Function
from closedform.maths.scalars.dual import duals, first
from closedform.maths.scalars.moving import coordinate_series
from closedform.maths.scalars.series import coefficient
from closedform.maths.spatial import crm
from closedform.model.loops.gap import Columns, drift, jacobian_rows
from closedform.model.robot import Robot


class Partials(NamedTuple):
    """How the tree's v̂ and â change with y and ẏ, (n, n_y) each, and K with y."""

    G: Array
    Vq: Array
    Aq: Array
    Av: Array
    dK: list[list[Columns]]       # [k][row]


def partials(seen: Seen) -> Partials:
    """(i), for every direction."""
    e: LoopEmbedding = seen.e
    here, q = e.here(seen.q), seen.q
    motion = e.rates(q, seen.motion)
    v, a = (*motion, *[namespace(q).zeros(e.free.nv)] * 2)[:2]
    still = len(motion) < 1
    dK_dt = [] if still else e.jacobian_along(q, v)
    Vq, Aq, Av, dK = [], [], [], []
    for k in range(seen.robot.nv):
        way = here.G[:, k]
        moved = e.along(q, way)
        every = jacobian_rows(e.free, e.closure.gaps, moved)
        own = [{i: first(x) for i, x in every[r].items()} for r in e.closure.rows]
        dK.append(own)
        V = _dependent(here, product(own, v)) if not still else namespace(q).zeros(e.free.nv)
        bent = [0] * len(own) if still else _kept(e, drift(e.free, e.closure.gaps, moved,
                                                          duals(v, V)))
        Vq.append(V)
        Aq.append(_dependent(here, [x + y for x, y in zip(product(own, a), bent, strict=True)]))
        Av.append(V if still else V + _dependent(here, product(dK_dt, way)))
    xp = namespace(q, *motion)
    n = e.free.nv
    by = [xp.stack(x, axis=1) if x else xp.zeros((n, 0)) for x in (Vq, Aq, Av)]
    return Partials(here.G, by[0], by[1], by[2], dK)


def product(rows: Sequence[Columns], v: Array) -> list[Any]:
    """Rows by entries times a vector of the tree's velocities."""
    return [sum((x * v[i] for i, x in row.items() if not is_zero(x)), 0) for row in rows]


def _kept(e: LoopEmbedding, changes: Sequence[Any]) -> list[Any]:
    return [first(changes[r]) for r in e.closure.rows]


def _dependent(here: Here, b: Sequence[Any]) -> Array:
    """The tree's rates whose independent part is zero: K_d⁻¹ of −b."""
    xp = here.xp
    zero = xp.zeros(())
    return here.spread(xp.zeros(here.of.robot.nv), [-x for x in here.solve([x + zero for x in b])],
                       here.of.free.nv)


def stiffness(seen: Seen, x: Partials, tau: Array) -> Array:
    """Column k is ∂_k Gᵀ τ̂ with τ̂ held: −Gᵀ (∂_k K)ᵀ λ, (n_y, n_y)."""
    here = seen.e.here(seen.q)
    _, force = here.lowered(tau)
    xp = namespace(tau, seen.q)
    columns = []
    for own in x.dK:
        pull: dict[int, Any] = {}
        for row, f in zip(own, force, strict=True):
            for i, K in row.items():
                if not is_zero(K):
                    pull[i] = pull[i] + K * f if i in pull else K * f
        zero = xp.zeros(())
        columns.append(-(x.G.T @ xp.stack([pull[i] + zero if i in pull else zero
                                           for i in range(seen.e.free.nv)])))
    return xp.stack(columns, axis=1) if columns else xp.zeros((0, 0))


def _by_q(x: Partials, dq: Array, dv: Array, da: Array) -> Array:
    return dq @ x.G + dv @ x.Vq + da @ x.Aq


# ---------------------------------------------------------------------- first derivatives
def _derivatives(seen: Seen, found: Any, tau: Array) -> Any:
    x = partials(seen)
    by_v = found.dtau_dv @ x.G + found.dtau_da @ x.Av
    by_q = _by_q(x, found.dtau_dq, found.dtau_dv, found.dtau_da)
    return found._replace(dtau_dq=x.G.T @ by_q + stiffness(seen, x, tau), dtau_dv=x.G.T @ by_v,
                          dtau_da=x.G.T @ found.dtau_da @ x.G)


@instead_of(state_pull_backs.inverse_dynamics_derivatives)
def inverse_dynamics_derivatives(function: Function, seen: Seen, inverse: Function) -> Any:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a."""
    return _derivatives(seen, seen.free(function), seen.free(inverse))


@instead_of(state_pull_backs.inverse_dynamics_and_derivatives)
def inverse_dynamics_and_derivatives(function: Function, seen: Seen) -> Any:
    """τ and the same."""
    found = seen.free(function)
    tau, _ = seen.e.here(seen.q).lowered(found.tau)
    return _derivatives(seen, found, found.tau)._replace(tau=tau)


@instead_of(state_pull_backs.inverse_dynamics_jvp)
def inverse_dynamics_jvp(function: Function, seen: Seen, inverse: Function) -> Array:
    """Gᵀ τ̂̇ along the direction that the tree takes, and the loops' stiffness."""
    x = partials(seen)
    q, v, a = (seen.given[name] for name in ("q_dot", "v_dot", "a_dot"))
    found = seen.free(function, q_dot=x.G @ q, v_dot=x.Vq @ q + x.G @ v,
                      a_dot=x.Aq @ q + x.Av @ v + x.G @ a)
    return x.G.T @ found + stiffness(seen, x, seen.free(inverse)) @ q


@instead_of(state_pull_backs.inverse_dynamics_vjp)
def inverse_dynamics_vjp(function: Function, seen: Seen, inverse: Function) -> Any:
    """The same backwards."""
    x, weights = partials(seen), seen.given["tau_bar"]
    found = seen.free(function, tau_bar=x.G @ weights)
    q_bar = (x.G.T @ found.q_bar + x.Vq.T @ found.v_bar + x.Aq.T @ found.a_bar
             + stiffness(seen, x, seen.free(inverse)).T @ weights)
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
