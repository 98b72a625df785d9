"""A plane-frame finite-element model of an arm at rest: an independent view of its vibrations.

Cubic beam elements with three freedoms (along, across, turn) at each node, consistent masses, and
stretching made stiff. Hubs and payload are rigid bodies at nodes; a joint is a second turn there.
"""

import numpy as np
from scipy.linalg import eigh

STRETCH = 1e6
"""EA over EI/ℓ²: links hardly stretch."""


def frequencies(arm, angles, locked, elements=12):
    """Frequencies in Hz above zero, rising."""
    K, M, fixed = assembled(arm, angles, locked, elements)
    free = np.setdiff1d(np.arange(len(K)), fixed)
    squares = eigh(K[np.ix_(free, free)], M[np.ix_(free, free)], eigvals_only=True)
    found = np.sqrt(np.maximum(squares, 0)) / (2 * np.pi)
    return found[found > 1e-3]


def assembled(arm, angles, locked, elements):
    n = arm.n
    size = 2 * (n * elements + 1) + n * (elements + 1)
    place = lambda node: [2 * node, 2 * node + 1]
    turn = lambda i, e: 2 * (n * elements + 1) + i * (elements + 1) + e
    K, M = np.zeros((size, size)), np.zeros((size, size))
    for i, link in enumerate(arm.links):
        heading = sum(angles[:i + 1])
        k, m = element(link, link.length / elements, heading)
        for e in range(elements):
            node = i * elements + e
            at = np.ix_(*2 * [[*place(node), turn(i, e), *place(node + 1), turn(i, e + 1)]])
            K[at] += k
            M[at] += m
        for d in place(i * elements):
            M[d, d] += link.hub_mass
        M[turn(i, 0), turn(i, 0)] += link.hub_inertia
    for d in place(n * elements):
        M[d, d] += arm.payload.mass
    M[turn(n - 1, elements), turn(n - 1, elements)] += arm.payload.inertia
    fixed = [0, 1]
    if locked:
        fixed.append(turn(0, 0))
        for i in range(1, n):                      # the two turns at a joint become one
            join(K, M, turn(i - 1, elements), turn(i, 0))
            fixed.append(turn(i, 0))
    return K, M, fixed


def join(K, M, kept, dropped):
    for A in (K, M):
        A[kept] += A[dropped]
        A[:, kept] += A[:, dropped]
        A[dropped], A[:, dropped] = 0, 0
        A[dropped, dropped] = 1


def element(link, h, heading):
    EI, rho = link.stiffness, link.density
    EA = STRETCH * EI / link.length**2
    along, across = [0, 3], [1, 2, 4, 5]
    k, m = np.zeros((6, 6)), np.zeros((6, 6))
    k[np.ix_(along, along)] = EA / h * np.array([[1, -1], [-1, 1]])
    m[np.ix_(along, along)] = rho * h / 6 * np.array([[2, 1], [1, 2]])
    k[np.ix_(across, across)] = EI / h**3 * np.array([
        [12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
        [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]])
    m[np.ix_(across, across)] = rho * h / 420 * np.array([
        [156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
        [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]])
    c, s = np.cos(heading), np.sin(heading)
    R = np.kron(np.eye(2), [[c, s, 0], [-s, c, 0], [0, 0, 1]])
    return R.T @ k @ R, R.T @ m @ R
