"""Kernels inside CasADi: values, derivatives, sparsity, horizons and solvers."""

import copy
import gc
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import closedform as cf
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.frameworks import casadi_operator, casadi_plan
from closedform.lowerings.frameworks.casadi_operator import can_load_libraries
from closedform.lowerings.frameworks.casadi_plan import distinct, legal
from closedform.lowerings.store.cache import Cache
from closedform.program.record import record
from random_programs import random_program

casadi = pytest.importorskip("casadi", reason="NOT TESTED: pip install casadi")
ARM = cf.compile(cf.load("planar2r"))
FREE = cf.Robot("floating", [
    cf.Body("base", None, cf.Free(),
            inertia=cf.Inertia(2.0, (0.1, 0, 0.02), np.diag([0.1, 0.2, 0.3]))),
    cf.Body("left", "base", cf.Revolute((0, 0, 1)),
            inertia=cf.Inertia(1.0, (0.2, 0, 0), 0.1 * np.eye(3))),
    cf.Body("right", "base", cf.Spherical(),
            inertia=cf.Inertia(1.0, (0, 0.3, 0), 0.1 * np.eye(3)))])
BALL = cf.Robot("ball", [
    cf.Body("ball", None, cf.Spherical(), inertia=cf.Inertia(1.0, (0, 0.3, 0), 0.1 * np.eye(3)))])
WAYS = [False, True] if can_load_libraries() else [True]


@pytest.fixture(params=WAYS, ids=lambda callback: "callback" if callback else "external")
def callback(request):
    return request.param


@pytest.fixture(params=[1500, -1], ids=["written out", "along directions"])
def limit(request, monkeypatch):
    """Both ways to derivatives of many inputs, whatever the size of the program."""
    monkeypatch.setattr(casadi_plan, "WRITTEN_OUT", request.param)


def of(kernel, nodes=None, callback=False):
    """The function, made anew."""
    making = casadi_operator.Making(Cache(None), kernel._code.watch)
    return casadi_operator.casadi_operator(kernel, making, nodes, callback)


def as_matrix(x):
    x = np.asarray(x, float)
    return x.reshape(x.shape[0] if x.ndim else 1, math.prod(x.shape[1:]))


def side_by_side(states):
    return np.hstack([as_matrix(x) for x in states])


def random_states(kernel, nodes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(nodes, *slot.shape)) for slot in kernel.interface.inputs]


def results(found):
    return [np.array(casadi.densify(x)) for x in (found if isinstance(found, tuple) else (found,))]


def called(f, *arguments):
    return results(tuple(f.call([casadi.DM(x) for x in arguments])))


def odd_shapes():
    """A scalar, an array of three axes, nothing at all, and outputs named as inputs."""
    def function(x, T, none):
        flat = [T[i, j, k] for i in range(2) for j in range(3) for k in range(2)]
        return {"x": np.array([x * flat[1], flat[2] * flat[2]]), "T": T * x, "none": none,
                "fixed": np.array([[1.0, 0.0], [2.0, 3.0]])}
    return record(function, {"x": (), "T": (2, 3, 2), "none": (0,)}, "odd")


KERNELS = {
    "vector": lambda: ARM.forward_dynamics,
    "matrix": lambda: ARM.mass_matrix,
    "scalar": lambda: ARM.kinetic_energy,
    "tensor": lambda: ARM.christoffel_symbols,
    "frame": lambda: ARM.frame_jacobian.at("tip", cf.WORLD),
    "fused": lambda: cf.fuse(ARM.robot, ["mass_matrix", "bias", "kinetic_energy"]),
    "run-time inputs": lambda: cf.compile(
        ARM.robot, inputs=[cf.Gravity(), cf.PayloadAt("link2")]).inverse_dynamics,
    "quaternions": lambda: cf.compile(BALL).inverse_dynamics,
    "odd shapes": lambda: compile_program(odd_shapes()),
    "every operation": lambda: compile_program(random_program(1)),
}


@pytest.fixture(params=KERNELS, scope="module")
def kernel(request):
    return KERNELS[request.param]()


