"""Flexible arms for the tests: the paper's, and others with one to three links."""

import numpy as np

from closedform.maths.flexible.arm import FlexibleArm
from closedform.model.elasticity.beam import FlexibleLink, Payload, Shape


def paper_arm(modes=2, **options):
    links = [FlexibleLink(0.5, 0.2, 1.0, hub, 0.1, modes) for hub in (0.0, 1.0)]
    return FlexibleArm(links, Payload(0.1, 0.0005), **options)


def odd_arm(*modes, **options):
    """Links of different sizes, the last of them tapered where it bends."""
    links = [FlexibleLink(0.5 + 0.1 * i, 0.2 + 0.05 * i, 1.0 + i, 0.3 * i, 0.1, m)
             for i, m in enumerate(modes)]
    return FlexibleArm(links, Payload(0.1, 0.0005), **options)


ARMS = {
    "one link": odd_arm(2),
    "the paper's": paper_arm(),
    "three links": odd_arm(2, 1, 2),
    "rigid between flexible": odd_arm(1, 0, 2),
    "other loads": paper_arm(reference=(0.0, 0.4)),
    "given shapes": FlexibleArm([
        FlexibleLink(0.5, lambda x: 0.3 - 0.2 * x, lambda x: 2.0 - x, 0.1, 0.1,
                     shapes=[Shape.from_polynomial(0, 0, 1), Shape.from_polynomial(0, 0, 0, 2)]),
        FlexibleLink(0.4, 0.2, 1.0, 0.5, 0.05, 1)], Payload(0.2, 0.001)),
}


def random_motion(arm, rng, bend=0.02):
    """q, v, a with small deflections."""
    q, v, a = rng.normal(size=(3, arm.nq))
    q[arm.n:] *= bend
    return q, v, a


def complex_step(f, x, dx, h=1e-30):
    """Directional derivative of f at x along dx, exact to rounding."""
    return np.imag(f(x + 1j * h * dx)) / h
