"""What XLA hands to its foreign functions, seen from IR: fields, and functions of its own.

The structures are those of xla/ffi/api/c_api.h, version 0.1 and later.
"""

from __future__ import annotations

from closedform.lowerings.native.ir import Function

VERSION = (0, 1)
EXTENSION, API, CONTEXT, STAGE = 8, 16, 24, 32                  # XLA_FFI_CallFrame
INPUTS, OUTPUTS = (56, 72), (96, 112)                           # how many, and where
METADATA, EXECUTE, INVALID_ARGUMENT = 1, 3, 3
DTYPE, DATA, RANK, DIMENSIONS = 16, 24, 32, 40                  # XLA_FFI_Buffer
CREATE, DESTROY, STREAM, SCHEDULE, COUNT_THREADS, DEVICE = 48, 64, 80, 136, 144, 184  # XLA_FFI_Api


def get(f: Function, kind: str, pointer: str, place: int | str = 0) -> str:
    align = 4 if kind == "i32" else 8
    return f.let(f"load {kind}, ptr {f.offset(pointer, place)}, align {align}")


def put(f: Function, kind: str, value: object, pointer: str, place: int = 0) -> None:
    f.line(f"store {kind} {value}, ptr {f.offset(pointer, place)}, align "
           f"{4 if kind == 'i32' else 8}")


def structure(f: Function, length: int, *fields: tuple[str, object]) -> str:
    """Arguments of a function of XLA: length, no extension, and fields of eight bytes each."""
    place = f.allocate(16 + 8 * len(fields))
    put(f, "i64", length, place)
    put(f, "ptr", "null", place, 8)
    for k, (kind, value) in enumerate(fields):
        put(f, kind, value, place, 16 + 8 * k)
    return place


def api(f: Function, place: int) -> str:
    return get(f, "ptr", get(f, "ptr", "%frame", API), place)


def destroy(f: Function, error: str) -> None:
    """An error belongs to whom it is returned to."""
    mark = f.name()[1:]
    f.line(f"br i1 {f.let(f'icmp eq ptr {error}, null')}, label %fine.{mark}, label %error.{mark}")
    f.label(f"error.{mark}")
    given = structure(f, 24, ("ptr", error))
    f.line(f"call void {api(f, DESTROY)}(ptr {given})")
    f.line(f"br label %fine.{mark}")
    f.label(f"fine.{mark}")


def text(f: Function, name: str, content: str) -> str:
    """A constant of the module: characters, and a zero behind them."""
    data = f"{content}\0".encode()
    escaped = "".join(f"{chr(92)}{c:02X}" for c in data)
    f.module.declarations[f"{name} = private constant [{len(data)} x i8] c\"{escaped}\""] = None
    return name


def refuse(f: Function, message: str) -> None:
    """Return an error of XLA's with this text."""
    given = structure(f, 28, ("ptr", message), ("i32", INVALID_ARGUMENT))
    f.line(f"ret ptr {f.let(f'call ptr {api(f, CREATE)}(ptr {given})')}")


def least(f: Function, x: object, y: object) -> str:
    return f.let(f"select i1 {f.let(f'icmp slt i64 {x}, {y}')}, i64 {x}, i64 {y}")


def blocks(f: Function, n: object, length: object) -> str:
    """How many blocks of a length cover n, one or more."""
    before = f.let(f"sub i64 {n}, 1")
    return f.let(f"add i64 {f.let(f'udiv i64 {before}, {length}')}, 1")
