"""Kernels as generalised functions, as tokens, and as recipes that travel."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import closedform as cf
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.store.cache import Cache
from random_programs import random_program

ROBOT = cf.load("planar2r")
ARM = cf.compile(ROBOT)
LOAD = cf.PayloadAt(ROBOT.bodies[-1].name)
TIP = ROBOT.bodies[-1].name


@pytest.mark.parametrize(("made", "text"), [
    (lambda: ARM.inverse_dynamics, "(2),(2),(2)->(2)"),
    (lambda: cf.fuse(ROBOT, ["mass_matrix", "gravity_torque"]), "(2)->(2,2),(2)"),
    (lambda: ARM.kinetic_energy, "(2),(2)->()"),
    (lambda: ARM.frame_pose.at(TIP), "(2)->(4,4)"),
], ids=["one", "several", "a scalar", "a frame"])
def test_the_signature_has_the_axes_behind_the_batch(made, text):
    assert made().signature == text


KERNELS = {
    "a row": lambda: ARM.inverse_dynamics,
    "a frame": lambda: ARM.frame_jacobian.at(TIP, cf.LOCAL),
    "another frame": lambda: ARM.frame_jacobian.at(TIP, cf.WORLD),
    "fused": lambda: cf.fuse(ROBOT, ["mass_matrix", cf.At("frame_pose", TIP)]),
    "a part": lambda: cf.fuse(ROBOT, "forward_dynamics_derivatives", only="da_dq"),
    "a load": lambda: cf.compile(ROBOT, inputs=LOAD).inverse_dynamics,
    "a jet": lambda: ARM.inverse_dynamics_jet,
    "another order": lambda: cf.compile(ROBOT, order=0).inverse_dynamics_jet,
    "a derivative": lambda: ARM.inverse_dynamics.cotangent("v"),
    "a row with loops": lambda: cf.compile(cf.load("five_bar")).inverse_dynamics,
    "another robot": lambda: cf.compile(ROBOT.with_gravity((0, 0, 0))).inverse_dynamics,
    "elastic joints": lambda: cf.elastic.compile(cf.ElasticJoints(
        ROBOT, [100.0, 80.0], [0.1, 0.1], [0.01, 0.01])).forward_dynamics,
    "a flexible arm": lambda: cf.flexible.compile_equation(cf.FlexibleArm(links=[cf.FlexibleLink(
        0.5, 1.0, 2.0, 1.0, 0.1, modes=1)], payload=cf.Payload(0.1, 0.005)), "inertia_matrix"),
    "a program": lambda: compile_program(random_program(2)),
}


def test_tokens_are_equal_for_equal_kernels_and_for_no_others():
    made = {name: make() for name, make in KERNELS.items()}
    tokens = {name: kernel.__dask_tokenize__() for name, kernel in made.items()}
    assert len(set(tokens.values())) == len(made)
    for name, kernel in made.items():
        assert pickle.loads(pickle.dumps(kernel)).__dask_tokenize__() == tokens[name]
    assert {name: make().__dask_tokenize__() for name, make in KERNELS.items()} == tokens
    assert cf.fuse(ROBOT, "inverse_dynamics").identity != made["a row"].identity   # no wrenches


def outputs(result):
    return result if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_travels_as_a_recipe_and_comes_back_the_same(name):
    kernel = KERNELS[name]()
    data = pickle.dumps(kernel)
    again = pickle.loads(data)
    rng = np.random.default_rng(0)
    x = [rng.normal(size=slot.shape) for slot in kernel.interface.inputs]
    for one, two in zip(outputs(kernel(*x)), outputs(again(*x)), strict=True):
        np.testing.assert_array_equal(one, two)
    assert repr(again) == repr(kernel)
    assert len(data) < 4000 or name in ("a program", "a flexible arm")     # these travel whole


def test_a_recipe_of_a_large_robot_is_smaller_than_its_program():
    """Also with what a robot remembers of earlier uses."""
    robot = cf.load("humanoid25")
    kernel = cf.compile(robot).mass_matrix
    cf.inverse_dynamics(robot, robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv))
    assert len(pickle.dumps(kernel)) < 0.4 * len(pickle.dumps(kernel.program))
    for name in ("panda", "stewart", "humanoid25"):         # joints, loops, many bodies
        assert len(pickle.dumps(cf.compile(cf.load(name)).inverse_dynamics)) < 6000


def test_a_recipe_is_followed_where_nothing_was_compiled(tmp_path):
    tmp_path.chmod(0o700)
    kernel = ARM.gravity_torque
    code = ("import pickle, sys, numpy as np\n"
            "kernel = pickle.load(sys.stdin.buffer)\n"
            "sys.stdout.buffer.write(kernel(np.ones(2)).tobytes())")
    elsewhere = {**os.environ, "CLOSEDFORM_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(kernel), check=True,
                          capture_output=True, env=elsewhere)
    np.testing.assert_array_equal(np.frombuffer(done.stdout), kernel(np.ones(2)))
    assert list(tmp_path.glob("closedform-*"))


def test_a_kernel_without_a_cache_is_pickled_without_one():
    kernel = cf.compile(ROBOT, cache=Cache(None)).gravity_torque
    assert pickle.loads(pickle.dumps(kernel))._code.cache == Cache(None)


# ---------------------------------------------------------------- others' arrays
def states(count=3):
    return np.random.default_rng(1).normal(size=(count, 40, 2))


def test_dask_maps_a_kernel_over_blocks():
    da = pytest.importorskip("dask.array", reason="NOT TESTED: pip install 'closedform[dask]'")
    from dask.base import tokenize
    x = states()
    blocks = [da.from_array(y, chunks=(16, 2)) for y in x]
    kernel = ARM.inverse_dynamics
    tau = da.apply_gufunc(kernel, kernel.signature, *blocks, output_dtypes=float)
    np.testing.assert_array_equal(tau.compute(scheduler="threads"), kernel(*x))
    both = cf.fuse(ROBOT, ["mass_matrix", "gravity_torque"])
    M, g = da.apply_gufunc(both, both.signature, blocks[0], output_dtypes=(float, float))
    np.testing.assert_array_equal(M.compute(), ARM.mass_matrix(x[0]))
    np.testing.assert_array_equal(g.compute(), ARM.gravity_torque(x[0]))
    pose = ARM.frame_pose.at(TIP)
    T = da.apply_gufunc(pose, pose.signature, blocks[0], output_dtypes=float,
                        output_sizes={"4": 4})
    np.testing.assert_array_equal(T.compute(), pose(x[0]))
    assert tokenize(kernel) == tokenize(pickle.loads(pickle.dumps(kernel)))
    assert tokenize(kernel) != tokenize(ARM.forward_dynamics)


def test_xarray_keeps_names_and_blocks():
    xr = pytest.importorskip("xarray", reason="NOT TESTED: pip install xarray")
    pytest.importorskip("dask.array", reason="NOT TESTED: pip install 'closedform[dask]'")
    q, v, a = (xr.DataArray(x, dims=("time", "joint")) for x in states())
    tau = xr.apply_ufunc(ARM.inverse_dynamics, *(x.chunk(time=16) for x in (q, v, a)),
                         input_core_dims=[["joint"]] * 3, output_core_dims=[["joint"]],
                         dask="parallelized", output_dtypes=[float])
    assert tau.dims == ("time", "joint") and tau.chunks is not None
    np.testing.assert_array_equal(tau.compute(), ARM.inverse_dynamics(*states()))
