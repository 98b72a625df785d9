"""closedform: closed-form robot models that are exact, readable, differentiable and fast."""

import importlib
from typing import TYPE_CHECKING, Any

from closedform.applications import conventions as conventions
from closedform.applications.compile.kernels import CompiledRobot as CompiledRobot
from closedform.applications.compile.kernels import compile as compile
from closedform.applications.compile.kernels import fuse as fuse
from closedform.applications.compile.requests import At as At
from closedform.applications.compile.requests import Gravity as Gravity
from closedform.applications.compile.requests import Independent as Independent
from closedform.applications.compile.requests import Parameters as Parameters
from closedform.applications.compile.requests import PayloadAt as PayloadAt
from closedform.errors import ArgumentError as ArgumentError
from closedform.errors import ClosedformError as ClosedformError
from closedform.errors import FormatError as FormatError
from closedform.errors import MissingDependency as MissingDependency
from closedform.errors import ModelError as ModelError
from closedform.errors import ModelWarning as ModelWarning
from closedform.errors import OpenLoop as OpenLoop
from closedform.errors import SingularLoop as SingularLoop
from closedform.errors import SingularMatrix as SingularMatrix
from closedform.errors import UnknownName as UnknownName
from closedform.errors import suggestion as _suggestion
from closedform.lowerings.call.kernel import Kernel as Kernel
from closedform.maths.algorithms.jacobian_jets import jacobian_jet as jacobian_jet
from closedform.maths.algorithms.jets import inverse_dynamics_jet as inverse_dynamics_jet
from closedform.maths.base_parameters.base_parameters import BaseParameters as BaseParameters
from closedform.maths.base_parameters.base_parameters import base_parameters as base_parameters
from closedform.maths.base_parameters.base_regressor import base_regressor as base_regressor
from closedform.maths.base_parameters.base_regressor import (
    packed_base_regressor as packed_base_regressor,
)
from closedform.maths.base_parameters.base_regressor import packed_entries as packed_entries
from closedform.maths.base_parameters.numeric_rank import RankDisagreement as RankDisagreement
from closedform.maths.catalogue import CATALOGUE as CATALOGUE
from closedform.maths.catalogue import CATALOGUES as CATALOGUES
from closedform.maths.definitions.center_of_mass import center_of_mass as center_of_mass
from closedform.maths.definitions.center_of_mass import (
    centroidal_momentum_matrix as centroidal_momentum_matrix,
)
from closedform.maths.definitions.center_of_mass import com_acceleration as com_acceleration
from closedform.maths.definitions.center_of_mass import com_jacobian as com_jacobian
from closedform.maths.definitions.center_of_mass import com_jacobian_rate as com_jacobian_rate
from closedform.maths.definitions.center_of_mass import com_velocity as com_velocity
from closedform.maths.definitions.center_of_mass import momentum as momentum
from closedform.maths.definitions.centroidal_dynamics import (
    centroidal_dynamics as centroidal_dynamics,
)
from closedform.maths.definitions.centroidal_dynamics import (
    centroidal_dynamics_derivatives as centroidal_dynamics_derivatives,
)
from closedform.maths.definitions.centroidal_dynamics import (
    centroidal_momentum_matrix_rate as centroidal_momentum_matrix_rate,
)
from closedform.maths.definitions.christoffel import christoffel_symbols as christoffel_symbols
from closedform.maths.definitions.christoffel import (
    coriolis_transpose_torque as coriolis_transpose_torque,
)
from closedform.maths.definitions.closed_form import bias as bias
from closedform.maths.definitions.closed_form import (
    christoffel_coriolis_matrix as christoffel_coriolis_matrix,
)
from closedform.maths.definitions.closed_form import coriolis_matrix as coriolis_matrix
from closedform.maths.definitions.closed_form import coriolis_torque as coriolis_torque
from closedform.maths.definitions.closed_form import forward_dynamics as forward_dynamics
from closedform.maths.definitions.closed_form import gravity_torque as gravity_torque
from closedform.maths.definitions.closed_form import inverse_dynamics as inverse_dynamics
from closedform.maths.definitions.closed_form import mass_matrix as mass_matrix
from closedform.maths.definitions.closed_form import mass_matrix_inverse as mass_matrix_inverse
from closedform.maths.definitions.closed_form import (
    passivity_inverse_dynamics as passivity_inverse_dynamics,
)
from closedform.maths.definitions.dynamics_matrices import (
    christoffel_dynamics_matrices as christoffel_dynamics_matrices,
)
from closedform.maths.definitions.dynamics_matrices import (
    passive_dynamics_matrices as passive_dynamics_matrices,
)
from closedform.maths.definitions.energy import generalized_momentum as generalized_momentum
from closedform.maths.definitions.energy import kinetic_energy as kinetic_energy
from closedform.maths.definitions.energy import potential_energy as potential_energy
from closedform.maths.definitions.forward_derivatives import (
    forward_dynamics_derivatives as forward_dynamics_derivatives,
)
from closedform.maths.definitions.forward_derivatives import (
    forward_dynamics_jvp as forward_dynamics_jvp,
)
from closedform.maths.definitions.forward_derivatives import (
    forward_dynamics_vjp as forward_dynamics_vjp,
)
from closedform.maths.definitions.friction import joint_friction as joint_friction
from closedform.maths.definitions.inverse_derivatives import (
    inverse_dynamics_and_derivatives as inverse_dynamics_and_derivatives,
)
from closedform.maths.definitions.inverse_derivatives import (
    inverse_dynamics_derivatives as inverse_dynamics_derivatives,
)
from closedform.maths.definitions.inverse_derivatives import (
    inverse_dynamics_jvp as inverse_dynamics_jvp,
)
from closedform.maths.definitions.inverse_derivatives import (
    inverse_dynamics_vjp as inverse_dynamics_vjp,
)
from closedform.maths.definitions.operational_space import (
    operational_space_inertia as operational_space_inertia,
)
from closedform.maths.definitions.operational_space import (
    operational_space_mobility as operational_space_mobility,
)
from closedform.maths.definitions.regressor import (
    kinetic_energy_regressor as kinetic_energy_regressor,
)
from closedform.maths.definitions.regressor import momentum_regressor as momentum_regressor
from closedform.maths.definitions.regressor import parameter_derivatives as parameter_derivatives
from closedform.maths.definitions.regressor import (
    potential_energy_regressor as potential_energy_regressor,
)
from closedform.maths.definitions.regressor import regressor as regressor
from closedform.maths.definitions.regressor import slotine_li_regressor as slotine_li_regressor
from closedform.maths.definitions.second_derivatives import (
    inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives,
)
from closedform.maths.definitions.state_derivatives import state_derivatives as state_derivatives
from closedform.maths.definitions.time_derivatives import time_derivatives as time_derivatives
from closedform.maths.flexible.arm import FlexibleArm as FlexibleArm
from closedform.maths.frames import LOCAL as LOCAL
from closedform.maths.frames import LOCAL_WORLD_ALIGNED as LOCAL_WORLD_ALIGNED
from closedform.maths.frames import WORLD as WORLD
from closedform.maths.frames import Reference as Reference
from closedform.maths.frames import frame_acceleration as frame_acceleration
from closedform.maths.frames import (
    frame_classical_acceleration as frame_classical_acceleration,
)
from closedform.maths.frames import frame_jacobian as frame_jacobian
from closedform.maths.frames import frame_jacobian_rate as frame_jacobian_rate
from closedform.maths.frames import frame_pose as frame_pose
from closedform.maths.frames import frame_velocity as frame_velocity
from closedform.maths.frames import kinematic_hessian as kinematic_hessian
from closedform.maths.kinematics import body_accelerations as body_accelerations
from closedform.maths.kinematics import body_jacobian_rates as body_jacobian_rates
from closedform.maths.kinematics import body_jacobian_second_rates as body_jacobian_second_rates
from closedform.maths.kinematics import body_jacobians as body_jacobians
from closedform.maths.kinematics import body_velocities as body_velocities
from closedform.maths.kinematics import difference as difference
from closedform.maths.kinematics import integrate as integrate
from closedform.maths.kinematics import poses as poses
from closedform.maths.loops.catalogue import LOOP_CATALOGUE as LOOP_CATALOGUE
from closedform.maths.loops.forces import actuator_torque as actuator_torque
from closedform.maths.loops.forces import loop_configuration as loop_configuration
from closedform.maths.loops.forces import loop_embedding as loop_embedding
from closedform.maths.loops.forces import loop_forces as loop_forces
from closedform.maths.loops.forces import loop_jacobian as loop_jacobian
from closedform.maths.loops.forces import loop_residual as loop_residual
from closedform.maths.loops.forces import loop_step as loop_step
from closedform.maths.scalars.along import along as along
from closedform.model import groups as groups
from closedform.model.elasticity.beam import FlexibleLink as FlexibleLink
from closedform.model.elasticity.beam import Payload as Payload
from closedform.model.elasticity.joints import ElasticJoints as ElasticJoints
from closedform.model.findings import Finding as Finding
from closedform.model.findings import Level as Level
from closedform.model.formats.dh import from_modified_dh as from_modified_dh
from closedform.model.formats.dh import from_screws as from_screws
from closedform.model.formats.dh import from_standard_dh as from_standard_dh
from closedform.model.inertia import Inertia as Inertia
from closedform.model.joints import Cylindrical as Cylindrical
from closedform.model.joints import Fixed as Fixed
from closedform.model.joints import Free as Free
from closedform.model.joints import Gimbal as Gimbal
from closedform.model.joints import Helical as Helical
from closedform.model.joints import Joint as Joint
from closedform.model.joints import Mimic as Mimic
from closedform.model.joints import Planar as Planar
from closedform.model.joints import Prismatic as Prismatic
from closedform.model.joints import Revolute as Revolute
from closedform.model.joints import Spherical as Spherical
from closedform.model.joints import Universal as Universal
from closedform.model.lint.lint import lint as lint
from closedform.model.load import load as load
from closedform.model.loops.records import Gear as Gear
from closedform.model.loops.records import Loop as Loop
from closedform.model.loops.records import Rod as Rod
from closedform.model.robot import Body as Body
from closedform.model.robot import Frame as Frame
from closedform.model.robot import Robot as Robot
from closedform.version import __version__ as __version__

