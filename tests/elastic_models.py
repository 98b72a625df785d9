"""Models of elastic joints for the tests: random ones, and a spring that hardens."""

from __future__ import annotations

import numpy as np

from closedform.model.elasticity.joints import ElasticJoints, Spring


def cubic(stiffness=100.0, hardening=1000.0):
    """s = k x + h x³, and its real root by Cardano."""
    def torque(x):
        return stiffness * x + hardening * x * x * x

    def deflection(s):
        p, q = stiffness / hardening, s / hardening
        root = np.sqrt(q * q / 4 + p**3 / 27)
        return np.cbrt(q / 2 + root) + np.cbrt(q / 2 - root)

    return Spring(torque, deflection)


def random_model(robot, seed=0, damping=0.0):
    """Some of the joints with one velocity elastic, each with its own numbers."""
    rng = np.random.default_rng(seed)
    names = [name for name, at in robot.v_slices.items() if at.stop - at.start == 1]
    chosen = [name for k, name in enumerate(names) if k == 0 or rng.random() < 0.7]
    return ElasticJoints(robot, {name: rng.uniform(20, 60) for name in chosen},
                         {name: rng.uniform(0.2, 1.0) for name in names},
                         {name: rng.uniform(0.2, 1) * rng.choice([-1, 1]) for name in names},
                         {name: damping * rng.uniform(0.5, 1) for name in chosen})
