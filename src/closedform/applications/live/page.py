"""The live page: a robot's joints on sliders, its skeleton, M, g and τ, computed in the page.

    cf.live(robot, "page.html")                one file, no server, no network, nothing else
    cf.live(robot, "scene.html", still=True)   the picture and the numbers of one state

The kernel is the program of five quantities fused, as WebAssembly inside the page. Without scripts
the picture and the numbers of the start remain.
"""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from closedform.applications.live.arms import live_arm
from closedform.applications.live.cells import cell, matrix, number
from closedform.applications.live.model import LiveModel, module_data, rate_sliders
from closedform.applications.live.robots import live_robot, start
from closedform.applications.live.skeleton import drawing, grid
from closedform.applications.whole_files import whole_file
from closedform.arrays import Array, ArrayLike
from closedform.errors import ArgumentError
from closedform.lowerings.reference import run
from closedform.maths.flexible.arm import FlexibleArm
from closedform.model.elasticity.joints import ElasticJoints
from closedform.model.robot import Robot

HERE = Path(__file__).parent
STYLE = (HERE / "live.css").read_text(encoding="utf8")
SCRIPT = (HERE / "live.js").read_text(encoding="utf8")
BASE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --paper: #ffffff;
  --panel: #f4f6f9; --line: #d8dee6; --accent: #2563a8; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #9aa6b5; --paper: #14181e;
  --panel: #1d232b; --line: #343d49; --accent: #7fb2e8; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 90rem; padding: 1rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; overflow-wrap: anywhere; }
p { margin: 0.25rem 0 1rem; color: var(--soft); } .scroll { overflow-x: auto; }
@page { size: A4; margin: 15mm; }
"""
POLICY = ("default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
          "script-src 'unsafe-inline' 'wasm-unsafe-eval'")
"""What a browser lets the page do: nothing that is not in it."""


def live(robot: Robot | FlexibleArm, path: str | Path, q: ArrayLike | None = None,
         still: bool = False) -> Path:
    """Write the live page of a robot or a flexible arm; it begins at q, bent unless given.

    `still`: the picture and the numbers of q alone, for papers and documentation.
    """
    if isinstance(robot, ElasticJoints):
        raise ArgumentError("a live page shows links and not motors; give it the .robot of these "
                            "elastic joints")
    if not isinstance(robot, Robot | FlexibleArm):
        raise ArgumentError(f"robot must be a cf.Robot, not {type(robot).__name__}; "
                            "cf.load(path or name) makes one")
    target = Path(path)
    model = (live_robot(robot, start(robot, q)) if isinstance(robot, Robot)
             else live_arm(robot, q))
    text = live_page(model, still)
    with whole_file(target) as place:
        place.write_text(text, encoding="utf8")
    return target


def live_page(model: LiveModel, still: bool = False) -> str:
    """The whole page."""
    name = escape(model.name)
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<link rel="icon" href="data:,"><meta name="color-scheme" content="light dark">'
            f"<style>{BASE}{STYLE}</style></head><body><header><h1>{name}</h1>"
            f"<p>{escape(model.headline)}</p></header><main>"
            f"{model_part(model, still)}</main></body></html>\n")


def live_part(robot: Robot, q: Array) -> str:
    """The part of a page that shows a robot, with its script."""
    return model_part(live_robot(robot, q))


def model_part(model: LiveModel, still: bool = False) -> str:
    """The part of a page that shows a model, with its script unless `still`."""
    program, zero = model.program, np.zeros(len(model.names))
    given = {"q": model.q, "v": zero, "a": zero}
    found = dict(zip([o.name for o in program.outputs],
                     run(program, *(given[s.name] for s in program.inputs)), strict=True))
    title = f"{model.name}: {model.drawn}" + (
        "" if still else "; arrow keys turn the view, + and − zoom")
    picture = drawing(model.lines, found["poses"], model.joints, found.get("center_of_mass"), title)
    numbers = _torques(model, found) + "".join(
        _point(key, caption, found[key]) for key, caption in model.points.items() if key in found)
    wide = (matrix(model.matrix[0], found[model.matrix[0]], model.names, model.matrix[1])
            if model.matrix[0] in found else
            f"<p>M has {len(model.names)} rows: too many for a page.</p>")
    state = f"q = {_python(model.q)}\nv = {_python(zero)}\na = {_python(zero)}"
    told = (f"<details{' open' if still else ''}><summary>This state in Python</summary>"
            f'<pre class="state">{state}</pre></details>')
    if still:
        return (f'<div class="live"><div>{picture}</div><div>{numbers}</div>'
                f'<div class="wide">{wide}{told}</div></div>')
    lines = model.lines
    data = {**module_data(program), **model.closing,
            "skeleton": lines.data(), "grid": [np.round(ends, 4).tolist() for ends in grid(lines)],
            "effort": [x if math.isfinite(x) else None for x in model.effort]}
    packed = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    sliders = model.sliders + rate_sliders(model)
    return (f'<div class="live"><div>{picture}{BUTTONS}</div><div>{sliders}{told}</div>'
            f'<div>{numbers}</div><div class="wide">{wide}</div></div>'
            f'<script type="application/json" id="live-data">{packed}</script>'
            f"<script>{SCRIPT}</script>")


BUTTONS = ('<div class="tools"><button type="button" data-does="home">Start</button>'
           '<button type="button" data-does="random">Random</button>'
           '<button type="button" data-does="degrees" aria-pressed="false">Degrees</button></div>'
           "<noscript><p>Without scripts these are the picture and the numbers of the start."
           "</p></noscript>")


def _torques(model: LiveModel, found: dict[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row" title="{escape(name)}">{escape(name)}</th>{cell(g)}{cell(tau)}'
        f"<td>{unit}</td><td>{f'± {number(limit)}' if math.isfinite(limit) else ''}</td></tr>"
        for name, g, tau, unit, limit in zip(
            model.names, found["gravity_torque"], found["inverse_dynamics"],
            model.units, model.effort, strict=True))
    return ('<table data-values="gravity_torque inverse_dynamics" data-limits><caption>g(q) and '
            f'{model.torque}</caption><thead><tr><th scope="col">joint</th>'
            '<th scope="col" class="n">g</th><th scope="col" class="n">τ</th>'
            '<th scope="col">unit</th><th scope="col">limit</th></tr></thead>'
            f"<tbody>{rows}</tbody></table>")


def _point(key: str, caption: str, point: Array) -> str:
    axes = "xyz"[:len(point)]
    return (f'<table data-values="{key}"><caption>{caption}</caption><thead><tr>'
            + "".join(f'<th scope="col" class="n">{x}</th>' for x in axes)
            + "</tr></thead><tbody><tr>" + "".join(cell(x) for x in point)
            + "</tr></tbody></table>")


def _python(x: Array) -> str:
    return f"[{', '.join(repr(float(y)) for y in x)}]"