# ---------------------------------------------------------------------- values
@pytest.mark.parametrize("nodes", [None, 3, 11])
def test_values_are_those_of_the_kernel_to_the_bit(kernel, nodes, callback):
    states = random_states(kernel, nodes or 1)
    f = of(kernel, nodes, callback)
    expected = kernel(*states)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for x, y in zip(called(f, *map(side_by_side, states)), expected, strict=True):
        np.testing.assert_array_equal(x, side_by_side(y))


def test_names_and_sizes_are_those_of_the_symbolic_function(kernel, callback):
    f, g = of(kernel, callback=callback), kernel.casadi(symbolic=True)
    assert f.name() == g.name() and f.name_in() == g.name_in() and f.name_out() == g.name_out()
    assert [f.size_in(k) for k in range(f.n_in())] == [g.size_in(k) for k in range(g.n_in())]
    assert [f.size_out(k) for k in range(f.n_out())] == [g.size_out(k) for k in range(g.n_out())]
    assert f.jacobian().name_out() == g.jacobian().name_out()
    assert f.reverse(1).name_out() == g.reverse(1).name_out()


# ---------------------------------------------------------------------- derivatives
def everything(f, states, seed=1):
    """Jacobian, adjoint, and the Jacobian of the adjoint, at nodes."""
    rng = np.random.default_rng(seed)
    inputs = [side_by_side(x) for x in states]
    nothing = [np.zeros(f.size_out(k)) for k in range(f.n_out())]
    weights = [rng.normal(size=f.size_out(k)) for k in range(f.n_out())]
    first = f.jacobian()
    adjoint = f.reverse(1)
    second = adjoint.jacobian()
    return [(first, called(first, *inputs, *nothing)),
            (adjoint, called(adjoint, *inputs, *nothing, *weights)),
            (second, called(second, *inputs, *nothing, *weights,
                            *(np.zeros_like(x) for x in inputs)))]


@pytest.mark.parametrize("nodes", [None, 9])
def test_derivatives_are_those_of_the_symbolic_function(kernel, nodes, callback, limit):
    states = random_states(kernel, nodes or 1)
    ours = everything(of(kernel, nodes, callback), states)
    theirs = everything(kernel.casadi(nodes, symbolic=True), states)
    for (f, found), (g, expected) in zip(ours, theirs, strict=True):
        for k, (x, y) in enumerate(zip(found, expected, strict=True)):
            scale = max(1.0, np.abs(y).max(initial=0.0))
            np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * scale, err_msg=f.name_out(k))
            if f.name_out(k).startswith("jac_") and nodes is None:
                assert f.sparsity_out(k).is_subset(g.sparsity_out(k)), f.name_out(k)


def test_the_jacobian_is_the_kernels_own(callback):
    kernel = ARM.forward_dynamics
    q, v, tau = (x[0] for x in random_states(kernel, 1))
    found = called(of(kernel, callback=callback).jacobian(), q, v, tau, np.zeros(2))
    for x, y in zip(found, kernel.jacobian()(q, v, tau), strict=True):
        np.testing.assert_array_equal(x, y)


def test_derivatives_by_quaternions_agree_with_complex_step_along_the_unit_sphere(callback):
    kernel, h = cf.compile(FREE).inverse_dynamics, 1e-30
    q, (_, v, a) = FREE.random(0), (x[0] for x in random_states(kernel, 1))
    J = called(of(kernel, callback=callback).jacobian(), q, v, a, np.zeros(FREE.nv))[0]
    assert J.shape == (FREE.nv, FREE.nq)
    for direction in np.random.default_rng(2).normal(size=(5, FREE.nq)):
        for own in (slice(3, 7), slice(8, 12)):
            direction[own] -= q[own] * (q[own] @ direction[own])
        slope = np.imag(cf.inverse_dynamics(FREE, q + 1j * h * direction, v, a)) / h
        np.testing.assert_allclose(J @ direction, slope, atol=1e-12 * max(1, abs(slope).max()))


# ---------------------------------------------------------------------- sparsity
def test_no_zero_that_the_program_knows_is_in_a_pattern(callback):
    """A tree: ∂τ/∂a is M, and the arms of the base do not meet in it."""
    kernel = cf.compile(FREE).inverse_dynamics
    f = of(kernel, callback=callback)
    for k, known in enumerate(kernel.jacobian().program.structure().values()):
        assert f.jacobian().nnz_out(k) == known.sum() < known.size
    M = f.jacobian().sparsity_out(2)
    assert not M.has_nz(6, 7) and not M.has_nz(7, 6)
    H = f.reverse(1).jacobian()
    zero = [k for k in range(H.n_out()) if H.name_out(k) in ("jac_adj_a_a", "jac_adj_a_v")]
    assert len(zero) == 2 and all(H.nnz_out(k) == 0 for k in zero)


