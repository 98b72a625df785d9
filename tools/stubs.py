"""Types for editors and checkers, written from the code and the catalogue: `make stubs`.

    closedform/__init__.pyi                              cf.mass_matrix(robot, q), all public names
    closedform/applications/{elastic,flexible}/__init__.pyi      cf.flexible.inertia_matrix(arm, q)
    closedform/applications/compile/quantities.pyi       arm.mass_matrix(q)

Public functions of arrays are written out: they take lists too, since `checked` makes arrays of
them, which Python's types cannot say of a decorator; and they return NumPy's arrays unless they are
given others. Kernels are written from the rows of the catalogue. A test holds the files to this.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import closedform
from closedform.maths.catalogue import CATALOGUE
from closedform.maths.loops.catalogue import LOOP_CATALOGUE
from closedform.maths.quantity import Quantity

ROWS = CATALOGUE + LOOP_CATALOGUE
WRITTEN = '"""Written by `make stubs`; do not edit."""\n'
WIDTH = 100
ARRAY = re.compile(r"^Array\b")
NAME = re.compile(r"(?<![.\w])[A-Za-z_]\w*")

KERNELS = '''
from collections.abc import Callable
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Protocol, TypeVar

import numpy as np

from closedform.applications.compile.kernels import Framed
from closedform.applications.compile.requests import RuntimeInput
from closedform.arrays import Array, ArrayLike
from closedform.lowerings.call.kernel import Kernel
from closedform.maths.frames import Reference
from closedform.model.robot import Robot

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)
_A = TypeVar("_A", bound=Array, covariant=True)

class _Kernel(Kernel, Generic[_P, _R]):
    def __call__(self, *args: _P.args, **named: _P.kwargs) -> _R: ...

class _Framed(Framed, Generic[_P, _R]):
    def __call__(self, *args: _P.args, **named: _P.kwargs) -> _R: ...

class _kernel(Generic[_P, _R]):
    def __init__(self, row: Callable[Concatenate[Any, _P], _R]) -> None: ...
    def __get__(self, arm: object, owner: type) -> _Kernel[_P, _R]: ...

class _framed(Generic[_P, _R]):
    def __init__(self, row: Callable[Concatenate[Any, _P], _R]) -> None: ...
    def __get__(self, arm: object, owner: type) -> _Framed[_P, _R]: ...
'''

WITH_INPUTS = '''
class CompiledWithInputs(Protocol):
    """A compiled robot with inputs at run time: its kernels take them after their own arguments."""

    @property
    def robot(self) -> Robot: ...
    @property
    def inputs(self) -> tuple[RuntimeInput, ...]: ...
    @property
    def order(self) -> int: ...
    @property
    def snapped(self) -> tuple[str, ...]:
        """What was made exact before recording."""
'''

FUNCTIONS = '''
from typing import Any, overload

import numpy as np

from closedform.applications.compile import quantities as _named
from closedform.arrays import Array, ArrayLike, NestedNumbers
'''

NUMPY = "\n_NumPy = np.ndarray | NestedNumbers\n\n"


# ---------------------------------------------------------------------- functions
def arguments(function: Callable[..., Any], array: str) -> list[str]:
    """The parameters of a function with another type for arrays."""
    return [f"{p.name}: {ARRAY.sub(array, p.annotation)}{default(p)}"
            for p in inspect.signature(function).parameters.values()]


def default(parameter: inspect.Parameter) -> str:
    given = parameter.default
    if given is parameter.empty:
        return ""
    if isinstance(given, Enum):
        return f" = {type(given).__name__}.{given.name}"
    return f" = {given!r}" if given is None or isinstance(given, int | float | str) else " = ..."


def summary(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").strip().splitlines()[0]


def defined(name: str, parts: list[str], result: str, text: str, indent: str = "") -> str:
    """A function with its summary, in as many lines as it needs."""
    lines = [f"{indent}def {name}({', '.join(parts)}) -> {result}:"]
    if len(lines[0]) > WIDTH:
        whole = " ".join(part.replace(" ", "\0") + "," for part in parts)
        wrapped = textwrap.indent(textwrap.fill(whole, WIDTH - len(indent) - 4), f"{indent}    ")
        lines = [f"{indent}def {name}(", wrapped.replace("\0", " "), f"{indent}) -> {result}:"]
    return "\n".join([*lines, f'{indent}    """{text}"""\n'])


def overloads(name: str, function: Callable[..., Any]) -> str:
    """A function for NumPy's arrays and lists, and one for other arrays, where they differ."""
    told, text = inspect.signature(function).return_annotation, summary(function)
    row = next((row for row in ROWS if row.definition is function and row.fields), None)
    if told != "Array" and row is None:
        result = "Any" if told == "Number" else told     # a number of what kind is not to be told
        return defined(name, arguments(function, "ArrayLike"), result, text)
    found = ""
    for given, array in (("_NumPy", "np.ndarray"), ("ArrayLike", "Array")):
        result = f"_named.{result_name(row)}[{array}]" if row else array
        found += "@overload\n" + defined(name, arguments(function, given), result, text)
    return found


