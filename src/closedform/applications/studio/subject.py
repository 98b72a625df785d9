"""What clients look at: a robot with its kernels, its dials and its tip. Frozen, shared by all."""

from __future__ import annotations

import threading
import time
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from closedform.applications.compile.kernels import CompiledRobot, compile, fuse
from closedform.applications.compile.requests import Asked, At, Gravity, PayloadAt
from closedform.applications.studio.dials import Dials
from closedform.arrays import Floats
from closedform.errors import UnknownName
from closedform.lowerings.call.kernel import Kernel
from closedform.model.coordinates import coordinate_names
from closedform.model.loops.closure import y_index
from closedform.model.robot import Robot

PLACES = ("poses", "center_of_mass")
TERMS = ("mass_matrix", "coriolis_matrix", "gravity_torque", "coriolis_torque",
         "inverse_dynamics", "kinetic_energy", "potential_energy")
SLOPES = ("inverse_dynamics_derivatives",)
AT_TIP = ("frame_pose", "frame_jacobian")
TOOLS = ("tcp", "_ee", "tool0", "tool", "tip", "flange")
"""How the names of frames end that people move robots by."""
NEAR = 0.05
"""Of a range: so near to a limit no arm is at home."""
SINGULAR, TRIED = 1e-3, 30
"""σ min / σ max that counts as singular; configurations that are tried."""
NEARBY, STEPS, CLOSED = 0.1, 8, 1e-12
"""rad, or robot sizes: how far y goes at once; then so many steps of Newton's until q rests."""
LARGE, TANGLED = 40, 12
"""Velocities, and coordinates of a robot with loops, from which on slopes are left out: their
kernels take minutes to make."""


