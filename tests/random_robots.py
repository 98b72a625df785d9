"""Random robots with every joint kind, seeded; and the complex step that the tests lean on."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from closedform import arrays
from closedform.model import joints
from closedform.model.inertia import Inertia
from closedform.model.joints import KEYWORDS, Mimic
from closedform.model.robot import Body, Frame, Robot

TABLE = {kind.__name__.lower(): kind for kind in joints.KINDS}
KINDS = tuple(TABLE)
ONE_DOF = tuple(name for name, kind in TABLE.items() if kind.nq == kind.nv == 1)


def random_placement(rng):
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat(rng.normal(size=4)).as_matrix()
    T[:3, 3] = rng.uniform(-1, 1, size=3)
    return T


def random_inertia(rng):
    """A possible inertia: a cloud of mass points."""
    points, masses = rng.uniform(-0.5, 0.5, size=(6, 3)), rng.uniform(0.1, 1.0, size=6)
    com = masses @ points / masses.sum()
    second = (points - com).T @ (masses[:, None] * (points - com))
    return Inertia(masses.sum(), com, np.trace(second) * np.eye(3) - second)


def random_joint(kind, rng, driver=None, bent=False):
    """A joint of the kind with random axes, points and numbers, some with a rotor.

    With `bent` every other mimic follows by a polynomial.
    """
    axis, point = rng.normal(size=3), rng.uniform(-0.5, 0.5, size=3)
    keywords = {"rotor_inertia": rng.uniform(0, 0.5)} if rng.random() < 0.3 else {}
    if kind == "mimic":
        moves, ratio = random_joint(ONE_DOF[rng.integers(len(ONE_DOF))], rng), rng.uniform(-2, 2)
        offset, bend = rng.uniform(-1, 1), random_bend(ratio) if bent else ()
        moves = replace(moves, viscous=None, coulomb=None) if bend else moves
        return Mimic(moves, of=driver, ratio=ratio, offset=offset, higher=bend)
    made = TABLE[kind]
    given = {"point": point, **dict.fromkeys(made.axes[:1], axis)}
    for name in (f.name for f in fields(made) if f.name not in KEYWORDS):
        if name not in given:
            given[name] = rng.normal(size=3) if name in made.axes else rng.uniform(-0.5, 0.5)
    shape = {f.name: given[f.name] for f in fields(made) if f.name in given}
    if made.axes:
        keywords |= {"viscous": tuple(0.1 * (i + 1) for i in range(made.nv)), "coulomb": 0.2}
    return made(**shape, **keywords) if made.nv else made()


def random_bend(ratio):
    """Coefficients of x², x³, x⁴ of every other mimic: about as large as the ratio at x = 3."""
    rng = np.random.default_rng(int(abs(ratio) * 2**40))
    powers = np.arange(1, rng.integers(2, 5))
    return tuple(rng.uniform(-1, 1, size=len(powers)) / 3.0**powers) if rng.random() < 0.5 else ()


def random_robot(seed, kinds=KINDS, bodies=6, roots=1, spread=3, bent=False):
    """A tree of `bodies` bodies with random joints, placements and inertias, and one frame.

    Even seeds take the kinds in turn, odd ones at random.
    """
    rng = np.random.default_rng(seed)
    made, drivers = [], []
    for k in range(bodies):
        kind = kinds[rng.integers(len(kinds))] if seed % 2 else kinds[(k + seed) % len(kinds)]
        if kind == "mimic" and not drivers:
            kind = "revolute"
        driver = drivers[rng.integers(len(drivers))] if drivers else None
        joint = random_joint(kind, rng, driver, bent)
        parent = None if k < roots else f"b{rng.integers(max(0, k - spread), k)}"
        if kind in (*ONE_DOF, "mimic"):       # a mimic may follow a mimic
            drivers.append(f"b{k}")
        made.append(Body(f"b{k}", parent, joint, random_placement(rng), random_inertia(rng)))
    tool = Frame("tool", f"b{bodies - 1}", random_placement(rng))
    return Robot(f"random{seed}", made, gravity=rng.normal(size=3) * 5, frames=[tool])


def random_state(robot, seed=0, rates=2):
    """q and `rates` random velocities."""
    rng = np.random.default_rng(seed)
    return robot.random(rng), *rng.normal(size=(rates, robot.nv))


def complex_step(robot, f, q, dv, h=1e-30):
    """Derivative of f(q) along the tangent vector dv (left-trivialised), exact to rounding."""
    return np.imag(f(stepped(robot, q, 1j * h * dv))) / h


def stepped(robot, q, dv):
    """q ⊕ dv to first order, for infinitesimal (complex) dv: q + Γ(q) dv."""
    parts = [q[i] + body.joint.rates(q[i], dv[j], arrays.NUMBERS) for body, i, j in robot.parts]
    return np.concatenate([np.zeros(0), *parts])


seeds = st.integers(0, 10**6)


@st.composite
def robots(draw, kinds=KINDS, most=7, bent=True):
    """Hypothesis: random robots, shrinking towards few bodies; mimics also by polynomials."""
    bodies = draw(st.integers(1, most))
    return random_robot(draw(seeds), kinds, bodies, roots=draw(st.integers(1, 2)), bent=bent)
