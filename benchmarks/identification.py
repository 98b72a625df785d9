"""From states and logs to factors to a robot: beside a loop over Pinocchio's regressor with a QR.

Prints CPU microseconds a sample and CPU seconds of fits; ratios are of one run, medians of rounds
in turns. States: q, v, a and torques in arrays, no filter; beside our reflections LAPACK's `dtpqrt`
and Gram matrices (`dsyrk`, whose error grows with the square of the condition number) on the same
rows. Logs: everything that `idn.information` does, at 1 kHz. FIGAROH's stack of regressors and a
fit by MuJoCo's sysid stand beside where they are installed (`pip install figaroh mujoco[sysid]`).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from types import SimpleNamespace

import numpy as np
from rich.console import Console
from scipy.linalg import blas, lapack
from sysid import sysid_rows
from tables import Table

import closedform as cf
from closedform.applications.identification.estimate.fit import prior_parameters
from closedform.applications.identification.model import Model
from closedform.applications.identification.triangles import Information, TimeBlock, updated
from closedform.arrays import Floats

idn = cf.identification
SAMPLES, ROUNDS, CHUNK = 20_000, 5, 512
LOGGED = 400_000
"""Rows of a log."""


class States:
    """A window of random states."""

    def __init__(self, robot: cf.Robot, count: int) -> None:
        rng = np.random.default_rng(0)
        self.q = np.array([robot.random(rng) for _ in range(count)])
        self.v, self.a, self.tau = rng.normal(size=(3, count, robot.nv))


Update = Callable[[Floats, Floats], Floats]


def by_lapack(R: Floats, rows: Floats) -> Floats:
    return lapack.dtpqrt(0, min(8, len(R)), R, np.asfortranarray(rows), overwrite_b=1)[0]


def by_gram(R: Floats, rows: Floats) -> Floats:
    return blas.dsyrk(1.0, rows.T, beta=1.0, c=R, overwrite_c=1)


def rows_of(model: Model, states: States, at: slice, out: tuple[Floats, ...]) -> tuple[Floats, ...]:
    slip = np.full(len(model.actuated), 0.01)
    model.kernel()(states.q[at], states.v[at], states.a[at], slip, states.tau[at],
                   out=out if len(out) > 1 else out[0])
    return out


def factors(model: Model, states: States, update: Update = updated) -> list[Floats]:
    """One factor for each torque, in chunks of the cache's size."""
    widths = [slot.shape[0] for slot in model.kernel().interface.outputs]
    found = [np.zeros((n, n), order="F") for n in widths]
    out = tuple(np.empty((CHUNK, n)) for n in widths)
    for start in range(0, len(states.q), CHUNK):
        count = min(CHUNK, len(states.q) - start)
        part = rows_of(model, states, slice(start, start + count), tuple(x[:count] for x in out))
        found = [update(R, r) for R, r in zip(found, part, strict=True)]
    return found


def pinocchio_factor(robot: cf.Robot, states: States) -> Callable[[], Floats]:
    """Pinocchio's regressor in a loop, its base columns and friction stacked, then one dense QR."""
    import pinocchio as pin
    model = pin.buildModelFromXML(robot.to_urdf())
    data, kept = model.createData(), list(cf.base_parameters(robot).kept)
    n, p = robot.nv, len(kept) + 3 * robot.nv

    def run() -> Floats:
        W = np.zeros((len(states.q), n, p + 1))
        for k, (q, v, a) in enumerate(zip(states.q, states.v, states.a, strict=True)):
            W[k, :, :len(kept)] = pin.computeJointTorqueRegressor(model, data, q, v, a)[:, kept]
        at = np.arange(n)
        for i, f in enumerate((states.v, np.sign(states.v), np.ones_like(states.v))):
            W[:, at, len(kept) + 3 * at + i] = f
        W[:, :, p] = states.tau
        return np.asarray(np.linalg.qr(W.reshape(-1, p + 1), mode="r"))
    return run


