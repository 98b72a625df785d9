"""Parts of the report's page: tables that become cards on a phone, figures with their numbers."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from closedform.applications.report import figures

MOST_ROWS = 120
"""Rows of the numbers behind a figure; of more, every so many-th."""


TableCell = str | tuple[Any, str]
"""HTML, or what it is sorted by and HTML."""


def table(titles: Sequence[str], rows: Iterable[Sequence[TableCell]], numbers: Sequence[int] = (),
          caption: str = "", kind: str = "") -> str:
    """A table of HTML cells; `numbers` are columns set to the right.

    On a phone a row is a card, each cell with its column's title before it.
    """
    def cell(k: int, given: TableCell) -> str:
        key, text = given if isinstance(given, tuple) else ("", given)
        sort = "" if key in ("", None) else f' data-sort="{key}"'
        tag = "th" if k == 0 else "td"
        return (f'<{tag}{" scope=row" if k == 0 else ""}{" class=n" if k in numbers else ""}{sort} '
                f'data-title="{titles[k]}">{text}</{tag}>')
    head = "".join(f'<th scope="col"{" class=n" if k in numbers else ""}>{text}</th>'
                   for k, text in enumerate(titles))
    body = "".join("<tr>" + "".join(cell(k, text) for k, text in enumerate(row)) + "</tr>"
                   for row in rows)
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
            f'<table class="cards {kind}">{told}<thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


def figure(make: Any, caption: str, alt: str = "", numbers: Mapping[str, Any] | None = None) -> str:
    """An SVG with a caption, words for those who do not see it, and its numbers as a CSV file."""
    mark = "f" + hashlib.sha256(caption.encode()).hexdigest()[:6]
    link = "" if numbers is None else csv_link(mark, numbers)
    return (f'<figure>{figures.svg(make, escape(alt or caption), mark)}<figcaption>'
            f"{escape(caption)} {link}</figcaption></figure>")


def csv_link(name: str, columns: Mapping[str, Any]) -> str:
    """A link that holds the columns as CSV."""
    rows = list(zip(*(np.asarray(x).ravel().tolist() for x in columns.values()), strict=True))
    every = max(1, -(-len(rows) // MOST_ROWS))
    lines = [",".join(_quoted(x) for x in columns)]
    lines += [",".join(f"{x:.6g}" if isinstance(x, float) else _quoted(str(x)) for x in row)
              for row in rows[::every]]
    data = base64.b64encode("\n".join(lines).encode()).decode()
    return (f'<a class="csv" download="{name}.csv" href="data:text/csv;base64,{data}">numbers '
            "(CSV)</a>")


def _quoted(text: str) -> str:
    """A cell that no spreadsheet takes for more than text."""
    text = f"'{text}" if text[:1] in "=+@\t\r" else text
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]', text) else text


def folded(title: str, inside: str, shown: bool) -> str:
    return f"<details{' open' if shown else ''}><summary>{title}</summary>{inside}</details>"


def minus(text: str) -> str:
    """Numbers as text with a true minus."""
    return re.sub(r"(?<![\w.])-(?=\d)", "−", text)


def power(x: float | None) -> str:
    """Two digits and a power of ten; `0` for zero, nothing for None."""
    return "" if x is None else "0" if x == 0 else minus(f"{x:.1e}".replace("e-", "e−"))


def plain_words(text: str) -> str:
    """A docstring's first line for readers: without shapes and back-ticks."""
    text = re.sub(r"\s*,?\s*\((?:\d|n[qv]|[a-z]+)(?:, ?[\w +*]*)*,?\)(?: each)?", "", text)
    return text.replace("`", "").replace(" :", ":").replace(" ,", ",").strip()
