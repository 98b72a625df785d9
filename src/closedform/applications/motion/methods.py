"""How a motion is integrated: SciPy's methods, which choose their steps, and fixed steps.

    cf.simulate(robot, (q, v), None, times, method=cf.Radau(rtol=1e-7))
    cf.simulate(robot, (q, v), None, times, method=cf.RK4(step=1e-3))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import final

import numpy as np

from closedform.arrays import Array
from closedform.errors import ArgumentError


@dataclass(frozen=True)
class Adaptive:
    """A method of SciPy: its steps are such that it errs by less than rtol |x| + atol in each."""

    rtol: float = 1e-9
    atol: float = 1e-10

    def __post_init__(self) -> None:
        _refuse_others(self)


@final
class RK23(Adaptive):
    """Bogacki's and Shampine's pair of order 3: for rough answers."""


@final
class RK45(Adaptive):
    """Dormand's and Prince's pair of order 5, MATLAB's `ode45`."""


@final
class DOP853(Adaptive):
    """Dormand's and Prince's formulas of order 8: the choice for smooth motion."""


@final
class Radau(Adaptive):
    """Implicit, of order 5: for stiff motion, as much friction on little inertia."""


@final
class BDF(Adaptive):
    """Implicit, of order 1 to 5: for stiff motion where the rate is dear."""


@final
class LSODA(Adaptive):
    """Formulas of Adams, and BDF where the motion turns stiff."""


@final
@dataclass(frozen=True)
class RK4:
    """Runge's and Kutta's steps of order 4, no longer than `step` seconds, as compiled code.

    The input is asked for at the start of each step and held over it.
    """

    step: float = 1e-3

    def __post_init__(self) -> None:
        _refuse_others(self)


Method = Adaptive | RK4
METHODS = {kind.__name__: kind for kind in (RK4, RK23, RK45, DOP853, Radau, BDF, LSODA)}


def _refuse_others(method: Method) -> None:
    for name, x in vars(method).items():
        if not isinstance(x, int | float | np.number) or not (
                0 < x < np.inf or (name == "atol" and x == 0)):
            raise ArgumentError(f"{name} must be a positive number, not {x!r}")


def chosen(method: Method | str, **options: float | None) -> Method:
    """A method as it is; or by its name, with those of the options that are given and it has."""
    given = {name: x for name, x in options.items() if x is not None}
    if isinstance(method, Adaptive | RK4):
        if given:
            raise ArgumentError(f"{' and '.join(given)} belong to the method: give "
                                f"{type(method).__name__}({'=..., '.join(given)}=...)")
        return method
    if method not in METHODS:
        raise ArgumentError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    known = {field.name for field in fields(METHODS[method])}
    return METHODS[method](**{name: x for name, x in given.items() if name in known})


def rk4_step(rate: Callable[[Array, Array], Array], n: int) -> Callable[[Array, Array], Array]:
    """(y, (u, h)) to the next y by Runge's and Kutta's order 4, u (n,) held over the step h.

    Over generic arrays: with numbers it is the step, recorded it is the step's program.
    """
    def step(y: Array, held: Array) -> Array:
        u, h = held[:n], held[n]
        k1 = rate(y, u)
        k2 = rate(y + (h / 2) * k1, u)
        k3 = rate(y + (h / 2) * k2, u)
        k4 = rate(y + h * k3, u)
        return y + (h / 6) * (k1 + 2 * (k2 + k3) + k4)

    return step
