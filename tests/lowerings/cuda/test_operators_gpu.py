"""Operators of PyTorch and JAX on a GPU: values and derivatives are those of the CPU's kernels."""

import os
import subprocess
import sys

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ArgumentError


def _torch_reason():
    try:
        import torch
    except ImportError:
        return "PyTorch is not installed"
    return "" if torch.cuda.is_available() else "PyTorch finds no GPU"


def _jax_reason():
    try:
        import jax
    except ImportError:
        return "JAX is not installed"
    try:
        jax.devices("cuda")
    except RuntimeError:
        return "JAX finds no GPU"
    return ""


RNG = np.random.default_rng(4)
ROBOT = cf.load("panda")
ARM = cf.compile(ROBOT)
LOADED = cf.compile(ROBOT, inputs=[cf.Gravity(), cf.PayloadAt(ROBOT.frames[-1].name)])
NO_TORCH, NO_JAX = _torch_reason(), _jax_reason()
with_torch = pytest.mark.skipif(bool(NO_TORCH), reason=NO_TORCH or "-")
with_jax = pytest.mark.skipif(bool(NO_JAX), reason=NO_JAX or "-")
if not NO_TORCH:
    import torch
if not NO_JAX:
    import jax
    import jax.numpy as jnp
ROWS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy", "poses")


def numbers(*shape, dtype=np.float64):
    return RNG.normal(size=shape).astype(dtype)


def inputs(kernel, *lead, dtype=np.float64):
    return [numbers(*lead, *slot.shape, dtype=dtype) for slot in kernel.interface.inputs]


