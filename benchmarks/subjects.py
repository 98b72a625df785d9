"""The robots that are timed, their states, and the quantities that are asked for."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

import closedform as cf
from closedform.arrays import Array
from closedform.maths.catalogue import CATALOGUE
from closedform.model.robot import Robot

STATES = 64
"""States that native loops go through: all of them stay in the first-level cache."""

ARM, HUMANOID, TREE = "arm", "humanoid", "tree"


@dataclass(frozen=True, eq=False)
class Subject:
    """A robot and random states of it, of which native loops go through `count` in turn."""

    name: str
    kind: str
    robot: Robot
    count: int = STATES

    def states(self, n: int | None = None) -> dict[str, Array]:
        """n rows of every argument that a quantity may take; more rows begin with the fewer."""
        nv, distinct, n = self.robot.nv, self._coordinates, n or self.count
        shapes = {"v": (nv,), "a": (nv,), "tau": (nv,), "rates": (4, nv)}
        return {"q": np.resize(distinct, (n, self.robot.nq)),
                **{name: np.random.default_rng(seed).normal(size=(n, *shape))
                   for seed, (name, shape) in enumerate(shapes.items(), start=1)}}

    @cached_property
    def _coordinates(self) -> Array:
        rng = np.random.default_rng(0)
        return np.stack([self.robot.random(rng) for _ in range(STATES)])


@dataclass(frozen=True)
class Task:
    """Something to compute: quantities in one fused kernel.

    `third` is what stands beside q and v among the arguments; `batches` are sizes for arms and for
    humanoids.
    """

    name: str
    quantities: tuple[str, ...]
    third: str = "a"
    batches: tuple[tuple[int, ...], tuple[int, ...]] = ((2048,), (64,))
    kinds: tuple[str, ...] = (ARM, HUMANOID)
    in_batches: tuple[str, ...] = ()      # the outputs of batches, where they are not all

    def batches_of(self, kind: str) -> tuple[int, ...]:
        return self.batches[kind != ARM]

    @property
    def exists(self) -> bool:
        return set(self.quantities) <= {row.name for row in CATALOGUE}


ID, MASS, FD = "inverse dynamics", "mass matrix", "forward dynamics"
MATRICES, MATRICES_6B = "M, Christoffel C, g", "M, (6b) C, g"
DERIVATIVES, JET = "∂τ/∂q, ∂τ/∂v, M, τ", "τ, τ̇, τ̈"

TASKS = (
    Task(ID, ("inverse_dynamics",), batches=((100_000,), (100_000, 512))),
    Task(MASS, ("mass_matrix",)),
    Task(FD, ("forward_dynamics",), third="tau"),
    Task(MATRICES, ("mass_matrix", "christoffel_coriolis_matrix", "gravity_torque"),
         kinds=(ARM, HUMANOID, TREE)),
    Task(MATRICES_6B, ("mass_matrix", "coriolis_matrix", "gravity_torque"),
         kinds=(ARM, HUMANOID, TREE)),
    Task(DERIVATIVES, ("inverse_dynamics_derivatives", "inverse_dynamics"),
         in_batches=("dtau_dq", "dtau_dv")),
    Task(JET, ("inverse_dynamics_jet",), kinds=(ARM,)),
)


def shapes(task: Task, nv: int) -> list[tuple[int, ...]]:
    """What the peers return for a task, in the order of our outputs."""
    matrix, vector = (nv, nv), (nv,)
    table: dict[str, list[tuple[int, ...]]] = {
        ID: [vector], FD: [vector], MASS: [matrix], MATRICES: [matrix, matrix, vector],
        DERIVATIVES: [matrix, matrix, matrix, vector]}
    return table[task.name]


def width(task: Task, nv: int) -> int:
    """How many numbers that is."""
    return sum(math.prod(shape) for shape in shapes(task, nv))


def split(task: Task, nv: int, out: Array) -> list[Array]:
    """Rows of all outputs, one behind the other, taken apart."""
    sizes = [math.prod(shape) for shape in shapes(task, nv)]
    parts = np.split(out, np.cumsum(sizes)[:-1], axis=1)
    return [x.reshape(len(out), *shape)
            for x, shape in zip(parts, shapes(task, nv), strict=True)]


def tasks(subject: Subject, quick: bool) -> list[Task]:
    """What is asked of a robot; in a quick run only what compiles in a second."""
    wanted = [task for task in TASKS if subject.kind in task.kinds]
    return wanted if subject.kind == ARM or not quick else wanted[:2]


def subjects(quick: bool) -> list[Subject]:
    """Arms, the first humanoid that loads, and the tree that is like TORO."""
    found = [first("ur5", ARM, "ur5_robot", "ur5"), first("panda", ARM, "panda"),
             Subject("iiwa14", ARM, cf.load("iiwa14")),
             first("talos", HUMANOID, "talos_reduced", "g1_29dof_rev_1_0", "humanoid25")]
    return found if quick else [*found, Subject("humanoid25", TREE, cf.load("humanoid25"))]


def urdf(robot: Robot) -> str:
    """The robot as URDF, which has no place for gravity."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cf.ModelWarning)
        return robot.to_urdf()


def first(name: str, kind: str, *sources: str) -> Subject:
    """The first of some robots that there is: a URDF of example-robot-data or a built-in."""
    files = urdf_files()
    for source in sources:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cf.ModelWarning)
                robot = cf.load(files.get(source, source),
                                floating=kind == HUMANOID and source in files)
        except cf.ClosedformError:
            continue
        robot = robot.reduced({joint: 0 for joint in robot.joint_names if "finger" in joint})
        return Subject(name if source == sources[0] else source, kind, robot)
    raise cf.ArgumentError(f"none of {', '.join(sources)} could be loaded")


def urdf_files() -> dict[str, Path]:
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        return {}
    files = (Path(str(package.locate_file(f))) for f in package.files or () if f.suffix == ".urdf")
    return {path.stem: path.resolve() for path in files}
