"""From states to factors to a robot: beside a loop over Pinocchio's regressor with a dense QR.

Prints CPU microseconds a sample (states and torques in arrays, no filter) and CPU seconds of fits;
ratios are of one run, medians of rounds in turns. FIGAROH and MuJoCo's sysid are not timed here.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from tables import Table

import closedform as cf
from closedform.applications.identification.estimate.fit import prior_parameters
from closedform.applications.identification.information import window_rows
from closedform.applications.identification.model import Model
from closedform.applications.identification.triangles import Information, TimeBlock, updated
from closedform.arrays import Floats

idn = cf.identification
SAMPLES, ROUNDS = 20_000, 5


class States:
    """A window of random states."""

    def __init__(self, robot: cf.Robot, count: int) -> None:
        rng = np.random.default_rng(0)
        self.q = np.array([robot.random(rng) for _ in range(count)])
        self.v, self.a, self.tau = rng.normal(size=(3, count, robot.nv))


def factors(model: Model, states: States) -> list[Floats]:
    """One factor for each torque, in chunks of the cache's size."""
    slip = np.full(len(model.actuated), 0.01)
    rows = window_rows(model, states, slip, states.tau, False)  # type: ignore[arg-type]
    found = [np.zeros((0, 0))] * model.robot.nv
    for start in range(0, len(states.q), 2048):
        found = [updated(R, r[start:start + 2048]) for R, r in zip(found, rows, strict=True)]
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


def cpu(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    """All tables."""
    out = Console()
    rows: list[tuple[str, ...]] = []
    for name in ("panda", "ur5", "humanoid25"):
        robot = cf.load(name)
        model, states = Model(robot, rotors=False), States(robot, SAMPLES)
        factors(model, States(robot, 600))
        ours = [cpu(lambda m=model, s=states: factors(m, s)) for _ in range(ROUNDS)]
        theirs = [np.nan] * ROUNDS
        if not robot.is_floating:
            peer = pinocchio_factor(robot, states)
            theirs = [cpu(peer) for _ in range(ROUNDS)]
        mine, other = np.median(ours) / SAMPLES * 1e6, np.median(theirs) / SAMPLES * 1e6
        rows.append((name, str(len(model.names)), f"{mine:.2f}", f"{other:.1f}",
                     f"{np.median(np.array(theirs) / ours):.1f}x"))
    Table("States to factors, CPU µs a sample", ("robot", "columns", "ours, QR",
          "Pinocchio loop + dense QR", "ratio"), rows).print(out)
    Table("Fits of bodies that can be, CPU seconds", ("robot", "unknowns", "weight given",
          "weight chosen"), [fits(n) for n in ("panda", "ur5", "humanoid25")]).print(out)


def fits(name: str) -> tuple[str, ...]:
    """CPU seconds of the consistent fit from factors of random states."""
    robot = cf.load(name)
    model, states = Model(robot), States(robot, 4000)
    x = model.L @ prior_parameters(model)
    slip = np.full(len(model.actuated), 0.01)
    rows = window_rows(model, states, slip, states.tau, False)  # type: ignore[arg-type]
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
