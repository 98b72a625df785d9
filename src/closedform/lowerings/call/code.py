"""The machine code of a program: compiled when first needed, kept on disk, alive while held."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from closedform.arrays import Floats
from closedform.errors import FormatError
from closedform.lowerings.call.quick import add_call
from closedform.lowerings.call.signature import Interface
from closedform.lowerings.frameworks.xla.handler import handler_module
from closedform.lowerings.frameworks.xla.jobs import process_functions
from closedform.lowerings.native.cpu import MAKING, LoadedCode, host, load, object_code
from closedform.lowerings.native.functions import (
    batch_module,
    scalar_module,
    single_states_module,
)
from closedform.lowerings.native.ir import Kind, Module
from closedform.lowerings.native.loops.module import swept_module
from closedform.lowerings.store import program_bytes
from closedform.lowerings.store.cache import Cache, entry_key
from closedform.program.check import check
from closedform.program.lanes.sharing import FoldedProgram, SharedLanes
from closedform.program.ops import FUNCTIONS
from closedform.program.program import Program
from closedform.program.sweeps import Sweeps

Layout = Literal["kernel", "batch", "xla"]
"""One state, many states, and XLA's handler for both."""

Watch = Callable[[str], AbstractContextManager[None]]
"""What goes on while the program of a name is compiled: a sign of life, for those who wait."""


Judge = Callable[[Program, Callable[..., Sequence[Floats]], Any], Program]
"""Sees a program, its new function of arrays of states and their dtype before the code is kept, and
gives the program to keep: this one, or a better one."""


def trusted(program: Program, run: Callable[..., Sequence[Floats]], dtype: Any) -> Program:
    return program


Fold = Callable[[], FoldedProgram]
"""Makes the program of one state that has limbs in lanes, or says why there is none."""


def unfoldable() -> FoldedProgram:
    return FoldedProgram.missing("a program that is not of a robot")


def unwatched(name: str) -> AbstractContextManager[None]:
    return nullcontext()


UNASKED = FoldedProgram.missing("a batch has states in its lanes")
LOOPED = SharedLanes(reason="loops over the joints have these in their lanes")


@dataclass(frozen=True, eq=False)
class Native:
    """A function in memory; the address is good as long as this object lives."""

    address: int
    signature: str              # in C
    function: Any               # for ctypes; the global lock is released while it runs
    code: LoadedCode


class Code:
    """The native functions of one program: one state or many, double or float.

    `own` are addresses of its caller's objects, for the code to import. Where there are `loops`, or
    for one state a program with limbs in lanes (`fold`), these are compiled; the program then is
    for batches, unless loops take these too, and for those who need one, and is built when asked
    for.
    """

    def __init__(self, key: str, cache: Cache, build: Callable[[], Program],
                 program: Program | None = None, watch: Watch = unwatched, judge: Judge = trusted,
                 loops: Callable[[], Sweeps] | None = None, fold: Fold = unfoldable) -> None:
        self._loops, self._fold = loops, fold
        self.key, self.cache, self.watch, self._judge = key, cache, watch, judge
        self.own: Mapping[str, int] = {}
        self._build, self._program = build, program
        self._ready: dict[tuple[Layout, Kind], Native] = {}
        self._first = self._stored("kernel", "double")
        self.interface = Interface.from_json(self._first["interface"].decode())

    @property
    def program(self) -> Program:
        """The program: the one just compiled, the one stored with the code, or built again."""
        if self._program is None:
            with MAKING:
                self._program = self._program or self._stored_program() or self._built()
        return self._program

    def _built(self) -> Program:
        """The program built now; where other code is stored, it is stored beside that."""
        program = self._build()
        if self.interface.folded:
            self.cache.write(self._entry("program", "double"),
                             _sections(Module(), Interface.of(program), program))
        return program

    def native(self, layout: Layout, kind: Kind) -> Native:
        """A function, ready to run."""
        if (layout, kind) not in self._ready:
            with MAKING:
                if (layout, kind) not in self._ready:
                    self._ready[layout, kind] = self._loaded(layout, kind)
        return self._ready[layout, kind]

    def _loaded(self, layout: Layout, kind: Kind) -> Native:
        first = (layout, kind) == ("kernel", "double")
        stored = self._first if first else self._stored(layout, kind)
        code = _ready(stored)
        code.bind(self.own)
        address = code.address(layout)
        if layout == "xla":
            code.bind({name: self.native(name, kind).address for name in ("kernel", "batch")}
                      | process_functions())
        elif layout == "batch":
            one = self.native("kernel", kind)
            code.bind({"kernel": one.address})
            one.code.bind({"batch": address})
        elif not first:
            self.native("kernel", "double").code.bind({"next": code.address("call")})
        count = len(self.interface.inputs) + len(self.interface.outputs)
        return Native(address, self.interface.signature(layout, kind),
                      _function(address, layout, count), code)

    def _stored(self, layout: Layout, kind: Kind) -> Mapping[str, bytes]:
        """The sections of an entry, from the cache or compiled now."""
        key = self._entry(layout, kind)
        found: Mapping[str, bytes] | None = self.cache.read(key)
        if found is not None:
            return found
        with MAKING:
            found = MAKING.take(key) or self.cache.read(key)     # by another thread meanwhile
            if found is None:
                found = self._new(layout, kind)
                self.cache.write(key, found)
                MAKING.keep(key, found)
            return found

    def _new(self, layout: Layout, kind: Kind) -> Mapping[str, bytes]:
        """The sections of a new entry, of a program that the judge has accepted."""
        if layout == "xla":
            return _sections(handler_module(self.interface, kind), self.interface, None)
        if self._loops is not None and not (layout == "batch" and self._loops().one_state):
            return self._compiled(self._loops(), layout, kind, LOOPED)
        first = (layout, kind) == ("kernel", "double")
        folded = self._fold() if first or (layout == "kernel" and self.interface.lanes) else UNASKED
        if folded.program is not None:
            found, taken = self._tried(folded.program, layout, kind, folded.lanes)
            if taken is folded.program:
                return found
            folded = FoldedProgram.missing("in lanes the results are too far from the definition")
        program = self._build() if first and self._program is None else self.program
        found, taken = self._tried(program, layout, kind, folded.lanes)
        if first:
            self._program = taken
        return found if taken is program else self._compiled(taken, layout, kind, folded.lanes)

    def _tried(self, program: Program, layout: Layout, kind: Kind,
               lanes: SharedLanes) -> tuple[Mapping[str, bytes], Program]:
        """The sections of a program's entry, and the program that the judge would take."""
        found = self._compiled(program, layout, kind, lanes)
        if self._judge is trusted:
            return found, program
        code = _ready(found)
        if layout == "batch":
            code.bind({"kernel": self.native("kernel", kind).address})
        with warnings.catch_warnings():
            if lanes:                         # the judge will speak of the program that is taken
                warnings.simplefilter("ignore")
            return found, self._judge(program, _over_states(program, code.address(layout), layout),
                                      np.dtype(np.float64 if kind == "double" else np.float32))

    def _compiled(self, source: Program | Sweeps, layout: Layout, kind: Kind,
                  lanes: SharedLanes) -> dict[str, bytes]:
        """The sections of a new entry, with what is told of lanes."""
        with self.watch(source.name):
            found = _compiled(source, layout, kind)
        told = replace(Interface.of(source), lanes=lanes)
        return found | {"interface": told.to_json().encode()}

    def _stored_program(self) -> Program | None:
        layout: Layout | Literal["program"] = "program" if self.interface.folded else "kernel"
        found = self.cache.read(self._entry(layout, "double"), ("interface", "program"))
        if found is None:
            return None
        try:
            digest = Interface.from_json(found["interface"].decode()).digest
            return program_bytes.from_bytes(found["program"], digest)
        except FormatError:
            return None

    def _entry(self, layout: Layout | Literal["program"], kind: Kind) -> str:
        cpu = host()
        return entry_key(self.key, layout, kind, llvmlite.__version__, str(llvm.llvm_version_info),
                         cpu.triple, cpu.name, cpu.features)


