"""Robots whose joints follow others by polynomials, with all that may stand beside that."""

from __future__ import annotations

import numpy as np

from closedform.model.inertia import Inertia
from closedform.model.joints import Free, Helical, Mimic, Prismatic, Revolute, Universal
from closedform.model.robot import Body, Frame, Robot
from random_robots import random_inertia, random_placement


def curved_robot(floating=False, seed=0, carried=0.3):
    """Followers by polynomials of a turn, a slide, a follower by a ratio and one by a polynomial.

    They and their drivers have rotors and springs; of two bodies a part of the weight is carried.
    """
    rng = np.random.default_rng(seed)
    spring = {"stiffness": 3.0, "spring_reference": 0.2}
    turn = Revolute((0, 1, 0), (0.1, 0, 0), rotor_inertia=0.2, **spring)
    joints = {
        "base": (None, Free(rotor_inertia=0.1) if floating else Revolute((1, 0, 0))),
        "a": ("base", Revolute((0, 0, 1), rotor_inertia=0.3, stiffness=2.0, viscous=0.1)),
        "b": ("a", Mimic(turn, "a", 0.4, 0.1, (0.3, -0.2, 0.05))),
        "c": ("b", Mimic(Prismatic((1, 0, 0), rotor_inertia=0.1), "b", 0.7, 0.2)),
        "d": ("b", Prismatic((1, 1, 0))),
        "e": ("d", Mimic(Helical((1, 0, 0), 0.1), "d", 0.5, -0.1, (0.6,))),
        "f": ("e", Mimic(Revolute((0, 0, 1)), "c", 1.0, 0.0, (0.2,))),
        "g": ("f", Universal((1, 0, 0), (0, 1, 0))),
    }
    bodies = [Body(name, parent, joint, random_placement(rng), random_inertia(rng),
                   gravity_compensation=carried if name in "bd" else 0.0)
              for name, (parent, joint) in joints.items()]
    tool = Frame("tool", "g", random_placement(rng))
    return Robot("curved", bodies, (1.0, 2.0, -9.0), [tool])


def cam(higher=(0.5,), ratio=0.0, mass=1.0):
    """A slide that is lifted by ratio x + higher₀ x² + … of a wheel's turn x about its axis.

    The wheel has no inertia about its axis where `mass` is all that there is.
    """
    wheel = Body("wheel", None, Revolute((0, 0, 1)))
    lift = Mimic(Prismatic((0, 0, 1)), "wheel", ratio, 0.0, higher)
    point = Inertia(mass, (0, 0, 0), np.zeros((3, 3)))
    return Robot("cam", [wheel, Body("lifter", "wheel", lift, inertia=point)])
