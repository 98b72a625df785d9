"""XLA's handler on CUDA devices, called as XLA calls it, with a driver of our own making."""

import ctypes
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import closedform as cf
from closedform.lowerings.cuda.pieces import stages
from closedform.lowerings.cuda.plan import GpuPlan
from closedform.lowerings.frameworks.xla import frame
from closedform.lowerings.frameworks.xla.loaded import HandlerKind
from closedform.lowerings.frameworks.xla.records import NO_LIMIT, SPREAD, record
from cuda_runs import DTYPES
from ptx_emulator import Emulator
from ptx_memory import Memory

ERROR, STREAM, CONTEXT, EARLIER_ERROR = 4242, 77, 1234, 999
WORDS = 1 << 20
RNG = np.random.default_rng(8)
EXECUTE = 3
KERNEL = cf.compile(cf.load("planar2r"), inputs=cf.Gravity()).forward_dynamics


KEPT = []


def words(*values):
    return (ctypes.c_int64 * len(values))(*values)


class Driver:
    """Writes down what is launched, and refuses the launch of one handle."""

    def __init__(self, refused=0, arguments=()):
        self.launches, self.contexts, self.refused = [], [], refused
        self.arguments = dict(arguments)                # by handle
        kinds = [ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3]
        self.kept = (ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self._enter),
                     ctypes.CFUNCTYPE(ctypes.c_int, *kinds)(self._launch))
        names = "cuCtxSetCurrent", "cuLaunchKernel"
        self.functions = {name: ctypes.cast(f, ctypes.c_void_p).value
                          for name, f in zip(names, self.kept, strict=True)}

    def _enter(self, context):
        self.contexts.append(context)
        return 0

    def _launch(self, handle, *rest):
        *shape, shared, stream, places, extra = rest
        if handle == self.refused:
            return 701
        told = [ctypes.c_uint64.from_address(place).value for place in
                (ctypes.c_uint64 * self.arguments[handle]).from_address(places)]
        self.launches.append(SimpleNamespace(handle=handle, shape=shape, shared=shared,
                                             stream=stream, told=told, extra=extra))
        return 0


