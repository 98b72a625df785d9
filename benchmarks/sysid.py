"""A fit by MuJoCo's sysid beside ours, from one log that MuJoCo has simulated.

The panda moves for two seconds, by torques alone; every mass of the file is 10 % too large, and
friction is unknown. MuJoCo's sysid looks for seven masses and seven viscous frictions by rollouts,
ours for all base parameters, rotors and friction by `idn.information` and `idn.fit`. What both have
found is compared by the torques of other states.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from contenders_mujoco import mjcf

import closedform as cf
from closedform.arrays import Floats

idn = cf.identification
STEP, SECONDS, VISCOUS, WRONG = 0.002, 2.0, 2.0, 1.1
PART = 0.2               # s
FIRST = np.array([1.0, 0.0, 0.0])       # damping by powers of the velocity


def motion(robot: cf.Robot) -> tuple[Floats, Floats, Floats, Floats]:
    """t, q, v and torques that would move the robot so."""
    rng, n = np.random.default_rng(3), robot.nv
    t = np.arange(round(SECONDS / STEP)) * STEP
    f = 2 * np.pi * rng.uniform(0.5, 1.2, n)
    phase = np.outer(t, f)
    q = 0.3 * (1 - np.cos(phase)) + (robot.lower + robot.upper) / 2
    v, a = 0.3 * f * np.sin(phase), 0.3 * f**2 * np.cos(phase)
    return t, q, v, cf.compile(robot).inverse_dynamics(q, v, a) + VISCOUS * v


def with_sensors(robot: cf.Robot) -> str:
    """MJCF with a motor, sensors and viscous friction at each joint."""
    text = mjcf(robot).replace('type="hinge"', f'type="hinge" damping="{VISCOUS}"').replace(
        "<option ", f'<option integrator="implicitfast" timestep="{STEP}" ')
    names = robot.joint_names
    motors = "".join(f'<motor name="m{n}" joint="{n}"/>' for n in names)
    sensors = "".join(f'<jointpos name="q{n}" joint="{n}"/>' for n in names) + "".join(
        f'<jointvel name="v{n}" joint="{n}"/>' for n in names)
    return text.replace("</mujoco>", f"<actuator>{motors}</actuator><sensor>{sensors}</sensor>"
                                     "</mujoco>")


def torque_error(robot: cf.Robot, found: cf.Robot, viscous: Floats) -> float:
    """Per cent of the torques at random states."""
    rng = np.random.default_rng(0)
    q = rng.uniform(robot.lower, robot.upper, (500, robot.nv))
    v, a = rng.normal(size=(2, 500, robot.nv))
    true = cf.compile(robot).inverse_dynamics(q, v, a) + VISCOUS * v
    off = cf.compile(found).inverse_dynamics(q, v, a) + viscous * v - true
    return 100 * float(np.linalg.norm(off) / np.linalg.norm(true))


def with_masses(robot: cf.Robot, masses: dict[str, float]) -> cf.Robot:
    """The robot with other masses; centres and tensors stay."""
    return replace(robot, bodies=tuple(replace(b, inertia=cf.Inertia(
        masses[b.name], b.inertia.com, b.inertia.tensor)) for b in robot.bodies))


def wrong(robot: cf.Robot) -> cf.Robot:
    return with_masses(robot, {b.name: WRONG * b.inertia.mass for b in robot.bodies})


def by_rollouts(robot: cf.Robot, log: Simulated) -> tuple[cf.Robot, Floats]:
    """What MuJoCo's sysid finds, from rollouts of PART seconds: longer ones end elsewhere."""
    from mujoco import sysid
    params, names = sysid.ParameterDict(), []
    for body in (b for b in robot.bodies if b.joint.nv):
        m = body.inertia.mass
        names.append(body.name)
        params.add(sysid.Parameter(f"mass {body.name}", m, 0.3 * m, 3 * m, modifier=lambda s, p,
                                   n=body.name: setattr(s.body(n), "mass", p.value[0])))
        params[f"mass {body.name}"].value[:] = WRONG * m
        params.add(sysid.Parameter(
            f"damping {body.name}", VISCOUS, 0.0, 10.0, modifier=lambda s, p, n=body.joint_name:
            setattr(s.joint(n), "damping", p.value[0] * FIRST)))
        params[f"damping {body.name}"].value[:] = 0.1
    size = round(PART / STEP)
    starts = range(0, len(log.tau) - size, size)
    times = STEP * np.arange(size + 1)
    states = [np.concatenate([[0.0], log.states[i, 1:]]) for i in starts]
    sequence = sysid.ModelSequences(
        "panda", log.spec, [str(i) for i in starts], states,
        [sysid.TimeSeries(times, log.tau[i:i + size + 1]) for i in starts],
        [sysid.TimeSeries.from_names(times[1:], log.sensors[i:i + size], log.model)
         for i in starts])
    found, _ = sysid.optimize(params, sysid.build_residual_fn(models_sequences=[sequence]),
                              verbose=False)
    masses = {n: float(found[f"mass {n}"].value[0]) for n in names}
    return with_masses(robot, {b.name: b.inertia.mass for b in robot.bodies} | masses), np.array(
        [float(np.ravel(found[f"damping {n}"].value)[0]) for n in names])


