"""This machine as a target of LLVM: IR → object code → functions in memory."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  its lock is taken by a fork after ours: see MAKING
import ctypes
import functools
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import llvmlite.binding as llvm

from closedform.lowerings.native.ir import Kind, Lanes, Module
from closedform.lowerings.native.pages import settle

LEVEL = 1
"""Code generation's optimisation: 2 makes no faster code (benchmarks/choices.py, last row)."""

@final
class MakingLock:
    """The lock under which kernels are made, and what was made while other threads waited for it.

    A thread that waited may take that code once, be there a cache on disk or none; so the first
    compiles for all. When nobody is here, what nobody took within a second is forgotten.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.threads: list[int] = []                        # those who wait or make
        self._made: dict[str, tuple[Mapping[str, bytes], set[int]]] = {}   # for which threads
        self._last = 0.0

    def __enter__(self) -> None:
        self.threads.append(threading.get_ident())
        try:
            self.lock.acquire()
        except BaseException:
            self.threads.remove(threading.get_ident())
            raise

    def __exit__(self, *_: object) -> None:
        self.threads.remove(threading.get_ident())
        if not self.threads and time.monotonic() > self._last + 1.0:
            self._made.clear()
        self.lock.release()

    def take(self, key: str) -> Mapping[str, bytes] | None:
        """The sections of the code of this key, if another thread made them meanwhile."""
        sections, waited = self._made.get(key, ({}, set()))
        if threading.get_ident() not in waited:
            return None
        waited.remove(threading.get_ident())
        return sections

    def keep(self, key: str, sections: Mapping[str, bytes]) -> None:
        """Keep them for the other threads that wait now."""
        waiting = {*self.threads} - {threading.get_ident()}
        if waiting:
            self._made[key], self._last = (sections, waiting), time.monotonic()

    def start_again(self) -> None:
        """In a child of a fork, which has one of the threads alone."""
        own = threading.get_ident()
        self.threads = [thread for thread in self.threads if thread == own]
        self.lock.release()


MAKING = MakingLock()
"""Kernels are made by one thread at a time, as LLVM's own state asks for; a signal's handler may
make one within another. A fork waits for what other threads make: a child would find LLVM's locks
held by threads that it does not have. Whoever makes kernels gives work to pools of threads, whose
lock a fork takes too; what registers first is taken last, so pools are imported above."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=MAKING.lock.acquire, after_in_parent=MAKING.lock.release,
                        after_in_child=MAKING.start_again)


@dataclass(frozen=True)
class Cpu:
    """A processor as LLVM knows it, with the width of its registers in bytes."""

    triple: str
    name: str
    features: str
    register: int
    fma: bool

    def lanes(self, kind: Kind, width: int | None = None) -> Lanes:
        """Numbers of a kind: as many as a register holds, unless told."""
        return Lanes(kind, width or self.register // (8 if kind == "double" else 4), self.fma)


@functools.cache
def host() -> Cpu:
    """The machine this process runs on: AVX-512, AVX2 with FMA, NEON, or 128-bit registers."""
    with MAKING:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()
    features = llvm.get_host_cpu_features()
    triple = llvm.get_process_triple()
    return Cpu(triple, llvm.get_host_cpu_name(), features.flatten(), *_registers(triple, features))


def _registers(triple: str, features: Mapping[str, bool]) -> tuple[int, bool]:
    """Bytes of a vector register and whether there is fused multiply-add."""
    has = {name for name, present in features.items() if present}
    if triple.startswith(("aarch64", "arm64")):
        return 16, True
    if {"avx512f", "avx512dq", "avx512vl", "avx512bw", "fma"} <= has:
        return 64, True
    if {"avx2", "fma"} <= has:
        return 32, True
    return 16, False


def _machine(cpu: Cpu) -> Any:
    """Position-independent code in the small model.

    The JIT's default model loads every constant's address in full; the small model without `pic`
    aborts on constant tables.
    """
    target = llvm.Target.from_triple(cpu.triple)
    return target.create_target_machine(cpu=cpu.name, features=cpu.features, opt=LEVEL,
                                        reloc="pic", codemodel="small")


def object_code(module: Module, cpu: Cpu) -> bytes:
    """The module compiled. No IR passes: a recorded program is already folded and shared."""
    with MAKING:
        machine = _machine(cpu)
        parsed = llvm.parse_assembly(module.text())
        parsed.triple = machine.triple
        parsed.data_layout = str(machine.target_data)
        return machine.emit_object(parsed)


@dataclass(frozen=True, eq=False)
class LoadedCode:
    """Object code in memory; its functions live as long as this does."""

    engine: Any
    imports: tuple[str, ...]

    def address(self, name: str) -> int:
        """Where a function is."""
        return self.engine.get_function_address(name)

    def bind(self, known: Mapping[str, int]) -> None:
        """Fill in the imports of these names."""
        table = (ctypes.c_void_p * len(self.imports)).from_address(
            self.engine.get_global_value_address("imports"))
        for k, name in enumerate(self.imports):
            if name in known:
                table[k] = known[name]


def load(code: bytes, imports: Sequence[str], cpu: Cpu) -> LoadedCode:
    """Object code made executable; its imports, named in order, are still to be bound."""
    with MAKING:
        empty = llvm.parse_assembly("")
        empty.triple = cpu.triple
        # One reservation for code and constants: the small model reaches 2 GB, and in a process
        # with large mappings LLVM's own manager may lay them further apart, and abort.
        engine = llvm.create_mcjit_compiler(empty, _machine(cpu), use_lmm=True)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        settle(code, engine.get_function_address, cpu.triple)
    return LoadedCode(engine, tuple(imports))
