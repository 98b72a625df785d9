"""The studio as it runs: the gate, the subjects that clients share, and a session for each client.
"""

from __future__ import annotations

import contextvars
import gc
import threading
import uuid
import warnings
from typing import Any, final

from closedform.applications.flexible.files import BUILTIN_ARMS
from closedform.applications.flexible.files import load as load_arm
from closedform.applications.studio.bending import Bending
from closedform.applications.studio.subject import StudioRobot
from closedform.errors import ClosedformError, FormatError
from closedform.interfaces.studio import gate as gates
from closedform.interfaces.studio.flexible_session import FlexibleSession
from closedform.interfaces.studio.looks import Look, looks
from closedform.interfaces.studio.session import Session
from closedform.model.formats.visuals import visuals_of
from closedform.model.load import load


@final
class Studio:
    """A server with its clients. The first picture comes first: it listens before it loads."""

    def __init__(self, source: str = "panda", port: int = 8200, host: str = "127.0.0.1",
                 **loading: Any) -> None:
        self.source, self.loading = source, loading
        self.boot = uuid.uuid4().hex
        self.sessions: dict[int, Session | FlexibleSession] = {}
        self.states: dict[str, Any] = {}       # what the browsers keep, by run and client
        self.taken: set[str] = set()           # states of before that a tab has been given back
        self.error = ""
        self._subject: StudioRobot | None = None
        self._looks: list[Look] | None = None
        self._arm: Bending | None = None
        self._lock, self._looking = threading.Lock(), threading.Lock()
        self.ready = threading.Event()
        self.gate = gates.serve(port, host)
        # viser's containers stay in the context of the thread that made them, and with them the
        # client: in a context of its own both go
        self.gate.server.on_client_connect(
            lambda client: contextvars.copy_context().run(self._arrived, client))
        self.gate.server.on_client_disconnect(self._left)
        threading.Thread(target=self._load, daemon=True, name="studio loading").start()

    # ------------------------------------------------------------------ what is looked at
    def _load(self) -> None:
        try:
            self._arm = self._flexible()
            if self._arm is None:
                subject = self.subject()
                subject.places(subject.tip)
        except (ClosedformError, OSError) as error:
            self.error = str(error)
        finally:
            self.ready.set()

    def _flexible(self) -> Bending | None:
        """The source as a flexible arm, if it is one."""
        if self.source in BUILTIN_ARMS:
            return Bending(load_arm(self.source))
        if self.source.lower().endswith(".toml"):
            try:
                return Bending(load_arm(self.source))
            except FormatError:
                return None
        return None

    def subject(self) -> StudioRobot:
        """What clients look at first; frozen, so that they share it."""
        source = self.source
        with self._lock:
            if self._subject is None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    robot = load(source, **self.loading)
                self._subject = StudioRobot(robot, source, visuals_of(source), **self.loading)
            return self._subject

    def looks(self, subject: StudioRobot) -> list[Look]:
        """The meshes of a subject, read once for all; what was uploaded has none."""
        if not subject.visuals:
            return []
        with self._looking:
            if self._looks is None:
                self._looks = looks(subject.robot, subject.visuals)
            return self._looks

    # ------------------------------------------------------------------ clients
    def _arrived(self, client: Any) -> None:
        path = self.gate.path_of(client.client_id)
        waiting = None
        if not self.ready.is_set():
            waiting = client.add_notification("closedform", "the robot is being loaded",
                                              loading=True, with_close_button=False)
            self.ready.wait()
            waiting.remove()
        if self.error:
            client.add_notification("This robot cannot be loaded", self.error[:300], color="red")
            return
        session: Session | FlexibleSession = (
            Session(client, self, self.subject(), path) if self._arm is None
            else FlexibleSession(client, self._arm, self.gate))
        self.sessions[client.client_id] = session
        session.begin()
        if client.client_id not in self.gate.server.get_clients():     # gone while it was made
            self._left(client)

    def _left(self, client: Any) -> None:
        gone = self.sessions.pop(client.client_id, None)
        self.states.pop(f"{self.boot} {client.client_id}", None)
        if gone is not None:
            gone.close()
        if not self.sessions:                  # the last window: what only it needed goes
            with self._looking:
                self._looks = None
            gc.collect()

    def stop(self) -> None:
        """End all sessions and the server."""
        for session in list(self.sessions.values()):
            session.close()
        self.sessions.clear()
        self.gate.stop()
