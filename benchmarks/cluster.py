"""What Dask costs: tasks, inverse dynamics, identification and maps, with and without it.

    python benchmarks/cluster.py                       all figures, under five minutes
    python benchmarks/cluster.py --targets 1000000     a map of a million targets

Prints a line for each; ratios are of one run, contenders in turns, wall seconds of a machine that
should be idle. Worker processes have one thread each, and Dask keeps house as `QUIET` says. The
states of inverse dynamics are one chunk over and over, in the memory of whoever computes; logs are
files. Pink and mink solve some of the map's targets one by one on one core, where they are
installed (`pip install pin-pink mink daqp`).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import pickle
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import numpy as np
from cluster_work import CHUNK, again, first, held, plain_logs
from cluster_work import states as lazy_states
from distributed import Client, LocalCluster
from redundancy import mink_follow, pink_follow

import closedform as cf
from closedform.applications.cluster.blocks import Work, computed, ranges
from closedform.applications.redundancy.problem import Problem, problem_of
from closedform.applications.redundancy.workspace.maps import BLOCK, MapWork
from closedform.applications.redundancy.workspace.seeds import seeds_of

ROUNDS, TASKS, PEERS = 3, 1000, 200
LOGS, ROWS = 8, 500_000
FRAME = "panda_hand_tcp"
CORES = len(os.sched_getaffinity(0))
SPAWN = get_context("spawn")
QUIET = {"distributed.worker.profile.enabled": False,
         "distributed.admin.tick.interval": "500ms",
         "distributed.admin.system-monitor.interval": "5s"}
"""Dask's own work while others work: it looks at stacks and clocks a hundred times a second."""
IDLE = 5.0


def told(what: str, measured: str, aim: str = "") -> None:
    print(f"{what:44s} {measured}{f'   [{aim}]' if aim else ''}", flush=True)


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


@contextmanager
def workers(count: int, settings: dict[str, Any] = QUIET) -> Iterator[Client]:
    """A client of so many processes with one thread each."""
    with (dask.config.set(settings),
          LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None,
                       memory_limit="2GiB")
          as made, Client(made) as client):
        client.wait_for_workers(count)
        yield client


def processor_times(client: Client, work: Callable[[], object]) -> tuple[float, float, float]:
    """Processor seconds of the driver, of its main thread and of all workers during some work."""
    def now() -> tuple[float, float, float]:
        return (time.process_time(), time.thread_time(),
                sum(client.run(time.process_time).values()))
    before = now()
    work()
    driver, main_thread, theirs = (b - a for a, b in zip(before, now(), strict=True))
    return driver, main_thread, theirs


