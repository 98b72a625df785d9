"""Kernels as functions of JAX: one primitive, whose derivatives of any order are kernels again.

    closedform_kernel(operands; call)       leading axes, as many for all, 1 where shared
    JVP          the value, and the tangent                     linear in the tangents
    transpose    the cotangent of a tangent, and back           summed over what is shared
    vmap         one more leading axis: one call for all
    vmap over tangents alone, as of jacfwd and jacrev           the whole Jacobian, and one product

Lowered to machine code through XLA's foreign functions (`xla/`): no compiler, no copies. On a GPU
these launch the kernel on XLA's stream. Arrays that are spread over devices along leading axes stay
where they are.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from closedform.errors import ArgumentError, MissingDependency
from closedform.lowerings.frameworks.calls import Operand, OperatorCall
from closedform.lowerings.frameworks.differentiable import Arguments
from closedform.lowerings.frameworks.xla.loaded import GpuHandler, HandlerKind
from closedform.lowerings.native.cpu import MAKING
from closedform.lowerings.native.ir import Kind
from closedform.program.program import Slot, size

try:
    import jax
except ImportError:
    raise MissingDependency("JAX is not installed; pip install 'closedform[jax]'") from None
import jax.ffi
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from closedform.lowerings.frameworks.jax_axes import full_axes, joined, lead_of, lowering

KINDS: Mapping[Any, Kind] = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}

kernel_p = Primitive("closedform_kernel")
kernel_p.multiple_results = True


def jax_operator(kernel: Operand, arguments: Arguments) -> Callable[..., Any]:
    """The kernel as a function of JAX arrays, with any leading axes."""
    call = OperatorCall.of(kernel)

    def function(*args: Any, **named: Any) -> Any:
        steps, given = arguments.meant(args, named)
        if steps:
            return arguments.other(steps).jax()(*given)
        arrays = _arrays(given, call.inputs, arguments.title)
        made = kernel_p.bind(*arrays, call=call)
        return made[0] if arguments.result is None else arguments.result(*made)

    function.__name__ = function.__qualname__ = call.name
    inputs = ", ".join(slot.name for slot in call.inputs)
    function.__doc__ = f"{call.name}({inputs}) of JAX arrays with any leading axes."
    return function


# ------------------------------------------------------------------ arguments
def _arrays(given: Sequence[Any], slots: Sequence[Slot], title: str) -> list[Any]:
    """Arrays of one dtype and one number of leading axes."""
    arrays = [_array(x, slot, title) for x, slot in zip(given, slots, strict=True)]
    dtype = jnp.result_type(float, *arrays)
    leads = [lead_of(x, slot) for x, slot in zip(arrays, slots, strict=True)]
    try:
        rank = len(jnp.broadcast_shapes(*leads)) if leads else 0
    except ValueError as error:
        shapes = ", ".join(f"{s.name} {x.shape}" for s, x in zip(slots, arrays, strict=True))
        raise ArgumentError(f"{title}: the batch axes do not fit together: {shapes}") from error
    return _alike([jnp.asarray(x, dtype).reshape((1,) * (rank - len(lead)) + x.shape)
                   for x, lead in zip(arrays, leads, strict=True)])


def _array(x: Any, slot: Slot, title: str) -> Any:
    rest = ", ".join(map(str, slot.shape))
    expected = f"{slot.shape} or (..., {rest})" if slot.shape else "any shape"
    what = f"{title}: {slot.name} must"
    try:
        array = jnp.asarray(x)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what} be real numbers of shape {expected}, not {x!r:.200}"
                            ) from error
    if array.dtype not in KINDS and array.dtype.kind not in "biu":
        raise ArgumentError(f"{what} be of float32 or float64, not of {array.dtype}")
    if array.ndim < len(slot.shape) or array.shape[array.ndim - len(slot.shape):] != slot.shape:
        raise ArgumentError(f"{what} have the shape {expected}, not {array.shape}")
    return array


def _alike(arrays: list[Any]) -> list[Any]:
    """Inside of `shard_map`: what one array differs in from device to device, all do."""
    axes = [_varying(x) for x in arrays]
    union = frozenset[Any]().union(*axes)
    return [_cast(x, tuple(union - own)) if own != union else x
            for x, own in zip(arrays, axes, strict=True)]


def _varying(x: Any) -> frozenset[Any]:
    """The mesh's axes along which it differs."""
    kind = jax.typeof(x)
    found: frozenset[Any] = getattr(getattr(kind, "mat", None), "varying",
                                    getattr(kind, "vma", frozenset()))
    return found


def _cast(x: Any, axes: tuple[Any, ...]) -> Any:
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(x, axes, to="varying")
    return jax.lax.pvary(x, axes)           # before 0.9


