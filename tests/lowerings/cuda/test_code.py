"""Programs as PTX: bit for bit what the CPU's kernels give, in every layout and by every plan."""

import numpy as np
import pytest

import closedform as cf
import ptx_memory
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.cuda.code import CudaCode
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from closedform.program.record import record
from cuda_runs import DTYPES, emulated, plan_of, same_bits
from random_programs import random_inputs, random_program

pytestmark = pytest.mark.skipif(not host().fma, reason="this processor has no fused multiply-add, "
                                "so that its own kernels round in another way")
PLANS = {
    "states last": ("states", "states", {}),
    "states last, chained": ("states", "states", {"chained": True}),
    "rows": ("rows", "rows", {}),
    "strided": ("strided", "strided", {}),
    "tiles out": ("rows", "tile", {}),
    "tiles": ("tile", "tile", {"block": 32}),
    "tiles in": ("tile", "rows", {}),
    "warps that stay": ("tile", "tile", {"staying": True, "block": 32}),
    "warps that stay, own rows": ("tile", "rows", {"staying": True}),
    "states last, warps that stay": ("states", "states", {"staying": True, "block": 32}),
    "segments": ("rows", "segments", {"block": 32}),
    "segments, tiles in": ("tile", "segments", {"registers": 8, "slots": 3}),
    "segments in pieces": ("rows", "segments", {"largest": 60, "registers": 6, "again": 3}),
    "segments apart": ("rows", "segments", {"block": 32, "apart": True}),
    "segments apart in pieces": ("rows", "segments", {
        "largest": 60, "registers": 6, "apart": True}),
    "computed again": ("states", "states", {"registers": 6, "slots": 3, "again": 3}),
    "computed again in pieces": ("states", "states", {
        "registers": 6, "largest": 60, "again": 2}),
    "constants stored, inputs ahead": ("states", "states", {"stored": True, "ahead": True}),
    "stored and ahead in pieces": ("states", "states", {
        "stored": True, "ahead": True, "largest": 60, "chained": True, "block": 128}),
    "a kernel behind": ("states", "states", {"behind": True}),
    "a kernel behind tiles": ("tile", "tile", {"behind": True}),
    "a kernel behind warps that stay": ("tile", "rows", {"behind": True, "staying": True}),
    "a ring": ("states", "states", {"ring": 4, "registers": 8, "slots": 3}),
    "a ring of rows": ("rows", "segments", {"ring": 6, "registers": 8, "again": 3, "block": 32}),
    "a ring in pieces": ("strided", "states", {"ring": 4, "registers": 6, "largest": 60}),
    "a ring in pieces of segments": ("rows", "segments", {
        "ring": 8, "registers": 6, "slots": 3, "largest": 60, "stored": True}),
    "few registers": ("states", "states", {"registers": 8, "slots": 3}),
    "two states a thread": ("states", "states", {"width": 2}),
    "constants apart": ("states", "states", {"filled": True}),
    "pieces": ("states", "states", {"largest": 60, "chained": True}),
    "pieces of rows": ("rows", "rows", {"largest": 60, "filled": True}),
}


def outputs(result):
    return list(result) if isinstance(result, tuple) else [result]


def same(found, expected):
    for x, y in zip(found, outputs(expected), strict=True):
        same_bits(x, y)


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("count", [2, 70])
def test_random_programs_by_every_plan(name, kind, count):
    inputs, outs, more = PLANS[name]
    program = random_program(len(name), operations=40)
    states = [x.astype(DTYPES[kind]) for x in random_inputs(program, 3, (count,))]
    found = emulated(program, plan_of(program, kind, inputs, outs, **more), states)
    same(found, compile_program(program, Cache(None))(*states))


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("name", PLANS)
def test_rare_states_among_others_by_every_plan(name, kind):
    """Far out, not finite, or divided by next to nothing: the thread's own state again."""
    inputs, outs, more = PLANS[name]
    program = record(lambda x, y: np.concatenate((np.sin(x) / y, np.cos(x[::-1]) * y - x, [2.5])),
                     {"x": (5,), "y": (5,)}, "rare")
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 70, 5)).astype(DTYPES[kind])
    x[[3, 40, 41, 69], [0, 1, 2, 4]] = 1e7, np.nan, np.inf, -3e30
    y[[7, 64, 68], [2, 3, 4]] = 0.0, 1e-39, -np.inf
    found = emulated(program, plan_of(program, kind, inputs, outs, **more), [x, y])
    same(found, compile_program(program, Cache(None))(x, y))


