"""Coulomb's friction c sign(v), smoothed, because integrators stall at a jump.

    sign(v) ≈ v / √(v² + s²)

The root is made of operations that programs have, so that one law serves numbers, compiled arms
and exported code; tanh(v/s) would need another operation. It grows with v everywhere and is within
s² / 2v² of the sign.
"""

from __future__ import annotations

from closedform.arrays import Array, namespace

SLIP = 1e-3
"""rad/s or m/s: s, if no other is given."""


def smoothed_sign(v: Array, slip: Array | float = SLIP) -> Array:
    """v / √(v² + slip²), of the shape of v."""
    return v / namespace(v).sqrt(v * v + slip * slip)
