"""The array contract: one source of mathematics for floats, complex numbers and foreign scalars.

`namespace(q)` answers with the few functions that operators, `.T` and indexing do not cover:
`sin, cos, sqrt, sign, stack, concatenate, array, zeros, eye, solve`. NumPy arrays of numbers get
NumPy's; object arrays (recorded expressions, SymPy, mpmath, CasADi scalars) get the same functions
element by element; an array of another library answers for itself through `__array_namespace__`.
"""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from closedform.errors import ArgumentError, SingularMatrix


class Number(Protocol):
    """A number, a symbol, a recorded expression; an array of them is one too."""

    def __neg__(self) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...


class Array(Protocol):
    """A NumPy array (float, complex or object) or an array of a library with a namespace.

    This is all that the mathematics asks of one. What an index or a product finds may be an array
    or an entry, and that may be any scalar. Where NumPy alone is meant, the type is `np.ndarray`.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def T(self) -> Array: ...
    def __array__(self) -> np.ndarray: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __neg__(self) -> Array: ...
    def __add__(self, other: Any, /) -> Array: ...
    def __radd__(self, other: Any, /) -> Array: ...
    def __sub__(self, other: Any, /) -> Array: ...
    def __rsub__(self, other: Any, /) -> Array: ...
    def __mul__(self, other: Any, /) -> Array: ...
    def __rmul__(self, other: Any, /) -> Array: ...
    def __truediv__(self, other: Any, /) -> Array: ...
    def __rtruediv__(self, other: Any, /) -> Array: ...
    def __pow__(self, other: Any, /) -> Array: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def __rmatmul__(self, other: Any, /) -> Any: ...


NestedNumbers = Sequence[Number | Sequence[Number | Sequence[Number]]]
"""Lists of numbers, of lists of numbers and so on, of which NumPy makes arrays. No text is one."""
ArrayLike = Array | NestedNumbers
"""What a user may give for an array."""
Floats = NDArray[np.floating[Any]]
"""A NumPy array of floats, where nothing else will do."""


class Namespace(Protocol):
    """The functions of arrays beside operators, `.T` and indexing; some take scalars too."""

    def sin(self, x: Any, /) -> Any: ...
    def cos(self, x: Any, /) -> Any: ...
    def sqrt(self, x: Any, /) -> Any: ...
    def sign(self, x: Any, /) -> Any: ...
    def array(self, values: Any, /) -> Array: ...
    def zeros(self, shape: int | tuple[int, ...], /) -> Array: ...
    def eye(self, n: int, /) -> Array: ...
    def stack(self, arrays: Sequence[Any], /, axis: int = 0) -> Array: ...
    def concatenate(self, arrays: Sequence[Any], /, axis: int = 0) -> Array: ...
    def solve(self, A: Array, b: Array, /) -> Array: ...


def namespace(*arrays: object) -> Namespace:
    """The array functions that fit these arrays: objects before foreign arrays before numbers."""
    chosen: Namespace = NUMBERS
    for x in arrays:
        if isinstance(x, np.ndarray):
            if x.dtype == object:
                return OBJECTS
        elif hasattr(x, "__array_namespace__"):
            chosen = Foreign(x.__array_namespace__())
    return chosen


class Numbers:
    """NumPy on float and complex arrays; functions that are not named here are NumPy's."""

    sin = staticmethod(np.sin)
    cos = staticmethod(np.cos)
    sqrt = staticmethod(np.sqrt)
    stack = staticmethod(np.stack)
    concatenate = staticmethod(np.concatenate)
    eye = staticmethod(np.eye)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(np, name)

    @staticmethod
    def array(values: Any) -> np.ndarray:
        return np.array(values)

    @staticmethod
    def zeros(shape: int | tuple[int, ...]) -> np.ndarray:
        return np.zeros(shape)

    @staticmethod
    def sign(x: Any) -> Any:
        """−1, 0 or 1 by the real part, so that complex step sees a constant."""
        return np.sign(np.real(x))

    @staticmethod
    def solve(A: Array, b: Array) -> np.ndarray:
        """A⁻¹ b for a symmetric A; one singular to rounding is refused, NaN and infinity pass."""
        if A.size and np.all(np.isfinite(A)) and np.linalg.cond(A) > 0.1 / np.finfo(float).eps:
            raise SingularMatrix(f"a {A.shape[0]} x {A.shape[1]} matrix is singular to rounding")
        return np.linalg.solve(A, b)