def figaroh_stack(robot: cf.Robot, states: States) -> Callable[[], Floats]:
    """FIGAROH's regressors of all samples, with friction and offsets; no QR."""
    import pinocchio as pin
    from figaroh.tools.regressor import build_regressor_basic
    model = pin.buildModelFromXML(robot.to_urdf())
    arm = SimpleNamespace(model=model, data=model.createData())
    config = {"has_friction": True, "has_joint_offset": True, "is_joint_torques": True,
              "act_idxv": list(range(robot.nv))}
    return lambda: build_regressor_basic(arm, states.q, states.v, states.a, config)


def cpu(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def in_turns(contenders: dict[str, Callable[[], object] | None]) -> dict[str, Floats]:
    """CPU seconds of each in every round; nan of those that are missing."""
    for run in contenders.values():
        if run is not None:
            run()
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(ROUNDS):
        for name, run in contenders.items():
            found[name].append(np.nan if run is None else cpu(run))
    return {name: np.array(times) for name, times in found.items()}


def or_none(make: Callable[[], Callable[[], object]], what: str,
            out: Console) -> Callable[[], object] | None:
    """A contender, or a sentence on why it is missing."""
    try:
        return make()
    except Exception as error:                                     # theirs may raise anything
        out.print(f"{what} does not run here: {type(error).__name__}: {error}")
        return None


def text(x: float, unit: str = "") -> str:
    return "–" if np.isnan(x) else f"{x:.3g}{unit}"


def states_to_factors(out: Console) -> None:
    rows: list[tuple[str, ...]] = []
    for name in ("panda", "ur5", "humanoid25"):
        robot = cf.load(name)
        model, states = Model(robot, rotors=False), States(robot, SAMPLES)
        few = States(robot, 2000)
        times = in_turns({
            "ours": lambda m=model, s=states: factors(m, s),
            "dtpqrt": lambda m=model, s=states: factors(m, s, by_lapack),
            "gram": lambda m=model, s=states: factors(m, s, by_gram),
            "pinocchio": None if robot.is_floating else or_none(
                lambda r=robot, s=states: pinocchio_factor(r, s), "Pinocchio", out),
            "figaroh": None if robot.is_floating else or_none(
                lambda r=robot, s=few: figaroh_stack(r, s), "FIGAROH", out)})
        times["figaroh"] *= len(states.q) / len(few.q)
        rows.append((name, str(len(model.names)), *(
            text(np.median(x) / SAMPLES * 1e6) for x in times.values()),
            text(np.median(times["pinocchio"] / times["ours"]), "x")))
    Table("States to factors, CPU µs a sample", (
        "robot", "columns", "ours, QR", "with dtpqrt", "with Gram", "Pinocchio loop + dense QR",
        "FIGAROH's stack, no QR", "Pinocchio / ours"), rows).print(out)


def log_of(robot: cf.Robot, rows: int) -> cf.identification.Log:
    """A log at 1 kHz of a robot that moves as sines say, with friction and noise."""
    rng = np.random.default_rng(0)
    t, n = np.arange(rows) * 1e-3, robot.nv
    f = 2 * np.pi * rng.uniform(0.1, 0.8, n)
    phase = np.outer(t, f) + rng.uniform(0, 6, n)
    q, v, a = 0.4 * np.sin(phase), 0.4 * f * np.cos(phase), -0.4 * f**2 * np.sin(phase)
    q += (robot.lower + robot.upper) / 2
    tau = cf.compile(robot).inverse_dynamics(q, v, a) + 0.3 * np.tanh(v / 0.01) + 0.2 * v
    tau += 0.05 * rng.normal(size=tau.shape)
    return idn.read({"t": t, "q": q + 1e-6 * rng.normal(size=q.shape), "v": v, "tau": tau}, robot)


def rows_to_factors(model: Model, rows: int, update: Update) -> Callable[[], list[Floats]]:
    """So many rows of every torque, already there, into factors (or Gram matrices)."""
    rng = np.random.default_rng(0)
    some = [rng.normal(size=(min(CHUNK, rows), len(s) + 1)) for s in model.support]

    def run() -> list[Floats]:
        found = [np.zeros((r.shape[1],) * 2, order="F") for r in some]
        for start in range(0, rows, CHUNK):
            found = [update(R, r[:rows - start]) for R, r in zip(found, some, strict=True)]
        return found
    return run


def logs_to_factors(out: Console) -> None:
    """All that `information` does, and what of it is QR, which Gram matrices could replace.

    The peer takes every row as it is, without a filter.
    """
    robot = cf.load("panda")
    model, states = Model(robot, rotors=False), States(robot, SAMPLES)
    rows = []
    for label, count, signals in (
            ("by default", LOGGED, idn.Signals()), ("by default", LOGGED // 4, idn.Signals()),
            ("no row left out", LOGGED // 4, idn.Signals(cutoff=250.0))):
        log = log_of(robot, count)
        info = idn.information(model, log, signals)
        times = in_turns({
            "ours": lambda s=signals, x=log: idn.information(model, x, s),
            "qr": rows_to_factors(model, info.rows(0), updated),
            "gram": rows_to_factors(model, info.rows(0), by_gram),
            "pinocchio": or_none(lambda: pinocchio_factor(robot, states), "Pinocchio", out)})
        ours, theirs = times["ours"] / count * 1e6, times["pinocchio"] / SAMPLES * 1e6
        rows.append((label, f"{count:,}", f"{info.rows(0):,}", text(np.median(ours)),
                     *(text(np.median(times[k]) / count * 1e6) for k in ("qr", "gram")),
                     text(np.median(theirs)), text(np.median(theirs / ours), "x")))
    Table("Log to factors of the panda, CPU µs a logged row", (
        "signals", "rows at 1 kHz", "kept", "ours", "QR of it", "Gram instead",
        "Pinocchio loop + dense QR", "ratio"), rows).print(out)


def main() -> None:
    """All tables."""
    out = Console(width=130)
    states_to_factors(out)
    logs_to_factors(out)
    Table("Fits of bodies that can be, CPU seconds", ("robot", "unknowns", "weight given",
          "weight chosen"), [fits(n) for n in ("panda", "ur5", "humanoid25")]).print(out)
    try:
        with redirect_stdout(StringIO()):
            lines = sysid_rows(cf.load("panda"))
    except (ImportError, AttributeError) as error:
        out.print(f"MuJoCo's sysid does not run here (pip install mujoco\\[sysid]): {error}")
        return
    Table("Two seconds of a panda simulated by MuJoCo: log to robot", (
        "by", "found", "CPU s", "error of other torques, %"), lines).print(out)


def fits(name: str) -> tuple[str, ...]:
    """CPU seconds of the consistent fit from factors of random states."""
    robot = cf.load(name)
    model, states = Model(robot), States(robot, 4000)
    x = model.L @ prior_parameters(model)
    rows = rows_of(model, states, slice(None), tuple(
        np.empty((len(states.q), *slot.shape)) for slot in model.kernel().interface.outputs))
    rng = np.random.default_rng(1)
    for r, s in zip(rows, model.support, strict=True):
        r[:, -1] = r[:, :-1] @ x[list(s)]
        r[:, -1] += 0.05 * r[:, -1].std() * rng.normal(size=len(r))
    blocks = tuple(TimeBlock("states", b, (200,) * robot.nv, tuple(
        np.triu(updated(np.zeros((0, 0)), r[200 * b:200 * b + 200])) for r in rows))
        for b in range(20))
    info = Information(model, blocks)
    idn.fit(info, weight=1e-5)
    given = np.median([cpu(lambda: idn.fit(info, weight=1e-5)) for _ in range(3)])
    return name, str(len(x)), f"{given:.3f}", f"{cpu(lambda: idn.fit(info)):.3f}"


if __name__ == "__main__":
    main()
