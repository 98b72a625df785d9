"""On a GPU: the numbers of the CPU's kernels, bit for bit, in every kind of array."""

import ctypes

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ArgumentError


def _reason():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "there is no NVIDIA driver here"
    try:
        import torch
    except ImportError:
        return "PyTorch, whose arrays these tests use, is not installed"
    return "" if torch.cuda.is_available() else "PyTorch finds no GPU"


pytestmark = pytest.mark.skipif(bool(_reason()), reason=_reason() or "-")
if not _reason():
    import torch
RNG = np.random.default_rng(0)
ROBOTS = ("planar2r", "ur5", "panda", "humanoid25")
ROWS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives",
        "inverse_dynamics_jet", "regressor", "kinetic_energy", "center_of_mass", "poses")
KINDS = [np.float64, np.float32]


def states(kernel, robot, count, dtype):
    found = []
    for slot in kernel.interface.inputs:
        x = RNG.normal(size=(count, *slot.shape))
        if slot.name == "q" and robot.nq != robot.nv:
            x = np.stack([robot.random(RNG) for _ in range(count)])
        found.append(x.astype(dtype))
    return found


def many(result):
    return list(result) if isinstance(result, tuple | list) else [result]


def same(found, expected):
    for x, y in zip(many(found), many(expected), strict=True):
        np.testing.assert_array_equal(np.asarray(x.cpu()), y)


def last(x):
    """The same states, with the batch axis last in memory."""
    flat = x.reshape(len(x), -1)
    return flat.T.contiguous().T.reshape(x.shape) if x.ndim == 2 else x


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("robot", ROBOTS)
def test_quantities(robot, name, dtype):
    model = cf.load(robot)
    kernel = getattr(cf.compile(model), name)
    x = states(kernel, model, 77, dtype)
    there = [torch.tensor(a, device="cuda") for a in x]
    same(kernel(*there), kernel(*x))
    same(kernel(*map(last, there)), kernel(*x))
    one = [a[3] for a in there]
    same(kernel(*one), [a[3] for a in many(kernel(*x))])


@pytest.mark.parametrize("dtype", KINDS)
def test_angles_far_out_zeros_and_what_is_not_finite(dtype):
    kernel = cf.compile(cf.load("panda")).forward_dynamics
    q = RNG.normal(size=(200, 7)).astype(dtype)
    q[::7, 2], q[3, 1], q[4, 0], q[5, 5], q[6] = 1e9, np.nan, np.inf, -0.0, 0.0
    v = np.zeros_like(q)
    there = [torch.tensor(a, device="cuda") for a in (q, v, v)]
    same(kernel(*there), kernel(q, v, v))
    same(kernel(*map(last, there)), kernel(q, v, v))


def test_a_divisor_of_extreme_size_is_divided_by_exactly():
    from closedform.lowerings.call.kernel import compile_program
    from closedform.program.record import record
    kernel = compile_program(record(lambda x, y: x / y, {"x": (), "y": ()}, "quotient"))
    sizes = np.array([0.0, -0.0, np.inf, np.nan, 1.0, -3.0, 1e-300, 1e300, 5e-324, -1e-310,
                      1.7e308])
    x, y = (a.ravel() for a in np.meshgrid(sizes, sizes))
    same(kernel(torch.tensor(x, device="cuda"), torch.tensor(y, device="cuda")), kernel(x, y))


def test_outputs_of_the_callers_streams_and_shared_inputs():
    kernel = cf.compile(cf.load("panda")).inverse_dynamics
    q = torch.randn(500, 7, dtype=torch.float64, device="cuda")
    v = torch.randn(7, dtype=torch.float64, device="cuda")
    expected = kernel(q.cpu().numpy(), v.cpu().numpy(), v.cpu().numpy())
    out = torch.empty_like(q)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        assert kernel(q, v, v, out=out) is out
    stream.synchronize()
    same(out, expected)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(q, v, v, out=out)
    q.copy_(torch.randn_like(q))
    graph.replay()
    torch.cuda.synchronize()
    same(out, kernel(q.cpu().numpy(), v.cpu().numpy(), v.cpu().numpy()))


def test_inputs_at_run_time_fused_quantities_and_derivatives():
    robot = cf.load("panda")
    arm = cf.compile(robot, inputs=[cf.Gravity(), cf.PayloadAt(robot.frames[-1].name)])
    both = cf.fuse(robot, ["mass_matrix", "gravity_torque"])
    for kernel in (arm.inverse_dynamics, both, arm.inverse_dynamics.cotangent("q", "gravity"),
                   cf.compile(robot).frame_jacobian.at(robot.frames[-1].name)):
        x = states(kernel, robot, 40, np.float64)
        same(kernel(*(torch.tensor(a, device="cuda") for a in x)), kernel(*x))


