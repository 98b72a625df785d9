"""From simulated logs to a verdict, for every kind of joint and for bases that float."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import closedform as cf
from closedform.applications.motion.trajectories import motion
from closedform.model.robot import Body, Robot
from measured_runs import other_inertias
from random_robots import KINDS, random_inertia, random_joint, random_placement

idn = cf.identification
VISCOUS, COULOMB = 0.4, 0.8
QUICK = ("prismatic", "spherical", "free")
SEVERAL = [pytest.param(kind, marks=[] if kind in QUICK else pytest.mark.slow)
           for kind in KINDS if kind != "fixed"]


@dataclass(frozen=True)
class Sums:
    """Three cosines for each coordinate, about the neutral ones."""

    robot: Robot
    seed: int

    def coordinates(self, times):
        rng, n = np.random.default_rng(self.seed), self.robot.nq
        rows = np.zeros((5, len(times), n))
        for _ in range(3):
            size, w, phase = (rng.uniform(a, b, n) for a, b in ((0.15, 0.35), (0.6, 5.0), (0, 6)))
            for k in range(5):
                rows[k] += size * w**k * np.cos(np.outer(times, w) + phase + k * np.pi / 2)
        rows[0] += self.robot.neutral()
        return rows


def three_bodies(kind):
    """A turn, the kind, a turn; a free joint comes first."""
    rng, bodies = np.random.default_rng(3), []
    for k, one in enumerate(("free", *["revolute"] * 2) if kind == "free"
                            else ("revolute", kind, "revolute")):
        joint = random_joint(one, rng, "b0")
        bare = {name: None for name in ("viscous", "coulomb", "rotor_inertia")
                if hasattr(joint, name) and one != "mimic"}
        bodies.append(Body(f"b{k}", f"b{k - 1}" if k else None, replace(joint, **bare),
                           random_placement(rng), random_inertia(rng)))
    return Robot(kind, bodies, gravity=(0, 0, -9.81))


def logged(robot, seed, seconds=12.0):
    t = np.arange(0, seconds, 0.005)
    q, rates = motion(robot, Sums(robot, seed), t)
    v, a = rates[:, 0], rates[:, 1]
    rubs = np.ones(robot.nv)
    for body, _, at in robot.parts:
        rubs[at] = body.joint.nv < 6
    tau = cf.compile(robot).inverse_dynamics(q, v, a) + rubs * (VISCOUS * v + COULOMB * np.sign(v))
    noise = np.random.default_rng(seed).normal(size=tau.shape)
    return {"t": t, "q": q, "tau": tau + 0.02 * tau.std(axis=0) * noise}


def judged(robot, logs):
    file = other_inertias(robot)
    first, second, last = (idn.read(log, file) for log in logs)
    model = idn.Model(file, idn.Friction("viscous", "coulomb"))
    fit = idn.fit(idn.information(model, [first, second]))
    trial = idn.validate(fit, last)
    return fit, trial, idn.verdict(fit, trial)


@pytest.mark.parametrize("kind", SEVERAL)
def test_a_robot_with_a_joint_of_any_kind_is_identified(kind, tmp_path):
    robot = three_bodies(kind)
    seconds = 24.0 if kind == "mimic" else 12.0         # two joints for three bodies tell less
    fit, trial, said = judged(robot, [logged(robot, seed, seconds) for seed in (1, 2, 9)])
    assert said.holds, said.reasons
    assert trial.total < 1.0 and fit.smallest_eigenvalue > 0
    q, v, a = robot.random(0), np.full(robot.nv, 0.3), np.full(robot.nv, 0.2)
    expected = cf.inverse_dynamics(robot, q, v, a)
    np.testing.assert_allclose(cf.compile(fit.robot).inverse_dynamics(q, v, a), expected,
                               atol=0.02 * np.abs(expected).max())
    page = fit.report(tmp_path / "fit.html", trial).read_text(encoding="utf8")
    assert "verdict holds" in page
    loaded = cf.load(fit.to_toml(tmp_path / "fit.toml"))
    np.testing.assert_allclose(cf.inverse_dynamics(loaded, q, v, a), cf.inverse_dynamics(
        fit.robot, q, v, a), atol=1e-9 * np.abs(expected).max())


def test_a_robot_that_flies_is_identified_from_the_torques_of_its_joints_alone():
    """Nothing acts on the base: its wrench of zeros is no reason against a fit."""
    robot = three_bodies("free").with_gravity((0, 0, 0))

    def flown(seed):
        t = np.arange(0, 8.0, 0.01)
        wanted = Sums(robot, seed)

        def law(t, q, v):
            q_d, v_d = wanted.coordinates(np.atleast_1d(float(t)))[:2, 0, 7:]
            return np.concatenate([np.zeros(6), 60 * (q_d - q[7:]) + 12 * (v_d - v[6:])])
        ran = cf.simulate(robot, robot.neutral(), np.zeros(robot.nv), law, t, progress=False,
                          rtol=1e-6)
        tau = np.array([law(*x) for x in zip(t, ran.q, ran.v, strict=True)])[:, 6:]
        noise = np.random.default_rng(seed).normal(size=tau.shape)
        return {"t": t, "q": ran.q, "tau": tau + 0.01 * tau.std(axis=0) * noise}
    _, trial, said = judged(robot, [flown(seed) for seed in (1, 2, 9)])
    assert not any("same in every row" in reason for reason in said.reasons)
    assert trial.joints[6:].max() < 5.0
