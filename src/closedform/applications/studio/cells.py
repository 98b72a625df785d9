"""Tables whose cells are the numbers: heat maps, bars, facts, strips. HTML that can be read.

Every name that came from a file passes `escape`, here and nowhere else; full digits are in the
cells' titles.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import final

import numpy as np

from closedform.arrays import Floats

NAME, SENTENCE = 200, 2000
"""Characters of a name and of a sentence that are shown."""
READABLE = 9
"""Rows of a matrix up to which its cells have numbers."""
FAINT, SHADE = 0.06, 0.6
"""How much of their colour the smallest and the largest entry have; text on it stays readable."""
BLUE, ORANGE, RED = "37,99,168", "196,98,16", "179,38,30"
COLOURS = ("#2563a8", "#c46210", "#2e8b57", "#b13a6c", "#7a5195", "#8a7a00")
LINES = len(COLOURS)
"""Of so many curves a strip has a line; those that are largest."""
POINTS = 240
"""Points of a line in a strip."""
HEIGHT, WIDTH = 74.0, 360.0


def escape(text: object, longest: int = NAME) -> str:
    """A text that no browser takes for markup, with no sign that changes the direction of writing.

    A name is cut where it is too long; a sentence is given the length of one.
    """
    return _escaped(str(text), longest)


@lru_cache(maxsize=4096)                    # the same names at every update
def _escaped(text: str, longest: int) -> str:
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return html.escape(plain if len(plain) <= longest else f"{plain[:longest]}…", quote=True)


def number(x: float, scale: float = 0.0) -> str:
    """Four digits at most and a true minus; 0 for what is rounding beside `scale`."""
    if not math.isfinite(x):
        return "∞" if x > 0 else "−∞" if x < 0 else "—"
    if abs(x) <= 1e-13 * scale or x == 0:
        return "0"
    size = abs(x)
    text = f"{x:.2e}".replace("e-0", "e-").replace("e+0", "e")
    if 1e-3 <= size < 1e5:
        text = f"{x:.3g}" if size < 999.5 else f"{x:.0f}"
    return text.replace("-", "−")


def digits(x: float) -> str:
    """All digits, for titles and for those who copy."""
    return repr(float(x))


def matrix(A: Floats, label: str, rows: Sequence[str], columns: Sequence[str] | None = None) -> str:
    """A heat map whose cells are the numbers: shade is the root of the size, hue is the sign."""
    columns = rows if columns is None else columns
    largest = float(np.abs(A).max(initial=0.0)) or 1.0
    with_numbers = max(A.shape) <= READABLE
    across, down = [escape(x) for x in columns], [escape(x) for x in rows]
    head = "".join(f'<th scope="col" title="{name}">{_short(name, j, with_numbers)}</th>'
                   for j, name in enumerate(across))
    lines = []
    for i, row in enumerate(A.tolist()):
        cells = [f'<th scope="row" title="{down[i]}">{_short(down[i], i, with_numbers)}</th>']
        cells += [f'<td{_shade(x, largest)} title="{down[i]}, {across[j]}: {x!r}">'
                  f'{number(x, largest) if with_numbers else ""}</td>' for j, x in enumerate(row)]
        lines.append("<tr>" + "".join(cells) + "</tr>")
    kind = "m" if with_numbers else "m s"
    return (f'<table class="{kind}" aria-label="{label}"><tr><td></td>{head}</tr>'
            f'{"".join(lines)}</table>')


def _short(name: str, k: int, with_numbers: bool) -> str:
    return str(k + 1) if with_numbers or k % 5 == 4 else ""


def _shade(x: float, largest: float) -> str:
    if abs(x) <= 1e-13 * largest:
        return ""
    shade = FAINT + (SHADE - FAINT) * (abs(x) / largest) ** 0.5
    return f' style="background:rgba({BLUE if x >= 0 else ORANGE},{shade:.2f})"'


def bars(values: Floats, most: Floats, names: Sequence[str], label: str,
         beside: Sequence[tuple[float, str]] | None = None) -> str:
    """Bars from the middle; full length is the limit, or the largest value where there is none.

    Beside a bar stand its value and its part of the limit, or what is given.
    """
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    lines = []
    for k, (name, x, limit) in enumerate(zip(names, values.tolist(), most.tolist(), strict=True)):
        bound = math.isfinite(limit) and limit > 0
        part = 50 * min(max(x / (limit if bound else largest), -1.0), 1.0)
        beyond = bound and abs(x) > limit
        told = f"{100 * abs(x) / limit:.0f} % of {limit:.3g}" if bound else ""
        if beside is not None:
            x, told = beside[k]
        lines.append(
            f'<tr><th scope="row">{escape(name)}</th><td class="t"><i style="left:'
            f'{50 + min(part, 0):.1f}%;width:{abs(part):.1f}%;background:rgb('
            f'{RED if beyond else BLUE})"></i></td><td class="x" title="{escape(name)}: {x!r}">'
            f'{number(x, largest)}</td><td class="l">{told}</td></tr>')
    return f'<table class="b" aria-label="{label}">{"".join(lines)}</table>'


def facts(rows: Mapping[str, str | float], label: str) -> str:
    """Words and numbers, a row each; texts are HTML already, numbers have their digits as title."""
    lines = []
    for name, x in rows.items():
        cell = (f'<td title="{digits(x)}">{number(x)}</td>' if isinstance(x, float)
                else f"<td>{x}</td>")
        lines.append(f'<tr><th scope="row">{name}</th>{cell}</tr>')
    return f'<table class="f" aria-label="{label}">{"".join(lines)}</table>'


# ---------------------------------------------------------------------- strips over time
@final
@dataclass(frozen=True, eq=False)
class Strip:
    """Curves over time in one picture: `over` is laid over as dashes, NaN where there is none."""

    title: str
    unit: str
    values: Floats                    # (points, k)
    names: tuple[str, ...]
    over: Floats | None = None        # (points, k)


def strip(times: Floats, shown: Strip) -> str:
    """The six largest curves, named, as SVG; the table beside it has them all."""
    values = shown.values
    size = np.max(np.abs(np.nan_to_num(values)), axis=0, initial=0.0)
    chosen = [int(k) for k in np.argsort(-size, kind="stable")[:LINES]]
    low = float(np.nanmin(values[:, chosen])) if chosen else 0.0
    high = float(np.nanmax(values[:, chosen])) if chosen else 1.0
    margin = 0.05 * ((high - low) or abs(high) or 1.0)
    low, high = low - margin, high + margin
    at = np.unique(np.linspace(0, len(times) - 1, POINTS).astype(int))
    drawn = []
    for colour, k in zip(COLOURS, chosen, strict=False):
        drawn.append(_line(times, values[:, k], at, (low, high), f'stroke="{colour}"'))
        if shown.over is not None:
            drawn.append(_line(times, shown.over[:, k], at, (low, high),
                               'stroke="currentColor" stroke-dasharray="2 4" opacity=".45"'))
    zero = HEIGHT * (high / (high - low)) if low < 0 < high else -1.0
    names = " ".join(f'<b style="color:{colour}">{escape(shown.names[k])}</b>'
                     for colour, k in zip(COLOURS, chosen, strict=False))
    more = f" and {len(size) - len(chosen)} smaller" if len(size) > len(chosen) else ""
    return (f'<figure class="strip"><figcaption>{shown.title} [{shown.unit}], {number(low)} to '
            f'{number(high)}</figcaption><div class="p"><svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
            f'preserveAspectRatio="none" role="img" aria-label="{shown.title}"><line x1="0" '
            f'x2="{WIDTH:g}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="currentColor" opacity=".3"/>'
            f'{"".join(drawn)}</svg></div><small>{names}{more}</small></figure>')


def _line(times: Floats, x: Floats, at: Floats, span: tuple[float, float], pen: str) -> str:
    low, high = span
    length = float(times[-1] - times[0]) or 1.0
    points = " ".join(
        f"{WIDTH * (times[k] - times[0]) / length:.1f},{HEIGHT * (high - x[k]) / (high - low):.1f}"
        for k in at if np.isfinite(x[k]))
    return (f'<polyline points="{points}" fill="none" {pen} stroke-width="1.4" '
            'vector-effect="non-scaling-stroke"/>')


def framed(key: str, title: str, inner: str, serial: int) -> str:
    """A panel: a section with its name, and the number of the update that made it."""
    return (f'<section class="cf" data-panel="{key}" data-serial="{serial}"><h4>{title}</h4>'
            f"{inner}</section>")


def script(**widgets: str | int) -> str:
    """What runs beside the page, with the style of all panels: `studio.js` given its widgets."""
    style, source = (files("closedform.applications.studio").joinpath(name).read_text("utf8")
                     for name in ("studio.css", "studio.js"))
    return source.replace("GIVEN;", json.dumps({**widgets, "style": style}) + ";", 1)
