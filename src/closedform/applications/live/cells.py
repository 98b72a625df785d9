"""Numbers in HTML: tables whose cells are the numbers, shaded by size and sign; all text escaped.

A cell shows three digits and has all of them in its `title`, which scripts and tests read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from closedform.arrays import Array

NUMBERED = 9
"""Rows of a matrix whose cells show their numbers; more would not be read."""
SHADE = 0.6
"""How much of the colour the largest entry has; text on it stays readable."""


def number(x: float, digits: int = 3) -> str:
    """Some digits, a true minus, `0` for zero and for what is rounding beside 1."""
    if abs(x) < 1e-9:
        return "0"
    text = f"{x:.{digits}g}"
    if "e" in text:
        text = f"{float(text):.{digits - 1}e}" if abs(x) >= 1e6 or abs(x) < 1e-4 else str(
            int(float(text)))
    return text.replace("-", "−")


def decimals(most: float) -> int:
    """Places behind the point at which the largest of some numbers has four digits."""
    return max(0, 3 - math.floor(math.log10(most))) if most else 0


def fixed(x: float, places: int) -> str:
    """A number with so many places, `0` where nothing is left of it."""
    text = f"{x:.{places}f}"
    return text.replace("-", "−") if float(text) else "0"


def cell(x: float, text: str | None = None, most: float = 0.0) -> str:
    """A number; where `most`, the largest, is given, its hue is the sign and its strength the root
    of the part of the largest."""
    part = f"{SHADE * math.sqrt(abs(x) / most):.2f}" if most else "0.00"
    colour = f"rgba(var({'--minus' if x < 0 else '--plus'}),{part})"
    style = f' style="background:{colour}"' if part != "0.00" else ""
    return f'<td class="n" title="{float(x)!r}"{style}>{number(x) if text is None else text}</td>'


def matrix(key: str, values: Array, names: Sequence[str], caption: str) -> str:
    """A square matrix with the names of its rows and columns; numbers up to `NUMBERED` rows."""
    many, most = len(values) > NUMBERED, float(np.abs(values).max(initial=0.0))
    places = decimals(most)
    titles = [escape(name) for name in names]
    head = "".join(f'<th scope="col" title="{x}">{k}</th>' for k, x in enumerate(titles, start=1))
    rows = "".join(
        f'<tr><th scope="row" title="{name}">{k}{"" if many else f" <span>{name}</span>"}</th>'
        + "".join(cell(x, "" if many else fixed(x, places), most) for x in row) + "</tr>"
        for k, (name, row) in enumerate(zip(titles, values, strict=True), start=1))
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
            f'<table class="matrix{" fine" if many else ""}" data-values="{key}"><caption>'
            f"{escape(caption)}</caption><thead><tr><td></td>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div>")