def test_derivatives_of_a_horizon_are_block_diagonal(callback):
    one, many = of(ARM.inverse_dynamics), of(ARM.inverse_dynamics, 6, callback)
    for f, g in ((one.jacobian(), many.jacobian()),
                 (one.reverse(1).jacobian(), many.reverse(1).jacobian())):
        for k in range(f.n_out()):
            expected = casadi.diagcat(*[f.sparsity_out(k)] * 6)
            assert g.sparsity_out(k) == expected, f.name_out(k)
    x = casadi.MX.sym("x", 2, 6)
    J = casadi.jacobian(many(x, x, x), x)
    assert J.shape == (12, 12) and J.sparsity().nnz() == 6 * 4


# ---------------------------------------------------------------------- inside CasADi
def test_what_is_left_out_is_zero_and_what_is_not_asked_for_is_not_computed(callback):
    kernel = KERNELS["fused"]()
    f = of(kernel, callback=callback)
    np.testing.assert_array_equal(np.array(f(q=[0.3, 0.4])["bias"]).ravel(),
                                  kernel([0.3, 0.4], [0, 0]).bias)
    q = casadi.MX.sym("q", 2)
    only = casadi.Function("only", [q], [f(q, casadi.MX(2, 1))[1]])
    np.testing.assert_array_equal(results(only([0.3, 0.4]))[0].ravel(),
                                  kernel([0.3, 0.4], [0, 0]).bias)


def test_maps_in_threads_and_recursions_have_the_same_numbers(callback):
    kernel = ARM.inverse_dynamics
    f, states = of(kernel, callback=callback), random_states(kernel, 50)
    inputs, expected = [x.T for x in states], kernel(*states).T
    np.testing.assert_array_equal(f.map(50)(*inputs), expected)
    np.testing.assert_array_equal(f.map(50, "thread", 4)(*inputs), expected)
    q, u = casadi.MX.sym("q", 2), casadi.MX.sym("u", 2)
    step = casadi.Function("step", [q, u], [q + 0.1 * f(q, u, u)]).mapaccum(5)
    found, x = np.array(step([0.1, 0.2], inputs[0][:, :5])), np.array([0.1, 0.2])
    for k in range(5):
        x = x + 0.1 * kernel(x, inputs[0][:, k], inputs[0][:, k])
        np.testing.assert_allclose(found[:, k], x, rtol=1e-15)


@pytest.mark.parametrize("solver", ["ipopt", "fatrop"])
def test_solvers_find_the_optimum_of_the_symbolic_problem(solver, callback):
    if not casadi.has_nlpsol(solver):
        pytest.skip(f"NOT TESTED: this CasADi has no {solver}")
    kernel, nodes = ARM.forward_dynamics, 12
    ours, theirs = (swing(f, nodes, solver) for f in (
        of(kernel, nodes, callback), kernel.casadi(nodes, symbolic=True)))
    assert ours[1] == theirs[1]                 # as many iterations: the same derivatives
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-7)


def swing(f, nodes, solver):
    """A swing from rest to rest with the least torque: the states, and how many iterations."""
    h, opti = 0.05, casadi.Opti()
    X, U = [], []
    for k in range(nodes + 1):
        X.append(opti.variable(4))
        if k < nodes:
            U.append(opti.variable(2))
    Q = casadi.horzcat(*(x[:2] for x in X[:-1]))
    V = casadi.horzcat(*(x[2:] for x in X[:-1]))
    A = f(Q, V, casadi.horzcat(*U))
    for k in range(nodes):
        x = X[k]
        opti.subject_to(X[k + 1] == casadi.vertcat(x[:2] + h * x[2:], x[2:] + h * A[:, k]))
        if k == 0:
            opti.subject_to(x == casadi.DM.zeros(4))
    opti.subject_to(X[-1] == casadi.DM([0.5, -0.3, 0, 0]))
    opti.minimize(casadi.sumsqr(casadi.horzcat(*U)))
    quiet = {"ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-12},
             "fatrop": {"print_level": 0, "tolerance": 1e-10}}[solver]
    more = {"structure_detection": "auto"} if solver == "fatrop" else {}
    opti.solver(solver, {"print_time": False, **more}, quiet)
    solved = opti.solve()
    stats = solved.stats()
    count = stats["iter_count"] if solver == "ipopt" else stats["fatrop"]["iterations_count"]
    return np.array(solved.value(casadi.horzcat(*X))), count