if TYPE_CHECKING:
    from closedform.applications import elastic as elastic
    from closedform.applications import flexible as flexible
    from closedform.applications import identification as identification
    from closedform.applications import redundancy as redundancy
    from closedform.applications import studies as studies
    from closedform.applications.elastic.system import ElasticSystem as ElasticSystem
    from closedform.applications.export import targets as targets
    from closedform.applications.export.export import export as export
    from closedform.applications.export.options import ExportOptions as ExportOptions
    from closedform.applications.flexible.system import FlexibleSystem as FlexibleSystem
    from closedform.applications.live.page import live as live
    from closedform.applications.motion.methods import BDF as BDF
    from closedform.applications.motion.methods import DOP853 as DOP853
    from closedform.applications.motion.methods import LSODA as LSODA
    from closedform.applications.motion.methods import RK4 as RK4
    from closedform.applications.motion.methods import RK23 as RK23
    from closedform.applications.motion.methods import RK45 as RK45
    from closedform.applications.motion.methods import Radau as Radau
    from closedform.applications.motion.rigid import RigidSystem as RigidSystem
    from closedform.applications.motion.simulation import Simulation as Simulation
    from closedform.applications.motion.system import System as System
    from closedform.applications.simulate import simulate as simulate

_APPLICATIONS = "closedform.applications"
_LATER = {
    **{name: (f"{_APPLICATIONS}.{name}", None) for name in ("elastic", "flexible", "identification",
                                                             "redundancy", "studies")},
    "targets": (f"{_APPLICATIONS}.export.targets", None),
    "ExportOptions": (f"{_APPLICATIONS}.export.options", "ExportOptions"),
    "export": (f"{_APPLICATIONS}.export.export", "export"),
    "live": (f"{_APPLICATIONS}.live.page", "live"),
    **{name: (f"{_APPLICATIONS}.motion.methods", name)
       for name in ("BDF", "DOP853", "LSODA", "RK4", "RK23", "RK45", "Radau")},
    "ElasticSystem": (f"{_APPLICATIONS}.elastic.system", "ElasticSystem"),
    "FlexibleSystem": (f"{_APPLICATIONS}.flexible.system", "FlexibleSystem"),
    "RigidSystem": (f"{_APPLICATIONS}.motion.rigid", "RigidSystem"),
    "Simulation": (f"{_APPLICATIONS}.motion.simulation", "Simulation"),
    "System": (f"{_APPLICATIONS}.motion.system", "System"),
    "simulate": (f"{_APPLICATIONS}.simulate", "simulate"),
}
"""Modules, and names in modules, that bring SciPy or SymPy: imported when they are first used."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        hint = "" if name.startswith("_") else f"; {_suggestion(name, __dir__())}"
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    place, inside = _LATER[name]
    module = importlib.import_module(place)
    globals()[name] = found = module if inside is None else getattr(module, inside)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
