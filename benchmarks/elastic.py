"""What elastic joints cost: motor torques against the second-order jet, and closed loops.

    python benchmarks/elastic.py

Contenders take turns, and a ratio is the median of the rounds' ratios. "new arrays" is a plain call
from Python, "out=" one into arrays that are there, "batch" a state among 1000 on one thread.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from clock import FULL, Job, measured, pin_to_one_core, ratio
from rich.console import Console
from tables import Table, number

import closedform as cf
from closedform.applications import elastic
from closedform.applications.motion.trajectories import Cosines

GEAR = 0.01
STIFFNESS = np.array([2000, 2000, 1500, 1500, 830, 500, 170]) * GEAR**2
INERTIA = np.array([0.6, 0.6, 0.4, 0.4, 0.2, 0.1, 0.1]) * GEAR**2
SWING = Cosines(np.array([0.0, 0.6, 0.0, -1.3, 0.0, 1.0, 0.0]), np.full(7, 0.3),
                1.0 + 0.25 * np.arange(7))


def ways(kernel, q, rates) -> dict[str, tuple[object, int]]:
    """A kernel called in three ways, each with the number of states."""
    Q, R = np.tile(q, (1000, 1)), np.tile(rates, (1000, 1, 1))
    out, outs = kernel(q, rates), kernel(Q, R)
    one = tuple(out) if isinstance(out, tuple) else out
    many = tuple(outs) if isinstance(outs, tuple) else outs
    return {"new arrays": (lambda: kernel(q, rates), 1),
            "out=": (lambda: kernel(q, rates, out=one), 1),
            "batch": (lambda: kernel(Q, R, out=many, threads=1), 1000)}


def job(label, call, states) -> Job:
    def run(repeats):
        for _ in range(repeats):
            call()
    return Job(label, run, states)


def costs() -> Table:
    rows = []
    for name in ("iiwa14", "humanoid25"):
        robot = cf.load(name)
        model = elastic.ElasticJoints(robot, 1.0, 3e-5, GEAR)
        rng = np.random.default_rng(0)
        q, rates = robot.random(rng), rng.normal(size=(4, robot.nv))
        jet, ours = cf.compile(robot).inverse_dynamics_jet, elastic.compile(model)
        for title, kernel in (("motor_torque", ours.motor_torque),
                              ("inverse_dynamics", ours.inverse_dynamics)):
            pairs = zip(ways(jet, q, rates).items(), ways(kernel, q, rates).values(), strict=True)
            for (way, (base, states)), (call, _) in pairs:
                times = measured([job("jet", base, states), job("ours", call, states)], FULL)
                rows.append((name, title, way, number(statistics.median(times["jet"]), " ns"),
                             number(statistics.median(times["ours"]), " ns"),
                             number(ratio(times, "ours", "jet"))))
    return Table("Inverse dynamics with four derivatives against the jet of order 2",
                 ("robot", "kernel", "call", "jet", "elastic", "ratio"), rows,
                 "The aim is 1.4. inverse_dynamics returns four arrays, motor_torque one.")


def loops() -> Table:
    arm = cf.load("iiwa14")
    loaded = arm.with_payload(cf.Inertia(3.0, (0, 0, 0.1), 0.03 * np.eye(3)),
                              at=arm.bodies[-1].name)
    model = elastic.ElasticJoints(loaded, STIFFNESS, INERTIA, GEAR)
    times = np.linspace(0, 10, 10_001)
    wanted = SWING.coordinates(times)
    start = elastic.state_from_derivatives(model, *wanted[:4, 0])
    rows = []
    for name, law in (("decoupling", elastic.Decoupling(model, SWING, [-90] * 4)),
                      ("rigid computed torque", elastic.ComputedTorque(
                          model, SWING, [-20] * 2, at_motors=True))):
        elastic.closed_loop(model, start, law, times[:10])
        spent = []
        for _ in range(5):
            begin = time.process_time()
            run = elastic.closed_loop(model, start, law, times)
            spent.append(time.process_time() - begin)
        error = np.max(np.abs(run.q - wanted[0]))
        rows.append((name, f"{min(spent):.3f} s", f"{1e3 * error:.3g} mrad"))
    return Table("Closed loop of the KUKA iiwa with 3 kg, 10 s at 1 kHz, one core",
                 ("controller", "CPU time", "largest error"), rows, "The aim is 0.5 s.")


def main() -> None:
    console = Console()
    console.print(pin_to_one_core())
    for table in (costs(), loops()):
        table.print(console)


if __name__ == "__main__":
    main()
