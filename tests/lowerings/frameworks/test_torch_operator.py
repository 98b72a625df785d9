"""Kernels as PyTorch operators: the kernel's own numbers, exact derivatives, every transform."""

import copy
import io
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import closedform as cf

torch = pytest.importorskip("torch", reason="NOT TESTED: pip install 'closedform[torch]'")
handles = pytest.importorskip("closedform.lowerings.frameworks.handles")

F = torch.float64
ROBOT = cf.load("planar2r")
ARM = cf.compile(ROBOT)
ID, FD = ARM.inverse_dynamics.torch(), ARM.forward_dynamics.torch()
FUSED = cf.fuse(ROBOT, ["mass_matrix", "kinetic_energy"])
RNG = torch.Generator().manual_seed(5)


def random(*shape, grad=False):
    return torch.randn(*shape, dtype=F, generator=RNG).requires_grad_(grad)


def states(*lead, count=3, grad=False):
    return [random(*lead, 2, grad=grad) for _ in range(count)]


def loss(q, v, a):
    return ID(q, v, a).square().sum()


# ---------------------------------------------------------------- values
SHAPES = [((), (), ()), ((4,), (4,), (4,)), ((4,), (), ()), ((3, 4), (4,), ()),
          ((3, 1), (4,), (1,)), ((0,), (), (0,)), ((2, 0), (2, 1), ()), ((1,), (1,), (1,))]


@pytest.mark.parametrize("leads", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_it_is_the_kernels_own_call_to_the_last_bit(leads, dtype):
    x = [random(*lead, 2).to(dtype) for lead in leads]
    expected = ARM.inverse_dynamics(*(y.numpy() for y in x))
    with_graph = ID(*(y.clone().requires_grad_() for y in x))
    for found in (ID(*x), with_graph.detach(), ID(x[0], a=x[2], v=x[1])):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.numpy(), expected)
    assert with_graph.requires_grad


def test_tensors_and_results_are_the_memory_that_the_kernel_uses(monkeypatch):
    seen, x = [], states()
    monkeypatch.setattr(ID, "kernel", lambda *arrays: seen.append(arrays) or np.ones(2))
    found = ID(*x)
    assert [y.ctypes.data for y in seen[0]] == [y.data_ptr() for y in x]
    assert torch.equal(found, torch.ones(2, dtype=F))


def test_strided_shared_and_conjugate_views_are_read_as_they_are():
    q, v, a = random(2, 5).T, random(5, 4)[:, ::2], random(1, 2).expand(5, 2)
    assert torch.equal(ID(q, v, a), ID(q.contiguous(), v.contiguous(), a.contiguous()))
    turned = torch.complex(v, q).conj().imag
    assert torch.equal(ID(turned, v, a), ID(-q, v, a))


def test_what_is_no_number_passes():
    q, v, a = states(3)
    q[1, 0] = float("nan")
    found = ID(q, v, a)
    assert found[1].isnan().all() and found[[0, 2]].isfinite().all()


def test_several_outputs_are_a_named_tuple_and_scalars_have_no_axes():
    operator = FUSED.torch()
    q, v = states(count=2)
    found, expected = operator(q, v), FUSED(q.numpy(), v.numpy())
    assert type(found) is type(expected) and found.kinetic_energy.shape == ()
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_array_equal(x.numpy(), y)
    assert operator(random(3, 2), v).kinetic_energy.shape == (3,)


def test_eight_threads_get_what_one_gets():
    x = states(50)

    def gradient(k):
        y = [z.clone().requires_grad_() for z in x]
        (ID(*y) * (k + 1)).sum().backward()
        return torch.stack([z.grad for z in y]) / (k + 1)

    expected = gradient(0)
    with ThreadPoolExecutor(8) as pool:
        assert all(torch.allclose(g, expected, rtol=1e-13) for g in pool.map(gradient, range(32)))


# ---------------------------------------------------------------- derivatives
def test_gradients_forward_and_backward_one_by_one_and_in_batches():
    assert torch.autograd.gradcheck(FD, states(2, grad=True), check_forward_ad=True,
                                    check_batched_grad=True, check_batched_forward_grad=True)
    assert torch.autograd.gradgradcheck(ID, states(grad=True), check_fwd_over_rev=True)


