"""Kernels as CasADi's functions: an external one from a library written here, or a callback.

The library lies in the cache's folder, named by its content, where no other user can put another
one. A function holds it open, whatever happens to the file; one that CasADi has stored in a file
finds it again on the same machine, as long as the cache keeps it.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from closedform.arrays import Floats
from closedform.errors import ArgumentError, ClosedformError
from closedform.lowerings import lanes
from closedform.lowerings.frameworks.casadi_c import library
from closedform.lowerings.frameworks.casadi_plan import (
    CasadiPlan,
    Function,
    Port,
    Stage,
    legal,
    matrix,
)
from closedform.lowerings.frameworks.differentiable import Differentiable
from closedform.lowerings.frameworks.elf import shared_library
from closedform.lowerings.native.cpu import host, object_code
from closedform.lowerings.store.cache import Cache, entry_key
from closedform.lowerings.to_casadi import casadi_module
from closedform.program.program import size

MACHINES = ("x86_64", "aarch64")
TRUSTED = 1e-6
"""How far a library may be from its programs, next to the largest number: it is right or wrong."""


STATES = 4
"""Random arguments at one of which a new library has to be right."""


class Making(NamedTuple):
    """Where libraries are kept, and what goes on while one is made."""

    cache: Cache
    watch: Callable[[str], AbstractContextManager[None]]


def casadi_operator(kernel: Differentiable, making: Making, nodes: int | None = None,
                    callback: bool = False) -> Any:
    """A `casadi.Function` with exact sparse derivatives, for one state or for all nodes at once."""
    casadi, count = casadi_module(), checked_nodes(kernel.interface.name, nodes)
    if not callback and can_load_libraries():
        found = _external(casadi, kernel, making, count)
        if found is not None:
            return found
    return _callback(casadi, kernel, count)


def checked_nodes(name: str, nodes: int | None) -> int:
    """How many nodes a function has; one, if that is not told."""
    if nodes is None:
        return 1
    if not isinstance(nodes, int) or isinstance(nodes, bool) or nodes < 1:
        raise ArgumentError(f"{name}: nodes must be a whole number from 1 on, not {nodes!r}")
    return nodes


def can_load_libraries() -> bool:
    """Whether this machine takes the libraries that are written here."""
    return platform.system() == "Linux" and platform.machine() in MACHINES


# ---------------------------------------------------------------------- external
def _external(casadi: Any, kernel: Differentiable, making: Making, nodes: int) -> Any:
    """The external function, None where its library cannot be executed."""
    name, cpu, kept = legal(kernel.interface.name), host(), making.cache
    key = entry_key("casadi", kernel.interface.digest, str(nodes), llvmlite.__version__,
                    str(llvm.llvm_version_info), cpu.triple, cpu.name, cpu.features)
    stored = kept.read(key, ("interface", "code")) or {}
    path = kept.library(json.loads(stored["interface"])["library"]) if stored else None
    content = stored.get("code", b"")
    if path is None and not content:
        with making.watch(kernel.interface.name):
            content = library_of(kernel, nodes)
        path = kept.keep_library(content)
        digest = json.dumps({"library": hashlib.sha256(content).hexdigest()}).encode()
        kept.write(key, {"interface": digest, "code": b"" if path else content})
    if path is not None:
        return _loaded(casadi, name, path)
    return _from_passing_file(casadi, name, content)


def _loaded(casadi: Any, name: str, path: Path) -> Any:
    try:
        return casadi.external(name, str(path))
    except RuntimeError:                    # a file system from which nothing may be executed
        return None


def _from_passing_file(casadi: Any, name: str, content: bytes) -> Any:
    """Without a safe place to stay, the file is gone once its content is in memory."""
    with tempfile.TemporaryDirectory(prefix="closedform-") as folder:
        path = Path(folder) / f"{name}.so"
        path.write_bytes(content)
        return _loaded(casadi, name, path)


def library_of(kernel: Differentiable, nodes: int) -> bytes:
    """The shared library of a kernel's functions for so many nodes."""
    functions = CasadiPlan(kernel).functions()
    code = object_code(library(functions, nodes, host()), host())
    made = shared_library(code, f"{legal(kernel.interface.name)}.so", _needed())
    _try(made, functions, nodes)
    return made


