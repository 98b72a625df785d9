"""A robot with parallelograms: its loops, its base parameters, and its masses from a log."""

import numpy as np

import closedform as cf

idn = cf.identification
TRUE = cf.load("palletiser")
HEAVY = TRUE.with_payload(cf.Inertia(25.0, (0, 0, -0.2), 0.4 * np.eye(3)), at="gripper")
names = ", ".join(TRUE.independent or ())
print(f"{TRUE.tree.nv} joints, {TRUE.mobility} of them independent: {names}")


def run(seed: int) -> dict[str, np.ndarray]:
    """Twenty seconds at 100 Hz of a robot that carries a box its file does not know of."""
    rng, t = np.random.default_rng(seed), np.arange(0, 20, 0.01)
    w = 2 * np.pi * 0.1 * np.arange(1, 6)
    A = 0.12 * rng.normal(size=(4, 5))
    y = np.array([0, -1.5, 0, 0])[:, None] + A @ np.sin(np.outer(w, t))
    v, a = (A * w) @ np.cos(np.outer(w, t)), -(A * w**2) @ np.sin(np.outer(w, t))
    tau = cf.compile(HEAVY).inverse_dynamics(TRUE.closed(y.T), v.T, a.T)
    return {"t": t, "q": y.T + 1e-5 * rng.normal(size=y.T.shape),
            "tau": tau + 0.5 * rng.normal(size=tau.shape)}


model = idn.Model(TRUE)
print(f"{model.base.count} base parameters of {len(TRUE.parameter_names)}: "
      f"{model.base.evidence.method}")
fit = idn.fit(idn.information(model, idn.read(run(1), TRUE)))
trial = idn.validate(fit, idn.read(run(2), TRUE))
print(idn.verdict(fit, trial))
print(f"{trial.total:.2f} % of the torques on other motion are left")
assert trial.total < 1.0