FLOATING = cf.Robot("floating", [
    cf.Body("box", None, cf.Free(), inertia=cf.Inertia.from_parameters(
        [2.0, 0.1, -0.2, 0.3, 0.6, 0, 0.7, 0, 0, 0.8])),
    cf.Body("arm", "box", cf.Revolute((0, 1, 0)), inertia=cf.Inertia.from_parameters(
        [1.0, 0.0, 0.1, 0.2, 0.2, 0, 0.2, 0, 0, 0.2]))])


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix",
                                  "kinetic_energy", "poses"])
@pytest.mark.parametrize("robot", [cf.load("stanford"), FLOATING], ids=lambda r: r.name)
def test_gradients_of_rows_of_arms_and_of_a_floating_base(robot, name):
    """By the entries of q, of a quaternion as well."""
    kernel = getattr(cf.compile(robot), name)
    x = [random(2, *slot.shape, grad=True) for slot in kernel.interface.inputs]
    operator = kernel.torch()
    assert torch.autograd.gradcheck(operator, x, fast_mode=True, check_forward_ad=True)
    torch.library.opcheck(torch.ops.closedform.call.default, (operator._handle, x))
    single = [y.detach().float().requires_grad_() for y in x]
    torch.library.opcheck(torch.ops.closedform.call.default, (operator._handle, single),
                          test_utils=("test_schema", "test_faketensor"))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix"])
def test_second_derivatives_of_rows(name):
    kernel = getattr(ARM, name)
    x = [random(2, *slot.shape, grad=True) for slot in kernel.interface.inputs]
    assert torch.autograd.gradgradcheck(kernel.torch(), x, fast_mode=True)


def test_gradients_by_tensors_of_odd_strides():
    whole = random(3, 4, 2, grad=True)
    q, v, a = whole[:, 1], whole.transpose(0, 1)[2], whole.flip(0)[:, 3]
    by_views, = torch.autograd.grad(ID(q, v, a).square().sum(), whole)
    apart = [x.detach().clone().requires_grad_() for x in (q, v, a)]
    dq, dv, da = torch.autograd.grad(ID(*apart).square().sum(), apart)
    assert torch.equal(by_views[:, 1], dq) and torch.equal(by_views[:, 2], dv)
    assert torch.equal(by_views[:, 3], da.flip(0)) and not by_views[:, 0].any()
    negative = random(3, 2)._neg_view()
    assert torch.equal(ID(negative, q, a), ID(negative.resolve_neg(), q, a))


def test_gradients_of_shared_operands_are_summed():
    x = [random(3, 1, 2, grad=True), random(2, 2, grad=True), random(2, grad=True)]
    assert torch.autograd.gradcheck(ID, x)


def test_jacobians_are_the_catalogues_to_rounding():
    x = states()
    expected = ARM.inverse_dynamics_derivatives(*(y.numpy() for y in x))
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        for J, truth in zip(jacobian(ID, (0, 1, 2))(*x), expected, strict=True):
            np.testing.assert_allclose(J, truth, rtol=1e-13, atol=1e-13)
    J, = torch.func.jacrev(ID, (2,))(random(4, 2), *x[1:])
    assert J.shape == (4, 2, 2)


def test_a_whole_jacobian_is_one_call_of_the_catalogues_kernel():
    arm = cf.compile(cf.load("ur5"))
    operator, x = arm.inverse_dynamics.torch(), [torch.zeros(6, dtype=F)] * 3
    torch.func.jacrev(operator, (0, 1))(*x)
    torch.func.jacfwd(operator, (0, 1))(*x)
    made = handles._NODES[f"{operator._handle}/jacobian:q,v"]
    assert [y.name for y in made.outputs] == ["dtau_dq", "dtau_dv"]
    assert f"{operator._handle}/cotangent:q,v" in handles._NODES
    assert handles.node(f"{operator._handle}/cotangent:q,v").whole(1) is None


def test_only_the_inputs_that_move_are_differentiated():
    q, v, a = states()
    ID(q, v, a.requires_grad_()).sum().backward()
    np.testing.assert_allclose(a.grad, ARM.mass_matrix(q.numpy()).sum(0), rtol=1e-13)
    back = handles.node(f"{ID._handle}/cotangent:a").kernel
    assert back.operations.total < handles.node(f"{ID._handle}/cotangent:q").kernel.operations.total


