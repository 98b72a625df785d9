"""Leading axes of JAX's arrays: joined for a call, and spread over devices.

Arrays that are spread along leading axes stay where they are: each device computes the states that
it has. Axes of an array's own are whole on every device.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
from jax.experimental.custom_partitioning import custom_partitioning
from jax.interpreters import mlir
from jax.sharding import NamedSharding, PartitionSpec

from closedform.lowerings.frameworks.calls import OperatorCall
from closedform.program.program import Slot

OperatorRun = Callable[..., list[Any]]
"""Computes a call, for arrays that are on one device."""


def lead_of(x: Any, slot: Slot) -> tuple[int, ...]:
    lead: tuple[int, ...] = x.shape[:len(x.shape) - len(slot.shape)]
    return lead


def full_axes(operands: Sequence[Any], slots: Sequence[Slot]) -> tuple[int, ...]:
    """The leading axes of the results."""
    leads = [lead_of(x, slot) for x, slot in zip(operands, slots, strict=True)]
    return tuple(jnp.broadcast_shapes(*leads)) if leads else ()


def joined(operands: Sequence[Any], slots: Sequence[Slot], most: int,
           ) -> tuple[list[Any], list[Any]]:
    """The operands with `most` leading axes or fewer, and these axes' lengths.

    Neighbours that the same operands share become one axis. If more are left, which is rare,
    operands are written out over the first ones.
    """
    leads = [lead_of(x, slot) for x, slot in zip(operands, slots, strict=True)]
    full = full_axes(operands, slots)
    groups: list[list[int]] = []
    for k in (k for k, n in enumerate(full) if n != 1):
        if groups and all((lead[k] == 1) == (lead[groups[-1][-1]] == 1) for lead in leads):
            groups[-1].append(k)
        else:
            groups.append([k])
    while len(groups) > most:
        groups[:2] = [groups[0] + groups[1]]
    made = []
    for x, slot, lead in zip(operands, slots, leads, strict=True):
        mine = [group for group in groups if any(lead[k] != 1 for k in group)]
        written = {k for group in mine for k in group}
        wide = tuple(full[k] if k in written else 1 for k in range(len(full)))
        if wide != lead:
            x = jnp.broadcast_to(x, (*wide, *slot.shape))
        shape = [math.prod(full[k] for k in group) if group in mine else 1 for group in groups]
        made.append(x.reshape(*shape, *slot.shape))
    return made, [math.prod(full[k] for k in group) for group in groups]


def lowering(run: OperatorRun) -> Any:
    """The rule for a platform: each device computes the states that it has."""
    alone, together = (mlir.lower_fun(f, multiple_results=True) for f in (run, partial(
        _partitioned, run)))

    def rule(ctx: Any, *values: Any, call: OperatorCall) -> Any:
        where = ctx.module_context.axis_context
        devices, mesh = (getattr(where, x, None) for x in ("device_assignment", "abstract_mesh"))
        several = devices is not None and len(devices) > 1 and mesh is not None
        return (together if several else alone)(ctx, *values, call=call)

    return rule


def _partitioned(run: OperatorRun, *operands: Any, call: OperatorCall) -> list[Any]:
    """A call whose arrays may be spread along leading axes."""
    full = full_axes(operands, call.inputs)
    if not full:
        return run(*operands, call=call)
    leads = [lead_of(x, slot) for x, slot in zip(operands, call.inputs, strict=True)]

    def part(mesh: Any, given: Any, results: Any) -> tuple[Any, ...]:
        spec = getattr(results[0].sharding, "spec", None) or ()
        spread = (*spec, *(None for _ in full))[:len(full)]
        read = [NamedSharding(mesh, PartitionSpec(*(
            axes if n != 1 else None for n, axes in zip(lead, spread, strict=True))))
            for lead in leads]
        written = [NamedSharding(mesh, PartitionSpec(*spread)) for _ in call.outputs]
        return mesh, partial(run, call=call), written, tuple(read)

    function = custom_partitioning(lambda *given: run(*given, call=call))
    function.def_partition(part, sharding_rule=_sharding_rule(leads, full, call))
    made: list[Any] = function(*operands)
    return made


def _sharding_rule(leads: Sequence[tuple[int, ...]], full: tuple[int, ...],
                   call: OperatorCall) -> str:
    """`b0 i0, b0 i1 -> b0 i2`: what is spread together; i are axes of one array alone."""
    own = (f"i{k}" for k in itertools.count())

    def axes(lead: tuple[int, ...], slot: Slot) -> str:
        names = [f"b{k}" if n == full[k] else next(own) for k, n in enumerate(lead)]
        return " ".join((*names, *(next(own) for _ in slot.shape)))

    read = ", ".join(axes(lead, slot) for lead, slot in zip(leads, call.inputs, strict=True))
    return f"{read} -> {', '.join(axes(full, slot) for slot in call.outputs)}"
