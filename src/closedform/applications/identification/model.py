"""What is to be found: the numbers that a robot's torques are linear in, and their columns.

    τ = W(q, v, a) x,     x = (π_b, payload, rotors of coupled motors, friction)

π_b are the base parameters, decided exactly; x = L s with the standard parameters s that bodies,
rotors and friction have. One recorded program computes the entries of W that are not always zero,
a row of W for each torque.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.applications.compile.digest import robot_digest
from closedform.applications.identification.drives import Drives
from closedform.applications.identification.known import known_rows_of
from closedform.applications.identification.logs.columns import driven
from closedform.applications.identification.logs.units import slides
from closedform.arrays import Array, Floats, namespace
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.algorithms.regressors import regressor
from closedform.maths.base_parameters.base_parameters import BaseParameters, base_parameters
from closedform.maths.identification.friction import (
    CLASHES,
    LAWS,
    friction_columns,
    friction_names,
)
from closedform.maths.springs import spring_torque
from closedform.model.bodies import Body
from closedform.model.coordinates import coordinate_names
from closedform.model.inertia import PARAMETER_NAMES, Inertia
from closedform.model.joints import Fixed
from closedform.model.loops.affine import without_loops
from closedform.model.robot import Robot
from closedform.program.pipeline import optimised
from closedform.program.program import Program
from closedform.program.record import record

SLIP = 0.01
"""rad/s or m/s: the scale of the smooth sign where the noise of the velocity is not known."""
DEPENDENT = 1e-9
"""A column that others make up to so much of its size is no column of its own."""


@final
@dataclass(frozen=True, init=False)
class Friction:
    """Friction of every joint, linear in its numbers.

    `terms` are of "viscous", "coulomb", "offset", "asymmetric" (Coulomb of each direction),
    "asymmetric_viscous" and "stribeck", sign(v) / (1 + (v / speed)²). `slip` is the scale of the
    smooth sign (by default from the noise of the velocity); both in rad/s or m/s.
    """

    terms: tuple[str, ...]
    slip: float | None = None
    speed: float = 0.05

    def __init__(self, *terms: str, slip: float | None = None, speed: float = 0.05) -> None:
        for term in terms:
            if term not in LAWS:
                raise UnknownName(f"friction: no term {term!r}; {suggestion(str(term), LAWS)}")
        for pair in CLASHES:
            if set(pair) <= set(terms):
                raise ArgumentError(f"friction: {pair[0]} and {pair[1]} cannot be told apart; "
                                    "take one of them")
        if (slip is not None and not slip > 0) or not speed > 0:
            raise ArgumentError("friction: slip and speed must be positive, in rad/s or m/s")
        object.__setattr__(self, "terms", tuple(dict.fromkeys(terms)))
        object.__setattr__(self, "slip", slip)
        object.__setattr__(self, "speed", speed)

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers of one joint."""
        return friction_names(self.terms)


COMMON = Friction("viscous", "coulomb", "offset")


