"""From a model file that is not quite right and a log to a robot that predicts other motion."""

import numpy as np

import closedform as cf

idn = cf.identification
TRUE = cf.load("ur5")
HEAVY = TRUE.with_payload(cf.Inertia(0.8, (0, 0, 0.1), 0.002 * np.eye(3)), at="wrist_3_link")


def run(seed: int) -> dict[str, np.ndarray]:
    """Twenty seconds at 250 Hz of a robot that carries more than its file says."""
    rng, t = np.random.default_rng(seed), np.arange(0, 20, 0.004)
    w = 2 * np.pi * 0.1 * np.arange(1, 5)
    A, B = rng.normal(size=(2, 6, 4)) / w
    s, c = np.sin(np.outer(w, t)), np.cos(np.outer(w, t))
    q, v, a = A @ s - B @ c, (A * w) @ c + (B * w) @ s, -(A * w**2) @ s + (B * w**2) @ c
    tau = cf.compile(HEAVY).inverse_dynamics(q.T, v.T, a.T) + 0.5 * v.T + 2.0 * np.sign(v.T)
    return {"t": t, "q": q.T + 1e-5 * rng.normal(size=q.T.shape),
            "tau": tau + 0.1 * rng.normal(size=tau.shape)}


model = idn.Model(TRUE, idn.Friction("viscous", "coulomb"))
fit = idn.fit(idn.information(model, idn.read(run(1), TRUE)))
trial = idn.validate(fit, idn.read(run(2), TRUE))
print(idn.verdict(fit, trial))
print(f"{trial.total:.2f} % of the torques on other motion are left")
print(f"mass {TRUE.mass:.2f} kg in the file, {HEAVY.mass:.2f} kg in truth, "
      f"{fit.robot.mass:.2f} kg found")
assert trial.total < 1.0
