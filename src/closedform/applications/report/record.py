"""What a report found, as one record; and what the page and the command line tell of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from closedform.applications.base_parameters.summary import BaseParameters
from closedform.applications.base_parameters.summary import summary as base_summary
from closedform.applications.motion.simulation import Simulation
from closedform.applications.motion.torques import Torques
from closedform.applications.report.certificates import Certificate
from closedform.applications.report.gpu import GpuTimes
from closedform.applications.report.quantities import Sized, Timed
from closedform.applications.whole_files import whole_file
from closedform.errors import ArgumentError
from closedform.model.describe import summary
from closedform.model.findings import Finding
from closedform.model.robot import Robot
from closedform.version import __version__

if TYPE_CHECKING:
    from closedform.applications.report.redundancy import Redundant  # slow to import


@final
@dataclass(frozen=True, eq=False)
class Report:
    """What was found; figures are made when the page is written."""

    robot: Robot
    center: np.ndarray | None               # (3,) m, at the configuration of the picture
    findings: list[Finding]
    quantities: list[Sized]
    maps: dict[str, np.ndarray]             # mean sizes of the entries of M, C, ∂τ/∂q
    formulas: dict[str, list[str]]
    base: BaseParameters | str
    motion: Torques
    certificates: list[Certificate]
    run: Simulation | None
    times: list[Timed]
    ratios: dict[str, dict[str, float]]     # by quantity: how many times longer a peer takes
    redundancy: Redundant | str
    seconds: float
    peers: dict[str, str] = field(default_factory=dict)
    snapped: tuple[str, ...] = ()           # placements made exact before recording
    no_times: str = ""                      # why there are none
    massless: str = ""                      # why there are no accelerations, if so
    gpu: GpuTimes | str = ""                # on a GPU, or why there are no times there
    provenance: dict[str, str] = field(default_factory=dict)
    root: tuple[float, int] = (0.0, 0)      # kg of what stands on no joint, limbs on it
    page: Callable[[Report], str] | None = field(default=None, repr=False)

    @property
    def holds(self) -> bool:
        """Whether no certificate fails."""
        return all(certificate.holds for certificate in self.certificates)

    def write(self, path: str | Path) -> Path:
        """The page, one file that needs nothing else."""
        if self.page is None:
            raise ArgumentError("a report that `report` has not made has no page")
        target = Path(path)
        text = self.page(self)
        with whole_file(target) as place:
            place.write_text(text, encoding="utf8")
        return target

    def data(self) -> dict[str, Any]:
        """Everything but the figures as plain data for JSON."""
        freedom = self.redundancy
        return {
            "robot": summary(self.robot),
            "center_of_mass": None if self.center is None else self.center.tolist(),
            "lint": [{**asdict(f), "level": f.level.value} for f in self.findings],
            "quantities": [asdict(q) for q in self.quantities],
            "structure": {name: sizes.tolist() for name, sizes in self.maps.items()},
            "base_parameters": (self.base if isinstance(self.base, str)
                                else base_summary(self.base)),
            "derivatives": {"differences": difference_residuals(self.motion)},
            "certificates": [{**asdict(c), "verdict": c.verdict} for c in self.certificates],
            "speed": [{**asdict(t), "ratios": self.ratios.get(t.name, {})} for t in self.times],
            "gpu": self.gpu if isinstance(self.gpu, str) else self.gpu.data(),
            "no_times": self.no_times, "massless": self.massless,
            "redundancy": freedom if isinstance(freedom, str) else {
                "task": freedom.task, "radius": freedom.radius,
                "complete": freedom.track.complete,
                "closed": None if freedom.curve is None else freedom.curve.closed,
                "manipulability": freedom.values.tolist()},
            "snapped": list(self.snapped), "peers": self.peers,
            "provenance": self.provenance, "mass_on_no_joint": self.root[0],
            "seconds": self.seconds, "holds": self.holds,
        }


def difference_residuals(motion: Torques) -> list[float]:
    """Largest |exact − numeric difference| of τ̇ and τ̈, relative to the largest value."""
    numeric_values = motion.differences()
    return [float(np.nanmax(np.abs(motion.values[:, k] - numeric_values[:, k]))
                  / (np.abs(motion.values[:, k]).max() or 1.0)) for k in (1, 2)]


def provenance(source: Any, robot: Robot, asked: bool, command: str) -> dict[str, str]:
    """Where a report comes from: version, date, file with its digest, command, base, seeds."""
    told = {"closedform": __version__, "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"}
    if isinstance(source, str | Path) and Path(source).is_file():
        digest = hashlib.sha256(Path(source).read_bytes()).hexdigest()
        told |= {"file": str(source), "SHA-256": digest}
    elif isinstance(source, str):
        told["robot"] = f"{source}, built in"
    return told | {
        "command": command or "called from Python",
        "base": "floating, as asked for" if asked else "floating" if robot.is_floating else "fixed",
        "random states": "of NumPy's default_rng: seed 0 for matrices, laws and times, 1 for the "
                         "swing, 2 for peers"}


def machine() -> str:
    """The processor in words, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines()
    except OSError:
        return f"{os.cpu_count()} cores"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else 'processor'}, {os.cpu_count()} cores"