# ------------------------------------------------------------------ running
def _abstract(*operands: Any, call: OperatorCall) -> list[Any]:
    full = full_axes(operands, call.inputs)
    if not operands:
        return [jax.core.ShapedArray(y.shape, jnp.result_type(float)) for y in call.outputs]
    return [operands[0].update(shape=(*full, *y.shape), weak_type=False) for y in call.outputs]


def _run(*operands: Any, call: OperatorCall) -> list[Any]:
    """On a CPU."""
    kind = _kind(operands)
    arrays, lead = joined(operands, call.inputs, 2)
    made = _called(_target(call.realised(), kind), arrays, lead, call)
    return _with_axes(made, full_axes(operands, call.inputs), call)


def _run_on_gpu(*operands: Any, call: OperatorCall) -> list[Any]:
    kind = _kind(operands)
    arrays, lead = joined(operands, call.inputs, 1)
    shared = tuple(not lead or x.shape[0] != lead[0] for x in arrays)
    name, handler = _gpu_target(call.realised(), kind, shared)
    waiting = ((handler.slots, handler.together(*lead or [1])),) if handler.slots else ()
    made = _called(name, arrays, lead, call, waiting)
    return _with_axes(made, full_axes(operands, call.inputs), call)


def _kind(operands: Sequence[Any]) -> Kind:
    return KINDS[np.dtype(operands[0].dtype if operands else jnp.result_type(float))]


def _called(target: str, operands: Sequence[Any], lead: Sequence[int], call: OperatorCall,
            further: Sequence[tuple[int, ...]] = ()) -> list[Any]:
    dtype = operands[0].dtype if operands else jnp.result_type(float)
    shapes = [*((*lead, *y.shape) for y in call.outputs), *further]
    results = [jax.ShapeDtypeStruct(shape, dtype) for shape in shapes]
    made: list[Any] = jax.ffi.ffi_call(target, results)(*operands)
    return made[:len(call.outputs)]


def _with_axes(made: Sequence[Any], full: tuple[int, ...], call: OperatorCall) -> list[Any]:
    return [x.reshape(*full, *y.shape) for x, y in zip(made, call.outputs, strict=True)]


def _elsewhere(*operands: Any, call: OperatorCall) -> list[Any]:
    raise ArgumentError(f"{call.name}: kernels run on a CPU or a CUDA device, and its arrays are "
                        "elsewhere; jax.default_device(jax.devices('cpu')[0]) keeps them there")


def _bound(*operands: Any, call: OperatorCall) -> list[Any]:
    made: list[Any] = kernel_p.bind(*operands, call=call)
    return made


with suppress(ImportError):                 # without it arrays that are spread are gathered
    from jax._src.dispatch import prim_requires_devices_during_lowering as told_of_devices

    told_of_devices.add(kernel_p)
kernel_p.def_abstract_eval(_abstract)
kernel_p.def_impl(jax.jit(_bound, static_argnames="call"))
mlir.register_lowering(kernel_p, mlir.lower_fun(_elsewhere, multiple_results=True))
mlir.register_lowering(kernel_p, lowering(_run), platform="cpu")
mlir.register_lowering(kernel_p, lowering(_run_on_gpu), platform="cuda")

_TARGETS: dict[str, Any] = {}
"""What XLA calls, and what keeps it alive."""


def _target(kernel: Operand, kind: Kind) -> str:
    """The name of a target, by the program's digest: a saved module finds its code, or none."""
    name = f"closedform_{kernel.interface.digest[:32]}_{kind}"
    with MAKING:
        if name not in _TARGETS:
            native = kernel.compiled("xla", kind)
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(native.function), platform="cpu")
            _keep(name, native, kernel)
    return name


def _gpu_target(kernel: Operand, kind: Kind, shared: tuple[bool, ...]) -> tuple[str, GpuHandler]:
    """The same for CUDA: on all devices of this process, for inputs of which some are shared."""
    marks = "".join("s" if alone else "r" for alone in shared)
    name = f"closedform_{kernel.interface.digest[:32]}_{kind}_{marks}"
    with MAKING:
        if name not in _TARGETS:
            handler = HandlerKind(kernel.interface, kind, shared).on_devices(
                kernel.gpu, _cuda_devices(kernel.interface.name))
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(handler.function), platform="CUDA")
            _keep(name, handler, kernel)
    return name, _TARGETS[name][0]


def _cuda_devices(name: str) -> list[int]:
    """Their numbers."""
    try:
        return [device.local_hardware_id for device in jax.local_devices(backend="cuda")]
    except RuntimeError as error:
        raise MissingDependency(f"{name}: JAX finds no CUDA device to make code for; "
                                "pip install 'jax[cuda13]' on a machine with one") from error


def _keep(name: str, *what: Any) -> None:
    _TARGETS[name] = what
    # beyond Python's own end: threads of XLA may still be at work then
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(what))


