"""The quick way from Python into a kernel: `vectorcall` functions written as IR beside the kernel.

    PyObject *call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)

`call` serves one state: if every argument is a contiguous array of exactly the right dtype and
shape, and `out` is missing or likewise and apart from the inputs, the kernel runs on the arrays'
memory. Otherwise `many` tries the same for n states (each input with one leading axis of n, or
without and then shared), if `batch` is loaded and n too small for threads, or `threads=1` is the
last argument. In every other case the arguments go unchanged to `next`, the `call` of another
dtype, or if there is none to the slow path, a Python callable: there are no errors to be raised
here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from closedform.lowerings.call.python_objects import (
    DATA,
    NDIM,
    READABLE,
    SHAPE,
    WRITEABLE,
    PythonObjects,
)
from closedform.lowerings.call.signature import Interface
from closedform.lowerings.call.threads import ENOUGH_WORK
from closedform.lowerings.native.ir import APART, BYTES, Function, Kind, Module
from closedform.program.program import Slot, size

ARGUMENTS_OFFSET = 1 << 63
"""A flag in the number of arguments."""
QUICK_WORK = 1 << 18
"""States times operations, some 30 µs, below which other threads of Python are left waiting."""

SIGNATURE = "ptr @{}(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames)"


class ArrayArgument(NamedTuple):
    """An array that has passed its checks: memory, bytes, and bytes from state to state."""

    data: str
    bytes: str
    stride: str


def add_call(module: Module, interface: Interface, kind: Kind) -> None:
    """`call` and `many`, for a module that has `kernel` of this kind."""
    _one_state(module, interface, kind)
    _many_states(module, interface, kind)


def _start(
    module: Module, interface: Interface, kind: Kind,
) -> tuple[Function, PythonObjects, list[str]]:
    """The arguments, if there are as many as inputs."""
    f = Function(module)
    o = PythonObjects(f, kind)
    count = f.let(f"and i64 %nargsf, {ARGUMENTS_OFFSET - 1}")
    o.require_equal("i64", count, len(interface.inputs))
    return f, o, [o.field("%args", 8 * k, "ptr") for k in range(len(interface.inputs))]


def _one_state(module: Module, interface: Interface, kind: Kind) -> None:
    f, o, arguments = _start(module, interface, kind)
    read = [_state(o, x, slot, READABLE)
            for x, slot in zip(arguments, interface.inputs, strict=True)]

    def run(written: Sequence[ArrayArgument]) -> None:
        f.line(f"call void @kernel({', '.join(f'ptr {x.data}' for x in (*read, *written))})")

    def check(x: str, slot: Slot) -> ArrayArgument:
        return _state(o, x, slot, WRITEABLE)

    _finish(_Call(o, interface, read, run, check, leading=(), keywords=o.keywords()))
    f.label("other")
    result = f.let("call ptr @many(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames)")
    f.finish("dso_local " + SIGNATURE.format("call"), result=f"ptr {result}")


def _state(o: PythonObjects, x: str, slot: Slot, flags: int) -> ArrayArgument:
    """An array with exactly the shape of a slot."""
    o.require_array(x, flags)
    o.require_equal("i32", o.field(x, NDIM, "i32"), len(slot.shape))
    if slot.shape:
        o.require_dimensions(o.field(x, SHAPE, "ptr"), slot.shape)
    return ArrayArgument(o.field(x, DATA, "ptr"), str(_bytes(o, slot)), "0")


def _bytes(o: PythonObjects, slot: Slot) -> int:
    """The memory of one state."""
    return BYTES[o.kind] * size(slot.shape)


def _many_states(module: Module, interface: Interface, kind: Kind) -> None:
    f, o, arguments = _start(module, interface, kind)
    batch = f.imported("batch")
    o.require(f.let(f"icmp ne ptr {batch}, null"))
    n = "0"
    read = []
    for x, slot in zip(arguments, interface.inputs, strict=True):
        array, n = _shared_or_many(o, x, slot, n)
        read.append(array)
    work = f.let(f"mul i64 {n}, {max(interface.operations.instructions, 1)}")
    o.require(f.let(f"icmp sgt i64 {n}, 0"))
    keywords, one_thread = o.without_one_thread(o.keywords(), len(interface.inputs))
    little = f.let(f"icmp ult i64 {work}, {ENOUGH_WORK}")
    o.require(f.let(f"or i1 {one_thread}, {little}"))

    def run(written: Sequence[ArrayArgument]) -> None:
        arrays = ", ".join(f"ptr {x.data}, i64 {x.stride}" for x in (*read, *written))
        _unlocked(o, f"call void {batch}(i64 {n}, {arrays})", work)

    def check(x: str, slot: Slot) -> ArrayArgument:
        o.require_array(x, WRITEABLE)
        o.require_equal("i32", o.field(x, NDIM, "i32"), 1 + len(slot.shape))
        o.require_dimensions(o.field(x, SHAPE, "ptr"), (n, *slot.shape))
        stride = _bytes(o, slot)
        return ArrayArgument(o.field(x, DATA, "ptr"), f.let(f"mul i64 {n}, {stride}"), str(stride))

    _finish(_Call(o, interface, read, run, check, leading=(n,), keywords=keywords))
    f.label("other")
    following = f.imported("next")
    f.line(f"br i1 {f.let(f'icmp eq ptr {following}, null')}, label %slow, label %next")
    f.label("next")
    result = f.let(f"call ptr {following}(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames)")
    f.line(f"ret ptr {result}")
    f.label("slow")
    result = o.call("PyObject_Vectorcall", f"ptr {f.imported('slow')}", "ptr %args", "i64 %nargsf",
                    "ptr %kwnames")
    f.finish("internal " + SIGNATURE.format("many"), APART, result=f"ptr {result}")


def _shared_or_many(o: PythonObjects, x: str, slot: Slot, n: str) -> tuple[ArrayArgument, str]:
    """An array with the shape of a slot, or one axis more; and the number of states so far."""
    f, rank = o.f, len(slot.shape)
    o.require_array(x, READABLE)
    ndim = o.field(x, NDIM, "i32")
    many = f.let(f"icmp eq i32 {ndim}, {rank + 1}")
    o.require(f.let(f"or i1 {many}, {f.let(f'icmp eq i32 {ndim}, {rank}')}"))
    one = f.allocate(8)                         # stands for the axis that a shared array lacks
    f.line(f"store i64 {n}, ptr {one}, align 8")
    dimensions = o.field(x, SHAPE, "ptr")
    length = o.field(f.let(f"select i1 {many}, ptr {dimensions}, ptr {one}"), 0, "i64")
    same = f.let(f"icmp eq i64 {length}, {n}")
    o.require(f.let(f"or i1 {same}, {f.let(f'icmp eq i64 {n}, 0')}"))
    if rank:
        skipped = f.let(f"select i1 {many}, i64 8, i64 0")
        o.require_dimensions(f.offset(dimensions, skipped), slot.shape)
    stride = f.let(f"select i1 {many}, i64 {_bytes(o, slot)}, i64 0")
    states = f.let(f"select i1 {many}, i64 {length}, i64 1")
    total = f.let(f"mul i64 {states}, {_bytes(o, slot)}")
    return ArrayArgument(o.field(x, DATA, "ptr"), total, stride), length


def _unlocked(o: PythonObjects, call: str, work: str) -> None:
    """A call that lets other threads of Python run if it takes long."""
    f = o.f
    quick = f.let(f"icmp ult i64 {work}, {QUICK_WORK}")
    mark = f.name()[1:]
    f.line(f"br i1 {quick}, label %quick.{mark}, label %long.{mark}")
    f.label(f"quick.{mark}")
    f.line(call)
    f.line(f"br label %ran.{mark}")
    f.label(f"long.{mark}")
    state = o.call("PyEval_SaveThread")
    f.line(call)
    o.call("PyEval_RestoreThread", f"ptr {state}", kind="void")
    f.line(f"br label %ran.{mark}")
    f.label(f"ran.{mark}")


class _Call(NamedTuple):
    """What is known of a call when its inputs have passed."""

    o: PythonObjects
    interface: Interface
    read: Sequence[ArrayArgument]
    run: Callable[[Sequence[ArrayArgument]], None]  # writes the call of the native function
    check: Callable[[str, Slot], ArrayArgument]     # an array given as `out`
    leading: tuple[str, ...]                # dimensions before those of an output
    keywords: str                           # how many arguments are given by name


def _finish(call: _Call) -> None:
    """Into the arrays given as `out`, or into new ones."""
    f = call.o.f
    f.line(f"br i1 {f.let(f'icmp eq i64 {call.keywords}, 0')}, label %make, label %given")
    f.label("given")
    _into_given(call)
    f.label("make")
    _into_new(call)


def _into_given(call: _Call) -> None:
    o, outputs = call.o, call.interface.outputs
    alone = len(outputs) == 1
    out = o.keyword_out(call.keywords, len(call.interface.inputs))
    objects = [out] if alone else o.items(out, len(outputs))
    written = [call.check(x, slot) for x, slot in zip(objects, outputs, strict=True)]
    o.require_apart([x[:2] for x in call.read], [x[:2] for x in written])
    call.run(written)
    for x in objects:
        o.call("Py_IncRef", f"ptr {x}", kind="void")
    if alone:
        o.f.line(f"ret ptr {out}")
        return
    result = o.new_tuple(len(outputs))
    for k, x in enumerate(objects):
        o.put(result, k, x)
    o.f.line(f"ret ptr {result}")


def _into_new(call: _Call) -> None:
    """The arrays belong to the result before anything else can fail."""
    o, outputs = call.o, call.interface.outputs
    alone = len(outputs) == 1
    result = None if alone else o.new_tuple(len(outputs))
    arrays, written = [], []
    for k, slot in enumerate(outputs):
        array = o.new_array((*call.leading, *slot.shape))
        o.return_null_without(array, release=result)
        if result is not None:
            o.put(result, k, array)
        arrays.append(array)
        written.append(ArrayArgument(o.field(array, DATA, "ptr"), "0", str(_bytes(o, slot))))
    call.run(written)
    for k, (slot, array) in enumerate(zip(outputs, arrays, strict=True)):
        if (*call.leading, *slot.shape) == ():
            arrays[k] = _scalar(o, array, result, k)
    o.f.line(f"ret ptr {result or arrays[0]}")


def _scalar(o: PythonObjects, array: str, result: str | None, k: int) -> str:
    """NumPy's scalar in place of an array without dimensions, as its own functions return."""
    if result is None:
        return o.call("PyArray_Return", f"ptr {array}")
    o.call("Py_IncRef", f"ptr {array}", kind="void")
    scalar = o.call("PyArray_Return", f"ptr {array}")
    o.return_null_without(scalar, release=result)
    o.put(result, k, scalar)
    return scalar
