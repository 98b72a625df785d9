"""Calling a kernel from Python: quick and slow path give the same, and bad arguments are named."""

import gc
import pickle
import sys

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ArgumentError
from closedform.lowerings import reference
from closedform.lowerings.call import kernel as kernel_module
from closedform.lowerings.call.kernel import Kernel, compile_program
from closedform.lowerings.call.slow import SlowPath
from closedform.lowerings.call.threads import ENOUGH_WORK
from closedform.lowerings.call.vectorcall import works
from closedform.lowerings.store.cache import Cache
from closedform.program.program import Entry, Instruction, Output, Program
from closedform.program.record import record
from random_programs import random_inputs, random_program

NOWHERE = Cache(None)
ALONE = compile_program(random_program(1, outputs=((4,),)), NOWHERE)
SEVERAL = compile_program(random_program(2), NOWHERE)
ENERGY = compile_program(record(lambda v: {"T": 0.5 * (v @ v)}, {"v": (3,)}, "energy"), NOWHERE)


def same(x, y):
    assert type(x) is type(y)
    if isinstance(x, tuple):
        return all(same(a, b) for a, b in zip(x, y, strict=True))
    return x.dtype == y.dtype and x.shape == y.shape and np.array_equal(x, y, equal_nan=True)


@pytest.fixture(params=[ALONE, SEVERAL], ids=["alone", "several"])
def kernel(request):
    return request.param


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("batch", [(), (1,), (3,), (40,), (2, 5), (0,), (4, 0)])
def test_the_quick_path_gives_what_the_slow_path_gives(kernel, batch, dtype):
    inputs = [np.asarray(x, dtype) for x in random_inputs(kernel.program, 3, batch)]
    expected = Kernel.__call__(kernel, *inputs)             # loads what the quick path needs
    assert same(kernel(*inputs), expected)


@pytest.mark.skipif(not works(), reason="there is no quick path here")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("batch", [(), (1,), (40,)])
def test_arrays_that_fit_never_meet_the_slow_path(monkeypatch, batch, dtype):
    """Whether new arrays are made or `out` is given."""
    kernel = compile_program(random_program(2, outputs=((4,), (2, 2))), NOWHERE)
    inputs = [np.asarray(x, dtype) for x in random_inputs(kernel.program, 3, batch)]
    expected = kernel(*inputs)                              # the first call loads the code

    def refuse(*_, **__):
        raise AssertionError("the slow path was taken")

    monkeypatch.setattr(SlowPath, "__call__", refuse)
    assert same(kernel(*inputs), expected)
    out = tuple(np.zeros_like(x) for x in expected)
    assert same(kernel(*inputs, out=out), expected)
    with pytest.raises(AssertionError, match="slow path"):
        kernel(*(x.tolist() for x in inputs))


@pytest.mark.skipif(not works(), reason="there is no quick path here")
@pytest.mark.parametrize("outputs", [((4,),), ((4,), (2, 2))], ids=["alone", "several"])
def test_a_large_batch_on_one_thread_never_meets_the_slow_path(monkeypatch, outputs):
    """A call that names its one thread: after megabytes of states Python's own code is cold."""
    kernel = compile_program(random_program(2, outputs=outputs), NOWHERE)
    states = ENOUGH_WORK // kernel.operations.instructions + 100
    inputs = random_inputs(kernel.program, 3, (states,))
    expected = kernel(*inputs)                              # on all cores, by the slow path
    _ = kernel(*(x[:8] for x in inputs))

    def refuse(*_, **__):
        raise AssertionError("the slow path was taken")

    with monkeypatch.context() as patch:
        patch.setattr(SlowPath, "__call__", refuse)
        assert same(kernel(*inputs, threads=1), expected)
        out = kernel(*inputs, threads=1)
        for x in out if isinstance(out, tuple) else (out,):
            x[...] = np.nan
        assert same(kernel(*inputs, out=out, threads=1), expected)
    assert same(kernel(*inputs, threads=1, out=out), expected)
    assert same(kernel(*inputs, threads=2), expected)
    with pytest.raises(ArgumentError, match="threads is True"):
        kernel(*inputs, threads=True)
    with pytest.raises(ArgumentError, match="threads is 0"):
        kernel(*inputs, out=out, threads=0)
    one = [x[0].copy() for x in inputs]
    assert same(kernel(*one, threads=1), kernel(*one))


def test_a_kernel_gives_what_the_reference_says(kernel):
    inputs = random_inputs(kernel.program, 0)
    result = kernel(*inputs)
    found = result if isinstance(result, tuple) else (result,)
    for x, expected in zip(found, reference.run(kernel.program, *inputs), strict=True):
        np.testing.assert_allclose(x, expected, rtol=0, atol=1000 * np.finfo(float).eps)


