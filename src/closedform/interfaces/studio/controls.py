"""The widgets of one client: sliders of the joints, layers, the tip, the load, keys."""

from __future__ import annotations

import contextvars
import json
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from closedform.applications.studio import posture
from closedform.applications.studio.dials import STEP, wxyz
from closedform.applications.studio.shown import Shown
from closedform.applications.studio.state import CRITERIA, StudioState
from closedform.applications.units import sliding
from closedform.arrays import Floats
from closedform.interfaces.studio.data_controls import DataControls
from closedform.interfaces.studio.motion_controls import MotionControls
from closedform.interfaces.studio.scene import LAYERS
from closedform.interfaces.studio.take_away import TakeAway
from closedform.interfaces.studio.theme import put_theme

if TYPE_CHECKING:
    from closedform.interfaces.studio.session import Session

DEGREE = float(np.degrees(1.0))
RATE = 10.0
"""rad/s or m/s, and per second: the ends of the sliders of rates."""
ELSEWHERE = "—"
"""What stands for a configuration that has no name."""
OFTEN, SLOW = 0.1, 0.25
"""Seconds between two positions of sliders of joints, of rates, while a motion is played."""


@final
class Controls:
    """The panel on the right."""

    def __init__(self, session: Session) -> None:
        self.session, self.gui, self.subject = session, session.client.gui, session.subject
        self.degrees = False
        self.sliders: list[Any] = []
        self._moved: dict[str, tuple[Floats | None, float]] = {}
        self.boxes: dict[str, Any] = {}
        gui = self.gui
        self._theme(session.dark)
        gui.set_panel_label(f"closedform · {self.subject.robot.name}")
        self._see()
        self._configurations()
        self.joints = gui.add_folder("Joints")
        self._fill_joints()
        self._tip()
        self._rates()
        self._what_if()
        self.motion = MotionControls(session)
        self.data = DataControls(session)
        self.take_away = TakeAway(session)
        self._keys()
        gui.main_panel.dock_right()

    # ------------------------------------------------------------------ joints
    def _configurations(self) -> None:
        gui, ask = self.gui, self.session.ask
        self.named = gui.add_dropdown("configuration", (*self.subject.configurations, ELSEWHERE))
        self.named.on_update(self._by_hand(self._choose))
        home = gui.add_button_group("go", ("home", "random", "undo"))
        go = {"home": ("named", "home"), "random": ("random", None), "undo": ("undo", True)}
        home.on_click(lambda e: ask(*go.get(home.value, go["home"])))
        unit = gui.add_checkbox("degrees", False)

        def change(event: Any) -> None:
            with self.session.showing:                   # one at a time, and not while they move
                if self.degrees == bool(unit.value):
                    return
                self.degrees = bool(unit.value)
                for slider in self.sliders:
                    slider.remove()
                self._moved.clear()
                contextvars.copy_context().run(self._fill_joints)       # see `house`

        unit.on_update(change)

    def _choose(self) -> None:
        if self.named.value != ELSEWHERE:
            self.session.ask("named", self.named.value)

    @staticmethod
    def _by_hand(act: Callable[[], None]) -> Callable[[Any], None]:
        """A callback for what a hand does; values that we set ourselves come without a client."""
        def called(event: Any) -> None:
            if event.client is not None:
                act()
        return called

    def _fill_joints(self) -> None:
        dials = self.subject.dials
        turns = np.array([dial.turns for dial in dials.all], dtype=bool)
        units = np.where(turns & self.degrees, DEGREE, 1.0)
        steps = np.where(turns & self.degrees, 0.1, STEP)
        low, high = np.ceil(dials.low * units / steps), np.floor(dials.high * units / steps)
        self._scales = units, steps, low, high
        values = self._positions(dials.values(self.session.state.q)).tolist()
        self.sliders = []
        with self.joints:
            for k, dial in enumerate(dials.all):
                word = "m" if not dial.turns else "°" if self.degrees else "rad"
                slider = self.gui.add_slider(
                    dial.name, float(low[k] * steps[k]), float(high[k] * steps[k]),
                    float(steps[k]), values[k], hint=f"{dial.name} [{word}]")
                slider.on_update(self._turned(k, slider))
                self.sliders.append(slider)

    def _positions(self, values: Floats) -> Floats:
        """The sliders' values for the dials': on their steps and within their ends."""
        units, steps, low, high = self._scales
        return np.round(np.clip(np.round(values * units / steps), low, high) * steps, 6)

    def _turned(self, k: int, slider: Any) -> Any:
        async def turned(event: Any) -> None:
            x = slider.value                    # viser checks neither range nor finiteness
            if event.client is not None and isinstance(x, float | int) and np.isfinite(x):
                self.session.ask("dial", {k: x / float(self._scales[0][k])})
        return turned

    # ------------------------------------------------------------------ layers
    def _see(self) -> None:
        gui = self.gui
        with gui.add_folder("See", expand_by_default=False):
            for layer, seen in LAYERS.items():
                self.boxes[layer] = box = gui.add_checkbox(layer, seen)
                box.on_update(self._layer(layer, box))
            dark = gui.add_checkbox("dark", self.session.dark)

            dark.on_update(lambda e: self._theme(bool(dark.value)))

    def _theme(self, dark: bool) -> None:
        self.session.dark = dark
        put_theme(self.gui, dark)

    def _layer(self, layer: str, box: Any) -> Any:
        def chosen(event: Any) -> None:
            with self.session.showing:
                self.session.scene.see(layer, bool(box.value))
            self.session.ask("refresh", True)
        return chosen

    def toggle(self, *layers: str) -> None:
        """Show layers that are hidden and hide those that are shown, from a key."""
        with self.session.showing:
            for layer in layers:
                self.boxes[layer].value = seen = not self.session.scene.layers[layer]
                self.session.scene.see(layer, seen)
        self.session.ask("refresh", True)

    # ------------------------------------------------------------------ the tip
    def _tip(self) -> None:
        gui, ask = self.gui, self.session.ask
        with gui.add_folder("Tip"):
            tip = gui.add_dropdown("tip", self.subject.tips, initial_value=self.session.state.tip)
            tip.on_update(self._by_hand(lambda: ask("tip", tip.value)))
            aim = gui.add_dropdown("maximise", CRITERIA,
                                   initial_value=self.session.state.criterion)
            aim.on_update(self._by_hand(lambda: ask("criterion", aim.value)))
            self.along = gui.add_slider("self-motion", -1.0, 1.0, 0.001, 0.0, disabled=True)

            async def moved(event: Any) -> None:
                if event.client is not None:
                    ask("along", self.along.value)
            self.along.on_update(moved)
            self.find = gui.add_button("Find all branches")
            self.find.on_click(lambda e: self._find_branches())
            self.branch = gui.add_dropdown("branch", ("—",), disabled=True)
            self.branch.on_update(self._by_hand(lambda: self._to_branch(self.branch.value)))

    def _find_branches(self) -> None:
        session = self.session
        told = session.client.add_notification("Branches", "every posture of this target is "
                                               "looked for", loading=True)

        def job() -> None:
            try:
                state = session.state
                T = posture.of_tip(self.subject.robot, state.tip, state.q) \
                    if state.target is None else state.target
                found = posture.all_branches(self.subject.robot, state.tip, state.criterion, T,
                                             state.q)
                session.ask("branches", (T, found))
            finally:
                told.remove()
        session.later("branches", job)

    def _to_branch(self, label: str) -> None:
        number = str(label).partition(":")[0]
        if number.isdigit():
            self.session.ask("branch", int(number) - 1)

    # ------------------------------------------------------------------ rates, load, mount
    def _rates(self) -> None:
        gui, names = self.gui, self.subject.names
        words = ["m" if slides else "rad" for slides in sliding(self.subject.robot)]
        self.rates: list[Any] = []
        with gui.add_folder("Velocity and acceleration", expand_by_default=False):
            for letter, per in (("v", "s"), ("a", "s²")):
                for name, word in zip(names, words, strict=True):
                    slider = gui.add_slider(f"{letter} {name}", -RATE, RATE, 0.01, 0.0,
                                            hint=f"{letter} of {name} [{word}/{per}]")
                    slider.on_update(self._rate_moved)
                    self.rates.append(slider)
            rest = gui.add_button("At rest")
            n = self.subject.robot.nv
            rest.on_click(lambda e: self.session.ask("rates", (np.zeros(n), np.zeros(n))))

    async def _rate_moved(self, event: Any) -> None:
        if event.client is not None:
            x, n = [s.value for s in self.rates], self.subject.robot.nv
            self.session.ask("rates", (x[:n], x[n:]))

    def _what_if(self) -> None:
        gui, ask = self.gui, self.session.ask
        state = self.session.state
        with gui.add_folder("What if", expand_by_default=False):
            mass = gui.add_slider("load [kg]", 0.0, 20.0, 0.1, min(state.load, 20.0))
            at = gui.add_vector3("its place [m]", state.load_at, step=0.01)
            roll = gui.add_slider("mount roll [°]", -180.0, 180.0, 1.0,
                                  float(np.round(DEGREE * state.mount[0])))
            pitch = gui.add_slider("mount pitch [°]", -180.0, 180.0, 1.0,
                                   float(np.round(DEGREE * state.mount[1])))
        for widget in (mass, at):
            widget.on_update(self._by_hand(lambda: ask("load", (mass.value, at.value))))
        for widget in (roll, pitch):
            widget.on_update(self._by_hand(lambda: ask(
                "mount", (roll.value / DEGREE, pitch.value / DEGREE))))

    # ------------------------------------------------------------------ keys
    def _keys(self) -> None:
        """All in the palette too. No arrows, no WASD QE: viser moves the camera with them."""
        ask, session = self.session.ask, self.session
        keys = {
            ("Home", "H"): lambda: ask("named", "home"),
            ("Random configuration", "R"): lambda: ask("random"),
            ("Play or pause", "space"): lambda: self.motion.toggle(),
            ("Next branch", "N"): lambda: ask("branch", session.state.branch + 1),
            ("Previous branch", "P"): lambda: ask("branch", session.state.branch - 1),
            ("Inertia ellipsoids", "I"): lambda: self.toggle("inertia"),
            ("Frames", "F"): lambda: self.toggle("frames"),
            ("Meshes or bones", "M"): self._swap,
            ("Undo", "Z"): lambda: ask("undo", True),
        }
        keys |= {(f"Tab {name}", str(k)): partial(self._open, name)
                 for k, name in enumerate(session.pages.tabs, start=1)}
        self.commands = []
        for (label, key), act in keys.items():
            command = self.gui.add_command(label, hotkey=key)
            command.on_trigger(lambda e, act=act: act())
            self.commands.append(command)

    def _open(self, tab: str) -> None:
        """Open a tab of panels."""
        self.session.studio.gate.run_script(
            self.session.client, f"window.closedformStudio.open({json.dumps(tab)})")

    def _swap(self) -> None:
        """Bones where meshes were, and back; where there are none, bones stay."""
        layers = self.session.scene.layers
        if self.session.scene.has_meshes:
            self.toggle("meshes", *(["bones"] if layers["meshes"] != layers["bones"] else []))

    # ------------------------------------------------------------------ at a state
    def moved(self, before: StudioState, now: StudioState) -> None:
        """What has to be made where a wish has changed more than the posture."""
        if before.tip != now.tip:
            self.session.state = now
            self.session.new_tip()
        if before.branches is not now.branches:
            labels = tuple(f"{k + 1}: {b.verdict.value}" for k, b in enumerate(now.branches))
            self.branch.options, self.branch.disabled = labels or ("—",), not labels
        if before.branches is not now.branches or before.curve is not now.curve:
            self._curves(now)

    def _curves(self, state: StudioState) -> None:
        kernel, n = self.subject.places(state.tip), np.zeros(3)
        ghosts = [np.asarray(kernel(np.asarray(b.q), n, np.zeros(10)).poses)
                  for b in state.branches[:12]]
        elbow = None
        if state.curve is not None and len(state.curve.q) > 1:
            T = np.array([np.asarray(kernel(q, n, np.zeros(10)).poses)[:, :3, 3]
                          for q in state.curve.q])
            elbow = T[:, int(np.argmax(np.ptp(T, axis=0).max(axis=-1)))]
        self.session.scene.show_curves(ghosts, elbow)

    def show(self, s: Shown) -> None:
        """Put sliders and gizmo where the state is; those in a hand are there already."""
        if self._are_due("joints", s.state.q, OFTEN):
            _put(self.sliders, self._positions(s.subject.dials.values(s.state.q)))
            self._name(s.state.q)
        if self._are_due("rates", s.state.v, SLOW):
            x = np.concatenate([s.state.v, s.state.a])
            _put(self.rates, np.clip(np.round(x, 2), -RATE, RATE))
        if self.along.disabled != (s.state.curve is None):
            self.along.disabled = s.state.curve is None
        if abs(self.along.value - s.state.along) > 1e-9:
            self.along.value = round(s.state.along, 3)
        gizmo, T = self.session.gizmo, s.places.frame_pose
        if gizmo.visible and s.state.refused is None and not self.session.dragging:
            gizmo.position, gizmo.wxyz = T[:3, 3], wxyz(T[:3, :3])
        self.motion.show(s)

    def _name(self, q: Floats) -> None:
        """Say which named configuration this is; one of several that are the same stays."""
        named = self.subject.configurations
        if not np.array_equal(named.get(self.named.value, ()), q):
            found = next((x for x, at in named.items() if np.array_equal(at, q)), ELSEWHERE)
            if self.named.value != found:
                self.named.value = found

    def _are_due(self, which: str, x: Floats, pause: float) -> bool:
        """Whether sliders are to be moved: another state, and a pause while a motion is played."""
        now, (before, at) = time.monotonic(), self._moved.get(which, (None, 0.0))
        if x is before or (self.session.playing and now - at < pause):
            return False
        self._moved[which] = x, now
        return True

    def remove(self) -> None:
        """Take all widgets away."""
        for command in self.commands:
            command.remove()
        self.gui.reset()


def _put(sliders: list[Any], values: Floats) -> None:
    """Move the sliders that are elsewhere."""
    for slider, value in zip(sliders, values.tolist(), strict=False):
        if not abs(slider.value - value) <= 1e-9:          # a hostile NaN too
            slider.value = value