@final
class StudioRobot:
    """A robot, and what is computed of it: one kernel for the scene, one for the equations.

    The load at the tip and gravity are inputs of both, so that both may be changed by hand.
    """

    def __init__(self, robot: Robot, source: str = "", visuals: tuple[Any, ...] = (),
                 is_repaired: bool = False, **loading: Any) -> None:
        self.robot, self.source, self.visuals = robot, source or robot.name, visuals
        self.is_repaired = is_repaired                   # after it was loaded
        self.loading = {key: x for key, x in loading.items() if x}
        self.dials = Dials(robot)
        self.names = tuple(coordinate_names(robot.v_slices))
        self.tips = tuple(dict.fromkeys(
            [*(f.name for f in robot.frames if f.body), *robot.body_names]))
        self._kernels: dict[tuple[str, tuple[str, ...]], Kernel] = {}
        self._making, self._seconds = threading.RLock(), dict[str, float]()

    @cached_property
    def lower(self) -> Floats:
        """Lower limits of q; a robot collects them from its joints at each call."""
        return self.robot.lower

    @cached_property
    def upper(self) -> Floats:
        """Upper limits of q."""
        return self.robot.upper

    @cached_property
    def effort(self) -> Floats:
        """Limits of |τ|, (nv,)."""
        return self.robot.effort_limits

    @cached_property
    def tip(self) -> str:
        """The frame that is pulled: a tool's where there is one, else the last body."""
        tools = [x.name for x in self.robot.frames if x.body and x.name.endswith(TOOLS)]
        return (tools or list(self.robot.body_names))[-1]

    @cached_property
    def home(self) -> Floats:
        """The configuration `home` of the file, else the neutral one, not at a limit."""
        for name in ("home", "ready", "default"):
            if name in self.robot.configurations:
                return self.kept(self.robot.configurations[name])
        q, low, high = self.robot.neutral(), self.lower, self.upper
        if self.robot.closure is not None:
            return q
        with np.errstate(invalid="ignore"):
            tight = NEAR * (high - low)                  # panda's elbow and wrist have no zero
            moved = np.isfinite(tight) & ((q < low + tight) | (q > high - tight))
        q[moved] = (low[moved] + high[moved]) / 2
        return self.kept(q)

    @cached_property
    def ready(self) -> Floats:
        """Home, or where the tip is singular there the best of a few random configurations.

        A straight arm can neither be pulled nor has it an inertia at its tip.
        """
        kernel, nothing = self.places(self.tip), (np.zeros(3), np.zeros(10))

        def least(q: Floats) -> float:
            sigma = np.linalg.svd(kernel(q, *nothing).frame_jacobian, compute_uv=False)
            return float(sigma[min(len(sigma), self.robot.nv) - 1] / (sigma[0] or 1.0))

        if self.robot.is_floating or least(self.home) > SINGULAR:
            return self.home
        tried = [self.kept(self.robot.random(seed)) for seed in range(TRIED)]
        best = max(tried, key=least)
        return best if least(best) > SINGULAR else self.home

    @cached_property
    def configurations(self) -> dict[str, Floats]:
        """Configurations with names."""
        named = {name: self.kept(q) for name, q in self.robot.configurations.items()}
        return {"ready": self.ready, **named, "home": self.home}

    def kept(self, q: Floats, near: Floats | None = None) -> Floats:
        """q within the limits, its quaternions of length one, its loops closed.

        `near` is a closed configuration on the branch that is meant; q itself if none is given.
        """
        if self.robot.closure is not None:
            own = y_index(self.robot.tree, self.robot.closure)
            y = np.clip(np.asarray(q, dtype=float)[own], self.lower[own], self.upper[own])
            found = None if near is None else self._followed(y, near, own)
            return self.robot.closed(y, near=q if near is None else near) if found is None \
                else found
        q = np.clip(np.asarray(q, dtype=float), self.lower, self.upper)
        for body, i, _ in self.robot.parts:
            if body.joint.unit is not None:
                turn = q[i][body.joint.unit]
                length = float(np.linalg.norm(turn))
                turn[:] = turn / length if length > 1e-9 else [0, 0, 0, 1]
        return q

    def _followed(self, y: Floats, near: Floats, own: NDArray[np.intp]) -> Floats | None:
        """Loops closed at y by compiled steps from nearby; None where the branch may be lost."""
        closure, arm = self.robot.closure, self._arm
        assert closure is not None
        if not self._plain[own].all() or (
                np.abs(y - near[own]).max(initial=0) > NEARBY * min(1, closure.size)):
            return None
        q = near.copy()
        q[own] = y
        for _ in range(STEPS):
            last, q = q, arm.loop_step(q)
            if np.abs(q - last).max() < CLOSED * closure.size:
                break
        else:
            return None
        signs = np.sign(np.linalg.det(closure.K_d(arm.loop_jacobian(np.stack([near, q])))))
        open_ = np.abs(arm.loop_residual(q)).max(initial=0) > 1e-9 * closure.size
        return None if open_ or signs[0] != signs[1] else q

    @cached_property
    def _arm(self) -> CompiledRobot:
        return compile(self.robot)

    @cached_property
    def _plain(self) -> NDArray[np.bool_]:
        """Which coordinates of q are no part of a quaternion."""
        found = np.zeros(self.robot.nq, dtype=bool)
        for body, i, _ in self.robot.parts:
            found[i] = body.joint.is_vector
        return found

    def checked_tip(self, name: str) -> str:
        """The name of a frame, which must be one."""
        if name not in self.tips:
            raise UnknownName(f"no frame {name!r:.80} in {self.robot.name}")
        return name

    # ------------------------------------------------------------------ kernels
    @property
    def quantities(self) -> tuple[str, ...]:
        """The rows of the catalogue that the equations show."""
        many = self.robot.nq if self.robot.closure else self.robot.nv
        return TERMS + (SLOPES if many <= (TANGLED if self.robot.closure else LARGE) else ())

    def places(self, tip: str) -> Kernel:
        """Poses, centre of mass, and the tip with its Jacobian: what the scene needs."""
        return self._kernel(tip, PLACES, AT_TIP)

    def equations(self, tip: str) -> Kernel:
        """The terms of the equation of motion and their slopes."""
        return self._kernel(tip, self.quantities)

    def is_ready(self, tip: str) -> bool:
        """Whether the equations are compiled."""
        return (tip, self.quantities) in self._kernels

    def _kernel(self, tip: str, rows: tuple[str, ...], framed: tuple[str, ...] = ()) -> Kernel:
        key = tip, rows
        if key not in self._kernels:
            with self._making:                       # others wait for the one who comes first
                if key not in self._kernels:
                    asked: list[Asked] = [*rows, *(At(x, tip) for x in framed)]
                    made = fuse(self.robot, asked, inputs=(Gravity(), PayloadAt(tip)))
                    made.native                      # noqa: B018  compiled now
                    self._kernels[key] = made
        return self._kernels[key]

    def time_per_call(self, tip: str, arguments: tuple[Floats, ...]) -> float:
        """Seconds of one call of the equations: the best of five runs."""
        if tip not in self._seconds:
            kernel, best = self.equations(tip), np.inf
            for _ in range(5):
                begun = time.perf_counter()
                for _ in range(20):
                    kernel(*arguments)
                best = min(best, (time.perf_counter() - begun) / 20)
            self._seconds[tip] = best
        return self._seconds[tip]