def test_lists_keywords_integers_and_strided_arrays_are_read(kernel):
    inputs = random_inputs(kernel.program, 1)
    names = [slot.name for slot in kernel.program.inputs]
    expected = kernel(*inputs)
    assert same(kernel(*(x.tolist() for x in inputs)), expected)
    assert same(kernel(inputs[0], **dict(zip(names[1:], inputs[1:], strict=True))), expected)
    assert same(kernel(*(np.array(x, order="F") for x in inputs)), expected)
    assert same(kernel(*(np.repeat(x[None], 2, axis=0)[0] for x in inputs)), expected)
    wide = [np.stack((x, x), axis=-1)[..., 0] for x in inputs]
    assert same(kernel(*wide), expected)
    unaligned = np.zeros(8 * inputs[0].size + 1, np.uint8)[1:].view(float).reshape(inputs[0].shape)
    unaligned[...] = inputs[0]
    assert same(kernel(unaligned, *inputs[1:]), expected)
    swapped = [x.astype(x.dtype.newbyteorder()) for x in inputs]
    assert same(kernel(*swapped), expected)
    whole = [np.round(x).astype(int) for x in inputs]
    assert same(kernel(*whole), kernel(*(x.astype(float) for x in whole)))


def test_leading_axes_broadcast(kernel):
    a, b, c = random_inputs(kernel.program, 2, (3, 4))
    result = kernel(a[:, :1], b, c[0])
    expected = kernel(*(np.ascontiguousarray(x) for x in (
        np.broadcast_to(a[:, :1], a.shape), b, np.broadcast_to(c[0], c.shape))))
    assert same(result, expected)
    assert same(kernel(a[0, 0], b, c), kernel(np.broadcast_to(a[0, 0], a.shape).copy(), b, c))
    one = kernel(a[0, 0], b[0], c[0, 0])                    # quick: one batch among shared inputs
    assert same(one, Kernel.__call__(kernel, a[0, 0], b[0], c[0, 0]))


def test_results_are_float32_only_if_all_inputs_are():
    inputs = random_inputs(SEVERAL.program, 4, (9,))
    single = SEVERAL(*(x.astype(np.float32) for x in inputs))
    assert all(x.dtype == np.float32 for x in single)
    mixed = SEVERAL(inputs[0], *(x.astype(np.float32) for x in inputs[1:]))
    assert all(x.dtype == np.float64 for x in mixed)
    for x, y in zip(single, SEVERAL(*inputs), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1000 * np.finfo(np.float32).eps)
    one = SEVERAL(*(x[0].astype(np.float32) for x in inputs))
    assert all(np.array_equal(x, y[0]) for x, y in zip(one, single, strict=True))


@pytest.mark.parametrize("batch", [(), (1,), (13,), (2, 3)])
@pytest.mark.parametrize("call", [lambda k, *x, **o: k(*x, **o), Kernel.__call__],
                         ids=["quick", "slow"])
def test_out_is_filled_and_returned(batch, call):
    for kernel in (ALONE, SEVERAL):
        inputs = random_inputs(kernel.program, 5, batch)
        expected = kernel(*inputs)
        slots = kernel.program.outputs
        out = tuple(np.full(batch + slot.shape, 7.0) for slot in slots)
        if len(out) == 1:
            assert call(kernel, *inputs, out=out[0]) is out[0]
            assert np.array_equal(out[0], expected)
        else:
            result = call(kernel, *inputs, out=out)
            assert type(result) is type(expected)
            assert all(x is y for x, y in zip(result, out, strict=True))
            assert all(np.array_equal(x, y) for x, y in zip(out, expected, strict=True))
            again = call(kernel, *inputs, out=result)
            assert all(x is y for x, y in zip(again, out, strict=True))


@pytest.mark.parametrize("batch", [(), (13,)])
def test_out_may_be_strided_or_overlap_an_input(batch):
    f = compile_program(record(lambda x: {"y": np.array([x[2], x[1] * 2.0, x[0] * x[1]])},
                               {"x": (3,)}, "swap"), NOWHERE)
    x, = random_inputs(f.program, 6, batch)
    expected = f(x)
    wide = np.zeros((*batch, 3, 2))
    f(x, out=wide[..., 1])
    assert np.array_equal(wide[..., 1], expected) and not wide[..., 0].any()
    long = np.zeros(x.size + 2)
    inside, shifted = long[:-2].reshape(x.shape), long[2:].reshape(x.shape)
    inside[...] = x
    assert f(inside, out=shifted) is shifted
    assert np.array_equal(shifted, expected)
    assert f(x, out=x) is x
    assert np.array_equal(x, expected)