class Xla:
    """The parts of XLA that the handler sees."""

    def __init__(self, device=0, length=192, error=None):
        self.messages, self.kept, self.device, self.error = [], [], device, error
        found = [0] * 24
        found[0] = length
        found[frame.CREATE // 8] = self._function(self._create)
        found[frame.STREAM // 8] = self._function(self._stream)
        found[frame.DEVICE // 8] = self._function(self._device)
        self.api = words(*found)

    def _function(self, f):
        made = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(f)
        self.kept.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value

    def _create(self, given):
        place = ctypes.c_int64.from_address(given + 16).value
        self.messages.append(ctypes.string_at(place).decode())
        return ERROR

    def _stream(self, given):
        ctypes.c_int64.from_address(given + 24).value = STREAM
        return self.error

    def _device(self, given):
        ctypes.c_int32.from_address(given + 24).value = self.device

    def call(self, handler, inputs, outputs, stage=EXECUTE, extension=0):
        lists = []
        for arrays in (inputs, outputs):
            buffers = [self._buffer(x) for x in arrays]
            lists += [words(*map(ctypes.addressof, buffers)), buffers]
        made = words(152, extension, ctypes.addressof(self.api), 0, stage,
                     40, 0, len(inputs), 0, ctypes.addressof(lists[0]),
                     40, 0, len(outputs), 0, ctypes.addressof(lists[2]), *[0] * 8)
        return handler.function(ctypes.addressof(made))

    def _buffer(self, x):
        shape = words(*x.shape)
        self.kept += [shape, x]
        return words(48, 0, {8: 12, 4: 11}[x.itemsize], x.ctypes.data, x.ndim,
                     ctypes.addressof(shape))


def aligned(*shape, dtype=np.float64):
    """An array that begins at a multiple of 16."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 16, np.uint8)
    start = -memory.ctypes.data % 16
    return memory[start:start + size].view(dtype).reshape(shape)


def kernels(*rows):
    """As of a plan on a device: handle, shared memory, block, states, slots, most blocks."""
    functions = [SimpleNamespace(handle=handle, shared=shared, blocks_at_once=lambda _, m=most: m)
                 for handle, shared, _, _, _, most in rows]
    launches = [SimpleNamespace(block=block, states=states, slots=slots, looping=most > 0)
                for _, _, block, states, slots, most in rows]
    return SimpleNamespace(functions=functions, launches=launches)


def handler(driver, *rows, device=0, shared=(False, False, False, True), kind="double"):
    told = record(kernels(*rows), CONTEXT, WORDS)
    slots = max(row[4] for row in rows)
    return HandlerKind(KERNEL.interface, kind, shared).loaded(slots, {device: told},
                                                              driver.functions)


PLAIN = 1 + 2 * 5 + 2
QUICK, CAREFUL = (11, 0, 64, 64, 0, 0), (12, 4096, 32, 32, 0, 5)


def given(n):
    return [aligned(n, 2) for _ in range(3)] + [aligned(1, 3)], [aligned(n, 2)]


def test_kernels_are_launched_in_order_on_the_streams_with_addresses_and_strides():
    driver = Driver(arguments={11: PLAIN, 12: PLAIN})
    xla, (inputs, outputs) = Xla(), given(1000)
    made = handler(driver, QUICK, CAREFUL)
    assert xla.call(made, inputs, outputs) is None and xla.messages == []
    quick, careful = driver.launches
    assert driver.contexts == [CONTEXT]
    assert (quick.handle, careful.handle) == (11, 12)
    assert quick.shape == [16, 1, 1, 64, 1, 1] and quick.shared == 0
    assert careful.shape == [5, 1, 1, 32, 1, 1] and careful.shared == 4096   # no more at once
    places = [x.ctypes.data for x in (*inputs, *outputs)]
    strides = [16, 16, 16, 0, 16]
    arrays = [y for pair in zip(places, strides, strict=True) for y in pair]
    for launch in driver.launches:
        assert launch.stream == STREAM and launch.extra is None
        *told, word, number = launch.told
        assert told == [1000, *arrays]
        assert word == WORDS + 8 * (number % SPREAD)
    assert quick.told == careful.told                   # one call, one word
    xla.call(made, inputs, outputs)
    assert driver.launches[2].told[-1] == quick.told[-1] + 1


def test_what_waits_between_kernels_is_a_result_and_many_states_go_in_parts():
    rows = [(20, 0, 64, 64, 0, 0), (21, 0, 64, 64, 3, 0), (22, 0, 64, 64, 3, 0), CAREFUL]
    driver = Driver(arguments={20: PLAIN, 21: PLAIN + 4, 22: PLAIN + 4, 12: PLAIN})
    xla, (inputs, outputs) = Xla(), given(100)
    waiting = aligned(3, 40)
    assert xla.call(handler(driver, *rows), inputs, [*outputs, waiting]) is None
    assert [x.handle for x in driver.launches] == [20, 21, 22, 12] * 3
    between = [waiting.ctypes.data, 40 * 8]
    for k, count in enumerate((40, 40, 20)):
        fill, first, second, careful = driver.launches[4 * k:4 * k + 4]
        shift = 16 * 40 * k
        q, v, tau, _ = (x.ctypes.data + shift for x in inputs)
        read = [q, 16, v, 16, tau, 16, inputs[3].ctypes.data, 0]
        written = [outputs[0].ctypes.data + shift, 16]
        for launch in (fill, careful):
            assert launch.told[:-2] == [count, *read, *written]
        for launch in (first, second):
            assert launch.told[:-2] == [count, *read, *between, *written, *between]
        assert len({tuple(x.told[-2:]) for x in (fill, first, second, careful)}) == 1
        assert fill.shape[0] == 1
    assert len({x.told[-1] for x in driver.launches}) == 3


class EmulatedDriver(Driver):
    """Runs the text of what is launched, in the memory of an emulator."""

    def __init__(self, program, plan, memory):
        found = stages(program, plan)
        self.codes = [stage.code() for stage in found]
        self.memory = memory
        self.rows = [(k + 1, code.shared, stage.plan.block, stage.plan.states, stage.slots,
                      2 if stage.plan.staying or stage.plan.careful else 0)
                     for k, (stage, code) in enumerate(zip(found, self.codes, strict=True))]
        arrays = len(program.inputs) + len(program.outputs)
        super().__init__(arguments={k + 1: 3 + 2 * arrays + 4 * (stage.slots > 0)
                                    for k, stage in enumerate(found)})

    def _launch(self, handle, *rest):
        super()._launch(handle, *rest)
        launch = self.launches[-1]
        assert launch.shape[3] == self.rows[handle - 1][2]
        Emulator(self.codes[handle - 1].ptx()).launch(self.memory, launch.shape[0], launch.shared,
                                                      *launch.told)
        return 0


@pytest.mark.parametrize("largest", [0, 25])
@pytest.mark.parametrize("kind", ["double", "float"])
def test_the_kernels_compute_what_they_do_on_a_cpu(kind, largest):
    """With pieces and without, in parts of the batch, far angles and a shared input."""
    dtype, n, memory = DTYPES[kind], 70, Memory()
    program, layouts = KERNEL.program, ("rows", "rows", "rows", "strided")
    plan = GpuPlan(kind, layouts, ("rows",), largest=largest) if largest else (
        KERNEL.gpu.plan(kind, layouts, ("rows",)))
    driver = EmulatedDriver(program, plan, memory)
    x = [RNG.normal(size=(n, 2)).astype(dtype) for _ in range(3)] + [
        RNG.normal(size=(1, 3)).astype(dtype)]
    x[0][5, 1] = 1e9
    slots = max(row[4] for row in driver.rows)
    assert (slots > 0) == bool(largest)
    results = [np.full((n, 2), 99, dtype), *([np.empty((slots, 32), dtype)] if slots else [])]
    told = record(kernels(*driver.rows), CONTEXT, memory.put(np.zeros(SPREAD, np.uint64)))
    made = HandlerKind(KERNEL.interface, kind, (False, False, False, True)).loaded(
        slots, {0: told}, driver.functions)
    there = [At(memory.put(a), a) for a in (*x, *results)]
    assert Xla().call(made, there[:4], there[4:]) is None
    assert len(driver.launches) == len(driver.rows) * (3 if slots else 1)
    found = memory.get(there[4].ctypes.data, (n, 2), dtype)
    np.testing.assert_array_equal(found, KERNEL(*x[:3], x[3][0]))


class At:
    """An array of the emulator's memory, as a buffer of XLA's."""

    def __init__(self, start, like):
        self.shape, self.ndim, self.itemsize = like.shape, like.ndim, like.itemsize
        self.ctypes = SimpleNamespace(data=start)


def test_one_state_all_shared_none_at_all_and_single_precision():
    driver = Driver(arguments={11: PLAIN})
    one = [aligned(2) for _ in range(3)] + [aligned(3)]
    made = handler(driver, QUICK, shared=(True,) * 4)
    assert Xla().call(made, one, [aligned(2)]) is None
    launch, = driver.launches
    assert launch.told[0] == 1 and launch.told[2:9:2] == [0] * 4 and launch.shape[0] == 1
    inputs, outputs = given(0)
    assert Xla().call(handler(driver, QUICK), inputs, outputs) is None
    assert len(driver.launches) == 1
    single = [aligned(7, 2, dtype=np.float32) for _ in range(3)] + [aligned(1, 3, dtype=np.float32)]
    made = handler(driver, QUICK, kind="float")
    assert Xla().call(made, single, [aligned(7, 2, dtype=np.float32)]) is None
    assert driver.launches[1].told[2:11:2] == [8, 8, 8, 0, 8]


def test_the_device_of_the_call_decides():
    driver = Driver(arguments={11: PLAIN})
    made, (inputs, outputs) = handler(driver, QUICK, device=3), given(5)
    assert Xla(device=3).call(made, inputs, outputs) is None
    assert len(driver.launches) == 1
    for other in (0, 64, -1):
        xla = Xla(device=other)
        assert xla.call(made, inputs, outputs) == ERROR
        assert "forward_dynamics: no code was made for this device" in xla.messages[0]


def test_it_tells_its_version_and_that_it_may_be_recorded():
    metadata = words(*[0] * 6)
    extension = words(32, 1, 0, ctypes.addressof(metadata))
    made = handler(Driver(), QUICK)
    assert Xla().call(made, [], [], extension=ctypes.addressof(extension)) is None
    assert metadata[3] == 1 << 32 and metadata[4] == 1
    for stage in range(3):
        assert Xla().call(made, [], [], stage=stage) is None


def test_errors_are_told_by_name():
    driver = Driver(refused=12, arguments={11: PLAIN})
    inputs, outputs = given(9)
    made = handler(driver, QUICK, CAREFUL)
    q, v, tau, g = inputs
    off = aligned(10, 2).reshape(-1)[1:19].reshape(9, 2)
    cases = [
        (Xla(), inputs, outputs, "the CUDA driver refuses a kernel: error 701; an earlier"),
        (Xla(length=184), inputs, outputs, "does not tell the device"),
        (Xla(), [q, v, tau], outputs, "it has 4 arrays: q, v, tau, gravity"),
        (Xla(), [q[None], v, tau, g], outputs, "of float64, with at most one leading axis"),
        (Xla(), [aligned(1, 2), v, tau, g], outputs, "q must have the leading axis of the result"),
        (Xla(), [q, v, tau, aligned(9, 3)], outputs, "gravity must have no leading axis"),
        (Xla(), [q, v, off, g], outputs, "must begin at multiples of 16 bytes"),
    ]
    for xla, read, written, text in cases:
        assert xla.call(made, read, written) == ERROR, text
        assert text in xla.messages[0] and xla.messages[0].startswith("forward_dynamics: ")
    xla = Xla(error=EARLIER_ERROR)
    assert xla.call(made, inputs, outputs) == EARLIER_ERROR and xla.messages == []


def test_records_hold_what_a_launch_needs():
    told = record(kernels(QUICK, CAREFUL), CONTEXT, WORDS)
    assert list(told) == [CONTEXT, WORDS, 2, 11, 64, 0, 64, NO_LIMIT, 0, 12, 32, 4096, 32, 5, 0]


def test_places_in_xlas_tables_are_those_of_its_header():
    jaxlib = pytest.importorskip("jaxlib", reason="NOT TESTED: pip install 'closedform[jax]'")
    header = Path(jaxlib.__file__).parent / "include" / "xla" / "ffi" / "api" / "c_api.h"
    names = re.findall(r"_XLA_FFI_API_STRUCT_FIELD\(XLA_FFI_(\w+)\)", header.read_text())
    places = {name: 48 + 8 * k for k, name in enumerate(names)}
    known = {"Error_Create": frame.CREATE, "Error_Destroy": frame.DESTROY,
             "Stream_Get": frame.STREAM, "ThreadPool_Schedule": frame.SCHEDULE,
             "ThreadPool_NumThreads": frame.COUNT_THREADS, "DeviceOrdinal_Get": frame.DEVICE}
    assert known == {name: places[name] for name in known}


@pytest.mark.parametrize(("device", "text"), [
    (0, "GPU context is not available"), (3, "forward_dynamics: no code was made for this device")])
def test_xla_itself_tells_the_device_and_its_own_errors_are_passed_on(device, text):
    """On a CPU: there device 0 has no stream, which is asked for last."""
    jax = pytest.importorskip("jax", reason="NOT TESTED: pip install 'closedform[jax]'")
    driver, name = Driver(), f"closedform_gpu_handler_for_{device}"
    made = handler(driver, QUICK, device=device, kind="float")
    KEPT.append((made, driver))                     # as long as XLA may call it
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(made.function), platform="cpu")
    x = [np.ones((5, 2), np.float32)] * 3 + [np.ones((1, 3), np.float32)]
    call = jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((5, 2), np.float32))
    with jax.default_device(jax.devices("cpu")[0]), pytest.raises(Exception, match=text):
        jax.block_until_ready(jax.jit(call)(*x))
    assert driver.launches == []
