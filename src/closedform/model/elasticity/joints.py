"""Joints with springs between motor and link: what is known of them, as a frozen record.

A motor with its own inertia drives a gear through a spring. Stiffness, damping, motor inertia,
motor positions and motor torques are those at the motor's shaft; the gear ratio is link speed over
motor speed, less than one for a gear that slows down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.arrays import NO_ARRAY
from closedform.errors import ModelError, UnknownName, suggestion
from closedform.model.coordinates import coordinate_names
from closedform.model.robot import Robot

ScalarFunction = Callable[[Any], Any]
PROBES = (-1.0, -0.1, 0.1, 1.0)
"""Torques at which the two functions of a spring are held against each other."""


@final
@dataclass(frozen=True)
class Spring:
    """A spring by its torque as a function of the deflection, and the inverse of that function.

    Both are written with operators and NumPy's functions of one number; torque(0) = 0, growing.
    `energy` of a deflection is found by quadrature where it is not given.
    """

    torque: ScalarFunction                # N m of rad, at the motor's shaft
    deflection: ScalarFunction            # its inverse, rad of N m
    energy: ScalarFunction | None = None  # J of rad

    def __post_init__(self) -> None:
        for name in ("torque", "deflection"):
            if not callable(getattr(self, name)):
                raise ModelError(f"{name} of a spring must be a function of one number, "
                                 f"not {getattr(self, name)!r}")
        if abs(float(self.torque(0.0))) > 1e-12:
            raise ModelError("torque of a spring must be 0 at no deflection, "
                             f"it is {float(self.torque(0.0))!r}")
        deflections = [float(self.deflection(s)) for s in PROBES]
        for s, x in zip(PROBES, deflections, strict=True):
            back = float(self.torque(x))
            if not abs(back - s) <= 1e-9 * abs(s):
                raise ModelError("deflection of a spring must be the inverse of its torque: "
                                 f"torque(deflection({s:g})) is {back:.12g}")
        if not np.all(np.diff(deflections) > 0):
            raise ModelError("torque of a spring must grow with the deflection; it takes "
                             f"{deflections} to reach {list(PROBES)}")


Given = float | Sequence[Any] | Mapping[str, Any] | Any
"""One number for all joints, one for each, or those of some joints by name."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class ElasticJoints:
    """A robot with motors, springs and gears; entries follow the velocities v.

    Any subset of the joints with one velocity is elastic. `stiffness` is a number for all of them,
    one for each of them or for each velocity (None or infinity: a rigid joint), or a mapping from
    names to numbers or `Spring`s (joints not named are rigid). The others are given in the same
    ways. Joints with several velocities are rigid and, unless told otherwise, without motor inertia
    and gear: their entries of a motor torque are the generalised force itself.

    The inertia of the robot is that of its links; a `rotor_inertia` of it stays on the link's side.
    """

    robot: Robot
    stiffness: np.ndarray      # (nv,) N m/rad, ∞ for rigid joints; of a nonlinear one that at rest
    motor_inertia: np.ndarray  # (nv,) kg m²
    gear_ratio: np.ndarray     # (nv,) link speed / motor speed
    damping: np.ndarray        # (nv,) N m s/rad, of the spring; 0 for rigid joints
    springs: Mapping[int, Spring] = field(default_factory=dict)  # nonlinear ones, by velocity

    def __init__(self, robot: Robot, stiffness: Given, motor_inertia: Given, gear_ratio: Given,
                 damping: Given = 0.0) -> None:
        if not isinstance(robot, Robot):
            raise ModelError(f"robot must be a cf.Robot, not {type(robot).__name__}")
        places = _Places(robot)
        raw = places.spread(stiffness, "stiffness", None)
        springs = {i: x for i, x in enumerate(raw) if isinstance(x, Spring)}
        C = np.array([_stiffness(x, places.names[i]) for i, x in enumerate(raw)])
        elastic = np.isfinite(C)
        for i in np.flatnonzero(elastic):
            if i not in places.single:
                raise ModelError(f"stiffness: {places.names[i]} has several velocities; such "
                                 "joints are rigid (None or infinity)")
        D = places.numbers(damping, "damping", 0.0)
        set_ = object.__setattr__
        set_(self, "robot", robot)
        set_(self, "springs", springs)
        set_(self, "stiffness", _frozen(C))
        set_(self, "motor_inertia", _frozen(places.numbers(motor_inertia, "motor_inertia", 0.0)))
        set_(self, "gear_ratio", _frozen(places.numbers(gear_ratio, "gear_ratio", 1.0)))
        set_(self, "damping", _frozen(np.where(elastic, D, 0.0)))
        self._check(places.names)

    def _check(self, names: tuple[str, ...]) -> None:
        for what in ("motor_inertia", "damping"):
            for name, x in zip(names, getattr(self, what), strict=True):
                if not x >= 0:
                    raise ModelError(f"{what} of {name} must not be negative, it is {x:g}")
        for name, x in zip(names, self.gear_ratio, strict=True):
            if x == 0:
                raise ModelError(f"gear_ratio of {name} is link speed over motor speed and must "
                                 "not be 0")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each velocity: the joint's, with a number where it has several."""
        return _Places(self.robot).names

    @cached_property
    def elastic(self) -> tuple[int, ...]:
        """The velocities of elastic joints."""
        return tuple(np.flatnonzero(np.isfinite(self.stiffness)).tolist())

    @cached_property
    def rigid(self) -> tuple[int, ...]:
        """The velocities of rigid joints."""
        return tuple(np.flatnonzero(~np.isfinite(self.stiffness)).tolist())

    @property
    def linear(self) -> bool:
        """Whether all springs are linear."""
        return not self.springs

    @property
    def damped(self) -> bool:
        """Whether some spring is damped."""
        return bool(np.any(self.damping > 0))

    @cached_property
    def compliance(self) -> np.ndarray:
        """1 / stiffness, (nv,), 0 for rigid joints."""
        return _frozen(1 / self.stiffness)

    @cached_property
    def coordinates(self) -> tuple[int | None, ...]:
        """The entry of q whose rate is v_i, for each velocity; None on quasi-velocities."""
        slices = zip(self.robot.q_slices.values(), self.robot.v_slices.values(), strict=True)
        places: list[int | None] = []
        kinds = [body.joint for body in self.robot.bodies if body.joint.nv]
        for joint, (q, v) in zip(kinds, slices, strict=True):
            places += [q.start + k if joint.is_vector else None for k in range(v.stop - v.start)]
        return tuple(places)

    @cached_property
    def link_robot(self) -> Robot:
        """The robot with the motors of rigid joints on its links: M_G / N² more on the diagonal."""
        extra = np.where(np.isfinite(self.stiffness), 0.0,
                         self.motor_inertia / self.gear_ratio**2)
        if not np.any(extra):
            return self.robot
        bodies = []
        for body in self.robot.bodies:
            joint = body.joint
            if joint.nv and np.any(extra[self.robot.v_slices[body.joint_name]]):
                own = joint.per_coordinate("rotor_inertia", joint.nv, 0.0)
                total = own + extra[self.robot.v_slices[body.joint_name]]
                given = float(total[0]) if joint.nv == 1 else tuple(total.tolist())
                joint = replace(joint, rotor_inertia=given)
            bodies.append(replace(body, joint=joint))
        return replace(self.robot, bodies=tuple(bodies))

    def changed(self, robot: Robot | None = None, *, stiffness: float = 1.0,
                motor_inertia: float = 1.0, damping: float = 1.0) -> ElasticJoints:
        """The same joints on another robot of the same tree, with parameters times factors."""
        if self.springs and stiffness != 1.0:
            raise ModelError("stiffness: nonlinear springs have no factor; give other springs")
        C = [self.springs.get(i, x * stiffness) for i, x in enumerate(self.stiffness)]
        return ElasticJoints(robot or self.robot, C, self.motor_inertia * motor_inertia,
                             self.gear_ratio, self.damping * damping)

    def __repr__(self) -> str:
        damped = ", damped" if self.damped else ""
        return (f"<ElasticJoints of {self.robot.name}: {len(self.elastic)} of {self.robot.nv} "
                f"velocities elastic{damped}>")


