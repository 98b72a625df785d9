"""Logs of robots that are known: exciting motion, friction, noise of torques and positions."""

from dataclasses import replace

import numpy as np

import closedform as cf

VISCOUS, COULOMB = 0.5, 1.0


def motion(robot, t, seed=0, frequency=0.1, harmonics=5, size=0.4):
    """q, v, a of sums of sines, one random sum for each joint (joints with v = q̇)."""
    rng = np.random.default_rng(seed)
    w = 2 * np.pi * frequency * np.arange(1, harmonics + 1)
    A, B = rng.normal(size=(2, robot.nv, harmonics)) * size
    s, c = np.sin(np.outer(w, t)), np.cos(np.outer(w, t))
    q = (A / w) @ s - (B / w) @ c
    return q.T, (A @ c + B @ s).T, ((-A * w) @ s + (B * w) @ c).T


def run(robot, seed=0, seconds=20.0, rate=250.0, noise=0.02, jitter=0.0, rubs=True, delay=0.0,
        **changes):
    """A log as a dictionary; `noise` of torques relative to their spread; `rubs`: with friction.

    Torques are `delay` seconds late.
    """
    rng = np.random.default_rng(1000 + seed)
    t = np.arange(0, seconds, 1 / rate)
    q, _, _ = motion(robot, t, seed, **changes)
    earlier, v, a = motion(robot, t - delay, seed, **changes)
    friction = VISCOUS * v + COULOMB * np.sign(v)
    tau = cf.compile(robot).inverse_dynamics(earlier, v, a) + rubs * friction
    tau = tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    return {"t": t, "q": q + jitter * rng.normal(size=q.shape), "tau": tau}


def other_inertias(robot, seed=0, by=0.3):
    """The robot with all inertias scaled by up to so much: a file that is not quite right."""
    rng = np.random.default_rng(seed)
    return replace(robot, bodies=tuple(
        replace(b, inertia=cf.Inertia.from_parameters(factor * b.inertia.array))
        for b, factor in zip(robot.bodies, rng.uniform(1 - by, 1 + by, len(robot.bodies)),
                             strict=True)))


def true_numbers(model, robot):
    """x of a model, if its robot were that one: rotors zero, the friction of `run`, no offset."""
    s = np.zeros(len(model.standard_names))
    n = 10 * len(robot.bodies)
    s[:n] = robot.parameters[:n]
    for i, name in enumerate(model.standard_names):
        kind = name.rpartition(".")[2]
        s[i] = {"viscous": VISCOUS, "coulomb": COULOMB}.get(kind, s[i])
    return model.L @ s
