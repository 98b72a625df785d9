"""The pages of docs/adding are true: each is followed on a toy, in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import closedform as cf
from closedform.applications.export.targets import TARGETS

PACKAGE = Path(cf.__file__).parent
TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs" / "adding"


class House:
    """A copy of the package, to which a page's steps are done."""

    def __init__(self, folder, page):
        self.folder, self.root, self.page = folder, folder / "src" / "closedform", page
        shutil.copytree(PACKAGE, self.root, ignore=shutil.ignore_patterns("__pycache__"))
        self.written, self.changed = [], []

    def write(self, name, text):
        """A new file."""
        assert not (self.root / name).exists()
        (self.root / name).parent.mkdir(exist_ok=True)
        (self.root / name).write_text(text, encoding="utf8")
        self.written.append(name)

    def add(self, name, after, text):
        """Lines in a file, behind the one line that begins so; at its end without one."""
        lines = (self.root / name).read_text(encoding="utf8").splitlines()
        found = [k for k, line in enumerate(lines) if after and line.startswith(after)]
        assert len(found) == bool(after), (name, after, found)
        at = found[0] + 1 if found else len(lines)
        lines[at:at] = text.splitlines()
        (self.root / name).write_text("\n".join(lines) + "\n", encoding="utf8")
        if name not in self.changed:
            self.changed.append(name)

    def run(self, *command, **environment):
        """What a program prints that sees this house and no other."""
        done = subprocess.run(
            [sys.executable, *command], cwd=self.folder, capture_output=True, text=True,
            check=False, env={**os.environ, "PYTHONPATH": f"{self.folder / 'src'}:{TESTS}",
                              "CLOSEDFORM_CACHE": str(self.folder / "cache"),
                              "JAX_PLATFORMS": "cpu", "COLUMNS": "200", **environment})
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def untold(self):
        """What was changed or written and is not on the page, neither its name nor its folder."""
        text = (DOCS / self.page).read_text(encoding="utf8")
        return [name for name in (*self.changed, *self.written)
                if f"`{name}`" not in text and f"`closedform/{name}`" not in text
                and f"`{Path(name).parent}/`" not in text
                and f"`{Path(name).parent.parent}/`" not in text]


EXPORTED = """
import subprocess, sys
import closedform as cf
from closedform.applications.export.targets import TARGETS
model = {model}
for name, target in TARGETS.items():
    files = cf.export(model, {quantity!r}, name, name)
    if name in {run}:
        done = subprocess.run(target.check.replace("python ", sys.executable + " "), shell=True,
                              cwd=name, capture_output=True, text=True)
        assert done.returncode == 0 and "all passed" in done.stdout, done.stdout + done.stderr
print(*TARGETS)
"""
NEEDED = {"c": "cc", "matlab": "octave", "javascript": "node", "wasm": "node"}
RUN = [name for name in TARGETS if name not in NEEDED or shutil.which(NEEDED[name])]


# ------------------------------------------------------------------------------------ a quantity
def test_a_quantity_is_a_definition_a_row_and_a_name(tmp_path):
    house = House(tmp_path, "quantity.md")
    house.add("maths/definitions/energy.py", None, '''

@checked
def squared_speed(robot: Robot, q: Array, v: Array) -> Array:
    """|v|², a scalar, of all joint velocities."""
    return v @ v
''')
    house.add("maths/catalogue.py", "CATALOGUE: tuple", '''\
    _row("squared_speed", energy.squared_speed, "q v", "", letter="W"),''')
    house.add("__init__.py", "from closedform.maths.definitions.energy import potential", '''\
from closedform.maths.definitions.energy import squared_speed as squared_speed''')
    house.run("-c", """
import numpy as np, closedform as cf
robot = cf.load("planar2r")
q, v = np.zeros((5, 2)), np.arange(10.0).reshape(5, 2)
assert np.array_equal(cf.compile(robot).squared_speed(q, v), (v * v).sum(axis=1))
assert cf.squared_speed(robot, q[1], v[1]) == 13.0
""")
    house.run("-c", EXPORTED.format(model='cf.load("planar2r")', quantity="squared_speed", run=RUN))
    assert "W &= " in (tmp_path / "latex" / "planar2r_squared_speed.tex").read_text()
    assert re.search(r"squared_speed +q v +1 +\|v\|²", house.run("-m", "closedform", "quantities"))
    house.run("-m", "closedform", "export", "planar2r", "squared_speed", "--to", "c", "-o", "cli")
    assert house.untold() == []
    assert (len(house.written), len(house.changed)) == (0, 3)


# ---------------------------------------------------------------------------------- an operation
def test_an_operation_is_a_row(tmp_path):
    house = House(tmp_path, "operation.md")
    house.add("program/ops.py", '    Op("sign"', '''\
    Op("tanh", "tanh", "trig", math.tanh, lambda x: (1.0 - x.tanh() * x.tanh(),), parity=-1),''')
    assert house.run(str(TESTS / "architecture" / "toy_operation.py")).split() == [
        "reference", "lanes", "native", "casadi", "jax", "jax_loop", "python", "sympy", "latex",
        "listing", "c", "matlab", "javascript", "derivative", "simplified", "complex"]
    assert house.untold() == []
    assert (len(house.written), len(house.changed)) == (0, 1)