def test_transforms_nest_as_they_please():
    q, v, a = states(3)
    gradient = torch.func.vmap(torch.func.grad(loss), in_dims=(0, None, 0))(q, v[0], a)
    alone = torch.stack([torch.func.grad(loss)(q[k], v[0], a[k]) for k in range(3)])
    assert torch.allclose(gradient, alone, rtol=1e-13)
    twice = torch.func.vmap(torch.func.vmap(ID, (0, None, None)), (None, 1, None))
    found = twice(q, v.T, a[0])
    assert torch.equal(found, ID(q, v[:, None], a[0]))
    H = torch.func.hessian(loss)(q[0], v[0], a[0])
    assert torch.allclose(H, H.T) and torch.allclose(H, torch.autograd.functional.hessian(
        lambda x: loss(x, v[0], a[0]), q[0], vectorize=True))
    value, rate = torch.func.jvp(ID, (q, v, a), (v, a, q))
    assert torch.equal(value, ID(q, v, a))
    value, back = torch.func.vjp(ID, q, v, a)
    bars = back(v)
    assert torch.allclose((rate * v).sum(), sum((x * y).sum() for x, y in zip(
        bars, (v, a, q), strict=True)))


def test_a_jacobian_by_an_input_that_lacks_the_batchs_axis_has_it():
    """∂τ/∂a needs q alone; the batch is that of v."""
    q, a = states(count=2)
    v = random(4, 2)
    J = torch.func.jacfwd(lambda x: ID(q, v, x))(a)
    expected = ARM.mass_matrix(q.numpy())
    np.testing.assert_allclose(J, np.broadcast_to(expected, (4, 2, 2)), rtol=1e-13)


def test_an_output_that_is_not_used_costs_no_error():
    q, v = states(count=2)
    FUSED.torch()(q, v.requires_grad_()).kinetic_energy.backward()
    np.testing.assert_allclose(v.grad, FUSED(q.numpy(), v.detach().numpy())[0] @ v.detach().numpy(),
                               rtol=1e-13)


def test_without_gradients_nothing_is_recorded():
    x = states(grad=True)
    with torch.no_grad():
        assert ID(*x).grad_fn is None
    with torch.inference_mode():
        assert torch.equal(ID(*x), ID(*x))
    assert ID(*(y.detach() for y in x)).grad_fn is None
    assert ID(torch.nn.Parameter(x[0].detach()), *x[1:]).grad_fn is not None


# ---------------------------------------------------------------- every kernel
def test_inputs_at_run_time_have_gradients():
    load = cf.PayloadAt(ROBOT.bodies[-1].name)
    arm = cf.compile(ROBOT, inputs=[load, cf.Gravity(), cf.Parameters()])
    operator = arm.inverse_dynamics.torch()
    named = {slot.name: random(*slot.shape) for slot in arm.inverse_dynamics.interface.inputs}
    for name in ("parameters", "gravity", "payload"):
        named[name].requires_grad_()
    operator(**named).sum().backward()
    fixed = {k: y.detach().numpy() for k, y in named.items()}
    for name in ("parameters", "gravity", "payload"):       # τ is linear in each of them
        step = fixed | {name: fixed[name] + named[name].grad.numpy()}
        change = (arm.inverse_dynamics(**step) - arm.inverse_dynamics(**fixed)).sum()
        np.testing.assert_allclose(change, named[name].grad.square().sum(), rtol=1e-9)
    wrenches = random(len(ROBOT.bodies), 6, grad=True)
    operator(**named, wrenches=wrenches).sum().backward()
    assert wrenches.grad.abs().sum() > 0


def test_wrenches_and_other_rows_go_to_the_kernels_that_have_them():
    F_b = random(len(ROBOT.bodies), 6, grad=True)
    x = states()
    found = ID(*x, wrenches=F_b)
    np.testing.assert_array_equal(found.detach(), ARM.inverse_dynamics(
        *(y.numpy() for y in x), wrenches=F_b.detach().numpy()))
    assert torch.equal(ID(*x, F_b), found)
    found.sum().backward()
    assert torch.equal(F_b.grad, torch.func.grad(lambda y: ID(*x, wrenches=y).sum())(F_b.detach()))
    jet, rates = ARM.inverse_dynamics_jet.torch(), random(3, 2, grad=True)
    y = jet(x[0], rates)
    np.testing.assert_array_equal(y.detach(), ARM.inverse_dynamics_jet(
        x[0].numpy(), rates.detach().numpy()))
    y.sum().backward()
    assert rates.grad.shape == (3, 2)


