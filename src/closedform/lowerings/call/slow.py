"""The slow path of a call: anything that NumPy can read, in any batch shape, into native code.

It serves lists, other dtypes, keywords, batches with broadcasting, strided memory and `out=`, and
is where errors are raised. All inputs float32 give float32; all else is computed in float64.
"""

from __future__ import annotations

import hashlib
import math
import pickle
import zlib
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from closedform.arrays import Floats, real_array
from closedform.errors import ArgumentError, UnknownName, suggestion
from closedform.lowerings.call.code import Code, unwatched
from closedform.lowerings.call.signature import Subject, gufunc_signature
from closedform.lowerings.call.threads import in_threads, thread_count
from closedform.lowerings.cuda.arrays import LOOKS, is_cuda
from closedform.lowerings.cuda.kernel import CudaKernel
from closedform.lowerings.frameworks.dask_arrays import any_dask, asked_for_types, lazy
from closedform.lowerings.native.ir import KIND_OF, Kind
from closedform.program.program import Slot

WIDEST = 16
"""States that a register may hold."""
RowsInMemory = tuple[int, int]
"""An address, and the bytes from one state to the next."""
Recipe = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function that makes or finds a kernel, and its arguments: what is pickled in its place."""
RECALLED = 64
"""Kernels that a process remembers by the recipes that came to it."""


@lru_cache(maxsize=RECALLED)
def recalled(recipe: bytes) -> Any:
    """The kernel of a recipe: made by the first task that brings it, found by those after it."""
    make, arguments = pickle.loads(zlib.decompress(recipe))
    return make(*arguments)


def packed(recipe: Recipe) -> bytes:
    """A recipe as bytes, for `recalled`: a third of the pickled ones, in 0.2 ms."""
    return zlib.compress(pickle.dumps(recipe))


def path_of(recipe: bytes) -> SlowPath:
    """The slow path of a recipe's kernel."""
    path: SlowPath = recalled(recipe)._path
    return path


@cache
def result_type(name: str, fields: tuple[str, ...]) -> Any:
    """The named tuple of several outputs; it can be pickled although it is made at run time."""
    make: Any = namedtuple
    made = make(name, fields, module=__name__)
    made.__reduce__ = lambda self: (_result, (name, fields, tuple(self)))
    return made