def _ready(stored: Mapping[str, bytes]) -> LoadedCode:
    """The code of an entry in memory, with the C library's functions bound."""
    code = load(stored["code"], json.loads(stored["imports"]), host())
    code.bind(c_library())
    return code


def _function(address: int, layout: Layout, arrays: int) -> Any:
    """Native code of so many arrays, for ctypes."""
    if layout == "xla":
        return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(address)
    kinds = ([ctypes.c_void_p] * arrays if layout == "kernel"
             else [ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * arrays])
    return ctypes.CFUNCTYPE(None, *kinds)(address)


def _over_states(program: Program, address: int, layout: Layout) -> Callable[..., list[Floats]]:
    """Native code as a function of contiguous arrays (states, ...)."""
    function = _function(address, layout, len(program.inputs) + len(program.outputs))

    def run(*inputs: Floats) -> list[Floats]:
        count, dtype = len(inputs[0]), inputs[0].dtype
        outputs = [np.empty((count, *x.shape), dtype) for x in program.outputs]
        places = [(x.ctypes.data, x.nbytes // count) for x in (*inputs, *outputs)]
        if layout == "batch":
            function(count, *(number for place in places for number in place))
        else:
            for k in range(count):
                function(*(start + k * stride for start, stride in places))
        return outputs

    return run


def _compiled(source: Program | Sweeps, layout: Layout, kind: Kind) -> dict[str, bytes]:
    """The sections of a new entry; a program without lanes is stored with the first function."""
    cpu, interface = host(), Interface.of(source)
    if layout == "batch":
        module = (batch_module(source, cpu.lanes(kind)) if isinstance(source, Program)
                  else single_states_module(source))
    else:
        module = (scalar_module(source, cpu.lanes(kind, 1)) if isinstance(source, Program)
                  else swept_module(source, cpu.lanes(kind)))
        add_call(module, interface, kind)
    kept = None
    if (layout, kind) == ("kernel", "double") and isinstance(source, Program):
        kept = None if source.has_lanes else source
    return _sections(module, interface, kept)


def _sections(module: Module, interface: Interface, program: Program | None) -> dict[str, bytes]:
    """An entry of the cache."""
    return {
        "interface": interface.to_json().encode(),
        "imports": json.dumps(module.imports).encode(),
        "code": object_code(module, host()),
        "program": b"" if program is None else program_bytes.to_bytes(check(program)),
    }


@functools.cache
def c_library() -> dict[str, int]:
    """The functions of the C library that code calls, those that it has: operations, memory."""
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
    if not hasattr(library, "sin"):
        library = ctypes.CDLL(ctypes.util.find_library("m"))
    names = ("malloc", "free", *(op.name for op in FUNCTIONS))
    return {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
            for name in names if hasattr(library, name)}
