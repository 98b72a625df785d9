"""The rows of a model's equations at the states of a window, through one kernel and one filter."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from closedform.applications.identification.logs.log import Log
from closedform.applications.identification.model import Model
from closedform.applications.identification.signals.filter import Window
from closedform.applications.identification.signals.windows import WindowPlan
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.model.inertia import PARAMETER_NAMES

CHUNK = 256
"""States of one call of the kernel: its results stay in the cache while they are filtered."""
JUMPS = ("coulomb", "stribeck")
"""Friction whose columns have the sign of a velocity as a factor."""


def effort_kind(model: Model, log: Log) -> str:
    """Which of a log's columns are the torques."""
    for kind in ("tau", "motor_torque", "current"):
        if kind in log.kinds:
            if kind == "motor_torque" and model.drives is None:
                raise ArgumentError(f"{log.name} has torques of motors: give the model "
                                    "drives=idn.Drives(ratio)")
            return kind
    raise ArgumentError(f"{log.name} has no torques; name their columns: "
                        "columns={'tau': […]} (or 'current', 'motor_torque')")


def torques(model: Model, window: Window, kind: str, gains: bool) -> Floats:
    """z (N, nv), or the currents (N, motors) where their gains are unknown."""
    given = window.effort[kind]
    if kind == "tau":
        return given
    at = list(model.actuated)
    motors = given[:, at] if given.shape[1] == model.robot.nv else given
    if gains:
        return motors
    assert model.drives is not None
    gain = model.drives.gains(len(at)) if kind == "current" else None
    return np.asarray((motors if gain is None else motors * gain) @ model.motor_matrix)


def slip_of(model: Model, plan: WindowPlan) -> Floats:
    """The scale of the smooth sign for each motor: as given, or from the noise of the velocity.

    What signs of noisy velocities, σ about v, have in common with that of v is erf(v / √2 σ); it
    lacks as much of a step as v / √(v² + slip²) does with slip = √(2/π) σ. A wider one would take
    more from the columns near v = 0 than noise does, and Coulomb friction would come out too large.
    """
    at = list(model.actuated)
    told = model.friction.slip
    return plan.slip[at] if told is None else np.full(len(at), float(told))


def filtered_rows(model: Model, window: Window, slip: Floats, effort: Floats,
                  gains: bool, loaded: bool = True) -> list[Floats]:
    """[W_j, gains, z_j] of a window through its filter, a matrix for each torque.

    Columns of the payload are zero where it is not on.
    """
    kernel, n, step = model.kernel(gains), len(window.kept), window.step
    ends = np.cumsum([0, *(slot.shape[0] for slot in kernel.interface.outputs)]).tolist()
    made, size = np.empty((n, ends[-1])), max(CHUNK // step, 1)
    more = 2 * window.low_pass.half + 1 - step       # states to both sides that rows share
    chunk = np.empty((size * step + more, ends[-1]))
    given = [np.ascontiguousarray(x) for x in (window.q, window.v, window.a,
                                               turning(model, window, slip), effort)]
    strides, signs = [x.strides[0] for x in given], _signs(model, ends)
    out = [x for end in ends[:-1] for x in (chunk.ctypes.data + 8 * end, chunk.strides[0])]
    for first in range(0, n, size):     # straight to the code: a call's checks take as long
        count = (min(first + size, n) - first) * step + more
        places = [x for y, stride in zip(given, strides, strict=True)
                  for x in (y.ctypes.data + first * step * stride, stride)]
        kernel.batch_native.function(count, *places, *out)
        made[first:first + size] = window.reduce(chunk[:count])
        if len(signs) and window.every > 1:
            made[first:first + size, signs] = window.reduce_means(chunk[:count, signs])
    torque = [slice(a, b) for a, b in itertools.pairwise(ends)]
    rows: list[Floats] = [made[:, t] for t in torque]
    if model.payload is not None and not loaded:
        ten = {f"{model.load_name}.{p}" for p in PARAMETER_NAMES}
        for row, support in zip(rows, model.support, strict=True):
            row[:, [k for k, c in enumerate(support) if model.names[c] in ten]] = 0.0
    return rows


def _signs(model: Model, ends: Sequence[int]) -> list[int]:
    """Which columns of all torques' rows side by side jump where a velocity turns."""
    return [end + k for end, support in zip(ends, model.support, strict=False)
            for k, c in enumerate(support) if model.names[c].rpartition(".")[2].startswith(JUMPS)]


def turning(model: Model, window: Window, slip: Floats) -> Floats:
    """The scale of the smooth sign at every state, (N, motors), which is no step inside a step.

    Of the D logged samples about a state, T apart, signs have the mean

        s = (2 ⌊|v| / |a| T⌋ + 1) / D    where v turns among them,

    and that is |v| / √(v² + slip²) with slip² = v² (1/s² − 1). The sign of the state itself would
    turn late or early by up to D T/2.
    """
    squared, D = slip**2, window.every
    own = np.eye(model.robot.nv)[list(model.actuated)]
    for P in [own, model.motor_rows] if model.coupled else [own]:
        v, per_sample = window.v @ P.T, np.abs(window.a @ P.T) / (window.low_pass.rate * D)
        samples = np.floor(np.minimum(np.abs(v) / np.maximum(per_sample, 1e-300), D))
        s = np.minimum((2 * samples + 1) / D, 1.0)
        squared = np.maximum(squared, v**2 * (1 / s**2 - 1))
    return np.sqrt(squared)
