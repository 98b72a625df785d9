"""What a CUDA array tells of itself, and how kernels reach it; no GPU is needed for that."""

import subprocess
import sys

import numpy as np
import pytest

import closedform as cf
from closedform.errors import MissingDependency
from closedform.lowerings.cuda.arrays import View, is_cuda, located


class Pretended:
    """An array that says that it is on a GPU."""

    def __init__(self, device=(2, 0)):
        self.device = device

    def __dlpack_device__(self):
        return self.device


def view(x):
    return View(4096, x.shape, x.strides, x.dtype, 0, True)


def test_arrays_are_told_by_where_they_are():
    assert is_cuda(Pretended())
    assert not is_cuda(Pretended((1, 0)))
    assert not any(is_cuda(x) for x in (np.zeros(3), [1.0], 2.0, "q", None))


def test_rows_states_last_and_what_all_share():
    x = np.zeros((10, 7))
    assert located(view(x), (7,), (10,)) == ("rows", 56)
    assert located(view(x[:, :5]), (5,), (10,)) == ("strided", 56)
    assert located(view(x[::2]), (7,), (5,)) == ("strided", 112)
    assert located(view(np.zeros((7, 10)).T), (7,), (10,)) == ("states", 80)
    assert located(view(x[0]), (7,), (10,)) == ("strided", 0)
    assert located(view(np.zeros((2, 5, 7))), (7,), (2, 5)) == ("rows", 56)
    assert located(view(np.zeros((3, 4, 10)).transpose(2, 0, 1)), (3, 4), (10,)) == ("states", 80)
    assert located(view(np.zeros((5, 2, 7)).swapaxes(0, 1)), (7,), (2, 5)) is None
    assert located(view(x[:, ::2]), (4,), (10,)) is None


def test_without_a_driver_a_cuda_array_is_refused_by_name():
    try:
        import ctypes
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        pass
    else:
        pytest.skip("there is a driver here")
    kernel = cf.compile(cf.load("planar2r")).gravity_torque

    class Array(Pretended):
        @property
        def __cuda_array_interface__(self):
            return {"shape": (4, 2), "typestr": "<f8", "data": (4096, False), "version": 3}
    told = Pretended()                          # of the object, not of its type
    told.__cuda_array_interface__ = Array().__cuda_array_interface__
    for array in (Array(), told):
        with pytest.raises(MissingDependency, match="no NVIDIA driver"):
            kernel(array)


def test_nothing_of_a_gpu_is_loaded_before_it_is_needed():
    code = ("import closedform as cf, sys;"
            "cf.compile(cf.load('planar2r')).gravity_torque([0., 1.]);"
            "from closedform.lowerings.cuda import driver;"
            "assert driver.library.cache_info().currsize == 0;"
            "assert not {'torch', 'cupy', 'jax', 'numba'} & set(sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True)
