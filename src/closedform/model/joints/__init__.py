"""Joints as frozen records: what moves, along which screws, within which limits."""

from closedform.model.joints.joint import KEYWORDS as KEYWORDS
from closedform.model.joints.kinds import Cylindrical as Cylindrical
from closedform.model.joints.kinds import Fixed as Fixed
from closedform.model.joints.kinds import Free as Free
from closedform.model.joints.kinds import Helical as Helical
from closedform.model.joints.kinds import Joint as Joint
from closedform.model.joints.kinds import Mimic as Mimic
from closedform.model.joints.kinds import Planar as Planar
from closedform.model.joints.kinds import Prismatic as Prismatic
from closedform.model.joints.kinds import Revolute as Revolute
from closedform.model.joints.kinds import Spherical as Spherical
from closedform.model.joints.kinds import Universal as Universal
from closedform.model.joints.kinds import describe as describe
from closedform.model.joints.kinds import quaternion_rotation as quaternion_rotation
