"""CasADi's C interface as LLVM IR: the functions that `casadi.external` looks for in a library.

    int NAME(const double **arg, double **res, long long *iw, double *w, int mem)
    NAME_n_in, NAME_n_out, NAME_name_in, NAME_name_out, NAME_sparsity_in, NAME_sparsity_out,
    NAME_work

A null pointer in `arg` is an argument that is zero, one in `res` a result that nobody asked for. A
function keeps its numbers in `w`, so that threads do not meet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from closedform.lowerings.frameworks import casadi_plan
from closedform.lowerings.frameworks.casadi_plan import Port, Stage, order
from closedform.lowerings.frameworks.sparsity import Indices
from closedform.lowerings.native.cpu import Cpu
from closedform.lowerings.native.functions import batch_module, scalar_module
from closedform.lowerings.native.ir import PLAIN, Function, Module, number
from closedform.program.ordering.live_ranges import needed
from closedform.program.program import Entry, Instruction, Output, Program, Slot, size

DOUBLE = 8
"""Bytes."""


@dataclass
class Library(Module):
    """The functions of several modules, and constants."""

    constants: list[str] = field(default_factory=list)

    def add(self, tag: str, module: Module, known: Mapping[str, str]) -> None:
        """The functions of a module under names that begin with a tag.

        They import what is known, and all else from the C library.
        """
        for declaration in module.declarations:
            self.declarations[declaration] = None
        for text in module.functions:
            own = re.sub(r"@(?!llvm\.|two_over_pi)", f"@{tag}_", text)
            self.functions.append(own.replace("define dso_local", "define internal"))
        for name in module.imports:
            if name not in known:
                self.declarations[f"declare double @{name}(double)"] = None
        table = ", ".join(f"ptr {known.get(name, f'@{name}')}" for name in module.imports)
        count = len(module.imports)
        self.constants.append(f"@{tag}_imports = internal constant [{count} x ptr] "
                              + (f"[{table}]" if count else "zeroinitializer"))

    def constant(self, name: str, kind: str, values: Iterable[str]) -> str:
        """A table of numbers or pointers."""
        entries = [f"{kind} {x}" for x in values]
        text = f"[{', '.join(entries)}]" if entries else "zeroinitializer"
        self.constants.append(f"@{name} = internal constant [{len(entries)} x {kind}] {text}")
        return f"@{name}"

    def text(self) -> str:
        own = super().text().split("\n", 1)[1]          # the table of imports is each module's own
        return "\n".join((*self.constants, own))


def library(functions: Iterable[casadi_plan.Function], nodes: int, cpu: Cpu) -> Library:
    """CasADi's functions for so many nodes; names of all else begin with a dot."""
    made = Library()
    most = 1
    for tag, function in enumerate(functions):
        _Written(made, f".f{tag}", function, nodes, cpu).add()
        most = max([most, *(p.pattern.nonzeros for p in function.arguments)])
    made.constants.append(f"@.zero = internal constant [{most} x double] zeroinitializer")
    return made


