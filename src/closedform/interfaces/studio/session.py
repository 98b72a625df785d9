"""One client: its state, its one worker, its scene and its widgets.

Callbacks only leave wishes, the newest of each kind; the worker meets them, computes and shows,
thirty times a second at most. It outlives every fault: an error becomes a notification.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np

from closedform.applications.studio import cells, link, posture
from closedform.applications.studio.dials import turned, wxyz
from closedform.applications.studio.recording import Recording
from closedform.applications.studio.shown import shown
from closedform.applications.studio.state import WISHES, StudioState, Wish, obey
from closedform.applications.studio.subject import StudioRobot
from closedform.applications.studio.uploads import LARGEST
from closedform.errors import ClosedformError
from closedform.interfaces.studio.controls import Controls
from closedform.interfaces.studio.gate import uuid_of
from closedform.interfaces.studio.pages import Pages, left_width
from closedform.interfaces.studio.scene import StudioScene
from closedform.interfaces.studio.storage import Storage

if TYPE_CHECKING:
    from closedform.interfaces.studio.house import Studio

EVERY = 1 / 30
"""Seconds between two pictures."""
LATE = 0.5
"""Seconds that a motion goes on at most between two pictures."""
PAUSE = 0.1
"""Seconds after which what was put off is kept."""
AHEAD = 0.002
"""Seconds by which numbers go ahead of the scene: viser shows what is only text without drawing."""
UNDONE = 50
"""Steps that can be taken back."""
RIGHT = 324
"""Pixels of the panel on the right, viser's own width."""


