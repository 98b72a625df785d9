"""What one body adds to the sweeps over a robot; everything is written in the world's frame.

Every joint is a turn about the z axis of its frame, a slide along it, or both:

    R_k = R_p R_0 R_z(turn q + offset)      o_k = o_p + R_p (p_0 + slide q R_0 z)
    S = (turn o × z + slide z; turn z)      V_k = V_p + S v      A_k = A_p + S a + Ψ̇ v

The names of arguments and results are those of the arrays: `X_p` is the parent's X. What follows
from S, V and A is in `moments`, `operators` and `one_frame.screws`.

Cites: [EcheandiaWensing2021, algorithm 1]; [SinghRussellWensing2022].
"""

from __future__ import annotations

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

StepArrays = dict[str, Array]


def world(gravity: Array) -> StepArrays:
    """The frame of the world, at rest; its acceleration stands for gravity."""
    xp = namespace(gravity)
    return {"R": xp.eye(3), "o": xp.zeros(3), "V": xp.zeros(6),
            "A": xp.concatenate([-gravity, xp.zeros(3)])}


def weightless_world(gravity: Array) -> StepArrays:
    """The world without gravity."""
    return world(0 * gravity)


def local(q: Number, R0: Array, p0: Array, joint: Array) -> StepArrays:
    """The pose of a body in its parent: L = R_0 R_z and d."""
    xp = namespace(R0)
    turn, slide, offset = joint
    angle = turn * q + offset
    c, s = xp.cos(angle), xp.sin(angle)
    x, y, z = R0[:, 0], R0[:, 1], R0[:, 2]
    return {"L": xp.stack([c * x + s * y, c * y - s * x, z]).T, "d": p0 + z * (slide * q)}


def pose(R_p: Array, o_p: Array, L: Array, d: Array) -> StepArrays:
    return {"R": R_p @ L, "o": o_p + R_p @ d}


def screw(R: Array, o: Array, joint: Array) -> StepArrays:
    turn, slide, _ = joint
    z = R[:, 2]
    return {"S": namespace(R).concatenate([cross(o, z) * turn + z * slide, z * turn])}


def velocity(V_p: Array, S: Array, v: Number) -> StepArrays:
    """V, and the parent's V beside it."""
    return {"V": V_p + S * v, "VP": V_p}


def rates(VP: Array, S: Array) -> StepArrays:
    """Ψ̇ = V_p × S."""
    return {"dPsi": motion_cross(VP, S)}


def acceleration(A_p: Array, S: Array, dPsi: Array, v: Number, a: Number) -> StepArrays:
    return {"A": A_p + S * a + dPsi * v, "AP": A_p}


def bias_acceleration(A_p: Array, dPsi: Array, v: Number) -> StepArrays:
    """That of a = 0."""
    return {"A": A_p + dPsi * v, "AP": A_p}


def _moments(body: Array, R: Array, o: Array) -> Moments:
    own = Moments(body[0], body[1:4], tuple(body[4:]))
    return own.in_parent(JointStep((R,), o))


def body_moments(
    body: Array, R: Array, o: Array, V: Array, A: Array,
) -> tuple[Moments, Array]:
    """The moments of a body in the world's frame, and f = I A + B V."""
    own = _moments(body, R, o)
    return own, own @ A + christoffel_operator(own, V) @ V


def inertia(R: Array, o: Array, body: Array) -> StepArrays:
    """The moments h and Σ of a body in the world's frame."""
    found = _moments(body, R, o)
    return {"h": found.h, "Sigma": namespace(R).stack(list(found.Sigma))}


def force(R: Array, o: Array, body: Array, V: Array, A: Array) -> StepArrays:
    """f = I A + B V."""
    return {"f": body_moments(body, R, o, V, A)[1]}


def weight(R: Array, o: Array, body: Array, gravity: Array) -> StepArrays:
    """f of a body at rest."""
    xp = namespace(R, gravity)
    return {"f": _moments(body, R, o) @ xp.concatenate([-gravity, xp.zeros(3)])}


def inertia_and_flow(R: Array, o: Array, body: Array, V: Array) -> StepArrays:
    """Moments, and the Christoffel symbols' operator by p and G."""
    own = _moments(body, R, o)
    B = christoffel_operator(own, V)
    return {"h": own.h, "Sigma": namespace(R).stack(list(own.Sigma)), "p": B.p, "G": B.G}