def test_frames_elastic_joints_and_flexible_arms_have_operators():
    q = random(2)
    pose = ARM.frame_pose.at(ROBOT.bodies[-1].name)
    np.testing.assert_array_equal(pose.torch()(q), pose(q.numpy()))
    model = cf.ElasticJoints(ROBOT, [9.0, 8.0], [0.1, 0.1], [1.0, 1.0])
    kernel = cf.elastic.compile(model).forward_dynamics
    x = [random(*slot.shape, grad=True) for slot in kernel.interface.inputs]
    assert torch.autograd.gradcheck(lambda *y: kernel.torch()(*y)[0], x)
    link = cf.FlexibleLink(0.5, 1.0, 2.0, 1.0, 0.1, modes=1)
    arm = cf.FlexibleArm(links=[link], payload=cf.Payload(0.1, 0.005))
    inertia = cf.flexible.compile_equation(arm, "inertia_matrix")
    np.testing.assert_array_equal(inertia.torch()(q), inertia(q.numpy()))


# ---------------------------------------------------------------- compiled, exported, faked
def test_torch_compile_has_it_in_one_graph():
    x = states(3, grad=True)
    whole = torch.compile(lambda q, v, a, F_b: ID(q, a=a, v=v, wrenches=F_b).square().sum(),
                          backend="aot_eager", fullgraph=True)
    F_b = random(len(ROBOT.bodies), 6)
    whole(*x, F_b).backward()
    expected = torch.func.grad(lambda q: ID(q, *x[1:], wrenches=F_b).square().sum())(x[0])
    assert torch.allclose(x[0].grad, expected.detach(), rtol=1e-13)
    several = torch.compile(FUSED.torch(), backend="aot_eager", fullgraph=True)(*x[:2])
    assert torch.equal(several.kinetic_energy, FUSED.torch()(*x[:2]).kinetic_energy)
    mapped = torch.compile(torch.func.vmap(ID), backend="aot_eager", fullgraph=True)
    assert torch.equal(mapped(*(y.detach() for y in x)), ID(*x))


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++", "c++"))),
                    reason="inductor needs a compiler of C++, and there is none")
def test_inductor_compiles_around_it():
    x = states(3, grad=True)

    def cost(q, v, a):
        return (ID(torch.sin(q), v.T.contiguous().T, a) ** 2).sum()

    found = torch.compile(cost, fullgraph=True)(*x)
    by = torch.autograd.grad(found, x)
    assert torch.allclose(found, cost(*x), rtol=1e-14)
    for one, other in zip(by, torch.autograd.grad(cost(*x), x), strict=True):
        assert torch.allclose(one, other, rtol=1e-13)


@pytest.mark.filterwarnings("ignore")
def test_derivatives_inside_a_compiled_function_are_right_if_not_compiled():
    """The custom operator alone would give zeros for forward derivatives."""
    torch._dynamo.reset()
    q, v, a = states()
    with torch._dynamo.config.patch(recompile_limit=64):
        for jacobian in (torch.func.jacfwd, torch.func.jacrev):
            found = torch.compile(lambda x, way=jacobian: way(ID)(x, v, a),
                                  backend="aot_eager")(q)
            assert torch.equal(found, jacobian(ID)(q, v, a))


