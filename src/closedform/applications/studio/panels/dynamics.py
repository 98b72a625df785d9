"""The equation of motion at this state: M, C and slopes as heat maps, torques against limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from closedform.applications.studio import cells
from closedform.applications.studio.shown import Shown
from closedform.applications.units import inertia_units, units
from closedform.arrays import Floats
from closedform.model.robot import Robot

WAITING = "<p>The equations are being compiled …</p>"
SIX = ("x", "y", "z", "rx", "ry", "rz")
FREE = np.array([np.inf])

MATRICES: dict[str, tuple[str, Callable[[Shown], Floats | None]]] = {
    "M": ("mass matrix M(q)", lambda s: s.terms.mass_matrix),
    "C": ("Coriolis matrix C(q, v)", lambda s: s.terms.coriolis_matrix),
    "∂τ/∂q": ("∂τ/∂q", lambda s: getattr(s.terms, "dtau_dq", None)),
    "∂τ/∂v": ("∂τ/∂v", lambda s: getattr(s.terms, "dtau_dv", None)),
    "Λ": ("inertia at the tip Λ", lambda s: s.tip_inertia),
}
"""What may be seen as a heat map, by its letter."""


def heat_map(letter: str) -> Callable[[Shown], str]:
    """The panel of one matrix."""
    title, of = MATRICES[letter]

    def panel(s: Shown) -> str:
        if s.terms is None:
            return WAITING
        A = of(s)
        if A is None:
            return ("<p>The tip is at a singularity, or has fewer than six freedoms.</p>"
                    if letter == "Λ" else "<p>Not compiled for a robot of this size.</p>")
        names = SIX if letter == "Λ" else s.subject.names
        told: dict[str, str | float] = {"entries in": _unit(letter, s.subject.robot)}
        if letter == "M":
            told |= {"condition": s.condition, "smallest, largest eigenvalue": ", ".join(
                cells.number(float(x)) for x in s.eigenvalues[[0, -1]]), "M is": s.definite}
        return cells.matrix(A, title, names) + cells.facts(told, f"of the {title}")

    return panel


def _unit(letter: str, robot: Robot) -> str:
    """Of the entries of a matrix."""
    if letter in ("M", "Λ"):
        return inertia_units(robot) if letter == "M" else "kg, kg m, kg m²"
    return (units(robot, "N m/rad", "N/m", "N") if letter == "∂τ/∂q"
            else units(robot, "N m s", "N s/m", "N s"))


def torques(s: Shown) -> str:
    """τ, and what it is made of: M a, C v, g, each against the effort limits."""
    if s.terms is None:
        return WAITING
    t, names = s.terms, s.subject.names
    parts = (("τ = M a + C v + g", t.inverse_dynamics), ("gravity g", t.gravity_torque),
             ("C v", t.coriolis_torque), ("M a", t.mass_matrix @ s.state.a))
    unit = units(s.subject.robot, "N m", "N")
    told = "".join(f"<h4>{title} [{unit}]</h4>{cells.bars(x, s.effort, names, title)}"
                   for title, x in parts)
    over = [name for name, x, most in zip(names, t.inverse_dynamics, s.effort, strict=True)
            if abs(x) > most]
    beyond = (f'<p class="bad">beyond its limit: {", ".join(map(cells.escape, over))}</p>'
              if over else "")
    return beyond + told


def energy(s: Shown) -> str:
    """Energies, and what the numbers on this page cost."""
    if s.terms is None:
        return WAITING
    t = s.terms
    T, U = float(t.kinetic_energy), float(t.potential_energy)
    return cells.facts({
        "kinetic energy T [J]": T, "potential energy U [J]": U, "T + U [J]": T + U,
        "power vᵀτ [W]": float(s.state.v @ t.inverse_dynamics),
        "operations of all terms": f"{s.operations}",
        "time of one call [µs]": round(s.microseconds, 2)}, "energies and cost")


def what_if(s: Shown) -> str:
    """The load and the mount that these numbers are of."""
    roll, pitch = np.degrees(s.state.mount)
    return cells.facts({
        "load at the tip [kg]": s.state.load, "mount: roll, pitch [°]":
        f"{cells.number(float(roll))}, {cells.number(float(pitch))}",
        "mass with load [kg]": float(s.subject.robot.mass) + s.state.load}, "what if")


def sensitivity(s: Shown) -> str:
    """∂g/∂q at rest: directions in which gravity pulls away, named by their largest joint."""
    if s.terms is None:
        return WAITING
    K = getattr(s.terms, "dtau_dq", None)
    if K is None or np.any(s.state.v) or np.any(s.state.a):
        return "<p>At rest this tells the stiffness that gravity gives.</p>"
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    rows = {}
    for k in range(min(3, len(values))):
        at = int(np.argmax(np.abs(vectors[:, k])))
        word = "falls away" if values[k] < 0 else "stable"
        rows[f"{word}, mostly {cells.escape(s.subject.names[at])} [N m/rad]"] = float(values[k])
    return cells.facts(rows, "stiffness of gravity")