def _result(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return result_type(name, fields)(*values)


class SlowPath:
    """Calls the native functions of a program with whatever the caller gives."""

    def __init__(self, code: Code, of: Subject) -> None:
        self.code, self.interface, self.of = code, code.interface, of
        fields = tuple(slot.name for slot in self.interface.outputs)
        self.result = (
            result_type(_camel_case(self.interface.name), fields) if len(fields) > 1 else None)
        self.gpu = CudaKernel(lambda: code.program, code.cache, self.title, self.result)
        self.variant: tuple[str, Callable[[], Any]] | None = None
        self.variant_at = len(self.interface.inputs)    # where the variant has its argument
        self.rows: tuple[str, Callable[[int], Any]] | None = None
        self.compile: Callable[..., Any] | None = None  # makes a kernel of a program
        self.recipe: Recipe | None = None
        self._pickled: bytes | None = None
        self.inputs, self.outputs = self.interface.inputs, self.interface.outputs

    @property
    def signature(self) -> str:
        """Its axes behind those of the batch, as of NumPy's generalised functions."""
        return gufunc_signature(self.interface)

    @property
    def identity(self) -> str:
        """A name that kernels share which compute the same from all arguments: in any process."""
        beside = [x and x[0] for x in (self.variant, self.rows)]
        key = self.code.key if self.recipe else "program"  # what travels whole has no key there
        parts = key, self.interface.digest, beside
        return f"{self.interface.name}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}"

    def __dask_tokenize__(self) -> str:
        return f"closedform {self.identity}"

    @property
    def pickled(self) -> bytes:
        """The recipe, made into bytes once: a graph of Dask has the kernel in every task."""
        if self._pickled is None:
            self._pickled = packed(self.made_by)
        return self._pickled

    @property
    def made_by(self) -> Recipe:
        """The recipe; of a program that has none, its compilation."""
        if self.recipe:
            return self.recipe
        assert self.compile is not None
        return self.compile, (self.code.program, self.code.cache, unwatched, self.of)

    def __reduce__(self) -> tuple[Any, ...]:
        return path_of, (self.pickled,)

    @property
    def title(self) -> str:
        """The function, and the robot that it is of, for messages."""
        return self.of.title(self.interface.name)

    def __call__(self, *args: Any, out: Any = None, threads: int | None = None,
                 **named: Any) -> Any:
        if args and not named and type(args[0]) in LOOKS:
            result = self.gpu.known(args, out)
            if result is not None:
                return result
        steps, given = self.meant(args, named)
        if steps:
            return self.other(steps)(*given, out=out, threads=threads)
        if any(map(is_cuda, given)):
            return self._on_gpu(given, out)
        if any_dask(given):
            return lazy(self, self, given, out, threads)
        single = bool(given) and all(getattr(x, "dtype", None) == np.float32 for x in given)
        dtype = np.dtype(np.float32 if single else np.float64)
        try:
            arrays = [real_array(x, slot.shape, f"{self.title}: {slot.name}", dtype)
                      for slot, x in zip(self.interface.inputs, given, strict=True)]
        except ArgumentError:
            if not asked_for_types(given):
                raise
            zeros = [np.zeros(slot.shape, dtype) for slot in self.outputs]
            return zeros[0] if self.result is None else self.result(*zeros)
        batch = self._batch_shape(arrays)
        results = self._outputs(out, batch, dtype)
        self._run(arrays, results, batch, threads)
        if out is None and batch == ():
            results = [x[()] if x.ndim == 0 else x for x in results]
        return results[0] if self.result is None else self.result(*results)

    def _on_gpu(self, given: Sequence[Any], out: Any) -> Any:
        for slot, x in zip(self.interface.inputs, given, strict=True):
            if not is_cuda(x):
                raise ArgumentError(f"{self.title}: {slot.name} must be on the GPU like the others")
        return self.gpu(given, out)

    def meant(self, args: Sequence[Any], named: Mapping[str, Any],
              ) -> tuple[tuple[str, ...], Sequence[Any]]:
        """Steps to the kernel that the arguments are for, none to this one; and they in its order.

        Frameworks trace through this: it looks at names and shapes alone, and makes no kernel.
        """
        count = None if self.rows is None else self._other_rows(self.rows[0], args, named)
        steps = () if count is None else (f"rows:{count}",)
        if self.variant is None:
            return steps, self.bound(args, named)
        name = self.variant[0]
        if len(args) == len(self.interface.inputs) + 1 and name not in named:
            args, named = args[:-1], {**named, name: args[-1]}
        given = self.bound(args, {key: x for key, x in named.items() if key != name})
        if named.get(name) is None:
            return steps, given
        at = self.variant_at
        return (*steps, f"with:{name}"), [*given[:at], named[name], *given[at:]]

    def other(self, steps: Sequence[str]) -> Any:
        """The kernel that these steps lead to."""
        (kind, _, what), rest = steps[0].partition(":"), steps[1:]
        if kind == "rows" and self.rows is not None:
            found = self.rows[1](int(what))
        elif self.variant is not None and self.variant[0] == what:
            found = self.variant[1]()
        else:
            raise UnknownName(f"{self.title}: no kernel {steps[0]!r} beside it")
        return found.other(*rest) if rest else found

    def _other_rows(self, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> int | None:
        """How many rows an input has that fits but for their number."""
        at, slot = next((k, x) for k, x in enumerate(self.interface.inputs) if x.name == name)
        x: Any = args[at] if len(args) > at else named.get(name)
        try:
            *_, rows, width = x.shape if hasattr(x, "shape") else np.shape(x)
        except ValueError:                      # no matrix, or a ragged one
            return None
        return None if rows in (0, slot.shape[0]) or width != slot.shape[1] else rows

    def bound(self, args: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
        """The arguments in the order of the inputs."""
        names = [slot.name for slot in self.interface.inputs]
        if not named and len(args) == len(names):
            return args
        expected = f"{self.title} takes {', '.join(names) or 'nothing'}"
        if len(args) > len(names):
            raise ArgumentError(f"{expected}: {len(args)} arguments are given")
        values = dict(zip(names, args, strict=False))
        for name, x in named.items():
            if name not in names:
                raise ArgumentError(f"{self.title}: no argument {name!r}; "
                                    f"{suggestion(name, names)}")
            if name in values:
                raise ArgumentError(f"{expected}: {name} is given twice")
            values[name] = x
        missing = [name for name in names if name not in values]
        if missing:
            raise ArgumentError(f"{expected}: {', '.join(missing)} is missing")
        return [values[name] for name in names]

    def _batch_shape(self, arrays: Sequence[Floats]) -> tuple[int, ...]:
        """The common leading shape."""
        inputs = self.interface.inputs
        leading = [x.shape[:x.ndim - len(slot.shape)]
                   for slot, x in zip(inputs, arrays, strict=True)]
        if len(set(leading)) == 1:
            return leading[0]
        try:
            return np.broadcast_shapes(*leading)
        except ValueError as error:
            shapes = ", ".join(f"{s.name} {x.shape}" for s, x in zip(inputs, arrays, strict=True))
            raise ArgumentError(f"{self.title}: the batch axes do not fit together: {shapes}"
                                ) from error

    def _outputs(self, out: Any, batch: tuple[int, ...], dtype: Any) -> list[Floats]:
        """New arrays, or those given."""
        slots = self.interface.outputs
        if out is None:
            return [np.empty(batch + slot.shape, dtype) for slot in slots]
        given = [out] if len(slots) == 1 and not isinstance(out, tuple) else out
        if not isinstance(given, tuple | list) or len(given) != len(slots):
            names = ", ".join(slot.name for slot in slots)
            raise ArgumentError(f"{self.title}: out must be an array for each of {names}, "
                                f"not {_described(out)}")
        for slot, x in zip(slots, given, strict=True):
            what = f"{self.title}: {'out' if len(slots) == 1 else f'out for {slot.name}'}"
            if not isinstance(x, np.ndarray):
                raise ArgumentError(f"{what} must be a NumPy array, not {_described(x)}")
            if x.shape != batch + slot.shape or x.dtype != dtype:
                raise ArgumentError(f"{what} must have the shape {batch + slot.shape} of {dtype}, "
                                    f"not {x.shape} of {x.dtype}")
            if not x.flags.writeable:
                raise ArgumentError(f"{what} must be writeable")
            if _overlaps_itself(x):
                raise ArgumentError(f"{what} must have memory for every entry, not the strides "
                                    f"{x.strides}, where some share theirs")
        for (one, x), (two, y) in combinations(zip(slots, given, strict=True), 2):
            if np.shares_memory(x, y):
                raise ArgumentError(f"{self.title}: out for {one.name} and {two.name} must not "
                                    "share memory")
        return list(given)

    def _run(self, arrays: Sequence[Floats], results: Sequence[Floats],
             batch: tuple[int, ...], threads: int | None) -> None:
        states = math.prod(batch)
        count = thread_count(states, self.interface.operations.instructions, threads)
        if self.interface.lanes:        # fewer states than lanes would be rounded as single ones
            count = min(count, max(states // WIDEST, 1))
        if states == 0:
            return
        kept = list(arrays)                     # memory that the addresses below point into
        read = [_rows(x, slot, batch, kept)
                for x, slot in zip(arrays, self.interface.inputs, strict=True)]
        written, copies = [], []
        for x, slot in zip(results, self.interface.outputs, strict=True):
            place = x
            if not _is_direct(x, slot, batch) or any(np.may_share_memory(x, y) for y in kept):
                place = np.empty(x.shape, x.dtype)
                copies.append((x, place))
            written.append(_rows(place, slot, batch, kept))
        kind = KIND_OF[results[0].dtype]
        if batch == ():
            one = self.code.native("kernel", kind)
            one.function(*(address for address, _ in (*read, *written)))
        else:
            self._run_batch(kind, (*read, *written), states, count)
        for x, place in copies:
            x[...] = place

    def _run_batch(self, kind: Kind, rows: Sequence[RowsInMemory], states: int, count: int) -> None:
        function = self.code.native("batch", kind).function

        def part(start: int, stop: int) -> None:
            function(stop - start, *(x for a, stride in rows for x in (a + start * stride, stride)))

        if count == 1:
            part(0, states)
        else:
            in_threads(part, states, count)


def _overlaps_itself(x: Floats) -> bool:
    """Whether entries lie upon each other: an axis is shorter than what is within it."""
    if x.flags.c_contiguous or x.size == 0:
        return False
    within = x.itemsize
    for stride, length in sorted((abs(s), n) for s, n in zip(x.strides, x.shape, strict=True)):
        if length > 1:
            if stride < within:
                return True
            within += stride * (length - 1)
    return False


def _is_direct(x: Floats, slot: Slot, batch: tuple[int, ...]) -> bool:
    """Whether native code can use the memory as it is: aligned, contiguous states, one stride."""
    if not x.flags.aligned:
        return False
    if x.flags.c_contiguous:
        return x.ndim == len(slot.shape) or x.shape[:x.ndim - len(slot.shape)] == batch
    return len(batch) == 1 and x.ndim == 1 + len(slot.shape) and len(x) == batch[0] and bool(
        x[0].flags.c_contiguous)


def _rows(x: Floats, slot: Slot, batch: tuple[int, ...], kept: list[Floats]) -> RowsInMemory:
    """Where the states of an array are; a copy of it is kept if its memory is no use."""
    leading = x.ndim - len(slot.shape)
    if not _is_direct(x, slot, batch):
        whole = x if leading == 0 else np.broadcast_to(x, batch + slot.shape)
        x = np.ascontiguousarray(whole)
        kept.append(x)
    if leading == 0:
        stride = 0
    elif x.flags.c_contiguous:
        stride = x.itemsize * math.prod(slot.shape)
    else:
        stride = x.strides[0]
    return x.__array_interface__["data"][0], stride


def _described(x: object) -> str:
    return f"{len(x)} items" if isinstance(x, tuple | list) else f"a {type(x).__name__}"


def _camel_case(name: str) -> str:
    words = "".join(c if c.isalnum() else " " for c in name).split()
    text = "".join(word[0].upper() + word[1:] for word in words)
    return text if text.isidentifier() else "Result"
