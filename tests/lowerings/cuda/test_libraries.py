"""CuPy's and PyTorch's arrays as kernels see them: stand-ins with what is asked of these libraries.

On a GPU, `test_gpu.py` has the libraries themselves.
"""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ArgumentError
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.cuda import arrays
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from fake_cuda import FakeCuda, pretended, seen

pytestmark = pytest.mark.skipif(not host().fma, reason="this processor has no fused multiply-add, "
                                "so that its own kernels round in another way")
X = [np.random.default_rng(k).normal(size=(40, 2)) for k in range(3)]


@pytest.fixture
def cuda():
    with pretended(FakeCuda(devices=2)) as found:
        yield found


def fresh(name="inverse_dynamics"):
    return compile_program(getattr(cf.compile(cf.load("planar2r")), name).program, Cache(None))


class Stood:
    """Memory of the imagined driver."""

    def __dlpack_device__(self):
        return 2, self.memory.at


@pytest.fixture
def cupy(cuda, monkeypatch):
    """A module that makes arrays, and has a current device and streams of devices."""
    module = ModuleType("cupy")
    state = SimpleNamespace(device=0, streams={0: 11, 1: 12}, made=[])

    class Array(Stood):
        __module__ = "cupy"

        def __init__(self, shape, dtype, memory=None):
            self.memory = memory or cuda.array(np.zeros(shape, dtype), state.device)
            if memory is None:
                state.made.append(state.device)
            self.shape, self.strides, self.dtype = (
                self.memory.shape, self.memory.strides, self.memory.dtype)
            self.data = SimpleNamespace(ptr=self.memory.pointer, device_id=self.memory.at)

        @property
        def __cuda_array_interface__(self):
            return self.memory.__cuda_array_interface__

        def transpose(self, axes):
            self.memory.shape = tuple(self.shape[k] for k in axes)
            self.memory.strides = tuple(self.strides[k] for k in axes)
            return Array(None, None, self.memory)

    class Device:
        def __init__(self, at):
            self.at = at

        def __enter__(self):
            self.before, state.device = state.device, self.at

        def __exit__(self, *_):
            state.device = self.before

    module.ndarray = Array
    module.cuda = SimpleNamespace(
        Device=Device, runtime=SimpleNamespace(getDevice=lambda: state.device),
        get_current_stream=lambda at=None: SimpleNamespace(
            ptr=state.streams[state.device if at is None else at]))
    module.broadcast_to = lambda x, shape: np.broadcast_to(seen(cuda, x.memory), shape)
    module.ascontiguousarray = lambda x: Array(None, None, cuda.array(np.ascontiguousarray(x)))
    module.put = lambda x, at=0: Array(None, None, cuda.array(x, at))
    module.state = state
    monkeypatch.setitem(sys.modules, "cupy", module)
    arrays._cupy.cache_clear()
    yield module
    arrays._cupy.cache_clear()


@pytest.mark.parametrize("order", ["C", "F"])
def test_cupys_arrays_go_to_their_devices_current_stream_and_come_back(cuda, cupy, order):
    kernel = fresh()
    for at in (0, 1, 1):
        cuda.launches.clear()
        cuda.waited.clear()
        cupy.state.made.clear()
        result = kernel(*(cupy.put(np.array(x, order=order), at) for x in X))
        assert type(result) is cupy.ndarray
        np.testing.assert_array_equal(seen(cuda, result.memory), kernel(*X))
        assert {(context, stream) for context, _, stream in cuda.launches} == {(at + 1, 11 + at)}
        assert cupy.state.made == [at] and cupy.state.device == 0
        assert result.strides == (np.zeros((40, 2), order=order)).strides


def test_cupys_arrays_that_no_kernel_reaches_are_copied(cuda, cupy):
    kernel = fresh()
    apart = np.repeat(X[1], 2, axis=1)[:, ::2]
    for _ in range(2):
        result = kernel(cupy.put(X[0]), cupy.put(apart), cupy.put(X[2]))
        np.testing.assert_array_equal(seen(cuda, result.memory), kernel(*X))


@pytest.fixture
def tensors(cuda, monkeypatch):
    torch = pytest.importorskip("torch")

    class Tensor(Stood):
        __module__ = "torch"
        requires_grad = False
        device = "cuda:0"

        def __init__(self, memory):
            self.memory = memory
            self.shape = memory.shape
            self.dtype = {8: torch.float64, 4: torch.float32}[memory.dtype.itemsize]

        def data_ptr(self):
            return self.memory.pointer

        def size(self):
            return self.memory.shape

        def stride(self):
            return tuple(s // self.memory.dtype.itemsize for s in self.memory.strides)

        def is_contiguous(self):
            return self.memory.strides == np.zeros(self.shape, self.memory.dtype).strides

        def get_device(self):
            return self.memory.at

    def empty_strided(shape, strides, dtype, device):
        assert device == "cuda:0"
        size = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        one = np.dtype(np.float64 if dtype == torch.float64 else np.float32)
        whole = np.lib.stride_tricks.as_strided(
            np.zeros(size, one), shape, [s * one.itemsize for s in strides])
        made = cuda.array(np.zeros(size, one))
        made.shape, made.strides = whole.shape, whole.strides
        return Tensor(made)

    monkeypatch.setattr(torch, "empty_strided", empty_strided)
    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda at: 21 + at, raising=False)
    arrays._torch.cache_clear()
    yield lambda x: Tensor(cuda.array(x))
    arrays._torch.cache_clear()


@pytest.mark.parametrize("order", ["C", "F"])
def test_pytorchs_tensors_go_to_the_current_stream_and_keep_their_layout(cuda, tensors, order):
    kernel = fresh("inverse_dynamics_derivatives")
    given = [tensors(np.array(x, order=order)) for x in X]
    kernel(*given)
    for _ in range(2):
        cuda.launches.clear()
        cuda.waited.clear()
        found = kernel(*given)
        for x, y in zip(found, kernel(*X), strict=True):
            np.testing.assert_array_equal(seen(cuda, x.memory), y)
            assert x.stride()[0] == (4 if order == "C" else 1)
        assert {stream for _, _, stream in cuda.launches} == {21}
        assert cuda.waited == []


def test_a_tensor_that_needs_a_gradient_is_refused_in_every_call(cuda, tensors):
    kernel, given = fresh(), [tensors(x) for x in X]
    kernel(*given)
    given[1].requires_grad = True
    with pytest.raises(ArgumentError, match=r"kernel\.torch\(\) is the operator with derivatives"):
        kernel(*given)
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        kernel(*given)
