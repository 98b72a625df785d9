"""Calls with arrays of a GPU, on a driver that is imagined: the emulator runs the kernels."""

import threading

import numpy as np
import pytest

import closedform as cf
from closedform.errors import ArgumentError
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.cuda import driver, plan
from closedform.lowerings.cuda import kernel as kernel_module
from closedform.lowerings.cuda.calls import launches
from closedform.lowerings.cuda.kernel import CudaKernel
from closedform.lowerings.native.cpu import host
from closedform.lowerings.native.launching import WORDS
from closedform.lowerings.store.cache import Cache
from cuda_runs import same_bits
from fake_cuda import FakeCuda, pretended, seen

pytestmark = pytest.mark.skipif(not host().fma, reason="this processor has no fused multiply-add, "
                                "so that its own kernels round in another way")
RNG = np.random.default_rng(3)
STATES = 37


@pytest.fixture
def cuda():
    with pretended(FakeCuda()) as found:
        yield found


def fresh(name="inverse_dynamics", robot="planar2r"):
    """A kernel that has met no driver yet."""
    return compile_program(getattr(cf.compile(cf.load(robot)), name).program, Cache(None))


def states(count=STATES, n=2):
    return [RNG.normal(size=(count, n)) for _ in range(3)]


def many(x):
    return x if isinstance(x, tuple) else (x,)


def same(cuda, found, expected):
    for x, y in zip(many(found), many(expected), strict=True):
        same_bits(seen(cuda, x), y)


@pytest.mark.parametrize("name, dtype", [("inverse_dynamics", np.float64),
                                         ("inverse_dynamics_derivatives", np.float32)])
def test_a_call_gives_the_cpus_numbers_in_rows_states_last_and_with_gaps(cuda, name, dtype):
    kernel = fresh(name)
    x = [a.astype(dtype) for a in states()]
    expected = kernel(*x)
    for changed in (lambda a: a, lambda a: np.asfortranarray(a),
                    lambda a: np.hstack((a, a))[:, :2], lambda a: np.repeat(a, 2, 0)[::2]):
        there = [cuda.array(changed(a)) for a in x]
        for _ in range(2):                              # prepared, and then known
            same(cuda, kernel(*there), expected)


def test_what_no_kernel_reaches_is_copied(cuda):
    """Gaps within a state, numbers that begin between two, axes that only others have."""
    kernel, (q, v, a) = fresh(), states(6)
    shifted = cuda.array(np.concatenate((np.zeros(4, np.uint8), v.view(np.uint8).ravel())))
    shifted.pointer, shifted.shape, shifted.strides = shifted.pointer + 4, v.shape, v.strides
    shifted.dtype = v.dtype
    gaps = cuda.array(np.repeat(a, 2, 1)[:, ::-2])
    for _ in range(2):
        same(cuda, kernel(cuda.array(q), shifted, gaps), kernel(q, v, a[:, ::-1]))
    q, v = q.reshape(6, 1, 2), np.stack((v, -v)).swapaxes(0, 1).copy()
    same(cuda, kernel(cuda.array(q), cuda.array(v), cuda.array(a[0])), kernel(q, v, a[0]))


def test_the_second_call_finds_all_that_the_first_has_decided(cuda, monkeypatch):
    kernel, x = fresh(), states()
    there, out = [cuda.array(a) for a in x], cuda.array(np.zeros((STATES, 2)))
    kernel(*there)
    kernel(*there, out=out)
    monkeypatch.setattr(CudaKernel, "__call__", lambda *_: pytest.fail("it was prepared again"))
    same(cuda, kernel(*there), kernel(*x))
    assert kernel(*there, out=out) is out
    same(cuda, out, kernel(*x))
    for other in ([cuda.array(a[:5]) for a in x], [cuda.array(a.astype(np.float32)) for a in x]):
        with pytest.raises(pytest.fail.Exception):
            kernel(*other)


def test_a_call_is_one_launch_and_nothing_is_waited_for(cuda):
    launchable = fresh().cuda()
    x = [cuda.array(a) for a in (*states(), np.zeros((STATES, 2)))]
    cuda.launches.clear()
    cuda.waited.clear()
    launchable(STATES, *(a.pointer for a in x), stream=6)
    assert [(context, stream) for context, _, stream in cuda.launches] == [(1, 6)]
    assert cuda.waited == []


def test_arrays_of_unknown_libraries_are_waited_for_and_so_is_their_stream(cuda):
    kernel, there = fresh(), [cuda.array(a) for a in states()]
    kernel(*there)
    cuda.waited.clear()
    there[1].stream = 9
    kernel(*there)
    assert cuda.waited == [9, 0]


