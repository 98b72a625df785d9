"""What is told of limbs in lanes: who shares them, or why nobody does."""

from __future__ import annotations

from typing import NamedTuple

from closedform.program.program import Program


class SharedLanes(NamedTuple):
    """The bodies that share instructions, a group for each place of the folded tree, lane by lane.

    Without groups, `reason` says why one state is computed number by number.
    """

    groups: tuple[tuple[str, ...], ...] = ()
    reason: str = ""

    def __bool__(self) -> bool:
        return bool(self.groups)

    def __str__(self) -> str:
        if not self.groups:
            return f"no lanes: {self.reason}"
        return "\n".join(f"{len(group)} lanes: {', '.join(group)}" for group in self.groups)


class FoldedProgram(NamedTuple):
    """A program with limbs in lanes and who shares them; none, and why there is none."""

    program: Program | None
    lanes: SharedLanes

    @classmethod
    def missing(cls, reason: str) -> FoldedProgram:
        """None, for a reason."""
        return cls(None, SharedLanes(reason=reason))
