"""What Dask costs: tasks, inverse dynamics, identification and maps, with and without it.

Prints a line for each; ratios are of one run, contenders in turns, wall seconds of a machine that
should be idle. `--states` is how many states of inverse dynamics go through, 1e8 for the figure in
the documentation, and `--targets` how many a map has. Worker processes have one thread each; the
peak of their resident memory is read from the system. Pink and mink solve the same targets one by
one on one core, where they are installed (`pip install pin-pink mink daqp`).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import pickle
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from redundancy import mink_follow, pink_follow

import closedform as cf
from closedform.applications.cluster.blocks import Work, computed, ranges
from closedform.applications.redundancy.problem import problem_of
from closedform.applications.redundancy.workspace.maps import best_of, beyond
from closedform.applications.redundancy.workspace.seeds import seeds_of

CHUNK, ROUNDS, TASKS, PEERS = 200_000, 3, 1000, 60
FRAME = "panda_hand_tcp"


def peak() -> float:
    """MiB: the most that this process ever had in memory."""
    status = Path("/proc/self/status").read_text(encoding="utf8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines()
                if line.startswith("VmHWM"))


def told(what: str, measured: str, aim: str = "") -> None:
    print(f"{what:44s} {measured}{f'   [{aim}]' if aim else ''}", flush=True)


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def nothing(block: object) -> int:
    return 0


def overhead(client: Client) -> None:
    """Tasks that do nothing."""
    def run() -> None:
        for _ in computed(nothing, ranges(TASKS, 1), Work(client)):
            pass
    run()
    seconds = statistics.median(timed(run) for _ in range(ROUNDS))
    kernel = cf.compile(cf.load("panda")).inverse_dynamics
    told("overhead of a task", f"{1e3 * seconds / TASKS:.2f} ms", "≤ 10 ms")
    told("a kernel's recipe, panda", f"{len(pickle.dumps(kernel)):,} bytes")


def through_dask(client: Client, states: int) -> None:
    """The same chunks of states through Dask's workers and by one call, on as many cores."""
    kernel = cf.compile(cf.load("panda")).inverse_dynamics
    x = np.random.default_rng(0).normal(size=(3, CHUNK, 7))
    chunks, cores = max(1, states // CHUNK), sum(client.nthreads().values())

    held = [client.scatter(y, broadcast=True, hash=False) for y in x]
    arrays = [da.concatenate([da.from_delayed(h, (CHUNK, 7), float)] * chunks) for h in held]
    last = kernel(*arrays).map_blocks(lambda t: t[:1], chunks=((1,) * chunks, (7,)))

    def plain() -> None:
        for _ in range(chunks):
            kernel(*x, threads=cores)

    kernel(*x, threads=cores)
    last[:4].compute(scheduler=client)
    pairs = [(timed(plain), timed(lambda: last.compute(scheduler=client)))
             for _ in range(1 if states >= 5e7 else ROUNDS)]
    ratio = statistics.median(a / b for a, b in pairs)
    rate = chunks * CHUNK / statistics.median(b for _, b in pairs)
    most = max(client.run(peak).values())
    told(f"{chunks * CHUNK:.0e} states of inverse dynamics",
              f"{rate / 1e6:.1f} million a second, {ratio:.2f} of the plain call", "≥ 0.85")
    told("peak memory of a worker", f"{most:,.0f} MiB", "< 2048 MiB")


def identification() -> None:
    """Two logs by one worker process, and by two."""
    idn, robot = cf.identification, cf.load("panda")
    model = idn.Model(robot)
    t = np.arange(200_000) * 1e-3
    rng = np.random.default_rng(0)
    logs = []
    for _ in range(2):
        w = rng.uniform(0.5, 3.0, 7)
        q = 0.4 * np.sin(np.outer(t, w))
        tau = rng.normal(size=q.shape)
        logs.append(idn.read({"t": t, "q": q, "tau": tau}, robot,
                             columns={"q": "q", "tau": "tau", "t": "t"}))
    signals = idn.Signals(cutoff=5.0, delay=0.0)
    walls = {}
    for workers in (1, 2):
        with (LocalCluster(workers, threads_per_worker=1, dashboard_address=None) as made,
              Client(made) as client):
            def run(client: Any = client) -> None:
                idn.information(model, logs, signals, client=client)
            run()
            walls[workers] = statistics.median(timed(run) for _ in range(ROUNDS))
    told("identification, two processes", f"{walls[1] / walls[2]:.2f}x one", "≥ 1.8")


def maps(targets: int) -> None:
    """A map, its solver on the same targets in one thread, and peers on some of them."""
    rd, robot = cf.redundancy, cf.load("panda")
    task, criterion = rd.Pose(FRAME), rd.Manipulability()
    orientations = 12
    step = float((1.2 * 1.2 * 1.0 * orientations / targets) ** (1 / 3))
    grid = rd.Grid((-0.6, -0.6, 0.0), (0.6, 0.6, 1.0), step, orientations)
    problem, free = (problem_of(robot, task, criterion, limits) for limits in (True, False))
    x = grid[:]
    rd.map(robot, task, grid[:64], criterion)

    def solver() -> None:
        for k in range(0, len(x), 4096):
            beyond(free, best_of(problem, x[k:k + 4096], 8), x[k:k + 4096],
                   seeds_of(problem).nearest(x[k:k + 4096], 3))

    def cpu(work: Callable[[], object]) -> float:
        begin = time.process_time()
        work()
        return time.process_time() - begin

    found: list[Any] = []
    pairs = [(cpu(solver), cpu(lambda: found.append(rd.map(robot, task, grid, criterion))))
             for _ in range(1 if targets > 50_000 else ROUNDS)]
    wall = timed(lambda: rd.map(robot, task, grid, criterion))
    ratio = statistics.median(a / b for a, b in pairs)
    each = statistics.median(b for _, b in pairs) / len(grid)
    good = found[0].certified
    told(f"map of {len(grid):,} poses of panda",
              f"{1 / each:,.0f} a second and core, {ratio:.2f} of the batch solver's rate; "
              f"{wall:.0f} s in all, {100 * good.mean():.0f} % certified", "≥ 0.9")
    some = np.flatnonzero(good)[:: max(1, int(good.sum()) // PEERS)][:PEERS]
    starts = seeds_of(problem).nearest(x[some], 1)[:, 0]
    for name, make in (("Pink", pink_follow), ("mink", mink_follow)):
        try:
            follow = make(robot, FRAME)
        except ImportError as error:
            told(name, f"left out: {error}")
            continue
        follow(x[some[0]], starts[0])
        begin = time.process_time()
        q = np.array([follow(T, s) for T, s in zip(x[some], starts, strict=True)])
        seconds = (time.process_time() - begin) / len(some)
        met = np.linalg.norm(problem.at(q, x[some]).e, axis=-1) < 1e-6
        told(f"  {name}, targets that the map certifies",
                  f"{1 / seconds:,.0f} a second and core, {100 * met.mean():.0f} % met")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=float, default=1e7)
    parser.add_argument("--targets", type=float, default=20_000)
    parser.add_argument("--only", choices=("tasks", "states", "logs", "maps"), nargs="*")
    given = parser.parse_args()
    only = given.only or ("tasks", "states", "logs", "maps")
    told("what", "measured", "to be")
    if {"tasks", "states"} & set(only):
        with (LocalCluster(len(os.sched_getaffinity(0)), threads_per_worker=1,
                           dashboard_address=None, memory_limit="2GiB") as made,
              Client(made) as client):
            if "tasks" in only:
                overhead(client)
            if "states" in only:
                through_dask(client, int(given.states))
    if "logs" in only:
        identification()
    if "maps" in only:
        maps(int(given.targets))


if __name__ == "__main__":
    main()