def test_the_context_of_the_thread_is_what_it_was(cuda):
    kernel, there = fresh(), [cuda.array(a) for a in states()]
    for before in (None, 5):
        cuda.current = before
        kernel(*there)
        kernel(*there)
        assert cuda.current == before


def test_angles_far_out_are_computed_with_care_in_every_call(cuda):
    kernel, x = fresh(), states()
    x[0][::5, 1] = 1e7
    there = [cuda.array(a) for a in x]
    for _ in range(3):
        same(cuda, kernel(*there), kernel(*x))


def test_calls_of_pieces_that_share_a_word_never_miss_what_is_rare(cuda, monkeypatch):
    """As a graph does that is replayed: it has the number of a call long ago."""
    monkeypatch.setattr(plan, "LONG", 50)
    monkeypatch.setattr(plan, "PIECE", {"double": 50})
    kernel, x = fresh(), states()
    x[0][3, 1] = 1e7
    there = [cuda.array(np.asfortranarray(a)) for a in x]
    kernel(*there)
    assert len(cuda.launches) > 2
    words = driver.device(0).words
    cuda.at(words, 8 * WORDS).view(np.uint64)[:] = 1 << 40      # of a later call
    same(cuda, kernel(*there), kernel(*x))
    assert np.all(cuda.at(words, 8 * WORDS).view(np.uint64) == 1 << 40)


def test_launchable_keeps_a_record_for_a_number_of_states_and_says_what_it_needs(cuda):
    kernel, x = fresh(), states()
    launch = kernel.cuda()
    there = [cuda.array(a) for a in (*x, np.zeros((STATES, 2)))]
    for count in (STATES, 3, STATES):
        launch(count, *(a.pointer for a in there))
    assert set(launch.records) == {STATES, 3}
    same(cuda, there[-1], kernel(*x))
    with pytest.raises(ArgumentError, match="4 addresses are needed, not 3"):
        launch(STATES, *(a.pointer for a in there[:3]))
    with pytest.raises(ArgumentError, match="multiples of 16"):
        launch(STATES, *(a.pointer + 8 for a in there))
    with pytest.raises(ArgumentError, match="count must be"):
        launch(0, *(a.pointer for a in there))


def test_for_very_many_states_rare_ones_are_left_to_a_kernel_behind(cuda, monkeypatch):
    monkeypatch.setattr(kernel_module, "MANY_STATES", STATES)
    kernel, x = fresh(), states()
    x[0][3, 1] = 1e7
    for changed in (np.ascontiguousarray, np.asfortranarray):
        cuda.launches.clear()
        same(cuda, kernel(*(cuda.array(changed(a)) for a in x)), kernel(*x))
        assert len(cuda.launches) == 2
        cuda.launches.clear()
        kernel(*(cuda.array(changed(a[:-1])) for a in x))
        assert len(cuda.launches) == 1


def test_a_call_of_more_states_than_a_launch_takes_is_cut(cuda, monkeypatch):
    """In parts that begin where vectors of numbers may: a multiple of 32 states on."""
    monkeypatch.setattr(launches, "MOST", 39)
    kernel, x = fresh(), states(70, 2)
    for changed in (np.ascontiguousarray, np.asfortranarray):
        cuda.launches.clear()
        same(cuda, kernel(*(cuda.array(changed(a)) for a in x)), kernel(*x))
        assert len(cuda.launches) == 3


def test_threads_call_at_the_same_time(cuda):
    kernel, x = fresh(), states()
    there = [cuda.array(a) for a in x]
    outs = [cuda.array(np.zeros((STATES, 2))) for _ in range(4)]
    kernel(*there, out=outs[0])
    threads = [threading.Thread(target=lambda out=out: [kernel(*there, out=out) for _ in range(5)])
               for out in outs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for out in outs:
        same(cuda, out, kernel(*x))


def test_results_may_lie_between_the_inputs_but_not_upon_them(cuda):
    kernel, x = fresh(), states()
    whole = np.hstack((*x, np.zeros((STATES, 2))))
    there = cuda.array(whole)

    def part(k):
        found = cuda.array(whole[:, 2 * k:2 * k + 2])
        found.pointer = there.pointer + 16 * k
        return found

    q, v, a, out = map(part, range(4))
    for _ in range(2):
        kernel(q, v, a, out=out)
    same(cuda, out, kernel(*x))
    for wrong in (q, v):
        with pytest.raises(ArgumentError, match="lies upon"):
            kernel(q, v, a, out=wrong)
