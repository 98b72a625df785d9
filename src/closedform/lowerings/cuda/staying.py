"""Warps that stay: each takes one tile of states after the other, and asks for the next in time.

While a warp computes, the inputs of its next tile come into a second buffer: rows as they are,
and with states last the entries that are used. Both buffers are in front of all else that the warp
has in shared memory.
"""

from __future__ import annotations

from closedform.lowerings.cuda.memory import ThreadArrays
from closedform.lowerings.cuda.plan import WARP, GpuPlan
from closedform.lowerings.cuda.text import PtxText
from closedform.lowerings.cuda.tiles import Mover
from closedform.program.program import Program


class StayingArrays(ThreadArrays):
    """The arrays of a program whose warps go through all tiles."""

    def __init__(self, text: PtxText, program: Program, plan: GpuPlan, slots: int) -> None:
        super().__init__(text, program, plan, slots)
        self.asked = [a for a in self.used if self.layouts[a] in ("tile", "states")]
        self.tiles = [a for a in self.tiles if a.startswith("out")]
        at = 0
        for a in self.asked:
            self.offsets[a] = at
            at += WARP * (self._row(a) if self.layouts[a] == "tile" else
                          len(self.used[a]) * plan.size)
        self.half = at
        at *= 2
        for a in self.tiles:
            self.offsets[a] = at
            at += WARP * self._row(a)
        self.slots_at = at
        at += slots * WARP * plan.size
        self.bytes = -(-at // 128) * 128

    def begin(self) -> None:
        text = self.text
        thread = text.let("r", "mov.u32", "%tid.x")
        lane = text.let("r", "and.b32", thread, str(WARP - 1))
        warp = text.let("r", "shr.u32", thread, "5")
        self.pool = text.let("r", "mad.lo.u32", warp, str(self.bytes),
                             text.let("r", "mov.u32", "pool"))
        self.own_slots = text.let("r", "mad.lo.u32", lane, str(self.plan.size), self.pool)
        self.n = text.let("r", "cvt.u32.u64", text.let("q", "ld.param.u64", "[n]"))
        self.tile_count = text.let("r", "shr.u32", text.let("r", "add.u32", self.n, "31"), "5")
        self.tile, self.next, self.now = text.new("r"), text.new("r"), text.new("r")
        block = text.let("r", "mov.u32", "%ctaid.x")
        text.line(f"mad.lo.u32 {self.tile}, {block}, {self.plan.warps}, {warp}")
        blocks = text.let("r", "mov.u32", "%nctaid.x")
        step = text.let("r", "mul.lo.u32", blocks, str(self.plan.warps))
        text.line(f"@{text.let('p', 'setp.ge.u32', self.tile, self.tile_count)} bra DONE")
        text.line(f"mov.u32 {self.now}, 0")
        pointers = {a: self._pointer(a) for a in self.names if a in self.asked
                    or self.layouts[a] != "tile" or a in self.tiles}
        self._ask(self.tile, lane, self.pool, pointers)
        text.line("cp.async.commit_group")
        text.loop("LOOP")
        text.line(f"add.u32 {self.next}, {self.tile}, {step}")
        other = text.let("r", "sub.u32", text.let("r", "mov.u32", str(self.half)), self.now)
        self._ask(self.next, lane, text.let("r", "add.u32", self.pool, other), pointers)
        text.line("cp.async.commit_group")
        text.line("cp.async.wait_group 1")
        text.together()
        first = text.let("r", "shl.b32", self.tile, "5")
        left = text.let("r", "sub.u32", self.n, first)
        self.mover = Mover(text, lane, self.pool, text.let("r", "min.u32", left, str(WARP)))
        self.first = text.let("q", "cvt.u64.u32", first)
        own = text.let("r", "min.u32", text.let("r", "add.u32", first, lane),
                       text.let("r", "sub.u32", self.n, "1"))
        state = text.let("q", "cvt.u64.u32", own)
        here = text.let("r", "add.u32", self.pool, self.now)
        row = self.mover.own
        for a in self.asked:
            if self.layouts[a] == "tile":
                self.strides[a] = text.let("r", "mad.lo.u32", row, str(self._row(a)), here)
            else:
                self.strides[a] = text.let("r", "mad.lo.u32", lane, str(self.plan.size), here)
        for a, pointer in pointers.items():
            if a not in self.asked:
                self._locate(a, state, pointer)

    def _ask(self, tile: str, lane: str, place: str, pointers: dict[str, str]) -> None:
        """Inputs of a tile into a buffer; of a tile behind the last one nothing."""
        text, size = self.text, self.plan.size
        first = text.let("r", "shl.b32", tile, "5")
        left = text.let("r", "max.s32", text.let("r", "sub.u32", self.n, first), "0")
        valid = text.let("r", "min.u32", left, str(WARP))
        mover = Mover(text, lane, self.pool, valid)
        some = text.let("p", "setp.ne.u32", valid, "0")
        own = text.let("r", "min.u32", text.let("r", "add.u32", first, lane),
                       text.let("r", "sub.u32", self.n, "1"))
        target = text.let("r", "mad.lo.u32", lane, str(size), place)
        for a in self.asked:
            if self.layouts[a] == "tile":
                source = text.let("q", "mad.wide.u32", first, str(self._row(a)), pointers[a])
                mover.ask(source, place, self.offsets[a], self._row(a))
                continue
            stride = self._stride(a)
            source = text.let("q", "mad.wide.u32", own, str(size), pointers[a])
            for j, k in enumerate(self.used[a]):
                entry = text.let("q", "mad.wide.s32", stride, str(k * size),
                                 source) if k else source
                at = self.offsets[a] + j * WARP * size
                text.line(f"@{some} cp.async.ca.shared.global [{target}+{at}], [{entry}], {size}")

    def read(self, array: int, k: int) -> list[str]:
        a = f"in{array}"
        if self.layouts[a] != "states":
            return super().read(array, k)
        at = self.offsets[a] + self.used[a].index(k) * WARP * self.plan.size
        return [self.text.let("f", f"ld.shared.{self.type}", f"[{self.strides[a]}+{at}]")]

    def end(self) -> None:
        text = self.text
        super().end()
        text.together()
        text.line(f"mov.u32 {self.tile}, {self.next}")
        text.line(f"sub.u32 {self.now}, {self.half}, {self.now}")
        text.line(f"@{text.let('p', 'setp.lt.u32', self.tile, self.tile_count)} bra LOOP")