@final
class Session:
    """A client and what it looks at."""

    def __init__(self, client: Any, studio: Studio, subject: StudioRobot, path: str) -> None:
        self.client, self.studio, self.subject = client, studio, subject
        self.storage = Storage(client, studio)
        asked = link.from_link(path)
        given, self._tab = self.storage.before(asked, subject), str(asked.get("tab", ""))
        self.state, word = link.restored(subject, given)
        self.recording: Recording | None = None
        self.time, self.playing, self.speed = 0.0, False, 1.0
        self.clock, self._ticked = time.perf_counter, 0.0
        self.past: list[StudioState] = []
        self.dark, self.dragging, self.busy = False, False, ""
        self._width, self._first = left_width(client.camera), True      # before panels are docked
        self.serial, self.latest = 0, shown(subject, self.state, wait=False)
        self._wishes: dict[str, Any] = {}
        self._lock, self._wake, self._closed = (threading.Lock(), threading.Event(),
                                                threading.Event())
        self._jobs: queue.PriorityQueue[
            tuple[int, int, str, Callable[[], Any] | None]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self.showing = threading.RLock()        # held while nodes move: pictures wait for it
        studio.gate.refused[client.client_id] = lambda reason: self.tell("Not taken", reason)
        self.furnish()
        if word:
            self.tell("The link", word)

    def begin(self) -> None:
        """Start both threads; before it nothing moves."""
        self._wake.set()
        for work, name in ((self._work, "worker"), (self._work_off, "jobs")):
            threading.Thread(target=work, daemon=True, name=f"studio {name}").start()

    def furnish(self) -> None:
        """Scene and widgets for the subject, and what is made for it in the background."""
        self.scene = StudioScene(self.client.scene, self.subject)
        self.gizmo = self.client.scene.add_transform_controls(
            "/target", scale=0.22 * self.scene.size, depth_test=False, line_width=3, visible=False)

        self.gizmo.on_update(self._dragged)
        self.pages = Pages(self.client, self.subject, self._wake.set, self._width)
        self.controls = Controls(self)
        self.studio.gate.run_script(self.client, cells.script(
            seen=uuid_of(self.pages.teller), upload=uuid_of(self.controls.data.button),
            largest=max(LARGEST.values()), asked=self._tab))
        self.scene.look(self.client.camera, self.pages.width + RIGHT if self._first else 0.0)
        self._first = False
        subject = self.subject
        self.later("meshes", self._add_meshes)
        self.later("equations", self._make_equations)
        self.later("inverse kinematics", self._make_gizmo)
        self.later("base parameters", lambda: self.pages.add_base(subject), last=True)
        self.later("formulas", lambda: self.pages.add_formulas(subject), last=True)

    async def _dragged(self, event: Any) -> None:       # async keeps the order of the phases
        if event.client is not None:
            self.ask("gizmo", (np.array(self.gizmo.wxyz, float),
                               np.array(self.gizmo.position, float), event.phase))

    def open(self, subject: StudioRobot, found: str = "") -> None:
        """Look at another robot from now on; `found` is what lint said of its file."""
        self.ask("subject", (subject, found))

    # ------------------------------------------------------------------ wishes
    def ask(self, kind: str, value: Any = None) -> None:
        """The newest wish of each kind wins; what was not yet done is forgotten."""
        with self._lock:
            if kind == "dial":
                value = {**self._wishes.get("dial", {}), **value}
            if kind == "gizmo" and (before := self._wishes.get("gizmo")) is not None \
                    and before[2] == "end":
                value = (*value[:2], "end")
            self._wishes[kind] = value
        self._wake.set()

    def later(self, what: str, job: Callable[[], Any], last: bool = False) -> None:
        """Something dear, for the second thread; `last` if nobody has asked for it."""
        self._jobs.put((int(last), next(self._numbers), what, job))

    def tell(self, title: str, body: object, good: bool = False) -> None:
        """A notification; texts of it are shown as texts."""
        with contextlib.suppress(RuntimeError):
            self.client.add_notification(title, str(body)[:400], auto_close_seconds=8.0,
                                         color="green" if good else "red")

    # ------------------------------------------------------------------ threads
    def _work(self) -> None:
        while not self._closed.is_set():
            if not (self.playing and self.recording is not None):
                pause = min(self.pages.owed, PAUSE if self.storage.owed else math.inf)
                self._wake.wait(None if math.isinf(pause) else pause)
                self._ticked = self.clock() - EVERY
            if self._closed.is_set():
                return
            self._wake.clear()
            with self._lock:
                wishes, self._wishes = self._wishes, {}
            begun = time.perf_counter()
            try:
                self._advance(wishes)
                self._show()
            except Exception as error:          # the worker outlives every fault
                self.tell("Not possible", error)
            self._closed.wait(max(0.0, EVERY - (time.perf_counter() - begun)))

    def _work_off(self) -> None:
        while True:
            _, _, what, job = self._jobs.get()
            if job is None or self._closed.is_set():
                return
            self.busy = what
            try:
                job()
            except Exception as error:          # told, and the next job is begun
                self.tell(f"No {what}", error)
            job, self.busy = None, ""           # nothing is held while it waits

    @property
    def idle(self) -> bool:
        """Whether the second thread has nothing to do."""
        return not self.busy and self._jobs.empty()

    def close(self) -> None:
        """End both threads and let go of everything."""
        self._closed.set()
        self._wake.set()
        self._jobs.put((-1, -1, "", None))
        self.recording = None
        self.past.clear()

    # ------------------------------------------------------------------ one step
    def _advance(self, wishes: dict[str, Any]) -> None:
        if "subject" in wishes:
            self._change(*wishes.pop("subject"))
            return
        before, now = self.state, self.state
        self._play(wishes)
        gizmo = wishes.pop("gizmo", None)
        if gizmo is not None:
            wishes["target"], done = self._pose(gizmo), gizmo[2] == "end"
            self.dragging = not done
            if done and self.pages.one_freedom_left(self.state.tip):
                self.later("self-motion", lambda: self.ask("self_motion"))
        if wishes.pop("undo", None) is not None and self.past:
            self.state = self.past.pop()
            return
        for kind in WISHES:
            if kind in wishes:
                try:
                    now = obey(self.subject, now, Wish(kind, wishes[kind]))
                except ClosedformError as error:
                    self.tell("Not possible", error)
        if now is not before and "moment" not in wishes:
            self.past = [*self.past[1 - UNDONE:], before]
            self.controls.moved(before, now)
        self.state = now

    def _pose(self, given: tuple[Any, Any, str]) -> Any:
        """The gizmo's pose, (4, 4); anything that is none is refused by `obey`."""
        turn, place, _ = given
        T = np.eye(4)
        T[:3, 3] = place
        if np.all(np.isfinite(turn)) and np.linalg.norm(turn) > 1e-9:
            T[:3, :3] = turned(turn)
        return T

    def _play(self, wishes: dict[str, Any]) -> None:
        """The player: its wishes, and the moment that it is at."""
        if "record" in wishes:
            self.recording, self.time = wishes.pop("record"), 0.0
            self.playing = self.recording is not None
            self.controls.motion.loaded(self.recording)
        if self.recording is None:
            return
        moved = "seek" in wishes or "step" in wishes or self.playing
        if "seek" in wishes:
            self.time = float(np.clip(wishes.pop("seek"), 0, self.recording.seconds))
        if "step" in wishes:
            self.playing = False
            k = self.recording.index(self.time) + wishes.pop("step")
            k = int(np.clip(k, 0, len(self.recording.times) - 1))
            self.time = float(self.recording.times[k] - self.recording.times[0])
        elif self.playing:
            now = self.clock()
            passed, self._ticked = min(now - self._ticked, LATE), now
            self.time = (self.time + self.speed * passed) % max(self.recording.seconds, EVERY)
        if moved and "dial" not in wishes:
            wishes["moment"] = self.recording.moment(self.time)

    def _change(self, subject: StudioRobot, found: str) -> None:
        """Another robot: everything anew."""
        self.subject, self.recording, self.playing = subject, None, False
        self.past.clear()
        self.state, _ = link.restored(subject, {})
        with self.showing:
            self.controls.remove()
            self.scene.remove()
            self.furnish()
            self.controls.data.said(found)

    def _show(self) -> None:
        s = shown(self.subject, self.state, wait=False)
        self.serial += 1
        with self.showing:
            self.latest = s
            self.pages.show(s, self.serial, by_hand=not self.playing)
            if not self.playing:
                self.client.flush()
                time.sleep(AHEAD)
            with self.client.atomic():
                self.scene.show(s)
                self.controls.show(s)
            self.client.flush()
        self.storage.keep(self.subject, self.state)

    # ------------------------------------------------------------------ in the background
    def _add_meshes(self) -> None:
        found = self.studio.looks(self.subject)
        with self.showing:
            self.scene.add_looks(found)
            self.controls.boxes["bones"].value = self.scene.layers["bones"]
            self.controls.boxes["meshes"].visible = self.scene.has_meshes

    def _make_equations(self) -> None:
        self.subject.equations(self.state.tip)
        self.ask("refresh", True)

    def _make_gizmo(self) -> None:
        """The kernels of `solve` are made first, then the gizmo appears."""
        pulled = posture.pulls(self.subject.robot, self.state.tip)
        if pulled.task is not None:
            T = posture.of_tip(self.subject.robot, self.state.tip, self.state.q)
            posture.pulled(self.subject.robot, self.state.tip, self.state.criterion, T,
                           self.state.q)
            self.gizmo.position, self.gizmo.wxyz = T[:3, 3], wxyz(T[:3, :3])
            self.gizmo.disable_rotations = not pulled.turns
        self.gizmo.visible = pulled.task is not None
        self.ask("refresh", True)

    def new_tip(self) -> None:
        """The kernels of another tip."""
        self.gizmo.visible = False
        self.later("equations", self._make_equations)
        self.later("inverse kinematics", self._make_gizmo)
