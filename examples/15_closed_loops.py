"""A robot with parallelograms: its loops, its base parameters, and its masses from a log."""

import numpy as np

import closedform as cf

idn = cf.identification
TRUE = cf.load("palletiser")
HEAVY = TRUE.with_payload(cf.Inertia(25.0, (0, 0, -0.2), 0.4 * np.eye(3)), at="gripper")
print(f"{TRUE.tree.nv} joints, {TRUE.mobility} of them independent: {', '.join(TRUE.independent)}")


def run(seed: int) -> dict[str, np.ndarray]:
    """Ten seconds at 100 Hz of a robot that carries a box its file does not know of."""
    rng, t = np.random.default_rng(seed), np.arange(0, 10, 0.01)
    w = 2 * np.pi * 0.1 * np.arange(1, 5)
    A = 0.12 * rng.normal(size=(4, 4))
    y = np.array([0, -1.5, 0, 0])[:, None] + A @ np.sin(np.outer(w, t))
    v, a = (A * w) @ np.cos(np.outer(w, t)), -(A * w**2) @ np.sin(np.outer(w, t))
    q = TRUE.closed(y.T)
    tau = cf.compile(HEAVY).inverse_dynamics(q, v.T, a.T)
    return {"q": q, "v": v.T, "a": a.T, "tau": tau + 0.5 * rng.normal(size=tau.shape)}


base = cf.base_parameters(TRUE)
print(f"{base.count} base parameters of {len(TRUE.parameter_names)}: {base.evidence.method}")
log = run(1)
Y = np.concatenate([base.regressor(*x) for x in zip(log["q"][::10], log["v"][::10], log["a"][::10],
                                                    strict=True)])
found = np.linalg.lstsq(Y, log["tau"][::10].ravel(), rcond=None)[0]
other = run(2)
told = np.array([base.regressor(*x) @ found for x in zip(
    other["q"][::50], other["v"][::50], other["a"][::50], strict=True)])
left = np.linalg.norm(told - other["tau"][::50]) / np.linalg.norm(other["tau"][::50])
print(f"{100 * left:.2f} % of the torques on other motion are left")
assert base.count == 25 and left < 0.02
