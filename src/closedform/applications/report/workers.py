"""Other processes that record and compile every quantity of a robot into the cache of kernels.

Each worker is a Python of its own that is told names and tells back: how many operations a program
has as soon as it is recorded, then that it is compiled. It runs neither the script that asks nor
anything that happens to lie in the working directory.
"""

from __future__ import annotations

import contextlib
import importlib.resources
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from closedform.applications.compile.kernels import CompiledRobot, compile
from closedform.applications.compile.requests import At, Request, asked_request
from closedform.errors import ArgumentError, ClosedformError
from closedform.lowerings.call.kernel import Kernel
from closedform.lowerings.call.threads import cores
from closedform.lowerings.store.cache import Cache
from closedform.maths.catalogue import quantity
from closedform.maths.quantity import Quantity
from closedform.model.robot import Robot
from closedform.program.program import Operations, Program

LARGEST = 100_000
"""Operations of a program that is still compiled."""
MOST_WORKERS = 4
SERVE = "from closedform.applications.report.workers import serve; serve()"
LATE = "not compiled within the time of this report; the next one goes on from here"

Job = tuple[str, bool]
"""The name of a quantity, and whether its code for batches is asked for too."""


def request_of(robot: Robot, row: Quantity) -> Request:
    """The quantity, at the tip where it needs a frame."""
    return asked_request(robot, At(row.name, robot.tip) if row.framed else row.name)


def kernel_of(arm: CompiledRobot, row: Quantity,
              recorded: Callable[[Program], None] = lambda program: None) -> Kernel:
    """The kernel of a quantity.

    `recorded` gets a program that is new; one with too many operations is refused before it is
    compiled.
    """
    def accepted(program: Program) -> None:
        recorded(program)
        if program.operations.total > LARGEST:
            raise ArgumentError(f"its program has {program.operations.total} operations, more "
                                f"than {LARGEST}")

    return arm.kernel([request_of(arm.robot, row)], accepted=accepted)


@dataclass
class Progress:
    """What workers have told so far."""

    counts: dict[str, Operations] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)       # why there is no kernel
    done: set[Job] = field(default_factory=set)
    threads: list[threading.Thread] = field(default_factory=list)   # one for each worker
    lost: list[tuple[str, str]] = field(default_factory=list)   # what a worker was at, last words
    over: bool = False                                          # then workers are lost on purpose

    def missing(self, name: str = "") -> str:
        """Why no worker compiled a quantity, or any."""
        words = dict(self.lost).get(name)
        if words is None and self.lost and len(self.lost) == len(self.threads):
            words = self.lost[0][1]                             # nobody was left
        return LATE if words is None else f"not compiled: a process for that ended early ({words})"


# ---------------------------------------------------------------------- in the worker
def serve() -> None:
    """Read a robot, then jobs; tell counts and ends. Nothing else may go to standard output."""
    inbox, outbox = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr

    def tell(*message: Any) -> None:
        pickle.dump(message, outbox)
        outbox.flush()

    robot, cache = pickle.load(inbox)
    arm = compile(robot, cache=cache)
    with contextlib.suppress(EOFError):
        while True:
            name, batch = pickle.load(inbox)
            tell("done", name, warm(arm, name, batch, lambda program: tell(
                "count", program.name, program.operations)))


def warm(arm: CompiledRobot, name: str, batch: bool,
         recorded: Callable[[Program], None] = lambda program: None) -> str:
    """Compile a quantity into the cache; why not, or nothing."""
    try:
        kernel = kernel_of(arm, quantity(name), recorded)
        if batch:
            _ = kernel.batch_native
    except (ClosedformError, ArithmeticError) as error:
        return why_not(error)
    return ""


def why_not(error: Exception) -> str:
    """Why a quantity has no kernel; some do not exist, as the inertia upwards of a planar tip."""
    told = isinstance(error, ClosedformError)
    return str(error) if told else f"does not exist for this robot: {error}"


# ---------------------------------------------------------------------- in the process that asks
@contextmanager
def common_cache() -> Iterator[Cache]:
    """The user's cache, or a folder for this time where that is switched off or not to be used."""
    cache = Cache.default()
    if cache.usable:
        yield cache
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Cache(Path(folder) / "closedform")


@contextmanager
def working(robot: Robot, jobs: Sequence[Job], cache: Cache) -> Iterator[Progress]:
    """Workers at these jobs, in their order; they end with the block."""
    progress, waiting, running = Progress(), list(jobs), list[Any]()
    for _ in range(min(cores(), MOST_WORKERS, len(waiting))):
        progress.threads.append(threading.Thread(
            target=_work, args=((robot, cache), waiting, progress, running), daemon=True))
        progress.threads[-1].start()
    try:
        yield progress
    finally:
        progress.over = True
        waiting.clear()
        for process in running:
            process.kill()


def _work(given: tuple[Robot, Cache], waiting: list[Job], progress: Progress,
          running: list[Any]) -> None:
    """Give jobs to one worker as long as there are any and it answers."""
    name = ""
    try:
        with _worker(running) as process:
            pickle.dump(given, process.stdin)
            while True:
                job = name, _ = waiting.pop(0)  # an IndexError when another took the last one
                if name not in progress.reasons:
                    pickle.dump(job, process.stdin)
                    process.stdin.flush()
                    _listen(process.stdout, progress)
                progress.done.add(job)
    except IndexError:
        return
    except Exception as error:                  # whatever became of it, the others go on
        if not progress.over:
            progress.lost.append((name, str(error)))


@contextmanager
def _worker(running: list[Any]) -> Iterator[Any]:
    """A process that ends with the block; if it ends before, an error with its last words."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=log, env=os.environ | {"PYTHONPATH": module_path()})
        running.append(process)
        try:
            yield process
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(1.0)               # for its status: it is about to end
            log.seek(0)
            words = log.read().decode(errors="replace").split("\n")
            last = next(filter(str.strip, reversed(words)), f"status {process.returncode}")
            raise ChildProcessError(last) from error
        finally:
            process.kill()
            process.communicate()               # also takes what could not be sent to a dead one


def module_path() -> str:
    """Places of modules, as here; relative ones, as the working directory, only for this package.
    """
    home = Path(str(importlib.resources.files("closedform"))).parent
    return os.pathsep.join(str(place.absolute()) for place in map(Path, sys.path)
                           if place.is_absolute() or place.absolute() == home)


def _listen(source: Any, progress: Progress) -> None:
    """Take in what a worker tells until the job is done."""
    while True:
        message = pickle.load(source)
        if message[0] == "count":
            progress.counts[message[1]] = message[2]
        else:
            _, name, reason = message
            if reason:
                progress.reasons[name] = reason
            return


def await_all(jobs: Sequence[Job], progress: Progress, until: float,
              told: Callable[[int, int], None] = lambda done, total: None) -> None:
    """Wait until all jobs are done, no worker is left or time.monotonic() is `until`."""
    while any(thread.is_alive() for thread in progress.threads) and time.monotonic() < until:
        told(len(progress.done), len(jobs))
        time.sleep(0.05)
