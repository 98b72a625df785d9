"""A restart finds its tabs: the state is kept in the browser and asked for on connection.

All tabs of a browser share one storage. Each state there has the run of the server that wrote it:
after a restart every tab is given back one that no other tab has taken, the one whose camera stood
nearest. States of this very run belong to tabs that are there.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import numpy as np

from closedform.applications.studio import link
from closedform.applications.studio.state import StudioState
from closedform.applications.studio.subject import StudioRobot

if TYPE_CHECKING:
    from closedform.interfaces.studio.house import Studio

KEY = "closedform.studio"
OLD = 600.0
"""Seconds after which a state is no longer given back."""
PAUSE = 0.5
"""Seconds between two writings."""
SAME = 1e-3
"""m by which a camera that comes back may be nearer or farther; what is up is not yet told then."""
_GIVING = threading.Lock()


@final
class Storage:
    """One client's place in its browser's storage."""

    def __init__(self, client: Any, studio: Studio) -> None:
        self.client, self.studio = client, studio
        self._written: StudioState | None = None
        self._at, self.owed = 0.0, False

    def before(self, given: Mapping[str, Any], subject: StudioRobot) -> Mapping[str, Any]:
        """What a tab that comes back showed; else what its link says."""
        try:
            text = self.client.local_storage.get_item(KEY, timeout=2.0)
            with _GIVING:
                states = json.loads(text) if text else {}
                return self._found(states, subject, given)
        except (RuntimeError, TimeoutError, ValueError, TypeError, LookupError, AttributeError):
            return given               # a browser without storage, or one that was tampered with

    def _found(self, states: dict[str, Any], subject: StudioRobot,
               given: Mapping[str, Any]) -> Mapping[str, Any]:
        fresh = {key: x for key, x in states.items() if x["robot"] == subject.robot.name
                 and not key.startswith(self.studio.boot) and key not in self.studio.taken
                 and 0 <= time.time() - float(x["at"]) < OLD}
        here = np.asarray(self.client.camera.position, dtype=float)

        def apart(key: str) -> float:
            return float(np.linalg.norm(np.asarray(fresh[key]["camera"], dtype=float) - here))

        key = min(fresh, key=apart)
        far, near = (float(np.linalg.norm(x)) for x in (fresh[key]["camera"], here))
        if given and not abs(far - near) < SAME:             # a link that is opened anew
            return given
        self.studio.taken.add(key)
        found: Mapping[str, Any] = fresh[key]
        return found

    def keep(self, subject: StudioRobot, state: StudioState) -> None:
        """Write the state where it has changed, twice a second at most."""
        self.owed = state is not self._written
        if not self.owed or time.monotonic() - self._at < PAUSE:
            return
        text = link.as_json(subject, state)
        self._written, self._at, self.owed = state, time.monotonic(), False
        camera = np.asarray(self.client.camera.position, dtype=float).tolist()
        self.studio.states[f"{self.studio.boot} {self.client.client_id}"] = {
            **json.loads(text), "at": time.time(), "camera": camera}
        self.client.local_storage.set_item(KEY, json.dumps(self.studio.states))
