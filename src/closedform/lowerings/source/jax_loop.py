"""A long program for JAX: tables of operations that one loop goes through, sixteen at a time.

XLA takes time for every operation that it sees, some milliseconds; in a loop it sees only a few.
Sines and cosines of the inputs come first, then every step gathers two operands for each of its
lanes and computes all kinds of operation, of which each lane keeps its own.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from closedform.program.ops import FUNCTIONS, OPS
from closedform.program.program import LEAVES, Program, size

LANES = 16
KINDS = tuple(OPS)
TEXTS = {**{op.name: f"jnp.{op.ufunc}(jnp.where(kind == {{k}}, x, 1))" for op in FUNCTIONS},
         "add": "x + y", "sub": "x - y", "mul": "x * y",
         "div": "x / jnp.where(kind == {k}, y, 1)",
         **{name: f"jnp.{name}(x)" for name in ("sin", "cos", "sign")}}
"""What lanes of another kind compute is dropped, but it must have a derivative."""


@dataclass(frozen=True)
class Tables:
    """Where values lie, and what is computed in each step.

    The buffer holds the inputs, the constants, the values computed beforehand and the results, a
    row of `LANES` for each step.
    """

    before: list[int]                   # values computed beforehand, in order
    constants: list[float]
    places: dict[int, int]              # of values in the buffer
    steps: list[list[int]]              # values computed in each step
    start: int                          # of the first row


def tables(program: Program) -> Tables:
    """The program laid out for the loop."""
    code = program.code
    before = _early(program)
    constants = sorted({x.value for x in code if x.value is not None})
    offsets = [sum(size(s.shape) for s in program.inputs[:k])
               for k in range(len(program.inputs) + 1)]
    places: dict[int, int] = {}
    for i, (op, args, value) in enumerate(code):
        if op == "input":
            places[i] = offsets[args[0]] + args[1]
        elif value is not None:
            places[i] = offsets[-1] + constants.index(value)
    start = offsets[-1] + len(constants)
    places.update((i, start + k) for k, i in enumerate(before))
    start += len(before)
    steps = _steps(program, set(places))
    for k, step in enumerate(steps):
        places.update((i, start + k * LANES + lane) for lane, i in enumerate(step))
    return Tables(before, constants, places, steps, start)


def _early(program: Program) -> list[int]:
    """Sines and cosines that depend on no other ones, and what their angles are made of."""
    code, after = program.code, [False] * len(program.code)
    early: set[int] = set()
    for i, (op, args, _) in enumerate(code):
        if op in LEAVES:
            continue
        after[i] = any(after[j] for j in args)
        if op in ("sin", "cos"):
            if not after[i]:
                early.add(i)
            after[i] = True
    for i in reversed(range(len(code))):
        if i in early and code[i].op not in LEAVES:
            early.update(j for j in code[i].args if code[j].op not in LEAVES)
    return sorted(early)


def _steps(program: Program, known: set[int]) -> list[list[int]]:
    """Values that can be computed together; those with the longest way to go first."""
    code = program.code
    users: dict[int, list[int]] = {}
    missing: dict[int, int] = {}
    height = [0] * len(code)
    for i in reversed(range(len(code))):
        if i in known:
            continue
        waits = {j for j in code[i].args if j not in known}
        missing[i] = len(waits)
        for j in waits:
            users.setdefault(j, []).append(i)
            height[j] = max(height[j], height[i] + 1)
    ready = [(-height[i], i) for i, n in missing.items() if n == 0]
    heapq.heapify(ready)
    steps: list[list[int]] = []
    while ready:
        step = [heapq.heappop(ready)[1] for _ in range(min(LANES, len(ready)))]
        steps.append(step)
        for i in step:
            for user in users.get(i, ()):
                missing[user] -= 1
                if missing[user] == 0:
                    heapq.heappush(ready, (-height[user], user))
    return steps


def table_lines(program: Program, name: str, of: Tables) -> Iterator[str]:
    """The tables as module constants, named after the function."""
    def padded(values: list[int]) -> list[int]:
        return values + [0] * (LANES - len(values))

    code = program.code
    kind = [padded([KINDS.index(code[i].op) for i in step]) for step in of.steps]
    left = [padded([of.places[code[i].args[0]] for i in step]) for step in of.steps]
    right = [padded([of.places[code[i].args[-1]] for i in step]) for step in of.steps]
    for key, rows in (("KIND", kind), ("LEFT", left), ("RIGHT", right)):
        yield f"{name.upper()}_{key} = np.array(["
        yield from (f"    {row}," for row in rows)
        yield "], dtype=np.int32)"
    yield f"{name.upper()}_CONSTANTS = np.array({of.constants!r})"


def loop_lines(program: Program, name: str, of: Tables) -> Iterator[str]:
    """The loop, as lines of the function's body; `before` holds what was computed beforehand."""
    kinds = sorted({KINDS.index(program.code[i].op) for step in of.steps for i in step})
    big = name.upper()
    parts = [*(f"{s.name}.ravel()" for s in program.inputs), f"{big}_CONSTANTS.astype(dtype)"]
    if of.before:
        parts.append("jnp.stack([jnp.asarray(x, dtype) for x in before])")
    parts.append(f"jnp.zeros({LANES * len(of.steps)}, dtype)")
    yield f"w = jnp.concatenate([{', '.join(parts)}])"
    yield from ("", "def step(w, row):", "    kind, left, right, at = row",
                "    x, y = w[left], w[right]")
    choices = ", ".join(TEXTS[KINDS[k]].format(k=k) for k in kinds)
    tests = ", ".join(f"kind == {k}" for k in kinds)
    yield f"    made = jnp.select([{tests}], [{choices}])"
    yield from ("    return jax.lax.dynamic_update_slice(w, made, (at,)), None", "")
    yield f"at = {of.start} + {LANES}*np.arange({len(of.steps)}, dtype=np.int32)"
    yield f"w, _ = jax.lax.scan(step, w, ({big}_KIND, {big}_LEFT, {big}_RIGHT, at))"
    made = []
    for output in program.outputs:
        where = [of.places.get(e.index, 0) for e in output.entries]
        signs = [e.sign for e in output.entries]
        constants = [e.constant for e in output.entries]
        made.append(f"_entries(w, {where}, {signs}, {constants}, {output.shape!r})")
    yield f"return {made[0]}" if len(made) == 1 else "return (" + ",\n            ".join(made) + ")"


ENTRIES = '''\
def _entries(w, where, signs, constants, shape):
    signs, constants = (np.array(x, dtype=w.dtype) for x in (signs, constants))
    return (w[np.array(where, dtype=np.int32)] * signs + constants).reshape(shape)'''
