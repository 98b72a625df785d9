"""Mechanisms with closed loops: planar linkages, a palletiser, Bennett's, parallel robots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import closedform as cf
from random_robots import random_inertia, random_placement

Z, Y = (0, 0, 1), (0, 1, 0)


def at(x, y=0.0, z=0.0):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def turned(angle):
    T = np.eye(4)
    T[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return T


def bar(mass, x, y, izz):
    """A planar body: com (x, y), izz about it."""
    return cf.Inertia(mass, (x, y, 0), np.diag([1e-3, 1e-3, izz]))


BARS = {"crank": (1, 0.1, 0, 0.01), "coupler": (2, 0.25, 0.03, 0.05), "rocker": (1.5, 0.2, 0, 0.03)}


def four_bar(independent=("crank",), joint=None, **keywords):
    """Crank 0.2, coupler 0.5, rocker 0.4 at (0.6, 0), about z under gravity along −y."""
    bodies = [cf.Body("crank", None, cf.Revolute(Z), inertia=bar(*BARS["crank"])),
              cf.Body("coupler", "crank", cf.Revolute(Z), at(0.2), bar(*BARS["coupler"])),
              cf.Body("rocker", None, cf.Revolute(Z), at(0.6), bar(*BARS["rocker"]))]
    pin = cf.Loop("pin", ("coupler", (0.5, 0, 0)), ("rocker", (0.4, 0, 0)),
                  joint or cf.Revolute(Z))
    given = {"guess": {"crank": 0.7, "coupler": -0.1, "rocker": 1.6}, **keywords}
    return cf.Robot("four_bar", bodies, (0, -9.81, 0), loops=[pin],
                    independent=independent, **given)


def four_bar_cut_at_the_crank():
    """The same linkage as rocker and coupler on the ground, cut between coupler and crank."""
    mass, x, y, izz = BARS["coupler"]
    bodies = [cf.Body("crank", None, cf.Revolute(Z), inertia=bar(*BARS["crank"])),
              cf.Body("rocker", None, cf.Revolute(Z), at(0.6), bar(*BARS["rocker"])),
              cf.Body("coupler", "rocker", cf.Revolute(Z), at(0.4), bar(mass, x - 0.5, y, izz))]
    pin = cf.Loop("pin", ("crank", (0.2, 0, 0)), ("coupler", (-0.5, 0, 0)), cf.Spherical())
    return cf.Robot("four_bar", bodies, (0, -9.81, 0), loops=[pin], independent=["crank"],
                    guess={"crank": 0.7, "rocker": 1.6, "coupler": -1.0})


def five_bar(**keywords):
    bodies = [cf.Body("a1", None, cf.Revolute(Z), inertia=bar(1, 0.1, 0, 0.01)),
              cf.Body("a2", "a1", cf.Revolute(Z), at(0.3), bar(0.8, 0.2, 0.01, 0.02)),
              cf.Body("b1", None, cf.Revolute(Z), at(0.4), bar(1.1, 0.12, 0, 0.012)),
              cf.Body("b2", "b1", cf.Revolute(Z), at(0.3), bar(0.7, 0.2, 0, 0.015))]
    tip = cf.Loop("tip", ("a2", (0.45, 0, 0)), ("b2", (0.45, 0, 0)), cf.Revolute(Z))
    return cf.Robot("five_bar", bodies, (0, -9.81, 0), loops=[tip],
                    **{"independent": ["a1", "b1"],
                       "guess": {"a1": 2.0, "a2": -1.2, "b1": 1.1, "b2": 1.2}, **keywords})


FOLLOWS = {"forearm": {"crank": 1, "lower_arm": -1}, "drive_rod": {"lower_arm": 1, "crank": -1},
           "level_rod": {"lower_arm": 1}, "triangle": {"lower_arm": -1}, "wrist": {"crank": -1}}


def palletiser(how):
    """Two parallelograms and a level flange: by `mimic`, by `gear`, or by `loop`s and a gear."""
    rng = np.random.default_rng(3)
    places = {"waist": (None, at(0)), "lower_arm": ("waist", at(0.2, 0, 0.5)),
              "forearm": ("lower_arm", at(0, 0, 0.9)), "crank": ("waist", at(0.2, 0, 0.5)),
              "drive_rod": ("crank", at(-0.3)), "level_rod": ("waist", at(0.1, 0, 0.6)),
              "triangle": ("lower_arm", at(0, 0, 0.9)), "wrist": ("forearm", at(0.8)),
              "flange": ("wrist", at(0.1))}
    bodies = []
    for name, (parent, place) in places.items():
        joint = cf.Revolute(Z if name in ("waist", "flange") else Y)
        if how == "mimic" and name in FOLLOWS:
            joint = cf.Mimic(joint, of=FOLLOWS[name])
        bodies.append(cf.Body(name, parent, joint, place, random_inertia(rng)))
    if how == "mimic":
        return cf.Robot("palletiser", bodies)
    loops = [cf.Gear(f"{name} follows", {name: 1, **{k: -x for k, x in of.items()}})
             for name, of in FOLLOWS.items()]
    if how == "loop":
        loops = [cf.Loop("upper", ("drive_rod", (0, 0, 0.9)), ("forearm", (-0.3, 0, 0)),
                         cf.Revolute(Y)),
                 cf.Loop("level", ("level_rod", (0, 0, 0.9)), ("triangle", (-0.1, 0, 0.1)),
                         cf.Revolute(Y)), cf.Gear("wrist", {"wrist": 1, "crank": 1})]
    return cf.Robot("palletiser", bodies, loops=loops,
                    independent=["waist", "lower_arm", "crank", "flange"],
                    guess={"lower_arm": 0.3, "crank": 0.2, "forearm": -0.1, "drive_rod": 0.1,
                           "level_rod": 0.3, "triangle": -0.3, "wrist": -0.2})


def bennett():
    """Four skew turns: a loop of five rows whose rank is two only because its lengths fit."""
    alpha, beta, a = np.pi / 3, np.pi / 4, 0.4
    b = a * np.sin(beta) / np.sin(alpha)

    def link(length, twist):
        T, c, s = at(length), np.cos(twist), np.sin(twist)
        T[1:3, 1:3] = [[c, -s], [s, c]]
        return T

    rng = np.random.default_rng(5)
    bodies = [cf.Body("l1", None, cf.Revolute(Z), inertia=random_inertia(rng)),
              cf.Body("l2", "l1", cf.Revolute(Z), link(a, alpha), random_inertia(rng)),
              cf.Body("l3", "l2", cf.Revolute(Z), link(b, beta), random_inertia(rng))]
    cut = cf.Loop("cut", ("l3", link(a, alpha)), (None, np.linalg.inv(link(b, beta))),
                  cf.Revolute(Z))
    ratio = np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2)
    second = 2 * np.arctan(ratio / np.tan(0.45))
    return cf.Robot("bennett", bodies, loops=[cut],
                    guess={"l1": 0.9, "l2": second, "l3": -0.9})


def floating_leg():
    """A free trunk with a thigh, a parallelogram of a shank and a rod on two balls."""
    rng = np.random.default_rng(7)
    bodies = [cf.Body("trunk", None, cf.Free(), inertia=random_inertia(rng)),
              cf.Body("thigh", "trunk", cf.Revolute(Y), at(0, 0.1, -0.1), random_inertia(rng)),
              cf.Body("shank", "thigh", cf.Revolute(Y), at(0, 0, -0.4), random_inertia(rng)),
              cf.Body("crank", "thigh", cf.Revolute(Y), at(0, 0, -0.05), random_inertia(rng)),
              cf.Body("rod", "crank", cf.Spherical(), at(0.08), random_inertia(rng)),
              cf.Body("foot", "shank", cf.Universal(Y, (1, 0, 0)), at(0, 0, -0.4),
                      random_inertia(rng))]
    loops = [cf.Loop("knee", ("rod", (0, 0, -0.35)), ("shank", (0.08, 0, 0))),
             cf.Rod("ankle", ("shank", (-0.05, 0.05, -0.1)), ("foot", (-0.06, 0.05, 0)), 0.301)]
    return cf.Robot("floating_leg", bodies, loops=loops,
                    guess={"thigh": 0.2, "shank": 0.1, "crank": 0.1})


def stewart():
    """Six legs with universal joints below and balls above, in their lengths."""
    below = [(0.5 * np.cos(a), 0.5 * np.sin(a), 0) for a in (0.2, 1.9, 2.3, 4.0, 4.4, 6.08)]
    above = [(0.3 * np.cos(a), 0.3 * np.sin(a), 0) for a in (0.8, 1.3, 2.9, 3.4, 5.0, 5.5)]
    centre = np.array([0.02, 0.01, 0.6])
    bodies, guess = [], {"platform": [*centre, 0, 0, 0, 1]}
    for i, (low, high) in enumerate(zip(below, above, strict=True)):
        way = centre + high - np.array(low)
        length = np.linalg.norm(way)
        x, y, z = way / length
        tube = cf.Inertia(1, (0, 0, 0.1), np.diag([0.01, 0.01, 0.001]))
        piston = cf.Inertia(0.5, (0, 0, -0.1), np.diag([0.01, 0.01, 0.0005]))
        bodies += [cf.Body(f"tube{i}", None, cf.Universal(Y, (1, 0, 0)), at(*low), tube),
                   cf.Body(f"leg{i}", f"tube{i}", cf.Prismatic(Z), inertia=piston)]
        guess |= {f"tube{i}": [np.arctan2(x, z), -np.arcsin(y)], f"leg{i}": length}
    bodies.append(cf.Body("platform", None, cf.Free(), inertia=cf.Inertia(
        5, (0, 0, 0.02), np.diag([0.1, 0.1, 0.2]))))
    loops = [cf.Loop(f"ball{i}", (f"leg{i}", (0, 0, 0)), ("platform", high))
             for i, high in enumerate(above)]
    return cf.Robot("stewart", bodies, loops=loops, independent=[f"leg{i}" for i in range(6)],
                    guess=guess)


def delta():
    """Three arms, six rods on universal joints and balls, a free platform."""
    upper, lower, base, plate, low = 0.24, 0.5, 0.2, 0.05, 0.3
    arm = cf.Inertia(0.3, (upper / 2, 0, 0), np.diag([1e-4, 2e-3, 2e-3]))
    rod = cf.Inertia(0.05, (0, 0, lower / 2), np.diag([1e-3, 1e-3, 1e-5]))
    out = base + upper * np.cos(low) - plate
    down = np.sqrt(lower**2 - out**2)
    bodies, loops, guess = [], [], {}
    for i in range(3):
        bodies.append(cf.Body(f"arm{i}", None, cf.Revolute(Y),
                              turned(2 * np.pi * i / 3) @ at(base), arm))
        guess[f"arm{i}"] = low
    for i in range(3):
        for side, y in (("l", -0.03), ("r", 0.03)):
            name = f"rod{i}{side}"
            bodies.append(cf.Body(name, f"arm{i}", cf.Universal(Y, (1, 0, 0)), at(upper, y), rod))
            guess[name] = [np.arctan2(-out, -down) - low, 0]
            loops.append(cf.Loop(f"ball{i}{side}", (name, (0, 0, lower)),
                                 ("platform", turned(2 * np.pi * i / 3) @ at(plate, y))))
    bodies.append(cf.Body("platform", None, cf.Free(), inertia=cf.Inertia(
        0.4, (0, 0, 0), np.diag([1e-3, 1e-3, 2e-3]))))
    guess["platform"] = [0, 0, -upper * np.sin(low) - down, 0, 0, 0, 1]
    return cf.Robot("delta", bodies, loops=loops, independent=["arm0", "arm1", "arm2"],
                    guess=guess)


def slider_crank():
    """A crank, a rod and a slide, cut by a prismatic joint that keeps the piston upright."""
    bodies = [cf.Body("crank", None, cf.Revolute(Z), inertia=bar(1, 0.05, 0, 0.01)),
              cf.Body("rod", "crank", cf.Revolute(Z), at(0.1), bar(0.5, 0.15, 0.01, 0.01)),
              cf.Body("piston", "rod", cf.Revolute(Z), at(0.3), bar(0.8, 0.01, 0, 0.002))]
    slide = cf.Loop("cylinder", ("piston", np.eye(4)), (None, np.eye(4)),
                    cf.Prismatic((1, 0, 0)))
    return cf.Robot("slider_crank", bodies, (0, -9.81, 0), loops=[slide], independent=["crank"],
                    guess={"crank": 0.8, "rod": -1.0, "piston": 0.2})


def welded_chain(seed, joints=7, cut=None):
    """A random chain of turns and slides whose tip is held where a random configuration has it."""
    rng = np.random.default_rng(seed)
    bodies, parent = [], None
    for k in range(joints):
        axis = rng.normal(size=3)
        joint = cf.Prismatic(axis) if rng.uniform() < 0.2 else cf.Revolute(axis)
        bodies.append(cf.Body(f"b{k}", parent, joint, random_placement(rng), random_inertia(rng)))
        parent = f"b{k}"
    tree = cf.Robot("chain", bodies)
    q = rng.uniform(-1, 1, size=tree.nq)
    tip = cf.poses(tree, q)[-1]
    loop = cf.Loop("hold", (parent, np.eye(4)), (None, tip), cut or cf.Fixed())
    return replace(tree, loops=(loop,), guess={f"b{k}": x for k, x in enumerate(q)})


ALL = {"four_bar": four_bar, "five_bar": five_bar, "bennett": bennett,
       "slider_crank": slider_crank, "floating_leg": floating_leg, "stewart": stewart,
       "palletiser": lambda: palletiser("loop"), "chain": lambda: welded_chain(1)}
