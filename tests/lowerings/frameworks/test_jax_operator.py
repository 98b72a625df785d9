"""Kernels inside JAX: the same bits, and derivatives of any order by the catalogue and by laws."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import closedform as cf
from closedform.applications.flexible.equations import compile_equation
from closedform.errors import ArgumentError

jax = pytest.importorskip("jax", reason="NOT TESTED: pip install jax")
jnp = jax.numpy
jax_operator = pytest.importorskip("closedform.lowerings.frameworks.jax_operator")

RNG = np.random.default_rng(17)
SHAPES = [
    [(), (), ()], [(1,), (1,), (1,)], [(5,), (5,), (5,)], [(100,), (100,), (100,)],
    [(33,), (), (33,)], [(2, 3), (2, 3), (2, 3)], [(4, 1), (1, 9), (4, 9)],
    [(200, 1), (200, 5), (5,)], [(3,), (2, 1), ()], [(2, 1, 1), (1, 3, 1), (1, 1, 4)],
    [(2, 1, 4), (1, 3, 4), (2, 3, 1)], [(0,), (0,), (0,)], [(3, 0), (1, 1), (3, 0)],
    [(1, 2, 1, 3), (1, 2, 1, 3), (1, 1)],
]


@pytest.fixture(autouse=True)
def double_precision():
    with jax.experimental.enable_x64() if not hasattr(jax, "enable_x64") else jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def arm():
    return cf.compile(cf.load("ur5"))


def numbers(*shape):
    return RNG.normal(size=shape)


def calls(function, *arrays):
    """How often the compiled function calls machine code of ours."""
    text = jax.jit(function).lower(*arrays).compile().as_text()
    return text.count('custom_call_target="closedform')


# ------------------------------------------------------------------ the same bits
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("leads", SHAPES, ids=str)
def test_every_batch_shape_gives_the_bits_of_the_kernels_own_call(arm, leads, dtype):
    kernel = arm.forward_dynamics
    given = [numbers(*lead, 6).astype(dtype) for lead in leads]
    expected = kernel(*given)
    for function in (kernel.jax(), jax.jit(kernel.jax())):
        found = function(*given)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(("n", "m"), [(300, 400), (70_000, 2), (2, 70_000)])
def test_batches_that_threads_share_have_the_same_bits(arm, n, m):
    kernel = arm.inverse_dynamics
    q, v, a = numbers(n, m, 6), numbers(1, m, 6), numbers(n, 1, 6)
    np.testing.assert_array_equal(jax.jit(kernel.jax())(q, v, a), kernel(q, v, a))


def test_vmap_is_one_call_and_copies_nothing_that_is_shared(arm):
    f, (q, v, a) = arm.inverse_dynamics.jax(), numbers(3, 20, 6)
    mapped = jax.vmap(jax.vmap(f, in_axes=(None, 0, None)), in_axes=(0, None, 0))
    np.testing.assert_array_equal(
        jax.jit(mapped)(q, v, a), arm.inverse_dynamics(q[:, None], v, a[:, None]))
    assert calls(mapped, q, v, a) == 1
    text = jax.jit(mapped).lower(q, v, a).compile().as_text()
    assert "constraints={f64[20,1,6]{2,1,0}, f64[1,20,6]{2,1,0}, f64[20,1,6]{2,1,0}}" in text
    other = jax.vmap(f, in_axes=(1, 0, 0), out_axes=1)(q.T, v, a)
    np.testing.assert_array_equal(other, arm.inverse_dynamics(q, v, a).T)


def test_nan_and_infinity_pass(arm):
    q, v, a = numbers(3, 4, 6)
    v[1, 2], a[2, 0] = np.nan, np.inf
    expected = arm.inverse_dynamics(q, v, a)
    assert not np.isfinite(expected).all()
    np.testing.assert_array_equal(arm.inverse_dynamics.jax()(q, v, a), expected)


def test_integers_and_lists_become_floating_point_and_single_stays_single(arm):
    g = arm.gravity_torque
    np.testing.assert_array_equal(g.jax()([1, 0, 0, 0, 2, 0]), g([1.0, 0, 0, 0, 2, 0]))
    with jax.enable_x64(False) if hasattr(jax, "enable_x64") else \
            jax.experimental.enable_x64(False):
        q = numbers(6)
        found = g.jax()(q)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, g(q.astype(np.float32)))


# ------------------------------------------------------------------ first derivatives
def test_a_gradient_is_the_cotangent_and_nothing_else_is_compiled(arm):
    kernel, (q, v, a) = arm.inverse_dynamics, numbers(3, 6)
    weights = numbers(6)
    f = jax.grad(lambda q, v, a: weights @ kernel.jax()(q, v, a), argnums=(0, 1, 2))
    for found, J in zip(f(q, v, a), arm.inverse_dynamics_derivatives(q, v, a), strict=True):
        np.testing.assert_allclose(found, weights @ J, rtol=1e-12, atol=1e-12)
    assert calls(f, q, v, a) == 1               # the value itself is not asked for
    np.testing.assert_array_equal(f(q, v, a), kernel.cotangent()(q, v, a, weights))


def test_gradients_by_what_a_batch_shares_are_summed(arm):
    f, q, v, a = arm.forward_dynamics.jax(), numbers(7, 6), numbers(6), numbers(7, 6)
    found = jax.grad(lambda v: f(q, v, a).sum())(v)
    each = jax.grad(lambda v: f(q, v, a).sum())(np.broadcast_to(v, q.shape))
    np.testing.assert_allclose(found, each.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_a_whole_jacobian_is_the_catalogues_row_in_one_call(arm, mode):
    f, (q, v, tau) = arm.forward_dynamics.jax(), numbers(3, 6)
    by = mode(f, argnums=(0, 1, 2))
    expected = arm.forward_dynamics_derivatives(q, v, tau)
    for found, J in zip(by(q, v, tau), expected, strict=True):
        np.testing.assert_allclose(found, J, rtol=1e-12, atol=1e-12)
    lowered = jax.jit(by).lower(q, v, tau).compile().as_text()
    digest = arm.forward_dynamics.jacobian().interface.digest
    assert lowered.count("custom_call_target") == lowered.count(f"closedform_{digest[:32]}") == 1


@pytest.mark.parametrize("mode", [jax.jacfwd, jax.jacrev])
def test_jacobians_of_batches_with_shared_operands(arm, mode):
    f, q, v, a = arm.inverse_dynamics.jax(), numbers(9, 6), numbers(6), numbers(9, 6)
    expected = arm.inverse_dynamics_derivatives(q, v, a)
    found = jax.vmap(mode(f, argnums=(0, 2)), in_axes=(0, None, 0))(q, v, a)
    np.testing.assert_allclose(found[0], expected.dtau_dq, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found[1], expected.dtau_da, rtol=1e-12, atol=1e-12)
    whole = mode(lambda v: f(q, v, a))(v)                     # (9, 6, 6): all states share v
    np.testing.assert_allclose(whole, expected.dtau_dv, rtol=1e-12, atol=1e-12)
    each = mode(lambda q: f(q, v, a))(q)                      # (9, 6, 9, 6)
    np.testing.assert_allclose(np.einsum("iaib->iab", each), expected.dtau_dq, atol=1e-12)
    assert np.count_nonzero(each) <= 9 * 36


def test_tangents_of_some_states_meet_the_jacobian(arm):
    """Products by a matrix for each state, where vectors differ from state to state."""
    f, (q, v, a) = arm.inverse_dynamics.jax(), numbers(3, 4, 6)
    rates = numbers(8, 4, 6)
    along = jax.vmap(lambda dq: jax.jvp(lambda q: f(q, v, a), (q,), (dq,))[1])(rates)
    expected = arm.inverse_dynamics_derivatives(q, v, a).dtau_dq
    np.testing.assert_allclose(along, np.einsum("sij,bsj->bsi", expected, rates), atol=1e-11)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix",
                                  "kinetic_energy", "momentum"])
def test_the_transpose_is_the_adjoint_of_the_tangent(arm, name):
    """⟨ȳ, J ẋ⟩ = ⟨Jᵀ ȳ, ẋ⟩."""
    f = getattr(arm, name).jax()
    x = [numbers(6) for _ in getattr(arm, name).interface.inputs]
    dx = [numbers(6) for _ in x]
    y, dy = jax.jvp(f, x, dx)
    weights = numbers(*y.shape)
    back = jax.vjp(f, *x)[1](weights)
    np.testing.assert_allclose((weights * dy).sum(), sum(a @ b for a, b in zip(back, dx,
                               strict=True)), rtol=1e-11)


# ------------------------------------------------------------------ any order
def test_second_derivatives_are_the_catalogues(arm):
    f, (q, v, a) = arm.inverse_dynamics.jax(), numbers(3, 6)
    expected = arm.inverse_dynamics_second_derivatives(q, v, a)
    weights = numbers(6)
    hessian = jax.hessian(lambda q: weights @ f(q, v, a))(q)
    np.testing.assert_allclose(hessian, np.tensordot(weights, expected.d2tau_dqdq, 1), atol=1e-10)
    mixed = jax.jacfwd(jax.jacfwd(f, 0), 1)(q, v, a)
    np.testing.assert_allclose(mixed, expected.d2tau_dqdv, atol=1e-10)
    other = jax.jacrev(jax.jacrev(f, 0), 1)(q, v, a)
    np.testing.assert_allclose(other, expected.d2tau_dqdv, atol=1e-10)


def test_third_derivatives_are_those_of_the_second():
    """Modes in any order agree, and with differences of the second derivatives."""
    f, q = cf.compile(cf.load("planar2r")).gravity_torque.jax(), numbers(2)
    third = jax.jacfwd(jax.jacrev(jax.jacfwd(f)))(q)
    np.testing.assert_allclose(third, jax.jacrev(jax.jacfwd(jax.jacrev(f)))(q), atol=1e-12)
    second, h = jax.jacfwd(jax.jacrev(f)), 1e-5
    for k, e in enumerate(np.eye(2)):
        difference = (second(q + h * e) - second(q - h * e)) / (2 * h)
        np.testing.assert_allclose(third[..., k], difference, atol=1e-8)


def test_quaternions_are_differentiated_by_their_entries():
    robot = cf.load("humanoid25")
    kernel = cf.compile(robot).potential_energy
    q, dq = robot.random(RNG), numbers(robot.nq)
    found, h = jax.grad(kernel.jax())(q), 1e-6
    difference = (kernel(q + h * dq) - kernel(q - h * dq)) / (2 * h)
    np.testing.assert_allclose(found @ dq, difference, rtol=1e-7)


# ------------------------------------------------------------------ all kinds of kernels
def test_what_is_given_at_run_time_is_differentiable():
    """τ is linear in the payload: τ(π) = τ(0) + (∂τ/∂π) π, and in gravity at rest."""
    arm = cf.compile(cf.load("ur5"), inputs=[cf.Gravity(), cf.PayloadAt("tool0")])
    f, (q, v, a) = arm.inverse_dynamics.jax(), numbers(3, 6)
    names = [slot.name for slot in arm.inverse_dynamics.interface.inputs]
    gravity = np.array([0.0, 0.0, -9.81])
    payload = 0.1 * numbers(*arm.inverse_dynamics.interface.inputs[4].shape)
    assert names == ["q", "v", "a", "gravity", "payload"]
    J = jax.jacrev(f, 4)(q, v, a, gravity, payload)
    np.testing.assert_allclose(f(q, v, a, gravity, payload) - f(q, v, a, gravity, 0 * payload),
                               J @ payload, atol=1e-11)
    zero = np.zeros(6)
    G = jax.jacfwd(f, 3)(q, zero, zero, gravity, payload)
    np.testing.assert_allclose(f(q, zero, zero, gravity, payload), G @ gravity, atol=1e-11)


def test_fused_kernels_are_pytrees_by_name():
    kernel = cf.fuse(cf.load("ur5"), ["mass_matrix", "gravity_torque", cf.At("frame_pose",
                                                                             "tool0")])
    q = numbers(3, 6)
    found, expected = jax.jit(kernel.jax())(q), kernel(q)
    assert found._fields == expected._fields
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x, y)
    doubled = jax.tree.map(lambda x: 2 * x, found)
    assert type(doubled) is type(found)
    gradient = jax.grad(lambda q: kernel.jax()(q).mass_matrix[..., 0, 0].sum())(q)
    J = jax.vmap(jax.jacfwd(lambda q: kernel.jax()(q).mass_matrix[0, 0]))(q)
    np.testing.assert_allclose(gradient, J, atol=1e-12)


def test_quantities_of_frames_take_the_same_way(arm):
    q, v = numbers(2, 6)
    pose, jacobian = arm.frame_pose.at("tool0"), arm.frame_jacobian.at("tool0", cf.WORLD)
    np.testing.assert_array_equal(pose.jax()(q), pose(q))
    np.testing.assert_array_equal(jacobian.jax()(q), jacobian(q))
    aligned = arm.frame_jacobian.at("tool0", cf.LOCAL_WORLD_ALIGNED)(q)
    T = jax.jvp(pose.jax(), (q,), (v,))[1]
    np.testing.assert_allclose(T[:3, 3], (aligned @ v)[:3], atol=1e-12)


def test_wrenches_and_other_orders_of_jets_have_their_own_kernels(arm):
    q, v, a = numbers(3, 5, 6)
    wrenches = numbers(5, len(arm.robot.bodies), 6)
    f = arm.inverse_dynamics.jax()
    np.testing.assert_array_equal(jax.jit(f)(q, v, a, wrenches=wrenches),
                                  arm.inverse_dynamics(q, v, a, wrenches=wrenches))
    np.testing.assert_array_equal(f(q, v, a, wrenches=None), arm.inverse_dynamics(q, v, a))
    by = jax.vmap(jax.jacrev(lambda F, q, v, a: f(q, v, a, wrenches=F)))(wrenches, q, v, a)
    moved = f(q, v, a) + np.einsum("siaj,saj->si", by, wrenches)      # τ is linear in them
    np.testing.assert_allclose(moved, f(q, v, a, wrenches=wrenches), atol=1e-11)
    for rows in (3, 4):
        rates = numbers(rows, 6)
        np.testing.assert_array_equal(arm.inverse_dynamics_jet.jax()(q[0], rates),
                                      arm.inverse_dynamics_jet(q[0], rates))


def test_flexible_and_elastic_models_have_it_too():
    springs = cf.ElasticJoints(cf.load("planar2r"), 100.0, 1e-3, 0.01)
    kernels = [cf.elastic.compile(springs).inverse_dynamics,
               compile_equation(cf.flexible.load("deluca_siciliano"), "inertia_matrix")]
    for kernel in kernels:
        x = [0.1 * numbers(*slot.shape) for slot in kernel.interface.inputs]
        found, expected = jax.tree.leaves(kernel.jax()(*x)), jax.tree.leaves(kernel(*x))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


# ------------------------------------------------------------------ inside of loops
def test_a_rollout_in_scan_and_its_gradient(arm):
    f, q0, u = arm.forward_dynamics.jax(), numbers(6), numbers(10, 6)

    def step(state, u):
        q, v = state
        v = v + 0.01 * f(q, v, u)
        return (q + 0.01 * v, v), None

    def end(u, loop):
        state = (jnp.asarray(q0), jnp.zeros(6))
        if loop:
            for x in u:
                state, _ = step(state, x)
        else:
            state, _ = jax.lax.scan(step, state, u)
        return state[0].sum()

    np.testing.assert_allclose(end(u, False), end(u, True), rtol=1e-13)
    np.testing.assert_allclose(jax.grad(end)(u, False), jax.grad(end)(u, True), rtol=1e-10)
    remat = jax.grad(lambda u: jax.lax.scan(jax.checkpoint(step), (jnp.asarray(q0), jnp.zeros(6)),
                                            u)[0][0].sum())(u)
    np.testing.assert_allclose(remat, jax.grad(end)(u, True), rtol=1e-10)


def test_eight_threads_at_once(arm):
    kernel = arm.inverse_dynamics
    function, found = jax.jit(kernel.jax()), {}
    given = [numbers(3, 30_000, 6) for _ in range(8)]

    def work(k):
        with jax.enable_x64(True) if hasattr(jax, "enable_x64") else \
                jax.experimental.enable_x64():
            for _ in range(5):
                found[k] = np.asarray(function(*given[k]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, (q, v, a) in enumerate(given):
        np.testing.assert_array_equal(found[k], kernel(q, v, a))


SHARDED = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
import jax, numpy as np
import closedform as cf
from jax import shard_map
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})      # a pool of one thread
jax.config.update("jax_enable_x64", True)
kernel = cf.compile(cf.load("ur5"), inputs=cf.Gravity()).inverse_dynamics
f, mesh = kernel.jax(), Mesh(np.array(jax.devices()), ("i",))
q, v, a = np.random.default_rng(0).normal(size=(3, 40_000, 6))
g = np.array([0, 0, -9.81])
assert len(jax.devices()) == 4
sharded = shard_map(f, mesh=mesh, in_specs=(P("i"), P("i"), P("i"), P()), out_specs=P("i"))
np.testing.assert_array_equal(jax.jit(sharded)(q, v, a, g), kernel(q, v, a, g))
x = q[:8], v[:8], a[:8], g
by = jax.jit(jax.grad(lambda q, v, a, g: (sharded(q, v, a, g)**2).sum(), argnums=(0, 3)))(*x)
alone = jax.grad(lambda q, v, a, g: (f(q, v, a, g)**2).sum(), argnums=(0, 3))(*x)
for one, other in zip(by, alone):
    np.testing.assert_allclose(one, other, rtol=1e-11)

# arrays that are spread, under plain jit
def put(x, *axes):
    return jax.device_put(x, NamedSharding(mesh, P(*axes)))
def spread(function, *given):
    made = jax.jit(function).lower(*given).compile()
    assert "all-gather" not in made.as_text()
    return made(*given)
there = put(q, "i"), put(v, "i"), put(a, "i"), put(g)
found = spread(f, *there)
assert found.sharding.spec == P("i")
np.testing.assert_array_equal(found, kernel(q, v, a, g))
dq, dg = spread(jax.grad(lambda q, v, a, g: (f(q, v, a, g)**2).sum(), argnums=(0, 3)), *there)
assert dq.sharding.spec == P("i") and dg.shape == (3,)
for one, other in zip((dq, dg), jax.grad(
        lambda q, v, a, g: (f(q, v, a, g)**2).sum(), argnums=(0, 3))(q, v, a, g)):
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
square = [x.reshape(200, 200, 6) for x in (q, v)]
found = spread(f, *(put(x, None, "i") for x in square), put(a[:200]), put(g))
assert found.sharding.spec == P(None, "i")
np.testing.assert_array_equal(found, kernel(*square, a[:200], g))
whole = jax.jit(f)(put(q[:4], None, None), put(v[:4]), put(a[0]), put(g))      # by no axis
np.testing.assert_array_equal(whole, kernel(q[:4], v[:4], a[0], g))
square = Mesh(np.array(jax.devices()).reshape(2, 2), ("i", "j"))
by_entries = NamedSharding(square, P("i", "j"))
given = [jax.device_put(x, by_entries) for x in (q, v, a)] + [g]
found = jax.jit(f, out_shardings=by_entries)(*given)
assert found.sharding.spec == P("i", "j")
np.testing.assert_array_equal(found, kernel(q, v, a, g))
within = shard_map(jax.jacfwd(f), mesh=mesh, in_specs=(P(), P(), P(), P()), out_specs=P())
np.testing.assert_allclose(jax.jit(within)(q[0], v[0], a[0], g), jax.jacfwd(f)(q[0], v[0], a[0], g),
                           rtol=1e-12)
print("four devices")
"""


