"""XLA's way into a kernel on a CUDA device: a handler that launches it, written as IR.

    XLA_FFI_Error *xla(XLA_FFI_CallFrame *frame)

Arrays are the kernel's with at most one leading axis, which inputs that all states share do not
have, or have as 1. What is launched on which device is told by a record (`records.py`). What waits
between kernels is a further result: so XLA looks after its memory, nothing but launches goes to the
stream, and the call may be part of a command buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

from closedform.lowerings.frameworks.differentiable import Described
from closedform.lowerings.frameworks.xla import records
from closedform.lowerings.frameworks.xla.checks import (
    Checks,
    StateArray,
    answer_questions,
    checked_arrays,
)
from closedform.lowerings.frameworks.xla.frame import (
    API,
    CONTEXT,
    DATA,
    DEVICE,
    DIMENSIONS,
    OUTPUTS,
    STREAM,
    api,
    blocks,
    get,
    least,
    put,
    refuse,
    structure,
    text,
)
from closedform.lowerings.native.ir import BYTES, Function, Kind, Module

COMMAND_BUFFERS = 1
"""The trait of handlers that may be recorded into a command buffer."""
MOST = 1 << 27
"""States of one launch, whose arguments are numbers of 32 bits in part."""


def gpu_handler_module(interface: Described, kind: Kind, shared: Sequence[bool],
                       waits: bool) -> Module:
    """`xla`, which imports the `DRIVER`, `snprintf`, and `calls` and `records` of `records.py`.

    `shared` tells which inputs have no leading axis. With `waits` there is a further result, for
    what waits between the kernels: an array of numbers with states last, as many as are launched
    together.
    """
    module = Module()
    f = Function(module)
    answer_questions(f, COMMAND_BUFFERS)
    checks = Checks(f, interface.name, kind, axes=1)
    arrays = checked_arrays(checks, interface, extra=int(waits))
    states = arrays[-1].columns
    for slot, array, alone in zip(interface.inputs, arrays, shared, strict=False):
        right = f.let(f"icmp eq i64 {array.columns}, {1 if alone else states}")
        checks.require(right, f"{slot.name} must have {'no' if alone else 'the'} leading axis" + (
            "" if alone else " of the result"))
    _require_alignment(checks, arrays)
    record = _record(checks)
    checks.finish()
    f.line(f"br i1 {f.let(f'icmp eq i64 {states}, 0')}, label %nothing, label %some")
    f.label("nothing")
    f.line("ret ptr null")
    f.label("some")
    strides = [0 if alone else array.state for alone, array in zip(
        (*shared, *(False for _ in interface.outputs)), arrays, strict=True)]
    launch = _Launch(f, record, list(zip(arrays, strides, strict=True)), len(interface.inputs))
    most: object = MOST
    if waits:
        most = launch.give_waiting(len(interface.outputs), BYTES[kind])
    launch.all_states(states, most)
    message = f.allocate(1024)
    told = text(f, "@refusal", f"{interface.name}: the CUDA driver refuses a kernel: error %d; an "
                "earlier one may have failed, CUDA_LAUNCH_BLOCKING=1 tells which")
    f.line(f"{f.name()} = call i32 (ptr, i64, ptr, ...) {f.imported('snprintf')}("
           f"ptr {message}, i64 1024, ptr {told}, i32 %code)")
    refuse(f, message)
    f.finish("dso_local ptr @xla(ptr %frame)", result="ptr null")
    return module


def _require_alignment(checks: Checks, arrays: Sequence[StateArray]) -> None:
    """Tiles are moved 16 bytes at a time."""
    f, either = checks.f, "0"
    for array in arrays:
        either = f.let(f"or i64 {either}, {f.let(f'ptrtoint ptr {array.data} to i64')}")
    left = f.let(f"and i64 {either}, 15")
    checks.require(f.let(f"icmp eq i64 {left}, 0"),
                   "arrays on a GPU must begin at multiples of 16 bytes")


def _record(checks: Checks) -> str:
    """What is known of the device that the call is for."""
    f = checks.f
    length = get(f, "i64", get(f, "ptr", "%frame", API))
    checks.require(f.let(f"icmp ugt i64 {length}, {DEVICE}"),
                   "this version of JAX does not tell the device of a call; later ones do")
    device = f.let(f"zext i32 {_told(f, DEVICE, 'i32')} to i64")
    unknown = "no code was made for this device; make the operator in this process"
    checks.require(f.let(f"icmp ult i64 {device}, {records.DEVICES}"), unknown)
    place = f.offset(f.imported("records"), f.let(f"mul i64 {device}, 8"))
    record = get(f, "ptr", place)
    checks.require(f.let(f"icmp ne ptr {record}, null"), unknown)
    return record


def _told(f: Function, place: int, kind: str) -> str:
    """What a function of XLA's tells of the call; an error of it is returned."""
    given = structure(f, 32, ("ptr", get(f, "ptr", "%frame", CONTEXT)), ("i64", 0))
    error = f.let(f"call ptr {api(f, place)}(ptr {given})")
    mark = f.name()[1:]
    f.line(f"br i1 {f.let(f'icmp eq ptr {error}, null')}, label %told.{mark}, label %error.{mark}")
    f.label(f"error.{mark}")
    f.line(f"ret ptr {error}")
    f.label(f"told.{mark}")
    return get(f, kind, given, 24)