# -------------------------------------------------------------------------------------- a target
LOWERING = '''"""A program as plain Python for one state."""

from closedform.lowerings.source.assignments import Let, Statements, Syntax
from closedform.lowerings.source.comments import docstring
from closedform.lowerings.source.python import entry_name, used_entries
from closedform.program.ops import FUNCTIONS
from closedform.program.program import Program


def plain_source(program: Program, name: str, about: list[str], digits: int) -> str:
    """A module with a function of arrays that returns flat lists."""
    syntax = Syntax(lambda x: f"{x:.{digits}g}", entry_name,
                    {op.name: f"math.{op.name}({{}})" for op in FUNCTIONS})
    of = Statements(program)
    names, inputs = of.names(syntax), ", ".join(slot.name for slot in program.inputs)
    body = [f"{entry_name(s, k)} = {s.name}.ravel()[{k}]" for s, k in used_entries(program)]
    body += [f"out = [{', '.join(f'[0.0]*{len(o.entries)}' for o in program.outputs)}]"]
    for s in of.order:
        body.append(f"{names[s.place]} = {of.value(s.place, names, syntax)}" if isinstance(s, Let)
                    else f"out[{s.output}][{s.entry}] = {of.result(s, names, syntax)}")
    body.append("return out[0] if len(out) == 1 else tuple(out)")
    return "\\n".join([*docstring(about), "", "import math", "", "", f"def {name}({inputs}):",
                      *(f"    {line}" for line in body)]) + "\\n"
'''
TARGET = '''"""Plain Python for one state."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, final

from closedform.applications.export.pieces import Piece
from closedform.applications.export.targets.python_folder import PythonFolder
from closedform.lowerings.source.plain import plain_source


@final
@dataclass(frozen=True)
class Plain(PythonFolder):
    """A function of one state without NumPy's functions."""

    digits: Annotated[int, "digits of constants"] = 17

    name: ClassVar[str] = "plain"
    suffix: ClassVar[str] = "_plain"
    files: ClassVar[tuple[str, ...]] = ("NAME_plain.py",)
    needs: ClassVar[str] = "NumPy"

    def sources(self, piece: Piece, module: str) -> Mapping[str, str]:
        text = plain_source(piece.program, piece.name, list(piece.about), self.digits)
        return {f"{module}.py": text}
'''


def test_a_target_is_a_lowering_a_record_and_a_row(tmp_path):
    house = House(tmp_path, "lowering.md")
    house.write("lowerings/source/plain.py", LOWERING)
    house.write("applications/export/targets/plain.py", TARGET)
    table = "applications/export/targets/__init__.py"
    house.add(table, "from closedform.applications.export.targets.matlab",
              "from closedform.applications.export.targets.plain import Plain as Plain")
    house.add(table, "TARGETS: Mapping", "    Plain,")
    house.run("-c", """
import closedform as cf
robot = cf.load("planar2r")
for name in ("inverse_dynamics", "passive_dynamics_matrices"):
    cf.export(robot, name, "plain", "plain")
files = cf.export(robot, "gravity_torque", cf.targets.Plain(digits=3), "rough")
assert [x.name for x in files][0] == "planar2r_gravity_torque_plain.py"
cf.export(cf.flexible.load("deluca_siciliano"), "inertia_matrix", "plain", "plain", digits=17)
""")
    told = house.run("plain/test_vectors.py")
    assert told.count("passed ") == 3 and "all passed" in told
    assert "plain." in house.run("-m", "closedform", "export", "--help").replace("\n", " ")
    told = house.run("-m", "closedform", "export", "planar2r", "bias", "--to", "plain",
                     "--digits", "12", "-o", "cli")
    assert "planar2r_bias_plain.py" in told and "python test_vectors.py" in told
    assert house.untold() == []
    assert (len(house.written), len(house.changed)) == (2, 1)