@final
@dataclass(frozen=True, eq=False)
class Model:
    """What is to be found of a robot, and what is known.

    `rotors` adds a rotor inertia to every joint (else the robot's are taken as they are);
    `payload` names a frame that carries a load in some logs; `known` gives the values of standard
    parameters or of sums of them: `{"tool.m": 2.8, "link1.m + link2.m": 5.0}`.
    """

    robot: Robot
    friction: Friction = COMMON
    rotors: bool = True
    drives: Drives | None = None
    payload: str | None = None
    known: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.robot, Robot):
            raise ArgumentError(f"Model: robot must be a cf.Robot, not "
                                f"{type(self.robot).__name__}; cf.load(path or name) makes one")
        object.__setattr__(self, "robot", without_loops(self.robot, "Model"))
        if not isinstance(self.friction, Friction):
            raise ArgumentError('Model: friction must be idn.Friction("viscous", …), not '
                                f"{self.friction!r}")
        if self.drives is not None and not isinstance(self.drives, Drives):
            raise ArgumentError(f"Model: drives must be idn.Drives(ratio), not {self.drives!r}")
        if self.payload is not None:
            self.robot.frame(self.payload)
        self._equalities                                       # noqa: B018  refuses names

    # ------------------------------------------------------------------ the robot
    @cached_property
    def actuated(self) -> tuple[int, ...]:
        """The velocities that have a motor: all but those of a floating base."""
        return driven(self.robot)

    @cached_property
    def velocity_names(self) -> list[str]:
        return coordinate_names(self.robot.v_slices)

    @cached_property
    def coupled(self) -> tuple[int, ...]:
        """The motors that turn with several joints, in the order of `actuated`."""
        return tuple(self.drives.coupled(len(self.actuated))) if self.drives else ()

    @cached_property
    def body(self) -> Robot:
        """The robot with the rotors that are to be found; none where motors are coupled."""
        bodies = []
        for body in self.robot.bodies:
            joint, own = body.joint, body.joint.rotor_inertia
            driven = joint.nv and not (body.parent is None and joint.nv == 6)
            if self.coupled:
                own = None
            elif self.rotors and driven and own is None:
                own = 0.0 if joint.nv == 1 else (0.0,) * joint.nv
            bodies.append(replace(body, joint=replace(joint, rotor_inertia=own)))
        return replace(self.robot, bodies=tuple(bodies))

    @cached_property
    def loaded(self) -> Robot:
        """The robot with the payload as a body of its own, the last one."""
        if self.payload is None:
            return self.body
        at = self.robot.frame(self.payload)
        load = Body(self.load_name, at.body, Fixed(), at.placement, Inertia())
        return replace(self.body, bodies=(*self.body.bodies, load), frames=())

    @cached_property
    def load_name(self) -> str:
        """The payload's name: that of its frame, if no body is called so."""
        name = str(self.payload)
        return f"{name}_payload" if name in self.robot.body_names else name

    @cached_property
    def base(self) -> BaseParameters:
        """The base parameters, with rotors."""
        return base_parameters(self.body)

    @cached_property
    def motor_matrix(self) -> Floats:
        """P, (motors, nv): θ = P q."""
        n = len(self.actuated)
        P = np.zeros((n, self.robot.nv))
        P[:, list(self.actuated)] = self.drives.matrix(n) if self.drives else np.eye(n)
        return P

    @cached_property
    def motor_rows(self) -> Floats:
        """P, its rows divided by the diagonal: torques and inertias are seen at the joints."""
        P = self.motor_matrix
        return P / np.diag(P[:, list(self.actuated)])[:, None]

    # ------------------------------------------------------------------ names
    @cached_property
    def standard_names(self) -> tuple[str, ...]:
        """s: ten of every body, the rotors, ten of the payload, friction."""
        own = [*self.body.parameter_names]
        load = [f"{self.load_name}.{p}" for p in PARAMETER_NAMES] if self.payload else []
        return (*own, *load, *self._coupled_rotors, *self._friction_names)

    @property
    def _coupled_rotors(self) -> list[str]:
        if not (self.coupled and self.rotors):
            return []
        return [f"{self.velocity_names[i]}.rotor" for i in self.actuated]

    @cached_property
    def _friction_names(self) -> tuple[str, ...]:
        joints = [f"{self.velocity_names[i]}.{n}" for i in self.actuated
                  for n in self.friction.names]
        motors = [f"{self.velocity_names[self.actuated[i]]}.motor_{n}" for i in self.coupled
                  for n in self.friction.names if n != "offset"]
        return (*joints, *motors)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """x: the columns of W."""
        return tuple(self.standard_names[c] for c in self._map[0])

    @cached_property
    def L(self) -> Floats:
        """(columns, standard parameters): x = L s."""
        return self._map[1]

    @cached_property
    def _equalities(self) -> tuple[Floats, Floats]:
        """(A, b): what is known of the standard parameters, A s = b."""
        rows, values = known_rows_of(self.known, self.standard_names, self.robot.name)
        if not self.rotors:
            first = 10 * len(self.body.bodies)
            for c, value in enumerate(self.body.parameters[first:], start=first):
                rows.append(np.eye(len(self.standard_names))[c])
                values.append(float(value))
        return np.array(rows).reshape(-1, len(self.standard_names)), np.array(values)

    @property
    def equalities(self) -> tuple[Floats, Floats]:
        """(A, b): what is known of the standard parameters, A s = b."""
        return self._equalities

    @cached_property
    def decided(self) -> tuple[Floats, Floats]:
        """(A, b): what is known of the columns, those equations of s that x = L s decides."""
        (A, b), L = self.equalities, self.L
        if not len(b):
            return np.zeros((0, len(L))), b
        Y, *_ = np.linalg.lstsq(L.T, A.T, rcond=None)
        ok = np.abs(L.T @ Y - A.T).max(axis=0, initial=0.0) < 1e-9
        return Y.T[ok], b[ok]

    # ------------------------------------------------------------------ columns
    def standard_columns(self, q: Array, v: Array, a: Array, slip: Array) -> Array:
        """(nv, standard parameters): τ is their product with s."""
        xp, rows = namespace(q, v, a, slip), self.motor_rows
        parts = []
        Y = regressor(self.loaded, q, v, a)
        bodies, first = 10 * len(self.body.bodies), 10 * len(self.loaded.bodies)
        parts += [Y[:, :bodies], Y[:, first:], Y[:, bodies:first]]
        at = list(self.actuated)
        if self._coupled_rotors:
            parts.append(xp.stack([row * (row @ a) for row in rows], axis=1))
        columns = []
        unit = np.eye(self.robot.nv)
        terms, speed = self.friction.terms, self.friction.speed
        for n, i in enumerate(at if terms else ()):
            columns += [unit[i] * x for x in friction_columns(terms, v[i], slip[n], speed)]
        for i in self.coupled if terms else ():
            f = friction_columns(terms, rows[i] @ v, slip[i], speed)
            columns += [rows[i] * x for x, n in zip(f, self.friction.names, strict=True)
                        if n != "offset"]
        if columns:
            parts.append(xp.stack(columns, axis=1))
        return xp.concatenate(parts, axis=1)

    def columns(self, q: Array, v: Array, a: Array, slip: Array) -> Array:
        """W, (nv, columns), at one state; `slip` (motors,) is the scale of the smooth sign."""
        return self.standard_columns(q, v, a, slip)[:, list(self._map[0])]

    @cached_property
    def _map(self) -> tuple[tuple[int, ...], Floats]:
        """The standard parameters whose columns are kept, and L."""
        own, kept = len(self.body.parameter_names), list(self.base.kept)
        total = len(self.standard_names)
        L: Floats = np.zeros((len(kept), total))
        L[:, :own] = np.asarray(self.base.K, dtype=float)
        friction = total - len(self._friction_names)
        extra = list(range(own, friction))
        if self._sliding:
            extra += [c for c in range(friction, total) if self.standard_names[c] in self._sliding]
        if extra:
            kept, L = self._with_dependent(kept, L, extra)
        rest = [c for c in range(friction, total) if c not in extra]
        return (*kept, *rest), np.vstack([L, np.eye(total)[rest]])

    @property
    def _sliding(self) -> set[str]:
        """Offsets of joints that may carry a constant weight, which nothing tells from them."""
        lengths = slides(self.robot, "v")
        return {f"{self.velocity_names[i]}.offset" for i in self.actuated if lengths[i]}

    def _with_dependent(self, kept: list[int], L: Floats,
                        extra: Sequence[int]) -> tuple[list[int], Floats]:
        """The payload's ten and the coupled rotors, as columns of their own where they are any.

        The payload is compared with itself alone: logs without it tell it from the last link.
        """
        W = self._sampled()
        first = len(self.body.parameter_names)
        load = range(first, first + (10 if self.payload else 0))
        pools: dict[bool, list[int]] = {True: [], False: list(kept)}
        for c in extra:
            pool = pools[c in load]
            x, left = _explained(W[:, pool], W[:, c])
            if left > DEPENDENT:
                pool.append(c)
                kept.append(c)
                L = np.vstack([L, np.eye(L.shape[1])[c]])
            else:
                for at, coefficient in zip(pool, x, strict=True):
                    L[kept.index(at), c] += coefficient
        return kept, L

    def _sampled(self, states: int = 60) -> Floats:
        """Standard columns at random states, one row for each torque of each of them."""
        rng, r = np.random.default_rng(0), self.robot
        slip = np.full(len(self.actuated), SLIP)
        return np.concatenate([
            self.standard_columns(r.random(rng), rng.normal(size=r.nv), rng.normal(size=r.nv), slip)
            for _ in range(states)])

    # ------------------------------------------------------------------ one program
    @cached_property
    def _recorded(self) -> Program:
        r = self.robot
        shapes = {"q": (r.nq,), "v": (r.nv,), "a": (r.nv,), "slip": (len(self.actuated),)}
        return record(lambda q, v, a, slip: {"W": self.columns(q, v, a, slip)}, shapes, "columns")

    @cached_property
    def support(self) -> tuple[tuple[int, ...], ...]:
        """For each torque the columns that are not always zero."""
        entries = self._recorded.outputs[0].entries
        p = len(self.names)
        return tuple(tuple(c for c in range(p)
                           if entries[i * p + c].index >= 0 or entries[i * p + c].constant != 0)
                     for i in range(self.robot.nv))

    def kernel(self, gains: bool = False) -> Kernel:
        """The rows [W_j, gains, τ_j] without what is always zero: an output for each torque.

        Its arguments are q, v, a, slip and the torques, from which those of springs are taken off;
        with `gains` the currents, whose columns
        are −Pᵀ e_i i_i while the torques are zero.
        """
        if gains not in self._kernels:
            def rows(q: Array, v: Array, a: Array, slip: Array, effort: Array) -> dict[str, Any]:
                W, xp = self.columns(q, v, a, slip), namespace(q, v, a, slip, effort)
                found, springs = {}, spring_torque(self.robot, q)      # these are known
                for i, s in enumerate(self.support):
                    last = [-self.motor_matrix[m, i] * effort[m]
                            for m in self.gain_rows(gains)[i]] + [-springs[i]]
                    end = xp.stack(last if gains else [effort[i] - springs[i]])
                    found[f"row{i}"] = xp.concatenate([W[i][list(s)], end])
                return found
            shapes = {s.name: s.shape for s in self._recorded.inputs}
            shapes["effort"] = (len(self.actuated) if gains else self.robot.nv,)
            self._kernels[gains] = Kernel.load(
                f"identification {self.key} {gains}",
                lambda: optimised(record(rows, shapes, "columns")))
        return self._kernels[gains]

    @cached_property
    def key(self) -> str:
        """All that the rows depend on, as text."""
        return (f"{robot_digest(self.loaded)} {self.friction!r} {self.rotors} "
                f"{self.motor_matrix.tolist()} {self.payload}")

    @cached_property
    def _kernels(self) -> dict[bool, Kernel]:
        return {}

    def gain_rows(self, gains: bool) -> list[list[int]]:
        """For each torque the motors whose current moves it."""
        if not gains:
            return [[] for _ in range(self.robot.nv)]
        return [[m for m in range(len(self.actuated)) if self.motor_rows[m, i] != 0]
                for i in range(self.robot.nv)]

    def __repr__(self) -> str:
        return (f"<model of {self.robot.name}: {len(self.names)} columns, {self.base.count} of "
                f"them base parameters>")


def _explained(W: Floats, column: Floats) -> tuple[Floats, float]:
    """How columns make up another one, and what is left of it, relative to its size."""
    size = np.linalg.norm(column)
    if size == 0:
        return np.zeros(W.shape[1]), 0.0
    scale = np.linalg.norm(W, axis=0)
    scale[scale == 0] = 1.0
    x, *_ = np.linalg.lstsq(W / scale, column, rcond=1e-12)
    return x / scale, float(np.linalg.norm(W / scale @ x - column) / size)
