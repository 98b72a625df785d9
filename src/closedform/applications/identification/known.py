"""What is known of standard parameters, by name: values, and values of sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from closedform.applications.counts import is_number
from closedform.arrays import Floats
from closedform.errors import ArgumentError, UnknownName, suggestion

NEVER_NEGATIVE = ("m", "Ixx", "Iyy", "Izz", "rotor", "viscous", "coulomb")
"""Beginnings of the names of numbers that no body and no joint has below zero."""


def known_rows_of(known: Mapping[str, Any], names: Sequence[str], robot: str) -> tuple[
        list[Floats], list[float]]:
    """Rows and values of A s = b for `{"tool.m": 2.8, "link1.m + link2.m": 5.0}`."""
    if not isinstance(known, Mapping):
        raise ArgumentError(f"known must be a mapping such as {{'tool.m': 2.8}}, not {known!r}")
    rows, values = [], []
    for text, value in known.items():
        row: Floats = np.zeros(len(names))
        parts = [part.strip() for part in str(text).split(" + ")]
        for name in parts:
            if name not in names:
                raise UnknownName(f"known: no parameter {name!r} of {robot}; "
                                  f"{suggestion(name, names)}")
            row[names.index(name)] = 1.0
        if not is_number(value, -np.inf):
            raise ArgumentError(f"known: {text} must be a number, not {value!r}")
        if value < 0 and all(_is_never_negative(name) for name in parts):
            raise ArgumentError(f"known: {text} cannot be below zero, {value!r}")
        rows.append(row)
        values.append(float(value))
    return rows, values


def _is_never_negative(name: str) -> bool:
    kind = name.rpartition(".")[2].removeprefix("motor_")
    return kind in NEVER_NEGATIVE[:4] or kind.startswith(NEVER_NEGATIVE[4:])