def _needed() -> tuple[str, ...]:
    """The library of sines: glibc's; other C libraries have them in themselves."""
    names: Any = getattr(os, "confstr_names", {})
    return ("libm.so.6",) if "CS_GNU_LIBC_VERSION" in names else ()


def _try(made: bytes, functions: Sequence[Function], nodes: int) -> None:
    """Compare a new library with its programs, run by NumPy, at random arguments."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory(prefix="closedform-") as folder:
        path = Path(folder) / "tried.so"
        path.write_bytes(made)
        try:
            code = ctypes.CDLL(str(path))
        except OSError:                     # nothing may be executed there, nor tried
            return
    for function in functions:
        wrong: list[str] = []
        for _ in range(STATES):             # one where a matrix is nearly singular tells nothing
            arguments = [0.3 * rng.normal(size=(nodes, p.pattern.nonzeros))
                         for p in function.arguments]
            expected = evaluated(function, arguments, nodes, lambda k: lanes.over_blocks(k.program))
            found = called(code, function, arguments, nodes)
            wrong = [p.name for k, p in enumerate(function.results)
                     if not _same(found[k], expected[k])]
            if not wrong:
                break
        else:
            raise ClosedformError(f"{function.name}: the machine code of {wrong[0]} does not "
                                  "compute its program; this is an error of closedform or of LLVM")


def _same(x: Floats, y: Floats) -> bool:
    close = np.abs(x - y) <= TRUSTED * np.abs(y).max(initial=1.0, where=np.isfinite(y))
    return bool(close[np.isfinite(y)].all())


def called(code: ctypes.CDLL, function: Function, arguments: Sequence[Floats],
           nodes: int) -> list[Floats]:
    """The results of a library's function, each (nodes, nonzeros)."""
    results: list[Floats] = [np.zeros((nodes, p.pattern.nonzeros)) for p in function.results]
    counts = [ctypes.c_longlong() for _ in range(4)]
    getattr(code, f"{function.name}_work")(*map(ctypes.byref, counts))
    work = np.empty(counts[3].value)
    arg, res = ((ctypes.c_void_p * max(len(x), 1))(*(a.ctypes.data for a in x))
                for x in (arguments, results))
    getattr(code, function.name)(arg, res, None, ctypes.c_void_p(work.ctypes.data), 0)
    return results


# ---------------------------------------------------------------------- callback
Runner = Callable[[Differentiable], Callable[..., Any]]
"""How a kernel is run."""


def evaluated(function: Function, arguments: Sequence[Floats | None], nodes: int, run: Runner,
              asked: Iterable[int] | None = None) -> dict[int, Floats]:
    """Results of a function by their number, each (nodes, nonzeros); all, if none are asked for.

    An argument that is None is zero.
    """
    wanted = set(range(len(function.results)) if asked is None else asked)
    results: dict[int, Floats] = {
        k: np.zeros((nodes, function.results[k].pattern.nonzeros)) for k in wanted}
    for stage in function.stages:
        own = wanted & set(stage.taken)
        if own:
            flat = _outputs(stage, arguments, nodes, run)
            results |= {r: flat[:, stage.taken[r]] for r in own}
    return results


def _outputs(stage: Stage, arguments: Sequence[Floats | None], nodes: int, run: Runner) -> Floats:
    """All that a kernel gives at each node, along all directions, one behind the other."""
    slots, count, given = stage.kernel.interface.inputs, max(stage.directions, 1), []
    for slot, x in zip(slots, stage.given, strict=True):
        if isinstance(x, int):
            own = arguments[x]
            rows, columns = matrix(slot.shape)
            flat = np.zeros((nodes, rows * columns)) if own is None else own
            array = flat.reshape(nodes, columns, rows).swapaxes(1, 2)
            given.append(array.reshape(nodes, 1, *slot.shape))
        else:
            given.append(x)
    found = run(stage.kernel)(*given) if given else run(stage.kernel)()
    outputs = stage.kernel.interface.outputs
    parts = found if isinstance(found, tuple) else (found,)
    full = [np.broadcast_to(x, (nodes, count, *y.shape)).reshape(nodes, count, size(y.shape))
            for x, y in zip(parts, outputs, strict=True)]
    return np.concatenate(full, axis=2).reshape(nodes, -1)


