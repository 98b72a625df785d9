"""The same robot in the habits of Pinocchio, MuJoCo and Drake."""

from closedform.applications.conventions.convention import Convention as Convention
from closedform.applications.conventions.robots import drake_convention as drake_convention
from closedform.applications.conventions.robots import from_mujoco_model as from_mujoco_model
from closedform.applications.conventions.robots import from_pinocchio_model as from_pinocchio_model
from closedform.applications.conventions.robots import mujoco_convention as mujoco_convention
from closedform.applications.conventions.robots import pinocchio_convention as pinocchio_convention
