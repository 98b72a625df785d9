"""A report on a robot: what it is, its equations, parameters, derivatives, laws, speed, freedom.

    found = report("iiwa14")
    found.write("iiwa14.html")          one page that needs nothing else
    found.holds                         whether every certificate does
"""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from closedform.applications.base_parameters.summary import BaseParameters, base_parameters
from closedform.applications.compile.kernels import CompiledRobot, compile
from closedform.applications.live.skeleton import resting
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.torques import torques
from closedform.applications.motion.trajectories import cosines
from closedform.applications.report.certificates import (
    STATES,
    Certificate,
    agreements,
    laws,
    massless,
    swing,
)
from closedform.applications.report.gpu import GpuTimes, gpu_times
from closedform.applications.report.peers import Peer, peers
from closedform.applications.report.quantities import (
    ARM,
    BATCH,
    found_by,
    jobs,
    ratio,
    sized,
    states,
    timed,
)
from closedform.applications.report.record import Report, provenance
from closedform.applications.report.workers import await_all, common_cache, working
from closedform.arrays import numeric
from closedform.errors import ArgumentError, ClosedformError
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.canonical.snapping import snapped
from closedform.maths.catalogue import CATALOGUE
from closedform.maths.definitions.center_of_mass import center_of_mass
from closedform.model.lint.lint import lint
from closedform.model.load import load
from closedform.model.robot import Robot

MANY = 3
"""States for the laws of larger robots than arms."""
SAMPLES = 200
"""Random states behind the heat maps."""
PATIENCE = {True: 12.5, False: 55.0}
"""Seconds in which kernels are to be there, for an arm or for more."""
GRACE = 2.0
"""Seconds for counting the programs that no worker came to."""

Told = Callable[[str, float], None]
"""(what is being done, the part that is done)."""


