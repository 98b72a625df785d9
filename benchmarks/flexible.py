"""What a flexible arm's motion costs: compiled RK4 against NumPy, over links and modes, in batches.

    python benchmarks/flexible.py

The first table runs the paper's 2 s in 2000 steps of RK4, compiled and with a NumPy implementation
of the same equations (constant tensors, `einsum`-free products, LAPACK's solver), both in this
process, one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from closedform.applications import flexible
from closedform.applications.flexible.programs import arm_kernels
from closedform.maths.flexible.arm import FlexibleArm
from closedform.maths.flexible.dynamics import PAPER, damping_matrix
from closedform.maths.flexible.tensors import arm_tensors, truncated_coriolis, truncated_inertia
from closedform.model.elasticity.beam import FlexibleLink, Payload

Q0 = np.array([0, 0, 0, 0, 0.1, 0.002])
STEPS = 2000


def seconds(function: Callable[[], object], repeats: int = 5) -> float:
    """The shortest of several runs."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def numpy_rk4(arm: FlexibleArm, q0: np.ndarray, steps: int, h: float) -> np.ndarray:
    """The same equations and steps in NumPy; the last q."""
    tensors, K, N = arm_tensors(arm), flexible.stiffness_matrix(arm), arm.nq

    def rate(x: np.ndarray) -> np.ndarray:
        q, v = x[:N], x[N:]
        force = -truncated_coriolis(tensors, q, v) - K @ q
        return np.concatenate([v, np.linalg.solve(truncated_inertia(tensors, q), force)])

    x = np.concatenate([q0, np.zeros(N)])
    for _ in range(steps):
        k1 = rate(x)
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        k4 = rate(x + h * k3)
        x = x + h / 6 * (k1 + 2 * (k2 + k3) + k4)
    return x[:N]


def kernel_rk4(arm: FlexibleArm, q0: np.ndarray, steps: int, h: float) -> np.ndarray:
    """The compiled steps alone; the last q."""
    step = arm_kernels(arm, damping_matrix(arm), PAPER).step
    path = np.zeros((steps + 1, 2 * arm.nq + 3))
    path[0, :arm.nq] = q0
    held = np.array([0.0] * arm.n + [h])
    rows = list(path)
    for x, following in pairwise(rows):
        step(x, held, out=following)
    return path[-1, :arm.nq]


def arm_of(links: int, modes: int) -> FlexibleArm:
    """Links of the paper's kind in a row."""
    return FlexibleArm(tuple(FlexibleLink(0.5, 0.2, 1.0, 1.0, 0.1, modes) for _ in range(links)),
                       Payload(0.1, 0.0005))


def main() -> None:
    arm, times = flexible.load("deluca_siciliano"), np.linspace(0, 2, STEPS + 1)

    def run() -> object:
        return flexible.simulate(arm, Q0, times=times, method="RK4")

    contenders = (lambda: kernel_rk4(arm, Q0, STEPS, 1e-3), run,
                  lambda: numpy_rk4(arm, Q0, STEPS, 1e-3))
    rounds = [[seconds(function, 1) for function in contenders] for _ in range(6)]
    ours, whole, theirs = np.min(rounds[1:], axis=0)      # in turns, the first to warm up
    gap = np.max(np.abs(kernel_rk4(arm, Q0, STEPS, 1e-3) - numpy_rk4(arm, Q0, STEPS, 1e-3)))
    print(f"the paper's 2 s, {STEPS} RK4 steps, 6 coordinates (results agree to {gap:.0e})")
    print(f"  compiled steps         {1e3 * ours:9.2f} ms")
    print(f"  simulate() as a whole  {1e3 * whole:9.2f} ms   with energies, momentum and tip")
    print(f"  NumPy                  {1e3 * theirs:9.2f} ms   {theirs / ours:.0f} times as long")

    print("\none RK4 step    links  modes  coordinates  operations  compiled [us]  NumPy [us]")
    for links, modes in ((1, 2), (1, 6), (2, 0), (2, 2), (2, 4), (3, 2), (3, 3), (4, 2)):
        chain = arm_of(links, modes)
        q0, kernel = np.zeros(chain.nq), arm_kernels(chain, damping_matrix(chain), PAPER).step
        q0[:links] = 0.1
        ours = seconds(lambda c=chain, q=q0: kernel_rk4(c, q, 500, 1e-5)) / 500
        theirs = seconds(lambda c=chain, q=q0: numpy_rk4(c, q, 20, 1e-5), repeats=2) / 20
        print(f"{'':16}{links:5}  {modes:5}  {chain.nq:11}  {kernel.operations.total:10}"
              f"  {1e6 * ours:13.2f}  {1e6 * theirs:10.0f}")

    arms = [arm.with_payload(Payload(m, 0.005 * m)) for m in np.linspace(0.05, 0.2, 1000)]
    flexible.simulate_batch(arms, Q0, times=[0, 0.01])
    ready = seconds(lambda: flexible.simulate_batch(arms, Q0, times=[0, 1e-3]), repeats=2)
    print(f"\n1000 arms with different payloads, {STEPS} steps; {ready:.2f} s to prepare")
    for threads in (1, 2):
        spent = seconds(lambda n=threads: flexible.simulate_batch(
            arms, Q0, times=[0, 2], threads=n), repeats=2) - ready
        print(f"  {threads} threads: {spent:.2f} s, "
              f"{spent / STEPS / 1000 * 1e9:.0f} ns for a step of one arm")


if __name__ == "__main__":
    main()
