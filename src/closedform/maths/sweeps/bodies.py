"""What one body adds to the sweeps over a robot; everything is written in the world's axes.

The names of arguments and results are those of the arrays: `X_p` is the parent's X. What follows
from S, V and A is in `moments`, `operators` and `one_frame.screws`.

Cites: [EcheandiaWensing2021, algorithm 1]; [SinghRussellWensing2022].
"""

from __future__ import annotations

from inspect import Parameter, Signature

from closedform.arrays import Array, Number, namespace
from closedform.maths.algorithms.joint_steps import JointStep
from closedform.maths.algorithms.moments import Moments
from closedform.maths.algorithms.operators import (
    BlockOperator,
    ChristoffelOperator,
    christoffel_operator,
    passive_operator,
)
from closedform.maths.spatial import cross, force_cross, motion_cross, power, skew
from closedform.maths.sweeps.joints import StepArrays, StepFunction


def moments_of(body: Array, R: Array, o: Array) -> Moments:
    """The moments of a body in the world's frame."""
    own = Moments(body[0], body[1:4], tuple(body[4:]))
    return own.in_parent(JointStep((R,), o))


def body_moments(
    body: Array, R: Array, o: Array, V: Array, A: Array,
) -> tuple[Moments, Array]:
    """The moments of a body in the world's frame, and f = I A + V ×* I V."""
    own = moments_of(body, R, o)
    return own, own @ A + force_cross(V, own @ V)


def inertia(R: Array, o: Array, body: Array) -> StepArrays:
    """The moments h and Σ of a body in the world's frame."""
    found = moments_of(body, R, o)
    return {"h": found.h, "Sigma": namespace(R).stack(list(found.Sigma))}


def force(R: Array, o: Array, body: Array, V: Array, A: Array) -> StepArrays:
    """f = I A + V ×* I V, by Newton and Euler in the body's axes at its origin.

        f = m u + α × h + ω × (ω × h)    n = J α + ω × J ω + h × u    J = tr(Σ) 1 − Σ

    u is the acceleration of the origin.
    """
    xp = namespace(R, V, A)
    w, alpha = R.T @ V[3:], R.T @ A[3:]
    u = R.T @ (A[:3] - cross(o, A[3:]) + cross(V[3:], V[:3] - cross(o, V[3:])))
    m, h, (xx, xy, yy, xz, yz, zz) = body[0], body[1:4], body[4:]
    J = xp.array([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]])
    f = R @ (m * u + cross(alpha, h) + cross(w, cross(w, h)))
    n = R @ (J @ alpha + cross(w, J @ w) + cross(h, u))
    return {"f": xp.concatenate([f, n + cross(o, f)])}


def reference_force(
    R: Array, o: Array, body: Array, V: Array, VR: Array, AR: Array,
) -> StepArrays:
    """f = I A_r + V ×* I V_r, of the passive C."""
    own = moments_of(body, R, o)
    return {"f": own @ AR + force_cross(V, own @ VR)}


def weight(R: Array, o: Array, body: Array, gravity: Array) -> StepArrays:
    """f of a body at rest."""
    xp = namespace(R, gravity)
    return {"f": moments_of(body, R, o) @ xp.concatenate([-gravity, xp.zeros(3)])}


def inertia_and_flow(R: Array, o: Array, body: Array, V: Array) -> StepArrays:
    """Moments, and the Christoffel symbols' operator by p and G."""
    own = moments_of(body, R, o)
    B = christoffel_operator(own, V)
    return {"h": own.h, "Sigma": namespace(R).stack(list(own.Sigma)), "p": B.p, "G": B.G}


def inertia_and_passive(R: Array, o: Array, body: Array, V: Array) -> StepArrays:
    """Moments, and the passive operator [[a~, −N], [c~ + N, D]] by a, N, c and D."""
    own = moments_of(body, R, o)
    O = passive_operator(own, V)
    return {"h": own.h, "Sigma": namespace(R).stack(list(own.Sigma)), "a_O": O.a, "N_O": -O.B,
            "c_O": own.m * V[:3], "D_O": O.D}


def inertia_and_force(R: Array, o: Array, body: Array, V: Array, A: Array) -> StepArrays:
    own = moments_of(body, R, o)
    B = christoffel_operator(own, V)
    return {"h": own.h, "Sigma": namespace(R).stack(list(own.Sigma)), "p": B.p, "G": B.G,
            "f": own @ A + B @ V}


def loaded(f_u: Array, wrenches: Array, R_u: Array, o_u: Array, Rb: Array, pb: Array) -> StepArrays:
    """f less a wrench on a body, which is given in the user's frame (R_b, p_b) of it."""
    xp, turn = namespace(f_u, wrenches), R_u @ Rb
    push = turn @ wrenches[:3]
    moment = turn @ wrenches[3:] + cross(o_u + R_u @ pb, push)
    return {"f_u": f_u - xp.concatenate([push, moment])}