class _Launch:
    """Launches of a record's kernels, for arrays that have strides.

    A kernel's arguments are numbers of eight bytes: how many states, address and stride of each
    array, the call's word and its number (`lowerings/cuda/rare/watch.py`). Kernels that use what
    waits have its address and stride behind the inputs, and again behind the outputs.
    """

    def __init__(self, f: Function, record: str, arrays: Sequence[tuple[StateArray, int]],
                 inputs: int) -> None:
        self.f, self.record, self.arrays = f, record, arrays
        self.stream = _told(f, STREAM, "ptr")
        self.read, self.written = range(1, 1 + 2 * inputs), range(1 + 2 * inputs,
                                                                  1 + 2 * len(arrays))
        self.waiting = self.written.stop
        self.call = self.waiting + 2
        self.values = f.allocate(8 * (self.call + 2))
        for k, (_, stride) in enumerate(arrays):
            put(f, "i64", stride, self.values, 8 * (2 + 2 * k))
        self.plain = self.between = self._addresses(())

    def _addresses(self, waiting: Sequence[int]) -> str:
        """Where the arguments of a kernel are, in its order."""
        f = self.f
        order = [0, *self.read, *waiting, *self.written, *waiting, self.call, self.call + 1]
        place = f.allocate(8 * len(order))
        for k, at in enumerate(order):
            put(f, "ptr", f.offset(self.values, 8 * at), place, 8 * k)
        return place

    def give_waiting(self, at: int, size: int) -> str:
        """The result at a place is for what waits; for how many states it is."""
        f = self.f
        buffer = get(f, "ptr", get(f, "ptr", "%frame", OUTPUTS[1]), 8 * at)
        most = get(f, "i64", get(f, "ptr", buffer, DIMENSIONS), 8)
        put(f, "ptr", get(f, "ptr", buffer, DATA), self.values, 8 * self.waiting)
        put(f, "i64", f.let(f"mul i64 {most}, {size}"), self.values, 8 * self.waiting + 8)
        self.between = self._addresses((self.waiting, self.waiting + 1))
        return most

    def all_states(self, states: str, most: object) -> None:
        """At most so many at a time; what follows is for refusals, with the `%code`."""
        f = self.f
        enter, start, calls = (f.imported(x) for x in ("cuCtxSetCurrent", "cuLaunchKernel",
                                                       "calls"))
        context, words = (get(f, "ptr", self.record, at)
                          for at in (records.CONTEXT, records.WORDS))
        kernels = get(f, "i64", self.record, records.COUNT)
        entered = f.let(f"call i32 {enter}(ptr {context})")
        fine, before = f.let(f"icmp eq i32 {entered}, 0"), f.block
        f.line(f"br i1 {fine}, label %chunk, label %refused")
        f.label("chunk")
        f.line(f"%first = phi i64 [ 0, %{before} ], [ %first.next, %launched ]")
        count = least(f, f.let(f"sub i64 {states}, %first"), most)
        put(f, "i64", count, self.values)
        for k, (array, stride) in enumerate(self.arrays):
            shifted = f.offset(array.data, f.let(f"mul i64 %first, {stride}"))
            put(f, "ptr", shifted, self.values, 8 * (1 + 2 * k))
        number = f.let(f"atomicrmw add ptr {calls}, i64 1 monotonic, align 8")
        word = f.let(f"mul i64 {f.let(f'urem i64 {number}, {records.SPREAD}')}, 8")
        put(f, "ptr", f.offset(words, word), self.values, 8 * self.call)
        put(f, "i64", number, self.values, 8 * self.call + 8)
        f.line("br label %launch")
        f.label("launch")
        f.line("%k = phi i64 [ 0, %chunk ], [ %k.next, %next ]")
        code = self._one(start, count)
        f.line(f"br i1 {f.let(f'icmp eq i32 {code}, 0')}, label %next, label %refused")
        f.label("next")
        f.line("%k.next = add i64 %k, 1")
        f.line(f"br i1 {f.let(f'icmp slt i64 %k.next, {kernels}')}, label %launch, "
               "label %launched")
        f.label("launched")
        f.line(f"%first.next = add i64 %first, {count}")
        f.line(f"br i1 {f.let(f'icmp slt i64 %first.next, {states}')}, label %chunk, "
               "label %nothing")
        f.label("refused")
        f.line(f"%code = phi i32 [ {entered}, %{before} ], [ {code}, %launch ]")

    def _one(self, start: str, count: str) -> str:
        """The record's kernel k, for so many states: the driver's code."""
        f = self.f
        row = f.offset(self.record, f.let(
            f"add i64 {records.FIRST}, {f.let(f'mul i64 %k, {records.ROW}')}"))
        handle = get(f, "ptr", row, records.HANDLE)
        threads, shared, states, limit, waits = (get(f, "i64", row, at) for at in (
            records.THREADS, records.SHARED, records.STATES, records.LIMIT, records.WAITS))
        grid = least(f, blocks(f, count, states), limit)
        width, height, memory = (f.let(f"trunc i64 {x} to i32") for x in (grid, threads, shared))
        some = f.let(f"icmp ne i64 {waits}, 0")
        given = f.let(f"select i1 {some}, ptr {self.between}, ptr {self.plain}")
        return f.let(f"call i32 {start}(ptr {handle}, i32 {width}, i32 1, i32 1, i32 {height}, "
                     f"i32 1, i32 1, i32 {memory}, ptr {self.stream}, ptr {given}, ptr null)")
