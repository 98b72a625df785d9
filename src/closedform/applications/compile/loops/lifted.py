"""Steps on series in time: their arrays hold coefficients, one after the other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from closedform.maths.scalars.series import Series

RATES = {"x": "q_dot", "v": "v_dot", "a": "a_dot", "tau": "tau_dot"}
"""Directions of derivatives."""
FOLLOWING = {"x": "v", "v": "a"}
"""What follows in time."""


@dataclass(frozen=True)
class Lifted:
    """Arrays as series in time: their coefficients one after the other, order + 1 of each.

    Of a `jvp` the state moves along a direction, of a `rate` and of a `jet` along the motion.
    """

    how: str
    order: int
    tables: Mapping[str, np.ndarray]

    @property
    def terms(self) -> int:
        return self.order + 1 if self.how == "jet" else 2

    def sources(self, array: str, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """The arrays that one is read from."""
        if not self.how or array in self.tables or array == "gravity":
            return {array: shape}
        if self.how == "jvp" and array in RATES:
            return {array: (), RATES[array]: ()}
        if self.how == "rate" and array in FOLLOWING:
            return {array: (), FOLLOWING[array]: ()}
        if self.how == "jet" and array in ("x", "v", "a"):
            return {**({"x": ()} if array == "x" else {}), "rates": (self.order + 2,)}
        return {array: (self.terms, *shape)}

    def value(self, array: str, found: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
        if not self.how or array == "gravity":
            return found[array]
        if self.how == "jvp" and array in RATES:
            return Series([found[array], found[RATES[array]]])
        if self.how == "rate" and array in FOLLOWING:
            return Series([found[array], found[FOLLOWING[array]]])
        if self.how == "jet" and array in ("x", "v", "a"):
            rates = list(found["rates"])
            all_ = {"x": [found.get("x"), *rates], "v": rates, "a": rates[1:]}[array]
            return Series([x / math.factorial(k) if k > 1 else x
                           for k, x in enumerate(all_[:self.terms])])
        whole = np.empty(shape, dtype=object)
        for at in np.ndindex(shape):
            whole[at] = Series([found[array][(k, *at)] for k in range(self.terms)])
        return whole if shape else whole[()]

    def result(self, x: Any, final: bool) -> Any:
        if not self.how:
            return x
        entries = np.asarray(x, dtype=object)
        parts = [[_coefficient(y, k) for y in entries.ravel()] for k in range(self.terms)]
        if final and self.how != "jet":
            parts = parts[1:]
        elif final:
            parts = [[y * math.factorial(k) if k > 1 else y for y in row]
                     for k, row in enumerate(parts)]
        flat = [y for row in parts for y in row]
        whole = np.empty(len(flat), dtype=object)
        whole[:] = flat
        shape = entries.shape if final and self.how != "jet" else (len(parts), *entries.shape)
        return whole.reshape(shape)


def _coefficient(x: Any, k: int) -> Any:
    if isinstance(x, Series):
        return x.c[k] if k < len(x.c) else 0.0
    return x if k == 0 else 0.0
