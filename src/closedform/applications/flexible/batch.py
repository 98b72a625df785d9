"""Many arms at once: the same links with different numbers, one step of all in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np

from closedform.applications.cluster.blocks import Range, Work, computed, ranges
from closedform.applications.flexible.programs import Rate, joined
from closedform.applications.flexible.system import FlexibleSystem
from closedform.applications.motion.inputs import Held, drive
from closedform.applications.motion.methods import RK4, rk4_step
from closedform.applications.motion.times import increasing, steps_between
from closedform.arrays import NO_ARRAY, Array, ArrayLike, Floats
from closedform.errors import ArgumentError, SingularMatrix
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.call.trial import function_trial
from closedform.maths.algebra.ldl import solve_definite
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import Damping, damping_matrix, stiffness_matrix
from closedform.maths.flexible.tensors import (
    ArmTensors,
    arm_tensors,
    truncated_coriolis,
    truncated_inertia,
)
from closedform.program.pipeline import optimised
from closedform.program.record import record

Places = tuple[tuple[int, ...], ...]
"""For each packed number the flat indices of the entries that it fills: equal by symmetry."""
ARMS, SHAPED = 1024, 128
"""Arms of a block, where they move and where their modes are found: some tenths of a second."""


class BatchSimulation(NamedTuple):
    """Motions of many arms at the output times."""

    times: np.ndarray       # (points,) s
    q: np.ndarray           # (points, arms, N)
    v: np.ndarray           # (points, arms, N)
    work: np.ndarray        # (points, arms) J


def simulate_batch(arms: Sequence[FlexibleArm], q0: ArrayLike, v0: ArrayLike | None = None,
                   torque: Held | ArrayLike | None = None, times: ArrayLike = (0.0, 1.0),
                   damping: Damping = 0.0, step: float = 1e-3,
                   threads: int | None = None, client: Any = None) -> BatchSimulation:
    """RK4 for arms with the same numbers of links and modes, as with different payloads.

    q0 and v0 are (N,) or (arms, N); the torque is a constant (n,) or (arms, n), a `Held` input or
    None. The truncated model, without gravity and Coulomb friction. Blocks of arms go to threads
    of this machine, or to the workers of a Dask client: the same motions.
    """
    arms, t = list(arms), increasing(times)
    first, counts = _checked_arms(arms), steps_between(t, RK4(step).step)
    N, n = first.nq, first.n
    constants, places = packed(arms, damping, client)
    x = np.zeros((len(arms), 2 * N + 3))
    x[:, :N] = _rows(q0, len(arms), N, "q0")
    x[:, N:2 * N] = _rows(np.zeros(N) if v0 is None else v0, len(arms), N, "v0")
    held = np.zeros((len(arms), n + 1))
    if isinstance(torque, Held):
        drive(torque, FlexibleSystem(first), t, "torque")    # refuses a wrong number of columns
    elif torque is not None:
        held[:, :n] = _rows(torque, len(arms), n, "torque")
    work = ArmBlock((N, n, places), t, tuple(counts), torque if isinstance(torque, Held) else None,
                    len(arms), threads)
    parts = [part for _, part in computed(
        work, ranges(len(arms), ARMS), Work(client, what="moving", named=False),
        lambda b: tuple(a[b.start:b.stop] for a in (x, held, constants)))]
    found = np.concatenate(parts, axis=1)
    return BatchSimulation(t, found[..., :N], found[..., N:2 * N], found[..., 2 * N])


@final
@dataclass(frozen=True, eq=False)
class ArmBlock:
    """What is done to a block of arms; it travels to workers."""

    sizes: tuple[int, int, Places]
    times: Array
    counts: tuple[int, ...]         # steps between them
    torque: Held | None
    arms: int                       # in all
    threads: int | None

    def __call__(self, block: Range, x: Floats, held: Floats, constants: Floats) -> Floats:
        """The states at the times, (points, arms, 2N + 3)."""
        kernel, n, held = _kernel(*self.sizes), self.sizes[1], held.copy()
        path, turned = [x], np.empty_like(x)
        for (start, stop), count in zip(pairwise(self.times), self.counts, strict=True):
            held[:, n] = (stop - start) / count
            for k in range(count):
                now = start + k * held[0, n]
                if self.torque is not None:
                    held[:, :n] = self.torque.at(np.array([now]))[0]
                kernel(x, held, constants, out=turned, threads=self.threads)
                x, turned = turned, x if x is not path[-1] else np.empty_like(x)
            _refuse_lost(block.start, self.arms, x, stop)
            path.append(x)
            turned = np.empty_like(x)
        return np.stack(path)


def packed(arms: Sequence[FlexibleArm], damping: Damping, client: Any) -> tuple[Array, Places]:
    """The numbers of each arm's equations that are not zero in all, (arms, size), and their places.

    The modes of an arm take as long as hundreds of its steps; so a client's workers find them.
    """
    whole = np.concatenate([part for _, part in computed(
        partial(_equations, damping), ranges(len(arms), SHAPED),
        Work(client, what="finding modes", named=False), lambda b: (arms[b.start:b.stop],))])
    twins = _twins(arms[0].nq, arms[0].n * (arms[0].n - 1) // 2)
    places = tuple(twin for twin in twins if np.any(whole[:, twin[0]]))
    return np.ascontiguousarray(whole[:, [twin[0] for twin in places]]), places


def _equations(damping: Damping, block: Range, arms: Sequence[FlexibleArm]) -> Array:
    """The constants of each arm's equations, B̄, C, S, K and D one after the other, (arms, all)."""
    return np.stack([np.concatenate([x.ravel() for x in (
        *arm_tensors(arm)[:3], stiffness_matrix(arm), damping_matrix(arm, damping))])
        for arm in arms])


