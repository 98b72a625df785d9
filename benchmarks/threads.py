"""Batches in several threads: µs of a call by states and `threads=`, wall time, medians.

    python benchmarks/threads.py [--robot iiwa14] [--threads 1,2,4,16]

Threads stay from call to call, and no more are woken than there is work for.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

import closedform as cf

STATES = (1, 32, 1024, 16_384, 1 << 20)


def microseconds(kernel: cf.Kernel, states: int, threads: int) -> float:
    x = np.random.default_rng(0).normal(size=(states, *kernel.interface.inputs[0].shape))
    out = np.empty_like(x)
    rounds = []
    for _ in range(7 if states > 100_000 else 101):
        start = time.perf_counter()
        kernel(x, x, x, out=out, threads=threads)
        rounds.append(time.perf_counter() - start)
    return 1e6 * statistics.median(rounds)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--robot", default="iiwa14")
    parser.add_argument("--threads", default="1,2,4,16")
    options = parser.parse_args()
    counts = [int(word) for word in options.threads.split(",")]
    kernel = cf.compile(cf.load(options.robot)).inverse_dynamics
    print(f"inverse dynamics of {options.robot}, µs a call")
    print(f"{'states':>9}" + "".join(f"{f'threads={n}':>13}" for n in counts))
    for states in STATES:
        times = [microseconds(kernel, states, n) for n in counts]
        print(f"{states:9}" + "".join(f"{t:13.4g}" for t in times))


if __name__ == "__main__":
    main()
