"""Arguments of the equations of elastic joints."""

from __future__ import annotations

from closedform.maths.arguments import ARGUMENTS, Argument, Kind, robot_counts
from closedform.model.elasticity.joints import ElasticJoints

ELASTIC_JOINTS = Kind(
    "elastic joints", ElasticJoints,
    {**{name: ARGUMENTS[name] for name in ("q", "v", "a", "j")},
     "rates": ARGUMENTS["rates"]._replace(
         meaning="rows v, a, j, s: derivatives of the motion", several=True),
     "deflection": Argument(("nv",), "", "deflections of the springs"),
     "motor_position": Argument(("nv",), r"\theta", "motor positions, at the shafts"),
     "motor_velocity": Argument(("nv",), r"\dot{\theta}", "motor velocities, at the shafts"),
     "motor_torque": Argument(("nv",), "u", "motor torques, at the shafts"),
     "q4_desired": Argument(("nv",), "", "fourth derivatives of q to be reached"),
     "reference": Argument((5, "nv"), "", "rows: the desired q and its four derivatives"),
     "gains": Argument((4, "nv"), "", "rows K_0 … K_3 of the outer loop")},
    lambda model, order: robot_counts(model.robot, 2),     # rates to s, whatever is asked
    name=lambda model: str(model.robot.name), batches="cf.elastic.compile(model)")
checked = ELASTIC_JOINTS.checked
