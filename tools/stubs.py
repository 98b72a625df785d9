"""Types for editors and checkers, written from the catalogue: `make stubs`.

    src/closedform/__init__.pyi                           cf.mass_matrix(robot, q), all public names
    src/closedform/applications/compile/quantities.pyi    arm.mass_matrix(q)

Each row of the catalogue becomes a function with the arguments of its definition, the shape of its
result and the summary of its docstring. A test holds the files to what is written here.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import closedform
from closedform.maths.catalogue import CATALOGUE
from closedform.maths.quantity import Quantity

PACKAGE = Path(closedform.__file__).parent
WRITTEN = '"""Written by `make stubs` from the catalogue; do not edit."""\n'
WIDTH = 100
ARRAY = re.compile(r"\bArray\b")

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

FUNCTIONS = '''
from typing import Any, overload

import numpy as np

from closedform.applications.compile import quantities as _named
from closedform.arrays import Array, ArrayLike, NestedNumbers
'''

NUMPY = "\n_NumPy = np.ndarray | NestedNumbers\n\n"


def result_name(row: Quantity) -> str:
    """The named tuple of a row with several results."""
    return "_" + "".join(word.capitalize() for word in row.name.split("_"))


def signature(row: Quantity, array: str) -> list[str]:
    """The definition's arguments after the model, with another type of arrays."""
    parameters = list(inspect.signature(row.definition).parameters.values())[1:]
    return [f"{p.name}: {ARRAY.sub(array, p.annotation)}{default(p)}" for p in parameters]


def default(parameter: inspect.Parameter) -> str:
    given = parameter.default
    if given is parameter.empty:
        return ""
    return f" = {type(given).__name__}.{given.name}" if isinstance(given, Enum) else f" = {given!r}"


def function(row: Quantity, arguments: list[str], result: str, indent: str = "") -> str:
    """A function with its summary, in as many lines as it needs."""
    text = ", ".join(arguments)
    lines = [f"{indent}def {row.name}({text}) -> {result}:"]
    if len(lines[0]) > WIDTH:
        whole = " ".join(argument.replace(" ", "\0") + "," for argument in arguments)
        wrapped = textwrap.indent(textwrap.fill(whole, WIDTH - len(indent) - 4), f"{indent}    ")
        lines = [f"{indent}def {row.name}(", wrapped.replace("\0", " "), f"{indent}) -> {result}:"]
    return "\n".join([*lines, f'{indent}    """{row.summary}"""\n'])


def named_tuples() -> Iterator[str]:
    for row in CATALOGUE:
        if row.fields:
            fields = "".join(f"    {name}: _A\n" for name, _ in row.fields)
            yield f"\nclass {result_name(row)}(NamedTuple, Generic[_A]):\n{fields}"


def kernels_stub() -> str:
    """The attributes of a compiled robot."""
    lines = [WRITTEN, KERNELS, *named_tuples(), "\nclass Quantities:\n"]
    for row in CATALOGUE:
        out = "tuple[np.ndarray, ...]" if row.fields else "np.ndarray"
        result = f"{result_name(row)}[np.ndarray]" if row.fields else result_of(row, "np.ndarray")
        arguments = ["self", *signature(row, "ArrayLike"), "*", f"out: {out} | None = None",
                     "threads: int | None = None"]
        lines += [f"    @{'_framed' if row.framed else '_kernel'}\n",
                  function(row, arguments, result, "    ")]
    lines.append(WITH_INPUTS)
    for row in CATALOGUE:
        kind = "Framed" if row.framed else "Kernel"
        lines += ["    @property\n", function(row, ["self"], kind, "    ")]
    return "".join(lines)


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


def result_of(row: Quantity, array: str) -> str:
    """An array; of a row of single numbers anything, since it is one alone for one state."""
    return array if row.shape else "Any"


def functions(row: Quantity) -> str:
    """A row's definition: NumPy's arrays and lists give those of NumPy, others their own."""
    if not row.shape and not row.fields:
        return function(row, ["robot: Robot", *signature(row, "ArrayLike")], "Any")
    found = ""
    for given, array in (("_NumPy", "np.ndarray"), ("ArrayLike", "Array")):
        result = f"_named.{result_name(row)}[{array}]" if row.fields else array
        found += "@overload\n" + function(row, ["robot: Robot", *signature(row, given)], result)
    return found


def public_stub() -> str:
    """The public names: the package's own imports, with the rows' definitions written out."""
    source = (PACKAGE / "__init__.py").read_text(encoding="utf8")
    rows = {row.name for row in CATALOGUE}
    tree = ast.parse(source)
    checked = [node for block in tree.body if isinstance(block, ast.If) for node in block.body]
    imports = [node for node in (*tree.body, *checked) if isinstance(node, ast.ImportFrom)
               and (node.module or "").startswith("closedform") and node.names[0].name not in rows
               and not (node.names[0].asname or "").startswith("_")]
    lines = [ast.get_source_segment(source, node) or "" for node in imports]
    lines = sorted(textwrap.dedent(line) for line in lines)
    return "".join([WRITTEN, FUNCTIONS, *(f"{line}\n" for line in lines), NUMPY,
                    *(functions(row) for row in CATALOGUE)])


STUBS = {
    PACKAGE / "__init__.pyi": public_stub,
    PACKAGE / "applications" / "compile" / "quantities.pyi": kernels_stub,
}


if __name__ == "__main__":
    for path, text in STUBS.items():
        path.write_text(text(), encoding="utf8")
        print(path)
