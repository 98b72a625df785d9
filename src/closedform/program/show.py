"""A program as text for readers: one line for each value that is used more than once.

    # elbow(q[2], v[1]): 3 multiplications, 1 addition, 2 sines and cosines
    s1 = sin(q1)
    c1 = cos(q1)
    t0 = v0*c1 - q0*s1
    elbow[0] = -t0*t0

Values that are used once stand where they are used, as long as the line stays short. Parentheses
keep the order of evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from closedform.program.ops import ATOM, OPS
from closedform.program.program import Entry, Program, Slot

WIDTH = 60
"""Longer expressions get a line of their own."""

Text = tuple[str, int]
"""An expression and how tightly it binds."""


def listing(program: Program) -> str:
    """The program as text."""
    return "\n".join([_header(program), *_body(program)]) + "\n"


def _header(program: Program) -> str:
    arguments = ", ".join(f"{slot.name}{list(slot.shape) or ''}" for slot in program.inputs)
    count = program.operations
    parts = [_plural(count.mul, "multiplication"), _plural(count.add, "addition")]
    if count.div:
        parts[0] += f" ({_plural(count.div, 'division')} among them)"
    return f"# {program.name}({arguments}): {', '.join(parts)}, {count.trig} sines and cosines"


def _plural(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def _body(program: Program) -> Iterable[str]:
    taken = {input_name(slot, k) for slot in program.inputs for k in range(_count(slot))}
    texts: list[Text] = []
    temporaries = 0
    for i, (op, args, value) in enumerate(program.code):
        if op == "input":
            texts.append((input_name(program.inputs[args[0]], args[1]), ATOM))
        elif value is not None:
            texts.append((repr(value), ATOM))
        else:
            text = _expression(op, [texts[x] for x in args])
            if OPS[op].cost != "trig" and program.uses[i] == 1 and len(text[0]) <= WIDTH:
                texts.append(text)
                continue
            name = _trig_name(program, op, args[0]) if OPS[op].cost == "trig" else ""
            if not name:
                name, temporaries = f"t{temporaries}", temporaries + 1
            while name in taken:
                name += "_"
            taken.add(name)
            yield f"{name} = {text[0]}"
            texts.append((name, ATOM))
    for output in program.outputs:
        for index, entry in zip(np.ndindex(*output.shape), output.entries, strict=True):
            place = f"[{', '.join(map(str, index))}]" if index else ""
            yield f"{output.name}{place} = {_result(entry, texts)}"


def _expression(op: str, args: list[Text]) -> Text:
    symbol, precedence = OPS[op].symbol, OPS[op].precedence
    if precedence == ATOM:
        return f"{symbol}({', '.join(text for text, _ in args)})", ATOM
    left = _bracketed(args[0], precedence)
    right = _bracketed(args[1], precedence + 1)
    space = " " if precedence == 1 else ""
    return f"{left}{space}{symbol}{space}{right}", precedence


def _bracketed(text: Text, precedence: int) -> str:
    return text[0] if text[1] >= precedence else f"({text[0]})"


def _result(entry: Entry, texts: list[Text]) -> str:
    if entry.index < 0:
        return repr(entry.constant)
    text = texts[entry.index]
    return text[0] if entry.sign > 0 else f"-{_bracketed(text, 2)}"


def _count(slot: Slot) -> int:
    return int(np.prod(slot.shape, dtype=int))


def input_name(slot: Slot, k: int) -> str:
    """q for a scalar, q2 for an entry of a vector, q_1_2 for one of a matrix."""
    if len(slot.shape) < 2:
        return f"{slot.name}{k if slot.shape else ''}"
    return "_".join([slot.name, *map(str, np.unravel_index(k, slot.shape))])


def _trig_name(program: Program, op: str, argument: int) -> str:
    """s2 and c2 for the sine and cosine of entry 2 of the first input, if that is a vector."""
    leaf, args, _ = program.code[argument]
    if leaf == "input" and args[0] == 0 and len(program.inputs[0].shape) == 1:
        return f"{op[0]}{args[1]}"
    return ""
