"""Motions through a state: complex steps in time, and exact states in 50-digit arithmetic."""

from __future__ import annotations

import math

import mpmath
import numpy as np

from closedform.arrays import OBJECTS
from random_robots import stepped


def along(robot, f, q, rates, h=1e-30):
    """d/dt f(q, rates) of a motion, exact to rounding; f gets all rates but the last."""
    rates = np.asarray(rates)
    later = rates[:-1] + 1j * h * rates[1:]
    return np.imag(f(stepped(robot, q, 1j * h * rates[0]), later)) / h


def exactly(x):
    """An object array of mpmath numbers."""
    x = np.asarray(x)
    flat = np.empty(x.size, dtype=object)
    flat[:] = [mpmath.mpf(float(y)) for y in x.ravel()]
    return flat.reshape(x.shape)


def exact_start(robot, q):
    """q with mpmath's numbers, its quaternions of length one to the last digit."""
    q = exactly(q)
    for body, i, _ in robot.parts:
        if type(body.joint).__name__ in ("Spherical", "Free"):
            turn = slice(i.stop - 4, i.stop)
            q[turn] = q[turn] / mpmath.sqrt(q[turn] @ q[turn])
    return q


def velocity_at(rates, t):
    """The velocity at t, Σ_k rates_k t^k / k!."""
    return sum((row * (t**k / math.factorial(k)) for k, row in enumerate(rates)), 0 * rates[0])


def rates_at(rates, t):
    return np.stack([velocity_at(rates[k:], t) for k in range(len(rates))])


def state_at(robot, q, rates, t):
    """q(t) of the motion with v(t) = Σ_k rates_k t^k / k!, for |t| so small that t¹⁰ is nothing.

    Quaternions by the Taylor series of q̇ = ½ q ⊗ ω, displacements by Gauss's quadrature.
    """
    parts = [OBJECTS.zeros(0)]
    for body, i, j in robot.parts:
        x, own = q[i], rates[:, j]
        match type(body.joint).__name__:
            case "Spherical":
                x = _turned(x, own, t)
            case "Free":
                def rate(s, x=x, own=own, body=body):
                    turn = np.concatenate([x[:3], _turned(x[3:], own[:, 3:], s)])
                    return body.joint.pose(turn, OBJECTS)[0] @ velocity_at(own, s)[:3]
                x = np.concatenate([x[:3] + _integral(rate, t), _turned(x[3:], own[:, 3:], t)])
            case "Planar":
                angle = lambda s, x=x, own=own: x[2] + _primitive(own[:, 2:], s)[0]
                def rate(s, angle=angle, own=own):
                    c, w, u = mpmath.cos(angle(s)), mpmath.sin(angle(s)), velocity_at(own, s)
                    return np.array([c * u[0] - w * u[1], w * u[0] + c * u[1]])
                x = np.array([*(x[:2] + _integral(rate, t)), angle(t)])
            case _:
                x = x + _primitive(own, t)
        parts.append(x)
    return np.concatenate(parts)


def _primitive(rates, t):
    return sum((row * (t**(k + 1) / math.factorial(k + 1)) for k, row in enumerate(rates)),
               0 * rates[0])


def _turned(a, rates, t):
    w = [row / math.factorial(k) for k, row in enumerate(rates)]
    c = [a]
    for k in range(9):
        rows = [_product(c[k - m], w[m]) for m in range(min(k + 1, len(w)))]
        c.append(sum(rows[1:], rows[0]) / (2 * (k + 1)))
    return sum((x * t**k for k, x in enumerate(c)), 0 * a)


def _product(a, w):
    """a ⊗ (w, 0), xyzw."""
    x, y, z, s = a
    return np.array([s * w[0] + y * w[2] - z * w[1], s * w[1] + z * w[0] - x * w[2],
                     s * w[2] + x * w[1] - y * w[0], -(x * w[0] + y * w[1] + z * w[2])])


def _integral(f, t):
    """∫_0^t f ds by Gauss's rule of three points, error of order t⁷."""
    root = mpmath.sqrt(mpmath.mpf(3) / 5)
    points = ((-root, 5), (0, 8), (root, 5))
    return sum((weight * f(t * (1 + x) / 2) for x, weight in points), 0) * t / 18
