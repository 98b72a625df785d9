"""Energies, momenta and the centre of mass: sums over all bodies, which end at the world.

`total` is the mass of the robot, `ground` the moments of what is fixed to the world. What ends in
`_w` is the world's.
"""

from __future__ import annotations

from closedform.arrays import Array, Number, namespace
from closedform.maths.spatial import cross, power
from closedform.maths.sweeps.bodies import body_moments, moments_of
from closedform.maths.sweeps.joints import StepArrays


def nothing(ground_w: Array, o_w: Array) -> StepArrays:
    """What the world adds: the first moment of what is fixed to it."""
    xp = namespace(ground_w, o_w)
    return {"E": 0 * ground_w[0], "f": xp.zeros(6), "F": xp.zeros(6),
            "h": ground_w[1:4] + ground_w[0] * o_w}


def momentum(R: Array, o: Array, body: Array, V: Array) -> StepArrays:
    """f = I V."""
    return {"f": moments_of(body, R, o) @ V}


def momentum_torque(S: Array, f: Array, v: Number, rotor: Number) -> StepArrays:
    """M v = S · Σ I V."""
    return {"tau": power(S, f) + rotor * v}


def kinetic(R: Array, o: Array, body: Array, V: Array, v: Number, rotor: Number) -> StepArrays:
    """½ V · I V + ½ rotor v²."""
    return {"E": (power(V, moments_of(body, R, o) @ V) + rotor * (v * v)) / 2}


def potential(
    R: Array, o: Array, body: Array, gravity: Array, x: Number, spring: Array, o_w: Array,
) -> StepArrays:
    """−gravity · (m (o − o_w) + R h) + ½ k (q − q₀)²."""
    stretch = x - spring[1]
    return {"E": spring[0] * (stretch * stretch) / 2
            - gravity @ (body[0] * (o - o_w) + R @ body[1:4])}


def kinetic_energy(E: Number) -> StepArrays:
    return {"energy": E}


def potential_energy(E: Number, ground_w: Array, gravity: Array) -> StepArrays:
    return {"energy": E - gravity @ ground_w[1:4]}


def first_moment(R: Array, o: Array, body: Array) -> StepArrays:
    return {"h": body[0] * o + R @ body[1:4]}


def moment_and_momentum(R: Array, o: Array, body: Array, V: Array) -> StepArrays:
    own = moments_of(body, R, o)
    return {"h": own.h, "f": own @ V}


def moment_momentum_and_force(
    R: Array, o: Array, body: Array, V: Array, A: Array,
) -> StepArrays:
    own, force = body_moments(body, R, o, V, A)
    return {"h": own.h, "f": own @ V, "F": force}


def center(h: Array, total_w: Number) -> StepArrays:
    return {"com": h / total_w}


def center_in_world(h: Array, total_w: Number, o_w: Array) -> StepArrays:
    return {"com": h / total_w - o_w}


def center_velocity(f: Array, total_w: Number) -> StepArrays:
    return {"com": f[:3] / total_w}


def center_acceleration(F: Array, total_w: Number) -> StepArrays:
    return {"com": F[:3] / total_w}


def about_center(h: Array, f: Array, total_w: Number) -> StepArrays:
    """(p; L − c × p)."""
    return {"about": _about(f, h / total_w)}


def rate_about_center(h: Array, F: Array, total_w: Number) -> StepArrays:
    """The same of the force: ċ is parallel to p."""
    return {"rate": _about(F, h / total_w)}


def center_column(U: Array, total_w: Number) -> StepArrays:
    """A column of the centre's Jacobian, (3,)."""
    return {"J": U[:3] / total_w}


def momentum_column(U: Array, com_w: Array) -> StepArrays:
    """A column of A_G, (6,)."""
    return {"J": _about(U, com_w)}


def _about(f: Array, c: Array) -> Array:
    return namespace(f).concatenate([f[:3], f[3:] - cross(c, f[:3])])
