"""Kernels on Dask arrays and xarray: lazy, in the right blocks and types, as recipes to workers."""

import os
import pickle
import platform
import subprocess
import sys

import numpy as np
import pytest

import closedform as cf
from closedform.lowerings.call.slow import recalled
from closedform.lowerings.call.threads import thread_count

da = pytest.importorskip("dask.array", reason="NOT TESTED: pip install 'closedform[cluster]'")

ROBOT = cf.load("panda")
ARM = cf.compile(ROBOT)
TIP = "panda_hand_tcp"
X = np.random.default_rng(0).normal(size=(3, 100, 7))


def blocks(x=X, chunks=(32, 7)):
    return [da.from_array(y, chunks=chunks) for y in x]


def test_a_dask_array_gives_a_lazy_array_in_its_blocks():
    tau = ARM.inverse_dynamics(*blocks())
    assert isinstance(tau, da.Array)
    assert tau.chunks == ((32, 32, 32, 4), (7,)) and tau.dtype == np.float64
    np.testing.assert_array_equal(tau.compute(), ARM.inverse_dynamics(*X))


QUANTITIES = {
    "vector": lambda q, v, a: ARM.inverse_dynamics(q, v, a),
    "matrix": lambda q, v, a: ARM.coriolis_matrix(q, v),
    "scalar": lambda q, v, a: ARM.kinetic_energy(q, v),
    "pose": lambda q, v, a: ARM.frame_pose(q, TIP),
    "one of several": lambda q, v, a: ARM.inverse_dynamics_derivatives(q, v, a)[1],
    "two in a row": lambda q, v, a: ARM.forward_dynamics(q, v, ARM.inverse_dynamics(q, v, a)),
}


@pytest.mark.parametrize("name", QUANTITIES)
def test_reading_arithmetic_and_kernels_in_a_row_are_one_task_a_block(name):
    """Each more would cost as much as some milliseconds of work."""
    def read(which):
        return da.map_blocks(lambda block_info=None: X[which][slice(
            *block_info[None]["array-location"][0])], chunks=((40, 40, 20), (7,)), dtype=float)
    f = QUANTITIES[name]
    lazily = f(*(2 * read(k) + 1.0 for k in range(3)))
    tasks = lazily.__dask_optimize__(lazily.dask, lazily.__dask_keys__())
    found = [task for task in tasks.values() if type(task).__name__ != "Alias"]
    assert len(found) <= (3 if name != "two in a row" else 3 * 3)       # q, v are used twice
    np.testing.assert_array_equal(lazily.compute(), f(*(2 * X + 1.0)))


def test_axes_of_a_state_that_are_cut_are_joined():
    tau = ARM.inverse_dynamics(*blocks(chunks=(50, 3)))
    assert tau.chunks == ((50, 50), (7,))
    np.testing.assert_array_equal(tau.compute(), ARM.inverse_dynamics(*X))
    kernel = ARM.inverse_dynamics
    with pytest.raises(ValueError, match="multiple chunks"):
        da.apply_gufunc(kernel, kernel.signature, *blocks(chunks=(50, 3)), output_dtypes=float)
    joined = da.apply_gufunc(kernel, kernel.signature, *blocks(chunks=(50, 3)),
                             output_dtypes=float, allow_rechunk=True)
    np.testing.assert_array_equal(joined.compute(), kernel(*X))


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_dask_learns_types_that_it_is_not_told(kind):
    """It tries a function on arrays of one number, which nobody else may."""
    kernel, both = ARM.inverse_dynamics, cf.fuse(ROBOT, ["mass_matrix", "gravity_torque"])
    x = [y.astype(kind) for y in X]
    tau = da.apply_gufunc(kernel, kernel.signature, *blocks(x))
    assert tau.dtype == np.dtype(kind)
    np.testing.assert_array_equal(tau.compute(), kernel(*x))
    M, g = da.apply_gufunc(both, both.signature, blocks(x)[0])
    assert M.dtype == g.dtype == np.dtype(kind)
    np.testing.assert_array_equal(g.compute(), both(x[0]).gravity_torque)
    with pytest.raises(cf.ArgumentError, match=r"q must have the shape \(7,\)"):
        kernel(*np.zeros((3, 1, 1)))


@pytest.mark.parametrize(("types", "expected"), [
    (("f4", "f4", "f4"), "f4"), (("f4", "f8", "f4"), "f8"), (("f4", "i8", "f4"), "f8")])
