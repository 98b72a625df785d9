"""The folder Take away: picture, GIF, CSV, URDF, exports, pages, link, Python."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, final

import numpy as np

from closedform.applications.studio import cells, link, parting
from closedform.applications.studio.shown import shown
from closedform.applications.studio.state import Wish, obey
from closedform.errors import ArgumentError
from closedform.interfaces.studio import gate
from closedform.interfaces.studio.scene import StudioScene

if TYPE_CHECKING:
    from closedform.interfaces.studio.session import Session

FRAMES = 48
"""Pictures of a GIF."""
WAIT = 30.0
"""Seconds that a browser may take for one picture."""


@final
class TakeAway:
    """What leaves the studio."""

    def __init__(self, session: Session) -> None:
        self.session, gui = session, session.client.gui
        with gui.add_folder("Take away", expand_by_default=False):
            what = gui.add_dropdown("what", tuple(parting.QUANTITIES))
            to = gui.add_dropdown("as", parting.TARGETS)
            buttons = {
                "Picture (PNG)": self.picture, "GIF of the motion": self.gif,
                "Numbers shown (CSV)": self.numbers, "Motion (CSV)": self.motion,
                "URDF": lambda: self._send(".urdf", session.subject.robot.to_urdf()),
                "Code with its runner (zip)": lambda: self._send(
                    f"_{what.value}_{to.value}.zip", parting.packed(
                        session.subject.robot, what.value, to.value)),
                "Page of the scene (HTML)": self.page,
                "Live page (HTML)": lambda: self._send("_live.html", parting.live(
                    session.subject, session.state)),
                "Python of this state": lambda: self._send(".py", parting.python(
                    session.subject, session.state)),
            }
            for label, act in buttons.items():
                gui.add_button(label).on_click(lambda e, label=label, act=act: session.later(
                    label, act))
            link_button = gui.add_button("Link to this state")
            self.link = gui.add_html("")
            link_button.on_click(lambda e: self._link())

    def _send(self, end: str, content: str | bytes) -> None:
        name = re.sub(r"[^\w.-]", "_", self.session.subject.robot.name)[:60] + end
        data = content.encode() if isinstance(content, str) else content
        self.session.client.send_file_download(name, data)

    def _link(self) -> None:
        session = self.session
        whole = session.studio.gate.address.rstrip("/") + link.link(
            session.subject, session.state, session.pages.tab)
        self.link.content = cells.framed("link", "Link", f"<pre>{parting.text(whole)}</pre>",
                                         session.serial)

    # ------------------------------------------------------------------ pictures
    def _render(self) -> Any:
        camera = self.session.client.camera
        height, width = int(camera.image_height), int(camera.image_width)
        return self.session.client.get_render(height, width, transport_format="png", timeout=WAIT)

    def picture(self) -> None:
        """The scene as it is, transparent behind."""
        from PIL import Image
        stream = io.BytesIO()
        Image.fromarray(self._render()).save(stream, "PNG")
        self._send(".png", stream.getvalue())

    def gif(self) -> None:
        """The motion that is loaded, drawn picture by picture: no frame is lost."""
        from PIL import Image
        session, found = self.session, self.session.recording
        if found is None:
            raise ArgumentError("a GIF needs a motion: play one first")
        session.playing, pictures, before = False, [], session.state
        at = np.unique(np.linspace(0, len(found.times) - 1, FRAMES).astype(int))
        bar = session.client.gui.add_progress_bar(0.0)
        try:
            with session.showing:
                for k in at:
                    state = obey(session.subject, before,
                                 Wish("moment", (found.q[k], found.v[k], found.a[k])))
                    session.scene.show(shown(session.subject, state, wait=False))
                    session.client.flush()
                    frame = Image.fromarray(self._render())
                    ground = Image.new("RGBA", frame.size, "white")
                    pictures.append(Image.alpha_composite(ground, frame.convert("RGBA"))
                                    .convert("RGB"))
                    bar.value = 100 * len(pictures) / len(at)
        finally:
            bar.remove()
        stream = io.BytesIO()
        pause = int(max(20, 1000 * found.seconds / len(at)))
        pictures[0].save(stream, "GIF", save_all=True, append_images=pictures[1:], loop=0,
                         duration=pause)
        self._send(".gif", stream.getvalue())
        session.ask("refresh", True)

    # ------------------------------------------------------------------ numbers
    def numbers(self) -> None:
        """Every number of the panels at this state."""
        self._send("_state.csv", parting.csv_of(shown(self.session.subject, self.session.state)))

    def motion(self) -> None:
        """What the strips draw."""
        if self.session.recording is None:
            raise ArgumentError("there is no motion: play one first")
        self._send("_motion.csv", self.session.recording.csv())

    def page(self) -> None:
        """The scene as one file that needs no server."""
        self._send(".html", scene_page(self.session))


def scene_page(session: Session) -> str:
    """viser's page with the scene inside, and the layers that the client sees.

    It is written by a server made for it, which no one can reach by name.
    """
    own = gate.serve(0)
    try:
        scene = StudioScene(own.server.scene, session.subject)
        scene.add_looks(session.studio.looks(session.subject))
        for layer, visible in session.scene.layers.items():
            scene.see(layer, visible)
        scene.show(shown(session.subject, session.state))
        own.server.initial_camera.position = tuple(session.client.camera.position)
        own.server.initial_camera.look_at = tuple(session.client.camera.look_at)
        text: str = own.server.scene.as_html(dark_mode=session.dark)
        return text
    finally:
        own.stop()