# ---------------------------------------------------------------------- names and refusals
def test_names_are_legal_and_distinct():
    assert legal("bras__1-ü") == "bras_1" and legal("7dof") == "x_7dof" and legal("jac") == "x_jac"
    assert legal("sin") == "x_sin"
    assert distinct(["a b", "a_b", "a b"]) == ["a_b", "a_b_2", "a_b_3"]
    assert distinct(["q"], ["q"]) == ["q_out"]


@pytest.mark.parametrize("nodes", [1, 9])
def test_programs_may_have_no_inputs_no_entries_or_nothing_to_differentiate(callback, nodes):
    def made(function, shapes, name):
        return of(compile_program(record(function, shapes, name), Cache(None)), nodes, callback)

    alone = made(lambda: {"y": np.array([1.0, 2.0])}, {}, "alone")
    np.testing.assert_array_equal(called(alone)[0], np.tile([[1.0], [2.0]], nodes))
    empty = made(lambda x: {"y": x, "z": np.array([[3.0]])}, {"x": (0,)}, "zero")
    assert [x.shape for x in called(empty, np.zeros((0, nodes)))] == [(0, nodes), (1, nodes)]
    assert empty.reverse(1).jacobian().n_out() == 5
    fixed = made(lambda x: {"y": np.array([1.0, 0.0])}, {"x": (3,)}, "fixed")
    assert fixed.jacobian().nnz_out(0) == 0 and fixed.reverse(1).jacobian().nnz_out() == 0
    linear = made(lambda x: 3.0 * x, {"x": (3,)}, "sin")
    assert linear.name() == "x_sin" and linear.jacobian().nnz_out(0) == 3 * nodes
    assert linear.reverse(1).jacobian().nnz_out(0) == 0
    np.testing.assert_array_equal(called(linear, np.ones((3, nodes)))[0], 3.0)


def test_robots_and_frames_with_odd_names_are_taken(callback):
    robot = cf.Robot("2 bras__é", [
        cf.Body("1-é", None, cf.Revolute((0, 0, 1)), inertia=cf.Inertia(1.0, (1, 0, 0)))])
    arm = cf.compile(robot)
    f = of(cf.fuse(robot, [cf.At("frame_pose", "1-é"), "mass_matrix"]), callback=callback)
    assert len(f.name_out()) == 2 and results(f([0.3]))[1].item() == arm.mass_matrix([0.3]).item()


@pytest.mark.parametrize("nodes", [0, -1, 2.0, True, "3"])
def test_nodes_are_counted(nodes):
    for symbolic in (False, True):
        with pytest.raises(cf.ArgumentError, match="inverse_dynamics: nodes must be a whole number "
                                                   "from 1 on, not"):
            ARM.inverse_dynamics.casadi(nodes, symbolic=symbolic)


def test_wrenches_are_a_further_input():
    f = ARM.inverse_dynamics.casadi(wrenches=True)
    wrenches = np.random.default_rng(0).normal(size=(2, 6))
    given = [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]
    assert f.name_in() == ["q", "v", "a", "wrenches"] and f.size_in(3) == (2, 6)
    np.testing.assert_array_equal(results(f(*given, wrenches))[0].ravel(),
                                  ARM.inverse_dynamics(*given, wrenches))
    with pytest.raises(cf.ArgumentError, match="mass_matrix of planar2r takes no wrenches"):
        ARM.mass_matrix.casadi(wrenches=True)


# ---------------------------------------------------------------------- life of a function
def test_the_function_is_made_once_for_each_kernel():
    kernel = ARM.inverse_dynamics
    assert kernel.casadi() is kernel.casadi() and kernel.casadi(4) is kernel.casadi(4)
    assert kernel.casadi() is not kernel.casadi(4)


