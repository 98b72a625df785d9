"""Machine code of GPUs in the cache: for whom it is found again, on a driver that is imagined."""

import numpy as np
import pytest

import closedform as cf
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.cuda import kernel
from closedform.lowerings.cuda.driver import CudaError
from closedform.lowerings.cuda.fitting import fitting
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from fake_cuda import ATTRIBUTES, FakeCuda, pretended, seen

pytestmark = pytest.mark.skipif(not host().fma, reason="this processor has no fused multiply-add, "
                                "so that its own kernels round in another way")
X = np.random.default_rng(2).normal(size=(3, 5, 2))
OTHERS = {"driver": {"version": 12040}, "chip": {"attributes": {**ATTRIBUTES, 75: 8, 76: 6}},
          "layout": {"order": "F"}, "precision": {"dtype": np.float32}}


def called(folder, compiles=True, order="C", dtype=np.float64, **told):
    """A kernel of a new process, say, on a driver that compiles or refuses to."""
    program = cf.compile(cf.load("planar2r")).inverse_dynamics.program
    x = [np.array(a, dtype, order=order) for a in X]
    with pretended(FakeCuda(**told)) as cuda:
        if not compiles:
            cuda.fails["cuLinkCreate_v2"] = 1
        made = compile_program(program, Cache(folder))
        np.testing.assert_array_equal(seen(cuda, made(*map(cuda.array, x))), made(*x))


def test_code_is_compiled_once_and_then_found(tmp_path):
    with pytest.raises(CudaError):
        called(tmp_path, compiles=False)
    called(tmp_path)
    called(tmp_path, compiles=False)


def test_plans_are_chosen_once_and_then_found(tmp_path, monkeypatch):
    program = cf.compile(cf.load("humanoid25")).christoffel_dynamics_matrices.program
    asked = "double", ("rows",) * 2, ("rows",) * 3
    made = compile_program(program, Cache(tmp_path))._path.gpu.plan(*asked)
    assert made == fitting(program, *asked)
    monkeypatch.setattr(kernel, "fitting", None)
    assert compile_program(program, Cache(tmp_path))._path.gpu.plan(*asked) == made
    with pytest.raises(TypeError):
        compile_program(program, Cache(tmp_path))._path.gpu.plan("float", *asked[1:])


@pytest.mark.parametrize("what", OTHERS)
def test_code_is_not_taken_for_another(what, tmp_path):
    called(tmp_path)
    with pytest.raises(CudaError):
        called(tmp_path, compiles=False, **OTHERS[what])
    called(tmp_path, **OTHERS[what])
    for more in ({}, OTHERS[what]):
        called(tmp_path, compiles=False, **more)


def test_code_that_was_damaged_is_compiled_again(tmp_path):
    called(tmp_path)
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(CudaError):
        called(tmp_path, compiles=False)
    called(tmp_path)
    called(tmp_path, compiles=False)