def test_outputs_that_share_memory_are_refused():
    kernel = compile_program(record(lambda x: {"a": x + 1, "b": 2 * x}, {"x": (3,)}, "f"),
                             Cache(None))
    x, y = np.ones(3), np.empty(8)
    for a, b in ((y[:3], y[:3]), (y[:3], y[2:5]), (y[::2][:3], y[1:4])):
        with pytest.raises(ArgumentError, match="out for a and b must not share memory"):
            kernel(x, out=(a, b))
    found = kernel(x, out=(y[::2][:3], y[1::2][:3]))           # one between the other
    np.testing.assert_array_equal(found.a, np.full(3, 2.0))
    np.testing.assert_array_equal(found.b, np.full(3, 2.0))


@pytest.mark.parametrize("strides", [(0, 8), (8, 8), (16, 0)])
def test_an_output_whose_entries_lie_upon_each_other_is_refused(strides):
    kernel = compile_program(record(lambda x: x + 1, {"x": (3,)}, "f"), Cache(None))
    out = np.lib.stride_tricks.as_strided(np.empty(20), (4, 3), strides)
    with pytest.raises(ArgumentError, match="memory for every entry"):
        kernel(np.ones((4, 3)), out=out)


def test_a_transposed_output_is_none_of_these():
    kernel = compile_program(record(lambda x: x + 1, {"x": (3,)}, "f"), Cache(None))
    out = np.empty((3, 4)).T
    np.testing.assert_array_equal(kernel(np.ones((4, 3)), out=out), np.full((4, 3), 2.0))


