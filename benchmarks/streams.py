"""Logs of any length: time and memory from a log to factors, each length in a process of its own.

    python benchmarks/streams.py                 made rows to 10⁷, files of all kinds
    python benchmarks/streams.py --largest 1e8   made rows to 10⁸, minutes

Prints CPU microseconds a row of `idn.information` with all that it does by default (clock, cutoff,
delay, filters, factors), and the largest memory that its process ever had. `made` are rows that are
made when they are asked for; files have rows of the same numbers.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from logs import NAMES, Endless, write_bag
from rich.console import Console
from tables import Table

import closedform as cf
from closedform import identification as idn

LENGTHS = (1e5, 1e6, 1e7, 1e8)
FILES = (100_000, 1_000_000)
BAGS = (100_000, 300_000)
BLOCK = 65536


def measured(source: str) -> tuple[int, float, float]:
    """Rows, CPU seconds and peak MB of this process: a length, or a file."""
    robot = cf.load("panda")
    model = idn.Model(robot)
    if source.isdecimal():
        where = idn.read({name: np.arange(100) * 1e-3 for name in NAMES}, robot).where
        log = idn.Log("made", robot, "made", (), Endless(int(source)), where)
    else:
        log = idn.read(source, robot)
    idn.information(model, idn.Log("short", robot, "short", (), Endless(20_000), idn.read(
        {name: np.arange(100) * 1e-3 for name in NAMES}, robot).where))       # compiled
    start = time.process_time()
    info = idn.information(model, log)
    seconds = time.process_time() - start
    rows = round(len(info.blocks) and sum(b.rows[0] for b in info.blocks))
    return rows, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def in_own_process(source: str) -> tuple[int, float, float]:
    done = subprocess.run([sys.executable, __file__, "--one", source], check=True,
                          capture_output=True, text=True)
    rows, seconds, peak = json.loads(done.stdout.splitlines()[-1])
    return rows, seconds, peak


def write_table(path: Path, length: int) -> Path:
    """Rows of `Endless` as CSV or Parquet, piece after piece."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet
    schema = pa.schema([(name, pa.float64()) for name in NAMES])
    kind = pa.csv.CSVWriter if path.suffix == ".csv" else pa.parquet.ParquetWriter
    with kind(path, schema) as file:
        for block in Endless(length).blocks(range(len(NAMES)), BLOCK):
            file.write_table(pa.table(list(block.T), schema=schema))
    return path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=float, default=1e7)
    parser.add_argument("--one", help="a length or a file, measured in this process")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.one)))
        return
    lines = []

    def add(kind: str, length: int, source: str, size: float | None = None) -> None:
        _, seconds, peak = in_own_process(source)
        lines.append((kind, f"{length:,}", "" if size is None else f"{size / 1e6:.0f}",
                      f"{seconds / length * 1e6:.2f}", f"{peak:.0f}"))
        print(*lines[-1], flush=True)

    for x in LENGTHS:
        if x <= given.largest:
            add("made", int(x), str(int(x)))
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".csv", ".parquet"):
            for length in FILES:
                file = write_table(Path(folder) / f"{length}{suffix}", length)
                add(suffix, length, str(file), file.stat().st_size)
                file.unlink()
        for suffix in (".mcap", ".db3"):
            for length in BAGS:
                file = write_bag(Path(folder) / f"{suffix[1:]}{length}", suffix, length)
                add(suffix, length, str(file), file.stat().st_size)
                file.unlink()
    Table("Log to factors of the panda, each in its own process", (
        "source", "rows", "MB", "CPU µs a row", "peak memory, MB"), lines).print(Console())


if __name__ == "__main__":
    main()
