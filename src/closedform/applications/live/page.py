"""The live page: a robot's joints on sliders, its skeleton, M, g and τ, computed in the page.

    cf.live(robot, "page.html")                one file, no server, no network, nothing else
    cf.live(robot, "scene.html", still=True)   the picture and the numbers of one state

The kernel is the program of five quantities fused, as WebAssembly inside the page. Without scripts
the picture and the numbers of the start remain.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from closedform.applications.compile.kernels import compile
from closedform.applications.compile.requests import asked_request
from closedform.applications.live.cells import cell, matrix, number
from closedform.applications.live.skeleton import drawing, grid, resting, skeleton
from closedform.applications.whole_files import whole_file
from closedform.arrays import Array, ArrayLike, numeric, real_array
from closedform.errors import ArgumentError
from closedform.lowerings.reference import run
from closedform.lowerings.wasm.module import wasm_module
from closedform.model.coordinates import coordinate_names, units
from closedform.model.describe import headline, summary
from closedform.model.loops.affine import y_of
from closedform.model.robot import Robot
from closedform.program.program import Program, size

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
LARGEST = 40
"""Velocities of a robot whose M is shown, and whose v and a have sliders."""
TURNS, SLIDES, SPEED, ACCELERATION = math.pi, 1.0, 2.0, 5.0
"""Ranges of sliders without limits."""


def live(robot: Robot, path: str | Path, q: ArrayLike | None = None, still: bool = False) -> Path:
    """Write the live page of a robot that begins at q, bent unless given; the path.

    `still`: the picture and the numbers of q alone, for papers and documentation.
    """
    if not isinstance(robot, Robot):
        raise ArgumentError(f"robot must be a cf.Robot, not {type(robot).__name__}; "
                            "cf.load(path or name) makes one")
    target = Path(path)
    text = live_page(robot, start(robot, q), still)
    with whole_file(target) as place:
        place.write_text(text, encoding="utf8")
    return target


def start(robot: Robot, q: ArrayLike | None) -> Array:
    """The configuration given, or a bent one within the limits."""
    if not numeric(robot.parameters):
        raise ArgumentError(f"{robot.name} has symbols; a live page needs numbers")
    if not robot.nv:
        raise ArgumentError(f"{robot.name} has no joint that moves")
    if q is None:
        return resting(robot)
    given = real_array(q, (robot.nq,), f"live page of {robot.name}: q")
    if given.ndim > 1 or not np.isfinite(given).all():
        raise ArgumentError(f"live page of {robot.name}: q must be {robot.nq} finite numbers")
    return robot.closed(given[y_of(robot)], near=given) if robot.loops else given


def live_page(robot: Robot, q: Array, still: bool = False) -> str:
    """The whole page."""
    name = escape(robot.name)
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<link rel="icon" href="data:,"><meta name="color-scheme" content="light dark">'
            f"<style>{BASE}{STYLE}</style></head><body><header><h1>{name}</h1>"
            f"<p>{escape(headline(summary(robot)))}</p></header><main>"
            f"{live_part(robot, q, still)}</main></body></html>\n")


def live_part(robot: Robot, q: Array, still: bool = False) -> str:
    """The part of a page that shows the robot, with its script unless `still`."""
    program = _program(robot)
    zero = np.zeros(robot.nv)
    given = {"q": q, "v": zero, "a": zero}
    found = dict(zip([o.name for o in program.outputs],
                     run(program, *(given[s.name] for s in program.inputs)), strict=True))
    lines, center = skeleton(robot, q), found.get("center_of_mass")
    title = f"{robot.name}: bodies joined to their parents" + (
        "" if still else "; arrow keys turn the view, + and − zoom")
    picture = drawing(robot, lines, q, center, title)
    numbers = _torques(robot, found) + _center(center)
    wide = (matrix("mass_matrix", found["mass_matrix"], _velocity_names(robot),
                   "M(q) [kg m², kg m, kg]")
            if robot.nv <= LARGEST else f"<p>M has {robot.nv} rows: too many for a page.</p>")
    state = f"q = {_python(q)}\nv = {_python(zero)}\na = {_python(zero)}"
    told = (f"<details{' open' if still else ''}><summary>This state in Python</summary>"
            f'<pre class="state">{state}</pre></details>')
    if still:
        return (f'<div class="live"><div>{picture}</div><div>{numbers}</div>'
                f'<div class="wide">{wide}{told}</div></div>')
    data = {**_module(program), **_closing(robot, q),
            "skeleton": lines.data(), "grid": [np.round(ends, 4).tolist() for ends in grid(lines)],
            "effort": [x if math.isfinite(x) else None for x in robot.effort_limits.tolist()]}
    packed = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return (f'<div class="live"><div>{picture}{BUTTONS}</div><div>{_sliders(robot, q)}{told}</div>'
            f'<div>{numbers}</div><div class="wide">{wide}</div></div>'
            f'<script type="application/json" id="live-data">{packed}</script>'
            f"<script>{SCRIPT}</script>")


BUTTONS = ('<div class="tools"><button type="button" data-does="home">Start</button>'
           '<button type="button" data-does="random">Random</button>'
           '<button type="button" data-does="degrees" aria-pressed="false">Degrees</button></div>'
           "<noscript><p>Without scripts these are the picture and the numbers of the start."
           "</p></noscript>")


def _module(program: Program) -> dict[str, Any]:
    """Machine code, and the sizes of its arrays."""
    return {"wasm": base64.b64encode(wasm_module(program)).decode(),
            "arrays": [*([x.name, size(x.shape)] for x in program.inputs),
                       *([x.name, size(x.shape)] for x in program.outputs)]}


def _closing(robot: Robot, q: Array) -> dict[str, Any]:
    """What closes loops: Newton's step, the independent coordinates, unit quaternions, a start."""
    if not robot.loops:
        return {}
    step = compile(robot).program([asked_request(robot, "loop_step")])
    own = set(y_of(robot).tolist())
    turns = [at.start for at in units(robot).values() if at.start in own]
    start = np.asarray(q).tolist()
    return {"loops": {**_module(step), "y": sorted(own), "turns": turns, "start": start}}


