"""What worker processes do in the benchmarks of clusters: a module that they can import."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np

CHUNK = 2_500_000
"""States of a task: 420 MB of q, v, a and 140 MB of torques, and a tenth of a second."""


@lru_cache(maxsize=3)
def held(which: int) -> Any:
    """One chunk of q, v or a that a process keeps, (CHUNK, 7)."""
    return np.random.default_rng(which).normal(size=(CHUNK, 7))


def again(number: Any, which: int, rows: int) -> Any:
    """The chunk that is held, over and over."""
    return held(which)


def fresh(number: Any, which: int, rows: int) -> Any:
    """Another chunk each time."""
    return np.random.default_rng([which, int(number[0])]).normal(size=(rows, 7))


def states(made: Any, chunks: int, rows: int = CHUNK) -> list[Any]:
    """Lazy q, v, a of so many chunks."""
    number = da.arange(chunks, chunks=1)
    return [number.map_blocks(made, which, rows, new_axis=1, chunks=((rows,) * chunks, (7,)),
                              dtype=float) for which in range(3)]


def first(tau: Any) -> Any:
    """A row of a chunk's results, and no view: that would keep all of them."""
    return tau[:1].copy()


def peak() -> float:
    """MiB: the most that this process ever had in memory."""
    status = Path("/proc/self/status").read_text(encoding="utf8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines()
                if line.startswith("VmHWM"))
