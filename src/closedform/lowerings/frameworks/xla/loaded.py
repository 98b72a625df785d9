"""Handlers for CUDA devices in memory, with a kernel's code on the devices that they serve."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from closedform.lowerings.cuda.driver import device, library
from closedform.lowerings.cuda.kernel import SCRATCH, CudaKernel
from closedform.lowerings.cuda.plan import ArrayLayout
from closedform.lowerings.frameworks.differentiable import Described
from closedform.lowerings.frameworks.xla.gpu import MOST, gpu_handler_module
from closedform.lowerings.frameworks.xla.records import CALLS, record, table, words
from closedform.lowerings.native.cpu import host, load, object_code
from closedform.lowerings.native.ir import BYTES, Kind

DRIVER = "cuCtxSetCurrent", "cuLaunchKernel"


@dataclass(frozen=True, eq=False)
class GpuHandler:
    """A function for XLA, good as long as this lives; `slots` numbers a state wait in between."""

    function: Any
    slots: int
    size: int
    kept: tuple[Any, ...]

    def together(self, states: int) -> int:
        """How many states are launched at a time, of so many."""
        if not self.slots:
            return min(states, MOST)
        return min(states, MOST, max(SCRATCH // (self.slots * self.size), 1 << 16))


@dataclass(frozen=True)
class HandlerKind:
    """What a handler is for: `shared` inputs have no leading axis."""

    interface: Described
    kind: Kind
    shared: tuple[bool, ...]

    @property
    def layouts(self) -> list[ArrayLayout]:
        rows: ArrayLayout = "rows"
        return [*("strided" if alone else rows for alone in self.shared),
                *(rows for _ in self.interface.outputs)]

    def on_devices(self, gpu: CudaKernel, ordinals: Iterable[int]) -> GpuHandler:
        """The handler, with code on these devices."""
        found = {k: gpu.kernels(k, self.kind, self.layouts) for k in ordinals}
        slots = max(kernels.slots for kernels in found.values())
        driver = {name: _address(getattr(library(), name)) for name in DRIVER}
        records = {k: record(kernels, device(k).context, words(k)) for k, kernels in found.items()}
        return self.loaded(slots, records, driver)

    def loaded(self, slots: int, records: Mapping[int, Any],
               driver: Mapping[str, int]) -> GpuHandler:
        """The handler of these records, that calls these functions of the driver."""
        module = gpu_handler_module(self.interface, self.kind, self.shared, slots > 0)
        code = load(object_code(module, host()), module.imports, host())
        places = table(records)
        code.bind({**driver, "records": ctypes.addressof(places), "calls": ctypes.addressof(CALLS),
                   "snprintf": _address(ctypes.CDLL(None).snprintf)})
        function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(code.address("xla"))
        return GpuHandler(function, slots, BYTES[self.kind], (code, places, dict(records)))


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
