"""A state as a link and as JSON, and back: whatever does not fit is left out, with a word.

    /panda/q=0,-0.5,0,-2,0,1.6,0.8;load=2;tab=Dynamics
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from closedform.applications.studio.state import StudioState, Wish, obey, start
from closedform.applications.studio.subject import StudioRobot
from closedform.errors import ClosedformError

LONGEST = 8192
"""Characters of a link that is looked at."""
KINDS = {"tip": "tip", "criterion": "criterion", "load": "load", "mount": "mount",
         "q": "coordinates", "v": "rates", "a": "rates"}
"""The wish that each field of a link is."""


def fields(state: StudioState) -> dict[str, Any]:
    """What of a state travels."""
    found: dict[str, Any] = {"q": [float(x) for x in state.q]}
    for name, x in (("v", state.v), ("a", state.a)):
        if np.any(x):
            found[name] = [float(y) for y in x]
    if state.load:
        found["load"] = [state.load, *state.load_at]
    if any(state.mount):
        found["mount"] = list(state.mount)
    return {**found, "tip": state.tip, "criterion": state.criterion}


def link(subject: StudioRobot, state: StudioState, tab: str = "") -> str:
    """The path of a state and of the tab that is open: `/panda/q=…;tip=…;tab=…`.

    Names are quoted twice: what reads a path takes the first off before the fields are parted.
    """
    parts = [f"{name}={','.join(map(repr, x)) if isinstance(x, list) else _quoted(x)}"
             for name, x in {**fields(state), **({"tab": tab} if tab else {})}.items()]
    return f"/{quote(subject.robot.name, safe='')}/{';'.join(parts)}"


def from_link(path: str) -> dict[str, Any]:
    """What a path says, as far as it can be read: names with texts or lists of numbers."""
    found: dict[str, Any] = {}
    for part in path[:LONGEST].rpartition("/")[2].split(";"):
        name, equals, text = part.partition("=")
        if equals and name in ("q", "v", "a", "load", "mount"):
            try:
                found[name] = [float(x) for x in text.split(",")]
            except ValueError:
                found[name] = None
        elif equals and name in ("tip", "criterion", "tab"):
            found[name] = unquote(text)
    return found


def _quoted(name: str) -> str:
    return quote(quote(name, safe=""), safe="")


def as_json(subject: StudioRobot, state: StudioState) -> str:
    """The state for the browser's storage."""
    return json.dumps({"robot": subject.robot.name, **fields(state)})


def restored(subject: StudioRobot, given: Mapping[str, Any]) -> tuple[StudioState, str]:
    """The start with what was given, and which of it could not be taken."""
    state, left = start(subject), []
    for name in (name for name in KINDS if name in given):
        try:
            state = obey(subject, state, Wish(KINDS[name], _value(name, given, state)))
        except (ClosedformError, TypeError, LookupError):
            left.append(name)
    return state, f"the link's {', '.join(left)} cannot be used here" if left else ""


def _value(name: str, given: Mapping[str, Any], state: StudioState) -> Any:
    """What a field is as a wish."""
    x = given[name]
    if name == "load":
        return x[0], (*x[1:4], 0.0, 0.0, 0.0)[:3]
    return (x, state.a) if name == "v" else (state.v, x) if name == "a" else x
