"""What goes wrong with arrays of a GPU, each by its name; on a driver that is imagined."""

import ctypes
import subprocess
import sys

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ArgumentError, MissingDependency
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.cuda import driver
from closedform.lowerings.cuda import kernel as kernels
from closedform.lowerings.cuda.driver import CudaError
from closedform.lowerings.cuda.plan import GpuPlan
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from fake_cuda import ATTRIBUTES, FakeCuda, pretended, seen

pytestmark = pytest.mark.skipif(not host().fma, reason="this processor has no fused multiply-add, "
                                "so that its own kernels round in another way")
RNG = np.random.default_rng(5)
X = [RNG.normal(size=(9, 2)) for _ in range(3)]


@pytest.fixture
def cuda():
    with pretended(FakeCuda()) as found:
        yield found


@pytest.fixture
def two():
    with pretended(FakeCuda(devices=2)) as found:
        yield found


def fresh(name="inverse_dynamics"):
    return compile_program(getattr(cf.compile(cf.load("planar2r")), name).program, Cache(None))


def arrays(cuda, at=(0, 0, 0), dtype=np.float64):
    return [cuda.array(x.astype(dtype), k) for x, k in zip(X, at, strict=True)]


# ---------------------------------------------------------------------- the machine
def test_without_a_driver_or_a_device_that_is_said():
    with pretended(FakeCuda(devices=0)) as none:
        with pytest.raises(MissingDependency, match="the NVIDIA driver finds no device"):
            fresh()(*arrays(none))

        def missing():
            raise OSError("libcuda.so.1: cannot open shared object file")
        driver._opened = missing
        driver.library.cache_clear()
        with pytest.raises(MissingDependency, match="there is no NVIDIA driver"):
            fresh()(*arrays(none))


def test_a_driver_that_is_too_old_is_told_with_both_versions():
    with pretended(FakeCuda(version=10020)) as old, pytest.raises(
            CudaError, match=r"knows CUDA 10\.2; kernels need 11\.0 \(R450\)"):
        fresh()(*arrays(old))


def test_a_device_that_is_too_old_is_refused_by_name():
    with pretended(FakeCuda(attributes={**ATTRIBUTES, 75: 6, 76: 1})) as old, pytest.raises(
            CudaError, match=r"imagined has the compute capability 6\.1; kernels need 7\.0"):
        fresh()(*arrays(old))


def test_text_that_the_driver_refuses_is_told_with_its_device_and_driver(cuda):
    cuda.fails["cuLinkComplete"] = 218
    with pytest.raises(CudaError, match=r"compiling for imagined \(sm_90 driver 99000\).*IMAGINED"):
        fresh()(*arrays(cuda))


def test_an_error_that_an_earlier_kernel_left_is_said_to_be_earlier(cuda):
    kernel = fresh()
    kernel(*arrays(cuda))
    cuda.fails["cuLaunchKernel"] = 700
    with pytest.raises(CudaError, match=r"an earlier kernel .* an illegal address.*BLOCKING"):
        kernel(*arrays(cuda))
    cuda.fails["cuLaunchKernel"] = 400
    with pytest.raises(CudaError, match="on imagined: CUDA_ERROR_IMAGINED"):
        kernel(*arrays(cuda))


def test_too_little_memory_for_results_is_told_with_the_sizes(cuda):
    kernel = fresh()
    kernel(*arrays(cuda))
    cuda.fails["cuMemAlloc_v2"] = 2
    with pytest.raises(MemoryError, match=r"144 bytes of results for 9 states do .*of imagined"):
        kernel(*arrays(cuda))


def test_too_little_memory_between_kernels_means_fewer_states_at_a_time(cuda, monkeypatch):
    kernel = fresh()
    gpu = kernel._path.gpu
    monkeypatch.setattr(kernels, "LEAST_SCRATCH", 1 << 6)
    gpu.scratch = 1 << 14
    monkeypatch.setattr(gpu, "_plan_on", lambda on, kind, parts: GpuPlan(
        kind, tuple(parts[:3]), tuple(parts[3:]), largest=20))
    sizes, whole = [], cuda._allocate

    def small(found, size):
        sizes.append(size)
        return 2 if 260 < size < 1 << 14 else whole(found, size)
    monkeypatch.setattr(cuda, "_allocate", small)
    monkeypatch.setitem(__import__("fake_cuda").FUNCTIONS, "cuMemAlloc_v2", (
        [ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t], lambda cuda, *args: small(*args)))
    x = [np.vstack([a] * 4) for a in X]
    out = cuda.array(np.zeros((36, 2)))
    kernel(*(cuda.array(a) for a in x), out=out)
    np.testing.assert_array_equal(seen(cuda, out), kernel(*x))
    assert any(260 < size < 1 << 14 for size in sizes) and gpu.scratch < 1 << 14
    gpu.scratch = 1
    cuda.fails["cuMemAlloc_v2"] = 2
    with pytest.raises(MemoryError, match="between kernels"):
        kernel(*(cuda.array(a) for a in x), out=out)


