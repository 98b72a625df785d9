"""What a well-formed program is; every pass has to return one."""

from __future__ import annotations

import math
from collections.abc import Iterable

from closedform.errors import ClosedformError
from closedform.program.ops import OPS
from closedform.program.program import NONE, SHUFFLES, Entry, Instruction, Output, Program, size


class ProgramError(ClosedformError, ValueError):
    """A program that breaks the rules of `check`; the message says where and how."""


def check(program: Program) -> Program:
    """The program itself, if it is well formed.

    Names are identifiers and differ; every instruction has the arguments its operation needs, all
    of them earlier and with as many lanes as the others; leaves are entries of inputs, or
    constants, finite, positive or with lanes that differ; no instruction is written twice; outputs
    have as many entries as their shapes say, each a signed value or a finite constant.
    """
    for fault in _faults(program):
        raise ProgramError(f"program {program.name!r}: {fault}")
    return program


def _faults(program: Program) -> Iterable[str]:
    for kind, names in (("inputs", [slot.name for slot in program.inputs]),
                        ("outputs", [output.name for output in program.outputs])):
        if len(set(names)) != len(names):
            yield f"two {kind} have one name: {', '.join(names)}"
        for name in names:
            if not name.isidentifier():
                yield f"{name!r} of its {kind} is not an identifier"
    written: dict[Instruction, int] = {}
    for i, instruction in enumerate(program.code):
        if instruction in written:
            yield f"instruction {i} repeats instruction {written[instruction]}, {instruction}"
        written[instruction] = i
        for fault in _instruction_faults(program, i, instruction):
            yield f"instruction {i}, {instruction.op}{instruction.args}, {fault}"
    for output in program.outputs:
        for fault in _output_faults(output, program):
            yield f"output {output.name!r} {fault}"


def _instruction_faults(program: Program, i: int, instruction: Instruction) -> Iterable[str]:
    op, args, value = instruction
    if op == "const":
        if args or value is None or not 0.0 < value < math.inf:
            yield f"needs no arguments and a positive finite value, not {value}"
        return
    if op == "lanes":
        if args or not _lane_constants(value):
            yield f"needs no arguments and finite values that differ, not {value}"
        return
    if op in SHUFFLES:
        yield from _shuffle_faults(program, i, instruction)
        return
    if value is not None:
        yield f"has the value {value}, which only constants have"
    if op == "input":
        if len(args) < 2 or not 0 <= args[0] < len(program.inputs):
            yield f"names no input; there are {len(program.inputs)}"
        elif not all(0 <= k < size(program.inputs[args[0]].shape) for k in args[1:]):
            slot = program.inputs[args[0]]
            yield f"is outside input {slot.name!r} of shape {slot.shape}"
    elif op not in OPS:
        yield f"is unknown; operations are {', '.join(OPS)}"
    elif len(args) != OPS[op].arity:
        yield f"has {len(args)} arguments, not {OPS[op].arity}"
    elif not all(0 <= argument < i for argument in args):
        yield "uses a value that is not computed before it"
    elif len({program.widths[k] for k in args if program.code[k].op != "const"}) > 1:
        yield "has arguments of several widths"


def _shuffle_faults(program: Program, i: int, instruction: Instruction) -> Iterable[str]:
    op, args, lanes = instruction
    if not 1 <= len(args) <= (2 if op == "spread" else 1) or not all(0 <= k < i for k in args):
        yield "needs an argument that is computed before it, and a spread may have two"
    elif not isinstance(lanes, tuple) or max(lanes, default=-1) < 0 or min(lanes) < (
            NONE if op == "spread" and len(args) == 1 else 0):
        yield f"needs lanes, not {lanes!r}"
    elif op == "spread" and max(lanes) >= sum(program.widths[k] for k in args):
        yield f"asks for lane {max(lanes)} of {sum(program.widths[k] for k in args)}"
    elif op == "gather" and len(lanes) != program.widths[args[0]]:
        yield f"has {len(lanes)} lanes for a value of {program.widths[args[0]]}"
    elif op == "gather" and len({lanes.count(k) for k in range(max(lanes) + 1)}) > 1:
        yield "has sums of different length"


def _lane_constants(values: object) -> bool:
    return (isinstance(values, tuple) and len(set(values)) > 1
            and all(isinstance(x, float) and math.isfinite(x) for x in values))


def _output_faults(output: Output, program: Program) -> Iterable[str]:
    count = len(program.code)
    if any(n < 0 for n in output.shape) or len(output.entries) != size(output.shape):
        yield f"has shape {output.shape} and {len(output.entries)} entries"
    for k, entry in enumerate(output.entries):
        if not _is_value(entry, count) and not _is_constant(entry):
            yield f"has {entry} as entry {k}, neither one of {count} values nor a finite constant"
        elif entry.index >= 0 and not 0 <= entry.lane < program.widths[entry.index]:
            yield f"has lane {entry.lane} of {program.widths[entry.index]} as entry {k}"


def _is_value(entry: Entry, count: int) -> bool:
    return 0 <= entry.index < count and entry.sign in (1, -1) and entry.constant == 0.0


def _is_constant(entry: Entry) -> bool:
    return entry.index == -1 and entry.sign == 0 and math.isfinite(entry.constant)
