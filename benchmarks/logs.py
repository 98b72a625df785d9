"""Logs: messages of a bag to arrays beside rosbags' own decoder, and signals on logs of any length.

Prints microseconds a message for .mcap and .db3 with JointStates of seven joints, and microseconds
a row for preparing a log and streaming its windows, with the memory that this process ever had.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import closedform as cf
from closedform import identification as idn

MESSAGES = 50_000
LENGTHS = (100_000, 1_000_000, 4_000_000)
NAMES = ("t", *(f"{kind}{j}" for kind in ("q", "v", "tau") for j in range(1, 8)))


@dataclass(frozen=True, eq=False)
class Endless:
    """A table of so many rows that are made when they are asked for."""

    length: int
    names: tuple[str, ...] = NAMES
    groups: dict[str, range] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def blocks(self, columns: Sequence[int], rows: int) -> Iterator[np.ndarray]:
        for start in range(0, self.length, rows):
            t = np.arange(start, min(start + rows, self.length)) * 1e-3
            phase = np.outer(t, 1.0 + 0.2 * np.arange(7)) + np.arange(7)
            speed = 0.3 * (1.0 + 0.2 * np.arange(7)) * np.cos(phase)
            whole = np.column_stack([t, 0.3 * np.sin(phase), speed, 5 * np.cos(phase)])
            yield whole[:, columns]


def write_bag(folder: Path, suffix: str, messages: int = MESSAGES) -> Path:
    """JointStates at 1 kHz with the numbers of `Endless`, as .mcap or .db3."""
    plugin = StoragePlugin.MCAP if suffix == ".mcap" else StoragePlugin.SQLITE3
    store = get_typestore(Stores.ROS2_HUMBLE)
    state, header, stamp = (store.types[kind] for kind in (
        "sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time"))
    names = [f"panda_joint{j}" for j in range(1, 8)]
    with Writer(folder, version=9, storage_plugin=plugin) as bag:
        topic = bag.add_connection("/joint_states", state.__msgtype__, typestore=store)
        for block in Endless(messages).blocks(range(len(NAMES)), 4096):
            for t, *row in block:
                now, x = 1_700_000_000_000_000_000 + round(t * 1e9), np.array(row)
                message = state(header(stamp(now // 10**9, now % 10**9), "base"), names, x[:7],
                                x[7:14], x[14:])
                bag.write(topic, now, store.serialize_cdr(message, state.__msgtype__))
    return next(p for p in folder.iterdir() if p.suffix == suffix)


def bags() -> None:
    robot, store = cf.load("panda"), get_typestore(Stores.ROS2_HUMBLE)
    from rosbags.rosbag2 import Reader
    print(f"\n{'bag':<10}{'ours, µs':>12}{'rosbags, µs':>14}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".mcap", ".db3"):
            file = write_bag(Path(folder) / suffix[1:], suffix)
            start = time.perf_counter()
            rows = len(idn.read(file, robot).samples().t)
            ours = (time.perf_counter() - start) / rows * 1e6
            start = time.perf_counter()
            with Reader(file.parent) as reader:
                for connection, _, data in reader.messages():
                    store.deserialize_cdr(data, connection.msgtype)
            theirs = (time.perf_counter() - start) / MESSAGES * 1e6
            print(f"{file.suffix:<10}{ours:>12.2f}{theirs:>14.2f}{theirs / ours:>8.1f}")


def signals() -> None:
    robot = cf.load("panda")
    print(f"\n{'rows':>10}{'prepare, µs':>13}{'windows, µs':>13}{'peak, MB':>10}")
    for length in LENGTHS:
        log = idn.read({name: np.arange(100) * 1e-3 for name in NAMES}, robot)
        log = idn.Log("endless", robot, "endless", (), Endless(length), log.where)
        start = time.perf_counter()
        prepared = idn.Signals(cutoff=5.0, delay=0.0).prepare(log)
        between = time.perf_counter()
        kept = sum(len(window.kept) for window in prepared.windows())
        end = time.perf_counter()
        assert kept == prepared.rows
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        print(f"{length:>10}{(between - start) / length * 1e6:>13.2f}"
              f"{(end - between) / length * 1e6:>13.2f}{peak:>10.0f}")


if __name__ == "__main__":
    bags()
    signals()
