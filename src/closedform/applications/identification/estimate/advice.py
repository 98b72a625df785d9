"""Which motion would tell what the logs left open: joints that move alone, or two together.

Each joint and each pair of neighbours moves at random postures; the motion that, added to the
information there is, leaves an unknown the smallest variance is the advice.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise

import numpy as np

from closedform.applications.identification.model import SLIP, Model
from closedform.applications.identification.triangles import Information
from closedform.arrays import Floats

STATES = 80
"""Random states of each motion."""
SPEED = 1.0
"""rad/s or m/s, where a joint has no limit; accelerations are that in a fifth of a second."""
MANY = 10
"""Motors beyond which only joints that follow each other are taken together."""
CLEAR = 0.9
"""A pair is named where it leaves so much of the sd that the better of both alone leaves."""


def advice(info: Information, weights: Floats, names: tuple[str, ...]) -> dict[str, str]:
    """For each of the unknowns the joints to move."""
    model = info.model
    wanted = {n: i for i, n in enumerate(model.names) if n in names}
    if not wanted:
        return {}
    known = np.zeros((len(model.names), len(model.names)))
    for j, support in enumerate(model.support):
        R = info.factor(j)[:, :len(support)]
        known[np.ix_(support, support)] += weights[j]**2 * R.T @ R
    rows = max(info.rows(j) for j in range(len(info.support)))
    seen = weights[weights > 0]                  # a joint that stood has no noise yet
    weights = np.where(weights > 0, weights, np.median(seen) if len(seen) else 1.0)
    left = {}
    for joints in _candidates(model):
        H = known + _motion(model, joints, weights, rows)
        scale = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
        K = H * scale[:, None] * scale + 1e-10 * np.eye(len(H))
        left[joints] = np.sqrt(np.maximum(np.diag(np.linalg.inv(K)), 0.0)) * scale
    return {name: _words(model, left, i) for name, i in wanted.items()}


def _candidates(model: Model) -> list[tuple[int, ...]]:
    motors = model.actuated
    near = pairwise(motors) if len(motors) > MANY else combinations(motors, 2)
    return [*((i,) for i in motors), *near]


def _motion(model: Model, joints: tuple[int, ...], weights: Floats, rows: int) -> Floats:
    """The information of a motion of some joints, as long as what there is."""
    robot, rng = model.robot, np.random.default_rng(0)
    limit = np.where(np.isfinite(robot.velocity_limits), robot.velocity_limits, SPEED)
    moves = np.isin(np.arange(robot.nv), joints) * np.minimum(limit, 3 * SPEED) / 2
    q = np.array([robot.random(rng) for _ in range(STATES)])
    v, a = rng.normal(size=(2, STATES, robot.nv)) * moves
    slip = np.full((STATES, len(model.actuated)), SLIP)
    made = model.kernel()(q, v, 5 * a, slip, np.zeros((STATES, robot.nv)))
    H = np.zeros((len(model.names), len(model.names)))
    for j, (row, support) in enumerate(zip(made, model.support, strict=True)):
        H[np.ix_(support, support)] += weights[j]**2 * rows / STATES * row[:, :-1].T @ row[:, :-1]
    return H


def _words(model: Model, left: Mapping[tuple[int, ...], Floats], unknown: int) -> str:
    alone = min((j for j in left if len(j) == 1), key=lambda j: left[j][unknown])
    pairs = [j for j in left if len(j) == 2]
    best = min(pairs, key=lambda j: left[j][unknown], default=alone)
    if left[best][unknown] > CLEAR * left[alone][unknown]:
        best = alone
    names = [model.velocity_names[i] for i in best]
    return f"move {names[0]} and {names[1]} together" if len(names) == 2 else f"move {names[0]}"