# ---------------------------------------------------------------------- packages
def package_stub(package: ModuleType) -> str:
    """The names that a package exports: its own imports, with functions of arrays written out."""
    source = Path(package.__file__ or "").read_text(encoding="utf8")
    tree, imports, functions = ast.parse(source), [], {}
    for node in imported(tree):
        name = node.names[0].asname or node.names[0].name
        found = getattr(package, name)
        if inspect.isfunction(found) and takes_arrays(found):
            functions[name] = found
        elif not name.startswith("_"):
            imports.append(textwrap.dedent(ast.get_source_segment(source, node) or ""))
    lines = sorted({*imports, *needed(functions, imports)})
    return "".join([WRITTEN, FUNCTIONS, *(f"{line}\n" for line in lines), NUMPY,
                    *(overloads(name, function) for name, function in functions.items()),
                    *(f"{line}\n" for line in renamed(tree))])


def renamed(tree: ast.Module) -> Iterator[str]:
    """Other names for what is imported: `this, that = here, there`, one a line."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and not ast.unparse(node).startswith("_"):
            names, values = (getattr(x, "elts", [x]) for x in (node.targets[0], node.value))
            yield from (f"{ast.unparse(name)} = {ast.unparse(value)}"
                        for name, value in zip(names, values, strict=True))


def takes_arrays(function: Callable[..., Any]) -> bool:
    return any(ARRAY.match(p.annotation) for p in inspect.signature(function).parameters.values())


def imported(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """What a package imports of its own, also for the type checker alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("closedform"):
            yield node


def needed(functions: dict[str, Callable[..., Any]], imports: list[str]) -> Iterator[str]:
    """Imports of the types that functions name and the package does not export."""
    known = {line.split()[-1].strip(",)") for line in imports} | {
        "Array", "Number", "np", "ndarray", *dir(builtins)}
    for function in functions.values():
        signature = inspect.signature(function)
        texts = " ".join(p.annotation for p in signature.parameters.values())
        for name in sorted({*NAME.findall(f"{texts} {signature.return_annotation}")} - known):
            found = inspect.unwrap(function).__globals__[name]
            home = found.__module__ if isinstance(found, type) else function.__module__
            yield f"from {home} import {name}"


# ---------------------------------------------------------------------- compiled robots
def result_name(row: Quantity) -> str:
    """The named tuple of a row with several results."""
    return "_" + "".join(word.capitalize() for word in row.name.split("_"))


def kernels_stub() -> str:
    """The attributes of a compiled robot."""
    lines = [WRITTEN, KERNELS]
    for row in ROWS:
        if row.fields:
            lines.append(f"\nclass {result_name(row)}(NamedTuple, Generic[_A]):\n")
            lines += [f"    {name}: _A\n" for name, _ in row.fields]
    lines.append("\nclass Quantities:\n")
    lines += [kernel(row) for row in ROWS]
    lines.append(WITH_INPUTS)
    for row in ROWS:
        kind = "Framed" if row.framed else "Kernel"
        lines += ["    @property\n", defined(row.name, ["self"], kind, row.summary, "    ")]
    return "".join(lines)


def kernel(row: Quantity) -> str:
    """A row as an attribute; single numbers are arrays or not, as states are many or one."""
    out = "tuple[np.ndarray, ...]" if row.fields else "np.ndarray"
    result = (f"{result_name(row)}[np.ndarray]" if row.fields else
              "np.ndarray" if row.shape else "Any")
    taken = {*row.inputs, "frame", "reference", "wrenches"}
    parts = ["self", *(part for part in arguments(row.definition, "ArrayLike")
                       if part.partition(":")[0] in taken), "*",
             f"out: {out} | None = None", "threads: int | None = None"]
    kind = "_framed" if row.framed else "_kernel"
    return f"    @{kind}\n" + defined(row.name, parts, result, row.summary, "    ")


def stubs() -> dict[Path, str]:
    """The files and what they hold."""
    applications = Path(closedform.__file__).parent / "applications"
    packages = (closedform, closedform.elastic, closedform.flexible)
    return {applications / "compile" / "quantities.pyi": kernels_stub(),
            **{Path(package.__file__ or "").with_suffix(".pyi"): package_stub(package)
               for package in packages}}


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text, encoding="utf8")
        print(path)