def test_arrays_spread_over_devices_stay_there_under_shard_map_and_plain_jit():
    told = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True,
                          timeout=300, check=False)
    assert told.stdout == "four devices\n", told.stderr


# ------------------------------------------------------------------ refusals
def test_wrong_arguments_are_told_by_name(arm):
    f, (q, v, a) = arm.inverse_dynamics.jax(), numbers(3, 6)
    wrong = [
        ((q[:5], v, a), "inverse_dynamics of ur5: q must have the shape .6,. or .*not .5,."),
        ((q, v), "takes q, v, a: a is missing"),
        ((q, v, a, a, a), "5 arguments are given"),
        ((q, "six", a), "v must be real numbers of shape"),
        ((q, v + 1j, a), "v must be of float32 or float64, not of complex128"),
        ((q, v, jnp.asarray(a, jnp.bfloat16)), "a must be of float32 or float64, not of bfloat16"),
        ((numbers(2, 6), numbers(3, 6), a), "the batch axes do not fit together: q .2, 6., v"),
    ]
    for given, text in wrong:
        with pytest.raises(ArgumentError, match=text):
            f(*given)
        with pytest.raises(ArgumentError, match=text):
            jax.jit(lambda given=given: f(*given))()
    with pytest.raises(ArgumentError, match="no argument 'tau'"):
        f(q, v, tau=a)
    with pytest.raises(ArgumentError, match="q is given twice"):
        f(q, v, q=q)