# ------------------------------------------------------------------ derivatives
def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, call: OperatorCall) -> tuple[Any, Any]:
    values = kernel_p.bind(*primals, call=call)
    moving = [k for k, t in enumerate(tangents) if type(t) is not ad.Zero]
    if moving[0] >= call.own:               # linear in all that moves
        further = [ad.instantiate_zeros(t) for t in tangents[call.own:]]
        return values, kernel_p.bind(*primals[:call.own], *further, call=call)
    rates = kernel_p.bind(*primals, *(tangents[k] for k in moving), call=call.tangent(moving))
    return values, rates


def _transpose(bars: Sequence[Any], *operands: Any, call: OperatorCall) -> list[Any]:
    unknown = [k for k, x in enumerate(operands) if ad.is_undefined_primal(x)]
    if min(unknown) < call.own:
        names = ", ".join(call.inputs[k].name for k in unknown)
        raise ArgumentError(f"{call.name} is not linear in {names}")
    if call.how == "tangent":
        back = call.cotangent(call.moving[k - call.own].name for k in unknown)
        given = [ad.instantiate_zeros(bar) for bar in bars]
    else:
        some = [k for k, bar in enumerate(bars) if type(bar) is not ad.Zero]
        back = call.transposed_cotangent(call.moving[k].name for k in some)
        given = [bars[k] for k in some]
    made = kernel_p.bind(*operands[:call.own], *given, call=back)
    if call.how == "cotangent":             # it gives all ȳ, also those that are known
        made = [made[k - call.own] for k in unknown]
    result: list[Any] = [None] * len(operands)
    for k, x in zip(unknown, made, strict=True):
        lead = lead_of(operands[k].aval, call.inputs[k])
        shared = tuple(i for i, n in enumerate(lead) if n == 1 and x.shape[i] != 1)
        result[k] = x.sum(shared, keepdims=True) if shared else x
    return result


# ------------------------------------------------------------------ batches
def _batch(operands: Sequence[Any], dims: Sequence[Any], *, call: OperatorCall) -> tuple[Any, Any]:
    count = next(x.shape[d] for x, d in zip(operands, dims, strict=True) if d is not None)
    moved = [x[None] if d is None else jnp.moveaxis(x, d, 0)
             for x, d in zip(operands, dims, strict=True)]
    if all(d is None for d in dims[:call.own]) and isinstance(count, int):
        whole = call.jacobian(count)
        if whole is not None:
            vectors = [jnp.broadcast_to(t, (count, *t.shape[1:])) for t in moved[call.own:]]
            made = _products(call, OperatorCall.of(whole), operands[:call.own], vectors)
            return made, [x.ndim - 1 for x in made]
    made = kernel_p.bind(*moved, call=call)
    return made, [0] * len(made)


def _products(call: OperatorCall, whole: OperatorCall, own: Sequence[Any],
              vectors: Sequence[Any]) -> list[Any]:
    """∂y/∂x ẋ for many ẋ, or (∂y/∂x)ᵀ ȳ for many ȳ; these are first in vectors, last in results."""
    full, further = full_axes(own, call.inputs[:call.own]), call.inputs[call.own:]
    known = dict(zip((slot.name for slot in call.inputs), own, strict=False))
    matrices = kernel_p.bind(*(known[slot.name] for slot in whole.inputs), call=whole)
    pairs = [(y, x) for y in call.kernel.interface.outputs for x in call.moving]
    partials = {}
    for (y, x), dy_dx in zip(pairs, matrices, strict=True):
        lead = lead_of(dy_dx, Slot("", y.shape + x.shape)) or (1,) * len(full)
        partials[y.name, x.name] = dy_dx.reshape(*lead, size(y.shape), size(x.shape))
    flat = [t.reshape(*lead_of(t, slot), size(slot.shape))
            for t, slot in zip(vectors, further, strict=True)]
    made = []
    for out in call.outputs:
        parts = ([partials[out.name, x.name] for x in further] if call.how == "tangent"
                 else [jnp.swapaxes(partials[y.name, out.name], -1, -2) for y in further])
        product, count = _product(parts, flat), len(flat[0])
        made.append(jnp.broadcast_to(product, (*full, size(out.shape), count)
                                     ).reshape(*full, *out.shape, count))
    return made


def _product(matrices: Sequence[Any], vectors: Sequence[Any]) -> Any:
    """Σ J t; if all states have the same vectors, one product of two matrices."""
    if all(t.size == t.shape[0] * t.shape[-1] for t in vectors):
        t = jnp.concatenate([t.reshape(t.shape[0], t.shape[-1]) for t in vectors], axis=-1)
        return jnp.matmul(jnp.concatenate(matrices, axis=-1), t.T)
    return sum(jnp.matmul(matrix, jnp.moveaxis(t, 0, -1))
               for matrix, t in zip(matrices, vectors, strict=True))


ad.primitive_jvps[kernel_p] = _jvp
ad.primitive_transposes[kernel_p] = _transpose
batching.primitive_batchers[kernel_p] = _batch
