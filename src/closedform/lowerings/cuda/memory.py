"""How a thread reaches the entries of its state: straight in global memory, or by warps.

Rows of many entries leave through shared memory: each thread writes its row there, and the warp
moves the whole tile, 16 bytes a lane. Threads beyond the last state repeat it, and write nothing
that is not the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from closedform.lowerings.cuda.plan import SECTOR, WARP, GpuPlan
from closedform.lowerings.cuda.steps.order import WAITING
from closedform.lowerings.cuda.text import TYPES, PtxText
from closedform.lowerings.cuda.tiles import (
    Mover,
    SegmentWriter,
    segment_bytes,
    segment_pitch,
)
from closedform.program.program import Program, size


class ThreadArrays:
    """The arrays of a program, in the layouts of a plan; per warp also `slots` for values."""

    def __init__(self, text: PtxText, program: Program, plan: GpuPlan, slots: int) -> None:
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
        self.staged_at = at + SECTOR * bool(plan.segment)
        at += segment_bytes(plan, [self._row(a) for a in self.names
                                   if self.layouts[a] == "segments"])
        self.slots_at = at
        at += slots * plan.width * WARP * plan.size
        self.ring_at = at
        at += plan.ring * WARP * plan.size
        self.bytes = -(-at // 128) * 128
        self.base: dict[str, str] = {}
        self.strides: dict[str, str] = {}
        self.last: dict[str, tuple[int, str]] = {}
        self.changing = {f"in{k}" for k, slot in enumerate(program.inputs) if slot.name == WAITING}
        self.used: dict[str, list[int]] = {}
        for array, k in sorted({x.args for x in program.code if x.op == "input"}):
            self.used.setdefault(f"in{array}", []).append(k)

    # ------------------------------------------------------------------ once
    def begin(self) -> None:
        text = self.text
        thread = text.let("r", "mov.u32", "%tid.x")
        block = text.let("r", "mov.u32", "%ctaid.x")
        n = text.let("q", "ld.param.u64", "[n]")
        state = text.let("q", "mad.wide.u32", block, str(self.plan.block),
                         text.let("q", "cvt.u64.u32", thread))
        if self.bytes:
            self.lane = lane = text.let("r", "and.b32", thread, str(WARP - 1))
            warp = text.let("r", "shr.u32", thread, "5")
            self.pool = text.let("r", "mad.lo.u32", warp, str(self.bytes),
                                 text.let("r", "mov.u32", "pool"))
            self.own_slots = text.let("r", "mad.lo.u32", lane, str(self.plan.size), self.pool)
        if self.tiles or self.plan.segment:
            self.first = text.let("q", "sub.u64", state, text.let("q", "cvt.u64.u32", lane))
            text.line(f"@{text.let('p', 'setp.ge.u64', self.first, n)} bra DONE")
            left = text.let("q", "sub.u64", n, self.first)
            self.valid = text.let("r", "cvt.u32.u64", text.let("q", "min.u64", left, str(WARP)))
            state = text.let("q", "min.u64", state, text.let("q", "sub.u64", n, "1"))
            self.mover = Mover(text, lane, self.pool, self.valid)
        else:
            if self.plan.width > 1:
                state = text.let("q", "mul.lo.u64", state, str(self.plan.width))
            text.line(f"@{text.let('p', 'setp.ge.u64', state, n)} bra DONE")
        for a in self.names:
            self._locate(a, state, self._pointer(a))
        for a in self.tiles:
            if a.startswith("in"):
                self.mover.load(self.base[a], self.offsets[a], self._row(a))
        if any(a.startswith("in") for a in self.tiles):
            text.together()
        for a in self.used if self.plan.ahead else ():
            if self.layouts[a] == "states":
                for k in self.used[a]:
                    text.line(f"prefetch.global.L2 [{self._place(a, k)}]")
                self.last.pop(a)

    def _pointer(self, a: str) -> str:
        return self.text.let("q", "cvta.to.global.u64",
                             self.text.let("q", "ld.param.u64", f"[{a}]"))

    def _stride(self, a: str) -> str:
        """From one entry to the next with states last, counted in entries: 31 bits do."""
        stride = self.text.let("q", "ld.param.u64", f"[{a}_stride]")
        return self.text.let("r", "cvt.u32.u64", self.text.let(
            "q", "shr.u64", stride, str(self.plan.size.bit_length() - 1)))

    def _row(self, a: str) -> int:
        """Bytes of a state."""
        return self.counts[a] * self.plan.size

    def _locate(self, a: str, state: str, pointer: str) -> None:
        """Where the entries of a state are, as `read` and `write` go on from."""
        text = self.text
        layout = self.layouts[a]
        if layout == "states":
            self.strides[a] = self._stride(a)
            self.base[a] = text.let("q", "mad.lo.u64", state, str(self.plan.size), pointer)
        elif layout in ("rows", "strided"):
            stride = text.let("q", "ld.param.u64", f"[{a}_stride]")
            self.base[a] = text.let("q", "mad.lo.u64", state, stride, pointer)
        elif layout == "segments":
            self.base[a] = text.let("q", "mad.lo.u64", self.first, str(self._row(a)), pointer)
            pitch = str(segment_pitch(self.plan, self._row(a)))
            self.strides[a] = text.let("r", "mad.lo.u32", self.lane, pitch, self.pool)
        else:
            row = str(self._row(a))
            self.base[a] = text.let("q", "mad.lo.u64", self.first, row, pointer)
            lane = self.mover.own if a.startswith("in") else self.mover.lane
            self.strides[a] = text.let("r", "mad.lo.u32", lane, row, self.pool)

    def end(self) -> None:
        outputs = [a for a in self.tiles if a.startswith("out")]
        if outputs:
            self.text.together()
        for a in outputs:
            self.mover.store(self.base[a], self.offsets[a], self._row(a))

    # ------------------------------------------------------------------ entries
    def slot(self, k: int) -> str:
        return f"{self.own_slots}+{self.slots_at + k * WARP * self.plan.size}"

    def ring(self, k: int) -> str:
        return f"{self.own_slots}+{self.ring_at + k * WARP * self.plan.size}"

    def ask(self, array: int, k: int, place: int) -> None:
        """An entry of an input into a place of the ring."""
        self.text.line(f"cp.async.ca.shared.global [{self.ring(place)}], "
                       f"[{self._place(f'in{array}', k)}], {self.plan.size}")

    def read(self, array: int, k: int) -> list[str]:
        """An entry of an input, for each state of the thread."""
        a, width = f"in{array}", self.plan.width
        if self.layouts[a] == "tile":
            return [self.text.let("f", f"ld.shared.{self.type}", f"[{self._in_tile(a, k)}]")]
        cached = "" if a in self.changing else ".nc"
        if self.layouts[a] != "states" or width == 1:
            place = self._place(a, k)
            return [self.text.let("f", f"ld.global{cached}.{self.type}", f"[{place}]")] * width
        values = [self.text.new("f") for _ in range(width)]
        self.text.line(f"ld.global{cached}.v{width}.{self.type} {{{', '.join(values)}}}, "
                       f"[{self._place(a, k)}]")
        return values

    def write(self, array: int, k: int, values: Sequence[str]) -> None:
        a = f"out{array}"
        if self.layouts[a] == "tile":
            self.text.line(f"st.shared.{self.type} [{self._in_tile(a, k)}], {values[0]}")
        elif len(values) == 1:
            self.text.line(f"st.global.{self.type} [{self._place(a, k)}], {values[0]}")
        else:
            self.text.line(f"st.global.v{len(values)}.{self.type} [{self._place(a, k)}], "
                           f"{{{', '.join(values)}}}")

    def stage(self, array: int, k: int, value: str) -> None:
        """An entry of the segment that is filled, k entries from its start; k < 0: from the start
        of the next state's."""
        at = self.staged_at + k * self.plan.size
        if k < 0:
            at += segment_pitch(self.plan, self.row(array))
        self.text.line(f"st.shared.{self.type} [{self.strides[f'out{array}']}+{at}], {value}")

    def row(self, array: int) -> int:
        """Bytes of a row of an output."""
        return self._row(f"out{array}")

    def flush(self, array: int, start: int) -> None:
        """Write a segment that is there."""
        a, text = f"out{array}", self.text
        staged = text.let("r", "add.u32", self.pool, str(self.staged_at))
        SegmentWriter(text, self.plan, self.valid, self.lane, staged, self.base[a],
                      self._row(a)).write(start * self.plan.size)

    def _in_tile(self, a: str, k: int) -> str:
        return f"{self.strides[a]}+{self.offsets[a] + k * self.plan.size}"

    def _place(self, a: str, k: int) -> str:
        if self.layouts[a] != "states":
            return f"{self.base[a]}+{k * self.plan.size}"
        start, pointer = self.last.get(a, (0, self.base[a]))
        if not self.plan.chained:
            start, pointer = 0, self.base[a]
        if k != start:
            shift = str((k - start) * self.plan.size)
            pointer = self.text.let("q", "mad.wide.s32", self.strides[a], shift, pointer)
        self.last[a] = k, pointer
        return pointer