def test_other_devices_are_refused_by_name(arm):
    traced = jax.jit(arm.bias.jax()).trace(*numbers(2, 6))
    with pytest.raises(ArgumentError, match="bias: kernels run on a CPU or a CUDA device"):
        traced.lower(lowering_platforms=("tpu",))


def test_without_a_cuda_device_its_code_is_refused_by_name(arm):
    if any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("there is a CUDA device")
    traced = jax.jit(arm.bias.jax()).trace(*numbers(2, 6))
    with pytest.raises(cf.MissingDependency, match="bias: JAX finds no CUDA device"):
        traced.lower(lowering_platforms=("cuda",))


def test_on_cuda_it_is_one_call_over_one_axis_with_memory_for_what_waits(arm, monkeypatch):
    asked = []

    def made(handler, gpu, devices):
        asked.append(handler.shared)
        return handler.loaded(slots, {}, {"cuCtxSetCurrent": 0, "cuLaunchKernel": 0})

    monkeypatch.setattr(jax_operator.HandlerKind, "on_devices", made)
    monkeypatch.setattr(jax_operator, "_cuda_devices", lambda name: [0])
    name = f"closedform_{arm.inverse_dynamics.interface.digest[:32]}_double"
    f, (q, v, a) = arm.inverse_dynamics.jax(), numbers(3, 4, 5, 6)

    def lowered(*given, of=f):
        return jax.jit(of).trace(*given).lower(lowering_platforms=("cuda",)).as_text()

    slots = 0
    text = lowered(q, v, a)
    assert text.count("stablehlo.custom_call") == 1 and f"@{name}_rrr" in text
    assert "tensor<20x6xf64>, tensor<20x6xf64>, tensor<20x6xf64>) -> tensor<20x6xf64>" in text
    text = lowered(q, v[0, 0], a[:1])               # shared by some states: written out
    assert f"@{name}_rsr" in text
    assert "tensor<20x6xf64>, tensor<1x6xf64>, tensor<20x6xf64>) -> tensor<20x6xf64>" in text
    assert f"@{name}_sss" in lowered(q[0, 0], v[0, 0], a[0, 0])
    assert asked == [(False,) * 3, (False, True, False), (True,) * 3]
    slots = 9
    gradient = lowered(q, v, a, of=jax.grad(lambda q, v, a: f(q, v, a).sum()))
    assert "-> (tensor<20x6xf64>, tensor<9x20xf64>)" in gradient


