"""The ten inertial parameters of a body, as one frozen record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from closedform.arrays import Array, ArrayLike, Number, exact_or_float, numeric
from closedform.errors import ModelError
from closedform.model.vectors import as_given

PARAMETER_NAMES = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Mass, first moment, and tensor entries about the body frame's origin (Ixy = −∫ xy dm)."""

SYMORO_ORDER = (4, 5, 7, 6, 8, 9, 1, 2, 3, 0)
"""Positions of [XX XY XZ YY YZ ZZ mX mY mZ m] (Gautier & Khalil, SYMORO) among ours."""
GAROFALO_ORDER = (0, 1, 2, 3, 4, 6, 9, 5, 7, 8)
"""Positions of (m, m r, xx, yy, zz, xy, xz, yz) (Garofalo (9)) among ours."""


@final
@dataclass(frozen=True, init=False)
class Inertia:
    """A body's inertia: mass, centre of mass, 3x3 tensor about it, all in the body frame.

    What is kept are the ten `parameters` π = (m, m c, I_o), I_o = I_c − m c̃c̃ about the body
    frame's origin, so that regrouped bodies (m = 0, m c ≠ 0) exist too.
    """

    parameters: tuple[Any, ...]

    def __init__(self, mass: Number = 0.0, com: ArrayLike = (0.0, 0.0, 0.0),
                 tensor: ArrayLike | None = None) -> None:
        c = _shaped(com, (3,), "com")
        Ic = _shaped(np.zeros((3, 3)) if tensor is None else tensor, (3, 3), "tensor")
        given = as_given(mass, "mass must be one number")
        if given.ndim != 0 or given.dtype.kind == "c":
            raise ModelError(f"mass must be one number, not {mass!r:.200}")
        m = given.item()
        if numeric(np.asarray(m)) and not (np.isfinite(m) and m >= 0):
            raise ModelError(f"mass must be a finite number that is not negative, got {m!r}")
        if numeric(Ic) and np.abs(Ic - Ic.T).max() > 1e-9 * max(1e-300, np.abs(Ic).max()):
            raise ModelError(f"tensor must be symmetric, got {Ic.tolist()}")
        x, y, z = c
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            xx, yy, zz = m * x * x, m * y * y, m * z * z
            values = [m, m * x, m * y, m * z,
                      Ic[0, 0] + yy + zz, Ic[0, 1] - m * x * y, Ic[1, 1] + xx + zz,
                      Ic[0, 2] - m * x * z, Ic[1, 2] - m * y * z, Ic[2, 2] + xx + yy]
        if any(isinstance(value, float) and not np.isfinite(value) for value in values):
            raise ModelError(f"mass {m!r} and com {c.tolist()} overflow together")
        object.__setattr__(self, "parameters", _plain(values))

    @classmethod
    def from_parameters(cls, p: ArrayLike) -> Inertia:
        """From ten finite numbers or symbols, in the order of `PARAMETER_NAMES`."""
        values = _shaped(p, (10,), "parameters")
        result = object.__new__(cls)
        object.__setattr__(result, "parameters", _plain(values))
        return result

    @classmethod
    def from_matrix(cls, I: ArrayLike) -> Inertia:
        """From a 6x6 body inertia [[m 1, −m c̃], [m c̃, I_o]], linear first, about the origin."""
        A = _shaped(I, (6, 6), "matrix")
        result = cls.from_parameters([
            A[0, 0], A[5, 1], A[3, 2], A[4, 0],
            A[3, 3], A[3, 4], A[4, 4], A[3, 5], A[4, 5], A[5, 5]])
        if numeric(A) and np.abs(A - result.matrix).max() > 1e-9 * max(1e-300, np.abs(A).max()):
            raise ModelError("matrix is no 6x6 rigid-body inertia [[m 1, −m c̃], [m c̃, I]] "
                             "(linear part first)")
        return result

    @cached_property
    def array(self) -> np.ndarray:
        """The ten parameters as an array."""
        a = exact_or_float(np.array(self.parameters, dtype=None))
        a.setflags(write=False)
        return a

    @property
    def mass(self) -> Any:
        return self.parameters[0]

    @property
    def first_moment(self) -> np.ndarray:
        """m c, (3,)."""
        return self.array[1:4]

    @property
    def com(self) -> np.ndarray:
        """Centre of mass in the body frame, (3,); the origin for a body without mass or moments."""
        if numeric(self.array) and self.mass == 0:
            if np.any(self.first_moment != 0):
                raise ModelError("a regrouped body (m = 0, m c ≠ 0) has no centre of mass")
            return np.zeros(3)
        return self.first_moment / self.mass

    @property
    def origin_tensor(self) -> np.ndarray:
        """I_o, the tensor about the body frame's origin, (3, 3)."""
        xx, xy, yy, xz, yz, zz = self.array[4:]
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def tensor(self) -> np.ndarray:
        """I_c, the tensor about the centre of mass, (3, 3)."""
        c, h = self.com, self.first_moment
        return self.origin_tensor - (np.dot(c, h) * np.eye(3, dtype=int) - np.outer(c, h))

    @property
    def matrix(self) -> np.ndarray:
        """[[m 1, −m c̃], [m c̃, I_o]], (6, 6), linear part first."""
        m, (x, y, z) = self.mass, self.first_moment
        xx, xy, yy, xz, yz, zz = self.array[4:]
        return np.array([[m, 0, 0, 0, z, -y],
                         [0, m, 0, -z, 0, x],
                         [0, 0, m, y, -x, 0],
                         [0, -z, y, xx, xy, xz],
                         [z, 0, -x, xy, yy, yz],
                         [-y, x, 0, xz, yz, zz]])

    def seen_from(self, T: Array) -> Inertia:
        """The same mass, written in the frame in which this body's frame has the pose T."""
        R, p, m = T[:3, :3], T[:3, 3], self.mass
        h = R @ self.first_moment
        P = np.outer(p, h) + np.outer(h, p) + m * np.outer(p, p)  # what Σ = ∫ x xᵀ dm gains
        I = R @ self.origin_tensor @ R.T + (np.trace(P) * np.eye(3, dtype=int) - P)
        h = h + m * p
        return Inertia.from_parameters([
            m, *h,
            I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])

    def __add__(self, other: Inertia) -> Inertia:
        if not isinstance(other, Inertia):
            return NotImplemented
        return Inertia.from_parameters(self.array + other.array)

    def impossibility(self) -> str | None:
        """Why no mass distribution has this inertia, or None.

        A possible one has a pseudo-inertia without a negative eigenvalue.
        """
        if not numeric(self.array):
            return None
        m, h = float(self.mass), np.asarray(self.first_moment, float)
        if m < 0:
            return f"mass {m:g} kg is negative"
        scale = max(float(np.abs(self.origin_tensor).max()), 1e-300)
        if m == 0:
            massless = np.all(h == 0) and np.all(self.array == 0)
            return None if massless else "a body without mass has moments or a tensor"
        moments = np.linalg.eigvalsh(self.tensor)
        if moments[0] < -1e-9 * scale:
            return ("tensor about the centre of mass has the negative principal moment "
                    f"{moments[0]:.6g} kg m²")
        excess = moments[2] - moments[0] - moments[1]
        if excess > 1e-9 * scale:
            return (f"principal moments {moments[0]:.6g}, {moments[1]:.6g}, {moments[2]:.6g} kg m² "
                    f"break the triangle inequality by {excess:.3g}")
        return None

    def nearest_possible(self) -> Inertia:
        """The same mass and centre with the nearest second moments that a body can have.

        Nearest: negative eigenvalues of the second moments about the centre become zero.
        """
        m, c = float(self.mass), self.com
        moments, axes = np.linalg.eigh(self.tensor)
        second = np.maximum(0.0, 0.5 * moments.sum() - moments)  # eigenvalues of Σ about the centre
        return Inertia(m, c, axes @ np.diag(second.sum() - second) @ axes.T)


def _shaped(x: object, shape: tuple[int, ...], what: str) -> np.ndarray:
    a = as_given(x, f"{what} must be numbers of shape {shape}")
    if a.shape != shape:
        raise ModelError(f"{what} must have the shape {shape}, not {a.shape}")
    if numeric(a) and not np.all(np.isfinite(a)):
        raise ModelError(f"{what} holds a number that is not finite: {a.tolist()}")
    return a


def _plain(values: Iterable[Any]) -> tuple[Any, ...]:
    real = int | float | np.floating | np.integer
    return tuple(float(x) if isinstance(x, real) else x for x in values)
