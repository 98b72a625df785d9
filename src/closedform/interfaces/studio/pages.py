"""The tabs of panels: HTML that is sent where it has changed, as often as an eye follows."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, final

import numpy as np

from closedform.applications.studio import cells, posture
from closedform.applications.studio.panels import formulas, model
from closedform.applications.studio.panels.table import PANELS, StudioPanel
from closedform.applications.studio.shown import Shown
from closedform.applications.studio.subject import StudioRobot
from closedform.errors import ClosedformError

LARGE = 12_000
"""Characters of a panel from which on it is made and sent four times a second at most."""
BY_HAND, QUICK, SLOW = 0.03, 0.08, 0.25
"""Seconds between two pictures of a panel: under a hand, while a motion is played, of a large one.
Nobody reads faster, and half the cost is here."""
HUGE = 1e-6
"""Seconds a character: the table of a hundred joints' M keeps a browser busy."""
PART, WIDTHS = 0.36, (300, 450)
"""Of the window: how wide the panels are, and pixels between which that lies."""
SETS = {"M, C, ∂τ/∂q": ("M", "C", "dtau_dq"), "M": ("M",), "C": ("C",), "∂τ/∂q": ("dtau_dq",),
        "∂τ/∂v": ("dtau_dv",), "Λ": ("Lambda",)}
"""Which matrices are seen together."""
MATRICES = frozenset(key for keys in SETS.values() for key in keys)


def left_width(camera: Any) -> int:
    """Pixels of the panels, for a window whose picture has not yet made room for them."""
    return int(np.clip(PART * camera.image_width, *WIDTHS))


@final
class Pages:
    """The panel on the left: its tabs, and what each shows."""

    def __init__(self, client: Any, subject: StudioRobot, wake: Callable[[], None],
                 width: int) -> None:
        gui = client.gui
        self.gui, self.subject, self.wake, self.width = gui, subject, wake, width
        self.owed = math.inf                           # seconds until a panel that was put off
        self.seen: frozenset[str] | None = None        # panels on the screen, once it tells
        self.teller = gui.add_text("seen panels", "", visible=False)
        self.teller.on_update(self._told_seen)
        self._sent: dict[str, tuple[str, float]] = {}
        self._pause = QUICK
        self.panel = gui.add_panel()
        self.html: dict[str, Any] = {}
        self.tabs: dict[str, Any] = {}
        few = subject.robot.nv <= cells.READABLE
        self.chosen = SETS["M, C, ∂τ/∂q"] if few else ("M",)
        for tab in (*dict.fromkeys(p.tab for p in PANELS), "Motion", "Formulas"):
            self.tabs[tab] = self.panel.add_tab(tab)
            with self.tabs[tab]:
                if tab == "Matrices":
                    self._choice("M, C, ∂τ/∂q" if few else "M")
                self.html |= {p.key: gui.add_html("", visible=self._is_chosen(p.key))
                              for p in PANELS if p.tab == tab}
        with self.tabs["Model"]:
            self.html["base"] = gui.add_html(_framed("base", "Base parameters", "<p>…</p>"))
        with self.tabs["Formulas"]:
            self.html["formulas"] = gui.add_html(_framed("formulas", "Formulas", "<p>…</p>"))
        self.panel.dock_left()
        self.panel.set_width(width)
        self.formulas: Any = None

    def _choice(self, first: str) -> None:
        """Which matrices are seen."""
        chosen = self.gui.add_dropdown("matrices", tuple(SETS), initial_value=first)

        def choose(event: Any) -> None:
            self.chosen = SETS.get(chosen.value, ("M",))
            for key in MATRICES:
                self.html[key].visible = self._is_chosen(key)
            self._sent.clear()
            self.wake()

        chosen.on_update(choose)

    async def _told_seen(self, event: Any) -> None:
        """The page says which panels are on the screen; only they are made."""
        if event.client is not None:
            self.seen = frozenset(str(self.teller.value)[:2000].split())
            self.wake()

    def _is_chosen(self, key: str) -> bool:
        return key not in MATRICES or key in self.chosen

    def sees(self, key: str) -> bool:
        """Whether a panel is on the screen, as far as the page has told."""
        return self.seen is None or key in self.seen

    @property
    def tab(self) -> str:
        """The tab that is open, as far as the page has told."""
        where = {**{p.key: p.tab for p in PANELS}, "base": "Model", "motion": "Motion",
                 "still": "Motion", "formulas": "Formulas"}
        return next((where[key] for key in sorted(self.seen or ()) if key in where), "")

    def _is_seen(self, key: str) -> bool:
        return self._is_chosen(key) and (self.sees(key) or key not in self._sent)

    def show(self, s: Shown, serial: int, by_hand: bool = False) -> None:
        """Send every panel that has changed; those that were sent just now are owed."""
        now, self.owed = time.monotonic(), math.inf
        self._pause = BY_HAND if by_hand and self.seen is not None else QUICK
        for panel in PANELS:
            if self._is_seen(panel.key) and (panel.follows or panel.key not in self._sent) \
                    and self._is_due(panel.key, now):
                self._put(panel.key, panel.title, self._made(panel, s), serial, now)
        if self.formulas is not None and self._is_seen("formulas") \
                and (self.formulas.lines or "formulas" not in self._sent) \
                and self._is_due("formulas", now):
            self._put("formulas", "Formulas", formulas.page(self.formulas, s), serial, now)

    def _is_due(self, key: str, now: float) -> bool:
        before, at = self._sent.get(key, ("", -1.0))
        size = len(before)
        left = at + (max(SLOW, HUGE * size) if size > LARGE else self._pause) - now
        if left > 0:
            self.owed = min(self.owed, left)
        return left <= 0

    def _made(self, panel: StudioPanel, s: Shown) -> str:
        try:
            return panel.html(s)
        except (ClosedformError, ArithmeticError, ValueError) as error:
            return f"<p>{cells.escape(error)}</p>"

    def _put(self, key: str, title: str, inner: str, serial: int, now: float) -> None:
        if inner != self._sent.get(key, ("", 0.0))[0]:
            self._sent[key] = inner, now
            self.html[key].content = cells.framed(key, title, inner, serial)

    # ------------------------------------------------------------------ made in the background
    def add_base(self, subject: StudioRobot) -> None:
        """Base parameters as a picture."""
        self.html["base"].content = _framed("base", "Base parameters",
                                            model.base_picture(subject.robot))

    def add_formulas(self, subject: StudioRobot) -> None:
        """Formulas of small robots, the listing of others."""
        self.formulas = formulas.prepared(subject.robot)
        self._sent.pop("formulas", None)
        self.wake()

    def one_freedom_left(self, tip: str) -> bool:
        """Whether the arm can move with its tip at rest, along a curve."""
        return posture.freedoms_left(self.subject.robot, tip) == 1


def _framed(key: str, title: str, inner: str) -> str:
    return cells.framed(key, title, inner, 0)
