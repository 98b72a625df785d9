"""What worker processes do in the benchmarks of clusters: a module that they can import."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np

from closedform.applications.identification.information import log_information

CHUNK = 2_500_000
"""States of a task: 420 MB of q, v, a and 140 MB of torques, and a tenth of a second."""


@lru_cache(maxsize=3)
def held(which: int) -> Any:
    """One chunk of q, v or a that a process keeps, (CHUNK, 7)."""
    return np.random.default_rng(which).normal(size=(CHUNK, 7))


def again(which: int, rows: int, block_id: Any = None) -> Any:
    """The chunk that is held, over and over."""
    return held(which)


def fresh(which: int, rows: int, block_id: Any = (0,)) -> Any:
    """Another chunk each time."""
    return np.random.default_rng([which, block_id[0]]).normal(size=(rows, 7))


def states(made: Any, chunks: int, rows: int = CHUNK) -> list[Any]:
    """Lazy q, v, a of so many chunks, as of files that are read."""
    return [da.map_blocks(made, which, rows, chunks=((rows,) * chunks, (7,)), dtype=float,
                          meta=np.empty((0, 7))) for which in range(3)]


def first(tau: Any) -> Any:
    """A row of a chunk's results, and no view: that would keep all of them."""
    return tau[:1].copy()


def plain_logs(model: Any, logs: list[Any], signals: Any) -> None:
    """What a worker does to logs, one after the other, with no Dask around it."""
    for log in logs:
        log_information(model, log, signals, 20, True)


def peak() -> float:
    """MiB: the most that this process ever had in memory."""
    status = Path("/proc/self/status").read_text(encoding="utf8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines()
                if line.startswith("VmHWM"))
