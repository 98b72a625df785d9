"""The equations of elastic joints as programs and machine code.

    arm = cf.elastic.compile(model)
    arm.inverse_dynamics(q, rates)                    one state or any batch
    arm.program("inverse_dynamics")                   the same for the exporters
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from closedform.applications.compile.digest import robot_digest
from closedform.applications.compile.forms import Forms
from closedform.applications.motion.methods import rk4_step
from closedform.arrays import Array, namespace
from closedform.errors import ArgumentError, suggestion
from closedform.lowerings.call.kernel import Kernel, compile_program
from closedform.lowerings.call.signature import Subject
from closedform.lowerings.call.trial import Trial, function_trial
from closedform.lowerings.store.cache import Cache
from closedform.maths.algorithms.applicability import applies
from closedform.maths.algorithms.jets import inverse_dynamics_jet
from closedform.maths.catalogue import quantity
from closedform.maths.elastic import control as elastic_control
from closedform.maths.elastic import joints as elastic_joints
from closedform.maths.elastic.catalogue import ELASTIC_CATALOGUE
from closedform.maths.elastic.control import ElasticState
from closedform.maths.quantity import letters
from closedform.model.coordinates import integrand, projected
from closedform.model.elasticity.joints import ElasticJoints
from closedform.model.robot import Robot
from closedform.program.pipeline import optimised
from closedform.program.program import Program
from closedform.program.record import named_arrays, record

MOTION = ("rate", "step")
NAMES = (*(row.name for row in ELASTIC_CATALOGUE), *MOTION)
"""Programs of a model: the rows of its catalogue, and what integrators need."""
DECOUPLED = ("derivatives_from_state", "decoupling_control", "tracking_control")


@final
class CompiledElastic:
    """Kernels of a model, compiled when first used: those of `NAMES`.

    `rate` is that of y = (q, v, θ, ω, W), θ and ω the elastic joints' motors and W the work, under
    u, and `step` a step of RK4 under (u, h). What decouples is for robots whose joints are all
    elastic.
    """

    def __init__(self, model: ElasticJoints, cache: Cache | None = None) -> None:
        if not isinstance(model, ElasticJoints):
            raise ArgumentError(f"model must be a cf.ElasticJoints, not {type(model).__name__}")
        self.model, self._cache, self._kernels = model, cache, dict[str, Kernel]()

    @cached_property
    def _forms(self) -> Forms:
        return Forms(self.model.robot)

    @cached_property
    def _base(self) -> ElasticJoints:
        """The model on canonical links; its q is the user's plus `_offset`."""
        return self.model.changed(self._forms.base)

    @property
    def _offset(self) -> Array:
        return self._forms.canonical.offset

    def program(self, name: str) -> Program:
        """The program of that name, recorded and optimised, and compared with its definition."""
        self._refuse(name)
        return self._trial(name).program(optimised(*self._recorded(name)))

    def _recorded(self, name: str) -> list[Program]:
        try:
            return [record(f, self._shapes(name), f"elastic_{name}")
                    for f in getattr(self, f"_{name}")()]
        except TypeError as error:
            raise ArgumentError(f"a spring of {self.model.robot.name} cannot be recorded: {error}; "
                                "programs know + − * / sqrt, sin and cos") from error

    def _trial(self, name: str) -> Trial:
        """What the programs and kernels of a name are compared with: its row, on floats."""
        user = CompiledElastic(self.model)
        user._forms = self._forms.plain

        def definition(*arrays: Array) -> Mapping[str, Array]:
            function = (getattr(user, f"_{name}")()[0] if name in MOTION
                        else partial(quantity(name, ElasticJoints).definition, self.model))
            return named_arrays(function(*arrays), f"elastic_{name}")

        def plain() -> list[Program]:
            found = user._recorded(name)
            return [optimised(*found), found[0]]

        return function_trial(f"elastic_{name}", self._shapes(name), definition, plain,
                              self.model.robot.random)

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name."""
        if name not in self._kernels:
            if self.model.linear:
                self._refuse(name)
                trial = self._trial(name)
                made = Kernel.load(f"elastic {name} {digest(self.model)}", lambda: trial.program(
                    optimised(*self._recorded(name))), self._cache, of=self._subject(name),
                    judge=trial.code).with_recipe(getattr, self, name)
            else:
                made = compile_program(self.program(name), self._cache,
                                       of=self._subject(name))
            self._kernels[name] = made
        return self._kernels[name]

    def _subject(self, name: str) -> Subject:
        rows = [] if name in MOTION else [quantity(name, ElasticJoints)]
        return Subject(self.model.robot.name, letters(rows))

    def __getattr__(self, name: str) -> Kernel:
        if name not in NAMES:
            raise AttributeError(f"no kernel {name!r} of elastic joints; "
                                 f"{suggestion(name, NAMES)}")
        made = self.__dict__[name] = self.kernel(name)   # found there from now on
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledElastic, (self.model, self._cache)

    def _refuse(self, name: str) -> None:
        m = self.model
        if name not in MOTION:
            quantity(name, ElasticJoints)
        if name in DECOUPLED and (m.rigid or m.damped):
            raise ArgumentError(f"{name} is compiled for robots whose joints are all elastic and "
                                f"undamped; {m!r} is not")
        if name in ("forward_dynamics", *MOTION, *DECOUPLED):
            elastic_joints.refuse_missing_inertia(m)

    def _shapes(self, name: str) -> dict[str, tuple[int, ...]]:
        if name not in MOTION:
            return quantity(name, ElasticJoints).input_shapes(self.model)
        nq, nv, ne = self.model.robot.nq, self.model.robot.nv, len(self.model.elastic)
        given = {"held": (nv + 1,)} if name == "step" else {"u": (nv,)}
        return {"y": (nq + nv + 2 * ne + 1,), **given}

    # ------------------------------------------------------------------ what is recorded
    def _motion(self, q: Array, rates: Array) -> dict[str, Array]:
        jet = inverse_dynamics_jet(self._base.robot, q + self._offset, rates)
        return elastic_joints.motion_from_jet(self.model, q, rates, jet)._asdict()

    def _motor_torque(self) -> list[Callable[..., Any]]:
        return [lambda q, rates: self._motion(q, rates)["motor_torque"]]

    def _inverse_dynamics(self) -> list[Callable[..., Any]]:
        return [lambda q, rates: self._demanded("inverse_dynamics", q, rates)]

    def _inverse_dynamics_rates(self) -> list[Callable[..., Any]]:
        return [lambda q, rates: self._demanded("inverse_dynamics_rates", q, rates)]

    def _demanded(self, name: str, q: Array, rates: Array) -> dict[str, Array]:
        """The fields of a motion that a row has."""
        motion = self._motion(q, rates)
        return {field: motion[field] for field, _ in quantity(name, ElasticJoints).fields}

    def _algorithms(self) -> list[Callable[..., Array]]:
        known = quantity("forward_dynamics").algorithms
        return [x for x in known if applies(x, self.model.robot)]

    def _accelerations(self, algorithm: Callable[..., Array]) -> Callable[..., Any]:
        links, offset = self._base.link_robot, self._offset

        def dynamics(robot: Robot, q: Array, v: Array, tau: Array) -> Array:
            return algorithm(links, q + offset, v, tau)

        def accelerations(q: Array, v: Array, position: Array, velocity: Array, u: Array) -> Any:
            return elastic_joints.forward_dynamics(
                self.model, q, v, position, velocity, u, dynamics)

        return accelerations

    def _forward_dynamics(self) -> list[Callable[..., Any]]:
        return [self._accelerations(algorithm) for algorithm in self._algorithms()]

    def _energies(self) -> list[Callable[..., Any]]:
        return [lambda *arrays: elastic_joints.energies(self.model, *arrays)]

    def _canonical_state(self, state: tuple[Array, ...]) -> ElasticState:
        """The state with q of the canonical robot, and motors moved by the same angles."""
        q, v, position, velocity = state
        return ElasticState(q + self._offset, v, position + self._offset / self.model.gear_ratio,
                            velocity)

    def _derivatives_from_state(self) -> list[Callable[..., Any]]:
        def function(*state: Array) -> dict[str, Array]:
            found = elastic_control.derivatives_from_state(
                self._base, self._canonical_state(state))
            return {"a": found.a, "j": found.j}
        return [function]

    def _decoupling_control(self) -> list[Callable[..., Any]]:
        return [lambda *arrays: elastic_control.decoupling_control(
            self._base, self._canonical_state(arrays[:4]), arrays[4])]

    def _tracking_control(self) -> list[Callable[..., Any]]:
        return [lambda *arrays: elastic_control.tracking_control(
            self._base, self._canonical_state(arrays[:4]),
            np.stack([arrays[4][0] + self._offset, *arrays[4][1:]]), arrays[5])]

    def _rate(self) -> list[Callable[..., Any]]:
        return [state_rate(self.model, self._accelerations(algorithm))
                for algorithm in self._algorithms()]

    def _step(self) -> list[Callable[..., Any]]:
        return [rk4_step(rate, self.model.robot.nv) for rate in self._rate()]


def state_rate(model: ElasticJoints, accelerations: Callable[..., Any]) -> Callable[..., Array]:
    """(y, u) -> ẏ of y = (q, v, θ, ω, W)."""
    robot, N, index = model.robot, model.gear_ratio, list(model.elastic)
    ends = np.cumsum([robot.nq, robot.nv, len(index)])

    def rate(y: Array, u: Array) -> Array:
        xp = namespace(y, u)
        given, v, theta, omega = np.split(y[:-1], ends)
        q = projected(robot, given)
        position = elastic_joints.spread(model, list(theta), xp)
        velocity = elastic_joints.spread(model, list(omega), xp, v / N)
        found, slip = accelerations(q, v, position, velocity, u), velocity - v / N
        power = u @ velocity - model.damping @ (slip * slip)
        return xp.concatenate([integrand(robot, given, q, v), found.a, omega,
                               found.motor_acceleration[index], xp.stack([power])])

    return rate


def compile(model: ElasticJoints, cache: Cache | None = None) -> CompiledElastic:
    """The model's equations as machine code, each compiled when first used."""
    return CompiledElastic(model, cache)


def digest(model: ElasticJoints) -> str:
    """All that the programs of a model with linear springs depend on."""
    numbers = np.concatenate([model.stiffness, model.motor_inertia, model.gear_ratio,
                              model.damping])
    return f"{robot_digest(model.robot)} {numbers.tobytes().hex()}"
