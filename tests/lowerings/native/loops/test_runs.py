"""Chains cut into runs, as many as a register has lanes: the same results, however they are cut."""

import ctypes

import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.loops import sweeping
from closedform.applications.compile.requests import Request
from closedform.lowerings import reference_loops
from closedform.lowerings.call.code import c_library
from closedform.lowerings.native.cpu import host, load, object_code
from closedform.lowerings.native.loops.arrangement import Arrangement, Runs
from closedform.lowerings.native.loops.module import swept_module
from closedform.lowerings.store.cache import Cache
from closedform.maths.catalogue import quantity
from deep_robots import robot_of

KINDS = ("revolute", "prismatic", "helical", "geared", "sprung", "revolute", "fixed")


def chain(n):
    return robot_of(range(n + n // 6), [KINDS[k % 7] for k in range(n + n // 6)])


def sweeps(robot, row, inputs=()):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "DEPTH", dict.fromkeys(sweeping.PLANS, 1))
        arm = cf.compile(robot, inputs=inputs, cache=Cache(None))
        return sweeping.sweeps_of(arm._preparation.forms, [Request(quantity(row))], False, ())()


def compiled(of, lanes):
    """Machine code of loops for registers of so many numbers, as a function of one state."""
    module = swept_module(of, lanes)
    code = load(object_code(module, host()), module.imports, host())
    code.bind(c_library())
    dtype = np.float64 if lanes.kind == "double" else np.float32
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(of.inputs) + len(of.outputs)))

    def run(*given):
        inputs = [np.ascontiguousarray(x, dtype) for x in given]
        guarded = [np.full(int(np.prod(slot.shape)) + 32, 7.0, dtype) for slot in of.outputs]
        places = [x.ctypes.data for x in inputs]
        places += [x[16:].ctypes.data for x in guarded]
        function(code.address("kernel"))(*places)
        for x in guarded:                                       # nothing was written beside it
            assert np.all(x[:16] == 7.0) and np.all(x[-16:] == 7.0)
        return [x[16:-16].reshape(slot.shape) for x, slot in zip(guarded, of.outputs, strict=True)]

    return run


def assert_meant(of, run, part):
    rng = np.random.default_rng(0)
    given = [rng.normal(size=slot.shape) for slot in of.inputs]
    for x, y in zip(reference_loops.run(of, *given), run(*given), strict=True):
        np.testing.assert_allclose(y, x, atol=part * np.abs(x).max(), rtol=0)


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize(("row", "n"), [
    ("inverse_dynamics", 16), ("inverse_dynamics", 17), ("inverse_dynamics", 57),
    ("inverse_dynamics", 64), ("forward_dynamics", 23), ("com_jacobian", 25),
    ("centroidal_dynamics", 33), ("passivity_inverse_dynamics", 21), ("kinetic_energy", 18)])
def test_runs_compute_what_loops_mean(row, n, width):
    """Runs that are full, that end early, and that have no unit at all."""
    of, lanes = sweeps(chain(n), row), host().lanes("double", width)
    assert of.n == n
    assert Arrangement.make(of, width).runs == Runs(width, -(-n // width))
    assert_meant(of, compiled(of, lanes), 1e-12)


@pytest.mark.parametrize("n", [17, 40])
def test_runs_of_single_precision_compute_what_loops_mean(n):
    of = sweeps(chain(n), "inverse_dynamics")
    assert_meant(of, compiled(of, host().lanes("float", 16)), 1e-4)


def test_gravity_that_comes_with_the_state_is_the_same_for_all_runs():
    of = sweeps(chain(20), "inverse_dynamics", cf.Gravity())
    assert_meant(of, compiled(of, host().lanes("double", 8)), 1e-12)


def test_every_unit_has_a_place_of_its_own_beside_those_of_the_other_runs():
    runs = Runs(8, 13)
    places = [runs.place(k) for k in range(100)]
    assert len(set(places)) == 100 and max(places) < 104
    assert runs.place(-1) == -1
    assert [runs.place(13 * lane + 5) for lane in range(7)] == list(range(40, 47))


@pytest.mark.parametrize("row", ["inverse_dynamics", "forward_dynamics"])
def test_only_chains_are_cut(row):
    tree = robot_of([*range(20), 4, *range(21, 30)], ["revolute"] * 30)
    assert Arrangement.make(sweeps(tree, row), 8).runs is None
    assert Arrangement.make(sweeps(chain(20), "mass_matrix"), 8).runs is None
    assert Arrangement.make(sweeps(chain(20), row), 32).runs is None


def test_a_chain_that_leaves_the_nearest_cache_is_cut_only_if_all_its_sweeps_are():
    cut = {(row, n): Arrangement.make(sweeps(chain(n), row), 8).runs is not None
           for row in ("inverse_dynamics", "forward_dynamics") for n in (120, 180)}
    assert [key for key, there in cut.items() if not there] == [("forward_dynamics", 180)]


def test_lanes_beyond_the_last_unit_weigh_nothing():
    """Where all bodies are equal their masses are constants of a step, of those lanes too."""
    links = [cf.Body(f"b{k}", f"b{k - 1}" if k else None, cf.Revolute((0, 1, 0)),
                     np.array([[0, 1, 0, 0.1], [0, 0, 1, 0.2], [1, 0, 0, 0.3], [0, 0, 0, 1.0]]),
                     cf.Inertia(1.0, (0.1, 0.2, 0.3), 0.01 * np.eye(3))) for k in range(17)]
    of = sweeps(cf.Robot("equal links", links), "inverse_dynamics")
    assert "body" not in of.tables
    for width in (4, 8):
        assert_meant(of, compiled(of, host().lanes("double", width)), 1e-12)
