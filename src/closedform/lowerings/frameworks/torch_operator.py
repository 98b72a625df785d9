"""Kernels as PyTorch operators: every derivative is a kernel again, called in the same way.

A call without gradients goes straight to the kernel, on the memory of the tensors: on a CPU, or on
a CUDA device by the GPU's kernels and on the current stream. Else it has two
faces, because neither does all: an `autograd.Function`, for eager mode and torch.func, where Dynamo
refuses those that have a jvp; and the custom operator `closedform::call`, which torch.compile and
torch.export see and torch.func cannot differentiate.
"""

# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from closedform.errors import ArgumentError, MissingDependency
from closedform.lowerings.frameworks.differentiable import Arguments, Differentiable
from closedform.lowerings.frameworks.handles import Handled, node, register
from closedform.program.program import size

try:
    import torch
    from torch.autograd import forward_ad
except ImportError as error:
    raise MissingDependency("PyTorch is not installed; pip install 'closedform[torch]'") from error

Tensors = Sequence[Any]
TorchCall = Callable[[Handled, Tensors], Tensors]

_DOUBLE, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)
_FLOATS = torch.float32, torch.float64
_DEVICES = "cpu", "cuda", "meta"
_PLAIN = torch.Tensor, torch.nn.Parameter
DEEPEST = 64
"""Levels of vmap that PyTorch has."""
_is_compiling = torch.compiler.is_compiling
_transformed = torch._C._are_functorch_transforms_active
_modes = torch._C._len_torch_dispatch_stack
_is_old_batch = torch._C._functorch.is_legacy_batchedtensor


class Operator:
    """A kernel as a function of tensors."""

    def __init__(self, kernel: Differentiable, arguments: Arguments) -> None:
        known = register(kernel)
        self.kernel, self.__name__ = kernel, known.kernel.interface.name
        self.__doc__ = kernel.__doc__
        self._handle, self._arguments, self._result = known.handle, arguments, arguments.result
        scalar = any(slot.shape == () for slot in known.outputs)
        self._tensor = _from_scalar if scalar else torch.from_numpy

    def __call__(self, *args: Any, **named: Any) -> Any:
        if _is_compiling():
            return self._compiled(args, named)
        if not named and args and not _modes() and forward_ad._current_level < 0:
            try:
                arrays = [x.numpy() for x in args]      # refused if a tensor is anything but plain
            except (AttributeError, RuntimeError, TypeError):
                return self._general(args, named)
            kind = arrays[0].dtype
            for x in arrays:                            # `all` of a generator costs 0.3 µs
                if x.dtype is not kind:
                    return self._general(args, named)
            if kind is _DOUBLE or kind is _SINGLE:      # NumPy has one object for each
                found = self.kernel(*arrays)
                if self._result is None:
                    return self._tensor(found)
                return self._result._make(map(self._tensor, found))
        return self._general(args, named)

    def _compiled(self, args: Tensors, named: Mapping[str, Any]) -> Any:
        """What torch.compile and torch.export see."""
        if _differentiated():
            return self._general(args, named)           # breaks the graph
        steps, given = self._arguments.meant(args, named)
        made = _OPERATOR("/".join((self._handle, *steps)), list(given))
        return made[0] if self._result is None else self._result(*made)

    @torch.compiler.disable
    def _general(self, args: Tensors, named: Mapping[str, Any]) -> Any:
        steps, given = self._arguments.meant(args, named)
        of = node("/".join((self._handle, *steps)))
        _refuse_what_is_no_float(of, given, self._arguments.title)
        made = _call(of, given)
        return made[0] if self._result is None else self._result(*made)

    def __repr__(self) -> str:
        return f"<PyTorch operator of {self.kernel!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _operator, (self.kernel,)

    def __deepcopy__(self, memo: Any) -> Operator:
        return self                                     # nothing of it changes