class LoopingArrays(ThreadArrays):
    """For the careful kernel: nothing if there is no word for it, else all states in a loop."""

    def begin(self) -> None:
        text = self.text
        word = text.let("q", "cvta.to.global.u64", text.let("q", "ld.param.u64", "[word]"))
        found = text.let("q", "ld.global.u64", f"[{word}]")
        call = text.let("q", "ld.param.u64", "[call]")
        text.line(f"@{text.let('p', 'setp.lt.u64', found, call)} bra DONE")
        block = text.let("r", "mov.u32", "%ctaid.x")
        threads = str(self.plan.block)
        self.n = text.let("q", "ld.param.u64", "[n]")
        self.state = text.let("q", "mad.wide.u32", block, threads, text.let(
            "q", "cvt.u64.u32", text.let("r", "mov.u32", "%tid.x")))
        self.step = text.let("q", "mul.wide.u32", text.let("r", "mov.u32", "%nctaid.x"), threads)
        text.line(f"@{text.let('p', 'setp.ge.u64', self.state, self.n)} bra DONE")
        text.loop("LOOP")
        for a in self.names:
            self._locate(a, self.state, self._pointer(a))

    def end(self) -> None:
        self.text.line(f"add.u64 {self.state}, {self.state}, {self.step}")
        more = self.text.let("p", "setp.lt.u64", self.state, self.n)
        self.text.line(f"@{more} bra LOOP")
