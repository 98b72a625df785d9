"""All panels that follow the state: a new one is a function and a row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from closedform.applications.studio import cells
from closedform.applications.studio.panels import dynamics, model, posture
from closedform.applications.studio.shown import Shown


class StudioPanel(NamedTuple):
    """A panel: its key and title, the tab it stands in, what makes its HTML of what is shown.

    `follows` says whether it changes with the state: others are made once a subject.
    """

    key: str
    title: str
    tab: str
    html: Callable[[Shown], str]
    follows: bool = True

    def framed(self, s: Shown, serial: int) -> str:
        """The panel as it is put on the page."""
        return cells.framed(self.key, self.title, self.html(s), serial)


PANELS = (
    StudioPanel("certificate", "Certificate", "Posture", posture.certificate),
    StudioPanel("reach", "Reach", "Posture", posture.reach),
    StudioPanel("limits", "Limits", "Posture", posture.limits),
    StudioPanel("energy", "Energy and cost", "Dynamics", dynamics.energy),
    StudioPanel("torques", "Torque budget", "Dynamics", dynamics.torques),
    StudioPanel("what_if", "What if", "Dynamics", dynamics.what_if),
    StudioPanel("sensitivity", "Gravity stiffness", "Dynamics", dynamics.sensitivity),
    StudioPanel("M", "Mass matrix M(q)", "Matrices", dynamics.heat_map("M")),
    StudioPanel("C", "Coriolis matrix C(q, v)", "Matrices", dynamics.heat_map("C")),
    StudioPanel("dtau_dq", "∂τ/∂q", "Matrices", dynamics.heat_map("∂τ/∂q")),
    StudioPanel("dtau_dv", "∂τ/∂v", "Matrices", dynamics.heat_map("∂τ/∂v")),
    StudioPanel("Lambda", "Inertia at the tip Λ", "Matrices", dynamics.heat_map("Λ")),
    StudioPanel("bodies", "Bodies", "Model", model.bodies, follows=False),
    StudioPanel("lint", "Lint", "Model", model.findings, follows=False),
)
