"""What may be asked of a robot: quantities, frames, and inputs that come at run time."""

from __future__ import annotations

from dataclasses import dataclass

from closedform.errors import ArgumentError
from closedform.maths.catalogue import quantity
from closedform.maths.frames import LOCAL_WORLD_ALIGNED, Reference
from closedform.maths.quantity import Quantity
from closedform.model.robot import Robot


@dataclass(frozen=True)
class At:
    """A quantity of a frame, as in `fuse(robot, ["mass_matrix", At("frame_pose", "tool")])`."""

    quantity: str
    frame: str
    reference: Reference | None = None


Asked = str | At


@dataclass(frozen=True)
class Request:
    """One output: a row of the catalogue, and the frame and reference where it takes them."""

    row: Quantity
    frame: str | None = None
    reference: Reference | None = None

    @property
    def text(self) -> str:
        """What is asked for, in words that tell requests apart."""
        if self.frame is None:
            return self.row.name
        reference = "" if self.reference is None else self.reference.name
        return f"{self.row.name}({self.frame}, {reference})"


@dataclass(frozen=True)
class Parameters:
    """All inertial parameters are an input `parameters`, in the order of `robot.parameters`."""


@dataclass(frozen=True)
class Gravity:
    """The gravity acceleration is an input `gravity`, (3,), in the world frame."""


@dataclass(frozen=True)
class PayloadAt:
    """A load on a frame or body is an input `payload`: its ten parameters, in that frame."""

    frame: str


@dataclass(frozen=True)
class Independent:
    """Configurations are an input `y`, the independent coordinates, in the place of `q`.

    Of robots whose loops have a closed form: programs close them, on the branch of the guess.
    """


RuntimeInput = Parameters | Gravity | PayloadAt | Independent


def asked_request(robot: Robot, asked: Asked) -> Request:
    """What is asked of a robot, checked."""
    if isinstance(asked, At):
        row = quantity(asked.quantity)
        if not row.framed:
            raise ArgumentError(f"{row.name} takes no frame, got {asked.frame!r}")
        robot.frame(asked.frame)
        return Request(row, asked.frame, checked_reference(row, asked.reference))
    row = quantity(asked)
    if row.framed:
        raise ArgumentError(f"{row.name} needs a frame: cf.At({row.name!r}, frame, reference)")
    return Request(row)


def checked_reference(row: Quantity, given: Reference | None) -> Reference | None:
    """The reference that a quantity is asked in; None where it takes none."""
    if not row.takes("reference"):
        if given is not None:
            raise ArgumentError(f"{row.name} takes no reference, got {given!r}")
        return None
    if given is not None and not isinstance(given, Reference):
        raise ArgumentError("reference must be cf.LOCAL, cf.WORLD or cf.LOCAL_WORLD_ALIGNED, "
                            f"not {given!r}")
    return given or LOCAL_WORLD_ALIGNED
