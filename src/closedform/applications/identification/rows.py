"""The rows of a model's equations at the states of a window, through one kernel and one filter."""

from __future__ import annotations

import itertools

import numpy as np

from closedform.applications.identification.logs.log import Log
from closedform.applications.identification.model import Model
from closedform.applications.identification.signals.filter import Window
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.model.inertia import PARAMETER_NAMES

CHUNK = 256
"""States of one call of the kernel: its results stay in the cache while they are filtered."""


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
    given = [np.ascontiguousarray(x) for x in (window.q, window.v, window.a, slip, effort)]
    strides = [0 if x is given[3] else x.strides[0] for x in given]
    out = [x for end in ends[:-1] for x in (chunk.ctypes.data + 8 * end, chunk.strides[0])]
    for first in range(0, n, size):     # straight to the code: a call's checks take as long
        count = (min(first + size, n) - first) * step + more
        places = [x for y, stride in zip(given, strides, strict=True)
                  for x in (y.ctypes.data + first * step * stride, stride)]
        kernel.batch_native.function(count, *places, *out)
        made[first:first + size] = window.reduce(chunk[:count])
    torque = [slice(a, b) for a, b in itertools.pairwise(ends)]
    rows: list[Floats] = [made[:, t] for t in torque]
    if model.payload is not None and not loaded:
        ten = {f"{model.load_name}.{p}" for p in PARAMETER_NAMES}
        for row, support in zip(rows, model.support, strict=True):
            row[:, [k for k, c in enumerate(support) if model.names[c] in ten]] = 0.0
    return rows