class _Written:
    """A function of CasADi's being written."""

    def __init__(self, made: Library, tag: str, function: casadi_plan.Function, nodes: int,
                 cpu: Cpu) -> None:
        self.made, self.tag, self.function = made, tag, function
        self.nodes, self.cpu = nodes, cpu
        self.f = Function(made)
        self.work = 1                               # numbers

    def add(self) -> None:
        name, f = self.function.name, self.f
        self._describe("in", self.function.arguments)
        self._describe("out", self.function.results)
        arguments = [self._given(k, p) for k, p in enumerate(self.function.arguments)]
        results = [f.let(f"load ptr, ptr {f.offset('%res', DOUBLE * k)}")
                   for k in range(len(self.function.results))]
        for k, stage in enumerate(self.function.stages):
            asked = "false"
            for r in stage.taken:
                present = f.let(f"icmp ne ptr {results[r]}, null")
                asked = f.let(f"or i1 {asked}, {present}")
            f.line(f"br i1 {asked}, label %stage{k}, label %after{k}")
            f.label(f"stage{k}")
            run = self._along if stage.directions else self._once
            run(f"{self.tag}s{k}", stage, arguments, results)
            f.line(f"br label %after{k}")
            f.label(f"after{k}")
        f.finish(f"i32 @{name}(ptr %arg, ptr %res, ptr %iw, ptr %w, i32 %mem)", PLAIN, "i32 0")
        self._add_work(name)

    def _given(self, k: int, port: Port) -> tuple[str, str]:
        """Where an argument is, and the bytes from one node to the next; zeros where it is null."""
        f = self.f
        given = f.let(f"load ptr, ptr {f.offset('%arg', DOUBLE * k)}")
        null = f.let(f"icmp eq ptr {given}, null")
        return (f.let(f"select i1 {null}, ptr @.zero, ptr {given}"),
                f.let(f"select i1 {null}, i64 0, i64 {DOUBLE * port.pattern.nonzeros}"))

    def _once(self, tag: str, stage: Stage, arguments: Sequence[tuple[str, str]],
              results: Sequence[str]) -> None:
        """A kernel for all nodes; what nobody asked for goes where it is overwritten."""
        f, at, places = self.f, 0, [arguments[k] for k in stage.given if isinstance(k, int)]
        for r, taken in stage.taken.items():
            null = f.let(f"icmp eq ptr {results[r]}, null")
            place = f.let(f"select i1 {null}, ptr {f.offset('%w', DOUBLE * at)}, ptr {results[r]}")
            places.append((place, f.let(f"select i1 {null}, i64 0, i64 {DOUBLE * len(taken)}")))
            at += len(taken)
        self.work = max(self.work, at)
        program = _laid_out(stage.kernel.program, list(stage.taken.values()))
        if self.nodes < self.cpu.lanes("double").width:
            self.made.add(tag, scalar_module(program, self.cpu.lanes("double", 1)), {})
            for node in range(self.nodes):
                moved = [f.offset(x, f.let(f"mul i64 {step}, {node}")) if node else x
                         for x, step in places]
                f.line(f"call void @{tag}_kernel({', '.join(f'ptr {x}' for x in moved)})")
            return
        self._add_batch(tag, program)
        given = ", ".join(f"ptr {x}, i64 {step}" for x, step in places)
        f.line(f"call void @{tag}_batch(i64 {self.nodes}, {given})")

    def _add_batch(self, tag: str, program: Program) -> None:
        """`batch`; states one by one are for batches that are too small and stacks too large."""
        module = batch_module(program, self.cpu.lanes("double"))
        kernel = "null"                     # never called: the batch is as large as a block
        if not any("\nloop:" in text for text in module.functions):
            kernel = f"@{tag}k_kernel"
            self.made.add(f"{tag}k", scalar_module(program, self.cpu.lanes("double", 1)), {})
        self.made.add(tag, module, {"kernel": kernel})

    def _along(self, tag: str, stage: Stage, arguments: Sequence[tuple[str, str]],
               results: Sequence[str]) -> None:
        """A tangent along all directions as a batch, node by node, and the nonzeros out of that."""
        f = self.f
        count = max(stage.directions, self.cpu.lanes("double").width)
        rows, taken = _compact(stage)
        self._add_batch(tag, _laid_out(stage.kernel.program, [rows]))
        self.work = max(self.work, count * len(rows))
        given = [(arguments[x] if isinstance(x, int) else self._seeds(f"{tag}_seeds{k}", x, count))
                 for k, x in enumerate(stage.given)]
        tables = {r: self.made.constant(f"{tag}_taken{r}", "i32", map(str, x))
                  for r, x in taken.items()}
        before = f.block
        f.line(f"br label %{tag}")
        f.label(tag)
        f.line(f"%{tag}.n = phi i64 [ 0, %{before} ], [ %{tag}.next, %{tag}.end ]")
        places = []
        for x, step in given:
            here = x if step.isdigit() else f.offset(x, f.let(f"mul i64 {step}, %{tag}.n"))
            places.append(f"ptr {here}, i64 {step if step.isdigit() else 0}")
        f.line(f"call void @{tag}_batch(i64 {count}, {', '.join(places)}, "
               f"ptr %w, i64 {DOUBLE * len(rows)})")
        for r, table in tables.items():
            self._take(f"{tag}.r{r}", f"%{tag}.n", results[r], (table, len(taken[r])))
        f.line(f"br label %{tag}.end")
        f.label(f"{tag}.end")
        f.line(f"%{tag}.next = add i64 %{tag}.n, 1")
        f.line(f"%{tag}.more = icmp slt i64 %{tag}.next, {self.nodes}")
        f.line(f"br i1 %{tag}.more, label %{tag}, label %{tag}.done")
        f.label(f"{tag}.done")

    def _seeds(self, name: str, rows: np.ndarray, count: int) -> tuple[str, str]:
        """Directions as a table, and the bytes of one; further ones are zero."""
        slot = rows.shape[1:]
        full = np.zeros((count, size(slot)))
        full[:len(rows)] = rows.reshape(len(rows), -1)[:, order(slot)]
        table = self.made.constant(name, "double", (number(x, "double") for x in full.ravel()))
        return table, str(DOUBLE * size(slot))

    def _take(self, label: str, node: str, result: str, table: tuple[str, int]) -> None:
        """result[node, k] = w[table[k]] for all k, if it is asked for."""
        f, (name, count) = self.f, table
        if not count:
            return
        f.line(f"%{label}.null = icmp eq ptr {result}, null")
        f.line(f"br i1 %{label}.null, label %{label}.end, label %{label}.start")
        f.label(f"{label}.start")
        place = f.offset(result, f.let(f"mul i64 {node}, {DOUBLE * count}"))
        f.line(f"br label %{label}")
        f.label(label)
        f.line(f"%{label}.k = phi i64 [ 0, %{label}.start ], [ %{label}.next, %{label} ]")
        at = f.let(f"load i32, ptr {f.let(f'getelementptr i32, ptr {name}, i64 %{label}.k')}")
        x = f.let(f"load double, ptr {f.let(f'getelementptr double, ptr %w, i32 {at}')}")
        there = f.let(f"getelementptr double, ptr {place}, i64 %{label}.k")
        f.line(f"store double {x}, ptr {there}")
        f.line(f"%{label}.next = add i64 %{label}.k, 1")
        f.line(f"%{label}.more = icmp slt i64 %{label}.next, {count}")
        f.line(f"br i1 %{label}.more, label %{label}, label %{label}.end")
        f.label(f"{label}.end")

    def _describe(self, side: str, ports: Sequence[Port]) -> None:
        """How many there are, their names and sparsities."""
        made, own = self.made, f"{self.tag}_{side}"
        _simple(made, f"i64 @{self.function.name}_n_{side}()", f"i64 {len(ports)}")
        for k, port in enumerate(ports):
            made.constants.append(f'@{own}_name{k} = internal constant [{len(port.name) + 1} x i8] '
                                  f'c"{port.name}\\00"')
            made.constant(f"{own}_sparsity{k}", "i64",
                          map(str, port.pattern.compressed(self.nodes, port.diagonal)))
        for what in ("name", "sparsity"):
            table = made.constant(f"{own}_{what}", "ptr",
                                  (f"@{own}_{what}{k}" for k in range(len(ports))))
            f = Function(made)
            entry = f.let(f"load ptr, ptr {f.let(f'getelementptr ptr, ptr {table}, i64 %i')}")
            f.finish(f"ptr @{self.function.name}_{what}_{side}(i64 %i)", PLAIN, f"ptr {entry}")

    def _add_work(self, name: str) -> None:
        f = Function(self.made)
        counts = len(self.function.arguments), len(self.function.results), 0, self.work
        for count, place in zip(counts, "ariw", strict=True):
            f.line(f"store i64 {count}, ptr %{place}")
        f.finish(f"i32 @{name}_work(ptr %a, ptr %r, ptr %i, ptr %w)", PLAIN, "i32 0")


