"""Redundant arms: the optimum at the position level, with a certificate (`cf.redundancy`).

    solve            one target or many: the configuration that maximises a criterion
    track            along a path, on one branch, with rates and accelerations
    branches         every stationary point of a target, best first
    map              every target of a grid, by many machines if need be: reachability, dexterity
    resolved_motion  Liégeois' method and the extended Jacobian's rate, for comparison

Cites: [Chang1987].
"""

from closedform.applications.redundancy.certificate import Solution as Solution
from closedform.applications.redundancy.certificate import Solutions as Solutions
from closedform.applications.redundancy.certificate import Verdict as Verdict
from closedform.applications.redundancy.criteria import Criterion as Criterion
from closedform.applications.redundancy.criteria import DetJJt as DetJJt
from closedform.applications.redundancy.criteria import JointCentering as JointCentering
from closedform.applications.redundancy.criteria import LimitBarrier as LimitBarrier
from closedform.applications.redundancy.criteria import Manipulability as Manipulability
from closedform.applications.redundancy.criteria import Obstacles as Obstacles
from closedform.applications.redundancy.criteria import Posture as Posture
from closedform.applications.redundancy.criteria import Yoshikawa as Yoshikawa
from closedform.applications.redundancy.curves import SelfMotion as SelfMotion
from closedform.applications.redundancy.curves import branches as branches
from closedform.applications.redundancy.curves import self_motion as self_motion
from closedform.applications.redundancy.resolved import EULER as EULER
from closedform.applications.redundancy.resolved import EXTENDED as EXTENDED
from closedform.applications.redundancy.resolved import LIEGEOIS as LIEGEOIS
from closedform.applications.redundancy.resolved import RK4 as RK4
from closedform.applications.redundancy.resolved import Integrator as Integrator
from closedform.applications.redundancy.resolved import ResolvedMotion as ResolvedMotion
from closedform.applications.redundancy.resolved import resolved_motion as resolved_motion
from closedform.applications.redundancy.solving import Climb as Climb
from closedform.applications.redundancy.solving import Hybrid as Hybrid
from closedform.applications.redundancy.solving import Newton as Newton
from closedform.applications.redundancy.solving import solve as solve
from closedform.applications.redundancy.tasks import PlanarPosition as PlanarPosition
from closedform.applications.redundancy.tasks import Pose as Pose
from closedform.applications.redundancy.tasks import Position as Position
from closedform.applications.redundancy.tasks import Task as Task
from closedform.applications.redundancy.tracking import Path as Path
from closedform.applications.redundancy.tracking import Stop as Stop
from closedform.applications.redundancy.tracking import Track as Track
from closedform.applications.redundancy.tracking import track as track
from closedform.applications.redundancy.workspace.grids import Grid as Grid
from closedform.applications.redundancy.workspace.maps import Map as Map
from closedform.applications.redundancy.workspace.maps import map as map
from closedform.maths.papers.chang import chang_Z as chang_Z
from closedform.maths.redundancy.criteria import Ellipsoid as Ellipsoid
