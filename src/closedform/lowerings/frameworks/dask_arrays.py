"""Kernels on Dask arrays: nothing is computed until it is asked for, and then block by block.

A task is a call of the kernel on one block, by one thread: the workers are the parallelism.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from types import FrameType
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


def asked_for_types(given: Sequence[Any]) -> bool:
    """Whether Dask tries a kernel on arrays of one number, to learn the types of its results.

    `apply_gufunc` does where it is not told `output_dtypes`, and with it `xarray.apply_ufunc`.
    """
    if "dask.array" not in sys.modules or not all(
            isinstance(x, np.ndarray) and x.size == 1 for x in given):
        return False
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "apply_infer_dtype":
        frame = frame.f_back
    return frame is not None


@final
@dataclass(frozen=True)
class OnBlock:
    """A kernel on the arrays of one block; its own threads would multiply with the workers'."""

    kernel: Callable[..., Any]
    threads: int

    def __call__(self, *blocks: Any) -> Any:
        return self.kernel(*map(_only, blocks), threads=self.threads)


@final
@dataclass(frozen=True)
class OutputOf:
    """One of several outputs of a block."""

    number: int

    def __call__(self, outputs: Any) -> Any:
        return _only(outputs)[self.number]


def _only(block: Any) -> Any:
    """The block itself; along axes that end Dask gives lists, of one."""
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
    inputs, function = list(zip(arrays, about.inputs, strict=True)), OnBlock(kernel, threads or 1)
    widest = max(about.inputs, key=lambda slot: len(slot.shape))
    direct = about.result is None and len(about.outputs[0].shape) >= len(widest.shape)
    try:
        made = _by_blocks(function, inputs, about.outputs[0] if direct else widest, dtype)
    except ValueError as error:
        shapes = ", ".join(f"{slot.name} {x.shape}"
                           for slot, x in zip(about.inputs, arrays, strict=True))
        raise ArgumentError(f"{about.title}: the batch axes do not fit together: {shapes} "
                            f"({error})") from error
    if direct:
        return made
    if about.result is None:
        return _by_blocks(_only, [(made, widest)], about.outputs[0], dtype)
    return about.result(*(_by_blocks(OutputOf(k), [(made, widest)], slot, dtype)
                          for k, slot in enumerate(about.outputs)))


def _by_blocks(function: Callable[..., Any], inputs: Sequence[tuple[Any, Slot]], output: Slot,
               dtype: Any) -> Any:
    """A function of blocks, which are cut along the batch axes alone.

    Where an axis of an input ends, Dask computes that input by a task of its own. So axes of states
    go on as axes of the output, of another length: then reading, arithmetic and kernels in a row
    are one task a block, and not five. `apply_gufunc` lets them end, and copies every block.
    """
    import dask.array as da

    loops = range(max(x.ndim - len(slot.shape) for x, slot in inputs))
    axes = count(len(loops))
    own = {next(axes): n for n in output.shape}
    stands: dict[int, int] = {}             # lengths of the inputs' axes in the place of these
    pairs = list[Any]()
    for x, slot in inputs:
        places = list[int]()
        for n in slot.shape:
            free = [k for k in own if k not in places and stands.get(k, n) == n]
            places.append(free[0] if free else next(axes))
            if free:
                stands[free[0]] = n
        batch = x.ndim - len(slot.shape)
        pairs += [x, (*loops[len(loops) - batch:], *places)]
    ndim = len(loops) + len(own)
    return da.blockwise(function, (*loops, *own), *pairs, dtype=dtype,
                        new_axes={k: n for k, n in own.items() if k not in stands},
                        adjust_chunks={k: own[k] for k in stands},
                        meta=np.empty((0,) * ndim, dtype))


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
