"""Several threads: inside one call, and several calls at once."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from closedform.errors import ArgumentError
from closedform.lowerings.call import threads as threads_module
from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.call.threads import in_threads, thread_count
from closedform.lowerings.store.cache import Cache
from random_programs import random_inputs, random_program

NOWHERE = Cache(None)
KERNEL = compile_program(random_program(3), NOWHERE)


@pytest.mark.parametrize("threads", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("count", [1, 5, 100, 1001])
def test_the_number_of_threads_changes_nothing(threads, count, monkeypatch):
    monkeypatch.setattr(threads_module, "PART_WORK", 1)
    inputs = random_inputs(KERNEL.program, 0, (count,))
    expected = KERNEL(*inputs)
    for x, y in zip(KERNEL(*inputs, threads=threads), expected, strict=True):
        assert np.array_equal(x, y)


def test_large_batches_are_shared_among_the_cores_and_small_ones_are_not(monkeypatch):
    monkeypatch.delenv("CLOSEDFORM_THREADS", raising=False)
    monkeypatch.setattr(threads_module, "_cores", lambda: 8)
    assert thread_count(1_000_000, 300, None) == 8
    assert thread_count(1000, 300, None) == 1
    assert thread_count(1_000_000, 1, None) == 1
    monkeypatch.setenv("CLOSEDFORM_THREADS", "2")
    assert thread_count(1_000_000, 300, None) == 2
    assert thread_count(1_000_000, 300, 4) == 4
    monkeypatch.setenv("CLOSEDFORM_THREADS", "many")
    with pytest.raises(ArgumentError, match="CLOSEDFORM_THREADS is 'many'"):
        thread_count(1_000_000, 300, None)


def test_no_more_threads_are_woken_than_there_is_work_for():
    """iiwa14's inverse dynamics: 32 states take a microsecond, where 16 threads took 1400."""
    assert [thread_count(n, 450, 16) for n in (1, 32, 1024, 16_384, 1 << 20)] == [1, 1, 1, 7, 16]
    assert thread_count(0, 450, 16) == 1
    assert thread_count(3, 1 << 21, 5) == 3


def test_threads_stay_from_one_call_to_the_next():
    def used():
        together, found = threading.Barrier(4), []

        def run(start, stop):
            together.wait(20)                   # no thread can take two parts
            found.append(threading.get_ident())

        in_threads(run, 100, 4)
        return set(found)

    in_threads(lambda start, stop: None, 100, 4)
    before = threading.active_count()
    assert len(used()) == len(used()) == 4
    assert threading.active_count() == before


def test_an_error_in_a_thread_is_raised_when_all_are_done():
    finished = []

    def run(start, stop):
        if start == 0:
            raise KeyError("first")
        finished.append(start)

    with pytest.raises(KeyError, match="first"):
        in_threads(run, 40, 4)
    assert sorted(finished) == [10, 20, 30]

    def late(start, stop):
        if start == 20:
            raise ValueError("third")

    with pytest.raises(ValueError, match="third"):
        in_threads(late, 40, 4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_threads_of_its_own():
    in_threads(lambda start, stop: None, 100, 3)
    child = os.fork()
    if child == 0:
        found = []
        in_threads(lambda start, stop: found.append(start), 100, 3)
        os._exit(0 if sorted(found) == [0, 33, 66] else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("states, count", [(10, 3), (64, 64), (7, 1), (1000, 7)])
def test_every_state_belongs_to_one_part(states, count):
    lock, parts = threading.Lock(), []

    def run(start, stop):
        with lock:
            parts.append((start, stop))

    in_threads(run, states, count)
    assert sorted(k for start, stop in parts for k in range(start, stop)) == list(range(states))
    assert len(parts) == count


def test_a_batch_that_is_large_by_itself_uses_threads_and_agrees(monkeypatch):
    monkeypatch.setattr(threads_module, "_cores", lambda: 3)
    inputs = random_inputs(KERNEL.program, 1, (200_000,))
    for x, y in zip(KERNEL(*inputs), KERNEL(*inputs, threads=1), strict=True):
        assert np.array_equal(x, y)


def test_one_kernel_serves_many_threads_at_once():
    """Single states, batches, floats and slow arguments, first uses included."""
    kernel = compile_program(random_program(4), NOWHERE)
    inputs = random_inputs(kernel.program, 0, (50,))
    alone = compile_program(kernel.program, NOWHERE)
    expected = [alone(*inputs), alone(*(x.astype(np.float32) for x in inputs))]

    def work(seed):
        kind = seed % 3
        for _ in range(20):
            if kind == 0:
                found = [np.stack(y) for y in zip(*(kernel(*(x[k] for x in inputs))
                                                    for k in range(50)), strict=True)]
            elif kind == 1:
                found = kernel(*inputs)
            else:
                found = kernel(*(x.astype(np.float32) for x in inputs))
            for x, y in zip(found, expected[kind == 2], strict=True):
                if not np.array_equal(x, y):
                    return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(24)))


def test_kernels_are_compiled_in_several_threads_at_once():
    programs = [random_program(seed) for seed in range(8)]

    def work(program):
        inputs = random_inputs(program, 0)
        return compile_program(program, NOWHERE)(*inputs)

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(work, programs))
    for program, found in zip(programs, together, strict=True):
        for x, y in zip(found, work(program), strict=True):
            assert np.array_equal(x, y)