def test_what_is_not_linear_is_not_transposed(arm):
    f, (q, v, a) = arm.inverse_dynamics.jax(), numbers(3, 6)
    with pytest.raises(ArgumentError, match="inverse_dynamics is not linear in a"):
        jax.linear_transpose(lambda a: f(q, v, a), a)(numbers(6))
    rate = jax.linear_transpose(lambda da: jax.jvp(lambda a: f(q, v, a), (a,), (da,))[1], a)
    np.testing.assert_allclose(rate(a)[0], arm.mass_matrix(q) @ a, atol=1e-11)


def test_operators_are_made_once(arm):
    assert arm.inverse_dynamics.jax() is arm.inverse_dynamics.jax()
    assert arm.inverse_dynamics.jax().__name__ == "inverse_dynamics"
    again = cf.compile(cf.load("ur5")).inverse_dynamics.jax()
    traced = [str(jax.make_jaxpr(f)(*numbers(3, 6))) for f in (arm.inverse_dynamics.jax(), again)]
    assert traced[0] == traced[1]


def test_nothing_of_jax_is_imported_before_it_is_asked_for():
    code = ("import sys, closedform as cf\narm = cf.compile(cf.load('planar2r'))\n"
            "arm.bias([0, 1], [1, 0])\nassert 'jax' not in sys.modules\n"
            "arm.bias.jax()\nassert 'jax' in sys.modules\n")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_exported_module_runs_where_its_target_is_known(arm):
    export = pytest.importorskip("jax.export")
    f, (q, v, a) = arm.inverse_dynamics.jax(), numbers(3, 4, 6)
    name = f"closedform_{arm.inverse_dynamics.interface.digest[:32]}_double"
    known = export.DisabledSafetyCheck.custom_call(name)
    any_batch = jax.ShapeDtypeStruct((*export.symbolic_shape("b"), 6), np.float64)
    for shapes in ((q, v, a), (any_batch, any_batch, any_batch)):
        saved = export.export(jax.jit(f), disabled_checks=[known])(*shapes)
        np.testing.assert_array_equal(saved.call(q, v, a), arm.inverse_dynamics(q, v, a))
