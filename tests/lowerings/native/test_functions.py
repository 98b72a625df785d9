"""Native code, scalar and in lanes, on every target at hand, against the reference."""

import numpy as np
import pytest

from closedform.lowerings import reference
from closedform.lowerings.native import emit, functions, ir
from closedform.lowerings.native import steps as steps_module
from closedform.lowerings.native.cpu import host
from closedform.lowerings.native.outputs import output_blocks
from closedform.lowerings.native.steps import pieces, steps, waiting_places
from closedform.program.program import Entry, Instruction, Output, Program, Slot
from native_code import NativeCode, targets
from random_programs import random_inputs, random_program

TARGETS = targets()
EPS = np.finfo(float).eps


def assert_agree(found, expected, operations, eps=EPS):
    """All values are of order one, and no operation amplifies an error by more than a few."""
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=16 * operations * eps)


@pytest.fixture(scope="module", params=TARGETS)
def target(request):
    return TARGETS[request.param]


@pytest.mark.parametrize("seed", range(6))
def test_one_state_is_what_the_reference_says(target, seed):
    program = random_program(seed)
    native = NativeCode(program, target)
    for k in range(5):
        inputs = random_inputs(program, k)
        assert_agree(native.one_state(*inputs), reference.run(program, *inputs), 60)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_lanes_and_single_states_round_alike_for_every_length_of_batch(target, dtype):
    program = random_program(7)
    native = NativeCode(program, target, dtype)
    for count in range(3 * native.width + 2):
        inputs = random_inputs(program, count, (count,))
        batch = native.states(count, *inputs)
        for k in range(count):
            for many, one in zip(batch, native.one_state(*(x[k] for x in inputs)), strict=True):
                assert np.array_equal(many[k], one)


def test_floats_agree_with_the_reference_to_their_precision(target):
    program = random_program(3)
    inputs = random_inputs(program, 0, (20,))
    native = NativeCode(program, target, np.float32)
    batch = native.states(20, *(x.astype(np.float32) for x in inputs))
    for k in range(20):
        expected = reference.run(program, *(x[k].astype(np.float32) for x in inputs))
        assert_agree([x[k] for x in batch], expected, 60, np.finfo(np.float32).eps)


def test_states_may_lie_apart_or_be_shared(target):
    program = random_program(4, shapes=((5,), (3, 2), (9,)))
    native = NativeCode(program, target)
    count = 2 * native.width + 3
    a, b, c = random_inputs(program, 0, (count,))
    spread = np.zeros((count, 11))
    spread[:, 2:7] = a
    backwards = np.ascontiguousarray(b[::-1])[::-1]
    found = native.states(count, spread[:, 2:7], backwards, c[0])
    expected = native.states(count, a, b, np.tile(c[0], (count, 1)))
    assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))


@pytest.fixture
def small_pieces(monkeypatch):
    """Programs are cut at a tenth of the usual size, so that a small one stands for a large one."""
    monkeypatch.setattr(steps_module, "WHOLE", steps_module.WHOLE // 10)
    monkeypatch.setattr(steps_module, "PIECE", steps_module.PIECE // 10)


def test_a_large_program_in_pieces_is_what_the_reference_says(target, small_pieces):
    program = random_program(5, operations=300, shapes=((30,), (4, 3)), outputs=((17,), (20, 20)))
    assert len(pieces(steps(program, target.fma, 1), 1)) > 5
    native = NativeCode(program, target)
    count = native.width + 1
    inputs = random_inputs(program, 0, (count,))
    batch = native.states(count, *inputs)
    for k in range(count):
        one = native.one_state(*(x[k] for x in inputs))
        assert_agree(one, reference.run(program, *(x[k] for x in inputs)), 300)
        assert all(np.array_equal(x[k], y) for x, y in zip(batch, one, strict=True))


def test_pieces_hold_every_step_once_and_never_read_a_slot_that_was_given_away(small_pieces):
    program = random_program(6, operations=600, outputs=((50, 50),))
    whole = steps(program, fma=True, columns=8)
    parts = pieces(whole, columns=8)
    assert [step for part in parts for step in part] == whole and len(parts) > 10
    slots, count = waiting_places(parts)
    held: dict[int, int] = {}
    for part in parts:
        here = set()
        for step in part:
            for i in step.args:
                if i >= 0 and i not in here and program.code[i].op != "const":
                    assert held[slots[i]] == i
            here.update(step.results)
            held.update((slots[i], i) for i in step.results if i in slots)
    assert count < len(slots)


def test_every_value_is_computed_before_it_is_used():
    for seed in range(5):
        program = random_program(seed)
        for columns in (1, 4):
            known = {i for i, x in enumerate(program.code) if x.op == "const"} | {-1}
            for step in steps(program, fma=True, columns=columns):
                assert set(step.args) <= known
                known.update(step.results)


def test_a_batch_too_large_for_the_stack_goes_state_by_state(monkeypatch, small_pieces):
    monkeypatch.setattr(functions, "BATCH_STACK", 0)
    program = random_program(5, operations=300)
    native = NativeCode(program, host())
    inputs = random_inputs(program, 0, (11,))
    batch = native.states(11, *inputs)
    for k in range(11):
        one = native.one_state(*(x[k] for x in inputs))
        assert all(np.array_equal(x[k], y) for x, y in zip(batch, one, strict=True))


def arithmetic_program(op):
    """op(x, y), which no other operation touches."""
    args = (0, 1) if op in ("add", "sub", "mul", "div") else (0,)
    code = (Instruction("input", (0, 0)), Instruction("input", (0, 1)), Instruction(op, args))
    return Program(op, (Slot("x", (2,)),), (Output("y", (), (Entry(2, 1),)),), code)


SPECIAL = (0.0, 1.0, -2.0, np.inf, -np.inf, np.nan, 1e308, 5e-324)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "sqrt", "sign"])
def test_nan_and_infinities_pass_as_the_reference_says(target, op):
    native = NativeCode(arithmetic_program(op), target)
    pairs = np.array([(x, y) for x in SPECIAL for y in SPECIAL])
    batch, = native.states(len(pairs), pairs)
    for k, pair in enumerate(pairs):
        expected, = reference.run(native.program, pair)
        for found in (native.one_state(pair)[0], batch[k]):
            np.testing.assert_equal(found, expected)