@pytest.mark.skipif(not can_load_libraries(), reason="NOT TESTED: no libraries here")
def test_a_library_is_kept_by_its_content_where_no_other_may_write(tmp_path):
    cache = Cache(tmp_path / "cache")
    arm = cf.compile(cf.load("planar2r"), cache=cache)
    arm.bias.casadi()
    files = list(cache.folder.glob("*.so"))
    assert len(files) == 1 and files[0].stat().st_mode & 0o077 == 0
    assert cache.library(files[0].stem.removeprefix("closedform-")) == files[0]
    damaged = files[0].read_bytes()[:-1] + b"x"
    files[0].unlink()                           # the old one is still in use
    files[0].write_bytes(damaged)
    files[0].chmod(0o600)
    again = cf.compile(cf.load("planar2r"), cache=cache).bias
    np.testing.assert_array_equal(results(again.casadi()([1, 2], [3, 4]))[0].ravel(),
                                  again([1, 2], [3, 4]))
    assert cache.library(files[0].stem.removeprefix("closedform-")) == files[0]


@pytest.mark.skipif(not can_load_libraries(), reason="NOT TESTED: no libraries here")
def test_a_library_is_not_loaded_from_a_place_that_others_may_change(tmp_path, monkeypatch):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    cache = Cache(open_to_all / "cache")
    path = cache.keep_library(b"anything")
    assert path is not None
    open_to_all.chmod(0o777)
    assert cache.library(path.stem[-64:]) is None and cache.keep_library(b"other") is None
    for _ in range(2):                          # made, and then read and loaded from elsewhere
        kernel = cf.compile(cf.load("planar2r"), cache=cache).bias
        np.testing.assert_array_equal(results(kernel.casadi()([1, 2], [3, 4]))[0].ravel(),
                                      kernel([1, 2], [3, 4]))
        monkeypatch.setattr(casadi_operator, "library_of", None)


@pytest.mark.skipif(not can_load_libraries(), reason="NOT TESTED: no libraries here")
def test_a_function_outlives_its_file_and_is_stored_with_its_path(tmp_path):
    cache = Cache(tmp_path / "cache")
    kernel = cf.compile(cf.load("planar2r"), cache=cache).bias
    f, given = kernel.casadi(), ([1, 2], [3, 4])
    copies = [copy.deepcopy(f), pickle.loads(pickle.dumps(f)),
              casadi.Function.deserialize(f.serialize())]
    stored = f.serialize()
    next(cache.folder.glob("*.so")).unlink()
    for g in (f, *copies):
        np.testing.assert_array_equal(results(g(*given))[0].ravel(), kernel(*given))
        assert g.jacobian().n_out() == 2
    (tmp_path / "stored").write_text(stored)
    code = ("import casadi, pathlib, sys\n"
            "casadi.Function.deserialize(pathlib.Path(sys.argv[1]).read_text())")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "stored")],
                          capture_output=True, text=True, check=False)
    assert done.returncode and "closedform-" in done.stderr         # the file is named


def test_the_second_use_takes_it_from_the_cache(tmp_path, monkeypatch):
    if not can_load_libraries():
        pytest.skip("NOT TESTED: no libraries here")
    cache = Cache(tmp_path / "cache")
    cf.compile(cf.load("planar2r"), cache=cache).forward_dynamics.casadi(20)
    kernel = cf.compile(cf.load("planar2r"), cache=cache).forward_dynamics
    monkeypatch.setattr(casadi_operator, "library_of", None)        # what would make it anew
    kernel.casadi(20)


def test_without_a_cache_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    kernel = cf.compile(cf.load("planar2r"), cache=Cache(None)).bias
    assert results(kernel.casadi()([1, 2], [3, 4]))[0].shape == (2, 1)
    assert list(tmp_path.iterdir()) == []


def test_callbacks_live_as_long_as_expressions_that_use_them():
    x = casadi.MX.sym("x", 2)
    F = casadi.Function("F", [x], [of(ARM.bias, callback=True)(x, x)])
    J = casadi.Function("J", [x], [casadi.jacobian(F(x), x)])
    gc.collect()
    expected = ARM.bias.casadi(symbolic=True)
    same = casadi.Function("J", [x], [casadi.jacobian(expected(x, x), x)])
    np.testing.assert_allclose(results(J([1, 2]))[0], results(same([1, 2]))[0], atol=1e-13)
