"""Kernels on Dask arrays: nothing is computed until it is asked for, and then block by block.

A task is a call of the kernel on one block, by one thread: the workers are the parallelism.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from operator import itemgetter
from typing import Any, Protocol, final

import numpy as np

from closedform.arrays import ends_with
from closedform.errors import ArgumentError
from closedform.program.program import Slot


class BlockFunction(Protocol):
    """What a kernel's slow path knows of it."""

    result: Any                     # the named tuple of several outputs

    @property
    def title(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def inputs(self) -> Sequence[Slot]: ...
    @property
    def outputs(self) -> Sequence[Slot]: ...


def any_dask(given: Sequence[Any]) -> bool:
    """Whether one of these is a Dask array; Dask is not imported to find out."""
    module = sys.modules.get("dask.array")
    return module is not None and any(isinstance(x, module.Array) for x in given)


@final
@dataclass(frozen=True)
class OnBlock:
    """A kernel on the arrays of one block; its own threads would multiply with the workers'."""

    kernel: Callable[..., Any]
    threads: int

    def __call__(self, *blocks: Any) -> Any:
        return self.kernel(*map(_only, blocks), threads=self.threads)


def _only(block: Any) -> Any:
    """The block itself; along the axes of a state Dask gives lists, of one."""
    while isinstance(block, list):
        block, = block
    return block


def lazy(kernel: Callable[..., Any], about: BlockFunction, given: Sequence[Any], out: Any,
         threads: int | None) -> Any:
    """The kernel's outputs as Dask arrays, in the blocks of the inputs' batch axes.

    All inputs float32 give float32, all else float64, as of NumPy's arrays. Axes of a state that
    are cut into blocks are joined first.
    """
    import dask.array as da

    if out is not None:
        raise ArgumentError(f"{about.title}: out is for NumPy arrays; a Dask array is computed "
                            "later: result.store(array), result.to_zarr(path)")
    arrays = [_taken(da.asarray(x), slot, about.title)
              for slot, x in zip(about.inputs, given, strict=True)]
    single = all(x.dtype == np.float32 for x in arrays)
    dtype = np.dtype(np.float32 if single else np.float64)
    several = about.result is not None
    loops = range(max(x.ndim - len(s.shape) for x, s in zip(arrays, about.inputs, strict=True)))
    axes = count(len(loops))
    pairs = [part for x, slot in zip(arrays, about.inputs, strict=True)
             for part in (x, _axes(loops, x.ndim - len(slot.shape), slot, axes))]
    sizes = [{next(axes): n for n in slot.shape} for slot in about.outputs]
    own = {} if several else sizes[0]
    try:
        made = da.blockwise(OnBlock(kernel, threads or 1), (*loops, *own), *pairs, new_axes=own,
                            dtype=dtype, meta=np.empty((0,) * (len(loops) + len(own)), dtype))
    except ValueError as error:
        shapes = ", ".join(f"{slot.name} {x.shape}"
                           for slot, x in zip(about.inputs, arrays, strict=True))
        raise ArgumentError(f"{about.title}: the batch axes do not fit together: {shapes} "
                            f"({error})") from error
    if not several:
        return made
    return about.result(*(
        da.blockwise(itemgetter(k), (*loops, *size), made, tuple(loops), new_axes=size, dtype=dtype,
                     meta=np.empty((0,) * (len(loops) + len(size)), dtype))
        for k, size in enumerate(sizes)))


def _axes(loops: range, batch: int, slot: Slot, axes: Iterator[int]) -> tuple[int, ...]:
    """Numbers of an input's axes: those of the batch, counted from the last, and its own.

    `apply_gufunc` does the same and copies every block where a state's axes end.
    """
    return (*loops[len(loops) - batch:], *(next(axes) for _ in slot.shape))


def _taken(x: Any, slot: Slot, title: str) -> Any:
    """An input, each state of which is within one block."""
    if x.dtype.kind not in "biuf":
        raise ArgumentError(f"{title}: {slot.name} must be real numbers, not {x.dtype}")
    if not ends_with(x, slot.shape):
        rest = ", ".join(map(str, slot.shape))
        raise ArgumentError(f"{title}: {slot.name} must have the shape {slot.shape} or "
                            f"(..., {rest}), not {x.shape}")
    own = {axis: -1 for axis in range(x.ndim - len(slot.shape), x.ndim) if x.numblocks[axis] > 1}
    return x.rechunk(own) if own else x