def by_factors(robot: cf.Robot, log: Simulated) -> tuple[cf.Robot, Floats]:
    """What we find, with the prior of the wrong file."""
    n, t = robot.nv, STEP * np.arange(1, len(log.sensors) + 1)
    tau = (log.tau + np.roll(log.tau, -1, axis=0)) / 2         # a step has the torque of its begin
    tau[-1] = log.tau[-1]
    file = wrong(robot)
    model = idn.Model(file, idn.Friction("viscous"))
    read = idn.read({"t": t, "q": log.sensors[:, :n], "v": log.sensors[:, n:], "tau": tau}, file)
    fit = idn.fit(idn.information(model, read, idn.Signals(cutoff=15.0)))
    viscous = [fit.x[model.names.index(f"{name}.viscous")] for name in model.velocity_names]
    return fit.robot, np.array(viscous)


class Simulated(NamedTuple):
    """A log as MuJoCo has made it: a state and sensors behind every step."""

    spec: Any
    model: Any
    states: Floats                  # (steps + 1, state)
    sensors: Floats                 # (steps, 2 nv)
    tau: Floats                     # (steps, nv)


def simulated(robot: cf.Robot) -> Simulated:
    import mujoco
    from mujoco import rollout, sysid
    spec = mujoco.MjSpec.from_string(with_sensors(robot))
    model = spec.compile()
    data = mujoco.MjData(model)
    _, q, v, tau = motion(robot)
    first = sysid.create_initial_state(model, q[0], v[0], data.act)
    states, sensors = rollout.rollout(model, data, first, tau)
    return Simulated(spec, model, np.concatenate([np.reshape(first, (1, -1)), states[0]]),
                     sensors[0], tau)


def sysid_rows(robot: cf.Robot) -> list[tuple[str, ...]]:
    """A line for each: what was found, seconds, and how far off its torques are."""
    given = simulated(robot)
    before = torque_error(robot, wrong(robot), np.zeros(robot.nv))
    lines: list[tuple[str, ...]] = [("the file, as it was", "", "", f"{before:.1f}")]
    contenders: tuple[tuple[str, str, Callable[..., tuple[cf.Robot, Floats]]], ...] = (
        ("MuJoCo's sysid", "7 masses, 7 viscous", by_rollouts),
        ("ours, log to robot", "all base parameters, rotors, 7 viscous", by_factors))
    for name, what, run in contenders:
        start = time.process_time()
        found, viscous = run(robot, given)
        seconds = time.process_time() - start
        lines.append((name, what, f"{seconds:.2f}", f"{torque_error(robot, found, viscous):.2f}"))
    return lines


if __name__ == "__main__":
    for line in sysid_rows(cf.load("panda")):
        print(*line, sep=" | ")
