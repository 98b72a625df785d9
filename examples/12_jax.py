"""Controls of many trajectories at once, by gradients through their motion in JAX.

    python examples/12_jax.py              16 trajectories of 20 steps
    python examples/12_jax.py --full       1024 of 50, and the exported function beside the kernel

Each trajectory starts somewhere else and shall end at rest in the same pose. The torques are those
that hold the arm at the start, and scaled controls, found by Adam.
"""

import runpy
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np

import closedform as cf

jax.config.update("jax_enable_x64", True)

FULL = "--full" in sys.argv
COUNT, STEPS, ITERATIONS = (1024, 50, 300) if FULL else (16, 20, 300)
H, RATE = 0.01, 0.03

robot = cf.load("panda")
arm = cf.compile(robot)
rng = np.random.default_rng(1)
goal = jnp.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.6])
start = goal + 0.1 * rng.normal(size=(COUNT, robot.nv))
hold = arm.gravity_torque.jax()(start)
scale = 10 * jnp.diagonal(arm.mass_matrix.jax()(goal))      # one control is about 10 rad/s²


def cost(forward_dynamics, controls):
    """How far from the goal, and from rest, the trajectories end; a little for the controls."""
    def step(state, u):
        q, v = state
        v = v + H * forward_dynamics(q, v, hold + scale * u)
        return (q + H * v, v), None

    (q, v), _ = jax.lax.scan(step, (start, jnp.zeros_like(start)), controls)
    ends = 100 * (q - goal)**2 + (v * H * STEPS)**2
    return (jnp.sum(ends) + 1e-4 * jnp.sum(controls**2)) / COUNT


def adam(forward_dynamics, iterations):
    """The cost at first and at last, and the seconds that an iteration takes."""
    value_and_grad = jax.value_and_grad(lambda u: cost(forward_dynamics, u))

    @jax.jit
    def iteration(k, u, m, s):
        value, g = value_and_grad(u)
        m, s = 0.9 * m + 0.1 * g, 0.9 * s + 0.1 * g**2
        change = m / (1 - 0.9**k) / (jnp.sqrt(s / (1 - 0.9**k)) + 1e-12)
        return value, u - RATE * 0.99**k * change, m, s

    u = m = s = jnp.zeros((STEPS, COUNT, robot.nv))
    first, *_ = jax.block_until_ready(iteration(1.0, u, m, s))           # compiles
    began = time.process_time()
    for k in range(iterations):
        last, u, m, s = iteration(k + 1.0, u, m, s)
    jax.block_until_ready(u)
    return first, last, (time.process_time() - began) / iterations


def exported():
    """The same function as a file of jnp operations, for one state: `vmap` makes a batch of it."""
    with tempfile.TemporaryDirectory() as folder:
        files = cf.export(robot, "forward_dynamics", "jax", folder)
        path = next(f for f in files if f.stem.endswith("forward_dynamics_jax"))
        names = runpy.run_path(str(path))
    return jax.vmap(names[path.stem.removesuffix("_jax")])


first, last, spent = adam(arm.forward_dynamics.jax(), ITERATIONS)
states = COUNT * STEPS
print(f"{COUNT} trajectories of {STEPS} steps: cost {first:.2f}, and {last:.4f} after {ITERATIONS} "
      f"iterations; {1e9 * spent / states:.0f} ns of CPU a state and iteration")
assert last < 0.1 * first
if FULL:
    _, _, theirs = adam(exported(), 2)
    print(f"the exported function: {1e9 * theirs / states:.0f} ns, {theirs / spent:.0f} times more")