def _simple(made: Library, signature: str, result: str) -> None:
    Function(made).finish(signature, PLAIN, result)


def _compact(stage: Stage) -> tuple[Indices, dict[int, Indices]]:
    """The outputs that are needed of a tangent, and where the results are among those alone."""
    places = np.concatenate(list(stage.taken.values()))
    rows, _ = np.unique(places % stage.rows, return_inverse=True)
    return rows, {r: x // stage.rows * len(rows) + np.searchsorted(rows, x % stage.rows)
                  for r, x in stage.taken.items()}


def _laid_out(program: Program, taken: Sequence[Indices]) -> Program:
    """A program whose inputs lie as CasADi's, and whose outputs are some entries of its own."""
    entries: list[Entry] = [e for y in program.outputs for e in y.entries]
    outputs = tuple(Output(f"y{k}", (len(x),), tuple(entries[i] for i in x))
                    for k, x in enumerate(taken))
    lies = [np.argsort(order(s.shape)).tolist() for s in program.inputs]
    code = tuple(Instruction(x.op, (x.args[0], lies[x.args[0]][x.args[1]])) if x.op == "input"
                 else x for x in program.code)
    inputs = tuple(Slot(s.name, (size(s.shape),)) for s in program.inputs)
    return needed(replace(program, inputs=inputs, outputs=outputs, code=code))
