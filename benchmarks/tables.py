"""A table, once: to the terminal and to Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as RichTable

NOTHING = "–"


@dataclass(frozen=True)
class Table:
    """A title, a note, a head and rows of text; all columns but the first stand to the right."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""

    def print(self, console: Console) -> None:
        table = RichTable(title=self.title, title_justify="left", caption=self.note or None,
                          caption_justify="left")
        for i, name in enumerate(self.head):
            table.add_column(name, justify="right" if i else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*row, style="red" if "missed" in row else None)
        console.print(table)

    def markdown(self) -> str:
        lines = [f"## {self.title}", ""]
        if self.note:
            lines += [self.note, ""]
        lines += [_line(self.head), _line(["---"] + ["---:"] * (len(self.head) - 1))]
        return "\n".join([*lines, *(_line(row) for row in self.rows), ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '∣') for cell in cells)} |"


def number(x: float | None, unit: str = "") -> str:
    """Three digits, or a dash."""
    if x is None:
        return NOTHING
    text = f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"
    return text + unit