class Objects:
    """The same on object arrays, one scalar at a time; a function is asked for by its name."""

    stack = staticmethod(np.stack)
    concatenate = staticmethod(np.concatenate)

    @staticmethod
    def array(values: Any) -> np.ndarray:
        return np.array(values, dtype=object)

    @staticmethod
    def zeros(shape: int | tuple[int, ...]) -> np.ndarray:
        return np.zeros(shape, dtype=object)

    @staticmethod
    def eye(n: int) -> np.ndarray:
        return np.array([[int(i == j) for j in range(n)] for i in range(n)], dtype=object)

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(elementwise, name)

    @staticmethod
    def solve(A: Array, b: Array) -> np.ndarray:
        """A⁻¹ b for a symmetric A = L D Lᵀ whose leading minors do not vanish; no pivoting."""
        return np.array(ldl(A).solve(b), dtype=object)


class Foreign:
    """Another library's arrays, seen through its array namespace."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.array = library.asarray

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Foreign, (self._library,)

    def solve(self, A: Array, b: Array) -> Array:
        return self._library.linalg.solve(A, b)


def elementwise(name: str, x: Any) -> Any:
    """A function of one scalar, known by its name, of every entry of an array of objects."""
    if isinstance(x, np.ndarray):
        flat = [_scalar(name, y) for y in x.ravel()]
        result = np.empty(len(flat), dtype=object)
        result[:] = flat
        return result.reshape(x.shape)
    return _scalar(name, x)


def _scalar(name: str, x: Any) -> Any:
    """A function of one scalar: a number's, the scalar's own method, or its home package's."""
    if isinstance(x, int | float | np.floating | np.integer):
        return (_real_sign if name == "sign" else getattr(math, name))(x)
    if isinstance(x, complex | np.complexfloating):
        return _real_sign(x.real) if name == "sign" else getattr(cmath, name)(x)
    own = getattr(x, name, None)
    if callable(own):
        return own()
    home = sys.modules[type(x).__module__.partition(".")[0]]
    return getattr(home, name)(x)


def _real_sign(x: Any) -> float:
    return math.copysign(1.0, x) if x != 0 else 0.0


NUMBERS = Numbers()
OBJECTS = Objects()


def cross(x: Array, y: Array) -> Array:
    """x × y, (3,); batch axes first."""
    (a, b, c), (d, e, f) = ((u[0], u[1], u[2]) if u.ndim == 1 else
                            (u[..., 0], u[..., 1], u[..., 2]) for u in (x, y))
    return namespace(x, y).stack([b * f - c * e, c * d - a * f, a * e - b * d], axis=-1)


class SymmetricFactor(NamedTuple):
    """A = L D Lᵀ, L unit triangular: its columns below the ones, in the order of elimination."""

    L: dict[int, dict[int, Any]]   # L[k][i] = L_ik
    D: dict[int, Any]
    inverse: dict[int, Any]        # 1 / D_k

    def forward(self, b: Array) -> list[Any]:
        """The entries, or the rows, of L⁻¹ b.

        Sums come before b, so that right sides which differ in some entries share them.
        """
        y, known = list(b), dict[int, Any]()
        for k, column in self.L.items():
            y[k] = y[k] - known[k] if k in known else y[k]
            for i, L_ik in column.items():
                known[i] = known[i] + L_ik * y[k] if i in known else L_ik * y[k]
        return y

    def solve(self, b: Array) -> list[Any]:
        """The entries, or the rows, of A⁻¹ b."""
        x = [y * self.inverse[k] for k, y in enumerate(self.forward(b))]
        for k, column in reversed(self.L.items()):
            for i, L_ik in column.items():
                x[k] = x[k] - L_ik * x[i]
        return x

    def inverse_entries(self) -> dict[tuple[int, ...], Any]:
        """The entries of P = A⁻¹ that are not zero by structure.

            P_kj = δ_kj / D_k − Σ_i L_ik P_ij      for j eliminated with or after k

        which is Lᵀ P = D⁻¹ L⁻¹, whose right side vanishes there but for 1/D: a third of the
        operations of n solutions.
        """
        P: dict[tuple[int, ...], Any] = {}
        for k, column in reversed(self.L.items()):
            for j in [j for j in self.L if (j, j) in P]:
                terms = [L_ik * P[i, j] for i, L_ik in column.items() if (i, j) in P]
                if terms:
                    P[k, j] = P[j, k] = -sum(terms[1:], terms[0])
            P[k, k] = self.inverse[k]
            for i, L_ik in column.items():
                P[k, k] = P[k, k] - L_ik * P[k, i]
        return P


def ldl(A: Array, pattern: Mapping[int, Sequence[int]] | None = None) -> SymmetricFactor:
    """A = L D Lᵀ of a symmetric A, of which the lower triangle is read; no pivoting.

        D_k = A_kk      L_ik = A_ik / D_k      A_ij ← A_ij − L_ik A_kj

    The keys of `pattern` are in the order of elimination; pattern[k] holds what is eliminated after
    k and coupled with it, nearest first: what couples two with one couples them with each other.
    Without a pattern all are coupled, and eliminated from the first to the last.
    """
    n = len(A)
    after = {k: range(k + 1, n) for k in range(n)} if pattern is None else pattern
    rest = {k: {i: A[max(k, i), min(k, i)] for i in (k, *after[k])} for k in after}
    L: dict[int, dict[int, Any]] = {}
    inverse: dict[int, Any] = {}
    for k, row in rest.items():
        inverse[k] = 1 / row[k]
        L[k] = {i: row[i] * inverse[k] for i in after[k]}
        for i in after[k]:
            for j in (i, *after[i]):
                rest[i][j] = rest[i][j] - L[k][i] * row[j]
    return SymmetricFactor(L, {k: row[k] for k, row in rest.items()}, inverse)


