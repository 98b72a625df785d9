"""What a live page shows, whatever it is of: a program, lines to draw, names, units, sliders."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, final

import numpy as np

from closedform.applications.live.cells import number
from closedform.applications.live.skeleton import Skeleton
from closedform.arrays import Array
from closedform.lowerings.wasm.module import wasm_module
from closedform.program.program import Program, size

LARGEST = 40
"""Velocities of a model whose M is shown, and whose v and a have sliders."""
TURNS, SLIDES, SPEED, ACCELERATION = math.pi, 1.0, 2.0, 5.0
"""Ranges of sliders without limits."""


@final
@dataclass(frozen=True, eq=False)
class LiveModel:
    """A model at its start. The program has `poses`, the torques and what else is shown."""

    name: str
    headline: str
    program: Program
    q: Array
    lines: Skeleton
    drawn: str                          # what the lines are, in words
    joints: Sequence[str]               # of the first poses
    sliders: str                        # of q
    names: Sequence[str]                # of the velocities
    units: Sequence[str]                # of the torques, N m or N
    effort: Sequence[float]
    velocity: Sequence[float]
    matrix: tuple[str, str]             # an output, and its caption
    points: Mapping[str, str]           # outputs, and their captions
    torque: str = "τ = M a + C v + g"
    closing: dict[str, Any] = field(default_factory=dict)


def module_data(program: Program) -> dict[str, Any]:
    """Machine code, and the sizes of its arrays."""
    return {"wasm": base64.b64encode(wasm_module(program)).decode(),
            "arrays": [*([x.name, size(x.shape)] for x in program.inputs),
                       *([x.name, size(x.shape)] for x in program.outputs)]}


def rate_sliders(model: LiveModel) -> str:
    """Folded sliders of v and a."""
    if len(model.names) > LARGEST:
        return ""
    text = ""
    for key, title, unit, usual, limits in (
            ("v", "Velocities", "/s", SPEED, np.asarray(model.velocity)),
            ("a", "Accelerations", "/s²", ACCELERATION, np.full(len(model.names), np.inf))):
        rows = "".join(slider(
            name, {"of": key, "at": k, "zero": 0.0, "unit": ("m" if u == "N" else "rad") + unit},
            (-limit, limit, 0.0))
            for k, (name, u, limit) in enumerate(zip(model.names, model.units, np.where(
                np.isfinite(limits) & (limits > 0), limits, usual).tolist(), strict=True)))
        text += f"<details><summary>{title}</summary>{rows}</details>"
    return text


def slider(name: str, data: dict[str, Any], limits: tuple[float, float, float]) -> str:
    """A slider: its data for the script, and its least, largest and first value."""
    low, high, value = map(float, limits)
    told = "".join(f' data-{key}="{escape(str(x))}"' for key, x in data.items())
    return (f"<label><span>{escape(name)}</span>"
            f'<input type="range" min="{low!r}" max="{high!r}" step="any" value="{value!r}"{told}>'
            f"<output>{number(value)} {data['unit']}</output></label>")