# ---------------------------------------------------------------------- launches of one's own
def test_what_a_launchable_is_for_is_given_by_names_that_exist(two):
    import torch
    kernel = fresh()
    for dtype in (torch.float32, "float32", np.float32):
        assert kernel.cuda(dtype, "states", 1).size == 4
    for dtype in (torch.int32, "nonsense", complex):
        with pytest.raises(ArgumentError, match="dtype must be float64 or float32"):
            kernel.cuda(dtype)
    for device in (2, -1, "0", None):
        with pytest.raises(ArgumentError, match="device must be a number below 2"):
            kernel.cuda(device=device)


@pytest.mark.parametrize("layout", ["rows", "states"])
def test_addresses_that_no_kernel_could_use_are_refused_before_the_launch(cuda, layout):
    """Behind a kernel that leaves its arrays nothing else runs on the GPU."""
    launch = fresh().cuda(np.float64, layout)
    places = [x.pointer for x in (*arrays(cuda), cuda.array(np.zeros((9, 2))))]
    launch(9, *places)
    for wrong in (0, places[0] + 4):
        with pytest.raises(ArgumentError, match=f"addresses of {layout} must be multiples"):
            launch(9, wrong, *places[1:])
    for wrong in (X[0], -16, "q"):
        with pytest.raises(ArgumentError, match=r"addresses must be whole numbers, as x\.data_ptr"):
            launch(9, wrong, *places[1:])
    for stream in (None, object()):
        with pytest.raises(ArgumentError, match=r"stream must be a stream's handle"):
            launch(9, *places, stream=stream)
    for count in ("9", None, 9.5):
        with pytest.raises(ArgumentError, match="count must be from 1"):
            launch(count, *places)
    assert len(cuda.launches) == 1


# ---------------------------------------------------------------------- arguments
def test_arrays_with_a_mask_are_refused(cuda):
    class Masked:
        def __init__(self, x):
            self.x = x

        @property
        def __cuda_array_interface__(self):
            return {**self.x.__cuda_array_interface__, "mask": self.x}

    q, v, a = arrays(cuda)
    with pytest.raises(ArgumentError, match="an array with a mask is given"):
        fresh()(q, Masked(v), a)


def test_arrays_of_several_devices_are_refused_by_their_names(two):
    with pytest.raises(ArgumentError, match="q is on device 0 and a on device 1"):
        fresh()(*arrays(two, (0, 0, 1)))
    with pytest.raises(ArgumentError, match=r"out for .* is on device 1, the inputs on 0"):
        fresh()(*arrays(two), out=two.array(np.zeros((9, 2)), 1))


def test_the_device_of_the_arrays_decides(two):
    kernel = fresh()
    for at in (1, 0, 1):
        two.launches.clear()
        result = kernel(*arrays(two, (at,) * 3))
        np.testing.assert_array_equal(seen(two, result), kernel(*X))
        assert {context for context, _, _ in two.launches} == {at + 1}
        assert two.current is None
        assert driver.device_of(result.__cuda_array_interface__["data"][0]) == at


def test_precisions_that_differ_or_are_none_of_ours(cuda):
    q, _, a = arrays(cuda)
    with pytest.raises(ArgumentError, match="q is float64 and v float32"):
        fresh()(q, cuda.array(X[1].astype(np.float32)), a)
    for dtype in (np.float16, np.int64, np.complex128):
        with pytest.raises(ArgumentError, match=f"q must be float64 or float32.*{dtype.__name__}"):
            fresh()(*arrays(cuda, dtype=dtype))


def test_results_that_cannot_be_written_to(cuda):
    kernel, given = fresh(), arrays(cuda)
    out = cuda.array(np.zeros((9, 2)))
    kernel(*given, out=out)
    out.readonly = True
    with pytest.raises(ArgumentError, match="out for inverse_dynamics must be writeable"):
        kernel(*given, out=out)
    with pytest.raises(ArgumentError, match=r"have the shape \(9, 2\) of float64, not \(8, 2\)"):
        kernel(*given, out=cuda.array(np.zeros((8, 2))))
    with pytest.raises(ArgumentError, match="of float32"):
        kernel(*given, out=cuda.array(np.zeros((9, 2), np.float32)))
    with pytest.raises(ArgumentError, match="must be on the GPU like the inputs, not a ndarray"):
        kernel(*given, out=np.zeros((9, 2)))
    with pytest.raises(ArgumentError, match="states first or last and no gaps"):
        kernel(*given, out=cuda.array(np.zeros((9, 4))[:, ::2]))
    with pytest.raises(ArgumentError, match="lies upon q"):
        kernel(*given, out=given[0])
    with pytest.raises(ArgumentError, match="out must be an array for each of inverse_dynamics"):
        kernel(*given, out=(out, out))


