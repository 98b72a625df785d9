"""Estimators that look at the logs again: whitened residuals, instruments, simulated motion.

    generalised     rows filtered by an AR model of the residual: Ŵ_t = W_t − Σ φ_k W_{t−k}
    instrumental    Σ Zᵀ (W x − z) = 0 with Z = W at the same phase of the other periods
    didim           W of the motion that the model itself makes under the control law

Cites: [Ljung1999, ch. 7] for the first two; [GautierJanotVandanjon2013] for the last.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_toeplitz

from closedform.applications.counts import is_number
from closedform.applications.identification.estimate.least_squares import (
    RANK,
    Equations,
    equations,
    joint_weights,
    noise,
    weighted,
)
from closedform.applications.identification.information import information, log_information
from closedform.applications.identification.logs.log import Samples
from closedform.applications.identification.logs.read import read
from closedform.applications.identification.result import identified_robot
from closedform.applications.identification.rows import (
    effort_kind,
    filtered_rows,
    slip_of,
    torques,
)
from closedform.applications.identification.signals.signals import Prepared, Signals
from closedform.applications.identification.triangles import Information
from closedform.applications.simulate import simulate
from closedform.arrays import Array, Floats
from closedform.errors import ArgumentError

ORDER = 8
"""Past rows that predict the next residual."""
ControlLaw = Callable[[float, Array, Array], Array]


def reduced_rows(info: Information) -> Iterator[tuple[list[Floats], Prepared]]:
    """The filtered rows [W_j, gains, z_j] of every window of every log, and how it was prepared."""
    if not info.sources:
        raise ArgumentError("fit: this method reads the logs again, and the information has none: "
                            "make it with idn.information(model, logs)")
    for log, loaded in info.sources:
        prepared = (info.signals or Signals()).prepare(log, info.model)
        kind, slip = effort_kind(info.model, log), slip_of(info.model, prepared.plan)
        for window in prepared.windows():
            effort = torques(info.model, window, kind, info.gains)
            yield filtered_rows(info.model, window, slip, effort, info.gains,
                                loaded), prepared


def residual_models(info: Information, x: Floats) -> Floats:
    """φ, (nv, ORDER): how the residual of each torque follows from its past, by Yule and Walker."""
    nv = len(info.support)
    lags = np.zeros((nv, ORDER + 1))
    for rows, _ in reduced_rows(info):
        for j, (r, s) in enumerate(zip(rows, info.support, strict=True)):
            e = r @ np.append(x[list(s)], -1.0)
            for k in range(min(ORDER + 1, len(e))):
                lags[j, k] += e[k:] @ e[:len(e) - k]
    found = np.zeros((nv, ORDER))
    for j in range(nv):
        if lags[j, 0] > 0:
            shrunk = lags[j] / lags[j, 0] * (1 - np.arange(ORDER + 1) * 1e-6)
            found[j] = solve_toeplitz(shrunk[:-1], shrunk[1:])
    return found


def whitened(info: Information, x: Floats) -> Information:
    """The information of the same logs with rows whose residuals have less memory."""
    phi = residual_models(info, x)
    signals = info.signals or Signals()
    blocks = max(b.number for b in info.blocks) + 1
    parts = [log_information(info.model, log, signals, blocks, loaded, phi)
             for log, loaded in info.sources]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    note = f"residuals whitened by an AR model of order {ORDER} for each torque"
    return replace(total, notes=(*info.notes, note), signals=info.signals, sources=info.sources)


class Instrumental(NamedTuple):
    """x by instruments, x without each stretch of time, and what noise alone would say of it."""

    x: Floats
    left_out: Floats            # (stretches, unknowns)
    naive: Floats


def instrumental(info: Information, period: float) -> Instrumental:
    """x from the periods of a repeated motion: noise of other periods is not that of this one.

        G x = h,     G = Σ_b Zᵀ_b W_b,   h = Σ_b Zᵀ_b z_b

    over stretches of time b, each of which is left out in turn: x_−b = (G − G_b)⁻¹ (h − h_b). The
    factors of least squares would not do: their WᵀW has the noise of W squared in it, and their
    residuals that of the torques alone.
    """
    if not is_number(period):
        raise ArgumentError(f"fit: period must be the seconds of one repetition, not {period!r}")
    x, _ = weighted(info)
    weights = joint_weights(noise(info, x), info)
    eq, p = equations(info, weights), len(info.columns)
    stretches: list[tuple[Floats, Floats]] = []
    spread = np.zeros((p, p))
    parts = max(b.number for b in info.blocks) + 1
    for rows, rate in _whole_logs(info):
        n = round(period * rate)
        count = len(rows[0]) // max(n, 1)
        if abs(n - period * rate) > 0.02 * n or count < 2:
            raise ArgumentError(f"fit: two whole periods of {period:g} s at least, and a rate that "
                                f"divides them (this one is {rate:.6g} Hz: "
                                f"Signals(rate={max(n, 1) / period:.6g}))")
        ends = np.linspace(0, count * n, parts + 1).astype(int)
        G, h = np.zeros((parts, p, p)), np.zeros((parts, p))
        for j, s in enumerate(info.support):
            whole = weights[j] * rows[j][:count * n].reshape(count, n, -1)
            others = (whole.sum(axis=0) - whole) / (count - 1)
            Z, own = others[..., :-1].reshape(count * n, -1), whole.reshape(count * n, -1)
            at = np.ix_(s, s)
            spread[at] += Z.T @ Z
            for b, (start, end) in enumerate(itertools.pairwise(ends)):
                made = Z[start:end].T @ own[start:end]
                G[b][at] += made[:, :-1]
                h[b][list(s)] += made[:, -1]
        stretches += zip(G, h, strict=True)
    G, h = (np.sum(part, axis=0) for part in zip(*stretches, strict=True))
    root = eq.free @ np.linalg.pinv(eq.free.T @ G @ eq.free, rcond=RANK**2) @ eq.free.T
    return Instrumental(_by_instruments(eq, G, h),
                        np.array([_by_instruments(eq, G - own, h - its) for own, its in stretches]),
                        np.sqrt(np.maximum(np.diag(root @ spread @ root.T), 0.0)))


def _by_instruments(eq: Equations, G: Floats, h: Floats) -> Floats:
    """The x of G x = h that keeps to what is known."""
    y, *_ = np.linalg.lstsq(eq.free.T @ G @ eq.free, eq.free.T @ (h - G @ eq.start), rcond=RANK**2)
    return np.asarray(eq.start + eq.free @ y)


def _whole_logs(info: Information) -> Iterator[tuple[list[Floats], float]]:
    """The rows of each log, in memory."""
    for source in info.sources:
        parts = list(reduced_rows(replace(info, sources=(source,))))
        prepared = parts[0][1]
        if prepared.survey.gaps:
            raise ArgumentError(f"fit: {source[0].name} has gaps ({len(prepared.survey.gaps)}); "
                                "method 'instrumental' needs periods without: log.between(start, "
                                "stop) takes a part")
        yield [np.concatenate([r[j] for r, _ in parts]) for j in range(len(info.support))], \
            prepared.rate


def simulated_information(info: Information, standard: Floats, law: ControlLaw) -> Information:
    """The information of the motion that the identified robot makes under the control law.

    Measured torques, simulated states: noise of the positions is in neither.
    """
    robot = identified_robot(info.model, standard)
    signals = replace(info.signals or Signals(), delay=0.0, clock="logged")
    logs = []
    for number, (log, _) in enumerate(info.sources):
        given = log.samples()
        if given.tau is None:
            raise ArgumentError("fit: method 'didim' needs torques of joints")
        start = given.v[0] if given.v is not None else np.zeros(robot.nv)
        run = simulate(robot, given.q[0], start, law, given.t, friction=True, progress=False)
        made = Samples(given.t, np.asarray(run.q), np.asarray(run.v), tau=given.tau)
        logs.append(replace(read(made, info.model.robot), name=f"{log.name} simulated {number}"))
    blocks = max(b.number for b in info.blocks) + 1
    made_info = information(info.model, logs, signals, blocks)
    return replace(made_info, sources=info.sources, signals=info.signals)