@pytest.mark.parametrize("count", [1, 31, 32, 33, 65])
@pytest.mark.parametrize("name", [
    "rows", "tiles", "warps that stay", "states last", "states last, warps that stay",
    "segments, tiles in"])
def test_odd_numbers_of_states(name, count):
    inputs, outs, more = PLANS[name]
    program = random_program(11, operations=20)
    states = random_inputs(program, 1, (count,))
    same(emulated(program, plan_of(program, "double", inputs, outs, **more), states),
         compile_program(program, Cache(None))(*states))


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("length", [1, 31, 64, 65, 99])
@pytest.mark.parametrize("shift", [0, 16, 48])
def test_segments_of_rows_of_any_length_from_any_address(kind, length, shift):
    """Rows that end within a sector of memory, or begin within one."""
    program = record(lambda x: np.concatenate((x, 2 * x))[np.arange(length) % 14], {"x": (7,)},
                     "spread")
    states = [np.random.default_rng(0).normal(size=(70, 7)).astype(DTYPES[kind])]
    plan = plan_of(program, kind, "rows", "segments", block=32)
    same(emulated(program, plan, states, shift), compile_program(program, Cache(None))(*states))


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("length", [31, 65, 99])
def test_segments_never_write_a_part_of_a_sector(kind, length, monkeypatch):
    """Of 32 bytes of memory; a row that ends within one leaves it to the next row."""
    program = record(lambda x: np.concatenate((x, 2 * x))[np.arange(length) % 14], {"x": (7,)},
                     "spread")
    states = [np.random.default_rng(0).normal(size=(64, 7)).astype(DTYPES[kind])]
    parts, write = [], ptx_memory.Writers.write

    def watched(self, threads, address, values, dtype):
        cells = np.unique(self.space.at(address, dtype, values.shape[1]))
        sectors, count = np.unique(cells // 32, return_counts=True)
        parts.extend(sectors[count < 32])
        write(self, threads, address, values, dtype)

    monkeypatch.setattr(ptx_memory.Writers, "write", watched)
    emulated(program, plan_of(program, kind, "rows", "segments", block=32), states)
    assert parts == []
    emulated(program, plan_of(program, kind, "rows", "segments", block=32), [states[0][:40]])
    assert parts                                # of the last warp, which has not all its states


def test_humanoids_have_rows_too_long_for_tiles():
    kernel = cf.compile(cf.load("humanoid25")).mass_matrix
    plan = kernel._path.gpu.plan("double", ("rows",), ("rows",))
    assert plan.outputs == ("segments",)
    q = np.stack([cf.load("humanoid25").random(np.random.default_rng(k)) for k in range(33)])
    same(emulated(kernel.program, plan, [q]), kernel(q))


@pytest.mark.parametrize("kind", DTYPES)
@pytest.mark.parametrize("robot, name", [
    ("planar2r", "forward_dynamics"), ("ur5", "inverse_dynamics_derivatives"),
    ("panda", "inverse_dynamics"), ("panda", "mass_matrix")])
def test_robots(robot, name, kind):
    kernel = getattr(cf.compile(cf.load(robot)), name)
    program = kernel.program
    rng = np.random.default_rng(2)
    states = [rng.normal(size=(40, *slot.shape)).astype(DTYPES[kind]) for slot in program.inputs]
    for layout in ("rows", "states"):
        plan = kernel._path.gpu.plan(kind, (layout,) * len(program.inputs),
                                     (layout,) * len(program.outputs))
        same(emulated(program, plan, states), kernel(*states))


@pytest.mark.parametrize("robot", ["panda", "ur5"])
def test_zeros_have_the_signs_of_the_cpus(robot):
    """At rest many entries are differences of equal numbers, and their opposites."""
    kernel = cf.compile(cf.load(robot)).christoffel_coriolis_matrix
    q = np.random.default_rng(6).integers(-1, 2, (33, cf.load(robot).nq)).astype(float)
    found = emulated(kernel.program, plan_of(kernel.program, "double", "states", "states"),
                     [q, 0 * q])
    assert np.signbit(found[0][found[0] == 0]).any()
    same(found, kernel(q, 0 * q))
    same(found, np.stack([kernel(x, 0 * x) for x in q]))


@pytest.mark.parametrize("kind", DTYPES)
def test_angles_far_out_and_what_is_not_finite(kind):
    """Zeros of both signs, infinities, NaN, the bound itself, and angles up to the largest."""
    kernel = cf.compile(cf.load("planar2r")).inverse_dynamics
    largest = 3e38 if kind == "float" else 1e308
    odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e5, -1e5, np.nextafter(1e5, 2e5), 3e5,
                    -1e8, 1e22, largest, 1e-300, 5e-324, 2.0])
    q = np.stack((odd, odd[::-1]), axis=1).astype(DTYPES[kind])
    v = np.ones_like(q)
    program = kernel.program
    for layout in ("rows", "states"):
        same(emulated(program, plan_of(program, kind, layout, layout), [q, v, v]), kernel(q, v, v))