class Torques(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dynamics, self.v = ID, torch.nn.Parameter(torch.ones(2, dtype=F))

    def forward(self, q):
        return self.dynamics(q, self.v, q)


def test_exported_graphs_name_the_kernel_and_run_for_any_batch():
    size = torch.export.Dim("size")
    graph = torch.export.export(Torques(), (random(4, 2),), dynamic_shapes=({0: size},))
    file = io.BytesIO()
    torch.export.save(graph, file)
    file.seek(0)
    again, q = torch.export.load(file).module(), random(7, 2)
    assert torch.equal(again(q), Torques()(q))
    again(q).sum().backward()
    assert again.v.grad.shape == (2,)
    with pytest.raises(cf.ArgumentError, match="no kernel 'other-1234' in this process"):
        torch.ops.closedform.call("other-1234", [q])


FRESH = """
import sys, torch
import closedform as cf
q, expected = torch.load(sys.argv[2])
cf.compile(cf.load("planar2r")).inverse_dynamics.torch()
module = torch.export.load(sys.argv[1]).module()
found = module(q)
assert torch.equal(found, expected)
found.sum().backward()
print(module.v.grad.shape)
"""


def test_an_exported_graph_runs_in_another_process(tmp_path):
    q = random(7, 2)
    dynamic = ({0: torch.export.Dim("size")},)
    graph = torch.export.export(Torques(), (q,), dynamic_shapes=dynamic)
    torch.export.save(graph, tmp_path / "graph.pt2")
    torch.save((q[:3], Torques()(q[:3]).detach()), tmp_path / "numbers")
    done = subprocess.run([sys.executable, "-c", FRESH, tmp_path / "graph.pt2",
                           tmp_path / "numbers"], capture_output=True, text=True, check=False)
    assert done.stdout == "torch.Size([2])\n", done.stderr


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_workers_of_a_data_loader_have_it(start):
    if start not in torch.multiprocessing.get_all_start_methods():
        pytest.skip(f"this system does not {start}")
    q, gravity = random(6, 2), ARM.gravity_torque.torch()
    loader = torch.utils.data.DataLoader(list(q), batch_size=None, num_workers=1,
                                         collate_fn=gravity, multiprocessing_context=start)
    assert torch.equal(torch.stack(list(loader)), gravity(q))


def test_modules_that_hold_an_operator_are_copied_and_pickled_small():
    module, q = Torques(), random(2)
    assert copy.deepcopy(module).dynamics is ID
    data = pickle.dumps(ID)
    assert len(data) < 5000 and torch.equal(pickle.loads(data)(q, q, q), ID(q, q, q))
    assert torch.equal(pickle.loads(pickle.dumps(module))(q), module(q))


def test_the_custom_operator_holds_what_torch_asks_of_one():
    call = torch.ops.closedform.call.default
    torch.library.opcheck(call, (ID._handle, states(2, grad=True)))
    torch.library.opcheck(call, (FUSED.torch()._handle, [random(3, 2), random(2)]))


def test_fake_and_meta_tensors_tell_shapes():
    from torch._subclasses import FakeTensorMode
    there = [x.to("meta").requires_grad_() for x in states(3, 1)]
    assert ID(*there)[..., 0].shape == (3, 1)
    ID(*there).sum().backward()
    assert there[1].grad.shape == (3, 1, 2)
    with pytest.raises(cf.ArgumentError, match="on one device: q cpu, v meta, a meta"):
        ID(random(2), *there[1:])
    with FakeTensorMode():
        q = torch.empty(4, 2, dtype=F)
        assert ID(q, q[0], q).shape == (4, 2)
        with pytest.raises(cf.ArgumentError, match="q must end in the shape"):
            ID(q[:, :1], q, q)
        away = torch.empty(2, dtype=F, device="cuda")
        with pytest.raises(cf.ArgumentError, match="on one device: q cpu, v cuda:0, a cpu"):
            ID(q[0], away, q[0])
        assert ID(away, away, away).device == away.device


# ---------------------------------------------------------------- refusals
X = torch.zeros(2, dtype=F)


@pytest.mark.parametrize(("given", "text"), [
    ((X.int(), X, X), "q must be of torch.float32 or torch.float64, not of torch.int32"),
    ((X.half(),) * 3, "not of torch.float16"),
    ((X, X.float(), X), "of one dtype: q torch.float64, v torch.float32, a torch.float64"),
    ((X, X, X.numpy()), "a must be a torch.Tensor, not a ndarray"),
    ((X, [0.0, 0.0], X), "v must be a torch.Tensor, not a list"),
    ((X.to_sparse(), X, X), "q must be a dense tensor"),
    ((torch.zeros(3, dtype=F), X, X), r"q must have the shape \(2,\) or \(..., 2\), not \(3,\)"),
    ((torch.zeros(3, 2, dtype=F), torch.zeros(4, 2, dtype=F), X), "batch axes do not fit together"),
    ((X, X), "inverse_dynamics of planar2r takes q, v, a: a is missing"),
], ids=str)
def test_what_is_wrong_is_refused_by_name(given, text):
    with pytest.raises(cf.ArgumentError, match=text):
        ID(*given)


def test_without_pytorch_the_error_says_what_to_install(tmp_path):
    code = ("import sys; sys.modules['torch'] = None\n"
            "import closedform as cf\n"
            "try: cf.compile(cf.load('planar2r')).mass_matrix.torch()\n"
            "except cf.MissingDependency as error: print(error)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "PyTorch is not installed; pip install 'closedform[torch]'\n"
    code = "import sys, closedform; print({'torch', 'dask', 'jax'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