def behind(*arrays: str) -> StepFunction:
    """What sums arrays over all that lies behind a joint, the own included: X_p ← X_p + X."""
    def summed(*given: Array) -> StepArrays:
        own, parents = given[:len(arrays)], given[len(arrays):]
        return {f"{name}_p": y + x for name, x, y in zip(arrays, own, parents, strict=True)}

    names = [*arrays, *(f"{name}_p" for name in arrays)]
    summed.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names])
    summed.__name__ = "behind"
    return summed


def together(*arrays: str) -> StepFunction:
    """What joins the sums of arrays over two rows of bodies: X ← X_p + X."""
    def summed(*given: Array) -> StepArrays:
        before, own = given[:len(arrays)], given[len(arrays):]
        return {name: x + y for name, x, y in zip(arrays, before, own, strict=True)}

    names = [*(f"{name}_p" for name in arrays), *arrays]
    summed.__signature__ = Signature(  # type: ignore[attr-defined]
        [Parameter(name, Parameter.POSITIONAL_ONLY) for name in names])
    summed.__name__ = "together"
    return summed


def torque(
    S: Array, f: Array, a: Number, rotor: Number, x: Number, spring: Array,
) -> StepArrays:
    """τ = S · f, what the rotor takes, and the spring k (q − q₀)."""
    return {"tau": power(S, f) + rotor * a + spring[0] * (x - spring[1])}


def reference_torque(
    S: Array, f: Array, a_r: Number, rotor: Number, x: Number, spring: Array,
) -> StepArrays:
    return torque(S, f, a_r, rotor, x, spring)


def bias_torque(S: Array, f: Array, x: Number, spring: Array) -> StepArrays:
    return {"tau": power(S, f) + spring[0] * (x - spring[1])}


def coriolis_torque(S: Array, f: Array) -> StepArrays:
    return {"tau": power(S, f)}


def composite(mass: Number, h: Array, Sigma: Array) -> Moments:
    return Moments(mass, h, tuple(Sigma))


def momentum_of_screw(S: Array, mass: Number, h: Array, Sigma: Array) -> StepArrays:
    """U = I S of the composite behind the joint."""
    return {"U": composite(mass, h, Sigma) @ S}


def columns(
    S: Array, dPsi: Array, VP: Array, AP: Array, mass: Number, h: Array, Sigma: Array, p: Array,
    G: Array, f: Array,
) -> StepArrays:
    """What row and column of a joint need: see `one_frame.derivatives`.

        U = I S    W = 2 Bᵀ S    Ψ̈ = A_p × S + V_p × Ψ̇
        Q = I Ψ̈ + 2 B Ψ̇ + S ×* f        D = 2 (I Ψ̇ + B S)
    """
    I, B = composite(mass, h, Sigma), ChristoffelOperator(p, G)
    ddPsi = motion_cross(AP, S) + motion_cross(VP, dPsi)
    return {"U": I @ S, "W": 2 * B.transposed_times(S)[3:], "ddPsi": ddPsi,
            "Q": I @ ddPsi + B @ (2 * dPsi) + force_cross(S, f),
            "D": 2 * (I @ dPsi + B @ S)}


def columns_of_joints(
    S: Array, dPsi: Array, dS: Array, VP: Array, AP: Array, mass: Number, h: Array, Sigma: Array,
    p: Array, G: Array, f: Array,
) -> StepArrays:
    """The same where joints have several velocities: D = I (Ψ̇ + Ṡ) + 2 B S."""
    I, B = composite(mass, h, Sigma), ChristoffelOperator(p, G)
    found = columns(S, dPsi, VP, AP, mass, h, Sigma, p, G, f)
    return found | {"D": I @ (dPsi + dS) + 2 * (B @ S)}


def coriolis_columns(
    S: Array, dS: Array, mass: Number, h: Array, Sigma: Array, p: Array, G: Array,
) -> StepArrays:
    """U = I S, Z = Oᵀ S and D = I Ṡ + O S, of the Christoffel symbols' operator O."""
    I, O = composite(mass, h, Sigma), ChristoffelOperator(p, G)
    return {"U": I @ S, "Z": O.transposed_times(S), "D": I @ dS + O @ S}


def passive_columns(
    S: Array, dS: Array, mass: Number, h: Array, Sigma: Array, a_O: Array, N_O: Array,
    c_O: Array, D_O: Array,
) -> StepArrays:
    """The same of the passive operator."""
    I, O = composite(mass, h, Sigma), BlockOperator(a_O, -N_O, skew(c_O) + N_O, D_O)
    return {"U": I @ S, "Z": O.transposed_times(S), "D": I @ dS + O @ S}
