"""Machine code that launches the kernels of a GPU, one behind the other: one call from Python.

    int launch(record, pointers, stream)

A record holds what is the same in every call: the device's context, and for each kernel its handle,
blocks, threads, shared memory and arguments, which are numbers of the record, or of the `pointers`
of the call. Each call has a number, the last argument of every kernel; the one before it is the
address of the call's word, see `cuda/rare/watch.py`. Nothing of a call is shared between threads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from closedform.lowerings.native.cpu import LoadedCode, host, load, object_code
from closedform.lowerings.native.ir import Function, Module

DRIVER = ("cuCtxGetCurrent", "cuCtxSetCurrent", "cuLaunchKernel", "cuStreamSynchronize")
WORDS = 1 << 12
"""Calls that have a word each before the first one's is taken again."""
CONTEXT, WORDS_AT, WAITED, COUNT, STAGES = range(0, 40, 8)
HANDLE, BLOCKS, THREADS, SHARED, ARGUMENTS, PLACES = range(0, 48, 8)
"""Offsets in a record, and of a kernel in it; a place is an address, or an offset in `pointers`."""
MOST_ARGUMENTS = 480
SMALL = 8 * MOST_ARGUMENTS


class CallPointer(NamedTuple):
    """The argument that is a pointer of the call."""

    place: int


class LaunchStage(NamedTuple):
    """A kernel of a record."""

    handle: int
    blocks: int
    threads: int
    shared: int
    arguments: Sequence[int | CallPointer]


def launch_record(context: int, words: int, stages: Sequence[LaunchStage],
                  waited: bool = False) -> Any:
    """The memory of a record, for as long as it is held; `waited`: until the kernels are done."""
    length = 4 + sum(5 + len(stage.arguments) for stage in stages)
    numbers = [x for stage in stages for x in stage.arguments if not isinstance(x, CallPointer)]
    memory = (ctypes.c_uint64 * (length + len(numbers)))()
    place = ctypes.addressof(memory) + 8 * length
    told = [context, words, waited, len(stages)]
    for stage in stages:
        if len(stage.arguments) > MOST_ARGUMENTS - 2:
            raise ValueError(f"a kernel of {len(stage.arguments)} arguments")
        told += [*stage[:4], len(stage.arguments)]
        for x in stage.arguments:
            told.append(8 * x.place if isinstance(x, CallPointer) else place)
            place += 0 if isinstance(x, CallPointer) else 8
    memory[:] = [x & (1 << 64) - 1 for x in (*told, *numbers)]
    return memory


class Launcher:
    """`launch` in memory, with the driver's functions by their addresses."""

    def __init__(self, driver: Mapping[str, int]) -> None:
        self._calls = ctypes.c_uint64(1)
        module = Module()
        _add_launch(module)
        self._code: LoadedCode = load(object_code(module, host()), module.imports, host())
        self._code.bind({**driver, "calls": ctypes.addressof(self._calls)})
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.function: Any = kind(self._code.address("launch"))


