"""The order in which a program's values are computed, and where they wait: steps, pieces, scratch.

A step computes one or more values of a program, reads entries of an input or writes entries of an
output. Compared with the program's own code, products are fused into sums, sines and cosines of one
angle are one step, and those of all angles known at the start come first, together: one test of
their range serves them all, and scalar code computes them side by side in one register.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from closedform.lowerings.native.outputs import LaneRows, lane_rows, output_blocks
from closedform.program.ordering.list_schedule import by_list_schedule
from closedform.program.ordering.waiting import waiting_slots
from closedform.program.program import LEAVES, Program, size

PIECE = 1000
"""Steps in one function of a program that is cut into pieces."""
WHOLE = 3000
"""Steps up to which a program is one function; LLVM's time grows with the square of its size. In
lanes, where much is transposing, both limits are doubled (benchmarks/choices.py, third row)."""
LISTED = 1500
"""Steps up to which matrices with limbs in lanes are put in order by a list schedule; of other
programs all those that are one function are. Larger ones have enough to do at all times."""
NEAR = 60
"""Steps for which values of two lanes may wait for others of their row, all but one in four: two
numbers written singly cost no more than one that waits."""
SINCOS_COST = 30
"""Steps that a sine and cosine are worth in lanes; scalar code has several in one register."""
PACKED_SINCOS_COST = 6


class Step(NamedTuple):
    """One step. Places are those of the program's code; −1 stands for no value.

    "sincos" has the angles as arguments and a sine and a cosine for each as results. "read" and
    "write" start at an entry of input or output number `array`; "fill" gives all entries of an
    output one constant, and "rows" writes values of several lanes.
    """

    op: str
    results: tuple[int, ...]
    args: tuple[int, ...]
    array: int = -1
    entry: int = -1
    fill: float = 0.0
    rows: LaneRows | None = None


def steps(program: Program, fma: bool, columns: int, listed: bool = True,
          held: int = 0) -> list[Step]:
    """The whole program; inputs are read and outputs written up to `columns` entries at a time.

    `listed`: small programs of single states are put in order for a processor's latencies; `held`
    values are in registers before.
    """
    arithmetic = list(_arithmetic(program, fma))
    matrices = program.has_lanes and any(len(output.shape) > 1 for output in program.outputs)
    if listed and columns == 1 and len(arithmetic) <= (LISTED if matrices else WHOLE):
        arithmetic = by_list_schedule(arithmetic, held)
    computed = list(_with_reads(program, arithmetic, columns))
    return list(_with_writes(program, computed, columns))


def fused_products(program: Program) -> dict[int, int]:
    """For each sum that swallows a product used nowhere else, that product."""
    code, uses = program.code, program.uses
    result = {}
    for place, instruction in enumerate(code):
        if instruction.op in ("add", "sub"):
            products = [i for i in instruction.args if code[i].op == "mul" and uses[i] == 1]
            if products:
                result[place] = products[0]
    return result


def step_of(program: Program, place: int, fused: dict[int, int]) -> Step:
    """The step of an arithmetic instruction."""
    op, args = program.code[place].op, program.code[place].args
    if place not in fused:
        return Step(op, (place,), args)
    product = fused[place]
    x, y = program.code[product].args
    z = args[1] if args[0] == product else args[0]
    name = "fma" if op == "add" else "fms" if args[0] == product else "fnma"
    return Step(name, (place,), (x, y, z))


def _angles(program: Program) -> tuple[dict[int, list[int]], list[int]]:
    """Sine and cosine of each angle, and the angles that depend on no other sine or cosine."""
    pairs: dict[int, list[int]] = {}
    after_trig = [False] * len(program.code)
    for place, instruction in enumerate(program.code):
        op, args = instruction.op, instruction.args
        if op in ("sin", "cos"):
            pairs.setdefault(args[0], [-1, -1])[op == "cos"] = place
            after_trig[place] = True
        elif op not in LEAVES:
            after_trig[place] = any(after_trig[i] for i in args)
    return pairs, [x for x in pairs if not after_trig[x]]


def _arithmetic(program: Program, fma: bool) -> Iterator[Step]:
    """What is computed, in order, the angles known at the start first."""
    code = program.code
    fused = fused_products(program) if fma else {}
    swallowed = set(fused.values())
    pairs, early = _angles(program)
    needed = set(early)
    for place in reversed(range(len(code))):
        if place in needed and code[place].op not in LEAVES:
            needed.update(step_of(program, place, fused).args)
    first = sorted(place for place in needed if code[place].op not in LEAVES)
    yield from (step_of(program, place, fused) for place in first)
    if early:
        yield Step("sincos", tuple(i for x in early for i in pairs[x]), tuple(early))
    done = needed | swallowed | {i for x in early for i in pairs[x]}
    for place, instruction in enumerate(code):
        if place in done or instruction.op in LEAVES:
            continue
        if instruction.op in ("sin", "cos"):
            pair = pairs[instruction.args[0]]
            yield Step("sincos", tuple(pair), instruction.args)
            done.update(pair)
        else:
            yield step_of(program, place, fused)


def _with_reads(program: Program, arithmetic: Sequence[Step], columns: int) -> Iterator[Step]:
    """Before the first use of an input its entry is read, with the neighbours in its block."""
    places = {x.args: i for i, x in enumerate(program.code) if x.op == "input"}
    seen: set[int] = set()
    written = [Step("write", (), tuple(e.index for o in program.outputs for e in o.entries))]
    for step in (*arithmetic, *written):
        for i in step.args:
            if i < 0 or i in seen or program.code[i].op != "input":
                continue
            slot, entry, *others = program.code[i].args
            if others:
                seen.add(i)
                yield Step("read", (i,), (), slot)
                continue
            start = entry - entry % columns
            stop = min(start + columns, size(program.inputs[slot].shape))
            block = tuple(places.get((slot, k), -1) for k in range(start, stop))
            seen.update(block)
            yield Step("read", block, (), slot, start)
        if step.op != "write":
            yield step


def _with_writes(program: Program, before: list[Step], columns: int) -> Iterator[Step]:
    """A block of an output is written when its last entry is known; constants come first."""
    born = {i: k for k, step in enumerate(before) for i in step.results}
    writes: dict[int, list[Step]] = {}
    one_state = columns == 1 and program.has_lanes
    for array, output in enumerate(program.outputs):
        done: set[int] = set()
        for rows in lane_rows(output.entries, program.widths) if one_state else ():
            times = [born.get(i, -1) for i in rows.values]
            last = max(times)
            if (program.widths[max(rows.values)] == 2
                    and sum(last - k > NEAR for k in times) > len(times) // 4):
                continue
            writes.setdefault(last, []).append(Step("rows", (), rows.values, array, rows=rows))
            done |= rows.entries
        for start, stop, fill in output_blocks(output.entries, columns, done):
            if fill is not None:
                yield Step("fill", (), (), array, fill=fill)
                continue
            args = tuple(e.index for e in output.entries[start:stop])
            last = max((born.get(i, -1) for i in args if i >= 0), default=-1)
            writes.setdefault(last, []).append(Step("write", (), args, array, start))
    yield from writes.get(-1, ())
    for k, step in enumerate(before):
        yield step
        yield from writes.get(k, ())


def pieces(whole: Sequence[Step], columns: int,
           limits: tuple[int, int] | None = None) -> list[list[Step]]:
    """The steps cut into runs that LLVM compiles in time proportional to their number."""
    costs = [_cost(step, columns) for step in whole]
    scale = 1 if columns == 1 else 2
    piece, most = limits or (PIECE, WHOLE)
    if sum(costs) <= scale * most:
        return [list(whole)]
    result: list[list[Step]] = [[]]
    total = 0
    for step, cost in zip(whole, costs, strict=True):
        if total >= scale * piece:
            result.append([])
            total = 0
        result[-1].append(step)
        total += cost
    return result


def _cost(step: Step, columns: int) -> int:
    """Instructions, roughly; blocks of several columns are transposed unless they are constant."""
    if step.op == "sincos":
        return (PACKED_SINCOS_COST if columns == 1 else SINCOS_COST) * len(step.args)
    if step.rows is not None:
        return len(step.args) + 2 * len(step.rows.rows)
    if step.op == "read" or (step.op == "write" and max(step.args) >= 0):
        return 1 if columns == 1 else 3 * columns
    return columns if step.op == "write" else 1


def waiting_places(parts: Sequence[Sequence[Step]]) -> tuple[dict[int, int], int]:
    """Slots for values that wait for a later piece, and how many there are."""
    return waiting_slots([[(step.results, step.args) for step in part] for part in parts])