def test_types_are_those_of_numpy_arrays(types, expected):
    x = [(3 * y).astype(t) for y, t in zip(X, types, strict=True)]
    tau = ARM.inverse_dynamics(*[da.from_array(y, chunks=(40, 7)) for y in x])
    assert tau.dtype == np.dtype(expected) == tau.compute().dtype
    np.testing.assert_array_equal(tau.compute(), ARM.inverse_dynamics(*x))


def test_arrays_of_numpy_beside_one_of_dask_are_broadcast():
    q, v, a = X
    tau = ARM.inverse_dynamics(blocks()[0], v[:1], a=list(a[0]))
    np.testing.assert_array_equal(tau.compute(), ARM.inverse_dynamics(q, v[:1], a[0]))
    two = da.from_array(np.stack([q, v]), chunks=(1, 25, 7))
    assert ARM.mass_matrix(two).chunks == ((1, 1), (25,) * 4, (7,), (7,))


def test_blocks_of_unknown_length_and_single_states_are_taken():
    q = blocks()[0]
    some = q[q[:, 0] > 0]
    np.testing.assert_array_equal(ARM.mass_matrix(some).compute(),
                                  ARM.mass_matrix(X[0][X[0][:, 0] > 0]))
    np.testing.assert_array_equal(ARM.mass_matrix(q[3]).compute(), ARM.mass_matrix(X[0][3]))


def test_several_outputs_frames_wrenches_and_jets_are_lazy_too():
    q, v, a = blocks()
    fused = cf.fuse(ROBOT, ["mass_matrix", "gravity_torque"])
    both = fused(q)
    assert both._fields == ("mass_matrix", "gravity_torque")
    np.testing.assert_array_equal(both.gravity_torque.compute(), fused(X[0]).gravity_torque)
    pose = ARM.frame_pose(q, TIP)
    assert pose.chunks == ((32, 32, 32, 4), (4,), (4,))
    np.testing.assert_array_equal(pose.compute(), ARM.frame_pose(X[0], TIP))
    F = np.random.default_rng(1).normal(size=(7, 6))
    np.testing.assert_array_equal(ARM.inverse_dynamics(q, v, a, wrenches=F).compute(),
                                  ARM.inverse_dynamics(*X, wrenches=F))
    rates = np.random.default_rng(2).normal(size=(100, 3, 7))
    jet = ARM.inverse_dynamics_jet(q, da.from_array(rates, chunks=(32, 3, 7)))
    np.testing.assert_array_equal(jet.compute(), ARM.inverse_dynamics_jet(X[0], rates))


def test_a_guarded_kernel_looks_at_its_blocks():
    lazily = ARM.operational_space_inertia(da.zeros((4, 7), chunks=(2, 7)), TIP)
    with pytest.raises(cf.SingularMatrix):
        lazily.compute(scheduler="sync")


def test_what_cannot_be_is_refused_by_name():
    q, v, a = blocks()
    with pytest.raises(cf.ArgumentError, match="out is for NumPy arrays"):
        ARM.inverse_dynamics(q, v, a, out=np.empty((100, 7)))
    with pytest.raises(cf.ArgumentError, match=r"a must have the shape \(7,\)"):
        ARM.inverse_dynamics(q, v, a[:, :3])
    with pytest.raises(cf.ArgumentError, match=r"do not fit together: q \(100, 7\)"):
        ARM.inverse_dynamics(q, v, a[:10])
    with pytest.raises(cf.ArgumentError, match="q must be real numbers, not complex128"):
        ARM.mass_matrix(q.astype(complex))


def test_equal_graphs_have_equal_names_and_other_kernels_others():
    q, v, a = blocks()
    again = cf.compile(cf.load("panda"))
    assert ARM.inverse_dynamics(q, v, a).name == again.inverse_dynamics(q, v, a).name
    assert ARM.inverse_dynamics(q, v, a).name != ARM.forward_dynamics(q, v, a).name


def test_threads_of_a_pool_and_of_the_kernel_do_not_multiply():
    from concurrent.futures import ThreadPoolExecutor
    alone = thread_count(10**6, 1000, None)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(thread_count, 10**6, 1000, None).result() == 1
        assert pool.submit(thread_count, 10**6, 1000, 2).result() == 2
    seen = da.zeros(2, chunks=1).map_blocks(
        lambda x: x + thread_count(10**6, 1000, None)).compute(scheduler="threads")
    assert seen.tolist() == [1, 1] and alone >= 1