def _twins(N: int, pairs: int) -> list[tuple[int, ...]]:
    """Flat indices that symmetry makes equal."""
    square = np.arange(N * N).reshape(N, N)
    cube = np.arange(N**3).reshape(N, N, N)
    found, start = [], 0
    for _ in range(1 + pairs):
        found += [tuple(sorted({start + int(square[i, j]), start + int(square[j, i])}))
                  for i in range(N) for j in range(i, N)]
        start += N * N
    for _ in range(pairs):
        found += [tuple(sorted({start + int(cube[i, j, k]), start + int(cube[j, i, k])}))
                  for i in range(N) for j in range(i, N) for k in range(N)]
        start += N**3
    found += [tuple(sorted({start + int(square[i, j]), start + int(square[j, i])}))
              for i in range(N) for j in range(i, N)]
    start += N * N
    return found + [(start + k,) for k in range(N * N)]


@lru_cache(maxsize=16)
def _kernel(N: int, n: int, places: Places) -> Kernel:
    key = f"flexible batch {N} {n} {places}"
    shapes = {"x": (2 * N + 3,), "held": (n + 1,), "constants": (len(places),)}

    def step(x: Array, held: Array, constants: Array) -> Array:
        return rk4_step(_rate(N, n, places, constants), n)(x, held)

    trial = function_trial("flexible_batch", shapes, step)
    return Kernel.load(key, lambda: trial.program(optimised(
        record(step, shapes, "flexible_batch"))), judge=trial.code)


def _rate(N: int, n: int, places: Places, constants: Array) -> Rate:
    """The rate of the state with the equations' constants as inputs."""
    pairs = n * (n - 1) // 2
    flat = np.zeros((1 + pairs) * N * N + pairs * N**3 + 2 * N * N, dtype=object)
    for value, twin in zip(constants, places, strict=True):
        for k in twin:
            flat[k] = value
    sizes = np.cumsum([N * N, pairs * N * N, pairs * N**3, N * N])
    constant, cosine, sine, K, D = np.split(flat, sizes)
    turn = [[float(k < i <= l) for i in range(n)] + [0.0] * (N - n)
            for k in range(n) for l in range(k + 1, n)]
    tensors = ArmTensors(constant.reshape(N, N), cosine.reshape(pairs, N, N),
                         sine.reshape(pairs, N, N, N), np.array(turn).reshape(pairs, N))
    K, D = K.reshape(N, N), D.reshape(N, N)

    def rate(x: Array, u: Array) -> Array:
        q, v = x[:N], x[N:2 * N]
        driven, lost = np.concatenate([u, np.zeros(N - n, dtype=object)]), D @ v
        force = driven - truncated_coriolis(tensors, q, v) - K @ q - lost
        a, pivots = solve_definite(truncated_inertia(tensors, q), force)
        return joined(v, a, v @ (driven - lost), driven[0] - lost[0], pivots)

    return rate


def _rows(given: object, arms: int, size: int, what: str) -> Array:
    """Finite numbers for every arm: (size,) or (arms, size)."""
    try:
        a = np.array(given, dtype=float)
    except NO_ARRAY:
        a = np.zeros(0)
    if a.shape not in ((size,), (arms, size)) or not np.all(np.isfinite(a)):
        raise ArgumentError(f"{what} of a batch is finite numbers of shape ({size},) or "
                            f"({arms}, {size}), not {given!r}")
    return a


def _checked_arms(arms: Sequence[FlexibleArm]) -> FlexibleArm:
    kinds = {tuple(link.modes for link in arm.links) for arm in arms}
    if len(kinds) != 1:
        raise ArgumentError("a batch is one or more arms with the same modes on each link, "
                            f"not {sorted(kinds)}")
    for arm in arms:
        if any(arm.gravity) or any(link.coulomb for link in arm.links):
            raise ArgumentError(f"{arm.name} has gravity or Coulomb friction, which a batch has "
                                "not; simulate it alone")
    return arms[0]


def _refuse_lost(first: int, arms: int, x: Array, t: float) -> None:
    bad = np.flatnonzero(~np.all(np.isfinite(x), axis=1))
    if len(bad):
        raise SingularMatrix(f"by t = {t:g} s the inertia matrix of {len(bad)} of {arms} arms has "
                             f"lost positive definiteness, the first is arm {first + bad[0]}")
