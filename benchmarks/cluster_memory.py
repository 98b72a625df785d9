"""Memory of workers: states and maps that are larger than it.

    python benchmarks/cluster_memory.py                                     minutes
    python benchmarks/cluster_memory.py --states 1e8 --limit 2GiB           the figure

Worker processes have one thread and a limit, beyond which Dask ends them. Inverse dynamics of
panda takes new states in every chunk, and its torques go to Zarr; a map goes to Zarr too. Prints
the most that each worker and this process ever had in memory, beside what went through, and says
if a worker was ended.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import shutil
import tempfile
import time

from cluster_work import fresh, peak
from cluster_work import states as lazy_states
from dask.utils import parse_bytes
from distributed import Client, LocalCluster

import closedform as cf


def told(what: str, through: float, client: Client, before: set[int], seconds: float) -> None:
    """A line for each worker."""
    after = client.run(lambda: (os.getpid(), peak()))
    ended = "" if {pid for pid, _ in after.values()} == before else "   A WORKER WAS ENDED"
    peaks = ", ".join(f"{most:,.0f}" for _, most in after.values())
    print(f"{what:48s} {through / 2**20:>9,.0f} MiB through in {seconds:.0f} s; at most, MiB: "
          f"workers {peaks}, this process {peak():,.0f}{ended}", flush=True)


def inverse_dynamics(client: Client, states: int, chunk: int, folder: str) -> float:
    """Torques of new states to Zarr; bytes that went through."""
    kernel = cf.compile(cf.load("panda")).inverse_dynamics
    chunks = max(1, states // chunk)
    with client.as_current():
        kernel(*lazy_states(fresh, chunks, chunk)).to_zarr(f"{folder}/tau.zarr")
    shutil.rmtree(f"{folder}/tau.zarr")
    return chunks * chunk * 28 * 8.0


def mapped(client: Client, targets: int, folder: str) -> float:
    """A planar arm's map to Zarr; bytes of its table."""
    rd, robot = cf.redundancy, cf.load("planar3r")
    side = 1.5 * sum(abs(b.placement[0, 3]) for b in robot.bodies) + 1.0
    grid = rd.Grid((-side, -side), (side, side), 2 * side / max(1.0, targets**0.5))
    found = rd.map(robot, rd.PlanarPosition(robot.tip), grid, rd.Manipulability(), client,
                   block=1 << 16, out=f"{folder}/map.zarr")
    print(f"{'':48s} {found!r}")
    return len(grid) * (41 + 8.0 * robot.nq)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=float, default=1e7)
    parser.add_argument("--targets", type=float, default=1e6)
    parser.add_argument("--chunk", type=float, default=5e5, help="States of a task.")
    parser.add_argument("--limit", default="600MiB", help="Memory of a worker.")
    parser.add_argument("--folder", help="Where tables go for a while; else a temporary one.")
    given = parser.parse_args()
    count = len(os.sched_getaffinity(0))
    for what, work in (
            (f"inverse dynamics of {given.states:.0e} states", lambda client, folder:
                inverse_dynamics(client, int(given.states), int(given.chunk), folder)),
            (f"map of {given.targets:.0e} targets", lambda client, folder:
                mapped(client, int(given.targets), folder))):
        with (LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None,
                           memory_limit=parse_bytes(given.limit)) as made,
              Client(made, set_as_default=False) as client,
              tempfile.TemporaryDirectory(dir=given.folder) as folder):
            before = set(client.run(os.getpid).values())
            begin = time.perf_counter()
            through = work(client, folder)
            told(f"{what}, limit {given.limit}", through, client, before,
                 time.perf_counter() - begin)


if __name__ == "__main__":
    main()