def _program(robot: Robot) -> Program:
    asked = ["poses", "gravity_torque", "inverse_dynamics"]
    asked += ["mass_matrix"] if robot.nv <= LARGEST else []
    asked += ["center_of_mass"] if float(robot.mass) else []
    return compile(robot).program([asked_request(robot, name) for name in asked])


def _velocity_names(robot: Robot) -> list[str]:
    return coordinate_names(robot.v_slices)


def _units(robot: Robot) -> list[str]:
    """N m or N of each velocity."""
    found = ["N" if k in body.joint.moving.lengths else "N m"
             for body, _, _ in robot.parts for k in range(body.joint.nv)]
    return [found[i] for i in robot.closure.independent] if robot.closure else found


def _torques(robot: Robot, found: dict[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row" title="{escape(name)}">{escape(name)}</th>{cell(g)}{cell(tau)}'
        f"<td>{unit}</td><td>{f'± {number(limit)}' if math.isfinite(limit) else ''}</td></tr>"
        for name, g, tau, unit, limit in zip(
            _velocity_names(robot), found["gravity_torque"], found["inverse_dynamics"],
            _units(robot), robot.effort_limits, strict=True))
    return ('<table data-values="gravity_torque inverse_dynamics" data-limits><caption>g(q) and '
            'τ = M a + C v + g</caption><thead><tr><th scope="col">joint</th>'
            '<th scope="col" class="n">g</th><th scope="col" class="n">τ</th>'
            '<th scope="col">unit</th><th scope="col">limit</th></tr></thead>'
            f"<tbody>{rows}</tbody></table>")


def _center(center: Array | None) -> str:
    if center is None:
        return ""
    return ('<table data-values="center_of_mass"><caption>Centre of mass [m]</caption><thead><tr>'
            + "".join(f'<th scope="col" class="n">{x}</th>' for x in "xyz")
            + "</tr></thead><tbody><tr>" + "".join(cell(x) for x in center)
            + "</tr></tbody></table>")


def _python(x: Array) -> str:
    return f"[{', '.join(repr(float(y)) for y in x)}]"


# ---------------------------------------------------------------------- sliders
def _sliders(robot: Robot, q: Array) -> str:
    text = "".join(_of_q(robot, q))
    if robot.nv > LARGEST:
        return text
    for key, title, unit, usual, limits in (
            ("v", "Velocities", "/s", SPEED, robot.velocity_limits),
            ("a", "Accelerations", "/s²", ACCELERATION, np.full(robot.nv, np.inf))):
        names, slides = _velocity_names(robot), [u == "N" for u in _units(robot)]
        rows = "".join(_slider(
            name, {"of": key, "at": k, "zero": 0.0, "unit": ("m" if slide else "rad") + unit},
            (-limit, limit, 0.0))
            for k, (name, slide, limit) in enumerate(zip(names, slides, np.where(
                np.isfinite(limits) & (limits > 0), limits, usual).tolist(), strict=True)))
        text += f"<details><summary>{title}</summary>{rows}</details>"
    return text


def _of_q(robot: Robot, q: Array) -> Iterator[str]:
    """A slider for every coordinate; quaternions by the three entries of their turning vector.

    With loops those of independent joints alone: the others follow.
    """
    names = coordinate_names(robot.q_slices)
    own = set(y_of(robot).tolist()) if robot.loops else set(range(robot.nq))
    for body, at, _ in robot.parts:
        unit = body.joint.moving.unit or slice(0, 0)
        for k in range(at.start, at.stop):
            if unit.start <= k - at.start < unit.stop or k not in own:
                continue
            slide = k - at.start in body.joint.moving.lengths
            yield _slider(names[k], {"of": "q", "at": k, "zero": q[k],
                                     "unit": "m" if slide else "rad"}, _range(robot, q, k, slide))
        first = at.start + unit.start
        if unit.stop and first in own:
            for axis, x in zip("xyz", _turning(q[first:first + 4]), strict=True):
                yield _slider(f"{body.joint_name} turn {axis}",
                              {"of": "q", "at": first, "turn": axis, "zero": x, "unit": "rad"},
                              (-TURNS, TURNS, x))


def _range(robot: Robot, q: Array, k: int, slide: bool) -> tuple[float, float, float]:
    usual = SLIDES if slide else TURNS
    low, high = float(robot.lower[k]), float(robot.upper[k])
    low = low if math.isfinite(low) else min(-usual, float(q[k]))
    high = high if math.isfinite(high) else max(usual, float(q[k]))
    return low, max(high, low), float(q[k])


def _turning(quaternion: Array) -> Array:
    """The turning vector of a quaternion x y z w."""
    x, w = np.asarray(quaternion[:3], dtype=float), float(quaternion[3])
    length = float(np.linalg.norm(x))
    return x * (2 * math.atan2(length, w) / length if length else 2.0)


def _slider(name: str, data: dict[str, Any], limits: tuple[float, float, float]) -> str:
    low, high, value = map(float, limits)
    told = "".join(f' data-{key}="{escape(str(x))}"' for key, x in data.items())
    return (f"<label><span>{escape(name)}</span>"
            f'<input type="range" min="{low!r}" max="{high!r}" step="any" value="{value!r}"{told}>'
            f"<output>{number(value)} {data['unit']}</output></label>")