def _callback(casadi: Any, kernel: Differentiable, nodes: int) -> Any:
    """The callback, whose derivatives are made when they are asked for."""
    plan = CasadiPlan(kernel)
    if not plan.x:
        return _Lazy(casadi, nodes, plan.value).made
    second = _Lazy(casadi, nodes, plan.second)
    first = _Lazy(casadi, nodes, plan.adjoint, jacobian=second)
    value = _Lazy(casadi, nodes, plan.value, jacobian=_Lazy(casadi, nodes, plan.jacobian),
                  reverse=first)
    return value.made


_ALIVE: list[Any] = []
"""Callbacks: CasADi's expressions hold them by their address, and nobody can tell how long."""


class _Lazy:
    """A callback and those of its derivatives."""

    def __init__(self, casadi: Any, nodes: int, plan: Callable[[], Function],
                 jacobian: _Lazy | None = None, reverse: _Lazy | None = None) -> None:
        self.casadi, self.nodes, self.plan = casadi, nodes, plan
        self.jacobian, self.reverse = jacobian, reverse

    @cached_property
    def function(self) -> Function:
        return self.plan()

    @cached_property
    def made(self) -> Any:
        callback = _callback_class(self.casadi)(self)
        _ALIVE.append(callback)
        return callback

    def sparsity(self, port: Port) -> Any:
        return self.casadi.Sparsity.compressed(
            port.pattern.compressed(self.nodes, port.diagonal).tolist())


@cache
def _callback_class(casadi: Any) -> Any:
    class KernelCallback(casadi.Callback):  # type: ignore[misc]
        """A function of CasADi's that is computed by kernels, called from Python."""

        def __init__(self, of: _Lazy) -> None:
            casadi.Callback.__init__(self)
            self.of = of
            self.construct(of.function.name, {})

        def __deepcopy__(self, memo: Any) -> Any:
            return self                         # nothing can change it

        def __copy__(self) -> Any:
            return self

        def get_n_in(self) -> int:
            return len(self.of.function.arguments)

        def get_n_out(self) -> int:
            return len(self.of.function.results)

        def get_name_in(self, i: int) -> str:
            return self.of.function.arguments[i].name

        def get_name_out(self, i: int) -> str:
            return self.of.function.results[i].name

        def get_sparsity_in(self, i: int) -> Any:
            return self.of.sparsity(self.of.function.arguments[i])

        def get_sparsity_out(self, i: int) -> Any:
            return self.of.sparsity(self.of.function.results[i])

        def has_eval_buffer(self) -> bool:
            return True

        def eval_buffer(self, arg: Sequence[Any], res: Sequence[Any]) -> int:
            """None for an argument that is zero, and for a result that nobody asked for."""
            nodes = self.of.nodes
            given = [None if x is None else np.frombuffer(x).reshape(nodes, -1) for x in arg]
            asked = [k for k, x in enumerate(res) if x is not None]
            found = evaluated(self.of.function, given, nodes, _kernel_itself, asked)
            for k in asked:
                np.frombuffer(res[k])[:] = found[k].ravel()
            return 0

        def has_jacobian(self) -> bool:
            return self.of.jacobian is not None

        def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> Any:
            assert self.of.jacobian is not None
            return self.of.jacobian.made

        def has_jac_sparsity(self, oind: int, iind: int) -> bool:
            return self.of.jacobian is not None

        def get_jac_sparsity(self, oind: int, iind: int, symmetric: bool) -> Any:
            assert self.of.jacobian is not None
            ports = self.of.jacobian.function.results
            return self.of.jacobian.sparsity(ports[oind * self.get_n_in() + iind])

        def has_reverse(self, nadj: int) -> bool:
            return self.of.reverse is not None and nadj == 1

        def get_reverse(self, nadj: int, name: str, inames: Any, onames: Any, opts: Any) -> Any:
            assert self.of.reverse is not None
            return self.of.reverse.made

    return KernelCallback


def _kernel_itself(kernel: Differentiable) -> Callable[..., Any]:
    return kernel
