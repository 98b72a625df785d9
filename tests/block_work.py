"""What blocks of work do in tests of clusters: a module that processes of workers can import."""

import os
import signal
import time
from pathlib import Path

import numpy as np

import closedform as cf


def squared(block):
    return {"x": np.arange(block.start, block.stop) ** 2.0}


def refused(block):
    raise cf.ArgumentError("no such thing")


def slowly(block, pause=0.05):
    time.sleep(pause)
    return squared(block)


def deadly(block):
    if block.number == 3:
        time.sleep(1.5)         # one that dies as it starts is not started again by Dask's nanny
        os.kill(os.getpid(), signal.SIGKILL)        # as the kernel does where memory is out
    return squared(block)


def hungry(block, folder, times):
    """Block 2 asks so many times for more memory than any machine has."""
    before = len(list(Path(folder).iterdir()))
    if block.number == 2 and before < times:
        (Path(folder) / str(before)).touch()
        np.empty(1 << 56)
    return squared(block)
