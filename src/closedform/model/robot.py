"""What a robot is: bodies on joints in a tree, gravity, named frames; and what it can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.arrays import ArrayLike, numeric
from closedform.model import coordinates, edits
from closedform.model import parameters as inertial
from closedform.model.bodies import Body as Body
from closedform.model.bodies import Frame as Frame
from closedform.model.describe import html_table
from closedform.model.formats.urdf.write import urdf_text
from closedform.model.inertia import Inertia
from closedform.model.tree import STANDARD_GRAVITY as STANDARD_GRAVITY
from closedform.model.tree import Tree


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Robot(Tree):
    """A tree of bodies, parents first, with gravity (m/s², world frame) and named frames.

    `q` and `v` follow `bodies`. `source` says where the robot came from; it changes nothing, nor do
    `configurations`, coordinates with names (a file's keyframes): `configurations["home"]`, (nq,),
    and `notes`, what reading its file left out.
    `parts` are the bodies whose joints own coordinates, with their slices of q and v; `segments`
    the tree that the equations walk; `parents` count bodies from 1, the world is 0.
    """

    # ------------------------------------------------------------------ coordinates
    def neutral(self) -> np.ndarray:
        """q with every joint at its zero and every quaternion at (0, 0, 0, 1)."""
        return coordinates.neutral(self)

    def random(self, rng: int | np.random.Generator | None = None) -> np.ndarray:
        """A random q: within the limits that there are, else ±π for turns, ±1 m for slides.

        Quaternions are uniform over all rotations.
        """
        return coordinates.random(self, rng)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> np.ndarray:
        """q ⊕ dv, as Pinocchio's: each joint moved by exp of its part of dv; batch axes first."""
        return coordinates.integrate(self, q, dv)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
        """The dv with integrate(q0, dv) = q1, the shorter way round; batch axes first."""
        return coordinates.difference(self, q0, q1)

    def integrate_jacobians(self, q: ArrayLike, dv: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """How q ⊕ dv moves with q and with dv, (..., nv, nv) each, as Pinocchio's dIntegrate."""
        return coordinates.integrate_jacobians(self, q, dv)

    def difference_jacobians(self, q0: ArrayLike, q1: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """How the difference changes with q0 and with q1, (..., nv, nv) each; dDifference."""
        return coordinates.difference_jacobians(self, q0, q1)

    @property
    def lower(self) -> np.ndarray:
        """Lower limits of q, (nq,); −∞ where none is given."""
        return coordinates.limits(self, "lower", -np.inf)

    @property
    def upper(self) -> np.ndarray:
        """Upper limits of q, (nq,); ∞ where none is given."""
        return coordinates.limits(self, "upper", np.inf)

    @property
    def velocity_limits(self) -> np.ndarray:
        """Limits of |v|, (nv,); ∞ where none is given."""
        return coordinates.limits(self, "velocity", np.inf)

    @property
    def effort_limits(self) -> np.ndarray:
        """Limits of |τ|, (nv,); ∞ where none is given."""
        return coordinates.limits(self, "effort", np.inf)

    # ------------------------------------------------------------------ parameters
    @property
    def parameters(self) -> np.ndarray:
        """Ten inertial parameters of every body, then the rotor inertias that are given."""
        return inertial.parameters(self)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of `parameters` and of every regressor's columns: `body.Ixx`, `joint.rotor`."""
        return inertial.parameter_names(self)

    @cached_property
    def rotor_map(self) -> np.ndarray:
        """(nv, given rotor inertias): what each adds to the diagonal of M."""
        return inertial.rotor_map(self)

    @cached_property
    def rotor_inertia(self) -> np.ndarray:
        """What the rotors add to the diagonal of M, (nv,)."""
        given = self.parameters[10 * len(self.bodies):]
        return self.rotor_map @ given if len(given) else np.zeros(self.nv)

    # ------------------------------------------------------------------ other robots
    def with_parameters(self, parameters: ArrayLike) -> Robot:
        """The same robot with other inertial parameters, in the order of `parameters`.

        They may be numbers, symbols or recorded scalars.
        """
        return inertial.with_parameters(self, parameters)

    def with_gravity(self, gravity: ArrayLike) -> Robot:
        """The same robot under another gravity acceleration (world frame)."""
        return Robot(self.name, self.bodies, gravity, self.frames, self.source,
                     self.configurations, self.notes)

    def with_payload(self, inertia: Inertia, at: str) -> Robot:
        """The same robot with a rigid load at a frame or body; `inertia` is in that frame."""
        return edits.with_payload(self, inertia, at)

    def with_frames(self, *frames: Frame) -> Robot:
        """The same robot with more named frames."""
        return replace(self, frames=self.frames + frames)

    def reduced(self, locked: Mapping[str, Any] | Sequence[str]) -> Robot:
        """The robot with joints locked at the given coordinates.

        Their bodies merge into the parents and stay as frames.
        """
        return edits.with_locked(self, locked)

    # ------------------------------------------------------------------ views
    def to_urdf(self) -> str:
        """This robot as URDF text."""
        return urdf_text(self)

    def __repr__(self) -> str:
        mass = f"{self.mass:.4g} kg" if numeric(np.asarray(self.mass)) else f"mass {self.mass}"
        base = "floating base" if self.is_floating else "fixed base"
        moving, frames = len(self.parts), f", {len(self.frames)} frames" if self.frames else ""
        mimics = sum(b.joint.driver is not None for b in self.bodies)
        fixed = sum(b.joint.is_fixed for b in self.bodies)
        extra = (f" + {mimics} mimic" if mimics else "") + (f" + {fixed} fixed" if fixed else "")
        return (f"<Robot {self.name}: {len(self.bodies)} bodies, {moving} joints{extra}, "
                f"nq {self.nq}, nv {self.nv}, {mass}, {base}{frames}>")

    def _repr_html_(self) -> str:
        return html_table(self)
