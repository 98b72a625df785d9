"""The chain rule for derivatives by the state of robots whose joints follow others by polynomials.

A free coordinate that follows q has, with γ and its derivatives at q,

    q̂ = γ         ∂q̂/∂q = γ'
    v̂ = γ' v      ∂v̂/∂q = γ'' v                 ∂v̂/∂v = γ'
    â = γ' a + γ'' v²   ∂â/∂q = γ'' a + γ''' v²   ∂â/∂v = 2 γ'' v   ∂â/∂a = γ'

and the torque τ_i = Σ_r γ'_r τ̂_r changes with q besides by γ''. The rules are those of
`pull_backs`; indices are those of the quantities, that of a derivative last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from closedform.arrays import Array, namespace
from closedform.maths.embedding import Factors
from closedform.maths.pull_backs import Seen, together, twice
from closedform.maths.quantity import Function


class _Partials(NamedTuple):
    """Derivatives of q̂, v̂ and â by q, v and a, in that order: `Vq` is ∂v̂/∂q."""

    Qq: Factors
    Vq: Factors
    Aq: Factors
    Av: Factors


def _partials(seen: Seen) -> _Partials:
    v, a = [*seen.motion, namespace(seen.q).zeros(seen.robot.nv)][:2]
    faster = together(seen.slope(2, a), seen.slope(3, v, v))
    return _Partials(seen.slope(1), seen.slope(2, v), faster, twice(seen.slope(2, v)))


def inverse_dynamics_derivatives(function: Function, seen: Seen, inverse: Function) -> Any:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a; `inverse` gives τ̂."""
    return _derivatives(seen, seen.free(function), seen.free(inverse))


def inverse_dynamics_and_derivatives(function: Function, seen: Seen) -> Any:
    """τ and the same."""
    found = seen.free(function)
    tau = seen.e.folded(found.tau, seen.slope(1))
    return _derivatives(seen, found, found.tau)._replace(tau=tau)


def _derivatives(seen: Seen, found: Any, tau: Array) -> Any:
    x, fold = _partials(seen), seen.e.folded
    by_q = _by_q(seen, x, found.dtau_dq, found.dtau_dv, found.dtau_da)
    by_v = seen.last(found.dtau_dv, x.Qq) + seen.last(found.dtau_da, x.Av)
    return found._replace(
        dtau_dq=fold(by_q, x.Qq) + seen.diagonal(fold(tau, seen.slope(2))),
        dtau_dv=fold(by_v, x.Qq), dtau_da=fold(found.dtau_da, x.Qq, x.Qq))


def inverse_dynamics_jvp(function: Function, seen: Seen, inverse: Function) -> Array:
    """Gᵀ τ̂̇ along the direction that the free robot takes, and γ'' q̇ τ̂; `inverse` gives τ̂."""
    x, up, fold = _partials(seen), seen.e.raised, seen.e.folded
    q, v, a = (seen.given[name] for name in ("q_dot", "v_dot", "a_dot"))
    found = seen.free(function, q_dot=up(q, x.Qq), v_dot=up(q, x.Vq) + up(v, x.Qq),
                      a_dot=up(q, x.Aq) + up(v, x.Av) + up(a, x.Qq))
    return fold(found, x.Qq) + fold(seen.free(inverse), seen.slope(2, q))


def inverse_dynamics_vjp(function: Function, seen: Seen, inverse: Function) -> Any:
    """The same backwards: weights τ̄ of τ are weights G τ̄ of τ̂."""
    x, fold, weights = _partials(seen), seen.e.folded, seen.given["tau_bar"]
    found = seen.free(function, tau_bar=seen.e.raised(weights, x.Qq))
    q_bar = (fold(found.q_bar, x.Qq) + fold(found.v_bar, x.Vq) + fold(found.a_bar, x.Aq)
             + fold(seen.free(inverse), seen.slope(2, weights)))
    v_bar = fold(found.v_bar, x.Qq) + fold(found.a_bar, x.Av)
    return found._replace(q_bar=q_bar, v_bar=v_bar, a_bar=fold(found.a_bar, x.Qq))


def _by_q(seen: Seen, x: _Partials, dq: Array, dv: Array, da: Array) -> Array:
    """The derivative by q of a function of q̂, v̂ and â."""
    return seen.last(dq, x.Qq) + seen.last(dv, x.Vq) + seen.last(da, x.Aq)


def centroidal_derivatives(function: Function, seen: Seen) -> Any:
    """Of h(q̂, v̂) and its rate; ∂h/∂v̂ is ∂ḣ/∂â."""
    found, x, last = seen.free(function), _partials(seen), seen.last
    return found._replace(
        dh_dq=last(found.dh_dq, x.Qq) + last(found.ddh_da, x.Vq),
        ddh_dq=_by_q(seen, x, found.ddh_dq, found.ddh_dv, found.ddh_da),
        ddh_dv=last(found.ddh_dv, x.Qq) + last(found.ddh_da, x.Av),
        ddh_da=last(found.ddh_da, x.Qq))


