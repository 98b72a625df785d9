"""One client that looks at a flexible arm: the swing, the modes, deflections magnified."""

from __future__ import annotations

import threading
import time
from typing import Any, final

import numpy as np

from closedform.applications.studio import cells
from closedform.applications.studio.bending import SECONDS, Bending
from closedform.interfaces.studio.gate import Gate
from closedform.interfaces.studio.motion_controls import finite
from closedform.interfaces.studio.scene import BLUE, ORANGE
from closedform.interfaces.studio.shapes import behind_sheet, ground, lines
from closedform.interfaces.studio.theme import put_theme

EVERY = 1 / 25
SWING = "swing"


@final
class FlexibleSession:
    """The arm in its plane, seen from above."""

    def __init__(self, client: Any, bending: Bending, gate: Gate) -> None:
        self.client, self.bending, self._closed = client, bending, threading.Event()
        gui, scene, reach = client.gui, client.scene, self.bending.reach
        put_theme(gui, False)
        gui.set_panel_label(f"closedform · {bending.arm.name}")
        scene.configure_environment_map(None)
        scene.configure_default_lights(True, cast_shadow=False)
        ground(scene, reach)
        self.line = lines(scene, "/arm", np.zeros((1, 2, 3)), BLUE, 8)
        self.line.visible = True
        self.tip = scene.add_icosphere("/tip", 0.02 * reach, ORANGE, cast_shadow=False)
        self.trace = lines(scene, "/trace", np.zeros((1, 2, 3)), ORANGE, 2)
        found = self.bending.vibration
        modes = () if found is None else tuple(
            f"mode {k + 1}, {x:.4g} Hz" for k, x in enumerate(found.frequencies))
        self.what = gui.add_dropdown("show", (SWING, *modes))
        self.play = gui.add_checkbox("play", True)
        self.speed = gui.add_slider("speed", 0.1, 4.0, 0.1, 1.0)
        self.size = gui.add_slider("deflections ×", 1, 20, 1, 5)
        self.clock = gui.add_slider("t [s]", 0.0, SECONDS, 0.01, 0.0)
        dark = gui.add_checkbox("dark", False)
        dark.on_update(lambda e: put_theme(gui, bool(dark.value)))
        gate.run_script(client, cells.script())
        self.page = gui.add_html(cells.framed("flexible", "Flexible arm", "<p>…</p>", 0))
        gui.main_panel.dock_right()
        way = np.array([0.0, -0.3, 1.7]) * reach
        at = np.array([reach / 2, -behind_sheet(client.camera, way), 0.0])
        client.camera.position, client.camera.look_at = tuple(at + way), tuple(at)

    def begin(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._work, daemon=True, name="studio arm").start()

    def close(self) -> None:
        """End the thread."""
        self._closed.set()

    def _work(self) -> None:
        try:
            run = self.bending.run
            self.page.content = cells.framed("flexible", "Flexible arm", self.bending.page(), 1)
            tips = np.concatenate([run.tip, np.zeros((len(run.times), 1))], axis=1)
            self.trace.points = np.stack([tips[:-1], tips[1:]], axis=1).astype(np.float32)
        except Exception as error:              # told; the arm at rest remains
            self.client.add_notification("Not possible", str(error)[:300], color="red")
            return
        before, at, said = time.perf_counter(), 0.0, ""
        while not self._closed.wait(EVERY):
            now = time.perf_counter()
            try:
                at = self._moment(at, now - before)
                self.show(at)
                said = ""
            except Exception as error:          # the worker outlives every fault, told once
                if str(error) != said:
                    self.client.add_notification("Not possible", str(error)[:300], color="red")
                said = str(error)
            before = now

    def _moment(self, at: float, passed: float) -> float:
        """Where the clock stands, after so many seconds of play or by hand."""
        if not self.play.value:
            return float(np.clip(finite(self.clock.value, 0.0), 0.0, SECONDS))
        return (at + float(np.clip(finite(self.speed.value, 1.0), 0.1, 4.0)) * passed) % SECONDS

    def show(self, t: float) -> None:
        """The arm at a time of the swing, or of a mode."""
        b, what = self.bending, str(self.what.value)
        if what == SWING:
            k = int(np.clip(np.searchsorted(b.run.times, t), 0, len(b.run.times) - 1))
            points = b.bent(b.run.q[k], float(np.clip(finite(self.size.value, 1.0), 1, 20)))
        else:
            points = b.mode(int(what.split()[1].rstrip(",")) - 1, 2 * np.pi * t)
        with self.client.atomic():
            self.line.points, self.tip.position = points.astype(np.float32), points[-1, -1]
            self.trace.visible = what == SWING
            if abs(self.clock.value - t) > 5e-3:
                self.clock.value = round(t, 2)