@torch.compiler.assume_constant_result
def _differentiated() -> bool:
    """Whether a transform of torch.func is being compiled that the custom operator does not know.

    Only a single vmap it does: gradients raise there, and forward derivatives are silently zero.
    It is asked while a graph is made, which is guarded by the transforms that are active.
    """
    if not _transformed():
        return False
    inner = torch._C._functorch.peek_interpreter_stack()
    return bool(inner.level() > 1 or inner.key() != torch._C._functorch.TransformType.Vmap)


def _operator(kernel: Any) -> Any:
    return kernel.torch()


def _from_scalar(x: Any) -> Any:
    return torch.from_numpy(np.asarray(x))


def _refuse_what_is_no_float(of: Handled, given: Tensors, title: str) -> None:
    """Other things than dense tensors of one floating-point kind on one device, by name."""
    for name, x in zip(of.names, given, strict=True):
        what = f"{title}: {name}"
        if not isinstance(x, torch.Tensor):
            raise ArgumentError(f"{what} must be a torch.Tensor, not a {type(x).__name__}")
        if x.device.type not in _DEVICES:
            raise ArgumentError(f"{what} must be on a CPU or a CUDA device, not on {x.device}; "
                                f"{name}.cpu() is")
        if x.layout is not torch.strided:
            raise ArgumentError(f"{what} must be a dense tensor, not of {x.layout}")
        if x.dtype not in _FLOATS:
            raise ArgumentError(f"{what} must be of torch.float32 or torch.float64, not of "
                                f"{x.dtype}; {name}.double() is")
    for what, kinds in (("of one dtype", [x.dtype for x in given]),
                        ("on one device", [x.device for x in given])):
        if len(set(kinds)) > 1:
            told = ", ".join(f"{name} {x}" for name, x in zip(of.names, kinds, strict=True))
            raise ArgumentError(f"{title}: the tensors must be {what}: {told}")


# -------------------------------------------------------------------------- values
def _call(of: Handled, arrays: Tensors) -> Tensors:
    """The outputs, in whatever mode and transform PyTorch is."""
    if _transformed():
        return _Transformed.apply(of, *arrays)
    if any(map(_is_old_batch, arrays)):
        return _over_old_batch(of, arrays)
    if not _are_plain(arrays):
        return _OPERATOR(of.handle, list(arrays))
    if (torch.is_grad_enabled() and any(x.requires_grad for x in arrays)) or (
            forward_ad._current_level >= 0):
        return _Recorded.apply(of, *arrays)
    return _run(of, arrays)


def _operator_call(of: Handled, arrays: Tensors) -> Tensors:
    return _OPERATOR(of.handle, list(arrays))


def _are_plain(arrays: Tensors) -> bool:
    return not _modes() and all(type(x) in _PLAIN and not x.is_meta for x in arrays)


@torch.compiler.disable
def _run(of: Handled, arrays: Tensors) -> Tensors:
    there = bool(arrays) and arrays[0].is_cuda
    found = of.kernel(*(x.detach().resolve_neg() if there else x.numpy(force=True)
                        for x in arrays))
    several = [found] if len(of.outputs) == 1 else found
    return tuple(several) if there else tuple(map(_from_scalar, several))


def _value(of: Handled, arrays: Tensors) -> Tensors:
    return tuple((_run if _are_plain(arrays) else _operator_call)(of, arrays))


# -------------------------------------------------------------------------- rules
def _adjoints(of: Handled, saved: tuple[Tensors, Sequence[int]], bars: Tensors,
              call: TorchCall) -> list[Any]:
    """x̄ for the inputs that move, None for the others; summed over the states that share x."""
    arrays, moving = saved
    found = dict.fromkeys(range(len(arrays)))
    if moving and any(bar is not None for bar in bars):
        back = of.derived("cotangent", [of.names[k] for k in moving])
        weights = [arrays[0].new_zeros(y.shape) if bar is None else bar.contiguous()
                   for y, bar in zip(of.outputs, bars, strict=True)]   # a sum's are one number
        made = call(back, [*arrays, *weights])
        found |= {k: x if x.shape == arrays[k].shape else x.sum_to_size(arrays[k].shape)
                  for k, x in zip(moving, made, strict=True)}
    return list(found.values())


