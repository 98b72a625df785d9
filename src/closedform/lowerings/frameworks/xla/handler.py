"""XLA's way into a kernel: a handler of its foreign function interface, written as IR.

    XLA_FFI_Error *xla(XLA_FFI_CallFrame *frame)

Arrays are the kernel's with up to two leading axes (rows and columns of states), of which an input
may have 1 in place of n: then all states along that axis share it. No compiler is needed, no lock
of Python's is taken, and nothing is copied.
"""

from __future__ import annotations

from closedform.lowerings.frameworks.differentiable import Described
from closedform.lowerings.frameworks.xla.checks import Checks, answer_questions, checked_arrays
from closedform.lowerings.frameworks.xla.jobs import add_jobs, many_states
from closedform.lowerings.native.ir import Function, Kind, Module


def handler_module(interface: Described, kind: Kind) -> Module:
    """`xla`, which imports `kernel`, `batch` and the `process_functions`."""
    module = Module()
    add_jobs(module, len(interface.inputs) + len(interface.outputs))
    f = Function(module)
    answer_questions(f)
    checks = Checks(f, interface.name, kind)
    arrays = checked_arrays(checks, interface)
    checks.finish()
    *_, last = arrays
    states = f.let(f"mul i64 {last.rows}, {last.columns}")
    f.line(f"switch i64 {states}, label %many [ i64 0, label %nothing i64 1, label %one ]")
    f.label("nothing")
    f.line("ret ptr null")
    f.label("one")
    f.line(f"call void {f.imported('kernel')}({', '.join(f'ptr {x.data}' for x in arrays)})")
    f.line("ret ptr null")
    f.label("many")
    many_states(f, arrays, max(interface.operations.instructions, 1))
    f.finish("dso_local ptr @xla(ptr %frame)", result="ptr null")
    return module