def same(found, expected):
    """To the last bit in float64; in float32 to its rounding errors."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    if found.dtype == np.float64:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max(), rtol=0)


@pytest.fixture
def double():
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        yield


# ---------------------------------------------------------------- PyTorch
def there(arrays, grad=False):
    return [torch.tensor(x, device="cuda", requires_grad=grad) for x in arrays]


def here(tensors):
    return [x.detach().cpu().numpy() for x in tensors]


@with_torch
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ROWS)
def test_torch_has_the_numbers_and_gradients_of_the_cpu(name, dtype):
    kernel = getattr(ARM, name)
    f, x = kernel.torch(), inputs(kernel, 300, dtype=dtype)
    given, beside = there(x, grad=True), [torch.tensor(a, requires_grad=True) for a in x]
    found, expected = f(*given), f(*beside)
    assert found.is_cuda and found.requires_grad
    weights = numbers(*expected.shape, dtype=dtype)
    by = torch.autograd.grad(found, given, torch.tensor(weights, device="cuda"))
    by_cpu = torch.autograd.grad(expected, beside, torch.tensor(weights))
    same(found.detach().cpu(), expected.detach())
    for one, other in zip(here(by), here(by_cpu), strict=True):
        same(one, other)
    with torch.no_grad():
        assert torch.equal(f(*given), found)


@with_torch
def test_torch_differentiates_to_any_order_in_every_way():
    f, x = ARM.inverse_dynamics.torch(), there(inputs(ARM.inverse_dynamics, 2), grad=True)
    assert torch.autograd.gradcheck(f, x, fast_mode=True, check_forward_ad=True,
                                    check_batched_grad=True)
    assert torch.autograd.gradgradcheck(f, x, fast_mode=True)
    torch.library.opcheck(torch.ops.closedform.call.default, (f._handle, x))
    q, v, a = (y.detach()[0] for y in x)
    on_cpu = torch.func.jacrev(f, argnums=(0, 1, 2))(q.cpu(), v.cpu(), a.cpu())
    for ways in (torch.func.jacfwd, torch.func.jacrev):
        for one, other in zip(ways(f, argnums=(0, 1, 2))(q, v, a), on_cpu, strict=True):
            np.testing.assert_allclose(one.cpu(), other, atol=1e-11)
    hessian = torch.func.hessian(lambda q: f(q, v, a).square().sum())
    np.testing.assert_allclose(hessian(q).cpu(), torch.func.hessian(
        lambda q: f(q, v.cpu(), a.cpu()).square().sum())(q.cpu()), rtol=1e-9)
    many = [y.detach() for y in x]
    each = torch.func.vmap(torch.func.grad(lambda *z: f(*z).square().sum()))(*many)
    assert each.shape == (2, 7) and each.is_cuda


@with_torch
def test_torch_takes_shared_strided_and_run_time_inputs():
    f, kernel = LOADED.forward_dynamics.torch(), LOADED.forward_dynamics
    x = inputs(kernel, 50)
    x[3:] = [y[0] for y in x[3:]]                           # gravity and payload: one for all
    given, beside = there(x, grad=True), [torch.tensor(a, requires_grad=True) for a in x]
    by = torch.autograd.grad(f(*given).sum(), given)
    by_cpu = torch.autograd.grad(f(*beside).sum(), beside)
    for k, (one, other) in enumerate(zip(here(by), here(by_cpu), strict=True)):
        if k < 3:
            np.testing.assert_array_equal(one, other)
        else:                                               # sums in another order
            np.testing.assert_allclose(one, other, rtol=1e-10)
    last = [torch.tensor(a.T.copy(), device="cuda").T if a.ndim == 2 else torch.tensor(
        a, device="cuda") for a in x]
    np.testing.assert_array_equal(f(*last).cpu(), kernel(*x))
    negative = given[0].detach()._neg_view()
    assert torch.equal(f(negative, *given[1:]), f(negative.resolve_neg(), *given[1:]))
    none = there([y[:0] if y.ndim == 2 else y for y in x], grad=True)
    f(*none).sum().backward()
    assert none[0].grad.shape == (0, 7)


@with_torch
def test_torch_runs_on_the_current_stream_and_in_graphs():
    f, x = ARM.inverse_dynamics.torch(), there(inputs(ARM.inverse_dynamics, 5000))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        busy = [y * 1.0 for y in x]
        for _ in range(50):
            busy = [torch.sin(y) for y in busy]
        found = f(*busy)
    stream.synchronize()
    np.testing.assert_array_equal(found.cpu(), ARM.inverse_dynamics(*here(busy)))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = f(*x)
    x[0].copy_(torch.randn_like(x[0]))
    graph.replay()
    torch.cuda.synchronize()
    np.testing.assert_array_equal(kept.cpu(), ARM.inverse_dynamics(*here(x)))


@with_torch
def test_torch_compiles_and_exports_it():
    f, x = ARM.inverse_dynamics.torch(), there(inputs(ARM.inverse_dynamics, 8), grad=True)
    whole = torch.compile(lambda *y: f(*y).square().sum(), backend="aot_eager", fullgraph=True)
    by = torch.autograd.grad(whole(*x), x)
    for one, other in zip(by, torch.autograd.grad(f(*x).square().sum(), x), strict=True):
        assert torch.allclose(one, other, rtol=1e-13)

    class Torques(torch.nn.Module):
        def forward(self, q):
            return f(q, q, q)

    q = x[0].detach()
    graph = torch.export.export(Torques(), (q,))
    assert torch.equal(graph.module()(q), f(q, q, q))
    turned = torch.compile(lambda y: f(y.T, y.T, y.T) + 1, backend="aot_eager")
    assert torch.equal(turned(q.T), f(q, q, q) + 1)


@with_torch
def test_torch_refuses_tensors_on_different_devices_by_name():
    f, (q, v, a) = ARM.inverse_dynamics.torch(), there(inputs(ARM.inverse_dynamics, 3))
    with pytest.raises(ArgumentError, match="on one device: q cuda:0, v cpu, a cuda:0"):
        f(q, v.cpu(), a)
    with pytest.raises(ArgumentError, match="of one dtype: q torch"):
        f(q, v.float(), a)


# ---------------------------------------------------------------- JAX
def on_gpu(arrays):
    return [jax.device_put(x, jax.devices("cuda")[0]) for x in arrays]


def on_cpu(arrays):
    return [jax.device_put(x, jax.devices("cpu")[0]) for x in arrays]


@with_jax
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ROWS)
def test_jax_has_the_numbers_and_gradients_of_the_cpu(name, dtype, double):
    kernel = getattr(ARM, name)
    f, x = kernel.jax(), inputs(kernel, 300, dtype=dtype)
    weights = numbers(*np.shape(kernel(*x)), dtype=dtype)

    def both(*given):
        value, back = jax.vjp(f, *given)
        return value, back(jnp.asarray(weights))

    found, by = jax.jit(both)(*on_gpu(x))
    assert next(iter(found.devices())).platform == "gpu" and found.dtype == dtype
    same(found, kernel(*x))
    _, by_cpu = jax.jit(both)(*on_cpu(x))
    for one, other in zip(by, by_cpu, strict=True):
        same(one, other)
    same(f(*on_gpu(x)), kernel(*x))                                     # without jit


@with_jax
@pytest.mark.parametrize("leads", [
    [(), (), ()], [(1,), (1,), (1,)], [(33,), (), (33,)], [(4, 1), (1, 9), (4, 9)],
    [(2, 1, 1), (1, 3, 1), (1, 1, 4)], [(0,), (0,), ()], [(70_001,), (), (70_001,)]], ids=str)
def test_jax_takes_every_batch_shape(leads, double):
    x = [numbers(*lead, 7) for lead in leads]
    np.testing.assert_array_equal(jax.jit(ARM.inverse_dynamics.jax())(*on_gpu(x)),
                                  ARM.inverse_dynamics(*x))


@with_jax
def test_jax_far_angles_and_what_is_not_finite(double):
    q = numbers(300, 7)
    q[::7, 2], q[3, 1], q[4, 0], q[5, 5] = 1e9, np.nan, np.inf, -0.0
    x = [q, np.zeros_like(q), np.zeros_like(q)]
    np.testing.assert_array_equal(jax.jit(ARM.forward_dynamics.jax())(*on_gpu(x)),
                                  ARM.forward_dynamics(*x))


@with_jax
def test_jax_jacobians_hessians_maps_and_scans(double):
    f, x = ARM.inverse_dynamics.jax(), inputs(ARM.inverse_dynamics)
    for way in (jax.jacfwd, jax.jacrev):
        one, other = (jax.jit(way(f, argnums=(0, 1, 2)))(*put(x)) for put in (on_gpu, on_cpu))
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-11)
    hessian = jax.jit(jax.hessian(lambda *y: (f(*y)**2).sum()))
    np.testing.assert_allclose(hessian(*on_gpu(x)), hessian(*on_cpu(x)), rtol=1e-9, atol=1e-7)
    mapped = jax.jit(jax.vmap(f, (0, None, 0)))
    q, a = numbers(2, 40, 7)
    np.testing.assert_array_equal(mapped(*on_gpu([q, x[1], a])), ARM.inverse_dynamics(q, x[1], a))

    fd = ARM.forward_dynamics.jax()

    @jax.jit
    def rollout(q, v, u):
        def step(state, u):
            q, v = state
            v = v + 1e-3 * fd(q, v, u)
            return (q + 1e-3 * v, v), q
        return jax.lax.scan(step, (q, v), u)[1]

    given = q, np.zeros_like(q), 0.1 * numbers(25, 40, 7)
    np.testing.assert_allclose(rollout(*on_gpu(given)), rollout(*on_cpu(given)), rtol=1e-11)
    gradient = jax.jit(jax.grad(lambda u, q, v: (rollout(q, v, u)[-1]**2).sum()))
    given = given[2], *given[:2]
    np.testing.assert_allclose(gradient(*on_gpu(given)), gradient(*on_cpu(given)), rtol=1e-9,
                               atol=1e-12)


@with_jax
def test_jax_run_time_inputs_fused_kernels_and_a_humanoid(double):
    kernel = LOADED.forward_dynamics
    x = inputs(kernel, 50)
    x[3:] = [y[0] for y in x[3:]]
    gradient = jax.jit(jax.grad(lambda *y: kernel.jax()(*y).sum(), argnums=tuple(range(len(x)))))
    for one, other in zip(gradient(*on_gpu(x)), gradient(*on_cpu(x)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    fused = cf.fuse(ROBOT, ["mass_matrix", "gravity_torque"])
    found, q = jax.jit(fused.jax())(*on_gpu([x[0]])), x[0]
    np.testing.assert_array_equal(found.mass_matrix, fused(q).mass_matrix)
    np.testing.assert_array_equal(found.gravity_torque, fused(q).gravity_torque)
    robot = cf.load("humanoid25")
    many = cf.compile(robot)
    q = np.stack([robot.random(RNG) for _ in range(60)])
    v = numbers(60, robot.nv)
    for name, given in (("mass_matrix", [q]), ("inverse_dynamics", [q, v, v]),
                        ("forward_dynamics", [q, v, v])):
        kernel = getattr(many, name)
        np.testing.assert_array_equal(jax.jit(kernel.jax())(*on_gpu(given)), kernel(*given))


@with_jax
def test_jax_calls_in_flight_do_not_disturb_each_other(double):
    f = jax.jit(lambda *x: ARM.inverse_dynamics.jax()(*x))
    given = [inputs(ARM.inverse_dynamics, 10_000 + k) for k in range(20)]
    given[7][0][::3] = 1e7                              # far angles in one of them
    found = [f(*on_gpu(x)) for x in given]              # asynchronous
    for x, y in zip(given, found, strict=True):
        np.testing.assert_array_equal(y, ARM.inverse_dynamics(*x))


ALONE = """
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
import closedform as cf
kernel = cf.compile(cf.load("planar2r")).inverse_dynamics
x = np.random.default_rng(0).normal(size=(3, 1000, 2))
with jax.default_device(jax.devices("cuda")[0]):
    found = jax.jit(kernel.jax())(*x)
np.testing.assert_array_equal(found, kernel(*x))
print("on", next(iter(found.devices())).platform)
"""


@with_jax
def test_jax_alone_in_a_process_needs_no_other_library():
    beside = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, env=beside,
                          check=False)
    assert done.stdout == "on gpu\n", done.stderr