def numeric(x: object) -> bool:
    """Whether x holds plain real numbers, so that it can be checked and compared."""
    a = np.asarray(x)
    if a.dtype.kind in "iuf":
        return True
    return a.dtype == object and all(isinstance(y, int | float | np.number) for y in a.ravel())


def symbolic(x: object) -> bool:
    """Whether x holds SymPy's expressions, which stay exact and are compared with nothing."""
    if isinstance(x, np.ndarray):
        return x.dtype == object and any(hasattr(y, "free_symbols") for y in x.flat)
    return hasattr(x, "free_symbols")


def exact_or_float(x: object) -> np.ndarray:
    """x as float64 where it is numbers, as it is where it holds symbols or recorded scalars."""
    a = np.asarray(x)
    return a.astype(float) if numeric(a) else a.astype(object) if a.dtype.kind != "c" else a


NO_ARRAY = (TypeError, ValueError, OverflowError, RuntimeError)
"""What comes of things that are no array of numbers: the last of tensors that need a gradient."""


def checked_array(x: object, shape: tuple[int, ...], what: str, batches: str = "") -> Array:
    """x as an array of this shape, or an `ArgumentError` that says what it has to be.

    Numbers of any kind, symbols and recorded scalars stay what they are. `what` names the argument:
    "inverse_dynamics of panda: q"; `batches` names what takes batches.
    """
    try:
        array = _generic(x)
    except NO_ARRAY as error:
        raise _no_numbers(what, "numbers", str(shape), x, error) from error
    if array.shape == shape:
        return array
    hint = f"; batches go through {batches}" if batches and ends_with(array, shape) else ""
    raise ArgumentError(f"{what} must have the shape {shape}, not {array.shape}{hint}")


def real_array(x: Any, shape: tuple[int, ...], what: str, dtype: Any = float) -> Floats:
    """x as real numbers of this shape, batch axes first, or an error as of `checked_array`."""
    rest = ", ".join(map(str, shape))
    expected = f"{shape} or (..., {rest})" if shape else "any shape"
    try:
        array = _real(x, dtype)
    except NO_ARRAY as error:
        raise _no_numbers(what, "real numbers", expected, x, error) from error
    if ends_with(array, shape):
        return array
    raise ArgumentError(f"{what} must have the shape {expected}, not {array.shape}")


def ends_with(array: Array, shape: tuple[int, ...]) -> bool:
    """Whether an array has this shape, perhaps with batch axes before it."""
    return array.ndim >= len(shape) and array.shape[array.ndim - len(shape):] == shape


def _no_numbers(what: str, kind: str, shape: str, x: Any, error: Exception) -> ArgumentError:
    masked = "a masked array" if isinstance(x, np.ma.MaskedArray) else ""
    given = masked or (f"an array of {x.dtype}" if isinstance(x, np.ndarray) else f"{x!r:.200}")
    reason = f" ({error})" if isinstance(error, RuntimeError | OverflowError) else ""
    return ArgumentError(f"{what} must be {kind} of shape {shape}, not {given}{reason}")


def refuse_masks(x: Any) -> None:
    """An error for a masked array, of which NumPy would read what the mask hides."""
    if isinstance(x, np.ndarray) and hasattr(x, "mask"):       # np.ma is imported on first use
        raise RuntimeError("masks are not read; x.filled(value) has no mask")


def _generic(x: Any) -> Array:
    """An array of anything that can be computed with."""
    refuse_masks(x)
    if not isinstance(x, np.ndarray) and hasattr(x, "__array_namespace__"):
        foreign: Array = x
        return foreign
    array = exact_or_float(x)
    if np.asarray(x).dtype.kind == "b":         # as kernels take them
        return array.astype(float)
    strange = array.dtype == object and not all(hasattr(y, "__sub__") for y in array.flat)
    if array.dtype.kind in "US" or strange:
        raise TypeError("neither numbers nor symbols")
    return array


def _real(x: Any, dtype: Any) -> Floats:
    """An array of real numbers."""
    refuse_masks(x)
    array = np.asarray(x)
    if array.dtype.kind == "O":                 # NumPy itself would read None as NaN
        return np.array([float(y) for y in array.flat], dtype).reshape(array.shape)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{array.dtype} is no kind of real number")
    return array.astype(dtype, copy=False)
