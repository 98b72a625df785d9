"""How a program runs on a GPU: the layout of its arrays, and what its threads keep where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from closedform.lowerings.native.ir import BYTES, Kind

Layout = Literal["states", "rows", "tile"]
"""Where entry k of state i lies: "states" last, at k·stride + i·size; in "rows", at i·stride +
k·size; "tile" is rows without gaps that a warp moves together through shared memory."""

WARP = 32


@dataclass(frozen=True)
class Plan:
    """`registers` values are in registers at a time, 0: as the assembler likes; `slots` of those
    that wait are in shared memory, further ones in local memory. `chained`: the address of an entry
    comes from that of the one before, so that the assembler cannot compute them all at the start.
    """

    kind: Kind
    inputs: tuple[Layout, ...]
    outputs: tuple[Layout, ...]
    block: int = 64
    registers: int = 0
    slots: int = 0
    chained: bool = False

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return BYTES[self.kind]

    @property
    def warps(self) -> int:
        return self.block // WARP