def test_xarray_keeps_the_names_of_joints():
    xr = pytest.importorskip("xarray", reason="NOT TESTED: pip install 'closedform[cluster]'")
    joints = list(ROBOT.joint_names)
    q, v, a = (xr.DataArray(x, dims=("time", "joint"), coords={"joint": joints}).chunk(time=32)
               for x in X)
    kernel = ARM.inverse_dynamics
    told = {"input_core_dims": [["joint"]] * 3, "output_core_dims": [["joint"]],
            "dask": "parallelized"}
    assert xr.apply_ufunc(kernel, q, v, a, **told).dtype == np.float64
    tau = xr.apply_ufunc(kernel, q, v, a, **told, output_dtypes=[float])
    assert isinstance(tau.data, da.Array) and tau.joint.values.tolist() == joints
    assert tau.chunks == ((32, 32, 32, 4), (7,))
    np.testing.assert_array_equal(tau.sel(joint=joints[2]).compute(), kernel(*X)[:, 2])


def test_a_quantity_of_frames_travels_too():
    """As a function of a user who gives frames by name takes it to a worker."""
    q = X[0][:3]
    data = pickle.dumps(ARM.frame_jacobian)
    assert len(data) < 8500
    np.testing.assert_array_equal(pickle.loads(data)(q, TIP, cf.LOCAL),
                                  ARM.frame_jacobian(q, TIP, cf.LOCAL))


def test_a_recipe_is_followed_once_in_a_process():
    kernel = cf.compile(cf.load("planar2r")).mass_matrix
    data = pickle.dumps(kernel)
    assert len(data) < 4000
    first = pickle.loads(data)
    assert first is not kernel and pickle.loads(data) is first
    assert pickle.loads(pickle.dumps(first)) is first


def test_processes_get_a_recipe_and_compile_it_once(cluster):
    """Two worker processes, one cache: one of them compiles, and no task after the first looks."""
    kernel = cf.compile(ROBOT.with_gravity((0.1, 0.2, -9.0))).inverse_dynamics
    x = np.random.default_rng(3).normal(size=(3, 4000, 7))
    tau = kernel(*[da.from_array(y, chunks=(100, 7)) for y in x])
    np.testing.assert_array_equal(tau.compute(scheduler=cluster), kernel(*x))
    told = cluster.run(lambda: recalled.cache_info()._asdict())
    assert len(told) == 2
    assert all(one["misses"] == one["currsize"] for one in told.values())
    assert sum(one["hits"] for one in told.values()) >= 30      # one of them may get more tasks


def test_a_kernel_in_a_worker_uses_the_workers_thread(cluster):
    assert cluster.submit(thread_count, 10**6, 1000, None, pure=False).result() == 1


OTHER = """
import os, pickle, sys
import llvmlite.binding as llvm
if sys.argv[1] == "other":
    known = llvm.get_host_cpu_features()
    less = type(known)({k: v and not k.startswith(("avx", "fma")) for k, v in known.items()})
    llvm.get_host_cpu_features, llvm.get_host_cpu_name = lambda: less, lambda: "x86-64"
import numpy as np
import closedform as cf
from closedform.lowerings.native.cpu import host
recipe = sys.argv[2]
if sys.argv[1] == "own":
    with open(recipe, "wb") as file:
        pickle.dump(cf.compile(cf.load("planar2r")).mass_matrix, file)
with open(recipe, "rb") as file:
    kernel = pickle.load(file)
print(host().register, kernel(np.array([0.3, -0.7]))[0, 0])
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="of processors that differ in registers")
def test_a_worker_of_another_processor_follows_a_recipe_beside_the_first(tmp_path):
    """One shared cache: each finds its own code there the second time."""
    def run(processor):
        done = subprocess.run(
            [sys.executable, "-c", OTHER, processor, str(tmp_path / "recipe")], check=True,
            capture_output=True, text=True,
            env={**os.environ, "CLOSEDFORM_CACHE": str(tmp_path / "cache")})
        register, number = done.stdout.split()
        return int(register), float(number), {x.name for x in (tmp_path / "cache").iterdir()}
    own, other = run("own"), run("other")
    assert own[1] == pytest.approx(other[1], rel=1e-13)
    assert other[0] == 16 and other[2] > own[2]
    assert run("other") == other and run("own")[:2] == own[:2]