@pytest.mark.parametrize("kind", DTYPES)
def test_quotients_of_any_size(kind):
    """Subnormal, zero, infinite and huge numbers over each other, and ordinary ones."""
    program = record(lambda x, y: x / y, {"x": (), "y": ()}, "quotient")
    sizes = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -3.0, 1e-30, 1e30, 7e37, 1e-45])
    if kind == "double":
        sizes = np.concatenate((sizes, [1e-300, 1e300, 5e-324, -1e-310, 1.7e308, 1e150, 1e-150]))
    x, y = (a.ravel().astype(DTYPES[kind]) for a in np.meshgrid(sizes, sizes))
    rng = np.random.default_rng(0)
    ordinary = rng.normal(size=(2, 500)).astype(DTYPES[kind])
    for states in ([x, y], list(ordinary)):
        found = emulated(program, plan_of(program, kind, "rows", "rows"), states)
        same(found, compile_program(program, Cache(None))(*states))
        with np.errstate(all="ignore"):
            exact = np.where(np.isnan(found[0]), found[0], states[0] / states[1])
        np.testing.assert_array_equal(np.signbit(found[0]), np.signbit(exact))


@pytest.mark.parametrize("known", [True, False])
def test_powers_of_two_over_next_to_powers_of_two(known):
    """Between the reciprocals of 1 − 2⁻⁵³ and 1 is a tie; no approximation from below gets past it.

    That is the length of many a quaternion, and of sines and cosines.
    """
    program = record((lambda x, y: 1.0 / y + 0 * x) if known else (lambda x, y: x / y),
                     {"x": (), "y": ()}, "near_one")
    x = np.ldexp(np.where(np.arange(70) % 2, 1.0, -1.0), np.arange(70) % 9 - 4)
    y = np.ldexp(np.nextafter(1.0, 0.0), np.arange(70) % 7 - 3)
    y[::5] = np.nextafter(y[::5], 0)
    found = emulated(program, plan_of(program, "double", "rows", "rows"), [x, y])
    same(found, (1.0 if known else x) / y)


def test_what_is_shared_by_all_states_has_the_stride_zero():
    program = random_program(4, operations=20)
    x = random_inputs(program, 1, (5,))
    kernel = compile_program(program, Cache(None))
    expected = kernel(x[0], x[1], x[2][0])
    alike = [x[0], x[1], np.broadcast_to(x[2][0], x[2].shape)]
    same(emulated(program, plan_of(program, "double", "rows", "rows"), alike), expected)


def test_the_text_of_a_kernel():
    """A small one in full, for readers: what a thread of a pendulum does."""
    from pathlib import Path
    program = cf.compile(cf.Robot("pendulum", [cf.Body(
        "b", None, cf.Revolute((0, 1, 0)), inertia=cf.Inertia(2.0, (0.5, 0, 0)))])
    ).gravity_torque.program
    text = CudaCode(program, plan_of(program, "double", "rows", "rows")).ptx()
    golden = Path(__file__).parent / "golden" / "gravity_torque.ptx"
    import os
    if os.environ.get("CLOSEDFORM_REWRITE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert text == golden.read_text()
