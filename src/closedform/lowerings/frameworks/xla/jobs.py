"""Batches of states for XLA: a job of rows and columns, alone or with threads of XLA's pool.

A large batch is cut into chunks, in which threads of the pool take part: whoever is free claims the
next one by an atomic counter. The caller works too and waits for chunks that someone is at, never
for a thread to come free, so that a pool of one thread, or a busy one, cannot lock up. The record
of such a job is on the heap until the last who knows of it has let go.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Sequence

from closedform.lowerings.frameworks.xla.checks import StateArray
from closedform.lowerings.frameworks.xla.frame import (
    CONTEXT,
    COUNT_THREADS,
    SCHEDULE,
    api,
    blocks,
    destroy,
    get,
    least,
    put,
    structure,
)
from closedform.lowerings.native.ir import APART, Function, Module

NEXT, DONE, HOLDERS, ROWS, COLUMNS, HIGH, WIDE, PER_ROW, CHUNKS, ARRAYS = range(0, 80, 8)
"""A job: the next chunk, those done, who knows of it, the states, height and width of a chunk,
chunks in a row and in all; then base, row stride and column stride of each array."""

CHUNK_WORK = 1 << 19
"""Instructions of a chunk: some 50 µs, where to ask a pool for help takes one or two."""
FEW = 64
"""Columns below which `batch` runs along the rows if these are more."""


@functools.cache
def process_functions() -> dict[str, int]:
    """`malloc`, `free` and `yield` of this process."""
    if sys.platform == "win32":
        library, pause = ctypes.CDLL("ucrtbase"), ctypes.CDLL("kernel32").SwitchToThread
    else:
        library = ctypes.CDLL(None)
        pause = library.sched_yield
    found = {"malloc": library.malloc, "free": library.free, "yield": pause}
    return {name: ctypes.cast(x, ctypes.c_void_p).value or 0 for name, x in found.items()}


def add_jobs(module: Module, arrays: int) -> None:
    """The functions that `many_states` calls; they import `batch` and `process_functions`."""
    _add_rows(module, arrays)
    _add_work(module)
    _add_release(module)
    _add_task(module)


def _add_rows(module: Module, arrays: int) -> None:
    """void rows(job, row, rows, column, count): `batch` over part of each of some rows."""
    f = Function(module)
    batch = f.imported("batch")
    f.line("br label %loop")
    f.label("loop")
    f.line("%r = phi i64 [ %row, %start ], [ %r.next, %loop ]")
    given = ["i64 %count"]
    for k in range(arrays):
        base = get(f, "ptr", "%job", ARRAYS + 24 * k)
        down, right = (get(f, "i64", "%job", ARRAYS + 24 * k + at) for at in (8, 16))
        shift = f.let(f"add i64 {f.let(f'mul i64 %r, {down}')}, "
                      f"{f.let(f'mul i64 %column, {right}')}")
        given += [f"ptr {f.offset(base, shift)}", f"i64 {right}"]
    f.line(f"call void {batch}({', '.join(given)})")
    f.line("%r.next = add i64 %r, 1")
    f.line("%more = icmp slt i64 %r.next, %rows")
    f.line("br i1 %more, label %loop, label %done")
    f.label("done")
    f.finish("internal void @rows(ptr %job, i64 %row, i64 %rows, i64 %column, i64 %count)", APART)


def _add_work(module: Module) -> None:
    """void work(job): chunks, until none is left to be claimed."""
    f = Function(module)
    rows, columns, high, wide, per, chunks = (
        get(f, "i64", "%job", at) for at in (ROWS, COLUMNS, HIGH, WIDE, PER_ROW, CHUNKS))
    f.line("br label %claim")
    f.label("claim")
    f.line("%c = atomicrmw add ptr %job, i64 1 acq_rel, align 8")
    f.line(f"%some = icmp slt i64 %c, {chunks}")
    f.line("br i1 %some, label %run, label %end")
    f.label("run")
    row = f.let(f"mul i64 {f.let(f'udiv i64 %c, {per}')}, {high}")
    column = f.let(f"mul i64 {f.let(f'urem i64 %c, {per}')}, {wide}")
    last = least(f, f.let(f"add i64 {row}, {high}"), rows)
    count = least(f, f.let(f"sub i64 {columns}, {column}"), wide)
    f.line(f"call void @rows(ptr %job, i64 {row}, i64 {last}, i64 {column}, i64 {count})")
    f.line(f"{f.name()} = atomicrmw add ptr {f.offset('%job', DONE)}, i64 1 acq_rel, align 8")
    f.line("br label %claim")
    f.label("end")
    f.finish("internal void @work(ptr %job)", APART)


def _add_release(module: Module) -> None:
    """void release(job, holders): so many let go, and the last frees the record."""
    f = Function(module)
    f.line(f"%h = atomicrmw sub ptr {f.offset('%job', HOLDERS)}, i64 %holders acq_rel, align 8")
    f.line("%last = icmp eq i64 %h, %holders")
    f.line("br i1 %last, label %drop, label %end")
    f.label("drop")
    f.line(f"call void {f.imported('free')}(ptr %job)")
    f.line("br label %end")
    f.label("end")
    f.finish("internal void @release(ptr %job, i64 %holders)", APART)


def _add_task(module: Module) -> None:
    """void task(job): what a thread of the pool does."""
    f = Function(module)
    f.line("call void @work(ptr %job)")
    f.line("call void @release(ptr %job, i64 1)")
    f.finish("internal void @task(ptr %job)", APART)


def many_states(f: Function, arrays: Sequence[StateArray], work: int) -> None:
    """All states of a handler's arrays, the last of which says how many; `work` is that of one.

    Small batches are the caller's alone.
    """
    length = ARRAYS + 24 * len(arrays)
    n0, n1 = arrays[-1].rows, arrays[-1].columns
    few = f.let(f"icmp slt i64 {n1}, {FEW}")
    turned = f.let(f"and i1 {few}, {f.let(f'icmp slt i64 {n1}, {n0}')}")
    rows = f.let(f"select i1 {turned}, i64 {n1}, i64 {n0}")
    columns = f.let(f"select i1 {turned}, i64 {n0}, i64 {n1}")
    states = max(FEW, CHUNK_WORK // work // FEW * FEW)
    wide = least(f, columns, states)
    high = f.let(f"udiv i64 {states}, {wide}")          # at least one: wide is no more than states
    per = blocks(f, columns, wide)
    chunks = f.let(f"mul i64 {blocks(f, rows, high)}, {per}")
    here = f.allocate(length)
    alone = f.let(f"icmp slt i64 {chunks}, 3")
    f.line(f"br i1 {alone}, label %small, label %large")
    f.label("small")
    f.line("br label %fill")
    f.label("large")
    heap = f.let(f"call ptr {f.imported('malloc')}(i64 {length})")
    got = f.let(f"icmp ne ptr {heap}, null")
    place = f.let(f"select i1 {got}, ptr {heap}, ptr {here}")
    f.line("br label %fill")
    f.label("fill")
    job = f.let(f"phi ptr [ {here}, %small ], [ {place}, %large ]")
    for at, value in ((NEXT, 0), (DONE, 0), (ROWS, rows), (COLUMNS, columns), (HIGH, high),
                      (WIDE, wide), (PER_ROW, per), (CHUNKS, chunks)):
        put(f, "i64", value, job, at)
    for k, array in enumerate(arrays):
        _put_strides(f, array, turned, f.offset(job, ARRAYS + 24 * k))
    lonely = f.let(f"icmp eq ptr {job}, {here}")
    f.line(f"br i1 {lonely}, label %direct, label %shared")
    f.label("direct")
    f.line(f"call void @rows(ptr {job}, i64 0, i64 {rows}, i64 0, i64 {columns})")
    f.line("ret ptr null")
    f.label("shared")
    _with_help(f, job, chunks)


def _put_strides(f: Function, array: StateArray, turned: str, place: str) -> None:
    """Bytes from state to state along rows and columns, 0 where there is but one."""
    def unless_one(n: str, stride: object) -> str:
        return f.let(f"select i1 {f.let(f'icmp eq i64 {n}, 1')}, i64 0, i64 {stride}")

    right = unless_one(array.columns, array.state)
    down = unless_one(array.rows, f.let(f"mul i64 {array.columns}, {array.state}"))
    put(f, "ptr", array.data, place)
    put(f, "i64", f.let(f"select i1 {turned}, i64 {right}, i64 {down}"), place, 8)
    put(f, "i64", f.let(f"select i1 {turned}, i64 {down}, i64 {right}"), place, 16)


def _with_help(f: Function, job: str, chunks: str) -> None:
    """The caller works, and as many threads of the pool as there are and chunks for them."""
    context = get(f, "ptr", "%frame", CONTEXT)
    count = f.allocate(8)
    put(f, "i64", 1, count)
    ask = structure(f, 32, ("ptr", context), ("ptr", count))
    destroy(f, f.let(f"call ptr {api(f, COUNT_THREADS)}(ptr {ask})"))
    threads = least(f, get(f, "i64", count), chunks)
    put(f, "i64", threads, job, HOLDERS)
    helpers = f.let(f"sub i64 {threads}, 1")
    given = structure(f, 40, ("ptr", context), ("ptr", "@task"), ("ptr", job))
    schedule = api(f, SCHEDULE)
    before = f.block
    f.line("br label %help")
    f.label("help")
    f.line(f"%h = phi i64 [ {helpers}, %{before} ], [ %h.next, %ask_one ]")
    f.line(f"br i1 {f.let('icmp sgt i64 %h, 0')}, label %ask_one, label %own")
    f.label("ask_one")
    refused = f.let(f"call ptr {schedule}(ptr {given})")
    f.line("%h.next = sub i64 %h, 1")
    f.line(f"br i1 {f.let(f'icmp eq ptr {refused}, null')}, label %help, label %no_help")
    f.label("no_help")                                # nor will there be for the others
    destroy(f, refused)
    f.line(f"call void @release(ptr {job}, i64 %h)")
    f.line("br label %own")
    f.label("own")
    f.line(f"call void @work(ptr {job})")
    pause = f.imported("yield")
    f.line("br label %wait")
    f.label("wait")
    done = f.let(f"load atomic i64, ptr {f.offset(job, DONE)} acquire, align 8")
    f.line(f"br i1 {f.let(f'icmp sge i64 {done}, {chunks}')}, label %end, label %pause")
    f.label("pause")
    f.line(f"{f.name()} = call i32 {pause}()")
    f.line("br label %wait")
    f.label("end")
    f.line(f"call void @release(ptr {job}, i64 1)")
