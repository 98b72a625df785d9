"""Every module has a test file of its name, or stands in the table with the test that holds it."""

import ast
from pathlib import Path

import pytest

import closedform

PACKAGE = Path(closedform.__file__).parent
TESTS = Path(__file__).parents[1]
ROOMS = ("maths", "program", "lowerings", "applications")

HELD_BY = {}


def modules():
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            if path.name != "__init__.py":
                yield path.relative_to(PACKAGE).with_suffix("").as_posix()


def mirror(module):
    folder, _, name = module.rpartition("/")
    return TESTS / folder / f"test_{name}.py"


def imported_by(path):
    """Modules that a test file, or a helper beside the tests that it imports, names."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.ImportFrom):
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


@pytest.mark.parametrize("module", modules())
def test_every_module_has_its_test(module):
    if module in HELD_BY:
        assert not mirror(module).exists(), "has a file of its own now: leave the table"
        assert (TESTS / HELD_BY[module]).exists()
    else:
        own = mirror(module).relative_to(TESTS)
        assert mirror(module).exists(), f"write {own}, or name the test that holds the module"


def test_the_table_names_modules_that_exist():
    assert set(HELD_BY) <= set(modules())
