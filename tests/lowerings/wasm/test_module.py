"""Modules of WebAssembly in wasmtime: what the reference says, whatever the program."""

import mpmath
import numpy as np
import pytest

import closedform as cf
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import asked_request
from closedform.lowerings import reference
from closedform.lowerings.native.steps import pieces, steps
from closedform.lowerings.wasm import module as lowering
from closedform.lowerings.wasm.module import wasm_module
from closedform.program.lanes.unfolded import unfolded
from closedform.program.record import record
from random_lanes import random_computation
from random_programs import random_inputs, random_program

wasmtime = pytest.importorskip("wasmtime", reason="NOT TESTED: pip install wasmtime")


class Loaded:
    """A module and its arrays in memory."""

    def __init__(self, program, code):
        self.program, self.store = program, wasmtime.Store()
        made = wasmtime.Module(self.store.engine, code)
        assert list(made.imports) == []
        self.exports = wasmtime.Instance(self.store, made, []).exports(self.store)
        self.names = [x.name for x in (*program.inputs, *program.outputs)]

    def place(self, name):
        return self.exports[name].value(self.store)

    def __call__(self, *inputs, places=None, batch=None):
        memory, store = self.exports["memory"], self.store
        places = places or [self.place(x) for x in self.names]
        for x, place in zip(inputs, places, strict=False):
            memory.write(store, np.asarray(x, dtype=float).tobytes(), place)
        if batch is None:
            self.exports["kernel"](store, *places)
        else:
            self.exports["batch"](store, batch, *places)
        shapes = [o.shape if batch is None else (batch, *o.shape) for o in self.program.outputs]
        return [np.frombuffer(memory.read(store, p, p + 8 * int(np.prod(s)))).reshape(s)
                for s, p in zip(shapes, places[len(inputs):], strict=True)]


def loaded(program, folded=None):
    return Loaded(program, wasm_module(program, (), folded))


@pytest.mark.parametrize("seed", range(4))
def test_wasm_computes_what_the_program_says(seed):
    program = random_program(seed)
    f = loaded(program)
    for k in range(3):
        inputs = random_inputs(program, k)
        for x, y in zip(f(*inputs), reference.run(program, *inputs), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-14)


def test_a_long_program_is_cut_into_functions_that_hand_their_values_on():
    program = random_program(5, operations=1500, outputs=((1500,), (3, 3), ()))
    assert len(pieces(steps(program, False, 1), 1)) > 1
    inputs, code = random_inputs(program, 1), wasm_module(program)
    assert b"\0" * 100 not in code                          # what waits takes no bytes of the file
    for x, y in zip(Loaded(program, code)(*inputs), reference.run(program, *inputs), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limits", [(300, 400), (20, 20)], ids=["whole", "in pieces"])
def test_lanes_of_limbs_share_registers(seed, limits, monkeypatch):
    monkeypatch.setattr(lowering, "LIMITS", limits)
    program, x, expected = random_computation(seed, 40)
    assert program.has_lanes
    found = loaded(unfolded(program), program)(x)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found[0], expected, rtol=1e-12, atol=1e-13 * scale)


def test_limbs_of_a_humanoid_share_registers_and_code():
    robot = cf.load("humanoid25")
    prepared, asked = Preparation(robot), [asked_request(robot, "inverse_dynamics")]
    flat, folded = prepared.program(asked), prepared.judged_folded(asked)
    codes = [wasm_module(flat), wasm_module(flat, (), folded)]
    assert len(codes[1]) < 0.9 * len(codes[0])
    given = robot.random(1), *np.random.default_rng(2).normal(size=(2, robot.nv))
    expected = cf.inverse_dynamics(robot, *given)
    for code in codes:
        np.testing.assert_allclose(Loaded(flat, code)(*given)[0], expected,
                                   atol=4e-15 * np.abs(expected).max())


@pytest.mark.parametrize("x", [0.0, -0.0, 1e-300, 0.5, -3.0, 1e5, 100001.0, -1e5 - 0.1, 1e22,
                               -1.7e308, 6381956970095103 * 2.0**797, 5e-324])
def test_sines_and_cosines_are_right_at_every_angle_without_the_host(x):
    program = record(lambda q: np.stack([q[0].sin(), q[0].cos()]), {"q": (1,)}, "trig")
    found, = loaded(program)([x])
    with mpmath.workprec(1200):
        exact = [float(f(mpmath.mpf(x))) for f in (mpmath.sin, mpmath.cos)]
    np.testing.assert_allclose(found, exact, rtol=4.5e-16)


@pytest.mark.parametrize("x", [np.nan, np.inf, -np.inf])
def test_what_is_no_angle_has_no_sine(x):
    program = record(lambda q: np.stack([q[0].sin(), q[0].cos(), q[0]]), {"q": (1,)}, "trig")
    found, = loaded(program)([x])
    assert np.isnan(found[:2]).all() and np.array_equal(found[2], x, equal_nan=True)


@pytest.mark.parametrize("name", ["panda", "humanoid25"])
@pytest.mark.parametrize("row", ["inverse_dynamics", "mass_matrix", "regressor"])
def test_robots_move_as_in_native_code(name, row):
    robot = cf.load(name)
    kernel = cf.compile(robot, row)
    f, rng = loaded(kernel.program), np.random.default_rng(1)
    for _ in range(3):
        given = {"q": robot.random(rng), "v": rng.normal(size=robot.nv),
                 "a": rng.normal(size=robot.nv)}
        inputs = [given[s.name] for s in kernel.program.inputs]
        expected = kernel(*inputs)
        np.testing.assert_allclose(f(*inputs)[0], expected, atol=2e-15 * np.abs(expected).max())


def test_a_batch_is_its_states_one_behind_the_other():
    program = random_program(1)
    f, count = loaded(program), 37
    f.exports["memory"].grow(f.store, 2)
    inputs = random_inputs(program, 2, (count,))
    places, at = [], f.place("free")
    for slot in (*program.inputs, *program.outputs):
        places.append(at)
        at += 8 * count * int(np.prod(slot.shape))
    found = f(*inputs, places=places, batch=count)
    for k in range(count):
        for x, y in zip(found, f(*(x[k] for x in inputs)), strict=True):
            np.testing.assert_array_equal(x[k], y)
    for x in f(*inputs, places=places, batch=0):
        assert x.shape[0] == 0


def test_operations_that_need_a_library_are_refused_by_name(monkeypatch):
    program = random_program(1)
    less = {k: v for k, v in lowering.scalar_module.__globals__["StepWriter"]._compute
            .__globals__["OPERATIONS"].items() if k != "sqrt"}
    monkeypatch.setitem(lowering.scalar_module.__globals__["StepWriter"]._compute.__globals__,
                        "OPERATIONS", less)
    with pytest.raises(cf.ArgumentError, match="WebAssembly has no sqrt"):
        wasm_module(program)