def _tangents(of: Handled, arrays: Tensors, rates: Tensors) -> Tensors:
    """ẏ along the rates that there are."""
    moving = [k for k, x in enumerate(rates) if x is not None]
    along = of.derived("tangent", [of.names[k] for k in moving])
    return _call(along, [*arrays, *(rates[k] for k in moving)])


class _Mapped(NamedTuple):
    """A call over one more axis of some of the arrays, which `dims` tells."""

    of: Handled
    size: int
    dims: Sequence[int | None]
    arrays: Tensors

    def results(self, call: TorchCall) -> tuple[Tensors, tuple[int, ...]]:
        """The results, with that axis first."""
        found = self._products(call)
        return found or call(self.of, list(self._in_front())), (0,) * len(self.of.outputs)

    def _in_front(self) -> Iterator[Any]:
        """The arrays with that axis before those of the batch, which all that have it have."""
        parts = list(zip(self.arrays, self.dims, self.of.inputs, strict=True))
        most = max(x.dim() - (d is not None) - len(slot.shape) for x, d, slot in parts)
        for x, d, slot in parts:
            if d is None:
                yield x
            else:
                x = x.movedim(d, 0)
                missing = most - (x.dim() - 1 - len(slot.shape))
                yield x.reshape(x.shape[0], *(1,) * missing, *x.shape[1:])

    def _products(self, call: TorchCall) -> Tensors | None:
        """ẏ = J ẋ or x̄ = Jᵀ ȳ of many directions at one x: by the whole J, where that pays."""
        count = 0 if self.of.parent is None else len(self.of.parent.inputs)
        if any(d is not None for d in self.dims[:count]):
            return None
        whole = self.of.whole(self.size)
        if whole is None or self.of.parent is None:
            return None
        x = dict(zip(self.of.parent.names, self.arrays[:count], strict=True))
        blocks = iter(call(whole, [x[name] for name in whole.names]))
        given = list(self._in_front())
        by = [slot for slot in self.of.parent.inputs if slot.name in self.of.wrt]
        forward = self.of.how == "tangent"
        sums: list[Any] = [0] * len(self.of.outputs)
        for i, y in enumerate(self.of.parent.outputs):
            for k, slot in enumerate(by):
                block = next(blocks)
                block = block.reshape(*block.shape[:block.dim() - len(y.shape + slot.shape)],
                                      size(y.shape), size(slot.shape))
                at, source, target = (k, slot, i) if forward else (i, y, k)
                d = given[count + at]
                d = d if self.dims[count + at] is not None else d[None]
                d = d.reshape(*d.shape[:d.dim() - len(source.shape)], size(source.shape))
                sums[target] = sums[target] + torch.einsum(
                    "...yx,b...x->b...y" if forward else "...yx,b...y->b...x", block, d)
        leads = [a.shape[:a.dim() - len(slot.shape)] for a, slot in zip(
            given, self.of.inputs, strict=True)]
        full = torch.broadcast_shapes((self.size, *(1,) * (sums[0].dim() - 2)), *leads)
        return tuple(z.reshape(*z.shape[:-1], *slot.shape).expand(*full, *slot.shape)
                     for z, slot in zip(sums, self.of.outputs, strict=True))


def _old_level(arrays: Tensors) -> int:
    """How deep the older vmap is nested, told from arrays where autograd has threads of its own."""
    level = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    if level:
        return int(level)
    for level in range(1, DEEPEST):
        for x in arrays:
            if _is_old_batch(x) and not _is_old_batch(torch._remove_batch_dim(x, level, 1, 0)):
                return level
    raise ArgumentError("on a GPU gradients of many directions at once are not nested: "
                        "use torch.func.vmap")


