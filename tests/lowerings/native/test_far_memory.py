"""Code and its constants stay within reach of each other, whatever else a process has mapped."""

import subprocess
import sys

import pytest

SCRIPT = """
import ctypes
import random

import numpy as np

import closedform as cf
from closedform.lowerings.store.cache import Cache

libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PRIVATE_ANONYMOUS_NORESERVE = 0x4022

def mapped(size):
    return libc.mmap(None, size, 0, PRIVATE_ANONYMOUS_NORESERVE, -1, 0)

robot = cf.load("panda")
arm = cf.compile(robot, cache=Cache(None))
arm.gravity_torque
holes = []
for size in [4096 * 2**k for k in range(7) for _ in range(60)]:
    holes.append((mapped(size), size))
    mapped(3 << 30)                             # nothing within 2 GB of a hole but that hole
random.Random(0).shuffle(holes)
for place, size in holes:
    libc.munmap(place, size)
cf.redundancy                                   # its libraries fall into some of the holes
for name in ("inverse_dynamics", "mass_matrix", "christoffel_coriolis_matrix",
             "inverse_dynamics_derivatives", "coriolis_matrix", "forward_dynamics"):
    kernel = getattr(arm, name)
    kernel(*(np.zeros((64, *slot.shape)) for slot in kernel.interface.inputs))
print("all ran")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: memory is mapped as Linux does it")
def test_kernels_load_where_free_memory_is_in_pieces_that_are_far_apart():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True,
                          check=False, timeout=300)
    assert "all ran" in done.stdout, done.stderr[-2000:]