def test_arrays_of_other_libraries():
    kernel = cf.compile(cf.load("ur5")).mass_matrix
    q = RNG.normal(size=(33, 6))
    expected = kernel(q)
    cupy = pytest.importorskip("cupy")
    found = kernel(cupy.asarray(q))
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(found), expected)
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        found = kernel(jax.device_put(q, jax.devices("cuda")[0]))
        assert isinstance(found, jax.Array)
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_mistakes_are_named():
    kernel = cf.compile(cf.load("ur5")).inverse_dynamics
    q = torch.zeros(4, 6, dtype=torch.float64, device="cuda")
    with pytest.raises(ArgumentError, match="v must be on the GPU"):
        kernel(q, np.zeros((4, 6)), q)
    with pytest.raises(ArgumentError, match="q is float64 and v float32"):
        kernel(q, q.float(), q)
    with pytest.raises(ArgumentError, match="float64 or float32"):
        kernel(q.half(), q.half(), q.half())
    with pytest.raises(ArgumentError, match=r"v must have the shape \(..., 6\)"):
        kernel(q, q[:, :5], q)
    with pytest.raises(ArgumentError, match="lies upon q"):
        kernel(q, q, q, out=q)
    with pytest.raises(ArgumentError, match="out for inverse_dynamics must have the shape"):
        kernel(q, q, q, out=q[:2])
    with pytest.raises(ArgumentError, match=r"kernel\.torch\(\)"):
        kernel(q.clone().requires_grad_(), q, q)


def test_no_states_give_none():
    kernel = cf.compile(cf.load("ur5")).inverse_dynamics
    q = torch.zeros(0, 6, dtype=torch.float64, device="cuda")
    assert kernel(q, q, q).shape == (0, 6)


def test_launching_by_hand():
    kernel = cf.compile(cf.load("ur5")).inverse_dynamics
    q = torch.randn(100, 6, dtype=torch.float64, device="cuda")
    out = torch.empty_like(q)
    launch = kernel.cuda()
    launch(100, *(x.data_ptr() for x in (q, q, q, out)),
           stream=torch.cuda.current_stream().cuda_stream)
    same(out, kernel(*[q.cpu().numpy()] * 3))


def test_a_gpus_memory_that_is_full_is_told_with_the_sizes():
    kernel = cf.compile(cf.load("ur5")).mass_matrix
    free, _ = torch.cuda.mem_get_info()
    count = int(0.9 * free) // (6 * 8)
    q = torch.zeros(count, 6, dtype=torch.float64, device="cuda")
    with pytest.raises(MemoryError, match=r"bytes of results for \d+ states do not fit"):
        kernel(q)
    del q
    torch.cuda.empty_cache()


def test_arrays_of_more_than_two_to_the_31_bytes_between_entries():
    """Entries of states that are last lie 2.4 GB apart: more than 31 bits of bytes."""
    kernel = cf.compile(cf.load("planar2r")).gravity_torque
    count = 300_000_000
    if torch.cuda.mem_get_info()[0] < 3 * 2 * 8 * count:
        pytest.skip("this GPU has too little memory for it")
    q = torch.zeros(2, count, dtype=torch.float64, device="cuda").T
    few = torch.tensor(RNG.normal(size=(1000, 2)), device="cuda")
    q[:1000], q[-1000:] = few, few
    found = kernel(q)
    expected = kernel(few.cpu().numpy())
    same([found[:1000], found[-1000:]], [expected, expected])
    del q, found
    torch.cuda.empty_cache()


def test_the_device_of_the_arrays_decides():
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    kernel = cf.compile(cf.load("ur5")).inverse_dynamics
    q = torch.randn(100, 6, dtype=torch.float64, device="cuda:1")
    same(kernel(q, q, q), kernel(*[q.cpu().numpy()] * 3))
    assert torch.cuda.current_device() == 0
    with pytest.raises(ArgumentError, match="q is on device 1 and v on device 0"):
        kernel(q, q.to("cuda:0"), q)


def test_results_between_the_inputs_of_one_array():
    kernel = cf.compile(cf.load("ur5")).inverse_dynamics
    whole = torch.randn(50, 24, dtype=torch.float64, device="cuda")
    q, v, a, out = whole.split(6, dim=1)
    expected = kernel(*(x.cpu().numpy() for x in (q, v, a)))
    kernel(q, v, a, out=out)
    same(out, expected)


def test_arrays_that_know_dlpack_alone():
    class OnlyDlpack:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **more):
            return self.x.__dlpack__(stream=more["stream"])

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    kernel = cf.compile(cf.load("ur5")).mass_matrix
    q = torch.randn(33, 6, dtype=torch.float64, device="cuda")
    found = torch.as_tensor(kernel(OnlyDlpack(q)), device="cuda")
    same(found, kernel(q.cpu().numpy()))