def _add_launch(module: Module) -> None:
    f = Function(module)
    old, word, call = f.allocate(8), f.allocate(8), f.allocate(8)
    places = f.allocate(SMALL)

    def get(x: str, at: int, kind: str = "i64") -> str:
        return f.let(f"load {kind}, ptr {f.offset(x, at)}, align 8")

    context = get("%record", CONTEXT, "ptr")
    f.let(f"call i32 {f.imported('cuCtxGetCurrent')}(ptr {old})")
    before = get(old, 0, "ptr")
    same = f.let(f"icmp eq ptr {before}, {context}")
    f.line(f"br i1 {same}, label %begin, label %enter")
    f.label("enter")                            # a thread of others has none, or another device's
    entered = f.let(f"call i32 {f.imported('cuCtxSetCurrent')}(ptr {context})")
    f.line(f"br i1 {f.let(f'icmp eq i32 {entered}, 0')}, label %begin, label %refused")
    f.label("refused")
    f.line(f"ret i32 {entered}")
    f.label("begin")
    number = f.let(f"atomicrmw add ptr {f.imported('calls')}, i64 1 monotonic")
    f.line(f"store i64 {number}, ptr {call}, align 8")
    shift = f.let(f"shl i64 {f.let(f'and i64 {number}, {WORDS - 1}')}, 3")
    own = f.let(f"add i64 {get('%record', WORDS_AT)}, {shift}")
    f.line(f"store i64 {own}, ptr {word}, align 8")
    stages, first = get("%record", COUNT), f.offset("%record", STAGES)
    f.line("br label %stage")
    f.label("stage")
    f.line("%s = phi i64 [ 0, %begin ], [ %s.next, %ready ]")
    f.line(f"%at = phi ptr [ {first}, %begin ], [ %at.next, %ready ]")
    count, told = get("%at", ARGUMENTS), f.offset("%at", PLACES)
    f.line("br label %argument")
    f.label("argument")
    f.line("%k = phi i64 [ 0, %stage ], [ %k.next, %argument ]")
    at = f.let("shl i64 %k, 3")
    place = f.let(f"load i64, ptr {f.offset(told, at)}, align 8")
    given, fixed = f.offset("%pointers", place), f.let(f"inttoptr i64 {place} to ptr")
    small = f.let(f"icmp ult i64 {place}, {SMALL}")
    chosen = f.let(f"select i1 {small}, ptr {given}, ptr {fixed}")
    f.line(f"store ptr {chosen}, ptr {f.offset(places, at)}, align 8")
    f.line("%k.next = add i64 %k, 1")
    f.line(f"br i1 {f.let(f'icmp ult i64 %k.next, {count}')}, label %argument, label %ready")
    f.label("ready")
    end = f.let(f"shl i64 {count}, 3")
    f.line(f"store ptr {word}, ptr {f.offset(places, end)}, align 8")
    f.line(f"store ptr {call}, ptr {f.offset(f.offset(places, end), 8)}, align 8")
    blocks, threads, shared = (f.let(f"trunc i64 {get('%at', x)} to i32")
                               for x in (BLOCKS, THREADS, SHARED))
    code = f.let(f"call i32 {f.imported('cuLaunchKernel')}(ptr {get('%at', HANDLE, 'ptr')}, "
                 f"i32 {blocks}, i32 1, i32 1, i32 {threads}, i32 1, i32 1, i32 {shared}, "
                 f"ptr %stream, ptr {places}, ptr null)")
    f.line(f"%at.next = getelementptr i8, ptr {told}, i64 {end}")
    f.line("%s.next = add i64 %s, 1")
    last = f.let(f"icmp eq i64 %s.next, {stages}")
    stop = f.let(f"or i1 {last}, {f.let(f'icmp ne i32 {code}, 0')}")
    f.line(f"br i1 {stop}, label %leave, label %stage")
    f.label("leave")
    waits = f.let(f"icmp ne i64 {get('%record', WAITED)}, 0")
    f.line(f"br i1 {waits}, label %wait, label %end")
    f.label("wait")
    waited = f.let(f"call i32 {f.imported('cuStreamSynchronize')}(ptr %stream)")
    f.line("br label %end")
    f.label("end")
    late = f.let(f"phi i32 [ 0, %leave ], [ {waited}, %wait ]")
    first_code = f.let(f"icmp ne i32 {code}, 0")
    told_code = f.let(f"select i1 {first_code}, i32 {code}, i32 {late}")
    f.line(f"br i1 {same}, label %done, label %restore")
    f.label("restore")
    f.let(f"call i32 {f.imported('cuCtxSetCurrent')}(ptr {before})")
    f.line("br label %done")
    f.label("done")
    f.finish("dso_local i32 @launch(ptr %record, ptr %pointers, ptr %stream)",
             result=f"i32 {told_code}")