def report(source: Any, floating: bool = False, told: Told = lambda what, part: None, *,
           loops: str | None = None, mappings: Mapping[str, Any] | None = None,
           command: str = "") -> Report:
    """The report on a robot, or on what `load` takes: a model file, a built-in robot, an object."""
    start = time.monotonic()
    told("loading", 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")             # the same is among the findings
        robot = source if isinstance(source, Robot) else load(source, floating, loops,
                                                              mappings=mappings)
    if not numeric(robot.parameters):
        raise ArgumentError(f"{robot.name} has symbols; a report needs numbers")
    findings = lint(source, loops=loops, mappings=mappings)
    until = start + PATIENCE[robot.nv <= ARM]
    with common_cache() as cache:
        work = jobs(robot)
        with working(robot, work, cache) as progress:
            from closedform.applications.report.formulas import formulas  # slow to import,
            from closedform.applications.report.redundancy import redundant  # now that others work
            told("base parameters", 0.05)
            base = _base(robot)
            told("torques along a motion", 0.15)
            motion = torques(robot, cosines(robot), np.linspace(0.0, 4.0, 401))
            told("formulas and redundancy", 0.25)
            written = {letter: [x.mathml for x in lines] for letter, lines in
                       formulas(robot).items()}
            freedom = redundant(robot)
            importlib.import_module("closedform.applications.report.page")  # slow, for `write`
            await_all(work, progress, until, lambda done, total: told(
                f"compiling {done} of {total}", 0.35 + 0.35 * done / total))
        arm = compile(robot, cache=cache)
        quantities = found_by(arm, progress, until + GRACE)
        told("certificates", 0.7)
        exact, notes = snapped(robot)           # what the kernels were recorded from
        found, missing = peers(exact, "" if isinstance(source, Robot) else source)
        certificates, run = certify(exact, arm, found, missing)
        told("times", 0.9)
        drawn = states(robot, BATCH)
        times = [timed(row, quantities.kernels[row.name], drawn, row.name in quantities.batched)
                 for row in CATALOGUE if row.name in quantities.kernels]
        return Report(
            robot, _center(robot),
            findings, [sized(robot, row, quantities) for row in CATALOGUE],
            structure(robot, arm), written, base, motion, certificates, run, times,
            ratios(robot, found, quantities.kernels), freedom, time.monotonic() - start,
            {peer.name: peer.version for peer in found} | missing, tuple(notes),
            "" if times else progress.missing(), massless(robot),
            _on_gpu(robot, quantities.kernels), provenance(source, robot, floating, command),
            _on_no_joint(robot, source, {"loops": loops, "mappings": mappings}), _page)


def _on_no_joint(robot: Robot, source: Any, how: Mapping[str, Any]) -> tuple[float, int]:
    """The mass that a root link has and a fixed robot has not, and the limbs on it."""
    if isinstance(source, Robot) or robot.is_floating:
        return 0.0, 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = load(source, True, **how)
    except ClosedformError:
        return 0.0, 0
    missing = float(whole.mass) - float(robot.mass)
    limbs = sum(body.parent is None for body in robot.bodies)
    return (missing if missing > 1e-9 else 0.0), limbs


def _on_gpu(robot: Robot, kernels: Mapping[str, Kernel]) -> GpuTimes | str:
    """Times of what is essential on a GPU, of an arm; else why there are none."""
    if robot.nv > ARM:
        return "closedform bench ROBOT --device cuda measures larger robots than arms"
    essential = {row.name: kernels[row.name] for row in CATALOGUE
                 if row.essential and row.name in kernels}
    try:
        return gpu_times(robot, essential, ("float64",))
    except ClosedformError as error:
        return str(error)


def _center(robot: Robot) -> np.ndarray | None:
    if not float(robot.mass):
        return None
    return np.asarray(center_of_mass(robot, resting(robot)), dtype=float)


def _base(robot: Robot) -> BaseParameters | str:
    try:
        return base_parameters(robot)
    except ClosedformError as error:
        return str(error)


def certify(robot: Robot, arm: CompiledRobot, found: list[Peer],
            missing: dict[str, str]) -> tuple[list[Certificate], Simulation | None]:
    """Every certificate of the kernels `arm` of the robot, and the swing of one of them."""
    energy, run = swing(robot)
    count = STATES if robot.nv <= ARM else MANY
    return [*laws(robot, arm, count), energy, *agreements(robot, arm, found, missing)], run


def structure(robot: Robot, arm: CompiledRobot) -> dict[str, np.ndarray]:
    """Mean |entry| of M, C and ∂τ/∂q over random states, (nv, nv) each."""
    drawn = states(robot, SAMPLES, ("q", "v", "a"))
    sums = dict.fromkeys(("M", "C", "∂τ/∂q"), np.zeros((robot.nv, robot.nv)))
    for q, v, a in zip(*drawn.values(), strict=True):   # one by one: batches may not be compiled
        found = (arm.mass_matrix(q), arm.coriolis_matrix(q, v),
                 arm.inverse_dynamics_derivatives(q, v, a).dtau_dq)
        sums = {name: sums[name] + np.abs(x) for name, x in zip(sums, found, strict=True)}
    return {name: total / SAMPLES for name, total in sums.items()}


def ratios(robot: Robot, found: list[Peer],
           kernels: Mapping[str, Kernel]) -> dict[str, dict[str, float]]:
    """How many times longer the peers' calls take, by quantity and peer."""
    drawn = {name: values[0] for name, values in states(robot, 1).items()}
    result: dict[str, dict[str, float]] = {}
    for peer in found:
        for name, call in peer.calls(drawn["q"], drawn["v"], drawn["a"]).items():
            if name in kernels:
                kernel = kernels[name]
                inputs = [drawn[slot.name] for slot in kernel.interface.inputs]
                result.setdefault(name, {})[peer.name] = ratio(call, partial(kernel, *inputs))
    return result


def _page(found: Report) -> str:
    from closedform.applications.report.page import page  # slow to import: figures
    return page(found)
