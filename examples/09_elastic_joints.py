"""Elastic joints: nonlinear decoupling against computed torque designed on the rigid model.

    python examples/09_elastic_joints.py [FOLDER]

A KUKA iiwa on soft joints (10 to 38 Hz), 3 kg in its hand, moves from rest to rest in a second,
controlled at 1 kHz. Decoupling has its poles at -90/s and still follows where stiffness, payload or
motor inertia are wrong by 30 %. Poles must be fast enough for that: a stiffness believed r times
too high leaves the error of one joint with s^4 + k3 s^3 + (k2 - (r - 1) w^2) s^2 + ..., w being its
vibration, and with poles at -60/s this arm runs away at r = 1.3. Computed torque takes the joints
for rigid. Fed by the links it destabilises the springs, slowly with poles at -2/s, and runs away
within the 3 s shown from -5/s on; fed by the motors it is stable, sags, and vibrates on.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np

import closedform as cf
from closedform.applications import elastic

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "elastic_figures")
TIMES = np.linspace(0, 3, 3001)                                     # 1 kHz
GEAR = 0.01
STIFFNESS = np.array([2000, 2000, 1500, 1500, 830, 500, 170])       # N m/rad at the links
INERTIA = np.array([0.6, 0.6, 0.4, 0.4, 0.2, 0.1, 0.1])             # kg m² at the links
START, END = np.array([[0.0, 0.5, 0.0, -1.2, 0.0, 1.0, 0.0], [0.8, 0.9, 0.4, -1.6, 0.3, 0.7, 0.5]])


@dataclass(frozen=True)
class RestToRest:
    """A polynomial of degree nine in time: four derivatives vanish at both ends; then standing."""

    duration: float = 1.0

    def coordinates(self, times):
        rise = np.polynomial.Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])
        x = np.clip(times / self.duration, 0, 1)
        rows = [rise.deriv(k)(x) / self.duration**k if k else rise(x) for k in range(5)]
        return np.stack([(k == 0) * START + np.multiply.outer(row, END - START)
                         for k, row in enumerate(rows)])


def loaded(mass: float) -> cf.Robot:
    arm = cf.load("iiwa14")
    return arm.with_payload(cf.Inertia(mass, (0, 0, 0.1), 0.01 * mass * np.eye(3)),
                            at=arm.bodies[-1].name)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    plant = elastic.ElasticJoints(loaded(3.0), STIFFNESS * GEAR**2, INERTIA * GEAR**2, GEAR)
    known = {
        "model exact": plant,
        "stiffness believed 30 % too high": plant.changed(stiffness=1.3),
        "payload believed 30 % too light": plant.changed(loaded(0.7 * 3.0)),
        "motor inertia believed 30 % too small": plant.changed(motor_inertia=0.7),
    }
    path = RestToRest()
    wanted = path.coordinates(TIMES)[0]
    zero = np.zeros(7)
    start = elastic.state_from_derivatives(plant, START, zero, zero, zero)
    errors, runs = {}, {}
    for case, model in known.items():
        laws: dict[str, elastic.Controller] = {
            "decoupling": elastic.Decoupling(model, path, [-90] * 4),
            "rigid law, fed by motors": elastic.ComputedTorque(model, path, [-60] * 2, True),
            "rigid law, fed by links": elastic.ComputedTorque(model, path, [-2] * 2)}
        runs[case] = {name: elastic.closed_loop(plant, start, law, TIMES)
                      for name, law in laws.items()}
        errors[case] = {name: run.q - wanted for name, run in runs[case].items()}
        for name, error in errors[case].items():
            after = error[TIMES > 1.5]
            print(f"{case}: {name}: largest error {1e3 * np.max(np.abs(error)):.3f} mrad, "
                  f"vibration after the motion {1e3 * np.max(np.ptp(after, axis=0)):.3f} mrad")
    figure = elastic.comparison_figure(TIMES, errors)
    figure.suptitle("iiwa with elastic joints, 3 kg: largest joint error")
    figure.savefig(FOLDER / "errors.png", dpi=110)
    for name, run in runs["model exact"].items():
        file = f"motion_{name.replace(',', '').replace(' ', '_')}.png"
        figure = run.plot()
        figure.suptitle(name)
        figure.savefig(FOLDER / file, dpi=110)
    print(f"figures in {FOLDER}")


if __name__ == "__main__":
    main()