def in_turns(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Median seconds of each, after a first time that is not counted."""
    for work in works:
        work()
    walls = [[timed(work) for work in works] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*walls, strict=True)]


# ---------------------------------------------------------------------- tasks
def nothing(block: object) -> int:
    return 0


def overhead(rounds: int) -> None:
    """Tasks that do nothing."""
    robot = cf.load("panda")
    work = MapWork(robot, cf.redundancy.Pose(FRAME), cf.redundancy.Manipulability(), True, 8,
                   cf.redundancy.Grid((-0.6, -0.6, 0.0), (0.6, 0.6, 1.0), 0.05, 12))
    with workers(CORES) as client:
        def run() -> None:
            for _ in computed(nothing, ranges(TASKS, 1), Work(client)):
                pass
        seconds, = in_turns(rounds, run)
    told("overhead of a task", f"{1e3 * seconds / TASKS:.2f} ms", "≤ 10 ms")
    kernel = cf.compile(robot).inverse_dynamics
    told("bytes of a task, a kernel's recipe", f"{len(pickle.dumps(kernel)):,}")
    told("bytes of a task, a map's recipe", f"{len(cloudpickle.dumps(work)):,}")


def idle() -> None:
    """What Dask takes while nothing happens, of its scheduler and nannies in this process too."""
    for name, settings in (("as Dask comes", {}), ("quiet", QUIET)):
        with workers(CORES, settings) as client:
            driver, _, theirs = processor_times(client, lambda: time.sleep(IDLE))
        told(f"idle, {name}", f"{100 * driver / IDLE:.1f} % of a core in the driver, "
             f"{100 * theirs / IDLE / CORES:.1f} % in each worker")


# ---------------------------------------------------------------------- states
def through_dask(states: int, rounds: int) -> None:
    """The same chunks of states by one call, and through one worker and all of them."""
    kernel = cf.compile(cf.load("panda")).inverse_dynamics
    chunks = max(1, states // CHUNK)

    def plain(threads: int) -> None:
        for _ in range(chunks):
            kernel(*(held(which) for which in range(3)), threads=threads)

    for count in sorted({1, CORES}):
        with workers(count) as client:
            tau = kernel(*lazy_states(again, chunks)).map_blocks(
                first, chunks=((1,) * chunks, (7,)), dtype=float)
            alone, through = in_turns(
                rounds, lambda count=count: plain(count),
                lambda tau=tau, client=client: tau.compute(scheduler=client))
        told(f"{chunks * CHUNK:.0e} states, {count} process{'es' * (count > 1)}",
             f"{chunks * CHUNK / through / 1e6:.1f} million a second, {alone / through:.2f} of the "
             f"plain call on as many cores", "≥ 0.85")


# ---------------------------------------------------------------------- logs
def written_logs(folder: Path, robot: cf.Robot) -> list[Any]:
    t, rng, logs = np.arange(ROWS) * 1e-3, np.random.default_rng(0), []
    for k in range(LOGS):
        q = 0.4 * np.sin(np.outer(t, rng.uniform(0.5, 3.0, 7)))
        np.savez(folder / f"log{k}.npz", t=t, q=q, tau=rng.normal(size=q.shape))
        logs.append(cf.identification.read(folder / f"log{k}.npz", robot,
                                           columns={"q": "q", "tau": "tau", "t": "t"}))
    return logs


def by_dask(count: int, work: Callable[[Any], object]) -> float:
    """Seconds of the second time, by so many workers that nobody else waits beside."""
    with workers(count) as client:
        work(client)
        return timed(lambda: work(client))


def by_processes(count: int, work: Callable[[Any, int], list[Any]]) -> float:
    """The same by processes alone."""
    with ProcessPoolExecutor(count, SPAWN) as pool:
        def run() -> None:
            for done in work(pool, count):
                done.result()
        run()
        return timed(run)


def identification(rounds: int) -> None:
    """Logs in files, by one worker process and by all, by threads, and by processes alone."""
    idn, robot = cf.identification, cf.load("panda")
    model, signals = idn.Model(robot), idn.Signals(cutoff=5.0, delay=0.0)
    with tempfile.TemporaryDirectory() as folder:
        logs = written_logs(Path(folder), robot)

        def asked(client: Any) -> Any:
            return idn.information(model, logs, signals, client=client)

        def plain(pool: ProcessPoolExecutor, parts: int) -> list[Any]:
            return [pool.submit(plain_logs, model, logs[k::parts], signals) for k in range(parts)]
        asked(None)
        walls = [[by_dask(1, asked), by_dask(CORES, asked), timed(lambda: asked(None)),
                  by_processes(1, plain), by_processes(CORES, plain)] for _ in range(rounds)]
        alone, both, threads, single, several = map(statistics.median, zip(*walls, strict=True))
        with workers(CORES) as client:
            asked(client)
            driver, main_thread, theirs = processor_times(client, lambda: asked(client))
        found = idn.information(model, logs[:1], signals)
    told(f"identification, {CORES} processes",
         f"{alone / both:.2f}x one; {LOGS * ROWS / both / 1e3:.0f} thousand rows a second",
         "≥ 1.8 on two idle cores")
    told("  threads of this process", f"{alone / threads:.2f}x one process")
    told("  processor time of the driver meanwhile",
         f"{driver:.2f} s, {main_thread:.2f} of it in its main thread; {theirs:.2f} s of the "
         f"workers, so {CORES * theirs / (theirs + driver):.2f}x at most")
    told("  bytes of a log's result",
         f"{sum(R.nbytes for block in found.blocks for R in block.factors):,}")
    told(f"  {CORES} processes without Dask",
         f"{single / several:.2f}x one of them: what the machine gives; with Dask "
         f"{several / both:.2f} of their rate")


# ---------------------------------------------------------------------- maps
def solver(work: MapWork, rows: int) -> None:
    """The batch solver on a map's blocks, on all cores and nothing else."""
    with ThreadPoolExecutor(CORES) as pool:
        list(pool.map(work, ranges(rows, BLOCK)))


def maps(targets: int, rounds: int) -> None:
    """A map by threads and by processes beside its solver on as many cores, and peers."""
    rd, robot = cf.redundancy, cf.load("panda")
    task, criterion, orientations = rd.Pose(FRAME), rd.Manipulability(), 12
    step = float((1.2 * 1.2 * 1.0 * orientations / targets) ** (1 / 3))
    grid = rd.Grid((-0.6, -0.6, 0.0), (0.6, 0.6, 1.0), step, orientations)
    problem = problem_of(robot, task, criterion, True)
    work = MapWork(robot, task, criterion, True, 8, grid)
    found: list[Any] = []
    with tempfile.TemporaryDirectory() as folder, workers(CORES) as client:
        def mapped(by: Any, name: str) -> Callable[[], object]:
            return lambda: found.append(rd.map(
                robot, task, grid, criterion, by, out=f"{folder}/{name}{len(found)}.zarr"))
        contenders = (lambda: solver(work, len(grid)), mapped(None, "a"), mapped(client, "b"))
        if targets <= 50_000:
            walls = in_turns(rounds, *contenders)
        else:
            rd.map(robot, task, grid[:64], criterion, client)
            walls = [timed(contender) for contender in contenders]
        good = found[0].certified
    n = len(grid)
    told(f"map of {n:,} poses of panda",
         f"{n / walls[1] / CORES:,.0f} a second and core, {walls[0] / walls[1]:.2f} of the batch "
         f"solver's rate; {walls[1]:.0f} s on {CORES} cores", "≥ 0.9")
    told(f"  through {CORES} processes",
         f"{n / walls[2] / CORES:,.0f} a second and core, {walls[0] / walls[2]:.2f}", "≥ 0.9")
    told("  solved", f"{100 * good.mean():.1f} % to a certified maximum")
    peers(problem, grid[:][:: max(1, n // PEERS)][:PEERS], good[:: max(1, n // PEERS)][:PEERS])


def peers(problem: Problem, x: Any, good: Any) -> None:
    """Pink and mink on some of the map's targets, from the same first seed."""
    starts = seeds_of(problem).nearest(x, 1)[:, 0]
    for name, make in (("Pink", pink_follow), ("mink", mink_follow)):
        try:
            follow = make(problem.robot, FRAME)
        except ImportError as error:
            told(f"  {name}", f"left out: {error}")
            continue
        follow(x[0], starts[0])
        begin = time.process_time()
        q = np.array([follow(T, s) for T, s in zip(x, starts, strict=True)])
        each = (time.process_time() - begin) / len(x)
        met = np.linalg.norm(problem.at(q, x).e, axis=-1) < 1e-6
        inside = np.all((q >= problem.robot.lower) & (q <= problem.robot.upper), axis=-1)
        told(f"  {name}, {len(x)} of the targets",
             f"{1 / each:,.0f} a second and core; {100 * np.mean(met & inside):.1f} % met within "
             f"limits, the map {100 * np.mean(good):.1f} %")


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "tasks": lambda given: overhead(given.rounds),
    "idle": lambda given: idle(),
    "states": lambda given: through_dask(int(given.states), given.rounds),
    "logs": lambda given: identification(given.rounds),
    "maps": lambda given: maps(int(given.targets), given.rounds),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=float, default=1e8)
    parser.add_argument("--targets", type=float, default=40_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="Medians are of so many.")
    parser.add_argument("--only", choices=PARTS, nargs="*")
    given = parser.parse_args()
    told("what", "measured", "to be")
    for name in given.only or PARTS:
        PARTS[name](given)


if __name__ == "__main__":
    main()
