"""How a thread reaches the entries of its state: straight in global memory, or by warps.

Rows of many entries leave through shared memory: each thread writes its row there, and the warp
moves the whole tile, 16 bytes a lane. Threads beyond the last state repeat it, and write nothing
that is not the same.
"""

from __future__ import annotations

from closedform.lowerings.cuda.plan import WARP, Plan
from closedform.lowerings.cuda.text import TYPES, Text
from closedform.program.program import Program, size

VECTOR = 16
"""Bytes that a lane moves at once."""


class Arrays:
    """The arrays of a program, in the layouts of a plan; per warp also `slots` for values."""

    def __init__(self, text: Text, program: Program, plan: Plan, slots: int) -> None:
        self.text, self.plan, self.slots = text, plan, slots
        self.type = TYPES[plan.kind]
        self.names = [*(f"in{k}" for k in range(len(program.inputs))),
                      *(f"out{k}" for k in range(len(program.outputs)))]
        self.counts = dict(zip(self.names, (
            *(size(slot.shape) for slot in program.inputs),
            *(len(output.entries) for output in program.outputs)), strict=True))
        self.layouts = dict(zip(self.names, (*plan.inputs, *plan.outputs), strict=True))
        self.tiles = [a for a in self.names if self.layouts[a] == "tile"]
        self.offsets: dict[str, int] = {}
        at = 0
        for a in self.tiles:
            self.offsets[a] = at
            at += WARP * self.counts[a] * plan.size
        self.slots_at = at
        at += slots * WARP * plan.size
        self.bytes = -(-at // 128) * 128
        self.base: dict[str, str] = {}
        self.strides: dict[str, str] = {}
        self.last: dict[str, tuple[int, str]] = {}

    # ------------------------------------------------------------------ once
    def begin(self) -> None:
        text = self.text
        thread = text.let("r", "mov.u32", "%tid.x")
        block = text.let("r", "mov.u32", "%ctaid.x")
        n = text.let("q", "ld.param.u64", "[n]")
        state = text.let("q", "mad.wide.u32", block, str(self.plan.block),
                         text.let("q", "cvt.u64.u32", thread))
        if self.bytes:
            lane = text.let("r", "and.b32", thread, str(WARP - 1))
            warp = text.let("r", "shr.u32", thread, "5")
            self.pool = text.let("r", "mad.lo.u32", warp, str(self.bytes),
                                 text.let("r", "mov.u32", "pool"))
            self.own_slots = text.let("r", "mad.lo.u32", lane, str(self.plan.size), self.pool)
        if self.tiles:
            self.lane = lane
            first = text.let("q", "sub.u64", state, text.let("q", "cvt.u64.u32", lane))
            text.line(f"@{text.let('p', 'setp.ge.u64', first, n)} bra DONE")
            left = text.let("q", "sub.u64", n, first)
            self.valid = text.let("r", "cvt.u32.u64", text.let("q", "min.u64", left, str(WARP)))
            state = text.let("q", "min.u64", state, text.let("q", "sub.u64", n, "1"))
            self.first = first
        else:
            text.line(f"@{text.let('p', 'setp.ge.u64', state, n)} bra DONE")
        for a in self.names:
            self._locate(a, state)

    def _locate(self, a: str, state: str) -> None:
        text = self.text
        pointer = text.let("q", "cvta.to.global.u64", text.let("q", "ld.param.u64", f"[{a}]"))
        layout = self.layouts[a]
        if layout == "states":
            stride = text.let("q", "ld.param.u64", f"[{a}_stride]")
            self.strides[a] = text.let("r", "cvt.u32.u64", stride)
            self.base[a] = text.let("q", "mad.lo.u64", state, str(self.plan.size), pointer)
        elif layout == "rows":
            stride = text.let("q", "ld.param.u64", f"[{a}_stride]")
            self.base[a] = text.let("q", "mad.lo.u64", state, stride, pointer)
        else:
            row = self.counts[a] * self.plan.size
            self.base[a] = text.let("q", "mad.lo.u64", self.first, str(row), pointer)
            self.strides[a] = text.let("r", "mad.lo.u32", self.lane, str(row), self.pool)
            if a.startswith("in"):
                self._load_tile(a)

    def end(self) -> None:
        outputs = [a for a in self.tiles if a.startswith("out")]
        if outputs:
            self._store_tiles(outputs)

    # ------------------------------------------------------------------ entries
    def slot(self, k: int) -> str:
        return f"{self.own_slots}+{self.slots_at + k * WARP * self.plan.size}"

    def read(self, array: int, k: int) -> str:
        a = f"in{array}"
        if self.layouts[a] == "tile":
            return self.text.let("f", f"ld.shared.{self.type}", f"[{self._in_tile(a, k)}]")
        return self.text.let("f", f"ld.global.nc.{self.type}", f"[{self._place(a, k)}]")

    def write(self, array: int, k: int, value: str) -> None:
        a = f"out{array}"
        if self.layouts[a] == "tile":
            self.text.line(f"st.shared.{self.type} [{self._in_tile(a, k)}], {value}")
        else:
            self.text.line(f"st.global.{self.type} [{self._place(a, k)}], {value}")

    def _in_tile(self, a: str, k: int) -> str:
        return f"{self.strides[a]}+{self.offsets[a] + k * self.plan.size}"

    def _place(self, a: str, k: int) -> str:
        if self.layouts[a] == "rows":
            return f"{self.base[a]}+{k * self.plan.size}"
        start, pointer = self.last.get(a, (0, self.base[a]))
        if not self.plan.chained:
            start, pointer = 0, self.base[a]
        if k != start:
            pointer = self.text.let("q", "mad.wide.s32", self.strides[a], str(k - start), pointer)
        self.last[a] = k, pointer
        return pointer

    # ------------------------------------------------------------------ tiles
    def _units(self, a: str) -> int:
        """Pieces of 16 bytes in a tile."""
        return WARP * self.counts[a] * self.plan.size // VECTOR

    def _load_tile(self, a: str) -> None:
        """The warp's rows into shared memory; what lies beyond the last state is not touched."""
        text, at = self.text, self._shifted()
        limit = text.let("r", "mul.lo.u32", self.valid, str(self.counts[a] * self.plan.size))
        source = text.let("q", "add.u64", self.base[a], text.let("q", "cvt.u64.u32", at))
        target = text.let("r", "add.u32", self.pool, at)
        moved = []
        for k in range(-(-self._units(a) // WARP)):
            shift = k * WARP * VECTOR
            end = text.let("r", "add.u32", at, str(shift + VECTOR))
            inside = text.let("p", "setp.le.u32", end, limit)
            words = [text.new("r") for _ in range(4)]
            text.line(f"@{inside} ld.global.nc.v4.b32 {{{', '.join(words)}}}, [{source}+{shift}]")
            moved.append((inside, words, shift))
        for inside, words, shift in moved:
            text.line(f"@{inside} st.shared.v4.b32 [{target}+{self.offsets[a] + shift}], "
                      f"{{{', '.join(words)}}}")
        self._rest_of_tile(a, limit, load=True)
        text.line("bar.warp.sync -1")

    def _store_tiles(self, outputs: list[str]) -> None:
        text, at = self.text, self._shifted()
        text.line("bar.warp.sync -1")
        source = text.let("r", "add.u32", self.pool, at)
        wide = text.let("q", "cvt.u64.u32", at)
        for a in outputs:
            limit = text.let("r", "mul.lo.u32", self.valid, str(self.counts[a] * self.plan.size))
            target = text.let("q", "add.u64", self.base[a], wide)
            for k in range(-(-self._units(a) // WARP)):
                shift = k * WARP * VECTOR
                end = text.let("r", "add.u32", at, str(shift + VECTOR))
                inside = text.let("p", "setp.le.u32", end, limit)
                words = "{" + ", ".join(text.new("r") for _ in range(4)) + "}"
                text.line(f"@{inside} ld.shared.v4.b32 {words}, "
                          f"[{source}+{self.offsets[a] + shift}]")
                text.line(f"@{inside} st.global.v4.b32 [{target}+{shift}], {words}")
            self._rest_of_tile(a, limit, load=False)

    def _rest_of_tile(self, a: str, limit: str, load: bool) -> None:
        """The last bytes of a part of a tile, fewer than 16: words of 4 by the first lanes."""
        text = self.text
        start = text.let("r", "and.b32", limit, str(-VECTOR & 0xFFFFFFFF))
        at = text.let("r", "mad.lo.u32", self.lane, "4", start)
        inside = text.let("p", "setp.lt.u32", at, limit)
        shared = text.let("r", "add.u32", self.pool, at)
        place = text.let("q", "add.u64", self.base[a], text.let("q", "cvt.u64.u32", at))
        word = text.new("r")
        here, there = f"shared.b32 [{shared}+{self.offsets[a]}]", f"global.b32 [{place}]"
        source, target = (there, here) if load else (here, there)
        space, address = source.split(" ")
        text.line(f"@{inside} ld.{space} {word}, {address}")
        text.line(f"@{inside} st.{target}, {word}")

    def _shifted(self) -> str:
        """Where the lane's part of every piece begins."""
        return self.text.let("r", "shl.b32", self.lane, "4")
