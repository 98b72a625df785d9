"""The equations of elastic joints as programs and machine code.

    arm = cf.elastic.compile(model)
    arm.inverse_dynamics(q, rates)                    one state or any batch
    arm.program("inverse_dynamics")                   the same for the exporters
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.applications.compile.preparation import THOROUGH, Preparation, robot_digest
from closedform.arrays import Array, namespace
from closedform.errors import ArgumentError, suggestion
from closedform.lowerings.call.kernel import Kernel, compile_program
from closedform.lowerings.store.cache import Cache
from closedform.maths.algorithms import articulated, newton_euler
from closedform.maths.algorithms.jets import inverse_dynamics_jet
from closedform.maths.catalogue import quantity
from closedform.maths.elastic import control as elastic_control
from closedform.maths.elastic import joints as elastic_joints
from closedform.maths.elastic.catalogue import ELASTIC_CATALOGUE
from closedform.maths.elastic.control import ElasticState
from closedform.model.elastic import ElasticJoints
from closedform.model.joints import Mimic
from closedform.model.robot import Robot
from closedform.program.ordering.live_ranges import scheduled
from closedform.program.program import Program
from closedform.program.record import record
from closedform.program.rules.simplify import REGROUP, simplify

STEP = "step"
NAMES = (*(row.name for row in ELASTIC_CATALOGUE), STEP)
"""Programs of a model: the rows of its catalogue, and a step of an integrator."""
DECOUPLED = ("derivatives_from_state", "decoupling_control", "tracking_control")


@final
class CompiledElastic:
    """Kernels of a model, compiled when first used: those of `NAMES`.

    `step` is Runge's and Kutta's of x = (q, v, θ, ω), θ and ω the elastic joints' motors, under
    held = (u, h); it is for robots without quasi-velocities. What decouples is for robots whose
    joints are all elastic.
    """

    def __init__(self, model: ElasticJoints, cache: Cache | None = None) -> None:
        if not isinstance(model, ElasticJoints):
            raise ArgumentError(f"model must be a cf.ElasticJoints, not {type(model).__name__}")
        self.model, self._cache, self._kernels = model, cache, dict[str, Kernel]()

    @cached_property
    def _preparation(self) -> Preparation:
        return Preparation(self.model.robot, (), 1e-9)

    @cached_property
    def _base(self) -> ElasticJoints:
        """The model on canonical links; its q is the user's plus `_offset`."""
        return self.model.changed(self._preparation.base)

    @property
    def _offset(self) -> Array:
        return self._preparation.canonical.offset

    def program(self, name: str) -> Program:
        """The program of that name, recorded, simplified and scheduled."""
        self._refuse(name)
        function = getattr(self, f"_{name}")
        try:
            program = min((record(f, self._shapes(name), f"elastic_{name}") for f in function()),
                          key=lambda p: p.operations.total)
        except TypeError as error:
            raise ArgumentError(f"a spring of {self.model.robot.name} cannot be recorded: {error}; "
                                "programs know + − * / sqrt, sin and cos") from error
        rules = None if program.operations.total <= THOROUGH else (REGROUP,)
        return scheduled(simplify(program, rules).program)

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name."""
        if name not in self._kernels:
            if self.model.linear:
                self._refuse(name)
                made = Kernel.load(f"elastic {name} {digest(self.model)}",
                                   lambda: self.program(name), self._cache,
                                   self.model.robot.name)
            else:
                made = compile_program(self.program(name), self._cache,
                                       of=self.model.robot.name)
            self._kernels[name] = made
        return self._kernels[name]

    def __getattr__(self, name: str) -> Kernel:
        if name not in NAMES:
            raise AttributeError(f"no kernel {name!r} of elastic joints; "
                                 f"{suggestion(name, NAMES)}")
        made = self.__dict__[name] = self.kernel(name)   # found there from now on
        return made

    def _refuse(self, name: str) -> None:
        m = self.model
        if name != STEP:
            quantity(name, ElasticJoints)
        if name in DECOUPLED and (m.rigid or m.damped):
            raise ArgumentError(f"{name} is compiled for robots whose joints are all elastic and "
                                f"undamped; {m!r} is not")
        if name == STEP and m.robot.nq != m.robot.nv:
            raise ArgumentError(f"step is for robots without quaternions; {m.robot.name} has some")
        if name in ("forward_dynamics", STEP, *DECOUPLED):
            elastic_joints.refuse_missing_inertia(m)

    def _shapes(self, name: str) -> dict[str, tuple[int, ...]]:
        if name != STEP:
            return quantity(name, ElasticJoints).input_shapes(self.model)
        nq, nv, ne = self.model.robot.nq, self.model.robot.nv, len(self.model.elastic)
        return {"x": (nq + nv + 2 * ne,), "held": (nv + 1,)}

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
        coupled = any(isinstance(b.joint, Mimic) for b in self.model.robot.bodies)
        both: list[Callable[..., Array]] = [newton_euler.forward_dynamics]
        return both if coupled else [*both, articulated.forward_dynamics]

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

    def _step(self) -> list[Callable[..., Any]]:
        return [rk4_step(self.model, self._accelerations(algorithm))
                for algorithm in self._algorithms()]


def rk4_step(model: ElasticJoints, accelerations: Callable[..., Any]) -> Callable[..., Array]:
    """(x, (u, h)) to the next x by Runge and Kutta's fourth order, u held over the step."""
    nq, nv, index = model.robot.nq, model.robot.nv, list(model.elastic)

    def rate(x: Array, u: Array) -> Array:
        q, v, rest = x[:nq], x[nq:nq + nv], x[nq + nv:]
        position, velocity = rest[:len(index)], rest[len(index):]
        xp = namespace(x, u)
        found = accelerations(q, v, elastic_joints.spread(model, list(position), xp),
                              elastic_joints.spread(model, list(velocity), xp), u)
        return xp.concatenate([v, found.a, velocity, found.motor_acceleration[index]])

    def step(x: Array, held: Array) -> Array:
        u, h = held[:nv], held[nv]
        k1 = rate(x, u)
        k2 = rate(x + (h / 2) * k1, u)
        k3 = rate(x + (h / 2) * k2, u)
        k4 = rate(x + h * k3, u)
        return x + (h / 6) * (k1 + 2 * (k2 + k3) + k4)

    return step


def compile(model: ElasticJoints, cache: Cache | None = None) -> CompiledElastic:
    """The model's equations as machine code, each compiled when first used."""
    return CompiledElastic(model, cache)


def digest(model: ElasticJoints) -> str:
    """All that the programs of a model with linear springs depend on."""
    numbers = np.concatenate([model.stiffness, model.motor_inertia, model.gear_ratio,
                              model.damping])
    return f"{robot_digest(model.robot)} {numbers.tobytes().hex()}"