def test_two_results_in_one_place_are_refused(cuda):
    kernel = fresh("inverse_dynamics_derivatives")
    outs = [cuda.array(np.zeros((9, *x.shape))) for x in kernel.program.outputs]
    kernel(*arrays(cuda), out=tuple(outs))
    with pytest.raises(ArgumentError, match="lies upon"):
        kernel(*arrays(cuda), out=(outs[0], *[outs[0]] * (len(outs) - 1)))


def test_inputs_on_the_host_and_wrong_shapes_are_named(cuda):
    q, _, a = arrays(cuda)
    with pytest.raises(ArgumentError, match="v must be on the GPU like the others"):
        fresh()(q, X[1], a)
    with pytest.raises(ArgumentError, match=r"v must have the shape \(..., 2\), not \(9, 3\)"):
        fresh()(q, cuda.array(np.zeros((9, 3))), a)
    with pytest.raises(ArgumentError, match="the batch axes do not fit together: q"):
        fresh()(q, cuda.array(np.zeros((8, 2))), a)


def test_no_states_give_none_and_launch_nothing(cuda):
    kernel = fresh()
    none = [cuda.array(np.zeros((0, 2))) for _ in range(3)]
    for _ in range(2):
        assert kernel(*none).shape == (0, 2)
    out = cuda.array(np.zeros((0, 2)))
    assert kernel(*none, out=out) is out
    assert cuda.launches == []


def test_states_that_run_backwards_are_reached(cuda):
    kernel = fresh()
    there = [cuda.array(x[::-1]) for x in X]
    np.testing.assert_array_equal(seen(cuda, kernel(*there)), kernel(*X)[::-1])


# ---------------------------------------------------------------------- DLPack
class OnlyDlpack:
    """An array that tells itself by a capsule alone, as DLPack before 1.0 or of it."""

    def __init__(self, array, versioned):
        self.array, self.versioned, self.streams = array, versioned, []

    def __dlpack_device__(self):
        return 2, self.array.at

    def __dlpack__(self, **more):
        if not self.versioned and "max_version" in more:
            raise TypeError("unexpected argument max_version")
        self.streams.append(more["stream"])
        x = self.array
        shape = (ctypes.c_int64 * len(x.shape))(*x.shape)
        strides = (ctypes.c_int64 * len(x.shape))(*(s // x.dtype.itemsize for s in x.strides))
        from closedform.lowerings.cuda.calls import dlpack
        tensor = dlpack._Tensor(x.pointer, 2, x.at, len(x.shape), 2, 8 * x.dtype.itemsize, 1,
                                shape, strides, 0)
        name = b"dltensor"
        if self.versioned:
            tensor = dlpack._Versioned(1, None, None, int(x.readonly), tensor)
            name = b"dltensor_versioned"
        self.held = tensor, shape, strides, name
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
                                 ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
        return make(ctypes.addressof(tensor), name, None)


@pytest.mark.parametrize("versioned", [False, True])
def test_arrays_that_know_dlpack_alone(cuda, versioned):
    kernel = fresh()
    given = [OnlyDlpack(x, versioned) for x in arrays(cuda)]
    for _ in range(2):
        result = kernel(*given)
        np.testing.assert_array_equal(seen(cuda, result), kernel(*X))
    assert set(given[0].streams) == {1}         # their work comes before ours
    out = OnlyDlpack(cuda.array(np.zeros((9, 2))), versioned)
    assert kernel(*given, out=out) is out
    np.testing.assert_array_equal(seen(cuda, out.array), kernel(*X))
    if versioned:
        out.array.readonly = True
        with pytest.raises(ArgumentError, match="must be writeable"):
            kernel(*given, out=out)


def test_new_arrays_are_of_the_callers_kind_where_it_follows_the_array_api(cuda):
    class Array(OnlyDlpack):
        dtype, device = "float64", "here"

        def __array_namespace__(self):
            class Namespace:
                @staticmethod
                def empty(shape, dtype, device):
                    assert (dtype, device) == ("float64", "here")
                    return Array(cuda.array(np.zeros(shape)), True)
            return Namespace

    for order in ("C", "F"):
        result = fresh()(*(Array(cuda.array(np.array(x, order=order)), True) for x in X))
        assert type(result) is Array
        np.testing.assert_array_equal(seen(cuda, result.array), fresh()(*X))


def test_importing_and_computing_on_the_cpu_opens_no_driver():
    code = ("import ctypes; real = ctypes.CDLL.__init__\n"
            "def opened(self, name=None, *more, **named):\n"
            "    assert 'cuda' not in str(name), name\n"
            "    real(self, name, *more, **named)\n"
            "ctypes.CDLL.__init__ = opened\n"
            "import closedform as cf\n"
            "kernel = cf.compile(cf.load('planar2r')).gravity_torque\n"
            "kernel([0., 1.]), kernel([[0., 1.]] * 5)")
    subprocess.run([sys.executable, "-c", code], check=True)
