"""Joints as frozen records: what moves, along which screws, within which limits.

One file a kind; `KINDS` is the table of them.
"""

from closedform.model.joints.fixed import Fixed as Fixed
from closedform.model.joints.free import Free as Free
from closedform.model.joints.gimbal import Gimbal as Gimbal
from closedform.model.joints.joint import KEYWORDS as KEYWORDS
from closedform.model.joints.joint import Driver as Driver
from closedform.model.joints.joint import Joint as Joint
from closedform.model.joints.joint import describe as describe
from closedform.model.joints.joint import geometry as geometry
from closedform.model.joints.joint import swapped_limits as swapped_limits
from closedform.model.joints.mimic import Mimic as Mimic
from closedform.model.joints.on_axis import Cylindrical as Cylindrical
from closedform.model.joints.on_axis import Helical as Helical
from closedform.model.joints.on_axis import Prismatic as Prismatic
from closedform.model.joints.on_axis import Revolute as Revolute
from closedform.model.joints.planar import Planar as Planar
from closedform.model.joints.spherical import Spherical as Spherical
from closedform.model.joints.universal import Universal as Universal

KINDS: tuple[type[Joint], ...] = (
    Revolute, Prismatic, Helical, Cylindrical, Universal, Gimbal, Spherical, Planar, Free, Fixed,
    Mimic,
)
"""Every kind; the one that moves another joint is last."""
