"""The scene of a state as one HTML file, for papers and documentation: viser's page with the scene
inside. It is written by a server made for it, which no one can reach by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closedform.applications.studio.shown import shown
from closedform.interfaces.studio import gate
from closedform.interfaces.studio.scene import StudioScene

if TYPE_CHECKING:
    from closedform.interfaces.studio.session import Session


def scene_page(session: Session) -> str:
    """The page, with the layers that the client sees."""
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
