"""A two-link flexible arm: Figures 2 to 10 of De Luca & Siciliano (1991), redrawn.

    python examples/07_flexible_arm.py [FOLDER]

Figures 2-4 are mode shapes for no, nominal and double payload; 5-6 free motion after an initial
deflection of link 2 and of link 1; 7-8 the same with structural damping; 9-10 a bang-bang torque
without and with damping. The paper does not say when its torque switches: here it is 0.2 N m for
half a second, then -0.2 N m for half a second. With a second each way and no damping the inertia
matrix of the paper's model loses positive definiteness at t = 1.29079 s, which is shown last.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np

import closedform as cf
from closedform.applications import flexible

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "flexible_figures")
TIMES = np.linspace(0, 2, 2001)                      # 1 ms, as in the paper
STRAIGHT = np.array([0, 0, 0, 0, 0.1, 0.002])        # link 2 bent
ANGLED = np.array([0, np.pi / 2, 0.1, 0.002, 0, 0])  # link 1 bent, link 2 at a right angle
BANG = flexible.bang_bang([0.2, 0.2], 0, 0.5, 1)
MOTIONS = {
    5: ("free, straight", STRAIGHT, None, 0.0),
    6: ("free, right angle", ANGLED, None, 0.0),
    7: ("damped, straight", STRAIGHT, None, 0.1),
    8: ("damped, right angle", ANGLED, None, 0.1),
    9: ("bang-bang", np.zeros(6), BANG, 0.0),
    10: ("bang-bang, damped", np.zeros(6), BANG, 0.1),
}


def main() -> None:
    arm = flexible.load("deluca_siciliano")
    FOLDER.mkdir(parents=True, exist_ok=True)

    for number, factor in ((2, 0), (3, 1), (4, 2)):
        loaded = arm.with_payload(
            type(arm.payload)(factor * arm.payload.mass, factor * arm.payload.inertia))
        figure = flexible.shapes_figure(loaded)
        figure.suptitle(f"Figure {number}: mode shapes, payload x {factor}")
        figure.savefig(FOLDER / f"figure_{number:02}.png", dpi=110)
        print(f"Figure {number}: node of the second mode of link 2 at x/l ="
              f" {node(loaded) or 'none'}")

    for number, (title, q0, torque, damping) in MOTIONS.items():
        run = flexible.simulate(arm, q0, torque=torque, times=TIMES, damping=damping, method="RK4")
        figure = run.plot()
        figure.suptitle(f"Figure {number}: {title}")
        figure.savefig(FOLDER / f"figure_{number:02}.png", dpi=110)
        print(f"Figure {number}: {title}; largest |delta| {np.max(np.abs(run.q[:, 2:])):.4f}, "
              f"energy residual {np.max(np.abs(run.energy_residual)):.1e} J")

    try:
        flexible.simulate(arm, np.zeros(6), torque=flexible.bang_bang([0.2, 0.2], 0, 1, 2),
                          times=TIMES)
    except cf.SingularMatrix as stop:
        print(f"one second each way: {stop}")


def node(arm) -> float | None:
    """Where the second mode of link 2 crosses zero, as a part of the length."""
    x = np.linspace(0.01, 1, 2000)
    shape = arm.modes[1].deflections(x * arm.links[1].length)[:, 1]
    crossings = np.flatnonzero(shape[1:] * shape[:-1] < 0)
    return round(float(x[crossings[0]]), 3) if len(crossings) else None


if __name__ == "__main__":
    main()
