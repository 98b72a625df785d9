"""Unknowns that held-out motion needs, and motions for those that the logs left open."""

import numpy as np

import closedform as cf
from measured_runs import run

idn = cf.identification
ROBOT = cf.load("planar2r")
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0)


def test_what_is_zero_is_not_essential_and_what_carries_the_torques_is():
    """No rotors and no offsets in the log; friction and first moments are."""
    info = idn.information(idn.Model(ROBOT), idn.read(run(ROBOT, noise=0.05), ROBOT),
                           signals=SIGNALS)
    fit = idn.fit(info, "weighted")
    needed = set(fit.essential)
    assert len(needed) < len(fit.x)
    assert {f"{j}.coulomb" for j in ROBOT.joint_names} <= needed
    assert sum(name.endswith((".offset", ".rotor")) for name in needed) <= 1
    assert {row.name for row in fit.table if row.essential} == needed


def test_the_motion_of_a_joint_that_stood_is_advised():
    """And that motion, added, makes the interval small."""
    data = run(ROBOT)
    q = data["q"].copy()
    q[:, 1] = 0.4
    v = np.gradient(q, data["t"], axis=0)
    tau = cf.compile(ROBOT).inverse_dynamics(q, v, np.gradient(v, data["t"], axis=0)) + np.sign(v)
    model = idn.Model(ROBOT)
    info = idn.information(model, idn.read({"t": data["t"], "q": q, "tau": tau}, ROBOT),
                           signals=SIGNALS)
    fit = idn.fit(info, "weighted")
    second = ROBOT.joint_names[1]
    assert fit.advice[f"{second}.viscous"] == f"move {second}"
    assert set(fit.advice) == set(fit.unidentified)
    assert any(second in remark for remark in idn.verdict(fit).remarks)
