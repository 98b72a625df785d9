"""Logs of robots that move as we say, with the faults that real ones have."""

from dataclasses import dataclass

import numpy as np

import closedform as cf
from closedform.applications.motion.trajectories import Cosines, motion

SEED = 7


def swings(robot, rng, highest=0.5):
    """Every coordinate swings at its own frequency, at most so many Hz; quaternions too."""
    bounded = np.isfinite(robot.lower) & np.isfinite(robot.upper)
    lower, upper = np.where(bounded, robot.lower, -1.0), np.where(bounded, robot.upper, 1.0)
    reach, centre = (upper - lower) / 2, np.where(robot.neutral() == 1, 1.0, (lower + upper) / 2)
    frequency = 2 * np.pi * highest * rng.uniform(0.4, 1.0, robot.nq)
    return Cosines(centre, 0.5 * np.minimum(reach, 1.0), frequency)


@dataclass(frozen=True)
class Faults:
    """What happens between a controller that samples every `period` and a file."""

    period: float = 1e-3
    noise: float = 0.0           # of q
    torque_noise: float = 0.0
    jitter: float = 0.0          # s, by which rows are written late, at most
    repeats: float = 0.0         # share of rows written twice
    lost: float = 0.0            # share of samples that are not written
    lag: float = 0.0             # s, of v
    delay: float = 0.0           # s, of tau
    gap: tuple = ()              # begin and end of a time without rows


def simulated(robot, duration, faults=Faults(), highest=0.5, torques=True):
    """t, q, v, tau as logged, and the times at which they were taken."""
    rng = np.random.default_rng(SEED)
    path = swings(robot, rng, highest)
    t = np.arange(round(duration / faults.period)) * faults.period
    t = t[rng.uniform(size=len(t)) >= faults.lost]
    if faults.gap:
        t = t[(t < faults.gap[0]) | (t >= faults.gap[1])]
    q = motion(robot, path, t)[0]
    v = motion(robot, path, t - faults.lag)[1][:, 0]
    q_tau, rates = motion(robot, path, t - faults.delay)
    tau = cf.compile(robot).inverse_dynamics(q_tau, rates[:, 0], rates[:, 1]) if torques else 0.0
    tau = tau + 0.5 * np.tanh(rates[:, 0] / 1e-3) + 0.2 * rates[:, 0]
    q = q + faults.noise * rng.normal(size=q.shape)
    tau = tau + faults.torque_noise * rng.normal(size=tau.shape)
    times = 1 + (rng.uniform(size=len(t)) < faults.repeats)
    taken = np.repeat(t, times)
    again = np.concatenate([[False], np.diff(taken) == 0])
    late = rng.uniform(0, faults.jitter, len(taken)) + faults.period * 0.3 * again
    logged = {"t": np.maximum.accumulate(taken + late),
              **{kind: np.repeat(x, times, axis=0) for kind, x in
                 (("q", q), ("v", v), ("tau", tau))}}
    return logged, taken


def truth(robot, times, highest=0.5):
    """q, v and a at given times."""
    q, rates = motion(robot, swings(robot, np.random.default_rng(SEED), highest), np.asarray(times))
    return q, rates[:, 0], rates[:, 1]


def joint_columns(robot, logged):
    """A log's arrays as columns by joint, as files have them."""
    columns = {"t": logged["t"]}
    for kind, word in (("q", "position"), ("v", "velocity"), ("tau", "effort")):
        columns |= {f"{name}.{word}": logged[kind][:, j]
                    for j, name in enumerate(robot.joint_names)}
    return columns
