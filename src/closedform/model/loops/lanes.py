"""Gaps of many configurations at once: scalars that are arrays over states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from closedform.model.loops.gap import Gap, residual, residual_and_rows

if TYPE_CHECKING:
    from closedform.model.tree import Tree


@final
class Lane:
    """A scalar of many states at once."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __add__(self, o: Any) -> Any:
        return NotImplemented if isinstance(o, np.ndarray) else Lane(self.x + _x(o))

    __radd__ = __add__

    def __neg__(self) -> Lane:
        return Lane(-self.x)

    def __sub__(self, o: Any) -> Any:
        return NotImplemented if isinstance(o, np.ndarray) else Lane(self.x - _x(o))

    def __rsub__(self, o: Any) -> Any:
        return NotImplemented if isinstance(o, np.ndarray) else Lane(_x(o) - self.x)

    def __mul__(self, o: Any) -> Any:
        return NotImplemented if isinstance(o, np.ndarray) else Lane(self.x * _x(o))

    __rmul__ = __mul__

    def __truediv__(self, o: Any) -> Any:
        return NotImplemented if isinstance(o, np.ndarray) else Lane(self.x / _x(o))

    def sin(self) -> Lane:
        return Lane(np.sin(self.x))

    def cos(self) -> Lane:
        return Lane(np.cos(self.x))

    def sqrt(self) -> Lane:
        return Lane(np.sqrt(self.x))

    def not_below_zero(self, scale: Any) -> Lane:
        """Itself, but zero where it is negative by rounding alone."""
        return Lane(np.where((self.x < 0) & (self.x > -1e-14 * _x(scale)), 0.0, self.x))

    def sign(self) -> Lane:
        return Lane(np.sign(self.x))


def _x(o: Any) -> Any:
    return o.x if isinstance(o, Lane) else o


def lanes(q: np.ndarray) -> np.ndarray:
    found = np.empty(q.shape[1], dtype=object)
    found[:] = [Lane(q[:, i]) for i in range(q.shape[1])]
    return found


def together(A: Any, batch: int) -> np.ndarray:
    """An array of lanes as numbers, (batch, *shape)."""
    A = np.asarray(A, dtype=object)
    found = np.empty((batch, A.size))
    for k, x in enumerate(A.flat):
        found[:, k] = _x(x)
    return found.reshape(batch, *A.shape)


def both(tree: Tree, gaps: Sequence[Gap], q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """φ, (batch, m), and K, (batch, m, n), of many configurations."""
    phi, rows = residual_and_rows(tree, gaps, lanes(q))
    K = np.zeros((len(q), len(rows), tree.nv))
    for i, row in enumerate(rows):
        for j, x in row.items():
            K[:, i, j] = _x(x)
    return together(phi, len(q)), K


def residuals(tree: Tree, gaps: Sequence[Gap], q: np.ndarray) -> np.ndarray:
    """φ of many configurations, (batch, m)."""
    return together(residual(tree, gaps, lanes(q)), len(q))