def inertia_and_passive(R: Array, o: Array, body: Array, V: Array) -> StepArrays:
    """Moments, and the passive operator [[a~, −N], [c~ + N, D]] by a, N, c and D."""
    own = _moments(body, R, o)
    O = passive_operator(own, V)
    return {"h": own.h, "Sigma": namespace(R).stack(list(own.Sigma)), "a_O": O.a, "N_O": -O.B,
            "c_O": own.m * V[:3], "D_O": O.D}


def inertia_and_force(R: Array, o: Array, body: Array, V: Array, A: Array) -> StepArrays:
    own = _moments(body, R, o)
    B = christoffel_operator(own, V)
    return {"h": own.h, "Sigma": namespace(R).stack(list(own.Sigma)), "p": B.p, "G": B.G,
            "f": own @ A + B @ V}


def loaded(f: Array, wrenches: Array, R: Array, o: Array, Rb: Array, pb: Array) -> StepArrays:
    """f less a wrench on the body, which is given in the user's frame (R_b, p_b) of it."""
    xp, turn = namespace(f, wrenches), R @ Rb
    push = turn @ wrenches[:3]
    moment = turn @ wrenches[3:] + cross(o + R @ pb, push)
    return {"f": f - xp.concatenate([push, moment])}


def force_behind(f: Array, f_p: Array) -> StepArrays:
    return {"f_p": f_p + f}


def inertia_behind(h: Array, Sigma: Array, h_p: Array, Sigma_p: Array) -> StepArrays:
    return {"h_p": h_p + h, "Sigma_p": Sigma_p + Sigma}


def all_behind(
    h: Array, Sigma: Array, p: Array, G: Array, f: Array,
    h_p: Array, Sigma_p: Array, p_p: Array, G_p: Array, f_p: Array,
) -> StepArrays:
    return {"h_p": h_p + h, "Sigma_p": Sigma_p + Sigma, "p_p": p_p + p, "G_p": G_p + G,
            "f_p": f_p + f}


def flow_behind(
    h: Array, Sigma: Array, p: Array, G: Array, h_p: Array, Sigma_p: Array, p_p: Array, G_p: Array,
) -> StepArrays:
    return {"h_p": h_p + h, "Sigma_p": Sigma_p + Sigma, "p_p": p_p + p, "G_p": G_p + G}


def passive_behind(
    h: Array, Sigma: Array, a_O: Array, N_O: Array, c_O: Array, D_O: Array,
    h_p: Array, Sigma_p: Array, a_O_p: Array, N_O_p: Array, c_O_p: Array, D_O_p: Array,
) -> StepArrays:
    return {"h_p": h_p + h, "Sigma_p": Sigma_p + Sigma, "a_O_p": a_O_p + a_O,
            "N_O_p": N_O_p + N_O, "c_O_p": c_O_p + c_O, "D_O_p": D_O_p + D_O}


def torque(S: Array, f: Array, a: Number, rotor: Number) -> StepArrays:
    """τ = S · f and what the rotor takes."""
    return {"tau": power(S, f) + rotor * a}


def bias_torque(S: Array, f: Array) -> StepArrays:
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


def coriolis_columns(
    S: Array, dPsi: Array, mass: Number, h: Array, Sigma: Array, p: Array, G: Array,
) -> StepArrays:
    """U = I S, Z = Oᵀ S and D = I Ṡ + O S, of the Christoffel symbols' operator O."""
    I, O = composite(mass, h, Sigma), ChristoffelOperator(p, G)
    return {"U": I @ S, "Z": O.transposed_times(S), "D": I @ dPsi + O @ S}


def passive_columns(
    S: Array, dPsi: Array, mass: Number, h: Array, Sigma: Array, a_O: Array, N_O: Array,
    c_O: Array, D_O: Array,
) -> StepArrays:
    """The same of the passive operator."""
    I, O = composite(mass, h, Sigma), BlockOperator(a_O, -N_O, skew(c_O) + N_O, D_O)
    return {"U": I @ S, "Z": O.transposed_times(S), "D": I @ dPsi + O @ S}
