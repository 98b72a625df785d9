"""Random robots with springs, carried weights and rotors on every kind of joint."""

from dataclasses import replace

import numpy as np

from random_robots import KINDS, random_robot


def loaded_robot(seed, kinds=KINDS, bodies=5):
    """A random robot; springs on all that moves, rotors and carried weight on some."""
    rng, robot = np.random.default_rng(seed), random_robot(seed, kinds, bodies)
    made = []
    for body in robot.bodies:
        joint, moving = body.joint, body.joint.moving
        if moving.nv:
            stiffness = rng.uniform(0, 5, moving.nv)
            if moving.quaternion:
                stiffness[-3:] = stiffness[-1]
            joint = joint.with_moving(replace(
                moving, stiffness=tuple(stiffness),
                spring_reference=tuple(rng.uniform(-1, 1, moving.nq))))
        if joint.nv > 1:
            joint = replace(joint, rotor_inertia=tuple(rng.uniform(0.1, 0.5, joint.nv)))
        made.append(replace(body, joint=joint,
                            gravity_compensation=rng.choice([0, 0.5, 1, 1.2])))
    return replace(robot, bodies=tuple(made))
