"""Programs as bytes, for storage: arrays behind a JSON header, read without executing anything."""

from __future__ import annotations

import json

import numpy as np

from closedform.errors import FormatError
from closedform.program.program import Entry, Instruction, Output, Program, Slot

_ARGUMENTS = 2


def to_bytes(program: Program) -> bytes:
    """Names and shapes; operations, arguments and values of the code; indices, signs and constants
    of the outputs."""
    names = sorted({x.op for x in program.code})
    number = {name: k for k, name in enumerate(names)}
    entries = [e for o in program.outputs for e in o.entries]
    header = json.dumps({
        "name": program.name,
        "inputs": [(s.name, s.shape) for s in program.inputs],
        "outputs": [(o.name, o.shape, len(o.entries)) for o in program.outputs],
        "operations": names,
        "instructions": len(program.code),
        "entries": len(entries),
    }).encode()
    arguments = [(*x.args, -1, -1)[:_ARGUMENTS] for x in program.code]
    arrays = (
        np.array([number[x.op] for x in program.code], "<u1"),
        np.array(arguments, "<i4").reshape(-1),
        np.array([np.nan if x.value is None else x.value for x in program.code], "<f8"),
        np.array([e.index for e in entries], "<i4"),
        np.array([e.sign for e in entries], "<i1"),
        np.array([e.constant for e in entries], "<f8"),
    )
    return b"".join((len(header).to_bytes(4, "little"), header, *(a.tobytes() for a in arrays)))


def from_bytes(data: bytes, digest: str) -> Program:
    """The program that `to_bytes` wrote; an error if it is not the one with this digest."""
    try:
        program = _decoded(data)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        message = f"a stored program of {len(data)} bytes cannot be read: {error}"
        raise FormatError(message) from error
    if program.digest != digest:
        raise FormatError(f"a stored program has digest {program.digest}; expected {digest}")
    return program


def _decoded(data: bytes) -> Program:
    stop = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:stop])
    names, n, m = header["operations"], header["instructions"], header["entries"]
    arrays = []
    counts = (n, _ARGUMENTS * n, n, m, m, m)
    for kind, count in zip(("<u1", "<i4", "<f8", "<i4", "<i1", "<f8"), counts, strict=True):
        array = np.frombuffer(data, kind, count, stop)
        arrays.append(array.tolist())
        stop += array.nbytes
    ops, arguments, values, index, sign, constant = arrays
    code = tuple(
        Instruction(names[op], tuple(i for i in pair if i >= 0),
                    value if names[op] == "const" else None)
        for op, value, *pair in zip(ops, values, arguments[::2], arguments[1::2], strict=True))
    entries = [Entry(*e) for e in zip(index, sign, constant, strict=True)]
    outputs, start = [], 0
    for name, shape, count in header["outputs"]:
        outputs.append(Output(name, tuple(shape), tuple(entries[start:start + count])))
        start += count
    inputs = tuple(Slot(name, tuple(shape)) for name, shape in header["inputs"])
    return Program(header["name"], inputs, tuple(outputs), code)