def test_outputs_without_any_computation_are_written(target):
    """Inputs passed on, signs, constants and rows of zeros."""
    code = (Instruction("input", (0, 1)), Instruction("const", (), 3.0))
    zero = Entry(-1, 0)
    entries = (Entry(0, -1), Entry(1, -1), Entry(0, 1), Entry(-1, 0, -7.0)) + (zero,) * 33
    program = Program("plain", (Slot("x", (2,)),), (Output("y", (37,), entries),), code)
    native = NativeCode(program, target)
    expected = np.array([-5.0, -3.0, 5.0, -7.0] + [0.0] * 33)
    assert np.array_equal(native.one_state([4.0, 5.0])[0], expected)
    count = native.width + 1
    assert np.array_equal(native.states(count, np.tile([4.0, 5.0], (count, 1)))[0],
                          np.tile(expected, (count, 1)))


def test_nothing_is_written_beside_the_outputs(target):
    program = random_program(8, outputs=((5,), (3,)))
    native = NativeCode(program, target)
    count = native.width + 2
    inputs = random_inputs(program, 0, (count,))
    guarded = [np.full((count, n + 4), 99.0) for n in (5, 3)]
    arguments = []
    for x in (*inputs, *guarded):
        shift = 16 if x.shape[1:] in ((9,), (7,)) else 0
        arguments += [x.ctypes.data + shift, x.strides[0]]
    native.batch(count, *arguments)
    for x, expected in zip(guarded, native.states(count, *inputs), strict=True):
        assert np.array_equal(x[:, 2:-2], expected)
        assert (x[:, :2] == 99.0).all() and (x[:, -2:] == 99.0).all()


def test_long_code_whose_order_is_kept_is_what_the_reference_says(target, monkeypatch):
    monkeypatch.setattr(emit, "STRETCH", 7)
    program = random_program(8)
    native = NativeCode(program, target)
    inputs = random_inputs(program, 0, (native.width,))
    batch = native.states(native.width, *inputs)
    for k in range(native.width):
        one = native.one_state(*(x[k] for x in inputs))
        assert_agree(one, reference.run(program, *(x[k] for x in inputs)), 60)
        assert all(np.array_equal(x[k], y) for x, y in zip(batch, one, strict=True))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [64, 75, 301])
def test_outputs_that_are_mostly_constant_are_written_whole(target, dtype, size):
    """Zeros, some ones among them, and every fifth entry from 20 to 50 a value."""
    entries = [Entry(-1, 0, float(k % 9 == 4)) for k in range(size)]
    entries[20:50:5] = [Entry(k % 3, 1 if k % 2 else -1) for k in range(6)]
    code = tuple(Instruction("input", (0, k)) for k in range(3))
    program = Program("sparse", (Slot("x", (3,)),), (
        Output("y", (size,), tuple(entries)), Output("z", (), (Entry(0, 1),)),
    ), code)
    native = NativeCode(program, target, dtype)
    for count in (1, native.width, 2 * native.width + 1):
        x = np.random.default_rng(count).normal(size=(count, 3)).astype(dtype)
        expected = np.tile(np.array([e.constant for e in entries], dtype), (count, 1))
        for k, e in enumerate(entries):
            if e.index >= 0:
                expected[:, k] = e.sign * x[:, e.index]
        np.testing.assert_array_equal(native.states(count, x)[0], expected)
        np.testing.assert_array_equal(native.one_state(x[0])[0], expected[0])


@pytest.mark.parametrize("columns", [1, 4, 8])
@pytest.mark.parametrize("live", [0.0, 0.1, 0.5, 1.0])
def test_every_entry_is_filled_or_in_one_block(columns, live):
    rng = np.random.default_rng(0)
    entries = [Entry(0, 1) if rng.random() < live else Entry(-1, 0, float(rng.random() < 0.05))
               for _ in range(150)]
    found = list(output_blocks(entries, columns))
    fills = [block for block in found if block.fill is not None]
    assert bool(fills) == (live < 0.3) and found[:len(fills)] == fills
    written = [k for block in found[len(fills):] for k in range(block.start, block.stop)]
    assert len(written) == len(set(written))
    for k in set(range(150)) - set(written):
        assert entries[k] == Entry(-1, 0, fills[0].fill)


@pytest.mark.skipif(not host().triple.startswith("x86_64"), reason="on x86 code jumps")
def test_long_code_jumps_to_what_comes_next_and_gives_the_same_bits(target, monkeypatch):
    program = random_program(5, operations=200)
    straight = NativeCode(program, target)
    assert "jmp" not in functions.scalar_module(program, target.lanes("double", 1)).text()
    monkeypatch.setattr(functions, "STRAIGHT", 100)
    text = functions.scalar_module(program, target.lanes("double", 1)).text()
    assert text.count("jmp") >= 200 // ir.JUMP
    assert "jmp" not in functions.scalar_module(                # for other machines
        program, target.lanes("double", 1), limits=(1000, 1000)).text()
    jumping = NativeCode(program, target)
    for k in range(3):
        inputs = random_inputs(program, k)
        for x, y in zip(jumping.one_state(*inputs), straight.one_state(*inputs), strict=True):
            assert np.array_equal(x, y)