# ---------------------------------------------------------------------- tensors of three indices
class _Deltas:
    """Matrices on two equal indices of a tensor T_ijk."""

    def __init__(self, seen: Seen) -> None:
        self.xp, self.eye = namespace(seen.q), namespace(seen.q).eye(seen.robot.nv)

    def ij(self, E: Array) -> Array:
        """δ_ij E_ik."""
        return self.xp.stack([e[:, None] * E for e in self.eye], axis=1)

    def ik(self, E: Array) -> Array:
        """δ_ik E_ij."""
        return self.xp.stack([e[:, None] * E for e in self.eye], axis=2)

    def jk(self, E: Array) -> Array:
        """δ_jk E_ij, of any first index."""
        return self.xp.stack([E * e for e in self.eye], axis=2)


def state_derivatives(function: Function, seen: Seen, matrices: Function) -> Any:
    """∂M/∂q, ∂C/∂q, ∂C/∂v and ∂g/∂q of Gᵀ M̂ G, Gᵀ (Ĉ G + M̂ Ġ) and Gᵀ ĝ, Ġ being γ'' v."""
    found, now, on, fold = seen.free(function), seen.free(matrices), _Deltas(seen), seen.e.folded
    g, bend, v = seen.slope(1), seen.slope(2), seen.given["v"]
    dg, dbend = seen.slope(2, v), seen.slope(3, v)
    M_h = fold(found.dM_dq, g, g, g) + on.ik(fold(now.M, bend, g)) + on.jk(fold(now.M, g, bend))
    C_h = (fold(found.dC_dq, g, g, g) + fold(found.dC_dv, g, g, dg)
           + on.ik(fold(now.C, bend, g) + fold(now.M, bend, dg))
           + on.jk(fold(now.C, g, bend) + fold(now.M, g, dbend)) + fold(found.dM_dq, g, dg, g))
    C_v = fold(found.dC_dv, g, g, g) + on.jk(fold(now.M, g, bend))
    g_h = fold(found.dg_dq, g, g) + seen.diagonal(fold(now.g, bend))
    return found._replace(dM_dq=M_h, dC_dq=C_h, dC_dv=C_v, dg_dq=g_h)


def second_derivatives(function: Function, seen: Seen, first: Function) -> Any:
    """The second derivatives of τ; `first` gives τ̂ and its first ones."""
    f, s, x, on = seen.free(first), seen.free(function), _partials(seen), _Deltas(seen)
    fold, slope, (v, a) = seen.e.folded, seen.slope, seen.motion
    g, bend = slope(1), slope(2)

    def pair(T: Array, one: Factors, two: Factors) -> Array:
        return fold(T, None, one, two)

    def swapped(T: Array) -> Array:
        return on.xp.stack([T[:, :, k] for k in range(seen.robot.nv)], axis=1)

    mixed = pair(s.d2tau_dqdv, x.Qq, x.Vq) + pair(s.d2tau_dqda, x.Qq, x.Aq)
    own = (seen.last(f.dtau_dq, bend) + seen.last(f.dtau_dv, slope(3, v))
           + seen.last(f.dtau_da, together(slope(3, a), slope(4, v, v))))
    qq = (pair(s.d2tau_dqdq, x.Qq, x.Qq) + pair(s.d2tau_dvdv, x.Vq, x.Vq) + mixed + swapped(mixed)
          + on.jk(own))
    qv = (pair(s.d2tau_dqdv, x.Qq, g) + pair(s.d2tau_dqda, x.Qq, x.Av)
          + pair(s.d2tau_dvdv, x.Vq, g)
          + on.jk(seen.last(f.dtau_dv, bend) + seen.last(f.dtau_da, twice(slope(3, v)))))
    vv = pair(s.d2tau_dvdv, g, g) + on.jk(seen.last(f.dtau_da, twice(bend)))
    qa = pair(s.d2tau_dqda, g, g) + on.jk(seen.last(f.dtau_da, bend))
    D_q = fold(_by_q(seen, x, f.dtau_dq, f.dtau_dv, f.dtau_da), bend)
    D_v = fold(seen.last(f.dtau_dv, g) + seen.last(f.dtau_da, x.Av), bend)
    D_a = fold(f.dtau_da, bend, g)
    thrice = on.ij(seen.diagonal(fold(f.tau, slope(3))))
    return s._replace(d2tau_dqdq=fold(qq, g) + on.ij(D_q) + on.ik(D_q) + thrice,
                      d2tau_dqdv=fold(qv, g) + on.ij(D_v), d2tau_dvdv=fold(vv, g),
                      d2tau_dqda=fold(qa, g) + on.ij(D_a))
