"""XLA's handler of a kernel, called as XLA calls it, with a pool of threads of our own making."""

import ctypes
import threading

import numpy as np
import pytest

import closedform as cf
from closedform.lowerings.call import code as compiled_code
from closedform.lowerings.store.cache import Cache

RNG = np.random.default_rng(3)
EXECUTE, FLOAT64, FLOAT32 = 3, 12, 11
ERROR = 4242


def words(*values):
    return (ctypes.c_int64 * len(values))(*values)


def address(x):
    return ctypes.addressof(x)


class Xla:
    """The parts of XLA that a handler sees: call frames, errors, a pool of threads."""

    def __init__(self, pool="refuses"):
        self.messages, self.destroyed, self.late, self.kept = [], [], [], []
        create = self._function(ctypes.c_void_p, self._create)
        destroy = self._function(None, lambda a: self.destroyed.append(self._word(a, 16)))
        schedule = self._function(ctypes.c_void_p, getattr(self, f"_{pool}"))
        threads = self._function(ctypes.c_void_p,
                                 self._uncounted if pool == "unknown" else self._count)
        self.api = words(*[0] * 6, create, 0, destroy, *[0] * 8, schedule, threads)

    def _function(self, result, f):
        made = ctypes.CFUNCTYPE(result, ctypes.c_void_p)(f)
        self.kept.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value

    @staticmethod
    def _word(pointer, place):
        return ctypes.c_int64.from_address(pointer + place).value

    def _create(self, given):
        self.messages.append(ctypes.string_at(self._word(given, 16)).decode())
        return ERROR

    def _count(self, given):
        ctypes.c_int64.from_address(self._word(given, 24)).value = 4
        return None

    def _uncounted(self, given):
        return ERROR

    def _unknown(self, given):
        raise AssertionError("nobody was asked to help")

    def _refuses(self, given):
        return ERROR

    def _task(self, given):
        task = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._word(given, 24))
        job = self._word(given, 32)
        return lambda: task(job)

    def _at_once(self, given):
        self._task(given)()

    def _later(self, given):
        self.late.append(self._task(given))

    def _in_threads(self, given):
        self.late.append(threading.Thread(target=self._task(given)))
        self.late[-1].start()

    def call(self, handler, inputs, outputs, stage=EXECUTE, extension=0):
        """What the handler returns."""
        lists = []
        for arrays in (inputs, outputs):
            buffers = [self._buffer(x) for x in arrays]
            lists += [words(*map(address, buffers)), buffers]
        frame = words(152, extension, address(self.api), 0, stage,
                      40, 0, len(inputs), 0, address(lists[0]),
                      40, 0, len(outputs), 0, address(lists[2]), *[0] * 8)
        return handler.function(address(frame))

    def _buffer(self, x):
        shape = words(*x.shape)
        made = words(48, 0, FLOAT64 if x.dtype == np.float64 else FLOAT32, x.ctypes.data, x.ndim,
                     address(shape))
        self.kept += [shape, x]
        return made


@pytest.fixture(scope="module")
def kernel():
    return cf.compile(cf.load("planar2r")).forward_dynamics


@pytest.fixture(scope="module")
def handler(kernel):
    return kernel.compiled("xla", "double")


def test_it_tells_its_version_and_does_nothing_before_it_is_executed(handler):
    xla, metadata = Xla(), words(*[0] * 6)
    extension = words(32, 1, 0, address(metadata))
    assert xla.call(handler, [], [], extension=address(extension)) is None
    assert metadata[3] == 1 << 32                   # major 0, minor 1
    for stage in range(3):
        assert xla.call(handler, [], [], stage=stage) is None
    assert xla.messages == []


@pytest.mark.parametrize("leads", [((), (), ()), ((3,), (1,), (3,)), ((5, 1), (5, 7), (1, 7)),
                                   ((0,), (1,), (0,)), ((1, 40), (30, 1), (30, 40))], ids=str)
def test_arrays_are_shared_along_axes_of_one(kernel, handler, leads):
    xla, given = Xla(), [RNG.normal(size=(*lead, 2)) for lead in leads]
    out = np.empty((*np.broadcast_shapes(*leads), 2))
    assert xla.call(handler, given, [out]) is None
    np.testing.assert_array_equal(out, kernel(*given))


POOLS = ["unknown", "refuses", "at_once", "later", "in_threads"]


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("shape", [(300_000,), (3, 90_001), (90_001, 3), (500, 500)], ids=str)
def test_large_batches_come_out_whole_whatever_the_pool_does(kernel, handler, pool, shape):
    """One that has no threads, refuses, works at once, or comes when all is done."""
    xla, given = Xla(pool), RNG.normal(size=(3, *shape, 2))
    out = np.full((*shape, 2), np.nan)
    assert xla.call(handler, list(given), [out]) is None
    np.testing.assert_array_equal(out, kernel(*given))
    for task in xla.late:                            # those who come late find nothing to do
        task.join() if pool == "in_threads" else task()
    np.testing.assert_array_equal(out, kernel(*given))
    assert len(xla.late) == (3 if pool in ("later", "in_threads") else 0)
    assert xla.destroyed == ([ERROR] if pool in ("unknown", "refuses") else [])


def test_small_batches_ask_nobody(handler):
    xla = Xla("unknown")
    q = np.zeros((1000, 2))
    assert xla.call(handler, [q, q, q], [q.copy()]) is None
    assert xla.destroyed == []


def test_errors_have_the_kernels_name_and_the_arguments(handler):
    q, good = np.zeros((4, 2)), np.empty((4, 2))
    cases = [
        ([q, q], [good], "forward_dynamics: it has 3 arrays: q, v, tau"),
        ([q, q, q], [good, good], "it has 1 results: forward_dynamics"),
        ([q, q[:, :1], q], [good], "v must have the shape (..., 2) of float64, with at most two"),
        ([q, q, q.astype(np.float32)], [good], "tau must have the shape (..., 2) of float64"),
        ([q[None, None], q, q], [good], "q must have the shape (..., 2) of float64"),
        ([np.zeros(()), q, q], [good], "q must have the shape (..., 2) of float64"),
        ([q[:3], q, q], [good], "q must have the leading axes of the result, or ones"),
        ([q, q, q], [good[:1]], "q must have the leading axes of the result, or ones"),
    ]
    for inputs, outputs, text in cases:
        xla = Xla()
        assert xla.call(handler, inputs, outputs) == ERROR
        assert text in xla.messages[0] and xla.messages[0].startswith("forward_dynamics: ")


def test_its_code_is_kept_with_the_kernels(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    robot, cache = cf.load("planar2r"), Cache(tmp_path)
    for kind in ("double", "float"):
        cf.compile(robot, cache=cache).bias.compiled("xla", kind)
    monkeypatch.setattr(compiled_code, "object_code", None)
    again = cf.compile(robot, cache=cache).bias
    for kind, dtype in (("double", np.float64), ("float", np.float32)):
        q, v, out = RNG.normal(size=(3, 9, 2)).astype(dtype)
        assert Xla().call(again.compiled("xla", kind), [q, v], [out]) is None
        np.testing.assert_array_equal(out, again(q, v))