# -------------------------------------------------------------------------------- an application
MODEL = '''"""A pendulum: a mass on a rod."""

from dataclasses import dataclass
from typing import final

from closedform.errors import ModelError
from closedform.model.names import checked_name


@final
@dataclass(frozen=True)
class Pendulum:
    """A mass (kg) on a rod (m) in gravity."""

    length: float
    mass: float = 1.0
    name: str = "pendulum"

    def __post_init__(self) -> None:
        checked_name(self.name, "pendulum")
        if not self.length > 0:
            raise ModelError(f"the length of a pendulum is positive, not {self.length!r}")
'''
ROWS = '''"""The equations of pendulums, one row each."""

from functools import partial

from closedform.arrays import Array, namespace
from closedform.maths.arguments import Argument, Kind
from closedform.maths.quantity import Quantity, row
from closedform.model.pendulum import Pendulum


def torque(model: Pendulum, q: Array, a: Array) -> Array:
    """m l² a + m g l sin q, (1,)."""
    m, l = model.mass, model.length
    return m * l * l * a + 9.81 * m * l * namespace(q).sin(q)


PENDULUMS = Kind("pendulums", Pendulum,
                 {"q": Argument(("one",), "q", "the angle"),
                  "a": Argument(("one",), r"\\\\ddot{q}", "its acceleration")},
                 lambda model, order: {"one": 1})
PENDULUM_CATALOGUE: tuple[Quantity, ...] = (
    partial(row, PENDULUMS)("torque", torque, "q a", "one", letter="u"),
)
'''
SOURCE = '''"""Equations of pendulums."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from closedform.applications.export.header import header
from closedform.applications.export.names import legal_name
from closedform.applications.export.pieces import Piece
from closedform.applications.export.sources.source import Source
from closedform.applications.export.targets.target import Target
from closedform.applications.export.vectors import function_vectors
from closedform.maths.arguments import Kind
from closedform.maths.catalogue import quantity
from closedform.maths.pendulum.catalogue import PENDULUMS
from closedform.maths.quantity import letters
from closedform.model.pendulum import Pendulum
from closedform.program.record import record


@final
@dataclass(frozen=True)
class PendulumSource(Source):
    """Pendulums."""

    of: ClassVar[Kind] = PENDULUMS

    def pieces(self, model: Pendulum, asked: Sequence[str], target: Target) -> Sequence[Piece]:
        return [self._piece(model, name) for name in asked]

    def _piece(self, model: Pendulum, name: str) -> Piece:
        row = quantity(name, Pendulum)
        equation = lambda *arrays: row.definition(model, *arrays)
        program = record(equation, row.input_shapes(model), name)
        return Piece(legal_name(f"{model.name}_{name}"), program,
                     function_vectors(equation, program),
                     header(model.name, [row], program, []), letters([row]))
'''
APPLICATION = '''"""Pendulums: `closedform.pendulums`."""

import math

from closedform.model.pendulum import Pendulum


def period(model: Pendulum) -> float:
    """Seconds of a small swing."""
    return 2 * math.pi * math.sqrt(model.length / 9.81)
'''
COMMAND = '''"""`closedform pendulum LENGTH`: its period."""

import typer

from closedform.applications.pendulums import period
from closedform.model.pendulum import Pendulum


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("pendulum", epilog="Example:  closedform pendulum 1.0")(show_period)


def show_period(length: float) -> None:
    """Show the period of a pendulum."""
    typer.echo(f"{period(Pendulum(length)):.4f} s")
'''


def test_an_application_brings_its_models_rows_source_and_command(tmp_path):
    house = House(tmp_path, "application.md")
    house.write("model/pendulum.py", MODEL)
    house.write("maths/pendulum/__init__.py", '"""Pendulums."""\n')
    house.write("maths/pendulum/catalogue.py", ROWS)
    house.add("maths/catalogue.py", "from closedform.maths.flexible.catalogue",
              "from closedform.maths.pendulum.catalogue import PENDULUM_CATALOGUE")
    house.add("maths/catalogue.py", "    rows[0].of.model: rows for rows in (",
              "        PENDULUM_CATALOGUE,")
    house.write("applications/export/sources/pendulums.py", SOURCE)
    table = "applications/export/sources/__init__.py"
    house.add(table, "from closedform.applications.export.sources.flexible_arms",
              "from closedform.applications.export.sources.pendulums import PendulumSource")
    house.add(table, "SOURCES: Mapping", "    PendulumSource,")
    house.write("applications/pendulums/__init__.py", APPLICATION)
    house.add("__init__.py", "from closedform.model.load",
              "from closedform.model.pendulum import Pendulum as Pendulum")
    house.add("__init__.py", "_LATER = {",
              '    "pendulums": (f"{_APPLICATIONS}.pendulums", None),')
    house.write("interfaces/cli/pendulum.py", COMMAND)
    house.add("interfaces/cli/main.py", "from closedform.interfaces.cli import (", "    pendulum,")
    house.add("interfaces/cli/main.py", "COMMANDS = (", "    pendulum,")
    house.run("-c", EXPORTED.format(model="cf.Pendulum(0.5)", quantity="torque", run=RUN))
    assert "u_{1} &= " in (tmp_path / "latex" / "pendulum_torque.tex").read_text()
    house.run("-c", """
import closedform as cf, pytest
assert abs(cf.pendulums.period(cf.Pendulum(9.81)) - 6.283185307) < 1e-9
with pytest.raises(cf.UnknownName, match="of pendulums; did you mean 'torque'"):
    cf.export(cf.Pendulum(1.0), "torqe", "c", "x")
""")
    assert house.run("-m", "closedform", "pendulum", "1.0") == "2.0061 s\n"
    assert "m l² a" in house.run("-m", "closedform", "quantities", "pendulums")
    assert house.untold() == []
    assert (len(house.written), len(house.changed)) == (6, 4)