class Tensor:
    """As one of torch that needs a gradient."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad")


@pytest.mark.parametrize("x, reason", [
    (Tensor(), "requires grad"), ([10**400] * 3, "too large"),
    (np.ma.array(np.ones(3), mask=[1, 0, 0]), "masks are not read")],
    ids=["tensor", "integers", "masked"])
def test_what_is_no_array_of_numbers_is_refused_with_the_reason(x, reason):
    kernel = compile_program(record(lambda x: x + 1, {"x": (3,)}, "f"), Cache(None))
    with pytest.raises(ArgumentError, match=rf"f: x must be real numbers .*{reason}"):
        kernel(x)
    with pytest.raises(ArgumentError, match=reason):
        cf.gravity_torque(cf.load("planar3r"), x)


def test_a_scalar_output_is_a_numpy_scalar_for_one_state_and_an_array_for_many():
    v = np.array([1.0, 2.0, 2.0])
    for call in (ENERGY, lambda v: Kernel.__call__(ENERGY, v)):
        assert type(call(v)) is np.float64 and call(v) == 4.5
        assert call(np.tile(v, (5, 1))).tolist() == [4.5] * 5
    out = np.zeros(())
    assert ENERGY(v, out=out) is out and out == 4.5
    assert type(SEVERAL(*random_inputs(SEVERAL.program, 0)).y2) is np.float64


def test_a_program_without_inputs_can_be_called():
    code = (Instruction("const", (), 2.0),)
    outputs = (Output("y", (2,), (Entry(0, -1), Entry(-1, 0))),)
    f = compile_program(Program("two", (), outputs, code), NOWHERE)
    assert f().tolist() == [-2.0, 0.0]


X = {"x0": np.zeros(5), "x1": np.zeros((3, 2)), "x2": np.zeros(())}
BAD = [
    (lambda k: k(X["x0"], X["x1"]), "x2 is missing"),
    (lambda k: k(*X.values(), 1.0), "4 arguments"),
    (lambda k: k(X["x0"], **X), "x0 is given twice"),
    (lambda k: k(**X, y=1.0), "no argument 'y'"),
    (lambda k: k(np.zeros(4), X["x1"], 0.0),
     r"random_1: x0 must have the shape \(5,\) or \(\.\.\., 5\), not \(4,\)"),
    (lambda k: k(X["x0"], np.zeros((2, 3)), 0.0),
     r"x1 must have the shape \(3, 2\) or \(\.\.\., 3, 2\), not \(2, 3\)"),
    (lambda k: k(X["x0"], np.zeros(6), 0.0), r"x1 must have .* not \(6,\)"),
    (lambda k: k("words", X["x1"], 0.0), "x0 must be real numbers of shape .* not 'words'"),
    (lambda k: k([1, [2]], X["x1"], 0.0), "x0 must be real numbers"),
    (lambda k: k([None] * 5, X["x1"], 0.0), "x0"),
    (lambda k: k(X["x0"] * 1j, X["x1"], 0.0),
     "x0 must be real numbers .* not an array of complex128"),
    (lambda k: k(np.zeros((2, 5)), np.zeros((3, 3, 2)), 0.0), r"x0 \(2, 5\), x1 \(3, 3, 2\)"),
    (lambda k: k(*X.values(), out=np.zeros(3)), r"out must have the shape \(4,\) .* not \(3,\)"),
    (lambda k: k(*X.values(), out=[0.0] * 4), "out must be a NumPy array, not 4 items"),
    (lambda k: k(*X.values(), out=np.zeros(4, np.float32)), "of float64, not .* of float32"),
    (lambda k: k(*X.values(), out=np.broadcast_to(0.0, 4)), "must be writeable"),
    (lambda k: k(*X.values(), threads=0), "threads is 0"),
    (lambda k: k(*X.values(), threads=1.5), "threads is 1.5"),
]


@pytest.mark.parametrize("call, message", BAD, ids=[message for _, message in BAD])
def test_errors_name_the_argument_with_what_was_given_and_expected(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(ALONE)


def test_the_quick_path_hands_odd_keywords_on():
    inputs = random_inputs(ALONE.program, 0)
    expected = ALONE(*inputs)
    name = "".join(["o", "ut"])                             # equal to "out" but another object
    out = np.zeros(4)
    assert ALONE(*inputs, **{name: out}) is out and np.array_equal(out, expected)
    assert np.array_equal(ALONE(*inputs, out=None), expected)
    assert np.array_equal(ALONE(*inputs, threads=2), expected)
    with pytest.raises(ArgumentError, match="no argument 'of'"):
        ALONE(*inputs, of=out)


def test_subclasses_of_arrays_take_the_slow_path_and_give_plain_arrays():
    a, b, c = random_inputs(ALONE.program, 0)
    assert type(ALONE(a.view(np.recarray), b, c)) is np.ndarray


@pytest.mark.skipif(not works(), reason="there is no quick path here")
def test_calls_leave_no_references_behind(kernel):
    inputs = random_inputs(kernel.program, 0)
    out = tuple(np.zeros(slot.shape) for slot in kernel.program.outputs)
    given = out[0] if len(out) == 1 else out
    result = kernel(*inputs, out=given)
    gc.collect()
    watched = [*inputs, *out, given, type(result), np.ndarray, np.dtype(float), kernel]
    before = [sys.getrefcount(x) for x in watched]
    blocks = sys.getallocatedblocks()
    for _ in range(500):
        kernel(*inputs)
        kernel(*inputs, out=given)
        kernel(*(x[None] for x in inputs))
    gc.collect()
    for x, count in zip(watched, before, strict=True):
        assert abs(sys.getrefcount(x) - count) < 100
    assert sys.getallocatedblocks() - blocks < 100


def test_a_kernel_that_is_dropped_while_others_live_takes_nothing_with_it():
    inputs = random_inputs(ALONE.program, 0)
    expected = ALONE(*inputs)
    for _ in range(5):
        dropped = compile_program(ALONE.program, NOWHERE)
        native = dropped.native
        del dropped
        gc.collect()
        out = np.zeros(4)
        native.function(*(x.ctypes.data for x in (*inputs, out)))
        assert np.array_equal(out, expected)
    assert np.array_equal(ALONE(*inputs), expected)


def test_kernels_and_results_can_be_pickled(kernel):
    inputs = random_inputs(kernel.program, 0)
    again = pickle.loads(pickle.dumps(kernel))
    assert again.program.digest == kernel.program.digest
    result = kernel(*inputs)
    assert same(again(*inputs), result)
    assert same(pickle.loads(pickle.dumps(result)), result)


def test_without_the_quick_path_everything_works_the_same(monkeypatch):
    monkeypatch.setattr(kernel_module, "works", lambda: False)
    plain = compile_program(SEVERAL.program, NOWHERE)
    assert type(plain) is Kernel
    for batch in ((), (9,)):
        inputs = random_inputs(plain.program, 0, batch)
        assert same(plain(*inputs), SEVERAL(*inputs))


def test_a_kernel_tells_about_itself():
    assert SEVERAL.operations == SEVERAL.program.operations
    assert "random_2(x0, x1, x2, out=None, threads=None)" in SEVERAL.__doc__
    assert "x1 (..., 3, 2)" in SEVERAL.__doc__ and "machine code" in Kernel.__doc__
    assert SEVERAL.native.signature == (
        "void kernel(const double *x0, const double *x1, const double *x2, "
        "double *y0, double *y1, double *y2)")
    assert ENERGY.batch_native.signature == (
        "void batch(int64_t n, const double *v, int64_t v_stride, double *T, int64_t T_stride)")
    assert isinstance(SEVERAL, Kernel) and callable(SEVERAL)
    assert SEVERAL.native.address != SEVERAL.batch_native.address
