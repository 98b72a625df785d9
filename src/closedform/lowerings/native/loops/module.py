"""Sweeps as machine code: a function for each loop, called one after the other by `kernel`.

The block of memory between them is on the stack if it is small.
"""

from __future__ import annotations

from closedform.lowerings.native.far_angles import add_repair
from closedform.lowerings.native.ir import BYTES, LANES_APART, Function, Lanes, Module
from closedform.lowerings.native.loops.arrangement import Arrangement, entries_of
from closedform.lowerings.native.loops.blocks import add_blocks
from closedform.lowerings.native.loops.columns import add_columns
from closedform.lowerings.native.loops.pairs import add_pairs
from closedform.lowerings.native.loops.runs import add_moves
from closedform.lowerings.native.loops.sweep import add_sweep
from closedform.program.sweeps import BlockLoop, ColumnLoop, PairLoop, Sweeps

ON_STACK = 1 << 18
"""Bytes up to which the block is on the stack: threads have small ones."""


def swept_module(of: Sweeps, lanes: Lanes) -> Module:
    """`kernel`, for lanes of the target's width."""
    module, layout = Module(), Arrangement.make(of, lanes.width)
    layout.add_constants(module, lanes)
    arrays = [f"in{k}" for k in range(len(of.inputs))] + [f"out{k}" for k in range(len(of.outputs))]
    arguments = ", ".join(f"ptr noalias %{a}" for a in arrays)
    given = ", ".join(f"ptr %{a}" for a in arrays)
    main = Function(module)
    bytes_ = BYTES[lanes.kind]
    amount = layout.total * bytes_
    block = main.allocate(amount, 64) if amount <= ON_STACK else main.let(
        f"call ptr {main.imported('malloc')}(i64 {amount})")
    if layout.laid:
        add_moves(module, layout, lanes)
    for k, slot in enumerate(of.inputs):
        _move_vectors(main, layout, slot.name, f"%in{k}", block, "laid", bytes_)
    for k, loop in enumerate(of.loops):
        f = Function(module)
        if isinstance(loop, PairLoop):
            add_pairs(f, layout, loop, lanes)
        elif isinstance(loop, BlockLoop):
            add_blocks(f, layout, loop, lanes)
        elif isinstance(loop, ColumnLoop):
            add_columns(f, layout, loop, lanes)
        else:
            add_sweep(f, layout, k, lanes)
        f.finish(f"internal void @loop{k}({arguments}, ptr noalias %block)", LANES_APART)
        main.line(f"call void @loop{k}({given}, ptr {block})")
    for k in range(len(of.outputs)):
        _move_vectors(main, layout, f"out{k}", f"%out{k}", block, "taken", bytes_)
    if amount > ON_STACK:
        main.line(f"call void {main.imported('free')}(ptr {block})")
    main.finish(f"dso_local void @kernel({arguments})")
    add_repair(module, lanes)
    return module


def _move_vectors(main: Function, layout: Arrangement, name: str, vectors: str, block: str,
                  move: str, bytes_: int) -> None:
    """The vectors of an input into runs, or of an output back."""
    if name in layout.laid:
        for entry in range(entries_of(layout.of, name)):
            outside = main.offset(vectors, entry * layout.of.places[name].pitch * bytes_)
            inside = main.offset(block, (layout.start[name] + entry * layout.pitch[name]) * bytes_)
            ends = (outside, inside) if move == "laid" else (inside, outside)
            main.line(f"call void @{move}(ptr {ends[0]}, ptr {ends[1]})")
