"""The player: motions built in, from files and simulated; play, pause, step, speed, strips."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np

from closedform.applications.studio import cells, recording
from closedform.applications.studio.recording import Recording
from closedform.applications.studio.shown import Shown
from closedform.applications.studio.state import StudioState
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.model.elasticity.joints import ElasticJoints

if TYPE_CHECKING:
    from closedform.interfaces.studio.session import Session

MAKERS = ("release", "hold typed torques", "PD to home", "PD to home, elastic joints")


STILL = cells.framed(
    "still", "No motion yet", "<p>Play a swing, simulate from this posture, or drop a log or a "
    "table of motion on the page: its curves are drawn here.</p>", 0)


@final
class MotionControls:
    """The tab Motion, and the folder of simulations."""

    def __init__(self, session: Session) -> None:
        self.session, gui = session, session.client.gui
        self.gui = gui
        with session.pages.tabs["Motion"]:
            swing = gui.add_button("Play a swing of all joints")
            swing.on_click(lambda e: self.make("swing", recording.swing))
            with gui.add_folder("Simulate", expand_by_default=False):
                self.kind = gui.add_dropdown("from here", MAKERS)
                self.seconds = gui.add_number("seconds", 3.0, min=0.1, max=60.0, step=0.1)
                self.typed = gui.add_text("torques [N m]", "0")
                self.gains = gui.add_vector2("PD gains K, D", (100.0, 20.0))
                self.springs = gui.add_vector3("spring [N m/rad], motor [kg m²], gear",
                                               (2000.0, 0.5, 1.0))
                go = gui.add_button("Simulate")
                go.on_click(lambda e: self.simulate())
            self.play = gui.add_button_group("player", ("play", "pause", "−1", "+1", "stop"))
            self.play.on_click(lambda e: self._pressed(self.play.value))
            self.speed = gui.add_slider("speed", 0.1, 4.0, 0.1, 1.0)
            self.speed.on_update(lambda e: setattr(session, "speed", float(
                np.clip(finite(self.speed.value, 1.0), 0.1, 4.0))))
            self.clock = gui.add_slider("t [s]", 0.0, 1.0, 0.001, 0.0, disabled=True)

            async def sought(event: Any) -> None:
                if event.client is not None:
                    session.ask("seek", finite(self.clock.value, 0.0))
            self.clock.on_update(sought)
            self.strips = gui.add_html(STILL)
            self.cursor = gui.add_html("")

    # ------------------------------------------------------------------ making motions
    def make(self, title: str, maker: Callable[..., Recording], *given: Any) -> None:
        """Make a recording in the second thread and play it."""
        session = self.session
        told = session.client.add_notification(title, "is being computed", loading=True)

        def job() -> None:
            try:
                session.ask("record", maker(session.subject, session.state, *given))
            finally:
                told.remove()
        session.later(title, job)

    def simulate(self) -> None:
        """The motion that was chosen, from the state shown."""
        kind, seconds = self.kind.value, finite(self.seconds.value, 3.0)
        self.make(kind, lambda subject, state: self._simulated(kind, seconds, state))

    def _simulated(self, kind: str, seconds: float, state: StudioState) -> Recording:
        subject = self.session.subject
        if kind == MAKERS[0]:
            return recording.released(subject, state, seconds)
        if kind == MAKERS[1]:
            return recording.released(subject, state, seconds,
                                      torques_typed(self.typed.value, subject.robot.nv), kind)
        K, D = (finite(x, 0.0) for x in self.gains.value)
        law = recording.pd(subject, state, subject.home, K, D)
        springs = None
        if kind == MAKERS[3]:
            stiffness, inertia, gear = (finite(x, 1.0) for x in self.springs.value)
            from closedform.applications.studio.shown import as_robot
            springs = ElasticJoints(as_robot(subject, state), stiffness, inertia, gear)
        return recording.released(subject, state, seconds, law, kind, springs)

    # ------------------------------------------------------------------ the player
    def _pressed(self, what: str) -> None:
        if what in ("−1", "+1"):
            self.session.ask("step", 1 if what == "+1" else -1)
        elif what == "stop":
            self.session.ask("record", None)
        else:
            self.session.playing = what == "play"
            self.session.ask("refresh", True)

    def toggle(self) -> None:
        """Play or pause, for a key."""
        if self.session.recording is None:
            self.make("swing", recording.swing)
        else:
            self.session.playing = not self.session.playing
            self.session.ask("refresh", True)

    def loaded(self, found: Recording | None) -> None:
        """Another recording: its strips are sent once."""
        self.clock.disabled = found is None
        if found is None:
            self.strips.content, self.cursor.content = STILL, ""
            return
        self.clock.max = float(max(found.seconds, 0.001))
        drawn = "".join(cells.strip(found.times, strip) for strip in found.strips)
        told = cells.facts(dict(found.facts), "of the motion")
        self.strips.content = cells.framed("motion", cells.escape(found.title), told + drawn,
                                           self.session.serial)

    def show(self, s: Shown) -> None:
        """The clock, and a line through all strips where it stands."""
        found = self.session.recording
        if found is None:
            return
        if abs(self.clock.value - self.session.time) > 5e-4:
            self.clock.value = round(min(self.session.time, found.seconds), 3)
        pages = self.session.pages
        if self.cursor.content and not (pages.sees("cursor") or pages.sees("motion")):
            return
        k = found.index(self.session.time)
        part = 100 * (found.times[k] - found.times[0]) / max(found.seconds, 1e-9)
        rows: dict[str, str | float] = {"t [s]": float(found.times[k] - found.times[0])}
        for strip in found.strips:
            largest = int(np.argmax(np.abs(np.nan_to_num(strip.values[k]))))
            rows[f"{strip.title} of {cells.escape(strip.names[largest])} [{strip.unit}]"] = \
                float(strip.values[k, largest])
        bar = (f'<div style="position:relative;height:4px;background:#8883"><i style="position:'
               f'absolute;left:{part:.2f}%;width:3px;height:10px;top:-3px;background:#d0392b"></i>'
               f"</div><style>.cf .strip{{--now:{part:.2f}%}}</style>")
        self.cursor.content = cells.framed("cursor", "Now", bar + cells.facts(rows, "now"),
                                           self.session.serial)


def torques_typed(text: str, n: int) -> Floats:
    """`0` for all joints, or one number for each: `1, 0, -2`."""
    try:
        numbers = [float(x) for x in str(text).replace(";", ",").split(",")]
    except ValueError:
        raise ArgumentError(f"torques must be numbers between commas, not {text!r:.80}") from None
    if len(numbers) not in (1, n) or not np.all(np.isfinite(numbers)):
        raise ArgumentError(f"torques must be one finite number or {n} of them")
    return np.broadcast_to(np.array(numbers), (n,)).copy()


def finite(x: Any, otherwise: float) -> float:
    """What a browser sent for a number, if it is one."""
    try:
        value = float(x)
    except (TypeError, ValueError):
        return otherwise
    return value if np.isfinite(value) else otherwise