class _Places:
    """Where what is given for joints stands among the velocities."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.slices = robot, robot.v_slices
        sizes = {name: at.stop - at.start for name, at in self.slices.items()}
        self.single = [at.start for name, at in self.slices.items() if sizes[name] == 1]
        self.names = tuple(coordinate_names(self.slices))

    def spread(self, given: Given, what: str, missing: Any) -> list[Any]:
        """An entry for each velocity, `missing` where none is given."""
        entries: list[Any] = [missing] * self.robot.nv
        if isinstance(given, Mapping):
            for name, x in given.items():
                at = self._slice(name, what)
                each = list(x) if np.ndim(x) else [x] * (at.stop - at.start)
                if len(each) != at.stop - at.start:
                    raise ModelError(f"{what} of {name} must be {at.stop - at.start} numbers, "
                                     f"not {x!r}")
                entries[at] = each
            return entries
        if given is None or isinstance(given, Spring | str) or np.ndim(given) == 0:
            for i in self.single:
                entries[i] = given
            return entries
        each = list(np.asarray(given, dtype=object))
        if len(each) == self.robot.nv:
            return each
        if len(each) != len(self.single):
            other = f" or {len(self.single)}" if len(self.single) != self.robot.nv else ""
            raise ModelError(f"{what} must be one number or {self.robot.nv}{other} for "
                             f"{self.robot.name}, not {len(each)}")
        for i, x in zip(self.single, each, strict=True):
            entries[i] = x
        return entries

    def numbers(self, given: Given, what: str, missing: float) -> np.ndarray:
        raw = self.spread(given, what, missing)
        return np.array([_number(x, f"{what} of {name}")
                         for x, name in zip(raw, self.names, strict=True)])

    def _slice(self, name: str, what: str) -> slice:
        if name not in self.slices:
            raise UnknownName(f"{what}: no joint {name!r} in {self.robot.name}; "
                              f"{suggestion(name, self.slices)}")
        return self.slices[name]


def _number(x: Any, what: str) -> float:
    try:
        value = float(x)
    except NO_ARRAY:
        raise ModelError(f"{what} must be a number, not {x!r}") from None
    if not np.isfinite(value) or isinstance(x, bool):
        raise ModelError(f"{what} must be a finite number, not {x!r}")
    return value


def _stiffness(x: object, name: str) -> float:
    if x is None or (isinstance(x, float | np.floating) and x == np.inf):
        return np.inf
    if isinstance(x, Spring):
        h = 1e-6 * abs(float(x.deflection(0.1)))
        return (float(x.torque(h)) - float(x.torque(-h))) / (2 * h)
    value = _number(x, f"stiffness of {name}")
    if value <= 0:
        raise ModelError(f"stiffness of {name} must be positive, it is {value:g}; None or infinity "
                         "makes the joint rigid")
    return value


def _frozen(x: np.ndarray) -> np.ndarray:
    x.setflags(write=False)
    return x
