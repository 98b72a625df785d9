"""The map of a workspace as one HTML page: what was asked, what was found, pictures."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from closedform.applications.redundancy.workspace.grids import Grid
from closedform.applications.redundancy.workspace.maps import Map
from closedform.applications.redundancy.workspace.pictures import (
    histogram_figure,
    slices_figure,
    surface_figure,
)
from closedform.applications.report.page import STYLE
from closedform.applications.report.tables import figure, table
from closedform.version import __version__

MEANING = {
    "maximum": "a strict maximum of the criterion, within the limits",
    "limit active": "a strict maximum with joints at their limits",
    "unreachable": "no start met the target, also without limits",
    "limit": "met only by joints beyond their limits",
    "singular": "met where the Jacobian loses rank",
    "fold": "met, and no strict maximum: two branches meet there",
    "forbidden": "met within an obstacle or beyond a barrier",
}


def map_page(found: Map, asked: Mapping[str, str]) -> str:
    """The whole page; `asked` are lines about what was done."""
    name, total = escape(found.robot.name), len(found)
    good = int(found.certified.sum())
    rows = [(escape(v), f"{n:,}", f"{100 * n / total:.2f}", MEANING.get(v, ""))
            for v, n in found.counts().items()]
    how = [(escape(k), escape(v)) for k, v in asked.items()]
    aside = "".join(f"<li>{escape(str(x))}</li>" for x in found.aside)
    what = asked.get("criterion", "criterion")
    pictures = figure(lambda: histogram_figure(found, what),
                      "Values of the criterion, and targets by verdict")
    if isinstance(found.targets, Grid):
        pictures += figure(lambda: slices_figure(found), "Slices through the middle of the grid")
        if len(found.targets.shape) == 3:
            pictures += figure(lambda: surface_figure(found), "The surface of what is reached")
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}: workspace'
            '</title><meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
            f"<style>{STYLE}</style></head><body><header><h1>{name}</h1><p>Map of its workspace"
            f"</p></header><main><section><h2>1. What was found</h2><p>{good:,} of {total:,} "
            f"targets have a certified optimum.</p>"
            f"{table(('verdict', 'targets', '%', 'meaning'), rows, (1, 2))}"
            + (f"<p>Blocks set aside:</p><ul>{aside}</ul>" if aside else "")
            + f"</section><section><h2>2. Pictures</h2>{pictures}</section>"
            f"<section><h2>3. How</h2>{table(('', ''), how)}</section></main>"
            f"<footer>Made by closedform {__version__}.</footer></body></html>\n")
