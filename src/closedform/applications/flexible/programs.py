"""The equations of a flexible arm as programs: rates and steps of its state, and what to watch.

The state is x = (q, v, W, I): beside the motion the work W done on the arm by torques and friction,
and the impulse I of all torques about the first joint that are not inertial,

    Ẇ = vᵀ (Q u − D v − f),   İ = (Q u − D v − f − g)_1,                                     (i)

so that T + U − W and, θ_1 being cyclic, (B v)_1 − I are constant and every run carries two checks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, final

import numpy as np

from closedform.applications.motion.methods import rk4_step
from closedform.arrays import Array, Number, namespace
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.call.trial import function_trial
from closedform.maths.algebra.ldl import solve_definite
from closedform.maths.flexible.arm import FlexibleArm, moments
from closedform.maths.flexible.dynamics import (
    Model,
    friction_torque,
    generalised_force,
    gravity_torque,
    inertia_matrix,
    kinetic_energy,
    potential_energy,
    resistance,
    stiffness_matrix,
    tip_position,
)
from closedform.maths.flexible.kinematics import shortening_moments
from closedform.program.pipeline import optimised
from closedform.program.record import record

Rate = Callable[[Array, Array], Array]
"""(x, u) -> ẋ, and last 0, or NaN where B is not positive definite."""


class Watched(NamedTuple):
    """What is watched of a state."""

    kinetic: Number       # J
    potential: Number     # J
    momentum: Array      # kg m²/s, (B v)_1
    tip: Array           # (2,) m


def state_rate(arm: FlexibleArm, D: Array, model: Model) -> Rate:
    """The rate of x = (q, v, W, I), (2N + 2,), and a number that tells whether B is definite."""
    N = arm.nq

    def rate(x: Array, u: Array) -> Array:
        q, v = x[:N], x[N:2 * N]
        driven = generalised_force(arm, u)
        dissipated = D @ v + friction_torque(arm, v)
        a, pivots = solve_definite(inertia_matrix(arm, q, model),
                                   driven - resistance(arm, q, v, D, model))
        return joined(v, a, v @ (driven - dissipated),
                      driven[0] - dissipated[0] - gravity_torque(arm, q, model)[0], pivots)

    return rate


def joined(v: Array, a: Array, power: Array, torque: Array, pivots: Array) -> Array:
    """(v, a, Ẇ, İ, 0), (2N + 3,); the last is NaN instead unless B has positive pivots alone."""
    xp = namespace(v, a)
    signs = sum(xp.sign(p) for p in pivots)
    return xp.concatenate([v, a, xp.stack([power, torque, xp.sqrt(signs - len(a))])])


def watched(arm: FlexibleArm, model: Model) -> Callable[[Array, Array], Watched]:
    """(q, v) -> what is watched."""
    def watch(q: Array, v: Array) -> Watched:
        return Watched(kinetic_energy(arm, q, v, model), potential_energy(arm, q, model),
                       inertia_matrix(arm, q, model)[0] @ v, tip_position(arm, q, model))

    return watch


@final
@dataclass(frozen=True)
class ArmKernels:
    """Compiled code of an arm, each part from the cache or compiled when first needed."""

    arm: FlexibleArm
    damping: bytes       # of D, (N, N)
    model: Model

    @cached_property
    def rate(self) -> Kernel:
        """(x, u) -> ẋ, and 0 or NaN."""
        N, n = self.arm.nq, self.arm.n
        return self._load("rate", lambda: self._rate, {"x": (2 * N + 2,), "u": (n,)})

    @cached_property
    def step(self) -> Kernel:
        """A step of RK4 of (x, definite) under (u, h)."""
        N, n = self.arm.nq, self.arm.n
        return self._load("step", lambda: rk4_step(self._rate, n),
                          {"x": (2 * N + 3,), "held": (n + 1,)})

    @cached_property
    def watch(self) -> Kernel:
        """(q, v) -> Watched."""
        N = self.arm.nq
        return self._load("watch", lambda: watched(self.arm, self.model), {"q": (N,), "v": (N,)})

    @property
    def _rate(self) -> Rate:
        return state_rate(self.arm, self._D, self.model)

    @property
    def _D(self) -> np.ndarray:
        return np.frombuffer(self.damping).reshape(self.arm.nq, self.arm.nq)

    @cached_property
    def _key(self) -> str:
        return digest(self.arm, self._D, self.model)

    def _load(self, what: str, function: Callable[[], Callable[..., object]],
              inputs: dict[str, tuple[int, ...]]) -> Kernel:
        name = f"flexible_{what}"
        trial = function_trial(name, inputs, lambda *arrays: function()(*arrays))
        return Kernel.load(f"flexible {what} {self._key}", lambda: trial.program(
            optimised(record(function(), inputs, name))), judge=trial.code)


def arm_kernels(arm: FlexibleArm, D: np.ndarray, model: Model) -> ArmKernels:
    """Compiled rates, steps and watches of an arm with the damping D."""
    return _kernels(arm, D.tobytes(), model)


@lru_cache(maxsize=32)
def _kernels(arm: FlexibleArm, damping: bytes, model: Model) -> ArmKernels:
    return ArmKernels(arm, damping, model)


def digest(arm: FlexibleArm, D: Array, model: Model) -> str:
    """All that the equations of an arm depend on, as one key."""
    text = hashlib.sha256(f"{model!r} {arm.gravity} {arm.payload} {arm.n}".encode())
    for link, modes in zip(arm.links, arm.modes, strict=True):
        facts = (link.length, link.hub_inertia, link.coulomb, link.modes)
        text.update(repr(facts).encode())
        text.update(np.concatenate([modes.tip, modes.tip_slope]).tobytes())
    grams = [*moments(arm), stiffness_matrix(arm), D]
    if getattr(model, "foreshortening", False):
        shortened = [shortening_moments(arm, i) for i in range(arm.n)]
        grams += [array for found in shortened for array in found]
    for array in grams:
        text.update(np.ascontiguousarray(array).tobytes())
    return text.hexdigest()