def _over_old_batch(of: Handled, arrays: Tensors, level: int = 0) -> Tensors:
    """A call inside the older vmap, which autograd uses itself for many gradients at once."""
    level = level or _old_level(arrays)
    dims = [0 if _is_old_batch(x) else None for x in arrays]
    inner = [x if d is None else torch._remove_batch_dim(x, level, 1, 0)
             for x, d in zip(arrays, dims, strict=True)]
    size = max(x.shape[0] for x, d in zip(inner, dims, strict=True) if d is not None)

    def call(other: Handled, given: Tensors) -> Tensors:
        if any(map(_is_old_batch, given)):
            return _over_old_batch(other, given, level - 1)
        return _call(other, given)

    found, _ = _Mapped(of, size, dims, inner).results(call)
    return tuple(torch._add_batch_dim(y.contiguous(), 0, level) for y in found)


# -------------------------------------------------------------------------- eager mode, torch.func
def _keep(ctx: Any, inputs: Tensors) -> None:
    ctx.node = inputs[0]
    ctx.save_for_backward(*inputs[1:])
    ctx.save_for_forward(*inputs[1:])
    ctx.set_materialize_grads(False)


def _backward(ctx: Any, *bars: Any) -> Any:
    moving = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
    return None, *_adjoints(ctx.node, (ctx.saved_tensors, moving), bars, _call)


def _jvp(ctx: Any, _: Any, *rates: Any) -> Any:
    return tuple(_tangents(ctx.node, ctx.saved_tensors, rates))


class _Recorded(torch.autograd.Function):
    """A call in eager mode: without `setup_context`, which costs some 20 µs."""

    backward = staticmethod(_backward)
    jvp = staticmethod(_jvp)

    @staticmethod
    def forward(ctx: Any, of: Handled, *arrays: Any) -> Any:
        _keep(ctx, (of, *arrays))
        return _run(of, arrays)


class _Transformed(torch.autograd.Function):
    """A call inside torch.func."""

    backward = staticmethod(_backward)
    jvp = staticmethod(_jvp)

    @staticmethod
    def forward(of: Handled, *arrays: Any) -> Any:
        return _value(of, arrays)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _keep(ctx, inputs)

    @staticmethod
    def vmap(info: Any, dims: Any, of: Handled, *arrays: Any) -> Any:
        return _Mapped(of, info.batch_size, dims[1:], arrays).results(_call)


# -------------------------------------------------------------------------- torch.compile
@torch.library.custom_op("closedform::call", mutates_args=())
def _OPERATOR(handle: str, arrays: list[torch.Tensor]) -> list[torch.Tensor]:  # noqa: N802
    return [y.contiguous() for y in _run(node(handle), arrays)]     # as the fake ones are


@_OPERATOR.register_fake
def _(handle: str, arrays: list[torch.Tensor]) -> list[torch.Tensor]:
    of, leads = node(handle), []
    _refuse_what_is_no_float(of, arrays, of.kernel.interface.name)
    for slot, x in zip(of.inputs, arrays, strict=True):
        at = x.dim() - len(slot.shape)
        if at < 0 or tuple(x.shape[at:]) != slot.shape:
            raise ArgumentError(f"{of.kernel.interface.name}: {slot.name} must end in the shape "
                                f"{slot.shape}, not {tuple(x.shape)}")
        leads.append(x.shape[:at])
    full = torch.broadcast_shapes(*leads)
    like = arrays[0] if arrays else torch.empty((), dtype=torch.float64)
    return [like.new_empty((*full, *y.shape)) for y in of.outputs]


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.handle, arrays = inputs
    ctx.moving = [k for k, x in enumerate(arrays) if x.requires_grad]
    ctx.save_for_backward(*arrays)


def _operator_backward(ctx: Any, bars: Tensors) -> Any:
    saved = ctx.saved_tensors, ctx.moving
    return None, _adjoints(node(ctx.handle), saved, bars, _operator_call)


_OPERATOR.register_autograd(_operator_backward, setup_context=_setup)


@_OPERATOR.register_vmap
def _(info: Any, dims: Any, handle: str, arrays: list[torch.Tensor]) -> Any:
    found, places = _Mapped(node(handle), info.batch_size, dims[1], arrays).results(_operator_call)
    return list(found), list(places)
